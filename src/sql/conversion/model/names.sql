-- Names for what commands make.

-- Returns a name that no relation of a schema has, and no type: each relation gets one.
CREATE FUNCTION snowflake._free_name(schema name, wanted text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    free text := wanted;
    number integer := 0;
BEGIN
    WHILE EXISTS (SELECT FROM pg_namespace n
                      WHERE n.nspname = schema
                        AND (EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = free)
                             OR EXISTS (SELECT FROM pg_type y WHERE y.typnamespace = n.oid AND y.typname = free))) LOOP
        number := number + 1;
        free := wanted || '_' || number;
    END LOOP;
    RETURN free;
END
$function$;
