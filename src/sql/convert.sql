-- The conversion, which runs them, and the way back.

CREATE FUNCTION snowflake.conversion_run(seq regclass, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET check_function_bodies = off -- they may count on the caller's search_path
    AS $function$
DECLARE
    epoch_ms constant bigint := 1672531200000;
    slack_ms constant bigint := 60000; -- a snowflake sequence may itself be ahead of the clock
    large constant bigint := 1024 * 1024; -- bytes from which on a rewrite is announced
    sequence_name constant text := seq::text; -- which an identity's sequence does not keep to the end
    step record;
    started timestamptz;
    steps integer := 0;
    col record;
    last bigint;
    columns snowflake.conversion_column[];
    altered integer;
    always boolean;
    obstacles text[] := '{}';
    own_search_path constant text := current_setting('search_path');
    command_search_path constant text :=
        concat_ws(', ', 'pg_catalog', 'pg_temp', nullif(caller_search_path, ''));
BEGIN
    -- Raises what there is to say against it, before anything is locked.
    PERFORM FROM snowflake.conversion_plan(seq);

    -- An INSERT locks its table before the sequence, so that is the order here too. What was planned
    -- until now may have changed until the locks are there; what counts is planned under them.
    -- Where columns are widened, the server makes the foreign keys between the tables again.
    columns := ARRAY(SELECT c FROM snowflake.conversion_columns(seq) c);
    PERFORM snowflake.conversion_lock(ARRAY(
        SELECT c.relid FROM unnest(columns) c
            WHERE c.new_default IS NOT NULL OR EXISTS (SELECT FROM unnest(columns) WHERE widened)));
    columns := ARRAY(SELECT c FROM snowflake.conversion_columns(seq) c);

    EXECUTE format('SELECT last_value FROM %s', seq) INTO last;
    FOR col IN
        SELECT c.relid, c.attname
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            WHERE (c.is_identity OR c.old_default IS NOT NULL)
              AND t.relkind IN ('r', 'p') AND a.atttypid = 'bigint'::regtype
    LOOP
        EXECUTE format('SELECT greatest(%s, max(%I)) FROM %s', last, col.attname, col.relid) INTO last;
    END LOOP;
    IF last >= (extract(epoch FROM clock_timestamp()) * 1000 - epoch_ms + slack_ms)::bigint << 22 THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its greatest value, %s, is above the snowflake IDs of the present: '
                                  'new IDs could meet existing ones.', last),
                  HINT = format('If no such value is in use, set the sequence back: '
                                'SELECT setval(%L, %s);', seq::text,
                                (SELECT seqmin FROM pg_sequence WHERE seqrelid = seq));
    END IF;
    SELECT count(*) FILTER (WHERE c.new_default IS NOT NULL OR c.widened),
           coalesce(bool_or(c.is_identity AND a.attidentity = 'a'), false)
        INTO altered, always
        FROM unnest(columns) c
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum;

    -- The plan as a whole, before its first command changes what it is made from.
    FOR step IN SELECT * FROM unnest(ARRAY(SELECT p FROM snowflake.conversion_plan(seq) p ORDER BY p.step))
            AS plan(step integer, command text, effect text, rewrites regclass, size bigint)
    LOOP
        steps := steps + 1;
        IF step.size >= large THEN
            RAISE NOTICE 'rewriting table % (%)', step.rewrites, pg_size_pretty(step.size);
            started := clock_timestamp();
        END IF;
        -- What the plan cannot know: an expression that has no meaning any more, such as the call of
        -- a function that takes integers only, or one that fails, such as a query whose owner may not
        -- run it. All of those are found before the call fails.
        BEGIN
            -- What runs functions of users (of constraints and indexes, or a query) does so in the
            -- caller's path, which they may count on; it names nothing that could be taken for
            -- another object there. Where expressions are parsed, the path is our own.
            IF step.command LIKE 'REFRESH %'
               OR step.rewrites IS NOT NULL AND strpos(step.command, ' GENERATED ALWAYS AS ') = 0 THEN
                PERFORM pg_catalog.set_config('search_path', command_search_path, true);
            END IF;
            EXECUTE step.command;
            PERFORM pg_catalog.set_config('search_path', own_search_path, true);
        EXCEPTION
            WHEN undefined_table OR undefined_column OR undefined_object THEN
                -- It is missing because a command before could not make it.
                IF obstacles = '{}' THEN
                    RAISE;
                END IF;
            WHEN syntax_error_or_access_rule_violation OR data_exception
                 OR integrity_constraint_violation OR object_not_in_prerequisite_state THEN
                obstacles := obstacles || format('%s: %s', split_part(step.command, E'\n', 1), SQLERRM);
        END;
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

    IF steps = 0 THEN
        RAISE NOTICE 'sequence % is a snowflake sequence already', seq;
    END IF;

    IF always THEN
        RAISE NOTICE 'GENERATED ALWAYS is no longer enforced: the column has a default now';
    END IF;
    RETURN altered;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_run(regclass, text) IS
    'runs the plan of a conversion, with a search_path for the functions that its commands call';

