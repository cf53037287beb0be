-- Turning an existing sequence, with everything that depends on it, into a snowflake sequence; and back.
--
--   expressions.sql   expressions as trees, and commands that run as another role
--   access.sql        ownership checks, and whose objects are taken along
--   names.sql         names for what commands make
--   references.sql    what objects refer to, before and after
--   wishes.sql        what a caller can say of a conversion
--   columns.sql       the columns that change, and how
--   rights.sql        the rights on an object, and the commands that give them again
--   partitions.sql    the commands that make a partition
--   dependents.sql    what is known of an object that the server does not alter a column under
--   trust.sql         the role that runs each command, and whose code may run as whom
--   grants.sql        the rights that owners lack for the commands
--   annotations.sql   comments, labels and settings of objects that are made again
--   kinds/            a file for each kind of object: how it is found, refused, dropped and made again
--   kinds.sql         the list of the kinds
--   walk.sql          the walk from columns to the objects that depend on them
--   trials.sql        whether expressions bear IDs
--   obstacles.sql     what a conversion cannot take along
--   widening.sql      the commands that widen columns
--   layout.sql        the layout of the IDs: which, and what is in its way
--   defaults.sql      the commands that set defaults, and the comparison with what was meant
--   identity.sql      the commands that make the sequence of an identity anew
--   increments.sql    INCREMENT and the other options of a sequence, there and back
--   guard.sql         the commands that guard a sequence
--   strangers.sql     what a conversion leaves as it is because it belongs to somebody else
--   steps.sql         all commands of a conversion, in order
--   hints.sql         what it does not change, and may fail at the first ID
--   writers.sql       code that counts on the columns of a table, their order and their types
--   plan.sql          the plan, as a caller sees it
--   back.sql          the commands of the way back
--   state.sql         what a conversion in either direction works with, read from the catalogs as of now
--   locks.sql         locks of everything that the commands name
--   run.sql           runs them
--   all.sql           all sequences at once
--   online/           widening without a long lock: shadow columns (shadows), what is built on them (twins, partitions,
--                     views), filling them (fill), what is in the way (obstacles), the end (swap, cancel), the stages, how
--                     far it has come (progress), the plan
--   widen.sql         widening one column
--   set_layout.sql    giving a converted sequence another layout
--   new_columns.sql   columns that are converted by the command that makes them
--   settings.sql      settings of the session that would change what is made again
--
-- All functions run with a fixed search_path: names come out schema-qualified, and no object of the
-- caller's can stand in for another. Those that read the catalog do so without JIT: the planner
-- expects far more rows of the recursions than there are, and to compile them would take seconds.
-- Most of them are PL/pgSQL, for which the server keeps the plans of the queries: planning the queries
-- anew would take longer than running them.

-- Raises an error unless this is a sequence of the caller.
CREATE FUNCTION snowflake._conversion_check(seq regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
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
            USING ERRCODE = 'wrong_object_type',
                  HINT = coalesce((SELECT format('Its columns use %s.', string_agg(DISTINCT d.objid::regclass::text, ', '))
                                       FROM pg_depend d JOIN pg_sequence q ON q.seqrelid = d.objid
                                       WHERE d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
                                         AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
                                       HAVING count(*) > 0),
                                  (SELECT format('No sequence fills its key. To make that bigint: CREATE SEQUENCE %s; SELECT '
                                                 'snowflake.convert_sequence_to_snowflake(%L, target => ''bigint'', also => %L); '
                                                 'DROP SEQUENCE %1$s;',
                                                 stand_in, stand_in, concat_ws('.', n.nspname, c.relname, a.attname))
                                       FROM pg_constraint k
                                       JOIN pg_class c ON c.oid = k.conrelid
                                       JOIN pg_namespace n ON n.oid = c.relnamespace
                                       JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                                       CROSS JOIN LATERAL format('%I.%I', n.nspname,
                                                                 snowflake._free_name(n.nspname, a.attname || '_stand_in')) stand_in
                                       WHERE k.conrelid = seq AND k.contype = 'p'
                                         AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype)
                                         -- also would take these for more than one name.
                                         AND concat(n.nspname, c.relname, a.attname) !~ '[%,.]'
                                       ORDER BY a.attnum LIMIT 1),
                                  'To see the sequence of a column: SELECT pg_get_serial_sequence(table, column);');
    ELSIF NOT pg_has_role(s.relowner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of sequence %', s.relname
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$function$;

-- Tells whether this is the sequence of the extension.
CREATE FUNCTION snowflake._is_id_seq(seq regclass)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN coalesce(seq = snowflake._id_seq(), false);

-- Adds to the description of an object who owns it, unless it is the caller's.
CREATE FUNCTION snowflake._with_owner(description text, owner oid)
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    IF owner = quote_ident(current_user)::regrole THEN
        RETURN description;
    END IF;
    RETURN concat(description, ', which ' || quote_ident(pg_get_userbyid(owner)) || ' owns,');
END
$function$;

-- Returns the role that owns what belongs to the owner of the database, whoever that is; any other owner itself.
CREATE FUNCTION snowflake._acting_owner(owner oid)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF owner <> 'pg_database_owner'::regrole THEN
        RETURN owner;
    END IF;
    RETURN (SELECT datdba FROM pg_database WHERE datname = current_database());
END
$function$;

-- Tells whether the conversion of a sequence takes along what another role owns: the same role, one that the owner
-- is a member of, a superuser, or the caller. Naming a sequence in a default needs no right on it. What belongs to a
-- stranger, a role that the owner of the sequence has nothing to do with, must neither change nor hold up the
-- conversion. A superuser counts as a member of every role for the server's own functions, so membership is looked
-- up here.
CREATE FUNCTION snowflake._is_taken_along(sequence_owner oid, other_owner oid)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF other_owner IN (sequence_owner, quote_ident(current_user)::regrole)
       OR snowflake._is_superuser(other_owner) THEN
        RETURN true;
    END IF;
    RETURN other_owner IN (
        WITH RECURSIVE membership(role) AS (
            SELECT snowflake._acting_owner(sequence_owner)
            UNION
            SELECT m.roleid
                FROM membership
                JOIN pg_auth_members m ON m.member = membership.role
                -- Since PostgreSQL 16 a member may have the right to administer a role alone.
                WHERE coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true)
                   OR (to_jsonb(m) ->> 'set_option')::boolean
        )
        SELECT membership.role FROM membership);
