-- Twins of materialized views: the server cannot alter a column that a materialized view reads, and to fill the view again
-- takes as long as its query. A conversion without a long lock makes a new one beside each that is filled, which reads
-- shadow columns, and fills it; the swap puts it in the place of the old one. Views by way of which a materialized view
-- reads the columns have twins, too.
--
-- A twin is never older than its original when it takes its place: its comment says which contents the original had when
-- the filling began. The server writes the entry of a materialized view in pg_class with each REFRESH.

-- Prints the query of a view of the caller's on shadow columns in place of others, and on twins in place of views.
CREATE FUNCTION snowflake._query_on_twins(
        view regclass, tables oid[], attnums smallint[], shadows smallint[], views oid[], twins oid[],
        OUT query text,
        OUT fault text) -- why there is none
    AS 'MODULE_PATHNAME', 'snowflake_query_on_twins'
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp;

-- Returns a view, and the views among the dependents by way of which it reads columns, the innermost first.
CREATE FUNCTION snowflake._views_beneath(dependents snowflake._conversion_dependent[], view oid)
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE beneath(relid) AS (
            SELECT view
            UNION
            SELECT d.relid::oid
                FROM beneath
                JOIN pg_rewrite r ON r.ev_class = beneath.relid AND r.rulename = '_RETURN'
                JOIN pg_depend e ON e.classid = 'pg_rewrite'::regclass AND e.objid = r.oid AND e.refclassid = 'pg_class'::regclass
                JOIN unnest(dependents) d ON d.kind = 'view' AND d.relid = e.refobjid
        )
        SELECT d.* FROM unnest(dependents) d
            WHERE d.kind = 'view' AND d.relid IN (SELECT b.relid FROM beneath b)
            ORDER BY d.depth, d.objid;
END
$function$;

