-- Turning a table of snowflake IDs into one that is partitioned by time, in place.
--
--   table.sql       the table, its ID column, and where its first partition ends
--   dependents.sql  what depends on the table
--   obstacles.sql   what a partitioned table cannot have
--   exchange.sql    the commands that put a partitioned table in the place of the table
--   back.sql        the commands of the way back
--   stages.sql      the functions that the rows of the plan call
--   plan.sql        the plan, as a caller sees it
--
-- New IDs are above all earlier ones. So the table as it is becomes the partition of all IDs below a bound in the near
-- future, and new partitions take what comes after. A check, validated beforehand, proves that no row is above the bound:
-- the server then attaches the table without reading it. The check is also all that tells how far this has come.
--
-- Locks, the rule of trust, and objects that are made again are those of conversions (src/sql/conversion/).

-- A table that becomes partitioned.
CREATE TYPE snowflake._partitioning AS (
    tab regclass, owner oid, schema name, relname name,
    attnum smallint, attname name, layout snowflake.layout, -- of the ID column
    every interval, ahead integer, with_default boolean, -- as the caller asks for
    since timestamptz, bound bigint,    -- where the first partition ends
    is_limited boolean,                 -- whether the check is valid; NULL: there is none
    former name);                       -- the name of the table once it is a partition

