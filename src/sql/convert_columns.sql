-- The columns that change, and how.

-- nextval('name'::text) looks for the sequence each time that it runs, in the search_path of the
-- session that inserts. It means the sequence for certain if it names the schema, or if the conversion
-- would take along nothing else of that name.
CREATE FUNCTION snowflake.conversion_names(
        seq regclass,
        OUT attrdef oid,
        OUT is_certain boolean)
    RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT f.oid, bool_and(cardinality(used.name) > 1 OR NOT EXISTS (
               SELECT FROM pg_class other
                   WHERE other.relname = s.relname AND other.oid <> s.oid
                     AND snowflake._is_taken_along(s.relowner, other.relowner)))
        FROM pg_class s
        JOIN pg_namespace n ON n.oid = s.relnamespace
        CROSS JOIN pg_attrdef f
        JOIN pg_class t ON t.oid = f.adrelid
        CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
        WHERE s.oid = seq
          -- Few defaults make a regclass of a text; the others need not be read.
          AND strpos(f.adbin::text, ':funcid ' || 'regclass(text)'::regprocedure::oid || ' ') > 0
          AND used.callee = 'pg_catalog.nextval'
          AND used.name IN (ARRAY[s.relname]::text[], ARRAY[n.nspname, s.relname]::text[],
                            ARRAY[current_database(), n.nspname, s.relname]::text[])
          AND snowflake._is_taken_along(s.relowner, t.relowner)
        GROUP BY f.oid
$function$;
COMMENT ON FUNCTION snowflake.conversion_names(regclass) IS
    'column defaults that call nextval with the name of the sequence as a text';

CREATE TYPE snowflake.conversion_column AS (
    relid regclass, attnum smallint, attname name,
    is_identity boolean,   -- the column's identity is the sequence
    attrdef oid,           -- of a default that uses the sequence
    old_default text, new_default text, -- NULL: the default does not change
    widened boolean,       -- becomes a bigint
    is_inherited boolean,  -- altered together with the same column of a parent
    is_strangers boolean); -- the default is only taken out of the way, and set again
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
    sequence AS (
        SELECT c.oid, c.relowner AS owner FROM pg_class c WHERE c.oid = seq
    ),
    defaults AS (
        SELECT f.oid AS attrdef, f.adrelid AS relid, f.adnum AS attnum,
               pg_get_expr(f.adbin, f.adrelid) AS old_default,
               snowflake._default_replaced(f.oid, seq, true) AS new_default,
               c.relowner = sequence.owner
               OR snowflake._is_taken_along(sequence.owner, c.relowner) AS is_taken_along
            FROM sequence, pg_attrdef f JOIN pg_class c ON c.oid = f.adrelid
            WHERE f.oid IN (SELECT d.objid FROM pg_depend d
                                WHERE d.classid = 'pg_attrdef'::regclass
                                  AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
                            UNION ALL
                            SELECT attrdef FROM snowflake.conversion_names(seq) WHERE is_certain)
    ),
    identity AS (
        SELECT d.refobjid AS relid, d.refobjsubid AS attnum
            FROM pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
              AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
    ),
    sources AS (
        -- The sequence of an identity is made anew, and all defaults that use it with it.
        SELECT attrdef, relid, attnum, false AS is_identity, old_default,
               CASE WHEN EXISTS (SELECT FROM identity) THEN coalesce(new_default, old_default)
                    ELSE new_default END AS new_default
            FROM defaults
            WHERE is_taken_along
        UNION ALL
        SELECT NULL, identity.relid, identity.attnum, true, NULL,
               format('snowflake.nextval(%L::regclass)', seq::text)
            FROM identity
    ),
    -- All columns that hold values of these: through foreign keys from the referenced to the
    -- referencing column, and up and down the inheritance.
    linked(relid, attnum) AS (
        SELECT relid::oid, attnum::smallint FROM sources
        UNION
        SELECT next.relid, next.attnum
            FROM sequence, linked
            JOIN pg_attribute here ON here.attrelid = linked.relid AND here.attnum = linked.attnum
            CROSS JOIN LATERAL (
                -- By way of pg_depend, which has an index on what is referenced.
                SELECT k.conrelid, k.conkey[i]
                    FROM pg_depend d
                    JOIN pg_constraint k ON k.oid = d.objid
                    JOIN pg_class c ON c.oid = k.conrelid
                    CROSS JOIN LATERAL generate_subscripts(k.confkey, 1) i
                    WHERE d.classid = 'pg_constraint'::regclass
                      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = linked.relid
                      AND d.refobjsubid = linked.attnum
                      AND k.contype = 'f' AND k.confrelid = linked.relid
                      AND k.confkey[i] = linked.attnum
                      AND (c.relowner = sequence.owner
                           OR snowflake._is_taken_along(sequence.owner, c.relowner))
                UNION ALL
                SELECT a.attrelid, a.attnum
                    FROM (SELECT inhrelid FROM pg_inherits WHERE inhparent = linked.relid
                          UNION ALL
                          SELECT inhparent FROM pg_inherits WHERE inhrelid = linked.relid) h(relid)
                    JOIN pg_attribute a ON a.attrelid = h.relid AND a.attname = here.attname
                    WHERE NOT a.attisdropped
            ) next(relid, attnum)
    )
    SELECT a.attrelid, a.attnum, a.attname, coalesce(s.is_identity, false), s.attrdef, s.old_default,
           -- The partitions of an identity column share it.
           CASE WHEN s.relid IS NULL AND a.attidentity <> '' THEN
               (SELECT new_default FROM sources WHERE is_identity)
           ELSE s.new_default END,
           t.relkind IN ('r', 'p', 'f') AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype),
           a.attinhcount > 0, false
        FROM linked l
        JOIN pg_class t ON t.oid = l.relid
        JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.attnum
        LEFT JOIN sources s ON s.relid = l.relid AND s.attnum = l.attnum
    UNION ALL
    -- A stranger's default keeps an identity from its sequence: it is set again as it was.
    SELECT a.attrelid, a.attnum, a.attname, false, d.attrdef, d.old_default, d.old_default, false, false, true
        FROM defaults d
        JOIN pg_attribute a ON a.attrelid = d.relid AND a.attnum = d.attnum
        WHERE NOT d.is_taken_along AND EXISTS (SELECT FROM identity)