-- Finds the views that have to have twins, the innermost first: materialized views that are filled, and what these read.
CREATE FUNCTION snowflake._views_to_twin(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT ON (b.depth, b.objid) b.*
            FROM unnest(dependents) d
            JOIN pg_class c ON c.oid = d.relid AND c.relkind = 'm' AND c.relispopulated
            CROSS JOIN LATERAL snowflake._views_beneath(dependents, d.relid) b
            WHERE d.kind = 'view'
            ORDER BY b.depth, b.objid;
END
$function$;

-- Returns the text that tells which contents a materialized view has, and those that it reads.
CREATE FUNCTION snowflake._contents_of_view(dependents snowflake._conversion_dependent[], view oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT 'snowflake ' || string_agg(c.xmin::text, ' ' ORDER BY b.depth, b.objid)
                FROM snowflake._views_beneath(dependents, view) b JOIN pg_class c ON c.oid = b.relid AND c.relkind = 'm');
END
$function$;

-- Returns the name that the twin of a view has, or gets. Only the owner of the view can have made it; a name that somebody
-- else has taken is left out.
CREATE FUNCTION snowflake._view_twin_name(definition text, view oid)
    RETURNS name
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    turn bigint := 1;
    found name;
BEGIN
    LOOP
        found := snowflake._twin_name(definition, turn);
        EXIT WHEN NOT EXISTS (
            SELECT FROM pg_class o
                JOIN pg_type y ON y.typnamespace = o.relnamespace AND y.typname = found
                LEFT JOIN pg_class c ON c.oid = y.typrelid AND c.relkind = o.relkind AND c.relowner = o.relowner
                WHERE o.oid = view AND c.oid IS NULL)
            AND NOT EXISTS (
                SELECT FROM pg_class o
                    JOIN pg_class c ON c.relnamespace = o.relnamespace AND c.relname = found
                    WHERE o.oid = view AND (c.relkind <> o.relkind OR c.relowner <> o.relowner));
        turn := turn + 1;
    END LOOP;
    RETURN found;
END
$function$;

-- Finds the views that have to have twins, and these, the innermost first.
CREATE FUNCTION snowflake._view_twins(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._twin
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.relid::oid, d.relid, named.name, made.definition, t.oid,
               coalesce(CASE WHEN c.relkind = 'm' AND c.relispopulated
                             THEN t.relispopulated
                                  AND obj_description(t.oid, 'pg_class') = snowflake._contents_of_view(dependents, d.relid)
                             ELSE t.oid IS NOT NULL END, false), false
            FROM snowflake._views_to_twin(dependents) d
            JOIN pg_class c ON c.oid = d.relid
            CROSS JOIN LATERAL (
                -- The definition of a view beneath may change, and the twin has to follow.
                SELECT string_agg(snowflake._view_definition(b.relid), E'\n' ORDER BY b.depth, b.objid) AS definition
                    FROM snowflake._views_beneath(dependents, d.relid) b) made
            CROSS JOIN LATERAL snowflake._view_twin_name(made.definition, d.relid) named(name)
            LEFT JOIN pg_class t ON t.relnamespace = c.relnamespace AND t.relname = named.name
            ORDER BY d.depth, d.objid;
END
$function$;

-- Finds the indexes of a materialized view, and those of its twin.
CREATE FUNCTION snowflake._index_twins_of_view(view snowflake._twin)
    RETURNS SETOF snowflake._twin
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT i.indexrelid, view.relid, named.name, i.definition, t.oid, t.oid IS NOT NULL, false
            FROM (SELECT x.indexrelid, d.definition,
                         row_number() OVER (PARTITION BY d.definition ORDER BY x.indexrelid) AS turn
                      FROM pg_index x
                      CROSS JOIN LATERAL (
                          SELECT concat(CASE WHEN x.indisunique THEN 'UNIQUE ' END,
                                        snowflake._index_definition('{}', x.indexrelid, view.relid::text))) d(definition)
                      WHERE x.indrelid = view.relid AND x.indisvalid) i
            CROSS JOIN LATERAL snowflake._index_twin_name(i.definition, i.turn, coalesce(view.twin, view.original)) named(name)
            LEFT JOIN (pg_class t JOIN pg_index x ON x.indexrelid = t.oid) ON t.relname = named.name AND x.indrelid = view.twin
            ORDER BY i.indexrelid;
END
$function$;

-- Returns a view that has to have a twin, and its twin; raises an error if it has not to.
CREATE FUNCTION snowflake._view_twin(work snowflake._shadowing, view regclass)
    RETURNS snowflake._twin
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    pair snowflake._twin;
BEGIN
    SELECT t.* INTO pair FROM unnest(work.views) t WHERE t.relid = view;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the conversion of sequence % makes no new view beside %', (work.part).seq, view
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN pair;
END
$function$;

-- Returns the query of a view as that of its twin.
CREATE FUNCTION snowflake._query_of_twin(work snowflake._shadowing, view oid, OUT query text, OUT fault text)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    -- A column that has no shadow yet, and a view without a twin, stand for themselves.
    SELECT q.query, q.fault INTO query, fault FROM snowflake._query_on_twins(
        view,
        ARRAY(SELECT s.relid::oid FROM unnest(work.shadows) s ORDER BY s.relid::oid, s.attnum),
        ARRAY(SELECT s.attnum FROM unnest(work.shadows) s ORDER BY s.relid::oid, s.attnum),
        ARRAY(SELECT coalesce(s.shadow, s.attnum) FROM unnest(work.shadows) s ORDER BY s.relid::oid, s.attnum),
        ARRAY(SELECT t.original FROM unnest(work.views) t ORDER BY t.original),
        ARRAY(SELECT coalesce(t.twin, t.original) FROM unnest(work.views) t ORDER BY t.original)) q;
END
$function$;

-- Returns the relations and columns that the query of a view reads. With a conversion: as what its twin has to read.
CREATE FUNCTION snowflake._read_by_view(view oid, work snowflake._shadowing)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('%s.%s', coalesce(v.twin, d.refobjid), coalesce(s.shadow, d.refobjsubid))
            FROM pg_rewrite r
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
            LEFT JOIN unnest(work.shadows) s ON s.relid = d.refobjid AND s.attnum = d.refobjsubid
            LEFT JOIN unnest(work.views) v ON v.original = d.refobjid
            WHERE r.ev_class = view AND r.rulename = '_RETURN';
END
$function$;

-- Tells whether the twin of a view, if there is one, reads what the original reads, with the shadow of each column and the
-- twin of each view in its place.
CREATE FUNCTION snowflake._reads_the_same(work snowflake._shadowing, view snowflake._twin)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN view.twin IS NULL
           OR ARRAY(SELECT x FROM snowflake._read_by_view(view.original, work) x ORDER BY x COLLATE "C")
              = ARRAY(SELECT x FROM snowflake._read_by_view(view.twin, NULL) x ORDER BY x COLLATE "C");
END
$function$;

-- Raises an error unless the views by way of which a view reads columns have twins, that are filled.
CREATE FUNCTION snowflake._require_twins_beneath(work snowflake._shadowing, view regclass, are_filled boolean)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    missing constant regclass := (
        SELECT t.relid
            FROM snowflake._views_beneath((work.part).dependents, view) b JOIN unnest(work.views) t ON t.relid = b.relid
            WHERE b.relid <> view AND (t.twin IS NULL OR are_filled AND NOT t.is_ready)
            ORDER BY b.depth, b.objid LIMIT 1);
BEGIN
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'view % reads %, beside which no new one is ready', view, missing
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Ask conversion_plan(..., online => true) for what is left to do.';
    END IF;
END
$function$;

-- Returns the steps that make the twin of a view, without data, and its indexes. Nobody but the owner may read it, whatever
-- default privileges there are.
CREATE FUNCTION snowflake._view_twin_steps(work snowflake._shadowing, view regclass)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    t constant snowflake._twin := snowflake._view_twin(work, view);
    c pg_class;
    new_name text;
BEGIN
    PERFORM snowflake._require_twins_beneath(work, view, are_filled => false);
    SELECT x.* INTO c FROM pg_class x WHERE x.oid = view;
    new_name := format('%s.%I', c.relnamespace::regnamespace, t.name);
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT snowflake._view_definition(view, false, new_name, (snowflake._query_of_twin(work, view)).query) WHERE t.twin IS NULL
                UNION ALL
                SELECT format('REVOKE ALL ON TABLE %s FROM %s', new_name,
                              string_agg(DISTINCT CASE x.grantee WHEN 0 THEN 'PUBLIC'
                                                                 ELSE quote_ident(pg_get_userbyid(x.grantee)) END, ', '))
                    FROM pg_default_acl d, aclexplode(d.defaclacl) x
                    WHERE t.twin IS NULL AND d.defaclrole = c.relowner AND d.defaclobjtype = 'r'
                      AND d.defaclnamespace IN (0, c.relnamespace) AND x.grantee <> c.relowner
                    HAVING count(*) > 0
                UNION ALL
                SELECT format('CREATE %sINDEX %I %s', CASE WHEN x.indisunique THEN 'UNIQUE ' END, i.name,
                              snowflake._index_definition('{}', i.original, new_name))
                    FROM snowflake._index_twins_of_view(t) i JOIN pg_index x ON x.indexrelid = i.original
                    WHERE i.twin IS NULL
            ) x(command)
            CROSS JOIN LATERAL snowflake._step(x.command, c.relowner) step;
END
$function$;

-- Returns the steps that make twins of views.
CREATE FUNCTION snowflake._preparations_of_views(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM generate_subscripts(work.views, 1) n
            CROSS JOIN LATERAL (SELECT (work.views[n]).*) t
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._add_view(%L, %L)', (work.part).seq, t.relid), snowflake._owner(t.original),
                format('makes a new view beside %s, which reads the new columns, without data', t.relid)) step
            WHERE t.twin IS NULL
               OR EXISTS (SELECT FROM snowflake._index_twins_of_view(work.views[n]) i WHERE i.twin IS NULL)
            ORDER BY n;
END
$function$;

-- Returns the steps that fill twins of materialized views.
CREATE FUNCTION snowflake._preparations_of_contents(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.views) WITH ORDINALITY t(original, relid, name, definition, twin, is_ready, is_inherited, n)
            JOIN pg_class c ON c.oid = t.original AND c.relkind = 'm' AND c.relispopulated
            CROSS JOIN LATERAL (SELECT pg_total_relation_size(t.original)) held(size)
            CROSS JOIN LATERAL snowflake._step(
                format('CALL snowflake._fill_view(%L, %L)', (work.part).seq, t.relid), c.relowner,
                format('fills what takes the place of materialized view %s (%s), which is in use meanwhile; a REFRESH of that '
                       'before the last command makes it necessary again', t.relid, pg_size_pretty(held.size)), size => held.size) step
            WHERE NOT t.is_ready
            ORDER BY t.n;
END
$function$;

-- Returns what views read, each of them.
CREATE FUNCTION snowflake._read_by_views(views oid[])
    RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(SELECT format('%s: %s', v, x) FROM unnest(views) v CROSS JOIN LATERAL snowflake._read_by_view(v, NULL) x ORDER BY 1);
END
$function$;

-- Returns the twin that a view has, and the contents that it will have once it is filled; raises an error that names all
-- obstacles, or what is left to do before.
CREATE FUNCTION snowflake._begin_to_fill_view(
        seq regclass, view regclass,
        OUT twin oid, OUT contents text,
        OUT twins oid[], OUT sources text[]) -- the twin and those that it reads, and what they read
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    part constant snowflake._conversion_part := snowflake._conversion_part(seq, online => true);
    work snowflake._shadowing;
BEGIN
    PERFORM snowflake._require_no_obstacles(part);
    work := snowflake._shadowing(part);
    PERFORM snowflake._require_preparations(work, 'fill');
    PERFORM snowflake._require_twins_beneath(work, view, are_filled => true);
    twin := (snowflake._view_twin(work, view)).twin;
    contents := snowflake._contents_of_view(part.dependents, view);
    twins := ARRAY(SELECT t.twin FROM snowflake._views_beneath(part.dependents, view) b JOIN unnest(work.views) t ON t.relid = b.relid);
    sources := snowflake._read_by_views(twins);
END
$function$;

-- Fills the twin of a materialized view, with a search_path for the functions that its query calls. No original is locked, nor
-- printed, which would lock what it reads: nobody who reads one queues behind a session that refreshes it meanwhile and waits
-- for this.
CREATE FUNCTION snowflake._fill_twin_of_view(
        seq regclass, view regclass, twin oid, contents text, twins oid[], sources text[], caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET row_security = on
    SET constraint_exclusion = off -- as in _run_step()
    AS $function$
DECLARE
    owner constant oid := snowflake._owner(twin);
    run_path constant text := snowflake._run_path(caller_search_path);
BEGIN
    -- The commands name the twin: its owner must not put another in its place.
    IF NOT snowflake._lock(twin) THEN
        RAISE EXCEPTION 'what takes the place of materialized view % is gone', view USING ERRCODE = 'undefined_table';
    END IF;
    PERFORM snowflake._hold_names(ARRAY[twin]);
    -- Then nobody else comes to own a table whose code runs, and what the query reads stays what it is.
    PERFORM snowflake._lock_what_is_read(ARRAY[twin::regclass]);
    PERFORM snowflake._require_authors_of_command(
        ROW(twin, NULL, ARRAY(SELECT t.touched FROM snowflake._touched_by_views(ARRAY[twin::regclass]) t),
            format('cannot convert sequence %s', seq), NULL));
    IF snowflake._read_by_views(twins) <> sources THEN
        RAISE EXCEPTION 'what takes the place of materialized view % has changed meanwhile', view
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM snowflake._show_activity(format('snowflake: filling a new materialized view beside %s', view));
    PERFORM snowflake._run_as(format('REFRESH MATERIALIZED VIEW %s', twin::regclass), owner, run_path, NULL);
    PERFORM snowflake._run_as(format('COMMENT ON MATERIALIZED VIEW %s IS %L', twin::regclass, contents), owner, run_path, NULL);
    PERFORM snowflake._run_as(format('ANALYZE %s', twin::regclass), owner, run_path, NULL);
END
$function$;

-- Fills what takes the place of a materialized view.
CREATE PROCEDURE snowflake._fill_view(seq regclass, view regclass)
    LANGUAGE plpgsql
    AS $procedure$
DECLARE
    begun pg_catalog.record;
BEGIN
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    begun := snowflake._begin_to_fill_view(seq, view);
    COMMIT; -- The original is not locked any more.
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM snowflake._fill_twin_of_view(seq, view, begun.twin, begun.contents, begun.twins, begun.sources,
                                         pg_catalog.current_setting('search_path'));
END
$procedure$;

-- Finds what was made on shadow columns in place of views, the outermost first: the one that was made last.
CREATE FUNCTION snowflake._views_on_shadows(shadows snowflake._shadow[])
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE reader(relid) AS (
            SELECT r.ev_class
                FROM unnest(shadows) s
                JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = s.relid AND d.refobjsubid = s.shadow
                JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'
            UNION
            SELECT r.ev_class
                FROM reader
                JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = reader.relid
                JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'
        )
        SELECT c.oid::regclass
            FROM reader JOIN pg_class c ON c.oid = reader.relid
            WHERE snowflake._is_twin_name(c.relname) AND snowflake._may_become(c.relowner)
            ORDER BY c.oid DESC;
END
$function$;

-- Returns the step that drops what was made in place of a view.
CREATE FUNCTION snowflake._drop_view_on_shadows(view regclass)
    RETURNS snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN (SELECT snowflake._step(format('DROP %s %s', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, view), c.relowner)
                FROM pg_class c WHERE c.oid = view);
END
$function$;

-- Returns the commands that put the twin of a view, and its indexes, in the place of the original, which has been dropped.
CREATE FUNCTION snowflake._swap_view(t snowflake._twin)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    type constant text := (SELECT CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END
                               FROM pg_class c WHERE c.oid = t.original);
BEGIN
    RETURN QUERY
        SELECT format('DROP INDEX %s', i.indexrelid::regclass)
            FROM pg_index i
            WHERE i.indrelid = t.twin AND i.indexrelid NOT IN (SELECT x.twin FROM snowflake._index_twins_of_view(t) x);
    -- Rights that somebody gave on the twin, or that default privileges left, are not those of the original.
    RETURN QUERY SELECT * FROM snowflake._revocations(t.twin);
    RETURN QUERY
        SELECT format('ALTER %s %s RENAME TO %I', type, t.twin::regclass, c.relname) FROM pg_class c WHERE c.oid = t.original;
    IF type <> 'VIEW' THEN
        RETURN NEXT format('COMMENT ON %s %s IS NULL', type, t.relid);
    END IF;
    RETURN QUERY
        SELECT x.command
            FROM snowflake._index_twins_of_view(t) i
            JOIN pg_class c ON c.oid = i.original
            CROSS JOIN LATERAL (
                SELECT format('ALTER INDEX %s RENAME TO %I', i.twin::regclass, c.relname)
                UNION ALL
                SELECT format('ALTER TABLE %s RENAME COLUMN %I TO %I', i.original::regclass, present.attname, wanted.attname)
                    FROM pg_attribute present JOIN pg_attribute wanted ON wanted.attrelid = i.original AND wanted.attnum = present.attnum
                    WHERE present.attrelid = i.twin AND present.attname <> wanted.attname
                UNION ALL
                SELECT s FROM snowflake._conversion_index_settings(i.original, only_forgotten => false) s
            ) x(command);
END
$function$;

-- Returns the steps that put twins of views in the place of the originals, and give them what those had.
CREATE FUNCTION snowflake._swap_views(work snowflake._shadowing, dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(dependents) d
            JOIN unnest(work.views) t ON d.kind = 'view' AND t.relid = d.relid
            CROSS JOIN LATERAL (
                SELECT 1, s.command, NULL::oid, s.n FROM snowflake._swap_view(t) WITH ORDINALITY s(command, n)
                UNION ALL
                SELECT 2, s.command, s.role, s.n FROM snowflake._view_settings(d) WITH ORDINALITY s(command, role, n)
            ) x(turn, command, role, n)
            CROSS JOIN LATERAL snowflake._step(x.command, coalesce(x.role, snowflake._maker(d))) step
            ORDER BY d.depth, d.objid, x.turn, x.n;
END
$function$;
