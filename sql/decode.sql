-- Reading IDs. The values are composed by hand from the layout:
-- (milliseconds since 2023-01-01 UTC) * 2^22 + node * 2^12 + counter.
SET TIME ZONE 'UTC';
SET DateStyle = ISO;
CREATE TEMP TABLE vectors (id bigint, made timestamptz, node int, counter int);
INSERT INTO vectors VALUES
    (0, '2023-01-01 00:00:00+00', 0, 0),
    (104651375538868224, '2023-10-16 18:47:12.257+00', 1, 0),
    (154014842464407554, '2024-02-29 23:59:59.900+00', 937, 2),
    (514590769177165823, '2026-11-21 00:00:00.005+00', 1023, 4095),
    (9223372036854775807, '2092-09-06 15:47:35.551+00', 1023, 4095);
SELECT id, snowflake.get_epoch(id), snowflake.get_timestamp(id), snowflake.get_node(id),
       snowflake.get_count(id), snowflake.format(id)
    FROM vectors ORDER BY id;
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE snowflake.get_timestamp(id) = made
                          AND to_timestamp(snowflake.get_epoch(id)) = made
                          AND snowflake.get_node(id) = node
                          AND snowflake.get_count(id) = counter) AS agree
    FROM vectors;

-- format prints the session's time zone, and ISO 8601 whatever the DateStyle.
SET TIME ZONE 'America/St_Johns';
SET DateStyle = 'German, DMY';
SELECT snowflake.format(104651375538868224);
SET TIME ZONE 'Asia/Kathmandu';
SELECT snowflake.format(104651375538868224) ->> 'ts' AS ts;
SET DateStyle = ISO;
SET TIME ZONE 'UTC';

-- NULL gives NULL.
SELECT snowflake.get_epoch(NULL) IS NULL, snowflake.get_timestamp(NULL) IS NULL,
       snowflake.get_node(NULL) IS NULL, snowflake.get_count(NULL) IS NULL,
       snowflake.format(NULL) IS NULL;

-- A negative value is no ID.
\set VERBOSITY sqlstate
SELECT snowflake.get_epoch(-1);
SELECT snowflake.get_timestamp(-1);
SELECT snowflake.get_node(-1);
SELECT snowflake.get_count(-9223372036854775808);
SELECT snowflake.format(-1);
\set VERBOSITY default
SELECT snowflake.get_node(-1);

-- Decoders are immutable: they can index, partition and run in parallel.
CREATE TABLE decoded (id bigint PRIMARY KEY);
INSERT INTO decoded SELECT ((n::bigint * 86400000) << 22) + ((n % 7) << 12) FROM generate_series(1, 2000) n;
CREATE INDEX decoded_day ON decoded (snowflake.get_timestamp(id));
CREATE INDEX decoded_node ON decoded (snowflake.get_node(id));
ANALYZE decoded;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF)
    SELECT id FROM decoded WHERE snowflake.get_timestamp(id) = '2023-01-03 00:00:00+00';
SELECT id FROM decoded WHERE snowflake.get_timestamp(id) = '2023-01-03 00:00:00+00';
RESET enable_seqscan;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT max(snowflake.get_epoch(id)), max(snowflake.format(id) ->> 'ts') FROM decoded;
SELECT count(*), max(snowflake.get_node(id)) FROM decoded;
DROP TABLE decoded;
