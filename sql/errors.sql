-- Every error: SQLSTATE, message, hint; and the session goes on.
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
\x on
\pset format unaligned
\pset footer off
CREATE SEQUENCE s;
CREATE TABLE t (id int);
CREATE VIEW v AS SELECT 1 AS id;

-- The node is not set.
SET snowflake.node = 0;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SET snowflake.node = 1;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);

-- Not a sequence, no such sequence: as the server's nextval, and with an SQLSTATE of its own where
-- the server has none to give.
SELECT * FROM outcome($$SELECT snowflake.nextval('t')$$);
SELECT state FROM outcome($$SELECT nextval('t')$$);
SELECT * FROM outcome($$SELECT snowflake.nextval('v')$$);
SELECT * FROM outcome($$SELECT snowflake.currval('t')$$);
SELECT * FROM outcome($$SELECT snowflake.nextval('missing')$$);
SELECT state FROM outcome($$SELECT nextval('missing')$$);
SELECT * FROM outcome($$SELECT snowflake.nextval(0::oid::regclass)$$);
SELECT * FROM outcome($$SELECT snowflake.currval(0::oid::regclass)$$);
SELECT * FROM outcome($$SELECT snowflake.nextval('pg_class')$$);

-- A read-only transaction.
BEGIN READ ONLY;
SELECT snowflake.nextval('s');
ROLLBACK;
BEGIN READ ONLY;
SELECT nextval('s');
ROLLBACK;
-- It refuses what is leased, too.
ALTER SEQUENCE s CACHE 10;
BEGIN;
SELECT snowflake.nextval('s') > 0 AS made;
SET TRANSACTION READ ONLY;
SELECT snowflake.nextval('s');
ROLLBACK;

-- currval and lastval before nextval.
DISCARD SEQUENCES;
SELECT * FROM outcome($$SELECT snowflake.currval('s')$$);
SELECT * FROM outcome($$SELECT currval('s')$$);
SELECT * FROM outcome($$SELECT snowflake.lastval()$$);
SELECT * FROM outcome($$SELECT lastval()$$);
-- The server's nextval is not ours.
SELECT nextval('s') AS servers \gset
SELECT * FROM outcome($$SELECT snowflake.currval('s')$$);

-- No ID fits below MAXVALUE.
CREATE SEQUENCE "Sma'll" AS integer;
SELECT * FROM outcome($$SELECT snowflake.nextval('"Sma''ll"')$$);
SELECT last_value, is_called FROM "Sma'll";
CREATE SEQUENCE edge CACHE 100;
SELECT setval('edge', 1::bigint << 62) = 1::bigint << 62 AS set;
ALTER SEQUENCE edge MAXVALUE 4611686018427392003;
SELECT snowflake.nextval('edge') - (1::bigint << 62) AS one, snowflake.nextval('edge') - (1::bigint << 62) AS two;
SELECT * FROM outcome($$SELECT snowflake.nextval('edge') - (1::bigint << 62)$$);
SELECT last_value - (1::bigint << 62) AS nothing_lost FROM edge;

-- Increments that make no ID.
CREATE SEQUENCE down INCREMENT BY -1;
SELECT * FROM outcome($$SELECT snowflake.nextval('down')$$);
CREATE SEQUENCE wide INCREMENT BY 4097;
SELECT * FROM outcome($$SELECT snowflake.nextval('wide')$$);

-- The last ID of the layout, then no more.
SELECT setval('s', 9223372036854775806) - 9223372036854775806 AS set;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SET snowflake.node = 1023;
SELECT snowflake.nextval('s');
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT setval('s', 1);
SELECT snowflake.nextval('s') < 9223372036854775807 AS mended;

-- Decoders.
SELECT * FROM outcome('SELECT snowflake.get_timestamp(-1)');

-- The conversion.
SELECT * FROM outcome($$SELECT snowflake.convert_sequence_to_snowflake('t')$$);
SELECT * FROM outcome($$SELECT snowflake.convert_sequence_to_snowflake(0::oid::regclass)$$);
SELECT setval('s', 9000000000000000000) - 9000000000000000000 AS set;
SELECT * FROM outcome($$SELECT snowflake.convert_sequence_to_snowflake('s')$$);

DROP SEQUENCE s, "Sma'll", edge, down, wide;
DROP TABLE t;
DROP VIEW v;
DROP FUNCTION outcome, keep, for_integers;
