-- What fails only when it is made again is found on empty tables, before large tables are rewritten.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA rehearsal;
SET search_path = rehearsal;
CREATE TABLE large (id serial PRIMARY KEY, item text, code text GENERATED ALWAYS AS ('C' || id) STORED UNIQUE);
CREATE TABLE reference (id integer REFERENCES large, item text);
CREATE TABLE wide_reference (id bigint REFERENCES large);
CREATE TABLE parted (id integer REFERENCES large, k integer) PARTITION BY LIST (k);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE wide_parted (id bigint REFERENCES large, k integer) PARTITION BY LIST (k);
CREATE TABLE wide_parted_1 PARTITION OF wide_parted FOR VALUES IN (1);
ALTER TABLE large ALTER item SET STORAGE EXTERNAL;
INSERT INTO large (item) SELECT repeat(md5(i::text), CASE i % 500 WHEN 0 THEN 200 ELSE 10 END) FROM generate_series(1, 5000) i;
INSERT INTO reference SELECT id, 'x' FROM large;
INSERT INTO wide_reference SELECT id FROM large;
INSERT INTO parted SELECT id, 1 FROM large;
INSERT INTO wide_parted TABLE parted;
CREATE INDEX ON reference (id);
CREATE MATERIALIZED VIEW stored AS SELECT id, item FROM large;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE VIEW faulty AS
    SELECT for_integers(id) FROM large;
-- A function in an index counts on the search_path, as it can where the server does not restrict that of indexes.
CREATE TABLE suffixes (suffix text);
CREATE FUNCTION suffix() RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (SELECT max(suffix) FROM suffixes); END';
SELECT current_setting('server_version_num')::integer >= 170000 AS restricts \gset
\if :restricts
ALTER FUNCTION suffix() SET search_path = rehearsal;
\endif
CREATE INDEX ON large ((left(item, 10) || suffix()));
SELECT pg_total_relation_size('large') > 1024 * 1024 AS is_large;
-- The plan says how much it rewrites and fills.
SELECT split_part(command, ' ', 1) AS command, size = pg_total_relation_size(coalesce(rewrites, 'stored'::regclass)) AS is_its_size,
       strpos(effect, pg_size_pretty(size)) > 0 AS is_told
    FROM snowflake.conversion_plan('large_id_seq') WHERE size IS NOT NULL AND coalesce(rewrites::text, 'large') = 'large';
-- No rewrite is announced.
SELECT snowflake.convert_sequence_to_snowflake('large_id_seq');
SELECT count(*), sum(id) FROM large;
DROP VIEW faulty;
-- The rehearsal leaves nothing behind; a cursor, as before, keeps the table from being altered.
CREATE TEMPORARY TABLE before AS
    SELECT count(*), sum(id), md5(string_agg(item || code, '' ORDER BY id)) AS items, (SELECT count(*) FROM reference) AS reference,
           (SELECT count(*) FROM wide_reference) AS wide, (SELECT count(*) FROM parted) AS parted,
           (SELECT count(*) FROM wide_parted) AS wide_parted, (SELECT count(*) FROM stored) AS stored
        FROM large;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM large;
FETCH 1 FROM c \g /dev/null
SELECT snowflake.convert_sequence_to_snowflake('large_id_seq');
ROLLBACK;
SET client_min_messages = warning;
SELECT snowflake.convert_sequence_to_snowflake('large_id_seq');
RESET client_min_messages;
TABLE before
EXCEPT
SELECT count(*), sum(id), md5(string_agg(item || code, '' ORDER BY id)) AS items, (SELECT count(*) FROM reference),
       (SELECT count(*) FROM wide_reference), (SELECT count(*) FROM parted), (SELECT count(*) FROM wide_parted),
       (SELECT count(*) FROM stored)
    FROM large;
INSERT INTO large (item) VALUES ('new') RETURNING snowflake.get_node(id);
INSERT INTO reference SELECT max(id) FROM large;
INSERT INTO reference VALUES (0);
SET enable_seqscan = off;
SELECT count(*) FROM reference WHERE id = 7;
SELECT count(*) FROM large WHERE code = 'C7';
-- Nobody empties a table in another way.
SELECT snowflake._rehearse('{rehearsal.large}'::regclass[]::oid[], 'rehearsal', 'SELECT 1 / count(*) FROM rehearsal.large', ROW());
SELECT snowflake._rehearse('{rehearsal.large}'::regclass[]::oid[], 'rehearsal', 'SELECT 1', ROW());
SELECT count(*) FROM large;

SET client_min_messages = warning;
DROP SCHEMA rehearsal CASCADE;