-- Raises an error unless this is a table of the caller.
CREATE FUNCTION snowflake._partition_check(tab regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    t record;
BEGIN
    SELECT c.relname, c.relkind, c.relowner INTO t FROM pg_class c WHERE c.oid = tab;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table with OID % does not exist', tab::oid
            USING ERRCODE = 'undefined_table';
    ELSIF t.relkind NOT IN ('r', 'p') THEN
        RAISE EXCEPTION '"%" is not a table', t.relname
            USING ERRCODE = 'wrong_object_type';
    ELSIF NOT pg_has_role(t.relowner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', t.relname
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$function$;

-- Returns the name of the check that refuses IDs from the bound on.
CREATE FUNCTION snowflake._limit_name()
    RETURNS name
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'snowflake_limit'::name;

-- Returns the bound of the check of a table that refuses IDs from there on; none: there is no such check. Only the owner can
-- have made it.
CREATE FUNCTION snowflake._limit(tab regclass, attname name, OUT bound bigint, OUT is_valid boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT x.bound, k.convalidated
            FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._upper_bound(k.oid) x
            JOIN pg_attribute a ON a.attrelid = tab AND a.attnum = x.attnum AND a.attname = _limit.attname
            WHERE k.conrelid = tab AND k.contype = 'c' AND k.conname = snowflake._limit_name();
END
$function$;

-- Finds the columns of a table whose defaults make snowflake IDs, and the layout of these.
CREATE FUNCTION snowflake._columns_of_ids(tab regclass, OUT attnum smallint, OUT attname name, OUT layout snowflake.layout)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT a.attnum, a.attname, coalesce(used.layout, snowflake.layout_of(used.sequence))
            FROM pg_attrdef f
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
            JOIN pg_sequence q ON q.seqrelid = used.sequence
            WHERE f.adrelid = tab
              AND (used.callee = 'snowflake.nextval'
                   OR used.callee = 'pg_catalog.nextval' AND snowflake._makes_ids(q.seqincrement, q.seqmax));
END
$function$;

-- Returns the column of a table that holds snowflake IDs, and their layout. A column that the caller names need have no
-- default.
CREATE FUNCTION snowflake._id_column(tab regclass, wanted name, OUT attnum smallint, OUT attname name, OUT layout snowflake.layout)
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
DECLARE
    found integer;
BEGIN
    IF wanted IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = wanted
                                                                       AND a.attnum > 0 AND NOT a.attisdropped) THEN
        RAISE EXCEPTION 'column % of table % does not exist', quote_ident(wanted), tab
            USING ERRCODE = 'undefined_column';
    END IF;
    SELECT count(*) OVER (), k.attnum, k.attname, k.layout INTO found, attnum, attname, layout
        FROM snowflake._columns_of_ids(tab) k WHERE k.attname = coalesce(wanted, k.attname) LIMIT 1;
    IF coalesce(found, 0) = 0 AND wanted IS NOT NULL THEN
        SELECT a.attnum, a.attname, 'default' INTO attnum, attname, layout
            FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = wanted;
    ELSIF coalesce(found, 0) <> 1 THEN
        RAISE EXCEPTION 'table % has % column whose default makes snowflake IDs', tab,
                        CASE WHEN found > 1 THEN 'more than one' ELSE 'no' END
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = CASE WHEN found > 1 THEN 'Name the column: snowflake.partition_plan(..., id_column => ''id'').'
                              ELSE coalesce((SELECT snowflake._convert_command(d.objid) || ';'
                                                 FROM pg_depend d JOIN pg_sequence q ON q.seqrelid = d.objid
                                                 WHERE d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
                                                   AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tab
                                                 ORDER BY d.objid LIMIT 1),
                                            'Name the column: snowflake.partition_plan(..., id_column => ''id'').') END;
    END IF;
END
$function$;

-- Returns the first beginning of a year, month, week, day or hour, as the step asks for, that is a day ahead at least: until
-- then the check has to be validated.
CREATE FUNCTION snowflake._next_beginning(every interval)
    RETURNS timestamptz
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    months constant integer := extract(year FROM every) * 12 + extract(month FROM every);
    days constant integer := extract(day FROM every);
    unit constant text := CASE WHEN months > 0 AND months % 12 = 0 THEN 'year' WHEN months > 0 THEN 'month'
                               WHEN days > 0 AND days % 7 = 0 THEN 'week' WHEN days > 0 THEN 'day' ELSE 'hour' END;
BEGIN
    RETURN date_trunc(unit, clock_timestamp() + interval '1 day') + ('1 ' || unit)::interval;
END
$function$;

-- Returns the ranges of the partitions that are made ahead, and their names.
CREATE FUNCTION snowflake._partitions_ahead(
        p snowflake._partitioning,
        OUT name name, OUT lower_bound bigint, OUT upper_bound bigint) -- NULL: the partition of everything else
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN QUERY
        SELECT snowflake._name_with(p.relname, '_' || r.suffix), r.lower_bound, r.upper_bound
            FROM snowflake.time_ranges(p.since, p.since + p.ahead * p.every, p.every, p.layout) r;
    IF p.with_default THEN
        RETURN QUERY SELECT snowflake._name_with(p.relname, '_default'), NULL::bigint, NULL::bigint;
    END IF;
END
$function$;

-- The arguments of a caller.
CREATE TYPE snowflake._partition_request AS (
    tab regclass, id_column name, every interval, since timestamptz, ahead integer, with_default boolean,
    zone text); -- whose days and months begin partitions

-- Returns a request of a caller.
CREATE FUNCTION snowflake._partition_request(
        tab regclass, id_column name DEFAULT NULL, every interval DEFAULT NULL, since timestamptz DEFAULT NULL,
        ahead integer DEFAULT NULL, with_default boolean DEFAULT NULL, zone text DEFAULT NULL)
    RETURNS snowflake._partition_request
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(tab, id_column, every, since, ahead, with_default, zone)::snowflake._partition_request;

-- Returns a table that becomes partitioned, as it is now. The check, where there is one, says where the first partition ends.
CREATE FUNCTION snowflake._partitioning(request snowflake._partition_request)
    RETURNS snowflake._partitioning
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    p snowflake._partitioning;
BEGIN
    PERFORM snowflake._partition_check(request.tab);
    IF (SELECT relkind = 'p' FROM pg_class WHERE oid = request.tab) THEN
        RAISE EXCEPTION 'table % is partitioned already', request.tab
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF request.every <= interval '0' OR request.ahead NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'the length of a partition must be positive, and the number of partitions ahead 1 to 1000'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('For example: SELECT * FROM snowflake.partition_plan(%L, ''1 month'', ahead => 12);', request.tab);
    END IF;
    SELECT c.oid, c.relowner, n.nspname, c.relname INTO p.tab, p.owner, p.schema, p.relname
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = request.tab;
    SELECT x.attnum, x.attname, x.layout INTO p.attnum, p.attname, p.layout
        FROM snowflake._id_column(request.tab, request.id_column) x;
    p.every := request.every;
    p.ahead := request.ahead;
    p.with_default := request.with_default;
    SELECT x.bound, x.is_valid INTO p.bound, p.is_limited FROM snowflake._limit(p.tab, p.attname) x;
    p.bound := coalesce(p.bound, snowflake.from_timestamp(coalesce(request.since, snowflake._next_beginning(p.every)), p.layout));
    p.since := snowflake.get_timestamp(p.bound, p.layout);
    IF snowflake.from_timestamp(request.since, p.layout) <> p.bound THEN
        RAISE EXCEPTION 'table % refuses IDs from % on by now, not from %', p.tab, p.since, request.since
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('Leave out "since", or begin anew: ALTER TABLE %s DROP CONSTRAINT %I;', p.tab, snowflake._limit_name());
    END IF;
    p.former := snowflake._name_with(
        p.relname, '_before_' || snowflake._range_suffix(p.since, snowflake._range_suffix_format(p.since, p.every)));
    RETURN p;
END
$function$;
