-- The conversion, which runs them, and the way back.

-- The greatest number that a sequence or one of its columns holds. The server evaluates constants of a
-- table's checks and indexes while it plans the query, hence the role.
CREATE FUNCTION snowflake._greatest_number(seq regclass, columns snowflake.conversion_column[])
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    greatest_number bigint;
    col record;
BEGIN
    PERFORM snowflake.conversion_check(seq);
    EXECUTE format('SELECT last_value FROM %s', seq) INTO greatest_number;
    FOR col IN
        SELECT c.relid, c.attname
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            WHERE (c.is_identity OR c.old_default IS NOT NULL) AND NOT c.is_strangers
              AND t.relkind IN ('r', 'p') AND a.atttypid = 'bigint'::regtype
    LOOP
        greatest_number := greatest(
            greatest_number,
            snowflake._run_as(format('SELECT max(%I) FROM %s', col.attname, col.relid),
                              snowflake._table_role(col.relid), NULL, NULL));
    END LOOP;
    RETURN greatest_number;
END
$function$;
COMMENT ON FUNCTION snowflake._greatest_number(regclass, snowflake.conversion_column[]) IS
    'the greatest number that a sequence, or a column that it fills, holds';

-- The defaults that a conversion in either direction has to leave behind. Their trees are compared: a
-- default that was printed, parsed and stored must mean what was meant.
CREATE TYPE snowflake._meant_default AS (relid regclass, attnum smallint, form text);
COMMENT ON TYPE snowflake._meant_default IS
    'a column, and the form of the default that it has to have, see _default_form()';

CREATE FUNCTION snowflake._meant_defaults(
        seq regclass, columns snowflake.conversion_column[], to_snowflake boolean)
    RETURNS snowflake._meant_default[]
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT coalesce(array_agg((c.relid, c.attnum, snowflake._default_form_replaced(
               c.attrdef, seq, CASE WHEN NOT c.is_strangers THEN to_snowflake END,
               CASE WHEN c.widened OR a.atttypid IN ('smallint'::regtype, 'integer'::regtype)
                                      AND t.relkind = 'v' AND to_snowflake
                    THEN 'bigint'::regtype ELSE a.atttypid END,
               CASE WHEN c.widened THEN -1 ELSE a.atttypmod END))::snowflake._meant_default), '{}')
        FROM unnest(columns) c
        JOIN pg_class t ON t.oid = c.relid
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
        WHERE c.attrdef IS NOT NULL AND c.new_default IS NOT NULL
$function$;
COMMENT ON FUNCTION snowflake._meant_defaults(regclass, snowflake.conversion_column[], boolean) IS
    'the defaults that columns have to have after a conversion';

CREATE FUNCTION snowflake._require_defaults(seq regclass, meant snowflake._meant_default[])
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    differences text[];
BEGIN
    differences := ARRAY(
        SELECT format('default of column %I of table %s', a.attname, m.relid)
            FROM unnest(meant) m
            JOIN pg_attribute a ON a.attrelid = m.relid AND a.attnum = m.attnum
            LEFT JOIN pg_attrdef f ON f.adrelid = m.relid AND f.adnum = m.attnum
            WHERE snowflake._default_form(f.oid, seq) IS DISTINCT FROM m.form);
    IF differences <> '{}' THEN
        RAISE EXCEPTION 'the server did not store the default that was meant'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(differences, E'\n');
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._require_defaults(regclass, snowflake._meant_default[]) IS
    'raises an error unless columns have the defaults that were meant';

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
    -- Users' functions may count on the caller's path; nothing in it goes before the server's own.
    run_path constant text := concat_ws(', ', 'pg_catalog', 'pg_temp', nullif(caller_search_path, ''));
    step record;
    started timestamptz;
    steps integer := 0;
    last bigint;
    columns snowflake.conversion_column[];
    meant snowflake._meant_default[];
    expected jsonb;
    altered integer;
    always boolean;
    obstacles text[] := '{}';
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

    last := snowflake._greatest_number(seq, columns);
    IF last >= (extract(epoch FROM clock_timestamp()) * 1000 - epoch_ms + slack_ms)::bigint << 22 THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its greatest value, %s, is above the snowflake IDs of the present: '
                                  'new IDs could meet existing ones.', last),
                  HINT = format('If no such value is in use, set the sequence back: '
                                'SELECT setval(%L, %s);', seq::text,
                                (SELECT seqmin FROM pg_sequence WHERE seqrelid = seq));
    END IF;
    SELECT count(*) FILTER (WHERE c.new_default IS NOT NULL AND NOT c.is_strangers OR c.widened),
           coalesce(bool_or(c.is_identity AND a.attidentity = 'a'), false)
        INTO altered, always
        FROM unnest(columns) c
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum;
    meant := snowflake._meant_defaults(seq, columns, true);
    expected := snowflake._references_by_name(ARRAY(SELECT c.relid::oid FROM unnest(columns) c))
                || jsonb_build_object('sequence', snowflake._source_of('pg_class'::regclass, seq, 0),
                                      'harmless', snowflake._tables_without_code(columns));

    -- The plan as a whole, before its first command changes what it is made from.
    FOR step IN SELECT * FROM unnest(ARRAY(SELECT p FROM snowflake.conversion_plan(seq) p ORDER BY p.step))
            AS plan(step integer, command text, effect text, rewrites regclass, size bigint, role name)
    LOOP
        steps := steps + 1;
        IF step.command IS NULL THEN
            RAISE NOTICE '%', step.effect;
            CONTINUE;
        END IF;
        IF step.size >= large THEN
            RAISE NOTICE 'rewriting table % (%)', step.rewrites, pg_size_pretty(step.size);
            started := clock_timestamp();
        END IF;
        -- What the plan cannot know: an expression that has no meaning any more, such as the call of
        -- a function that takes integers only, or one that fails, such as a query whose owner may not
        -- run it. All of those are found before the call fails.
        BEGIN
            PERFORM snowflake._run_as(step.command, quote_ident(step.role)::regrole, run_path, expected);
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
    PERFORM snowflake._require_references(expected);
    PERFORM snowflake._require_defaults(sequence_name::regclass, meant);

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

