-- Columns that change when a sequence is converted, and how.

-- Tells whether a type is of integers that hold no ID. The planner puts the comparison in the place of a call.
CREATE FUNCTION snowflake._is_small(type oid)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('smallint'::regtype, 'integer'::regtype);

-- Returns the type that a domain is made from, by way of other domains or not; any other OID itself.
CREATE FUNCTION snowflake._base_type(type oid)
    RETURNS oid
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'snowflake_base_type';

-- Tells whether a type holds numbers as bigint does: bigint itself, a domain of it, or snowflake.id.
CREATE FUNCTION snowflake._is_big(type oid)
    RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN snowflake._base_type(type) IN ('bigint'::regtype, 'snowflake.id'::regtype);

-- Finds the column defaults that call nextval with the name of the sequence as a text. nextval('name'::text) looks
-- for the sequence each time that it runs, in the search_path of the session that inserts. The call means the
-- sequence for certain if it names the schema, or if the conversion would take along no other relation of that name.
-- Where the owner of the table is another one than that of the sequence, there must be no other of that name at all:
-- a sequence that anybody has made must not take the place of the one that is meant.
CREATE FUNCTION snowflake._conversion_names(
        seq regclass,
        OUT attrdef oid,
        OUT is_certain boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    owner constant oid := snowflake._owner(seq);
    owners constant oid[] := ARRAY(
        SELECT x.relowner FROM (SELECT DISTINCT t.relowner FROM pg_attrdef f JOIN pg_class t ON t.oid = f.adrelid OFFSET 0) x
            WHERE x.relowner = owner OR snowflake._is_taken_along(owner, x.relowner));
BEGIN
    RETURN QUERY
        SELECT f.oid, bool_and(cardinality(used.name) > 1 OR NOT EXISTS (
                   SELECT FROM pg_class other
                       WHERE other.relname = s.relname AND other.oid <> s.oid
                         AND (t.relowner <> s.relowner OR snowflake._is_taken_along(s.relowner, other.relowner))))
            FROM pg_class s
            JOIN pg_namespace n ON n.oid = s.relnamespace
            CROSS JOIN pg_attrdef f
            JOIN pg_class t ON t.oid = f.adrelid
            -- Those of strangers are not read. Of the others, few make a regclass of a text.
            CROSS JOIN LATERAL (
                SELECT CASE WHEN t.relowner = ANY (owners)
                            THEN strpos(f.adbin::text, ':funcid ' || 'regclass(text)'::regprocedure::oid || ' ') > 0
                            ELSE false END
            ) candidate(is_one)
            CROSS JOIN LATERAL (
                SELECT u.name FROM snowflake._sequence_uses('pg_attrdef', CASE WHEN candidate.is_one THEN f.oid END) u
                    WHERE u.callee = 'pg_catalog.nextval'
            ) used
            WHERE s.oid = seq
              AND used.name IN (ARRAY[s.relname]::text[], ARRAY[n.nspname, s.relname]::text[],
                                ARRAY[current_database(), n.nspname, s.relname]::text[])
            GROUP BY f.oid;
END
$function$;

-- Finds the column defaults that use a sequence, and says what becomes of them. Those of strangers are not printed.
CREATE FUNCTION snowflake._conversion_defaults(
        seq regclass,
        OUT attrdef oid, OUT relid oid, OUT attnum smallint,
        OUT old_default text,
        OUT new_default text, -- NULL: the default stays as it is
        OUT draws boolean,    -- whether it calls nextval on the sequence, and makes IDs after the conversion
        OUT is_taken_along boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    sequence_owner constant oid := snowflake._owner(seq);
    redirected constant boolean := snowflake.redirects_nextval();
BEGIN
    RETURN QUERY
        SELECT f.oid, f.adrelid, f.adnum, CASE WHEN along.is_one THEN pg_get_expr(f.adbin, f.adrelid) END,
               CASE WHEN redirected THEN calls.of_server ELSE calls.of_extension END,
               num_nonnulls(calls.of_server, calls.of_extension) > 0, along.is_one
            FROM pg_attrdef f JOIN pg_class c ON c.oid = f.adrelid
            CROSS JOIN LATERAL (
                SELECT c.relowner = sequence_owner OR snowflake._is_taken_along(sequence_owner, c.relowner) OFFSET 0
            ) along(is_one)
            -- Where the server's nextval is redirected, a default is put back to what it was. The server's nextval takes
            -- no layout.
            CROSS JOIN LATERAL (
                SELECT CASE WHEN along.is_one THEN snowflake._default_replaced(f.oid, seq, true) END,
                       CASE WHEN along.is_one AND redirected
                                 AND NOT EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', f.oid) u
                                                     WHERE u.callee = 'snowflake.nextval'
                                                       AND coalesce(u.layout OPERATOR(snowflake.<>) snowflake.layout_of(seq), true))
                            THEN snowflake._default_replaced(f.oid, seq, false) END
            ) calls(of_extension, of_server)
            WHERE f.oid IN (SELECT d.objid FROM pg_depend d
                                WHERE d.classid = 'pg_attrdef'::regclass
                                  AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
                            UNION ALL
                            SELECT n.attrdef FROM snowflake._conversion_names(seq) n WHERE n.is_certain);
END
$function$;

-- Prints a default; NULL: it is too long or too deep for that.
CREATE FUNCTION snowflake._printed(attrdef oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT pg_get_expr(f.adbin, f.adrelid) FROM pg_attrdef f WHERE f.oid = attrdef AND octet_length(f.adbin::text) < 1000000);
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN NULL;
END
$function$;

-- A column that the conversion of a sequence looks at, and what becomes of it.
CREATE TYPE snowflake._conversion_column AS (
    relid regclass, attnum smallint, attname name,
    is_identity boolean,   -- the column's identity is the sequence, which is made anew
    attrdef oid,           -- of a default that uses the sequence
    old_default text, new_default text, -- NULL: the default does not change
    widened boolean,       -- becomes a bigint
    draws boolean,         -- is filled from the sequence by nextval or as its identity, and with IDs after the conversion
    is_inherited boolean,  -- altered together with the same column of a parent
    is_strangers boolean); -- the default is only taken out of the way, and set again

-- Returns a column; what is not named is not so.
CREATE FUNCTION snowflake._conversion_column(
        relid regclass, attnum smallint, attname name,
        is_identity boolean DEFAULT false, attrdef oid DEFAULT NULL,
        old_default text DEFAULT NULL, new_default text DEFAULT NULL,
        widened boolean DEFAULT false, draws boolean DEFAULT false,
        is_inherited boolean DEFAULT false, is_strangers boolean DEFAULT false)
    RETURNS snowflake._conversion_column
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(relid, attnum, attname, is_identity, attrdef, old_default, new_default,
               widened, draws, is_inherited, is_strangers)::snowflake._conversion_column;

-- Finds all columns that hold values of columns, and these columns themselves. Values go from column to column through
-- foreign keys, from the referenced to the referencing column, and up and down the inheritance.
CREATE FUNCTION snowflake._linked_columns(
        seq regclass, source_relids oid[], source_attnums smallint[],
        OUT relid oid, OUT attnum smallint)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    sequence_owner constant oid := snowflake._owner(seq);
BEGIN
    RETURN QUERY
        WITH RECURSIVE linked(relid, attnum) AS (
            SELECT s.relid, s.attnum FROM unnest(source_relids, source_attnums) s(relid, attnum)
            UNION
            SELECT next.relid, next.attnum
                FROM linked
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
                          AND (c.relowner = sequence_owner
                               OR snowflake._is_taken_along(sequence_owner, c.relowner))
                    UNION ALL
                    SELECT a.attrelid, a.attnum
                        FROM (SELECT inhrelid FROM pg_inherits WHERE inhparent = linked.relid
                              UNION ALL
                              SELECT inhparent FROM pg_inherits WHERE inhrelid = linked.relid) h(relid)
                        JOIN pg_attribute a ON a.attrelid = h.relid AND a.attname = here.attname
                        WHERE NOT a.attisdropped
                ) next(relid, attnum)
        )
        SELECT linked.relid, linked.attnum FROM linked;
