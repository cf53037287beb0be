-- The type snowflake.id: a bigint in all but its JSON, where it is a string. A program that reads JSON numbers
-- as double precision then gets every digit.
--
-- The server takes an id for a bigint wherever it needs one: the operators, indexes, foreign keys and partitions
-- of ids are those of bigint. It writes as JSON numbers only its own numeric types.

CREATE TYPE snowflake.id;

-- Reads an ID from text.
CREATE FUNCTION snowflake._id_in(cstring)
    RETURNS snowflake.id
    AS 'int8in'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

-- Writes an ID as text.
CREATE FUNCTION snowflake._id_out(snowflake.id)
    RETURNS cstring
    AS 'int8out'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

-- Reads an ID from its binary form.
CREATE FUNCTION snowflake._id_recv(internal)
    RETURNS snowflake.id
    AS 'int8recv'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

-- Writes an ID in its binary form.
CREATE FUNCTION snowflake._id_send(snowflake.id)
    RETURNS bytea
    AS 'int8send'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

-- In the category of numbers the type mixes with bigint in IN, CASE, UNION and the like.
CREATE TYPE snowflake.id (
    INPUT = snowflake._id_in,
    OUTPUT = snowflake._id_out,
    RECEIVE = snowflake._id_recv,
    SEND = snowflake._id_send,
    LIKE = bigint,
    CATEGORY = 'N'
);
COMMENT ON TYPE snowflake.id IS
    'a bigint whose JSON is a string';

-- Casts. Only the one to bigint is implicit: from there on the server knows what to do.

CREATE CAST (snowflake.id AS bigint) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (snowflake.id AS bigint) IS
    'lets the functions and operators of bigint take an ID';

CREATE CAST (bigint AS snowflake.id) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (bigint AS snowflake.id) IS
    'lets a column of IDs take a bigint';

-- Implements the cast of smallint to snowflake.id.
CREATE FUNCTION snowflake._id(smallint)
    RETURNS snowflake.id
    AS 'int28'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (smallint AS snowflake.id) WITH FUNCTION snowflake._id(smallint) AS ASSIGNMENT;
COMMENT ON CAST (smallint AS snowflake.id) IS
    'lets a column of IDs take a smallint';

-- Implements the cast of integer to snowflake.id.
CREATE FUNCTION snowflake._id(integer)
    RETURNS snowflake.id
    AS 'int48'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (integer AS snowflake.id) WITH FUNCTION snowflake._id(integer) AS ASSIGNMENT;
COMMENT ON CAST (integer AS snowflake.id) IS
    'lets a column of IDs take an integer';

-- Implements the cast of numeric to snowflake.id.
CREATE FUNCTION snowflake._id(numeric)
    RETURNS snowflake.id
    AS 'numeric_int8'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (numeric AS snowflake.id) WITH FUNCTION snowflake._id(numeric) AS ASSIGNMENT;
COMMENT ON CAST (numeric AS snowflake.id) IS
    'lets a column of IDs take a numeric';

CREATE CAST (snowflake.id AS timestamptz) WITH FUNCTION snowflake.get_timestamp(bigint);
COMMENT ON CAST (snowflake.id AS timestamptz) IS
    'returns when an ID of the default layout was made';

-- The smallest and greatest ID are IDs again: min(bigint) returns a bigint, which is a number in JSON. A query
-- says min(id) without a schema, and looks in pg_catalog whatever the search_path is.

-- Returns the smaller of two IDs.
CREATE FUNCTION snowflake._id_smaller(snowflake.id, snowflake.id)
    RETURNS snowflake.id
    AS 'int8smaller'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE pg_catalog.min(snowflake.id) (
    SFUNC = snowflake._id_smaller, STYPE = snowflake.id, COMBINEFUNC = snowflake._id_smaller, PARALLEL = SAFE);
COMMENT ON AGGREGATE pg_catalog.min(snowflake.id) IS
    'returns the smallest ID';

-- Returns the larger of two IDs.
CREATE FUNCTION snowflake._id_larger(snowflake.id, snowflake.id)
    RETURNS snowflake.id
    AS 'int8larger'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE pg_catalog.max(snowflake.id) (
    SFUNC = snowflake._id_larger, STYPE = snowflake.id, COMBINEFUNC = snowflake._id_larger, PARALLEL = SAFE);
COMMENT ON AGGREGATE pg_catalog.max(snowflake.id) IS
    'returns the greatest ID';

-- IDs as texts that are short, and sort as the IDs do.

CREATE FUNCTION snowflake.to_base32(id bigint)
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_to_base32'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.to_base32(bigint) IS
    'writes an ID as 13 characters of Crockford''s base 32, which sort as the IDs do';

CREATE FUNCTION snowflake.from_base32(text)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_from_base32'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.from_base32(text) IS
    'reads an ID that to_base32() has written, in capital or small letters';
