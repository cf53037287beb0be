-- Converting under functions and procedures that have a body in standard SQL, or that take or return
-- rows of a view: they are put back exactly as they were.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA routines;
SET search_path = routines;
CREATE ROLE regress_snowflake_owner;
CREATE ROLE regress_snowflake_reader;
GRANT ALL ON SCHEMA routines TO regress_snowflake_owner;

CREATE TABLE person (id serial PRIMARY KEY, name text);
INSERT INTO person (name) VALUES ('Ada'), ('Grace');
CREATE VIEW named AS SELECT id, name FROM person WHERE name IS NOT NULL;
CREATE VIEW "Short Names" AS SELECT n FROM named n WHERE length(name) < 4;
-- Rows of views, one by one and in arrays, of views of such rows; bodies that are looked up when called.
CREATE FUNCTION named_like(pattern text, most bigint DEFAULT 10) RETURNS SETOF named LANGUAGE sql STABLE
    COST 7 ROWS 3 SET work_mem = '1MB' AS 'SELECT * FROM named WHERE name LIKE $1 ORDER BY id LIMIT $2';
COMMENT ON FUNCTION named_like IS 'it''s by name';
ALTER FUNCTION named_like OWNER TO regress_snowflake_owner;
REVOKE ALL ON FUNCTION named_like FROM PUBLIC;
GRANT EXECUTE ON FUNCTION named_like TO regress_snowflake_reader WITH GRANT OPTION;
ALTER FUNCTION named_like DEPENDS ON EXTENSION plpgsql;
CREATE FUNCTION how_many(VARIADIC named[]) RETURNS integer LANGUAGE plpgsql STRICT SECURITY DEFINER
    AS 'BEGIN RETURN cardinality($1); END';
CREATE FUNCTION short() RETURNS SETOF "Short Names" LANGUAGE sql AS 'SELECT * FROM "Short Names"';
-- Bodies in standard SQL, which call each other, and what calls them.
CREATE FUNCTION last_id() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM person; END;
CREATE FUNCTION after_last() RETURNS bigint LANGUAGE sql RETURN 1 + last_id();
CREATE PROCEDURE add(INOUT name text) LANGUAGE sql
    BEGIN ATOMIC DELETE FROM person WHERE id < 0; INSERT INTO person (name) VALUES (name) RETURNING person.name; END;
GRANT EXECUTE ON PROCEDURE add TO regress_snowflake_reader;
CREATE VIEW ends AS SELECT last_id() AS last, after_last() AS after, n.name FROM named_like('%') n;
CREATE FUNCTION all_ends() RETURNS SETOF ends LANGUAGE sql AS 'SELECT * FROM ends';
CREATE POLICY last ON person USING (id <= last_id());
-- Rows of a table in the signature alone.
CREATE FUNCTION same(person) RETURNS person LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION constant(person) RETURNS text LANGUAGE sql RETURN 'x';
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE TRIGGER late BEFORE UPDATE ON person FOR EACH ROW WHEN (new.id < after_last()) EXECUTE FUNCTION keep();
-- What default privileges would give them anew, they do not get.
ALTER DEFAULT PRIVILEGES IN SCHEMA routines GRANT EXECUTE ON ROUTINES TO regress_snowflake_reader;

CREATE VIEW pg_temp.routine AS
    SELECT p.oid::regprocedure::text AS name,
           CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid) END AS definition,
           pg_get_userbyid(p.proowner) AS owner, p.proacl::text AS acl,
           obj_description(p.oid, 'pg_proc') AS comment,
           (SELECT count(*) FROM pg_depend d
                WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'x') AS extensions
        FROM pg_proc p WHERE p.pronamespace = 'routines'::regnamespace;
CREATE TEMP TABLE before AS SELECT * FROM routine;
SELECT step, split_part(command, E'\n', 1) AS command, effect
    FROM snowflake.conversion_plan('person_id_seq') WHERE command LIKE 'DROP ROUTINE%';
SELECT snowflake.convert_sequence_to_snowflake('person_id_seq');
-- No line: all as before. Rights that were those of every function are written out now.
SELECT name FROM before EXCEPT SELECT name FROM routine;
SELECT r.name, b.definition <> r.definition AS definition, b.owner <> r.owner AS owner,
       b.comment IS DISTINCT FROM r.comment AS comment, b.extensions <> r.extensions AS extensions
    FROM before b JOIN routine r USING (name)
    WHERE (b.definition, b.owner, b.comment, b.extensions)
          IS DISTINCT FROM (r.definition, r.owner, r.comment, r.extensions);
SELECT p.oid::regprocedure AS name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee,
       a.is_grantable
    FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    WHERE p.pronamespace = 'routines'::regnamespace AND a.grantee <> p.proowner
    ORDER BY p.oid::regprocedure::text COLLATE "C", 2;
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'person'::regclass;
SELECT polname, pg_get_expr(polqual, polrelid) FROM pg_policy WHERE polrelid = 'person'::regclass;
CALL add('Barbara');
SELECT name, last > 2 AS last, after = last + 1 AS after FROM all_ends() ORDER BY name;
SELECT how_many(n, n) FROM named_like('Ada') n;
SELECT * FROM short();
DROP VIEW pg_temp.routine;

-- Named instead: what would have to be there before the routines that it calls, rows in an aggregate,
-- routines of others, routines that call each other in a circle.
CREATE TABLE called (id serial PRIMARY KEY);
CREATE TABLE caller (other bigint);
CREATE FUNCTION last_called() RETURNS bigint IMMUTABLE LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM called; END;
CREATE INDEX ON caller ((other + last_called()));
ALTER TABLE caller ALTER other SET DEFAULT last_called(), ADD CONSTRAINT below CHECK (other < last_called());
SELECT snowflake.convert_sequence_to_snowflake('called_id_seq');
CREATE TABLE collected (id serial PRIMARY KEY);
CREATE VIEW collection AS SELECT id FROM collected;
CREATE AGGREGATE collect(collection) (SFUNC = array_append, STYPE = collection[]);
SELECT snowflake.convert_sequence_to_snowflake('collected_id_seq');
SET ROLE regress_snowflake_owner;
CREATE TABLE own (id serial PRIMARY KEY);
CREATE VIEW own_view AS SELECT id FROM own;
RESET ROLE;
CREATE FUNCTION not_own() RETURNS SETOF own_view LANGUAGE sql AS 'SELECT * FROM own_view';
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('own_id_seq');
RESET ROLE;
CREATE TABLE circle (id serial PRIMARY KEY);
CREATE FUNCTION one() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM circle; END;
CREATE FUNCTION two() RETURNS bigint LANGUAGE sql RETURN one();
CREATE OR REPLACE FUNCTION one() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) + two() FROM circle; END;
SELECT snowflake.convert_sequence_to_snowflake('circle_id_seq');
-- The longest way to each node, each step taken once: two ways of different lengths, a step of no length, a node behind a circle.
SELECT snowflake._longest_ways('{0,0,0,0,1}', '{1,1,2,3,5}', '{2,4,3,4,4}', '{1,1,0,1,1}') AS longest,
       snowflake._longest_ways('{0,0,0,0}', '{1,2,3,3}', '{2,3,2,4}', '{1,1,1,1}') AS behind_a_circle,
       snowflake._longest_ways('{}', '{}', '{}', '{}') AS none;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA routines CASCADE;
DROP OWNED BY regress_snowflake_owner, regress_snowflake_reader;
DROP ROLE regress_snowflake_owner, regress_snowflake_reader;
