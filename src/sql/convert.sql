-- Turning an existing sequence, with all that hangs on it, into a snowflake sequence; and back.
--
--   conversion_columns      the columns that change, and how
--   conversion_dependents   what the server does not alter a column under
--   conversion_definition   the commands that make one of those again, just as it is
--   conversion_obstacles    what the conversion cannot take along
--   conversion_plan         all commands of the conversion, in order
--   conversion_run          runs them, for
--   convert_sequence_to_snowflake
--   convert_snowflake_to_sequence   is the way back
--
-- All of them run with a fixed search_path: names come out schema-qualified, and no object of the
-- caller's can stand in for another. Those that read the catalog do so without JIT: the planner
-- expects far more rows of the recursions than there are, and to compile them would take seconds.

CREATE FUNCTION snowflake.conversion_columns(
        seq regclass,
        OUT relid regclass, OUT attnum smallint, OUT attname name,
        OUT is_identity boolean,   -- the column's identity is the sequence
        OUT old_default text, OUT new_default text, -- NULL: the default does not change
        OUT widened boolean,       -- becomes a bigint
        OUT is_inherited boolean)  -- altered together with the same column of a parent
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
    WITH RECURSIVE
    -- How the server prints the sequence as an argument of nextval.
    argument(text) AS (
        SELECT '''' || replace(seq::text, '''', '''''') || '''::regclass'
    ),
    defaults AS (
        SELECT f.adrelid AS relid, f.adnum AS attnum, e.old_default,
               regexp_replace(e.old_default,
                              '(?<![[:alnum:]_$."])nextval\('
                                  || regexp_replace(argument.text, '([^[:alnum:]_])', '\\\1', 'g')
                                  || '\)',
                              'snowflake.nextval(' || replace(argument.text, '\', '\\') || ')',
                              'g') AS new_default
            FROM argument, pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            CROSS JOIN LATERAL (SELECT pg_get_expr(f.adbin, f.adrelid) AS old_default) e
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
    ),
    sources AS (
        SELECT relid, attnum, false AS is_identity, old_default,
               nullif(new_default, old_default) AS new_default
            FROM defaults
        UNION ALL
        SELECT d.refobjid, d.refobjsubid, true, NULL, 'snowflake.nextval(' || argument.text || ')'
            FROM argument, pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
              AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
    ),
    -- All columns that hold values of these: through foreign keys from the referenced to the
    -- referencing column, and up and down the inheritance.
    linked(relid, attnum) AS (
        SELECT relid::oid, attnum::smallint FROM sources
        UNION
        SELECT next.relid, next.attnum
            FROM linked
            JOIN pg_attribute here ON here.attrelid = linked.relid AND here.attnum = linked.attnum
            CROSS JOIN LATERAL (
                -- By way of pg_depend, which has an index on what is referenced.
                SELECT k.conrelid, k.conkey[i]
                    FROM pg_depend d
                    JOIN pg_constraint k ON k.oid = d.objid
                    CROSS JOIN LATERAL generate_subscripts(k.confkey, 1) i
                    WHERE d.classid = 'pg_constraint'::regclass
                      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = linked.relid
                      AND d.refobjsubid = linked.attnum
                      AND k.contype = 'f' AND k.confrelid = linked.relid
                      AND k.confkey[i] = linked.attnum
                UNION ALL
                SELECT a.attrelid, a.attnum
                    FROM (SELECT inhrelid FROM pg_inherits WHERE inhparent = linked.relid
                          UNION ALL
                          SELECT inhparent FROM pg_inherits WHERE inhrelid = linked.relid) h(relid)
                    JOIN pg_attribute a ON a.attrelid = h.relid AND a.attname = here.attname
                    WHERE NOT a.attisdropped
            ) next(relid, attnum)
    )
    SELECT a.attrelid, a.attnum, a.attname, coalesce(s.is_identity, false), s.old_default,
           -- The partitions of an identity column share it.
           CASE WHEN s.relid IS NULL AND a.attidentity <> '' THEN
               (SELECT new_default FROM sources WHERE is_identity)
           ELSE s.new_default END,
           t.relkind IN ('r', 'p', 'f') AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype),
           a.attinhcount > 0
        FROM linked l
        JOIN pg_class t ON t.oid = l.relid
        JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.attnum
        LEFT JOIN sources s ON s.relid = l.relid AND s.attnum = l.attnum
$function$;
COMMENT ON FUNCTION snowflake.conversion_columns(regclass) IS
    'columns that the conversion of a sequence looks at, and what becomes of them';

