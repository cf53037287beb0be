-- The low watermark: the ID below which no row can appear any more. What other sessions do to it, and what
-- a statement's snapshot does, is in specs/.
SET snowflake.node = 1;
SET timezone = 'UTC';

-- Without a transaction that may have made an ID: the ID after the last one of the sequence.
CREATE SEQUENCE s;
SELECT snowflake.low_watermark('s');
SELECT snowflake.nextval('s') AS id \gset
SELECT snowflake.low_watermark('s') - :id AS after_last;
SELECT max(id) AS last FROM snowflake.nextvals('s', 10000) id \gset
SELECT snowflake.low_watermark('s') - :last AS after_last;
-- Every row that is committed is below it.
CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake.nextval('s'), item text);
INSERT INTO t (item) SELECT 'item ' || n FROM generate_series(1, 3) n;
SELECT item FROM t WHERE id < snowflake.low_watermark('s') ORDER BY id;
-- The many IDs were ahead of the clock, by milliseconds. Until it is there, an open transaction would hide them.
SELECT pg_sleep(0.1);
-- The sequence of the extension.
SELECT snowflake.nextval() AS id \gset
SELECT snowflake.low_watermark() - :id AS after_last;
SELECT snowflake.low_watermark(NULL) IS NULL AS of_nothing;

-- A transaction that has made an ID holds the bound back to its own start, also in its own eyes and
-- whatever its savepoints do. An index finds what is below.
BEGIN;
INSERT INTO t (item) VALUES ('mine');
SELECT snowflake.low_watermark('s') <= snowflake.from_timestamp(now()) AS at_start;
SELECT item FROM t WHERE id < snowflake.low_watermark('s') ORDER BY id;
SAVEPOINT a;
SELECT snowflake.nextval('s') IS NULL AS none;
ROLLBACK TO a;
SELECT snowflake.low_watermark('s') <= snowflake.from_timestamp(now()) AS at_start;
COMMIT;
SELECT item FROM t WHERE id < snowflake.low_watermark('s') ORDER BY id;
BEGIN;
SAVEPOINT a;
SELECT snowflake.nextval('s') IS NULL AS none;
ROLLBACK TO a;
SELECT snowflake.low_watermark('s') <= snowflake.from_timestamp(now()) AS at_start;
ROLLBACK;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE id >= 5 AND id < snowflake.low_watermark('s');
RESET enable_seqscan;

-- Ahead of the clock it is still the ID after the last one.
SELECT setval('s', snowflake.from_timestamp(date_trunc('hour', now()) + interval '2 hours')) AS ahead \gset
SELECT snowflake.low_watermark('s') - :ahead AS after_last;
SELECT snowflake.nextval('s') > :ahead AS ahead, snowflake.low_watermark('s') < :ahead AS at_start;
SELECT snowflake.low_watermark('s') - last_value AS after_last FROM s;
-- Set back, the sequence says nothing of the IDs before.
SELECT setval('s', :id) IS NULL AS none;
SELECT snowflake.low_watermark('s') - :id AS after_last;

-- A session may hold a lease of this tick, or of one ahead of the clock: the bound is the present then.
CREATE SEQUENCE leased CACHE 100;
SELECT snowflake.nextval('leased') AS id \gset
SELECT snowflake.low_watermark('leased') <= snowflake.nextval('leased') AS below_the_next;
SELECT pg_sleep(0.01);
SELECT snowflake.low_watermark('leased') - last_value AS after_last FROM leased;
SELECT setval('leased', snowflake.from_timestamp(date_trunc('hour', now()) + interval '2 hours')) IS NULL AS none;
SELECT snowflake.nextval('leased') IS NULL AS none;
SELECT snowflake.get_timestamp(snowflake.low_watermark('leased'))
       BETWEEN now() - interval '1 min' AND now() + interval '1 min' AS present;

-- What a stride reserves counts as made.
CREATE SEQUENCE wide INCREMENT 50;
SELECT snowflake.nextval('wide') AS id \gset
SELECT snowflake.low_watermark('wide') - :id AS after_last;

-- No crash takes IDs of the present back, but those ahead of the clock from an unlogged sequence.
CREATE UNLOGGED SEQUENCE unlogged;
SELECT setval('unlogged', snowflake.from_timestamp(date_trunc('hour', now()) + interval '2 hours')) IS NULL AS none;
SELECT snowflake.get_timestamp(snowflake.low_watermark('unlogged'))
       BETWEEN now() - interval '1 min' AND now() + interval '1 min' AS present;
