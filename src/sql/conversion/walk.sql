-- The walk from columns to all objects that depend on them. This file follows the dependencies; the kinds in kinds/ say what
-- is found.

-- Finds the objects that depend directly on a node of the walk of _dependent_objects(): a relation with its row type, a column,
-- a routine, or a row type alone, which leads to the materialized views that store rows of it. The planner puts the queries in
-- the place of a call.
CREATE FUNCTION snowflake._dependencies_on(
        node_type text, node oid, attnum integer,
        OUT classid oid, OUT objid oid, OUT deptype "char")
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
    BEGIN ATOMIC
    SELECT d.classid, d.objid, d.deptype
        FROM pg_depend d
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = node
          AND (node_type = 'relation' OR node_type = 'column' AND d.refobjsubid = attnum)
    UNION ALL
    -- ON CONFLICT ON CONSTRAINT names a key, and none of its columns.
    SELECT d.classid, d.objid, d.deptype
        FROM pg_constraint k
        JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid
        WHERE node_type = 'column' AND k.conrelid = node AND k.contype IN ('p', 'u', 'x') AND attnum = ANY (k.conkey)
          AND d.classid IN ('pg_proc'::regclass, 'pg_rewrite'::regclass)
    UNION ALL
    SELECT d.classid, d.objid, d.deptype
        FROM pg_class c
        JOIN pg_type y ON y.oid = c.reltype
        JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
        WHERE node_type = 'relation' AND c.oid = node
          -- Views of such rows are found by their rules.
          AND NOT (d.classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_class v WHERE v.oid = d.objid AND v.relkind IN ('v', 'm')))
    UNION ALL
    SELECT 'pg_rewrite'::regclass::oid, r.oid, d.deptype
        FROM pg_class c
        JOIN pg_type y ON y.oid = c.reltype
        JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
        JOIN pg_class v ON v.oid = d.objid AND v.relkind = 'm'
        JOIN pg_rewrite r ON r.ev_class = v.oid
        WHERE node_type = 'row type' AND c.oid = node AND d.classid = 'pg_class'::regclass
    UNION ALL
    SELECT d.classid, d.objid, d.deptype
        FROM pg_depend d
        WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = node AND node_type = 'routine';
    END;

-- Finds the objects that depend directly on a node of the walk, each with the node by which the walk goes on from there; of a
-- type "leaf": it ends there. The walk goes on from generated columns, from views, and from routines (with a body in standard SQL, or
-- that take or return rows of a view).
CREATE FUNCTION snowflake._ways_on(
        node_type text, node oid, node_attnum integer,
        OUT classid oid, OUT objid oid, OUT type text, OUT oid oid, OUT attnum integer)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT d.classid, d.objid, next.type, next.oid, next.attnum
            FROM snowflake._dependencies_on(node_type, node, node_attnum) d
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                                  AND r.rulename = '_RETURN'
            LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
            LEFT JOIN pg_attribute g ON g.attrelid = f.adrelid AND g.attnum = f.adnum
                                    AND g.attgenerated <> ''
            LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
            CROSS JOIN LATERAL (
                SELECT CASE WHEN r.oid IS NOT NULL THEN 'relation' WHEN g.attrelid IS NOT NULL THEN 'column'
                            WHEN p.oid IS NOT NULL THEN 'routine' ELSE 'leaf' END,
                       coalesce(r.ev_class, g.attrelid, p.oid, 0), coalesce(g.attnum, 0)::integer
            ) next(type, oid, attnum)
            -- A view's rule and type are the view; a generated column's expression is the column.
            WHERE (next.type = 'routine' OR (next.type, next.oid, next.attnum) <> (node_type, node, node_attnum))
              AND NOT (d.classid = 'pg_type'::regclass AND d.deptype = 'i');
END
$function$;

-- Returns the length of the longest way to each node; 1000: the node is in a circle, or behind one. OR REPLACE lets routines call
-- each other in a circle. Takes each step once: any role can make more ways between views and routines than a session could walk.
CREATE FUNCTION snowflake._longest_ways(
        starts integer[],                                        -- of each node, before the first step
        sources integer[], targets integer[], lengths integer[]) -- of the steps, ordered by their sources; nodes have numbers
    RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    depths integer[] := starts;
    awaited integer[] := array_fill(0, ARRAY[cardinality(starts)]); -- how many steps to each node are left to take
    first_steps integer[] := array_fill(NULL::integer, ARRAY[cardinality(starts)]);
    ready integer[] := '{}';
    taken integer := 0; -- of those that are ready
    i integer;
