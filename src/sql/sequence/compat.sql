-- What clients say by themselves: nextval and currval with the name of a sequence.
--
-- The schema stands last in the search_path of a role. The server prefers functions that take a text for the
-- literals and parameters of clients, which have no type: they come here. Calls with a regclass, such as those
-- in the defaults of serial columns, remain the server's.

CREATE SCHEMA snowflake_compat;
COMMENT ON SCHEMA snowflake_compat IS
    'nextval and currval for clients that name a sequence by a text; to stand last in search_path';
GRANT USAGE ON SCHEMA snowflake_compat TO PUBLIC;

CREATE FUNCTION snowflake_compat.nextval(text)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_compat_nextval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_compat.nextval(text) IS
    'makes the next snowflake ID of a sequence that is converted; else does what the server''s own nextval does';

CREATE FUNCTION snowflake_compat.currval(text)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_compat_currval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_compat.currval(text) IS
    'returns the ID last made in this session for a sequence that is converted; else does what the server''s own currval does';
