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

-- Finds everything that depends on the columns that are widened, in any number of steps. The walk goes on from
-- columns to be widened, from generated columns, from views, from routines (with a body in standard SQL, or that
-- take or return rows of a view), and from the sequence of an identity, which is made anew. The row type of a table
-- leads to the materialized views that store rows of it.
CREATE FUNCTION snowflake._dependent_objects(columns snowflake._conversion_column[])
    RETURNS SETOF snowflake._conversion_object
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE node(type, oid, attnum, classid, objid, depth, calls) AS (
            SELECT 'column', relid::oid, attnum::integer, 0::oid, 0::oid, 0, false
                FROM unnest(columns) WHERE widened
            UNION
            SELECT 'row type', relid, 0, 0, 0, 0, false FROM unnest(columns) WHERE widened
            UNION
            SELECT 'relation', d.objid, 0, 0, 0, 1, false
                FROM unnest(columns) c
                JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.deptype = 'i'
                                AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
                                AND d.refobjsubid = c.attnum
                JOIN pg_sequence q ON q.seqrelid = d.objid
                WHERE c.is_identity
            UNION
            -- An object that depends on a generated column that stays is as deep as one that depends on what the column is made from.
            SELECT next.type, next.oid, next.attnum, d.classid, d.objid,
                   node.depth + CASE WHEN next.type = 'column' AND snowflake._stays_in_place(d.objid) THEN 0 ELSE 1 END,
                   node.type = 'routine'
                FROM node
                CROSS JOIN LATERAL snowflake._dependencies_on(node.type, node.oid, node.attnum) d
                LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                                      AND r.rulename = '_RETURN'
                LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
                LEFT JOIN pg_attribute g ON g.attrelid = f.adrelid AND g.attnum = f.adnum
                                        AND g.attgenerated <> ''
                LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN r.oid IS NOT NULL THEN 'relation' WHEN g.attrelid IS NOT NULL THEN 'column'
                                WHEN p.oid IS NOT NULL THEN 'routine' ELSE 'leaf' END,
                           coalesce(r.ev_class, g.attrelid, p.oid, 0), coalesce(g.attnum, 0)
                ) next(type, oid, attnum)
                -- A view's rule and type are the view; a generated column's expression is the column.
                WHERE (next.type = 'routine'
                       OR (next.type, next.oid, next.attnum) <> (node.type, node.oid, node.attnum))
                  AND NOT (d.classid = 'pg_type'::regclass AND d.deptype = 'i')
                  -- OR REPLACE can let routines call each other in a circle.
                  AND node.depth < 1000
        )
        SELECT node.classid, node.objid, max(node.depth), bool_or(node.calls)
            FROM node
            WHERE node.classid <> 0
            GROUP BY node.classid, node.objid;
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
