-- Names for what commands make, and texts that somebody types.

-- Returns a name with an ending. The name is cut off where both would be too long.
CREATE FUNCTION snowflake._name_with(name name, ending text)
    RETURNS name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT (left(name::text, n) || ending)::name
                FROM generate_series(char_length(name::text), 0, -1) n
                WHERE octet_length(left(name::text, n) || ending) < 64
                LIMIT 1);

-- Returns a name that no relation of a schema has, and no type: each relation gets one.
CREATE FUNCTION snowflake._free_name(schema name, wanted text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    free name := wanted;
    number integer := 0;
BEGIN
    WHILE EXISTS (SELECT FROM pg_namespace n
                      WHERE n.nspname = schema
                        AND (EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = free)
                             OR EXISTS (SELECT FROM pg_type y WHERE y.typnamespace = n.oid AND y.typname = free))) LOOP
        number := number + 1;
        free := snowflake._name_with(wanted, '_' || number);
    END LOOP;
    RETURN free;
END
$function$;

-- Tells whether a name is that of a twin, see online/twins.sql.
CREATE FUNCTION snowflake._is_twin_name(name name)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN name ~ '^snowflake_[0-9a-f]{16}(_[0-9]+)?$';

-- Returns a text with a question mark in the place of each control character.
CREATE FUNCTION snowflake._one_line(words text)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(words, '[[:cntrl:]]', '?', 'g');

-- Returns a command, quoted as format() does, in printable ASCII and on one line: all sessions read it in the same way.
CREATE FUNCTION snowflake._in_ascii(command text)
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_in_ascii'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Returns a command, as a comment that names the owner of what it alters unless the owner may act for the caller.
CREATE FUNCTION snowflake._typed_by(owner oid, command text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN pg_has_role(owner, current_user, 'USAGE') THEN command
                ELSE format('-- As %I: %s', pg_get_userbyid(owner), command) END;
