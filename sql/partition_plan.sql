-- A table becomes partitioned in place: snowflake.partition_plan().
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE ROLE regress_snowflake_reader;
CREATE ROLE regress_snowflake_writer;
CREATE TABLE customers (id bigint PRIMARY KEY);
INSERT INTO customers SELECT n FROM generate_series(1, 100) n;
CREATE TABLE orders (
    id bigserial,
    gone integer,
    customer_id bigint NOT NULL REFERENCES customers DEFERRABLE INITIALLY DEFERRED,
    item text COLLATE "C" DEFAULT 'x' || 'y' CHECK (length(item) > 0),
    amount numeric(10, 2),
    total numeric GENERATED ALWAYS AS (amount * 2) STORED,
    CONSTRAINT orders_pkey PRIMARY KEY (id) WITH (fillfactor = 70),
    UNIQUE (customer_id, id) WITH (fillfactor = 60) DEFERRABLE INITIALLY DEFERRED
) WITH (fillfactor = 80, toast.autovacuum_enabled = false);
ALTER TABLE orders DROP COLUMN gone;
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
ALTER TABLE orders ALTER item SET STATISTICS 77, ALTER item SET STORAGE external, ALTER customer_id SET (n_distinct = 5);
CREATE INDEX orders_item_idx ON orders (lower(item), amount DESC) INCLUDE (customer_id) WHERE amount > 0;
CREATE STATISTICS orders_stat (dependencies) ON customer_id, amount FROM orders;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.item := NEW.item || '!'; RETURN NEW; END $$;
CREATE FUNCTION note_after() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER note BEFORE INSERT ON orders FOR EACH ROW WHEN (NEW.amount > 0) EXECUTE FUNCTION note();
CREATE TRIGGER note_rows AFTER INSERT ON orders REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION note_after();
CREATE CONSTRAINT TRIGGER note_later AFTER UPDATE ON orders DEFERRABLE FOR EACH ROW EXECUTE FUNCTION note_after();
ALTER TABLE orders DISABLE TRIGGER note_rows, ENABLE ALWAYS TRIGGER note_later;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON orders FOR SELECT TO regress_snowflake_reader USING (customer_id <= 50);
CREATE TABLE items (id bigserial PRIMARY KEY, order_id bigint REFERENCES orders ON DELETE CASCADE);
CREATE INDEX ON items (order_id);
CREATE TABLE notes (x integer);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_orders ON notes USING (EXISTS (SELECT FROM orders WHERE orders.customer_id = x));
CREATE RULE negative AS ON UPDATE TO orders WHERE NEW.amount < 0 DO ALSO INSERT INTO notes VALUES (1);
CREATE VIEW large WITH (security_barrier) AS SELECT * FROM orders WHERE amount > 100 WITH CHECK OPTION;
CREATE VIEW totals AS SELECT o.id, o.item, count(*) FROM orders o LEFT JOIN items i ON i.order_id = o.id GROUP BY o.id;
CREATE VIEW on_top AS SELECT id FROM large;
GRANT SELECT ON large TO regress_snowflake_reader;
CREATE FUNCTION count_orders() RETURNS bigint LANGUAGE sql STABLE BEGIN ATOMIC SELECT count(*) FROM orders; END;
GRANT SELECT, INSERT ON orders TO regress_snowflake_writer WITH GRANT OPTION;
GRANT SELECT (id, customer_id) ON orders TO regress_snowflake_reader;
COMMENT ON TABLE orders IS 'the orders';
COMMENT ON COLUMN orders.item IS 'an item';
COMMENT ON CONSTRAINT orders_item_check ON orders IS 'a check';
COMMENT ON INDEX orders_item_idx IS 'an index';
COMMENT ON TRIGGER note ON orders IS 'a trigger';
COMMENT ON CONSTRAINT items_order_id_fkey ON items IS 'a key';
SET client_min_messages = error; -- wal_level may be below logical
CREATE PUBLICATION regress_orders FOR TABLE orders (id, item, customer_id) WHERE (id > 5) WITH (publish_via_partition_root);
SET client_min_messages = warning;
INSERT INTO orders (customer_id, item, amount) SELECT 1 + n % 100, 'item ' || n, n % 300 FROM generate_series(1, 200000) n;
INSERT INTO items (order_id) SELECT id FROM orders ORDER BY id LIMIT 1000;

