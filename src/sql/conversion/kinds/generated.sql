-- Generated columns. The column is dropped, and added again by the command that widens the columns that
-- it is made from. Where the server can change an expression (from PostgreSQL 17 on), a column that is not the
-- last one stays in its place, and is made from nothing in the meantime. Plain defaults, which are the same to
-- the server, stay with their column.

-- Tells whether a generated column has other columns behind it, and its expression can be changed. For the meantime
-- its values are null, which a domain, a constraint or an index of expressions could refuse. The server does not change the
-- expression of a virtual column where checks or publications could depend on it.
CREATE FUNCTION snowflake._stays_in_place(attrdef oid)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF current_setting('server_version_num')::integer < 170000 THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM pg_attrdef f
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            JOIN pg_type y ON y.oid = a.atttypid
            JOIN pg_attribute later ON later.attrelid = a.attrelid AND later.attnum > a.attnum AND NOT later.attisdropped
            WHERE f.oid = attrdef AND a.attgenerated <> '' AND NOT a.attnotnull AND y.typtype <> 'd'
              AND NOT EXISTS (SELECT FROM pg_depend d
                                  LEFT JOIN pg_index i ON d.classid = 'pg_class'::regclass AND i.indexrelid = d.objid
                                  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid IN (0, a.attnum)
                                    AND (d.classid = 'pg_constraint'::regclass
                                         OR i.indisunique OR i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
              AND (a.attgenerated = 's'
                   OR NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = a.attrelid AND contype = 'c')
                      AND NOT EXISTS (SELECT snowflake._publications_of(a.attrelid))));
END
$function$;

-- Finds the generated columns among objects that depend on columns.
CREATE FUNCTION snowflake._generated_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_attrdef f ON f.oid = o.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            CROSS JOIN LATERAL snowflake._dependent(
                o, kind => 'generated', relid => a.attrelid, comes_along => a.attgenerated = '') d
            WHERE o.classid = 'pg_attrdef'::regclass;
END
$function$;

-- Lists what keeps generated columns from being made again.
CREATE FUNCTION snowflake._generated_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('generated column %I of table %s depends on a column to be widened and is inherited: drop it, and add it again afterwards', a.attname, d.relid)
            FROM unnest(dependents) d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE a.attinhcount > 0
               OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = d.relid);
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

-- Finds the generated columns that become the last of their table. A column that is dropped and added again moves, unless
-- all columns behind it are dropped and added again as well.
CREATE FUNCTION snowflake._generated_moves(
        dependents snowflake._conversion_dependent[],
        OUT relid regclass, OUT attname name)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH added AS (
            SELECT d.relid, a.attnum, a.attname
                FROM unnest(dependents) d
                JOIN pg_attrdef f ON f.oid = d.objid
                JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                WHERE d.kind = 'generated' AND NOT snowflake._stays_in_place(f.oid)
        )
        SELECT added.relid, added.attname
            FROM added
            WHERE EXISTS (SELECT FROM pg_attribute later
                              WHERE later.attrelid = added.relid AND later.attnum > added.attnum AND NOT later.attisdropped
                                AND NOT EXISTS (SELECT FROM added behind
                                                    WHERE behind.relid = added.relid AND behind.attnum = later.attnum))
            ORDER BY added.relid::oid, added.attnum;
END
$function$;

-- Returns the command that takes a generated column out of the way.
CREATE FUNCTION snowflake._generated_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT CASE WHEN snowflake._stays_in_place(f.oid)
                        THEN format('ALTER TABLE ONLY %s ALTER COLUMN %I SET EXPRESSION AS (NULL::%s)', dependent.relid, a.attname,
                                    format_type(a.atttypid, a.atttypmod))
                        ELSE format('ALTER TABLE ONLY %s DROP COLUMN %I', dependent.relid, a.attname) END
                FROM pg_attrdef f
                JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                WHERE f.oid = dependent.objid);
END
$function$;

-- Returns the clause of ALTER TABLE that adds a generated column again, or widens it in its place.
CREATE FUNCTION snowflake._generated_definition(attrdef oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        -- Made from wider values, the column needs the width itself.
        SELECT CASE WHEN snowflake._stays_in_place(f.oid)
                    THEN CASE WHEN small.is_one THEN format(', ALTER COLUMN %I TYPE bigint', a.attname) END
                    ELSE concat(format(', ADD COLUMN %I %s', a.attname,
                                       CASE WHEN small.is_one THEN 'bigint' ELSE format_type(a.atttypid, a.atttypmod) END),
                                (SELECT ' OPTIONS (' || string_agg(format('%I %L', x.option_name, x.option_value), ', ') || ')'
                                     FROM pg_options_to_table(a.attfdwoptions) x),
                                CASE WHEN a.attcollation <> y.typcollation
                                     THEN ' COLLATE ' || a.attcollation::regcollation END,
                                ' GENERATED ALWAYS AS (', pg_get_expr(f.adbin, f.adrelid),
                                CASE a.attgenerated WHEN 'v' THEN ') VIRTUAL' ELSE ') STORED' END,
                                CASE WHEN a.attnotnull THEN
                                    (SELECT format(' CONSTRAINT %I', conname) FROM pg_constraint
                                         WHERE conrelid = a.attrelid AND contype = 'n'
                                           AND conkey = ARRAY[a.attnum])
                                END,
                                CASE WHEN a.attnotnull THEN ' NOT NULL' END) END
            FROM pg_attrdef f
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            JOIN pg_type y ON y.oid = a.atttypid
            CROSS JOIN LATERAL (SELECT a.atttypid IN ('smallint'::regtype, 'integer'::regtype)) small(is_one)
            WHERE f.oid = attrdef);
END
$function$;

-- Returns the clauses of ALTER TABLE that make the generated columns of a table again; NULL: it has none.
CREATE FUNCTION snowflake._generated_additions(
        tab regclass, dependents snowflake._conversion_dependent[])
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT string_agg(snowflake._generated_definition(f.oid), '' ORDER BY f.adnum)
                FROM unnest(dependents) d
                JOIN pg_attrdef f ON f.oid = d.objid
                WHERE d.kind = 'generated' AND d.relid = tab);
END
$function$;

-- Returns the steps that give generated columns which stay in their place their expressions again. The server fails
-- where one command changes types and expressions.
CREATE FUNCTION snowflake._generated_expressions(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT d.relid, string_agg(format('ALTER COLUMN %I SET EXPRESSION AS (%s)', a.attname,
                                                    pg_get_expr(f.adbin, f.adrelid)), ', ' ORDER BY a.attnum) AS actions
                      FROM unnest(dependents) d
                      JOIN pg_attrdef f ON f.oid = d.objid
                      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                      WHERE d.kind = 'generated' AND snowflake._stays_in_place(f.oid)
                      GROUP BY d.relid) t
            CROSS JOIN LATERAL (SELECT pg_total_relation_size(t.relid)) held(size)
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER TABLE ONLY %s %s', t.relid, t.actions), snowflake._owner(t.relid),
                format('rewrites table %s (%s) if a column of these is stored',
                       t.relid, pg_size_pretty(held.size)), t.relid, held.size) step
            ORDER BY t.relid::oid;
END
$function$;

-- Returns the commands that give a generated column what its definition does not say.
CREATE FUNCTION snowflake._generated_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT a.attrelid::regclass AS relation, a.attname AS name, a.attnum INTO o
        FROM pg_attrdef f
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE f.oid = dependent.objid AND NOT snowflake._stays_in_place(f.oid);
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
