-- Rules on tables and views, other than those that hold the query of a view.

-- Finds the rules among objects that depend on columns.
CREATE FUNCTION snowflake._rule_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_rewrite r ON r.oid = o.objid AND r.rulename <> '_RETURN'
            CROSS JOIN LATERAL snowflake._dependent(o, kind => 'rule', relid => r.ev_class) d
            WHERE o.classid = 'pg_rewrite'::regclass;
END
$function$;

-- Returns the command that drops a rule.
CREATE FUNCTION snowflake._rule_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format('DROP RULE %I ON %s', rulename, dependent.relid)
                FROM pg_rewrite WHERE oid = dependent.objid);
END
$function$;

-- Returns the commands that make a rule again.
CREATE FUNCTION snowflake._rule_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT r.oid, r.rulename AS name, r.ev_class::regclass AS relation, r.ev_enabled AS enabled INTO o
        FROM pg_rewrite r
        WHERE r.oid = dependent.objid AND r.rulename <> '_RETURN';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    command := rtrim(pg_get_ruledef(o.oid), ';');
    RETURN NEXT;
    IF o.enabled <> 'O' THEN
        command := format('ALTER TABLE %s %s RULE %I', o.relation,
                          snowflake._conversion_firing(o.enabled), o.name);
        RETURN NEXT;
    END IF;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
        'pg_rewrite'::regclass, o.oid, format('RULE %I ON %s', o.name, o.relation)) x;
END
$function$;
