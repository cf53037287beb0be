-- What is printed is read again once columns are bigints. Whoever may create something in a schema that the text names can
-- make what fits bigints better: no code of hers runs as the owner of the table, and nothing comes to call it.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE ROLE regress_names_mallory;
CREATE ROLE regress_names_owner;
CREATE SCHEMA mallory AUTHORIZATION regress_names_mallory;
CREATE SCHEMA names AUTHORIZATION regress_names_owner;
GRANT ALL ON SCHEMA names TO regress_names_mallory;
GRANT USAGE ON SCHEMA mallory TO PUBLIC;
SET ROLE regress_names_mallory;
-- It counts how often her code has run as the owner, and is not taken back with a transaction.
CREATE SEQUENCE mallory.runs;
GRANT UPDATE ON SEQUENCE mallory.runs TO regress_names_owner;
CREATE TYPE mallory.wrapped AS (x integer);
CREATE FUNCTION mallory.wrap(bigint) RETURNS mallory.wrapped LANGUAGE sql AS 'SELECT ROW(1)::mallory.wrapped';
CREATE CAST (bigint AS mallory.wrapped) WITH FUNCTION mallory.wrap(bigint) AS IMPLICIT;
-- In SQL, so that the server puts the body in the place of a call.
CREATE FUNCTION names.shown(mallory.wrapped) RETURNS text LANGUAGE sql AS
    $$ SELECT pg_catalog.nextval('mallory.runs')::pg_catalog.text $$;
RESET ROLE;
-- What calls code of hers.
CREATE VIEW calls AS
    SELECT pg_describe_object(d.classid, d.objid, 0) AS object, pg_describe_object(d.refclassid, d.refobjid, 0) AS calls
        FROM pg_depend d
        LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
        LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid
        WHERE d.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass) AND d.deptype = 'n'
          AND pg_get_userbyid(coalesce(p.proowner, t.typowner)) = 'regress_names_mallory';

-- A generated column is made again with its checks.
SET ROLE regress_names_owner;
CREATE FUNCTION names.shown(integer) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE names.t (id serial PRIMARY KEY, g integer GENERATED ALWAYS AS (id % 100) STORED,
                      CONSTRAINT c CHECK (names.shown(g) IS NOT NULL));