CREATE TEMPORARY SEQUENCE mine;
SELECT snowflake.nextval('mine') AS id \gset
SELECT pg_sleep(0.01);
SELECT snowflake.low_watermark('mine') - :id AS after_last;

-- Another layout.
CREATE SEQUENCE tweets_id_seq;
SELECT snowflake.nextval('tweets_id_seq', 'twitter') AS id \gset
SELECT snowflake.low_watermark('tweets_id_seq', 'twitter') - :id AS after_last;
BEGIN;
SELECT snowflake.nextval('tweets_id_seq', 'twitter') IS NULL AS none;
SELECT snowflake.low_watermark('tweets_id_seq', 'twitter')
       <= snowflake.from_timestamp(now(), 'twitter') AS at_start;
ROLLBACK;
-- The wrong one gives no bound above an ID that a transaction has made, or an error.
CREATE SEQUENCE low;
BEGIN;
SELECT snowflake.nextval('low', 'sonyflake') AS id \gset
SELECT coalesce(snowflake.low_watermark('low') <= :id, true) AS harmless;
ROLLBACK;
SELECT setval('low', 9000000000000000000) IS NULL AS none;
SELECT snowflake.low_watermark('low', 'epoch=2020-01-01 tick=1s timestamp:32 node:10 counter:12');

-- Nor can it tell whether the layout is that of the IDs: if its epoch is a second too early, the bound is above the ID of an
-- open transaction.
SELECT pg_sleep(0.1); -- until the clock has reached the last ID
BEGIN;
SELECT snowflake.nextval('s') AS id \gset
SELECT pg_sleep(1.2);
SELECT snowflake.nextval('s') IS NULL AS none;
SELECT snowflake.low_watermark('s') <= :id AS safe,
       snowflake.low_watermark('s', 'epoch=2022-12-31T23:59:59Z tick=1ms timestamp:41 node:10 counter:12') <= :id AS safe_in_another;
ROLLBACK;

-- Sequences that count.
CREATE SEQUENCE counting CACHE 20;
SELECT snowflake.low_watermark('counting');
SELECT nextval('counting');
SELECT snowflake.low_watermark('counting');
SELECT snowflake.convert_sequence_to_snowflake('counting');
SELECT snowflake.low_watermark('counting');

-- Other mistakes; the session goes on.
SELECT snowflake.low_watermark('t');
SELECT snowflake.low_watermark('nowhere');
SELECT snowflake.low_watermark(0::regclass);
CREATE ROLE regress_snowflake_user;
SET ROLE regress_snowflake_user;
SELECT snowflake.low_watermark('s');
RESET ROLE;
GRANT USAGE ON SEQUENCE s TO regress_snowflake_user;
SET ROLE regress_snowflake_user;
SELECT snowflake.low_watermark('s') IS NULL AS none;
RESET ROLE;
REVOKE USAGE ON SEQUENCE s FROM regress_snowflake_user;
SET ROLE regress_snowflake_user;
SELECT snowflake.low_watermark('s');
-- A call that is never made is not refused.
SELECT CASE WHEN now() IS NULL THEN snowflake.low_watermark('s') END AS not_called;
RESET ROLE;
SELECT CASE WHEN now() IS NULL THEN snowflake.low_watermark('t') END AS not_called;
SELECT CASE WHEN now() IS NULL THEN snowflake.low_watermark('low', 'epoch=2020-01-01 tick=1s timestamp:32 node:10 counter:12')
       END AS not_called;
-- It reads only, and waits for no one who makes IDs.
BEGIN READ ONLY;
SELECT snowflake.low_watermark('s') IS NULL AS none;
SELECT mode FROM pg_locks WHERE relation = 's'::regclass AND pid = pg_backend_pid();
COMMIT;

-- In PL/pgSQL each statement has a snapshot of its own, and in a procedure each transaction a start.
CREATE PROCEDURE poll()
    LANGUAGE plpgsql
    AS $$
DECLARE
    read_up_to bigint := 0;
    bound bigint;
    items text;
BEGIN
    FOR turn IN 1..3 LOOP
        INSERT INTO t (item) VALUES ('turn ' || turn);
        COMMIT;
        bound := snowflake.low_watermark('s');
        SELECT string_agg(item, ', ' ORDER BY id) INTO items FROM t WHERE id >= read_up_to AND id < bound;
        RAISE NOTICE '%', items;
        read_up_to := bound;
    END LOOP;
END $$;
CALL poll();

DROP PROCEDURE poll;
DROP TABLE t;
DROP SEQUENCE s, leased, wide, unlogged, mine, tweets_id_seq, low, counting;
DROP ROLE regress_snowflake_user;
