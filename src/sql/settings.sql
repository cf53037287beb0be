-- The settings of functions, which are those of a session no longer. A function has settings of its own only beside these.

-- Functions look names up in pg_catalog alone: none of a caller's objects takes the place of the server's. They read and
-- print SQL in one way, whatever the caller has set. They compile no query, and start no parallel workers for one: their
-- queries read few rows of catalogs, and the planner takes them for long ones; and they call what fails in a parallel query,
-- such as a function that catches an error. They plan a query once in a session: with the arguments of each call it would run
-- faster, but not by as much as it takes to plan it. Left out are procedures, which could not commit, functions in SQL, whose
-- names are looked up when they are made, and _convert_new_columns(), which passes the caller's search_path on.
DO $do$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN
        SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = 'snowflake'::regnamespace AND p.prokind = 'f' AND l.lanname = 'plpgsql'
              AND p.proname <> '_convert_new_columns'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on '
                       'SET quote_all_identifiers = off SET jit = off SET max_parallel_workers_per_gather = 0 '
                       'SET plan_cache_mode = force_generic_plan', function);
    END LOOP;
END
$do$;

-- Functions that print or parse definitions fix the settings that would change these, or what is made by them. The functions
-- that they call run under the same settings.
DO $do$
DECLARE
    function text;
    setting text;
BEGIN
    FOREACH function IN ARRAY ARRAY[
        'snowflake.conversion_plan(regclass, text, boolean, text, text, text, snowflake.layout, interval, text)',
        'snowflake.partition_plan(regclass, interval, integer, timestamptz, boolean, name, boolean)',
        'snowflake._conversion_run(snowflake._conversion_request, text)',
        'snowflake._widen(regclass, name, text)'
    ] LOOP
        FOREACH setting IN ARRAY ARRAY[
            -- How constants are printed.
            'DateStyle = ISO', 'IntervalStyle = postgres', 'extra_float_digits = 1', 'bytea_output = hex',
            -- How texts are parsed.
            'array_nulls = on', 'transform_null_equals = off', 'xmloption = content',
            -- Where it goes what has no tablespace or access method of its own.
            'default_tablespace = ''''', 'default_table_access_method = heap'
        ] LOOP
            EXECUTE format('ALTER FUNCTION %s SET %s', function, setting);
        END LOOP;
    END LOOP;
END
$do$;

-- Functions that print a text which other sessions compare, or read, print it alike in every session. Functions in C have none
-- of the settings above.
DO $do$
DECLARE
    function text;
BEGIN
    FOREACH function IN ARRAY ARRAY[
        'snowflake._expressions_with_names(regclass, oid, regclass, smallint[], text[])',
        'snowflake._query_on_twins(regclass, oid[], smallint[], smallint[], oid[], oid[])',
        'snowflake._view_twins(snowflake._conversion_dependent[])'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %s SET standard_conforming_strings = on SET quote_all_identifiers = off SET DateStyle = ISO '
                       'SET IntervalStyle = postgres SET TimeZone = ''UTC'' SET extra_float_digits = 1 SET bytea_output = hex '
                       'SET lc_monetary = ''C''', function);
    END LOOP;
END
$do$;
