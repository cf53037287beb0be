-- INCREMENT and the other options of a sequence, there and back.
--
-- An INCREMENT of 2 to 4096 may be the size of blocks that clients number themselves; then it is a stride, which
-- snowflake.nextval() reserves whole. Or it keeps several servers apart, and has no meaning for IDs. The sequence
-- does not tell, so the caller does.
--
-- The last line of the sequence's comment keeps the attributes that the guard replaces: a comment survives a rename
-- and a dump, and the sequence's owner can read it.

-- Returns the greatest INCREMENT that a sequence can keep. Where the server's own nextval makes IDs, a call reserves twice as many.
CREATE FUNCTION snowflake._greatest_kept(layout snowflake.layout)
    RETURNS bigint
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN snowflake._greatest_stride(layout) / CASE WHEN snowflake.redirects_nextval() THEN 2 ELSE 1 END;

-- Returns the INCREMENT that the conversion gives a sequence: its own as a stride, or the guard.
CREATE FUNCTION snowflake._future_increment(part snowflake._conversion_part)
    RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    present constant bigint := (SELECT seqincrement FROM pg_sequence WHERE seqrelid = part.seq);
BEGIN
    RETURN CASE WHEN (part.wishes).increment = 'keep' AND present BETWEEN 2 AND snowflake._greatest_kept(part.layout)
                THEN present ELSE snowflake._guard() END;
END
$function$;

