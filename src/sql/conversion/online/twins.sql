-- Twins: indexes and constraints that are built on shadow columns while the originals are in use, and replace them in the
-- swap. Indexes are made without their content and built CONCURRENTLY, constraints are added NOT VALID and validated.
--
-- The name of a twin is a hash of its definition. An original that is altered, or dropped and made again as another, gets
-- another twin. After a dump was restored every object has another OID, and each twin is found again by its name.

-- An index or constraint on columns that are to be replaced, and its twin on their shadows.
CREATE TYPE snowflake._twin AS (
    original oid, relid regclass, name name,
    definition text,   -- what follows the name; NULL: it cannot be made
    twin oid,          -- NULL: there is none
    is_ready boolean,  -- an index is valid, a constraint is as valid as its original
    is_inherited boolean); -- whether a partition has both from the whole

-- Returns a twin of an object.
CREATE FUNCTION snowflake._twin(
        original oid, relid regclass, name name, definition text, twin oid, is_ready boolean, is_inherited boolean DEFAULT false)
    RETURNS snowflake._twin
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(original, relid, name, definition, twin, is_ready, is_inherited)::snowflake._twin;

-- Returns the name of a twin.
CREATE FUNCTION snowflake._twin_name(
        definition text,
        turn bigint) -- among the originals of a table whose twins have this definition
    RETURNS name
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN ('snowflake_' || left(encode(sha256(convert_to(definition, getdatabaseencoding())), 'hex'), 16)
            || CASE turn WHEN 1 THEN '' ELSE '_' || turn::text END)::name;

-- Returns the name of the twin of an index: the one that it has, or the next that is free. Every role that may create relations in
-- the schema can compute such names, take them, and give them back.
CREATE FUNCTION snowflake._index_twin_name(definition text, turn bigint, tab oid)
    RETURNS name
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    first constant name := snowflake._twin_name(definition, 1);
    taken bigint[];
    own bigint[];
    other bigint;
BEGIN
    SELECT coalesce(array_agg(x.number ORDER BY x.number), '{}'),
           coalesce(array_agg(x.number ORDER BY x.number) FILTER (WHERE x.is_own), '{}') INTO taken, own
        FROM (SELECT coalesce(nullif(substr(c.relname, length(first) + 2), '')::bigint, 1), i.indrelid IS NOT DISTINCT FROM tab
                  FROM pg_class t
                  -- By the index on names.
                  JOIN pg_class c ON c.relname BETWEEN first AND (first || '_:')::name AND c.relnamespace = t.relnamespace
                                 AND c.relname ~ concat('^', first, '(_([2-9]|[1-9][0-9]{1,17}))?$')
                  LEFT JOIN pg_index i ON i.indexrelid = c.oid
                  WHERE t.oid = tab) x(number, is_own);
    IF turn <= cardinality(own) THEN
        RETURN snowflake._twin_name(definition, own[turn]);
    END IF;
    turn := turn - cardinality(own);
    FOREACH other IN ARRAY taken LOOP
        EXIT WHEN other > turn;
        turn := turn + 1;
    END LOOP;
    RETURN snowflake._twin_name(definition, turn);
END
$function$;

-- Lists columns of a table in the given order, each under the name of its shadow if it has one.
CREATE FUNCTION snowflake._names_on_shadows(shadows snowflake._shadow[], tab regclass, attnums smallint[])
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT string_agg(quote_ident(coalesce(s.shadow_name, a.attname)), ', ' ORDER BY k.n)
            FROM unnest(attnums) WITH ORDINALITY k(attnum, n)
            JOIN pg_attribute a ON a.attrelid = tab AND a.attnum = k.attnum
            LEFT JOIN unnest(shadows) s ON s.relid = tab AND s.attnum = k.attnum);
END
$function$;