CREATE FUNCTION snowflake._columns_back(seq regclass)
    RETURNS SETOF snowflake.conversion_column
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
    SELECT f.adrelid, f.adnum, a.attname, false, f.oid, pg_get_expr(f.adbin, f.adrelid), replaced.expression,
           false, a.attinhcount > 0, false
        FROM pg_class s
        JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass
                        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
        JOIN pg_attrdef f ON f.oid = d.objid
        JOIN pg_class t ON t.oid = f.adrelid
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        CROSS JOIN LATERAL (SELECT snowflake._default_replaced(f.oid, seq, false)) replaced(expression)
        WHERE s.oid = seq AND replaced.expression IS NOT NULL
          AND (t.relowner = s.relowner OR snowflake._is_taken_along(s.relowner, t.relowner))
$function$;
COMMENT ON FUNCTION snowflake._columns_back(regclass) IS
    'columns whose default calls snowflake.nextval on a sequence, and their default without';

CREATE FUNCTION snowflake.convert_snowflake_to_sequence(seq regclass)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    guard constant bigint := 9223372036854775807;
    columns snowflake.conversion_column[];
    meant snowflake._meant_default[];
    col record;
    obstacles text[];
BEGIN
    PERFORM snowflake.conversion_check(seq);
    IF snowflake._is_id_seq(seq) THEN
        RAISE EXCEPTION 'sequence % belongs to the extension', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Give each column that uses it a sequence of its own: '
                         'CREATE SEQUENCE name; ALTER TABLE name ALTER COLUMN name SET DEFAULT nextval(''name'');';
    END IF;
    columns := ARRAY(SELECT c FROM snowflake._columns_back(seq) c);
    PERFORM snowflake.conversion_lock(ARRAY(SELECT c.relid FROM unnest(columns) c));
    columns := ARRAY(SELECT c FROM snowflake._columns_back(seq) c);

    -- Whatever else calls our functions on the sequence would keep the extension from being dropped.
    obstacles := ARRAY(
        SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses the sequence'
            FROM pg_class s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
            WHERE s.oid = seq
              AND d.classid <> 'pg_attrdef'::regclass
              AND EXISTS (SELECT FROM snowflake._sequence_uses(d.classid, d.objid) used
                              WHERE used.sequence = seq AND used.callee LIKE 'snowflake.%')
              AND snowflake._is_taken_along(s.relowner, snowflake._owner_of(d.classid, d.objid)));
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence % back', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;

    meant := snowflake._meant_defaults(seq, columns, false);
    FOR col IN
        SELECT c.relid, c.attname, c.new_default, t.relkind,
               snowflake._default_role(c.relid, ARRAY[c.attrdef]) AS role
            FROM unnest(columns) c JOIN pg_class t ON t.oid = c.relid
            ORDER BY c.relid::oid, c.attnum
    LOOP
        PERFORM snowflake._run_as(
            format('ALTER %s %s ALTER COLUMN %I SET DEFAULT %s',
                   CASE col.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE ONLY' END,
                   col.relid, col.attname, col.new_default),
            col.role, NULL, NULL);
    END LOOP;
    PERFORM snowflake._require_defaults(seq, meant);
    IF (SELECT seqincrement FROM pg_sequence WHERE seqrelid = seq) = guard THEN
        EXECUTE format('ALTER SEQUENCE %s INCREMENT BY 1', seq);
    ELSIF columns = '{}' THEN
        RAISE NOTICE 'sequence % is not a snowflake sequence', seq;
    END IF;
    RETURN cardinality(columns);
END
$function$;
COMMENT ON FUNCTION snowflake.convert_snowflake_to_sequence(regclass) IS
    'make a snowflake sequence and the columns that use it call the server''s own nextval again; returns the number of columns altered';
