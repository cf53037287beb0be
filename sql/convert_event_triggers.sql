-- Event triggers: what they raise comes out as it is, and what they do beside goes on.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA events;
SET search_path = events;

-- A refusal, whatever its SQLSTATE, of a command before, in the middle of, and after the rewrite.
CREATE TABLE refused (id serial PRIMARY KEY);
CREATE VIEW refused_view AS SELECT id FROM refused;
CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'no % during business hours', tg_tag
        USING ERRCODE = current_setting('events.refuse_with'), DETAIL = 'It is noon.', HINT = 'Wait.';
END $$;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE FUNCTION convert(refuse_with text, OUT code text, OUT message text, OUT detail text, OUT hint text)
    LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('events.refuse_with', refuse_with, true);
    SELECT * INTO code, message, detail, hint
        FROM outcome($convert$SELECT snowflake.convert_sequence_to_snowflake('events.refused_id_seq')$convert$);
END $$;
CREATE EVENT TRIGGER regress_snowflake_refuse ON ddl_command_start WHEN TAG IN ('DROP VIEW') EXECUTE FUNCTION refuse();
SELECT c.* FROM unnest('{P0001,42501,42P01,23505,22000,55000}'::text[]) code, convert(code) c;
DROP EVENT TRIGGER regress_snowflake_refuse;
CREATE EVENT TRIGGER regress_snowflake_refuse ON table_rewrite EXECUTE FUNCTION refuse();
SELECT * FROM convert('42501');
DROP EVENT TRIGGER regress_snowflake_refuse;
CREATE EVENT TRIGGER regress_snowflake_refuse ON ddl_command_end WHEN TAG IN ('CREATE VIEW') EXECUTE FUNCTION refuse();
SELECT * FROM convert('23505');
DROP EVENT TRIGGER regress_snowflake_refuse;
-- One that catches its own errors has refused nothing: the fault of the view is named.
CREATE FUNCTION catch() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN
END $$;
CREATE VIEW faulty AS
    SELECT for_integers(id) FROM refused;
CREATE EVENT TRIGGER regress_snowflake_catch ON ddl_command_start EXECUTE FUNCTION catch();
SELECT * FROM convert('P0001');
DROP EVENT TRIGGER regress_snowflake_catch;
DROP VIEW faulty;
SELECT * FROM convert('P0001');

-- One that keeps an audit, in a table that it finds by the caller's search_path, with an ID from its own
-- sequence, which is converted before, with and after the others.
CREATE TABLE audit (id serial PRIMARY KEY, command text, at timestamptz DEFAULT now());
CREATE FUNCTION audit() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit (command) VALUES (tg_event || ' ' || tg_tag);
END $$;
CREATE EVENT TRIGGER regress_snowflake_audit_1 ON ddl_command_start EXECUTE FUNCTION audit();
CREATE EVENT TRIGGER regress_snowflake_audit_2 ON ddl_command_end EXECUTE FUNCTION audit();
CREATE EVENT TRIGGER regress_snowflake_audit_3 ON sql_drop EXECUTE FUNCTION audit();
CREATE TABLE plain (id serial PRIMARY KEY);
CREATE VIEW plain_view AS SELECT id FROM plain;
CREATE TABLE identity (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
TRUNCATE audit;
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('identity_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('audit_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('audit_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('audit_id_seq');
SELECT count(*) > 30 AS kept, count(DISTINCT id) = count(*) AS different, max(snowflake.get_node(id)) AS node FROM audit;
-- The same with an identity, and with blocks.
SET session_replication_role = replica; -- they do not fire
DROP TABLE audit;
CREATE TABLE audit (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, command text, at timestamptz DEFAULT now());
CREATE VIEW audit_view AS SELECT id FROM audit;
RESET session_replication_role;
SELECT snowflake.convert_sequence_to_snowflake('audit_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('audit_id_seq');
ALTER SEQUENCE audit_id_seq INCREMENT 10;
SELECT snowflake.convert_sequence_to_snowflake('audit_id_seq', 'keep');
SELECT count(*) > 20 AS kept, count(DISTINCT id) = count(*) AS different, max(snowflake.get_node(id)) AS node FROM audit;
-- What a rollback takes back leaves no ID in the sequence, which would be too large for the column as it was.
CREATE SEQUENCE numbers;
CREATE TABLE numbered (id integer DEFAULT nextval('numbers'));
CREATE FUNCTION number() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO events.numbered DEFAULT VALUES; END $$;
CREATE EVENT TRIGGER regress_snowflake_number ON ddl_command_end EXECUTE FUNCTION number();
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('numbers');
SELECT count(*) > 0 AS made FROM numbered WHERE id > 1000;
ROLLBACK;
INSERT INTO numbered DEFAULT VALUES RETURNING id < 1000 AS as_before;
DROP EVENT TRIGGER regress_snowflake_number;
-- It writes to a path of its own if it sets one.
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.audit (command text);
ALTER FUNCTION audit() SET search_path = elsewhere;
ALTER TABLE plain ADD COLUMN other_id integer DEFAULT nextval('plain_id_seq');
DELETE FROM elsewhere.audit;
CREATE TEMPORARY TABLE before AS SELECT count(*) FROM audit;
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
SELECT count(*) > 0 AS elsewhere FROM elsewhere.audit;
SELECT count(*) - (SELECT count FROM before) AS here FROM audit;
SHOW search_path;

-- Commands wait a minute for what is locked besides, or for lock_timeout; those of a stage no longer than a try for locks.
CREATE FUNCTION patience() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% waits for a lock at most %', tg_tag,
        CASE WHEN current_setting('lock_timeout')::interval BETWEEN '1 ms' AND current_setting('deadlock_timeout')::interval / 2
             THEN 'half of deadlock_timeout' ELSE current_setting('lock_timeout') END;
END $$;
CREATE TABLE patient (id serial);
CREATE VIEW patient_view AS SELECT id FROM patient;
CREATE TABLE shadowed (id serial);
CREATE EVENT TRIGGER regress_snowflake_patience ON ddl_command_start WHEN TAG IN ('CREATE VIEW', 'CREATE TRIGGER') EXECUTE FUNCTION patience();
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('patient_id_seq');
ROLLBACK;
SET lock_timeout = '5s';
SELECT snowflake.convert_sequence_to_snowflake('patient_id_seq');
SELECT snowflake._add_shadows('shadowed_id_seq', 'shadowed');
SHOW lock_timeout;
RESET lock_timeout;
DROP EVENT TRIGGER regress_snowflake_patience;

SET client_min_messages = warning;
DROP EVENT TRIGGER regress_snowflake_audit_1;
DROP EVENT TRIGGER regress_snowflake_audit_2;
DROP EVENT TRIGGER regress_snowflake_audit_3;
DROP SCHEMA events, elsewhere CASCADE;
