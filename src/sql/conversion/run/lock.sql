-- One lock, and the wait for it (src/server/relations.hpp). locks.sql gets many with these. The update from pgEdge's extension needs
-- them before it makes anything else.

-- Locks a table or sequence of the caller by OID until the transaction ends; returns whether it is still there.
CREATE FUNCTION snowflake._lock(relation oid)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_lock'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Keeps the schema of a relation of the caller from being renamed until the transaction ends.
CREATE FUNCTION snowflake._hold_schema(relation oid)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_hold_schema'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Waits until those who hold what _lock() would wait for have ended their transactions; keeps no lock, and nobody queues
-- behind this wait.
CREATE FUNCTION snowflake._wait_for_holders(relation oid)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_wait_for_holders'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Bounds the wait for each lock from now on, until the calling function ends; NULL: no bound.
CREATE FUNCTION snowflake._wait_at_most(longest interval)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    -- In milliseconds; 0 would mean for ever.
    PERFORM set_config('lock_timeout',
                       CASE WHEN longest IS NULL THEN '0'
                            ELSE greatest(1, ceil(extract(epoch FROM longest) * 1000))::bigint::text END,
                       true);
END
$function$;
