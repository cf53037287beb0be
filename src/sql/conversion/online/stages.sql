-- The stages of a conversion without a long lock that change definitions: "shadows" adds columns, triggers and checks to a
-- table, "indexes" those that are built afterwards, "view" makes a view beside another, "key" adds a foreign key, "orphan" drops one that uses the wrong index, "swap" ends
-- it, "cancel" takes it back. Each is one short transaction, with the locks of locks.sql, and refuses to run unless what it builds
-- on is there.

-- Raises an error that names what is left to do before a stage.
CREATE FUNCTION snowflake._require_preparations(work snowflake._shadowing, stage text)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    missing text[];
BEGIN
    missing := ARRAY(
        SELECT x.command FROM snowflake._preparations_of_shadows(work) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_rows(work, NULL, NULL) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_views(work) x WHERE stage IN ('fill', 'swap')
        UNION ALL SELECT x.command FROM snowflake._preparations_of_orphans(work) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_empty_indexes(work) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_indexes(work, after_keys => false) x
        UNION ALL SELECT x.command FROM snowflake._preparations_of_keys(work) x WHERE stage = 'swap'
        UNION ALL SELECT x.command FROM snowflake._preparations_of_indexes(work, after_keys => true) x WHERE stage IN ('fill', 'swap')
        UNION ALL SELECT x.command FROM snowflake._preparations_of_contents(work) x WHERE stage = 'swap');
    IF missing <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence % yet', (work.part).name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'These commands have not been run, or not to their end: ' || array_to_string(missing, '; '),
                  -- Only the last command states the wishes of the caller.
                  HINT = CASE stage
                      WHEN 'swap' THEN format(E'SELECT command FROM snowflake.conversion_plan(%L, online => true%s) '
                                             'WHERE command IS NOT NULL \\gexec',
                                              (work.part).name, snowflake._wish_arguments((work.part).wishes))
                      ELSE 'Ask conversion_plan(..., online => true) for what is left to do.' END;
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
    state.wanted := state.wanted || snowflake._lockable(ARRAY(SELECT t.twin FROM unnest(work.views) t));
    RETURN state;
END
$function$;

-- Raises an error unless a conversion widens columns of a table.
CREATE FUNCTION snowflake._require_widened(part snowflake._conversion_part, tab regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(part.columns) c WHERE c.relid = tab AND c.widened) THEN
        RAISE EXCEPTION 'the conversion of sequence % widens no column of table %', part.seq, tab
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
END
$function$;

-- Returns the relations among some that are the caller's to lock.
CREATE FUNCTION snowflake._lockable(relations oid[])
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(SELECT c.oid::regclass FROM pg_class c WHERE c.oid = ANY (relations) AND snowflake._may_become(c.relowner) ORDER BY c.oid);
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

-- Returns what objects refer to before indexes of shadow columns are made, and as what these will do: the same as those whose place
-- they take, or as that of the whole, of which a partition has its part. The index of a constraint refers to that alone.
CREATE FUNCTION snowflake._expected_of_indexes(work snowflake._shadowing, expected jsonb)
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN jsonb_set(expected, '{references}',
                     expected -> 'references'
                     || (SELECT coalesce(jsonb_object_agg(format('%s %s.%I', i.type, c.relnamespace::regnamespace, t.name),
                                                          coalesce(expected -> 'references' -> format('%s %s', i.type, i.identity), '{}')
                                                          || jsonb_build_object(snowflake._source_of('pg_class'::regclass, t.relid), true)),
                                         '{}')
                             FROM unnest(work.indexes) t
                             JOIN pg_class c ON c.oid = t.original
                             CROSS JOIN LATERAL pg_identify_object('pg_class'::regclass, snowflake._whole(t.original), 0) i));
END
$function$;

