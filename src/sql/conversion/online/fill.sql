-- Filling the shadow columns of a table, in batches that are transactions of their own.
--
-- No session ever waits for a batch longer than the batch takes, a tenth of a second: a batch never waits for a row
-- while it holds others. It leaves out rows that other sessions have locked. Later transactions fill those that are free
-- by then, or wait for one row while they hold no other.
--
-- A procedure that commits can have no SET clause: it calls functions that have one, by their full names, and uses no
-- operator of its own.

-- How far the filling of the shadow columns of a table has come.
CREATE TYPE snowflake._fill_progress AS (
    seq regclass, tab regclass,
    columns snowflake._conversion_column[], -- of the conversion
    pause interval, max_lag bigint,     -- see _fill_shadows()
    run_path text,                      -- the search_path for functions that indexes call
    page bigint, pages bigint,          -- the next page, and how many there are to look at
    batch bigint,                       -- how many pages the next batch has
    first_pages bigint[], end_pages bigint[], -- of batches that left rows out
    waits boolean,                      -- whether the next call waits for one of these rows
    rows bigint,                        -- how many have been changed
    started timestamptz,
    told timestamptz,                   -- when the caller was told last
    ended timestamptz,                  -- when the last batch ended
    since xid,                          -- the oldest transaction that was running then
    others text[],                      -- whose snapshots may be older than the last batch
    is_done boolean);

-- Returns where the filling of shadow columns begins; raises an error unless the conversion of the sequence widens
-- columns of the table.
CREATE FUNCTION snowflake._fill_begin(seq regclass, tab regclass, pause interval, max_lag text, caller_search_path text)
    RETURNS snowflake._fill_progress
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    part constant snowflake._conversion_part := snowflake._conversion_part(seq, online => true);
    progress snowflake._fill_progress;
BEGIN
    PERFORM snowflake._require_widened(part, tab);
    progress.seq := seq;
    progress.tab := tab;
    progress.columns := part.columns;
    progress.pause := greatest(pause, interval '0');
    progress.max_lag := snowflake._lag_in_bytes(max_lag);
    progress.run_path := snowflake._run_path(caller_search_path);
    progress.page := 0;
    progress.pages := pg_relation_size(tab) / current_setting('block_size')::integer;
    progress.batch := 16;
    progress.first_pages := '{}';
    progress.end_pages := '{}';
    progress.waits := false;
    progress.rows := 0;
    progress.started := clock_timestamp();
    progress.told := clock_timestamp();
    progress.is_done := false;
    RETURN progress;
END
$function$;

-- A command that the owner of a table runs on it, on what inherits from it, and on others with all that they are related to.
CREATE TYPE snowflake._owners_command AS (
    tab regclass,
    mode text, -- of its lock on the table; that on the others is ROW SHARE
    others regclass[], purpose text,
    held oid[]); -- what _hold_command() has locked; NULL: nothing yet

-- Locks what a command locks: as the server does, a table before its partitions. Returns the command with what is locked.
CREATE FUNCTION snowflake._hold_command(command snowflake._owners_command)
    RETURNS snowflake._owners_command
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    locked record;
BEGIN
    command.held := '{}';
    FOR locked IN
        SELECT member.relid, named.relid = command.tab AS is_altered
            FROM unnest(command.tab || command.others) WITH ORDINALITY named(relid, n)
            CROSS JOIN LATERAL snowflake._table_tree(named.relid) WITH ORDINALITY member(relid, place) -- found level by level
            JOIN pg_class c ON c.oid = member.relid AND snowflake._may_become(c.relowner)
            ORDER BY member.place > 1, named.n, member.place
    LOOP
        PERFORM snowflake._hold_definition(locked.relid, CASE WHEN locked.is_altered THEN command.mode ELSE 'ROW SHARE' END);
        command.held := command.held || locked.relid::oid;
    END LOOP;
    RETURN command;
END
$function$;

-- Raises an error that names the authors whose code a command would run and who may not act for the owner; returns the argument.
CREATE FUNCTION snowflake._require_authors_of_command(command snowflake._owners_command)
    RETURNS snowflake._owners_command
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_none(
        ARRAY(SELECT o
                  FROM snowflake._obstacles_of_command(command.tab, command.others) o
                  ORDER BY o COLLATE "C"),
        command.purpose);
    RETURN command;
END
$function$;

-- Locks what a command of the owner of a table locks, and looks whose code the command can run. Authors can come to be at any time:
-- roles are granted and revoked, objects change owners, and a table that a check writes to gets foreign keys. So each transaction
-- looks, when the command waits for no lock of its own any more, at what is there now, whatever its isolation level is. Raises an error
-- that names those who may not act for the owner.
CREATE FUNCTION snowflake._require_authors_on(command snowflake._owners_command)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    before oid[];
BEGIN
    -- While it waits for a lock, a partition can be attached.
    LOOP
        before := command.held;
        command := snowflake._as_of_now('SELECT snowflake._hold_command($1)', command);
        EXIT WHEN command.held = before;
    END LOOP;
    PERFORM snowflake._as_of_now('SELECT snowflake._require_authors_of_command($1)', command);
