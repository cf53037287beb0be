-- Rights that owners lack for the commands of a conversion, each with the GRANT that gives it. An owner runs the commands on his
-- objects, and may have lost a right since they were made.

-- Returns the schemas, and the types, that the definition of an object names, or its columns have.
CREATE FUNCTION snowflake._schemas_of_references(
        class oid, object oid,
        OUT namespace oid, OUT type oid) -- a type whose name has to be used
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT to_regnamespace(named.schema)::oid, CASE WHEN d.refclassid = 'pg_type'::regclass THEN d.refobjid END
            FROM pg_depend d CROSS JOIN LATERAL pg_identify_object(d.refclassid, d.refobjid, 0) named
            WHERE d.classid = class AND d.objid = object AND d.deptype IN ('n', 'a') AND d.refclassid <> 'pg_opfamily'::regclass
              -- The default class of a type is not named.
              AND NOT EXISTS (SELECT FROM pg_opclass o WHERE d.refclassid = 'pg_opclass'::regclass AND o.oid = d.refobjid AND o.opcdefault)
        UNION
        SELECT relnamespace, NULL FROM pg_class WHERE oid = snowflake._relation_of(class, object)
        UNION
        SELECT NULL, a.atttypid
            FROM (SELECT r.ev_class, NULL FROM pg_rewrite r WHERE class = 'pg_rewrite'::regclass AND r.oid = object AND r.rulename = '_RETURN'
                  UNION ALL SELECT g.attrelid, g.attnum FROM pg_attrdef f JOIN pg_attribute g ON g.attrelid = f.adrelid AND g.attnum = f.adnum
                                WHERE class = 'pg_attrdef'::regclass AND f.oid = object AND g.attgenerated <> '') made(relid, attnum)
            JOIN pg_attribute a ON a.attrelid = made.relid AND a.attnum > 0 AND a.attnum = coalesce(made.attnum, a.attnum);
END
$function$;