$function$;
COMMENT ON FUNCTION snowflake.conversion_columns(regclass) IS
    'columns that the conversion of a sequence looks at, and what becomes of them';

CREATE FUNCTION snowflake._conversion_strangers(seq regclass, columns snowflake.conversion_column[])
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    SELECT format('default of column %I of %s, which %I owns, stays as it is: the guard makes it fail',
                  a.attname, a.attrelid::regclass, pg_get_userbyid(c.relowner))
        FROM pg_class s
        JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass
                        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
        JOIN pg_attrdef f ON f.oid = d.objid
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE s.oid = seq AND c.relowner <> s.relowner AND NOT snowflake._is_taken_along(s.relowner, c.relowner)
          AND EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', f.oid) used
                          WHERE used.callee = 'pg_catalog.nextval' AND used.sequence = seq)
    UNION
    SELECT format('column %I of %s, which %I owns, stays %s: no new ID fits into it', a.attname,
                  a.attrelid::regclass, pg_get_userbyid(c.relowner), format_type(a.atttypid, a.atttypmod))
        FROM pg_class s
        CROSS JOIN unnest(columns) referenced
        JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass
                        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = referenced.relid
                        AND d.refobjsubid = referenced.attnum
        JOIN pg_constraint k ON k.oid = d.objid AND k.contype = 'f' AND k.confrelid = referenced.relid
                            AND referenced.attnum = ANY (k.confkey)
        JOIN pg_attribute a ON a.attrelid = k.conrelid
                           AND a.attnum = k.conkey[array_position(k.confkey, referenced.attnum)]
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE s.oid = seq AND c.relowner <> s.relowner AND NOT snowflake._is_taken_along(s.relowner, c.relowner)
          AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype)
    ORDER BY 1
$function$;
COMMENT ON FUNCTION snowflake._conversion_strangers(regclass, snowflake.conversion_column[]) IS
    'what the conversion of a sequence leaves as it is because it belongs to somebody else';

CREATE FUNCTION snowflake._tables_without_code(columns snowflake.conversion_column[])
    RETURNS jsonb
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
    SELECT coalesce(jsonb_agg(DISTINCT evaluated.relid), '[]')
        FROM unnest(columns) c
        CROSS JOIN LATERAL snowflake._table_tree(c.relid) tree(relid)
        CROSS JOIN LATERAL (SELECT tree.relid::oid
                            UNION SELECT x::oid FROM snowflake._table_partners(tree.relid) x) evaluated(relid)
        WHERE c.widened AND NOT snowflake._has_users_code(evaluated.relid)
$function$;
COMMENT ON FUNCTION snowflake._tables_without_code(snowflake.conversion_column[]) IS
    'tables that widening columns concerns, and that the server runs no code of users for';
