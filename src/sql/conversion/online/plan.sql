-- The plan of a conversion without a long lock: what is left to do, as commands that are transactions of their own.

-- Returns arguments of _fill_shadows(). The arguments that a caller has given, as those of a call; nothing for those
-- that are NULL.
CREATE FUNCTION snowflake._fill_options(pause interval, max_lag text)
    RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN pg_catalog.concat(', pause => ' || pg_catalog.quote_literal(pause), ', max_lag => ' || pg_catalog.quote_literal(max_lag));

-- Returns how many bytes a table has without its indexes.
CREATE FUNCTION snowflake._table_size(tab regclass)
    RETURNS bigint
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.pg_table_size(tab);

-- Returns the steps that add shadow columns.
CREATE FUNCTION snowflake._preparations_of_shadows(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT snowflake._whole(s.relid) FROM unnest(work.shadows) s WHERE s.trigger_name IS NULL OR NOT s.is_exact
                  UNION
                  SELECT snowflake._whole(t.relid) FROM unnest(work.checks) t WHERE t.twin IS NULL) x(relid)
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._add_shadows(%L, %L%s)', (work.part).seq, x.relid,
                       ', ' || quote_literal(nullif(((work.part).wishes).also, ''))), snowflake._owner(x.relid),
                format('adds columns and triggers to table %s; ACCESS EXCLUSIVE lock, briefly', x.relid)) step
            ORDER BY x.relid::oid;
END
$function$;

-- Returns the steps that fill shadow columns. The partitions of a table come in the order of their names, and last the whole,
-- which has no rows, with all partitions that have some of their own.
CREATE FUNCTION snowflake._preparations_of_rows(work snowflake._shadowing, pause interval, max_lag text)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT DISTINCT snowflake._filled_with(x.relid) FROM unnest(work.shadows) x
                      WHERE NOT x.is_filled
                         OR EXISTS (SELECT FROM unnest(work.checks) t WHERE t.relid = x.relid AND NOT t.is_ready)) s(relid)
            JOIN pg_class c ON c.oid = s.relid
            CROSS JOIN LATERAL (SELECT snowflake._table_size(s.relid)) held(size)
            CROSS JOIN LATERAL snowflake._step(
                concat(format('CALL snowflake._fill_shadows(%L, %L', (work.part).seq, s.relid),
                       snowflake._fill_options(pause, max_lag), ')'),
                c.relowner,
                CASE c.relkind
                    WHEN 'p' THEN format('notes that the partitions of table %s are filled; SHARE UPDATE EXCLUSIVE locks', s.relid)
                    ELSE format('changes the rows of table %s (%s) in batches that are transactions; locks a batch of rows for a '
                                'tenth of a second', s.relid, pg_size_pretty(held.size)) END, size => held.size) step
            ORDER BY snowflake._whole(s.relid)::oid, c.relkind = 'p', c.relname;
END
$function$;

-- Returns the steps that drop indexes that have become no twins, behind the foreign keys that use them.
CREATE FUNCTION snowflake._preparations_of_orphans(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._drop_key(%L, %L, %L)', (work.part).seq, k.conrelid::regclass, k.conname),
                snowflake._owner(k.conrelid),
                format('drops a foreign key that uses another index than it should; ACCESS EXCLUSIVE lock on %s, briefly',
                       concat_ws(' and ', k.conrelid::regclass, nullif(k.confrelid, k.conrelid)::regclass))) step
            WHERE k.oid = ANY (snowflake._keys_on_orphans(work))
            ORDER BY k.oid;
    RETURN QUERY
        SELECT step.*
            FROM snowflake._orphans(work) o
            CROSS JOIN LATERAL snowflake._step(format('DROP INDEX CONCURRENTLY %s', o.object::regclass), NULL,
                                               'was built for another index, or another table name') step
            WHERE o.class = 'pg_class'::regclass
            ORDER BY o.object;
END
$function$;

-- Returns the steps that make indexes on shadow columns, without their content: the plan is printed, and what is typed names no more
-- than an index. A step makes some, lest it keep others waiting: one index takes a millisecond.
CREATE FUNCTION snowflake._preparations_of_empty_indexes(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT snowflake._whole(t.relid), count(*) FROM unnest(work.indexes) t WHERE t.twin IS NULL GROUP BY 1) x(relid, missing)
            CROSS JOIN generate_series(1, x.missing, snowflake._indexes_at_once()) turn
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._add_indexes(%L, %L)', (work.part).seq, x.relid), snowflake._owner(x.relid),
                format('adds indexes to table %s that are not built yet; ACCESS EXCLUSIVE lock, briefly', x.relid)) step
            ORDER BY x.relid::oid;
