-- The commands that make an object again, just as it is.

CREATE FUNCTION snowflake.conversion_extensions(classid oid, objid oid, target text)
    RETURNS SETOF text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT format('ALTER %s DEPENDS ON EXTENSION %I', target, e.extname)
        FROM pg_depend d
        JOIN pg_extension e ON e.oid = d.refobjid
        WHERE d.classid = conversion_extensions.classid AND d.objid = conversion_extensions.objid
          AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'x'
$function$;
COMMENT ON FUNCTION snowflake.conversion_extensions(oid, oid, text) IS
    'commands that let an object depend on the extensions that it depends on';

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
    SELECT snowflake.conversion_extensions(classid, objid, target)
$function$;
COMMENT ON FUNCTION snowflake.conversion_annotations(oid, oid, text) IS
    'commands that give an object the comment, security labels and extension dependencies it has';

-- As the clause of ALTER TABLE that makes a trigger or a rule fire so.
CREATE FUNCTION snowflake.conversion_firing(enabled "char")
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT CASE enabled WHEN 'O' THEN 'ENABLE' WHEN 'D' THEN 'DISABLE'
                        WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' END
$function$;
COMMENT ON FUNCTION snowflake.conversion_firing("char") IS
    'how a trigger or a rule fires, as ALTER TABLE says it';

