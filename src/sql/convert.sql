-- Turning an existing sequence into a snowflake sequence, together with the columns that use it.

CREATE FUNCTION snowflake.convert_sequence_to_snowflake(seq regclass)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    -- Names come out schema-qualified, and no object of the caller's can stand in for another.
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    AS $convert$
DECLARE
    guard constant bigint := 9223372036854775807;
    epoch_ms constant bigint := 1672531200000;

    -- How the server prints a default that calls nextval on the sequence, before and after.
    argument constant text := '''' || replace(seq::text, '''', '''''') || '''::regclass';
    new_call constant text := 'snowflake.nextval(' || argument || ')';
    old_call constant text := '(?<![[:alnum:]_$."])nextval\('
        || regexp_replace(argument, '([^[:alnum:]_])', '\\\1', 'g') || '\)';

    subject record;
    tab regclass;
    col record;
    actions text;
    commands text[] := '{}';
    obstacles text[];
    columns integer := 0;
    last bigint;
BEGIN
    SELECT c.relname, c.relkind, c.relowner, s.seqincrement INTO subject
        FROM pg_class c LEFT JOIN pg_sequence s ON s.seqrelid = c.oid
        WHERE c.oid = seq;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'sequence with OID % does not exist', seq::oid
            USING ERRCODE = 'undefined_table';
    ELSIF subject.relkind <> 'S' THEN
        RAISE EXCEPTION '"%" is not a sequence', subject.relname
            USING ERRCODE = 'wrong_object_type';
    ELSIF NOT pg_has_role(subject.relowner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of sequence %', subject.relname
            USING ERRCODE = 'insufficient_privilege';
    END IF;

    -- An INSERT locks its table before the sequence, so that is the order here too; and nothing is
    -- looked at before it is locked.
    FOR tab IN
        SELECT DISTINCT f.adrelid
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_class t ON t.oid = f.adrelid
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND t.relkind IN ('r', 'p')
            ORDER BY 1
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', tab);
    END LOOP;

    -- What else than a column default uses the sequence would go on calling the server's nextval.
    SELECT array_agg(pg_describe_object(d.classid, d.objid, d.objsubid)
                     ORDER BY d.classid, d.objid, d.objsubid)
        INTO obstacles
        FROM pg_depend d
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
          AND d.classid <> 'pg_attrdef'::regclass;
    SELECT obstacles || array_agg('identity of '
                                  || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid))
        INTO obstacles
        FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = seq AND d.deptype = 'i';

    FOR tab IN
        SELECT DISTINCT f.adrelid
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
            ORDER BY 1
    LOOP
        actions := NULL;
        FOR col IN
            SELECT a.attnum, a.attname, pg_get_expr(f.adbin, f.adrelid) AS old_default,
                   regexp_replace(pg_get_expr(f.adbin, f.adrelid), old_call,
                                  replace(new_call, '\', '\\'), 'g') AS new_default,
                   a.atttypid IN ('smallint'::regtype, 'integer'::regtype) AS narrow
                FROM pg_depend d
                JOIN pg_attrdef f ON f.oid = d.objid
                JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                WHERE d.classid = 'pg_attrdef'::regclass
                  AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
                  AND f.adrelid = tab
                ORDER BY a.attnum
        LOOP
            -- Whatever names the sequence must be a call that is known here.
            IF strpos(col.new_default, new_call) = 0
               OR strpos(replace(col.new_default, new_call, ''), argument) > 0 THEN
                obstacles := obstacles || format('default of column %I of %s: %s',
                                                 col.attname, tab, col.old_default);
            END IF;
            CONTINUE WHEN col.new_default = col.old_default;
            columns := columns + 1;
            actions := concat_ws(', ', actions,
                CASE WHEN col.narrow THEN format('ALTER COLUMN %I TYPE bigint', col.attname) END,
                format('ALTER COLUMN %I SET DEFAULT %s', col.attname, col.new_default));
            CONTINUE WHEN NOT col.narrow;

            -- To widen a column, whatever depends on its type would have to be taken along.
            SELECT obstacles || array_agg(pg_describe_object(d.classid, d.objid, d.objsubid)
                                          ORDER BY d.classid, d.objid, d.objsubid)
                INTO obstacles
                FROM pg_depend d
                LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
                LEFT JOIN pg_class r ON d.classid = 'pg_class'::regclass AND r.oid = d.objid
                WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = tab
                  AND d.refobjsubid = col.attnum
                  -- These the server alters with the column, or they do not know its type.
                  AND NOT coalesce(k.contype IN ('p', 'u', 'c', 'n'), false)
                  AND NOT coalesce(r.relkind IN ('i', 'I', 'S'), false)
                  AND NOT (d.classid = 'pg_attrdef'::regclass
                           AND d.objid = (SELECT oid FROM pg_attrdef
                                              WHERE adrelid = tab AND adnum = col.attnum));
            IF EXISTS (SELECT FROM pg_inherits WHERE tab IN (inhrelid, inhparent)) THEN
                obstacles := obstacles || format('inheritance or partitioning of table %s', tab);
            END IF;
        END LOOP;
        IF actions IS NOT NULL THEN
            commands := commands || format('ALTER TABLE ONLY %s %s', tab, actions);
        END IF;
    END LOOP;

    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = E'In the way:\n' || array_to_string(obstacles, E'\n');
    END IF;
    IF subject.seqincrement = guard AND commands = '{}' THEN
        RAISE NOTICE 'sequence % is a snowflake sequence already', seq;
        RETURN 0;
    END IF;

    FOREACH actions IN ARRAY commands LOOP
        EXECUTE actions;
    END LOOP;
    EXECUTE format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', seq, guard);

    -- The guard works above a value that counts as taken: beyond it the next step leaves bigint.
    EXECUTE format('SELECT greatest(last_value, 1) FROM %s', seq) INTO last;
    IF last >= (extract(epoch FROM clock_timestamp()) * 1000 - epoch_ms)::bigint << 22 THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its last value, %s, is above the snowflake IDs of the present: '
                                  'new IDs could meet existing ones.', last),
                  HINT = format('If no such value is in use, set the sequence back: '
                                'SELECT setval(%L, 1);', seq::text);
    END IF;
    PERFORM setval(seq, last, true);
    RETURN columns;
END
$convert$;
COMMENT ON FUNCTION snowflake.convert_sequence_to_snowflake(regclass) IS
    'make a sequence and the columns that use it a source of snowflake IDs; returns the number of columns altered';