END
$function$;

-- Returns the steps that build indexes on shadow columns. Unique ones that no foreign key needs are built after the keys: INSERT ...
-- ON CONFLICT may fail from then on, see _online_remarks(). One with expressions has statistics, which are collected before the keys.
CREATE FUNCTION snowflake._preparations_of_indexes(work snowflake._shadowing, after_keys boolean)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.indexes) WITH ORDINALITY t
            JOIN pg_index i ON i.indexrelid = t.original
            JOIN pg_class c ON c.oid = t.original
            CROSS JOIN LATERAL snowflake._step(
                format('REINDEX INDEX CONCURRENTLY %s.%I', c.relnamespace::regnamespace, t.name), NULL,
                format('builds what takes the place of index %s (%s); SHARE UPDATE EXCLUSIVE lock on %s', t.original::regclass,
                       pg_size_pretty(pg_relation_size(t.original)), t.relid), size => pg_relation_size(t.original)) step
            WHERE NOT t.is_ready
              AND after_keys = (i.indisunique AND i.indexprs IS NULL
                              AND NOT EXISTS (SELECT FROM unnest(work.keys) key JOIN pg_constraint k ON k.oid = key.original
                                                  WHERE k.conindid = t.original))
            ORDER BY t.ordinality;
END
$function$;

-- Returns the steps that collect statistics of shadow columns, and of expressions in indexes on them, where those in use have
-- some. Statistics from when a shadow was being filled tell of nulls that its column does not have.
CREATE FUNCTION snowflake._preparations_of_statistics(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT s.relid FROM unnest(work.shadows) s
                      WHERE snowflake._null_fraction(s.relid, s.attnum) <> coalesce(snowflake._null_fraction(s.relid, s.shadow), -1)
                  UNION
                  SELECT t.relid
                      FROM unnest(work.indexes) t
                      JOIN pg_attribute a ON a.attrelid = t.original
                      WHERE snowflake._null_fraction(t.original, a.attnum) <> coalesce(snowflake._null_fraction(t.twin, a.attnum), -1)) x
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._analyze(%L, %L)', (work.part).seq, x.relid), snowflake._owner(x.relid),
                format('collects statistics of table %s; SHARE UPDATE EXCLUSIVE lock', x.relid)) step
            ORDER BY x.relid::oid;
END
$function$;

-- Returns the steps that add foreign keys between shadow columns and validate them.
CREATE FUNCTION snowflake._preparations_of_keys(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    dropped constant oid[] := snowflake._keys_on_orphans(work);
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.keys) WITH ORDINALITY t
            JOIN pg_constraint k ON k.oid = t.original
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._add_key(%L, %L, %L)', (work.part).seq, t.relid, t.name), snowflake._owner(t.relid),
                format('adds a foreign key of the new columns, NOT VALID; ACCESS EXCLUSIVE lock on %s, briefly',
                       concat_ws(' and ', t.relid, nullif(k.confrelid, t.relid)::regclass))) step
            WHERE t.twin IS NULL OR t.twin = ANY (dropped)
            ORDER BY t.ordinality;
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.keys) WITH ORDINALITY t
            JOIN pg_constraint k ON k.oid = t.original
            CROSS JOIN LATERAL snowflake._validation_step(t.relid, t.name) step
            WHERE k.convalidated AND (NOT t.is_ready OR t.twin = ANY (dropped))
            ORDER BY t.ordinality;
END
$function$;

-- Returns what is left to do before the swap.
CREATE FUNCTION snowflake._online_preparations(work snowflake._shadowing, pause interval, max_lag text)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY SELECT * FROM snowflake._preparations_of_shadows(work);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_views(work);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_rows(work, pause, max_lag);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_orphans(work);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_empty_indexes(work);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_indexes(work, after_keys => false);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_statistics(work);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_keys(work);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_indexes(work, after_keys => true);
    RETURN QUERY SELECT * FROM snowflake._preparations_of_contents(work);
END
$function$;

