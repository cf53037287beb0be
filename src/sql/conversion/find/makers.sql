-- Roles that make objects again, and what keeps them from doing so.
--
-- An object is made as its owner where that is possible: what the caller makes would be the caller's
-- until it is given to the owner. Where it is not possible, the caller makes it. The server evaluates
-- constants while it parses: where that could run code of users, the owner makes the object or nobody.

CREATE FUNCTION snowflake._maker(
        class regclass, objid oid, owner oid, namespace oid,
        may_make boolean, -- whether the owner may, as far as that depends on the kind of the object
        is_harmless boolean)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    IF owner <> quote_ident(current_user)::regrole
       AND (NOT is_harmless
            OR may_make
               AND snowflake._may_become(owner)
               AND has_schema_privilege(owner, namespace, 'CREATE')
               AND snowflake._may_name_references(owner, class, objid)) THEN
        RETURN owner;
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION snowflake._maker(regclass, oid, oid, oid, boolean, boolean) IS
    'returns the role that makes an object again; NULL: the caller';

-- What belongs to a relation has no owner of its own.
CREATE FUNCTION snowflake._maker_on_relation(class regclass, objid oid, is_evaluated boolean)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    owner constant oid := (SELECT relowner FROM pg_class WHERE oid = snowflake._relation_of(class, objid));
BEGIN
    IF owner <> quote_ident(current_user)::regrole
       AND NOT (snowflake._is_harmless_to_parse(class, objid)
                AND (NOT is_evaluated OR snowflake._is_harmless_to_run(class, objid))) THEN
        RETURN owner;
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION snowflake._maker_on_relation(regclass, oid, boolean) IS
    'returns the role that makes an object on a relation again, whose expressions the server may evaluate; NULL: the caller';

-- What is made again must be allowed to the caller, and to its owner to whom it is given.
CREATE FUNCTION snowflake._creation_obstacles(
        class oid, objid oid, namespace oid,
        owner oid, -- NULL: it has none of its own
        by_caller boolean)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    caller constant oid := quote_ident(current_user)::regrole;
BEGIN
    IF snowflake._is_superuser() THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT format('%s cannot be made again: %I may not create objects in schema %I',
                      pg_describe_object(class, objid, 0), pg_get_userbyid(r.role), n.nspname)
            FROM pg_namespace n
            CROSS JOIN unnest(ARRAY[CASE WHEN by_caller THEN caller END, nullif(owner, caller)]) r(role)
            WHERE n.oid = namespace AND NOT has_schema_privilege(r.role, n.oid, 'CREATE');
END
$function$;
COMMENT ON FUNCTION snowflake._creation_obstacles(oid, oid, oid, oid, boolean) IS
    'lists the roles that make an object again, or get it, but may not create objects in its schema';

CREATE FUNCTION snowflake._grant_obstacles(object text, owner oid, acl aclitem[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('rights on %s were granted by %I, which %I may not become here', object,
                               pg_get_userbyid(x.grantor), current_user)
            FROM aclexplode(array_remove(acl, NULL)) x
            WHERE x.grantor <> owner AND NOT snowflake._may_become(x.grantor);
END
$function$;
COMMENT ON FUNCTION snowflake._grant_obstacles(text, oid, aclitem[]) IS
    'lists the roles that granted rights on an object and that the caller cannot act for';
