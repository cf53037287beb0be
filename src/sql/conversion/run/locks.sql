-- Locks: all that the commands of a conversion name is locked before the first of them runs, or nothing is.
--
-- The tries are those of src/sql/lock.sql. Between two of them the conversion pauses: longer after each try, and several times as
-- long as the try took, so that clients have most of the time for themselves.

-- Raises the error of a conversion, or of a table that becomes partitioned, that did not get its locks.
CREATE FUNCTION snowflake._give_up(
        request snowflake._conversion_request,
        awaited regclass, -- what the last try did not get; NULL: none of its own
        met text,         -- who held it
        tries integer, patience interval)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    kind constant "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = awaited);
BEGIN
    PERFORM snowflake._raise(
        '55P03',
        CASE WHEN kind IS NULL THEN 'could not obtain the locks to '
                                    || coalesce('convert sequence ' || request.seq::text,
                                                'partition table ' || (request.partitioning).tab::text)
             ELSE format('could not obtain %s on %s %s',
                         CASE kind WHEN 'S' THEN 'SHARE ROW EXCLUSIVE lock' ELSE 'ACCESS EXCLUSIVE lock' END,
                         CASE kind WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END,
                         awaited) END,
        concat_ws(E'\n', format('Gave up after tries: %s, in %s.', tries, patience), met),
        CASE WHEN request.stage IS NULL
             THEN 'Nothing has changed. Call the function again, with a longer lock_timeout, or when these transactions have ended.'
             ELSE 'Nothing has changed. Run the command again, or first end these transactions.' END);
END
$function$;

-- Locks everything that the commands of a conversion name, within a time in total, and returns what it works with;
-- 0: no limit. The first try looks what there is to lock. While a lock is waited for, another relation can come to depend on
-- the sequence: then there is one more try. The state that is returned was read when all locks were there.
CREATE FUNCTION snowflake._state_under_locks(request snowflake._conversion_request, patience interval)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET lock_timeout = 0 -- the function sets it, and the caller's is back when it ends
    AS $function$
DECLARE
    deadline constant timestamptz := clock_timestamp() + nullif(patience, interval '0');
    tries integer := -1;
    started timestamptz; -- when the try asked for its first lock
    latest timestamptz;  -- when it waits no longer
    awaited oid;         -- what the last try did not get
    met text;            -- who held it
    wanted oid[] := '{}';
    state snowflake._conversion_state;
BEGIN
    LOOP
        BEGIN
            tries := tries + 1;
            started := NULL;
            IF awaited IS NOT NULL THEN
                PERFORM snowflake._wait_at_most(deadline - clock_timestamp());
                PERFORM snowflake._wait_for_holders(awaited);
            END IF;
            started := clock_timestamp();
            latest := least(started + snowflake._longest_try(), deadline);
            awaited := snowflake._try_to_lock(wanted, latest);
            IF awaited IS NULL THEN
                PERFORM snowflake._wait_at_most(latest - clock_timestamp());
                PERFORM snowflake._hold_names(wanted);
                -- This locks what views read.
                state := snowflake._as_of_now('SELECT snowflake._conversion_state($1)', request);
                IF state.wanted <@ wanted IS NOT FALSE THEN
                    PERFORM snowflake._require_visible(state.constraints);
                    RETURN state;
                END IF;
            END IF;
            RAISE lock_not_available;
        EXCEPTION WHEN lock_not_available THEN
            IF awaited IS NULL AND NOT state.wanted <@ wanted THEN
                wanted := state.wanted;
                CONTINUE;
            END IF;
            IF awaited IS NOT NULL THEN
                wanted := awaited || array_remove(wanted, awaited); -- the others are more easily had
                met := coalesce(snowflake._holders(awaited), met);
            END IF;
        END;
        IF clock_timestamp() >= deadline THEN
            PERFORM snowflake._give_up(request, awaited, met, tries, patience);
        END IF;
        PERFORM pg_sleep_for(least((clock_timestamp() - started) * (4 + least(tries, 60)), deadline - clock_timestamp()));
    END LOOP;
END
$function$;
