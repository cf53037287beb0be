-- Reading IDs, each function without and with a layout.

CREATE OR REPLACE FUNCTION snowflake.get_epoch(id bigint)
    RETURNS numeric
    AS 'MODULE_PATHNAME', 'snowflake_get_epoch'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_epoch(bigint) IS
    'tells when a snowflake ID was made, in seconds since 1970-01-01 00:00:00 UTC';

CREATE FUNCTION snowflake.get_epoch(id bigint, layout snowflake.layout)
    RETURNS numeric
    AS 'MODULE_PATHNAME', 'snowflake_get_epoch_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_epoch(bigint, snowflake.layout) IS
    'tells when an ID of a layout was made, in seconds since 1970-01-01 00:00:00 UTC';

CREATE FUNCTION snowflake.get_timestamp(id bigint)
    RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_get_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_timestamp(bigint) IS
    'tells when a snowflake ID was made';

CREATE FUNCTION snowflake.get_timestamp(id bigint, layout snowflake.layout)
    RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_get_timestamp_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_timestamp(bigint, snowflake.layout) IS
    'tells when an ID of a layout was made';

CREATE OR REPLACE FUNCTION snowflake.get_count(id bigint)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_get_count'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_count(bigint) IS
    'returns the counter of a snowflake ID within its tick';

CREATE FUNCTION snowflake.get_count(id bigint, layout snowflake.layout)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_get_count_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_count(bigint, snowflake.layout) IS
    'returns the counter of an ID of a layout within its tick';

CREATE OR REPLACE FUNCTION snowflake.get_node(id bigint)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_get_node'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_node(bigint) IS
    'returns the node that made a snowflake ID';

CREATE FUNCTION snowflake.get_node(id bigint, layout snowflake.layout)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_get_node_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.get_node(bigint, snowflake.layout) IS
    'returns the node that made an ID of a layout';

-- format() is not immutable: it prints the time in the session's time zone.
CREATE OR REPLACE FUNCTION snowflake.format(id bigint)
    RETURNS jsonb
    AS 'MODULE_PATHNAME', 'snowflake_format'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.format(bigint) IS
    'returns the node, time and counter of a snowflake ID';

CREATE FUNCTION snowflake.format(id bigint, layout snowflake.layout)
    RETURNS jsonb
    AS 'MODULE_PATHNAME', 'snowflake_format_in'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.format(bigint, snowflake.layout) IS
    'returns the node, time and counter of an ID of a layout';

