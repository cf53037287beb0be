-- Dropping the extension with CASCADE drops the triggers that keep shadow columns. The columns would stay, with what is
-- built on them: their checks would refuse new rows, and their foreign keys act on numbers that are out of date.

CREATE FUNCTION snowflake._require_no_shadows(command text)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    tables constant text := (SELECT string_agg(DISTINCT p.relid::text, ', ') FROM snowflake._shadow_pairs(NULL) p);
BEGIN
    IF tables IS NOT NULL THEN
        RAISE EXCEPTION '% would drop extension snowflake, which is widening columns without a lock', command
            USING ERRCODE = 'dependent_objects_still_exist',
                  DETAIL = 'The tables are ' || tables || '.',
                  HINT = 'SELECT snowflake.cancel_conversion(seq) FROM (SELECT DISTINCT sequence::regclass FROM snowflake.conversions) c(seq);';
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._require_no_shadows(text) IS
    'raises an error for a command that would drop the extension if there are columns that it keeps';

CREATE FUNCTION snowflake._refuse_to_drop()
    RETURNS event_trigger
    AS 'MODULE_PATHNAME', 'snowflake_refuse_to_drop'
    LANGUAGE C;
COMMENT ON FUNCTION snowflake._refuse_to_drop() IS
    'refuses to drop the extension, or its schema, while it keeps columns';

CREATE EVENT TRIGGER _snowflake_drop ON ddl_command_start
    WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA')
    EXECUTE FUNCTION snowflake._refuse_to_drop();
ALTER EVENT TRIGGER _snowflake_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER _snowflake_drop IS
    'refuses to drop the extension snowflake while it is widening columns without a lock';
