\set ECHO none
-- Functions for tests that look at single ticks. Their sequences are far ahead of the clock, so that no tick passes meanwhile.

-- Shows an ID.
CREATE FUNCTION fields(id bigint) RETURNS text LANGUAGE sql AS $$
    SELECT format('tick %s, node %s, counter %s', (id >> 22) - (1::bigint << 40),
                  snowflake.get_node(id), snowflake.get_count(id)) $$;

-- Sets a sequence to an ID.
CREATE FUNCTION put(seq regclass, tick int, node int, counter int) RETURNS boolean LANGUAGE sql AS $$
    SELECT setval(seq, (((1::bigint << 40) + tick) << 22) + (node << 12) + counter) IS NOT NULL $$;
\set ECHO all
