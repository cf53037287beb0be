-- From times to IDs, each function without and with a layout.

CREATE FUNCTION snowflake.from_timestamp(ts timestamptz)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_from_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.from_timestamp(timestamptz) IS
    'returns the smallest snowflake ID of a time';

CREATE FUNCTION snowflake.from_timestamp(ts timestamptz, layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_from_timestamp_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.from_timestamp(timestamptz, snowflake.layout) IS
    'returns the smallest ID of a layout of a time';

CREATE FUNCTION snowflake.make_id(ts timestamptz, node integer, count integer)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_make_id'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.make_id(timestamptz, integer, integer) IS
    'returns the snowflake ID of a time, a node and a counter';

CREATE FUNCTION snowflake.make_id(ts timestamptz, node integer, count integer,
                                  layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_make_id_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.make_id(timestamptz, integer, integer, snowflake.layout) IS
    'returns the ID of a layout of a time, a node and a counter';

-- created_between() is not strict: the planner can then put the two comparisons in the place of the call,
-- and finds indexes and partitions as if the comparisons had been written out.
CREATE FUNCTION snowflake.created_between(id bigint, "from" timestamptz, "to" timestamptz)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowflake.from_timestamp("from") AND id < snowflake.from_timestamp("to");
COMMENT ON FUNCTION snowflake.created_between(bigint, timestamptz, timestamptz) IS
    'tells whether a snowflake ID was made at or after the one time and before the other';

CREATE FUNCTION snowflake.created_between(id bigint, "from" timestamptz, "to" timestamptz,
                                          layout snowflake.layout)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowflake.from_timestamp("from", layout)
           AND id < snowflake.from_timestamp("to", layout);
COMMENT ON FUNCTION snowflake.created_between(bigint, timestamptz, timestamptz, snowflake.layout) IS
    'tells whether an ID of a layout was made at or after the one time and before the other';

