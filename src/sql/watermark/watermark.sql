-- How far a reader can read that goes through a table by ID. src/watermark/watermark.hpp tells how.

-- Looks at the sequence of a call of snowflake.low_watermark while the call is planned.
CREATE FUNCTION snowflake._low_watermark_planned(internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_low_watermark_planned'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- STABLE: within one statement the answer is one and the same.
CREATE FUNCTION snowflake.low_watermark(seq regclass DEFAULT 'snowflake.id_seq')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_low_watermark'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE SUPPORT snowflake._low_watermark_planned;
COMMENT ON FUNCTION snowflake.low_watermark(regclass) IS
    'returns the ID below which no row of this server can appear any more; NULL: not known now';

CREATE FUNCTION snowflake.low_watermark(seq regclass, layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_low_watermark'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE SUPPORT snowflake._low_watermark_planned;
COMMENT ON FUNCTION snowflake.low_watermark(regclass, snowflake.layout) IS
    'returns the ID of a layout below which no row of this server can appear any more; NULL: not known now';

