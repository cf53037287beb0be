-- The stages of a conversion without a long lock that change definitions: "shadows" adds columns, triggers and checks,
-- "keys" foreign keys, "swap" ends it, "cancel" takes it back. Each is one short transaction, with the locks of
-- locks.sql, and refuses to run unless what it builds on is there.

-- Raises an error that names what is left to do before a stage.
CREATE FUNCTION snowflake._require_preparations(work snowflake._shadowing, stage text)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    missing text[];
BEGIN
    missing := ARRAY(
        SELECT x.command FROM snowflake._preparations_of_rows(work, NULL, NULL) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_indexes(work) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_keys(work) x WHERE stage = 'swap');
    IF missing <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence % yet', (work.part).name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'These commands have not been run, or not to their end: ' || array_to_string(missing, '; '),
                  HINT = format(E'SELECT command FROM snowflake.conversion_plan(%L, online => true) WHERE command IS NOT NULL \\gexec', (work.part).name);
    END IF;
END
$function$;

-- Returns what the swap works with; raises an error that names all obstacles, or what is left to do before.
CREATE FUNCTION snowflake._state_of_swap(work snowflake._shadowing)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    state snowflake._conversion_state;
BEGIN
    PERFORM snowflake._require_preparations(work, 'swap');
    state := snowflake._state_of_tables(work.part);
    state.meant := snowflake._meant_after_swap(state.meant, work.shadows);
    state.plan := ARRAY(SELECT s FROM snowflake._swap_steps(work) s);
    RETURN state;
END
$function$;

-- Returns what objects refer to before a stage, and as what the checks of shadow columns will do.
CREATE FUNCTION snowflake._expected_of_twins(part snowflake._conversion_part)
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    expected constant jsonb := snowflake._expected(part);
BEGIN
    RETURN jsonb_set(expected, '{references}',
                     expected -> 'references'
                     || (SELECT coalesce(jsonb_object_agg(format('%s %I%s', i.type, t.name,
                                                                 substr(i.identity, length(quote_ident(k.conname)) + 1)),
                                                          expected -> 'references' -> format('%s %s', i.type, i.identity)), '{}')
                             FROM snowflake._check_twins(snowflake._shadows(part.columns)) t
                             JOIN pg_constraint k ON k.oid = t.original
                             CROSS JOIN LATERAL pg_identify_object('pg_constraint'::regclass, k.oid, 0) i));
END
$function$;

-- Returns what a stage of a conversion without a long lock works with.
CREATE FUNCTION snowflake._state_of_stage(part snowflake._conversion_part, stage text)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    state snowflake._conversion_state;
BEGIN
    IF stage <> 'cancel' THEN
        PERFORM snowflake._require_no_obstacles(part);
    END IF;
    IF stage = 'swap' THEN
        RETURN snowflake._state_of_swap(snowflake._shadowing(part));
    END IF;
    state.part := part;
    state.emptied := '{}';
    IF stage <> 'cancel' THEN
        state.expected := snowflake._expected_of_twins(part);
    END IF;
    CASE stage
        WHEN 'shadows' THEN
            state.plan := ARRAY(SELECT s FROM snowflake._shadow_steps(part) s);
            state.wanted := snowflake._wanted_locks(part);
        WHEN 'keys' THEN
            PERFORM snowflake._require_preparations(snowflake._shadowing(part), stage);
            state.plan := ARRAY(SELECT s FROM snowflake._key_steps(part) s);
            state.wanted := snowflake._wanted_locks(part);
        WHEN 'cancel' THEN
            state.plan := ARRAY(SELECT s FROM snowflake._cancel_steps(part) s);
            state.wanted := ARRAY(SELECT x.relid
                                      FROM (SELECT s.relid FROM unnest(snowflake._shadows_to_cancel(part)) s
                                            UNION SELECT p FROM unnest(snowflake._shadows_to_cancel(part)) s,
                                                                snowflake._table_partners(s.relid, s.shadow) p) x(relid)
                                      JOIN pg_class c ON c.oid = x.relid
                                      WHERE snowflake._may_become(c.relowner)
                                      ORDER BY x.relid::oid);
    END CASE;
    state.altered := cardinality(snowflake._shadows_to_cancel(part));
    state.always := false;
    RETURN state;
END
$function$;

-- Does what _state_under_locks() does, again and again where a lock is not to be had soon. Other sessions queue
-- behind a lock that is waited for. An attempt therefore ends after lock_timeout, and lets them pass for as long.
-- Where there is none, it ends a second after deadlock_timeout: that is when the server cancels an autovacuum that
-- holds a lock, as it will where all rows have just been changed.
CREATE FUNCTION snowflake._state_by_attempts(request snowflake._conversion_request)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    patience constant interval := 
        coalesce(nullif(current_setting('lock_timeout')::interval, '0'), current_setting('deadlock_timeout')::interval + '1 s');
    attempts constant integer := 100;
BEGIN
    FOR attempt IN 1 .. attempts LOOP
        BEGIN
            RETURN snowflake._state_under_locks(request, patience);
        EXCEPTION WHEN lock_not_available THEN
            IF attempt = attempts THEN
                RAISE;
            END IF;
        END;
        PERFORM pg_sleep_for(patience);
    END LOOP;
END
$function$;

-- Runs a stage of a conversion without a long lock, for a caller with a search_path.
CREATE FUNCTION snowflake._run_stage(seq regclass, also text, stage text, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN (snowflake._conversion_run(
        snowflake._request(seq, snowflake._least_wishes(also), stage), caller_search_path)).altered;
END
$function$;

-- Adds the shadow columns for the conversion of a sequence, and the triggers that keep them. From then on the triggers
-- tell which columns the caller has named to be widened along.
CREATE FUNCTION snowflake._add_shadows(seq regclass, also text DEFAULT '')
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, also, 'shadows', pg_catalog.current_setting('search_path'))
$function$;

-- Adds the foreign keys between shadow columns, without looking at the rows that are there.
CREATE FUNCTION snowflake._add_keys(seq regclass)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, '', 'keys', pg_catalog.current_setting('search_path'))
$function$;

-- Runs the commands of a conversion on empty tables and takes that back; raises an error that names all of those
-- that failed. What fails only when it runs is found before the work of hours is done.
CREATE FUNCTION snowflake._try_conversion(seq regclass, wishes snowflake._conversion_wishes, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    request constant snowflake._conversion_request :=
        snowflake._request(seq, wishes, stage => 'rehearsal');
    state snowflake._conversion_state;
BEGIN
    IF EXISTS (SELECT FROM snowflake._obstacles_of_shadows(snowflake._conversion_part(seq, wishes, online => true))) THEN
        RETURN; -- It has begun already.
    END IF;
    state := snowflake._state_by_attempts(request);
    state.run_path := snowflake._run_path(caller_search_path);
    PERFORM snowflake._rehearse(state);
END
$function$;

-- Does what the function of the same name does, with the search_path of the caller.
CREATE FUNCTION snowflake._try_conversion(
        seq regclass, increment text DEFAULT 'refuse', target text DEFAULT 'snowflake', also text DEFAULT '', waive text DEFAULT '')
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._try_conversion(seq, snowflake._wishes(target, increment, also, waive), pg_catalog.current_setting('search_path'))
$function$;

CREATE FUNCTION snowflake.cancel_conversion(seq regclass)
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, '', 'cancel', pg_catalog.current_setting('search_path'))
$function$;
COMMENT ON FUNCTION snowflake.cancel_conversion(regclass) IS
    'takes back a conversion without a long lock that has not ended; returns the number of columns that were being widened';
