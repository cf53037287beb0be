-- Turning an existing sequence, with all that hangs on it, into a snowflake sequence; and back.
--
--   convert_access.sql        what the caller must own, locks and can be
--   convert_columns.sql       the columns that change, and how
--   convert_rights.sql        the rights on an object, and the commands that give them again
--   convert_definitions.sql   the commands that make an object again, just as it is
--   convert_dependents.sql    what the server does not alter a column under
--   convert_trials.sql        whether expressions bear IDs
--   convert_obstacles.sql     what the conversion cannot take along
--   convert_plan.sql          all commands of the conversion, in order
--   convert.sql               runs them; and the way back
--
-- All functions run with a fixed search_path: names come out schema-qualified, and no object of the
-- caller's can stand in for another. Those that read the catalog do so without JIT: the planner
-- expects far more rows of the recursions than there are, and to compile them would take seconds.

CREATE FUNCTION snowflake.conversion_check(seq regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    s record;
BEGIN
    SELECT c.relname, c.relkind, c.relowner INTO s FROM pg_class c WHERE c.oid = seq;
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
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_check(regclass) IS
    'raises an error unless this is a sequence of the caller';

-- In the order of their OIDs, so that two conversions do not wait for each other. Tables of others
-- are among them where the server itself makes again their foreign keys; it locks them as well.
CREATE FUNCTION snowflake.conversion_lock(relations regclass[])
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    tab regclass;
BEGIN
    FOR tab IN
        SELECT c.oid::regclass FROM pg_class c
            WHERE c.oid = ANY (relations) AND c.relkind IN ('r', 'p') AND pg_has_role(c.relowner, 'USAGE')
            ORDER BY c.oid
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', tab);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_lock(regclass[]) IS
    'locks those of the relations that are tables of the caller, as the conversion of a sequence will';

-- SET ROLE looks at who is logged in, not at who runs a function, and a function of another owner
-- (SECURITY DEFINER) may not call it at all. Only to try it tells whether that is the case; to set
-- the role that is set changes nothing.
CREATE FUNCTION snowflake.conversion_may_become(role oid)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    PERFORM set_config('role', current_setting('role'), true);
    RETURN pg_has_role(session_user, role,
                       CASE WHEN current_setting('server_version_num')::integer < 160000
                            THEN 'MEMBER' ELSE 'SET' END);
EXCEPTION
    WHEN insufficient_privilege THEN
        RETURN false;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_may_become(oid) IS
    'whether the caller of a conversion may SET ROLE to this role';
