-- Trials of expressions with IDs: they are evaluated, as nobody, unless they call what is volatile. An error that small
-- numbers raise as well says nothing of IDs.

-- Returns IDs of a layout to try, which are not far from a number: of one tick, of two nodes and of two ticks.
CREATE FUNCTION snowflake._ids_near(number bigint, layout snowflake.layout)
    RETURNS bigint[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT ARRAY[number, number + 1, number + (1::bigint << described.counter_bits),
                         number + (1::bigint << described.counter_bits + described.node_bits)]
                FROM snowflake.describe(layout) described);

-- Returns a late ID of a layout: 98.6 % of the last. An expression that adds to an ID does not overflow by it.
CREATE FUNCTION snowflake._late_id(layout snowflake.layout)
    RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT snowflake.make_id(described.last_timestamp, 0, 0, layout) / 1000 * 986 FROM snowflake.describe(layout) described);

-- Tells whether a column of a type holds IDs as numbers, or does so once it is widened.
CREATE FUNCTION snowflake._holds_ids(type oid)
    RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN snowflake._is_small(snowflake._base_type(type)) OR snowflake._is_big(type);

-- Something to try with IDs: a default that takes them from a sequence, or what an object makes of a column.
CREATE TYPE snowflake._trial AS (
    class oid, object oid, attnum smallint,
    seq regclass); -- of a default; NULL for another object

-- Tries an expression with numbers.
CREATE FUNCTION snowflake._outcomes(
        trial snowflake._trial, numbers bigint[],
        OUT outcomes text[], -- NULL: it was not tried, or not to the end
        OUT failure text)    -- NULL: none, or one of what nobody may do or name, which says nothing of the numbers
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    outcomes := CASE WHEN trial.seq IS NULL THEN snowflake._try_stored(trial.class, trial.object, trial.attnum, numbers)
                     ELSE snowflake._try_default(trial.object, trial.seq, numbers) END;
EXCEPTION
    WHEN syntax_error_or_access_rule_violation THEN
        NULL;
    WHEN OTHERS THEN
        failure := SQLERRM;
END
$function$;

-- Returns what is wrong with an expression that gets IDs of a layout; NULL: nothing, or it cannot be tried.
CREATE FUNCTION snowflake._fault_of(
        trial snowflake._trial, layout snowflake.layout,
        near bigint, -- an ID: those that are tried are not far from it
        tells_apart boolean) -- whether different IDs must give different values
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    small constant bigint[] := '{1, 2, 3, 4}';
    ids constant bigint[] := snowflake._ids_near(near, layout);
    few constant record := snowflake._outcomes(trial, small);
    many constant record := snowflake._outcomes(trial, ids);
BEGIN
    IF tells_apart
       AND (SELECT count(DISTINCT x) FROM unnest(few.outcomes) x) = cardinality(small)
       AND (SELECT count(DISTINCT x) < count(x) FROM unnest(many.outcomes) x) -- nulls are distinct
       -- An expression that gives another value each time says nothing.
       AND many = snowflake._outcomes(trial, ids) THEN
        RETURN 'different IDs give the same value';
    END IF;
    RETURN nullif(many.failure, few.failure);
END
$function$;

-- Returns what the server computes from columns of a table, and may compute from this one: in the table itself, not in what it is
-- a partition of or inherits from.
CREATE FUNCTION snowflake._computed_from(
        tab regclass, attnum smallint,
        OUT class oid, OUT object oid, OUT name text,
        OUT is_unique boolean) -- whether equal values are an error
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'pg_attrdef'::regclass::oid, f.oid, format('generated column %I of table %s', a.attname, tab),
               EXISTS (SELECT FROM pg_index i WHERE i.indrelid = tab AND i.indisunique AND i.indkey::text = a.attnum::text AND i.indpred IS NULL)
            FROM pg_attrdef f
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum AND a.attgenerated <> '' AND a.attinhcount = 0
            WHERE f.adrelid = tab
              AND EXISTS (SELECT FROM pg_depend d
                              WHERE d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = tab AND d.refobjsubid = _computed_from.attnum);
    RETURN QUERY
        SELECT 'pg_class'::regclass::oid, i.indexrelid, format('index %s', i.indexrelid::regclass),
               i.indisunique AND i.indkey::text = '0' AND i.indpred IS NULL
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid AND NOT c.relispartition
            WHERE i.indrelid = tab AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
              AND EXISTS (SELECT FROM pg_depend d
                              WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = tab AND d.refobjsubid = _computed_from.attnum);
    RETURN QUERY
        SELECT 'pg_statistic_ext'::regclass::oid, s.oid, format('statistics object %I.%I', n.nspname, s.stxname), false
            FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
            WHERE s.stxrelid = tab AND s.stxexprs IS NOT NULL
              AND EXISTS (SELECT FROM pg_depend d
                              WHERE d.classid = 'pg_statistic_ext'::regclass AND d.objid = s.oid AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = tab AND d.refobjsubid = _computed_from.attnum);
