-- Functions and procedures that depend on a column: those with a body in standard SQL, and those that
-- take or return rows of a view. Aggregates cannot be made again.

CREATE FUNCTION snowflake._routine_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'routine', o.classid, o.objid, NULL::regclass, p.oid::regprocedure::text, o.depth,
               false, false
            FROM unnest(objects) o
            JOIN pg_proc p ON p.oid = o.objid AND p.prokind <> 'a'
            WHERE o.classid = 'pg_proc'::regclass;
END
$function$;
COMMENT ON FUNCTION snowflake._routine_found(snowflake._conversion_object[]) IS
    'finds the functions and procedures among objects that depend on columns';

CREATE FUNCTION snowflake._routine_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s is owned by %I', pg_describe_object('pg_proc'::regclass, p.oid, 0),
                      pg_get_userbyid(p.proowner))
            FROM unnest(dependents) d
            JOIN pg_proc p ON p.oid = d.objid
            WHERE NOT pg_has_role(p.proowner, 'USAGE');
    RETURN QUERY
        SELECT x
            FROM unnest(dependents) d
            JOIN pg_proc p ON p.oid = d.objid
            CROSS JOIN LATERAL snowflake._creation_obstacles(
                'pg_proc'::regclass, p.oid, p.pronamespace, p.proowner, true) x;
    RETURN QUERY
        SELECT format('%s cannot be made again: %I may not use the language %I',
                      pg_describe_object('pg_proc'::regclass, p.oid, 0), current_user, l.lanname)
            FROM unnest(dependents) d
            JOIN pg_proc p ON p.oid = d.objid
            JOIN pg_language l ON l.oid = p.prolang
            WHERE NOT (l.lanpltrusted AND has_language_privilege(l.oid, 'USAGE'))
              AND NOT snowflake._is_superuser();
    RETURN QUERY
        SELECT x
            FROM unnest(dependents) d
            JOIN pg_proc p ON p.oid = d.objid
            CROSS JOIN LATERAL snowflake._grant_obstacles(d.name, p.proowner, p.proacl) x;
END
$function$;
COMMENT ON FUNCTION snowflake._routine_obstacles(snowflake._conversion_dependent[]) IS
    'lists what keeps functions and procedures from being made again';

CREATE FUNCTION snowflake._routine_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN format('DROP ROUTINE %s', dependent.objid::regprocedure);
END
$function$;
COMMENT ON FUNCTION snowflake._routine_drop(snowflake._conversion_dependent) IS
    'returns the command that drops a function or procedure';

CREATE FUNCTION snowflake._routine_maker(routine oid)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN (
        SELECT snowflake._maker(
                   'pg_proc'::regclass, p.oid, p.proowner, p.pronamespace,
                   has_language_privilege(p.proowner, p.prolang, 'USAGE')
                   AND (l.lanpltrusted OR (SELECT rolsuper FROM pg_roles WHERE oid = p.proowner))
                   -- Some of these only a superuser may say.
                   AND NOT p.proleakproof AND p.prosupport = 0 AND p.proconfig IS NULL,
                   snowflake._is_harmless_to_parse('pg_proc', p.oid))
            FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.oid = routine AND p.proowner <> quote_ident(current_user)::regrole);
END
$function$;
COMMENT ON FUNCTION snowflake._routine_maker(oid) IS
    'returns the role that makes a function or procedure again; NULL: the caller';

CREATE FUNCTION snowflake._routine_commands(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    o record;
    maker constant oid := snowflake._routine_maker(dependent.objid);
BEGIN
    SELECT p.oid, p.oid::regprocedure AS name, p.proowner INTO o
        FROM pg_proc p
        WHERE p.oid = dependent.objid AND p.prokind <> 'a';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    role := maker;
    command := rtrim(pg_get_functiondef(o.oid), E'\n');
    RETURN NEXT;
    RETURN QUERY SELECT x, maker FROM snowflake._conversion_annotations(
        'pg_proc'::regclass, o.oid, format('ROUTINE %s', o.name)) x;
    IF o.proowner <> coalesce(maker, quote_ident(current_user)::regrole) THEN
        command := format('ALTER ROUTINE %s OWNER TO %I', o.name, pg_get_userbyid(o.proowner));
        RETURN NEXT;
    END IF;
    RETURN QUERY SELECT x.command, coalesce(x.role, maker)
        FROM snowflake._conversion_rights('pg_proc'::regclass, o.oid) x;
END
$function$;
COMMENT ON FUNCTION snowflake._routine_commands(snowflake._conversion_dependent) IS
    'returns the commands that make a function or procedure again';