END
$function$;

-- Returns the name of a role as GRANT takes it; 0 is PUBLIC.
CREATE FUNCTION snowflake._grantee(role oid)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN CASE role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END;

-- Returns the role that owns a relation, as which commands on it run.
CREATE FUNCTION snowflake._owner(relation oid)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT relowner FROM pg_class WHERE oid = relation);
END
$function$;

-- Returns the role that owns a schema. The owner of the database acts for the role that may own "public".
CREATE FUNCTION snowflake._owner_of_schema(schema oid)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT snowflake._acting_owner(n.nspowner) FROM pg_namespace n WHERE n.oid = schema);
END
$function$;

-- Returns the relation that an object is, or is on; NULL for objects of other kinds.
CREATE FUNCTION snowflake._relation_of(class regclass, object oid)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    CASE class
        WHEN 'pg_class'::regclass THEN
            RETURN coalesce((SELECT indrelid FROM pg_index WHERE indexrelid = object), object);
        WHEN 'pg_rewrite'::regclass THEN RETURN (SELECT ev_class FROM pg_rewrite WHERE oid = object);
        WHEN 'pg_attrdef'::regclass THEN RETURN (SELECT adrelid FROM pg_attrdef WHERE oid = object);
        WHEN 'pg_constraint'::regclass THEN RETURN (SELECT conrelid FROM pg_constraint WHERE oid = object);
        WHEN 'pg_trigger'::regclass THEN RETURN (SELECT tgrelid FROM pg_trigger WHERE oid = object);
        WHEN 'pg_policy'::regclass THEN RETURN (SELECT polrelid FROM pg_policy WHERE oid = object);
        WHEN 'pg_publication_rel'::regclass THEN
            RETURN (SELECT prrelid FROM pg_publication_rel WHERE oid = object);
        WHEN 'pg_statistic_ext'::regclass THEN RETURN (SELECT stxrelid FROM pg_statistic_ext WHERE oid = object);
        ELSE RETURN NULL;
    END CASE;
END
$function$;

-- Returns the role that owns an object, or the relation that it is on; NULL for objects of other kinds.
CREATE FUNCTION snowflake._owner_of(class regclass, object oid)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    CASE class
        WHEN 'pg_proc'::regclass THEN RETURN (SELECT proowner FROM pg_proc WHERE oid = object);
        WHEN 'pg_type'::regclass THEN RETURN (SELECT typowner FROM pg_type WHERE oid = object);
        WHEN 'pg_operator'::regclass THEN RETURN (SELECT oprowner FROM pg_operator WHERE oid = object);
        WHEN 'pg_opclass'::regclass THEN RETURN (SELECT opcowner FROM pg_opclass WHERE oid = object);
        WHEN 'pg_opfamily'::regclass THEN RETURN (SELECT opfowner FROM pg_opfamily WHERE oid = object);
        WHEN 'pg_event_trigger'::regclass THEN RETURN (SELECT evtowner FROM pg_event_trigger WHERE oid = object);
        WHEN 'pg_statistic_ext'::regclass THEN RETURN (SELECT stxowner FROM pg_statistic_ext WHERE oid = object);
        ELSE RETURN (SELECT relowner FROM pg_class WHERE oid = snowflake._relation_of(class, object));
    END CASE;
END
$function$;
