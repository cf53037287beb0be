-- How far a reader can read that goes through a table by ID. src/watermark.hpp tells how.

-- STABLE, because the answer is that of the statement's snapshot; a planner that asks for an estimate may call it.
CREATE FUNCTION snowflake.low_watermark(seq regclass DEFAULT 'snowflake.id_seq',
                                        layout snowflake.layout DEFAULT 'default')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_low_watermark'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.low_watermark(regclass, snowflake.layout) IS
    'returns the ID below which no row of this server can appear any more; NULL: not known now';

