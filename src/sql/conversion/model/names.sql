-- Names for what commands make.

-- Returns a name that no relation of a schema has.
CREATE FUNCTION snowflake._free_name(schema name, wanted text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    free text := wanted;
    number integer := 0;
BEGIN
    WHILE EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                      WHERE n.nspname = schema AND c.relname = free) LOOP
        number := number + 1;
        free := wanted || '_' || number;
    END LOOP;
    RETURN free;
END
$function$;
