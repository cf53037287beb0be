-- A conversion runs nobody's code as somebody else, and alters what it was asked to.
SET snowflake.node = 1;
CREATE ROLE regress_snowflake_mallory;
CREATE SCHEMA hostile;
GRANT ALL ON SCHEMA hostile TO regress_snowflake_mallory;

-- The query of a materialized view runs as its owner, also where the widened column makes it call
-- another function than before.
CREATE TABLE source (id serial PRIMARY KEY);
INSERT INTO source DEFAULT VALUES;
GRANT SELECT ON source TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION hostile.runs_as(integer) RETURNS name LANGUAGE sql AS 'SELECT current_user';
CREATE FUNCTION hostile.runs_as(bigint) RETURNS name LANGUAGE sql AS 'SELECT current_user';
CREATE MATERIALIZED VIEW hostile.watcher AS SELECT hostile.runs_as(id) FROM public.source;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('source_id_seq');
SELECT * FROM hostile.watcher;
SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'hostile.watcher'::regclass;

-- No function in the caller's path takes the place of the server's in what is made again.
CREATE TABLE plain (id serial PRIMARY KEY, list integer[]);
CREATE VIEW counted AS SELECT count(id) AS number, max(array_length(list, 1)) AS longest FROM plain;
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION hostile.array_length(integer[], integer) RETURNS integer LANGUAGE sql AS 'SELECT 666';
CREATE AGGREGATE hostile.count(bigint) (sfunc = int8pl, stype = bigint, initcond = '660');
CREATE FUNCTION hostile.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
RESET ROLE;
SET search_path = hostile, public;
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
RESET search_path;
SELECT pg_get_viewdef('counted') ~ 'hostile' AS captured;

-- What an expression would run is not run to find out whether it bears an ID.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION hostile.loud() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'runs as %', current_user; RETURN 1; END $$;
CREATE VIEW hostile.loud_view AS SELECT hostile.loud();
CREATE TABLE hostile.trap (
    id serial CHECK (length(table_to_xml('hostile.loud_view', true, true, '')::text) < id),
    code text DEFAULT 'x' || table_to_xml('hostile.loud_view', true, true, '')::text || nextval('hostile.trap_id_seq'));
RESET ROLE;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('hostile.trap_id_seq');

-- A temporary table is not taken for the permanent one of its name, nor the other way round.
CREATE TABLE twin (id serial);
CREATE TEMP TABLE twin (id serial);
SELECT snowflake.convert_sequence_to_snowflake('pg_temp.twin_id_seq');
SELECT attrelid = 'public.twin'::regclass AS permanent, atttypid::regtype
    FROM pg_attribute WHERE attname = 'id' AND attrelid IN ('public.twin'::regclass, 'pg_temp.twin'::regclass)
    ORDER BY 1;
SELECT snowflake.convert_sequence_to_snowflake('public.twin_id_seq');
SELECT atttypid::regtype FROM pg_attribute WHERE attname = 'id' AND attrelid = 'public.twin'::regclass;

SET client_min_messages = warning;
DROP SCHEMA hostile CASCADE;
DROP TABLE pg_temp.twin, public.twin, source, plain CASCADE;
DROP ROLE regress_snowflake_mallory;
