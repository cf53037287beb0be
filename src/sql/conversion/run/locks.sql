-- Locks: all that the commands of a conversion name is locked before the first of them runs, or nothing is.
--
-- No order of locks is safe. A session that has taken a number before it inserts locks the sequence first; an
-- INSERT locks the table first. A conversion that does not get a lock soon, while it holds others, therefore
-- gives all of them up, waits for that lock alone, and tries again: no other session is ever part of a deadlock
-- because of it. The locks are those of a subtransaction, whose end by an error gives them back.

-- Locks everything that the commands of a conversion name, within a time in total, and returns what it works with;
-- 0: no limit. While one lock is waited for, another relation can come to depend on the sequence: the locks are
-- taken until there is nothing new. The state that is returned was read when all of them were there.
CREATE FUNCTION snowflake._state_under_locks(request snowflake._conversion_request, patience interval)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET lock_timeout = 0 -- the function sets it, and the caller's is back when it ends
    AS $function$
DECLARE
    deadline constant timestamptz := clock_timestamp() + nullif(patience, interval '0');
    turn interval;      -- that an attempt may wait while it holds locks: too short for a deadlock to be found
    started timestamptz;
    awaited regclass;   -- what the last attempt did not get
    next regclass;
    wanted regclass[] := '{}';
    locked regclass[];
    state snowflake._conversion_state;
BEGIN
    LOOP
        BEGIN
            locked := '{}';
            next := awaited;
            IF awaited IS NOT NULL THEN
                PERFORM snowflake._wait_at_most(deadline - clock_timestamp());
                PERFORM snowflake._wait_for_vacuum(awaited);
                PERFORM snowflake._wait_at_most(deadline - clock_timestamp());
                PERFORM snowflake._lock(awaited);
            END IF;
            -- Not always the same, lest two conversions give up at the same moment again and again.
            turn := current_setting('deadlock_timeout')::interval * (0.25 + random() / 4);
            LOOP
                FOREACH next IN ARRAY wanted LOOP
                    CONTINUE WHEN next = ANY (locked);
                    PERFORM snowflake._wait_at_most(least(turn, deadline - clock_timestamp()));
                    started := clock_timestamp();
                    PERFORM snowflake._lock(next);
                    turn := turn - (clock_timestamp() - started);
                END LOOP;
                next := NULL;
                PERFORM snowflake._wait_at_most(least(turn, deadline - clock_timestamp()));
                -- The commands name their relations: nobody puts another in the place of a schema.
                PERFORM snowflake._hold_schema(relation) FROM unnest(wanted) relation;
                locked := locked || wanted;
                -- This locks what views read.
                state := snowflake._as_of_now('SELECT snowflake._conversion_state($1)', request);
                wanted := state.wanted;
                EXIT WHEN wanted <@ locked;
            END LOOP;
            RETURN state;
        EXCEPTION WHEN lock_not_available THEN
            IF clock_timestamp() >= deadline THEN
                RAISE;
            END IF;
            awaited := next;
        END;
    END LOOP;
END
$function$;
