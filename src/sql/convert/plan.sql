-- The plan: all commands of the conversion, in order.

-- Converted already, and nothing has come to use the sequence since. An increment above 1 is then a stride
-- that somebody has chosen.
CREATE FUNCTION snowflake._is_converted(seq regclass, columns snowflake._conversion_column[])
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    increment constant bigint := (SELECT seqincrement FROM pg_sequence WHERE seqrelid = seq);
BEGIN
    RETURN (SELECT (increment = snowflake._guard()
                    OR increment > 1
                       AND coalesce(bool_or(c.old_default IS NOT NULL AND c.new_default IS NULL), false))
                   AND NOT coalesce(bool_or(c.new_default IS NOT NULL OR c.widened), false)
                FROM unnest(columns) c);
END
$function$;
COMMENT ON FUNCTION snowflake._is_converted(regclass, snowflake._conversion_column[]) IS
    'tells whether there is nothing left to convert';

CREATE FUNCTION snowflake.conversion_plan(
        seq regclass,
        OUT step integer, OUT command text,
        OUT effect text,      -- what the command means, where it does not say so itself
        OUT rewrites regclass, -- the table that it rewrites, with all that inherit from it
        OUT size bigint,      -- their size in bytes
        OUT role name)        -- with whose rights the command runs; NULL: the caller's
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
DECLARE
    columns snowflake._conversion_column[];
    dependents snowflake._conversion_dependent[];
    obstacles text[];
BEGIN
    PERFORM snowflake._conversion_check(seq);
    columns := ARRAY(SELECT c FROM snowflake._conversion_columns(seq) c);
    dependents := ARRAY(SELECT d FROM snowflake._conversion_dependents(columns) d);
    obstacles := ARRAY(SELECT x FROM snowflake._conversion_obstacles(seq, columns, dependents) x
                           ORDER BY x COLLATE "C");
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;
    IF snowflake._is_converted(seq, columns) THEN
        RETURN;
    END IF;

    RETURN QUERY
        SELECT x.n::integer, x.command, x.effect, x.rewrites, x.size, x.role
            FROM unnest(ARRAY(SELECT s FROM snowflake._kinds_drops(dependents) s)
                        || ARRAY(SELECT s FROM snowflake._identity_steps(seq, columns, dependents) s)
                        || ARRAY(SELECT s FROM snowflake._conversion_widenings(columns, dependents) s)
                        || ARRAY(SELECT s FROM snowflake._table_defaults(columns) s)
                        || ARRAY(SELECT s FROM snowflake._guard_steps(seq) s
                                     WHERE NOT EXISTS (SELECT FROM unnest(columns) c WHERE c.is_identity))
                        || ARRAY(SELECT s FROM snowflake._kinds_steps(dependents) s)
                        || ARRAY(SELECT s FROM snowflake._view_refreshes(dependents) s)
                        || ARRAY(SELECT s FROM snowflake._view_defaults(columns) s)
                        || ARRAY(SELECT s FROM snowflake._conversion_strangers(seq, columns) s))
                     WITH ORDINALITY x(command, effect, rewrites, size, role, n);
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_plan(regclass) IS
    'returns the commands that convert_sequence_to_snowflake would run, in order, and what each of them means';
