-- The functions that the rows of the plan call. Each is one short transaction, with the locks of conversions
-- (src/sql/conversion/run/locks.sql), and looks for obstacles again once it has them.

-- Returns what the objects that depend on a table refer to, for _require_references(). Until the end only what they call counts:
-- the objects are made again one after the other. The table itself comes to depend on the column that it is partitioned by, and
-- its TOAST table goes with the first partition.
CREATE FUNCTION snowflake._references_to_keep(tab regclass)
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    known constant jsonb := snowflake._references_by_name(ARRAY[tab::oid]);
BEGIN
    RETURN known || (SELECT jsonb_build_object('tables', '[]'::jsonb, 'references', jsonb_object_agg(r.key, r.value))
                         FROM jsonb_each(known -> 'references') r
                         WHERE r.key <> snowflake._source_of('pg_class'::regclass, tab) AND r.key NOT LIKE 'toast table %');
END
$function$;

-- Returns the same for the way back. Indexes that only the first partition has stay on it, which takes the name of the whole.
CREATE FUNCTION snowflake._references_to_merge(p snowflake._partitioning)
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    kept constant jsonb := snowflake._references_to_keep(p.tab);
    whole constant jsonb := jsonb_build_object(snowflake._source_of('pg_class'::regclass, p.tab), true);
BEGIN
    RETURN jsonb_set(kept, '{references}', kept -> 'references' || (
        SELECT coalesce(jsonb_object_agg(name, (kept -> 'references' -> name) || whole), '{}')
            FROM pg_index i
            CROSS JOIN LATERAL snowflake._source_of('pg_class'::regclass, i.indexrelid) name
            WHERE i.indrelid = format('%I.%I', p.schema, p.former)::regclass
              AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
              AND kept -> 'references' ? name));
END
$function$;

-- Raises an error in a transaction whose snapshot hides the rows that others have added since: they would not be moved.
CREATE FUNCTION snowflake._require_rows_of_now(tab regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE EXCEPTION 'cannot make table % an ordinary one in a transaction that is %', tab,
                        upper(current_setting('transaction_isolation'))
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'It does not see the rows that others have added since it began: these would be lost.',
                  HINT = 'BEGIN ISOLATION LEVEL READ COMMITTED;';
    END IF;
END
$function$;

-- Returns what a stage works with: "limit" adds the check, "exchange" makes the table partitioned, "merge" an ordinary one.
CREATE FUNCTION snowflake._state_of_partitioning(request snowflake._partition_request, stage text)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    p constant snowflake._partitioning :=
        CASE stage WHEN 'merge' THEN snowflake._partitioned(request.tab) ELSE snowflake._partitioning(request) END;
    dependents constant snowflake._conversion_dependent[] := ARRAY(SELECT d FROM snowflake._partition_dependents(p.tab) d);
    state snowflake._conversion_state;
BEGIN
    state.part := snowflake._part(p.tab, '{}');
    state.emptied := '{}';
    IF stage = 'merge' THEN
        PERFORM snowflake._require_rows_of_now(p.tab);
        PERFORM snowflake._require_mergeable(p, dependents);
        state.wanted := ARRAY(SELECT x FROM unnest(snowflake._locks_of_partitioning(p, dependents)) x
                              UNION SELECT i.inhrelid::regclass FROM pg_inherits i WHERE i.inhparent = p.tab);
        state.plan := ARRAY(SELECT s FROM snowflake._return_steps(p, dependents) s);
        state.altered := (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.tab);
        state.expected := snowflake._references_to_merge(p);
        RETURN state;
    END IF;
    PERFORM snowflake._require_partitionable(p, dependents);
    IF stage = 'limit' THEN
        state.wanted := ARRAY[p.tab];
        state.plan := ARRAY(SELECT s FROM snowflake._limit_steps(p) s);
        RETURN state;
    ELSIF p.is_limited IS NOT TRUE THEN
        RAISE EXCEPTION 'cannot partition table % yet', p.tab
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('No valid check says that all rows have IDs before %s.', p.since),
                  HINT = format(E'SELECT command FROM snowflake.partition_plan(%L, %L, ahead => %s, since => %L, with_default => %L, '
                                 'id_column => %L) WHERE command IS NOT NULL \\gexec',
                                p.tab, p.every, p.ahead, p.since, p.with_default, p.attname);
    END IF;
    state.wanted := snowflake._locks_of_partitioning(p, dependents);
    state.constraints := ARRAY(SELECT k.oid FROM pg_constraint k WHERE k.conrelid = p.tab
                               UNION ALL SELECT k.oid FROM snowflake._keys_to_table(p.tab) k);
    state.plan := ARRAY(SELECT s FROM snowflake._exchange_steps(p, dependents) s);
    state.altered := (SELECT count(*) + 1 FROM snowflake._partitions_ahead(p));
    state.expected := snowflake._references_to_keep(p.tab);
    RETURN state;
END
$function$;

-- Returns the step that lets a table refuse IDs from the end of the first partition on, without looking at its rows.
CREATE FUNCTION snowflake._limit_steps(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._step(format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I < %L::bigint) NOT VALID',
                                        p.tab, snowflake._limit_name(), p.attname, p.bound), p.owner) step
            WHERE p.is_limited IS NULL;