END
$function$;

-- Finds the columns of tables that hold integers, or arrays of them, and that no key of a sequence leads a conversion to:
-- they could hold copies of keys. A column with a default of its own that makes numbers, or with a foreign key, holds other
-- keys.
CREATE FUNCTION snowflake._integer_columns(
        columns snowflake._conversion_column[], -- these are left out
        OUT relid regclass, OUT relname name, OUT attnum smallint, OUT attname name, OUT type text,
        OUT wider text) -- the type that it would need; NULL: it has a domain
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    plain constant oid[] := ARRAY['smallint'::regtype, 'integer'::regtype];
    arrays constant oid[] := ARRAY['smallint[]'::regtype, 'integer[]'::regtype];
BEGIN
    RETURN QUERY
        SELECT t.oid::regclass, t.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
               CASE WHEN y.oid = ANY (plain) THEN 'bigint' WHEN y.oid = ANY (arrays) THEN 'bigint[]' END
            FROM pg_class t
            JOIN pg_attribute a ON a.attrelid = t.oid
            JOIN pg_type y ON y.oid = a.atttypid
            LEFT JOIN pg_type e ON e.oid = y.typelem AND y.typcategory = 'A'
            WHERE t.relkind IN ('r', 'p', 'f') AND NOT t.relispartition AND t.oid >= 16384 AND NOT pg_is_other_temp_schema(t.relnamespace)
              AND a.attnum > 0 AND NOT a.attisdropped
              AND (y.oid = ANY (plain || arrays)
                   OR y.typtype = 'd' AND snowflake._base_type(y.oid) = ANY (plain || arrays)
                   OR e.typtype = 'd' AND snowflake._base_type(e.oid) = ANY (plain))
              AND a.attidentity = '' AND a.attgenerated = '' AND a.attinhcount = 0
              AND NOT EXISTS (SELECT FROM unnest(columns) c WHERE c.relid = t.oid AND c.attnum = a.attnum)
              AND NOT EXISTS (SELECT FROM pg_attrdef f
                                  JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid
                                  JOIN pg_sequence q ON q.seqrelid = d.refobjid
                                  WHERE f.adrelid = t.oid AND f.adnum = a.attnum)
              AND NOT EXISTS (SELECT FROM pg_constraint k
                                  WHERE k.conrelid = t.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey))
              AND NOT EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_class'::regclass AND d.objid = t.oid AND d.deptype = 'e');
