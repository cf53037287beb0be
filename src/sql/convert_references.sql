-- What the objects that hang on tables refer to: compared before and after, so that nothing that is
-- made again comes to depend on an object that it did not depend on before.

CREATE FUNCTION snowflake._table_tree(tab regclass)
    RETURNS SETOF regclass
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    WITH RECURSIVE tree(relid) AS (
        SELECT tab::oid
        UNION SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.relid)
    SELECT relid FROM tree
$function$;
COMMENT ON FUNCTION snowflake._table_tree(regclass) IS
    'a table and all that inherit from it, partitions among them';

-- The server evaluates checks and generated columns when it rewrites a table, and simplifies all
-- expressions of a table's constraints and indexes when it plans a query on it, as it does to see
-- whether a foreign key holds.
CREATE FUNCTION snowflake._has_users_code(tab regclass)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT EXISTS (SELECT FROM pg_constraint
                       WHERE conrelid = tab AND contype = 'c'
                         AND NOT snowflake._is_harmless_to_evaluate('pg_constraint', oid))
        OR EXISTS (SELECT FROM pg_attrdef f
                       JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                       WHERE f.adrelid = tab AND a.attgenerated <> ''
                         AND NOT snowflake._is_harmless_to_evaluate('pg_attrdef', f.oid))
        OR EXISTS (SELECT FROM pg_index
                       WHERE indrelid = tab AND (indexprs IS NOT NULL OR indpred IS NOT NULL)
                         AND NOT snowflake._is_harmless_to_evaluate('pg_class', indexrelid))
        OR EXISTS (SELECT FROM pg_statistic_ext
                       WHERE stxrelid = tab AND NOT snowflake._is_harmless_to_parse('pg_statistic_ext', oid))
        -- A key of another type may be compared by way of a cast.
        OR EXISTS (SELECT FROM pg_constraint k
                       JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                       JOIN pg_type y ON y.oid = a.atttypid
                       WHERE k.conrelid = tab AND k.contype = 'f' AND y.typtype <> 'd' AND y.oid >= 16384)
$function$;
COMMENT ON FUNCTION snowflake._has_users_code(regclass) IS
    'whether the server may run code of users when it rewrites a table or makes its foreign keys again';

CREATE FUNCTION snowflake._table_partners(tab regclass)
    RETURNS SETOF regclass
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT confrelid FROM pg_constraint WHERE conrelid = tab AND contype = 'f'
    UNION
    -- By way of pg_depend, which has an index on what is referenced.
    SELECT k.conrelid
        FROM pg_depend d
        JOIN pg_constraint k ON k.oid = d.objid
        WHERE d.classid = 'pg_constraint'::regclass
          AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tab
          AND k.contype = 'f' AND k.confrelid = tab
$function$;
COMMENT ON FUNCTION snowflake._table_partners(regclass) IS
    'tables that foreign keys link to a table, in either direction';

CREATE FUNCTION snowflake._table_role(tab regclass)
    RETURNS oid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    SELECT CASE
               WHEN c.relowner = quote_ident(current_user)::regrole THEN NULL
               WHEN EXISTS (
                   SELECT FROM snowflake._table_tree(tab) tree(relid)
                       CROSS JOIN LATERAL (SELECT tree.relid
                                           UNION SELECT snowflake._table_partners(tree.relid)) evaluated(relid)
                       WHERE snowflake._has_users_code(evaluated.relid)) THEN c.relowner
           END
        FROM pg_class c
        WHERE c.oid = tab
$function$;
COMMENT ON FUNCTION snowflake._table_role(regclass) IS
    'role whose rights a command has that may run code of the table''s owner; NULL: the caller''s';

CREATE FUNCTION snowflake._default_role(tab regclass, attrdefs oid[])
    RETURNS oid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT c.relowner
        FROM pg_class c
        WHERE c.oid = tab AND c.relowner <> quote_ident(current_user)::regrole
          AND EXISTS (SELECT FROM unnest(attrdefs) x
                          WHERE x IS NOT NULL AND NOT snowflake._is_harmless_to_parse('pg_attrdef', x))
