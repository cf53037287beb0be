-- Policies of row-level security.

-- Finds the policies among objects that depend on columns.
CREATE FUNCTION snowflake._policy_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_policy p ON p.oid = o.objid
            CROSS JOIN LATERAL snowflake._dependent(o, kind => 'policy', relid => p.polrelid) d
            WHERE o.classid = 'pg_policy'::regclass;
END
$function$;

-- Returns the command that drops a policy.
CREATE FUNCTION snowflake._policy_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format('DROP POLICY %I ON %s', polname, dependent.relid)
                FROM pg_policy WHERE oid = dependent.objid);
END
$function$;

-- Returns the commands that make a policy again.
CREATE FUNCTION snowflake._policy_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT p.oid, p.polname AS name, p.polrelid::regclass AS relation,
           CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS type,
           CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                         WHEN 'd' THEN 'DELETE' ELSE 'ALL' END AS command,
           (SELECT string_agg(snowflake._grantee(x), ', ')
                FROM unnest(p.polroles) x) AS roles,
           ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')' AS using_clause,
           ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')' AS check_clause
        INTO o
        FROM pg_policy p WHERE p.oid = dependent.objid;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    command := concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', o.name, o.relation, o.type,
                             o.command, o.roles),
                      o.using_clause, o.check_clause);
    RETURN NEXT;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
        'pg_policy'::regclass, o.oid, format('POLICY %I ON %s', o.name, o.relation)) x;
END
$function$;
