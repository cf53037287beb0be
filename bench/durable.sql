-- Rows with the ID as primary key, each in a transaction of its own that waits for the disk.
-- durable.sh runs them; the query is what pgbench repeats.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('connect', 'A connection for each INSERT', 'rows/s', true),
    ('connect flushes', 'A connection for each INSERT: flushes', 'a row', false),
    ('pause', 'An INSERT every 1.5 s in one session: flushes', 'a row', false),
    ('latency 50', 'INSERTs of 8 clients: half take at most', 'ms', false),
    ('latency 99', 'INSERTs of 8 clients: 99 of 100 take at most', 'ms', false),
    ('latency 99.9', 'INSERTs of 8 clients: 999 of 1000 take at most', 'ms', false),
    ('standby', 'INSERTs of 8 clients, with a synchronous standby', 'rows/s', true);

-- The sequences are used for these rows only: no other work has put one of them ahead of the clock.
CREATE TABLE bench.durable_nextval (id bigserial PRIMARY KEY, n integer);
CREATE SEQUENCE bench.durable_id_seq;
CREATE TABLE bench.durable_snowflake (
    id bigint DEFAULT snowflake.nextval('bench.durable_id_seq') PRIMARY KEY, n integer);

INSERT INTO bench.candidate (work, name, query)
    SELECT w.name, of.name, format('INSERT INTO bench.%I (n) VALUES (1)', 'durable_' || of.name)
    FROM bench.work w, unnest('{nextval,snowflake}'::text[]) AS of (name)
    WHERE w.name IN ('connect', 'pause', 'latency 50', 'standby') ORDER BY w.position, of.name;

INSERT INTO bench.target (work, candidate, reference, bound, at_least) VALUES
    ('connect', 'snowflake', 'nextval', 0.97, true),
    ('connect flushes', 'snowflake', 'nextval', 1.01, false),
    ('pause', 'snowflake', 'nextval', 1.01, false),
    ('latency 50', 'snowflake', 'nextval', 1.05, false),
    ('latency 99', 'snowflake', 'nextval', 1.05, false),
    ('latency 99.9', 'snowflake', 'nextval', 1.05, false),
    ('standby', 'snowflake', 'nextval', 0.97, true);