$function$;
COMMENT ON FUNCTION snowflake._default_role(regclass, oid[]) IS
    'role that sets defaults of a table, made from those with these OIDs; NULL: the caller';

CREATE FUNCTION snowflake._may_name_references(role oid, class oid, object oid)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT NOT EXISTS (
        SELECT FROM pg_depend d
            CROSS JOIN LATERAL (
                SELECT relnamespace FROM pg_class
                    WHERE d.refclassid = 'pg_class'::regclass AND oid = d.refobjid
                UNION ALL
                SELECT pronamespace FROM pg_proc WHERE d.refclassid = 'pg_proc'::regclass AND oid = d.refobjid
                UNION ALL
                SELECT typnamespace FROM pg_type WHERE d.refclassid = 'pg_type'::regclass AND oid = d.refobjid
                UNION ALL
                SELECT oprnamespace FROM pg_operator
                    WHERE d.refclassid = 'pg_operator'::regclass AND oid = d.refobjid
            ) named(namespace)
            WHERE d.classid = class AND d.objid = object
              AND NOT has_schema_privilege(role, named.namespace, 'USAGE'))
$function$;
COMMENT ON FUNCTION snowflake._may_name_references(oid, oid, oid) IS
    'whether a role may look up names in the schemas of all that an object refers to';

CREATE FUNCTION snowflake._references(
        tables oid[],
        OUT class oid, OUT object oid,        -- what depends on the tables, in any number of steps
        OUT ref_class oid, OUT ref_object oid, OUT ref_sub_object integer) -- what it depends on
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    WITH RECURSIVE reached(class, object) AS (
        SELECT 'pg_class'::regclass::oid, x FROM unnest(tables) x
        UNION
        SELECT next.class, next.object
            FROM reached
            JOIN pg_depend d ON d.refclassid = reached.class AND d.refobjid = reached.object
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
            -- A view hangs on its rule, though for the server the rule belongs to the view.
            CROSS JOIN LATERAL (VALUES (d.classid, d.objid), ('pg_class'::regclass, r.ev_class))
                next(class, object)
            WHERE next.object IS NOT NULL
    )
    SELECT reached.class, reached.object, d.refclassid, d.refobjid, d.refobjsubid
        FROM reached
        JOIN pg_depend d ON d.classid = reached.class AND d.objid = reached.object
        LEFT JOIN pg_trigger t ON reached.class = 'pg_trigger'::regclass AND t.oid = reached.object
        WHERE d.deptype <> 'e' AND NOT coalesce(t.tgisinternal, false)
$function$;
COMMENT ON FUNCTION snowflake._references(oid[]) IS
    'what the objects that hang on tables depend on';

-- Overloads of one source stand for each other: what is made again for bigint columns may call that
-- for bigint. Names say which, since an object that is made again has another OID.
CREATE FUNCTION snowflake._source_of(class oid, object oid, sub_object integer)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT coalesce(
        (SELECT format('extension %I', x.extname)
             FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
             WHERE d.classid = class AND d.objid = object AND d.deptype = 'e'
               AND d.refclassid = 'pg_extension'::regclass AND class <> 'pg_class'::regclass),
        (SELECT format('function %I.%I of %I', n.nspname, p.proname, pg_get_userbyid(p.proowner))
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
             WHERE class = 'pg_proc'::regclass AND p.oid = object),
        (SELECT format('operator %I.%s of %I', n.nspname, o.oprname, pg_get_userbyid(o.oprowner))
             FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace
             WHERE class = 'pg_operator'::regclass AND o.oid = object),
        -- Only an object of a class that the server knows can be asked for.
        (SELECT format('%s %s', i.type, i.identity)
             FROM (SELECT 'pg_class'::regclass::oid AS known
                   UNION SELECT refclassid FROM pg_depend
                       WHERE refclassid = class AND refobjid = object) k
             CROSS JOIN LATERAL pg_identify_object(
                 k.known, object, CASE k.known WHEN 'pg_class'::regclass THEN sub_object ELSE 0 END) i
             WHERE k.known = class))
