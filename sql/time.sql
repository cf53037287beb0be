-- From times to IDs: ranges, partitions, and IDs made from what is known.
SET TIME ZONE 'UTC';
SET DateStyle = ISO;

-- The smallest ID of a time's tick, composed by hand: milliseconds since 2023-01-01 * 2^22.
SELECT snowflake.from_timestamp('2023-01-01') AS epoch,
       snowflake.from_timestamp('2023-01-01 00:00:00.001') = 1 << 22 AS one_tick,
       snowflake.from_timestamp('2023-01-01 00:00:00.001999') = 1 << 22 AS still_that_tick,
       snowflake.from_timestamp('2026-11-01') = (1400 * 86400000::bigint) << 22 AS november,
       snowflake.from_timestamp('2092-09-06 15:47:35.551999') = 2199023255551 << 22 AS last_tick;
SELECT snowflake.get_timestamp(snowflake.from_timestamp('2026-11-01 12:34:56.789')),
       snowflake.get_timestamp(snowflake.from_timestamp('2026-11-01 12:34:56.789') - 1);
SELECT snowflake.from_timestamp('2026-11-01', 'discord') = (4322 * 86400000::bigint) << 22 AS discord,
       snowflake.from_timestamp('2026-11-01', 'sonyflake') = (4444 * 8640000::bigint) << 24 AS sonyflake;
-- The session's time zone is the one in which the text is read.
SET TIME ZONE 'Asia/Tokyo';
SELECT snowflake.from_timestamp('2026-11-01') = snowflake.from_timestamp('2026-10-31 15:00:00+00')
    AS read_in_tokyo;
SET TIME ZONE 'UTC';

-- Times outside the layout.
SELECT snowflake.from_timestamp('2022-12-31 23:59:59.999999');
SELECT snowflake.from_timestamp('2092-09-06 15:47:35.552');
SELECT snowflake.from_timestamp('2015-06-01', 'default');
SELECT snowflake.from_timestamp('infinity');
SELECT snowflake.from_timestamp('-infinity', 'discord');
\set VERBOSITY sqlstate
SELECT snowflake.from_timestamp('4713-01-01 BC');
SELECT snowflake.from_timestamp('294276-12-31 23:59:59.999999');
SELECT snowflake.from_timestamp('294276-12-31 23:59:59.999999',
                                'epoch=2109-05-15 tick=1us timestamp:62 node:0 counter:0');
\set VERBOSITY default

-- An ID of a time, a node and a counter.
SELECT id, snowflake.format(id)
    FROM snowflake.make_id('2023-10-16 18:47:12.257', 1, 0) AS id;
SELECT snowflake.make_id('2016-04-30 11:18:25.796', 1 << 5 | 0, 7, 'discord') AS discord,
       snowflake.make_id('2022-06-28 16:07:40.105', 378, 0, 'twitter') AS twitter;
SELECT snowflake.make_id('2092-09-06 15:47:35.551', 1023, 4095) AS last;
SELECT snowflake.make_id('2026-11-01', 1024, 0);
SELECT snowflake.make_id('2026-11-01', 0, 4096);
SELECT snowflake.make_id('2026-11-01', -1, 0);
SELECT snowflake.make_id('2026-11-01', 1, 0, 'mastodon');
SELECT snowflake.make_id('2026-11-01', 0, 256, 'sonyflake');
SELECT snowflake.make_id('2022-11-01', 1, 0);

-- NULL gives NULL; a range with an unknown bound holds for no ID.
SELECT snowflake.from_timestamp(NULL) IS NULL, snowflake.from_timestamp('2026-11-01', NULL) IS NULL,
       snowflake.make_id(NULL, 1, 1) IS NULL, snowflake.make_id('2026-11-01', 1, NULL) IS NULL;
SELECT snowflake.created_between(NULL, '2026-11-01', '2026-12-01') AS id_null,
       snowflake.created_between(1, '2026-11-01', NULL) AS before_from,
       snowflake.created_between(snowflake.from_timestamp('2026-11-01'), '2026-11-01', NULL) AS to_null;

-- The first instant belongs to a range, the last does not.
SELECT snowflake.created_between(id, '2026-11-01', '2026-12-01') AS november,
       snowflake.created_between(id, '2026-12-01', '2026-11-01') AS nothing
    FROM (VALUES (snowflake.from_timestamp('2026-11-01') - 1),
                 (snowflake.from_timestamp('2026-11-01')),
                 (snowflake.from_timestamp('2026-12-01') - 1),
                 (snowflake.from_timestamp('2026-12-01'))) AS edge (id)
    ORDER BY id;