INSERT INTO names.t DEFAULT VALUES;
CREATE TABLE names.o (id serial PRIMARY KEY, CHECK (names.shown(id) IS NOT NULL));
INSERT INTO names.o DEFAULT VALUES;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('names.t_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('names.t_id_seq');
SELECT command FROM snowflake.conversion_plan('names.o_id_seq', online => true) WHERE command IS NOT NULL;
SELECT snowflake._add_shadows('names.o_id_seq', 'names.o');
SELECT snowflake._add_shadows('names.o_id_seq', 'names.o');
-- The name of a type stands for a cast.
SET ROLE regress_names_mallory;
DROP FUNCTION names.shown(mallory.wrapped);
CREATE DOMAIN names.doubled AS bigint CHECK (pg_catalog.nextval('mallory.runs') > 0);
SET ROLE regress_names_owner;
CREATE FUNCTION names.doubled(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 2 * $1; END';
CREATE TABLE names.d (id serial PRIMARY KEY, CHECK (names.doubled(id) > 0));
INSERT INTO names.d DEFAULT VALUES;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('names.d_id_seq');
SELECT snowflake._add_shadows('names.d_id_seq', 'names.d');
SELECT last_value, is_called FROM mallory.runs;
SELECT * FROM calls;
-- What may be called: overloads of the owner, of a superuser and of who may act for the owner.
DROP DOMAIN names.doubled;
CREATE ROLE regress_names_boss;
GRANT regress_names_owner TO regress_names_boss;
CREATE FUNCTION names.doubled(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 2 * $1';
ALTER FUNCTION names.doubled(numeric) OWNER TO regress_names_boss;
CREATE FUNCTION names.doubled(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1 || $1';
SET ROLE regress_names_owner;
CREATE FUNCTION names.doubled(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 2 * $1::numeric';
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('names.d_id_seq');
INSERT INTO names.d DEFAULT VALUES;


-- What was not there when the plan was made: an event trigger makes it when a command begins.
CREATE FUNCTION plant() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE current_setting('names.plant');
EXCEPTION WHEN duplicate_function OR duplicate_object THEN
    NULL; -- an earlier command has planted it
END $$;
CREATE EVENT TRIGGER plant_index ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION plant();
CREATE EVENT TRIGGER plant_table ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION plant();
ALTER EVENT TRIGGER plant_index DISABLE;
ALTER EVENT TRIGGER plant_table DISABLE;
\set overload 'CREATE FUNCTION names.shown(bigint) RETURNS text LANGUAGE sql AS $$ SELECT pg_catalog.nextval(\'mallory.runs\')::pg_catalog.text $$; ALTER FUNCTION names.shown(bigint) OWNER TO regress_names_mallory'
\set cast 'CREATE DOMAIN names.digits AS bigint CHECK (pg_catalog.nextval(\'mallory.runs\') > 0); ALTER DOMAIN names.digits OWNER TO regress_names_mallory'
SET ROLE regress_names_owner;
CREATE FUNCTION names.digits(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length($1::text); END';
CREATE TABLE names.i (id serial PRIMARY KEY, g integer GENERATED ALWAYS AS (id % 100) STORED);
INSERT INTO names.i DEFAULT VALUES;
CREATE INDEX digits ON names.i (names.digits(g));
CREATE TABLE names.w (id serial PRIMARY KEY);
INSERT INTO names.w DEFAULT VALUES;
CREATE MATERIALIZED VIEW names.m AS SELECT names.shown(id) FROM names.w;
RESET ROLE;
SET names.plant = :'overload';
ALTER EVENT TRIGGER plant_table ENABLE;
SELECT snowflake.convert_sequence_to_snowflake('names.t_id_seq');
SELECT snowflake._add_shadows('names.o_id_seq', 'names.o');
SELECT snowflake.convert_sequence_to_snowflake('names.o_id_seq');
ALTER EVENT TRIGGER plant_table DISABLE;
ALTER EVENT TRIGGER plant_index ENABLE;
SET names.plant = :'cast';
SELECT snowflake.convert_sequence_to_snowflake('names.i_id_seq');
ALTER EVENT TRIGGER plant_index DISABLE;
ALTER EVENT TRIGGER plant_table ENABLE;
SET names.plant = :'overload';
SELECT snowflake.convert_sequence_to_snowflake('names.w_id_seq');
ALTER EVENT TRIGGER plant_table DISABLE;
SELECT last_value, is_called FROM mallory.runs;
SELECT * FROM calls;
-- An event trigger that writes to the table after the command runs nothing of hers either.
CREATE FUNCTION write() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO names.o DEFAULT VALUES; END $$;
CREATE EVENT TRIGGER write ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION write();
ALTER EVENT TRIGGER write DISABLE;
SET names.plant = :'overload';
ALTER EVENT TRIGGER plant_table ENABLE;
ALTER EVENT TRIGGER write ENABLE;
SELECT snowflake._add_shadows('names.o_id_seq', 'names.o');
DROP EVENT TRIGGER plant_table;
DROP EVENT TRIGGER plant_index;
DROP EVENT TRIGGER write;
SELECT last_value, is_called FROM mallory.runs;
-- Nothing planted, they convert.
SET ROLE regress_names_owner;
CREATE FUNCTION names.shown(bigint) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION names.digits(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length($1::text); END';
SELECT snowflake.convert_sequence_to_snowflake('names.t_id_seq');
SELECT conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'names.t'::regclass AND contype = 'c';
SELECT snowflake.convert_sequence_to_snowflake('names.i_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('names.w_id_seq');
SELECT snowflake._add_shadows('names.o_id_seq', 'names.o');
CALL snowflake._fill_shadows('names.o_id_seq', 'names.o');
SELECT command FROM snowflake.conversion_plan('names.o_id_seq', online => true) WHERE command IS NOT NULL \gexec
INSERT INTO names.o DEFAULT VALUES;
RESET ROLE;

-- An index beside another one calls what that one calls, or an overload of its owner's.
SET ROLE regress_names_owner;
CREATE FUNCTION names.half(integer) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2.0';
CREATE FUNCTION names.half(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2.0';
CREATE FUNCTION names.added(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE OPERATOR names.+ (FUNCTION = names.added, LEFTARG = integer, RIGHTARG = integer);
CREATE TABLE names.u (id serial PRIMARY KEY, name varchar, item text);
INSERT INTO names.u (name) VALUES ('a');
CREATE INDEX halves ON names.u (names.half(id));
CREATE INDEX sums ON names.u ((id OPERATOR(names.+) 1)) WHERE names.half(numeric '1') > 0;
CREATE INDEX plain ON names.u (lower(name), (id % 10), names.half(length(item))) WHERE names.half(id::numeric) > 0 OR id = ANY ('{1, 2}');
RESET ROLE;
-- Mallory can rename her schema, and give its name to another one.
CREATE FUNCTION mallory.of_superuser(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE OPERATOR mallory.@@ (FUNCTION = mallory.of_superuser, RIGHTARG = integer);
SET ROLE regress_names_owner;
CREATE TABLE names.v (id serial PRIMARY KEY, n integer);
CREATE INDEX v_calls ON names.v (id, mallory.of_superuser(n)) WHERE OPERATOR(mallory.@@) n > 0;
RESET ROLE;
SELECT command FROM snowflake.conversion_plan('names.v_id_seq', online => true) WHERE command IS NOT NULL;
-- What is typed names an index alone, whatever its constants are.
SET ROLE regress_names_owner;
CREATE TABLE names.escaped (id serial PRIMARY KEY, v text);
CREATE INDEX escapes ON names.escaped (id) WHERE v <> $$\'; SELECT mallory.evil(); --$$;
SELECT regexp_replace(command, 'snowflake_[0-9a-f]{16}', 'twin') AS command FROM snowflake.conversion_plan('names.escaped_id_seq', online => true) WHERE command ~ 'INDEX';
SET SESSION AUTHORIZATION regress_names_owner;
CREATE TABLE names."w\'" (id bigint PRIMARY KEY DEFAULT snowflake.nextval());
RESET SESSION AUTHORIZATION;
SELECT split_part(command, ',', 1) AS command FROM snowflake.partition_plan('names."w\''"', '1 month', ahead => 1, since => '2080-01-01') WHERE command ~ 'limit_ids';
-- One of mallory's is refused before the rows are filled.
SET ROLE regress_names_owner;
CREATE FUNCTION names.added(bigint, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE OPERATOR names.+ (FUNCTION = names.added, LEFTARG = bigint, RIGHTARG = integer);
SET ROLE regress_names_mallory;
CREATE FUNCTION names.half(bigint) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN mallory.evil(); END';
RESET ROLE;
SELECT snowflake._rehearse_conversion('names.u_id_seq');
SELECT snowflake._add_shadows('names.u_id_seq', 'names.u');
DROP FUNCTION names.half(bigint);
SET ROLE regress_names_owner;
CREATE FUNCTION names.half(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2.0';
SELECT command FROM snowflake.conversion_plan('names.u_id_seq', online => true) WHERE command IS NOT NULL \gexec
RESET ROLE;
SELECT indexrelid::regclass AS index, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'names.u'::regclass ORDER BY 1;

-- New columns, and what check() prints for those that are not widened.
SET ROLE regress_names_owner;
CREATE FUNCTION names.is_fine(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 0; END';
CREATE TABLE names.k (id bigserial PRIMARY KEY);
SELECT snowflake.convert_sequence_to_snowflake('names.k_id_seq');
INSERT INTO names.k VALUES (7);
RESET ROLE;
SET ROLE regress_names_mallory;
CREATE FUNCTION names.is_fine(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN pg_catalog.nextval(''mallory.runs'') > 0; END';
RESET ROLE;
SET ROLE regress_names_owner;
SET snowflake.convert_new_columns = on;
CREATE TABLE names.c (x integer REFERENCES names.k, CHECK (names.is_fine(x)));
CREATE TABLE names.e (x integer, CHECK (names.is_fine(x)));
ALTER TABLE names.e ADD FOREIGN KEY (x) REFERENCES names.k;
RESET snowflake.convert_new_columns;
INSERT INTO names.c VALUES (7);
RESET ROLE;
SELECT command FROM snowflake.check() WHERE object LIKE '%names.c' OR object LIKE '%names.e';
SELECT snowflake._widen('names.c', 'x');
SELECT snowflake._widen('names.c', 'x');
SELECT * FROM calls;
ALTER FUNCTION names.is_fine(bigint) OWNER TO regress_names_owner;
ALTER FUNCTION names.is_fine(bigint) RENAME TO were_fine;
SET ROLE regress_names_owner;
CREATE FUNCTION names.is_fine(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 0; END';
RESET ROLE;
SELECT command FROM snowflake.check() WHERE object LIKE '%names.c' OR object LIKE '%names.e' \gexec
SELECT attrelid::regclass, format_type(atttypid, -1) FROM pg_attribute WHERE attrelid IN ('names.c'::regclass, 'names.e'::regclass) AND attname = 'x';

-- A function of mallory's is not known by an object of hers: the server calls it before it is compared.
SET ROLE regress_names_owner;
CREATE FUNCTION names.code(anyelement) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
CREATE TABLE names.coded (id serial PRIMARY KEY, code text GENERATED ALWAYS AS (names.code(5) || id::text) STORED);
INSERT INTO names.coded DEFAULT VALUES;
SET ROLE regress_names_mallory;
CREATE FUNCTION names.code(integer) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN pg_catalog.nextval(''mallory.runs''); END';
CREATE FUNCTION mallory.knows(names.coded) RETURNS text LANGUAGE sql RETURN names.code(5);
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('names.coded_id_seq');
SELECT * FROM calls;
-- Nor by a trigger, which whoever has the right can make on a table of others.
DROP FUNCTION mallory.knows;
GRANT TRIGGER ON names.coded TO regress_names_mallory;
SET ROLE regress_names_mallory;
CREATE TRIGGER knows AFTER DELETE ON names.coded FOR EACH ROW WHEN (names.code(5) IS NOT NULL) EXECUTE FUNCTION suppress_redundant_updates_trigger();
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('names.coded_id_seq');
DROP FUNCTION names.code(integer) CASCADE;
-- One that an index of the owner's calls is known, also where the table becomes partitioned.
SET ROLE regress_names_mallory;
CREATE FUNCTION mallory.shared(integer) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
SET ROLE regress_names_owner;
CREATE TABLE names.parted (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), code text);
CREATE INDEX ON names.parted ((mallory.shared(5) || code));
RESET ROLE;
\o /dev/null
SELECT command FROM snowflake.partition_plan('names.parted', '1 month', ahead => 1, since => '2080-01-01') WHERE command IS NOT NULL \gexec
\o
SELECT relkind FROM pg_class WHERE oid = 'names.parted'::regclass;
DROP TABLE names.parted;
SELECT snowflake.convert_sequence_to_snowflake('names.coded_id_seq');

-- The way back reads defaults again.
SET ROLE regress_names_owner;
CREATE FUNCTION names.kept(anyelement) RETURNS bigint LANGUAGE sql AS 'SELECT $1::bigint';
CREATE SEQUENCE names.s;
CREATE TABLE names.b (id bigint DEFAULT names.kept(nextval('names.s')), x integer);
SELECT snowflake.convert_sequence_to_snowflake('names.s');
SET ROLE regress_names_mallory;
CREATE FUNCTION names.kept(bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN pg_catalog.nextval(''mallory.runs''); END';
SET ROLE regress_names_owner;
SELECT snowflake.convert_snowflake_to_sequence('names.s');
SELECT snowflake.convert_snowflake_to_sequence('names.s');
RESET ROLE;
SELECT snowflake.convert_snowflake_to_sequence('names.s');
SELECT * FROM calls;
DROP FUNCTION names.kept(bigint);
SELECT snowflake.convert_snowflake_to_sequence('names.s');
SELECT last_value, is_called FROM mallory.runs;

-- A function of another role that an index or a check calls may call others.
SET ROLE regress_names_mallory;
CREATE FUNCTION mallory.strip(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN btrim($1); END';
CREATE FUNCTION mallory.norm(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN mallory.strip($1); END';
SET ROLE regress_names_owner;
CREATE TABLE names.g (id serial PRIMARY KEY, code text GENERATED ALWAYS AS ('G' || id) STORED,
                      EXCLUDE USING btree (mallory.norm(code) WITH =));
CREATE INDEX ON names.g (mallory.norm(code));
INSERT INTO names.g DEFAULT VALUES;
SELECT snowflake.convert_sequence_to_snowflake('names.g_id_seq');
CREATE TABLE names.h (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), code text CHECK (mallory.norm(code) <> '')) PARTITION BY RANGE (id);
CREATE TABLE names.h_1 PARTITION OF names.h FOR VALUES FROM (MINVALUE) TO (1000);
CREATE TABLE names.h_2 PARTITION OF names.h FOR VALUES FROM (1000) TO (MAXVALUE);
INSERT INTO names.h (code) VALUES ('x');
SELECT command FROM snowflake.partition_plan('names.h', back => true) WHERE command IS NOT NULL \gexec
SELECT code FROM names.h;
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA names, mallory CASCADE;
DROP VIEW calls;
DROP FUNCTION plant(), write();
DROP ROLE regress_names_mallory, regress_names_owner, regress_names_boss;
