-- The commands that make one of these again, just as it is.

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