-- Returns the expressions that an object stores, with the names of shadows in place of the columns that have one; NULL: an
-- expression names the whole row.
CREATE FUNCTION snowflake._expressions_on_shadows(shadows snowflake._shadow[], class regclass, object oid, tab regclass)
    RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT snowflake._expressions_with_names(class, object, tab,
                                                 ARRAY(SELECT s.attnum FROM unnest(shadows) s WHERE s.relid = tab),
                                                 ARRAY(SELECT s.shadow_name::text FROM unnest(shadows) s WHERE s.relid = tab)));
END
$function$;

-- Returns a column of an index as CREATE INDEX takes it: the column or expression, collation, operator class and order.
-- Leaves out the default operator class of the column's type, since the new column has another type; the server does the
-- same when it makes an index again.
CREATE FUNCTION snowflake._index_key(index oid, n integer, key text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT concat(key,
                      (SELECT format(' COLLATE %I.%I', s.nspname, l.collname)
                           FROM pg_collation l JOIN pg_namespace s ON s.oid = l.collnamespace
                           WHERE l.oid = i.indcollation[n - 1]
                             AND l.oid IS DISTINCT FROM (SELECT attcollation FROM pg_attribute
                                                             WHERE attrelid = i.indrelid AND attnum = i.indkey[n - 1])),
                      (SELECT format(' %I.%I', s.nspname, o.opcname)
                              || (SELECT ' (' || string_agg(format('%I = %L', x.option_name, x.option_value), ', ') || ')'
                                      FROM pg_options_to_table(a.attoptions) x)
                           FROM pg_opclass o JOIN pg_namespace s ON s.oid = o.opcnamespace
                           WHERE o.oid = i.indclass[n - 1] AND a.attoptions IS NOT NULL),
                      (SELECT format(' %I.%I', s.nspname, o.opcname)
                           FROM pg_opclass o JOIN pg_namespace s ON s.oid = o.opcnamespace
                           WHERE o.oid = i.indclass[n - 1] AND a.attoptions IS NULL AND NOT o.opcdefault),
                      CASE WHEN pg_indexam_has_property(c.relam, 'can_order')
                           THEN CASE i.indoption[n - 1] & 3 WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST'
                                                            WHEN 3 THEN ' DESC' END END)
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = n
            WHERE i.indexrelid = index);
END
$function$;

-- Returns the definition of the twin of an index, which follows its name; NULL: an expression names the whole row.
CREATE FUNCTION snowflake._index_definition(
        shadows snowflake._shadow[], index oid,
        tab text) -- that the index is to be made on
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    i record;
    expressions text[];
    keys text[] := '{}';
    used integer := 0;
    attnum smallint;
BEGIN
    SELECT x.*, x.indrelid::regclass AS relation, m.amname, c.reloptions, c.relkind = 'I' AS is_whole,
           CASE WHEN c.relkind = 'i' OR c.reltablespace <> 0 THEN s.spcname END AS spcname, -- else that of each partition's index
           x.indkey::smallint[] AS attnums INTO i
        FROM pg_index x
        JOIN pg_class c ON c.oid = x.indexrelid
        JOIN pg_am m ON m.oid = c.relam
        JOIN pg_database d ON d.datname = current_database()
        JOIN pg_tablespace s ON s.oid = coalesce(nullif(c.reltablespace, 0), d.dattablespace)
        WHERE x.indexrelid = index;
    expressions := snowflake._expressions_on_shadows(shadows, 'pg_class', index, i.relation);
    IF expressions IS NULL THEN
        RETURN NULL;
    END IF;
    FOR n IN 1 .. i.indnkeyatts LOOP
        attnum := i.indkey[n - 1];
        used := used + (attnum = 0)::integer;
        keys := keys || snowflake._index_key(
            index, n, CASE attnum WHEN 0 THEN format('(%s)', expressions[used])
                      ELSE snowflake._names_on_shadows(shadows, i.relation, ARRAY[attnum]) END);
    END LOOP;
    RETURN concat('ON ', CASE WHEN i.is_whole THEN 'ONLY ' END, tab, ' USING ', quote_ident(i.amname), ' (', array_to_string(keys, ', '), ')',
                  ' INCLUDE (' || snowflake._names_on_shadows(
                                      shadows, i.relation, ARRAY(SELECT k.attnum FROM unnest(i.attnums) WITH ORDINALITY k(attnum, n)
                                                                WHERE k.n > i.indnkeyatts ORDER BY k.n)) || ')',
                  CASE WHEN i.indnullsnotdistinct THEN ' NULLS NOT DISTINCT' END,
                  (SELECT ' WITH (' || string_agg(format('%I = %L', x.option_name, x.option_value), ', ') || ')'
                       FROM pg_options_to_table(i.reloptions) x),
                  ' TABLESPACE ' || quote_ident(i.spcname), ' WHERE ' || expressions[used + 1]);
