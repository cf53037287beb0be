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
                       coalesce(snowflake._layout_clause(part) || format(' MAXVALUE %s', snowflake._unguarded_maximum()), ' NO MAXVALUE')),
                part.owner,
                format('makes room for IDs of up to %s digits (no layout of fewer can follow); SHARE ROW EXCLUSIVE lock on %s',
                       snowflake._digits(part.layout), part.seq)) step
            WHERE q.seqrelid = part.seq AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax);
END
$function$;

-- Returns the steps that guard a sequence above its last value; none where it keeps its INCREMENT. The last value is
-- set as one that is taken: the guard works from there, where the next step leaves bigint.
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
            format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s', part.seq, part.seq), part.owner,
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