END
$function$;

-- Looks whose code the filling can run: each row that changes is entered into all indexes.
CREATE FUNCTION snowflake._fill_look(progress snowflake._fill_progress)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_authors_on(ROW(progress.tab, 'ROW EXCLUSIVE', '{}', format('cannot convert sequence %s', progress.seq), NULL));
END
$function$;

-- Tells how far the filling of shadow columns has come, and how long it will take.
CREATE FUNCTION snowflake._fill_text(progress snowflake._fill_progress)
    RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    took constant interval := clock_timestamp() - progress.started;
BEGIN
    RETURN format('filling table %s: %s of %s pages, %s left', progress.tab, progress.page, progress.pages,
                  justify_interval(date_trunc('second', greatest(took * (progress.pages - progress.page), '0')
                                                        / greatest(progress.page, 1) + '0.5 s')));
END
$function$;

-- Tells the caller and pg_stat_activity how far the filling of shadow columns has come.
CREATE FUNCTION snowflake._fill_tell(progress snowflake._fill_progress)
    RETURNS snowflake._fill_progress
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._show_activity('snowflake: ' || snowflake._fill_text(progress));
    IF progress.told < clock_timestamp() - interval '10 s' THEN
        RAISE NOTICE '%', snowflake._fill_text(progress);
        progress.told := clock_timestamp();
    END IF;
    RETURN progress;
END
$function$;

-- Fills the shadow columns on the next pages of a table. The batch after this one takes as many pages as go into a
-- tenth of a second.
CREATE FUNCTION snowflake._fill_batch(progress snowflake._fill_progress)
    RETURNS snowflake._fill_progress
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    started constant timestamptz := clock_timestamp();
    end_page constant bigint := least(progress.page + progress.batch, progress.pages);
    outcome record;
    took double precision;
BEGIN
    outcome := snowflake._fill_pages(progress.tab, progress.page, end_page, false, progress.run_path);
    IF outcome.in_use > 0 THEN
        progress.first_pages := progress.first_pages || progress.page;
        progress.end_pages := progress.end_pages || end_page;
    END IF;
    took := greatest(extract(epoch FROM clock_timestamp() - started), 0.000001);
    progress.page := end_page;
    progress.batch := greatest(1, least(progress.batch * 2, (progress.batch * 0.1 / took)::bigint, 100000));
    progress.rows := progress.rows + outcome.filled;
    RETURN progress;
END
$function$;

-- Fills the shadow columns of rows that other sessions had locked, or waits for one that still is. Who has locked
-- one row mostly has locked others as well. After each row that was waited for, all that have become free are
-- filled: to wait for every single one would read the pages again and again.
CREATE FUNCTION snowflake._fill_rows_left_out(progress snowflake._fill_progress)
    RETURNS snowflake._fill_progress
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    outcome record;
BEGIN
    IF progress.waits THEN
        PERFORM snowflake._fill_pages(progress.tab, progress.first_pages[1], progress.end_pages[1], true, progress.run_path);
        PERFORM snowflake._fill_look(progress);
    END IF;
    outcome := snowflake._fill_pages(progress.tab, progress.first_pages[1], progress.end_pages[1], false, progress.run_path);
    progress.waits := NOT progress.waits AND outcome.in_use > 0;
    IF outcome.filled = 0 AND outcome.in_use = 0 THEN
        progress.first_pages := progress.first_pages[2:];
        progress.end_pages := progress.end_pages[2:];
    END IF;
    progress.rows := progress.rows + outcome.filled;
    RETURN progress;
END
$function$;

-- Fills the shadow columns of one batch, or of rows that were locked. A lock timeout of the caller's bounds the wait
-- for each lock; then the next transaction tries again. A statement timeout bounds the batch: it would end each call at about
-- the same page, and the next call begins with the first. The commit of a batch does not wait for the disk: a crash can only
-- leave the batch to be filled again, because whatever proves that shadows are filled is committed later and waits. With
-- synchronous standbys it waits, or the batches would get ahead of them, and the commits of others wait for that.
CREATE FUNCTION snowflake._fill_next(progress snowflake._fill_progress)
    RETURNS snowflake._fill_progress
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._restart_statement_timeout();
    IF current_setting('synchronous_standby_names') = '' THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    BEGIN
        PERFORM snowflake._fill_look(progress);
        IF progress.page < progress.pages THEN
            progress := snowflake._fill_batch(progress);
        ELSIF progress.first_pages <> '{}' THEN
            progress := snowflake._fill_rows_left_out(progress);
        END IF;
    EXCEPTION WHEN lock_not_available THEN
        NULL;
    END;
    progress.is_done := progress.page >= progress.pages AND progress.first_pages = '{}';
    progress.ended := clock_timestamp();
    RETURN snowflake._fill_tell(progress);