-- Returns the steps that make twins of indexes. The runner makes them without their content.
CREATE FUNCTION snowflake._index_steps(twins snowflake._twin[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(twins) WITH ORDINALITY t
            JOIN pg_index i ON i.indexrelid = t.original
            CROSS JOIN LATERAL snowflake._step(
                concat('CREATE ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, 'INDEX CONCURRENTLY ', quote_ident(t.name), ' ', t.definition),
                snowflake._owner(t.relid)) step
            ORDER BY t.ordinality;
END
$function$;

-- Returns the steps that make twins of indexes on a table and its partitions and drop them again, one of those that are alike: what
-- keeps one from being made is to be found before the rows are filled, which takes hours.
CREATE FUNCTION snowflake._index_trial_steps(work snowflake._shadowing, tab regclass)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    twins constant snowflake._twin[] := ARRAY(
        SELECT t FROM unnest(work.indexes) t
            WHERE t.original IN (SELECT min(i.indexrelid)
                                     FROM unnest(work.indexes) x JOIN pg_index i ON i.indexrelid = x.original
                                     WHERE x.twin IS NULL AND snowflake._whole(x.relid) = tab
                                     GROUP BY i.indkey::text, i.indclass::text, i.indcollation::text, i.indexprs::text, i.indpred::text));
BEGIN
    RETURN QUERY SELECT * FROM snowflake._index_steps(twins);
    RETURN QUERY
        SELECT step.*
            FROM unnest(twins) t
            JOIN pg_class c ON c.oid = t.original
            CROSS JOIN LATERAL snowflake._step(format('DROP INDEX %s.%I', c.relnamespace::regnamespace, t.name), snowflake._owner(t.relid)) step;
END
$function$;

-- Returns what objects refer to before twins of views are made, and as what these will do.
CREATE FUNCTION snowflake._expected_of_views(work snowflake._shadowing, expected jsonb)
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    made jsonb;
BEGIN
    WITH twin(class, object, original, name, rule) AS (
        SELECT 'pg_class'::regclass, t.original, t.original, format('%s.%I', c.relnamespace::regnamespace, t.name), ''
            FROM unnest(work.views) t JOIN pg_class c ON c.oid = t.original
        UNION ALL
        SELECT 'pg_rewrite'::regclass, r.oid, t.original, format('%s.%I', c.relnamespace::regnamespace, t.name), '"_RETURN" on '
            FROM unnest(work.views) t
            JOIN pg_class c ON c.oid = t.original
            JOIN pg_rewrite r ON r.ev_class = t.original AND r.rulename = '_RETURN'
        UNION ALL
        SELECT 'pg_class'::regclass, i.original, t.original, format('%s.%I', c.relnamespace::regnamespace, i.name), ''
            FROM unnest(work.views) t
            JOIN pg_class c ON c.oid = t.original
            CROSS JOIN LATERAL snowflake._index_twins_of_view(t) i
    ),
    views(sources) AS (
        SELECT jsonb_object_agg(format('%s %s', i.type, t.name), true)
            FROM twin t CROSS JOIN LATERAL pg_identify_object(t.class, t.object, 0) i
            WHERE t.class = 'pg_class'::regclass AND t.object = t.original
    )
    SELECT jsonb_object_agg(format('%s %s%s', i.type, t.rule, t.name),
                            coalesce(expected -> 'references' -> format('%s %s', i.type, i.identity), '{}') || views.sources) INTO made
        FROM twin t
        CROSS JOIN views
        CROSS JOIN LATERAL pg_identify_object(t.class, t.object, 0) i;
    RETURN jsonb_set(expected, '{references}', expected -> 'references' || coalesce(made, '{}'));
END
$function$;

-- Raises an error unless all columns that a conversion widens have shadows.
CREATE FUNCTION snowflake._require_shadows(work snowflake._shadowing)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    missing constant text := (SELECT format('%s.%I', s.relid, s.attname) FROM unnest(work.shadows) s WHERE s.trigger_name IS NULL LIMIT 1);
BEGIN
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'column % has no other that takes its place yet', missing
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Ask conversion_plan(..., online => true) for what is left to do.';
    END IF;
END
$function$;

-- Returns what a stage of a conversion without a long lock works with.
CREATE FUNCTION snowflake._state_of_stage(part snowflake._conversion_part, request snowflake._conversion_request)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    stage constant text := request.stage;
    state snowflake._conversion_state;
    work snowflake._shadowing;
    missing snowflake._twin[];
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
            PERFORM snowflake._require_widened(part, request.tab);
            work := snowflake._shadowing(part);
            state.expected := snowflake._expected_of_indexes(work, state.expected);
            state.plan := ARRAY(SELECT s FROM snowflake._shadow_steps(part, request.tab) s)
                          || ARRAY(SELECT s FROM snowflake._index_trial_steps(work, request.tab) s);
            state.wanted := ARRAY(SELECT member FROM snowflake._table_tree(request.tab) member);
        WHEN 'indexes' THEN
            PERFORM snowflake._require_widened(part, request.tab);
            work := snowflake._shadowing(part);
            PERFORM snowflake._require_shadows(work);
            state.expected := snowflake._expected_of_indexes(work, state.expected);
            missing := ARRAY(SELECT t FROM unnest(work.indexes) t WHERE t.twin IS NULL AND snowflake._whole(t.relid) = request.tab
                                 LIMIT snowflake._indexes_at_once());
            state.plan := ARRAY(SELECT s FROM snowflake._index_steps(missing) s);
            state.wanted := ARRAY(SELECT DISTINCT t.relid::oid FROM unnest(missing) t);
        WHEN 'key' THEN
            PERFORM snowflake._require_preparations(snowflake._shadowing(part), stage);
            state.plan := ARRAY(SELECT s FROM snowflake._key_steps(part, request.tab, request.twin) s);
            state.wanted := snowflake._lockable(ARRAY(
                SELECT x FROM snowflake._key_twins(snowflake._shadows(part.columns)) t
                    JOIN pg_constraint k ON k.oid = t.original
                    CROSS JOIN LATERAL (VALUES (k.conrelid), (k.confrelid)) both_tables(x)
                    WHERE t.relid = request.tab AND t.name = request.twin));
        WHEN 'orphan' THEN
            state.plan := ARRAY(SELECT s FROM snowflake._orphan_steps(snowflake._shadowing(part), request.tab, request.twin) s);
            state.wanted := snowflake._lockable(ARRAY(
                SELECT x FROM pg_constraint k CROSS JOIN LATERAL (VALUES (k.conrelid), (k.confrelid)) both_tables(x)
                    WHERE k.conrelid = request.tab AND k.conname = request.twin AND k.contype = 'f'));
        WHEN 'view' THEN
            -- The commands name what the view does, and nothing that another session sees is locked.
            PERFORM snowflake._hold_names(snowflake._lockable(ARRAY[request.tab]));
            work := snowflake._shadowing(part);
            PERFORM snowflake._require_shadows(work);
            state.expected := snowflake._expected_of_views(work, state.expected);
            state.plan := ARRAY(SELECT s FROM snowflake._view_twin_steps(work, request.tab) s);
            state.wanted := '{}';
        WHEN 'cancel' THEN
            state.plan := ARRAY(SELECT s FROM snowflake._cancel_steps(part) s);
            state.wanted := snowflake._lockable(ARRAY(
                SELECT snowflake._table_tree(s.relid) FROM unnest(snowflake._shadows_to_cancel(part)) s
                UNION SELECT p FROM unnest(snowflake._shadows_to_cancel(part)) s, snowflake._table_partners(s.relid, s.shadow) p
                UNION SELECT v FROM snowflake._views_on_shadows(snowflake._shadows_to_cancel(part)) v));
        ELSE
            RAISE EXCEPTION 'there is no stage "%"', stage USING ERRCODE = 'invalid_parameter_value';
    END CASE;
    state.altered := cardinality(snowflake._shadows_to_cancel(part));
    state.always := false;
    RETURN state;
END
$function$;

-- Returns how long a stage tries to get its locks, whatever lock_timeout is: a try disturbs others for a moment only (see
-- locks.sql).
CREATE FUNCTION snowflake._patience_of_stage()
    RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN interval '10 minutes';

-- Runs a stage of a conversion without a long lock, for a caller with a search_path.
CREATE FUNCTION snowflake._run_stage(
        seq regclass, stage text, caller_search_path text, tab regclass DEFAULT NULL, twin name DEFAULT NULL, also text DEFAULT '')
    RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN (snowflake._conversion_run(
        snowflake._request(seq, snowflake._least_wishes(also), stage, tab => tab, twin => twin), caller_search_path)).altered;
END
$function$;

-- Adds the shadow columns of a table for the conversion of a sequence, and the triggers that keep them. From then on the
-- triggers tell which columns the caller has named to be widened along.
CREATE FUNCTION snowflake._add_shadows(seq regclass, tab regclass, also text DEFAULT '')
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, 'shadows', pg_catalog.current_setting('search_path'), tab, also => also)
$function$;

-- Makes indexes of the shadow columns of a table and its partitions, without their content.
CREATE FUNCTION snowflake._add_indexes(seq regclass, tab regclass)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, 'indexes', pg_catalog.current_setting('search_path'), tab)
$function$;

-- Adds a foreign key between shadow columns, without looking at the rows that are there.
CREATE FUNCTION snowflake._add_key(seq regclass, tab regclass, twin name)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, 'key', pg_catalog.current_setting('search_path'), tab, twin)
$function$;