END
$function$;

-- Returns the indexes on columns that are to be replaced: of tables and partitions, or of partitioned tables. pg_index says
-- which indexes list a column, pg_depend which name one in an expression alone.
CREATE FUNCTION snowflake._indexes_on(shadows snowflake._shadow[], kind "char")
    RETURNS SETOF oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT c.oid
            FROM (SELECT y.indexrelid FROM unnest(shadows) s
                      JOIN pg_index y ON y.indrelid = s.relid AND s.attnum = ANY (y.indkey::smallint[])
                  UNION
                  SELECT y.objid FROM unnest(shadows) s
                      JOIN pg_depend y ON y.classid = 'pg_class'::regclass AND y.refclassid = 'pg_class'::regclass
                                      AND y.refobjid = s.relid AND y.refobjsubid = s.attnum) x(oid)
            JOIN pg_class c ON c.oid = x.oid AND c.relkind = kind;
END
$function$;

-- Finds the indexes on columns that are to be replaced, and their twins. Unique indexes come last: while an index and its
-- twin are both there, INSERT ... ON CONFLICT looks at one of them.
CREATE FUNCTION snowflake._index_twins(shadows snowflake._shadow[])
    RETURNS SETOF snowflake._twin
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT twin.*
            FROM (
                SELECT c.relam, c.relnamespace, o.*, d.definition,
                       snowflake._index_twin_name(
                           d.definition, row_number() OVER (PARTITION BY d.definition ORDER BY o.indisunique DESC, o.indexrelid),
                           o.indrelid) AS twin_name
                    FROM pg_index o
                    JOIN pg_class c ON c.oid = o.indexrelid
                    CROSS JOIN LATERAL snowflake._index_definition(shadows, o.indexrelid, o.indrelid::regclass::text) d(definition)
                    WHERE o.indexrelid IN (SELECT snowflake._indexes_on(shadows, 'i'))
            ) i
            JOIN pg_class tab ON tab.oid = i.indrelid
            LEFT JOIN (pg_class t JOIN pg_index x ON x.indexrelid = t.oid)
                   ON t.relnamespace = i.relnamespace AND t.relname = i.twin_name AND x.indrelid = i.indrelid
                  AND x.indisunique = i.indisunique AND x.indnkeyatts = i.indnkeyatts
                  AND t.relam = i.relam AND x.indoption::text = i.indoption::text
                  AND (x.indpred IS NULL OR i.indpred IS NOT NULL) -- REINDEX .. CONCURRENTLY leaves out one that is always true
                  -- An expression that casts to bigint becomes a column.
                  AND NOT EXISTS (
                      SELECT FROM unnest(snowflake._attnums_on_shadows(shadows, i.indrelid, i.indkey::smallint[]),
                                         x.indkey::smallint[]) k(wanted, present)
                          WHERE k.wanted IS DISTINCT FROM k.present AND k.wanted IS DISTINCT FROM 0)
            CROSS JOIN LATERAL snowflake._twin(
                original => i.indexrelid, relid => i.indrelid, name => i.twin_name, definition => i.definition, twin => t.oid,
                is_ready => coalesce(x.indisvalid, false)) twin
            ORDER BY i.indisunique, snowflake._whole(tab.oid)::oid, CASE WHEN tab.relispartition THEN tab.relname END, i.indexrelid;
END
$function$;

-- Returns how many indexes are made at once, without their content.
CREATE FUNCTION snowflake._indexes_at_once()
    RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 200;

