-- The plan: each command of the conversion and what it means.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA plan;
SET search_path = plan;
CREATE TABLE customer (id serial PRIMARY KEY, name text);
CREATE TABLE purchase (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id integer REFERENCES customer);
CREATE VIEW customer_view AS SELECT id FROM customer;
GRANT SELECT ON customer_view TO PUBLIC;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE TRIGGER keep BEFORE UPDATE OF id ON customer FOR EACH ROW EXECUTE FUNCTION keep();

-- The first line of each command. The temporary name of a new sequence contains an OID.
CREATE FUNCTION show(seq regclass, OUT step integer, OUT command text, OUT effect text, OUT rewrites regclass)
    RETURNS SETOF record LANGUAGE sql AS $$
    SELECT step, regexp_replace(split_part(command, E'\n', 1), 'snowflake_\d+', 'snowflake_OID', 'g'),
           -- The size of an empty table depends on the version.
           regexp_replace(effect, '\(\d+ .*?\)', '(size)'), rewrites
        FROM snowflake.conversion_plan(seq)
        -- What the owner may do depends on the version, what he is called on who runs the test.
        WHERE command !~ ('^(REVOKE|GRANT) .*' || current_user || '$')
        ORDER BY step
$$;
\x
SELECT * FROM show('customer_id_seq');
SELECT * FROM show('purchase_id_seq');
\x

-- Reading it changes nothing and locks nothing beyond reading.
BEGIN READ ONLY;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('purchase_id_seq');
SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation';
COMMIT;
SELECT data_type FROM information_schema.columns WHERE table_schema = 'plan' AND column_name = 'id' ORDER BY table_name;

-- Run by hand it is the conversion.
BEGIN;
SELECT string_agg(command, E';\n' ORDER BY step) AS commands FROM snowflake.conversion_plan('customer_id_seq') \gset
:commands;
COMMIT;
SELECT count(*) FROM snowflake.conversion_plan('customer_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('customer_id_seq');
INSERT INTO customer (name) VALUES ('new') RETURNING snowflake.get_node(id);
SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema = 'plan' AND data_type <> 'text' ORDER BY 1, 2;

-- What slows down a conversion without a long lock slows down no other.
CREATE TABLE slow (id serial);
SELECT * FROM snowflake.conversion_plan('slow_id_seq', max_lag => '64 MB');
DROP TABLE slow;

-- A right that was passed on is passed on by the same role.
CREATE ROLE regress_snowflake_giver;
CREATE ROLE regress_snowflake_taker;
GRANT USAGE ON SCHEMA plan TO regress_snowflake_giver;
CREATE TABLE given (id serial);
CREATE VIEW given_view AS SELECT id FROM given;
GRANT SELECT ON given_view TO regress_snowflake_giver WITH GRANT OPTION;
SET ROLE regress_snowflake_giver;
GRANT SELECT ON given_view TO regress_snowflake_taker;
RESET ROLE;
SELECT string_agg(x::text, ',' ORDER BY x::text COLLATE "C") AS acl FROM pg_class, unnest(relacl) x WHERE oid = 'given_view'::regclass \gset
SELECT snowflake.convert_sequence_to_snowflake('given_id_seq');
SELECT string_agg(x::text, ',' ORDER BY x::text COLLATE "C") = :'acl' AS same FROM pg_class, unnest(relacl) x WHERE oid = 'given_view'::regclass;

SET client_min_messages = warning;
DROP SCHEMA plan CASCADE;
DROP ROLE regress_snowflake_giver, regress_snowflake_taker;
