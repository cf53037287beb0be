-- Writers: code of users that counts on the columns of a table, their order and their types. What stands in the text of a
-- function is found by patterns: it is named, never changed.

-- Returns what in a text counts on the order of the columns of a table: an INSERT that names no columns, a SELECT of all, or a variable
-- that is filled by position.
-- NULL: none is found.
CREATE FUNCTION snowflake._order_counted_on(source text, relname name)
    RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    -- The name as a pattern, with or without quotes, and with or without a schema.
    tab constant text := E'((\\w+|"[^"]*")\\s*\\.\\s*)?("' || regexp_replace(replace(relname, '"', '""'), E'(\\W)', E'\\\\\\1', 'g') || '"|'
                         || regexp_replace(relname, E'(\\W)', E'\\\\\\1', 'g') || E'\\M)';
BEGIN
    IF strpos(lower(source), lower(replace(relname, '"', '""'))) = 0 THEN
        RETURN NULL;
    ELSIF source ~* (E'\\minsert\\s+into\\s+' || tab || E'\\s*(as\\s+\\w+\\s*)?(overriding\\s+\\w+\\s+value\\s*)?'
                     || E'(\\mvalues\\M|\\mselect\\M|\\mtable\\M|\\mwith\\M|\\(\\s*(values|select|table|with)\\M)') THEN
        RETURN format('INSERT INTO %I without a list of columns', relname);
    ELSIF source ~* (E'\\mmerge\\s+into\\s+(only\\s+)?' || tab || E'[^;]*\\minsert\\s+(overriding\\s+\\w+\\s+value\\s+)?values\\M') THEN
        RETURN format('MERGE INTO %I that inserts without a list of columns', relname);
    ELSIF source ~* (E'\\mselect\\s+((all|distinct)\\s+)?([^;]*,\\s*)?(\\w+\\s*\\.\\s*)?[*][^;]*\\m(from|join)\\s+(only\\s+)?' || tab) THEN
        RETURN format('SELECT * FROM %I', relname);
    ELSIF source ~* (tab || E'\\s*%\\s*rowtype\\M') THEN
        RETURN format('%I%%ROWTYPE', relname);
    END IF;
    RETURN NULL;
END
$function$;

-- Returns what in the text of a trigger's function takes whole rows apart: NEW.* or OLD.*; NULL: none is found. A
-- comparison of the two does not mind their order.
CREATE FUNCTION snowflake._rows_taken_apart(source text)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN upper(substring(
        regexp_replace(source, E'\\m(new|old)\\.[*]\\s*[)]?\\s*is\\s+(not\\s+)?distinct\\s+from\\s*[(]?\\s*(new|old)\\.[*]', '', 'gi'),
        E'\\m([nN][eE][wW]|[oO][lL][dD])\\s*[)]?\\s*\\.\\s*[*]')) || '.*';

