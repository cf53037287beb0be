-- A conversion in either direction: runs the plan under locks, and checks what came of it.

-- Returns the greatest number that a sequence, or a column that it fills, holds. Numbers are read by OID, without a
-- query: a query would find relations by name, and would evaluate policies and constants of checks and indexes.
CREATE FUNCTION snowflake._greatest_number(seq regclass, columns snowflake._conversion_column[])
    RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN (
        SELECT greatest(snowflake._last_value(seq), max(snowflake._greatest_value(a.attrelid, a.attnum)))
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._table_tree(c.relid) member(relid)
            JOIN pg_class t ON t.oid = member.relid
            JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = c.attname
            WHERE (c.is_identity OR c.old_default IS NOT NULL) AND NOT c.is_strangers
              AND t.relkind = 'r' AND snowflake._is_big(a.atttypid)
              AND snowflake._may_become(t.relowner) AND NOT pg_is_other_temp_schema(t.relnamespace));
END
$function$;

-- Returns the number below which all numbers in use have to be: new IDs of a layout could repeat one above it.
CREATE FUNCTION snowflake._bound_of_numbers(layout snowflake.layout)
    RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    slack constant interval := '1 minute'; -- a snowflake sequence may itself be ahead of the clock
BEGIN
    RETURN snowflake.from_timestamp(clock_timestamp() + slack, layout);
END
$function$;

-- Raises an error if a sequence, or a column that it fills, holds a number that a new ID could meet; returns the argument.
CREATE FUNCTION snowflake._require_smaller_numbers(part snowflake._conversion_part)
    RETURNS snowflake._conversion_part
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    last constant bigint := snowflake._greatest_number(part.seq, part.columns);
BEGIN
    IF last >= snowflake._bound_of_numbers(part.layout) THEN
        RAISE EXCEPTION 'cannot convert sequence %', part.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its greatest value, %s, is above the snowflake IDs of the present: '
                                  'new IDs could meet existing ones.', last),
                  HINT = format('If no row has it, set the sequence back: '
                                'SELECT pg_catalog.setval(%L, %s);', part.name,
                                (SELECT greatest(seqmin, 1) FROM pg_sequence WHERE seqrelid = part.seq));
    END IF;
    RETURN part;
END
$function$;

-- Tells whether an error that was just raised, with this SQLSTATE, is the server's or an event trigger's, and no fault of
-- the objects that are converted. Such errors are re-raised. Code of users raises no 55P03 (src/conversion/users_errors.hpp).
CREATE FUNCTION snowflake._is_of_the_system(
        code text,
        failures_before bigint) -- what _event_trigger_failures() returned before the commands ran
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN snowflake._event_trigger_failures() > failures_before OR code = '55P03';
END
$function$;

-- Runs a command of a plan. Returns the error if an expression is at fault: one that has no meaning any more, such as
-- the call of a function that takes integers only, or a query whose owner may not run it, or that is nested too deeply to be read
-- again. Planning finds none of them. The caller goes on, and raises all such errors together.
CREATE FUNCTION snowflake._run_step(
        command text, role name, -- NULL: the caller's rights
        run_path text,
        expected jsonb, -- what _require_meaning() gets; NULL: there is nothing to compare
        has_failed boolean) -- whether a step before it has
    RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET check_function_bodies = off -- the bodies may count on the caller's search_path
    SET constraint_exclusion = off -- the server would evaluate constants of checks when it plans a query
    AS $function$
DECLARE
    failures_before constant bigint := snowflake._event_trigger_failures();
    row_at_fault text;
BEGIN
    PERFORM snowflake._run_as(command, quote_ident(coalesce(role, current_user))::regrole, run_path,
                              'SELECT snowflake._require_meaning($4, $1, $2, $3)', expected);
    RETURN NULL;
EXCEPTION
    WHEN syntax_error_or_access_rule_violation OR data_exception OR integrity_constraint_violation
         OR object_not_in_prerequisite_state OR plpgsql_error OR external_routine_exception OR program_limit_exceeded THEN
        IF snowflake._is_of_the_system(SQLSTATE, failures_before) THEN
            RAISE;
        ELSIF has_failed AND SQLSTATE IN ('42P01', '42703', '42704') THEN
            RETURN NULL; -- The object is missing because a step before could not make it.
        END IF;
        IF SQLSTATE LIKE '23%' THEN
            GET STACKED DIAGNOSTICS row_at_fault = PG_EXCEPTION_DETAIL;
        END IF;
        RETURN concat(split_part(command, E'\n', 1), ', run as ' || quote_ident(nullif(role, current_user)), ': ', SQLERRM,
                      ' (' || nullif(row_at_fault, '') || ')');
