-- Findings of numbers: columns that are too small for IDs, IDs ahead of the clock, and sequences and layouts that end.

-- Finds the columns of smallint and integer that take the numbers of a sequence, or reference a column that does, and
-- returns the least of their bounds. The size is that of the last VACUUM or ANALYZE: to measure could mean to wait for a lock.
CREATE FUNCTION snowflake._integers_fed(
        OUT seq oid, OUT bound bigint, OUT held_by text,
        OUT size bigint) -- of all their tables that can be widened without a long lock, in bytes
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    RETURN QUERY
        WITH fed AS (
            SELECT d.objid AS seq, d.refobjid AS relid, d.refobjsubid::smallint AS attnum
                FROM pg_sequence q
                JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = q.seqrelid AND d.deptype = 'i'
                                AND d.refclassid = 'pg_class'::regclass
            UNION
            SELECT q.seqrelid, f.adrelid, f.adnum
                FROM pg_sequence q
                JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = q.seqrelid
                JOIN pg_attrdef f ON f.oid = d.objid
        ),
        held AS (
            SELECT f.* FROM fed f
            UNION
            SELECT f.seq, k.conrelid, pair.here
                FROM fed f
                JOIN pg_constraint k ON k.contype = 'f' AND k.confrelid = f.relid AND k.conparentid = 0
                CROSS JOIN LATERAL unnest(k.conkey, k.confkey) pair(here, there)
                WHERE pair.there = f.attnum
        )
        SELECT DISTINCT ON (h.seq) h.seq, CASE snowflake._base_type(a.atttypid) WHEN 'smallint'::regtype THEN 32767 ELSE 2147483647 END::bigint,
               format('%s is %s', snowflake._column(h.relid, a.attname), format_type(a.atttypid, -1)),
               (SELECT sum(x.relpages) * current_setting('block_size')::bigint FROM pg_class x
                    WHERE x.relkind = 'r' AND x.oid IN (SELECT y.relid FROM held y WHERE y.seq = h.seq))
            FROM held h
            JOIN pg_class s ON s.oid = h.seq
            JOIN pg_class t ON t.oid = h.relid AND NOT t.relispartition
            JOIN pg_attribute a ON a.attrelid = h.relid AND a.attnum = h.attnum
            WHERE snowflake._is_small(snowflake._base_type(a.atttypid))
              -- To name a sequence in a default takes no right on it.
              AND snowflake._is_taken_along(s.relowner, t.relowner)
            ORDER BY h.seq, 2, h.relid, h.attnum;
END
$function$;

-- Finds sequences that have used more than half of the numbers which they, or the columns that hold these, have room for,
-- and that a bigint would have. A sequence with another MAXVALUE ends where somebody has chosen.
CREATE FUNCTION snowflake._findings_of_integers()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    bearable constant numeric := 0.5;
    -- A rewrite does about 25 MB a second, indexes included: this is a lock of some seconds.
    large constant bigint := 100 * 1024 * 1024;
BEGIN
    RETURN QUERY
        SELECT CASE WHEN x.used < 1 THEN 'warning' ELSE 'error' END, format('sequence %s', x.seq),
               format('%s %% of its numbers are used: %s', trunc(100 * x.used), coalesce(x.held_by, 'its last is ' || x.last_number)),
               snowflake._typed_by_holder(snowflake._owner(x.seq),
                                          format(CASE WHEN x.size >= large
                                                      THEN 'SELECT * FROM snowflake.conversion_plan(%L, online => true, '
                                                      ELSE 'SELECT snowflake.convert_sequence_to_snowflake(%L, ' END
                                                 || 'target => ''bigint'')', x.seq))
            FROM (
                SELECT r.seq, r.held_by, r.size, r.last_number,
                       abs(snowflake._glimpse_last_value(r.seq) - r.first_number) / nullif(abs(r.last_number - r.first_number), 0) AS used
                    FROM (
                        SELECT q.seqrelid::regclass AS seq, i.held_by, i.size,
                               CASE WHEN q.seqincrement > 0 THEN greatest(q.seqmin, -i.bound - 1)
                                    ELSE least(q.seqmax, i.bound) END::numeric AS first_number,
                               CASE WHEN q.seqincrement > 0 THEN least(q.seqmax, i.bound)
                                    ELSE greatest(q.seqmin, -i.bound - 1) END::numeric AS last_number
                            FROM pg_sequence q
                            JOIN pg_class c ON c.oid = q.seqrelid
                            LEFT JOIN snowflake._integers_fed() i ON i.seq = q.seqrelid
                            WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax) AND NOT q.seqcycle
                              AND NOT pg_is_other_temp_schema(c.relnamespace)
                    ) r
                    WHERE abs(r.last_number) IN (32767, 32768, 2147483647, 2147483648)
            ) x
            WHERE x.used > bearable;
