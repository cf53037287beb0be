-- The type of layouts. A layout is an 8-byte number inside, passed by value: the functions that compare and
-- hash bigint compare and hash layouts.

CREATE TYPE snowflake.layout;

-- Reads a layout from text.
CREATE FUNCTION snowflake._layout_in(cstring)
    RETURNS snowflake.layout
    AS 'MODULE_PATHNAME', 'snowflake_layout_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Writes a layout as text.
CREATE FUNCTION snowflake._layout_out(snowflake.layout)
    RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_layout_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Reads a layout from its binary form.
CREATE FUNCTION snowflake._layout_recv(internal)
    RETURNS snowflake.layout
    AS 'MODULE_PATHNAME', 'snowflake_layout_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Writes a layout in its binary form.
CREATE FUNCTION snowflake._layout_send(snowflake.layout)
    RETURNS bytea
    AS 'int8send'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE snowflake.layout (
    INPUT = snowflake._layout_in,
    OUTPUT = snowflake._layout_out,
    RECEIVE = snowflake._layout_recv,
    SEND = snowflake._layout_send,
    INTERNALLENGTH = 8,
    PASSEDBYVALUE,
    ALIGNMENT = double
);
COMMENT ON TYPE snowflake.layout IS
    'epoch, tick, and the width and order of the fields of a snowflake ID';

-- Comparing. The order means nothing; it is there for sorting and grouping.

-- Implements the operator =.
CREATE FUNCTION snowflake._layout_eq(snowflake.layout, snowflake.layout)
    RETURNS boolean
    AS 'int8eq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Implements the operator <>.
CREATE FUNCTION snowflake._layout_ne(snowflake.layout, snowflake.layout)
    RETURNS boolean
    AS 'int8ne'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Implements the operator <.
CREATE FUNCTION snowflake._layout_lt(snowflake.layout, snowflake.layout)
    RETURNS boolean
    AS 'int8lt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Implements the operator <=.
CREATE FUNCTION snowflake._layout_le(snowflake.layout, snowflake.layout)
    RETURNS boolean
    AS 'int8le'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Implements the operator >.
CREATE FUNCTION snowflake._layout_gt(snowflake.layout, snowflake.layout)
    RETURNS boolean
    AS 'int8gt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Implements the operator >=.
CREATE FUNCTION snowflake._layout_ge(snowflake.layout, snowflake.layout)
    RETURNS boolean
    AS 'int8ge'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Compares two layouts: less, equal or greater.
CREATE FUNCTION snowflake._layout_cmp(snowflake.layout, snowflake.layout)
    RETURNS integer
    AS 'btint8cmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Hashes a layout.
CREATE FUNCTION snowflake._layout_hash(snowflake.layout)
    RETURNS integer
    AS 'hashint8'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- Hashes a layout.
CREATE FUNCTION snowflake._layout_hash_extended(snowflake.layout, bigint)
    RETURNS bigint
    AS 'hashint8extended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR snowflake.= (
    FUNCTION = snowflake._layout_eq,
    LEFTARG = snowflake.layout,
    RIGHTARG = snowflake.layout,
    COMMUTATOR = OPERATOR(snowflake.=),
    NEGATOR = OPERATOR(snowflake.<>),
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR snowflake.= (snowflake.layout, snowflake.layout) IS
    'equal';

