-- CACHE (leases) and INCREMENT (strides).
SET snowflake.node = 9;

\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/fields.sql

-- A lease: ten at once are reserved, and handed out one by one.
CREATE SEQUENCE s CACHE 10;
SELECT put('s', 0, 9, 100);
SELECT fields(snowflake.nextval('s')), fields(snowflake.nextval('s'));
SELECT fields(last_value) AS reserved FROM s;
SELECT fields(snowflake.currval('s')) AS currval;
SELECT count(snowflake.nextval('s')) FROM generate_series(1, 8);
SELECT fields(snowflake.currval('s')) AS end_of_lease;
SELECT fields(snowflake.nextval('s')) AS next_lease;

-- It never reaches into the next tick.
SELECT put('s', 1, 9, 4090);
SELECT fields(snowflake.nextval('s'));
SELECT fields(last_value) AS reserved FROM s;
SELECT count(snowflake.nextval('s')) FROM generate_series(1, 4);
SELECT fields(snowflake.nextval('s')) AS next_tick;

-- It ends with setval, with a change of the node, and with ALTER SEQUENCE.
SELECT put('s', 3, 9, 0);
SELECT fields(snowflake.nextval('s')) AS followed_up;
SELECT put('s', 2, 9, 0);
SELECT fields(snowflake.nextval('s')) AS followed_down;
SET snowflake.node = 10;
SELECT fields(snowflake.nextval('s')) AS node_10;
SET snowflake.node = 9;
SELECT fields(snowflake.nextval('s')) AS node_9;
ALTER SEQUENCE s CACHE 3;
SELECT fields(snowflake.nextval('s')) AS after_reservation;
SELECT fields(last_value) AS reserved FROM s;
-- setval within one statement.
SELECT fields(snowflake.nextval('s')), put('s', 9, 9, 0), fields(snowflake.nextval('s'));

-- In real time: leases do not make an ID older than its tick, nor one out of order.
ALTER SEQUENCE s CACHE 32 RESTART;
SELECT bool_and(id > previous) AS increasing,
       bool_and(snowflake.get_timestamp(id) + interval '1 ms' > before) AS not_older
    FROM (SELECT id, before, lag(id) OVER (ORDER BY n) AS previous
              FROM (SELECT n, clock_timestamp() AS before, snowflake.nextval('s') AS id
                        FROM generate_series(1, 20000) n) x) y;

-- A temporary or unlogged sequence leases nothing.
CREATE TEMP SEQUENCE t CACHE 10;
SELECT put('t', 0, 9, 100);
SELECT fields(snowflake.nextval('t'));
SELECT fields(last_value) AS reserved FROM t;

-- A stride: each call reserves a whole run of counters, and returns the first.
ALTER SEQUENCE s INCREMENT BY 100 CACHE 1;
SELECT put('s', 20, 9, 3800);
SELECT fields(snowflake.nextval('s')), fields(snowflake.nextval('s'));
SELECT fields(last_value) AS end_of_run FROM s;
SELECT fields(snowflake.nextval('s')) AS run_no_longer_fits;
-- Strides and leases together.
ALTER SEQUENCE s CACHE 3;
SELECT put('s', 30, 9, 3700);
SELECT fields(snowflake.nextval('s'));
SELECT fields(last_value) AS reserved FROM s;
SELECT fields(snowflake.nextval('s')), fields(snowflake.nextval('s')), fields(snowflake.nextval('s'));
-- The widest stride is a whole tick.
ALTER SEQUENCE s INCREMENT BY 4096 CACHE 1;
SELECT fields(snowflake.nextval('s')), fields(snowflake.nextval('s'));
ALTER SEQUENCE s INCREMENT BY 4097;
SELECT snowflake.nextval('s');
ALTER SEQUENCE s INCREMENT BY -1 MINVALUE 1;
SELECT snowflake.nextval('s');
ALTER SEQUENCE s INCREMENT BY 1;
SELECT fields(snowflake.nextval('s'));

-- What log_cnt promises in steps stays within what is logged: with a stride, the server's nextval
-- advances by it.
ALTER SEQUENCE s INCREMENT BY 100;
SELECT put('s', 40, 9, 0);
SELECT fields(snowflake.nextval('s'));
SELECT fields(last_value + log_cnt * 100 - (last_value + log_cnt * 100) % 4194304)
       AS tick_of_the_mark,
       log_cnt * 100 <= 1000 * 4194304::bigint AS within_a_second
    FROM s;

DROP SEQUENCE s, t;
DROP FUNCTION fields, put;
