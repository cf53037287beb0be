-- The MINVALUE of a sequence, which keeps its layout (src/pure/layout_minimum.hpp).

-- Reads the last_value of a sequence of the caller by OID.
CREATE FUNCTION snowflake._last_value(seq regclass)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_last_value'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Returns the MINVALUE that gives a sequence a layout. The default layout is none of its own: the sequence goes on with
-- its MINVALUE, or, where that would be taken for a layout, with one that allows its numbers.
CREATE FUNCTION snowflake._minimum_for(seq regclass, layout snowflake.layout)
    RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF layout OPERATOR(snowflake.<>) 'default' THEN
        RETURN snowflake._minimum_of(layout);
    END IF;
    RETURN (SELECT CASE WHEN snowflake._kept_layout(snowflake._guard(), q.seqmin, q.seqmax) IS NULL THEN q.seqmin
                        ELSE least(1, q.seqstart, snowflake._last_value(seq)) END
                FROM pg_sequence q WHERE q.seqrelid = seq);
END
$function$;