-- Returns the words that add a constraint without checking the rows of the table.
CREATE FUNCTION snowflake._unchecked(k pg_constraint)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN snowflake._is_enforced(k) THEN ' NOT VALID' ELSE ' NOT ENFORCED' END;

-- Returns the definition of the twin of a check, which follows its name.
CREATE FUNCTION snowflake._check_definition(shadows snowflake._shadow[], k pg_constraint)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT concat('CHECK (' || (snowflake._expressions_on_shadows(shadows, 'pg_constraint', k.oid, k.conrelid::regclass))[1] || ')',
                      CASE WHEN k.connoinherit THEN ' NO INHERIT' END, snowflake._unchecked(k)));
END
$function$;

-- Finds the checks of columns that are to be replaced, and their twins. The checks that a partition has from the whole are those
-- of the whole, under the same names; but each partition is validated by itself.
CREATE FUNCTION snowflake._check_twins(shadows snowflake._shadow[])
    RETURNS SETOF snowflake._twin
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH defined AS MATERIALIZED (
            SELECT o.*, d.definition, row_number() OVER (PARTITION BY o.conrelid, d.definition ORDER BY o.oid) AS n
                FROM pg_constraint o
                CROSS JOIN LATERAL snowflake._check_definition(shadows, o) d(definition)
                WHERE o.contype = 'c' AND o.coninhcount = 0
                  AND o.oid IN (SELECT x.oid FROM unnest(shadows) s
                                    JOIN pg_constraint x ON x.conrelid = s.relid AND s.attnum = ANY (x.conkey))
                  AND NOT EXISTS (SELECT FROM unnest(shadows) s
                                      WHERE s.relid = o.conrelid AND (s.shadow = ANY (o.conkey) OR s.same = o.conname))
        ),
        own AS MATERIALIZED (
            -- A partition gets the twins of what it inherits under their names.
            SELECT o.*, snowflake._twin_name(
                            o.definition, o.n + (SELECT count(*) FROM defined i
                                                     WHERE i.definition = o.definition AND i.conrelid <> o.conrelid
                                                       AND i.conrelid IN (SELECT pg_partition_ancestors(o.conrelid)))) AS twin_name
                FROM defined o
        )
        SELECT twin.*
            FROM (
                SELECT o.oid, o.conrelid, o.convalidated, o.twin_name, o.definition, false FROM own o
                UNION ALL
                SELECT k.oid, k.conrelid, k.convalidated, o.twin_name, o.definition, true
                    FROM own o
                    CROSS JOIN LATERAL snowflake._table_tree(o.conrelid) part(relid)
                    JOIN pg_constraint k ON k.conrelid = part.relid AND k.contype = 'c' AND k.conname = o.conname AND k.coninhcount > 0
                    JOIN pg_class c ON c.oid = part.relid AND c.relispartition
            ) k(oid, conrelid, convalidated, twin_name, definition, is_inherited)
            LEFT JOIN pg_constraint present
                   ON present.conrelid = k.conrelid AND present.contype = 'c' AND present.conname = k.twin_name
            CROSS JOIN LATERAL snowflake._twin(
                original => k.oid, relid => k.conrelid, name => k.twin_name, definition => k.definition, twin => present.oid,
                is_ready => coalesce(present.convalidated OR NOT k.convalidated, false), is_inherited => k.is_inherited) twin
            ORDER BY k.conrelid, k.oid;
END
$function$;

-- Returns the definition of the twin of a foreign key, which follows its name.
CREATE FUNCTION snowflake._key_definition(shadows snowflake._shadow[], k pg_constraint)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT concat('FOREIGN KEY (', snowflake._names_on_shadows(shadows, k.conrelid, k.conkey), ') REFERENCES ',
                      k.confrelid::regclass, ' (', snowflake._names_on_shadows(shadows, k.confrelid, k.confkey), ')',
                      CASE k.confmatchtype WHEN 'f' THEN ' MATCH FULL' END,
                      ' ON UPDATE ' || snowflake._key_action(k.confupdtype), ' ON DELETE ' || snowflake._key_action(k.confdeltype),
                      ' (' || snowflake._names_on_shadows(shadows, k.conrelid, k.confdelsetcols) || ')',
                      -- SET CONSTRAINTS names the original: the twin waits for the commit, in case it would wait, too.
                      CASE WHEN k.condeferrable THEN ' DEFERRABLE INITIALLY DEFERRED' END,
                      snowflake._unchecked(k)));
