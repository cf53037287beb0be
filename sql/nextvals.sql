-- nextvals: many IDs at once, the same that so many calls of nextval would make, or none.
SET snowflake.node = 9;

\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/fields.sql
\i :sources/sql/include/functions.sql
CREATE FUNCTION state(statement text) RETURNS text LANGUAGE sql AS 'SELECT state FROM outcome(statement)';

-- They go on through the ticks, and nextval goes on from the last.
CREATE SEQUENCE s;
SELECT put('s', 0, 9, 4092);
SELECT nth, fields(id) FROM snowflake.nextvals('s', 5) WITH ORDINALITY AS made (id, nth);
SELECT fields(last_value) AS reserved FROM s;
SELECT fields(snowflake.nextval('s'));
SELECT put('s', 10, 9, 4095);
SELECT count(*), count(DISTINCT id) AS ids, bool_and(id > previous) AS increasing,
       fields(min(id)) AS first, fields(max(id)) AS last, array_agg(DISTINCT snowflake.get_node(id)) AS nodes
    FROM (SELECT id, lag(id) OVER (ORDER BY nth) AS previous
              FROM snowflake.nextvals('s', 10000) WITH ORDINALITY AS made (id, nth)) x;
SELECT count(*), fields(min(id)) FROM snowflake.nextvals('s', 1) AS made (id);

-- In real time: none is older than the call, and the next is above them.
CREATE SEQUENCE in_time;
SELECT clock_timestamp() AS before \gset
SELECT min(id) AS first, max(id) AS last FROM snowflake.nextvals('in_time', 10000) AS made (id) \gset
SELECT snowflake.get_timestamp(:first) + interval '1 ms' > :'before' AS not_older,
       snowflake.nextval('in_time') > :last AS above;

-- Of none there is none, and nothing else happens.
DISCARD SEQUENCES;
SELECT last_value FROM s \gset
SELECT snowflake.nextvals('s', 0);
SELECT snowflake.nextvals('s', NULL);
SELECT snowflake.nextvals(NULL, 1);
SELECT last_value - :last_value AS reserved FROM s;
SELECT state($$SELECT snowflake.currval('s')$$), state('SELECT snowflake.lastval()');
SELECT snowflake.nextvals('s', -1);
SELECT last_value - :last_value AS reserved FROM s;

-- All are taken, and the last is the session's, whatever is done with them.
SELECT put('s', 20, 9, 4095);
SELECT fields(snowflake.nextvals('s', 100)) LIMIT 2;
SELECT fields(snowflake.currval('s')) AS currval, fields(snowflake.lastval()) AS lastval;
SELECT fields(snowflake.nextval('s'));
SELECT put('s', 30, 9, 4095);
SELECT fields(snowflake.nextvals('s', 2147483647)) LIMIT 2;
SELECT fields(snowflake.currval('s')) AS currval, fields(snowflake.nextval('s'));
-- Each row has its own.
SELECT put('s', 40, 9, 4095);
SELECT n, fields(snowflake.nextvals('s', n)) FROM (VALUES (2), (0), (1)) AS wanted (n);
-- A cursor hands out what was reserved, whatever others take meanwhile.
BEGIN;
DECLARE c CURSOR FOR SELECT fields(snowflake.nextvals('s', 4));
FETCH 2 FROM c;
SELECT fields(snowflake.nextval('s'));
FETCH 2 FROM c;
COMMIT;

-- After a lease no lower ID follows.
ALTER SEQUENCE s CACHE 10;
SELECT put('s', 50, 9, 0);
SELECT fields(snowflake.nextval('s')) AS leased;
SELECT fields(snowflake.nextvals('s', 3));
SELECT fields(snowflake.nextval('s')) AS next_lease;
ALTER SEQUENCE s CACHE 1;

-- Strides: the last is the session's, and its whole run is reserved.
ALTER SEQUENCE s INCREMENT BY 100;
SELECT put('s', 60, 9, 3799);
SELECT fields(snowflake.nextvals('s', 4));
SELECT fields(last_value) AS reserved, fields(snowflake.currval('s')) AS currval FROM s;
ALTER SEQUENCE s INCREMENT BY 4096;
SELECT fields(snowflake.nextvals('s', 2));
SELECT state($$ALTER SEQUENCE s INCREMENT BY 4097; SELECT snowflake.nextvals('s', 2)$$),
       state($$ALTER SEQUENCE s INCREMENT BY -1 MINVALUE 1; SELECT snowflake.nextvals('s', 2)$$);
-- A guarded sequence has none.
ALTER SEQUENCE s INCREMENT BY 9223372036854775807;
SELECT fields(snowflake.nextvals('s', 2));
ALTER SEQUENCE s INCREMENT BY 1;