-- Lists what the caller has to say of the INCREMENT of a sequence.
CREATE FUNCTION snowflake._increment_obstacles(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    present constant bigint := (SELECT seqincrement FROM pg_sequence WHERE seqrelid = part.seq);
BEGIN
    IF present = snowflake._guard() OR (part.wishes).increment = 'drop' THEN
        RETURN;
    ELSIF present > snowflake._greatest_kept(part.layout) THEN
        RETURN NEXT format('INCREMENT BY %s is above %s, the most IDs of one call: convert with increment => ''drop'', '
                           'and let clients that number blocks call snowflake.nextvals', present, snowflake._greatest_kept(part.layout));
    ELSIF present > 1 AND (part.wishes).increment = 'refuse' THEN
        RETURN NEXT format('INCREMENT BY %s may be a size of blocks, which clients number themselves, or keep several '
                           'servers apart: convert with increment => ''keep'' for blocks, without the guard, '
                           'or else with increment => ''drop''', present);
    END IF;
END
$function$;

-- Returns options of a sequence as CREATE SEQUENCE takes them.
CREATE FUNCTION snowflake._option_clauses(
        type oid, increment bigint, minimum bigint, maximum bigint, cycles boolean)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.format('AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s %s', pg_catalog.format_type(type, NULL),
                             increment, minimum, maximum, CASE WHEN cycles THEN 'CYCLE' ELSE 'NO CYCLE' END);

-- Returns the limits of a sequence that counts as bigint. A limit of a smaller type goes with the type; any other limit was
-- chosen, and stays.
CREATE FUNCTION snowflake._bigint_limits(minimum bigint, maximum bigint, OUT lowest bigint, OUT highest bigint)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ROW(CASE WHEN minimum IN (-32768, -2147483648) THEN -9223372036854775808 ELSE minimum END,
               CASE WHEN maximum IN (32767, 2147483647) THEN 9223372036854775807 ELSE maximum END);

-- Returns the options that a sequence had before its conversion, and its comment without them.
CREATE FUNCTION snowflake._remembered(
        seq regclass,
        OUT comment text,
        OUT type oid, OUT increment bigint, OUT minimum bigint, OUT maximum bigint, OUT cycles boolean)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    line constant text := '(?:^|\n)snowflake: converted from AS (smallint|integer|bigint) INCREMENT BY (-?\d{1,19}) '
                          'MINVALUE (-?\d{1,19}) MAXVALUE (-?\d{1,19}) (NO )?CYCLE$';
    whole constant text := obj_description(seq, 'pg_class');
    found constant text[] := regexp_match(whole, line);
BEGIN
    comment := whole;
    -- A line with other numbers was written by somebody else.
    IF (SELECT bool_and(n::numeric BETWEEN -9223372036854775808 AND 9223372036854775807) FROM unnest(found[2:4]) n) THEN
        comment := nullif(regexp_replace(whole, line, ''), '');
        type := found[1]::regtype;
        increment := found[2];
        minimum := found[3];
        maximum := found[4];
        cycles := found[5] IS NULL;
    END IF;
END
$function$;

-- Returns the step that notes the options of a sequence; none if they are those of CREATE SEQUENCE.
CREATE FUNCTION snowflake._remember_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_sequence q
            CROSS JOIN LATERAL snowflake._option_clauses(q.seqtypid, q.seqincrement, q.seqmin, q.seqmax, q.seqcycle) options
            CROSS JOIN LATERAL snowflake._step(
                format('COMMENT ON SEQUENCE %s IS %L', part.seq,
                       concat_ws(E'\n', obj_description(part.seq, 'pg_class'), 'snowflake: converted from ' || options)),
                part.owner, 'notes what the way back gives again') step
            WHERE q.seqrelid = part.seq AND q.seqincrement <> snowflake._guard()
              AND (q.seqtypid <> 'bigint'::regtype OR q.seqincrement <> 1 OR q.seqcycle
                   OR q.seqmax <> 9223372036854775807
                   OR q.seqmin <> 1 AND q.seqmin <> snowflake._minimum_for(part.seq, part.layout))
              AND (snowflake._remembered(part.seq)).type IS NULL;
END
$function$;

-- Returns a remark on a sequence that is not guarded.
CREATE FUNCTION snowflake._stride_remarks(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    IF snowflake._future_increment(part) <> snowflake._guard() THEN
        RETURN NEXT snowflake._remark(
            format('sequence %s keeps INCREMENT BY %s as stride and has no guard: the server''s own nextval %s',
                   part.name, snowflake._future_increment(part),
                   CASE WHEN snowflake.redirects_nextval() THEN 'takes numbers once it is not redirected any more'
                        ELSE 'goes on taking numbers' END));
    END IF;
END
$function$;

-- Returns the steps that give a sequence the options again that it had before its conversion, but for its type: the columns
-- stay bigint. A sequence cannot have a limit below its last value, and counting down from an ID would meet other IDs.
CREATE FUNCTION snowflake._increment_steps_back(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    was record;
    is_guarded constant boolean := (SELECT seqincrement = snowflake._guard() FROM pg_sequence WHERE seqrelid = part.seq);
    is_unguarded constant boolean := (SELECT seqmax = snowflake._unguarded_maximum() FROM pg_sequence WHERE seqrelid = part.seq);
    last constant bigint := snowflake._last_value(part.seq);
    -- A sequence that keeps a layout goes on without it.
    minimum constant text := snowflake._layout_clause(part);
    remark text;
BEGIN
    SELECT * INTO was FROM snowflake._remembered(part.seq);
    IF was.type IS NULL THEN
        IF is_guarded THEN
            RETURN NEXT snowflake._step(concat_ws(' ', format('ALTER SEQUENCE %s INCREMENT BY 1', part.seq), minimum), part.owner);
        ELSIF is_unguarded THEN
            RETURN NEXT snowflake._step(concat_ws(' ', format('ALTER SEQUENCE %s NO MAXVALUE', part.seq), minimum), part.owner);
        END IF;
        RETURN;
    END IF;
    IF NOT is_guarded THEN
        was.increment := (SELECT seqincrement FROM pg_sequence WHERE seqrelid = part.seq);
    END IF;
    IF last BETWEEN was.minimum AND was.maximum OR was.increment > 0 THEN
        SELECT l.lowest, l.highest INTO was.minimum, was.maximum FROM snowflake._bigint_limits(was.minimum, was.maximum) l;
    END IF;
    IF last BETWEEN was.minimum AND was.maximum THEN
        RETURN NEXT snowflake._step(
            format('ALTER SEQUENCE %s %s', part.seq,
                   snowflake._option_clauses('bigint'::regtype, was.increment, was.minimum, was.maximum, was.cycles)),
            part.owner);
    ELSE
        remark := CASE
            WHEN was.increment < 0 THEN format('sequence %s counts up from now on', part.seq)
            WHEN was.maximum < 9223372036854775807
            THEN format('sequence %s goes on without its MAXVALUE of %s, which its last value is above', part.seq, was.maximum) END;
        IF remark IS NOT NULL THEN
            RETURN NEXT snowflake._remark(remark);
        END IF;
        RETURN NEXT snowflake._step(
            format('ALTER SEQUENCE %s INCREMENT BY %s %s', part.seq, greatest(was.increment, 1),
                   concat_ws(' ', minimum, CASE WHEN is_unguarded THEN 'NO MAXVALUE' END,
                             CASE WHEN was.cycles THEN 'CYCLE' ELSE 'NO CYCLE' END)),
            part.owner);
    END IF;
    RETURN NEXT snowflake._step(format('COMMENT ON SEQUENCE %s IS %L', part.seq, was.comment), part.owner);
END
$function$;
