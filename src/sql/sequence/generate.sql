-- Making IDs. The functions keep the names, rights and errors of the server's own.
--
-- Here and among those that read IDs, CREATE OR REPLACE stands where an earlier version may have made the function:
-- what depends on it lives on. In the script of an extension it replaces only what belongs to the extension.

-- The database-wide sequence. It is guarded as a converted sequence is: with the INCREMENT of a guard, and
-- a first value that counts as taken. An earlier version may have made it, with other options.
DO $install$
BEGIN
    IF to_regclass('snowflake.id_seq') IS NULL THEN
        CREATE SEQUENCE snowflake.id_seq;
    END IF;
    IF (SELECT relpersistence FROM pg_class WHERE oid = 'snowflake.id_seq'::regclass) = 'u' THEN
        ALTER SEQUENCE snowflake.id_seq SET LOGGED;
    END IF;
    EXECUTE format('ALTER SEQUENCE snowflake.id_seq AS bigint INCREMENT BY %s MINVALUE -9223372036854775808 NO MAXVALUE '
                   'START 1 CACHE 1 NO CYCLE', snowflake._guard());
END
$install$;
SELECT pg_catalog.setval('snowflake.id_seq', greatest(last_value, 1), true) FROM snowflake.id_seq;
ALTER SEQUENCE snowflake.id_seq MINVALUE 1; -- not before the last value is at least that
SELECT pg_catalog.pg_extension_config_dump('snowflake.id_seq', '');
COMMENT ON SEQUENCE snowflake.id_seq IS
    'default sequence of snowflake.nextval()';
ALTER SEQUENCE snowflake.id_seq OWNER TO pg_database_owner; -- see rights.sql

-- The planner asks this function about each call of nextval. STABLE: see src/sequence/planner_functions.cpp.
CREATE FUNCTION snowflake._plan_call(internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_plan_call'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

-- Stands for nextval where COPY evaluates it.
CREATE FUNCTION snowflake._batched_nextval(internal)
    RETURNS record
    AS 'MODULE_PATHNAME', 'snowflake_batched_nextval'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

CREATE OR REPLACE FUNCTION snowflake.nextval(seq regclass DEFAULT 'snowflake.id_seq')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_nextval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT snowflake._plan_call;
COMMENT ON FUNCTION snowflake.nextval(regclass) IS
    'makes the next snowflake ID of a sequence';

CREATE FUNCTION snowflake.nextval(seq regclass, layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_nextval_in'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT snowflake._plan_call;
COMMENT ON FUNCTION snowflake.nextval(regclass, snowflake.layout) IS
    'makes the next ID of a sequence in a layout';

-- Tools that take every default whose text contains "nextval" for that of a serial column leave these alone.
CREATE FUNCTION snowflake.next_id(seq regclass DEFAULT 'snowflake.id_seq')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_nextval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT snowflake._plan_call;
COMMENT ON FUNCTION snowflake.next_id(regclass) IS
    'makes the next snowflake ID of a sequence: another name of nextval';

CREATE FUNCTION snowflake.next_id(seq regclass, layout snowflake.layout)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_nextval_in'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SUPPORT snowflake._plan_call;
COMMENT ON FUNCTION snowflake.next_id(regclass, snowflake.layout) IS
    'makes the next ID of a sequence in a layout: another name of nextval';

CREATE FUNCTION snowflake.nextvals(seq regclass, n integer)
    RETURNS SETOF bigint
    AS 'MODULE_PATHNAME', 'snowflake_nextvals'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.nextvals(regclass, integer) IS
    'makes the next n snowflake IDs of a sequence, which it reserves at once';

CREATE FUNCTION snowflake.nextvals(seq regclass, n integer, layout snowflake.layout)
    RETURNS SETOF bigint
    AS 'MODULE_PATHNAME', 'snowflake_nextvals'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.nextvals(regclass, integer, snowflake.layout) IS
    'makes the next n IDs of a sequence in a layout, which it reserves at once';

CREATE OR REPLACE FUNCTION snowflake.currval(seq regclass DEFAULT 'snowflake.id_seq')
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_currval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.currval(regclass) IS
    'returns the snowflake ID that snowflake.nextval last returned in this session for a sequence';

CREATE FUNCTION snowflake.lastval()
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_lastval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.lastval() IS
    'returns the snowflake ID that snowflake.nextval last returned in this session for any sequence';

