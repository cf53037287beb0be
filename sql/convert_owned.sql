-- Converting sequences that columns own (serial), and those that no column uses.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA owned;
SET search_path = owned;

-- serial, bigserial and smallserial: columns become bigint, IDs go on above what is there.
CREATE TABLE small (id smallserial PRIMARY KEY, item text);
CREATE TABLE plain (id serial PRIMARY KEY, item text CHECK (item <> ''), UNIQUE (id, item));
CREATE TABLE big (id bigserial PRIMARY KEY, item text);
CREATE UNLOGGED TABLE unlogged (id serial, item text);
CREATE TEMPORARY TABLE temporary (id serial, item text);
INSERT INTO small (item) VALUES ('old');
INSERT INTO plain (item) VALUES ('old'), ('older');
INSERT INTO big (item) VALUES ('old');
SELECT snowflake.convert_sequence_to_snowflake('small_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('big_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('unlogged_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('temporary_id_seq');
SELECT a.attrelid::regclass AS "table", format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid) AS "default",
       pg_get_serial_sequence(a.attrelid::regclass::text, a.attname) LIKE '%' || c.relname || '_id_seq' AS owned
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id'
    JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relname IN ('small', 'plain', 'big', 'unlogged', 'temporary') ORDER BY c.relname;
SELECT seqrelid::regclass, format_type(seqtypid, NULL) AS type, seqstart, seqincrement, seqmin, seqmax,
       seqcache, seqcycle
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
    WHERE c.relnamespace = 'owned'::regnamespace ORDER BY c.relname;
SELECT last_value, is_called FROM plain_id_seq;
INSERT INTO plain (item) VALUES ('new');
INSERT INTO small (item) VALUES ('new');
INSERT INTO temporary (item) VALUES ('new');
SELECT item, id < 1000 AS old, snowflake.get_node(id) AS node FROM plain ORDER BY id;
SELECT snowflake.get_node(id) FROM temporary;

-- The guard: user code cannot take a small number by accident, before and after the first ID.
SELECT nextval('big_id_seq');
INSERT INTO big (item) VALUES ('new') RETURNING snowflake.get_node(id);
SELECT nextval('big_id_seq');
-- setval keeps working, which a restored dump relies on.
SELECT setval('big_id_seq', last_value) = last_value AS restored FROM big_id_seq;
SELECT nextval('big_id_seq');

-- Converting twice does nothing.
SELECT snowflake.convert_sequence_to_snowflake('big_id_seq');

-- A sequence used by applications alone.
CREATE SEQUENCE alone;
SELECT snowflake.convert_sequence_to_snowflake('alone');
SELECT nextval('alone');
SELECT snowflake.get_node(snowflake.nextval('alone'));
-- Ones whose values are not positive: the guard needs a positive value to stand on.
CREATE SEQUENCE negative MINVALUE -100 START -100;
SELECT nextval('negative');
SELECT snowflake.convert_sequence_to_snowflake('negative');
SELECT nextval('negative');
SELECT snowflake.get_node(snowflake.nextval('negative'));
CREATE SEQUENCE descending INCREMENT BY -1;
SELECT nextval('descending');
SELECT snowflake.convert_sequence_to_snowflake('descending');
SELECT nextval('descending');
SELECT snowflake.get_node(snowflake.nextval('descending'));
CREATE SEQUENCE cycling AS smallint MAXVALUE 9 CYCLE;
SELECT snowflake.convert_sequence_to_snowflake('cycling');
SELECT nextval('cycling');

-- A later default on a converted sequence can be converted, too.
CREATE TABLE late (id bigint DEFAULT nextval('alone'));
SELECT snowflake.convert_sequence_to_snowflake('alone');
INSERT INTO late DEFAULT VALUES RETURNING snowflake.get_node(id);

-- Several sequences of one table, one of them used by another table, too.
CREATE TABLE several (a serial, b serial, c bigserial);
CREATE TABLE lodger (x integer DEFAULT nextval('several_b_seq'));
SELECT snowflake.convert_sequence_to_snowflake('several_b_seq');
INSERT INTO several DEFAULT VALUES RETURNING a, snowflake.get_node(b), c;
INSERT INTO lodger DEFAULT VALUES RETURNING snowflake.get_node(x);

-- All or nothing, in the caller's transaction.
CREATE TABLE undone (id serial PRIMARY KEY);
INSERT INTO undone DEFAULT VALUES;
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('undone_id_seq');
INSERT INTO undone DEFAULT VALUES;
ROLLBACK;
INSERT INTO undone DEFAULT VALUES RETURNING id;
SELECT data_type, column_default FROM information_schema.columns WHERE table_name = 'undone';

-- A large table says so. The time it takes differs, and with it the second notice.
CREATE TABLE large (id serial, filler text);
INSERT INTO large (filler) SELECT repeat('x', 1000) FROM generate_series(1, 2000);
SELECT size >= 2000 * 1000 AS large, rewrites FROM snowflake.conversion_plan('large_id_seq') WHERE rewrites IS NOT NULL;

-- Only the owner converts; a superuser is not needed.
CREATE ROLE regress_snowflake_owner;
GRANT ALL ON SCHEMA owned TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('undone_id_seq');
CREATE TABLE own (id serial PRIMARY KEY);
CREATE VIEW own_view AS SELECT id FROM own;
SELECT snowflake.convert_sequence_to_snowflake('own_id_seq');
INSERT INTO own DEFAULT VALUES RETURNING snowflake.get_node(id);
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA owned CASCADE;
DROP TABLE temporary;
DROP ROLE regress_snowflake_owner;

RESET search_path;
RESET client_min_messages;
-- A column that was given its default by hand is widened by the conversion.
CREATE TABLE by_hand (id serial PRIMARY KEY);
ALTER TABLE by_hand ALTER COLUMN id SET DEFAULT snowflake.nextval('by_hand_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_hand_id_seq');
INSERT INTO by_hand DEFAULT VALUES RETURNING snowflake.get_node(id);
-- One that needs no widening gets its guard all the same.
CREATE TABLE by_hand_big (id bigserial PRIMARY KEY);
ALTER TABLE by_hand_big ALTER COLUMN id SET DEFAULT snowflake.nextval('by_hand_big_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_hand_big_id_seq');
SELECT nextval('by_hand_big_id_seq');
-- So are those that use the sequence of the extension.
CREATE TABLE shared (id integer DEFAULT nextval('snowflake.id_seq'));
SELECT snowflake.convert_sequence_to_snowflake('snowflake.id_seq');
INSERT INTO shared DEFAULT VALUES RETURNING snowflake.get_node(id);
-- A stride that was chosen after a conversion survives another one.
CREATE TABLE strides (id bigserial);
SELECT snowflake.convert_sequence_to_snowflake('strides_id_seq');
ALTER SEQUENCE strides_id_seq INCREMENT BY 50;
SELECT snowflake.convert_sequence_to_snowflake('strides_id_seq');
SELECT seqincrement FROM pg_sequence WHERE seqrelid = 'strides_id_seq'::regclass;
-- Functions of a constraint find what they find in the caller's search_path.
CREATE SCHEMA owned_functions;
SET search_path = owned_functions;
CREATE TABLE limits (greatest bigint);
INSERT INTO limits VALUES (9223372036854775807);
CREATE FUNCTION within_limits(bigint) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RETURN $1 <= (SELECT greatest FROM limits); END';
CREATE TABLE checked (id serial PRIMARY KEY CHECK (within_limits(id)));
INSERT INTO checked DEFAULT VALUES;
SELECT snowflake.convert_sequence_to_snowflake('checked_id_seq');
INSERT INTO checked DEFAULT VALUES RETURNING snowflake.get_node(id);
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA owned_functions CASCADE;
DROP TABLE by_hand, by_hand_big, shared, strides;
