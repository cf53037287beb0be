-- A superuser widens the tables of a hostile role without a long lock: nothing that the role wrote runs as anybody else.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE hostile_online;
CREATE SCHEMA hostile_online AUTHORIZATION hostile_online;
SET ROLE hostile_online;
SET search_path = hostile_online;
CREATE TABLE seen (place text, who name);
CREATE FUNCTION spy(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    EXECUTE format('INSERT INTO hostile_online.seen VALUES (%L, current_user)', spy.place);
    RETURN true;
EXCEPTION WHEN feature_not_supported OR read_only_sql_transaction OR object_not_in_prerequisite_state THEN
    RETURN true; -- a place where nothing can be written
END $$;
ALTER FUNCTION spy VOLATILE;
CREATE FUNCTION spy_on_constants(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM set_config('hostile.who', concat(current_setting('hostile.who', true), ' ', spy_on_constants.place, ':', current_user), false);
    RETURN true;
END $$;
CREATE FUNCTION spy_on_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hostile_online.seen VALUES (TG_OP, current_user);
    RETURN NEW;
END $$;
CREATE TABLE t (id serial PRIMARY KEY, item text, CHECK (id > 0 AND spy('check')), CHECK (id < 1000 OR spy_on_constants('constant')));
CREATE TABLE r (t_id integer REFERENCES t ON DELETE CASCADE, CHECK (spy('reference') AND t_id > 0));
INSERT INTO t (item) SELECT 'a' FROM generate_series(1, 20);
INSERT INTO r SELECT id FROM t;
CREATE TRIGGER a BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION spy_on_rows();
CREATE TRIGGER b AFTER UPDATE ON t FOR EACH STATEMENT EXECUTE FUNCTION spy_on_rows();
CREATE VIEW v AS SELECT id FROM t WHERE spy('view');
CREATE RULE u AS ON UPDATE TO t DO ALSO SELECT spy('rule');
CREATE INDEX spying ON t ((id > 0 AND spy_on_constants('index')));
-- What takes the place of functions and operators of the server for whoever has the schema in the path.
CREATE FUNCTION lower(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT spy_on_constants(''lower'')::text';
CREATE FUNCTION mod(bigint, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT spy_on_constants(''mod'')::int::bigint';
CREATE OPERATOR % (FUNCTION = mod, LEFTARG = bigint, RIGHTARG = integer);
CREATE INDEX digits ON t ((id % 10), mod(id % 7, 3)) WHERE (coalesce(id, 0) % 3) % 2 = 0;
CREATE DOMAIN spied AS text CHECK (spy_on_constants('domain'));
CREATE INDEX constant ON t ((id::text = 'x'::spied));
TRUNCATE seen;
-- A trigger that looks like one of the extension's, without the name of a sequence.
CREATE TABLE bait (id integer, snowflake_id bigint);
CREATE TRIGGER bait BEFORE INSERT ON bait FOR EACH ROW WHEN (NEW.snowflake_id IS DISTINCT FROM NEW.id)
    EXECUTE FUNCTION snowflake._keep_shadow();
RESET ROLE;

SELECT sequence, table_name, column_name, new_column FROM snowflake.conversions;
DROP TABLE bait;

-- The server reads constants of CREATE INDEX CONCURRENTLY as the caller, and evaluates as the owner.
SELECT * FROM snowflake.conversion_plan('hostile_online.t_id_seq', online => true);
DROP INDEX constant;
SELECT role, command ~ 'fill' AS fills FROM snowflake.conversion_plan('hostile_online.t_id_seq', online => true) WHERE role IS NOT NULL;
\set ECHO none
SELECT command FROM snowflake.conversion_plan('hostile_online.t_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
SELECT current_setting('hostile.who', true) ~ current_user AS superuser_was_seen;
DROP INDEX spying; -- The next query would run its function as the superuser.
SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'r'::regclass AND attname = 't_id';
SELECT count(*), sum(id) FROM t;
-- The twin of an index means the server's operators, though the caller's search_path has nearer ones.
SELECT pg_get_indexdef('digits'::regclass);
-- The checks ran, as their owner. The triggers and the rule did not.
SELECT DISTINCT place, who FROM seen ORDER BY 1;
RESET search_path;
DROP SCHEMA hostile_online CASCADE;
DROP ROLE hostile_online;
