-- snowflake_compat: nextval and currval as clients say them.
SET snowflake.node = 5;
\set SHOW_CONTEXT never
SET search_path = public, snowflake_compat;

-- What is not converted goes to the server's own functions: values, currval, lastval, rights, errors.
CREATE TABLE plain (id serial PRIMARY KEY);
SELECT nextval('plain_id_seq'), currval('plain_id_seq'), lastval();
INSERT INTO plain DEFAULT VALUES RETURNING id;
SELECT currval('plain_id_seq'), snowflake_compat.currval('public.plain_id_seq'), nextval(NULL);
SELECT nextval('nonexistent');
\set VERBOSITY sqlstate
SELECT nextval('plain');
SELECT currval('plain');
\set VERBOSITY default
SELECT nextval('');
SELECT nextval('a.b.c.d');
CREATE SEQUENCE unused;
SELECT currval('unused');
CREATE ROLE regress_snowflake_client;
SET ROLE regress_snowflake_client;
SELECT nextval('plain_id_seq');
SELECT currval('plain_id_seq');
RESET ROLE;
BEGIN READ ONLY;
SELECT nextval('plain_id_seq');
ROLLBACK;

-- What is converted makes snowflake IDs: for literals, and parameters of unknown type or a text type.
CREATE TABLE orders (id serial PRIMARY KEY, item text);
CREATE TABLE "Odd ""Name" (id bigserial PRIMARY KEY);
CALL snowflake.convert_all('public');
SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');
SELECT snowflake.get_node(nextval('orders_id_seq')), snowflake.get_node(nextval('public."Odd ""Name_id_seq"'));
SELECT nextval('orders_id_seq') = currval('orders_id_seq') AS same, currval('orders_id_seq') = snowflake.currval('orders_id_seq') AS one;
SELECT snowflake.get_node(nextval(('orders_id_seq'::regclass::oid)::text)) AS by_oid;
PREPARE untyped AS SELECT snowflake.get_node(nextval($1));
PREPARE as_text(text) AS SELECT snowflake.get_node(nextval($1));
PREPARE as_varchar(varchar) AS SELECT snowflake.get_node(nextval($1));
EXECUTE untyped('orders_id_seq');
EXECUTE as_text('orders_id_seq');
EXECUTE as_varchar('orders_id_seq');
SELECT parameter_types FROM pg_prepared_statements ORDER BY name;
INSERT INTO orders (item) VALUES ('apple') RETURNING id = currval('orders_id_seq') AS currval;
BEGIN;
INSERT INTO orders (item) VALUES ('pear') RETURNING id = currval('orders_id_seq') AS currval;
SELECT nextval('orders_id_seq') > max(id) AS above FROM orders;
COMMIT;
SET ROLE regress_snowflake_client;
SELECT nextval('orders_id_seq');
SELECT currval('orders_id_seq');
RESET ROLE;
DISCARD SEQUENCES;
SELECT currval('orders_id_seq');

-- Calls with a regclass stay the server's, and so does what names its schema.
SELECT nextval('orders_id_seq'::regclass);
SELECT pg_catalog.nextval('orders_id_seq');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'plain'::regclass;

-- INCREMENT 50: clients count a block up from the value, or down from it. Of all of these numbers, none belongs to
-- two blocks, to another node or to another millisecond.
CREATE SEQUENCE blocks INCREMENT 50 CACHE 10;
SELECT step, command FROM snowflake.conversion_plan('blocks', increment => 'keep') WHERE command LIKE 'ALTER%';
SELECT snowflake.convert_sequence_to_snowflake('blocks', increment => 'keep');
SELECT snowflake.convert_sequence_to_snowflake('blocks', increment => 'keep');
SELECT increment, maximum_value FROM information_schema.sequences WHERE sequence_name = 'blocks';
-- Nobody has to say again what the mark says.
CREATE TABLE uses_blocks (id integer DEFAULT nextval('blocks'::regclass));
SELECT snowflake.convert_sequence_to_snowflake('blocks');
SELECT pg_get_expr(f.adbin, f.adrelid), q.seqincrement, q.seqmax FROM pg_attrdef f, pg_sequence q
    WHERE f.adrelid = 'uses_blocks'::regclass AND q.seqrelid = 'blocks'::regclass;
DROP TABLE uses_blocks;
CREATE TABLE taken (id bigint);
CREATE PROCEDURE take_blocks(calls integer) LANGUAGE sql BEGIN ATOMIC
    WITH called AS MATERIALIZED (SELECT nextval('blocks') AS v FROM generate_series(1, calls))
    INSERT INTO taken SELECT v + n FROM called, generate_series(-50, 49) n;
