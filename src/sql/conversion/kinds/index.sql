-- Indexes that belong to no constraint, or to one that the server makes again. The server makes an index
-- on an altered column again, but forgets some of what the index had.

-- Returns the commands that give an index the settings that its definition leaves out, or only those that the server
-- forgets when it makes the index again.
CREATE FUNCTION snowflake._conversion_index_settings(index oid, only_forgotten boolean)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    class record;
BEGIN
    SELECT c.oid::regclass AS name, c.relname, c.reltablespace, i.indisclustered, i.indisreplident,
           i.indrelid::regclass AS relation,
           CASE t.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END AS type
        INTO class
        FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_class t ON t.oid = i.indrelid
        WHERE i.indexrelid = index;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT only_forgotten THEN
        RETURN QUERY SELECT format('ALTER INDEX %s SET TABLESPACE %I', class.name, s.spcname)
            FROM pg_tablespace s WHERE s.oid = class.reltablespace;
        IF class.indisclustered THEN
            RETURN NEXT format('ALTER %s %s CLUSTER ON %I', class.type, class.relation, class.relname);
        END IF;
        IF class.indisreplident THEN
            RETURN NEXT format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', class.relation,
                               class.relname);
        END IF;
    END IF;
    RETURN QUERY SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', class.name, a.attnum,
                               a.attstattarget)
        FROM pg_attribute a WHERE a.attrelid = index AND a.attstattarget >= 0;
    IF only_forgotten THEN
        RETURN QUERY SELECT * FROM snowflake._conversion_extensions(
            'pg_class'::regclass, index, format('INDEX %s', class.name));
    ELSE
        RETURN QUERY SELECT * FROM snowflake._conversion_annotations(
            'pg_class'::regclass, index, format('INDEX %s', class.name));
    END IF;
END
$function$;

-- Gives an index its name back. The server makes the indexes of partitions together with the index of the partitioned
-- table, and chooses their names. Where it has chosen this name for another partition's index, that index is renamed first,
-- and gets its own name back later.
CREATE FUNCTION snowflake._give_index_name(index regclass, index_name name)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    present record;
    occupant regclass;
BEGIN
    SELECT c.relname, n.oid AS namespace, n.nspname INTO present
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = index AND c.relkind IN ('i', 'I');
    IF NOT FOUND OR index_name IN (present.relname, '') THEN
        RETURN; -- there is no such index, it has its name, or no index can have that name
    END IF;
    SELECT c.oid INTO occupant
        FROM pg_class c
        WHERE c.relname = index_name AND c.relnamespace = present.namespace
          AND c.relkind IN ('i', 'I') AND c.relispartition;
    IF occupant IS NOT NULL THEN
        EXECUTE format('ALTER INDEX %s RENAME TO %I', occupant,
                       snowflake._free_name(present.nspname, 'snowflake_' || occupant::oid));
    END IF;
    EXECUTE format('ALTER INDEX %s RENAME TO %I', index, index_name);
END
$function$;

-- Gives the part that a partition has of a partitioned index its name.
CREATE FUNCTION snowflake._conversion_name_index(whole regclass, partition regclass, index_name name)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._give_index_name(part.relid, index_name)
        FROM pg_partition_tree(whole) part
        JOIN pg_index i ON i.indexrelid = part.relid
        WHERE i.indrelid = partition;
END
$function$;

-- Finds the indexes that give up their names for the time of the conversion. The server makes such an index again under its
-- name, and may have chosen that name for the index of a partition by then. The server begins a name that it chooses with
-- that of the partition, and cuts off the end of a long one.
CREATE FUNCTION snowflake._indexes_in_the_way(
        columns snowflake._conversion_column[],
        OUT index regclass, OUT name name,
        OUT namespace name, OUT free_name text) -- that it has meanwhile
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT c.oid::regclass, c.relname, n.nspname, snowflake._free_name(n.nspname, 'snowflake_' || c.oid)
            FROM unnest(columns) x
            JOIN pg_index i ON i.indrelid = x.relid AND x.attnum = ANY (i.indkey::smallint[])
            JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN unnest(columns) other ON true
            JOIN pg_class p ON p.oid = other.relid AND p.relispartition AND p.relnamespace = c.relnamespace
            WHERE x.widened AND other.widened AND NOT c.relispartition
              -- An index with expressions keeps its name, by which its references are compared.
              AND i.indexprs IS NULL AND i.indpred IS NULL
              -- One that was made with ON ONLY, and has no parts, is dropped.
              AND (i.indisvalid OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid))
              AND left(c.relname || '_', 25) LIKE replace(left(p.relname || '_', 25), '_', '\_') || '%'
              AND EXISTS (SELECT FROM pg_index part JOIN pg_class q ON q.oid = part.indexrelid
                              WHERE part.indrelid = p.oid AND q.relispartition);
