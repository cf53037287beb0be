-- The state of a conversion in either direction. It is read as of now, whatever the isolation level of the
-- transaction is: the snapshot of a SERIALIZABLE transaction shows catalogs that have changed since.

-- The arguments of a caller.
CREATE TYPE snowflake._conversion_request AS (
    seq regclass, is_back boolean,
    wishes snowflake._conversion_wishes,
    stage text,  -- of a conversion without a long lock, see online/stages.sql; NULL: all at once
    tab regclass, twin name, -- the table, and the foreign key, that the stage is about
    partitioning snowflake._partition_request); -- NULL but for the stages of partitions/stages.sql

-- Returns a request of a caller.
CREATE FUNCTION snowflake._request(
        seq regclass, wishes snowflake._conversion_wishes DEFAULT snowflake._least_wishes(), stage text DEFAULT NULL,
        is_back boolean DEFAULT false, tab regclass DEFAULT NULL, twin name DEFAULT NULL,
        partitioning snowflake._partition_request DEFAULT NULL)
    RETURNS snowflake._conversion_request
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(seq, is_back, wishes, stage, tab, twin, partitioning)::snowflake._conversion_request;

-- The state of a conversion.
CREATE TYPE snowflake._conversion_state AS (
    part snowflake._conversion_part,
    wanted oid[],              -- the relations to be locked
    dependents numeric,        -- see _count_dependents()
    constraints oid[],         -- which the server makes again, or may make again
    plan snowflake._conversion_step[],
    emptied oid[],             -- tables that are empty for a rehearsal; none: there is no need for one
    run_path text,             -- the search_path for the functions that the commands call
    patience interval,         -- with which the commands wait for each lock that they take besides
    altered integer,           -- how many columns the plan alters
    always boolean,            -- whether an identity among them is GENERATED ALWAYS
    meant snowflake._meant_default[],
    expected jsonb);           -- for _require_references()

-- Returns the relations of the caller that the commands of a conversion name. Where columns are widened, the server
-- makes the foreign keys between the tables again. Tables of owners for whom the caller cannot act are not the
-- caller's to lock; the server locks them.
CREATE FUNCTION snowflake._wanted_locks(part snowflake._conversion_part)
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT wanted.relid
            FROM (SELECT c.relid FROM unnest(part.columns) c
                      WHERE c.draws OR c.new_default IS NOT NULL OR EXISTS (SELECT FROM unnest(part.columns) WHERE widened)
                  UNION
                  SELECT snowflake._table_partners(c.relid, c.attnum) FROM unnest(part.columns) c WHERE c.widened
                  UNION
                  SELECT d.relid FROM unnest(part.dependents) d WHERE d.relid IS NOT NULL
                  UNION
                  SELECT part.seq) wanted
            JOIN pg_class c ON c.oid = wanted.relid
            WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
              AND snowflake._may_become(c.relowner) AND NOT pg_is_other_temp_schema(c.relnamespace)
            ORDER BY c.relkind = 'S', c.oid);
END
$function$;

-- Tells whether a table of so many bytes takes a noticeable time to rewrite.
CREATE FUNCTION snowflake._is_large(size bigint)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(size >= 1024 * 1024, false);