-- Drops a foreign key between shadow columns that uses an index which has become no twin.
CREATE FUNCTION snowflake._drop_key(seq regclass, tab regclass, twin name)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, 'orphan', pg_catalog.current_setting('search_path'), tab, twin)
$function$;

-- Makes what takes the place of a view, without data; raises an error if it does not read what the view reads.
CREATE FUNCTION snowflake._add_view(seq regclass, view regclass)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(seq, 'view', pg_catalog.current_setting('search_path'), view);
    SELECT snowflake._require_no_obstacles(snowflake._conversion_part(seq, online => true))
$function$;

-- Rehearses a conversion without a long lock, for a caller with a search_path; raises an error that names all commands that
-- failed. What fails only when it runs is found before the work of hours is done.
CREATE FUNCTION snowflake._rehearse_conversion(seq regclass, wishes snowflake._conversion_wishes, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    request constant snowflake._conversion_request := snowflake._request(seq, wishes, stage => 'rehearsal');
    state snowflake._conversion_state;
BEGIN
    IF EXISTS (SELECT FROM snowflake._obstacles_of_shadows(snowflake._conversion_part(seq, wishes, online => true))) THEN
        RETURN; -- the conversion has begun already
    END IF;
    state := snowflake._state_under_locks(request, snowflake._patience_of_stage());
    state.run_path := snowflake._run_path(caller_search_path);
    state.patience := snowflake._longest_try();
    PERFORM snowflake._rehearse(state);
END
$function$;

-- Rehearses a conversion without a long lock with the search_path of the caller.
CREATE FUNCTION snowflake._rehearse_conversion(
        seq regclass, increment text DEFAULT 'refuse', target text DEFAULT 'snowflake', also text DEFAULT '', waive text DEFAULT '',
        layout snowflake.layout DEFAULT NULL)
    RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._rehearse_conversion(seq, snowflake._wishes(target, increment, also, waive, layout),
                                          pg_catalog.current_setting('search_path'))
$function$;

CREATE FUNCTION snowflake.cancel_conversion(
        relation regclass) -- a sequence; or a table, whose shadow columns no conversion keeps any more
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._run_stage(relation, 'cancel', pg_catalog.current_setting('search_path'))
$function$;
COMMENT ON FUNCTION snowflake.cancel_conversion(regclass) IS
    'takes back a conversion without a long lock that has not ended, or what is left of one on a table; '
    'returns the number of columns that were being widened';