CREATE FUNCTION snowflake.conversion_dependents(
        seq regclass,
        OUT kind text,     -- view, rule, trigger, policy, publication, generated, index, constraint,
                           -- statistics; rebuilt index, rebuilt statistics: the server makes it again,
                           -- without all it had; NULL: one that cannot be carried over
        OUT classid oid, OUT objid oid,
        OUT relid regclass, -- the relation that it is, or is on
        OUT depth integer)  -- greater than that of all it depends on itself
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    -- A node is a column to be widened, a generated column or, with attnum 0, a view. With attnum -1
    -- it is the row type of a table: a materialized view that stores rows of it is in the way, too.
    WITH RECURSIVE node(relid, attnum, classid, objid, depth) AS (
        SELECT relid::oid, attnum::integer, 0::oid, 0::oid, 0
            FROM snowflake.conversion_columns(seq) WHERE widened
        UNION
        SELECT relid, -1, 0, 0, 0
            FROM snowflake.conversion_columns(seq) WHERE widened
        UNION
        SELECT next.relid, next.attnum, d.classid, d.objid, node.depth + 1
            FROM node
            JOIN pg_class n ON n.oid = node.relid
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
            ) d
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                                  AND r.rulename = '_RETURN'
            LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
            LEFT JOIN pg_attribute g ON g.attrelid = f.adrelid AND g.attnum = f.adnum
                                    AND g.attgenerated <> ''
            CROSS JOIN LATERAL (
                SELECT coalesce(r.ev_class, g.attrelid, 0), coalesce(g.attnum, 0)
            ) next(relid, attnum)
            -- A view's rule and type are the view.
            WHERE r.ev_class IS DISTINCT FROM node.relid
              AND NOT (d.classid = 'pg_type'::regclass AND d.deptype = 'i')
              -- A generated column's expression is the column.
              AND (g.attrelid, g.attnum::integer) IS DISTINCT FROM (node.relid, node.attnum)
    ),
    found AS (
        SELECT node.classid, node.objid, max(node.depth) AS depth
            FROM node WHERE node.depth > 0 GROUP BY node.classid, node.objid
    )
    SELECT CASE
               WHEN r.rulename = '_RETURN' THEN 'view'
               WHEN r.oid IS NOT NULL THEN 'rule'
               WHEN t.oid IS NOT NULL THEN 'trigger'
               WHEN p.oid IS NOT NULL THEN 'policy'
               WHEN b.oid IS NOT NULL THEN 'publication'
               WHEN a.attgenerated <> '' THEN 'generated'
               WHEN i.only AND i.attached THEN NULL
               WHEN c.oid IS NOT NULL AND found.depth = 1 AND NOT i.only THEN 'rebuilt index'
               WHEN s.oid IS NOT NULL AND found.depth = 1 THEN 'rebuilt statistics'
               WHEN i.indexrelid IS NOT NULL THEN 'index'
               WHEN k.contype IN ('c', 'u', 'p', 'x') THEN 'constraint'
               WHEN s.oid IS NOT NULL THEN 'statistics'
           END,
           found.classid, found.objid,
           coalesce(r.ev_class, t.tgrelid, p.polrelid, b.prrelid, a.attrelid, i.indrelid, k.conrelid,
                    s.stxrelid),
           found.depth
        FROM found
        LEFT JOIN pg_rewrite r ON found.classid = 'pg_rewrite'::regclass AND r.oid = found.objid
        LEFT JOIN pg_trigger t ON found.classid = 'pg_trigger'::regclass AND t.oid = found.objid
        LEFT JOIN pg_policy p ON found.classid = 'pg_policy'::regclass AND p.oid = found.objid
        LEFT JOIN pg_publication_rel b
               ON found.classid = 'pg_publication_rel'::regclass AND b.oid = found.objid
        LEFT JOIN pg_attrdef f ON found.classid = 'pg_attrdef'::regclass AND f.oid = found.objid
        LEFT JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        LEFT JOIN pg_class c ON found.classid = 'pg_class'::regclass AND c.oid = found.objid
        -- An index ON ONLY a partitioned table, which the server would make again for all partitions.
        LEFT JOIN LATERAL (
            SELECT indexrelid, indrelid, c.relkind = 'I' AND NOT indisvalid AS only,
                   EXISTS (SELECT FROM pg_inherits WHERE inhparent = indexrelid)
                   OR EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) AS attached,
                   EXISTS (SELECT FROM pg_depend x
                               WHERE x.classid = found.classid AND x.objid = found.objid
                                 AND x.deptype = 'x') AS extended
                FROM pg_index WHERE indexrelid = c.oid
        ) i ON true
        LEFT JOIN pg_constraint k ON found.classid = 'pg_constraint'::regclass AND k.oid = found.objid
        LEFT JOIN pg_statistic_ext s
               ON found.classid = 'pg_statistic_ext'::regclass AND s.oid = found.objid
        -- What belongs to another one comes and goes with it: clones of a trigger on partitions,
        -- triggers of constraints, plain defaults, owned sequences, not-null constraints, the TOAST
        -- table of a materialized view.
        WHERE NOT coalesce(t.tgisinternal OR t.tgparentid <> 0, false)
          AND NOT coalesce(a.attgenerated = '', false)
          AND NOT coalesce(c.relkind IN ('S', 't'), false)
          AND NOT coalesce(k.contype IN ('n', 't'), false)
          -- These the server makes again when it alters the column that they are on; only some of what
          -- they had it forgets.
          AND NOT (found.depth = 1
                   AND (k.oid IS NOT NULL
                        OR i.indexrelid IS NOT NULL AND NOT (i.only OR i.extended)
                        OR s.oid IS NOT NULL AND coalesce(s.stxstattarget, -1) < 0
                           AND s.stxowner = current_user::regrole))
$function$;
COMMENT ON FUNCTION snowflake.conversion_dependents(regclass) IS
    'objects that depend on columns which the conversion of a sequence widens';

-- What stands behind every object that is made again: its comment and its security labels.
CREATE FUNCTION snowflake.conversion_annotations(classid oid, objid oid, target text)
    RETURNS SETOF text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT format('COMMENT ON %s IS %L', target, d.description)
        FROM pg_description d
        WHERE d.classoid = classid AND d.objoid = objid AND d.objsubid = 0
    UNION ALL
    SELECT format('SECURITY LABEL FOR %I ON %s IS %L', l.provider, target, l.label)
        FROM pg_seclabel l
        WHERE l.classoid = classid AND l.objoid = objid AND l.objsubid = 0
    UNION ALL
    SELECT format('ALTER %s DEPENDS ON EXTENSION %I', target, e.extname)
        FROM pg_depend d
        JOIN pg_extension e ON e.oid = d.refobjid
        WHERE d.classid = conversion_annotations.classid AND d.objid = conversion_annotations.objid
          AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'x'
$function$;
COMMENT ON FUNCTION snowflake.conversion_annotations(oid, oid, text) IS
    'commands that give an object the comment, security labels and extension dependencies it has';