-- Returns the indexes, checks and statistics that the server itself makes again, from their texts, when it widens columns, each with
-- the role that alters the table.
CREATE FUNCTION snowflake._rebuilt_with(
        columns snowflake._conversion_column[],
        OUT role oid, OUT class oid, OUT object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT snowflake._owner(x.relid), d.classid, d.objid
            FROM snowflake._altered_with(columns) x
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = x.member AND d.refobjsubid = x.attnum
            LEFT JOIN pg_index i ON d.classid = 'pg_class'::regclass AND i.indexrelid = d.objid
            LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid AND k.contype NOT IN ('f', 'n')
            WHERE i.indexrelid IS NOT NULL OR k.oid IS NOT NULL OR d.classid = 'pg_statistic_ext'::regclass;
END
$function$;

-- Lists the rights to read that owners need for filling materialized views again, with the command that grants each.
CREATE FUNCTION snowflake._obstacles_of_reading(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        -- A view is read with the rights of its owner, or of who reads it.
        WITH RECURSIVE reader(filled, view, role) AS (
            SELECT m.oid, m.oid, m.relowner FROM pg_class m WHERE m.oid = ANY (snowflake._filled_again(dependents))
            UNION
            SELECT x.filled, v.oid, CASE WHEN EXISTS (SELECT FROM pg_options_to_table(v.reloptions) o
                                                          WHERE o.option_name = 'security_invoker' AND o.option_value::boolean)
                                         THEN x.role ELSE v.relowner END
                FROM reader x
                JOIN pg_rewrite w ON w.ev_class = x.view AND w.rulename = '_RETURN'
                CROSS JOIN LATERAL snowflake._relations_read(w.oid) read(oid)
                JOIN pg_class v ON v.oid = read.oid AND v.relkind = 'v'
        )
        SELECT DISTINCT format('%I may not read table %s, which materialized view %s reads: GRANT SELECT ON %2$s TO %1$I',
                               pg_get_userbyid(x.role), e.refobjid::regclass, x.filled::regclass)
            FROM reader x
            JOIN pg_rewrite w ON w.ev_class = x.view AND w.rulename = '_RETURN'
            JOIN pg_depend e ON e.classid = 'pg_rewrite'::regclass AND e.objid = w.oid AND e.refclassid = 'pg_class'::regclass
                            AND e.refobjid <> x.view
            WHERE e.refobjid IN (SELECT snowflake._relations_read(w.oid))
              AND NOT CASE e.refobjsubid WHEN 0 THEN has_any_column_privilege(x.role, e.refobjid, 'SELECT')
                                         ELSE has_column_privilege(x.role, e.refobjid, e.refobjsubid::smallint, 'SELECT') END;
END
$function$;

-- Lists the functions that owners may not execute, but have to when rows are entered into indexes again, with the command that grants
-- each. An empty table calls none of them.
CREATE FUNCTION snowflake._obstacles_of_executing(columns snowflake._conversion_column[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('%I may not execute %s, which index %s calls: GRANT EXECUTE ON FUNCTION %2$s TO %1$I',
                               pg_get_userbyid(c.relowner), p.oid::regprocedure, i.indexrelid::regclass)
            FROM snowflake._altered_with(columns) x
            JOIN pg_class c ON c.oid = x.relid
            JOIN pg_index i ON i.indrelid = x.member
            JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
            LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
            JOIN pg_proc p ON p.oid = CASE d.refclassid WHEN 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode END
            WHERE NOT has_function_privilege(c.relowner, p.oid, 'EXECUTE');
END
$function$;

-- Lists the rights that owners need for the commands, with the command that grants each.
CREATE FUNCTION snowflake._obstacles_of_rights(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%I may not use schema %I, which is needed for %s: GRANT USAGE ON SCHEMA %2$I TO %1$I',
                      pg_get_userbyid(x.role), n.nspname, min(x.purpose COLLATE "C"))
            FROM (SELECT m.role, s.namespace, snowflake._description_of(m.class, m.object)
                      FROM (SELECT * FROM snowflake._makers(seq, columns, dependents)
                            UNION SELECT * FROM snowflake._rebuilt_with(columns)) m
                      CROSS JOIN LATERAL snowflake._schemas_of_references(m.class, m.object) s
                  UNION ALL
                  SELECT c.relowner, 'snowflake'::regnamespace, 'the default of ' || x.relid
                      FROM unnest(columns) x JOIN pg_class c ON c.oid = x.relid
                      WHERE x.new_default IS NOT NULL) x(role, namespace, purpose)
            JOIN pg_namespace n ON n.oid = x.namespace
            WHERE NOT has_schema_privilege(x.role, n.oid, 'USAGE')
            GROUP BY x.role, n.nspname;
    RETURN QUERY
        SELECT DISTINCT format('%I may not use type %s, which %s names: GRANT USAGE ON TYPE %2$s TO %1$I', pg_get_userbyid(m.role),
                               s.type::regtype, snowflake._description_of(m.class, m.object))
            FROM snowflake._makers(seq, columns, dependents) m
            CROSS JOIN LATERAL snowflake._schemas_of_references(m.class, m.object) s
            WHERE m.class <> 'pg_class'::regclass AND NOT has_type_privilege(m.role, s.type, 'USAGE');
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_reading(dependents);
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_executing(columns);
    RETURN QUERY
        SELECT DISTINCT format('%s cannot be made again: %I may not create objects in schema %I: GRANT CREATE ON SCHEMA %3$I TO %2$I',
                               snowflake._description_of(x.class, x.object), pg_get_userbyid(x.role), n.nspname)
            FROM (
                SELECT snowflake._maker(d), d.classid, d.objid, coalesce(c.relnamespace, p.pronamespace, s.stxnamespace, k.connamespace)
                    FROM unnest(dependents) d
                    LEFT JOIN pg_rewrite r ON d.kind = 'view' AND r.oid = d.objid
                    LEFT JOIN pg_class c ON d.kind = 'view' AND c.oid = r.ev_class OR d.kind = 'index' AND c.oid = d.objid
                    LEFT JOIN pg_proc p ON d.kind = 'routine' AND p.oid = d.objid
                    LEFT JOIN pg_statistic_ext s ON d.kind = 'statistics' AND s.oid = d.objid
                    LEFT JOIN pg_constraint k ON d.kind = 'constraint' AND k.oid = d.objid AND k.contype IN ('p', 'u', 'x')
                    WHERE NOT d.is_rebuilt
                UNION ALL
                SELECT s.stxowner, d.classid, d.objid, s.stxnamespace
                    FROM unnest(dependents) d JOIN pg_statistic_ext s ON d.kind = 'statistics' AND s.oid = d.objid
                UNION ALL
                SELECT c.relowner, 'pg_class'::regclass, c.oid, c.relnamespace
                    FROM pg_class c
                    WHERE c.oid = seq AND EXISTS (SELECT FROM unnest(columns) x WHERE x.is_identity)
            ) x(role, class, object, namespace)
            JOIN pg_namespace n ON n.oid = x.namespace
            WHERE NOT has_schema_privilege(x.role, n.oid, 'CREATE');
    RETURN QUERY
        SELECT format('%s cannot be made again: %I may not create objects in tablespace %I: GRANT CREATE ON TABLESPACE %3$I TO %2$I',
                      snowflake._description_of(d.classid, d.objid), pg_get_userbyid(snowflake._maker(d)), s.spcname)
            FROM unnest(dependents) d
            LEFT JOIN pg_constraint k ON d.kind = 'constraint' AND k.oid = d.objid AND k.contype IN ('p', 'u', 'x')
            JOIN pg_class c ON c.oid = CASE d.kind WHEN 'index' THEN d.objid WHEN 'constraint' THEN k.conindid WHEN 'view' THEN d.relid END
            JOIN pg_tablespace s ON s.oid = c.reltablespace
            WHERE (NOT d.is_rebuilt OR c.relispartition) AND NOT has_tablespace_privilege(snowflake._maker(d), s.oid, 'CREATE');
END
$function$;