END
$function$;

-- Runs the commands of a plan; raises an error that names all of those that failed. All of the caller's is locked by now, and
-- others queue behind that: no command waits long for a table of somebody else, which a foreign key or a rule names.
CREATE FUNCTION snowflake._run_steps(state snowflake._conversion_state)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET check_function_bodies = off
    SET snowflake.convert_new_columns = off -- a conversion makes what it makes
    SET lock_timeout = 0 -- the function sets it, and the caller's is back when it ends
    AS $function$
DECLARE
    -- The commands may drop the sequence or table, so its kind is read first.
    purpose constant text :=
        format('cannot %s %s', (SELECT CASE c.relkind WHEN 'S' THEN 'convert sequence' WHEN 'p' THEN 'merge the partitions of table'
                                                      ELSE 'partition table' END
                                    FROM pg_class c WHERE c.oid = (state.part).seq), (state.part).name);
    step snowflake._conversion_step;
    started timestamptz;
    obstacles text[] := '{}';
BEGIN
    PERFORM snowflake._wait_at_most(state.patience);
    FOREACH step IN ARRAY state.plan LOOP
        IF step.command IS NULL THEN
            RAISE NOTICE '%', step.effect;
            CONTINUE;
        END IF;
        IF snowflake._is_large(step.size) THEN
            RAISE NOTICE '% (%)', coalesce('rewriting table ' || step.rewrites, step.command), pg_size_pretty(step.size);
            started := clock_timestamp();
        END IF;
        obstacles := array_remove(
            obstacles || snowflake._run_step(step.command, step.role, state.run_path, state.expected, obstacles <> '{}'),
            NULL);
        IF snowflake._is_large(step.size) THEN
            RAISE NOTICE '% in % s', coalesce('rewrote table ' || step.rewrites, 'done'),
                round(extract(epoch FROM clock_timestamp() - started), 1);
        END IF;
    END LOOP;
    PERFORM snowflake._require_none(obstacles, purpose);
END
$function$;

-- Empties tables, runs a query as the caller, with a row as its $1, and rolls everything back.
CREATE FUNCTION snowflake._rehearse(tables oid[], run_path text, query text, argument record)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_rehearse'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Runs the commands of a plan on empty tables. Materialized views are not filled: they read other tables as well.
CREATE FUNCTION snowflake._run_steps_on_empty_tables(state snowflake._conversion_state)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET client_min_messages = warning
    AS $function$
BEGIN
    state.plan := ARRAY(SELECT s FROM unnest(state.plan) s WHERE s.rewrites IS NOT NULL OR s.size IS NULL);
    PERFORM snowflake._run_steps(state);
END
$function$;

-- Runs the commands of a plan, if they need it, on empty tables and takes everything back; raises an error that names
-- all of those that failed.
CREATE FUNCTION snowflake._rehearse(state snowflake._conversion_state)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    IF state.emptied <> '{}' THEN
        PERFORM snowflake._rehearse(state.emptied, state.run_path, 'SELECT snowflake._run_steps_on_empty_tables($1)', state);
    END IF;
END
$function$;

-- Returns the search_path for the functions that the commands of a conversion call. Users' functions may count on
-- the caller's path; nothing in it goes before the server's own.
CREATE FUNCTION snowflake._run_path(caller_search_path text)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN concat_ws(', ', 'pg_catalog', 'pg_temp', nullif(btrim(caller_search_path), ''));

-- Lets all sessions plan anew once the transaction is committed, where a table that they know has a column of another type now.
CREATE FUNCTION snowflake._plan_anew(tab regclass)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_plan_anew'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Runs a conversion, with a search_path for the functions that its commands call, and returns what it worked with.
CREATE FUNCTION snowflake._conversion_run(request snowflake._conversion_request, caller_search_path text)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET check_function_bodies = off
    AS $function$
DECLARE
    state snowflake._conversion_state;
