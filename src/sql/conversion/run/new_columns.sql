-- New columns: where the setting snowflake.convert_new_columns is on, an event trigger converts the serial and
-- identity columns that a command has made, and widens the empty columns that a new foreign key binds to IDs.
--
-- The columns that a command has made are known by the transaction that wrote their rows in the catalogs. A table that was there
-- before the setting was on stays as it is, whatever is altered in it.
--
-- The IDs are of the layout that the setting snowflake.layout_of_new_columns names.
--
-- A database is restored as it was dumped, whatever its settings are: the commands of a dump empty search_path and turn
-- check_function_bodies off, and with them the setting.
--
-- A session that migrates makes thousands of tables, and plans the queries on each of them when there are few: these use the
-- indexes of the catalogs from the beginning.
--
-- All of it runs with the rights of whoever gave the command, and no error of a conversion ends that command:
-- what cannot be converted is a WARNING. Lock timeouts and cancellations come out as they are.

-- Tells whether the transaction that wrote a row, which its xmin tells, is the current one.
CREATE FUNCTION snowflake._is_made_here(row_xmin xid)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_is_made_here'
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

-- Returns the tables that the command of an event trigger has made or altered, or whose sequence it has. Temporary
-- tables keep their numbers: no other session ever sees them.
CREATE FUNCTION snowflake._tables_of_command()
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 10
    SET enable_seqscan = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT t.oid::regclass
            FROM pg_event_trigger_ddl_commands() command
            LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = command.objid AND d.deptype IN ('a', 'i')
                                 AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
                                 AND command.object_type = 'sequence'
            JOIN pg_class t ON t.oid = coalesce(d.refobjid, command.objid)
            WHERE command.classid = 'pg_class'::regclass AND NOT command.in_extension
              AND t.relkind IN ('r', 'p', 'f') AND t.relpersistence <> 't'
            ORDER BY 1;
END
$function$;

-- Tells whether no row was ever written to a table, and all that inherit from it, since they were made or truncated.
CREATE FUNCTION snowflake._is_empty(tab regclass)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN NOT EXISTS (SELECT FROM snowflake._table_tree(tab) member WHERE pg_relation_size(member) > 0);
END
$function$;

-- Finds the sequences of serial and identity columns of tables that the current transaction has made. Of several
-- sequences that a column owns, the one that its default calls counts.
CREATE FUNCTION snowflake._new_sequences(tables regclass[])
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED ROWS 10
    SET enable_seqscan = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT d.objid::regclass
            FROM unnest(tables) tab
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = tab AND d.refobjsubid > 0
                            AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
            JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
            JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
            WHERE pg_has_role(s.relowner, 'USAGE')
              AND CASE WHEN a.attidentity <> '' THEN snowflake._is_made_here(d.xmin)
                       WHEN snowflake._is_made_here(d.xmin) OR snowflake._is_made_here(f.xmin)
                       THEN EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', f.oid) used
                                        WHERE used.callee = 'pg_catalog.nextval'
                                          AND (used.sequence = s.oid OR used.name[cardinality(used.name)] = s.relname))
                  END
            ORDER BY 1;
END
$function$;