END
$function$;

-- Raises 42501 if the caller may not see how far replicas are.
CREATE FUNCTION snowflake._require_sight_of_replicas()
    RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    IF NOT pg_has_role('pg_read_all_stats', 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to see how far replicas are behind'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT pg_read_all_stats TO %I, or ask for no max_lag.', current_user);
    END IF;
END
$function$;

-- Returns how many bytes of WAL replicas may have left to replay. Raises 22023 unless that is a size, and 42501 if the caller may not
-- see how far they are.
CREATE FUNCTION snowflake._lag_in_bytes(max_lag text)
    RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF pg_size_bytes(max_lag) < 0 THEN
        RAISE EXCEPTION 'max_lag must not be negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM snowflake._require_sight_of_replicas();
    RETURN pg_size_bytes(max_lag);
END
$function$;

-- Returns how many bytes of WAL the slowest replica has not replayed yet, with those that this server has not written to
-- disk; NULL: there is none.
CREATE FUNCTION snowflake._replica_lag()
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_sight_of_replicas();
    RETURN (SELECT max(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), r.replay_lsn)) FROM pg_stat_replication r);
END
$function$;

-- Waits a moment if the next batch is not due: the pause that the caller has asked for is not over, or a replica is further
-- behind than the caller has allowed. Tells whether the caller has to ask again. Both can last for hours. The snapshot of a
-- statement that lasted as long would hold back VACUUM.
CREATE FUNCTION snowflake._nap_before_batch(progress snowflake._fill_progress)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    left_of_pause constant interval := least(progress.pause, progress.pause - (clock_timestamp() - progress.ended));
BEGIN
    IF left_of_pause > interval '0' THEN
        PERFORM snowflake._restart_statement_timeout();
        PERFORM pg_sleep_for(least(left_of_pause, interval '0.2 s'));
        RETURN true;
    ELSIF progress.max_lag IS NOT NULL AND coalesce(snowflake._replica_lag(), 0) > progress.max_lag THEN
        PERFORM snowflake._restart_statement_timeout();
        PERFORM snowflake._show_activity(format('snowflake: filling table %s: waiting for a replica', progress.tab));
        PERFORM pg_sleep_for(interval '0.2 s');
        RETURN true;
    END IF;
    RETURN false;
END
$function$;

-- Returns the transactions of other sessions in this database whose snapshots are as old as a transaction.
CREATE FUNCTION snowflake._snapshots_since(oldest xid)
    RETURNS text[]
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'snowflake_snapshots_since';

-- Waits a moment for transactions with snapshots that are older than the last batch: for them the shadows of rows are empty, and
-- would be so under the names of the columns. Tells in is_done whether the caller has to ask again, in another transaction: two
-- calls do not wait for each other.
CREATE FUNCTION snowflake._fill_await(progress snowflake._fill_progress)
    RETURNS snowflake._fill_progress
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    IF progress.since IS NULL THEN
        progress.since := pg_snapshot_xmin(pg_current_snapshot())::xid;
        progress.others := snowflake._snapshots_since(progress.since);
    ELSE
        PERFORM snowflake._restart_statement_timeout();
        PERFORM snowflake._show_activity(format('snowflake: filling table %s: waiting for older snapshots', progress.tab));
        PERFORM pg_sleep_for(interval '0.1 s');
        progress.others := ARRAY(SELECT unnest(progress.others) INTERSECT SELECT unnest(snowflake._snapshots_since(progress.since)));
    END IF;
    progress.is_done := progress.others = '{}';
    RETURN progress;
END
$function$;

-- A constraint of a table, by its name.
CREATE TYPE snowflake._named_constraint AS (tab regclass, name name);

-- Returns the command that looks whether all rows of a table satisfy a constraint. Raises 42704 if there is none of this name.
CREATE FUNCTION snowflake._validation_of(named snowflake._named_constraint)
    RETURNS snowflake._owners_command
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    k pg_constraint;
BEGIN
    SELECT * INTO k FROM pg_constraint c WHERE c.conrelid = named.tab AND c.conname = named.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'constraint "%" of relation % does not exist', named.name, named.tab USING ERRCODE = 'undefined_object';
    END IF;
    -- Of a foreign key the server plans a query on both tables as the owner of the one.
    RETURN ROW(named.tab, 'SHARE UPDATE EXCLUSIVE', ARRAY(SELECT k.confrelid WHERE k.contype = 'f'),
               format('cannot validate constraint %I of table %s', named.name, named.tab), NULL)::snowflake._owners_command;
END
$function$;

