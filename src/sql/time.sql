-- From times to IDs, each function without and with a layout.

CREATE FUNCTION snowflake.from_timestamp(ts timestamptz)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_from_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.from_timestamp(timestamptz) IS
    'smallest snowflake ID of a time';

CREATE FUNCTION snowflake.from_timestamp(ts timestamptz, layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_from_timestamp_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.from_timestamp(timestamptz, snowflake.layout) IS
    'smallest ID of a layout of a time';

CREATE FUNCTION snowflake.make_id(ts timestamptz, node integer, count integer)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_make_id'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.make_id(timestamptz, integer, integer) IS
    'snowflake ID of a time, a node and a counter';

CREATE FUNCTION snowflake.make_id(ts timestamptz, node integer, count integer,
                                  layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_make_id_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.make_id(timestamptz, integer, integer, snowflake.layout) IS
    'ID of a layout of a time, a node and a counter';

-- The planner puts the two comparisons in the place of the call, and so finds index and partitions
-- as if they had been written out. It could not if the function were strict.
CREATE FUNCTION snowflake.created_between(id bigint, "from" timestamptz, "to" timestamptz)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowflake.from_timestamp("from") AND id < snowflake.from_timestamp("to");
COMMENT ON FUNCTION snowflake.created_between(bigint, timestamptz, timestamptz) IS
    'whether a snowflake ID was made at or after the one time and before the other';

CREATE FUNCTION snowflake.created_between(id bigint, "from" timestamptz, "to" timestamptz,
                                          layout snowflake.layout)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowflake.from_timestamp("from", layout)
           AND id < snowflake.from_timestamp("to", layout);
COMMENT ON FUNCTION snowflake.created_between(bigint, timestamptz, timestamptz, snowflake.layout) IS
    'whether an ID of a layout was made at or after the one time and before the other';

