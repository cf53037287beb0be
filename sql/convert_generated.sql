-- Generated columns that are not the last of their table: from PostgreSQL 17 on they stay where they are, before
-- that the caller lets them become the last ones. And constraints that only newer servers have.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA gene;
SET search_path = gene;
CREATE ROLE regress_snowflake_reader;
CREATE TABLE t (
    id serial PRIMARY KEY,
    twice integer GENERATED ALWAYS AS (id * 2) STORED,
    code text COLLATE "C" GENERATED ALWAYS AS ('C' || id) STORED,
    item text,
    independent text GENERATED ALWAYS AS (upper(item)) STORED,
    last bigint GENERATED ALWAYS AS (id + 1) STORED);
CREATE INDEX t_code ON t (code, twice);
CREATE VIEW t_view AS SELECT twice, code FROM t;
CREATE MATERIALIZED VIEW t_rows AS SELECT twice FROM t;
CREATE STATISTICS t_stat ON twice, code FROM t;
COMMENT ON COLUMN t.twice IS 'doubled';
ALTER TABLE t ALTER twice SET STATISTICS 77;
GRANT SELECT (code) ON t TO regress_snowflake_reader;
INSERT INTO t (item) VALUES ('a'), ('b');

-- Whether generated columns stay in their place on this server.
SELECT current_setting('server_version_num')::integer >= 170000 AS in_place \gset
CREATE FUNCTION convert(seq regclass, move boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    RETURN snowflake.convert_sequence_to_snowflake(seq, waive => CASE WHEN move THEN 'generated' ELSE '' END);
EXCEPTION WHEN feature_not_supported THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN detail;
END $$;
CREATE VIEW fact AS
    SELECT a.attrelid::regclass::text, a.attname, a.atttypid::regtype, a.attcollation::regcollation, a.attgenerated, nullif(a.attstattarget, -1) AS target,
           a.attacl, col_description(a.attrelid, a.attnum), replace(pg_get_expr(f.adbin, f.adrelid), 'snowflake.', '') AS expression
        FROM pg_attribute a
        LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
        WHERE a.attrelid IN ('t'::regclass, 't_view'::regclass, 't_rows'::regclass) AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT pg_get_indexdef(indexrelid), '', NULL, NULL, '', NULL, NULL, NULL, NULL FROM pg_index WHERE indrelid = 't'::regclass
    UNION ALL
    SELECT conname, pg_get_constraintdef(oid)::name, NULL, NULL, '', NULL, NULL, NULL, NULL FROM pg_constraint WHERE conrelid = 't'::regclass;
CREATE TEMPORARY TABLE before AS TABLE fact;
SELECT regexp_replace(convert('t_id_seq', false), E'\n.*', '') = CASE WHEN :'in_place'::boolean THEN '1'
    ELSE 'generated column code of table gene.t depends on a column to be widened and is not the last column: '
         'convert with waive => ''generated'' to make it the last one' END AS as_the_version_says;
SET client_min_messages = warning; -- the columns that move are named
SELECT (snowflake.convert_sequence_to_snowflake('t_id_seq', waive => CASE WHEN :'in_place'::boolean THEN '' ELSE 'generated' END) > 0) = (NOT :'in_place'::boolean) AS moved;
RESET client_min_messages;
SELECT array_agg(attname ORDER BY attnum) = CASE WHEN :'in_place'::boolean THEN '{id,twice,code,item,independent,last}'::name[]
                                                 ELSE '{id,item,independent,twice,code,last}'::name[] END AS in_place
    FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped;
-- Nothing else has changed, but for the type.
UPDATE before SET atttypid = 'bigint'::regtype WHERE atttypid = 'integer'::regtype;
(TABLE before EXCEPT TABLE fact) UNION ALL (TABLE fact EXCEPT TABLE before);
SELECT id, twice, code, item, independent, last, (SELECT count(*) FROM t_rows) FROM t ORDER BY id;
INSERT INTO t (item) VALUES ('c') RETURNING twice = id * 2 AND code = 'C' || id AND last = id + 1 AS made;
INSERT INTO t (item) SELECT 'd' FROM generate_series(1, 3);

-- What could refuse nulls keeps a column from being made from nothing in the meantime.
CREATE DOMAIN filled_text AS text NOT NULL;
CREATE TABLE minded (
    id serial PRIMARY KEY,
    checked text GENERATED ALWAYS AS ('k' || id) STORED CHECK (checked IS NOT NULL),
    code text GENERATED ALWAYS AS ('C' || id) STORED UNIQUE,
    held filled_text GENERATED ALWAYS AS ('d' || id) STORED,
    indexed text GENERATED ALWAYS AS ('i' || id) STORED,
    item text);
CREATE UNIQUE INDEX ON minded (coalesce(indexed, 'none'));
CREATE TABLE refers (code text REFERENCES minded (code));
INSERT INTO minded (item) VALUES ('a'), ('b');
SELECT convert('minded_id_seq', false);
DROP TABLE refers;
SET client_min_messages = warning;
SELECT convert('minded_id_seq', true);
RESET client_min_messages;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'minded'::regclass AND contype <> 'n' ORDER BY 1;
SELECT pg_get_indexdef('minded_coalesce_idx'::regclass);
TABLE minded ORDER BY id;

-- One that is NOT NULL is not either.
CREATE TABLE filled (id serial, twice bigint GENERATED ALWAYS AS (id * 2) STORED NOT NULL, item text);
SELECT convert('filled_id_seq', false);
SELECT command, effect FROM snowflake.conversion_plan('filled_id_seq', waive => 'generated') WHERE effect ~ 'last column';
-- Made again from how the server prints it, the view would show another column.
CREATE VIEW by_alias AS SELECT x.l, x.m FROM filled x(k, l, m);
SELECT convert('filled_id_seq', true);
DROP VIEW by_alias;
SELECT convert('filled_id_seq', true);
INSERT INTO filled VALUES (DEFAULT, 'item') RETURNING twice = id * 2 AS made, item;

-- Virtual ones, with and without a check, which keeps the server from changing the expression.
SET client_min_messages = warning;
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        EXECUTE 'CREATE TABLE virtual (id serial, twice integer GENERATED ALWAYS AS (id * 2) VIRTUAL, item text)';
        ASSERT convert('virtual_id_seq', false) = '1';
        EXECUTE 'INSERT INTO virtual (item) VALUES (1)';
        ASSERT (SELECT bool_and(attnum = 2) FROM pg_attribute WHERE attrelid = 'virtual'::regclass AND attname = 'twice' AND atttypid = 'bigint'::regtype);
        EXECUTE 'CREATE TABLE checked (id serial, twice integer GENERATED ALWAYS AS (id * 2) VIRTUAL, item text CHECK (item <> ''''))';
        ASSERT convert('checked_id_seq', false) LIKE 'generated column twice of table gene.checked % waive => ''generated''%';
        ASSERT convert('checked_id_seq', true) = '1';
    END IF;
END $$;

RESET client_min_messages;

-- Constraints that are NOT VALID, NOT ENFORCED, or temporal.
CREATE TABLE parent (id serial PRIMARY KEY);
CREATE TABLE child (parent_id integer, other integer);
ALTER TABLE child ADD CONSTRAINT reference FOREIGN KEY (parent_id) REFERENCES parent NOT VALID, ADD CONSTRAINT positive CHECK (parent_id > 0) NOT VALID;
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        EXECUTE 'ALTER TABLE child ADD CONSTRAINT unchecked FOREIGN KEY (other) REFERENCES parent NOT ENFORCED,'
                ' ADD CONSTRAINT unchecked_check CHECK (other > parent_id) NOT ENFORCED,'
                ' ADD CONSTRAINT filled NOT NULL parent_id NOT VALID';
    END IF;
    -- A key of integers and ranges needs an operator class that is not the server's own.
    IF current_setting('server_version_num')::integer >= 180000
       AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'btree_gist') THEN
        EXECUTE 'CREATE EXTENSION IF NOT EXISTS btree_gist';
        EXECUTE 'CREATE TABLE booking (id serial, at daterange, PRIMARY KEY (id, at WITHOUT OVERLAPS))';
        EXECUTE 'CREATE TABLE payment (booking_id integer, at daterange,'
                ' FOREIGN KEY (booking_id, PERIOD at) REFERENCES booking (id, PERIOD at))';
    END IF;
END $$;
CREATE VIEW constrained AS
    SELECT conrelid::regclass::text AS relation, conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'gene'::regnamespace AND conrelid::regclass::text IN ('parent', 'child', 'booking', 'payment');
CREATE TEMPORARY TABLE constrained_before AS TABLE constrained;
SELECT convert('parent_id_seq', false)::integer >= 2 AS converted;
DO $$
BEGIN
    IF to_regclass('booking_id_seq') IS NOT NULL THEN
        ASSERT convert('booking_id_seq', false) = '2', convert('booking_id_seq', false);
    END IF;
END $$;
SELECT count(*) >= 3 AS compared FROM constrained_before;
(TABLE constrained_before EXCEPT TABLE constrained) UNION ALL (TABLE constrained EXCEPT TABLE constrained_before);

-- What counts on the order of the columns, where a generated column becomes the last one. From PostgreSQL 17 on it stays.
CREATE TABLE counted (id serial, doubled integer GENERATED ALWAYS AS (id * 2) STORED NOT NULL, n integer);
CREATE TABLE counted_log (id integer, doubled integer, n integer);
CREATE FUNCTION log_counted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO counted_log SELECT NEW.*; RETURN NULL; END';
CREATE TRIGGER logs AFTER INSERT ON counted FOR EACH ROW EXECUTE FUNCTION log_counted();
CREATE FUNCTION add_counted() RETURNS void LANGUAGE plpgsql AS 'BEGIN INSERT INTO counted VALUES (1, DEFAULT, 2); END';
SELECT snowflake.convert_sequence_to_snowflake('counted_id_seq', target => 'bigint', waive => 'generated');
SELECT effect FROM snowflake.conversion_plan('counted_id_seq', target => 'bigint', waive => 'generated, order') WHERE effect LIKE '%counted()%';

-- Another server knows the column of a foreign table by another name.
CREATE FOREIGN DATA WRAPPER regress_snowflake_wrapper;
CREATE SERVER regress_snowflake_far FOREIGN DATA WRAPPER regress_snowflake_wrapper;
CREATE SEQUENCE far_id_seq;
CREATE FOREIGN TABLE far (id integer DEFAULT nextval('far_id_seq'),
    next integer OPTIONS (column_name 'it''s next', "Q" '1') GENERATED ALWAYS AS (id + 1) STORED) SERVER regress_snowflake_far;
SELECT snowflake.convert_sequence_to_snowflake('far_id_seq');
SELECT attname, atttypid::regtype, attfdwoptions FROM pg_attribute WHERE attrelid = 'far'::regclass AND attnum > 0 AND NOT attisdropped;

SET client_min_messages = warning;
DROP SCHEMA gene CASCADE;
DROP FOREIGN DATA WRAPPER regress_snowflake_wrapper CASCADE;
DROP ROLE regress_snowflake_reader;
