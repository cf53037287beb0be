\set ECHO none
-- Functions that several tests use. They are made in the schema that is first in search_path.

-- Runs a statement, and returns its error.
CREATE FUNCTION outcome(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
END $$;

-- A trigger's function that changes nothing.
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';

-- A function that cannot be called with a bigint.
CREATE FUNCTION for_integers(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1';
\set ECHO all
