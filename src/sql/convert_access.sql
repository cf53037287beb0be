-- Turning an existing sequence, with all that hangs on it, into a snowflake sequence; and back.
--
--   convert_expressions.sql   expressions as trees, and commands that run as another role
--   convert_access.sql        ownership checks, table locks, and whose objects are taken along
--   convert_columns.sql       the columns that change, and how
--   convert_rights.sql        the rights on an object, and the commands that give them again
--   convert_definitions.sql   the commands that make an object again, just as it is
--   convert_dependents.sql    what the server does not alter a column under
--   convert_trials.sql        whether expressions bear IDs
--   convert_obstacles.sql     what the conversion cannot take along
--   convert_references.sql    what objects refer to, before and after
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

-- The owner of the database can move the sequence to another schema, and rename it.
CREATE FUNCTION snowflake._is_id_seq(seq regclass)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT EXISTS (SELECT FROM pg_depend d
                       JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'snowflake'
                       WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
                         AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e')
$function$;
COMMENT ON FUNCTION snowflake._is_id_seq(regclass) IS
    'whether this is the sequence of the extension, whatever its name is';

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

-- To name a sequence in a default needs no right on it. What belongs to somebody with whom the owner
-- of the sequence has nothing to do must neither change nor hold up the conversion. A superuser counts
-- as a member of every role for the server's own functions, so that membership is looked up here.
CREATE FUNCTION snowflake._is_taken_along(sequence_owner oid, other_owner oid)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    WITH RECURSIVE membership(role) AS (
        SELECT sequence_owner
        UNION
        SELECT m.roleid
            FROM membership
            JOIN pg_auth_members m ON m.member = membership.role
            -- Since PostgreSQL 16 a member may have the right to administer a role alone.
            WHERE coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true)
               OR (to_jsonb(m) ->> 'set_option')::boolean
    )
    SELECT other_owner IN (sequence_owner, quote_ident(current_user)::regrole)
        OR (SELECT rolsuper FROM pg_roles WHERE oid = other_owner)
        OR other_owner IN (SELECT role FROM membership)
$function$;
COMMENT ON FUNCTION snowflake._is_taken_along(oid, oid) IS
    'whether the conversion of a sequence takes along what another role owns: the same role, one that the owner is a member of, a superuser, or the caller';

CREATE FUNCTION snowflake._relation_of(class regclass, object oid)
    RETURNS oid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT CASE class
        WHEN 'pg_class'::regclass THEN coalesce((SELECT indrelid FROM pg_index WHERE indexrelid = object), object)
        WHEN 'pg_rewrite'::regclass THEN (SELECT ev_class FROM pg_rewrite WHERE oid = object)
        WHEN 'pg_attrdef'::regclass THEN (SELECT adrelid FROM pg_attrdef WHERE oid = object)
        WHEN 'pg_constraint'::regclass THEN (SELECT conrelid FROM pg_constraint WHERE oid = object)
        WHEN 'pg_trigger'::regclass THEN (SELECT tgrelid FROM pg_trigger WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT polrelid FROM pg_policy WHERE oid = object)
        WHEN 'pg_publication_rel'::regclass THEN (SELECT prrelid FROM pg_publication_rel WHERE oid = object)
        WHEN 'pg_statistic_ext'::regclass THEN (SELECT stxrelid FROM pg_statistic_ext WHERE oid = object)
    END
$function$;
COMMENT ON FUNCTION snowflake._relation_of(regclass, oid) IS
    'relation that an object is, or is on; NULL for objects of other kinds';

CREATE FUNCTION snowflake._owner_of(class regclass, object oid)
    RETURNS oid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT CASE class
        WHEN 'pg_proc'::regclass THEN (SELECT proowner FROM pg_proc WHERE oid = object)
        WHEN 'pg_type'::regclass THEN (SELECT typowner FROM pg_type WHERE oid = object)
        WHEN 'pg_operator'::regclass THEN (SELECT oprowner FROM pg_operator WHERE oid = object)
        WHEN 'pg_statistic_ext'::regclass THEN (SELECT stxowner FROM pg_statistic_ext WHERE oid = object)
        ELSE (SELECT relowner FROM pg_class WHERE oid = snowflake._relation_of(class, object))
    END
$function$;
COMMENT ON FUNCTION snowflake._owner_of(regclass, oid) IS
    'role that owns an object, or the relation that it is on; NULL for objects of other kinds';
