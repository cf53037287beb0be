-- What the server does not alter a column under, and what of it it makes again by itself.

CREATE TYPE snowflake.conversion_dependent AS (
    kind text,      -- view, routine, rule, trigger, policy, publication, generated, index, constraint,
                    -- statistics; rebuilt index, constraint, statistics: the server makes it again,
                    -- without all it had; NULL: one that cannot be carried over
    classid oid, objid oid,
    relid regclass, -- the relation that it is, or is on; NULL for a routine
    depth integer); -- greater than that of all it depends on itself
COMMENT ON TYPE snowflake.conversion_dependent IS
    'an object that depends on columns which the conversion of a sequence widens';

CREATE FUNCTION snowflake.conversion_dependents(columns snowflake.conversion_column[])
    RETURNS SETOF snowflake.conversion_dependent
    LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    -- A node is a column to be widened, a generated column or, with attnum 0, a view. With attnum -1
    -- it is the row type of a table: a materialized view that stores rows of it is in the way, too.
    -- With attnum -2 it is a routine: one with a body in standard SQL, or that takes or returns rows of
    -- a view. OR REPLACE can let routines call each other in a circle, hence the limit.
    WITH RECURSIVE node(relid, attnum, classid, objid, depth, calls) AS (
        SELECT relid::oid, attnum::integer, 0::oid, 0::oid, 0, false FROM unnest(columns) WHERE widened
        UNION
        SELECT relid, -1, 0, 0, 0, false FROM unnest(columns) WHERE widened
        UNION
        -- What uses the sequence of an identity, which is made anew.
        SELECT d.objid, 0, 0, 0, 1, false
            FROM unnest(columns) c
            JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.deptype = 'i'
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
                            AND d.refobjsubid = c.attnum
            JOIN pg_sequence q ON q.seqrelid = d.objid
            WHERE c.is_identity
        UNION
        SELECT next.relid, next.attnum, d.classid, d.objid, node.depth + 1, node.attnum = -2
            FROM node
            LEFT JOIN pg_class n ON n.oid = node.relid AND node.attnum > -2
            LEFT JOIN pg_type y ON y.oid = n.reltype
            CROSS JOIN LATERAL (
                SELECT classid, objid, deptype FROM pg_depend
                    WHERE refclassid = 'pg_class'::regclass AND refobjid = node.relid
                      AND node.attnum IN (0, refobjsubid) AND node.attnum >= 0
                UNION ALL
                SELECT classid, objid, deptype FROM pg_depend
                    WHERE refclassid = 'pg_type'::regclass AND refobjid IN (y.oid, y.typarray)
                      AND node.attnum = 0
                      -- Views of such rows are found by their rules.
                      AND NOT (classid = 'pg_class'::regclass
                               AND EXISTS (SELECT FROM pg_class WHERE oid = objid AND relkind IN ('v', 'm')))
                UNION ALL
                SELECT 'pg_rewrite'::regclass, m.oid, deptype
                    FROM pg_depend
                    JOIN pg_class c ON c.oid = objid AND c.relkind = 'm'
                    JOIN pg_rewrite m ON m.ev_class = c.oid
                    WHERE classid = 'pg_class'::regclass
                      AND refclassid = 'pg_type'::regclass AND refobjid IN (y.oid, y.typarray)
                      AND node.attnum = -1
                UNION ALL
                SELECT classid, objid, deptype FROM pg_depend
                    WHERE refclassid = 'pg_proc'::regclass AND refobjid = node.relid
                      AND node.attnum = -2
            ) d
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                                  AND r.rulename = '_RETURN'
            LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
            LEFT JOIN pg_attribute g ON g.attrelid = f.adrelid AND g.attnum = f.adnum
                                    AND g.attgenerated <> ''
            LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
            CROSS JOIN LATERAL (
                SELECT coalesce(r.ev_class, g.attrelid, p.oid, 0),
                       CASE WHEN p.oid IS NULL THEN coalesce(g.attnum, 0) ELSE -2 END
            ) next(relid, attnum)
            -- A view's rule and type are the view.
            WHERE (r.ev_class, 0) IS DISTINCT FROM (node.relid, node.attnum)
              AND node.depth < 1000
              AND NOT (d.classid = 'pg_type'::regclass AND d.deptype = 'i')
              -- A generated column's expression is the column.
              AND (g.attrelid, g.attnum::integer) IS DISTINCT FROM (node.relid, node.attnum)
    ),
    -- An exclusion constraint whose column only an expression uses is found by its index.
    found AS (
        SELECT coalesce(x.classid, node.classid) AS classid, coalesce(x.oid, node.objid) AS objid,
               max(node.depth) AS depth, bool_or(node.calls) AS calls
            FROM node
            LEFT JOIN (SELECT 'pg_constraint'::regclass::oid, oid, conindid FROM pg_constraint
                           WHERE contype = 'x') x(classid, oid, conindid)
                   ON node.classid = 'pg_class'::regclass AND x.conindid = node.objid
            WHERE node.depth > 0
            GROUP BY 1, 2
    ),
    -- But what the server forgets of it is of the index. So it is with the part that a partition has of
    -- a key.
    object AS (
        SELECT * FROM found
        UNION ALL
        SELECT 'pg_class'::regclass, k.conindid, found.depth, found.calls
            FROM found JOIN pg_constraint k ON k.oid = found.objid
            WHERE found.classid = 'pg_constraint'::regclass AND found.depth = 1
              AND (k.contype = 'x' OR k.contype IN ('p', 'u') AND k.conparentid <> 0)
    )
    SELECT CASE
               WHEN object.depth = 1000 THEN NULL
               WHEN r.rulename = '_RETURN' THEN 'view'
               WHEN q.prokind <> 'a' THEN 'routine'
               WHEN r.oid IS NOT NULL THEN 'rule'
               WHEN t.oid IS NOT NULL THEN 'trigger'
               WHEN p.oid IS NOT NULL THEN 'policy'
               -- Everything else would have to be made before the routines that it calls.
               WHEN object.calls THEN NULL
               WHEN b.oid IS NOT NULL THEN 'publication'
               WHEN a.attgenerated <> '' THEN 'generated'
               WHEN i.only AND i.attached THEN NULL
               WHEN c.oid IS NOT NULL AND object.depth = 1 AND NOT i.only THEN 'rebuilt index'
               WHEN s.oid IS NOT NULL AND object.depth = 1 THEN 'rebuilt statistics'
               WHEN k.oid IS NOT NULL AND object.depth = 1 THEN 'rebuilt constraint'
               WHEN i.indexrelid IS NOT NULL THEN 'index'
               WHEN k.contype IN ('c', 'u', 'p', 'x') THEN 'constraint'
               WHEN s.oid IS NOT NULL THEN 'statistics'
           END,
           object.classid, object.objid,
           coalesce(r.ev_class, t.tgrelid, p.polrelid, b.prrelid, a.attrelid, i.indrelid, k.conrelid,
                    s.stxrelid),
           object.depth
        FROM object
        LEFT JOIN pg_rewrite r ON object.classid = 'pg_rewrite'::regclass AND r.oid = object.objid
        LEFT JOIN pg_proc q ON object.classid = 'pg_proc'::regclass AND q.oid = object.objid
        LEFT JOIN pg_trigger t ON object.classid = 'pg_trigger'::regclass AND t.oid = object.objid
        LEFT JOIN pg_policy p ON object.classid = 'pg_policy'::regclass AND p.oid = object.objid
        LEFT JOIN pg_publication_rel b
               ON object.classid = 'pg_publication_rel'::regclass AND b.oid = object.objid
        LEFT JOIN pg_attrdef f ON object.classid = 'pg_attrdef'::regclass AND f.oid = object.objid
        LEFT JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        LEFT JOIN pg_class c ON object.classid = 'pg_class'::regclass AND c.oid = object.objid
        -- An index ON ONLY a partitioned table, which the server would make again for all partitions.
        LEFT JOIN LATERAL (
            SELECT indexrelid, indrelid, c.relkind = 'I' AND NOT indisvalid AS only,
                   EXISTS (SELECT FROM pg_inherits WHERE inhparent = indexrelid)
                   OR EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) AS attached,
                   EXISTS (SELECT FROM snowflake.conversion_definition('rebuilt index', indexrelid)) AS forgetful
                FROM pg_index WHERE indexrelid = c.oid
        ) i ON true
        LEFT JOIN pg_constraint k ON object.classid = 'pg_constraint'::regclass AND k.oid = object.objid
        LEFT JOIN pg_statistic_ext s
               ON object.classid = 'pg_statistic_ext'::regclass AND s.oid = object.objid
        -- What belongs to another one comes and goes with it: clones of a trigger on partitions,
        -- triggers of constraints, plain defaults, owned sequences, not-null constraints, the TOAST
        -- table of a materialized view.
        WHERE NOT coalesce(t.tgisinternal OR t.tgparentid <> 0, false)
          AND NOT coalesce(a.attgenerated = '' AND NOT object.calls, false)
          AND NOT coalesce(c.relkind IN ('S', 't'), false)
          AND NOT coalesce(k.contype IN ('n', 't'), false)
          -- These the server makes again when it alters the column that they are on; only some of what
          -- they had it forgets.
          AND NOT (object.depth = 1
                   AND (k.oid IS NOT NULL
                            AND (k.conparentid <> 0
                                 OR NOT EXISTS (SELECT FROM snowflake.conversion_constraint_triggers(k.oid)))
                        OR i.indexrelid IS NOT NULL AND NOT (i.only OR i.forgetful)
                        OR s.oid IS NOT NULL AND coalesce(s.stxstattarget, -1) < 0
                           AND s.stxowner = quote_ident(current_user)::regrole))
