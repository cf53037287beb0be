-- The type snowflake.id: a bigint in all but its JSON.
SET snowflake.node = 5;
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

-- Text and limits as bigint's.
SELECT '514621319594119169'::snowflake.id AS id, ' -7 '::snowflake.id AS negative, NULL::snowflake.id IS NULL AS null;
SELECT '9223372036854775808'::snowflake.id;
SELECT 'x'::snowflake.id;
SELECT typlen, typbyval, typalign, typcategory, typispreferred FROM pg_type WHERE oid = 'snowflake.id'::regtype;
SELECT snowflake._id_send('514621319594119169') = int8send(514621319594119169) AS binary_as_bigint;

-- Whatever makes JSON writes a string; a bigint stays a number.
CREATE TABLE orders (id snowflake.id PRIMARY KEY DEFAULT snowflake.nextval(), amount bigint);
INSERT INTO orders VALUES (514621319594119169, 514621319594119169), (514621319594119170, NULL);
SELECT to_json(id), to_jsonb(id), row_to_json(o), to_jsonb(o) FROM orders o WHERE amount IS NOT NULL;
SELECT json_agg(id ORDER BY id), jsonb_agg(id ORDER BY id), json_build_object('id', min(id)), jsonb_build_array(max(id)) FROM orders;
SELECT jsonb_agg(o ORDER BY o.id) FROM orders o;
SELECT to_jsonb(array_agg(id ORDER BY id)), json_object_agg(id, amount ORDER BY id) FROM orders;
SELECT * FROM jsonb_populate_record(NULL::orders, '{"id": "514621319594119169", "amount": 514621319594119169}');
SELECT * FROM json_to_recordset('[{"id": "514621319594119170"}, {"id": 514621319594119171}]') AS x(id snowflake.id);

-- min and max return the type, in parallel as well.
SELECT pg_typeof(min(id)), pg_typeof(max(id)), min(id), max(id) FROM orders;
SELECT min(id), max(id) FROM orders WHERE false;

-- Casts. Other numbers are assigned, and an ID is never taken for anything but a bigint.
SELECT castsource::regtype AS source, casttarget::regtype AS target, castcontext AS context, castmethod AS method
    FROM pg_cast WHERE 'snowflake.id'::regtype IN (castsource, casttarget) ORDER BY 1, 2;
CREATE TABLE assigned (id snowflake.id);
INSERT INTO assigned VALUES (1::smallint), (2), (3::bigint), (4.4), ('5');
UPDATE assigned SET id = id + 10 WHERE id = 5;
SELECT id FROM assigned ORDER BY id;
INSERT INTO assigned VALUES (1e30);
SELECT 514621319594119169::snowflake.id::timestamptz, 514621319594119169::snowflake.id::text,
       '514621319594119169'::text::snowflake.id, 514621319594119169::snowflake.id::bigint + 1 AS sum;
SELECT snowflake.get_node(id), snowflake.created_between(id, '2026-11-21', '2026-11-22') FROM orders WHERE amount IS NOT NULL;
DROP TABLE assigned;

-- All operators of bigint, with every number, literals and parameters; and what needs a cast.
PREPARE by_id(bigint) AS SELECT count(*) FROM orders WHERE id = $1;
PREPARE by_ids(bigint[]) AS SELECT count(*) FROM orders WHERE id = ANY ($1);
EXECUTE by_id(514621319594119169);
EXECUTE by_ids('{514621319594119169, 514621319594119170, 5}');
SELECT count(*) FILTER (WHERE id = 5) AS integer, count(*) FILTER (WHERE id = '514621319594119169') AS literal,
       count(*) FILTER (WHERE id IN (1, 514621319594119169, '514621319594119170')) AS list,
       count(*) FILTER (WHERE id BETWEEN 1 AND 514621319594119169) AS range,
       count(*) FILTER (WHERE id > 5::smallint) AS smallint,
       count(*) FILTER (WHERE id = ANY ('{514621319594119169}')) AS untyped,
       count(*) FILTER (WHERE id = amount) AS bigint, count(DISTINCT id) AS different FROM orders;
CREATE TABLE lists (ids snowflake.id[]);
INSERT INTO lists VALUES ('{5,6}'), (ARRAY[5, 7]), (ARRAY[6::bigint]);
SELECT count(*) FILTER (WHERE ids @> '{5}') AS literal, count(*) FILTER (WHERE ids @> ARRAY[5]::snowflake.id[]) AS cast,
       count(*) FILTER (WHERE 5 = ANY (ids)) AS member, count(*) FILTER (WHERE ids = '{5,7}') AS equal, jsonb_agg(ids ORDER BY ids) FROM lists;
\set VERBOSITY terse
SELECT count(*) FROM lists WHERE ids @> ARRAY[5]::bigint[];
\set VERBOSITY default
DROP TABLE lists;
SELECT coalesce(amount, id) FROM orders ORDER BY id;
SELECT id FROM orders UNION SELECT 1::bigint ORDER BY id LIMIT 1;
SELECT coalesce(id, 0) FROM orders;
SELECT coalesce(id, '0') AS id FROM orders ORDER BY id LIMIT 1;
\set VERBOSITY terse
SELECT count(*) FROM orders WHERE id = 5.0;
\set VERBOSITY default
SELECT count(*) FROM orders WHERE id = 5.0::bigint;