-- The triggers by which the server enforces a constraint get new names each time they are made.
CREATE FUNCTION snowflake.conversion_set_trigger(
        constrained regclass, constraint_name name, relation regclass, function regproc, firing text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    trigger_name name;
BEGIN
    FOR trigger_name IN
        WITH RECURSIVE family(oid) AS (
            SELECT oid FROM pg_constraint WHERE conrelid = constrained AND conname = constraint_name
            UNION ALL
            SELECT k.oid FROM family JOIN pg_constraint k ON k.conparentid = family.oid
        )
        SELECT t.tgname FROM family JOIN pg_trigger t ON t.tgconstraint = family.oid
            WHERE t.tgrelid = relation AND t.tgfoid = function AND t.tgisinternal
    LOOP
        EXECUTE format('ALTER TABLE ONLY %s %s TRIGGER %I', relation, firing, trigger_name);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_set_trigger(regclass, name, regclass, regproc, text) IS
    'sets how a trigger fires by which the server enforces a constraint on a relation';

CREATE FUNCTION snowflake.conversion_constraint_triggers(constraint_oid oid)
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    WITH RECURSIVE family(oid) AS (
        SELECT constraint_oid
        UNION ALL
        SELECT k.oid FROM family JOIN pg_constraint k ON k.conparentid = family.oid
    )
    SELECT DISTINCT format('SELECT snowflake.conversion_set_trigger(%L, %L, %L, %L, %L)',
                           k.conrelid::regclass, k.conname, t.tgrelid::regclass, t.tgfoid::regproc,
                           snowflake.conversion_firing(t.tgenabled))
        FROM pg_constraint k, family JOIN pg_trigger t ON t.tgconstraint = family.oid
        WHERE k.oid = constraint_oid AND t.tgisinternal AND t.tgenabled <> 'O'
        ORDER BY 1
$function$;
COMMENT ON FUNCTION snowflake.conversion_constraint_triggers(oid) IS
    'commands that make the triggers of a constraint fire as they do, where they are not simply enabled';

CREATE FUNCTION snowflake.conversion_column_settings(type text, relation regclass, only_column name)
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT format('ALTER %s %s ALTER COLUMN %I SET %s', type, relation, a.attname, setting)
        FROM pg_attribute a
        JOIN pg_type y ON y.oid = a.atttypid
        CROSS JOIN LATERAL unnest(ARRAY[
            'STATISTICS ' || nullif(a.attstattarget, -1),
            -- The server keeps notes of its own among the options.
            (SELECT '(' || string_agg(x, ', ') || ')' FROM unnest(a.attoptions) x WHERE x LIKE 'n\_distinct%'),
            'STORAGE ' || CASE WHEN a.attstorage <> y.typstorage THEN
                CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'm' THEN 'MAIN'
                                  WHEN 'e' THEN 'EXTERNAL' ELSE 'EXTENDED' END END,
            'COMPRESSION ' || CASE a.attcompression WHEN 'l' THEN 'lz4' WHEN 'p' THEN 'pglz' END
        ]) setting
        WHERE a.attrelid = relation AND a.attname = only_column AND setting IS NOT NULL
    UNION ALL
    SELECT format('COMMENT ON COLUMN %s.%I IS %L', relation, a.attname, col_description(relation, a.attnum))
        FROM pg_attribute a
        WHERE a.attrelid = relation AND a.attname = only_column
          AND col_description(relation, a.attnum) IS NOT NULL
    UNION ALL
    SELECT format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', l.provider, relation, a.attname, l.label)
        FROM pg_attribute a
        JOIN pg_seclabel l ON l.classoid = 'pg_class'::regclass AND l.objoid = a.attrelid
                          AND l.objsubid = a.attnum
        WHERE a.attrelid = relation AND a.attname = only_column
$function$;
COMMENT ON FUNCTION snowflake.conversion_column_settings(text, regclass, name) IS
    'commands that give a column the settings, comment and security labels it has';

-- What the definition of an index does not say.
CREATE FUNCTION snowflake.conversion_index_settings(index oid, only_forgotten boolean)
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    WITH class AS (
        SELECT c.oid::regclass AS name, c.relname, c.reltablespace, i.indisclustered, i.indisreplident,
               i.indrelid::regclass AS relation,
               CASE t.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END AS type
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_class t ON t.oid = i.indrelid
            WHERE i.indexrelid = index
    )
    SELECT format('ALTER INDEX %s SET TABLESPACE %I', class.name, s.spcname)
        FROM class JOIN pg_tablespace s ON s.oid = class.reltablespace
        WHERE NOT only_forgotten
    UNION ALL
    SELECT format('ALTER %s %s CLUSTER ON %I', type, relation, relname)
        FROM class
        WHERE indisclustered AND NOT only_forgotten
    UNION ALL
    SELECT format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', relation, relname)
        FROM class
        WHERE indisreplident AND NOT only_forgotten
    UNION ALL
    SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', class.name, a.attnum, a.attstattarget)
        FROM class, pg_attribute a WHERE a.attrelid = index AND a.attstattarget >= 0
    UNION ALL
    SELECT annotation.command
        FROM class
        CROSS JOIN LATERAL snowflake.conversion_annotations(
            'pg_class'::regclass, index, format('INDEX %s', class.name)) annotation(command)
        WHERE NOT only_forgotten
    UNION ALL
    SELECT snowflake.conversion_extensions('pg_class'::regclass, index, format('INDEX %s', class.name))
        FROM class
        WHERE only_forgotten
$function$;
COMMENT ON FUNCTION snowflake.conversion_index_settings(oid, boolean) IS
    'commands that give an index what its definition does not say, or only what the server forgets when it makes the index again';

-- The server makes the indexes of partitions together with that of the whole, and chooses their names.
CREATE FUNCTION snowflake.conversion_name_index(whole regclass, partition regclass, index_name name)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    chosen record;
BEGIN
    SELECT c.oid::regclass AS index, c.relname AS name INTO chosen
        FROM pg_partition_tree(whole) part
        JOIN pg_index i ON i.indexrelid = part.relid
        JOIN pg_class c ON c.oid = part.relid
        WHERE i.indrelid = partition;
    IF chosen.name <> index_name THEN
        EXECUTE format('ALTER INDEX %s RENAME TO %I', chosen.index, index_name);
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_name_index(regclass, regclass, name) IS
    'gives the part that a partition has of a partitioned index its name';

CREATE FUNCTION snowflake.conversion_partition_index(index oid)
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT format('SELECT snowflake.conversion_name_index(%L, %L, %L)', pg_partition_root(i.indexrelid),
                  i.indrelid::regclass, c.relname)
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indexrelid = index
    UNION ALL
    SELECT format('ALTER INDEX %s SET (%s)', index::regclass,
                  string_agg(format('%I = %L', x.option_name, x.option_value), ', '))
        FROM pg_class c, pg_options_to_table(c.reloptions) x
        WHERE c.oid = index
        HAVING count(*) > 0
    UNION ALL
    -- It would have that of the whole.
    SELECT format('COMMENT ON INDEX %s IS NULL', index::regclass)
        WHERE obj_description(index, 'pg_class') IS NULL
          AND EXISTS (SELECT FROM pg_partition_ancestors(index) whole
                          WHERE obj_description(whole.relid, 'pg_class') IS NOT NULL)
    UNION ALL
    SELECT snowflake.conversion_index_settings(index, false)
    UNION ALL
    SELECT snowflake.conversion_annotations('pg_constraint'::regclass, k.oid,
                                            format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass))
        FROM pg_constraint k
        WHERE k.conindid = index AND k.contype IN ('p', 'u', 'x')
