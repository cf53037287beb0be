-- Partitioned tables without a long lock. A partition has its shadow columns, triggers and checks from the whole, which is the
-- table at the top of its tree, and is filled and validated by itself. Its indexes and foreign keys have twins as those of a
-- table. The server builds an index, and checks a foreign key, of a partitioned table under a lock, but takes over what the
-- partitions have already: so those of the whole are made in the swap.

-- Returns the partitions of a table that is about to have shadow columns whose definitions do not go with those of the whole.
CREATE FUNCTION snowflake._online_obstacles_of_partitions(shadows snowflake._shadow[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('partition %s of table %s is being detached: ALTER TABLE %2$s DETACH PARTITION %1$s FINALIZE first',
                               i.inhrelid::regclass, i.inhparent::regclass)
            FROM unnest(shadows) s JOIN pg_inherits i ON i.inhparent = s.relid
            WHERE i.inhdetachpending;
    RETURN QUERY
        SELECT DISTINCT format('partition %s of table %s has another owner: give both to one owner', s.relid, snowflake._whole(s.relid))
            FROM unnest(shadows) s
            WHERE s.is_inherited AND snowflake._owner(s.relid) <> snowflake._owner(snowflake._whole(s.relid));
    RETURN QUERY
        SELECT format('column %I is %s in partition %s and %s in table %s: let it be the same in both', s.attname,
                      CASE WHEN a.attnotnull THEN 'NOT NULL' ELSE 'nullable' END, s.relid,
                      CASE WHEN a.attnotnull THEN 'nullable' ELSE 'NOT NULL' END, snowflake._whole(s.relid))
            FROM unnest(shadows) s
            JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = s.attnum
            JOIN pg_attribute whole ON whole.attrelid = snowflake._whole(s.relid) AND whole.attname = s.attname
            WHERE s.is_inherited AND whole.attnotnull <> a.attnotnull;
END
$function$;

-- Returns the shadows under the names that they have after the swap.
CREATE FUNCTION snowflake._under_final_names(shadows snowflake._shadow[])
    RETURNS snowflake._shadow[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT snowflake._shadow(s.relid, s.is_inherited, s.attnum, s.attname, s.shadow, shadow_name => s.attname,
                                 trigger_name => s.trigger_name, same => s.same, is_exact => s.is_exact, is_filled => s.is_filled)
            FROM unnest(shadows) s);
END
$function$;

-- Returns the definition of a key with what pg_get_constraintdef() leaves out: the storage parameters and the tablespace of its
-- index, which come before the word DEFERRABLE.
CREATE FUNCTION snowflake._key_definition(key oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT concat(left(whole.definition, length(whole.definition) - length(whole.deferral)),
                      (SELECT ' WITH (' || string_agg(format('%I = %L', x.option_name, x.option_value), ', ') || ')'
                           FROM pg_options_to_table(c.reloptions) x),
                      (SELECT format(' USING INDEX TABLESPACE %I', s.spcname) FROM pg_tablespace s WHERE s.oid = c.reltablespace),
                      whole.deferral)
            FROM pg_constraint k
            JOIN pg_class c ON c.oid = k.conindid
            CROSS JOIN LATERAL (
                SELECT pg_get_constraintdef(k.oid),
                       concat(CASE WHEN k.condeferrable THEN ' DEFERRABLE' END, CASE WHEN k.condeferred THEN ' INITIALLY DEFERRED' END)
            ) whole(definition, deferral)
            WHERE k.oid = key);
END
$function$;

-- Returns the command that makes the index of a partitioned table, or its constraint, again on the columns that have taken the
-- places of the old ones. No partition has a part of the index yet.
CREATE FUNCTION snowflake._whole_index_command(shadows snowflake._shadow[], index oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN k.oid IS NULL
                    THEN concat('CREATE ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, format('INDEX %I ', c.relname),
                                snowflake._index_definition(snowflake._under_final_names(shadows), index,
                                                            i.indrelid::regclass::text))
                    ELSE format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', i.indrelid::regclass, k.conname,
                                snowflake._key_definition(k.oid)) END
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid
            LEFT JOIN pg_constraint k ON k.conindid = index AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u')
            WHERE i.indexrelid = index);
END
$function$;

-- Returns the steps that make the indexes of partitioned tables again, and attach those of the partitions to them: these have
-- taken the names of the old ones.
CREATE FUNCTION snowflake._swap_whole_indexes(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.whole_indexes) whole(index)
            JOIN pg_index i ON i.indexrelid = whole.index
            CROSS JOIN LATERAL snowflake._step(snowflake._whole_index_command(work.shadows, whole.index), snowflake._owner(i.indrelid)) step
            ORDER BY whole.index;
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.whole_indexes) whole(index)
            JOIN pg_index i ON i.indexrelid = whole.index
            JOIN pg_inherits part ON part.inhparent = whole.index
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER INDEX %s ATTACH PARTITION %s', whole.index::regclass, part.inhrelid::regclass),
                snowflake._owner(i.indrelid)) step
            ORDER BY whole.index, part.inhrelid;
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.whole_indexes) whole(index)
            JOIN pg_index i ON i.indexrelid = whole.index
            CROSS JOIN LATERAL (
                SELECT * FROM snowflake._conversion_index_settings(whole.index, only_forgotten => false)
                UNION ALL
                SELECT x FROM pg_constraint k
                    CROSS JOIN LATERAL snowflake._conversion_annotations(
                        'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass)) x
                    WHERE k.conindid = whole.index AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u')
            ) settings(command)
            CROSS JOIN LATERAL snowflake._step(settings.command, snowflake._owner(i.indrelid)) step
            ORDER BY whole.index;
END
$function$;

-- Returns the steps that make foreign keys of and to partitioned tables again. A key of a partitioned table to an ordinary one
-- takes over the valid keys of its partitions. A key to a partitioned table is added NOT VALID, and validated after the swap.
CREATE FUNCTION snowflake._swap_whole_keys(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(work.whole_keys) whole(key)
            JOIN pg_constraint k ON k.oid = whole.key
            JOIN pg_class r ON r.oid = k.confrelid
            CROSS JOIN LATERAL (
                SELECT concat(format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)),
                              CASE WHEN r.relkind = 'p' THEN ' NOT VALID' END)
                UNION ALL
                SELECT * FROM snowflake._conversion_annotations(
                    'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass))
            ) x(command)
            CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(k.conrelid)) step
            ORDER BY whole.key;
