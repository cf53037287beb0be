-- Whether expressions bear IDs: found out by evaluating them, where that runs nobody's code and
-- changes nothing.

CREATE FUNCTION snowflake.conversion_is_harmless(
        class regclass, object oid, tree pg_node_tree,
        besides regprocedure) -- a function that the expression may call, as it is not evaluated
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    -- What users can make is recorded as a dependency, what came with the server is not. Of the latter
    -- some run what users have made, such as table_to_xml the functions of a view.
    SELECT NOT EXISTS (SELECT FROM pg_depend d
                           WHERE d.classid = class AND d.objid = object AND d.deptype = 'n'
                             AND d.refclassid NOT IN ('pg_class'::regclass, 'pg_collation'::regclass))
       AND NOT EXISTS (SELECT FROM regexp_matches(tree::text, ':(?:op)?funcid (\d+)', 'g') call(parts)
                           JOIN pg_proc p ON p.oid = call.parts[1]::oid
                           WHERE p.provolatile <> 'i' AND p.oid <> besides
                             AND p.proname NOT IN (
                                 'anytextcat', 'clock_timestamp', 'concat', 'concat_ws', 'date', 'date_part',
                                 'date_trunc', 'extract', 'format', 'gen_random_uuid', 'now', 'random',
                                 'statement_timestamp', 'text', 'textanycat', 'timeofday', 'timezone',
                                 'to_char', 'transaction_timestamp'))
$function$;
COMMENT ON FUNCTION snowflake.conversion_is_harmless(regclass, oid, pg_node_tree, regprocedure) IS
    'whether an expression can be evaluated without a side effect';

-- All errors but those of the values are left to who uses the expression: they are not for the IDs.
CREATE FUNCTION snowflake.conversion_evaluate(
        expression text,
        argument name,     -- what stands for the number in it
        numbers bigint[],
        OUT results text[], OUT error text)
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    EXECUTE format('SELECT array_agg((%s)::text) FROM unnest($1) number(%I)', expression, argument)
        INTO results USING numbers;
EXCEPTION
    WHEN data_exception THEN
        error := SQLERRM;
    WHEN syntax_error_or_access_rule_violation OR program_limit_exceeded THEN
        results := '{}';
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_evaluate(text, name, bigint[]) IS
    'what an expression makes of each of some numbers, or why it cannot';

-- IDs of one tick, of two nodes and of two ticks, towards the end of the time that they can express: a
-- default has to bear all that its column will ever get.
CREATE FUNCTION snowflake.conversion_default_fault(expression text, type oid, typmod integer)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    small constant bigint[] := '{1, 2, 3, 4}';
    ids constant bigint[] :=
        '{9100000000000000000, 9100000000000000001, 9100000000000004096, 9100000000004194304}';
    -- A cast cuts off what an assignment refuses.
    is_text constant boolean := type IN ('varchar'::regtype, 'bpchar'::regtype);
    value constant text := format('(%s)::%s', expression,
                                  format_type(type, CASE WHEN is_text THEN -1 ELSE typmod END));
    few record;
    many record;
BEGIN
    many := snowflake.conversion_evaluate(value, 'number', ids);
    IF many.error IS NOT NULL THEN
        RETURN many.error;
    ELSIF is_text AND typmod >= 4
          AND EXISTS (SELECT FROM unnest(many.results) x WHERE length(x) > typmod - 4) THEN
        RETURN format('value too long for type %s', format_type(type, typmod));
    END IF;
    few := snowflake.conversion_evaluate(value, 'number', small);
    IF (SELECT count(DISTINCT x) FROM unnest(few.results) x) = cardinality(small)
       AND (SELECT count(DISTINCT x) FROM unnest(many.results) x) < cardinality(many.results)
       -- What comes out by chance says nothing.
       AND many = snowflake.conversion_evaluate(value, 'number', ids) THEN
        RETURN 'different IDs give the same value';
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_default_fault(text, oid, integer) IS
    'what is wrong with a default in which "number" is an ID, for a column of this type; NULL: nothing';

-- A check that any ID of the present or of later satisfies may be meant. So may one that not all small
-- numbers satisfy either, where they are not the sequence's own: it chooses among the rows there are.
CREATE FUNCTION snowflake.conversion_check_fault(expression text, attname name, is_filled boolean)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    small constant bigint[] := '{1, 2, 3, 4, 5, 6, 7, 8}';
    ids constant bigint[] :=
        '{500000000000000000, 500000000000000001, 500000000000000002, 500000000000004096,
          500000000004194304, 9100000000000000000, 9100000000000000001, 9100000000000000002,
          9100000000000004096, 9100000000004194304}';
    outcome record;
BEGIN
    outcome := snowflake.conversion_evaluate(expression, attname, ids);
    IF outcome.error IS NOT NULL THEN
        RETURN outcome.error;
    ELSIF outcome.results <> '{}' AND 'false' = ALL (outcome.results)
          AND (is_filled
               OR 'true' = ALL ((snowflake.conversion_evaluate(expression, attname, small)).results)) THEN
        RETURN 'no ID satisfies it';
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_check_fault(text, name, boolean) IS
    'what is wrong with a check of a column that holds IDs, or is filled with them; NULL: nothing';
