-- Widening without a long lock: the plan, its steps one by one, what refuses to run before its time, and what is in
-- the way. test/integration/online_test.cpp compares the result with that of a lock, beside writers and kills.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA online;
SET search_path = online;
CREATE FUNCTION steps(seq regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT command
        FROM snowflake.conversion_plan(seq, online => true) WHERE command IS NOT NULL ORDER BY step
$$;
CREATE FUNCTION run_next(seq regclass) RETURNS text LANGUAGE sql AS $$
    SELECT command FROM snowflake.conversion_plan(seq, online => true) WHERE command IS NOT NULL ORDER BY step LIMIT 1
$$;

\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
\i :sources/sql/include/obstacles.sql

-- (An autovacuum that comes by would change which statistics are missing.)
CREATE TABLE customers (id serial PRIMARY KEY, name text, parent_id integer REFERENCES customers) WITH (autovacuum_enabled = off);
CREATE TABLE orders (id bigint, customer_id integer NOT NULL REFERENCES customers ON DELETE CASCADE, touched integer DEFAULT 0)
    WITH (autovacuum_enabled = off);
CREATE INDEX by_digit ON orders ((customer_id % 10) DESC, id) WHERE customer_id > 1;
INSERT INTO customers (name, parent_id) SELECT 'c' || i, nullif(i - 1, 0) FROM generate_series(1, 300) i;
INSERT INTO orders SELECT i, i % 300 + 1 FROM generate_series(1, 600) i;
-- A filling runs no trigger, and is not stopped by what would stop an update.
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.touched := NEW.touched + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER touch BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();
CREATE RULE nothing AS ON UPDATE TO customers DO INSTEAD NOTHING;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

SELECT * FROM steps('customers_id_seq');
SELECT coalesce(replace(effect, pg_size_pretty(size), 'SIZE'), effect) AS effect, size > 0 AS sized
    FROM snowflake.conversion_plan('customers_id_seq', online => true)
    WHERE command ~ 'fill|shadows' OR command IS NULL AND effect !~ 'prepared';
SELECT command FROM snowflake.conversion_plan('customers_id_seq', online => true, pause => '10 ms', max_lag => '64 MB') WHERE command ~ 'fill';

-- Nothing runs before what it builds on.
SELECT state, message, detail FROM outcome($$SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq', online => true)$$);
CALL snowflake._fill_shadows('customers_id_seq', 'customers');
CALL snowflake._fill_shadows('customers_id_seq', 'pg_class');
SELECT state, message, detail FROM outcome($$SELECT snowflake._add_key('customers_id_seq', 'orders', 'snowflake_76aa51d055fe8dab')$$);
CALL snowflake._fill_shadows('customers_id_seq', 'customers', max_lag => 'far');
SELECT snowflake.cancel_conversion('customers_id_seq');

-- The columns, with triggers. From now on the two are the same in every row that is written, whatever the session says.
SELECT snowflake._rehearse_conversion('customers_id_seq', 'refuse');
SELECT snowflake._add_shadows('customers_id_seq', 'customers'), snowflake._add_shadows('customers_id_seq', 'orders');
SELECT snowflake._add_shadows('customers_id_seq', 'customers'), snowflake._add_shadows('customers_id_seq', 'orders');
SELECT sequence, table_name, column_name, new_column, is_filled, indexes_left, keys_left FROM snowflake.conversions;
INSERT INTO customers (name, parent_id) VALUES ('new', 7) RETURNING id, snowflake_id, parent_id, snowflake_parent_id;
INSERT INTO orders VALUES (1000, 5) RETURNING *;
UPDATE orders SET customer_id = 6, snowflake_customer_id = 99 WHERE id = 1000 RETURNING *;
SET session_replication_role = replica;
UPDATE orders SET customer_id = 7 WHERE id = 1000 RETURNING customer_id, snowflake_customer_id;
RESET session_replication_role;
SELECT count(*), count(snowflake_id) FROM customers;
-- With a lock it is refused now, also together with others.
SELECT obstacles('customers_id_seq', online => false);
CALL snowflake.convert_all('online');
ALTER TABLE orders DISABLE TRIGGER "~snowflake_customer_id";
UPDATE orders SET customer_id = 8 WHERE id = 1000;
SELECT * FROM steps('customers_id_seq') LIMIT 1;
SELECT snowflake._add_shadows('customers_id_seq', 'customers'), snowflake._add_shadows('customers_id_seq', 'orders');
SELECT tgenabled FROM pg_trigger WHERE tgname = '~snowflake_customer_id';

-- The rows.
CALL snowflake._fill_shadows('customers_id_seq', 'customers', pause => '1 ms', max_lag => '1 GB');
CALL snowflake._fill_shadows('customers_id_seq', 'orders');
SELECT count(*), count(snowflake_id), bool_and(snowflake_id = id AND snowflake_parent_id IS NOT DISTINCT FROM parent_id) FROM customers;
SELECT count(*), bool_and(snowflake_customer_id = customer_id), sum(touched) FROM orders;
SELECT * FROM steps('customers_id_seq');

-- An index that was not built to its end, and one of the name that is another.
SELECT snowflake._add_indexes('customers_id_seq', 'customers'), snowflake._add_indexes('customers_id_seq', 'orders');
SELECT pg_get_indexdef(indexrelid), indisvalid, indisready FROM pg_index WHERE indexrelid::regclass::text ~ 'snowflake_' ORDER BY 1;
SELECT substring(steps FROM 'snowflake_[0-9a-f]{16}') AS twin FROM steps('customers_id_seq') WHERE steps ~ '^REINDEX' LIMIT 1 \gset
DROP INDEX :twin;
CREATE INDEX :twin ON orders ((snowflake_customer_id % 10), id) WHERE snowflake_customer_id > 1;
CREATE INDEX snowflake_409433df1d9b330a_ccnew ON orders (snowflake_customer_id); -- as a REINDEX that was interrupted leaves one behind
SELECT * FROM steps('customers_id_seq') LIMIT 4;
\set ECHO none
SELECT run_next('customers_id_seq') \gexec
SELECT run_next('customers_id_seq') \gexec
SELECT run_next('customers_id_seq') \gexec
SELECT run_next('customers_id_seq') \gexec
SELECT run_next('customers_id_seq') \gexec
\set ECHO all
SELECT * FROM steps('customers_id_seq');
SELECT state, message, detail FROM outcome($$SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq', online => true)$$);
-- What is added meanwhile gets its twin.
CREATE INDEX late ON orders (customer_id);
CREATE INDEX gone ON orders (customer_id);
SELECT * FROM steps('customers_id_seq') LIMIT 3;
\set ECHO none
SELECT run_next('customers_id_seq') \gexec
SELECT run_next('customers_id_seq') \gexec
SELECT run_next('customers_id_seq') \gexec
\set ECHO all
DROP INDEX gone;
\set ECHO none
SELECT command FROM snowflake.conversion_plan('customers_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
SELECT * FROM steps('customers_id_seq');
SELECT * FROM snowflake.conversions;
\d customers
\d orders
SELECT count(*), min(id), max(id) <= 301, sum(parent_id) FROM customers;
INSERT INTO customers (name) VALUES ('snowflake') RETURNING snowflake.get_node(id);

-- Taken back.
DROP TABLE orders;
CREATE TABLE small (id smallserial PRIMARY KEY, x smallint REFERENCES small);
\set ECHO none
SELECT command FROM snowflake.conversion_plan('small_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\set ECHO all
SELECT is_filled, indexes_left, keys_left FROM snowflake.conversions;
SELECT snowflake.cancel_conversion('small_id_seq');
\d small
-- An identity, with nothing in it.
CREATE TABLE empty (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
\set ECHO none
SELECT command FROM snowflake.conversion_plan('empty_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
\d empty
-- Nothing to widen.
CREATE TABLE big (id bigserial PRIMARY KEY);
SELECT * FROM steps('big_id_seq');
\set ECHO none
SELECT run_next('big_id_seq') \gexec
\set ECHO all
SELECT * FROM steps('big_id_seq');

-- What is in the way.
CREATE TABLE parent (id serial);
CREATE TABLE child () INHERITS (parent);
SELECT obstacles('parent_id_seq');
CREATE TEMPORARY TABLE brief (id serial);
SELECT obstacles('pg_temp.brief_id_seq');
CREATE TABLE t (id serial PRIMARY KEY DEFERRABLE, twice integer GENERATED ALWAYS AS (id * 2) STORED, snowflake_id text);
CREATE TABLE r (t integer DEFAULT 1 REFERENCES small ON DELETE SET DEFAULT, EXCLUDE (t WITH =), EXCLUDE ((t % 9) WITH =));
ALTER TABLE small ADD UNIQUE (x);
CREATE MATERIALIZED VIEW m AS SELECT id FROM small;
CREATE INDEX whole ON small ((small IS NOT NULL));
ALTER TABLE small ADD CONSTRAINT whole CHECK (small IS DISTINCT FROM NULL);
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER "~zzz" BEFORE INSERT ON small FOR EACH ROW EXECUTE FUNCTION change();
CREATE TRIGGER "~zz" AFTER INSERT ON small FOR EACH ROW EXECUTE FUNCTION change();
SELECT obstacles('t_id_seq');
SELECT obstacles('small_id_seq');
SELECT obstacles('small_id_seq', online => false);
-- Rights that the owner cannot give in the name of others.
CREATE ROLE online_owner;
CREATE ROLE online_reader;
GRANT USAGE ON SCHEMA online TO online_owner, online_reader;
GRANT CREATE ON SCHEMA online TO online_owner;
CREATE TABLE granted (id serial PRIMARY KEY);
ALTER TABLE granted OWNER TO online_owner;
GRANT SELECT (id) ON granted TO online_reader WITH GRANT OPTION;
SET ROLE online_reader;
GRANT SELECT (id) ON granted TO PUBLIC;
SET ROLE online_owner;
SELECT obstacles('granted_id_seq');
RESET ROLE;
SELECT obstacles('granted_id_seq');
DROP TABLE granted;
REVOKE ALL ON SCHEMA online FROM online_owner, online_reader;
DROP ROLE online_owner, online_reader;
-- What only the swap would find is found now, and what goes with an identity named.
CREATE TABLE ahead (id serial PRIMARY KEY);
CREATE TABLE follower (ahead_id integer GENERATED ALWAYS AS IDENTITY REFERENCES ahead);
ALTER SEQUENCE ahead_id_seq AS bigint;
SELECT setval('ahead_id_seq', 9000000000000000000);
SELECT obstacles('ahead_id_seq');
SELECT setval('ahead_id_seq', 1);
DROP TABLE follower;
SELECT obstacles('ahead_id_seq');
DROP TABLE ahead;
-- The server prints all columns of a table where aliases are listed, or a function returns its rows: one too many for the
-- table of after the swap, or in another order.
CREATE TABLE listed (id serial PRIMARY KEY, a integer, b integer);
CREATE FUNCTION listed_rows() RETURNS SETOF listed LANGUAGE sql AS 'SELECT * FROM listed';
CREATE VIEW by_alias AS SELECT x.k FROM listed x(k, l, m);
CREATE VIEW by_join AS SELECT j.k FROM (listed JOIN small ON true) j(k, l, m);
CREATE VIEW by_function AS SELECT * FROM listed_rows();
CREATE FUNCTION by_body() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT (SELECT sum(k) FROM listed AS x(k)); END;
CREATE FUNCTION by_columns() RETURNS SETOF listed LANGUAGE sql BEGIN ATOMIC SELECT id, a, b FROM listed; END;
CREATE FUNCTION by_returning() RETURNS listed LANGUAGE sql BEGIN ATOMIC INSERT INTO listed (a) VALUES (1) RETURNING id, a, b; END;
CREATE VIEW by_row AS SELECT to_jsonb(ROW(id, 1, 2)::listed) AS x FROM listed;
CREATE POLICY by_policy ON small USING (EXISTS (SELECT FROM listed x(k) WHERE k = small.id));
CREATE RULE by_rule AS ON DELETE TO listed DO SELECT x.k FROM listed x(k);
-- These name the columns one by one, or other columns.
CREATE FUNCTION fine_rows() RETURNS SETOF listed LANGUAGE sql BEGIN ATOMIC SELECT x FROM listed x WHERE x.id > 0; END;
CREATE VIEW fine (k) AS SELECT listed.id FROM listed JOIN small USING (id);
CREATE VIEW fine_too AS SELECT f.k FROM fine f(k) JOIN (SELECT id FROM listed) s(i) ON true;
SELECT obstacles('listed_id_seq');
SELECT obstacles('listed_id_seq', online => false);
DROP TABLE listed CASCADE;
-- The last column as well: the function would fail as long as there is a new column beside it.
CREATE TABLE ends (id serial PRIMARY KEY);
CREATE TABLE ends_with (name text, last integer REFERENCES ends);
CREATE FUNCTION ending() RETURNS SETOF ends_with LANGUAGE sql BEGIN ATOMIC SELECT name, last FROM ends_with; END;
SELECT obstacles('ends_id_seq');
DROP FUNCTION ending;
DROP TABLE ends, ends_with;
-- A column with the name of a shadow may hold numbers of the user, who says that it does not.
ALTER TABLE small ADD COLUMN snowflake_id bigint;
SELECT * FROM obstacles('small_id_seq') WHERE obstacles ~ 'shadow';
COMMENT ON COLUMN small.snowflake_id IS 'snowflake';
SELECT * FROM obstacles('small_id_seq') WHERE obstacles ~ 'shadow';

-- A subscription finds the rows of a table without a key by all columns.
CREATE TABLE received (id serial);
SET client_min_messages = error;
CREATE SUBSCRIPTION regress_received CONNECTION 'dbname=none' PUBLICATION none WITH (connect = false, slot_name = NONE);
SET client_min_messages = warning;
SET allow_system_table_mods = on;
INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate)
    SELECT oid, 'received'::regclass, 'r' FROM pg_subscription WHERE subname = 'regress_received';
RESET allow_system_table_mods;
SELECT obstacles('received_id_seq');
ALTER TABLE received ADD PRIMARY KEY (id);
SELECT obstacles('received_id_seq');
DROP SUBSCRIPTION regress_received;
-- A foreign key that is not enforced, or not only here, has no twin that would be.
CREATE TABLE loose (id integer REFERENCES received);
ALTER TABLE loose DISABLE TRIGGER ALL;
SELECT obstacles('received_id_seq');
ALTER TABLE loose ENABLE TRIGGER ALL;
SELECT obstacles('received_id_seq');
DROP TABLE loose;

-- The check tells the server that there are no nulls. It is another one when the column gets, or loses, its NOT NULL; and
-- only this very check proves anything.
CREATE TABLE maybe (id serial UNIQUE, received_id integer REFERENCES received);
INSERT INTO received SELECT i FROM generate_series(1, 3) i;
INSERT INTO maybe (received_id) VALUES (1), (2);
SELECT snowflake._add_shadows('received_id_seq', 'received'), snowflake._add_shadows('received_id_seq', 'maybe');
CALL snowflake._fill_shadows('received_id_seq', 'maybe');
ALTER TABLE maybe ALTER COLUMN received_id SET NOT NULL;
SELECT * FROM steps('received_id_seq') WHERE steps ~ 'maybe|_add_shadows';
SELECT snowflake._add_shadows('received_id_seq', 'received'), snowflake._add_shadows('received_id_seq', 'maybe');
CALL snowflake._fill_shadows('received_id_seq', 'maybe');
SELECT pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE conname = 'snowflake_received_id';
ALTER TABLE maybe ALTER COLUMN received_id DROP NOT NULL;
INSERT INTO maybe (received_id) VALUES (NULL);
UPDATE maybe SET received_id = NULL;
SELECT snowflake._add_shadows('received_id_seq', 'received'), snowflake._add_shadows('received_id_seq', 'maybe');
INSERT INTO maybe (received_id) VALUES (NULL) RETURNING snowflake_received_id;
ALTER TABLE maybe DROP CONSTRAINT snowflake_received_id,
    ADD CONSTRAINT snowflake_received_id CHECK (received_id < 10 OR snowflake_received_id < 10);
SELECT is_filled FROM snowflake.conversions WHERE table_name = 'maybe'::regclass;
SELECT * FROM obstacles('received_id_seq') WHERE obstacles ~ 'maybe';
SELECT snowflake.cancel_conversion('received_id_seq');
SELECT finding, command FROM snowflake.check() WHERE object ~ 'maybe';
SELECT command FROM snowflake.check() WHERE object ~ 'maybe' \gexec

-- Twins: of originals with the same definition, of expressions of all kinds, and the same in a session with other settings.
CREATE TABLE twins (id serial PRIMARY KEY, x integer, at timestamptz,
                    CONSTRAINT a CHECK (id > -1 AND id IN (1, 2, 3) AND coalesce(id, 7) + x::smallint <> ALL ('{8,9}')),
                    CONSTRAINT b CHECK (id % 7 < 5 AND greatest(id, x) / 2.5 < 100 AND id::text ~ '^\d'),
                    CONSTRAINT c CHECK (id <> 4), CONSTRAINT d CHECK (id <> 4));
CREATE INDEX part ON twins ((CASE id WHEN 1 THEN x ELSE mod(id, 3) END)) WHERE nullif(id, 2) BETWEEN 1 AND 5;
CREATE INDEX recent ON twins (id) WHERE at > '2026-02-01 00:00+00';
CREATE INDEX again ON twins (id) WHERE at > '2026-02-01 00:00+00';
CREATE INDEX casts ON twins ((id::bigint), x);
INSERT INTO twins VALUES (1), (2);
\set ECHO none
SELECT command FROM snowflake.conversion_plan('twins_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\set ECHO all
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'twins'::regclass AND indexrelid::regclass::text ~ 'snowflake_' ORDER BY 1;
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Kolkata';
SET quote_all_identifiers = on;
SELECT * FROM steps('twins_id_seq');
SELECT is_filled, indexes_left FROM snowflake.conversions;
-- Others take the place of two, under their names.
ALTER TABLE twins DROP CONSTRAINT c, ADD CONSTRAINT c CHECK (id <> 5);
DROP INDEX again;
CREATE INDEX again ON twins (id DESC);
SELECT * FROM steps('twins_id_seq');
\set ECHO none
SELECT command FROM snowflake.conversion_plan('twins_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
RESET DateStyle;
RESET quote_all_identifiers;
SET TimeZone = 'UTC';
\d twins
RESET TimeZone;
DROP TABLE twins;

-- Another sequence of the table is converted while indexes are not built yet.
CREATE TABLE twice (id serial, other serial, x integer);
CREATE INDEX ON twice (x, id);
SELECT snowflake._add_shadows('twice_id_seq', 'twice');
CALL snowflake._fill_shadows('twice_id_seq', 'twice');
SELECT snowflake._add_indexes('twice_id_seq', 'twice');
SELECT snowflake.convert_sequence_to_snowflake('twice_other_seq');
\set ECHO none
SELECT command FROM snowflake.conversion_plan('twice_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
\d twice
DROP TABLE twice;

-- Statistics are there before the swap, where there were some, also those of an expression in an index; and those from when
-- the new column was not filled are collected again.
CREATE TABLE counted (id serial PRIMARY KEY, n integer) WITH (autovacuum_enabled = off);
CREATE INDEX counted_digit ON counted ((id % 10));
CREATE TABLE not_counted (counted_id integer REFERENCES counted) WITH (autovacuum_enabled = off);
INSERT INTO counted (n) SELECT i FROM generate_series(1, 100) i;
INSERT INTO not_counted SELECT i FROM generate_series(1, 100) i;
ANALYZE counted;
SELECT * FROM steps('counted_id_seq') WHERE steps ~ '_analyze';
SELECT snowflake._add_shadows('counted_id_seq', 'counted');
ANALYZE counted;
SELECT * FROM steps('counted_id_seq') WHERE steps ~ '_analyze';
SELECT snowflake._analyze('counted_id_seq', 'customers');
\set ECHO none
SELECT * FROM steps('counted_id_seq') LIMIT 7 \gexec
\set ECHO all
SELECT * FROM steps('counted_id_seq') WHERE steps !~ '_key|_validate';
\set ECHO none
SELECT * FROM steps('counted_id_seq') \gexec
\set ECHO all
SELECT tablename, attname, null_frac, n_distinct FROM pg_stats WHERE tablename ~ 'counted' ORDER BY 1, 2;
DROP TABLE counted CASCADE;
DROP TABLE not_counted;

-- Foreign keys that are dropped midway: their columns are widened along all the same, and what was built for the keys goes.
CREATE TABLE kept (id serial PRIMARY KEY, parent_id integer REFERENCES kept, note text) WITH (autovacuum_enabled = off);
CREATE TABLE let_go (kept_id integer NOT NULL REFERENCES kept) WITH (autovacuum_enabled = off);
INSERT INTO kept SELECT i, nullif(i - 1, 0), 'note' FROM generate_series(1, 5) i;
INSERT INTO let_go SELECT i FROM generate_series(1, 5) i;
\set ECHO none
SELECT * FROM steps('kept_id_seq') WHERE steps !~ 'convert_sequence|parent_id' \gexec
\set ECHO all
ALTER TABLE kept DROP CONSTRAINT kept_parent_id_fkey;
ALTER TABLE let_go DROP CONSTRAINT let_go_kept_id_fkey;
SELECT * FROM steps('kept_id_seq');
-- It can be cancelled, too.
BEGIN;
SELECT snowflake.cancel_conversion('kept_id_seq');
SELECT attrelid::regclass, attname, atttypid::regtype FROM pg_attribute
    WHERE attrelid IN ('kept'::regclass, 'let_go'::regclass) AND attnum > 0 AND NOT attisdropped ORDER BY 1, attnum;
ROLLBACK;
\set ECHO none
SELECT * FROM steps('kept_id_seq') \gexec
\set ECHO all
SELECT attrelid::regclass, attname, atttypid::regtype FROM pg_attribute
    WHERE attrelid IN ('kept'::regclass, 'let_go'::regclass) AND attnum > 0 AND NOT attisdropped ORDER BY 1, attnum;
SELECT count(*), sum(id), sum(parent_id), min(note) FROM kept;
SELECT count(*), sum(kept_id) FROM let_go;
SELECT tgrelid::regclass FROM pg_trigger WHERE tgfoid = 'snowflake._keep_shadow()'::regprocedure;
DROP TABLE kept, let_go;
-- Data that is restored into the schema of a conversion midway, with triggers disabled: rows that were not filled fail on the
-- check. Without it they come in, and the plan makes good what is missing, where a comment says whose the column is.
CREATE TABLE restored (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('restored_id_seq', 'restored');
ALTER TABLE restored DISABLE TRIGGER ALL;
INSERT INTO restored (id, snowflake_id) VALUES (1, NULL);
ALTER TABLE restored DROP CONSTRAINT snowflake_id;
INSERT INTO restored (id, snowflake_id) VALUES (1, NULL), (2, 2);
ALTER TABLE restored ENABLE TRIGGER ALL;
SELECT obstacles('restored_id_seq');
COMMENT ON COLUMN restored.snowflake_id IS 'snowflake';
\set ECHO none
SELECT * FROM steps('restored_id_seq') \gexec
\set ECHO all
SELECT id, pg_typeof(id) FROM restored ORDER BY id;
\d restored
DROP TABLE restored;

-- statement_timeout bounds each batch of a filling, and not the whole, which takes longer.
CREATE TABLE slow (id serial PRIMARY KEY, item text) WITH (fillfactor = 10, autovacuum_enabled = off);
INSERT INTO slow (item) SELECT repeat('x', 100) FROM generate_series(1, 500) i;
SELECT pg_relation_size('slow') / current_setting('block_size')::integer BETWEEN 17 AND 111 AS takes_three_batches;
SELECT snowflake._add_shadows('slow_id_seq', 'slow');
SET statement_timeout = '7 s';
CALL snowflake._fill_shadows('slow_id_seq', 'slow', pause => '4 s');
RESET statement_timeout;
SELECT count(*) FROM slow WHERE snowflake_id = id;
DROP TABLE slow;

-- Two sequences of one table, one after the other.
CREATE TABLE two (a serial PRIMARY KEY, b serial UNIQUE);
SELECT snowflake._add_shadows('two_a_seq', 'two');
SELECT obstacles('two_b_seq');
-- A view that was made meanwhile.
CREATE VIEW meanwhile AS SELECT * FROM two;
SELECT obstacles('two_a_seq');
DROP VIEW meanwhile;
-- The extension does not go, and leave the shadow behind, which a check would not let be wrong.
INSERT INTO two DEFAULT VALUES;
DROP EXTENSION snowflake;
DROP EXTENSION IF EXISTS nothing, snowflake CASCADE;
DROP SCHEMA snowflake CASCADE;
-- Schemas of others are not concerned.
CREATE SCHEMA snowflake_stage;
CREATE SCHEMA "my snowflake";
CREATE SCHEMA "Snowflake";
CREATE SCHEMA my$snowflake$1;
DROP SCHEMA snowflake_stage;
DROP SCHEMA "my snowflake", "Snowflake";
DROP SCHEMA my$snowflake$1;
DROP SCHEMA IF EXISTS nothing, "snowflake" CASCADE;
DO $$BEGIN DROP SCHEMA snowflake CASCADE; END$$;
CREATE ROLE "regress_Snowflake_owner";
CREATE ROLE regress_snowflake_other;
SELECT extowner FROM pg_extension WHERE extname = 'snowflake' \gset
UPDATE pg_extension SET extowner = '"regress_Snowflake_owner"'::regrole WHERE extname = 'snowflake';
DROP OWNED BY regress_snowflake_other, "regress_Snowflake_owner" CASCADE;
-- Names that the text of the outermost query does not show.
DO $$BEGIN EXECUTE format('DROP OWNED BY %I CASCADE', 'regress_' || 'Snowflake_owner'); END$$;
CREATE FUNCTION drop_owned(role text) RETURNS void LANGUAGE plpgsql AS
    $$BEGIN EXECUTE format('DROP OWNED BY %I CASCADE', 'regress_' || role); END$$;
SELECT drop_owned('Snowflake_owner');
DROP OWNED BY U&"regress\005fSnowflake_owner" CASCADE;
SELECT 1\; DROP OWNED BY regress_snowflake_other CASCADE;
DROP FUNCTION drop_owned;
SET ROLE "regress_Snowflake_owner";
DROP OWNED BY CURRENT_ROLE CASCADE;
RESET ROLE;
DROP OWNED BY regress_snowflake_other CASCADE;
SET ROLE regress_snowflake_other;
DROP OWNED BY CURRENT_USER CASCADE;
RESET ROLE;
-- A table of a stranger keeps the owner of the extension from nothing.
BEGIN;
ALTER TABLE two OWNER TO regress_snowflake_other;
SET ROLE "regress_Snowflake_owner";
DROP OWNED BY CURRENT_ROLE;
ROLLBACK;
UPDATE pg_extension SET extowner = :extowner WHERE extname = 'snowflake';
DROP ROLE regress_snowflake_other, "regress_Snowflake_owner";
-- The first calls of a session in which strings escape. From PostgreSQL 19 on, no setting makes them, without an E.
SELECT current_setting('server_version_num')::integer < 190000 AS strings_can_escape \gset
\c -
SET search_path = online;
SET client_min_messages = warning;
\if :strings_can_escape
SET standard_conforming_strings = off;
\endif
DROP EXTENSION snowflake CASCADE;
\c -
SET search_path = online;
SET client_min_messages = warning;
\if :strings_can_escape
SET standard_conforming_strings = off;
\endif
CALL snowflake._fill_shadows('two_a_seq', 'two');
SELECT sequence, is_filled FROM snowflake.conversions;
SELECT obstacles('two_b_seq');
RESET standard_conforming_strings;
SET session_replication_role = replica;
DROP EXTENSION snowflake CASCADE;
RESET session_replication_role;
DROP SCHEMA nothing;
SELECT snowflake._refuse_to_drop();
-- A shadow whose trigger is gone is found by its check.
DROP TRIGGER "~snowflake_a" ON two;
INSERT INTO two DEFAULT VALUES;
SELECT * FROM steps('two_a_seq') LIMIT 1;
SELECT obstacles('two_a_seq', online => false);
SELECT snowflake.cancel_conversion('two_a_seq');
INSERT INTO two DEFAULT VALUES;
BEGIN;
DROP EXTENSION snowflake;
ROLLBACK;
-- Nothing of it is left.
SELECT snowflake.cancel_conversion('two_a_seq');

-- The activity is that of this table, not of one whose name goes on.
CREATE TABLE bills (id serial PRIMARY KEY);
CREATE TABLE bills_archive (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('bills_id_seq', 'bills'), snowflake._add_shadows('bills_archive_id_seq', 'bills_archive');
CREATE FUNCTION activities(activity text)
    RETURNS TABLE (table_name regclass, percent integer, bytes_left bigint, has_rate boolean, active text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM snowflake._show_activity(activities.activity);
    RETURN QUERY SELECT c.table_name, c.percent, c.bytes_left, c.bytes_a_second > 0, c.activity FROM snowflake.conversions c;
END $$;
SELECT * FROM activities('snowflake: filling table online.bills_archive: waiting for a replica');
SELECT * FROM activities('snowflake: validating constraint x of table online.bills');
-- Two of four pages: the table is larger by now, and in the end its index gets a twin.
INSERT INTO bills SELECT FROM generate_series(1, 2000);
SELECT pg_relation_size('bills') > 4 * current_setting('block_size')::integer AS is_larger;
SELECT * FROM activities('snowflake: filling table online.bills: 2 of 4 pages, 00:00:01 left');
-- Whoever can act for the owner can write any text there.
SELECT table_name, percent FROM activities(format('snowflake: filling table online.bills: %s of 1 pages, ', repeat('9', 500)));
SELECT table_name, percent FROM activities('snowflake: filling table online.bills: 9999999999 of 0 pages, ');
CALL snowflake._fill_shadows('bills_id_seq', 'bills');
SELECT table_name, percent > 50 AS is_mostly_done, bytes_left = pg_relation_size('bills_pkey') AS is_index_left
    FROM snowflake.conversions WHERE table_name = 'bills'::regclass;
-- The estimate is that of what is left.
INSERT INTO bills_archive SELECT FROM generate_series(1, 40000);
SELECT step, command, regexp_replace(effect, '[0-9]+', 'n', 'g') AS effect FROM snowflake.conversion_plan('bills_archive_id_seq', online => true)
    WHERE step < 2;
CALL snowflake._fill_shadows('bills_archive_id_seq', 'bills_archive');
SELECT min(step) FROM snowflake.conversion_plan('bills_archive_id_seq', online => true);
DROP TABLE bills, bills_archive;

-- A sequence that has another name by now. The plan adds the trigger again.
CREATE TABLE renamed (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('renamed_id_seq', 'renamed');
ALTER SEQUENCE renamed_id_seq RENAME TO other_name;
SELECT sequence FROM snowflake.conversions;
SELECT finding, command FROM snowflake.check() WHERE object ~ 'renamed';
DROP EXTENSION snowflake CASCADE;
SELECT * FROM steps('other_name') LIMIT 2;
SELECT snowflake._add_shadows('other_name', 'renamed');
SELECT sequence FROM snowflake.conversions;
SELECT snowflake.cancel_conversion('other_name');
DROP TABLE renamed;
-- One that is gone with its table: the commands leave nothing in the referencing one.
CREATE TABLE gone (id serial PRIMARY KEY);
CREATE TABLE left_over (gone_id integer REFERENCES gone);
SELECT snowflake._add_shadows('gone_id_seq', 'gone'), snowflake._add_shadows('gone_id_seq', 'left_over');
DROP TABLE gone CASCADE;
DROP EXTENSION snowflake CASCADE;
SELECT command AS mend FROM snowflake.check() WHERE object ~ 'left_over' \gset
:mend;
SELECT object FROM snowflake.check() WHERE object ~ 'left_over';
INSERT INTO left_over VALUES (1);
DROP TABLE left_over;

-- A table that is renamed when all is built, and an index that is altered: their twins are built anew.
CREATE TABLE named (id serial PRIMARY KEY);
CREATE TABLE naming (id serial PRIMARY KEY, named_id integer REFERENCES named);
INSERT INTO named DEFAULT VALUES;
INSERT INTO naming (named_id) VALUES (1);
\set ECHO none
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\set ECHO all
ALTER TABLE named RENAME TO renamed;
ALTER INDEX named_pkey SET (fillfactor = 50);
SELECT regexp_replace(step, 'snowflake_[0-9a-f]{16}', 'twin', 'g') AS step FROM steps('named_id_seq') step;
\set ECHO none
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
\d renamed
\d naming
DROP TABLE renamed, naming;
-- A sequence that is renamed, or whose triggers were switched off, and columns that are renamed as well.
CREATE TABLE named (id serial PRIMARY KEY);
CREATE TABLE naming (id serial PRIMARY KEY, named_id integer REFERENCES named);
INSERT INTO named DEFAULT VALUES;
INSERT INTO naming (named_id) VALUES (1);
SET snowflake.convert_new_columns = on;
\set ECHO none
\o /dev/null
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\o
\set ECHO all
RESET snowflake.convert_new_columns;
ALTER SEQUENCE named_id_seq RENAME TO other_name;
ALTER TABLE named RENAME id TO key;
ALTER TABLE named DISABLE TRIGGER ALL;
ALTER TABLE named ENABLE TRIGGER ALL;
ALTER TABLE naming RENAME named_id TO other_id;
ALTER TABLE naming RENAME snowflake_named_id TO other_copy;
SELECT table_name, column_name, new_column FROM snowflake.conversions;
DROP EXTENSION snowflake CASCADE;
\set ECHO none
\o /dev/null
SELECT command FROM snowflake.conversion_plan('other_name', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\o
\set ECHO all
\d named
\d naming
INSERT INTO named DEFAULT VALUES;
INSERT INTO naming (other_id) SELECT max(key) FROM named RETURNING snowflake.get_node(other_id);
DROP TABLE named, naming;
-- A shadow that is renamed, whose column gets another NOT NULL; an index beside that of the primary key.
CREATE TABLE named (id serial PRIMARY KEY);
CREATE TABLE naming (id serial PRIMARY KEY, named_id integer REFERENCES named);
INSERT INTO named DEFAULT VALUES;
INSERT INTO naming (named_id) VALUES (1);
\set ECHO none
\o /dev/null
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
ALTER TABLE naming RENAME snowflake_named_id TO other_copy;
ALTER TABLE naming ALTER named_id SET NOT NULL;
CREATE INDEX extra ON named (id);
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\o
\set ECHO all
\d named
\d naming
DROP TABLE named, naming;

-- A name that the catalog keeps as bytes.
CREATE TABLE "back\slash" (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('"back\slash_id_seq"', '"back\slash"');
SELECT sequence FROM snowflake.conversions;
DROP EXTENSION snowflake CASCADE;
SELECT snowflake.cancel_conversion(seq) FROM (SELECT DISTINCT sequence::regclass FROM snowflake.conversions) c(seq);
-- The comment that offers a column does not stay.
ALTER TABLE "back\slash" ADD COLUMN snowflake_id bigint;
COMMENT ON COLUMN "back\slash".snowflake_id IS 'snowflake';
\set ECHO none
SELECT command FROM snowflake.conversion_plan('"back\slash_id_seq"', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
SELECT col_description(attrelid, attnum) IS NULL AS without_comment FROM pg_attribute
    WHERE attrelid = '"back\slash"'::regclass AND attname = 'id';

-- Names of 63 bytes that differ at their ends.
CREATE TABLE longest (a2345678901234567890123456789012345678901234567890123456789_1 serial PRIMARY KEY,
                      a2345678901234567890123456789012345678901234567890123456789_2 integer REFERENCES longest);
SELECT obstacles(pg_get_serial_sequence('longest', 'a2345678901234567890123456789012345678901234567890123456789_1'));
ALTER TABLE longest RENAME a2345678901234567890123456789012345678901234567890123456789_2 TO b23456789012345678901234567890123456789012345678901234567890123;
\set ECHO none
SELECT command FROM snowflake.conversion_plan(pg_get_serial_sequence('longest', 'a2345678901234567890123456789012345678901234567890123456789_1'),
                                              online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
\d longest
DROP TABLE longest;

-- The greatest number that a bigint column holds is looked for under the lock.
CREATE TABLE numbers (id serial PRIMARY KEY);
CREATE TABLE counted (id bigint DEFAULT nextval('numbers_id_seq'));
SELECT obstacles('numbers_id_seq');
INSERT INTO counted SELECT i FROM generate_series(1, 40000) i;
CREATE INDEX ON counted (id DESC);
CREATE INDEX ON counted (id) WHERE id > 5;
SELECT obstacles('numbers_id_seq');
CREATE INDEX ON counted (id);
SELECT obstacles('numbers_id_seq');
DROP TABLE counted;

-- Functions that indexes and checks call find the search_path of the caller.
CREATE FUNCTION strip(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN btrim($1); END';
CREATE FUNCTION norm(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN lower(strip($1)); END';
CREATE FUNCTION fine(integer) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN strip($1::text) <> ''''; END';
CREATE FUNCTION fine(bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN strip($1::text) <> ''''; END';
CREATE TABLE by_path (id serial PRIMARY KEY, name text, CHECK (fine(id))) WITH (autovacuum_enabled = off);
CREATE INDEX ON by_path (norm(name));
INSERT INTO by_path (name) VALUES (' A'), ('b');
\set ECHO none
SELECT * FROM steps('by_path_id_seq') \gexec
\set ECHO all
INSERT INTO by_path (name) VALUES ('C') RETURNING snowflake.get_node(id);
-- A session that lets a key wait for its commit names the original.
CREATE TABLE branch (id serial PRIMARY KEY, parent integer CONSTRAINT of_parent REFERENCES branch DEFERRABLE);
SELECT effect FROM snowflake.conversion_plan('branch_id_seq', online => true) WHERE effect ~ 'SET CONSTRAINTS';
\set ECHO none
SELECT command FROM snowflake.conversion_plan('branch_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\set ECHO all
BEGIN;
SET CONSTRAINTS of_parent DEFERRED;
INSERT INTO branch VALUES (2, 1), (1, NULL);
COMMIT;
INSERT INTO branch VALUES (4, 3);
SELECT snowflake.convert_sequence_to_snowflake('branch_id_seq', online => true);
SELECT conname, condeferrable, condeferred FROM pg_constraint WHERE conrelid = 'branch'::regclass AND contype = 'f';
INSERT INTO branch VALUES (4, 3);
BEGIN;
SET CONSTRAINTS of_parent DEFERRED;
INSERT INTO branch VALUES (4, 3), (3, NULL);
COMMIT;
-- A view or policy that was made meanwhile is not dropped, whoever owns it.
CREATE TABLE seen_meanwhile (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('seen_meanwhile_id_seq', 'seen_meanwhile');
CREATE VIEW sees AS SELECT * FROM seen_meanwhile;
SELECT snowflake.cancel_conversion('seen_meanwhile_id_seq');
DROP VIEW sees;
CREATE POLICY sees ON by_path AS RESTRICTIVE USING (EXISTS (SELECT * FROM seen_meanwhile s WHERE s.id = by_path.id));
SELECT snowflake.cancel_conversion('seen_meanwhile_id_seq');
DROP POLICY sees ON by_path;
CREATE ROLE online_reader;
GRANT USAGE, CREATE ON SCHEMA online TO online_reader;
ALTER TABLE seen_meanwhile OWNER TO online_reader;
CREATE ROLE online_owner;
GRANT USAGE, CREATE ON SCHEMA online TO online_owner;
GRANT SELECT ON seen_meanwhile TO online_owner;
SET ROLE online_owner;
CREATE TABLE restricted (id integer);
CREATE POLICY sees ON restricted AS RESTRICTIVE USING (EXISTS (SELECT * FROM seen_meanwhile s WHERE s.id = restricted.id));
SET ROLE online_reader;
SELECT snowflake.cancel_conversion('seen_meanwhile_id_seq');
SET ROLE online_owner;
DROP TABLE restricted;
SET ROLE online_reader;
SELECT snowflake.cancel_conversion('seen_meanwhile_id_seq');
RESET ROLE;
DROP TABLE seen_meanwhile;
REVOKE ALL ON SCHEMA online FROM online_owner, online_reader;
DROP ROLE online_owner, online_reader;

-- Nobody converts, fills or takes back what is another's.
CREATE ROLE online_stranger;
GRANT USAGE ON SCHEMA online TO online_stranger;
SET ROLE online_stranger;
SELECT * FROM snowflake.conversion_plan('two_a_seq', online => true);
SELECT snowflake._add_shadows('two_a_seq', 'two');
SELECT snowflake.cancel_conversion('two_a_seq');
CALL snowflake._fill_shadows('two_a_seq', 'two');
SELECT * FROM snowflake._fill_pages('two', 0, 1, false);
SELECT snowflake._validate('two', 'x');
RESET ROLE;
-- Misuse.
SELECT * FROM snowflake._fill_pages('two', 0, 1, false);
SELECT * FROM snowflake._fill_pages('two_a_seq', 0, 1, false);
SELECT * FROM snowflake._fill_pages(0, 0, 1, false);
-- How far replicas may be behind is looked at before anything is changed.
CREATE TABLE of_stranger (id serial);
SELECT snowflake.conversion_plan('of_stranger_id_seq', online => true, max_lag => 'much');
SELECT snowflake.conversion_plan('of_stranger_id_seq', online => true, max_lag => '-1 MB');
ALTER TABLE of_stranger OWNER TO online_stranger;
GRANT USAGE ON SCHEMA online TO online_stranger;
SET ROLE online_stranger;
SELECT snowflake.conversion_plan('online.of_stranger_id_seq', online => true, max_lag => '1 MB');
RESET ROLE;
-- A table that has had as many columns as a table can.
CREATE TABLE full_of_columns (id serial);
DO $$ BEGIN
    EXECUTE (SELECT format('ALTER TABLE full_of_columns %s', string_agg('ADD c' || i || ' integer', ', ')) FROM generate_series(1, 1599) i);
    EXECUTE (SELECT format('ALTER TABLE full_of_columns %s', string_agg('DROP c' || i, ', ')) FROM generate_series(1, 1599) i);
END $$;
SELECT snowflake.conversion_plan('full_of_columns_id_seq', online => true);
-- The server relies on NOT NULL when it reads a row.
CREATE TABLE strict (source integer, shadow bigint NOT NULL, item text);
INSERT INTO strict VALUES (NULL, 1, 'item');
ALTER TABLE strict ADD CONSTRAINT snowflake_source CHECK (shadow IS NOT DISTINCT FROM source) NOT VALID;
CREATE TRIGGER kept BEFORE INSERT OR UPDATE ON strict FOR EACH ROW
    WHEN (NEW.shadow IS DISTINCT FROM NEW.source OR NEW.source IS NULL) EXECUTE FUNCTION snowflake._keep_shadow();
ALTER TABLE strict ENABLE ALWAYS TRIGGER kept;
SELECT * FROM snowflake._fill_pages('strict', 0, 1, false);
SELECT * FROM strict;
-- A trigger that keeps nothing changes nothing.
CREATE TRIGGER wrong BEFORE INSERT ON two FOR EACH ROW EXECUTE FUNCTION snowflake._keep_shadow();
INSERT INTO two DEFAULT VALUES;
DROP TRIGGER wrong ON two;
CREATE TRIGGER wrong AFTER INSERT ON two FOR EACH ROW EXECUTE FUNCTION snowflake._keep_shadow();
INSERT INTO two DEFAULT VALUES;
SELECT snowflake.conversion_plan('small_id_seq', online => NULL);

DROP SCHEMA online CASCADE;
DROP ROLE online_stranger;