-- Looks whether all rows of a table satisfy a constraint, with a search_path for the functions that it calls.
CREATE FUNCTION snowflake._validate(tab regclass, constraint_name name, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    command snowflake._owners_command;
BEGIN
    PERFORM snowflake._restart_statement_timeout();
    -- The command names the table: its owner must not put another in its place.
    PERFORM snowflake._hold_definition(tab, 'SHARE UPDATE EXCLUSIVE');
    PERFORM snowflake._hold_names(ARRAY[tab::oid]);
    command := snowflake._as_of_now('SELECT snowflake._validation_of($1)', ROW(tab, constraint_name)::snowflake._named_constraint);
    PERFORM snowflake._require_authors_on(command);
    PERFORM snowflake._show_activity(format('snowflake: validating constraint %I of table %s', constraint_name, tab));
    PERFORM snowflake._run_as(format('ALTER TABLE %s VALIDATE CONSTRAINT %I', tab, constraint_name),
                              snowflake._owner(tab), snowflake._run_path(caller_search_path), NULL);
END
$function$;

-- Looks whether all rows of a table satisfy a constraint.
CREATE FUNCTION snowflake._validate(tab regclass, constraint_name name)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._validate(tab, constraint_name, pg_catalog.current_setting('search_path'))
$function$;

-- Returns a constraint on shadow columns that is checked with a table and not valid yet, and the table that has it; NULL: there is
-- none.
CREATE FUNCTION snowflake._next_check_to_validate(progress snowflake._fill_progress, OUT relid regclass, OUT check_name name)
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
DECLARE
    shadows constant snowflake._shadow[] := snowflake._shadows(progress.columns);
BEGIN
    SELECT x.relid, x.name INTO relid, check_name
        FROM (SELECT s.relid, s.same, s.is_filled FROM unnest(shadows) s WHERE s.is_exact
              UNION ALL
              SELECT t.relid, t.name, t.is_ready FROM snowflake._check_twins(shadows) t
                  WHERE t.twin IS NOT NULL AND t.definition LIKE '% NOT VALID') x(relid, name, is_valid)
        WHERE NOT x.is_valid AND x.name IS NOT NULL AND snowflake._filled_with(x.relid) = progress.tab
        ORDER BY x.relid = progress.tab DESC, x.relid::oid, x.name
        LIMIT 1;
END
$function$;

-- Fills the shadow columns of a table in batches, each in a transaction, and looks whether all rows agree.
CREATE PROCEDURE snowflake._fill_shadows(
        seq regclass, tab regclass,
        pause interval DEFAULT '0',  -- between two batches
        max_lag text DEFAULT NULL)   -- how much WAL replicas may have left to replay; NULL: any
    LANGUAGE plpgsql
    AS $procedure$
DECLARE
    progress snowflake._fill_progress;
    invalid pg_catalog.record;
BEGIN
    -- Under SERIALIZABLE the batches could make the transactions of others fail.
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    progress := snowflake._fill_begin(seq, tab, pause, max_lag, pg_catalog.current_setting('search_path'));
    LOOP
        progress := snowflake._fill_next(progress);
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        EXIT WHEN progress.is_done;
        WHILE snowflake._nap_before_batch(progress) LOOP
            COMMIT;
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        END LOOP;
    END LOOP;
    LOOP
        progress := snowflake._fill_await(progress);
        EXIT WHEN progress.is_done;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    END LOOP;
    LOOP
        invalid := snowflake._next_check_to_validate(progress);
        EXIT WHEN invalid.relid IS NULL;
        PERFORM snowflake._validate(invalid.relid, invalid.check_name);
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    END LOOP;
END
$procedure$;

-- Collects the statistics of a table with shadow columns. That evaluates expressions of its indexes, with a search_path for the
-- functions that they call.
CREATE FUNCTION snowflake._analyze(seq regclass, tab regclass, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_widened(snowflake._conversion_part(seq, online => true), tab);
    -- The command names the table: its owner must not put another in its place.
    PERFORM snowflake._hold_definition(tab, 'SHARE UPDATE EXCLUSIVE');
    PERFORM snowflake._hold_names(ARRAY[tab::oid]);
    PERFORM snowflake._require_authors_on(ROW(tab, 'SHARE UPDATE EXCLUSIVE', '{}', format('cannot analyze table %s', tab), NULL));
    PERFORM snowflake._show_activity(format('snowflake: collecting statistics of table %s', tab));
    PERFORM snowflake._run_as(format('ANALYZE %s', tab), snowflake._owner(tab), snowflake._run_path(caller_search_path), NULL);
END
$function$;

-- Collects the statistics of a table with shadow columns.
CREATE FUNCTION snowflake._analyze(seq regclass, tab regclass)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._analyze(seq, tab, pg_catalog.current_setting('search_path'))
$function$;
