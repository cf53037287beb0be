-- Views and materialized views. For the server, what depends on a column is the rule "_RETURN" that
-- holds the query of the view.

-- Finds the views among objects that depend on columns.
CREATE FUNCTION snowflake._view_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_rewrite r ON r.oid = o.objid AND r.rulename = '_RETURN'
            CROSS JOIN LATERAL snowflake._dependent(
                o, kind => 'view', relid => r.ev_class, name => r.ev_class::regclass::text) d
            WHERE o.classid = 'pg_rewrite'::regclass;
END
$function$;

-- Lists what keeps views from being made again.
CREATE FUNCTION snowflake._view_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('the row type of %s has rights of its own: REVOKE these, and GRANT them again afterwards', d.relid)
            FROM unnest(dependents) d
            JOIN pg_class c ON c.oid = d.relid
            JOIN pg_type y ON y.oid = c.reltype
            WHERE y.typacl IS NOT NULL;
    -- Its owner makes a view again in a restricted operation, which makes nothing temporary.
    RETURN QUERY
        SELECT format('view %s is temporary: drop it, and make it again afterwards', d.relid)
            FROM unnest(dependents) d JOIN pg_class c ON c.oid = d.relid
            WHERE c.relpersistence = 't' AND NOT pg_is_other_temp_schema(c.relnamespace);
    RETURN QUERY
        SELECT x
            FROM unnest(dependents) d
            JOIN pg_class c ON c.oid = d.relid
            CROSS JOIN LATERAL (
                SELECT c.relacl
                UNION ALL SELECT attacl FROM pg_attribute WHERE attrelid = c.oid) held(acl)
            CROSS JOIN LATERAL snowflake._grant_obstacles(d.relid::text, c.relowner, held.acl) x;
END
$function$;

-- Returns the command that drops a view.
CREATE FUNCTION snowflake._view_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format('DROP %s %s', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END,
                          dependent.relid)
                FROM pg_class WHERE oid = dependent.relid);
END
$function$;

-- Returns the command that makes a view again, or in its place, or another like it. Everything of CREATE VIEW but the query,
-- which the server deparses.
CREATE FUNCTION snowflake._view_definition(
        view oid, replaces boolean DEFAULT false,
        name text DEFAULT NULL, query text DEFAULT NULL) -- of the other; NULL: those of the view
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT concat('CREATE ', CASE WHEN replaces THEN 'OR REPLACE ' END,
                      CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, ' ',
                      coalesce(name, c.oid::regclass::text), ' USING ' || quote_ident(m.amname),
                      (SELECT ' WITH (' || string_agg(format('%s%I = %L', given.prefix, x.option_name,
                                                             x.option_value), ', ') || ')'
                           FROM (VALUES ('', c.reloptions), ('toast.', t.reloptions))
                                    given(prefix, options),
                                pg_options_to_table(given.options) x),
                      ' TABLESPACE ' || quote_ident(s.spcname), ' AS', E'\n',
                      -- The server ends a query with a semicolon.
                      coalesce(query, left(pg_get_viewdef(c.oid), -1)),
                      CASE c.relkind WHEN 'm' THEN E'\n  WITH NO DATA' END)
            FROM pg_class c
            LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
            LEFT JOIN pg_am m ON m.oid = c.relam
            LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
            WHERE c.oid = view);
END
$function$;

-- Returns the commands that make a view again, without filling it.
CREATE FUNCTION snowflake._view_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT snowflake._view_definition(r.ev_class), NULL::oid FROM pg_rewrite r WHERE r.oid = dependent.objid;
    RETURN QUERY SELECT * FROM snowflake._view_settings(dependent);
END
$function$;

-- Returns the commands that give a view what its definition does not say.
CREATE FUNCTION snowflake._view_settings(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT c.oid, c.oid::regclass AS name, c.reltype,
           CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS type,
           CASE WHEN c.relkind = 'm' THEN
               CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' END
           END AS replica_identity
        INTO o
        FROM pg_rewrite r
        JOIN pg_class c ON c.oid = r.ev_class
        WHERE r.oid = dependent.objid;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', o.name, a.attname,
                               pg_get_expr(f.adbin, f.adrelid)), NULL::oid
        FROM pg_attribute a
        JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
        WHERE a.attrelid = o.oid
        ORDER BY a.attnum;
    RETURN QUERY SELECT setting, NULL::oid
        FROM pg_attribute a, snowflake._conversion_column_settings(o.type, o.name, a.attname) setting
        WHERE a.attrelid = o.oid AND a.attnum > 0;
    IF o.replica_identity IS NOT NULL THEN
        command := format('ALTER %s %s REPLICA IDENTITY %s', o.type, o.name, o.replica_identity);
        RETURN NEXT;
    END IF;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
        'pg_class'::regclass, o.oid, format('%s %s', o.type, o.name)) x;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
        'pg_rewrite'::regclass, dependent.objid, format('RULE "_RETURN" ON %s', o.name)) x;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
        'pg_type'::regclass, o.reltype, format('TYPE %s', o.name)) x;
    RETURN QUERY SELECT x.command, x.role
        FROM snowflake._conversion_rights('pg_class'::regclass, o.oid) x;
END
$function$;

-- Returns the steps that fill the materialized views that were made again. Materialized views are filled when
-- everything is there: without its policies a table would show nothing to a role that does not own it.
CREATE FUNCTION snowflake._view_refreshes(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(dependents) d
            JOIN pg_class c ON c.oid = d.relid
            CROSS JOIN LATERAL (SELECT pg_total_relation_size(d.relid)) held(size)
            CROSS JOIN LATERAL snowflake._step(
                format('REFRESH MATERIALIZED VIEW %s', d.relid), c.relowner,
                format('fills materialized view %s (%s)', d.relid, pg_size_pretty(held.size)), size => held.size) step
            WHERE d.kind = 'view' AND c.relkind = 'm' AND c.relispopulated
            ORDER BY d.depth, d.objid;
END
$function$;
