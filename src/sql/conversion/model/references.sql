-- References of the objects that depend on tables. They are compared before and after a conversion, so that
-- nothing that is made again comes to depend on an object that it did not depend on before.

-- Returns a table and all that inherit from it, partitions among them.
CREATE FUNCTION snowflake._table_tree(tab regclass)
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE tree(relid) AS (
            SELECT tab::oid
            UNION SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.relid)
        SELECT tree.relid::regclass FROM tree;
END
$function$;

-- Returns a table, all that inherit from it, and all that these inherit from.
CREATE FUNCTION snowflake._table_kin(tab regclass)
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE kin(relid) AS (
            SELECT member::oid FROM snowflake._table_tree(tab) member
            UNION SELECT i.inhparent FROM kin JOIN pg_inherits i ON i.inhrelid = kin.relid)
        SELECT kin.relid::regclass FROM kin;
END
$function$;

-- Returns the foreign keys of a column and to it, which the server makes again when it widens the column.
CREATE FUNCTION snowflake._keys_of(tab regclass, attnum smallint)
    RETURNS SETOF oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        -- By way of pg_depend, which has an index on what is referenced.
        SELECT k.oid
            FROM pg_depend d
            JOIN pg_constraint k ON k.oid = d.objid
            WHERE d.classid = 'pg_constraint'::regclass AND d.refclassid = 'pg_class'::regclass
              AND d.refobjid = tab AND d.refobjsubid = _keys_of.attnum AND k.contype = 'f';
END
$function$;

-- Tells whether rows have to satisfy a constraint. PostgreSQL 18 has some that are not enforced.
CREATE FUNCTION snowflake._is_enforced(k pg_constraint)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN coalesce((to_jsonb(k) ->> 'conenforced')::boolean, true);

-- Returns the tables that foreign keys link to a column, in either direction.
CREATE FUNCTION snowflake._table_partners(tab regclass, attnum smallint)
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT CASE k.conrelid WHEN tab THEN k.confrelid ELSE k.conrelid END::regclass
            FROM snowflake._keys_of(tab, attnum) keys(key) JOIN pg_constraint k ON k.oid = keys.key;
END
$function$;