-- The rights on a relation, column rights included, with which nothing is left of what default
-- privileges may have given it.
CREATE FUNCTION snowflake.conversion_rights(relation regclass)
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    WITH class AS (
        SELECT c.relnamespace, c.relowner, c.relacl,
               CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS type,
               CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r'::"char" END AS acl_type,
               CASE c.relkind WHEN 'S' THEN 'S'::"char" ELSE 'r'::"char" END AS given_type
            FROM pg_class c WHERE c.oid = relation
    ),
    given AS (
        SELECT d.defaclacl FROM class, pg_default_acl d
            WHERE d.defaclrole IN (class.relowner, current_user::regrole)
              AND d.defaclobjtype = class.given_type
              AND d.defaclnamespace IN (0, class.relnamespace)
    ),
    -- Nothing to do where the rights are the built-in ones and will be.
    touched AS (
        SELECT * FROM class WHERE relacl IS NOT NULL OR EXISTS (SELECT FROM given)
    ),
    role(oid, name) AS (
        SELECT 0::oid, 'PUBLIC' UNION ALL SELECT oid, quote_ident(rolname) FROM pg_roles
    ),
    right_given AS (
        SELECT x.grantor, x.grantee, x.is_grantable, 0 AS attnum,
               string_agg(x.privilege_type, ', ') AS privileges
            FROM touched,
                 aclexplode(coalesce(touched.relacl, acldefault(touched.acl_type, touched.relowner))) x
            GROUP BY x.grantor, x.grantee, x.is_grantable
        UNION ALL
        SELECT x.grantor, x.grantee, x.is_grantable, a.attnum,
               format('%s (%I)', x.privilege_type, a.attname)
            FROM pg_attribute a
            CROSS JOIN LATERAL aclexplode(a.attacl) x
            WHERE a.attrelid = relation AND NOT a.attisdropped
    )
    SELECT format('REVOKE ALL ON %s %s FROM %s', touched.type, relation,
                  string_agg(role.name, ', ' ORDER BY role.oid))
        FROM touched, role
        WHERE role.oid IN (0, touched.relowner)
           OR role.oid IN (SELECT x.grantee FROM given, aclexplode(given.defaclacl) x)
        GROUP BY touched.type
    UNION ALL
    (SELECT line.command
        FROM right_given g
        JOIN class ON true
        JOIN role ON role.oid = g.grantee
        CROSS JOIN LATERAL (
            SELECT format('GRANT %s ON %s %s TO %s%s', g.privileges, class.type, relation, role.name,
                          CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
        ) command(text)
        -- Who passed on a right of his passes it on again, where the caller can speak for him.
        CROSS JOIN LATERAL unnest(
            CASE WHEN g.grantor = class.relowner OR NOT pg_has_role(g.grantor, 'MEMBER')
                 THEN ARRAY[command.text]
                 ELSE ARRAY[format('SET LOCAL ROLE %I', pg_get_userbyid(g.grantor)), command.text,
                            format('SET LOCAL ROLE %I', current_user)]
            END) WITH ORDINALITY line(command, n)
        ORDER BY g.grantor <> class.relowner, g.attnum, NOT g.is_grantable, role.oid, g.grantor,
                 g.privileges, line.n)
$function$;
COMMENT ON FUNCTION snowflake.conversion_rights(regclass) IS
    'commands that give a relation the rights it has';

CREATE FUNCTION snowflake.conversion_definition(kind text, objid oid)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    o record;
    col record;
BEGIN
    CASE kind
    WHEN 'view' THEN
        SELECT c.oid, c.oid::regclass AS name, c.relowner, c.relkind = 'm' AS materialized,
               CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS type,
               CASE c.relpersistence WHEN 't' THEN 'TEMPORARY ' ELSE '' END AS persistence,
               rtrim(pg_get_viewdef(c.oid), ';') AS query, c.relispopulated,
               ' USING ' || quote_ident(m.amname) AS method,
               ' TABLESPACE ' || quote_ident(s.spcname) AS tablespace,
               (SELECT ' WITH (' || string_agg(format('%I = %L', x.option_name, x.option_value), ', ')
                                || ')'
                    FROM pg_options_to_table(c.reloptions) x) AS options
            INTO o
            FROM pg_rewrite r
            JOIN pg_class c ON c.oid = r.ev_class
            LEFT JOIN pg_am m ON m.oid = c.relam
            LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
            WHERE r.oid = objid;
        RETURN NEXT concat('CREATE ', o.persistence, o.type, ' ', o.name, o.method, o.options,
                           o.tablespace, ' AS', E'\n', o.query,
                           CASE WHEN o.materialized THEN E'\n  WITH NO DATA' END);
        FOR col IN
            SELECT a.attname, a.attnum, pg_get_expr(f.adbin, f.adrelid) AS "default",
                   col_description(a.attrelid, a.attnum) AS comment,
                   nullif(a.attstattarget, -1) AS statistics,
                   -- The server keeps notes of its own among the options.
                   (SELECT string_agg(x, ', ') FROM unnest(a.attoptions) x WHERE x LIKE 'n\_distinct%')
                       AS options,
                   CASE WHEN a.attstorage <> y.typstorage THEN a.attstorage END AS storage,
                   nullif(a.attcompression, '') AS compression
                FROM pg_attribute a
                JOIN pg_type y ON y.oid = a.atttypid
                LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
                WHERE a.attrelid = o.oid AND a.attnum > 0
                ORDER BY a.attnum
        LOOP
            IF col."default" IS NOT NULL THEN
                RETURN NEXT format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s',
                                   o.name, col.attname, col."default");
            END IF;
            IF o.materialized AND col.statistics IS NOT NULL THEN
                RETURN NEXT format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %I SET STATISTICS %s',
                                   o.name, col.attname, col.statistics);
            END IF;
            IF o.materialized AND col.options IS NOT NULL THEN
                RETURN NEXT format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %I SET (%s)',
                                   o.name, col.attname, col.options);
            END IF;
            IF o.materialized AND col.storage IS NOT NULL THEN
                RETURN NEXT format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %I SET STORAGE %s',
                                   o.name, col.attname,
                                   CASE col.storage WHEN 'p' THEN 'PLAIN' WHEN 'm' THEN 'MAIN'
                                                    WHEN 'e' THEN 'EXTERNAL' ELSE 'EXTENDED' END);
            END IF;
            IF o.materialized AND col.compression IS NOT NULL THEN
                RETURN NEXT format('ALTER MATERIALIZED VIEW %s ALTER COLUMN %I SET COMPRESSION %s',
                                   o.name, col.attname,
                                   CASE col.compression WHEN 'l' THEN 'lz4' ELSE 'pglz' END);
            END IF;
            IF col.comment IS NOT NULL THEN
                RETURN NEXT format('COMMENT ON COLUMN %s.%I IS %L', o.name, col.attname, col.comment);
            END IF;
        END LOOP;
        RETURN QUERY SELECT format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', l.provider, o.name,
                                   a.attname, l.label)
            FROM pg_seclabel l
            JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
            WHERE l.classoid = 'pg_class'::regclass AND l.objoid = o.oid AND l.objsubid > 0;
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_class'::regclass, o.oid, format('%s %s', o.type, o.name));
        IF o.relowner <> current_user::regrole THEN
            RETURN NEXT format('ALTER %s %s OWNER TO %I', o.type, o.name,
                               pg_get_userbyid(o.relowner));
        END IF;
        RETURN QUERY SELECT snowflake.conversion_rights(o.name);
        -- Only now, as its owner: what its query calls must not run as whoever converts.
        IF o.materialized AND o.relispopulated THEN
            RETURN NEXT format('REFRESH MATERIALIZED VIEW %s', o.name);
        END IF;

    WHEN 'generated' THEN
        -- The column is added by the command that widens the others.
        SELECT a.attrelid::regclass AS relation, a.attname AS name, a.attacl,
               nullif(a.attstattarget, -1) AS statistics,
               col_description(a.attrelid, a.attnum) AS comment INTO o
            FROM pg_attrdef f
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE f.oid = objid;
        IF o.statistics IS NOT NULL THEN
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', o.relation, o.name,
                               o.statistics);
        END IF;
        IF o.comment IS NOT NULL THEN
            RETURN NEXT format('COMMENT ON COLUMN %s.%I IS %L', o.relation, o.name, o.comment);
        END IF;
        RETURN QUERY SELECT format('GRANT %s (%I) ON TABLE %s TO %s%s', x.privilege_type, o.name, o.relation,
                                   CASE x.grantee WHEN 0 THEN 'PUBLIC'
                                        ELSE quote_ident(pg_get_userbyid(x.grantee)) END,
                                   CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END)
            FROM aclexplode(o.attacl) x;

    WHEN 'index' THEN
        SELECT i.indexrelid::regclass AS name, i.indrelid::regclass AS relation, i.indisclustered,
               c.relkind INTO o
            FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE i.indexrelid = objid;
        RETURN NEXT pg_get_indexdef(objid);
        IF o.indisclustered THEN
            RETURN NEXT format('ALTER %s %s CLUSTER ON %I',
                               CASE o.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
                               o.relation, (SELECT relname FROM pg_class WHERE oid = objid));
        END IF;
        RETURN QUERY SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', o.name, a.attnum,
                                   a.attstattarget)
            FROM pg_attribute a WHERE a.attrelid = objid AND a.attstattarget >= 0;
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_class'::regclass, objid, format('INDEX %s', o.name));

    WHEN 'rebuilt index' THEN
        RETURN QUERY SELECT x
            FROM snowflake.conversion_annotations(
                'pg_class'::regclass, objid, format('INDEX %s', objid::regclass)) x
            WHERE x LIKE 'ALTER %';

    WHEN 'constraint' THEN
        SELECT k.conname, k.conrelid::regclass AS relation INTO o
            FROM pg_constraint k WHERE k.oid = objid;
        RETURN NEXT format('ALTER TABLE %s ADD CONSTRAINT %I %s', o.relation, o.conname,
                           pg_get_constraintdef(objid));
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_constraint'::regclass, objid, format('CONSTRAINT %I ON %s', o.conname, o.relation));

    WHEN 'rebuilt statistics' THEN
        SELECT format('%I.%I', n.nspname, s.stxname) AS name, s.stxowner, s.stxstattarget INTO o
            FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
            WHERE s.oid = objid;
        IF o.stxstattarget >= 0 THEN
            RETURN NEXT format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.stxstattarget);
        END IF;
        -- Minor versions differ in whether the server keeps the owner.
        IF o.stxowner <> current_user::regrole THEN
            RETURN NEXT format('ALTER STATISTICS %s OWNER TO %I', o.name, pg_get_userbyid(o.stxowner));
        END IF;

    WHEN 'statistics' THEN
        SELECT format('%I.%I', n.nspname, s.stxname) AS name, s.stxowner, s.stxstattarget INTO o
            FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
            WHERE s.oid = objid;
        RETURN NEXT pg_get_statisticsobjdef(objid);
        IF o.stxstattarget >= 0 THEN
            RETURN NEXT format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.stxstattarget);
        END IF;
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_statistic_ext'::regclass, objid, format('STATISTICS %s', o.name));
        IF o.stxowner <> current_user::regrole THEN
            RETURN NEXT format('ALTER STATISTICS %s OWNER TO %I', o.name, pg_get_userbyid(o.stxowner));
        END IF;

    WHEN 'rule' THEN
        SELECT r.rulename AS name, r.ev_class::regclass AS relation, r.ev_enabled AS enabled INTO o
            FROM pg_rewrite r WHERE r.oid = objid;
        RETURN NEXT rtrim(pg_get_ruledef(objid), ';');
        IF o.enabled <> 'O' THEN
            RETURN NEXT format('ALTER TABLE %s %s RULE %I', o.relation,
                               CASE o.enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
                                              ELSE 'ENABLE ALWAYS' END, o.name);
        END IF;
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_rewrite'::regclass, objid, format('RULE %I ON %s', o.name, o.relation));

    WHEN 'trigger' THEN
        SELECT t.tgname AS name, t.tgrelid::regclass AS relation, t.tgenabled AS enabled INTO o
            FROM pg_trigger t WHERE t.oid = objid;
        RETURN NEXT pg_get_triggerdef(objid);
        IF o.enabled <> 'O' THEN
            RETURN NEXT format('ALTER TABLE %s %s TRIGGER %I', o.relation,
                               CASE o.enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
                                              ELSE 'ENABLE ALWAYS' END, o.name);
        END IF;
        -- The triggers that stand for it on the partitions have states of their own.
        RETURN QUERY
            WITH RECURSIVE clone AS (
                SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled FROM pg_trigger t WHERE t.tgparentid = objid
                UNION ALL
                SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled
                    FROM clone JOIN pg_trigger t ON t.tgparentid = clone.oid
            )
            SELECT format('ALTER TABLE ONLY %s %s TRIGGER %I', clone.tgrelid::regclass,
                          CASE clone.tgenabled WHEN 'O' THEN 'ENABLE' WHEN 'D' THEN 'DISABLE'
                                               WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END,
                          clone.tgname)
                FROM clone WHERE clone.tgenabled <> o.enabled;
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_trigger'::regclass, objid, format('TRIGGER %I ON %s', o.name, o.relation));

    WHEN 'policy' THEN
        SELECT p.polname AS name, p.polrelid::regclass AS relation,
               CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS type,
               CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                             WHEN 'd' THEN 'DELETE' ELSE 'ALL' END AS command,
               (SELECT string_agg(CASE x WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x)) END,
                                  ', ')
                    FROM unnest(p.polroles) x) AS roles,
               ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')' AS using_clause,
               ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')' AS check_clause
            INTO o
            FROM pg_policy p WHERE p.oid = objid;
        RETURN NEXT concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', o.name, o.relation,
                                  o.type, o.command, o.roles),
                           o.using_clause, o.check_clause);
        RETURN QUERY SELECT snowflake.conversion_annotations(
            'pg_policy'::regclass, objid, format('POLICY %I ON %s', o.name, o.relation));

    WHEN 'publication' THEN
        SELECT p.pubname AS name, b.prrelid::regclass AS relation,
               (SELECT format(' (%s)', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum))
                    FROM pg_attribute a
                    WHERE a.attrelid = b.prrelid AND a.attnum = ANY (b.prattrs::smallint[])
                    HAVING count(*) > 0) AS columns,
               ' WHERE (' || pg_get_expr(b.prqual, b.prrelid) || ')' AS row_filter
            INTO o
            FROM pg_publication_rel b JOIN pg_publication p ON p.oid = b.prpubid WHERE b.oid = objid;
        RETURN NEXT concat(format('ALTER PUBLICATION %I ADD TABLE ONLY %s', o.name, o.relation),
                           o.columns, o.row_filter);
    END CASE;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_definition(text, oid) IS
    'commands that make an object again that the conversion of a sequence drops';