END
$function$;

-- Raises an error if an object that was made again has come to refer to something else. The new table is the one that they
-- refer to now; returns the argument.
CREATE FUNCTION snowflake._require_same_references(state snowflake._conversion_state)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_references(
        state.expected || jsonb_build_object('tables', ARRAY[(state.part).name::regclass::oid]));
    RETURN state;
END
$function$;

-- Runs a stage, for a caller with a search_path; returns how many partitions the table has then, or had. The partitions are those
-- of the plan in a session of another time zone, too. No row that row-level security hides gets lost on the way back.
CREATE FUNCTION snowflake._run_partitioning(request snowflake._partition_request, stage text, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET row_security = off
    SET TimeZone = 'UTC' -- lets the server take back what follows when the function ends
    AS $function$
DECLARE
    state snowflake._conversion_state;
BEGIN
    PERFORM set_config('TimeZone', request.zone, true);
    state := snowflake._conversion_run(snowflake._request(NULL, stage => stage, partitioning => request), caller_search_path);
    IF stage <> 'limit' THEN
        state := snowflake._as_of_now('SELECT snowflake._require_same_references($1)', state);
    END IF;
    RETURN state.altered;
END
$function$;

-- Lets a table refuse IDs from the end of its first partition on.
CREATE FUNCTION snowflake._limit_ids(
        tab regclass, id_column name, every interval, since timestamptz, ahead integer, with_default boolean,
        zone text DEFAULT pg_catalog.current_setting('TimeZone'))
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_partitioning(
               snowflake._partition_request(tab, id_column => id_column, every => every, since => since, ahead => ahead,
                                            with_default => with_default, zone => zone),
               'limit', pg_catalog.current_setting('search_path'))
$function$;

-- Puts a partitioned table in the place of a table, which becomes its first partition; returns how many it has.
CREATE FUNCTION snowflake._partition_table(
        tab regclass, id_column name, every interval, since timestamptz, ahead integer, with_default boolean,
        zone text DEFAULT pg_catalog.current_setting('TimeZone'))
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_partitioning(
               snowflake._partition_request(tab, id_column => id_column, every => every, since => since, ahead => ahead,
                                            with_default => with_default, zone => zone),
               'exchange', pg_catalog.current_setting('search_path'))
$function$;

-- Makes a partitioned table an ordinary one; returns how many partitions it had.
CREATE FUNCTION snowflake._merge_partitions(tab regclass)
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_partitioning(snowflake._partition_request(tab, zone => pg_catalog.current_setting('TimeZone')), 'merge',
                                       pg_catalog.current_setting('search_path'))
$function$;