SELECT snowflake.created_between(175928847299117063, '2016-04-30 11:18:25.796',
                                 '2016-04-30 11:18:25.797', 'discord') AS discord;

-- Rows of ten years, one a day, from two nodes.
CREATE TABLE events (id bigint PRIMARY KEY, day int);
INSERT INTO events
    SELECT snowflake.make_id(timestamptz '2023-01-01' + day * interval '1 day', 1 + day % 2, 0), day
    FROM generate_series(0, 3652) AS day;
VACUUM ANALYZE events;

-- A month is a range of the primary key, and created_between is that range.
EXPLAIN (COSTS OFF)
    SELECT * FROM events
    WHERE id >= snowflake.from_timestamp('2026-11-01') AND id < snowflake.from_timestamp('2026-12-01');
EXPLAIN (COSTS OFF)
    SELECT * FROM events WHERE snowflake.created_between(id, '2026-11-01', '2026-12-01');
SELECT count(*), min(snowflake.get_timestamp(id)), max(snowflake.get_timestamp(id))
    FROM events WHERE snowflake.created_between(id, '2026-11-01', '2026-12-01');
EXPLAIN (COSTS OFF)
    SELECT * FROM events WHERE snowflake.created_between(id, '2026-11-01', '2026-12-01', 'discord');

-- The same with parameters, also where the plan does not know them, and with a time of the present.
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END
$$;
CREATE FUNCTION same_plan(query text, other text) RETURNS boolean LANGUAGE sql
    RETURN (SELECT array_agg(line) FROM plan_of(query) AS line)
           = (SELECT array_agg(line) FROM plan_of(other) AS line);
PREPARE spelled_out(timestamptz, timestamptz) AS
    SELECT * FROM events WHERE id >= snowflake.from_timestamp($1) AND id < snowflake.from_timestamp($2);
PREPARE between_them(timestamptz, timestamptz) AS
    SELECT * FROM events WHERE snowflake.created_between(id, $1, $2);
PREPARE of_layout(timestamptz, timestamptz, snowflake.layout) AS
    SELECT * FROM events WHERE snowflake.created_between(id, $1, $2, $3);
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE between_them('2026-11-01', '2026-12-01');
SELECT same_plan($$EXECUTE spelled_out('2026-11-01', '2026-12-01')$$,
                 $$EXECUTE between_them('2026-11-01', '2026-12-01')$$) AS same_custom_plan;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE between_them('2026-11-01', '2026-12-01');
EXPLAIN (COSTS OFF) EXECUTE of_layout('2026-11-01', '2026-12-01', 'default');
SELECT same_plan($$EXECUTE spelled_out('2026-11-01', '2026-12-01')$$,
                 $$EXECUTE between_them('2026-11-01', '2026-12-01')$$) AS same_generic_plan;
CREATE TEMP TABLE found AS EXECUTE between_them('2026-11-01', '2026-12-01');
SELECT count(*), min(day), max(day) FROM found;
DROP TABLE found;
CREATE TEMP TABLE found AS EXECUTE of_layout('2026-11-01', '2026-12-01', 'default');
SELECT count(*), min(day), max(day) FROM found;
RESET plan_cache_mode;
SELECT same_plan($$SELECT * FROM events WHERE id >= snowflake.from_timestamp(now() - interval '1 day')
                   AND id < snowflake.from_timestamp(clock_timestamp())$$,
                 $$SELECT * FROM events
                   WHERE snowflake.created_between(id, now() - interval '1 day', clock_timestamp())$$)
    AS same_plan_of_the_present;
-- A bound outside the layout is the same error in both.
SELECT count(*) FROM events WHERE snowflake.created_between(id, '2022-12-01', '2023-02-01');

-- The first and the last time come through the index: from the first and the last ID. The rest of
-- the plan differs between versions of the server.
SELECT regexp_replace(line, '^[ >-]*', '') AS line
    FROM plan_of('SELECT snowflake.get_timestamp(min(id)), snowflake.get_timestamp(max(id)) FROM events')
         AS line
    WHERE line ~ 'Scan|Limit';
SELECT snowflake.get_timestamp(min(id)), snowflake.get_timestamp(max(id)) FROM events;

