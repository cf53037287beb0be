-- Code that a conversion breaks: it is an obstacle that the caller waives where that is certain, and a row of the plan where
-- it is a guess. An instance that cannot make IDs is such an obstacle too.
SET snowflake.node = 1;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA writers;
SET search_path = writers;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/obstacles.sql
CREATE FUNCTION guesses(seq regclass, online boolean, target text DEFAULT 'snowflake') RETURNS SETOF text LANGUAGE sql AS $$
    SELECT effect FROM snowflake.conversion_plan(seq, online => guesses.online, target => guesses.target, waive => 'order,results')
        WHERE command IS NULL AND effect ~ '^(function|trigger|procedure|rule|column)' AND effect !~ 'becomes the last|obstacles|guesses' ORDER BY step
$$;

-- What a trigger's function does with whole rows, and with the table.
CREATE TABLE orders (id serial PRIMARY KEY, amount integer, number integer);
CREATE TABLE "Order ""Lines""" (order_id integer REFERENCES orders, x integer);
CREATE TABLE audit (id integer, amount integer, number integer, at timestamptz);
CREATE FUNCTION copies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit SELECT new . *, now(); RETURN NULL; END $$;
CREATE FUNCTION expands() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES ((OLD).*, now()); RETURN NULL; END $$;
CREATE FUNCTION appends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF false THEN INSERT INTO writers."Order ""Lines""" VALUES (1, 2); END IF; RETURN NULL; END $$;
CREATE FUNCTION selects() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN
    SELECT o.amount, o.* INTO r FROM audit a JOIN Orders o ON true; RETURN NULL; END $$;
-- Harmless: a comparison, comments, columns that are listed, other tables, a count.
CREATE FUNCTION compares() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    -- INSERT INTO orders VALUES (NEW.*)
    /* SELECT * FROM orders */
    IF NEW.* IS DISTINCT FROM OLD.* OR (NEW.*) IS NOT DISTINCT FROM (OLD.*) THEN
        INSERT INTO audit (id) SELECT count(*) FROM orders;
        INSERT INTO orders (amount) VALUES (1);
        INSERT INTO orders_of_others VALUES (1);
        INSERT INTO orders DEFAULT VALUES;
    END IF;
    RETURN NULL; END $$;
CREATE TRIGGER copies AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION copies();
CREATE TRIGGER expands AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION expands();
CREATE TRIGGER compares AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION compares();
CREATE FUNCTION keeps() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before orders%ROWTYPE := OLD;
BEGIN
    INSERT INTO audit (id) VALUES (before.id);
    RETURN NULL;
END $$;
CREATE TRIGGER keeps AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION keeps();
CREATE FUNCTION merges() RETURNS void LANGUAGE plpgsql AS
    'BEGIN MERGE INTO orders USING audit ON false WHEN NOT MATCHED THEN INSERT VALUES (1, 2, 3); END';
CREATE FUNCTION lists() RETURNS SETOF orders LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT id, amount, number FROM orders o; END';
CREATE TRIGGER selects AFTER TRUNCATE ON orders EXECUTE FUNCTION selects();
CREATE TRIGGER appends AFTER INSERT ON "Order ""Lines""" EXECUTE FUNCTION appends();
SELECT obstacles('orders_id_seq');
SELECT obstacles('orders_id_seq', waive => 'order');
-- With a lock the columns stay in their places.
SELECT obstacles('orders_id_seq', online => false);
SELECT guesses('orders_id_seq', online => false, target => 'bigint');
-- The last command asks as well.
SELECT right(command, 40) AS ending FROM snowflake.conversion_plan('orders_id_seq', online => true, waive => 'order') WHERE command ~ '^SELECT.*waive';
\set VERBOSITY terse
SELECT snowflake._rehearse_conversion('orders_id_seq');
\set VERBOSITY default
SELECT snowflake._rehearse_conversion('orders_id_seq', waive => 'order');

-- Routines that are no triggers are guesses, and so is what a client has sent.
CREATE FUNCTION adds() RETURNS void LANGUAGE sql AS $$ INSERT INTO writers.orders AS o OVERRIDING SYSTEM VALUE (SELECT 1, 2, 3) $$;
CREATE PROCEDURE reads() LANGUAGE plpgsql AS $$ BEGIN PERFORM * FROM orders; FOR i IN 1..2 LOOP
    EXECUTE 'SELECT DISTINCT * FROM "orders"'; END LOOP; END $$;
