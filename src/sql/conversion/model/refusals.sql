-- Refusals: errors that name all that is in the way, and nothing of the functions that looked for it.

-- Raises an error without the CONTEXT of the functions that were running.
CREATE FUNCTION snowflake._raise(
        sqlstate text, message text,
        detail text DEFAULT NULL, hint text DEFAULT NULL) -- NULL: none
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_raise'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Raises an error (0A000) that lists the obstacles, if there are any.
CREATE FUNCTION snowflake._require_none(obstacles text[], message text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    IF obstacles <> '{}' THEN
        PERFORM snowflake._raise('0A000', message, array_to_string(obstacles, E'\n'));
    END IF;
END
$function$;