-- Up to MAXVALUE and to the end of the layout, all or none.
SELECT put('s', 80, 9, 0);
ALTER SEQUENCE s MAXVALUE 4611686018762969093; -- tick 80, node 9, counter 5
SELECT snowflake.nextvals('s', 6);
SELECT fields(last_value) AS nothing_lost, state($$SELECT snowflake.nextvals('s', 4097)$$) FROM s;
SELECT fields(snowflake.nextvals('s', 5));
SELECT state($$SELECT snowflake.nextvals('s', 1)$$);
ALTER SEQUENCE s NO MAXVALUE;
SET snowflake.node = 1023;
SELECT setval('s', 9223372036854775804) IS NOT NULL AS set;
SELECT state($$SELECT snowflake.nextvals('s', 4)$$);
SELECT 9223372036854775807 - snowflake.nextvals('s', 3) AS left;
SELECT state($$SELECT snowflake.nextvals('s', 1)$$);
SET snowflake.node = 9;

-- One WAL record at most, however many they are.
CREATE FUNCTION wal_records(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, WAL, FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'WAL Records';
END $$;
SELECT put('s', 100, 9, 0);
SELECT fields(snowflake.nextval('s'));
SELECT wal_records($$SELECT count(*) FROM snowflake.nextvals('s', 100000)$$) <= 1 AS covered;
SELECT wal_records($$SELECT snowflake.nextvals('s', 2147483647) LIMIT 1$$) AS beyond_the_mark;
SELECT ((last_value + log_cnt) >> 22) - (last_value >> 22) AS ticks_to_the_mark FROM s;

-- Temporary and unlogged sequences.
CREATE TEMP SEQUENCE t CACHE 10;
CREATE UNLOGGED SEQUENCE u CACHE 10;
SELECT seq, put(seq, 0, 9, 4093) FROM (VALUES ('t'::regclass), ('u')) AS sequences (seq);
SELECT fields(snowflake.nextvals('t', 3)) AS t, fields(snowflake.nextvals('u', 3)) AS u;
SELECT fields(last_value) AS reserved, log_cnt FROM t;
SELECT fields(last_value) AS reserved, log_cnt FROM u;
SELECT wal_records($$SELECT snowflake.nextvals('t', 3), snowflake.nextvals('u', 3)$$);

-- A transaction that has rewritten the sequence keeps to the clock, and rolled back no ID returns.
BEGIN;
ALTER SEQUENCE in_time RESTART;
SELECT max(id) AS last, snowflake.get_timestamp(max(id)) <= clock_timestamp() AS in_time
    FROM snowflake.nextvals('in_time', 10000) AS made (id) \gset
ROLLBACK;
SELECT :'in_time' AS in_time, snowflake.nextval('in_time') > :last AS above;

-- Rights, read-only transactions and the rest are as for nextval, also where none is asked for.
CREATE ROLE regress_snowflake_maker;
CREATE FUNCTION states(seq text, OUT nextval text, OUT nextvals text, OUT of_none text) LANGUAGE sql AS $$
    SELECT state(format('SELECT snowflake.nextval(%L)', seq)),
           state(format('SELECT snowflake.nextvals(%L, 2)', seq)),
           state(format('SELECT snowflake.nextvals(%L, 0)', seq)) $$;
CREATE VIEW v AS SELECT 1 AS id;
SET ROLE regress_snowflake_maker;
SELECT * FROM states('s');
RESET ROLE;
GRANT UPDATE ON s TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT * FROM states('s');
RESET ROLE;

-- Far ahead of the clock only by who may set the sequence: a batch of eight minutes, and another.
CREATE SEQUENCE shared;
GRANT USAGE ON SEQUENCE shared TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT snowflake.nextvals('shared', 2000000000) > 0 AS made LIMIT 1;
SELECT snowflake.nextvals('shared', 2000000000) > 0 AS made LIMIT 1;
SELECT count(snowflake.nextval('shared')) AS one_by_one FROM generate_series(1, 10);
RESET ROLE;
GRANT UPDATE ON SEQUENCE shared TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT snowflake.nextvals('shared', 2000000000) > 0 AS made LIMIT 1;
RESET ROLE;
DROP SEQUENCE shared;

BEGIN READ ONLY;
SELECT * FROM states('s') UNION ALL SELECT * FROM states('t');
ROLLBACK;
SELECT * FROM states('v') UNION ALL SELECT * FROM states('missing');
SET snowflake.node = 0;
SELECT * FROM states('s');
SET snowflake.node = 9;

DROP FUNCTION fields, put, outcome, keep, for_integers, state, states, wal_records;
DROP SEQUENCE s, in_time, t, u;
DROP VIEW v;
DROP ROLE regress_snowflake_maker;