END
$function$;

-- Returns the commands that give a partition's index, a part of a partitioned index, what the server forgets of it.
CREATE FUNCTION snowflake._conversion_partition_index(index oid)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('SELECT snowflake._conversion_name_index(%L, %L, %L)', pg_partition_root(i.indexrelid),
                      i.indrelid::regclass, c.relname)
            FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE i.indexrelid = index;
    RETURN QUERY
        SELECT format('ALTER INDEX %s SET (%s)', index::regclass,
                      string_agg(format('%I = %L', x.option_name, x.option_value), ', '))
            FROM pg_class c, pg_options_to_table(c.reloptions) x
            WHERE c.oid = index AND c.relkind = 'i' -- a partitioned one has them from the whole
            HAVING count(*) > 0;
    RETURN QUERY
        -- The server gives the part the comment of the partitioned index.
        SELECT format('COMMENT ON INDEX %s IS NULL', index::regclass)
            WHERE obj_description(index, 'pg_class') IS NULL
              AND EXISTS (SELECT FROM pg_partition_ancestors(index) whole
                              WHERE obj_description(whole.relid, 'pg_class') IS NOT NULL);
    RETURN QUERY SELECT * FROM snowflake._conversion_index_settings(index, only_forgotten => false);
    RETURN QUERY
        SELECT annotation.command
            FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._conversion_annotations(
                'pg_constraint'::regclass, k.oid,
                format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass)) annotation(command)
            WHERE k.conindid = index AND k.contype IN ('p', 'u', 'x');
END
$function$;

-- Finds the indexes among objects that depend on columns. An index ON ONLY a partitioned table is made again by the
-- conversion: the server would make it again for all partitions. That cannot be done where parts are attached to the
-- index.
CREATE FUNCTION snowflake._index_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_class c ON c.oid = o.objid
            JOIN pg_index i ON i.indexrelid = c.oid
            CROSS JOIN LATERAL (SELECT c.relkind = 'I' AND NOT i.indisvalid) found(is_only)
            CROSS JOIN LATERAL snowflake._dependent(
                o, kind => 'index', relid => i.indrelid, is_rebuilt => o.depth = 1 AND NOT found.is_only,
                comes_along => o.depth = 1 AND NOT found.is_only AND NOT c.relispartition
                               AND NOT EXISTS (SELECT FROM snowflake._conversion_index_settings(c.oid, only_forgotten => true))) d
            WHERE o.classid = 'pg_class'::regclass
              AND CASE WHEN found.is_only
                       THEN NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
                            AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid)
                       ELSE true END;
END
$function$;

-- Returns the command that drops an index; NULL: the index is dropped with its relation or column.
CREATE FUNCTION snowflake._index_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    -- An index at a greater depth goes with its view or generated column.
    RETURN CASE WHEN dependent.depth = 1 THEN format('DROP INDEX %s', dependent.objid::regclass) END;
END
$function$;

-- Returns the commands that make an index again, or give it what the server forgets of it.
CREATE FUNCTION snowflake._index_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    index constant oid := dependent.objid;
BEGIN
    IF NOT dependent.is_rebuilt THEN
        IF NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = index) THEN
            RETURN;
        END IF;
        command := pg_get_indexdef(index);
        RETURN NEXT;
        RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_index_settings(index, only_forgotten => false) x;
    ELSIF (SELECT relispartition FROM pg_class WHERE oid = index) THEN
        RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_partition_index(index) x;
    ELSE
        RETURN QUERY SELECT x, NULL::oid FROM snowflake._conversion_index_settings(index, only_forgotten => true) x;
    END IF;
END
$function$;