BEGIN
    FOR i IN REVERSE cardinality(sources)..1 LOOP
        awaited[targets[i]] := awaited[targets[i]] + 1;
        first_steps[sources[i]] := i;
    END LOOP;
    ready := ARRAY(SELECT n FROM generate_subscripts(awaited, 1) n WHERE awaited[n] = 0);
    WHILE taken < cardinality(ready) LOOP
        taken := taken + 1;
        i := first_steps[ready[taken]];
        WHILE sources[i] = ready[taken] LOOP
            depths[targets[i]] := greatest(depths[targets[i]], least(depths[sources[i]] + lengths[i], 1000));
            awaited[targets[i]] := awaited[targets[i]] - 1;
            IF awaited[targets[i]] = 0 THEN
                ready := ready || targets[i];
            END IF;
            i := i + 1;
        END LOOP;
    END LOOP;
    RETURN ARRAY(SELECT CASE WHEN awaited[n] > 0 THEN 1000 ELSE depths[n] END FROM generate_subscripts(depths, 1) n ORDER BY n);
END
$function$;

-- Finds everything that depends on the columns that are widened, in any number of steps. The walk begins with these columns, with
-- the sequence of an identity, which is made anew, and with the row type of a table, which leads to the materialized views that
-- store rows of it.
CREATE FUNCTION snowflake._dependent_objects(columns snowflake._conversion_column[])
    RETURNS SETOF snowflake._conversion_object
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    nodes record;
    steps record;
    depths integer[];
BEGIN
    WITH RECURSIVE start(type, oid, attnum, depth) AS (
        SELECT 'column', relid::oid, attnum::integer, 0 FROM unnest(columns) WHERE widened
        UNION
        SELECT 'row type', relid, 0, 0 FROM unnest(columns) WHERE widened
        UNION
        SELECT 'relation', d.objid, 0, 1
            FROM unnest(columns) c
            JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.deptype = 'i'
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
                            AND d.refobjsubid = c.attnum
            JOIN pg_sequence q ON q.seqrelid = d.objid
            WHERE c.is_identity
    ),
    node(type, oid, attnum) AS (
        SELECT start.type, start.oid, start.attnum FROM start
        UNION
        SELECT way.type, way.oid, way.attnum
            FROM node CROSS JOIN LATERAL snowflake._ways_on(node.type, node.oid, node.attnum) way
    )
    SELECT array_agg(numbered.type ORDER BY n) AS types, array_agg(numbered.oid ORDER BY n) AS oids,
           array_agg(numbered.attnum ORDER BY n) AS attnums, array_agg(coalesce(start.depth, 0) ORDER BY n) AS starts,
           jsonb_object_agg(concat_ws(' ', numbered.type, numbered.oid, numbered.attnum), n) AS numbers
        INTO nodes
        FROM (SELECT node.*, row_number() OVER () AS n FROM node) numbered LEFT JOIN start USING (type, oid, attnum);
    -- An object that depends on a generated column that stays is as deep as one that depends on what the column is made from.
    SELECT array_agg(node.n::integer ORDER BY node.n) AS sources,
           array_agg((nodes.numbers ->> concat_ws(' ', way.type, way.oid, way.attnum))::integer ORDER BY node.n) AS targets,
           array_agg(CASE WHEN way.type = 'column' AND snowflake._stays_in_place(way.objid) THEN 0 ELSE 1 END ORDER BY node.n) AS lengths,
           array_agg(way.classid ORDER BY node.n) AS classes, array_agg(way.objid ORDER BY node.n) AS objects,
           array_agg(node.type = 'routine' ORDER BY node.n) AS calls
        INTO steps
        FROM unnest(nodes.types, nodes.oids, nodes.attnums) WITH ORDINALITY node(type, oid, attnum, n)
        CROSS JOIN LATERAL snowflake._ways_on(node.type, node.oid, node.attnum) way;
    IF steps.sources IS NULL THEN
        RETURN;
    END IF;
    depths := snowflake._longest_ways(nodes.starts, steps.sources, steps.targets, steps.lengths);
    RETURN QUERY
        SELECT s.class, s.object, max(least(depths[s.source] + s.length, 1000)), bool_or(s.is_call)
            FROM unnest(steps.sources, steps.lengths, steps.classes, steps.objects, steps.calls) s(source, length, class, object, is_call)
            GROUP BY s.class, s.object;
END
$function$;

-- Finds the objects that depend on the columns that are widened, and what becomes of each.
CREATE FUNCTION snowflake._conversion_dependents(columns snowflake._conversion_column[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    objects snowflake._conversion_object[];
BEGIN
    objects := ARRAY(SELECT o FROM snowflake._dependent_objects(columns) o);
    objects := ARRAY(SELECT o FROM snowflake._constraint_objects(objects) o);
    RETURN QUERY
        SELECT found.*
            FROM unnest(objects) o
            LEFT JOIN snowflake._kinds_found(objects) d ON d.classid = o.classid AND d.objid = o.objid
            CROSS JOIN LATERAL snowflake._dependent(
                o, kind => CASE WHEN o.depth < 1000 THEN d.kind END, relid => d.relid, name => d.name,
                is_rebuilt => d.is_rebuilt, comes_along => d.comes_along) found
            WHERE d.comes_along IS NOT TRUE
              -- Owned sequences, and the TOAST table of a materialized view, come and go with it.
              AND NOT (o.classid = 'pg_class'::regclass
                       AND EXISTS (SELECT FROM pg_class WHERE oid = o.objid AND relkind IN ('S', 't')));
END
$function$;
