-- Making IDs: what they decode to, and how they follow each other.
SET snowflake.node = 17;

-- An ID tells when it was made, where, and starts counting at 0.
CREATE SEQUENCE s;
CREATE TEMP TABLE call AS
    SELECT clock_timestamp() AS before, snowflake.nextval('s') AS id, clock_timestamp() AS after;
SELECT snowflake.get_timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after AS right_time,
       snowflake.get_node(id) AS node, snowflake.get_count(id) AS count
    FROM call;
SELECT snowflake.currval('s') = id AS currval, snowflake.lastval() = id AS lastval FROM call;

-- Many: strictly increasing in the order of the calls, the counter of each tick 0, 1, 2 and so on.
CREATE SEQUENCE many;
CREATE TEMP TABLE ids AS
    SELECT n, snowflake.nextval('many') AS id FROM generate_series(1, 50000) n;
SELECT count(*), count(DISTINCT id) AS distinct_ids, min(snowflake.get_node(id)) AS min_node,
       max(snowflake.get_node(id)) AS max_node
    FROM ids;
SELECT bool_and(id > previous) AS increasing
    FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM ids) x;
SELECT bool_and(first = 0 AND last = number - 1) AS counters_without_gap
    FROM (SELECT min(snowflake.get_count(id)) AS first, max(snowflake.get_count(id)) AS last,
                 count(*) AS number
              FROM ids GROUP BY snowflake.get_timestamp(id)) x;

-- The database-wide sequence is the default, and each sequence is on its own.
SELECT snowflake.nextval() > 0 AS made;
SELECT snowflake.currval() = snowflake.lastval() AS same, snowflake.currval('s') < snowflake.currval() AS own;

-- NULL gives NULL and makes nothing.
SELECT snowflake.nextval(NULL) IS NULL AS next, snowflake.currval(NULL) IS NULL AS curr,
       snowflake.currval() = snowflake.lastval() AS unchanged;

-- In a table: a default, and RETURNING.
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), item text);
INSERT INTO orders (item) VALUES ('apple'), ('pear'), ('plum');
INSERT INTO orders (item) VALUES ('fig') RETURNING id = snowflake.lastval() AS returned;
SELECT item, snowflake.get_node(id) AS node FROM orders ORDER BY id;

-- A bigserial that exists already: old and new rows side by side, in order.
CREATE TABLE legacy (id bigserial PRIMARY KEY, item text);
INSERT INTO legacy (item) VALUES ('old'), ('older');
ALTER TABLE legacy ALTER COLUMN id SET DEFAULT snowflake.nextval('legacy_id_seq');
INSERT INTO legacy (item) VALUES ('new'), ('newer');
SELECT CASE WHEN id < 1000 THEN id::text ELSE 'node ' || snowflake.get_node(id) END AS id, item
    FROM legacy ORDER BY legacy.id;

-- A name is resolved as any regclass is; an ID can come from a function or a prepared statement.
CREATE SCHEMA "Odd Schema";
CREATE SEQUENCE "Odd Schema"."Odd ""Seq";
SELECT snowflake.nextval('"Odd Schema"."Odd ""Seq"') > 0 AS made;
PREPARE make(regclass) AS SELECT snowflake.nextval($1) AS id;
EXECUTE make('s') \gset first_
EXECUTE make('s') \gset second_
SELECT :first_id < :second_id AS increasing;
DEALLOCATE make;

-- What a cursor or a subtransaction makes is made, whatever becomes of it.
CREATE SEQUENCE rolled;
BEGIN;
SELECT snowflake.nextval('rolled') AS a \gset
SAVEPOINT p;
SELECT snowflake.nextval('rolled') AS b \gset
ROLLBACK TO p;
SELECT snowflake.nextval('rolled') AS c \gset
SELECT snowflake.currval('rolled') = :c AS currval;
ROLLBACK;
SELECT snowflake.nextval('rolled') AS d \gset
SELECT :a < :b AND :b < :c AND :c < :d AS increasing;

-- currval and lastval are this session's, and DISCARD makes them undefined: a pooled connection
-- must not show one client's ID to the next.
\set VERBOSITY terse
DISCARD SEQUENCES;
SELECT snowflake.currval('s');
SELECT snowflake.currval();
SELECT snowflake.lastval();
SELECT snowflake.nextval('s') AS e \gset
SELECT snowflake.lastval() = :e AS lastval;
DISCARD PLANS;
SELECT snowflake.currval('s') = :e AS currval;
DISCARD ALL;
SELECT snowflake.currval('s');
SELECT snowflake.lastval();
SET snowflake.node = 17;
SELECT snowflake.nextval('s') > :e AS above;

-- lastval is undefined when its sequence is gone.
CREATE SEQUENCE gone;
SELECT snowflake.nextval('gone') > 0 AS made;
DROP SEQUENCE gone;
SELECT snowflake.lastval();
\set VERBOSITY default

DROP TABLE orders, legacy;
DROP SEQUENCE s, many, rolled;
DROP SCHEMA "Odd Schema" CASCADE;
