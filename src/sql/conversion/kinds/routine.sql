-- Functions and procedures that depend on a column: those with a body in standard SQL, and those that
-- take or return rows of a view. Aggregates cannot be made again.

-- Finds the functions and procedures among objects that depend on columns.
CREATE FUNCTION snowflake._routine_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_proc p ON p.oid = o.objid AND p.prokind <> 'a'
            CROSS JOIN LATERAL snowflake._dependent(o, kind => 'routine', name => p.oid::regprocedure::text) d
            WHERE o.classid = 'pg_proc'::regclass;
END
$function$;

-- Lists what keeps owners from writing functions and procedures again, whether these are dropped or replaced.
CREATE FUNCTION snowflake._obstacles_of_bodies(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s cannot be made again: %I may not use the language %I: GRANT USAGE ON LANGUAGE %3$I TO %2$I',
                      pg_describe_object('pg_proc'::regclass, p.oid, 0), pg_get_userbyid(p.proowner), l.lanname)
            FROM unnest(dependents) d
            JOIN pg_proc p ON d.kind = 'routine' AND p.oid = d.objid
            JOIN pg_language l ON l.oid = p.prolang
            WHERE NOT has_language_privilege(p.proowner, l.oid, 'USAGE');
    RETURN QUERY
        SELECT format('%s cannot be made again: it %s, and %I is no superuser: drop it, and make it again afterwards',
                      pg_describe_object('pg_proc'::regclass, p.oid, 0), why.text, pg_get_userbyid(p.proowner))
            FROM unnest(dependents) d
            JOIN pg_proc p ON d.kind = 'routine' AND p.oid = d.objid
            JOIN pg_language l ON l.oid = p.prolang
            CROSS JOIN LATERAL (
                SELECT 'is leakproof' WHERE p.proleakproof
                UNION ALL SELECT 'has a support function' WHERE p.prosupport <> 0
                UNION ALL SELECT 'is written in a language that is not trusted' WHERE NOT l.lanpltrusted
            ) why(text)
            WHERE NOT snowflake._is_superuser(p.proowner);
END
$function$;

-- Lists what keeps functions and procedures from being made again.
CREATE FUNCTION snowflake._routine_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_bodies(dependents);
    RETURN QUERY
        SELECT x
            FROM unnest(dependents) d
            JOIN pg_proc p ON p.oid = d.objid
            CROSS JOIN LATERAL snowflake._grant_obstacles(d.name, p.proowner, p.proacl) x;
END
$function$;

-- Returns the command that drops a function or procedure.
CREATE FUNCTION snowflake._routine_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN format('DROP ROUTINE %s', dependent.objid::regprocedure);
END
$function$;

-- Returns the commands that make a function or procedure again.
CREATE FUNCTION snowflake._routine_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT p.oid, p.oid::regprocedure AS name INTO o
        FROM pg_proc p
        WHERE p.oid = dependent.objid AND p.prokind <> 'a';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    command := rtrim(pg_get_functiondef(o.oid), E'\n');
    RETURN NEXT;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
        'pg_proc'::regclass, o.oid, format('ROUTINE %s', o.name)) x;
    RETURN QUERY SELECT x.command, x.role
        FROM snowflake._conversion_rights('pg_proc'::regclass, o.oid) x;
END
$function$;
