\set ECHO none
-- Returns what keeps a sequence from being converted.
CREATE FUNCTION obstacles(seq regclass, online boolean DEFAULT true, target text DEFAULT 'snowflake', waive text DEFAULT '')
    RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM snowflake.conversion_plan(seq, online => obstacles.online, target => obstacles.target, waive => obstacles.waive);
EXCEPTION WHEN feature_not_supported THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN QUERY SELECT * FROM string_to_table(detail, E'\n');
END $$;
\set ECHO all