-- The plan, and what is left of it after each command. Sizes differ between versions.
CREATE FUNCTION plan(tab regclass, since timestamptz DEFAULT '2080-01-01')
    RETURNS TABLE (step integer, command text, effect text, role name) LANGUAGE sql AS $$
    SELECT step, command, regexp_replace(effect, '[(][0-9]+ [kM]B[)]', '(...)'), nullif(role, current_user)
        FROM snowflake.partition_plan(tab, '1 month', ahead => 3, since => since, with_default => true)
$$;
CREATE FUNCTION next(tab regclass) RETURNS text LANGUAGE sql AS $$
    SELECT command FROM plan(tab) WHERE command IS NOT NULL ORDER BY step LIMIT 1
$$;
CREATE VIEW rights AS
    SELECT c.relname, c.reloptions, x.grantee::regrole, x.attname, string_agg(x.privilege_type || CASE WHEN x.is_grantable THEN '*' ELSE '' END, ', ' ORDER BY x.privilege_type) AS rights
        FROM pg_class c
        LEFT JOIN LATERAL (SELECT NULL::name AS attname, r.* FROM aclexplode(c.relacl) r
                           UNION ALL SELECT a.attname, r.* FROM pg_attribute a, aclexplode(a.attacl) r WHERE a.attrelid = c.oid) x ON x.grantee <> c.relowner
        WHERE c.relkind IN ('r', 'p', 'v') AND (c.relname LIKE 'orders%' OR c.relname = 'large')
        GROUP BY 1, 2, 3, 4 ORDER BY c.relname COLLATE "C", 3, 4;
SELECT * FROM rights;
\x on
SELECT * FROM plan('orders');
\x off
SELECT next('orders') \gexec
SELECT command FROM plan('orders');
SELECT * FROM snowflake.check() WHERE object = 'table public.orders';
-- Too early, and with another bound.
SELECT snowflake._partition_table('orders', 'id', '1 month', '2080-01-01', 3, true);
SELECT * FROM plan('orders', '2080-02-01');
SELECT next('orders') \gexec
SELECT command FROM plan('orders');
-- Interrupted, everything is as it was. The table is not read.
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT relfilenode AS file FROM pg_class WHERE relname = 'orders' \gset
SELECT next('orders') \gexec
SELECT c.relname, c.relfilenode = :file AS is_same_file, n.seq_tup_read + coalesce(n.idx_tup_fetch, 0) AS rows_read
    FROM pg_class c JOIN pg_stat_xact_user_tables n ON n.relid = c.oid WHERE c.relname = 'orders_before_2080_01';
ROLLBACK;
SELECT command FROM plan('orders');
SELECT next('orders') \gexec
SELECT command FROM plan('orders');
SELECT next('orders') \gexec
SELECT command FROM plan('orders');

-- What it is now.
\getenv results PG_ABS_BUILDDIR
\set description :results '/results/description'
\o :description
\d orders
\d orders_before_2080_01
\d orders_2080_03
\o
\echo `sed -f "$PG_ABS_SRCDIR/sql/include/psql_18.sed" "$PG_ABS_BUILDDIR/results/description"`
SELECT * FROM rights;
SELECT pg_get_serial_sequence('orders', 'id');
SELECT obj_description('orders'::regclass), obj_description('orders_item_idx'::regclass), count(*) AS comments
    FROM pg_description d JOIN pg_constraint k ON k.oid = d.objoid WHERE k.conname IN ('orders_item_check', 'items_order_id_fkey') AND k.conrelid IN ('orders'::regclass, 'items'::regclass);
INSERT INTO orders (customer_id, item, amount) VALUES (1, 'now', 5) RETURNING tableoid::regclass, item, total;
INSERT INTO orders (id, customer_id, item, amount) SELECT snowflake.make_id(t, 1, 1), 1, 'then', 500 FROM unnest('{2080-02-05,2081-01-01}'::timestamptz[]) t
    RETURNING tableoid::regclass, item, total;
INSERT INTO items (order_id) VALUES (snowflake.make_id('2080-02-05', 1, 1));
INSERT INTO items (order_id) VALUES (5);
INSERT INTO orders (customer_id) VALUES (1000);
SELECT count_orders(), (SELECT count(*) FROM totals) AS totals, (SELECT count(*) FROM on_top WHERE id > snowflake.from_timestamp('2080-01-01')) AS on_top;
SET ROLE regress_snowflake_reader;
SELECT count(id) FROM orders;
SELECT count(id) FROM orders_before_2080_01;
RESET ROLE;
-- A range of time is looked for in one partition.
SET enable_bitmapscan = off;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT sum(amount) FROM orders WHERE snowflake.created_between(id, '2080-02-03', '2080-02-04');
EXPLAIN (COSTS OFF) SELECT sum(amount) FROM orders WHERE snowflake.created_between(id, '2026-02-03', '2026-02-04');
RESET enable_bitmapscan;
RESET enable_seqscan;