-- Describes what is different where a conversion does without a long lock.
CREATE FUNCTION snowflake._online_remarks(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT format('column %I becomes the last one of table %s', s.attname, s.relid) AS remark
                    FROM unnest(work.shadows) s WHERE NOT s.is_inherited
                UNION ALL
                -- PostgreSQL 18 has such constraints, and makes them under one name for a table and its partitions.
                SELECT format('not-null constraint %I of partition %s gets the name of that of table %s',
                              k.conname, s.relid, snowflake._whole(s.relid))
                    FROM unnest(work.shadows) s
                    JOIN pg_constraint k ON k.conrelid = s.relid AND k.contype = 'n' AND k.conkey = ARRAY[s.attnum]
                    JOIN pg_attribute whole ON whole.attrelid = snowflake._whole(s.relid) AND whole.attname = s.attname
                    JOIN pg_constraint w ON w.conrelid = whole.attrelid AND w.contype = 'n' AND w.conkey = ARRAY[whole.attnum]
                    WHERE s.is_inherited AND w.conname <> k.conname
                UNION ALL
                SELECT format('until the swap table %s has the column %I as well: COPY without a list of columns expects it',
                              s.relid, s.shadow_name)
                    FROM unnest(work.shadows) s WHERE NOT s.is_inherited
                UNION ALL
                SELECT format('until the swap attach no table with rows to %s, unless their new columns are filled; one that is '
                              'detached refuses rows until the plan is run again', c.oid::regclass)
                    FROM pg_class c
                    WHERE c.relkind = 'p' AND c.oid IN (SELECT s.relid FROM unnest(work.shadows) s WHERE NOT s.is_inherited)
                UNION ALL
                SELECT DISTINCT format('until the swap a transaction that has written to table %s alters or truncates it only after '
                                       'SET CONSTRAINTS ALL IMMEDIATE', linked.relid)
                    FROM unnest(work.keys) t
                    JOIN pg_constraint k ON k.oid = t.original AND k.condeferrable AND NOT k.condeferred
                    CROSS JOIN LATERAL (VALUES (k.conrelid::regclass), (k.confrelid)) linked(relid)
                UNION ALL
                (SELECT format('from when the twin of unique index %s is built until the swap, INSERT ... ON CONFLICT may fail with a '
                              'unique violation where two sessions insert the same key at once', x.index)
                    FROM (SELECT DISTINCT snowflake._whole(t.original) FROM unnest(work.indexes) t) x(index)
                    JOIN pg_index i ON i.indexrelid = x.index
                    WHERE i.indisunique
                    ORDER BY x.index::oid)
            ) x
            CROSS JOIN LATERAL snowflake._remark(x.remark) step;
END
$function$;

-- Returns what is left to do of a conversion without a long lock.
CREATE FUNCTION snowflake._online_steps(part snowflake._conversion_part, pause interval, max_lag text)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    work snowflake._shadowing;
BEGIN
    PERFORM snowflake._lag_in_bytes(max_lag);
    IF snowflake._is_converted(part) THEN
        RETURN QUERY SELECT * FROM snowflake._validations_after_swap(snowflake._keys_after_swap(part), only_invalid => true);
        RETURN;
    END IF;
    work := snowflake._shadowing(part);
    RETURN QUERY SELECT * FROM snowflake._remarks_on_subscribers(work, true) WHERE 'subscribers' <> ALL ((part.wishes).waive);
    RETURN QUERY
        SELECT step.*
            FROM snowflake._step(
                format('SELECT snowflake._rehearse_conversion(%L%s)', part.seq, snowflake._wish_arguments(part.wishes)), NULL,
                'runs the commands of a conversion on empty tables and takes that back; ACCESS EXCLUSIVE locks, briefly') step
            WHERE EXISTS (SELECT FROM unnest(work.shadows) s)
              AND NOT EXISTS (SELECT FROM unnest(work.shadows) s WHERE s.same IS NOT NULL);
    RETURN QUERY SELECT * FROM snowflake._online_preparations(work, pause, max_lag);
    RETURN QUERY
        SELECT * FROM snowflake._step(
            format('SELECT snowflake.convert_sequence_to_snowflake(%L, online => true%s)',
                   part.seq, snowflake._wish_arguments(part.wishes)), NULL,
            'puts the new columns in the place of the old ones and converts; ACCESS EXCLUSIVE locks, briefly');
    RETURN QUERY SELECT * FROM snowflake._validations_after_swap(work.whole_keys, only_invalid => false);
    RETURN QUERY SELECT * FROM snowflake._remarks_on_subscribers(work, false);
    RETURN QUERY SELECT * FROM snowflake._online_remarks(work);
END
$function$;
