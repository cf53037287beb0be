-- Hints: what the conversion does not change, and may fail at the first snowflake ID: copies of keys that no
-- foreign key tells of, subscribers, prepared statements. They are guesses from names and texts.

-- Returns the names that a copy of a column is likely to have: id and order_id for the column id of orders.
CREATE FUNCTION snowflake._copy_names(relname name, attname name)
    RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY[attname::text, relname || '_' || attname,
                 regexp_replace(regexp_replace(relname, 'ies$', 'y'), 's$', '') || '_' || attname];

-- Tells whether a name stands in a text as a word. The server reads this body when the function is made, whatever
-- standard_conforming_strings is then: hence the E.
CREATE FUNCTION snowflake._names_word(source text, word name)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN strpos(lower(source), lower(word::text)) = 0 THEN false
                ELSE source ~* (E'(^|\\W)' || regexp_replace(word::text, E'(\\W)', E'\\\\\\1', 'g') || E'($|\\W)') END;

-- Tells whether a routine names a table in its text, or a column of it in a body of standard SQL.
CREATE FUNCTION snowflake._reads_key(routine oid, source text, tab oid, relname name, attnum smallint)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN snowflake._names_word(source, relname)
           OR EXISTS (SELECT FROM pg_depend d
                          WHERE d.classid = 'pg_proc'::regclass AND d.objid = routine
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tab AND d.refobjsubid = attnum);

-- Returns the text of a routine without comments.
CREATE FUNCTION snowflake._without_comments(source text)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(regexp_replace(source, E'/[*].*?[*]/', ' ', 'g'), E'--[^\n]*', ' ', 'g');