END
$function$;

-- Returns what is wrong with a check of a column, or of its domain, that holds IDs of a layout, or is filled with them;
-- NULL: nothing, or it cannot be tried. A check that some ID of the present or of later satisfies may be meant. So may a
-- check that not all small numbers satisfy either, where the column is not filled by the sequence: it chooses among the rows.
CREATE FUNCTION snowflake._conversion_check_fault(constraint_oid oid, attnum smallint, is_filled boolean, layout snowflake.layout)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    trial constant snowflake._trial := ROW('pg_constraint'::regclass, constraint_oid, attnum, NULL);
    few constant record := snowflake._outcomes(trial, '{1, 2, 3, 4, 5, 6, 7, 8}');
    many constant record := snowflake._outcomes(
        trial, snowflake._ids_near(snowflake.from_timestamp(clock_timestamp(), layout), layout)
               || snowflake._ids_near(snowflake._late_id(layout), layout));
BEGIN
    IF 'f' = ALL (many.outcomes) AND (is_filled OR 't' = ALL (few.outcomes)) THEN
        RETURN 'no ID satisfies it';
    END IF;
    RETURN nullif(many.failure, few.failure);
END
$function$;

-- Tells whether a partition refuses a number in a column of the whole; false if it cannot be tried.
CREATE FUNCTION snowflake._partition_refuses(partition regclass, attnum smallint, number bigint)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN coalesce((snowflake._try_partition(partition, attnum, ARRAY[number]))[1] = 'f', false);
EXCEPTION WHEN OTHERS THEN
    RETURN false;
END
$function$;

-- Lists the partitioned tables that have no partition for IDs, with the command that adds one. Partitions by hash,
-- and a default partition, take every ID.
CREATE FUNCTION snowflake._partition_obstacles(columns snowflake._conversion_column[], layout snowflake.layout)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    present constant bigint := CASE WHEN snowflake._is_usable_now(layout) THEN snowflake.from_timestamp(clock_timestamp(), layout) END;
BEGIN
    IF present IS NULL OR NOT EXISTS (SELECT FROM unnest(columns) c WHERE c.draws) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT format('no partition of table %s takes an ID of the present in column %I: %s',
                      c.relid, c.attname, snowflake._typed_by(snowflake._owner(c.relid), snowflake._default_partition(c.relid)))
            FROM unnest(columns) c
            JOIN pg_partitioned_table p ON p.partrelid = c.relid
            WHERE NOT c.is_strangers AND NOT c.widened AND p.partdefid = 0
              -- A partition for each key that is referenced is made with that.
              AND (p.partstrat = 'r' OR p.partstrat = 'l' AND c.draws)
              AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.relid)
              AND NOT EXISTS (SELECT FROM pg_inherits
                                  WHERE inhparent = c.relid
                                    AND NOT snowflake._partition_refuses(inhrelid, c.attnum, present))
              -- A row with an ID comes to a table only through all that it is a partition of.
              AND NOT EXISTS (SELECT FROM pg_partition_ancestors(c.relid) above
                                  JOIN pg_inherits i ON i.inhrelid = above.relid
                                  JOIN pg_attribute a ON a.attrelid = i.inhparent AND a.attname = c.attname
                                  WHERE snowflake._partition_refuses(above.relid, a.attnum, present));
END
$function$;
