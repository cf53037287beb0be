-- What strangers have written is neither read nor printed for somebody else's conversion, however long, deep or hard to search it is.
SET snowflake.node = 1;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_mallory;
CREATE ROLE regress_snowflake_alice;
CREATE SCHEMA texts;
GRANT ALL ON SCHEMA texts TO PUBLIC;
SET search_path = texts;
SET ROLE regress_snowflake_alice;
CREATE TABLE t (id serial PRIMARY KEY);
CREATE TABLE i (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE TABLE o (id serial PRIMARY KEY);
SET ROLE regress_snowflake_mallory;
DO $$ BEGIN
    EXECUTE format('CREATE TABLE deep (a bigint DEFAULT nextval(''t_id_seq'')%s)', repeat(' + 1', 2500));
    EXECUTE format('CREATE TABLE long (a bigint DEFAULT nextval(''i_id_seq'') + cardinality(ARRAY[random()%s]))', repeat(', random()', 60000));
    EXECUTE format('CREATE TABLE also_long (a bigint DEFAULT nextval(''t_id_seq'') + cardinality(ARRAY[random()%s]))', repeat(', random()', 60000));
    EXECUTE format('CREATE FUNCTION long_text() RETURNS integer LANGUAGE plpgsql AS %L',
                   'BEGIN RETURN (SELECT sum(id) FROM t); END -- ' || repeat('select t, /*', 2000000));
END $$;
SET ROLE regress_snowflake_alice;
SET statement_timeout = '1min';
-- The hints tell of alice's routines alone.
CREATE FUNCTION of_alice() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT sum(id) FROM t); END';
SELECT effect FROM snowflake.conversion_plan('t_id_seq') WHERE command IS NULL AND effect ~ 'sum|long';
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('t_id_seq', online => true);
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('i_id_seq');
RESET ROLE;
-- A default that keeps an identity from its sequence, and that nobody can set again.
SELECT snowflake.convert_sequence_to_snowflake('i_id_seq');
SELECT count(*) FROM snowflake.check() WHERE object ~ 'texts' AND severity = 'error';
SET enable_hashjoin = off;
SELECT count(*) FROM snowflake.check() WHERE object ~ 'texts' AND severity = 'error';
RESET enable_hashjoin;
RESET statement_timeout;
-- A type that is alice's, in a schema that is mallory's: once a plan has been printed, another type has its name.
CREATE SCHEMA of_mallory AUTHORIZATION regress_snowflake_mallory;
CREATE SCHEMA hers AUTHORIZATION regress_snowflake_mallory;
GRANT ALL ON SCHEMA of_mallory, hers TO regress_snowflake_alice;
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION hers.tell(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''read as %'', current_user; END';
CREATE DOMAIN hers.kind AS text CHECK (hers.tell(VALUE));
SET ROLE regress_snowflake_alice;
CREATE TYPE of_mallory.kind AS ENUM ('a', 'b');
ALTER TABLE o ADD COLUMN kind of_mallory.kind;
CREATE INDEX by_kind ON o (id) WHERE kind = 'a';
RESET ROLE;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('o_id_seq', online => true);
ALTER SCHEMA of_mallory RENAME TO away;
ALTER SCHEMA hers RENAME TO of_mallory;
\o /dev/null
SELECT command FROM snowflake.conversion_plan('o_id_seq', online => true) WHERE command IS NOT NULL \gexec
\o
SELECT pg_get_indexdef('by_kind'::regclass);
SET client_min_messages = error;
DROP SCHEMA texts, of_mallory, away CASCADE;
DROP ROLE regress_snowflake_mallory, regress_snowflake_alice;