-- Returns the functions of the triggers of tables, with what in them counts on the order of columns.
CREATE FUNCTION snowflake._triggers_that_count(
        part snowflake._conversion_part,
        OUT relid regclass, OUT tgname name, OUT tgfoid regprocedure, OUT what text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT g.tgrelid::regclass, g.tgname, g.tgfoid::regprocedure, found.what
            FROM unnest(part.columns) c
            JOIN pg_trigger g ON g.tgrelid = c.relid AND NOT g.tgisinternal
            JOIN pg_class t ON t.oid = g.tgrelid
            JOIN snowflake._texts(part.owner) body ON body.routine = g.tgfoid
            CROSS JOIN LATERAL (SELECT coalesce(snowflake._rows_taken_apart(body.source),
                                                snowflake._order_counted_on(body.source, t.relname))) found(what)
            WHERE c.widened AND found.what NOT LIKE '%\%ROWTYPE'; -- which is a hint at most
END
$function$;

-- Returns the routines that return a key under its name as an integer.
CREATE FUNCTION snowflake._results_too_small(
        part snowflake._conversion_part,
        OUT routine oid, OUT result text, OUT type oid, OUT relid regclass)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT p.oid, r.name, r.type, c.relid
            FROM snowflake._texts(part.owner) body
            JOIN pg_proc p ON p.oid = body.routine
            CROSS JOIN LATERAL unnest(p.proallargtypes, p.proargmodes, p.proargnames) r(type, mode, name)
            JOIN unnest(part.columns) c ON c.widened
            JOIN pg_class t ON t.oid = c.relid AND NOT t.relispartition
            WHERE r.mode IN ('t', 'o', 'b') AND snowflake._is_small(r.type)
              AND r.name = ANY (snowflake._copy_names(t.relname, c.attname))
              AND snowflake._reads_key(p.oid, body.source, c.relid, t.relname, c.attnum);
END
$function$;

-- Returns the tables that have a new last column after a conversion.
CREATE FUNCTION snowflake._tables_with_another_order(part snowflake._conversion_part)
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN CASE WHEN part.online THEN ARRAY(SELECT DISTINCT c.relid FROM unnest(part.columns) c WHERE c.widened)
                ELSE ARRAY(SELECT DISTINCT m.relid FROM snowflake._generated_moves(part.dependents) m) END;
END
$function$;

-- Lists the code that a conversion breaks for certain, each with the word that waives it.
CREATE FUNCTION snowflake._waivable_obstacles_of_writers(
        part snowflake._conversion_part, OUT obstacle text, OUT word text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('trigger %I of table %s calls %s, which has %s, and the new column is the last one: let it list the columns, '
                      'or convert with waive => ''order''', g.tgname, g.relid, g.tgfoid, g.what), 'order'
            FROM snowflake._triggers_that_count(part) g
            WHERE g.relid = ANY (snowflake._tables_with_another_order(part));
    RETURN QUERY
        SELECT format('%s returns %I of table %s as %s: let it return bigint, or convert with waive => ''results''',
                      pg_describe_object('pg_proc'::regclass, r.routine, 0), r.result, r.relid, format_type(r.type, -1)), 'results'
            FROM snowflake._results_too_small(part) r;
END
$function$;

-- Describes the rules of tables that write to other tables with integers. The server has listed the columns in a rule when it
-- was made: their order does not matter.
CREATE FUNCTION snowflake._hints_of_rules(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('rule %I of table %s inserts into %s: %s fits into what is an integer there (%s)', r.rulename, c.relid, i.relid,
                      snowflake._what_is_too_large(part.wishes), string_agg(DISTINCT quote_ident(i.attname), ', '))
            FROM unnest(part.columns) c
            JOIN pg_rewrite r ON r.ev_class = c.relid AND r.rulename <> '_RETURN'
            CROSS JOIN LATERAL snowflake._relations_inserted_into(r.oid) written(relid)
            JOIN snowflake._integer_columns(part.columns) i ON i.relid = written.relid
            WHERE c.widened AND written.relid <> c.relid
            GROUP BY r.rulename, c.relid, i.relid;
END
$function$;

-- Describes the routines that may count on the order of the columns of tables, or copy whole rows of them.
CREATE FUNCTION snowflake._hints_of_order(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    tables constant regclass[] := snowflake._tables_with_another_order(part);
BEGIN
    IF NOT part.online THEN
        RETURN QUERY
            SELECT format('trigger %I of table %s calls %s, which has %s: %s fits into an integer that it is written to', g.tgname, g.relid,
                          g.tgfoid, g.what, snowflake._what_is_too_large(part.wishes))
                FROM snowflake._triggers_that_count(part) g
                WHERE g.what LIKE '%.*';
    END IF;
    RETURN QUERY
        SELECT DISTINCT format('%s %s, and the new column is the last one',
                               pg_describe_object('pg_proc'::regclass, body.routine, 0), found.what)
            FROM unnest(tables) tab
            JOIN pg_class t ON t.oid = tab
            CROSS JOIN snowflake._texts(part.owner) body
            JOIN pg_proc p ON p.oid = body.routine
            CROSS JOIN LATERAL (SELECT coalesce('has ' || snowflake._order_counted_on(body.source, t.relname),
                                                CASE p.prorettype WHEN t.reltype THEN format('returns rows of table %s', tab) END)) found(what)
            WHERE found.what IS NOT NULL
              AND NOT EXISTS (SELECT FROM snowflake._triggers_that_count(part) g WHERE g.relid = tab AND g.tgfoid = body.routine);
    RETURN QUERY
        SELECT DISTINCT format('a client has sent a statement with INSERT INTO %I without a list of columns, and the new column '
                               'is the last one: %s', t.relname, left(regexp_replace(s.query, '[[:space:]]+', ' ', 'g'), 200))
            FROM unnest(tables) tab
            JOIN pg_class t ON t.oid = tab
            JOIN snowflake._statements_seen() s(query) ON snowflake._order_counted_on(s.query, t.relname) LIKE 'INSERT %';
END
$function$;

-- Returns the texts of what names columns that a conversion concerns, or is their default: views, rules, policies, generated columns,
-- and functions in standard SQL.
CREATE FUNCTION snowflake._texts_on(
        part snowflake._conversion_part,
        OUT class oid, OUT object oid, OUT source text, OUT relid regclass, OUT attname name, OUT widened boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.classid, d.objid,
               CASE d.classid
                   WHEN 'pg_rewrite'::regclass THEN pg_get_ruledef(d.objid)
                   WHEN 'pg_proc'::regclass THEN pg_get_function_sqlbody(d.objid)
                   WHEN 'pg_policy'::regclass THEN (SELECT concat(pg_get_expr(y.polqual, y.polrelid), ' ', pg_get_expr(y.polwithcheck, y.polrelid))
                                                        FROM pg_policy y WHERE y.oid = d.objid)
                   ELSE (SELECT pg_get_expr(f.adbin, f.adrelid) FROM pg_attrdef f WHERE f.oid = d.objid) END,
               c.relid, c.attname, c.widened
            FROM unnest(part.columns) c
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid AND d.refobjsubid = c.attnum
            WHERE d.classid IN ('pg_rewrite'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass, 'pg_attrdef'::regclass)
              AND NOT c.is_strangers
              AND snowflake._is_taken_along(part.owner, snowflake._owner_of(d.classid, d.objid));
END
$function$;

-- Describes the views, rules, policies and defaults that cast to integers, but for constants.
CREATE FUNCTION snowflake._hints_of_casts(part snowflake._conversion_part, OUT subject text, OUT hint text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT text.subject, format('%s casts to integer: %s fits into it, if it is a key of %s', text.subject,
                                    snowflake._what_is_too_large(part.wishes), string_agg(DISTINCT o.relid::text, ', '))
            FROM snowflake._texts_on(part) o
            CROSS JOIN LATERAL snowflake._description_of(o.class, o.object) text(subject)
            WHERE o.class <> 'pg_proc'::regclass -- see _hints_of_routines()
              AND o.source ~ E'(?<!\'|NULL)::(integer|smallint)\\M'
            GROUP BY text.subject;
END
$function$;

-- Describes the views, rules and routines that sum up columns to be widened: sum() of an integer is a bigint, that of a bigint
-- numeric.
CREATE FUNCTION snowflake._hints_of_sums(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s has sum(%s), which becomes numeric: a division keeps decimals', pg_describe_object(o.class, o.object, 0),
                      string_agg(DISTINCT quote_ident(o.attname), ', '))
            FROM (SELECT x.class, x.object, x.source, x.attname, x.widened FROM snowflake._texts_on(part) x
                  UNION
                  SELECT 'pg_proc'::regclass, body.routine, body.source, c.attname, c.widened
                      FROM unnest(part.columns) c
                      JOIN pg_class t ON t.oid = c.relid AND NOT t.relispartition
                      JOIN snowflake._texts(part.owner) body ON snowflake._names_word(body.source, t.relname)
            ) o
            CROSS JOIN LATERAL regexp_matches(o.source, E'\\msum\\s*[(]([^()]*)[)]', 'gi') summed(up)
            WHERE o.widened AND snowflake._names_word(summed.up[1], o.attname)
            GROUP BY o.class, o.object;
END
$function$;

-- Returns the statements of this database that pg_stat_statements has seen; none without it, or where somebody who may not
-- act for the caller could put another function in its place.
CREATE FUNCTION snowflake._statements_seen()
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
DECLARE
    schema name;
BEGIN
    SELECT n.nspname INTO schema
        FROM pg_extension x
        JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = x.oid
                        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
        JOIN pg_proc p ON p.oid = d.objid AND p.proname = 'pg_stat_statements' AND p.pronargs = 1
        JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
        JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE x.extname = 'pg_stat_statements' AND p.proargtypes[0] = 'boolean'::regtype
          AND snowflake._may_act_for(snowflake._owner_of_schema(n.oid), quote_ident(current_user)::regrole);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format('SELECT left(s.query, 1000) FROM %I.pg_stat_statements(true) s '
                                'WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())', schema);
EXCEPTION WHEN object_not_in_prerequisite_state OR insufficient_privilege THEN
    RETURN; -- The library is not preloaded, or the caller may not ask it.
END
$function$;