END
$function$;

-- Finds sequences that are far ahead of the clock.
CREATE FUNCTION snowflake._findings_of_clock(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    bound constant interval := '1 minute';
BEGIN
    RETURN QUERY
        SELECT 'warning', format('sequence %s', s.seq),
               format('it is %s ahead of the clock',
                      date_trunc('minute', snowflake.get_timestamp(s.last, s.layout) - clock_timestamp())),
               format('-- If no ID from ahead is in use: SELECT pg_catalog.setval(%L, %s)', s.seq, greatest(s.minimum, 1))
            FROM (SELECT k.seq, k.layout, q.seqmin AS minimum, snowflake._glimpse_last_value(k.seq) AS last
                      FROM (SELECT DISTINCT x.seq, x.layout FROM snowflake._keys_that_count(keys) x) k
                          JOIN pg_sequence q ON q.seqrelid = k.seq) s
            CROSS JOIN LATERAL snowflake.describe(s.layout) described
            WHERE s.last >= CASE WHEN clock_timestamp() + bound BETWEEN described.epoch AND described.last_timestamp
                                 THEN snowflake.from_timestamp(clock_timestamp() + bound, s.layout) END
              AND s.last <= snowflake.make_id(described.last_timestamp, (described.nodes - 1)::integer,
                                           (described.ids_per_tick - 1)::integer, s.layout)
            ORDER BY s.seq::text COLLATE "C";
END
$function$;

-- Finds integer columns that reference snowflake IDs, or have the names of such references.
CREATE FUNCTION snowflake._findings_of_references(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT 'error', snowflake._column(origin.relid, a.attname),
               format('it is %s and references snowflake IDs of table %s: no new ID fits into it',
                      format_type(a.atttypid, -1), k.confrelid::regclass),
               snowflake._typed_widening(origin.relid, a.attname, source.seq)
            FROM pg_constraint k
            CROSS JOIN LATERAL unnest(k.conkey, k.confkey) pair(here, there)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.here
            JOIN pg_type y ON y.oid = a.atttypid
            JOIN pg_attribute r ON r.attrelid = k.confrelid AND r.attnum = pair.there
            JOIN pg_class t ON t.oid = k.conrelid AND NOT pg_is_other_temp_schema(t.relnamespace)
            CROSS JOIN LATERAL (SELECT CASE WHEN snowflake._is_big(r.atttypid)
                                            THEN snowflake._source_of_ids(k.confrelid, pair.there) END) source(seq)
            CROSS JOIN LATERAL snowflake._origins_of_column(k.conrelid, a.attname) origin(relid)
            WHERE k.contype = 'f' AND k.conparentid = 0
              AND snowflake._is_small(snowflake._base_type(y.oid))
              AND source.seq IS NOT NULL;
    RETURN QUERY
        SELECT 'notice', snowflake._column(i.relid, i.attname),
               format('it is %s: no new ID fits into it, if it holds copies of %s', i.type,
                      string_agg(DISTINCT format('%s.%I', named.relid, named.attname), ', ')),
               snowflake._typed_widening(i.relid, i.attname, NULL)
            FROM (SELECT k.relid, k.attname, name
                      FROM unnest(keys) k
                      JOIN pg_class t ON t.oid = k.relid AND NOT t.relispartition
                      CROSS JOIN LATERAL unnest(snowflake._copy_names(t.relname, k.attname)) name
                      WHERE name <> 'id') named
            JOIN snowflake._integer_columns('{}') i ON i.attname = named.name AND i.wider IS NOT NULL
            WHERE NOT EXISTS (SELECT FROM unnest(keys) k WHERE k.relid = i.relid AND k.attnum = i.attnum)
            GROUP BY i.relid, i.attname, i.type;
END
$function$;

-- Finds layouts, maximum values and partitions that end soon, and tables that wait for becoming partitioned.
CREATE FUNCTION snowflake._findings_of_ends(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    next_year constant timestamptz := clock_timestamp() + interval '1 year';
    next_week constant timestamptz := clock_timestamp() + interval '7 days';
BEGIN
    RETURN QUERY
        SELECT 'warning', format('sequence %s', k.seq),
               format('the timestamps of its layout end at %s', described.last_timestamp),
               'SELECT name, last_timestamp FROM snowflake.layouts ORDER BY last_timestamp'
            FROM (SELECT DISTINCT x.seq, x.layout FROM snowflake._keys_that_count(keys) x) k, snowflake.describe(k.layout) described
            WHERE described.last_timestamp < next_year;
    RETURN QUERY
        SELECT 'warning', format('sequence %s', k.seq), format('its MAXVALUE, %s, is below the IDs of %s', q.seqmax, next_year::date),
               snowflake._typed_by_holder(
                   snowflake._owner(k.seq),
                   concat('ALTER SEQUENCE ', k.seq, CASE WHEN q.seqtypid <> 'bigint'::regtype THEN ' AS bigint' END, ' NO MAXVALUE'))
            FROM (SELECT DISTINCT x.seq, x.layout FROM snowflake._keys_that_count(keys) x) k
            JOIN pg_sequence q ON q.seqrelid = k.seq AND q.seqincrement > 0 -- or it has to be converted anyway
            CROSS JOIN LATERAL snowflake.describe(k.layout) described
            WHERE q.seqmax < snowflake.from_timestamp(least(greatest(next_year, described.epoch), described.last_timestamp), k.layout);
    RETURN QUERY
        SELECT DISTINCT CASE WHEN x.bound < snowflake.from_timestamp(next_week, k.layout) THEN 'warning' ELSE 'notice' END,
               format('table %s', k.relid),
               format('it refuses IDs of %s and later, until the rest of its plan has made it partitioned',
                      snowflake.get_timestamp(x.bound, k.layout)),
               format('-- Run what is left of its plan, with the same arguments: SELECT command FROM snowflake.partition_plan(%L, ''...'')', k.relid)
            FROM unnest(keys) k
            JOIN pg_class t ON t.oid = k.relid AND t.relpersistence <> 't' -- which nobody partitions by a plan
            CROSS JOIN LATERAL snowflake._limit(k.relid, k.attname) x
            CROSS JOIN LATERAL snowflake.describe(k.layout) described
            WHERE next_week BETWEEN described.epoch AND described.last_timestamp
              -- Anybody can make such a check on his own table, with a bound that is no ID of the layout.
              AND x.bound BETWEEN 0 AND snowflake.from_timestamp(described.last_timestamp, k.layout);
    RETURN QUERY
        SELECT 'warning', format('table %s', k.relid), format('no partition takes the IDs of %s', next_week::date),
               snowflake._typed_by_owner_of(k.relid, snowflake._default_partition(k.relid))
            FROM unnest(keys) k
            JOIN pg_partitioned_table p ON p.partrelid = k.relid AND p.partdefid = 0 AND p.partstrat IN ('l', 'r')
            CROSS JOIN LATERAL (
                SELECT CASE WHEN next_week BETWEEN described.epoch AND described.last_timestamp
                            THEN snowflake.from_timestamp(next_week, k.layout) END
                    FROM snowflake.describe(k.layout) described) coming(id) -- NULL: the layout does not have that time
            WHERE p.partattrs[0] = k.attnum AND coming.id IS NOT NULL
              -- Where an expression is part of a key, the trials would run what its owner wrote.
              AND CASE WHEN EXISTS (SELECT FROM pg_partition_ancestors(k.relid) above JOIN pg_class c ON c.oid = above.relid
                                        LEFT JOIN pg_partitioned_table key ON key.partrelid = c.oid
                                        WHERE NOT snowflake._may_become(c.relowner) OR key.partexprs IS NOT NULL)
                       THEN false
                       ELSE NOT EXISTS (
                           SELECT FROM pg_inherits i
                               WHERE i.inhparent = k.relid
                                 AND NOT snowflake._partition_refuses(i.inhrelid, k.attnum, coming.id))
                           -- A row comes to a table only through all that it is a partition of.
                           AND NOT EXISTS (
                               SELECT FROM pg_partition_ancestors(k.relid) above
                                   JOIN pg_inherits i ON i.inhrelid = above.relid
                                   JOIN pg_attribute a ON a.attrelid = i.inhparent AND a.attname = k.attname
                                   WHERE snowflake._partition_refuses(above.relid, a.attnum, coming.id)) END;
END
$function$;