-- The planner uses the index for each of them, and for the order; for min and max of the bigint.
INSERT INTO orders SELECT n, n FROM generate_series(1, 2000) n;
ANALYZE orders;
SET enable_seqscan = off;
CREATE FUNCTION scans(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        RETURN QUERY SELECT substring(line FROM '((Index|Seq|Bitmap Index) .*Scan.* on \w+)');
    END LOOP;
END $$;
SELECT scan FROM scans('SELECT * FROM orders WHERE id = 5') scan WHERE scan IS NOT NULL;
SELECT scan FROM scans('SELECT * FROM orders WHERE id = ''5''') scan WHERE scan IS NOT NULL;
SELECT scan FROM scans('SELECT * FROM orders WHERE id = 5::bigint') scan WHERE scan IS NOT NULL;
SELECT scan FROM scans('SELECT * FROM orders WHERE snowflake.created_between(id, ''2026-11-21'', ''2026-11-22'')') scan WHERE scan IS NOT NULL;
SELECT scan FROM scans('SELECT * FROM orders ORDER BY id DESC LIMIT 1') scan WHERE scan IS NOT NULL;
SELECT scan FROM scans('SELECT max(id::bigint)::snowflake.id FROM orders') scan WHERE scan IS NOT NULL;
RESET enable_seqscan;

-- Foreign keys from and to bigint and integer columns; actions included.
CREATE TABLE items (order_id bigint REFERENCES orders ON UPDATE CASCADE ON DELETE CASCADE, note text);
CREATE TABLE notes (id snowflake.id PRIMARY KEY DEFAULT snowflake.nextval(),
                    order_id snowflake.id REFERENCES orders ON UPDATE CASCADE);
CREATE TABLE bigints (id bigint PRIMARY KEY);
CREATE TABLE refers (id snowflake.id REFERENCES bigints ON UPDATE CASCADE, small integer REFERENCES orders);
INSERT INTO items VALUES (1, 'one'), (2, 'two');
INSERT INTO notes (order_id) VALUES (1);
INSERT INTO items VALUES (0, 'none');
INSERT INTO bigints VALUES (7);
INSERT INTO refers VALUES (7, 5);
INSERT INTO refers VALUES (8, 5);
UPDATE orders SET id = 3001 WHERE id = 1;
UPDATE bigints SET id = 70;
DELETE FROM orders WHERE id = 2;
SELECT items.order_id, notes.order_id, refers.id FROM items, notes, refers;
SELECT count(*) FROM orders JOIN items ON items.order_id = orders.id;
DROP TABLE refers, bigints, notes, items;

-- A column changes its type there and back without being rewritten, its references with it or not.
SELECT pg_relation_filenode('orders') AS before \gset
ALTER TABLE orders ALTER id TYPE bigint;
ALTER TABLE orders ALTER id TYPE snowflake.id;
SELECT pg_relation_filenode('orders') = :before AS not_rewritten;

-- Partitions: bounds are bigints, and prune.
CREATE TABLE readings (id snowflake.id PRIMARY KEY DEFAULT snowflake.nextval(), value real) PARTITION BY RANGE (id);
CREATE TABLE readings_old PARTITION OF readings FOR VALUES FROM (0) TO (snowflake.from_timestamp('2026-11-01 00:00+00'));
CREATE TABLE readings_new PARTITION OF readings FOR VALUES FROM (snowflake.from_timestamp('2026-11-01 00:00+00')) TO (MAXVALUE);
INSERT INTO readings DEFAULT VALUES;
INSERT INTO readings VALUES (5);
SELECT tableoid::regclass, count(*) FROM readings GROUP BY 1 ORDER BY 1;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT scan FROM scans('SELECT value FROM readings WHERE id < 10') scan WHERE scan IS NOT NULL;
CREATE TABLE by_hash (id snowflake.id PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE by_hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO by_hash VALUES (5);
SELECT scan FROM scans('SELECT * FROM by_hash WHERE id = 5::bigint') scan WHERE scan IS NOT NULL;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE readings, by_hash;

-- Conversions: the values of such a column count, and so do its checks.
CREATE SEQUENCE numbers;
CREATE TABLE converted (id snowflake.id PRIMARY KEY DEFAULT nextval('numbers'));
INSERT INTO converted DEFAULT VALUES;
SELECT snowflake.convert_sequence_to_snowflake('numbers');
INSERT INTO converted DEFAULT VALUES;
SELECT count(*), count(*) FILTER (WHERE snowflake.get_node(id) = 5) AS made_here FROM converted;
SELECT snowflake.convert_snowflake_to_sequence('numbers');
UPDATE converted SET id = 9000000000000000000 WHERE id = 1;
\set VERBOSITY terse
SELECT snowflake.convert_sequence_to_snowflake('numbers');
UPDATE converted SET id = 1 WHERE id = 9000000000000000000;
ALTER TABLE converted ADD CHECK (id < 100000) NOT VALID;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('numbers');
DROP TABLE converted, orders;
DROP SEQUENCE numbers;
DROP FUNCTION scans;

-- Base 32: a time of the specification of ULIDs, what people type, and what is none.
SELECT snowflake.to_base32(1469918176385), snowflake.from_base32('00001ARYZ6S41'),
       snowflake.from_base32('oooo1aryz6s4l') AS typed, snowflake.from_base32('0000-1ARYZ-6S41') AS with_hyphens;
SELECT snowflake.to_base32(9223372036854775807), snowflake.to_base32(514621319594119169::snowflake.id),
       snowflake.from_base32(snowflake.to_base32(514621319594119169)) = 514621319594119169 AS there_and_back;
SELECT bool_and(snowflake.to_base32(n) COLLATE "C" < snowflake.to_base32(n + 1) COLLATE "C") AS sorted
    FROM generate_series(514621319594119169, 514621319594120169) n;
SELECT snowflake.to_base32(-1);
SELECT snowflake.from_base32('8000000000000');
SELECT snowflake.from_base32('16J');
SELECT snowflake.from_base32('00001ARYZ6SU1');
SELECT snowflake.from_base32('');