-- And back: the rows of all partitions are in the table.
SELECT count(*) AS rows, sum(id) AS ids FROM orders \gset
SELECT command, regexp_replace(effect, '[(][0-9]+ [kM]B[)]', '(...)') AS effect FROM snowflake.partition_plan('orders', back => true);
SELECT command FROM snowflake.partition_plan('orders', back => true) WHERE command IS NOT NULL \gexec
\o :description
\d orders
\o
\echo `sed -f "$PG_ABS_SRCDIR/sql/include/psql_18.sed" "$PG_ABS_BUILDDIR/results/description"`
SELECT * FROM rights;
SELECT relname FROM pg_class WHERE relname LIKE 'orders%' ORDER BY relname COLLATE "C";
SELECT count(*) = :rows AND sum(id) = :ids AS are_all_there FROM orders;
DROP VIEW rights;
SELECT * FROM snowflake.partition_plan('orders', back => true);
-- Where row-level security is forced, no row is left behind.
DELETE FROM orders WHERE id > snowflake.from_timestamp('2080-01-01');
SELECT next('orders') \gexec
SELECT next('orders') \gexec
ALTER TABLE orders FORCE ROW LEVEL SECURITY;
SELECT next('orders') \gexec
SELECT next('orders') \gexec
INSERT INTO orders (id, customer_id) VALUES (snowflake.make_id('2080-02-05', 1, 2), 1);
SELECT command FROM snowflake.partition_plan('orders', back => true) WHERE command IS NOT NULL \gexec
SELECT count(*) = :rows - 1 AS are_all_there FROM orders;
SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = 'orders';
DROP TABLE orders, items, customers, notes CASCADE;
DROP FUNCTION note, note_after, next, plan;
DROP PUBLICATION regress_orders;

-- Names that have to be quoted, and are cut off; a column of type snowflake.id in another layout; no primary key.
CREATE SCHEMA "Odd ""schema""";
CREATE SEQUENCE "Odd ""schema""".seq;
CREATE TABLE "Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'" (
    "the ""ID""" snowflake.id NOT NULL DEFAULT snowflake.nextval('"Odd ""schema""".seq', 'epoch=2015-01-01T00:00:00Z tick=1ms timestamp:41 node:10 counter:12'),
    "a\b" text);
CREATE INDEX "an index whose name is long, and has ""quotes"", and 'others', 1" ON "Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'" ("a\b");
CREATE INDEX "an index whose name is long, and has ""quotes"", and 'others', 2" ON "Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'" ("the ""ID""");
ALTER TABLE "Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'" REPLICA IDENTITY FULL;
INSERT INTO "Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'" DEFAULT VALUES;
\set ECHO none
SELECT command FROM snowflake.partition_plan($$"Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'"$$, '1 day', ahead => 2, since => '2060-02-28')
    WHERE command IS NOT NULL \gexec
\set ECHO all
SELECT inhrelid::regclass, pg_get_expr(c.relpartbound, c.oid), c.relreplident FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname LIKE 'Odd%' AND relkind = 'r' ORDER BY inhrelid::regclass::text COLLATE "C";
SELECT count(*) FROM "Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'";
-- And back.
\set ECHO none
SELECT command FROM snowflake.partition_plan($$"Odd ""schema"""."a table whose name is long, and has ""quotes"", and 'others'"$$, back => true)
    WHERE command IS NOT NULL \gexec
\set ECHO all
SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname LIKE 'Odd%' ORDER BY relname COLLATE "C";
DROP SCHEMA "Odd ""schema""" CASCADE;

-- The partitions are those of the plan, in a session of another time zone too.
CREATE TABLE visits (id bigint NOT NULL DEFAULT snowflake.nextval());
SET timezone = 'Asia/Kathmandu';
CREATE TABLE read AS SELECT * FROM snowflake.partition_plan('visits', '1 month', ahead => 2, since => '2080-01-01');
SET timezone = 'UTC';
BEGIN;
SELECT command FROM read WHERE command IS NOT NULL ORDER BY step \gexec
SHOW timezone;
COMMIT;
SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'visits'::regclass ORDER BY 1;
SHOW timezone;
DROP TABLE visits, read;
DROP ROLE regress_snowflake_reader, regress_snowflake_writer;