$function$;
COMMENT ON FUNCTION snowflake.conversion_partition_index(oid) IS
    'commands that give the part that a partition has of a partitioned index what the server forgets of it';

-- An object is made as its owner where that is possible: what the caller makes would be the caller's
-- until it is given to the owner. Where it is not possible, the caller makes it. The server evaluates
-- constants while it parses: where that could run code of users, it is the owner or nobody.
CREATE FUNCTION snowflake._maker(kind text, objid oid)
    RETURNS oid
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    WITH made AS (
        SELECT 'pg_rewrite'::regclass AS class, c.relowner AS owner, c.relnamespace AS namespace,
               c.relpersistence <> 't'
               AND (c.reltablespace = 0 OR has_tablespace_privilege(c.relowner, c.reltablespace, 'CREATE'))
                   AS may_make,
               snowflake._is_harmless_to_parse('pg_rewrite', objid)
               AND NOT EXISTS (SELECT FROM pg_attrdef
                                   WHERE adrelid = c.oid
                                     AND NOT snowflake._is_harmless_to_parse('pg_attrdef', oid)) AS is_harmless
            FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
            WHERE kind = 'view' AND r.oid = objid
        UNION ALL
        SELECT 'pg_proc', p.proowner, p.pronamespace,
               has_language_privilege(p.proowner, p.prolang, 'USAGE')
               AND (l.lanpltrusted OR (SELECT rolsuper FROM pg_roles WHERE oid = p.proowner))
               -- Some of these only a superuser may say.
               AND NOT p.proleakproof AND p.prosupport = 0 AND p.proconfig IS NULL,
               snowflake._is_harmless_to_parse('pg_proc', objid)
            FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE kind = 'routine' AND p.oid = objid
        UNION ALL
        -- What belongs to a table has no owner of its own.
        SELECT x.class, c.relowner, c.relnamespace, false,
               snowflake._is_harmless_to_parse(x.class, objid)
               AND (x.kind NOT IN ('index', 'constraint')
                    OR snowflake._is_harmless_to_evaluate(x.class, objid))
            FROM (VALUES ('rule', 'pg_rewrite'::regclass), ('trigger', 'pg_trigger'), ('policy', 'pg_policy'),
                         ('index', 'pg_class'), ('constraint', 'pg_constraint'),
                         ('statistics', 'pg_statistic_ext')) x(kind, class)
            JOIN pg_class c ON c.oid = snowflake._relation_of(x.class, objid)
            WHERE x.kind = _maker.kind
    )
    SELECT made.owner
        FROM made
        WHERE made.owner <> quote_ident(current_user)::regrole
          AND (NOT made.is_harmless
               OR made.may_make
                  AND snowflake._may_become(made.owner)
                  AND has_schema_privilege(made.owner, made.namespace, 'CREATE')
                  AND snowflake._may_name_references(made.owner, made.class, objid))
$function$;
COMMENT ON FUNCTION snowflake._maker(text, oid) IS
    'role that makes an object again; NULL: the caller';

CREATE FUNCTION snowflake.conversion_definition(
        kind text, objid oid,
        OUT command text, OUT role oid) -- that runs it; NULL: the caller
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    o record;
    is_there boolean;
    maker oid;
