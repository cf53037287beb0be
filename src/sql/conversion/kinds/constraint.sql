-- Constraints: those on generated columns, which are made again, and those on altered columns, which the
-- server makes again without the states of their triggers.

-- Sets how a trigger fires by which the server enforces a constraint on a relation. The server gives the triggers by
-- which it enforces a constraint new names each time it makes them.
CREATE FUNCTION snowflake._conversion_set_trigger(
        constrained regclass, constraint_name name, relation regclass, function regproc, firing text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    trigger_name name;
BEGIN
    FOR trigger_name IN
        WITH RECURSIVE family(oid) AS (
            SELECT oid FROM pg_constraint WHERE conrelid = constrained AND conname = constraint_name
            UNION ALL
            SELECT k.oid FROM family JOIN pg_constraint k ON k.conparentid = family.oid
        )
        SELECT t.tgname FROM family JOIN pg_trigger t ON t.tgconstraint = family.oid
            WHERE t.tgrelid = relation AND t.tgfoid = function AND t.tgisinternal
    LOOP
        EXECUTE format('ALTER TABLE ONLY %s %s TRIGGER %I', relation, firing, trigger_name);
    END LOOP;
END
$function$;

-- Returns the commands that make the triggers of a constraint fire as they do, where they are not simply enabled.
CREATE FUNCTION snowflake._conversion_constraint_triggers(constraint_oid oid)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE family(oid) AS (
            SELECT constraint_oid
            UNION ALL
            SELECT k.oid FROM family JOIN pg_constraint k ON k.conparentid = family.oid
        )
        SELECT DISTINCT format('SELECT snowflake._conversion_set_trigger(%L, %L, %L, %L, %L)',
                               k.conrelid::regclass, k.conname, t.tgrelid::regclass, t.tgfoid::regproc,
                               snowflake._conversion_firing(t.tgenabled))
            FROM pg_constraint k, family JOIN pg_trigger t ON t.tgconstraint = family.oid
            WHERE k.oid = constraint_oid AND t.tgisinternal AND t.tgenabled <> 'O'
            ORDER BY 1;
END
$function$;

-- Puts constraints in the place of their indexes, or beside them, among objects that depend on columns. An exclusion
-- constraint whose column only an expression uses is found by its index: the constraint takes the place of the
-- index. What the server forgets when it makes a constraint again, it forgets of the index, which is therefore
-- looked at as well. So is the part that a partition has of a key.
CREATE FUNCTION snowflake._constraint_objects(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_object
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH found AS (
            SELECT coalesce(x.classid, o.classid) AS classid, coalesce(x.oid, o.objid) AS objid,
                   max(o.depth) AS depth, bool_or(o.calls) AS calls
                FROM unnest(objects) o
                -- By way of pg_depend: pg_constraint has no index on conindid.
                LEFT JOIN LATERAL (
                    SELECT d.refclassid AS classid, k.oid
                        FROM pg_depend d
                        JOIN pg_constraint k ON k.oid = d.refobjid
                        WHERE d.classid = 'pg_class'::regclass AND d.objid = o.objid
                          AND d.refclassid = 'pg_constraint'::regclass
                          AND k.contype = 'x' AND k.conindid = o.objid
                ) x ON o.classid = 'pg_class'::regclass
                GROUP BY 1, 2
        )
        SELECT * FROM found
        UNION ALL
        SELECT 'pg_class'::regclass::oid, k.conindid, found.depth, found.calls
            FROM found JOIN pg_constraint k ON k.oid = found.objid
            WHERE found.classid = 'pg_constraint'::regclass AND found.depth = 1
              AND (k.contype = 'x' OR k.contype IN ('p', 'u') AND k.conparentid <> 0);
END
$function$;

-- Returns the commands that give an inherited check, or a partition's part of a foreign key, its comment: the server forgets it.
CREATE FUNCTION snowflake._annotations_of_part(constraint_oid oid)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT x
            FROM pg_constraint k
            LEFT JOIN pg_constraint whole ON whole.oid = k.conparentid
            CROSS JOIN LATERAL snowflake._conversion_annotations(
                'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass)) x
            WHERE k.oid = constraint_oid AND (k.contype = 'c' AND k.coninhcount > 0 OR k.contype = 'f' AND k.conname = whole.conname);
END
$function$;

-- Finds the constraints among objects that depend on columns.
CREATE FUNCTION snowflake._constraint_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_constraint k ON k.oid = o.objid
            CROSS JOIN LATERAL snowflake._dependent(
                o, kind => 'constraint', relid => k.conrelid, is_rebuilt => o.depth = 1,
                -- Not-null constraints come and go with their column, constraint triggers are triggers.
                comes_along => CASE WHEN k.contype IN ('n', 't') THEN true
                                    WHEN o.depth > 1 THEN false
                                    ELSE NOT EXISTS (SELECT FROM snowflake._annotations_of_part(k.oid))
                                         AND (k.conparentid <> 0
                                              OR NOT EXISTS (SELECT FROM snowflake._conversion_constraint_triggers(k.oid))) END) d
            WHERE o.classid = 'pg_constraint'::regclass
              AND (o.depth = 1 OR k.contype IN ('n', 't', 'c', 'u', 'p', 'x'));
END
$function$;

-- Lists what keeps constraints from being made again.
CREATE FUNCTION snowflake._constraint_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('constraint %I of table %s has triggers that are disabled, as only a superuser may do again',
                      k.conname, k.conrelid::regclass)
            FROM unnest(dependents) d JOIN pg_constraint k ON k.oid = d.objid
            WHERE NOT snowflake._is_superuser(quote_ident(current_user)::regrole)
              AND EXISTS (SELECT FROM snowflake._conversion_constraint_triggers(k.oid));
END
$function$;

-- Returns the command that drops a constraint; NULL: the constraint is dropped with its column.
CREATE FUNCTION snowflake._constraint_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    -- Other constraints go with their generated column.
    RETURN (SELECT format('ALTER TABLE ONLY %s DROP CONSTRAINT %I', dependent.relid, conname)
                FROM pg_constraint WHERE oid = dependent.objid AND contype = 'x');
END
$function$;

-- Returns the commands that make a constraint again, or give it what the server forgets of it.
CREATE FUNCTION snowflake._constraint_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    o record;
BEGIN
    SELECT k.oid, k.conname, k.conrelid::regclass AS relation, k.conindid, k.conparentid, k.contype = 'c' AND k.convalidated AS is_valid_check,
           (SELECT string_agg(format('%I = %L', x.option_name, x.option_value), ', ')
                FROM pg_options_to_table(c.reloptions) x) AS options
        INTO o
        FROM pg_constraint k LEFT JOIN pg_class c ON c.oid = k.conindid
        WHERE k.oid = dependent.objid;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT dependent.is_rebuilt THEN
        -- The runner compares what a check has come to name before the server evaluates it.
        command := concat(format('ALTER TABLE %s ADD CONSTRAINT %I %s', o.relation, o.conname, pg_get_constraintdef(o.oid)),
                          CASE WHEN o.is_valid_check THEN ' NOT VALID' END);
        RETURN NEXT;
        IF o.is_valid_check THEN
            command := format('ALTER TABLE %s VALIDATE CONSTRAINT %I', o.relation, o.conname);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_annotations(
            'pg_constraint'::regclass, o.oid, format('CONSTRAINT %I ON %s', o.conname, o.relation)) x;
        IF o.options IS NOT NULL THEN
            command := format('ALTER INDEX %s SET (%s)', o.conindid::regclass, o.options);
            RETURN NEXT;
        END IF;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_index_settings(o.conindid, only_forgotten => false) x;
    END IF;
    RETURN QUERY SELECT x, NULL::oid FROM snowflake._annotations_of_part(o.oid) x WHERE dependent.is_rebuilt;
    -- Only a superuser may, and the command evaluates nothing.
    RETURN QUERY SELECT x, quote_ident(current_user)::regrole::oid FROM snowflake._conversion_constraint_triggers(o.oid) x
                     WHERE o.conparentid = 0;
END
$function$;
