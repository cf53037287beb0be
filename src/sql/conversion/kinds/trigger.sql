-- Triggers of users. The clones of a trigger on partitions, and the triggers by which the server
-- enforces a constraint, come and go with the trigger or the constraint.

-- Finds the triggers among objects that depend on columns.
CREATE FUNCTION snowflake._trigger_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH found AS MATERIALIZED (
            SELECT o AS object, t AS trigger
                FROM unnest(objects) o JOIN pg_trigger t ON t.oid = o.objid WHERE o.classid = 'pg_trigger'::regclass
        ),
        keeper AS MATERIALIZED (
            SELECT p.relid, x.tgname
                FROM snowflake._shadow_pairs(ARRAY(SELECT (f.trigger).tgrelid FROM found f
                                                       WHERE (f.trigger).tgfoid = 'snowflake._keep_shadow()'::regprocedure)) p
                CROSS JOIN LATERAL snowflake._triggers_on_shadow(p.relid, p.shadow) x(tgname)
        )
        SELECT d.*
            FROM found f
            CROSS JOIN LATERAL snowflake._dependent(
                f.object, kind => 'trigger', relid => (f.trigger).tgrelid,
                comes_along => (f.trigger).tgisinternal OR (f.trigger).tgparentid <> 0
                               OR ((f.trigger).tgrelid, (f.trigger).tgname) IN (SELECT k.relid, k.tgname FROM keeper k)) d;
END
$function$;

-- Lists what keeps triggers from being made again.
CREATE FUNCTION snowflake._trigger_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('trigger %I of %s cannot be made again: %I may not execute its function: GRANT EXECUTE ON FUNCTION %s TO %3$I',
                      t.tgname, d.relid, pg_get_userbyid(c.relowner), t.tgfoid::regprocedure)
            FROM unnest(dependents) d
            JOIN pg_trigger t ON t.oid = d.objid
            JOIN pg_class c ON c.oid = d.relid
            WHERE NOT has_function_privilege(c.relowner, t.tgfoid, 'EXECUTE');
    RETURN QUERY
        SELECT format('trigger %I of %s cannot be made again: %I may not make triggers on %s: GRANT TRIGGER ON %4$s TO %3$I',
                      t.tgname, d.relid, pg_get_userbyid(c.relowner), held.relid::regclass)
            FROM unnest(dependents) d
            JOIN pg_trigger t ON t.oid = d.objid
            JOIN pg_class c ON c.oid = d.relid
            -- A trigger for each row is made on the partitions, too.
            CROSS JOIN LATERAL (SELECT t.tgrelid::oid UNION SELECT t.tgconstrrelid
                                UNION SELECT p.relid FROM pg_partition_tree(t.tgrelid) p WHERE (t.tgtype & 1) = 1) held(relid)
            WHERE NOT has_table_privilege(c.relowner, held.relid, 'TRIGGER');
END
$function$;

-- Returns the command that drops a trigger.
CREATE FUNCTION snowflake._trigger_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format('DROP TRIGGER %I ON %s', tgname, dependent.relid)
                FROM pg_trigger WHERE oid = dependent.objid);
END
$function$;

-- Returns the commands that give a trigger, and the constraint that it may be, their comments.
CREATE FUNCTION snowflake._annotations_of_trigger(trigger_oid oid)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT x
            FROM pg_trigger t
            CROSS JOIN LATERAL (SELECT 'pg_trigger'::regclass, t.oid, 'TRIGGER'
                                UNION ALL SELECT 'pg_constraint', t.tgconstraint, 'CONSTRAINT') named(class, object, kind)
            CROSS JOIN LATERAL snowflake._conversion_annotations(
                named.class, named.object, format('%s %I ON %s', named.kind, t.tgname, t.tgrelid::regclass)) x
            WHERE t.oid = trigger_oid;
END
$function$;

-- Returns the commands that make a trigger again.
CREATE FUNCTION snowflake._trigger_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT t.oid, t.tgname AS name, t.tgrelid::regclass AS relation, t.tgenabled AS enabled INTO o
        FROM pg_trigger t WHERE t.oid = dependent.objid;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    command := pg_get_triggerdef(o.oid);
    RETURN NEXT;
    IF o.enabled <> 'O' THEN
        command := format('ALTER TABLE %s %s TRIGGER %I', o.relation,
                          snowflake._conversion_firing(o.enabled), o.name);
        RETURN NEXT;
    END IF;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._annotations_of_trigger(o.oid) x;
    -- The triggers that stand for it on the partitions have states and comments of their own.
    RETURN QUERY
        WITH RECURSIVE clone AS (
            SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled FROM pg_trigger t WHERE t.tgparentid = o.oid
            UNION ALL
            SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled
                FROM clone JOIN pg_trigger t ON t.tgparentid = clone.oid
        )
        SELECT format('ALTER TABLE ONLY %s %s TRIGGER %I', clone.tgrelid::regclass,
                      snowflake._conversion_firing(clone.tgenabled), clone.tgname), NULL::oid
            FROM clone WHERE clone.tgenabled <> o.enabled
        UNION ALL
        SELECT x, NULL::oid FROM clone CROSS JOIN LATERAL snowflake._annotations_of_trigger(clone.oid) x;
END
$function$;