-- Partitions by month, on nothing but the ID. One of them is filled before it is attached.
CREATE TABLE readings (id bigint PRIMARY KEY, value int) PARTITION BY RANGE (id);
CREATE TABLE readings_2026_10 PARTITION OF readings
    FOR VALUES FROM (snowflake.from_timestamp('2026-10-01')) TO (snowflake.from_timestamp('2026-11-01'));
CREATE TABLE readings_2026_11 PARTITION OF readings
    FOR VALUES FROM (snowflake.from_timestamp('2026-11-01')) TO (snowflake.from_timestamp('2026-12-01'));
CREATE TABLE readings_2026_12 (LIKE readings);
INSERT INTO readings_2026_12 VALUES (snowflake.from_timestamp('2026-12-01'), 3);
ALTER TABLE readings ATTACH PARTITION readings_2026_12
    FOR VALUES FROM (snowflake.from_timestamp('2026-12-01')) TO (snowflake.from_timestamp('2027-01-01'));
-- From two seconds before to two seconds after midnight, as fast as two nodes can be.
INSERT INTO readings
    SELECT snowflake.make_id(timestamptz '2026-11-01' + second * interval '1 second', node, count), second
    FROM generate_series(-2, 2) AS second, generate_series(1, 2) AS node, generate_series(0, 1) AS count;
INSERT INTO readings VALUES (snowflake.from_timestamp('2026-11-01') - 1, -1);
SELECT tableoid::regclass, count(*), min(value), max(value)
    FROM readings GROUP BY tableoid ORDER BY min(id);
\set VERBOSITY sqlstate
INSERT INTO readings VALUES (snowflake.from_timestamp('2026-09-30'), 0);
\set VERBOSITY default

-- Pruned when the query is planned.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
    SELECT count(*) FROM readings WHERE snowflake.created_between(id, '2026-11-02', '2026-11-03');
EXPLAIN (COSTS OFF)
    SELECT count(*) FROM readings WHERE id >= snowflake.from_timestamp('2026-11-15');

-- Pruned when the plan starts: with parameters, and with times that are not known earlier.
SET plan_cache_mode = force_generic_plan;
PREPARE a_month(timestamptz, timestamptz) AS
    SELECT count(*) FROM readings WHERE snowflake.created_between(id, $1, $2);
EXPLAIN (COSTS OFF) EXECUTE a_month('2026-11-02', '2026-11-03');
EXECUTE a_month('2026-11-01', '2026-12-01');
EXECUTE a_month('2026-10-01', '2026-11-01');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF)
    SELECT count(*) FROM readings
    WHERE snowflake.created_between(id, date '2026-11-02', date '2026-11-03');

-- Pruned while the plan runs: by what a subquery finds, and for each row of the other side.
CREATE TABLE months (begins timestamptz);
INSERT INTO months VALUES ('2026-11-01');
ANALYZE months;
CREATE FUNCTION not_executed(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    line text;
    parts bigint := 0;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        parts := parts + (line ~ 'readings_2026_.*\(never executed\)')::int;
    END LOOP;
    RETURN parts;
END
$$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT not_executed($$SELECT * FROM readings
                      WHERE snowflake.created_between(id, (SELECT begins FROM months),
                                                      (SELECT begins + interval '1 month' FROM months))$$)
           AS by_subquery,
       not_executed($$SELECT * FROM months JOIN readings
                      ON snowflake.created_between(id, begins, begins + interval '1 month')$$)
           AS by_join;
SELECT begins, count(*)
    FROM months JOIN readings ON snowflake.created_between(id, begins, begins + interval '1 month')
    GROUP BY begins;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Whatever reads and makes IDs runs in parallel workers.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET enable_indexonlyscan = off;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
    SELECT count(*), max(snowflake.get_node(id, 'default')), min(snowflake.get_epoch(id, 'default')),
           max(snowflake.format(id, 'default') ->> 'ts')
    FROM events WHERE snowflake.created_between(id, '2026-01-01', '2027-01-01', 'default');
SELECT count(*), max(snowflake.get_node(id, 'default')), min(snowflake.get_epoch(id, 'default')),
       max(snowflake.format(id, 'default') ->> 'ts')
    FROM events WHERE snowflake.created_between(id, '2026-01-01', '2027-01-01', 'default');
DEALLOCATE ALL;
DROP TABLE events, readings, found, months;
DROP FUNCTION same_plan, plan_of, not_executed;