END
$function$;

-- Returns the action of a foreign key on rows whose key is updated or deleted; NULL: NO ACTION.
CREATE FUNCTION snowflake._key_action(action "char")
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE action WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END;

-- Returns the foreign keys from and to columns that are to be replaced that have twins, or those of or to partitioned tables.
-- Each partition has a twin of the part that it has of the foreign key of the whole; the others belong to the partitions that a
-- key to a partitioned table references.
CREATE FUNCTION snowflake._keys_on(shadows snowflake._shadow[], of_wholes boolean)
    RETURNS SETOF oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT k.oid
            FROM pg_constraint k
            JOIN pg_class c ON c.oid = k.conrelid
            JOIN pg_class r ON r.oid = k.confrelid
            LEFT JOIN pg_constraint parent ON parent.oid = k.conparentid
            WHERE k.contype = 'f'
              -- By way of pg_depend, which has an index on what is referenced.
              AND k.oid IN (SELECT y.objid FROM unnest(shadows) s
                                JOIN pg_depend y ON y.classid = 'pg_constraint'::regclass AND y.refclassid = 'pg_class'::regclass
                                                AND y.refobjid = s.relid AND y.refobjsubid = s.attnum)
              AND CASE WHEN of_wholes THEN 'p' IN (c.relkind, r.relkind) AND k.conparentid = 0
                       ELSE 'p' NOT IN (c.relkind, r.relkind) AND coalesce(parent.confrelid, k.confrelid) = k.confrelid END;
END
$function$;

-- Finds the foreign keys from and to columns that are to be replaced, and their twins.
CREATE FUNCTION snowflake._key_twins(shadows snowflake._shadow[])
    RETURNS SETOF snowflake._twin
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN QUERY
        SELECT twin.*
            FROM (
                SELECT o.*, d.definition,
                       snowflake._twin_name(
                           d.definition, row_number() OVER (PARTITION BY o.conrelid, d.definition ORDER BY o.oid)) AS twin_name
                    FROM pg_constraint o
                    CROSS JOIN LATERAL snowflake._key_definition(shadows, o) d(definition)
                    WHERE o.oid IN (SELECT snowflake._keys_on(shadows, of_wholes => false))
            ) k
            JOIN pg_class tab ON tab.oid = k.conrelid
            LEFT JOIN pg_constraint present
                   ON present.conrelid = k.conrelid AND present.contype = 'f' AND present.conname = k.twin_name
                  AND present.confrelid = k.confrelid
                  AND present.conkey = snowflake._attnums_on_shadows(shadows, k.conrelid, k.conkey)
                  AND present.confkey = snowflake._attnums_on_shadows(shadows, k.confrelid, k.confkey)
            CROSS JOIN LATERAL snowflake._twin(
                original => k.oid, relid => k.conrelid, name => k.twin_name, definition => k.definition, twin => present.oid,
                is_ready => coalesce(present.convalidated OR NOT k.convalidated, false)) twin
            ORDER BY snowflake._whole(tab.oid)::oid, CASE WHEN tab.relispartition THEN tab.relname END, k.oid;
END
$function$;

-- Returns the numbers of columns, those of shadows in place of the columns that have one.
CREATE FUNCTION snowflake._attnums_on_shadows(shadows snowflake._shadow[], tab oid, attnums smallint[])
    RETURNS smallint[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT array_agg(coalesce(s.shadow, k.attnum) ORDER BY k.n)
            FROM unnest(attnums) WITH ORDINALITY k(attnum, n)
            LEFT JOIN unnest(shadows) s ON s.relid = tab AND s.attnum = k.attnum);
END
$function$;

