-- The columns that change, and how.

CREATE FUNCTION snowflake.conversion_columns(
        seq regclass,
        OUT relid regclass, OUT attnum smallint, OUT attname name,
        OUT is_identity boolean,   -- the column's identity is the sequence
        OUT old_default text, OUT new_default text, -- NULL: the default does not change
        OUT widened boolean,       -- becomes a bigint
        OUT is_inherited boolean)  -- altered together with the same column of a parent
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
    WITH RECURSIVE
    -- How the server prints the sequence as an argument of nextval.
    argument(text) AS (
        SELECT '''' || replace(seq::text, '''', '''''') || '''::regclass'
    ),
    defaults AS (
        SELECT f.adrelid AS relid, f.adnum AS attnum, e.old_default,
               regexp_replace(e.old_default,
                              '(?<![[:alnum:]_$."])nextval\('
                                  || regexp_replace(argument.text, '([^[:alnum:]_])', '\\\1', 'g')
                                  || '\)',
                              'snowflake.nextval(' || replace(argument.text, '\', '\\') || ')',
                              'g') AS new_default
            FROM argument, pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            CROSS JOIN LATERAL (SELECT pg_get_expr(f.adbin, f.adrelid) AS old_default) e
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
    ),
    sources AS (
        SELECT relid, attnum, false AS is_identity, old_default,
               nullif(new_default, old_default) AS new_default
            FROM defaults
        UNION ALL
        SELECT d.refobjid, d.refobjsubid, true, NULL, 'snowflake.nextval(' || argument.text || ')'
            FROM argument, pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
              AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
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
