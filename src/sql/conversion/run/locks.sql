-- Locks: all that the commands of a conversion name is locked before the first of them runs, or nothing is.
--
-- The tries are those of src/sql/lock.sql. Between two of them the conversion pauses: longer after each try, and several times as
-- long as the try took, so that clients have most of the time for themselves. Every other try asks for its locks at once. A
-- try that waits for the holders first begins when their transactions end: where long transactions follow each other, it meets the
-- next one at its beginning, and gives up before that ends.

-- Tells whether a sequence is that of an identity column, which is locked as a table is.
CREATE FUNCTION snowflake._is_of_identity(seq oid)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = seq AND d.deptype = 'i');
END
$function$;

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
                         CASE WHEN kind = 'S' AND NOT snowflake._is_of_identity(awaited)
                              THEN 'SHARE ROW EXCLUSIVE lock' ELSE 'ACCESS EXCLUSIVE lock' END,
                         CASE kind WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END,
                         awaited) END,
        concat_ws(E'\n', format('Gave up after tries: %s, in %s.', tries, patience), met),
        CASE WHEN request.stage IS NULL
             THEN 'Nothing has changed. Call the function again, with a longer lock_timeout, or when these transactions have ended.'
             ELSE 'Nothing has changed. Run the command again, or first end these transactions.' END);
END
$function$;

-- Counts what depends on relations and on their row types, with comments and labels, in a number that changes with each.
CREATE FUNCTION snowflake._dependents_of(relations oid[])
    RETURNS numeric
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        WITH dependent AS (
            SELECT d.*
                FROM unnest(relations) x(oid)
                JOIN pg_class c ON c.oid = x.oid
                LEFT JOIN pg_type y ON y.oid = c.reltype
                CROSS JOIN LATERAL (
                    SELECT * FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = c.oid
                    UNION ALL
                    SELECT * FROM pg_depend WHERE refclassid = 'pg_type'::regclass AND refobjid IN (y.oid, y.typarray)
                ) d
        )
        SELECT sum(x.number::numeric)
            FROM (SELECT hash_record_extended(d, 0) FROM dependent d
                  UNION ALL
                  SELECT hash_record_extended(s, 0) FROM dependent d JOIN pg_description s ON s.classoid = d.classid AND s.objoid = d.objid
                  UNION ALL
                  SELECT hash_record_extended(s, 0) FROM dependent d JOIN pg_seclabel s ON s.classoid = d.classid AND s.objoid = d.objid
                 ) x(number));
END
$function$;

-- Counts what depends on the relations of a state; returns the state.
CREATE FUNCTION snowflake._count_dependents(state snowflake._conversion_state)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    state.dependents := snowflake._dependents_of(state.wanted);
    RETURN state;
END
$function$;

