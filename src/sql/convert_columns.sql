-- The columns that change, and how.

-- As the server prints it. Without the fixed path it would depend on who asks.
CREATE FUNCTION snowflake.conversion_argument(seq regclass)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off
    AS $function$
    SELECT '''' || replace(seq::text, '''', '''''') || '''::regclass'
$function$;
COMMENT ON FUNCTION snowflake.conversion_argument(regclass) IS
    'a sequence as argument of nextval, as the server prints it in an expression';

CREATE FUNCTION snowflake.conversion_pattern(text text)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT regexp_replace(text, '([^[:alnum:]_])', '\\\1', 'g')
$function$;
COMMENT ON FUNCTION snowflake.conversion_pattern(text) IS
    'a regular expression that matches a text and nothing else';

CREATE FUNCTION snowflake.conversion_call_pattern(seq regclass)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT 'snowflake\.nextval\(' || snowflake.conversion_pattern(snowflake.conversion_argument(seq))
           || '(?:, ''[^'']*''::snowflake\.layout)?\)'
$function$;
COMMENT ON FUNCTION snowflake.conversion_call_pattern(regclass) IS
    'a regular expression that matches calls of snowflake.nextval on a sequence, in any layout';

-- nextval('name'::text) looks for the sequence each time that it runs, in the path of who inserts. It
-- means the sequence for certain if it names the schema, or if nothing else has that name.
CREATE FUNCTION snowflake.conversion_names(
        seq regclass,
        OUT attrdef oid,
        OUT argument text,     -- of nextval, as the server prints it
        OUT is_certain boolean)
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
    WITH word(pattern) AS (
        VALUES ($$(?:"(?:[^"']|''|"")+"|[[:alpha:]_][[:alnum:]_$]*)$$)
    )
    SELECT DISTINCT f.oid, call.parts[1],
           cardinality(name.words) = 2
           OR NOT EXISTS (SELECT FROM pg_class other WHERE other.relname = s.relname AND other.oid <> s.oid)
        FROM pg_class s
        JOIN pg_namespace n ON n.oid = s.relnamespace
        CROSS JOIN pg_attrdef f
        CROSS JOIN word
        CROSS JOIN LATERAL regexp_matches(
            pg_get_expr(f.adbin, f.adrelid),
            format($$(?<![[:alnum:]_$."])nextval\((\('(%s(?:\.%s)?)'::text\)::regclass)\)$$,
                   word.pattern, word.pattern),
            'g') call(parts)
        CROSS JOIN LATERAL (SELECT parse_ident(replace(call.parts[2], '''''', ''''))) name(words)
        WHERE s.oid = seq
          -- Few defaults make a regclass of a text.
          AND strpos(f.adbin::text, ':funcid ' || 'regclass(text)'::regprocedure::oid || ' ') > 0
          AND name.words IN (ARRAY[n.nspname, s.relname]::text[], ARRAY[s.relname]::text[])
$function$;
COMMENT ON FUNCTION snowflake.conversion_names(regclass) IS
    'column defaults that call nextval with the name of the sequence as a text';

CREATE TYPE snowflake.conversion_column AS (
    relid regclass, attnum smallint, attname name,
    is_identity boolean,   -- the column's identity is the sequence
    old_default text, new_default text, -- NULL: the default does not change
    widened boolean,       -- becomes a bigint
    is_inherited boolean); -- altered together with the same column of a parent
COMMENT ON TYPE snowflake.conversion_column IS
    'a column that the conversion of a sequence looks at, and what becomes of it';

CREATE FUNCTION snowflake.conversion_columns(seq regclass)
    RETURNS SETOF snowflake.conversion_column
    LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 10
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
    WITH RECURSIVE
    argument(text) AS (
        SELECT snowflake.conversion_argument(seq)
    ),
    name AS (
        SELECT * FROM snowflake.conversion_names(seq) WHERE is_certain
    ),
    defaults AS (
        SELECT f.adrelid AS relid, f.adnum AS attnum, e.old_default,
               regexp_replace(e.old_default,
                              '(?<![[:alnum:]_$."])nextval\((' || snowflake.conversion_pattern(argument.text)
                                  || coalesce((SELECT string_agg('|' || snowflake.conversion_pattern(name.argument), '')
                                                   FROM name
                                                   WHERE name.attrdef = f.oid),
                                              '')
                                  || ')\)',
                              'snowflake.nextval(' || replace(argument.text, '\', '\\') || ')',
                              'g') AS new_default
            FROM argument, pg_attrdef f
            CROSS JOIN LATERAL (SELECT pg_get_expr(f.adbin, f.adrelid) AS old_default) e
            WHERE f.oid IN (SELECT d.objid FROM pg_depend d
                                WHERE d.classid = 'pg_attrdef'::regclass
                                  AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
                            UNION ALL
                            SELECT attrdef FROM name)
    ),
    identity AS (
        SELECT d.refobjid AS relid, d.refobjsubid AS attnum
            FROM pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
              AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
    ),
    sources AS (
        -- The sequence of an identity is made anew, and all defaults that use it with it.
        SELECT relid, attnum, false AS is_identity, old_default,
               CASE WHEN new_default <> old_default OR EXISTS (SELECT FROM identity) THEN new_default
               END AS new_default
            FROM defaults
        UNION ALL
        SELECT identity.relid, identity.attnum, true, NULL, 'snowflake.nextval(' || argument.text || ')'
            FROM argument, identity
    ),
    -- All columns that hold values of these: through foreign keys from the referenced to the
    -- referencing column, and up and down the inheritance.
    linked(relid, attnum) AS (
        SELECT relid::oid, attnum::smallint FROM sources
        UNION
        SELECT next.relid, next.attnum
            FROM linked
            JOIN pg_attribute here ON here.attrelid = linked.relid AND here.attnum = linked.attnum
            CROSS JOIN LATERAL (
                -- By way of pg_depend, which has an index on what is referenced.
                SELECT k.conrelid, k.conkey[i]
                    FROM pg_depend d
                    JOIN pg_constraint k ON k.oid = d.objid
                    CROSS JOIN LATERAL generate_subscripts(k.confkey, 1) i
                    WHERE d.classid = 'pg_constraint'::regclass
                      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = linked.relid
                      AND d.refobjsubid = linked.attnum
                      AND k.contype = 'f' AND k.confrelid = linked.relid
                      AND k.confkey[i] = linked.attnum
                UNION ALL
                SELECT a.attrelid, a.attnum
                    FROM (SELECT inhrelid FROM pg_inherits WHERE inhparent = linked.relid
                          UNION ALL
                          SELECT inhparent FROM pg_inherits WHERE inhrelid = linked.relid) h(relid)
                    JOIN pg_attribute a ON a.attrelid = h.relid AND a.attname = here.attname
                    WHERE NOT a.attisdropped
            ) next(relid, attnum)
    )
    SELECT a.attrelid, a.attnum, a.attname, coalesce(s.is_identity, false), s.old_default,
           -- The partitions of an identity column share it.
           CASE WHEN s.relid IS NULL AND a.attidentity <> '' THEN
               (SELECT new_default FROM sources WHERE is_identity)
           ELSE s.new_default END,
           t.relkind IN ('r', 'p', 'f') AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype),
           a.attinhcount > 0
        FROM linked l
        JOIN pg_class t ON t.oid = l.relid
        JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.attnum
        LEFT JOIN sources s ON s.relid = l.relid AND s.attnum = l.attnum
$function$;
COMMENT ON FUNCTION snowflake.conversion_columns(regclass) IS
    'columns that the conversion of a sequence looks at, and what becomes of them';
