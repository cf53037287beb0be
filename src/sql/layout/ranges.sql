-- Ranges of time as ranges of IDs, for partitions.

-- Returns the format of to_char() that tells the beginnings of ranges apart. A name's suffix has the parts of the
-- local time that the step and the begin of the first range make different.
CREATE FUNCTION snowflake._range_suffix_format("from" timestamptz, every interval)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN (
        SELECT CASE WHEN date_trunc('second', first.local) <> first.local
                         OR date_trunc('second', step.clock) <> step.clock THEN 'YYYY_MM_DD_HH24MISS_US'
                    WHEN date_trunc('minute', first.local) <> first.local
                         OR date_trunc('minute', step.clock) <> step.clock THEN 'YYYY_MM_DD_HH24MISS'
                    WHEN date_trunc('day', first.local) <> first.local OR step.clock <> '0' THEN 'YYYY_MM_DD_HH24MI'
                    WHEN extract(day FROM first.local) <> 1 OR step.days <> 0 THEN 'YYYY_MM_DD'
                    WHEN extract(month FROM first.local) <> 1 OR step.months % 12 <> 0 THEN 'YYYY_MM'
                    ELSE 'YYYY' END
            FROM (SELECT "from"::timestamp AS local) first
            CROSS JOIN (SELECT extract(year FROM every) * 12 + extract(month FROM every) AS months,
                               extract(day FROM every) AS days,
                               every - date_trunc('day', every) AS clock) step
    );

-- Returns the local time at which a range begins, as the end of a name. Where clocks are set back, an hour of local
-- time comes twice. The server takes such a time for one of the two; the name of a range that begins at the other
-- says so.
CREATE FUNCTION snowflake._range_suffix(begins timestamptz, format text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN to_char(begins, format)
           || CASE WHEN format LIKE '%HH24%' AND begins::timestamp::timestamptz <> begins THEN '_dst' ELSE '' END;

-- Each beginning is counted from the first, not from the one before: a month after January 31 and another month
-- would be the 28th for good. Days and months are those of the session's time zone.
CREATE FUNCTION snowflake.time_ranges("from" timestamptz, "to" timestamptz, every interval,
                                      layout snowflake.layout DEFAULT 'default',
                                      OUT suffix text, OUT lower_bound bigint, OUT upper_bound bigint)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    format CONSTANT text := snowflake._range_suffix_format("from", every);
    begins timestamptz := "from";
    ends timestamptz;
    steps integer := 0;
BEGIN
    IF every <= '0' THEN
        RAISE EXCEPTION 'length of a time range must be positive'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'For example: SELECT * FROM snowflake.time_ranges(''2027-01-01'', ''2028-01-01'', ''1 month'');';
    ELSIF "to" < "from" THEN
        RAISE EXCEPTION 'time ranges end at "%", before they begin at "%"', "to", "from"
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    lower_bound := snowflake.from_timestamp("from", layout);
    WHILE begins < "to" LOOP
        steps := steps + 1;
        ends := least("from" + steps * every, "to");
        upper_bound := snowflake.from_timestamp(ends, layout);
        IF upper_bound <= lower_bound THEN
            RAISE EXCEPTION 'time range from "%" to "%" contains no ID', begins, ends
                USING ERRCODE = 'invalid_parameter_value',
                      DETAIL = pg_catalog.format('IDs of this layout are %s apart.',
                                                 (SELECT tick FROM snowflake.describe(layout)));
        END IF;
        suffix := snowflake._range_suffix(begins, format);
        RETURN NEXT;
        begins := ends;
        lower_bound := upper_bound;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION snowflake.time_ranges(timestamptz, timestamptz, interval, snowflake.layout) IS
    'returns the ranges of IDs of consecutive ranges of time, with a suffix for the names of partitions';