-- Returns the routines that a conversion makes again.
CREATE FUNCTION snowflake._routines_of(state snowflake._conversion_state)
    RETURNS oid[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(SELECT d.objid FROM unnest((state.part).dependents) d WHERE d.kind = 'routine');
END
$function$;

-- Keeps the names and rights that commands on the relations and routines of a state count on, and counts what depends on the
-- relations; returns the state.
CREATE FUNCTION snowflake._hold(state snowflake._conversion_state)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._hold_names(state.wanted);
    PERFORM snowflake._hold_rights('pg_class'::regclass, x) FROM unnest(state.wanted) x;
    PERFORM snowflake._hold_rights('pg_proc'::regclass, x) FROM unnest(snowflake._routines_of(state)) x;
    RETURN snowflake._count_dependents(state);
END
$function$;

-- Returns a relation among some on which a session has a lock that waits for this one: to ask for a stronger one could be a deadlock.
-- NULL: there is none. What it waits for may be a row of a catalog, or a lock that this transaction has had before.
CREATE FUNCTION snowflake._awaited(relations oid[])
    RETURNS oid
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN (SELECT held.relation
                FROM (SELECT DISTINCT l.pid FROM pg_locks l WHERE NOT l.granted) waiting
                JOIN pg_locks held ON held.pid = waiting.pid AND held.granted AND held.locktype = 'relation'
                                  AND held.relation = ANY (relations)
                                  AND held.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                JOIN pg_class c ON c.oid = held.relation
                WHERE pg_backend_pid() = ANY (pg_blocking_pids(waiting.pid))
                  -- A sequence is not locked against those who read it.
                  AND (c.relkind <> 'S' OR held.mode NOT IN ('AccessShareLock', 'RowShareLock') OR snowflake._is_of_identity(c.oid))
                LIMIT 1);
END
$function$;

-- Materialized views that are filled.
CREATE TYPE snowflake._filling AS (
    views regclass[],
    read oid[]); -- what they are filled from, and _hold_what_is_read() has locked; NULL: nothing yet

-- Locks the tables from which materialized views are filled, against changes of their definition; returns the argument with them.
-- To print the query of a view, the body of a function in standard SQL or the expression of a policy locks the tables that it names.
CREATE FUNCTION snowflake._hold_what_is_read(filling snowflake._filling)
    RETURNS snowflake._filling
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    object record;
BEGIN
    filling.read := '{}';
    FOR object IN
        SELECT x.oid, c.relkind, c.relowner, c.relnamespace, p.prosqlbody IS NOT NULL AS has_body, y.polrelid, y.polqual
            FROM (SELECT DISTINCT r.class, r.object FROM snowflake._read_by_filling(filling.views) r) x(class, oid)
            LEFT JOIN pg_class c ON x.class = 'pg_class'::regclass AND c.oid = x.oid
            LEFT JOIN pg_policy y ON x.class = 'pg_policy'::regclass AND y.oid = x.oid
            LEFT JOIN pg_proc p ON x.class = 'pg_proc'::regclass AND p.oid = x.oid
            ORDER BY x.oid
    LOOP
        filling.read := filling.read || object.oid;
        IF object.relkind IN ('v', 'm') THEN
            PERFORM pg_get_viewdef(object.oid);
        ELSIF object.has_body THEN
            PERFORM pg_get_function_sqlbody(object.oid);
        ELSIF object.polrelid IS NOT NULL THEN
            PERFORM pg_get_expr(object.polqual, object.polrelid);
        -- No text names what inherits from a table. No partition must come until the views are filled. Of another table, which has
        -- indexes, a stronger lock would stand in the way of CREATE INDEX CONCURRENTLY, which waits for this transaction.
        ELSIF (object.relkind = 'p' OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = object.oid))
              AND snowflake._may_become(object.relowner) AND NOT pg_is_other_temp_schema(object.relnamespace) THEN
            PERFORM snowflake._hold_definition(object.oid, CASE object.relkind WHEN 'p' THEN 'SHARE UPDATE EXCLUSIVE' ELSE 'ROW SHARE' END);
        END IF;
    END LOOP;
    RETURN filling;
END
$function$;

-- Locks the tables from which materialized views are filled, and those that come to inherit from them while it waits. The commands
-- of the plan do not print what the views read at second hand.
CREATE FUNCTION snowflake._lock_what_is_read(views regclass[])
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    filling snowflake._filling := ROW(views, NULL);
    before oid[];
BEGIN
    WHILE views <> '{}' LOOP
        before := filling.read;
        filling := snowflake._as_of_now('SELECT snowflake._hold_what_is_read($1)', filling);
        EXIT WHEN filling.read = before;
    END LOOP;
END
$function$;

