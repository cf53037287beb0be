-- Private functions look names up in pg_catalog alone: none of a caller's objects takes the place of the server's. Left
-- out are procedures, which could not commit, functions in SQL, which the planner could not inline, and the functions of
-- event triggers, one of which passes the caller's search_path on.
DO $do$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN
        SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = 'snowflake'::regnamespace AND p.proname LIKE '|_%' ESCAPE '|'
              AND p.prokind = 'f' AND l.lanname = 'plpgsql' AND p.prorettype <> 'event_trigger'::regtype
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', function);
    END LOOP;
END
$do$;