END
$function$;

-- Finds the columns that a caller names to be widened along with the keys of a sequence. The list has names of columns,
-- in which % stands for any characters: those of tables in the schema of the sequence. A table, or a schema and a table, may
-- stand before the name of the column, with a point between them.
CREATE FUNCTION snowflake._columns_named(seq regclass, list text, OUT relid oid, OUT attnum smallint)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    owner constant oid := snowflake._owner(seq);
BEGIN
    IF list = '' THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT i.relid::oid, i.attnum
            FROM snowflake._integer_columns('{}') i
            JOIN pg_class t ON t.oid = i.relid
            WHERE i.wider = 'bigint' AND snowflake._is_named(seq, t, i.attname, list)
              AND snowflake._is_taken_along(owner, t.relowner);
END
$function$;

-- Tells whether a list of _columns_named() names a column.
CREATE FUNCTION snowflake._is_named(seq regclass, tab pg_class, attname name, list text)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM unnest(snowflake._listed(list)) item
            CROSS JOIN LATERAL (SELECT length(item) - length(replace(item, '.', ''))) given(points)
            JOIN pg_namespace n ON n.oid = tab.relnamespace
            WHERE (given.points > 1 OR n.oid = (SELECT relnamespace FROM pg_class WHERE oid = seq))
              AND CASE given.points WHEN 0 THEN attname
                                    WHEN 1 THEN concat(tab.relname, '.', attname)
                                    ELSE concat(n.nspname, '.', tab.relname, '.', attname) END
                  LIKE replace(replace(item, '|', '||'), '_', '|_') ESCAPE '|');
END
$function$;

-- Lists the names that a caller has given and no column has. One with % may well have none, such as in one of many schemas.
CREATE FUNCTION snowflake._obstacles_of_slips(seq regclass, list text)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('also => %L: there is no such column%s', item,
                      CASE WHEN strpos(item, '.') = 0 THEN ' in the schema of the sequence' END)
            FROM unnest(snowflake._listed(list)) item
            WHERE strpos(item, '%') = 0
              AND NOT EXISTS (SELECT FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid
                                  WHERE a.attname = reverse(split_part(reverse(item), '.', 1)) AND NOT a.attisdropped
                                    AND snowflake._is_named(seq, t, a.attname, item));
END
$function$;