-- A conversion without a long lock: a sequence with its columns, their shadows and the twins.
CREATE TYPE snowflake._shadowing AS (
    part snowflake._conversion_part,
    shadows snowflake._shadow[],
    indexes snowflake._twin[], checks snowflake._twin[], keys snowflake._twin[],
    whole_indexes oid[], whole_keys oid[], -- of partitioned tables, see partitions.sql
    views snowflake._twin[]); -- see views.sql

-- Returns the conversion of a sequence without a long lock.
CREATE FUNCTION snowflake._shadowing(part snowflake._conversion_part)
    RETURNS snowflake._shadowing
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    work snowflake._shadowing;
BEGIN
    work.part := part;
    work.shadows := snowflake._shadows(part.columns);
    work.indexes := ARRAY(SELECT t FROM snowflake._index_twins(work.shadows) t);
    work.checks := ARRAY(SELECT t FROM snowflake._check_twins(work.shadows) t);
    work.keys := ARRAY(SELECT t FROM snowflake._key_twins(work.shadows) t);
    work.whole_indexes := ARRAY(SELECT snowflake._indexes_on(work.shadows, 'I') ORDER BY 1);
    work.whole_keys := ARRAY(SELECT snowflake._keys_on(work.shadows, of_wholes => true) ORDER BY 1);
    work.views := ARRAY(SELECT t FROM snowflake._view_twins(part.dependents) t);
    RETURN work;
END
$function$;

-- Finds the twins of originals that are gone, or were altered or renamed with their table since. Whoever may reference a table can
-- give a foreign key on a table of his own such a name.
CREATE FUNCTION snowflake._orphans(work snowflake._shadowing, OUT class oid, OUT object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT d.classid, d.objid
            FROM unnest(work.shadows) s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid AND d.refobjsubid = s.shadow
            LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid AND k.coninhcount = 0
                                     AND k.conrelid IN (SELECT x.relid FROM unnest(work.shadows) x)
            LEFT JOIN pg_class i ON d.classid = 'pg_class'::regclass AND i.oid = d.objid AND i.relkind = 'i'
            -- REINDEX .. CONCURRENTLY that does not come to its end leaves an index behind.
            WHERE snowflake._is_twin_name(regexp_replace(coalesce(k.conname, i.relname), '_cc(new|old)[0-9]*$', ''))
              AND NOT EXISTS (SELECT FROM unnest(work.indexes || work.checks || work.keys) t WHERE t.twin = d.objid);
END
$function$;

-- Returns the foreign keys that use an index which has become no twin. They go before it, and are added again: the server lets a
-- new key use the oldest index that is there.
CREATE FUNCTION snowflake._keys_on_orphans(work snowflake._shadowing)
    RETURNS oid[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        WITH orphan AS MATERIALIZED (SELECT * FROM snowflake._orphans(work))
        SELECT k.oid
            FROM (SELECT t.twin FROM unnest(work.keys) t UNION SELECT o.object FROM orphan o) made(oid)
            JOIN pg_constraint k ON k.oid = made.oid
            JOIN orphan o ON o.class = 'pg_class'::regclass AND o.object = k.conindid
            ORDER BY k.oid);
END
$function$;

-- Returns the step that drops a foreign key of _keys_on_orphans().
CREATE FUNCTION snowflake._orphan_steps(work snowflake._shadowing, tab regclass, twin name)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE %s DROP CONSTRAINT %I', tab, k.conname), snowflake._owner(tab)) step
            WHERE k.conrelid = tab AND k.conname = twin AND k.oid = ANY (snowflake._keys_on_orphans(work));
END
$function$;

-- Returns the step that adds a foreign key between shadow columns, unless it is there. The step is short: _validate()
-- checks the rows later.
CREATE FUNCTION snowflake._key_steps(part snowflake._conversion_part, tab regclass, twin name)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._key_twins(snowflake._shadows(part.columns)) t
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.relid, t.name, t.definition),
                                               snowflake._owner(t.relid)) step
            WHERE t.relid = tab AND t.name = _key_steps.twin AND t.twin IS NULL;
END
$function$;