CREATE FUNCTION snowflake.convert_sequence_to_snowflake(seq regclass)
    RETURNS integer
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake.conversion_run(seq, pg_catalog.current_setting('search_path'))
$function$;
COMMENT ON FUNCTION snowflake.convert_sequence_to_snowflake(regclass) IS
    'make a sequence and the columns that use it a source of snowflake IDs; returns the number of columns altered';

CREATE FUNCTION snowflake.convert_snowflake_to_sequence(seq regclass)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    guard constant bigint := 9223372036854775807;
    argument constant text := snowflake.conversion_argument(seq);
    our_call constant text := snowflake.conversion_call_pattern(seq);
    o record;
    obstacles text[];
    columns integer := 0;
BEGIN
    PERFORM snowflake.conversion_check(seq);
    IF seq = 'snowflake.id_seq'::regclass THEN
        RAISE EXCEPTION 'sequence % belongs to the extension', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Give each column that uses it a sequence of its own: '
                         'CREATE SEQUENCE name; ALTER TABLE name ALTER COLUMN name SET DEFAULT nextval(''name'');';
    END IF;
    PERFORM snowflake.conversion_lock(ARRAY(
        SELECT f.adrelid::regclass
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq));

    -- Whatever else calls our functions on the sequence would keep the extension from being dropped.
    obstacles := ARRAY(
        SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses the sequence'
            FROM pg_depend d
            JOIN pg_depend e ON e.classid = d.classid AND e.objid = d.objid
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND d.classid <> 'pg_attrdef'::regclass
              AND e.refclassid = 'pg_proc'::regclass
              AND e.refobjid IN (SELECT oid FROM pg_proc
                                     WHERE pronamespace = 'snowflake'::regnamespace
                                       AND proname IN ('nextval', 'nextvals', 'currval')));
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence % back', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;

    FOR o IN
        SELECT f.adrelid::regclass AS tab, a.attname, t.relkind,
               regexp_replace(pg_get_expr(f.adbin, f.adrelid),
                              '(?<![[:alnum:]_$."])' || our_call,
                              'nextval(' || replace(argument, '\', '\\') || ')', 'g') AS new_default
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_class t ON t.oid = f.adrelid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND pg_get_expr(f.adbin, f.adrelid) ~ our_call
            ORDER BY f.adrelid, f.adnum
    LOOP
        columns := columns + 1;
        EXECUTE format('ALTER %s %s ALTER COLUMN %I SET DEFAULT %s',
                       CASE o.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE ONLY' END,
                       o.tab, o.attname, o.new_default);
    END LOOP;
    IF (SELECT seqincrement FROM pg_sequence WHERE seqrelid = seq) = guard THEN
        EXECUTE format('ALTER SEQUENCE %s INCREMENT BY 1', seq);
    ELSIF columns = 0 THEN
        RAISE NOTICE 'sequence % is not a snowflake sequence', seq;
    END IF;
    RETURN columns;
END
$function$;
COMMENT ON FUNCTION snowflake.convert_snowflake_to_sequence(regclass) IS
    'make a snowflake sequence and the columns that use it call the server''s own nextval again; returns the number of columns altered';
