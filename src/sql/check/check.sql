-- check() lists what is wrong or about to be. The other files of the folder find a group of findings each.
--
-- The functions read catalogs, and of the data the last value of each sequence and the last entry of an index. They
-- wait for no lock and keep few: a database with many thousands of tables is looked at in one transaction. No query is
-- planned on a table of a user, because the planner evaluates what indexes and partition keys call.

CREATE FUNCTION snowflake.check(
        OUT severity text, -- error, warning or notice
        OUT object text,
        OUT finding text,
        OUT command text)  -- that mends it
    RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 10
    SET DateStyle = ISO
    SET IntervalStyle = postgres
    AS $function$
DECLARE
    keys constant snowflake._key[] := ARRAY(SELECT k FROM snowflake._keys() k);
BEGIN
    RETURN QUERY
        SELECT f.severity, snowflake._one_line(f.object), snowflake._one_line(f.finding), snowflake._in_ascii(f.command)
            FROM (SELECT * FROM snowflake._findings_of_node(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_extension()
                  UNION ALL SELECT * FROM snowflake._findings_of_defaults(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_layouts(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_drawing(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_replaced_sequences()
                  UNION ALL SELECT * FROM snowflake._findings_of_integers()
                  UNION ALL SELECT * FROM snowflake._findings_of_clock(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_references(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_ends(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_persistence(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_shadows()) f
            ORDER BY array_position(ARRAY['error', 'warning', 'notice'], f.severity), f.object COLLATE "C", f.finding COLLATE "C";
END
$function$;
COMMENT ON FUNCTION snowflake.check() IS
    'lists what is wrong in this database with snowflake IDs, or about to be, and the commands that mend it';