CREATE FUNCTION snowflake.conversion_obstacles(seq regclass)
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
    WITH col AS MATERIALIZED (SELECT * FROM snowflake.conversion_columns(seq)),
    dependent AS MATERIALIZED (SELECT * FROM snowflake.conversion_dependents(seq)),
    argument(text) AS (
        SELECT '''' || replace(seq::text, '''', '''''') || '''::regclass'
    )
    -- Other users of the sequence would go on calling the server's nextval.
    SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses the sequence'
        FROM argument, pg_depend d
        LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
          AND d.classid <> 'pg_attrdef'::regclass
          AND NOT EXISTS (SELECT FROM pg_depend e
                              JOIN pg_extension x ON x.oid = e.refobjid AND x.extname = 'snowflake'
                              WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')
          -- A view that only looks at the sequence may do so, unless the sequence is made anew.
          AND (r.oid IS NULL OR strpos(pg_get_ruledef(r.oid), argument.text) > 0
               OR EXISTS (SELECT FROM col WHERE is_identity))
    UNION ALL
    SELECT format('default of column %I of table %s uses the sequence in another way than by nextval: %s',
                  attname, relid, old_default)
        FROM argument, col
        WHERE old_default IS NOT NULL
          AND (strpos(coalesce(new_default, old_default), 'snowflake.nextval(' || argument.text || ')') = 0
               OR strpos(replace(coalesce(new_default, old_default),
                                 'snowflake.nextval(' || argument.text || ')', ''),
                         argument.text) > 0)
    UNION ALL
    SELECT format('column %I of table %s has the domain %s', col.attname, col.relid, y.oid::regtype)
        FROM col
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        JOIN pg_type y ON y.oid = a.atttypid
        WHERE y.typtype = 'd' AND y.typbasetype IN ('smallint'::regtype, 'integer'::regtype)
    UNION ALL
    -- These take a number from the sequence, but not every ID.
    SELECT format('column %I of %s has the type %s, which cannot hold an ID', col.attname, col.relid,
                  format_type(a.atttypid, a.atttypmod))
        FROM col
        JOIN pg_class t ON t.oid = col.relid
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        JOIN pg_type y ON y.oid = a.atttypid
        CROSS JOIN LATERAL (SELECT coalesce(nullif(y.typbasetype, 0), y.oid),
                                   CASE y.typtype WHEN 'd' THEN y.typtypmod ELSE a.atttypmod END) base(oid, mod)
        WHERE (col.is_identity OR col.old_default IS NOT NULL)
          AND (y.typcategory = 'A'
               OR EXISTS (SELECT FROM pg_type b WHERE b.oid = base.oid AND b.typtype = 'd')
               OR base.oid IN ('real'::regtype, 'double precision'::regtype, 'money'::regtype, 'oid'::regtype)
               OR (t.relkind = 'v' AND base.oid IN ('smallint'::regtype, 'integer'::regtype)
                   AND NOT EXISTS (SELECT FROM dependent
                                       WHERE dependent.kind = 'view' AND dependent.relid = col.relid))
               -- 19 digits: precision and scale, or length, as the server packs them into the modifier.
               OR (base.oid = 'numeric'::regtype AND base.mod >= 4
                   AND ((base.mod - 4) >> 16) - ((base.mod - 4) & 2047) < 19)
               OR (base.oid IN ('varchar'::regtype, 'bpchar'::regtype) AND base.mod BETWEEN 4 AND 22))
    UNION ALL
    SELECT format('default of column %I of table %s casts the number to a type that cannot hold an ID: %s',
                  attname, relid, old_default)
        FROM col
        WHERE old_default ~ '\)::(smallint|integer|real|double precision|money|oid)\M'
    UNION ALL
    SELECT format('default of column %I of table %s may cut the number short: %s', attname, relid, old_default)
        FROM col
        WHERE old_default ~ '\m("left"|"right"|substr|"substring"|substring|to_char)\('
           OR old_default ~ '\m[lr]pad\(.*, (\d|1[0-8])[,)]' -- an ID has 18 or 19 digits
    UNION ALL
    SELECT format('column %I of table %s is part of the partition key', col.attname, col.relid)
        FROM col
        JOIN pg_partitioned_table p ON p.partrelid = col.relid
        WHERE col.widened
          AND (col.attnum = ANY (p.partattrs::smallint[])
               -- The columns of an expression depend on the table.
               OR EXISTS (SELECT FROM pg_depend d
                              WHERE d.classid = 'pg_class'::regclass AND d.objid = col.relid
                                AND d.objsubid = col.attnum AND d.deptype = 'i'
                                AND d.refclassid = 'pg_class'::regclass AND d.refobjid = col.relid
                                AND d.refobjsubid = 0))
    UNION ALL
    SELECT format('column %I of table %s is inherited from several parents', col.attname, col.relid)
        FROM col
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        WHERE col.widened AND a.attinhcount > 1
    UNION ALL
    SELECT format('table %s is of the type %s', col.relid, t.reloftype::regtype)
        FROM col JOIN pg_class t ON t.oid = col.relid
        WHERE col.widened AND t.reloftype <> 0
    UNION ALL
    SELECT DISTINCT format('%s uses the row type of table %s',
                           pg_describe_object(d.classid, d.objid, d.objsubid), col.relid)
        FROM col
        JOIN pg_class t ON t.oid = col.relid
        JOIN pg_type y ON y.oid = t.reltype
        JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
        WHERE col.widened AND d.deptype <> 'i' AND d.classid IN ('pg_class'::regclass, 'pg_type'::regclass)
          -- A view of such rows holds none of them, a materialized view is made again.
          AND NOT (d.classid = 'pg_class'::regclass
                   AND EXISTS (SELECT FROM pg_class WHERE oid = d.objid AND relkind IN ('v', 'm')))
    UNION ALL
    -- What is not the caller's the server does not let him alter or drop.
    SELECT DISTINCT format('%s is not owned by %s', relid, current_user)
        FROM (SELECT relid FROM col WHERE widened OR new_default IS NOT NULL
              UNION SELECT relid FROM dependent
                  WHERE kind IN ('view', 'rule', 'trigger', 'policy', 'index', 'generated')) r
        JOIN pg_class c ON c.oid = r.relid
        WHERE NOT pg_has_role(c.relowner, 'USAGE')
    UNION ALL
    SELECT format('generated column %I of table %s depends on a column to be widened and is not the last column',
                  a.attname, d.relid)
        FROM dependent d
        JOIN pg_attrdef f ON f.oid = d.objid
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE d.kind = 'generated'
          AND (a.attinhcount > 0
               OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = d.relid)
               OR EXISTS (SELECT FROM pg_attribute later
                              WHERE later.attrelid = a.attrelid AND later.attnum > a.attnum
                                AND NOT later.attisdropped
                                AND NOT EXISTS (SELECT FROM dependent e
                                                    JOIN pg_attrdef g ON g.oid = e.objid
                                                    WHERE e.kind = 'generated'
                                                      AND g.adrelid = later.attrelid
                                                      AND g.adnum = later.attnum)))
    UNION ALL
    SELECT format('%s depends on a column to be widened',
                  pg_describe_object(d.classid, d.objid, 0))
        FROM dependent d
        WHERE d.kind IS NULL
           OR EXISTS (SELECT FROM pg_depend e
                          WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')
$function$;
COMMENT ON FUNCTION snowflake.conversion_obstacles(regclass) IS
    'what the conversion of a sequence cannot take along; empty if it can be converted';

CREATE FUNCTION snowflake.conversion_plan(
        seq regclass,
        OUT step integer, OUT command text,
        OUT effect text,      -- what the command means, where it does not say so itself
        OUT rewrites regclass, -- the table that it rewrites, with all that inherit from it
        OUT size bigint)      -- their size in bytes
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
DECLARE
    guard constant bigint := 9223372036854775807;
    s record;
    identity record;
    o record;
    obstacles text[];
    is_ours boolean;
BEGIN
    step := 0;
    SELECT c.oid, c.relname, c.relkind, c.relowner, c.relpersistence, q.* INTO s
        FROM pg_class c LEFT JOIN pg_sequence q ON q.seqrelid = c.oid
        WHERE c.oid = seq;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'sequence with OID % does not exist', seq::oid
            USING ERRCODE = 'undefined_table';
    ELSIF s.relkind <> 'S' THEN
        RAISE EXCEPTION '"%" is not a sequence', s.relname
            USING ERRCODE = 'wrong_object_type';
    ELSIF NOT pg_has_role(s.relowner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of sequence %', s.relname
            USING ERRCODE = 'insufficient_privilege';
    END IF;

    obstacles := ARRAY(SELECT x FROM snowflake.conversion_obstacles(seq) x ORDER BY x COLLATE "C");
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;
    -- Converted already, and nothing has come to use it since. An increment above 1 is then a stride
    -- that somebody has chosen.
    is_ours := EXISTS (SELECT FROM snowflake.conversion_columns(seq)
                           WHERE old_default IS NOT NULL AND new_default IS NULL);
    IF (s.seqincrement = guard OR is_ours AND s.seqincrement > 1)
       AND NOT EXISTS (SELECT FROM snowflake.conversion_columns(seq)
                           WHERE new_default IS NOT NULL OR widened) THEN
        RETURN;
    END IF;

    -- Out of the way, the outermost first.
    FOR o IN
        SELECT d.*, CASE d.kind
                   WHEN 'publication' THEN
                       (SELECT format('ALTER PUBLICATION %I DROP TABLE ONLY %s', p.pubname, d.relid)
                            FROM pg_publication_rel b JOIN pg_publication p ON p.oid = b.prpubid
                            WHERE b.oid = d.objid)
                   WHEN 'policy' THEN
                       (SELECT format('DROP POLICY %I ON %s', polname, d.relid)
                            FROM pg_policy WHERE oid = d.objid)
                   WHEN 'rule' THEN
                       (SELECT format('DROP RULE %I ON %s', rulename, d.relid)
                            FROM pg_rewrite WHERE oid = d.objid)
                   WHEN 'trigger' THEN
                       (SELECT format('DROP TRIGGER %I ON %s', tgname, d.relid)
                            FROM pg_trigger WHERE oid = d.objid)
                   WHEN 'view' THEN
                       (SELECT format('DROP %s %s', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW'
                                                                 ELSE 'VIEW' END, d.relid)
                            FROM pg_class WHERE oid = d.relid)
                   WHEN 'index' THEN format('DROP INDEX %s', d.objid::regclass)
                   WHEN 'generated' THEN
                       (SELECT format('ALTER TABLE ONLY %s DROP COLUMN %I', d.relid, a.attname)
                            FROM pg_attrdef f
                            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                            WHERE f.oid = d.objid)
               END AS drop_command
            FROM snowflake.conversion_dependents(seq) d
            WHERE d.kind IN ('publication', 'policy', 'rule', 'trigger', 'view', 'generated')
               OR d.kind = 'index' AND d.depth = 1 -- the others go with their view or column
            ORDER BY d.kind IN ('view', 'generated'), d.depth DESC, d.objid DESC
    LOOP
        step := step + 1;
        command := o.drop_command;
        effect := format('%s of %s, made again below', o.kind, o.relid);
        IF o.kind = 'view' THEN
            effect := format('view %s, made again below', o.relid);
        END IF;
        RETURN NEXT;
    END LOOP;

    -- An identity column cannot have a default of its own, and its sequence goes with the identity:
    -- a new one takes its name and its place.
    SELECT c.*, t.relowner, a.attidentity, n.nspname INTO identity
        FROM snowflake.conversion_columns(seq) c
        JOIN pg_class t ON t.oid = c.relid
        JOIN pg_class q ON q.oid = seq
        JOIN pg_namespace n ON n.oid = q.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
        WHERE c.is_identity;
    IF FOUND THEN
        FOR o IN
            SELECT * FROM snowflake.conversion_columns(seq)
                WHERE old_default IS NOT NULL ORDER BY relid::oid, attnum
        LOOP
            step := step + 1;
            command := format('ALTER TABLE ONLY %s ALTER COLUMN %I DROP DEFAULT', o.relid, o.attname);
            effect := 'set again below';
            RETURN NEXT;
        END LOOP;
        step := step + 1;
        command := format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', seq, guard);
        effect := format('guards the sequence; SHARE ROW EXCLUSIVE lock on %s', seq);
        RETURN NEXT;
        step := step + 1;
        command := format('CREATE %sSEQUENCE %I.%I AS bigint INCREMENT BY %s MINVALUE %s START WITH %s CACHE %s',
                          CASE s.relpersistence WHEN 'u' THEN 'UNLOGGED ' WHEN 't' THEN 'TEMPORARY ' END,
                          identity.nspname, 'snowflake_' || s.oid, guard, s.seqmin, s.seqstart, s.seqcache);
        effect := format('takes the place of %s', seq);
        RETURN NEXT;
        step := step + 1;
        command := format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s',
                          format('%I.%I', identity.nspname, 'snowflake_' || s.oid), seq);
        effect := 'goes on after the last value';
        RETURN NEXT;
        step := step + 1;
        command := format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', identity.relid, identity.attname);
        effect := format('ACCESS EXCLUSIVE lock on %s%s', identity.relid,
                         CASE identity.attidentity WHEN 'a' THEN '; GENERATED ALWAYS is no longer enforced'
                         END);
        RETURN NEXT;
        step := step + 1;
        command := format('ALTER SEQUENCE %I.%I RENAME TO %I', identity.nspname, 'snowflake_' || s.oid, s.relname);
        effect := NULL;
        RETURN NEXT;
        IF s.relowner <> current_user::regrole THEN
            step := step + 1;
            command := format('ALTER SEQUENCE %s OWNER TO %I', seq, pg_get_userbyid(s.relowner));
            RETURN NEXT;
        END IF;
        step := step + 1;
        command := format('ALTER SEQUENCE %s OWNED BY %s.%I', seq, identity.relid, identity.attname);
        RETURN NEXT;
        FOR command IN
            SELECT snowflake.conversion_rights(seq)
            UNION ALL SELECT snowflake.conversion_annotations(
                'pg_class'::regclass, seq, format('SEQUENCE %s', seq))
        LOOP
            step := step + 1;
            RETURN NEXT;
        END LOOP;
    END IF;

    -- The columns, each table in one go: types first, for the table and all that inherit from it.
    FOR o IN
        WITH g AS MATERIALIZED (
            SELECT * FROM snowflake.conversion_dependents(seq) WHERE kind = 'generated')
        SELECT t.relid,
               string_agg(format('ALTER COLUMN %I TYPE bigint', t.attname), ', ' ORDER BY t.attnum) AS actions,
               (SELECT string_agg(
                           -- Made from wider values, it needs the width itself.
                           concat(format(', ADD COLUMN %I %s', a.attname,
                                         CASE WHEN a.atttypid IN ('smallint'::regtype, 'integer'::regtype)
                                              THEN 'bigint' ELSE format_type(a.atttypid, a.atttypmod) END),
                                  CASE WHEN a.attcollation <> y.typcollation
                                       THEN ' COLLATE ' || a.attcollation::regcollation END,
                                  ' GENERATED ALWAYS AS (', pg_get_expr(f.adbin, f.adrelid),
                                  CASE a.attgenerated WHEN 'v' THEN ') VIRTUAL' ELSE ') STORED' END,
                                  CASE WHEN a.attnotnull THEN
                                      (SELECT format(' CONSTRAINT %I', conname) FROM pg_constraint
                                           WHERE conrelid = a.attrelid AND contype = 'n'
                                             AND conkey = ARRAY[a.attnum])
                                  END,
                                  CASE WHEN a.attnotnull THEN ' NOT NULL' END), '' ORDER BY a.attnum)
                    FROM g
                    JOIN pg_attrdef f ON f.oid = g.objid
                    JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                    JOIN pg_type y ON y.oid = a.atttypid
                    WHERE g.relid = t.relid) AS generated,
               (WITH RECURSIVE tree(relid) AS (
                    SELECT t.relid::oid
                    UNION SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.relid)
                SELECT sum(pg_total_relation_size(tree.relid))::bigint FROM tree) AS size
            FROM snowflake.conversion_columns(seq) t
            WHERE t.widened AND NOT t.is_inherited
            GROUP BY t.relid
            ORDER BY t.relid::oid
    LOOP
        step := step + 1;
        command := concat('ALTER TABLE ', o.relid, ' ', o.actions, o.generated);
        rewrites := o.relid;
        size := o.size;
        effect := format('rewrites table %s (%s); ACCESS EXCLUSIVE lock', o.relid, pg_size_pretty(size));
        RETURN NEXT;
    END LOOP;
    rewrites := NULL;
    size := NULL;

    -- A default of a view is set when the view is there again.
    FOR o IN
        SELECT c.relid, t.relkind,
               string_agg(format('ALTER COLUMN %I SET DEFAULT %s', c.attname, c.new_default), ', '
                          ORDER BY c.attnum) AS actions
            FROM snowflake.conversion_columns(seq) c JOIN pg_class t ON t.oid = c.relid
            WHERE c.new_default IS NOT NULL AND t.relkind <> 'v'
            GROUP BY c.relid, t.relkind
            ORDER BY c.relid::oid
    LOOP
        step := step + 1;
        command := format('ALTER TABLE ONLY %s %s', o.relid, o.actions);
        effect := format('ACCESS EXCLUSIVE lock on %s', o.relid);
        RETURN NEXT;
    END LOOP;

    IF identity IS NULL THEN
        step := step + 1;
        command := format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', seq, guard);
        effect := format('guards the sequence; SHARE ROW EXCLUSIVE lock on %s', seq);
        RETURN NEXT;
        -- The guard works above a value that counts as taken: beyond it the next step leaves bigint.
        step := step + 1;
        command := format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s', seq, seq);
        effect := 'steps past the last value';
        RETURN NEXT;
    END IF;

    -- And back again what was in the way, the innermost first.
    FOR o IN
        SELECT d.kind, d.relid, c AS definition, n
            FROM snowflake.conversion_dependents(seq) d
            CROSS JOIN LATERAL snowflake.conversion_definition(d.kind, d.objid) WITH ORDINALITY x(c, n)
            ORDER BY d.depth, array_position(ARRAY['generated', 'index', 'constraint', 'statistics', 'view'], d.kind),
                     d.objid, n
    LOOP
        step := step + 1;
        command := o.definition;
        effect := CASE WHEN o.n = 1 AND o.kind <> 'generated' THEN format('%s%s as before', o.kind,
                                                CASE o.kind WHEN 'view' THEN ' ' ELSE ' on ' END || o.relid) END;
        RETURN NEXT;
    END LOOP;
    FOR o IN
        SELECT c.relid, c.attname, c.new_default
            FROM snowflake.conversion_columns(seq) c JOIN pg_class t ON t.oid = c.relid
            WHERE c.new_default IS NOT NULL AND t.relkind = 'v'
            ORDER BY c.relid::oid, c.attnum
    LOOP
        step := step + 1;
        command := format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', o.relid, o.attname, o.new_default);
        effect := NULL;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_plan(regclass) IS
    'the commands that convert_sequence_to_snowflake would run, in order, and what each of them means';

CREATE FUNCTION snowflake.conversion_run(seq regclass, caller_search_path text)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    epoch_ms constant bigint := 1672531200000;
    slack_ms constant bigint := 60000; -- a snowflake sequence may itself be ahead of the clock
    large constant bigint := 1024 * 1024; -- bytes from which on a rewrite is announced
    step record;
    started timestamptz;
    steps integer := 0;
    tab regclass;
    col record;
    last bigint;
    columns integer;
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
    FOR tab IN
        SELECT DISTINCT c.relid
            FROM snowflake.conversion_columns(seq) c JOIN pg_class t ON t.oid = c.relid
            WHERE t.relkind IN ('r', 'p')
            ORDER BY 1
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', tab);
    END LOOP;

    EXECUTE format('SELECT last_value FROM %s', seq) INTO last;
    FOR col IN
        SELECT c.relid, c.attname
            FROM snowflake.conversion_columns(seq) c
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
        INTO columns, always
        FROM snowflake.conversion_columns(seq) c
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
        -- a function that takes integers only. All of those are found before the call fails.
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
            WHEN undefined_function OR ambiguous_function OR datatype_mismatch OR indeterminate_datatype
                 OR undefined_table OR undefined_column OR undefined_object THEN
                obstacles := obstacles || format('%s: %s', split_part(step.command, E'\n', 1), SQLERRM);
        END;
        IF step.size >= large THEN
            RAISE NOTICE 'rewrote table % in % s', step.rewrites,
                round(extract(epoch FROM clock_timestamp() - started), 1);
        END IF;
    END LOOP;

    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;

    IF steps = 0 THEN
        RAISE NOTICE 'sequence % is a snowflake sequence already', seq;
    END IF;

    IF always THEN
        RAISE NOTICE 'GENERATED ALWAYS is no longer enforced: the column has a default now';
    END IF;
    RETURN columns;
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
    argument constant text := '''' || replace(seq::text, '''', '''''') || '''::regclass';
    our_call constant text := 'snowflake.nextval(' || argument || ')';
    s record;
    o record;
    obstacles text[];
    columns integer := 0;
BEGIN
    SELECT c.relname, c.relkind, c.relowner, q.seqincrement INTO s
        FROM pg_class c LEFT JOIN pg_sequence q ON q.seqrelid = c.oid
        WHERE c.oid = seq;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'sequence with OID % does not exist', seq::oid
            USING ERRCODE = 'undefined_table';
    ELSIF s.relkind <> 'S' THEN
        RAISE EXCEPTION '"%" is not a sequence', s.relname
            USING ERRCODE = 'wrong_object_type';
    ELSIF NOT pg_has_role(s.relowner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of sequence %', s.relname
            USING ERRCODE = 'insufficient_privilege';
    ELSIF seq = 'snowflake.id_seq'::regclass THEN
        RAISE EXCEPTION 'sequence % belongs to the extension', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Give each column that uses it a sequence of its own: '
                         'CREATE SEQUENCE name; ALTER TABLE name ALTER COLUMN name SET DEFAULT nextval(''name'');';
    END IF;

    FOR o IN
        SELECT DISTINCT f.adrelid::regclass AS tab
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_class t ON t.oid = f.adrelid
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND t.relkind IN ('r', 'p')
            ORDER BY 1
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', o.tab);
    END LOOP;

    -- Whatever else calls snowflake.nextval on the sequence would keep the extension from being dropped.
    obstacles := ARRAY(
        SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses the sequence'
            FROM pg_depend d
            JOIN pg_depend e ON e.classid = d.classid AND e.objid = d.objid
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND d.classid <> 'pg_attrdef'::regclass
              AND e.refclassid = 'pg_proc'::regclass
              AND e.refobjid = 'snowflake.nextval(regclass)'::regprocedure);
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence % back', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;

    FOR o IN
        SELECT f.adrelid::regclass AS tab, a.attname, t.relkind,
               regexp_replace(pg_get_expr(f.adbin, f.adrelid),
                              '(?<![[:alnum:]_$."])' || regexp_replace(our_call, '([^[:alnum:]_])', '\\\1', 'g'),
                              'nextval(' || replace(argument, '\', '\\') || ')', 'g') AS new_default
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_class t ON t.oid = f.adrelid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND strpos(pg_get_expr(f.adbin, f.adrelid), our_call) > 0
            ORDER BY f.adrelid, f.adnum
    LOOP
        columns := columns + 1;
        EXECUTE format('ALTER %s %s ALTER COLUMN %I SET DEFAULT %s',
                       CASE o.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE ONLY' END,
                       o.tab, o.attname, o.new_default);
    END LOOP;
    IF s.seqincrement = guard THEN
        EXECUTE format('ALTER SEQUENCE %s INCREMENT BY 1', seq);
    ELSIF columns = 0 THEN
        RAISE NOTICE 'sequence % is not a snowflake sequence', seq;
    END IF;
    RETURN columns;
END
$function$;
COMMENT ON FUNCTION snowflake.convert_snowflake_to_sequence(regclass) IS
    'make a snowflake sequence and the columns that use it call the server''s own nextval again; returns the number of columns altered';
