-- The plan, as a caller sees it: the steps, and hints at what they do not change.

CREATE FUNCTION snowflake.conversion_plan(
        seq regclass,
        increment text DEFAULT 'refuse', -- what becomes of an INCREMENT above 1: "refuse", "keep" or "drop"
        online boolean DEFAULT false, -- whether to widen columns without a long lock
        target text DEFAULT 'snowflake', -- what the columns hold afterwards: "snowflake" IDs, or the numbers of a "bigint"
        also text DEFAULT '',   -- integer columns without a foreign key that are widened along, such as '%_id, audit.key'
        waive text DEFAULT '',  -- obstacles to pass over, as their texts name them
        layout snowflake.layout DEFAULT NULL, -- of the IDs; NULL: that of the sequence or of its defaults, else the default one
        pause interval DEFAULT NULL,  -- online: between two batches
        max_lag text DEFAULT NULL,    -- online: how much WAL replicas may have left to replay, such as '64 MB'
        OUT step integer, OUT command text,
        OUT effect text,      -- what the command means, where it does not say so itself
        OUT rewrites regclass, -- the table that it rewrites, with all that inherit from it
        OUT size bigint,      -- their size in bytes, or that of the materialized view which it fills
        OUT role name)        -- with whose rights the command runs; NULL: the caller's
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    SET lock_timeout = '2s' -- another role may lock what is its own, and is named in the plan, for as long as it likes
    AS $function$
DECLARE
    part snowflake._conversion_part;
    required snowflake._conversion_part;
BEGIN
    IF num_nulls(seq, increment, online, target, also, waive) > 0 THEN
        RETURN;
    END IF;
    IF NOT online AND num_nonnulls(pause, max_lag) > 0 THEN
        RAISE EXCEPTION 'pause and max_lag are for a conversion without a long lock'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Add online => true.';
    END IF;
    part := snowflake._conversion_part(seq, snowflake._wishes(target, increment, also, waive, layout), online);
    -- The plan has the commands for subscribers. Its first command requires that they were run.
    required := part;
    required.wishes.waive := (part.wishes).waive || 'subscribers'::text;
    PERFORM snowflake._require_no_obstacles(required);
    IF online AND NOT snowflake._is_converted(part) THEN
        effect := snowflake._online_estimate(part);
        IF effect IS NOT NULL THEN
            step := 0;
            RETURN NEXT;
        END IF;
    END IF;
    RETURN QUERY
        -- Those of a conversion with a lock, which runs them, may have expressions in them, which format() has not quoted.
        SELECT s.ordinality::integer, CASE WHEN online THEN snowflake._in_ascii(s.command) ELSE s.command END, s.effect, s.rewrites,
               s.size, s.role
            FROM unnest(CASE WHEN online THEN ARRAY(SELECT x FROM snowflake._online_steps(part, pause, max_lag) x)
                         ELSE ARRAY(SELECT x FROM snowflake._conversion_steps(part) x) END
                        || ARRAY(SELECT snowflake._remark(h.hint) FROM snowflake._conversion_hints(part) h))
                 WITH ORDINALITY s;
EXCEPTION WHEN lock_not_available THEN
    PERFORM snowflake._raise_locked_out(format('cannot plan the conversion of sequence %s: a table is locked', seq));
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_plan(regclass, text, boolean, text, text, text, snowflake.layout, interval, text) IS
    'returns the commands that convert_sequence_to_snowflake would run, in order, and what each of them means';