-- Returns what depends on tables, in any number of steps, the tables included. A default that draws from a sequence of theirs
-- belongs to its own table.
CREATE FUNCTION snowflake._reached(tables oid[], OUT class oid, OUT object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE reached(class, object) AS (
            SELECT 'pg_class'::regclass::oid, x FROM unnest(tables) x
            UNION
            SELECT next.class, next.object
                FROM reached
                JOIN pg_depend d ON d.refclassid = reached.class AND d.refobjid = reached.object
                LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                -- A view depends on its rule, though for the server the rule belongs to the view.
                CROSS JOIN LATERAL (VALUES (d.classid, d.objid), ('pg_class'::regclass, r.ev_class))
                    next(class, object)
                WHERE next.object IS NOT NULL
                  AND NOT (d.classid = 'pg_attrdef'::regclass AND d.deptype = 'n'
                           AND EXISTS (SELECT FROM pg_sequence q WHERE q.seqrelid = reached.object AND reached.class = 'pg_class'::regclass))
        )
        SELECT reached.class, reached.object FROM reached;
END
$function$;

-- Keeps the schemas of relations from being renamed until the transaction ends, and those of all that the relations, and what
-- depends on them, name: no command finds another object under the name of one. The server evaluates a constant as soon as it
-- has looked up the type by name.
CREATE FUNCTION snowflake._hold_names(relations oid[])
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    schemas constant oid[] := ARRAY(SELECT DISTINCT c.relnamespace FROM pg_class c WHERE c.oid = ANY (relations));
BEGIN
    PERFORM snowflake._hold_schema(held.schema, held.owner)
        FROM (SELECT c.relnamespace, c.relowner FROM pg_class c WHERE c.oid = ANY (relations)
              UNION
              SELECT named.schema, snowflake._owner_of(r.class, r.object)
                  FROM snowflake._reached(relations) r
                  JOIN pg_depend d ON d.classid = r.class AND d.objid = r.object
                  CROSS JOIN LATERAL (
                      SELECT relnamespace FROM pg_class
                          WHERE d.refclassid = 'pg_class'::regclass AND oid = d.refobjid AND relkind NOT IN ('i', 'I', 't')
                      UNION ALL
                      SELECT pronamespace FROM pg_proc WHERE d.refclassid = 'pg_proc'::regclass AND oid = d.refobjid
                      UNION ALL
                      SELECT typnamespace FROM pg_type WHERE d.refclassid = 'pg_type'::regclass AND oid = d.refobjid
                      UNION ALL
                      SELECT oprnamespace FROM pg_operator WHERE d.refclassid = 'pg_operator'::regclass AND oid = d.refobjid
                  ) named(schema)
                  WHERE named.schema <> ALL (schemas)) held(schema, owner);
END
$function$;

-- Returns what objects refer to.
CREATE FUNCTION snowflake._references(
        classes oid[], objects oid[],
        OUT class oid, OUT object oid, OUT ref_class oid, OUT ref_object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT o.class, o.object, d.refclassid, d.refobjid
            FROM unnest(classes, objects) o(class, object)
            JOIN pg_depend d ON d.classid = o.class AND d.objid = o.object
            LEFT JOIN pg_trigger t ON o.class = 'pg_trigger'::regclass AND t.oid = o.object
            LEFT JOIN pg_class part ON o.class = 'pg_class'::regclass AND part.oid = o.object
            LEFT JOIN pg_class used ON d.refclassid = 'pg_class'::regclass AND used.oid = d.refobjid
            -- The clone of a trigger on a partition calls what the trigger does.
            WHERE d.deptype <> 'e' AND NOT coalesce(t.tgisinternal OR t.tgparentid <> 0, false)
              -- A TOAST table stays with its table, which may take the name of another, and runs no code.
              AND NOT EXISTS (SELECT FROM pg_class c
                                  LEFT JOIN pg_index x ON x.indexrelid = c.oid
                                  LEFT JOIN pg_class toasted ON toasted.oid = x.indrelid
                                  WHERE o.class = 'pg_class'::regclass AND c.oid = o.object AND 't' IN (c.relkind, toasted.relkind))
              -- The part that a partition has of an index or a key is made from the whole, under a name that the server
              -- chooses, and runs no code beside it. A foreign key runs no code of the unique index, by no expression, that it depends on.
              AND NOT coalesce(part.relkind IN ('i', 'I') AND part.relispartition, false)
              AND NOT coalesce(used.relkind IN ('i', 'I'), false)
              AND NOT EXISTS (SELECT FROM pg_constraint k
                                  WHERE o.class = 'pg_constraint'::regclass AND k.oid = o.object
                                    AND d.refclassid = o.class AND d.refobjid = k.conparentid);
END
$function$;

-- Names what an object comes from: an extension, a function or operator of whatever types, or the object itself, and
-- the owner, since anybody can add objects to an extension of his own. Overloads of one source stand for each other:
-- what is made again for bigint columns may call the one for bigint.
-- Sources are compared by name, since an object that is made again has another OID.
CREATE FUNCTION snowflake._source_of(class oid, object oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT coalesce(
            (SELECT concat(format('extension %I', x.extname), ' of ' || quote_ident(pg_get_userbyid(snowflake._owner_of(class, object))))
                 FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
                 WHERE d.classid = class AND d.objid = object AND d.deptype = 'e'
                   AND d.refclassid = 'pg_extension'::regclass AND class <> 'pg_class'::regclass),
            (SELECT format('function %I.%I of %I', n.nspname, p.proname, pg_get_userbyid(p.proowner))
                 FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                 WHERE class = 'pg_proc'::regclass AND p.oid = object),
            (SELECT format('operator %I.%s of %I', n.nspname, o.oprname, pg_get_userbyid(o.oprowner))
                 FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace
                 WHERE class = 'pg_operator'::regclass AND o.oid = object),
            -- Only an object of a class that the server knows can be asked for.
            (SELECT format('%s %s', i.type, i.identity)
                 FROM (SELECT 'pg_class'::regclass::oid
                       UNION SELECT refclassid FROM pg_depend
                           WHERE refclassid = class AND refobjid = object) k(known)
                 CROSS JOIN LATERAL pg_identify_object(k.known, object, 0) i
                 WHERE k.known = class)));
END
$function$;

-- Returns the names of what objects refer to, for each of them. What is not made again has an OID besides: another of the
-- same name may take its place, where somebody renames a schema.
CREATE FUNCTION snowflake._sources(classes oid[], objects oid[])
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET enable_hashjoin = on -- a thousand views may depend on a table, and others may make them
    AS $function$
BEGIN
    RETURN (
        WITH r AS MATERIALIZED (
            SELECT DISTINCT x.class, x.object, x.ref_class, x.ref_object FROM snowflake._references(classes, objects) x
        ),
        dependent AS MATERIALIZED (
            SELECT o.class, o.object, format('%s %s', i.type, i.identity) AS name
                FROM (SELECT DISTINCT class, object FROM r) o
                CROSS JOIN LATERAL pg_identify_object(o.class, o.object, 0) i
        ),
        source AS MATERIALIZED (
            SELECT o.ref_class, o.ref_object,
                   named.name || CASE WHEN o.ref_class IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_extension'::regclass)
                                           OR named.name LIKE 'extension %' OR named.name LIKE 'sequence %'
                                           OR (o.ref_class, o.ref_object) IN (SELECT d.class, d.object FROM dependent d)
                                      THEN '' ELSE format(' (OID %s)', o.ref_object) END AS name
                FROM (SELECT DISTINCT ref_class, ref_object FROM r) o
                CROSS JOIN LATERAL snowflake._source_of(o.ref_class, o.ref_object) named(name)
        )
        SELECT coalesce(jsonb_object_agg(x.name, x.sources), '{}')
            FROM (SELECT dependent.name, jsonb_object_agg(source.name, true) AS sources
                      FROM r
                      JOIN dependent USING (class, object)
                      JOIN source USING (ref_class, ref_object)
                      WHERE source.name IS NOT NULL
                      GROUP BY 1) x);
END
$function$;

-- Returns what the objects that depend on tables refer to, for _require_references(), and which of them somebody may have made who may
-- not act for the owners of the tables.
CREATE FUNCTION snowflake._references_by_name(tables oid[])
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    owners constant oid[] := ARRAY(SELECT DISTINCT c.relowner FROM pg_class c WHERE c.oid = ANY (tables));
BEGIN
    RETURN (SELECT jsonb_build_object('tables', to_jsonb(tables),
                                      'references', coalesce(snowflake._sources(array_agg(x.class), array_agg(x.object)), '{}'),
                                      'strangers', coalesce(jsonb_agg(stranger.name) FILTER (WHERE stranger.name IS NOT NULL), '[]'))
                FROM snowflake._reached(tables) x
                LEFT JOIN LATERAL (
                    SELECT (SELECT format('%s %s', i.type, i.identity) FROM pg_identify_object(x.class, x.object, 0) i)
                        FROM snowflake._owner_of(x.class, x.object) author
                        -- A holder of the right TRIGGER makes triggers on tables of others; a cast, for one, has no owner.
                        WHERE x.class = 'pg_trigger'::regclass
                           OR EXISTS (SELECT FROM unnest(owners) owner WHERE snowflake._may_act_for(author, owner) IS NOT TRUE)
                ) stranger(name) ON true);
END
$function$;

-- Raises an error if an object refers to something that it did not refer to when _references_by_name() was called.
CREATE FUNCTION snowflake._require_sources(expected jsonb, present jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET enable_hashjoin = on -- as in _sources()
    AS $function$
DECLARE
    known constant jsonb := expected -> 'references';
    differences text[];
BEGIN
    -- An object that was not there before is not one that is made again. The extension itself, and the
    -- sequence, come into the defaults that are converted.
    differences := ARRAY(
        SELECT format('%s would depend on %s, which it does not depend on now', now.name, plain.name)
            FROM jsonb_each(present) now(name, sources)
            CROSS JOIN LATERAL jsonb_object_keys(now.sources) source
            CROSS JOIN LATERAL regexp_replace(source, ' [(]OID [0-9]+[)]$', '') plain(name)
            WHERE known ? now.name
              -- An object that is made again itself has no OID.
              AND NOT known -> now.name ?| ARRAY[source, plain.name]
              AND source <> snowflake._source_of('pg_proc'::regclass, 'snowflake.nextval(regclass)'::regprocedure)
              AND source IS DISTINCT FROM expected ->> 'sequence'
            ORDER BY 1);
    PERFORM snowflake._require_none(differences, 'an object that is made again would change its meaning');
END
$function$;

-- Raises an error if an object that depends on the tables refers to something that it did not refer to.
CREATE FUNCTION snowflake._require_references(expected jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_sources(
        expected, (SELECT coalesce(snowflake._sources(array_agg(x.class), array_agg(x.object)), '{}')
                       FROM snowflake._reached(ARRAY(SELECT t::oid FROM jsonb_array_elements_text(expected -> 'tables') t)) x));
END
$function$;

-- Raises an error if an object that a command has made refers to something that it did not refer to, or, while a command
-- looks up its names, if it calls a function that none of the objects has called, but for those of strangers, who may have made them to
-- that end: one of somebody who may not act for the current role. It is called for few objects, often: the server looks each up by
-- an index.
CREATE FUNCTION snowflake._require_meaning(
        expected jsonb,
        callee oid,                   -- 0: none
        classes oid[], objects oid[]) -- that have been made; a relation of the class pg_attrdef stands for its defaults
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    AS $function$
BEGIN
    IF callee = 0 THEN
        PERFORM snowflake._require_sources(
            expected, (SELECT snowflake._sources(array_agg(o.class), array_agg(coalesce(f.oid, o.object)))
                           FROM unnest(classes, objects) o(class, object)
                           LEFT JOIN pg_attrdef f ON o.class = 'pg_attrdef'::regclass AND f.adrelid = o.object));
    ELSIF NOT EXISTS (
              SELECT FROM jsonb_each(expected -> 'references') object(name, sources)
                  WHERE NOT expected -> 'strangers' ? object.name
                    AND (object.sources ? snowflake._source_of('pg_proc'::regclass, callee)
                         OR EXISTS (SELECT FROM pg_operator o
                                        WHERE o.oprcode = callee
                                          AND object.sources ? snowflake._source_of('pg_operator'::regclass, o.oid)))) THEN
        RAISE EXCEPTION 'an object that is made again would change its meaning'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = format('It would call %s, which it does not call now.', snowflake._source_of('pg_proc'::regclass, callee));
    END IF;
END
$function$;