BEGIN
    is_there := CASE kind
        WHEN 'view' THEN EXISTS (SELECT FROM pg_rewrite WHERE oid = objid AND rulename = '_RETURN')
        WHEN 'routine' THEN EXISTS (SELECT FROM pg_proc WHERE oid = objid AND prokind <> 'a')
        WHEN 'rule' THEN EXISTS (SELECT FROM pg_rewrite WHERE oid = objid AND rulename <> '_RETURN')
        WHEN 'generated' THEN EXISTS (SELECT FROM pg_attrdef WHERE oid = objid)
        WHEN 'index' THEN EXISTS (SELECT FROM pg_index WHERE indexrelid = objid)
        WHEN 'rebuilt index' THEN EXISTS (SELECT FROM pg_index WHERE indexrelid = objid)
        WHEN 'constraint' THEN EXISTS (SELECT FROM pg_constraint WHERE oid = objid)
        WHEN 'rebuilt constraint' THEN EXISTS (SELECT FROM pg_constraint WHERE oid = objid)
        WHEN 'statistics' THEN EXISTS (SELECT FROM pg_statistic_ext WHERE oid = objid)
        WHEN 'rebuilt statistics' THEN EXISTS (SELECT FROM pg_statistic_ext WHERE oid = objid)
        WHEN 'trigger' THEN EXISTS (SELECT FROM pg_trigger WHERE oid = objid)
        WHEN 'policy' THEN EXISTS (SELECT FROM pg_policy WHERE oid = objid)
        WHEN 'publication' THEN EXISTS (SELECT FROM pg_publication_rel WHERE oid = objid)
    END;
    IF is_there IS NULL THEN
        RAISE EXCEPTION 'unrecognized kind of object: "%"', kind
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF NOT is_there THEN
        RETURN;
    END IF;
    maker := snowflake._maker(kind, objid);
    role := maker;

    CASE kind
    WHEN 'view' THEN
        SELECT c.oid, c.oid::regclass AS name, c.reltype, c.relowner, c.relkind = 'm' AS materialized,
               CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS type,
               CASE c.relpersistence WHEN 't' THEN 'TEMPORARY ' ELSE '' END AS persistence,
               pg_get_viewdef(c.oid) AS query, c.relispopulated,
               ' USING ' || quote_ident(m.amname) AS method,
               ' TABLESPACE ' || quote_ident(s.spcname) AS tablespace,
               (SELECT ' WITH (' || string_agg(format('%s%I = %L', given.prefix, x.option_name,
                                                      x.option_value), ', ') || ')'
                    FROM (VALUES ('', c.reloptions), ('toast.', t.reloptions)) given(prefix, options),
                         pg_options_to_table(given.options) x) AS options,
               CASE WHEN c.relkind = 'm' THEN
                   CASE c.relreplident WHEN 'f' THEN 'FULL' WHEN 'n' THEN 'NOTHING' END
               END AS replica_identity
            INTO o
            FROM pg_rewrite r
            JOIN pg_class c ON c.oid = r.ev_class
            LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
            LEFT JOIN pg_am m ON m.oid = c.relam
            LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
            WHERE r.oid = objid;
        -- The server ends a query with a semicolon.
        command := concat('CREATE ', o.persistence, o.type, ' ', o.name, o.method, o.options,
                           o.tablespace, ' AS', E'\n', left(o.query, -1),
                           CASE WHEN o.materialized THEN E'\n  WITH NO DATA' END);
        RETURN NEXT;
        RETURN QUERY SELECT format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', o.name, a.attname,
                                   pg_get_expr(f.adbin, f.adrelid)), maker
            FROM pg_attribute a
            JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
            WHERE a.attrelid = o.oid
            ORDER BY a.attnum;
        RETURN QUERY SELECT setting, maker
            FROM pg_attribute a, snowflake.conversion_column_settings(o.type, o.name, a.attname) setting
            WHERE a.attrelid = o.oid AND a.attnum > 0;
        IF o.replica_identity IS NOT NULL THEN
            command := format('ALTER %s %s REPLICA IDENTITY %s', o.type, o.name, o.replica_identity);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, maker FROM snowflake.conversion_annotations(
            'pg_class'::regclass, o.oid, format('%s %s', o.type, o.name)) x;
        RETURN QUERY SELECT x, maker FROM snowflake.conversion_annotations(
            'pg_rewrite'::regclass, objid, format('RULE "_RETURN" ON %s', o.name)) x;
        RETURN QUERY SELECT x, maker FROM snowflake.conversion_annotations(
            'pg_type'::regclass, o.reltype, format('TYPE %s', o.name)) x;
        IF o.relowner <> coalesce(maker, quote_ident(current_user)::regrole) THEN
            command := format('ALTER %s %s OWNER TO %I', o.type, o.name,
                               pg_get_userbyid(o.relowner));
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x.command, coalesce(x.role, maker) FROM snowflake.conversion_rights('pg_class'::regclass, o.oid) x;
        -- Only now, as its owner: what its query calls must not run as whoever converts.
        IF o.materialized AND o.relispopulated THEN
            command := format('REFRESH MATERIALIZED VIEW %s', o.name);
            RETURN NEXT;
        END IF;

    WHEN 'routine' THEN
        SELECT p.oid::regprocedure AS name, p.proowner INTO o FROM pg_proc p WHERE p.oid = objid;
        command := rtrim(pg_get_functiondef(objid), E'\n');
        RETURN NEXT;
        RETURN QUERY SELECT x, maker FROM snowflake.conversion_annotations(
            'pg_proc'::regclass, objid, format('ROUTINE %s', o.name)) x;
        IF o.proowner <> coalesce(maker, quote_ident(current_user)::regrole) THEN
            command := format('ALTER ROUTINE %s OWNER TO %I', o.name, pg_get_userbyid(o.proowner));
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x.command, coalesce(x.role, maker) FROM snowflake.conversion_rights('pg_proc'::regclass, objid) x;

    WHEN 'generated' THEN
        -- The column is added by the command that widens the others.
        SELECT a.attrelid::regclass AS relation, a.attname AS name, a.attnum INTO o
            FROM pg_attrdef f
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE f.oid = objid;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_column_settings('TABLE', o.relation, o.name) x;
        RETURN QUERY SELECT x, NULL::oid
            FROM pg_constraint k
            CROSS JOIN LATERAL snowflake.conversion_annotations(
                'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, o.relation)) x
            WHERE k.conrelid = o.relation AND k.contype = 'n' AND k.conkey = ARRAY[o.attnum];
        RETURN QUERY SELECT x.command, x.role FROM snowflake.conversion_grants('pg_class'::regclass, o.relation, o.attnum) x;

    WHEN 'index' THEN
        command := pg_get_indexdef(objid);
        RETURN NEXT;
        role := NULL;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_index_settings(objid, false) x;

    WHEN 'rebuilt index' THEN
        IF (SELECT relispartition FROM pg_class WHERE oid = objid) THEN
            RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_partition_index(objid) x;
        ELSE
            RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_index_settings(objid, true) x;
        END IF;

    WHEN 'constraint' THEN
        SELECT k.conname, k.conrelid::regclass AS relation, k.conindid,
               (SELECT string_agg(format('%I = %L', x.option_name, x.option_value), ', ')
                    FROM pg_options_to_table(c.reloptions) x) AS options
            INTO o
            FROM pg_constraint k LEFT JOIN pg_class c ON c.oid = k.conindid
            WHERE k.oid = objid;
        command := format('ALTER TABLE %s ADD CONSTRAINT %I %s', o.relation, o.conname,
                           pg_get_constraintdef(objid));
        RETURN NEXT;
        role := NULL;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_annotations(
            'pg_constraint'::regclass, objid, format('CONSTRAINT %I ON %s', o.conname, o.relation)) x;
        IF o.options IS NOT NULL THEN
            command := format('ALTER INDEX %s SET (%s)', o.conindid::regclass, o.options);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_index_settings(o.conindid, false) x;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_constraint_triggers(objid) x;

    WHEN 'rebuilt constraint' THEN
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_constraint_triggers(objid) x;

    WHEN 'rebuilt statistics' THEN
        SELECT format('%I.%I', n.nspname, s.stxname) AS name, s.stxowner, s.stxstattarget INTO o
            FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
            WHERE s.oid = objid;
        IF o.stxstattarget >= 0 THEN
            command := format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.stxstattarget);
            RETURN NEXT;
        END IF;
        -- Minor versions differ in whether the server keeps the owner.
        IF o.stxowner <> quote_ident(current_user)::regrole THEN
            command := format('ALTER STATISTICS %s OWNER TO %I', o.name, pg_get_userbyid(o.stxowner));
            RETURN NEXT;
        END IF;

    WHEN 'statistics' THEN
        SELECT format('%I.%I', n.nspname, s.stxname) AS name, s.stxowner, s.stxstattarget INTO o
            FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
            WHERE s.oid = objid;
        command := pg_get_statisticsobjdef(objid);
        RETURN NEXT;
        role := NULL;
        IF o.stxstattarget >= 0 THEN
            command := format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.stxstattarget);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_annotations(
            'pg_statistic_ext'::regclass, objid, format('STATISTICS %s', o.name)) x;
        IF o.stxowner <> coalesce(maker, quote_ident(current_user)::regrole) THEN
            command := format('ALTER STATISTICS %s OWNER TO %I', o.name, pg_get_userbyid(o.stxowner));
            RETURN NEXT;
        END IF;

    WHEN 'rule' THEN
        SELECT r.rulename AS name, r.ev_class::regclass AS relation, r.ev_enabled AS enabled INTO o
            FROM pg_rewrite r WHERE r.oid = objid;
        command := rtrim(pg_get_ruledef(objid), ';');
        RETURN NEXT;
        role := NULL;
        IF o.enabled <> 'O' THEN
            command := format('ALTER TABLE %s %s RULE %I', o.relation,
                               snowflake.conversion_firing(o.enabled), o.name);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_annotations(
            'pg_rewrite'::regclass, objid, format('RULE %I ON %s', o.name, o.relation)) x;

    WHEN 'trigger' THEN
        SELECT t.tgname AS name, t.tgrelid::regclass AS relation, t.tgenabled AS enabled INTO o
            FROM pg_trigger t WHERE t.oid = objid;
        command := pg_get_triggerdef(objid);
        RETURN NEXT;
        role := NULL;
        IF o.enabled <> 'O' THEN
            command := format('ALTER TABLE %s %s TRIGGER %I', o.relation,
                               snowflake.conversion_firing(o.enabled), o.name);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_annotations(
            'pg_trigger'::regclass, objid, format('TRIGGER %I ON %s', o.name, o.relation)) x;
        -- The triggers that stand for it on the partitions have states and comments of their own.
        RETURN QUERY
            WITH RECURSIVE clone AS (
                SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled FROM pg_trigger t WHERE t.tgparentid = objid
                UNION ALL
                SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled
                    FROM clone JOIN pg_trigger t ON t.tgparentid = clone.oid
            )
            SELECT format('ALTER TABLE ONLY %s %s TRIGGER %I', clone.tgrelid::regclass,
                          snowflake.conversion_firing(clone.tgenabled), clone.tgname), NULL::oid
                FROM clone WHERE clone.tgenabled <> o.enabled
            UNION ALL
            SELECT x, NULL::oid
                FROM clone
                CROSS JOIN LATERAL snowflake.conversion_annotations(
                    'pg_trigger'::regclass, clone.oid,
                    format('TRIGGER %I ON %s', clone.tgname, clone.tgrelid::regclass)) x;

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
        command := concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', o.name, o.relation,
                                  o.type, o.command, o.roles),
                           o.using_clause, o.check_clause);
        RETURN NEXT;
        role := NULL;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake.conversion_annotations(
            'pg_policy'::regclass, objid, format('POLICY %I ON %s', o.name, o.relation)) x;

    WHEN 'publication' THEN
        SELECT p.pubname AS name, b.prrelid::regclass AS relation,
               (SELECT format(' (%s)', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum))
                    FROM pg_attribute a
                    WHERE a.attrelid = b.prrelid AND a.attnum = ANY (b.prattrs::smallint[])
                    HAVING count(*) > 0) AS columns,
               ' WHERE (' || pg_get_expr(b.prqual, b.prrelid) || ')' AS row_filter
            INTO o
            FROM pg_publication_rel b JOIN pg_publication p ON p.oid = b.prpubid WHERE b.oid = objid;
        command := concat(format('ALTER PUBLICATION %I ADD TABLE ONLY %s', o.name, o.relation),
                           o.columns, o.row_filter);
        RETURN NEXT;
        role := NULL;
    END CASE;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_definition(text, oid) IS
    'commands that make an object again that the conversion of a sequence drops';
