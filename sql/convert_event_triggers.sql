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
CREATE FUNCTION convert(refuse_with text, OUT code text, OUT message text, OUT detail text, OUT hint text)
    LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('events.refuse_with', refuse_with, true);
    PERFORM snowflake.convert_sequence_to_snowflake('events.refused_id_seq');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
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
CREATE FUNCTION for_integers(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE VIEW faulty AS
    SELECT for_integers(id) FROM refused;
CREATE EVENT TRIGGER regress_snowflake_catch ON ddl_command_start EXECUTE FUNCTION catch();
SELECT * FROM convert('P0001');
DROP EVENT TRIGGER regress_snowflake_catch;
DROP VIEW faulty;
SELECT * FROM convert('P0001');

SET client_min_messages = warning;
DROP SCHEMA events CASCADE;
