-- Generated columns. The column is dropped, and added again by the command that widens the columns that
-- it is made from. Plain defaults, which are the same to the server, stay with their column.

CREATE FUNCTION snowflake._generated_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'generated', o.classid, o.objid, a.attrelid::regclass, NULL::text, o.depth, false,
               a.attgenerated = ''
            FROM unnest(objects) o
            JOIN pg_attrdef f ON f.oid = o.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE o.classid = 'pg_attrdef'::regclass;
END
$function$;
COMMENT ON FUNCTION snowflake._generated_found(snowflake._conversion_object[]) IS
    'finds the generated columns among objects that depend on columns';

CREATE FUNCTION snowflake._generated_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('generated column %I of table %s depends on a column to be widened and is not the last column',
                      a.attname, d.relid)
            FROM unnest(dependents) d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE a.attinhcount > 0
               OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = d.relid)
               OR EXISTS (SELECT FROM pg_attribute later
                              WHERE later.attrelid = a.attrelid AND later.attnum > a.attnum
                                AND NOT later.attisdropped
                                AND NOT EXISTS (SELECT FROM unnest(dependents) e
                                                    JOIN pg_attrdef g ON g.oid = e.objid
                                                    WHERE g.adrelid = later.attrelid
                                                      AND g.adnum = later.attnum));
    RETURN QUERY
        SELECT x
            FROM unnest(dependents) d
            JOIN pg_class c ON c.oid = d.relid
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            CROSS JOIN LATERAL (
                SELECT x FROM snowflake._grant_obstacles(d.relid::text, c.relowner, a.attacl) x) x(x);
END
$function$;
COMMENT ON FUNCTION snowflake._generated_obstacles(snowflake._conversion_dependent[]) IS
    'lists what keeps generated columns from being made again';

CREATE FUNCTION snowflake._generated_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN (SELECT format('ALTER TABLE ONLY %s DROP COLUMN %I', dependent.relid, a.attname)
                FROM pg_attrdef f
                JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                WHERE f.oid = dependent.objid);
END
$function$;
COMMENT ON FUNCTION snowflake._generated_drop(snowflake._conversion_dependent) IS
    'returns the command that drops a generated column';

CREATE FUNCTION snowflake._generated_additions(
        tab regclass, dependents snowflake._conversion_dependent[])
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN (
        SELECT string_agg(
                   -- Made from wider values, the column needs the width itself.
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
            FROM unnest(dependents) d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            JOIN pg_type y ON y.oid = a.atttypid
            WHERE d.kind = 'generated' AND d.relid = tab);
END
$function$;
COMMENT ON FUNCTION snowflake._generated_additions(regclass, snowflake._conversion_dependent[]) IS
    'returns the clauses of ALTER TABLE that add the generated columns of a table again; NULL: it has none';

CREATE FUNCTION snowflake._generated_commands(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT a.attrelid::regclass AS relation, a.attname AS name, a.attnum INTO o
        FROM pg_attrdef f
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE f.oid = dependent.objid;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT x, NULL::oid
        FROM snowflake._conversion_column_settings('TABLE', o.relation, o.name) x;
    RETURN QUERY SELECT x, NULL::oid
        FROM pg_constraint k
        CROSS JOIN LATERAL snowflake._conversion_annotations(
            'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, o.relation)) x
        WHERE k.conrelid = o.relation AND k.contype = 'n' AND k.conkey = ARRAY[o.attnum];
    RETURN QUERY SELECT x.command, x.role
        FROM snowflake._conversion_grants('pg_class'::regclass, o.relation, o.attnum) x;
END
$function$;
COMMENT ON FUNCTION snowflake._generated_commands(snowflake._conversion_dependent) IS
    'returns the commands that give a generated column what its definition does not say';
