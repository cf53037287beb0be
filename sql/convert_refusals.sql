-- What cannot be converted is named, all of it, and nothing is changed.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA refused;
SET search_path = refused;

-- Keys of a domain.
CREATE DOMAIN key AS integer;
CREATE SEQUENCE domain_seq;
CREATE TABLE domain_key (id key PRIMARY KEY DEFAULT nextval('domain_seq'));
CREATE TABLE domain_reference (key_id key REFERENCES domain_key);
CREATE DOMAIN inner_key AS key;
CREATE TABLE domain_reference_within (key_id inner_key REFERENCES domain_key);
SELECT snowflake.convert_sequence_to_snowflake('domain_seq');
DROP TABLE domain_reference_within;
-- Columns that take a number but cannot hold an ID.
CREATE SEQUENCE too_narrow;
CREATE TABLE narrow (a double precision DEFAULT nextval('too_narrow'), b numeric(18) DEFAULT nextval('too_narrow'),
                     c varchar(18) DEFAULT nextval('too_narrow'), d integer DEFAULT nextval('too_narrow')::integer,
                     e numeric(21,2) DEFAULT nextval('too_narrow'), f varchar(19) DEFAULT nextval('too_narrow'));
CREATE TABLE below (id integer);
CREATE VIEW narrow_view AS SELECT id FROM below;
ALTER VIEW narrow_view ALTER COLUMN id SET DEFAULT nextval('too_narrow');
SELECT snowflake.convert_sequence_to_snowflake('too_narrow');
-- Defaults that would cut an ID short.
CREATE SEQUENCE padded;
CREATE TABLE padded_key (id text DEFAULT 'ORD-' || lpad(nextval('padded')::text, 6, '0'));
SELECT snowflake.convert_sequence_to_snowflake('padded');
CREATE SEQUENCE unfit;
CREATE FUNCTION noisy(text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'called'; RETURN $1; END $$;
CREATE TABLE unfit_key (
    a text DEFAULT left(nextval('unfit')::text, 5), b text DEFAULT to_char(nextval('unfit'), 'FM000000'),
    c bigint DEFAULT (nextval('unfit') + 1)::integer, d varchar(22) DEFAULT 'ORD-' || nextval('unfit'),
    e double precision DEFAULT nextval('unfit') + 0.5, f integer[] DEFAULT ARRAY[nextval('unfit')],
    g bigint DEFAULT nextval('unfit') * 10, h varchar(18) DEFAULT noisy(nextval('unfit')::text));
SELECT snowflake.convert_sequence_to_snowflake('unfit');
-- Columns, indexes and statistics that the server computes from a column, here or at the other end of a key.
CREATE TABLE computed (
    id serial PRIMARY KEY, other integer,
    short varchar(10) GENERATED ALWAYS AS ('A-' || id) STORED,
    cents numeric(12, 2) GENERATED ALWAYS AS (id / 100.0) STORED,
    long text GENERATED ALWAYS AS ('A-' || id) STORED,
    padded text UNIQUE GENERATED ALWAYS AS (lpad(id::text, 6, '0')) STORED,
    cut text GENERATED ALWAYS AS (lpad(id::text, 6, '0')) STORED,
    times bigint GENERATED ALWAYS AS (id::bigint * 1000) STORED,
    digit integer GENERATED ALWAYS AS (id % 10) STORED,
    EXCLUDE USING btree (other WITH =) WHERE (id::smallint > 5));
CREATE TABLE computed_there (computed_id bigint REFERENCES computed, other integer);
CREATE INDEX of_one ON computed_there ((computed_id::integer));
CREATE INDEX of_two ON computed_there ((coalesce(other, computed_id::integer)));
CREATE INDEX of_digit ON computed_there ((computed_id % 10)) WHERE computed_id > 5;
CREATE STATISTICS of_both ON (computed_id::integer), other FROM computed_there;
CREATE INDEX of_three ON computed_there (((computed_id + 0)::integer), (computed_id % 10), other);
CREATE INDEX of_some ON computed_there ((computed_id::integer)) WHERE computed_id < 1000;
CREATE UNIQUE INDEX of_few ON computed_there ((CASE WHEN computed_id < 1000 THEN 'K' || computed_id END));
CREATE TABLE computed_bigint (computed_id bigint REFERENCES computed, low integer GENERATED ALWAYS AS (computed_id / 100) STORED);
CREATE DOMAIN computed_key AS bigint;
CREATE TABLE computed_domain (computed_id computed_key REFERENCES computed CHECK (computed_id < 1000),
                              code varchar(10) GENERATED ALWAYS AS ('A-' || computed_id) STORED);
SELECT snowflake.convert_sequence_to_snowflake('computed_id_seq', waive => 'generated');
SELECT count(*) FROM snowflake.conversion_plan('computed_id_seq', target => 'bigint', waive => 'generated') WHERE command ~ 'TYPE bigint';
DROP TABLE computed, computed_there, computed_bigint, computed_domain;
DROP DOMAIN computed_key;
-- What nobody may do says nothing of IDs.
CREATE TABLE shards (least bigint);
CREATE FUNCTION shard_of(key bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql SET search_path = refused AS $$
BEGIN
    RETURN CASE WHEN key > 1000 THEN (SELECT max(least) FROM shards) ELSE 0 END;
END $$;
CREATE TABLE sharded (id bigserial PRIMARY KEY, shard bigint GENERATED ALWAYS AS (shard_of(id)) STORED);
SELECT snowflake.convert_sequence_to_snowflake('sharded_id_seq');
DROP TABLE sharded, shards;
-- A number above the IDs of the present, in a key of a domain.
CREATE DOMAIN big_key AS bigint;
CREATE SEQUENCE far_seq;
CREATE TABLE far (id big_key PRIMARY KEY DEFAULT nextval('far_seq'));
INSERT INTO far VALUES (4000000000000000000);
SELECT snowflake.convert_sequence_to_snowflake('far_seq');
DROP TABLE far;
DROP SEQUENCE far_seq;
-- A domain has the length of what it is made from.
CREATE SEQUENCE packed;
CREATE DOMAIN packed_text AS varchar(20);
CREATE TABLE packed_key (id packed_text DEFAULT 'ORD-' || nextval('packed'));
SELECT snowflake.convert_sequence_to_snowflake('packed');
DROP TABLE packed_key;
DROP SEQUENCE packed;
-- Checks that no ID satisfies.
CREATE TABLE checked (id serial PRIMARY KEY CHECK (id < 100000), other integer CHECK (other < 5));
CREATE TABLE checked_reference (id integer REFERENCES checked, CONSTRAINT small CHECK (id::smallint > 0),
                                CHECK (id < 1000), CONSTRAINT chosen CHECK (id IN (1, 2)));
CREATE TABLE checked_child () INHERITS (checked);
SELECT snowflake.convert_sequence_to_snowflake('checked_id_seq');
-- Rows that lie above the IDs of the present.
CREATE TABLE beyond (id bigserial PRIMARY KEY);
INSERT INTO beyond VALUES (9000000000000000000);
SELECT snowflake.convert_sequence_to_snowflake('beyond_id_seq');
-- Domains and views that use the sequence themselves.
CREATE SEQUENCE used;
CREATE DOMAIN numbered AS integer DEFAULT nextval('used');
CREATE VIEW next_one AS SELECT nextval('used');
CREATE TABLE currently (id integer DEFAULT nextval('used') + currval('used'));
SELECT snowflake.convert_sequence_to_snowflake('used');
-- Functions with a body of SQL that is parsed when they are made, and that uses the sequence.
CREATE TABLE body (id serial PRIMARY KEY);
CREATE FUNCTION next_body() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT nextval('body_id_seq'); END;
SELECT snowflake.convert_sequence_to_snowflake('body_id_seq');
-- What calls our functions is none.
CREATE OR REPLACE FUNCTION next_body() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT snowflake.nextval('body_id_seq') + nextval('body_id_seq'); END;
CREATE VIEW body_view AS SELECT 'a' AS item;
CREATE RULE make AS ON INSERT TO body_view DO INSTEAD INSERT INTO body VALUES (snowflake.nextval('body_id_seq'));
CREATE RULE made AS ON DELETE TO body_view DO INSTEAD UPDATE body SET id = id WHERE id = currval('body_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('body_id_seq');
CREATE OR REPLACE FUNCTION next_body() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT snowflake.nextval('body_id_seq'); END;
CREATE OR REPLACE RULE made AS ON DELETE TO body_view
    DO INSTEAD UPDATE body SET id = id WHERE id = snowflake.currval('body_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('body_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('body_id_seq');
-- Rows of the table in other tables and types; a function that returns rows of it is none.
CREATE TABLE rows (id serial PRIMARY KEY);
CREATE TABLE row_holder (one rows, list rows[]);
CREATE TYPE row_type AS (one rows);
CREATE FUNCTION all_rows() RETURNS SETOF rows LANGUAGE sql AS 'SELECT * FROM rows';
SELECT snowflake.convert_sequence_to_snowflake('rows_id_seq');
-- The way that is open: the rows are kept as jsonb meanwhile.
INSERT INTO row_holder VALUES (ROW (1), ARRAY[ROW (2), ROW (3)]::rows[]);
ALTER TABLE row_holder ALTER one TYPE jsonb USING to_jsonb(one), ALTER list TYPE jsonb USING to_jsonb(list);
DROP TYPE row_type;
SELECT snowflake.convert_sequence_to_snowflake('rows_id_seq');
ALTER TABLE row_holder ALTER one TYPE rows USING jsonb_populate_record(NULL::rows, one);
TABLE row_holder;
INSERT INTO rows DEFAULT VALUES;
SELECT snowflake.get_node(id) FROM all_rows();
-- A view whose row type has rights of its own.
CREATE TABLE behind (id serial);
CREATE VIEW in_front AS SELECT id FROM behind;
GRANT USAGE ON TYPE in_front TO PUBLIC;
SELECT snowflake.convert_sequence_to_snowflake('behind_id_seq');
-- Tables of a type, partition keys, columns of several parents.
CREATE TYPE shape AS (id integer);
CREATE TABLE typed OF shape;
CREATE SEQUENCE typed_seq;
ALTER TABLE typed ALTER id SET DEFAULT nextval('typed_seq');
CREATE TABLE by_range (id serial) PARTITION BY RANGE (id);
CREATE TABLE by_hash (id serial) PARTITION BY HASH ((id + 1));
CREATE TABLE mother (id integer);
CREATE TABLE father (id integer);
CREATE TABLE both_parents (id serial) INHERITS (mother, father);
SELECT snowflake.convert_sequence_to_snowflake('typed_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_range_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_hash_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('both_parents_id_seq');
-- The ways that are open. The mother is widened along, the father has to be by hand.
ALTER TABLE typed NOT OF;
SELECT snowflake.convert_sequence_to_snowflake('typed_seq');
ALTER TABLE both_parents NO INHERIT father;
SELECT snowflake.convert_sequence_to_snowflake('both_parents_id_seq');
ALTER TABLE father ALTER id TYPE bigint;
ALTER TABLE both_parents INHERIT father;
ALTER TABLE domain_key ALTER COLUMN id TYPE integer;
ALTER TABLE domain_reference ALTER COLUMN key_id TYPE integer;
SELECT snowflake.convert_sequence_to_snowflake('domain_seq');
REVOKE ALL ON TYPE in_front FROM PUBLIC;
SELECT typacl FROM pg_type WHERE typname = 'in_front';
-- Expressions that have no meaning for bigint.
CREATE TABLE called (id serial PRIMARY KEY);
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE VIEW call_view AS
    SELECT for_integers(id) FROM called;
CREATE VIEW tree_view AS
    WITH RECURSIVE r AS (SELECT 0 AS id UNION ALL SELECT c.id FROM called c JOIN r ON true) SELECT * FROM r;
CREATE VIEW call_view_view AS
    SELECT * FROM call_view;
SELECT snowflake.convert_sequence_to_snowflake('called_id_seq');
CREATE TABLE indexed (id serial);
CREATE INDEX ON indexed (for_integers(id));
SELECT snowflake.convert_sequence_to_snowflake('indexed_id_seq');
SELECT count(*) FROM call_view_view;
-- Values above the clock, which new IDs could meet.
CREATE TABLE high (id bigserial);
SELECT setval('high_id_seq', 9000000000000000000);
SELECT snowflake.convert_sequence_to_snowflake('high_id_seq');
SELECT setval('high_id_seq', 1);
SELECT snowflake.convert_sequence_to_snowflake('high_id_seq');

-- No sequence, not the caller's, not the caller's view.
SELECT snowflake.convert_sequence_to_snowflake('high');
SELECT snowflake.convert_sequence_to_snowflake(0::oid::regclass);
CREATE ROLE regress_snowflake_owner;
GRANT ALL ON SCHEMA refused TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('called_id_seq');
SELECT * FROM snowflake.conversion_plan('called_id_seq');
CREATE TABLE own (id serial PRIMARY KEY);
GRANT SELECT, REFERENCES ON own TO PUBLIC;
RESET ROLE;
CREATE VIEW foreign_view AS SELECT id FROM own;
CREATE TABLE foreign_table (own_id integer REFERENCES own);
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('own_id_seq');
RESET ROLE;

-- What the server would let somebody else make or alter, but not the caller.
CREATE ROLE regress_snowflake_other;
CREATE SCHEMA closed;
GRANT ALL ON SCHEMA closed TO regress_snowflake_owner, regress_snowflake_other;
CREATE FUNCTION closed.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE closed.far (id integer PRIMARY KEY);
GRANT REFERENCES ON closed.far TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
CREATE TABLE closed.lone (id integer GENERATED ALWAYS AS IDENTITY, item text,
                          code text GENERATED ALWAYS AS ('L' || id) STORED,
                          UNIQUE (code), FOREIGN KEY (id) REFERENCES closed.far);
CREATE INDEX lone_code ON closed.lone (code, item);
CREATE VIEW closed.lone_view AS SELECT id FROM closed.lone;
CREATE FUNCTION closed.lone_list() RETURNS SETOF closed.lone_view LANGUAGE sql AS 'SELECT * FROM closed.lone_view';
CREATE MATERIALIZED VIEW closed.lone_rows AS SELECT id FROM closed.lone;
CREATE INDEX lone_rows_id ON closed.lone_rows (id);
CREATE STATISTICS closed.lone_code_item ON code, item FROM closed.lone;
CREATE TRIGGER keep BEFORE UPDATE OF id ON closed.lone FOR EACH ROW EXECUTE FUNCTION closed.keep();
RESET ROLE;
SET client_min_messages = error;
CREATE PUBLICATION regress_snowflake_pub FOR TABLE closed.lone WHERE (id > 5);
RESET client_min_messages;
CREATE TABLE closed.off (id integer REFERENCES closed.far);
ALTER TABLE closed.off DISABLE TRIGGER ALL;
ALTER TABLE closed.far OWNER TO regress_snowflake_owner;
ALTER TABLE closed.off OWNER TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
CREATE SEQUENCE closed.far_seq;
ALTER TABLE closed.far ALTER id SET DEFAULT nextval('closed.far_seq');
SELECT snowflake.convert_sequence_to_snowflake('closed.far_seq');
RESET ROLE;
ALTER TABLE closed.far OWNER TO regress_snowflake_other;
CREATE FUNCTION closed.lone_same(closed.lone_view, closed.lone_view) RETURNS boolean LANGUAGE internal AS 'record_eq';
ALTER FUNCTION closed.lone_same OWNER TO regress_snowflake_owner;
REVOKE CREATE ON SCHEMA closed FROM regress_snowflake_owner;
REVOKE EXECUTE ON FUNCTION closed.keep() FROM PUBLIC;
REVOKE TRIGGER ON closed.lone FROM regress_snowflake_owner;
REVOKE REFERENCES ON closed.far FROM regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('closed.lone_id_seq');
RESET ROLE;
SELECT count(*) FROM pg_attribute WHERE attrelid = 'closed.lone'::regclass AND attidentity = 'a' AND atttypid = 'integer'::regtype;
-- The owner of a view who may not make it himself, and one who may not run its query.
SET client_min_messages = error;
DROP PUBLICATION regress_snowflake_pub;
RESET client_min_messages;
CREATE TABLE closed.watched (id serial);
CREATE VIEW closed.watcher AS SELECT id FROM closed.watched;
CREATE STATISTICS closed.watched_stat ON id, (id + 1) FROM closed.watched;
ALTER VIEW closed.watcher OWNER TO regress_snowflake_other;
ALTER STATISTICS closed.watched_stat OWNER TO regress_snowflake_other;
REVOKE CREATE ON SCHEMA closed FROM regress_snowflake_other;
GRANT CREATE ON SCHEMA closed TO regress_snowflake_owner;
ALTER TABLE closed.watched OWNER TO regress_snowflake_owner;
GRANT regress_snowflake_other TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('closed.watched_id_seq');
RESET ROLE;
CREATE TABLE hidden (id serial);
CREATE MATERIALIZED VIEW hidden_rows AS SELECT id FROM hidden;
CREATE INDEX ON hidden_rows (id);
ALTER MATERIALIZED VIEW hidden_rows OWNER TO regress_snowflake_other;
SELECT snowflake.convert_sequence_to_snowflake('hidden_id_seq');
-- What a unique index leaves behind that could not be built, and one that names a right which its owner has lost.
CREATE TABLE repeated (id serial PRIMARY KEY, n integer);
INSERT INTO repeated (n) VALUES (1), (1);
CREATE TABLE repeats (id integer REFERENCES repeated, n integer);
INSERT INTO repeats VALUES (1, 1), (1, 1);
CREATE UNIQUE INDEX CONCURRENTLY repeats_once ON repeats (id, n);
CREATE MATERIALIZED VIEW shows AS SELECT id FROM repeats;
GRANT SELECT ON repeats TO regress_snowflake_other;
GRANT CREATE, USAGE ON SCHEMA refused TO regress_snowflake_other;
ALTER MATERIALIZED VIEW shows OWNER TO regress_snowflake_other;
REVOKE SELECT ON repeats FROM regress_snowflake_other;
CREATE UNIQUE INDEX CONCURRENTLY repeats_n ON repeats (n);
CREATE VIEW of_extension AS SELECT id FROM repeats;
ALTER EXTENSION plpgsql ADD VIEW of_extension;
SELECT snowflake.convert_sequence_to_snowflake('repeated_id_seq');
ALTER EXTENSION plpgsql DROP VIEW of_extension;
DROP INDEX repeats_once;
GRANT SELECT (id) ON repeats TO regress_snowflake_other;
-- Without a long lock an index stays that does not have the column, and one on a new column is built again.
CREATE TABLE beside (id serial, n integer);
INSERT INTO beside (n) VALUES (1), (1);
CREATE UNIQUE INDEX CONCURRENTLY beside_n ON beside (n) WHERE n > 0;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('beside_id_seq', online => true);
CREATE UNIQUE INDEX CONCURRENTLY beside_id ON beside (n) WHERE id > 0;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('beside_id_seq', online => true);
DROP TABLE beside;
-- Not a unique one: what could not be entered then cannot be entered now. And an index whose operator class is for integers alone.
CREATE TABLE divided (id serial, n integer);
INSERT INTO divided (n) VALUES (0);
CREATE INDEX CONCURRENTLY divided_n ON divided ((1 / n));
CREATE INDEX divided_id ON divided USING brin (id int4_minmax_multi_ops, n int4_minmax_multi_ops);
SELECT snowflake.convert_sequence_to_snowflake('divided_id_seq');
DROP TABLE divided;
-- Rows without a partner, which the server has let pass, are found by the rehearsal or the conversion: the error names one.
CREATE TABLE partner (id serial PRIMARY KEY);
CREATE TABLE alone (partner_id integer REFERENCES partner);
SET session_replication_role = replica;
INSERT INTO alone VALUES (7);
RESET session_replication_role;
SELECT snowflake.convert_sequence_to_snowflake('partner_id_seq');
DROP TABLE alone, partner;
-- What a materialized view names, and does not read.
CREATE TYPE refused_pair AS (a integer, b text);
CREATE FUNCTION pair() RETURNS refused_pair LANGUAGE sql IMMUTABLE AS $$ SELECT ROW(1, 'b')::refused.refused_pair $$;
CREATE TABLE unread (x integer);
CREATE MATERIALIZED VIEW names AS SELECT id, (pair()).a FROM repeats WHERE 'unread'::regclass IS NOT NULL;
ALTER MATERIALIZED VIEW names OWNER TO regress_snowflake_other;
-- With a lock all indexes of the table are built again.
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('repeated_id_seq');
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('repeated_id_seq', online => true);
DROP INDEX repeats_n;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('repeated_id_seq');
-- What a view beneath reads, as its owner, or as who reads it.
CREATE VIEW beneath AS SELECT r.id FROM repeats r, unread;
CREATE VIEW as_reader WITH (security_invoker = on) AS SELECT id FROM beneath;
CREATE MATERIALIZED VIEW above AS SELECT id FROM as_reader;
ALTER VIEW beneath OWNER TO regress_snowflake_other;
ALTER MATERIALIZED VIEW above OWNER TO regress_snowflake_other;
GRANT SELECT ON as_reader TO regress_snowflake_other;
SELECT snowflake.conversion_plan('repeated_id_seq');
GRANT SELECT ON unread TO regress_snowflake_other;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('repeated_id_seq');
-- What is filled from a materialized view that was emptied since.
CREATE TABLE emptied (id integer GENERATED ALWAYS AS IDENTITY);
CREATE MATERIALIZED VIEW emptied_rows AS SELECT id FROM emptied;
CREATE MATERIALIZED VIEW emptied_count AS SELECT count(id) FROM emptied_rows;
REFRESH MATERIALIZED VIEW emptied_rows WITH NO DATA;
SELECT snowflake.convert_sequence_to_snowflake('emptied_id_seq');
-- A key that is made again for a table of somebody else, who keeps it, is none.
CREATE TABLE closed.ours (id serial PRIMARY KEY);
CREATE TABLE closed.theirs (id bigint REFERENCES closed.ours);
ALTER TABLE closed.ours OWNER TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('closed.ours_id_seq');
RESET ROLE;
SELECT pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE conrelid = 'closed.theirs'::regclass AND contype = 'f';

-- Nothing has changed.
SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'refused' AND data_type = 'bigint' ORDER BY 1, 2;
SELECT relname FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid
    WHERE relnamespace = 'refused'::regnamespace AND seqincrement <> 1 ORDER BY relname COLLATE "C";

-- An index for which bigint is no type: the error names the command.
CREATE ACCESS METHOD refusals_of_integers TYPE INDEX HANDLER hashhandler;
CREATE OPERATOR CLASS integers_only DEFAULT FOR TYPE integer USING refusals_of_integers AS OPERATOR 1 =, FUNCTION 1 hashint4(integer);
CREATE TABLE integers (id serial);
CREATE INDEX ON integers USING refusals_of_integers (id);
SELECT snowflake.convert_sequence_to_snowflake('integers_id_seq');
DROP TABLE integers;
DROP OPERATOR FAMILY integers_only USING refusals_of_integers;
DROP ACCESS METHOD refusals_of_integers;

SET client_min_messages = warning;
DROP SCHEMA refused, closed CASCADE;
DROP ROLE regress_snowflake_owner, regress_snowflake_other;
