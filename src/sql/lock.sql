-- Locks of relations by OID (src/server/relations.hpp): one, and all of several or none. The update from pgEdge's extension
-- needs these functions before it makes anything else.
--
-- No order of locks is safe. A session that has taken a number before it inserts locks the sequence first; an
-- INSERT locks the table first. And whoever asks for a table meanwhile queues behind the caller, and looks for a deadlock
-- after deadlock_timeout. A try to get all locks therefore ends before that: half of deadlock_timeout after its first lock, no
-- session has waited for it long enough to look, whatever the order of locks was. A try that fails gives all locks back:
-- they are those of a subtransaction, whose end by an error does that. Then the caller waits in nobody's way for those who
-- hold the lock that it did not get.

-- Locks a table or sequence of the caller by OID until the transaction ends; returns whether it is still there. With the
-- definition alone locked, nobody alters it in any way, or gives it indexes, keys, triggers or comments; readers and writers do
-- not wait.
CREATE FUNCTION snowflake._lock(relation oid, only_definition boolean DEFAULT false)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_lock'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Keeps a relation of the caller from being renamed or altered until the transaction ends, in the mode that a command takes which
-- follows: it does not wait then. Readers and writers do not wait.
CREATE FUNCTION snowflake._hold_definition(
        relation oid,
        mode text) -- ROW SHARE, ROW EXCLUSIVE or SHARE UPDATE EXCLUSIVE
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_hold_definition'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Keeps a schema from being renamed until the transaction ends, if the caller can act for a role that may use it.
CREATE FUNCTION snowflake._hold_schema(schema oid, role oid)
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

-- Returns the longest time that a try to get all locks may take, from its first lock on. Not always the same, lest two
-- sessions give up at the same moment again and again.
CREATE FUNCTION snowflake._longest_try()
    RETURNS interval
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN pg_catalog.current_setting('deadlock_timeout')::interval * (0.25 + random() / 4);

-- Tries to lock relations of the caller, or their definitions, all or none, until a time; NULL: however long it takes. Returns
-- the one that it did not get; NULL: it has all.
CREATE FUNCTION snowflake._try_to_lock(relations oid[], latest timestamptz, only_definitions boolean DEFAULT false)
    RETURNS oid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    asked oid;
BEGIN
    FOREACH asked IN ARRAY coalesce(relations, '{}') LOOP
        PERFORM snowflake._wait_at_most(latest - clock_timestamp());
        PERFORM snowflake._lock(asked, only_definitions);
    END LOOP;
    RETURN NULL;
EXCEPTION WHEN lock_not_available THEN
    RETURN asked;
END
$function$;

-- Locks relations of the caller, all or none, within a time in total; 0: no limit.
CREATE FUNCTION snowflake._lock_all(relations oid[], patience interval)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET lock_timeout = 0 -- the function sets it, and the caller's is back when it ends
    AS $function$
DECLARE
    deadline constant timestamptz := clock_timestamp() + nullif(patience, interval '0');
    awaited oid; -- what the last try did not get
BEGIN
    LOOP
        awaited := snowflake._try_to_lock(awaited || array_remove(relations, awaited),
                                          least(clock_timestamp() + snowflake._longest_try(), deadline));
        EXIT WHEN awaited IS NULL;
        IF clock_timestamp() >= deadline THEN
            RAISE lock_not_available USING MESSAGE = 'canceling statement due to lock timeout';
        END IF;
        PERFORM snowflake._wait_at_most(deadline - clock_timestamp());
        PERFORM snowflake._wait_for_holders(awaited);
    END LOOP;
END
$function$;
