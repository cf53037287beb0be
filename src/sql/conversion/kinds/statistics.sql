-- Extended statistics. The server makes those on an altered column again, but forgets the target, and
-- in some minor versions the owner. Others are dropped with their view or generated column.

-- Finds the extended statistics among objects that depend on columns.
CREATE FUNCTION snowflake._statistics_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_statistic_ext s ON s.oid = o.objid
            CROSS JOIN LATERAL snowflake._dependent(
                o, kind => 'statistics', relid => s.stxrelid, is_rebuilt => o.depth = 1,
                comes_along => o.depth = 1 AND coalesce(s.stxstattarget, -1) < 0
                               AND s.stxowner = snowflake._owner(s.stxrelid)) d
            WHERE o.classid = 'pg_statistic_ext'::regclass;
END
$function$;

-- Lists what keeps extended statistics from being made again.
CREATE FUNCTION snowflake._statistics_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s is owned by %I', pg_describe_object('pg_statistic_ext'::regclass, s.oid, 0), pg_get_userbyid(s.stxowner))
            FROM unnest(dependents) d JOIN pg_statistic_ext s ON s.oid = d.objid
            WHERE NOT snowflake._may_become(s.stxowner);
END
$function$;

-- Returns the commands that make extended statistics again, or give them what the server forgets of them.
CREATE FUNCTION snowflake._statistics_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT s.oid, format('%I.%I', n.nspname, s.stxname) AS name, s.stxowner, s.stxstattarget INTO o
        FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
        WHERE s.oid = dependent.objid;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT dependent.is_rebuilt THEN
        command := pg_get_statisticsobjdef(o.oid);
        RETURN NEXT;
    END IF;
    IF o.stxstattarget >= 0 THEN
        command := format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.stxstattarget);
        RETURN NEXT;
    END IF;
    IF NOT dependent.is_rebuilt THEN
        RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
            'pg_statistic_ext'::regclass, o.oid, format('STATISTICS %s', o.name)) x;
    END IF;
    -- The caller gives them away, which evaluates nothing.
    IF o.stxowner <> snowflake._owner(dependent.relid) THEN
        role := quote_ident(current_user)::regrole;
        command := format('ALTER STATISTICS %s OWNER TO %I', o.name, pg_get_userbyid(o.stxowner));
        RETURN NEXT;
    END IF;
END
$function$;