END;
CALL take_blocks(200);
WITH called AS MATERIALIZED (SELECT snowflake.nextval('blocks') AS v FROM generate_series(1, 50))
    INSERT INTO taken SELECT v + n FROM called, generate_series(0, 49) n;
CALL take_blocks(50);
INSERT INTO taken SELECT v + n FROM snowflake.nextvals('blocks', 20) v, generate_series(0, 49) n;
CALL take_blocks(1);
SELECT count(*), count(DISTINCT id), min(snowflake.get_node(id)) AS node, max(snowflake.get_node(id)) AS same_node FROM taken;
WITH called AS MATERIALIZED (SELECT nextval('blocks') AS v FROM generate_series(1, 200))
    SELECT bool_and(snowflake.get_timestamp(v - 50) = snowflake.get_timestamp(v + 49)) AS one_tick FROM called;
SELECT last_value - currval('blocks') AS reserved_above FROM blocks;
DROP TABLE taken;

-- A block that does not fit twice into a tick.
ALTER SEQUENCE blocks INCREMENT BY 2049;
SELECT nextval('blocks');
ALTER SEQUENCE public.blocks INCREMENT BY 2048;
SELECT snowflake.get_count(nextval('blocks'));

-- An INCREMENT that somebody has put in the place of the guard is marked by converting once more.
ALTER SEQUENCE orders_id_seq INCREMENT BY 10;
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', increment => 'keep');
SELECT snowflake.get_node(nextval('orders_id_seq')), snowflake.get_count(currval('orders_id_seq')) >= 10 AS within;
SELECT sequence, table_name, guarded FROM snowflake.sequences WHERE sequence IN ('orders_id_seq', 'blocks') ORDER BY 1;

-- The way back takes the mark away.
SELECT snowflake.convert_snowflake_to_sequence('orders_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('blocks');
SELECT seqrelid::regclass, seqincrement, seqmax FROM pg_sequence
    WHERE seqrelid IN ('orders_id_seq'::regclass, 'blocks'::regclass) ORDER BY 1;
SELECT setval('blocks', 1000);
SELECT nextval('blocks');
DROP PROCEDURE take_blocks;
DROP SEQUENCE blocks;

-- An identity with an INCREMENT keeps it, and is marked.
CREATE TABLE events (id bigint GENERATED BY DEFAULT AS IDENTITY (INCREMENT 20));
SELECT snowflake.convert_sequence_to_snowflake('events_id_seq', increment => 'keep');
SELECT seqincrement, seqmax FROM pg_sequence WHERE seqrelid = 'events_id_seq'::regclass;
SELECT snowflake.get_count(nextval('events_id_seq')) >= 20 AS within;
DROP TABLE events;

-- A default that is typed under such a path calls the function here, with a text, and does not depend on the sequence.
CREATE SEQUENCE numbers;
CREATE TABLE typed (id integer DEFAULT nextval('numbers'), other integer DEFAULT nextval('public.numbers') + 1);
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'typed'::regclass ORDER BY adnum;
INSERT INTO typed DEFAULT VALUES RETURNING *;
SELECT count(*) FROM snowflake.sequences WHERE sequence = 'numbers'::regclass;
CREATE SCHEMA elsewhere CREATE SEQUENCE numbers;
SELECT snowflake.convert_sequence_to_snowflake('numbers');
DROP SCHEMA elsewhere CASCADE;
SELECT command FROM snowflake.conversion_plan('numbers') WHERE command LIKE 'ALTER TABLE%';
CALL snowflake.convert_all('public');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'typed'::regclass ORDER BY adnum;
ALTER TABLE typed ALTER id SET DEFAULT nextval('numbers'), ALTER other DROP DEFAULT;
SELECT table_name, column_name, guarded FROM snowflake.sequences WHERE sequence = 'numbers'::regclass;
INSERT INTO typed DEFAULT VALUES RETURNING snowflake.get_node(id);
SELECT snowflake.convert_sequence_to_snowflake('numbers');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'typed'::regclass ORDER BY adnum;

-- Names that a hostile role could choose are names, and nothing else.
CREATE SEQUENCE "x'); DROP TABLE typed; --";
CREATE TABLE hostile (id bigint DEFAULT nextval('"x''); DROP TABLE typed; --"'));
SELECT snowflake.convert_sequence_to_snowflake('"x''); DROP TABLE typed; --"');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'hostile'::regclass;

DROP TABLE plain, orders, "Odd ""Name", typed, hostile;
DROP SEQUENCE unused, numbers, "x'); DROP TABLE typed; --";
DROP ROLE regress_snowflake_client;
