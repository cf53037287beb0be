-- The guard: an INCREMENT with which the server's own nextval() always fails, see _guard(). A sequence that keeps
-- its INCREMENT as a stride has none, but a MAXVALUE of its own, see _unguarded_maximum().
--
-- An event trigger may fill a column from the very sequence after each command. So a sequence has room for IDs
-- before a default makes them, and is guarded when no default calls the server's nextval() any more. The IDs go to
-- a new file of the sequence, which ALTER SEQUENCE makes: a rollback takes them back, and leaves no number behind
-- that is too large for the columns as they were.

-- Returns the step that takes the limits of a sequence away, and gives it the layout; none if it is guarded already. The
-- layout counts from this step on, see src/sequence/sequence_kind.hpp.
CREATE FUNCTION snowflake._room_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_sequence q
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER SEQUENCE %s AS bigint%s NO CYCLE', part.seq,
                       coalesce(snowflake._layout_clause(part) || format(' MAXVALUE %s', snowflake._unguarded_maximum()),
                                CASE WHEN q.seqincrement > 0 THEN ' NO MAXVALUE' ELSE ' MAXVALUE 9223372036854775807' END)),
                part.owner,
                format('makes room for IDs of up to %s digits (no layout of fewer can follow); SHARE ROW EXCLUSIVE lock on %s',
                       snowflake._digits(part.layout), part.seq)) step
            WHERE q.seqrelid = part.seq AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax);
END
$function$;

-- Marks the last value of another sequence of the caller, or of the same one, as taken from a sequence; 1 where it is below: a
-- guard works from there, where the next step leaves bigint. setval() would leave a currval behind that nobody ever drew.
CREATE FUNCTION snowflake._take_last_value(seq regclass, other regclass)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_take_last_value'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Has a sequence of the caller go on where another one is, with its last value, taken or not.
CREATE FUNCTION snowflake._take_state(seq regclass, other regclass)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_take_state'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Returns the steps that guard a sequence above its last value; none where it keeps its INCREMENT.
CREATE FUNCTION snowflake._guard_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    IF snowflake._future_increment(part) = snowflake._guard() THEN
        RETURN NEXT snowflake._step(
            format('ALTER SEQUENCE %s INCREMENT BY %s NO MAXVALUE', part.seq, snowflake._guard()), part.owner,
            format('guards the sequence; SHARE ROW EXCLUSIVE lock on %s', part.seq));
        RETURN NEXT snowflake._step(
            format('SELECT snowflake._take_last_value(%L, %L)', part.seq, part.seq), NULL,
            'steps past the last value');
    ELSE
        RETURN NEXT snowflake._step(
            format('ALTER SEQUENCE %s MAXVALUE %s', part.seq, snowflake._unguarded_maximum()), part.owner,
            format('marks the sequence as converted; SHARE ROW EXCLUSIVE lock on %s', part.seq));
    END IF;
    RETURN QUERY SELECT * FROM snowflake._remember_steps(part);
    RETURN QUERY SELECT * FROM snowflake._stride_remarks(part);
END
$function$;
