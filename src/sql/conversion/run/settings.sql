-- Fixes the settings of a session that would change what the conversion prints, parses or makes again. Some functions have
-- all of them, and the functions that these call run under them. Other functions have only what they need when they are
-- called alone.
DO $do$
DECLARE
    function text;
    setting text;
BEGIN
    FOREACH function IN ARRAY ARRAY[
        'snowflake.conversion_plan(regclass, text, boolean, text, text, text, snowflake.layout, interval, text)',
        'snowflake.partition_plan(regclass, interval, integer, timestamptz, boolean, name, boolean)',
        'snowflake._conversion_run(snowflake._conversion_request, text)'
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
