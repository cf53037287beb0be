-- The guard: an INCREMENT with which the server's own nextval() always fails, see _guard().

CREATE FUNCTION snowflake._guard_step(seq regclass)
    RETURNS snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    step snowflake._conversion_step;
BEGIN
    step.command := format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', seq,
                           snowflake._guard());
    step.effect := format('guards the sequence; SHARE ROW EXCLUSIVE lock on %s', seq);
    RETURN step;
END
$function$;
COMMENT ON FUNCTION snowflake._guard_step(regclass) IS
    'returns the step that guards a sequence';

-- The last value is set as one that is taken: the guard works from there, where the next step leaves bigint.
CREATE FUNCTION snowflake._guard_steps(seq regclass)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    step snowflake._conversion_step := snowflake._guard_step(seq);
BEGIN
    RETURN NEXT step;
    step.command := format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s', seq, seq);
    step.effect := 'steps past the last value';
    RETURN NEXT step;
END
$function$;
COMMENT ON FUNCTION snowflake._guard_steps(regclass) IS
    'returns the steps that guard a sequence above its last value';