-- Returns the routines that are written in a text, without comments, but for those of extensions, and of strangers: these could
-- be so long that to search them takes for ever.
CREATE FUNCTION snowflake._texts(sequence_owner oid, OUT routine oid, OUT source text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    owners constant oid[] := ARRAY(
        SELECT x.proowner FROM (SELECT DISTINCT p.proowner FROM pg_proc p WHERE p.oid >= 16384 OFFSET 0) x
            WHERE snowflake._is_taken_along(sequence_owner, x.proowner));
BEGIN
    RETURN QUERY
        SELECT p.oid, snowflake._without_comments(p.prosrc)
            FROM pg_proc p
            JOIN pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('c', 'internal')
            WHERE p.oid >= 16384 AND p.proowner = ANY (owners)
              AND p.pronamespace <> 'snowflake'::regnamespace -- often the most, and looked up slowly
              AND NOT EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e');
END
$function$;

-- Describes the columns of integers whose names are those of keys that are converted, or that the caller has named and
-- that no conversion widens along. An array is likely to have the name of a copy in the plural.
CREATE FUNCTION snowflake._hints_of_names(part snowflake._conversion_part, OUT subject text, OUT hint text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('column %I of table %s', i.attname, i.relid),
               format('column %I of table %s is %s: %s fits into it, if it holds copies of %s', i.attname, i.relid, i.type,
                      snowflake._what_is_too_large(part.wishes), string_agg(DISTINCT format('%s.%I', c.relid, c.attname), ', '))
            FROM unnest(part.columns) c
            JOIN pg_class t ON t.oid = c.relid
            CROSS JOIN snowflake._integer_columns(part.columns) i
            WHERE NOT c.is_inherited AND NOT c.is_strangers AND t.relkind IN ('r', 'p', 'f')
              AND (i.attname::text = ANY (snowflake._copy_names(t.relname, c.attname))
                   OR i.attname LIKE '%s' AND left(i.attname, -1) = ANY (snowflake._copy_names(t.relname, c.attname)))
            GROUP BY i.relid, i.attname, i.type
        UNION ALL
        SELECT told, told
            FROM snowflake._integer_columns(part.columns) i
            CROSS JOIN LATERAL format('column %I of table %s is %s, and is not widened along', i.attname, i.relid, i.type) told
            JOIN pg_class t ON t.oid = i.relid
            WHERE (part.wishes).also <> '' AND snowflake._is_named(part.seq, t, i.attname, (part.wishes).also);
END
$function$;

-- Describes the routines that may put keys which are converted into integers. The triggers of a table see its keys
-- whether they name it or not.
CREATE FUNCTION snowflake._hints_of_routines(part snowflake._conversion_part, OUT subject text, OUT hint text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0),
               format('%s, which sees keys of %s, has integer arguments, results or variables',
                      pg_describe_object('pg_proc'::regclass, p.oid, 0),
                      string_agg(DISTINCT k.oid::regclass::text, ', '))
            FROM snowflake._texts(part.owner) body
            JOIN pg_proc p ON p.oid = body.routine
            JOIN unnest(part.columns) c ON NOT c.is_strangers
            JOIN pg_class k ON k.oid = c.relid AND k.relkind IN ('r', 'p', 'f')
            WHERE (coalesce(p.proallargtypes, p.proargtypes::oid[]) || p.prorettype
                   && ARRAY['smallint'::regtype::oid, 'integer'::regtype::oid]
                   OR body.source ~* '\m(int|int2|int4|integer|smallint)\M')
              AND (snowflake._reads_key(p.oid, body.source, k.oid, k.relname, c.attnum)
                   OR EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = k.oid AND g.tgfoid = p.oid))
            GROUP BY p.oid;
END
$function$;

-- Describes the routines that call the server's own functions on a sequence by its name in their texts. Without a schema it is
-- that of a routine's own schema, if there are others of the name.
CREATE FUNCTION snowflake._hints_of_calls(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    IF (part.wishes).target <> 'snowflake' OR snowflake.redirects_nextval() THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT DISTINCT format('%s calls the server''s own %s on sequence %s: SELECT snowflake.redirect_nextval(), or let it call snowflake.%2$s',
                               pg_describe_object('pg_proc'::regclass, p.oid, 0), lower(call.parts[1]), part.seq)
            FROM snowflake._texts(part.owner) body
            JOIN pg_proc p ON p.oid = body.routine
            JOIN pg_class s ON s.oid = part.seq
            JOIN pg_namespace n ON n.oid = s.relnamespace
            CROSS JOIN LATERAL regexp_matches(body.source, '(?<!snowflake\s*[.]\s*)\m(nextval|currval)\s*[(]\s*''([^'']*)''', 'gi') call(parts)
            CROSS JOIN LATERAL replace(call.parts[2], '"', '') named
            WHERE lower(named) = lower(n.nspname || '.' || s.relname)
               OR lower(named) = lower(s.relname)
                  AND (p.pronamespace = s.relnamespace
                       OR NOT EXISTS (SELECT FROM pg_class other WHERE other.relname = s.relname AND other.oid <> s.oid));
END
$function$;

-- Describes which subscribers and clients a conversion concerns. Without a long lock the plan has rows for subscribers.
CREATE FUNCTION snowflake._hints_of_clients(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('table %s is in publication %I: a subscriber whose column is no bigint stops at the first new ID',
                               c.relid, p.pubname)
            FROM unnest(part.columns) c
            JOIN pg_publication p ON p.oid IN (SELECT snowflake._publications_of(c.relid))
            WHERE NOT c.is_strangers AND NOT (part.online AND c.widened);
    RETURN QUERY
        SELECT DISTINCT format('table %s is in a replication set of %s', c.relid, s.what)
            FROM unnest(part.columns) c
            CROSS JOIN LATERAL (
                SELECT 'pglogical: a subscriber stops while the types of its columns are others, without force_text_transfer'
                    FROM snowflake._replicated_by('pglogical', c.relid) r WHERE r.is_sent
                UNION ALL
                SELECT 'Spock, which stores a part of a larger number, without an error, where the column is no bigint: '
                       'stop the clients of all servers until all are converted'
                    FROM snowflake._replicated_by('spock', c.relid) r WHERE r.is_sent
            ) s(what)
            WHERE c.widened AND NOT part.online;
    IF EXISTS (SELECT FROM unnest(part.columns) c WHERE c.widened) THEN
        RETURN NEXT 'statements that a session has prepared fail if they return a widened column ("cached plan must not change '
                    'result type") or get new IDs: let it reconnect, or run DEALLOCATE ALL';
    END IF;
END
$function$;

-- Describes the event triggers that fire for the commands of a conversion.
CREATE FUNCTION snowflake._hints_of_event_triggers()
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('event trigger %I fires for these commands with the rights of the owner of each relation, in a '
                      'security-restricted operation, which can make nothing temporary', e.evtname)
            FROM pg_event_trigger e
            WHERE e.evtenabled IN ('O', 'A') AND e.evtevent <> 'login'
              AND NOT EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = e.oid AND d.deptype = 'e');
END
$function$;

-- Describes what the conversion of a sequence leaves as it is, and what may fail at the first ID because of that.
CREATE FUNCTION snowflake._conversion_hints(
        part snowflake._conversion_part,
        OUT subject text, -- conversions of several sequences can have hints at one
        OUT hint text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    IF snowflake._is_converted(part) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT x.subject, x.hint
            FROM (SELECT 1, n.* FROM snowflake._hints_of_names(part) n
                  UNION ALL SELECT 2, r.* FROM snowflake._hints_of_routines(part) r
                  UNION ALL SELECT 2, h, h FROM snowflake._hints_of_calls(part) h
                  UNION ALL SELECT 2, h, h FROM snowflake._hints_of_order(part) h
                  UNION ALL SELECT 2, h, h FROM snowflake._hints_of_rules(part) h
                  UNION ALL SELECT 2, c.* FROM snowflake._hints_of_casts(part) c
                  UNION ALL SELECT 2, h, h FROM snowflake._hints_of_sums(part) h
                  UNION ALL SELECT 3, h, h FROM snowflake._hints_of_clients(part) h
                  UNION ALL SELECT 4, h, h FROM snowflake._hints_of_event_triggers() h) x(kind, subject, hint)
            ORDER BY x.kind, x.hint COLLATE "C";
END
$function$;