-- Returns the call that makes IDs of a sequence, for the default of a column.
CREATE FUNCTION snowflake._call_on(sequence text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.format(CASE WHEN snowflake.redirects_nextval() THEN 'nextval(%L::regclass)'
                                  ELSE 'snowflake.nextval(%L::regclass)' END, sequence);

-- Finds the column whose identity a sequence is.
CREATE FUNCTION snowflake._identity_of(
        seq regclass,
        OUT relid oid, OUT attnum smallint,
        OUT is_small boolean) -- whether it becomes a bigint
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.refobjid, d.refobjsubid::smallint, snowflake._is_small(a.atttypid)
            FROM pg_depend d
            JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
              AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i' AND a.attidentity <> '';
END
$function$;

-- Finds the columns that the conversion of a sequence looks at, and says what becomes of them. Where the columns stop at
-- bigint, defaults and identities stay; but without a long lock another column takes the place of an identity, and takes
-- a sequence of its own.
CREATE FUNCTION snowflake._conversion_columns(
        seq regclass, wishes snowflake._conversion_wishes DEFAULT snowflake._wishes(), online boolean DEFAULT false)
    RETURNS SETOF snowflake._conversion_column
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    to_ids constant boolean := snowflake._makes_snowflakes(wishes);
    -- The sequence of an identity is made anew, and so are all defaults that use it.
    is_made_anew constant boolean := EXISTS (SELECT FROM snowflake._identity_of(seq) i WHERE to_ids OR online AND i.is_small);
BEGIN
    RETURN QUERY
        WITH defaults AS (
            SELECT * FROM snowflake._conversion_defaults(seq)
        ),
        sources AS (
            SELECT attrdef, relid, attnum, false AS is_identity, draws AND to_ids AS draws, old_default,
                   coalesce(CASE WHEN to_ids THEN new_default END, CASE WHEN is_made_anew THEN old_default END) AS new_default
                FROM defaults
                WHERE is_taken_along
            UNION ALL
            SELECT NULL, i.relid, i.attnum, is_made_anew, to_ids, NULL, CASE WHEN to_ids THEN snowflake._call_on(seq::text) END
                FROM snowflake._identity_of(seq) i
        ),
        linked AS (
            SELECT l.relid, l.attnum
                FROM (SELECT coalesce(array_agg(x.relid), '{}'), coalesce(array_agg(x.attnum), '{}')
                          FROM (SELECT s.relid, s.attnum FROM sources s
                                UNION SELECT n.relid, n.attnum FROM snowflake._columns_named(seq, wishes.also) n
                                -- The columns of a conversion without a long lock that has begun.
                                UNION SELECT p.relid, p.attnum FROM snowflake._shadow_pairs(NULL) p
                                          WHERE online AND p.sequence = seq) x
                     ) s(relids, attnums)
                CROSS JOIN LATERAL snowflake._linked_columns(seq, s.relids, s.attnums) l
        )
        SELECT c.*
            FROM linked l
            JOIN pg_class t ON t.oid = l.relid
            JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.attnum
            LEFT JOIN sources s ON s.relid = l.relid AND s.attnum = l.attnum
            CROSS JOIN LATERAL snowflake._conversion_column(
                a.attrelid, a.attnum, a.attname,
                is_identity => coalesce(s.is_identity, false),
                attrdef => s.attrdef,
                old_default => s.old_default,
                -- The partitions of an identity column share it.
                new_default => CASE WHEN s.relid IS NULL AND a.attidentity <> '' THEN
                                        (SELECT new_default FROM sources WHERE is_identity)
                                    ELSE s.new_default END,
                draws => CASE WHEN s.relid IS NULL THEN a.attidentity <> '' AND to_ids ELSE s.draws END,
                widened => t.relkind IN ('r', 'p', 'f') AND snowflake._is_small(a.atttypid),
                is_inherited => a.attinhcount > 0) c
        UNION ALL
        -- A stranger's default keeps an identity from its sequence: who can act for the stranger sets it again as it was.
        SELECT c.*
            FROM defaults d
            JOIN pg_attribute a ON a.attrelid = d.relid AND a.attnum = d.attnum
            CROSS JOIN LATERAL (
                SELECT CASE WHEN snowflake._may_become(snowflake._owner(d.relid)) THEN snowflake._printed(d.attrdef) ELSE '' END
            ) printed(text)
            CROSS JOIN LATERAL snowflake._conversion_column(
                a.attrelid, a.attnum, a.attname, attrdef => d.attrdef,
                old_default => printed.text, new_default => printed.text, is_strangers => true) c
            WHERE NOT d.is_taken_along AND is_made_anew;
END
$function$;

-- Returns the sequence whose snowflake IDs a column holds; NULL: it holds none. The IDs of a column come from its
-- default, or from the columns that it references.
CREATE FUNCTION snowflake._source_of_ids(source_relid oid, source_attnum smallint)
    RETURNS regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        WITH RECURSIVE source(relid, attnum) AS (
            SELECT source_relid, source_attnum
            UNION
            SELECT k.confrelid, k.confkey[i]
                FROM source
                JOIN pg_constraint k ON k.conrelid = source.relid AND k.contype = 'f'
                JOIN generate_subscripts(k.conkey, 1) i ON k.conkey[i] = source.attnum
        )
        SELECT used.sequence
            FROM source
            JOIN pg_attrdef f ON f.adrelid = source.relid AND f.adnum = source.attnum
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
            JOIN pg_sequence q ON q.seqrelid = used.sequence
            WHERE (used.callee = 'snowflake.nextval'
                   OR used.callee = 'pg_catalog.nextval' AND snowflake._makes_ids(q.seqincrement, q.seqmax))
              -- Anybody can name any sequence in a default.
              AND (snowflake._is_taken_along(snowflake._owner(q.seqrelid), snowflake._owner(source.relid))
                   OR snowflake._is_id_seq(q.seqrelid))
            ORDER BY used.sequence
            LIMIT 1);
END
$function$;
