-- Ranges of time as ranges of IDs.
SET snowflake.node = 1;
SET timezone = 'UTC';
\set SHOW_CONTEXT never
SELECT suffix, snowflake.get_timestamp(lower_bound) AS begins, snowflake.get_timestamp(upper_bound) AS ends
    FROM snowflake.time_ranges('2027-11-01', '2028-03-01', '1 month');
-- The bounds are the IDs of the times, and each range begins where the one before ends.
SELECT bool_and(lower_bound = snowflake.from_timestamp('2027-01-01'::timestamptz + (n - 1) * interval '1 month')),
       bool_and(upper_bound = snowflake.from_timestamp('2027-01-01'::timestamptz + n * interval '1 month')), count(*)
    FROM snowflake.time_ranges('2027-01-01', '2028-01-01', '1 month') WITH ORDINALITY
         AS r (suffix, lower_bound, upper_bound, n);
-- A day is a constant number of IDs in UTC.
SELECT DISTINCT upper_bound - lower_bound = 86400000::bigint << 22 AS is_a_day
    FROM snowflake.time_ranges('2027-03-01', '2027-04-30', '1 day');

-- In the time zone of the session, where a day may have 23 hours or 25.
SET timezone = 'Europe/Berlin';
SELECT suffix, snowflake.get_timestamp(lower_bound) AS begins,
       (upper_bound - lower_bound) / (3600000::bigint << 22) AS hours
    FROM snowflake.time_ranges('2027-03-27', '2027-03-30', '1 day');
SELECT suffix, (upper_bound - lower_bound) / (3600000::bigint << 22) AS hours
    FROM snowflake.time_ranges('2026-10-24', '2026-10-27', '1 day');
-- An hour that the clocks show twice has two names.
SELECT suffix, snowflake.get_timestamp(lower_bound) AS begins
    FROM snowflake.time_ranges('2026-10-25 01:00', '2026-10-25 04:00', '1 hour');
SELECT suffix FROM snowflake.time_ranges('2026-10-25 02:00+01', '2026-10-25 04:00', '1 hour');
SET timezone = 'UTC';

-- The suffix is as long as the step and the first beginning ask for, however many ranges there are.
SELECT every::text, string_agg(suffix, ', ' ORDER BY lower_bound) AS suffixes
    FROM (VALUES (interval '1 year', 3), ('2 years', 1), ('3 months', 3), ('1 month', 1), ('1 week', 3), ('1 day', 1),
                 ('24 hours', 2), ('6 hours', 2), ('90 min', 2), ('30 s', 2), ('0.5 s', 2), ('1 month 1 day', 2)) v (every, n)
    CROSS JOIN LATERAL snowflake.time_ranges('2027-01-01', '2027-01-01'::timestamptz + n * every, every)
    GROUP BY every::text ORDER BY min(every) DESC, every::text;
SELECT string_agg(suffix, ', ') FROM snowflake.time_ranges('2027-07-01', '2029-07-01', '1 year');
SELECT string_agg(suffix, ', ') FROM snowflake.time_ranges('2027-01-15', '2027-03-15', '1 month');
SELECT string_agg(suffix, ', ') FROM snowflake.time_ranges('2027-01-15 06:00', '2027-01-17 06:00', '1 day');
-- Months are counted from the first beginning; the last range ends where it is told to.
SELECT suffix, snowflake.get_timestamp(upper_bound) AS ends
    FROM snowflake.time_ranges('2027-01-31', '2027-05-10', '1 month');
SELECT count(*) FROM snowflake.time_ranges('2027-01-31', '2027-01-31', '1 month');
SELECT count(*) FROM snowflake.time_ranges('2027-01-31', NULL, '1 month');

-- In another layout.
SELECT suffix, snowflake.get_timestamp(lower_bound, 'twitter') AS begins
    FROM snowflake.time_ranges('2012-01-01', '2012-03-01', '1 month', 'twitter');

-- A year of partitions in one statement.
CREATE TABLE readings (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), value real) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE readings_%s PARTITION OF readings FOR VALUES FROM (%s) TO (%s)', suffix, lower_bound, upper_bound)
    FROM snowflake.time_ranges('2027-01-01', '2028-01-01', '1 month') \gexec
INSERT INTO readings
    SELECT snowflake.make_id(ts, 0, 0), 1 FROM generate_series(timestamptz '2027-01-01', '2027-12-31', '1 day') ts;
SELECT tableoid::regclass AS partition, count(*) FROM readings GROUP BY 1 ORDER BY min(id);
DROP TABLE readings;

-- Mistakes.
SELECT * FROM snowflake.time_ranges('2027-01-01', '2028-01-01', '0');
SELECT * FROM snowflake.time_ranges('2027-01-01', '2028-01-01', '-1 month');
SELECT * FROM snowflake.time_ranges('2028-01-01', '2027-01-01', '1 month');
SELECT * FROM snowflake.time_ranges('2022-01-01', '2024-01-01', '1 month');
SELECT * FROM snowflake.time_ranges('2090-01-01', '2094-01-01', '1 year');
SELECT * FROM snowflake.time_ranges('-infinity', '2027-01-01', '1 month');
SELECT * FROM snowflake.time_ranges('2027-01-01', 'infinity', '1 year');
SELECT * FROM snowflake.time_ranges('2027-01-01', '2028-01-01', '1 us');
SELECT * FROM snowflake.time_ranges('2027-01-30', '2028-01-01', '1 month -29 days');
SELECT * FROM snowflake.time_ranges('2027-01-01', '2028-01-01', '1 month', 'nothing');
