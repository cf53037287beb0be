-- Rights on objects, and the commands that give them again.

-- Keeps the rights on a relation and its columns, or on a routine, from being changed until the transaction ends, if the caller
-- can act for its owner: GRANT and REVOKE lock no object.
CREATE FUNCTION snowflake._hold_rights(class oid, object oid)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_hold_rights'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Returns the rights on a relation or a routine; acl: NULL where they are the built-in ones.
CREATE FUNCTION snowflake._conversion_held(
        classid oid, objid oid,
        OUT target text,          -- as GRANT names it
        OUT namespace oid, OUT owner oid, OUT acl aclitem[],
        OUT kind "char")          -- for which there are default privileges
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF classid = 'pg_class'::regclass THEN
        SELECT format('%s %s', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass),
               c.relnamespace, c.relowner, c.relacl, CASE c.relkind WHEN 'S' THEN 'S' ELSE 'r' END
            INTO target, namespace, owner, acl, kind
            FROM pg_class c
            WHERE c.oid = objid;
    ELSIF classid = 'pg_proc'::regclass THEN
        SELECT format('ROUTINE %s', p.oid::regprocedure), p.pronamespace, p.proowner, p.proacl, 'f'
            INTO target, namespace, owner, acl, kind
            FROM pg_proc p
            WHERE p.oid = objid;
    END IF;
END
$function$;

-- Returns the rights that were given on a relation or a routine (attnum 0), and on the columns of a relation, in the order in
-- which they were.
CREATE FUNCTION snowflake._conversion_given(
        classid oid, objid oid,
        OUT attnum smallint, OUT attname name, OUT grantor oid, OUT grantee oid, OUT privilege text, OUT is_grantable boolean,
        OUT n bigint)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 0::smallint, NULL::name, x.*
            FROM snowflake._conversion_held(classid, objid) held,
                 -- acldefault() knows sequences by a lower-case letter.
                 aclexplode(coalesce(held.acl, acldefault(lower(held.kind::text)::"char", held.owner))) WITH ORDINALITY x
        UNION ALL
        SELECT a.attnum, a.attname, x.*
            FROM pg_attribute a, aclexplode(a.attacl) WITH ORDINALITY x
            WHERE classid = 'pg_class'::regclass AND a.attrelid = objid AND NOT a.attisdropped;
END
$function$;

-- Finds the roles that may pass a right on, and through how few hands it came to each. There can be more ways to a role than
-- anybody could walk, and circles; no shortest way is longer than there are grants. A right on the table (attnum 0) is one on each
-- column.
CREATE FUNCTION snowflake._holders_of_rights(
        classid oid, objid oid,
        OUT attnum smallint, OUT privilege text, OUT role oid, OUT hands integer) -- privilege NULL: all, which the owner has
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE given AS MATERIALIZED (
            SELECT g.attnum, g.privilege, g.grantor, g.grantee FROM snowflake._conversion_given(classid, objid) g WHERE g.is_grantable
        ),
        holder(attnum, privilege, role, hands) AS (
            SELECT 0::smallint, NULL, held.owner, 1 FROM snowflake._conversion_held(classid, objid) held
            UNION
            SELECT g.attnum, g.privilege, g.grantee, holder.hands + 1
                FROM holder
                JOIN given g ON g.grantor = holder.role
                            AND holder.attnum IN (0, g.attnum) AND g.privilege = coalesce(holder.privilege, g.privilege)
                WHERE holder.hands <= (SELECT count(*) FROM given)
        )
        SELECT holder.attnum, holder.privilege, holder.role, min(holder.hands) FROM holder GROUP BY 1, 2, 3;
END
$function$;