$function$;
COMMENT ON FUNCTION snowflake.conversion_dependents(snowflake.conversion_column[]) IS
    'objects that depend on those of the columns that are widened';

-- A server that gives not-null constraints names (PostgreSQL 18) makes them again with the column, a
-- parent's before those of its children, which then must not have other names. Unless the parent's is
-- out of the way in the meantime.
CREATE FUNCTION snowflake.conversion_not_nulls(
        columns snowflake.conversion_column[],
        OUT relid regclass, OUT attnum smallint, OUT attname name,
        OUT conid oid,          -- the constraint of the table that the others inherit from
        OUT is_droppable boolean)
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    WITH RECURSIVE named AS MATERIALIZED (
        SELECT k.oid, k.conrelid AS relid, a.attname, k.conname
            FROM pg_constraint k
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
            WHERE k.contype = 'n' AND k.conislocal
    ),
    -- With the names between the top and the table.
    tree(top, attnum, attname, relid, above) AS (
        SELECT c.relid, c.attnum, c.attname, c.relid::oid, '{}'::name[]
            FROM unnest(columns) c
            WHERE c.widened AND NOT c.is_inherited
        UNION ALL
        SELECT t.top, t.attnum, t.attname, i.inhrelid,
               t.above || ARRAY(SELECT n.conname FROM named n
                                    WHERE n.relid = t.relid AND n.attname = t.attname AND t.relid <> t.top)
            FROM tree t JOIN pg_inherits i ON i.inhparent = t.relid
    )
    SELECT t.top, t.attnum, t.attname, first.oid,
           first.oid IS NOT NULL AND NOT bool_or(own.conname <> ANY (t.above))
           AND NOT EXISTS (SELECT FROM pg_index
                               WHERE indrelid = t.top AND (indisprimary OR indisreplident)
                                 AND t.attnum = ANY (indkey::smallint[]))
        FROM tree t
        JOIN named own ON own.relid = t.relid AND own.attname = t.attname
        LEFT JOIN named first ON first.relid = t.top AND first.attname = t.attname
        WHERE t.relid <> t.top AND (own.conname <> first.conname OR own.conname <> ANY (t.above))
        GROUP BY t.top, t.attnum, t.attname, first.oid
$function$;
COMMENT ON FUNCTION snowflake.conversion_not_nulls(snowflake.conversion_column[]) IS
    'columns to be widened whose not-null constraints have other names in tables that inherit them';
