-- The plan, as a caller sees it: what is left to do until a table is partitioned, as commands that are transactions of their own.

-- Returns the steps that validate foreign keys to a table.
CREATE FUNCTION snowflake._reference_validations(tab regclass, only_invalid boolean)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._keys_to_table(tab) k
            CROSS JOIN LATERAL snowflake._validation_step(k.conrelid, k.conname) step
            WHERE k.convalidated <> only_invalid AND snowflake._is_enforced(k);
END
$function$;

-- Returns what is left to do until a table is partitioned.
CREATE FUNCTION snowflake._partition_steps(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    arguments constant text := format('%L, %L, %L, %L, %s, %L, %L', p.tab, p.attname, p.every, p.since, p.ahead, p.with_default,
                                            current_setting('TimeZone'));
    size constant bigint := snowflake._table_size(p.tab);
BEGIN
    RETURN NEXT snowflake._remark(format('table %s becomes partition %I.%I, of the IDs before %s', p.tab, p.schema, p.former, p.since));
    IF p.is_limited IS NULL THEN
        RETURN NEXT snowflake._step(format('SELECT snowflake._limit_ids(%s)', arguments), NULL,
                                    'adds a check that refuses IDs of a later time; ACCESS EXCLUSIVE lock, briefly');
    END IF;
    RETURN NEXT snowflake._remark(format('from %s on table %s refuses new IDs until it is partitioned: run all commands before, or '
                                         'ALTER TABLE %2$s DROP CONSTRAINT %3$I', p.since, p.tab, snowflake._limit_name()));
    IF p.is_limited IS NOT TRUE THEN
        RETURN NEXT snowflake._step(format('SELECT snowflake._validate(%L, %L)', p.tab, snowflake._limit_name()), p.owner,
                                    format('reads table %s (%s); SHARE UPDATE EXCLUSIVE lock', p.tab, pg_size_pretty(size)), size => size);
    END IF;
    RETURN NEXT snowflake._step(
        format('SELECT snowflake._partition_table(%s)', arguments), NULL,
        format('makes table %s partitioned, with %s partitions ahead; ACCESS EXCLUSIVE locks, briefly', p.tab, p.ahead));
    RETURN QUERY
        SELECT step.*
            FROM pg_trigger t
            CROSS JOIN LATERAL snowflake._remark(
                format('trigger %I fires when the partition of a row has been chosen by column %I: it must not fill or change that',
                       t.tgname, p.attname)) step
            WHERE t.tgrelid = p.tab AND NOT t.tgisinternal AND (t.tgtype & 7) = 7; -- for each row, before, insert
    RETURN QUERY SELECT * FROM snowflake._reference_validations(p.tab, only_invalid => false);
END
$function$;

CREATE FUNCTION snowflake.partition_plan(
        tab regclass,
        every interval DEFAULT NULL,      -- the length of a partition
        ahead integer DEFAULT 12,         -- how many to make
        since timestamptz DEFAULT NULL,   -- where the first of them begins; NULL: the beginning that is a day ahead
        with_default boolean DEFAULT false, -- whether to make a partition of everything else
        id_column name DEFAULT NULL,      -- NULL: the one whose default makes snowflake IDs
        back boolean DEFAULT false,       -- whether to make the table an ordinary one again
        OUT step integer, OUT command text,
        OUT effect text,                  -- what the command means
        OUT size bigint,                  -- of the table that it reads, in bytes
        OUT role name)                    -- with whose rights the command runs; NULL: the caller's
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    SET lock_timeout = '2s' -- as in conversion_plan()
    AS $function$
DECLARE
    p snowflake._partitioning;
    steps snowflake._conversion_step[];
BEGIN
    IF num_nulls(tab, ahead, with_default, back) > 0 OR every IS NULL AND NOT back THEN
        RETURN;
    END IF;
    PERFORM snowflake._partition_check(tab);
    IF back AND (SELECT relkind = 'p' FROM pg_class WHERE oid = tab) THEN
        p := snowflake._partitioned(tab);
        PERFORM snowflake._require_mergeable(p, ARRAY(SELECT d FROM snowflake._partition_dependents(tab) d));
        steps := ARRAY(SELECT s FROM snowflake._steps_to_ordinary(p) s);
    ELSIF back OR (SELECT relkind = 'p' FROM pg_class WHERE oid = tab) THEN
        steps := ARRAY(SELECT s FROM snowflake._reference_validations(tab, only_invalid => true) s);
    ELSE
        p := snowflake._partitioning(
            snowflake._partition_request(tab, id_column => id_column, every => every, since => since, ahead => ahead,
                                         with_default => with_default));
        PERFORM snowflake._require_partitionable(p, ARRAY(SELECT d FROM snowflake._partition_dependents(tab) d));
        steps := ARRAY(SELECT s FROM snowflake._partition_steps(p) s);
    END IF;
    RETURN QUERY
        SELECT s.ordinality::integer, snowflake._in_ascii(s.command), s.effect, s.size, s.role FROM unnest(steps) WITH ORDINALITY s;
EXCEPTION WHEN lock_not_available THEN
    PERFORM snowflake._raise_locked_out(format('cannot plan the partitions of table %s: a table is locked', tab));
END
$function$;
COMMENT ON FUNCTION snowflake.partition_plan(regclass, interval, integer, timestamptz, boolean, name, boolean) IS
    'returns the commands that make a table partitioned by time, with the table as it is as the first partition';
