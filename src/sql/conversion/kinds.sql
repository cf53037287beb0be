-- The list of the kinds of objects that the conversion drops and makes again, and the functions that
-- ask all kinds. A kind is a line in the list, and a file in kinds/ with these functions:
--
--   _<kind>_found(objects)         which of the objects of the kind's catalog are of the kind
--   _<kind>_obstacles(dependents)  what keeps them from being made again, if is_refusable
--   _<kind>_drop(dependent)        the command that takes one out of the way, if is_dropped; NULL: it goes with another
--   _<kind>_remake(dependent)      the commands that make it again, and the role of each, where it is not _maker()

-- Lists the kinds of objects that the conversion of a sequence drops and makes again.
CREATE FUNCTION snowflake._kinds(
        OUT kind text, OUT class oid,
        OUT is_leaf boolean,  -- no other kind depends on it
        OUT is_dropped boolean, -- it is taken out of the way by a command of its own
        OUT is_made boolean,  -- it is made again by a command of its own
        OUT may_call boolean, -- it is made again after routines and sequences, and may use them
        OUT is_refusable boolean, -- something may keep it from being made again, beyond what trust.sql knows of every kind
        OUT turn integer)     -- its turn to be made, among objects of the same depth; NULL: after the others
    RETURNS SETOF record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
    BEGIN ATOMIC
    VALUES ('generated', 'pg_attrdef'::regclass::oid, false, true, false, false, true, 1),
           ('index', 'pg_class'::regclass, true, true, true, false, false, 2),
           ('constraint', 'pg_constraint'::regclass, true, true, true, false, true, 3),
           ('statistics', 'pg_statistic_ext'::regclass, true, false, true, false, true, 4),
           ('view', 'pg_rewrite'::regclass, false, true, true, true, true, 5),
           ('routine', 'pg_proc'::regclass, false, true, true, true, true, NULL),
           ('rule', 'pg_rewrite'::regclass, true, true, true, true, false, NULL),
           ('trigger', 'pg_trigger'::regclass, true, true, true, true, true, NULL),
           ('policy', 'pg_policy'::regclass, true, true, true, true, false, NULL),
           ('publication', 'pg_publication_rel'::regclass, true, true, true, false, true, NULL);
    END;

-- Finds the objects of all kinds among objects that depend on columns.
CREATE FUNCTION snowflake._kinds_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    k record;
BEGIN
    FOR k IN
        SELECT x.kind, x.class, x.may_call FROM snowflake._kinds() x
            WHERE x.class IN (SELECT o.classid FROM unnest(objects) o)
    LOOP
        RETURN QUERY EXECUTE format('SELECT * FROM snowflake.%I($1)', '_' || k.kind || '_found')
            USING ARRAY(SELECT o FROM unnest(objects) o WHERE o.classid = k.class AND (k.may_call OR NOT o.calls));
    END LOOP;
END
$function$;

-- Lists what keeps objects of any kind from being made again.
CREATE FUNCTION snowflake._kinds_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    k record;
BEGIN
    FOR k IN
        SELECT x.kind FROM snowflake._kinds() x
            WHERE x.is_refusable AND x.kind IN (SELECT d.kind FROM unnest(dependents) d)
    LOOP
        RETURN QUERY EXECUTE format('SELECT * FROM snowflake.%I($1)', '_' || k.kind || '_obstacles')
            USING ARRAY(SELECT d FROM unnest(dependents) d WHERE d.kind = k.kind);
    END LOOP;
END
$function$;

-- Returns the steps that take the objects that depend on columns out of the way, the outermost first. An object that
-- has dependents of its own is dropped after all objects that have none.
CREATE FUNCTION snowflake._kinds_drops(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    d snowflake._conversion_dependent;
    step snowflake._conversion_step;
BEGIN
    FOR d IN
        SELECT x.*
            FROM unnest(dependents) x
            JOIN snowflake._kinds() k ON k.kind = x.kind
            WHERE k.is_dropped AND NOT x.is_rebuilt
            ORDER BY NOT k.is_leaf, x.depth DESC, x.objid DESC
    LOOP
        EXECUTE format('SELECT snowflake.%I($1)', '_' || d.kind || '_drop') INTO step.command USING d;
        IF step.command IS NOT NULL THEN
            step.role := pg_get_userbyid(snowflake._maker(d));
            step.effect := format('%s, made again below', coalesce(d.kind || ' ' || d.name,
                                                                   snowflake._description_of(d.classid, d.objid)));
            RETURN NEXT step;
        END IF;
    END LOOP;
END
$function$;

-- Returns the commands that make an object of any kind again, or give it what the server forgets of it.
CREATE FUNCTION snowflake._kind_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid) -- that runs it; NULL: see _maker()
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM snowflake._kinds() k WHERE k.kind = dependent.kind) THEN
        RAISE EXCEPTION 'unrecognized kind of object: "%"', dependent.kind
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN QUERY EXECUTE format('SELECT * FROM snowflake.%I($1)', '_' || dependent.kind || '_remake')
        USING dependent;
END
$function$;

-- Raises an error that names the first object that is nested too deeply to be printed here. Whoever may name a table in a view can
-- make such a view.
CREATE FUNCTION snowflake._raise_too_deep(dependents snowflake._conversion_dependent[])
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    d snowflake._conversion_dependent;
BEGIN
    FOREACH d IN ARRAY dependents LOOP
        PERFORM snowflake._kind_remake(d) WHERE d.kind IS NOT NULL;
    END LOOP;
EXCEPTION WHEN program_limit_exceeded THEN
    RAISE program_limit_exceeded USING
        MESSAGE = SQLERRM,
        DETAIL = format('%s, which %I owns, is nested too deeply to be made again: drop it, and make it again afterwards',
                        CASE WHEN d.kind = 'view' THEN 'view ' || d.name ELSE pg_describe_object(d.classid, d.objid, 0) END,
                        pg_get_userbyid(snowflake._maker(d)));
END
$function$;

-- Returns the steps that make the objects that depend on columns again, the innermost first.
CREATE FUNCTION snowflake._kinds_remakes(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(dependents) d
            JOIN snowflake._kinds() k ON k.kind = d.kind
            CROSS JOIN LATERAL snowflake._kind_remake(d) WITH ORDINALITY x(command, role, n)
            CROSS JOIN LATERAL snowflake._step(
                x.command, coalesce(x.role, snowflake._maker(d)),
                CASE WHEN x.n = 1 AND k.is_made
                     THEN format('%s%s %s as before', CASE WHEN d.is_rebuilt THEN 'rebuilt ' END, d.kind,
                                 coalesce(d.name, 'on ' || d.relid)) END) step
            ORDER BY d.depth, CASE WHEN NOT d.is_rebuilt THEN k.turn END, d.objid, x.n;
EXCEPTION WHEN program_limit_exceeded THEN
    PERFORM snowflake._raise_too_deep(dependents);
    RAISE;
END
$function$;
