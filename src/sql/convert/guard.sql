-- The guard: an INCREMENT with which the server's own nextval() always fails, see _guard(). A sequence that keeps
-- its INCREMENT as a stride has none.

CREATE FUNCTION snowflake._guard_step(part snowflake._conversion_part)
    RETURNS snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    increment constant bigint := snowflake._future_increment(part);
    step snowflake._conversion_step;
BEGIN
    step.command := format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', part.seq, increment);
    step.effect := format('%s; SHARE ROW EXCLUSIVE lock on %s',
                          CASE WHEN increment = snowflake._guard() THEN 'guards the sequence'
                               ELSE 'no guard: the server''s own nextval goes on taking numbers' END, part.seq);
    RETURN step;
END
$function$;
COMMENT ON FUNCTION snowflake._guard_step(snowflake._conversion_part) IS
    'returns the step that guards a sequence, or gives it a stride';

-- The last value is set as one that is taken: the guard works from there, where the next step leaves bigint.
CREATE FUNCTION snowflake._guard_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    step snowflake._conversion_step;
BEGIN
    RETURN NEXT snowflake._guard_step(part);
    IF snowflake._future_increment(part) = snowflake._guard() THEN
        step.command := format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s', part.seq, part.seq);
        step.effect := 'steps past the last value';
        RETURN NEXT step;
    END IF;
    RETURN QUERY SELECT * FROM snowflake._remember_steps(part);
END
$function$;
COMMENT ON FUNCTION snowflake._guard_steps(snowflake._conversion_part) IS
    'returns the steps that guard a sequence above its last value, or give it a stride';
