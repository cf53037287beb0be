-- Roles that insert: an identity asks nobody for a right on its sequence, and nextval in a default does.

-- Finds the relations that a rule inserts into. The rule of a view that is no more than its one relation counts as one.
-- NULL: the rule is too long to be read.
CREATE FUNCTION snowflake._relations_inserted_into(rule oid)
    RETURNS SETOF oid
    AS 'MODULE_PATHNAME', 'snowflake_relations_inserted_into'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1;

-- Finds the roles, 0 for PUBLIC, that may insert rows into a table and leave a column to its default: by a right on the
-- table, on a column of it, on a view of it, or on a relation with a rule that writes to it. Whom the owner of another
-- relation lets write through its view or rule, a conversion gives no right.
CREATE FUNCTION snowflake._inserters(tab regclass, through_others boolean)
    RETURNS SETOF oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    SET enable_hashjoin = off -- as in _conversion_state()
    SET enable_mergejoin = off
    AS $function$
DECLARE
    owner constant oid := snowflake._owner(tab);
BEGIN
    RETURN QUERY
        WITH RECURSIVE way(relid, privilege) AS (
            SELECT tab::oid, 'INSERT'
            UNION
            SELECT r.ev_class, CASE r.ev_type WHEN '2' THEN 'UPDATE' WHEN '3' THEN 'INSERT' WHEN '4' THEN 'DELETE' ELSE way.privilege END
                FROM way
                -- The server could plan to read all rules first otherwise.
                CROSS JOIN LATERAL (SELECT DISTINCT r.oid, r.ev_class, r.ev_type
                                        FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
                                        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = way.relid
                                          AND d.classid = 'pg_rewrite'::regclass) r
                JOIN pg_class c ON c.oid = r.ev_class
                WHERE (c.relowner = owner OR through_others)
                  AND way.relid IN (SELECT snowflake._relations_inserted_into(r.oid))
        )
        SELECT x.grantee
            FROM way JOIN pg_class c ON c.oid = way.relid
            CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
            WHERE x.privilege_type = way.privilege
        UNION
        SELECT x.grantee
            FROM way JOIN pg_attribute a ON a.attrelid = way.relid AND NOT a.attisdropped
            CROSS JOIN LATERAL aclexplode(a.attacl) x
            WHERE x.privilege_type = way.privilege
        ORDER BY 1;
END
$function$;

-- Tells whether a role, 0 for PUBLIC, may take numbers from a sequence.
CREATE FUNCTION snowflake._may_draw(role oid, seq regclass)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN has_sequence_privilege(CASE role WHEN 0 THEN 'public' ELSE pg_get_userbyid(role) END, seq, 'USAGE, UPDATE');

-- Returns the command that lets a role, 0 for PUBLIC, take numbers from a sequence.
CREATE FUNCTION snowflake._grant_to_draw(role oid, sequence text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN format('GRANT USAGE ON SEQUENCE %s TO %s', sequence,
                  snowflake._grantee(role));
