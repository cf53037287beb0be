-- The conversion: runs the plan under locks, and checks what came of it.

-- Numbers are read by OID, without a query: a query would find relations by name, and would evaluate policies
-- and constants of checks and indexes.
CREATE FUNCTION snowflake._greatest_number(seq regclass, columns snowflake._conversion_column[])
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN (
        SELECT greatest(snowflake._last_value(seq), max(snowflake._greatest_value(a.attrelid, a.attnum)))
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._table_tree(c.relid) member(relid)
            JOIN pg_class t ON t.oid = member.relid
            JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = c.attname
            WHERE (c.is_identity OR c.old_default IS NOT NULL) AND NOT c.is_strangers
              AND t.relkind = 'r' AND a.atttypid = 'bigint'::regtype
              AND pg_has_role(t.relowner, 'USAGE') AND NOT pg_is_other_temp_schema(t.relnamespace));
END
$function$;
COMMENT ON FUNCTION snowflake._greatest_number(regclass, snowflake._conversion_column[]) IS
    'returns the greatest number that a sequence, or a column that it fills, holds';

CREATE FUNCTION snowflake._require_room(seq regclass, columns snowflake._conversion_column[])
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    slack constant interval := '1 minute'; -- a snowflake sequence may itself be ahead of the clock
    last constant bigint := snowflake._greatest_number(seq, columns);
BEGIN
    IF last >= snowflake.from_timestamp(clock_timestamp() + slack) THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its greatest value, %s, is above the snowflake IDs of the present: '
                                  'new IDs could meet existing ones.', last),
                  HINT = format('If no such value is in use, set the sequence back: '
                                'SELECT setval(%L, %s);', seq::text,
                                (SELECT seqmin FROM pg_sequence WHERE seqrelid = seq));
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._require_room(regclass, snowflake._conversion_column[]) IS
    'raises an error if a sequence, or a column that it fills, holds a number that a new ID could meet';

-- An INSERT locks its table before the sequence, so that is the order here too. Where columns are widened, the
-- server makes the foreign keys between the tables again. While one lock is waited for, another relation can
-- come to depend on the sequence: the locks are taken until there is nothing new.
CREATE FUNCTION snowflake._lock_all(seq regclass)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    columns snowflake._conversion_column[];
    locked regclass[] := '{}';
    wanted regclass[];
BEGIN
    LOOP
        columns := ARRAY(SELECT c FROM snowflake._conversion_columns(seq) c);
        wanted := ARRAY(
            SELECT c.relid FROM unnest(columns) c
                WHERE c.new_default IS NOT NULL OR EXISTS (SELECT FROM unnest(columns) WHERE widened)
            UNION
            SELECT snowflake._table_partners(c.relid) FROM unnest(columns) c WHERE c.widened
            UNION
            SELECT d.relid FROM snowflake._conversion_dependents(columns) d WHERE d.relid IS NOT NULL);
        EXIT WHEN wanted <@ locked;
        PERFORM snowflake._conversion_lock(wanted);
        PERFORM snowflake._hold_schemas(seq || wanted);
        locked := locked || wanted;
    END LOOP;
    PERFORM snowflake._lock(seq), snowflake._hold_schemas(ARRAY[seq]);
END
$function$;
COMMENT ON FUNCTION snowflake._lock_all(regclass) IS
    'locks everything that the commands of a conversion name';

-- The plan cannot know of an expression that has no meaning any more, such as the call of a function that
-- takes integers only, or of one that fails, such as a query whose owner may not run it. All steps that fail
-- in this way are found before the call fails.
CREATE FUNCTION snowflake._run_step(
        command text, role name, run_path text, expected jsonb,
        sequence_owner oid,
        has_failed boolean) -- whether a step before it has
    RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET check_function_bodies = off -- the bodies may count on the caller's search_path
    SET constraint_exclusion = off -- the server would evaluate constants of checks when it plans a query
    AS $function$
BEGIN
    PERFORM snowflake._run_as(command, quote_ident(role)::regrole, run_path, expected);
    RETURN NULL;
EXCEPTION
    WHEN syntax_error_or_access_rule_violation OR data_exception OR integrity_constraint_violation
         OR object_not_in_prerequisite_state OR plpgsql_error THEN
        -- What the system says comes out as it is: an event trigger, and of the class 55, all of which is
        -- caught by the name of its first member, a lock that was not to be had or a table in use.
        IF snowflake._event_trigger_failed() OR SQLSTATE LIKE '55%' AND SQLSTATE <> '55000' THEN
            RAISE;
        ELSIF SQLSTATE IN ('42P01', '42703', '42704') THEN
            IF has_failed THEN
                RETURN NULL; -- The object is missing because a step before could not make it.
            END IF;
            RAISE;
        ELSIF SQLSTATE LIKE 'P0%'
              -- What a stranger's code raises must not look like an error of the caller's.
              AND snowflake._is_taken_along(sequence_owner, quote_ident(role)::regrole) IS NOT FALSE THEN
            RAISE;
        END IF;
        RETURN concat(split_part(command, E'\n', 1), ', run as ' || quote_ident(role), ': ', SQLERRM);