BEGIN
    state := snowflake._state_under_locks(request, CASE WHEN request.stage IS NULL THEN current_setting('lock_timeout')::interval
                                                        ELSE snowflake._patience_of_stage() END);
    IF NOT request.is_back AND snowflake._makes_snowflakes(request.wishes) AND coalesce(request.stage, 'swap') = 'swap' THEN
        state.part := snowflake._as_of_now('SELECT snowflake._require_smaller_numbers($1)', state.part);
    END IF;
    state.run_path := snowflake._run_path(caller_search_path);
    state.patience := CASE WHEN coalesce(request.stage, 'merge') = 'merge' -- takes long
                           THEN coalesce(nullif(current_setting('lock_timeout')::interval, '0'), '1 min')
                           ELSE snowflake._longest_try() END;
    PERFORM snowflake._rehearse(state);
    PERFORM snowflake._run_steps(state);
    state := snowflake._as_of_now('SELECT snowflake._require_outcome($1)', state);
    IF coalesce(request.stage, 'swap') = 'swap' THEN
        PERFORM snowflake._plan_anew(c.relid) FROM unnest((state.part).columns) c WHERE c.widened AND NOT c.is_inherited;
    END IF;
    RETURN state;
END
$function$;

-- Does what convert_sequence_to_snowflake() does, for a caller with a search_path.
CREATE FUNCTION snowflake._convert_to_snowflake(
        seq regclass, wishes snowflake._conversion_wishes, online boolean, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET row_security = on -- materialized views have the rows that policies let their owners read
    AS $function$
DECLARE
    state constant snowflake._conversion_state :=
        snowflake._conversion_run(
            snowflake._request(seq, wishes, stage => CASE WHEN online THEN 'swap' END), caller_search_path);
BEGIN
    IF state.plan = '{}' THEN
        RAISE NOTICE 'sequence % is a % sequence already', seq, wishes.target;
    END IF;
    IF state.always THEN
        RAISE NOTICE 'GENERATED ALWAYS is no longer enforced: the column has a default now';
    END IF;
    RETURN state.altered;
END
$function$;

CREATE FUNCTION snowflake.convert_sequence_to_snowflake(
        seq regclass,
        increment text DEFAULT 'refuse', -- what becomes of an INCREMENT above 1: "refuse", "keep" or "drop"
        online boolean DEFAULT false,    -- whether to end what conversion_plan(..., online => true) has begun
        target text DEFAULT 'snowflake', -- what the columns hold afterwards: "snowflake" IDs, or the numbers of a "bigint"
        also text DEFAULT '',            -- integer columns without a foreign key that are widened along, see conversion_plan()
        waive text DEFAULT '',           -- obstacles to pass over, as their texts name them
        layout snowflake.layout DEFAULT NULL) -- of the IDs; NULL: that of the sequence or of its defaults, else the default one
    RETURNS integer
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._convert_to_snowflake(seq, snowflake._wishes(target, increment, also, waive, layout), online,
                                            pg_catalog.current_setting('search_path'))
        WHERE pg_catalog.num_nulls(seq, increment, online, target, also, waive) OPERATOR(pg_catalog.=) 0
$function$;
COMMENT ON FUNCTION snowflake.convert_sequence_to_snowflake(regclass, text, boolean, text, text, text, snowflake.layout) IS
    'makes a sequence and the columns that use it a source of snowflake IDs, or bigint; returns the number of columns altered';

-- Does what convert_snowflake_to_sequence() does, for a caller with a search_path.
CREATE FUNCTION snowflake._convert_to_sequence(seq regclass, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET row_security = on
    AS $function$
DECLARE
    state constant snowflake._conversion_state :=
        snowflake._conversion_run(snowflake._request(seq, is_back => true), caller_search_path);
BEGIN
    IF state.plan = '{}' THEN
        RAISE NOTICE 'sequence % is not a snowflake sequence', seq;
    END IF;
    RETURN state.altered;
END
$function$;

CREATE FUNCTION snowflake.convert_snowflake_to_sequence(seq regclass)
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._convert_to_sequence(seq, pg_catalog.current_setting('search_path'))
$function$;
COMMENT ON FUNCTION snowflake.convert_snowflake_to_sequence(regclass) IS
    'makes a snowflake sequence and the columns that use it call the server''s own nextval again; returns the number of columns altered';