CREATE OPERATOR snowflake.<> (
    FUNCTION = snowflake._layout_ne,
    LEFTARG = snowflake.layout,
    RIGHTARG = snowflake.layout,
    COMMUTATOR = OPERATOR(snowflake.<>),
    NEGATOR = OPERATOR(snowflake.=),
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR snowflake.<> (snowflake.layout, snowflake.layout) IS
    'not equal';

CREATE OPERATOR snowflake.< (
    FUNCTION = snowflake._layout_lt,
    LEFTARG = snowflake.layout,
    RIGHTARG = snowflake.layout,
    COMMUTATOR = OPERATOR(snowflake.>),
    NEGATOR = OPERATOR(snowflake.>=),
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR snowflake.< (snowflake.layout, snowflake.layout) IS
    'less than';

CREATE OPERATOR snowflake.<= (
    FUNCTION = snowflake._layout_le,
    LEFTARG = snowflake.layout,
    RIGHTARG = snowflake.layout,
    COMMUTATOR = OPERATOR(snowflake.>=),
    NEGATOR = OPERATOR(snowflake.>),
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR snowflake.<= (snowflake.layout, snowflake.layout) IS
    'less than or equal';

CREATE OPERATOR snowflake.> (
    FUNCTION = snowflake._layout_gt,
    LEFTARG = snowflake.layout,
    RIGHTARG = snowflake.layout,
    COMMUTATOR = OPERATOR(snowflake.<),
    NEGATOR = OPERATOR(snowflake.<=),
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR snowflake.> (snowflake.layout, snowflake.layout) IS
    'greater than';

CREATE OPERATOR snowflake.>= (
    FUNCTION = snowflake._layout_ge,
    LEFTARG = snowflake.layout,
    RIGHTARG = snowflake.layout,
    COMMUTATOR = OPERATOR(snowflake.<=),
    NEGATOR = OPERATOR(snowflake.<),
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR snowflake.>= (snowflake.layout, snowflake.layout) IS
    'greater than or equal';

CREATE OPERATOR CLASS snowflake.layout_ops
    DEFAULT FOR TYPE snowflake.layout USING btree AS
    OPERATOR 1 snowflake.<,
    OPERATOR 2 snowflake.<=,
    OPERATOR 3 snowflake.=,
    OPERATOR 4 snowflake.>=,
    OPERATOR 5 snowflake.>,
    FUNCTION 1 snowflake._layout_cmp(snowflake.layout, snowflake.layout);
COMMENT ON OPERATOR CLASS snowflake.layout_ops USING btree IS
    'sorts and groups layouts';

CREATE OPERATOR CLASS snowflake.layout_ops
    DEFAULT FOR TYPE snowflake.layout USING hash AS
    OPERATOR 1 snowflake.=,
    FUNCTION 1 snowflake._layout_hash(snowflake.layout),
    FUNCTION 2 snowflake._layout_hash_extended(snowflake.layout, bigint);
COMMENT ON OPERATOR CLASS snowflake.layout_ops USING hash IS
    'hashes layouts';

-- Layouts of sequences, see src/sequence/sequence_kind.hpp.

-- Returns the MINVALUE of a sequence that keeps a layout.
CREATE FUNCTION snowflake._minimum_of(layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_minimum_of'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION snowflake.layout_of(seq regclass)
    RETURNS snowflake.layout
    AS 'MODULE_PATHNAME', 'snowflake_layout_of'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.layout_of(regclass) IS
    'returns the layout in which snowflake.nextval makes the IDs of a sequence';

-- Returns the layout that a sequence with these options keeps; NULL: it keeps none.
CREATE FUNCTION snowflake._kept_layout(increment bigint, minimum bigint, maximum bigint)
    RETURNS snowflake.layout
    AS 'MODULE_PATHNAME', 'snowflake_kept_layout'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Looking at layouts.

CREATE FUNCTION snowflake.describe(layout snowflake.layout,
                                   OUT epoch timestamptz,
                                   OUT last_timestamp timestamptz,
                                   OUT tick interval,
                                   OUT timestamp_bits integer,
                                   OUT node_bits integer,
                                   OUT counter_bits integer,
                                   OUT nodes bigint,
                                   OUT ids_per_tick bigint,
                                   OUT ids_per_second bigint)
    AS 'MODULE_PATHNAME', 'snowflake_describe'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.describe(snowflake.layout) IS
    'tells what a layout has room for; IDs are counted for a node and a sequence';

-- Returns the names that the type snowflake.layout takes for layouts.
CREATE FUNCTION snowflake._preset_names()
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'snowflake_preset_names'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE VIEW snowflake.layouts AS
    SELECT preset.name, preset.name::snowflake.layout AS layout, described.*
    FROM pg_catalog.unnest(snowflake._preset_names()) AS preset (name),
         snowflake.describe(preset.name::snowflake.layout) AS described;
COMMENT ON VIEW snowflake.layouts IS
    'layouts that have a name, and what they have room for';