-- Returns the commands that grant the rights on an object, or on a column of it, in the order in which they were.
-- Every right on an object (part 0) or on a column of it is granted by the role that granted it. A role that passed
-- a right on had it from another role before: the owner's grants come first, then those of the roles that the owner
-- allowed to pass a right on, and so forth.
CREATE FUNCTION snowflake._conversion_grants(
        classid oid, objid oid, only_part smallint,
        OUT command text, OUT role oid) -- that runs it; NULL: the owner
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH holder AS (
            SELECT * FROM snowflake._holders_of_rights(classid, objid)
        ),
        right_given AS (
            SELECT g.grantor, g.grantee, g.is_grantable, distance.hands,
                   string_agg(g.privilege || (CASE WHEN g.attnum > 0 THEN format(' (%I)', g.attname) ELSE '' END),
                              ', ' ORDER BY g.n) AS privileges
                FROM snowflake._conversion_given(classid, objid) g
                CROSS JOIN LATERAL (
                    SELECT min(holder.hands) FROM holder
                        WHERE holder.role = g.grantor AND holder.attnum IN (0, g.attnum)
                          AND coalesce(holder.privilege, g.privilege) = g.privilege
                ) distance(hands)
                WHERE g.attnum = only_part
                GROUP BY g.grantor, g.grantee, g.is_grantable, distance.hands
        )
        SELECT format('GRANT %s ON %s TO %s%s', g.privileges, held.target,
                      snowflake._grantee(g.grantee),
                      CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END),
               nullif(g.grantor, held.owner)
            FROM right_given g
            CROSS JOIN snowflake._conversion_held(classid, objid) held
            ORDER BY g.hands, NOT g.is_grantable, g.grantee, g.grantor, g.privileges;
END
$function$;

-- Returns the commands that give an object the rights it has. Rights that default privileges gave the object when it
-- was made are taken away first.
CREATE FUNCTION snowflake._conversion_rights(
        classid oid, objid oid,
        OUT command text, OUT role oid) -- that runs it; NULL: the owner
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH held AS (
            SELECT * FROM snowflake._conversion_held(classid, objid)
        ),
        given AS (
            SELECT d.defaclacl FROM held, pg_default_acl d
                WHERE d.defaclrole = held.owner
                  AND d.defaclobjtype = held.kind
                  AND d.defaclnamespace IN (0, held.namespace)
        ),
        -- There is nothing to do where the rights are the built-in ones and will be.
        touched AS (
            SELECT * FROM held WHERE acl IS NOT NULL OR EXISTS (SELECT FROM given)
        ),
        -- A role that has a right on the relation may have granted it on a column.
        part(attnum) AS (
            SELECT 0::smallint FROM touched
            UNION ALL
            SELECT a.attnum FROM pg_attribute a
                WHERE classid = 'pg_class'::regclass AND a.attrelid = objid
                  AND a.attacl IS NOT NULL AND NOT a.attisdropped
        )
        SELECT format('REVOKE ALL ON %s FROM %s', touched.target,
                      (SELECT string_agg(snowflake._grantee(h.oid), ', ' ORDER BY h.oid)
                           FROM (SELECT 0::oid UNION SELECT touched.owner
                                 UNION SELECT x.grantee FROM given, aclexplode(given.defaclacl) x) h(oid))),
               NULL::oid
            FROM touched
        UNION ALL
        (SELECT g.command, g.role
            FROM part, snowflake._conversion_grants(classid, objid, part.attnum) WITH ORDINALITY g(command, role, n)
            ORDER BY part.attnum, g.n);
END
$function$;

-- Returns the command that takes rights from roles (0: PUBLIC), and from those that they gave them to; NULL: there are no roles.
CREATE FUNCTION snowflake._revoke_command(rights text, holders oid[])
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format('REVOKE %s FROM %s CASCADE', rights,
                          string_agg(snowflake._grantee(h), ', ' ORDER BY h))
                FROM (SELECT DISTINCT unnest(holders)) x(h)
                HAVING count(*) > 0);
END
$function$;

-- Returns the roles other than its owner that have rights on a relation or on columns of it.
CREATE FUNCTION snowflake._holders_beside_owner(relation oid)
    RETURNS oid[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT x.grantee
            FROM pg_class c
            CROSS JOIN LATERAL (SELECT c.relacl UNION ALL SELECT a.attacl FROM pg_attribute a
                                                               WHERE a.attrelid = c.oid AND NOT a.attisdropped) held(acl)
            CROSS JOIN LATERAL aclexplode(held.acl) x
            WHERE c.oid = relation AND x.grantee <> c.relowner);
END
$function$;

-- Returns the commands that take all rights on a relation from everybody but the owner, who has all.
CREATE FUNCTION snowflake._revocations(relation oid)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT x.command
            FROM snowflake._revoke_command(format('ALL ON TABLE %s', relation::regclass), snowflake._holders_beside_owner(relation)) x(command)
            WHERE x.command IS NOT NULL
        UNION ALL
        SELECT format('GRANT ALL ON TABLE %s TO %I', relation::regclass, pg_get_userbyid(c.relowner))
            FROM pg_class c WHERE c.oid = relation AND c.relacl IS NOT NULL;
END
$function$;
