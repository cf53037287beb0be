-- Whether expressions bear IDs: found out by evaluating them, where that runs nobody's code and
-- changes nothing.

-- IDs of one tick, of two nodes and of two ticks, towards the end of the time that they can express: a
-- default has to bear all that its column will ever get.
CREATE FUNCTION snowflake.conversion_default_fault(attrdef oid, seq regclass, type oid, typmod integer)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    small constant bigint[] := '{1, 2, 3, 4}';
    ids constant bigint[] :=
        '{9100000000000000000, 9100000000000000001, 9100000000000004096, 9100000000004194304}';
    few text[];
    many text[];
BEGIN
    many := snowflake._try_default(attrdef, seq, type, typmod, ids);
    few := snowflake._try_default(attrdef, seq, type, typmod, small);
    IF (SELECT count(DISTINCT x) FROM unnest(few) x) = cardinality(small)
       AND (SELECT count(DISTINCT x) FROM unnest(many) x) < cardinality(ids)
       -- What comes out by chance says nothing.
       AND many = snowflake._try_default(attrdef, seq, type, typmod, ids) THEN
        RETURN 'different IDs give the same value';
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN data_exception THEN
        RETURN SQLERRM;
    -- Other errors are not of the values: the expression is for its user to mend.
    WHEN syntax_error_or_access_rule_violation OR program_limit_exceeded THEN
        RETURN NULL;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_default_fault(oid, regclass, oid, integer) IS
    'what is wrong with a default that gets IDs from a sequence, for a column of this type; NULL: nothing, or it cannot be tried';

-- A check that any ID of the present or of later satisfies may be meant. So may one that not all small
-- numbers satisfy either, where they are not the sequence's own: it chooses among the rows there are.
CREATE FUNCTION snowflake.conversion_check_fault(constraint_oid oid, attnum smallint, is_filled boolean)
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
BEGIN
    IF 'f' = ALL (snowflake._try_check(constraint_oid, attnum, ids))
       AND (is_filled OR 't' = ALL (snowflake._try_check(constraint_oid, attnum, small))) THEN
        RETURN 'no ID satisfies it';
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN data_exception THEN
        RETURN SQLERRM;
    WHEN syntax_error_or_access_rule_violation OR program_limit_exceeded THEN
        RETURN NULL;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_check_fault(oid, smallint, boolean) IS
    'what is wrong with a check of a column that holds IDs, or is filled with them; NULL: nothing, or it cannot be tried';
