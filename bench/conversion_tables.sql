-- Four tables with an integer key and foreign keys, for a conversion beside clients.

DROP TABLE IF EXISTS customers, orders, visits, notes;
DROP FUNCTION IF EXISTS pay(integer, integer);
CREATE TABLE customers (id serial PRIMARY KEY, name text, balance integer NOT NULL DEFAULT 0);
CREATE TABLE orders (id serial PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers, amount integer);
CREATE TABLE visits (id serial PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers, page text);
CREATE TABLE notes (id serial PRIMARY KEY, customer_id integer REFERENCES customers, body text);
INSERT INTO customers (name) SELECT 'customer ' || i FROM generate_series(1, :rows) i;
INSERT INTO orders (customer_id, amount) SELECT 1 + i % :rows, i FROM generate_series(1, :rows) i;
INSERT INTO visits (customer_id, page) SELECT 1 + i % :rows, 'page ' || i FROM generate_series(1, :rows) i;
INSERT INTO notes (customer_id, body) SELECT 1 + i % :rows, 'note ' || i FROM generate_series(1, :rows) i;
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON visits (customer_id);
CREATE INDEX ON notes (customer_id);
VACUUM ANALYZE customers, orders, visits, notes;

CREATE FUNCTION pay(payer integer, paid integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orders (customer_id, amount) VALUES (payer, paid);
    UPDATE customers SET balance = balance - paid WHERE id = payer;
    RETURN (SELECT count(*) FROM orders WHERE customer_id = payer);
END
$$;