$function$;
COMMENT ON FUNCTION snowflake._source_of(oid, oid, integer) IS
    'name of what an object comes from: an extension, a function or operator of whatever types, or the object itself';

CREATE FUNCTION snowflake._rivals(
        ref_class oid, ref_object oid,
        OUT class oid, OUT oid oid, OUT owner oid)
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT ref_class, other.oid, other.proowner
        FROM pg_proc p
        JOIN pg_proc other ON other.proname = p.proname AND other.pronamespace = p.pronamespace
                          AND other.oid <> p.oid
        WHERE ref_class = 'pg_proc'::regclass AND p.oid = ref_object
          AND other.pronargs - other.pronargdefaults <= p.pronargs
          AND (other.pronargs >= p.pronargs OR other.provariadic <> 0)
    UNION ALL
    SELECT ref_class, other.oid, other.oprowner
        FROM pg_operator o
        JOIN pg_operator other ON other.oprname = o.oprname AND other.oprnamespace = o.oprnamespace
                              AND other.oid <> o.oid
        WHERE ref_class = 'pg_operator'::regclass AND o.oid = ref_object AND other.oprkind = o.oprkind
$function$;
COMMENT ON FUNCTION snowflake._rivals(oid, oid) IS
    'functions or operators of the same name and schema, which other types of arguments could choose';

CREATE FUNCTION snowflake._references_by_name(tables oid[])
    RETURNS jsonb
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT jsonb_build_object(
               'tables', to_jsonb(tables),
               'references', coalesce(jsonb_object_agg(dependent.name, dependent.sources), '{}'))
        FROM (SELECT format('%s %s', i.type, i.identity),
                     jsonb_object_agg(snowflake._source_of(r.ref_class, r.ref_object, r.ref_sub_object), true)
                  FROM snowflake._references(tables) r
                  CROSS JOIN LATERAL pg_identify_object(r.class, r.object, 0) i
                  GROUP BY 1) dependent(name, sources)
$function$;
COMMENT ON FUNCTION snowflake._references_by_name(oid[]) IS
    'what the objects that hang on tables refer to, for _require_references()';

CREATE FUNCTION snowflake._require_references(expected jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    differences text[];
BEGIN
    -- Between the plan and the locks that the server takes, the owner of a table may have added to it.
    IF EXISTS (SELECT FROM jsonb_array_elements_text(expected -> 'harmless') x
                   WHERE snowflake._has_users_code(x::oid)) THEN
        RAISE EXCEPTION 'checks or indexes of a table have changed meanwhile'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Call the function again.';
    END IF;
    -- An object that was not there before is not one that is made again. The extension itself, and the
    -- sequence, come into the defaults that are converted.
    differences := ARRAY(
        SELECT format('%s would depend on %s, which it does not depend on now', now.name, source)
            FROM jsonb_each(snowflake._references_by_name(
                     ARRAY(SELECT x::oid FROM jsonb_array_elements_text(expected -> 'tables') x)) -> 'references')
                     now(name, sources)
            CROSS JOIN LATERAL jsonb_object_keys(now.sources) source
            WHERE expected -> 'references' ? now.name
              AND NOT expected -> 'references' -> now.name ? source
              AND source <> 'extension snowflake'
              AND source IS DISTINCT FROM expected ->> 'sequence'
            ORDER BY 1);
    IF differences <> '{}' THEN
        RAISE EXCEPTION 'an object that is made again would change its meaning'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(differences, E'\n');
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._require_references(jsonb) IS
    'raises an error if an object refers to something that it did not refer to when _references_by_name() was called';