-- Returns the tables that a rehearsal empties: rewritten tables, and those linked to them by foreign keys, whose rows
-- would violate them. Returns none if one of them is not the caller's to empty, or has an author for whose code its owner would have
-- to answer: its indexes are built anew. The conversion has locked all of them, so a rehearsal never waits. A partition has foreign
-- keys of its own.
CREATE FUNCTION snowflake._tables_to_empty(columns snowflake._conversion_column[])
    RETURNS oid[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    tables constant oid[] := ARRAY(
        SELECT DISTINCT c.oid
            FROM unnest(columns) x
            CROSS JOIN LATERAL (SELECT x.relid UNION SELECT snowflake._table_partners(x.relid, x.attnum)) linked(relid)
            JOIN pg_class c ON c.oid = linked.relid AND c.relkind = 'r'
            WHERE x.widened
            ORDER BY c.oid);
BEGIN
    IF EXISTS (SELECT FROM pg_class c
                   WHERE c.oid = ANY (tables)
                     AND (NOT snowflake._may_become(c.relowner)
                          OR EXISTS (SELECT FROM snowflake._obstacles_of_definitions(c.relowner, c.oid)))) THEN
        RETURN '{}';
    END IF;
    RETURN tables;
END
$function$;

-- Returns what objects refer to before a conversion in either direction, for _require_references().
CREATE FUNCTION snowflake._expected(part snowflake._conversion_part)
    RETURNS jsonb
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN snowflake._references_by_name(ARRAY(SELECT c.relid::oid FROM unnest(part.columns) c))
           || jsonb_build_object('sequence', snowflake._source_of('pg_class'::regclass, part.seq));
END
$function$;

-- Returns what a conversion works with, but for its plan.
CREATE FUNCTION snowflake._state_of_tables(part snowflake._conversion_part)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    columns constant snowflake._conversion_column[] := part.columns;
    state snowflake._conversion_state;
BEGIN
    state.part := part;
    state.wanted := snowflake._wanted_locks(part);
    PERFORM snowflake._lock_what_is_read(snowflake._filled_again(part.dependents));
    -- Foreign keys depend on the table that they reference, too.
    state.constraints := ARRAY(SELECT DISTINCT d.objid FROM pg_depend d
                                   WHERE d.classid = 'pg_constraint'::regclass AND d.refclassid = 'pg_class'::regclass
                                     AND d.refobjid IN (SELECT c.relid FROM unnest(columns) c WHERE c.widened));
    SELECT count(*) FILTER (WHERE c.new_default IS NOT NULL AND NOT c.is_strangers OR c.widened),
           coalesce(bool_or(c.is_identity AND a.attidentity = 'a'), false) AND snowflake._makes_snowflakes(part.wishes)
        INTO state.altered, state.always
        FROM unnest(columns) c
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum;
    state.meant := ARRAY(SELECT m FROM snowflake._meant_defaults(
        part.seq, columns, CASE WHEN snowflake._makes_snowflakes(part.wishes) THEN NOT snowflake.redirects_nextval() END) m);
    state.expected := snowflake._expected(part);
    state.emptied := '{}';
    RETURN state;
END
$function$;

-- Returns what the conversion of a sequence works with; raises an error that names all obstacles.
CREATE FUNCTION snowflake._state_of_conversion(part snowflake._conversion_part, is_rehearsal boolean)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    state snowflake._conversion_state;
BEGIN
    PERFORM snowflake._require_no_obstacles(part);
    state := snowflake._state_of_tables(part);
    -- The plan is made as a whole, before its first command changes what it is made from. A rehearsal fills no materialized view.
    state.plan := ARRAY(SELECT s FROM snowflake._conversion_steps(part) s
                            WHERE NOT is_rehearsal OR s.command IS NULL OR s.command NOT LIKE 'REFRESH MATERIALIZED VIEW %');
    IF is_rehearsal
       OR snowflake._is_large((SELECT sum(s.size) FROM unnest(state.plan) s WHERE s.rewrites IS NOT NULL)::bigint) THEN
        state.emptied := snowflake._tables_to_empty(part.columns);
    END IF;
    RETURN state;
END
$function$;

-- Returns what the way back works with; raises an error that names all obstacles.
CREATE FUNCTION snowflake._state_of_way_back(seq regclass)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    part constant snowflake._conversion_part := snowflake._part_back(seq);
    state snowflake._conversion_state;
BEGIN
    PERFORM snowflake._require_way_back(part);
    state.part := part;
    state.wanted := snowflake._wanted_locks(part);
    state.plan := ARRAY(SELECT s FROM snowflake._steps_back(part) s);
    state.altered := cardinality(part.columns);
    state.always := false;
    state.emptied := '{}';
    state.meant := ARRAY(SELECT m FROM snowflake._meant_defaults(seq, part.columns, false) m);
    state.expected := snowflake._expected(part);
    RETURN state;
END
$function$;

-- Returns what a conversion in either direction works with; raises an error that names all obstacles. Few objects depend
-- on a sequence, and catalogs can be large: the server looks each object up by an index.
CREATE FUNCTION snowflake._conversion_state(request snowflake._conversion_request)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    AS $function$
DECLARE
    part snowflake._conversion_part;
BEGIN
    IF request.stage IN ('limit', 'exchange', 'merge') THEN
        RETURN snowflake._state_of_partitioning(request.partitioning, request.stage);
    END IF;
    IF request.is_back THEN
        RETURN snowflake._state_of_way_back(request.seq);
    END IF;
    part := CASE request.stage
                WHEN 'cancel' THEN snowflake._part_to_cancel(request.seq)
                ELSE snowflake._conversion_part(request.seq, request.wishes, request.stage IS NOT NULL) END;
    IF coalesce(request.stage, 'rehearsal') = 'rehearsal' THEN
        RETURN snowflake._state_of_conversion(part, is_rehearsal => request.stage IS NOT NULL);
    END IF;
    RETURN snowflake._state_of_stage(part, request);
END
$function$;

-- Raises an error if what the commands of a conversion have made is not what was meant; returns the argument.
CREATE FUNCTION snowflake._require_outcome(state snowflake._conversion_state)
    RETURNS snowflake._conversion_state
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    AS $function$
BEGIN
    PERFORM snowflake._require_references(state.expected);
    PERFORM snowflake._require_defaults(state.meant);
    RETURN state;
END
$function$;

-- Raises an error if the snapshot of the transaction is too old for a conversion. The server prints a constraint that it makes
-- again as that shows it, and fails with an internal error where it does not; and it fills materialized views with the rows that
-- it shows, which others may have filled with newer ones.
CREATE FUNCTION snowflake._require_visible(state snowflake._conversion_state)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    -- In READ COMMITTED each command sees what was committed before it: what is missing was dropped by now.
    IF current_setting('transaction_isolation') NOT IN ('repeatable read', 'serializable') THEN
        RETURN;
    ELSIF EXISTS (SELECT FROM unnest(state.constraints) k(oid)
                      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE pg_constraint.oid = k.oid)) THEN
        RAISE EXCEPTION 'could not serialize access due to a constraint added by another transaction'
            USING ERRCODE = 'serialization_failure',
                  HINT = 'The transaction might succeed if retried.';
    ELSIF EXISTS (SELECT FROM unnest(state.plan) s WHERE s.command LIKE 'REFRESH MATERIALIZED VIEW %') THEN
        RAISE EXCEPTION 'cannot fill materialized views in a transaction that is %', upper(current_setting('transaction_isolation'))
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'The transaction does not see the rows that others have added since it began.',
                  HINT = 'BEGIN ISOLATION LEVEL READ COMMITTED;';
    END IF;
END
$function$;