END
$function$;

-- Returns the step that validates a constraint.
CREATE FUNCTION snowflake._validation_step(tab regclass, constraint_name name)
    RETURNS snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    size constant bigint := (SELECT sum(snowflake._table_size(member)) FROM snowflake._table_tree(tab) member);
BEGIN
    RETURN snowflake._step(
        format('SELECT snowflake._validate(%L, %L)', tab, constraint_name), snowflake._owner(tab),
        format('reads table %s (%s); SHARE UPDATE EXCLUSIVE lock', tab, pg_size_pretty(size)), size => size);
END
$function$;

-- Returns the steps that validate foreign keys to partitioned tables after the swap.
CREATE FUNCTION snowflake._validations_after_swap(keys oid[], only_invalid boolean)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(keys) whole(key)
            JOIN pg_constraint k ON k.oid = whole.key
            JOIN pg_class r ON r.oid = k.confrelid AND r.relkind = 'p'
            CROSS JOIN LATERAL snowflake._validation_step(k.conrelid, k.conname) step
            WHERE k.convalidated <> only_invalid AND snowflake._is_enforced(k)
            ORDER BY whole.key;
END
$function$;

-- Returns the foreign keys to partitioned tables among the columns of a conversion that has been made.
CREATE FUNCTION snowflake._keys_after_swap(part snowflake._conversion_part)
    RETURNS oid[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT k.oid
            FROM unnest(part.columns) c
            JOIN pg_class r ON r.oid = c.relid AND r.relkind = 'p'
            CROSS JOIN LATERAL snowflake._keys_of(c.relid, c.attnum) keys(key)
            JOIN pg_constraint k ON k.oid = keys.key AND k.confrelid = c.relid AND k.conparentid = 0
            ORDER BY 1);
END
$function$;