-- Warns of what the setting snowflake.convert_new_columns does not convert.
CREATE FUNCTION snowflake._warn_of_unconverted(what text, why text, command text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RAISE WARNING '%', what
        USING DETAIL = why, HINT = command;
END
$function$;

-- Finds the column of a sequence that is as CREATE TABLE has made both for a bigserial, in a table of the caller without rows that
-- this transaction has made too. Nothing else draws from the sequence, no check looks at an ID, and no small column copies one: to
-- make IDs of its numbers takes a default and a guard, which evaluate nothing.
CREATE FUNCTION snowflake._plain_serial(seq regclass)
    RETURNS snowflake._conversion_column
    LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
    SET enable_seqscan = off
    AS $function$
BEGIN
    RETURN (
        SELECT snowflake._conversion_column(
                   t.oid, a.attnum, a.attname,
                   new_default => CASE WHEN NOT snowflake.redirects_nextval() THEN snowflake._call_on(seq::text) END)
            FROM pg_depend d
            JOIN pg_class t ON t.oid = d.refobjid AND t.relkind = 'r' AND t.relowner = quote_ident(current_user)::regrole
                           AND NOT t.relispartition AND NOT t.relhassubclass AND NOT t.relhasrules
            JOIN pg_class s ON s.oid = d.objid AND s.relowner = t.relowner
            JOIN pg_sequence q ON q.seqrelid = d.objid AND q.seqtypid = 'bigint'::regtype AND q.seqstart = 1 AND q.seqincrement = 1
                              AND q.seqmin = 1 AND q.seqmax = 9223372036854775807 AND NOT q.seqcycle
            JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
                               AND a.atttypid = 'bigint'::regtype AND a.attidentity = ''
            JOIN pg_attrdef f ON f.adrelid = t.oid AND f.adnum = a.attnum
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq AND d.objsubid = 0
              AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'a'
              AND snowflake._is_made_here(t.xmin) AND pg_relation_size(t.oid) = 0 AND snowflake._is_call(f.oid, seq)
              AND EXISTS (SELECT FROM pg_depend own
                              WHERE own.classid = 'pg_attrdef'::regclass AND own.objid = f.oid
                                AND own.refclassid = 'pg_class'::regclass AND own.refobjid = seq)
              AND NOT EXISTS (SELECT FROM pg_depend other
                                  WHERE other.refclassid = 'pg_class'::regclass AND other.refobjid = seq
                                    AND NOT (other.classid = 'pg_attrdef'::regclass AND other.objid = f.oid))
              AND NOT EXISTS (SELECT FROM snowflake._computed_from(t.oid, a.attnum))
              AND NOT EXISTS (SELECT FROM pg_constraint k
                                  WHERE k.conrelid = t.oid
                                    AND (k.contype NOT IN ('p', 'u', 'n', 'f') OR k.contype = 'f' AND a.attnum = ANY (k.conkey)))
              AND NOT EXISTS (SELECT FROM pg_depend other JOIN pg_constraint k ON k.oid = other.objid AND k.contype = 'f'
                                  WHERE other.classid = 'pg_constraint'::regclass AND other.refclassid = 'pg_class'::regclass
                                    AND other.refobjid = t.oid AND k.confrelid = t.oid
                                    AND (k.conrelid <> t.oid
                                         OR EXISTS (SELECT FROM pg_attribute copy
                                                        WHERE copy.attrelid = t.oid AND copy.attnum = ANY (k.conkey)
                                                          AND snowflake._is_small(copy.atttypid)))));
END
$function$;

-- Converts the sequence of a plain serial column. An event trigger may fill the column after each command: a default makes IDs
-- only of a sequence that has its layout.
CREATE FUNCTION snowflake._convert_plain_serial(
        seq regclass, col snowflake._conversion_column, layout snowflake.layout, -- NULL: the default one
        caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    minimum constant text := ' MINVALUE ' || snowflake._minimum_for(seq, layout);
    command text;
BEGIN
    FOREACH command IN ARRAY ARRAY[
        format('ALTER SEQUENCE %s MAXVALUE %s', seq, snowflake._unguarded_maximum()) || minimum,
        format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT ', col.relid, col.attname) || col.new_default,
        format('ALTER SEQUENCE %s INCREMENT BY %s NO MAXVALUE', seq, snowflake._guard())]
    LOOP
        IF command IS NOT NULL THEN
            PERFORM snowflake._run_as(command, quote_ident(current_user)::regrole, snowflake._run_path(caller_search_path), NULL);
        END IF;
    END LOOP;
    PERFORM snowflake._take_last_value(seq, seq);
END
$function$;

-- Returns why a sequence of a new default is left as it is, for the rows that its tables have or may get; NULL: it is converted.
-- ALTER TABLE .. TYPE makes a default again.
CREATE FUNCTION snowflake._obstacle_of_rows(seq regclass, columns snowflake._conversion_column[])
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
    AS $function$
BEGIN
    RETURN coalesce(
        (SELECT format('Table %s, which has rows, would be rewritten.', c.relid)
             FROM unnest(columns) c WHERE c.widened AND NOT snowflake._is_empty(c.relid) ORDER BY c.relid::oid LIMIT 1),
        (SELECT format('Table %s, which has rows, had the column before.', d.refobjid::regclass)
             FROM pg_depend d
             WHERE d.classid = 'pg_class'::regclass AND d.objid = seq AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'a'
               AND NOT snowflake._is_made_here(d.xmin) AND NOT snowflake._is_empty(d.refobjid)));
END
$function$;

-- Converts a sequence that is new, unless rows would be rewritten; warns of what stands in the way.
CREATE FUNCTION snowflake._convert_new_sequence(seq regclass, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    what constant text := format('sequence %s is not converted to snowflake IDs', seq);
    command constant text := snowflake._convert_command(seq) || ';';
    -- Columns are made before an instance has its number.
    wishes snowflake._conversion_wishes := snowflake._wishes(waive => 'node');
    plain snowflake._conversion_column;
    columns snowflake._conversion_column[];
    detail text;
BEGIN
    wishes.layout := nullif(current_setting('snowflake.layout_of_new_columns', true), '');
    plain := snowflake._plain_serial(seq);
    IF plain.relid IS NOT NULL AND coalesce(snowflake._is_usable_now(wishes.layout), true) THEN
        PERFORM snowflake._convert_plain_serial(seq, plain, wishes.layout, caller_search_path);
        RETURN;
    END IF;
    columns := (snowflake._conversion_part(seq, wishes)).columns;
    SELECT obstacle INTO detail
        FROM unnest(columns) c
        CROSS JOIN LATERAL (SELECT snowflake._obstacle_of_new_column(c.relid, c.attname) OFFSET 0) x(obstacle)
        -- Checks and defaults of a column that is a bigint already are tried.
        WHERE (c.widened OR c.draws OR c.new_default IS NOT NULL) AND obstacle IS NOT NULL
        ORDER BY c.relid::oid
        LIMIT 1;
    IF FOUND THEN
        PERFORM snowflake._warn_of_unconverted(what, detail, 'If you trust that code: ' || command);
        RETURN;
    END IF;
    detail := snowflake._obstacle_of_rows(seq, columns);
    IF detail IS NOT NULL THEN
        PERFORM snowflake._warn_of_unconverted(what, detail, command);
        RETURN;
    END IF;
    PERFORM snowflake._convert_to_snowflake(seq, wishes, online => false, caller_search_path => caller_search_path);
EXCEPTION WHEN feature_not_supported OR object_not_in_prerequisite_state OR insufficient_privilege
               OR invalid_text_representation THEN -- The last is a setting that is no layout.
    -- object_not_in_prerequisite_state stands for all of class 55: for a table in use by this session (55006), too, and a
    -- lock not to be had (55P03).
    IF SQLSTATE = '55P03' THEN
        RAISE;
    END IF;
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    PERFORM snowflake._warn_of_unconverted(what, coalesce(nullif(detail, ''), SQLERRM), command);
END
$function$;

-- Finds the small integers that foreign keys of this transaction bind to columns that hold IDs, and those that refer to
-- these in turn. What is referred to comes first.
CREATE FUNCTION snowflake._small_references(
        tables regclass[],
        OUT tab regclass, OUT attname name, OUT type text, OUT referenced regclass, OUT seq regclass)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED ROWS 10
    SET enable_seqscan = off
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE small(relid, attnum, referenced, seq, depth) AS (
            SELECT k.conrelid, k.conkey[i], k.confrelid, source.seq, 0
                FROM unnest(tables) t
                JOIN pg_constraint k ON k.conrelid = t AND k.contype = 'f' AND k.conparentid = 0
                CROSS JOIN generate_subscripts(k.conkey, 1) i
                JOIN pg_attribute own ON own.attrelid = k.conrelid AND own.attnum = k.conkey[i]
                CROSS JOIN LATERAL (SELECT CASE WHEN snowflake._is_small(snowflake._base_type(own.atttypid)) AND snowflake._is_made_here(k.xmin)
                                                THEN snowflake._source_of_ids(k.confrelid, k.confkey[i]) END
                                        OFFSET 0) source(seq)
                WHERE source.seq IS NOT NULL
            UNION
            SELECT k.conrelid, k.conkey[i], k.confrelid, small.seq, small.depth + 1
                FROM small
                JOIN pg_attribute here ON here.attrelid = small.relid AND here.attnum = small.attnum
                                      AND snowflake._is_small(snowflake._base_type(here.atttypid))
                JOIN pg_constraint k ON k.confrelid = small.relid AND k.contype = 'f' AND k.conparentid = 0
                JOIN generate_subscripts(k.confkey, 1) i ON k.confkey[i] = small.attnum
                WHERE small.depth < 100 -- tables can refer to each other in a circle
                  AND snowflake._is_taken_along(snowflake._owner(small.relid), snowflake._owner(k.conrelid))
        )
        SELECT found.relid::regclass, a.attname, format_type(a.atttypid, -1), found.referenced::regclass, found.seq
            FROM (SELECT DISTINCT ON (x.relid, x.attnum) x.* FROM small x ORDER BY x.relid, x.attnum, x.depth) found
            JOIN pg_attribute a ON a.attrelid = found.relid AND a.attnum = found.attnum
                               AND snowflake._is_small(snowflake._base_type(a.atttypid)) AND a.attinhcount = 0
            ORDER BY found.depth, 1, 2;
END
$function$;

-- Returns why a column of a new table cannot be widened without running code of others; NULL: it can. LIKE copies
-- expressions from tables of other owners, and a partition or child has those of its parent: the owner of a new
-- table is not their author. Whoever wrote the functions, operators and types in them, and in those of the tables that
-- inherit the column, counts as one here.
CREATE FUNCTION snowflake._obstacle_of_new_column(tab regclass, col name)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
    AS $function$
DECLARE
    altered constant snowflake._conversion_column := snowflake._column_to_widen(tab, col);
BEGIN
    RETURN (
        SELECT o FROM (
            SELECT snowflake._obstacles_of_authors(ARRAY[altered], '{}')
            UNION ALL
            SELECT format('%s, which %s uses, is owned by %I, whose code would run as %I',
                          pg_describe_object(used.refclassid, used.refobjid, 0), pg_describe_object(own.classid, own.objid, 0),
                          pg_get_userbyid(author.oid), pg_get_userbyid(owner))
                FROM snowflake._table_tree(tab) member
                CROSS JOIN LATERAL snowflake._owner(member) owner
                JOIN pg_depend own ON own.refclassid = 'pg_class'::regclass AND own.refobjid = member
                JOIN pg_depend used ON used.classid = own.classid AND used.objid = own.objid
                                   AND used.refclassid IN ('pg_proc'::regclass, 'pg_opclass'::regclass)
                CROSS JOIN LATERAL snowflake._owner_of(used.refclassid, used.refobjid) author(oid)
                WHERE own.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass,
                                      'pg_statistic_ext'::regclass)
                  AND author.oid <> owner AND NOT snowflake._may_act_for(author.oid, owner)
        ) x(o)
        ORDER BY o COLLATE "C"
        LIMIT 1);
END
$function$;

-- Makes a column bigint that a new foreign key binds to IDs, unless rows would be rewritten; warns of what stands in
-- the way. The locks that the command has taken suffice, but for a stronger one on the same table.
CREATE FUNCTION snowflake._widen_new_reference(
        tab regclass, attname name, type text, referenced regclass, seq regclass, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    what constant text := format('column %I of table %s is %s, and references snowflake IDs of table %s', attname, tab, type, referenced);
    failures_before constant bigint := snowflake._event_trigger_failures();
    own_type constant oid := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = _widen_new_reference.attname);
    obstacle text;
    detail text;
BEGIN
    IF own_type IS NULL THEN
        RETURN; -- Somebody else's event trigger has taken it away.
    END IF;
    PERFORM snowflake._hold_names(ARRAY[tab::oid]);
    obstacle := snowflake._obstacle_of_new_column(tab, attname);
    IF obstacle IS NOT NULL THEN
        PERFORM snowflake._warn_of_unconverted(what, obstacle, format('If you trust that code: ALTER TABLE %s ALTER COLUMN %I TYPE bigint;', tab, attname));
        RETURN;
    END IF;
    detail := CASE WHEN NOT snowflake._is_small(own_type) THEN format('The column would lose its domain %s.', type)
                   WHEN NOT snowflake._is_empty(tab) THEN format('Table %s, which has rows, would be rewritten.', tab) END;
    IF detail IS NOT NULL THEN
        PERFORM snowflake._warn_of_unconverted(what, detail, snowflake._widen_command(tab, attname, seq) || ';');
        RETURN;
    END IF;
    PERFORM snowflake._widen_as_owner(tab, attname, caller_search_path);
EXCEPTION WHEN feature_not_supported OR syntax_error_or_access_rule_violation OR object_not_in_prerequisite_state THEN
    -- Expressions on the column may call what takes integers only.
    IF snowflake._is_of_the_system(SQLSTATE, failures_before) THEN
        RAISE;
    END IF;
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    -- The server ends details with a full stop since version 19.
    PERFORM snowflake._warn_of_unconverted(what, concat_ws(': ', SQLERRM, nullif(rtrim(detail, '.'), '')),
                                           snowflake._widen_command(tab, attname, seq) || ';');
END
$function$;

-- Gives a table that LIKE .. INCLUDING IDENTITY has made from a converted one an identity for each column that lacks the default.
-- The source does not tell an identity that was converted from a serial: either gets a sequence.
CREATE FUNCTION snowflake._copy_identities(made oid, source oid)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    col name;
BEGIN
    FOR col IN
        SELECT a.attname
            FROM pg_depend d
            JOIN pg_attribute o ON o.attrelid = source AND o.attnum = d.refobjsubid
            JOIN pg_attribute a ON a.attrelid = made AND a.attname = o.attname AND NOT a.attisdropped
                               AND a.atttypid = 'bigint'::regtype AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = source AND d.refobjsubid > 0
              AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
              AND d.objid = snowflake._source_of_ids(source, o.attnum)
            ORDER BY a.attnum
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED BY DEFAULT AS IDENTITY', made::regclass, col);
    END LOOP;
END
$function$;

-- Converts the columns that the command of an event trigger has made. The commands of a conversion fire the event
-- trigger, too: the setting is off for them.
CREATE FUNCTION snowflake._convert_columns_of_command(caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET client_min_messages = warning
    SET enable_hashjoin = off -- as in _conversion_state()
    SET enable_mergejoin = off
    SET snowflake.convert_new_columns = off
    AS $function$
DECLARE
    tables constant regclass[] := ARRAY(SELECT snowflake._tables_of_command());
BEGIN
    PERFORM snowflake._convert_new_sequence(seq, caller_search_path) FROM snowflake._new_sequences(tables) seq;
    IF EXISTS (SELECT FROM unnest(tables) t
                   JOIN pg_constraint k ON k.conrelid = t AND k.contype = 'f'
                   JOIN pg_attribute a ON a.attrelid = t AND a.attnum = ANY (k.conkey)
                                      AND snowflake._is_small(snowflake._base_type(a.atttypid))) THEN
        PERFORM snowflake._widen_new_reference(r.tab, r.attname, r.type, r.referenced, r.seq, caller_search_path)
            FROM snowflake._small_references(tables) r;
    END IF;
END
$function$;

-- Converts new columns if the setting snowflake.convert_new_columns is on, unless a dump is restored. With the setting off it has
-- looked at settings, and done nothing else. It is not in C: without the library of the extension every command that makes a
-- table would fail. It has no search_path of its own, so that it can pass on that of the caller, and looks up no
-- name without its schema.
CREATE FUNCTION snowflake._convert_new_columns()
    RETURNS event_trigger
    LANGUAGE plpgsql
    AS $function$
DECLARE
    setting constant pg_catalog.text := pg_catalog.current_setting('snowflake.convert_new_columns', true);
BEGIN
    IF setting IS NULL OR pg_catalog.texteq(setting, '') OR pg_catalog.texteq(setting, 'off')
       OR pg_catalog.texteq(pg_catalog.concat(pg_catalog.current_setting('search_path'), pg_catalog.current_setting('check_function_bodies')),
                            'off') THEN
        RETURN;
    ELSIF setting::pg_catalog.bool THEN
        IF NOT pg_catalog.has_schema_privilege('snowflake', 'USAGE') THEN
            RAISE WARNING 'snowflake.convert_new_columns has no effect: permission denied for schema snowflake';
        ELSIF NOT pg_catalog.has_function_privilege('snowflake._convert_columns_of_command(pg_catalog.text)', 'EXECUTE') THEN
            RAISE WARNING 'snowflake.convert_new_columns has no effect: permission denied for functions in schema snowflake';
        ELSE
            PERFORM snowflake._convert_columns_of_command(pg_catalog.current_setting('search_path'));
        END IF;
    END IF;
END
$function$;

-- It fires in sessions that apply changes of other servers as well: where such a session makes a table, the
-- setting of this database decides.
CREATE EVENT TRIGGER snowflake_convert_new_columns ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'CREATE SCHEMA', 'ALTER SEQUENCE')
    EXECUTE FUNCTION snowflake._convert_new_columns();
ALTER EVENT TRIGGER snowflake_convert_new_columns ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER snowflake_convert_new_columns IS
    'converts new columns if the setting snowflake.convert_new_columns is on';
