-- Numbers that several parts of the script need. Each of them stands in this file alone.

-- Returns the greatest node number; the lowest is 1.
CREATE FUNCTION snowflake._last_node()
    RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN 1023;

-- Returns the greatest INCREMENT of a sequence that makes IDs of a layout: the room of the counter, which has to be the
-- lowest field.
CREATE FUNCTION snowflake._greatest_stride(layout snowflake.layout)
    RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT CASE WHEN layout::text LIKE '%node:% counter:%' THEN described.ids_per_tick ELSE 1 END
                FROM snowflake.describe(layout) described);

-- Returns how many digits the last ID of a layout has.
CREATE FUNCTION snowflake._digits(layout snowflake.layout)
    RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT pg_catalog.length(pg_catalog.trunc(2::numeric ^ (timestamp_bits + node_bits + counter_bits) - 1)::text)
                FROM snowflake.describe(layout));

-- Tells whether IDs of a layout can be made now: it has room for nodes, and for this time.
CREATE FUNCTION snowflake._is_usable_now(layout snowflake.layout)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN (SELECT described.node_bits > 0
                   AND clock_timestamp() BETWEEN described.epoch AND described.last_timestamp - interval '1 hour'
                FROM snowflake.describe(layout) described);

-- Tells whether a number is a count, 1, 2, 3, rather than an ID of the default layout.
CREATE FUNCTION snowflake._is_count(number bigint)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_is_count'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Returns the INCREMENT of a sequence from which the server's own nextval() takes no value (src/sequence/sequence_kind.hpp).
-- The guard makes the server's own nextval() fail on a snowflake sequence: a step of this size from any value that is taken
-- leaves the range of bigint. setval() and with it dump and restore still work.
CREATE FUNCTION snowflake._guard()
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_guard'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Returns the MAXVALUE of a snowflake sequence that is not guarded. A sequence whose INCREMENT is the size of blocks
-- has no guard. This MAXVALUE, which no other sequence has, tells it from sequences that are not converted.
CREATE FUNCTION snowflake._unguarded_maximum()
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_unguarded_maximum'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Tells whether a sequence with this INCREMENT and MAXVALUE is converted.
CREATE FUNCTION snowflake._makes_ids(increment bigint, maximum bigint)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_makes_ids'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