-- Locks everything that the commands of a conversion name, within a time in total, and returns what it works with; 0: no limit.
--
-- A hundred partitions, or a thousand views of a table, which anybody can make, take a second to read, for which clients are
-- not to wait. So the state is read when all definitions are locked, which lets clients read and write. It is good if nothing has
-- come to depend on a relation until all locks were there. If something has, there is one more try, as after the first, which
-- looks what there is to lock; where others go on making views and the like, the state is read under the locks.
-- Another session that waits meanwhile for a relation, and has a lock on another, could wait long enough to look for a deadlock:
-- the conversion gives way to it first.
CREATE FUNCTION snowflake._state_under_locks(request snowflake._conversion_request, patience interval)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET lock_timeout = 0 -- the function sets it, and the caller's is back when it ends
    AS $function$
DECLARE
    deadline constant timestamptz := clock_timestamp() + nullif(patience, interval '0');
    tries integer := -1;
    news integer := 0;   -- how many tries have found something new
    started timestamptz; -- when the try asked for its locks last
    latest timestamptz;  -- when it waits no longer
    awaited oid;         -- what the last try did not get
    met text;            -- who held it, or the error of the reading
    wanted oid[] := '{}';
    held snowflake._conversion_state; -- the state of the try before, whose names and rights are held
    is_all boolean;      -- whether all that the state names is locked and held
    reads_first boolean;
    failures integer := 0; -- how many tries in a row have found something dropped that they read
    state snowflake._conversion_state;
BEGIN
    LOOP
        BEGIN
            tries := tries + 1;
            reads_first := news < 4;
            started := NULL;
            IF awaited IS NOT NULL AND tries % 2 = 0 THEN
                PERFORM snowflake._wait_at_most(deadline - clock_timestamp());
                PERFORM snowflake._wait_for_holders(awaited);
            END IF;
            started := clock_timestamp();
            latest := least(started + snowflake._longest_try(), deadline);
            awaited := snowflake._try_to_lock(wanted, latest, only_definitions => reads_first);
            IF awaited IS NULL THEN
                PERFORM snowflake._wait_at_most(latest - clock_timestamp());
                state.wanted := wanted;
                held := snowflake._as_of_now('SELECT snowflake._hold($1)', state);
                -- This locks what views read.
                state := snowflake._as_of_now('SELECT snowflake._conversion_state($1)', request);
                failures := 0;
                is_all := coalesce(state.wanted, '{}') <@ wanted AND (NOT reads_first OR snowflake._routines_of(state) <@ snowflake._routines_of(held));
                IF reads_first AND is_all THEN
                    started := clock_timestamp();
                    latest := least(started + snowflake._longest_try(), deadline);
                    awaited := coalesce(snowflake._awaited(wanted), snowflake._try_to_lock(wanted, latest));
                END IF;
                IF awaited IS NULL AND is_all THEN
                    state.wanted := wanted;
                    state := snowflake._as_of_now('SELECT snowflake._count_dependents($1)', state);
                    IF NOT reads_first OR state.dependents IS NOT DISTINCT FROM held.dependents THEN
                        PERFORM snowflake._require_visible(state);
                        RETURN state;
                    END IF;
                END IF;
                news := news + (awaited IS NULL)::integer;
            END IF;
            RAISE lock_not_available;
        EXCEPTION WHEN lock_not_available OR internal_error OR undefined_object THEN
            -- The next try does not find what others have dropped while it was read.
            IF SQLSTATE <> '55P03' THEN
                failures := failures + 1;
                met := SQLERRM;
            ELSIF awaited IS NOT NULL THEN
                wanted := awaited || array_remove(wanted, awaited); -- the others are more easily had
                met := coalesce(snowflake._holders(awaited), met);
            END IF;
        END;
        IF awaited IS NULL AND NOT state.wanted <@ wanted THEN
            wanted := state.wanted;
        END IF;
        IF tries > 0 THEN
            IF clock_timestamp() >= deadline OR failures > 5 THEN
                PERFORM snowflake._give_up(request, awaited, met, tries, patience);
            END IF;
            PERFORM pg_sleep_for(least((clock_timestamp() - started) * (4 + least(tries, 60)), deadline - clock_timestamp()));
        END IF;
    END LOOP;
END
$function$;