END
$function$;
COMMENT ON FUNCTION snowflake._run_step(text, name, text, jsonb, oid, boolean) IS
    'runs a command of a plan; returns why it failed where that is the fault of an expression';

CREATE FUNCTION snowflake._run_steps(
        plan snowflake._conversion_step[], sequence_name text, sequence_owner oid, run_path text, expected jsonb)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET check_function_bodies = off
    AS $function$
DECLARE
    large constant bigint := 1024 * 1024; -- bytes from which on a rewrite is announced
    step snowflake._conversion_step;
    started timestamptz;
    obstacles text[] := '{}';
BEGIN
    FOREACH step IN ARRAY plan LOOP
        IF step.command IS NULL THEN
            RAISE NOTICE '%', step.effect;
            CONTINUE;
        END IF;
        IF step.size >= large THEN
            RAISE NOTICE 'rewriting table % (%)', step.rewrites, pg_size_pretty(step.size);
            started := clock_timestamp();
        END IF;
        obstacles := array_remove(
            obstacles || snowflake._run_step(step.command, step.role, run_path, expected, sequence_owner, obstacles <> '{}'),
            NULL);
        IF step.size >= large THEN
            RAISE NOTICE 'rewrote table % in % s', step.rewrites,
                round(extract(epoch FROM clock_timestamp() - started), 1);
        END IF;
    END LOOP;
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', sequence_name
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._run_steps(snowflake._conversion_step[], text, oid, text, jsonb) IS
    'runs the commands of a plan; raises an error that names all of those that failed';

CREATE FUNCTION snowflake._conversion_run(seq regclass, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET check_function_bodies = off
    AS $function$
DECLARE
    sequence_name text; -- an identity's sequence is replaced by one of this name
    sequence_owner constant oid := (SELECT relowner FROM pg_class WHERE oid = seq);
    -- Users' functions may count on the caller's path; nothing in it goes before the server's own.
    run_path constant text := concat_ws(', ', 'pg_catalog', 'pg_temp', nullif(caller_search_path, ''));
    columns snowflake._conversion_column[];
    plan snowflake._conversion_step[];
    meant snowflake._meant_default[];
    expected jsonb;
    altered integer;
    always boolean;
BEGIN
    -- Obstacles are raised before anything is locked.
    PERFORM FROM snowflake.conversion_plan(seq);

    -- What was planned until now may have changed until the locks are there: what counts is planned under
    -- the locks.
    PERFORM snowflake._lock_all(seq);
    sequence_name := seq::text;
    columns := ARRAY(SELECT c FROM snowflake._conversion_columns(seq) c);

    PERFORM snowflake._require_room(seq, columns);
    SELECT count(*) FILTER (WHERE c.new_default IS NOT NULL AND NOT c.is_strangers OR c.widened),
           coalesce(bool_or(c.is_identity AND a.attidentity = 'a'), false)
        INTO altered, always
        FROM unnest(columns) c
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum;
    meant := snowflake._meant_defaults(seq, columns, true);
    expected := snowflake._references_by_name(ARRAY(SELECT c.relid::oid FROM unnest(columns) c))
                || jsonb_build_object('sequence', snowflake._source_of('pg_class'::regclass, seq),
                                      'harmless', snowflake._tables_without_code(columns));

    -- The plan is made as a whole, before its first command changes what it is made from.
    plan := ARRAY(SELECT (p.command, p.effect, p.rewrites, p.size, p.role)::snowflake._conversion_step
                      FROM snowflake.conversion_plan(seq) p ORDER BY p.step);
    PERFORM snowflake._run_steps(plan, sequence_name, sequence_owner, run_path, expected);
    PERFORM snowflake._require_references(expected);
    PERFORM snowflake._require_defaults(sequence_name::regclass, meant);

    IF plan = '{}' THEN
        RAISE NOTICE 'sequence % is a snowflake sequence already', seq;
    END IF;
    IF always THEN
        RAISE NOTICE 'GENERATED ALWAYS is no longer enforced: the column has a default now';
    END IF;
    RETURN altered;
END
$function$;
COMMENT ON FUNCTION snowflake._conversion_run(regclass, text) IS
    'runs the plan of a conversion, with a search_path for the functions that its commands call';

CREATE FUNCTION snowflake.convert_sequence_to_snowflake(seq regclass)
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._conversion_run(seq, pg_catalog.current_setting('search_path'))
$function$;
COMMENT ON FUNCTION snowflake.convert_sequence_to_snowflake(regclass) IS
    'makes a sequence and the columns that use it a source of snowflake IDs; returns the number of columns altered';
