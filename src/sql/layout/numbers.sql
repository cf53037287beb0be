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
    RETURN (SELECT CASE WHEN layout::text LIKE '%node:% counter:%' THEN room.ids_per_tick ELSE 1 END
                FROM snowflake.describe(layout) room);

-- Returns how many digits the last ID of a layout has.
CREATE FUNCTION snowflake._digits(layout snowflake.layout)
    RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT pg_catalog.length(pg_catalog.trunc(2::numeric ^ (timestamp_bits + node_bits + counter_bits) - 1)::text)
                FROM snowflake.describe(layout));

-- Returns the INCREMENT of a sequence from which the server's own nextval() takes no value. The guard makes the
-- server's own nextval() fail on a snowflake sequence: a step of this size from any value that is taken leaves the
-- range of bigint. setval() and with it dump and restore still work.
CREATE FUNCTION snowflake._guard()
    RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN 9223372036854775807;

-- Returns the MAXVALUE of a snowflake sequence that is not guarded. A sequence whose INCREMENT is the size of blocks
-- has no guard. What tells it from sequences that are not converted is a MAXVALUE that no other sequence has, see
-- src/sequence/sequence_kind.hpp.
CREATE FUNCTION snowflake._mark()
    RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN 9223372036854775806;

-- Tells whether a sequence with this INCREMENT and MAXVALUE is converted.
CREATE FUNCTION snowflake._makes_ids(increment bigint, maximum bigint)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN increment = snowflake._guard() OR increment > 1 AND maximum = snowflake._mark();
