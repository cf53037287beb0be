-- Each command runs as the owner of its relation, in a security-restricted operation: what that keeps an owner from, or
-- takes from a superuser, must neither stop a conversion nor change what comes of it.
\set SHOW_CONTEXT never
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_limits_owner;
CREATE SCHEMA limits;
GRANT ALL ON SCHEMA limits TO regress_limits_owner;
SET search_path = limits;

-- FORCE ROW LEVEL SECURITY hides all rows from the owner. A foreign key is checked against them all the same, with a lock
-- and without a long one, in both directions.
SET ROLE regress_limits_owner;
CREATE TABLE a (id serial PRIMARY KEY);
CREATE TABLE b (id serial PRIMARY KEY, a integer REFERENCES a);
INSERT INTO a SELECT FROM generate_series(1, 3);
INSERT INTO b (a) SELECT id FROM a;
ALTER TABLE a ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
RESET ROLE;
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('a_id_seq');
SELECT count(*) FROM b JOIN a ON a.id = b.a;
ROLLBACK;
-- A row that breaks the key is found, though a policy hides it.
ALTER TABLE a NO FORCE ROW LEVEL SECURITY;
ALTER TABLE b ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
BEGIN;
SET LOCAL session_replication_role = replica;
INSERT INTO b (a) VALUES (17);
SET LOCAL session_replication_role = origin;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('a_id_seq');
\set VERBOSITY terse
ROLLBACK;
ALTER TABLE a FORCE ROW LEVEL SECURITY;
SELECT snowflake.convert_sequence_to_snowflake('b_id_seq');
\o /dev/null
SELECT command FROM snowflake.conversion_plan('a_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\o
SELECT count(*) FROM b JOIN a ON a.id = b.a;
SELECT convalidated, atttypid::regtype FROM pg_constraint, pg_attribute
    WHERE conrelid = 'b'::regclass AND contype = 'f' AND attrelid = conrelid AND attname = 'a';
SELECT snowflake.convert_snowflake_to_sequence('a_id_seq');
DROP TABLE b, a;

-- The identity of a temporary table: no sequence that is temporary can be made in a restricted operation.
CREATE TEMP TABLE fleeting (id integer GENERATED ALWAYS AS IDENTITY, x integer);
SELECT snowflake.convert_sequence_to_snowflake('pg_temp.fleeting_id_seq');
INSERT INTO fleeting (x) VALUES (1) RETURNING snowflake.get_node(id);
SELECT snowflake.convert_snowflake_to_sequence('pg_temp.fleeting_id_seq');
DROP TABLE fleeting;
SET ROLE regress_limits_owner;
CREATE TEMP TABLE fleeting (id integer GENERATED ALWAYS AS IDENTITY, x integer);
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('pg_temp.fleeting_id_seq');
SELECT relname, relowner::regrole, relpersistence FROM pg_class WHERE relname ~ '^fleeting' ORDER BY 1;
DROP TABLE fleeting;

-- A materialized view of another owner is filled again, as that owner.
SET ROLE regress_limits_owner;
CREATE TABLE t (id serial);
INSERT INTO t SELECT FROM generate_series(1, 3);
CREATE MATERIALIZED VIEW filled AS SELECT id, current_user AS filled_by FROM t;
CREATE UNIQUE INDEX ON filled (id);
CREATE MATERIALIZED VIEW empty AS SELECT id FROM t WITH NO DATA;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
SELECT count(*), filled_by FROM filled GROUP BY 2;
SELECT relname, relispopulated, relowner::regrole FROM pg_class WHERE relkind = 'm' AND relnamespace = 'limits'::regnamespace ORDER BY 1;
DROP TABLE t CASCADE;

-- An owner who has lost a right is told which. What the obstacle says can be typed, and is all that is missing.
CREATE FUNCTION missing(seq text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM snowflake.convert_sequence_to_snowflake(seq::regclass);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE NOTICE '%: %', SQLERRM, detail;
    RETURN QUERY SELECT DISTINCT m.words[1] FROM regexp_matches(detail, 'GRANT [^\n:]*', 'g') m(words) ORDER BY 1;
END $$;
SET client_min_messages = notice;
CREATE SCHEMA parts;
GRANT ALL ON SCHEMA parts TO regress_limits_owner;
SET ROLE regress_limits_owner;
CREATE TYPE parts.mood AS ENUM ('fine');
CREATE FUNCTION parts.small(bigint) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true';
CREATE TABLE t (id serial PRIMARY KEY CHECK (parts.small(id)), feels parts.mood DEFAULT 'fine');
CREATE VIEW seen AS SELECT id, 'fine'::parts.mood FROM t;
CREATE TABLE i (id integer GENERATED ALWAYS AS IDENTITY);
RESET ROLE;
REVOKE CREATE ON SCHEMA limits FROM regress_limits_owner;
REVOKE ALL ON SCHEMA parts FROM regress_limits_owner;
REVOKE USAGE ON TYPE parts.mood FROM PUBLIC, regress_limits_owner;
SELECT missing('t_id_seq') \gexec
SELECT missing('t_id_seq');
SELECT missing('i_id_seq');
INSERT INTO t DEFAULT VALUES RETURNING snowflake.get_node(id);
-- The schema of the extension itself.
CREATE TABLE own (id serial);
ALTER TABLE own OWNER TO regress_limits_owner;
REVOKE USAGE ON SCHEMA snowflake FROM PUBLIC;
SELECT missing('own_id_seq') \gexec
GRANT USAGE ON SCHEMA snowflake TO PUBLIC;
SELECT missing('own_id_seq');
REVOKE USAGE ON SCHEMA snowflake FROM regress_limits_owner;
DROP TABLE own, t, i CASCADE;
SET client_min_messages = warning;

-- Event triggers, which are a superuser's, see the owner, and settings are those of the caller again afterwards.
CREATE TABLE events (tag text, as_whom name);
GRANT INSERT ON events TO PUBLIC;
GRANT USAGE, CREATE ON SCHEMA limits TO regress_limits_owner;
CREATE FUNCTION record() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO limits.events VALUES (tg_tag, current_user);
END $$;
CREATE EVENT TRIGGER regress_limits_record ON ddl_command_end EXECUTE FUNCTION record();
SET ROLE regress_limits_owner;
CREATE TABLE t (id serial PRIMARY KEY);
CREATE TABLE k (id integer REFERENCES t);
CREATE INDEX ON t ((id + 0));
CREATE VIEW v AS SELECT id FROM t;
RESET ROLE;
DELETE FROM events;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
SELECT DISTINCT tag, as_whom FROM events ORDER BY 1, 2;
DELETE FROM events;
-- The way back.
SELECT snowflake.convert_snowflake_to_sequence('t_id_seq');
SELECT DISTINCT tag, as_whom FROM events ORDER BY 1, 2;
DELETE FROM events;
-- All sequences, each in a transaction of its own; and what has begun is taken back.
CREATE SCHEMA every;
CREATE TABLE every.a (id serial);
CREATE TABLE every.b (id serial);
ALTER TABLE every.b OWNER TO regress_limits_owner;
GRANT ALL ON SCHEMA every TO regress_limits_owner;
DELETE FROM events;
CALL snowflake.convert_all('every');
SELECT DISTINCT tag, replace(as_whom, session_user, 'superuser') AS as_whom FROM events ORDER BY 1, 2;
SET ROLE regress_limits_owner;
CREATE TABLE s (id serial PRIMARY KEY, x integer);
CREATE INDEX ON s ((id + x));
RESET ROLE;
SELECT snowflake._add_shadows('s_id_seq', 's');
DELETE FROM events;
SELECT snowflake.cancel_conversion('s_id_seq');
SELECT DISTINCT tag, as_whom FROM events ORDER BY 1, 2;
DROP EVENT TRIGGER regress_limits_record;

-- A catalog whose rows are no objects: the server's own description would be an internal error.
SELECT snowflake._description_of('pg_attribute'::regclass, 1) IS NULL AS is_null;

-- A stranger who names the sequence of an identity in a default has no say by his checks.
CREATE ROLE regress_limits_stranger;
GRANT USAGE, CREATE ON SCHEMA limits TO regress_limits_stranger, regress_limits_owner;
SET ROLE regress_limits_owner;
CREATE TABLE limits.named (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
SET ROLE regress_limits_stranger;
CREATE FUNCTION limits.tells(bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'runs'; RETURN true; END $$;
CREATE TABLE limits.evil (id bigint DEFAULT nextval('limits.named_id_seq') CHECK (id < 1000 AND limits.tells(id)));
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('limits.named_id_seq');
DROP SCHEMA every, parts, limits CASCADE;
DROP ROLE regress_limits_stranger;
DROP ROLE regress_limits_owner;