SELECT guesses('orders_id_seq', online => true);
SELECT snowflake._order_counted_on(query, 'orders') AS found, query FROM (VALUES
    ('INSERT INTO orders VALUES ($1, $2, $3)'), ('insert into public.orders(id) values ($1)'), ('INSERT INTO orders (SELECT 1, 2)'),
    ('INSERT INTO orders SELECT * FROM x'), ('INSERT INTO "orders"VALUES(1)'), ('INSERT INTO orders2 VALUES (1)'), ('INSERT INTO "Orders" VALUES (1)'),
    ('INSERT INTO orders (values) VALUES (1)'), ('WITH x AS (SELECT 1) INSERT INTO orders TABLE x'), ('SELECT id FROM orders')) x(query);
SELECT count(*) >= 0 AS read FROM snowflake._statements_seen();

-- A rule knows its columns; what it writes to may be too small.
CREATE RULE keep AS ON INSERT TO orders DO ALSO INSERT INTO audit SELECT NEW.*, now();
SELECT g FROM guesses('orders_id_seq', online => true) g WHERE g ~ '^rule';
DROP RULE keep ON orders;

-- A result that is an integer where the key becomes a bigint: to read it fails.
CREATE FUNCTION all_orders() RETURNS TABLE (order_id integer, amount integer) LANGUAGE plpgsql AS $$ BEGIN
    RETURN QUERY SELECT o.id, o.amount FROM orders o; END $$;
CREATE FUNCTION one_order(OUT id integer) LANGUAGE sql BEGIN ATOMIC SELECT o.id FROM orders o LIMIT 1; END;
CREATE FUNCTION amounts() RETURNS TABLE (amount integer) LANGUAGE sql AS 'SELECT amount FROM orders';
CREATE FUNCTION greatest_order() RETURNS integer LANGUAGE sql AS 'SELECT max(id) FROM orders';
SELECT obstacles('orders_id_seq', online => false);
SELECT obstacles('orders_id_seq', online => false, target => 'bigint');
SELECT obstacles('orders_id_seq', online => false, waive => 'results');
SELECT guesses('orders_id_seq', online => false);
-- A stranger's function is none, whatever it is called.
CREATE ROLE regress_snowflake_writer;
ALTER FUNCTION all_orders() OWNER TO regress_snowflake_writer;
SELECT obstacles('orders_id_seq', online => false);
SELECT count(*) FROM guesses('orders_id_seq', online => false) g WHERE g ~ 'all_orders';
DROP FUNCTION all_orders(), one_order();
DROP ROLE regress_snowflake_writer;

-- Without a node the first INSERT would fail; with another one's, too.
SET snowflake.node = 0;
SELECT regexp_replace(obstacles('orders_id_seq', online => false), 'cannot make IDs: .* \(.*\): convert', 'cannot make IDs: ... (...): convert');
SELECT obstacles('orders_id_seq', online => false, waive => 'node');
SELECT obstacles('orders_id_seq', online => false, target => 'bigint');
SELECT obstacles('orders_id_seq', waive => ' node ,order');
-- A number that another instance has claimed before; as it arrives by replication.
SET snowflake.node = 931;
BEGIN;
INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name, claimed_at, said_at, version)
    VALUES (gen_random_uuid(), 'claim', 931, 931, 5, 16384, 0, 'elsewhere:/data#1', 'north', '2024-01-01', '2024-01-01', '3.0.0 on PostgreSQL 15');
SELECT obstacles('orders_id_seq', online => false);
SELECT obstacles('orders_id_seq', waive => 'order');
SELECT obstacles('orders_id_seq', waive => 'node,order');
SAVEPOINT before;
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
ROLLBACK TO before;
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', waive => 'node');
INSERT INTO orders DEFAULT VALUES;
ROLLBACK;
SET snowflake.node = 0;
\set VERBOSITY default
SELECT obstacles('orders_id_seq', waive => 'everything');
CALL snowflake.convert_all('writers', waive => 'node,');
-- Nothing is left to do, and nothing in the way.
SELECT count(*) FROM snowflake.conversion_plan('orders_id_seq');
INSERT INTO orders DEFAULT VALUES;

DROP SCHEMA writers CASCADE;
