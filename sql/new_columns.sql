-- snowflake.convert_new_columns: columns are converted by the command that makes them.
SET snowflake.node = 5;
\set SHOW_CONTEXT never
CREATE SCHEMA made;
SET search_path = made;
CREATE FUNCTION columns(VARIADIC tables text[]) RETURNS TABLE (col text, type regtype, expression text, guarded boolean)
    LANGUAGE sql SET search_path = '' AS $$
    SELECT pg_catalog.concat_ws('.', c.relname, a.attname), a.atttypid,
           pg_catalog.pg_get_expr(f.adbin, f.adrelid) || pg_catalog.left(a.attidentity::text, 0),
           (SELECT q.seqincrement = snowflake._guard() FROM pg_catalog.pg_sequence q
                JOIN pg_catalog.pg_depend d ON d.objid = q.seqrelid AND d.refobjid = c.oid AND d.refobjsubid = a.attnum LIMIT 1)
        FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_catalog.pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum
        WHERE c.relname = ANY (tables) AND c.relnamespace = 'made'::regnamespace
        ORDER BY c.relname, a.attnum $$;

-- Off, and off by default, in whatever words: nothing happens.
SET snowflake.convert_new_columns = maybe; -- before the module is loaded
CREATE TABLE refused (id serial);
RESET snowflake.convert_new_columns;
CREATE TABLE before (id serial PRIMARY KEY, other integer GENERATED ALWAYS AS IDENTITY);
SET snowflake.convert_new_columns = no;
CREATE TABLE before_2 (id bigserial);
SELECT * FROM columns('before', 'before_2');
LOAD 'snowflake';
SHOW snowflake.convert_new_columns;
SET snowflake.convert_new_columns = maybe;
RESET snowflake.convert_new_columns;
SHOW snowflake.convert_new_columns;

-- On: serial columns, identities, and references in the same command.
SET snowflake.convert_new_columns = on;
CREATE TABLE customers (id serial PRIMARY KEY, name text);
CREATE TABLE orders (id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id integer REFERENCES customers);
CREATE TABLE IF NOT EXISTS orders (id serial);
SELECT * FROM columns('customers', 'orders');
INSERT INTO customers (name) VALUES ('Ada');
INSERT INTO orders (customer_id) SELECT id FROM customers;
SELECT snowflake.get_node(id), snowflake.get_node(customer_id), pg_get_serial_sequence('orders', 'id') FROM orders;

-- A foreign key that is added later widens its empty table; below it, too. One with rows is a WARNING that says what
-- to run, and so is what something stands in the way of.
CREATE TABLE items (order_id integer, note text);
CREATE TABLE full_items (order_id integer, line smallint);
INSERT INTO full_items VALUES (NULL, 1);
CREATE TABLE seen_items (order_id integer);
CREATE VIEW seen AS SELECT order_id FROM seen_items;
ALTER TABLE items ADD FOREIGN KEY (order_id) REFERENCES orders;
ALTER TABLE full_items ADD FOREIGN KEY (order_id) REFERENCES orders;
ALTER TABLE seen_items ADD FOREIGN KEY (order_id) REFERENCES orders;
SELECT * FROM columns('items', 'full_items', 'seen_items');
SELECT snowflake._widen('made.full_items', 'order_id');
SELECT snowflake.convert_sequence_to_snowflake('made.orders_id_seq');
SELECT * FROM columns('seen_items', 'seen');
-- Expressions that take integers only, and rows of a type, do not end the command either.
CREATE TABLE checked_items (order_id integer REFERENCES orders CHECK (order_id::boolean));
CREATE TABLE indexed_items (order_id integer);
CREATE INDEX ON indexed_items ((order_id::boolean));
ALTER TABLE indexed_items ADD FOREIGN KEY (order_id) REFERENCES orders;
CREATE TYPE item AS (order_id integer);
CREATE TABLE typed_items OF item (FOREIGN KEY (order_id) REFERENCES orders);
SELECT * FROM columns('checked_items', 'indexed_items', 'typed_items');
-- What somebody's event trigger refuses is refused.
CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no ALTER TABLE today' USING ERRCODE = 'insufficient_privilege'; END $$;
CREATE EVENT TRIGGER regress_snowflake_refuse ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION refuse();
CREATE TABLE refused_items (order_id integer REFERENCES orders CHECK (order_id > 0));
DROP EVENT TRIGGER regress_snowflake_refuse;
CREATE TABLE keys (order_id integer PRIMARY KEY REFERENCES orders);
CREATE TABLE key_copies (order_id integer REFERENCES keys);
CREATE TABLE plain_keys (id integer PRIMARY KEY);
CREATE TABLE plain_references (id integer REFERENCES plain_keys, own integer);
SELECT * FROM columns('keys', 'key_copies', 'plain_references');

-- A table that was there before keeps its columns, whatever is altered in it; new columns of it are converted.
ALTER TABLE before ADD COLUMN note text;
ALTER TABLE before_2 ADD COLUMN added bigserial;
SELECT * FROM columns('before', 'before_2');
INSERT INTO before DEFAULT VALUES;
ALTER TABLE before ADD COLUMN small serial CHECK (small > 0);
ALTER TABLE before ADD COLUMN large bigserial;
ALTER TABLE before ADD COLUMN tiny smallserial;
SELECT * FROM columns('before');
SELECT small, large, tiny, id FROM before;
SELECT snowflake.convert_sequence_to_snowflake('made.before_small_seq');

-- Nor does a default that is made again, or that a table with rows gets, convert it.
SET snowflake.convert_new_columns = off;
CREATE TABLE before_3 (id serial PRIMARY KEY);
INSERT INTO before_3 DEFAULT VALUES;
SET snowflake.convert_new_columns = on;
ALTER TABLE before_3 ALTER COLUMN id TYPE bigint;
ALTER TABLE before_3 ALTER COLUMN id DROP DEFAULT;
ALTER TABLE before_3 ALTER COLUMN id SET DEFAULT nextval('before_3_id_seq');
INSERT INTO before_3 DEFAULT VALUES RETURNING id;
DROP TABLE before_3;
CREATE TABLE loaded (id bigint);
INSERT INTO loaded VALUES (1);
CREATE SEQUENCE loaded_seq OWNED BY loaded.id;
ALTER TABLE loaded ALTER COLUMN id SET DEFAULT nextval('loaded_seq');
DROP TABLE loaded;

-- What the commands of a dump make stays as it was. An empty search_path alone tells of none.
SET check_function_bodies = off;
SELECT set_config('search_path', '', false);
CREATE TABLE made.of_dump (id integer NOT NULL, day date NOT NULL) PARTITION BY RANGE (day);
CREATE TABLE made.of_dump_1 (id integer NOT NULL, day date NOT NULL);
ALTER TABLE made.of_dump ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
ALTER TABLE ONLY made.of_dump ATTACH PARTITION made.of_dump_1 DEFAULT;
CREATE TABLE made.of_dump_2 (id serial, customer_id integer REFERENCES made.customers);
RESET check_function_bodies;
CREATE TABLE made.of_function (id serial);
SET search_path = made;
SELECT * FROM columns('of_function');
DROP TABLE of_function;
SELECT * FROM columns('of_dump_1', 'of_dump_2');
SELECT snowflake.convert_sequence_to_snowflake('made.of_dump_id_seq');
INSERT INTO of_dump (day) VALUES ('today') RETURNING snowflake.get_node(id);
DROP TABLE of_dump, of_dump_2;
CREATE TABLE whole_only (day date NOT NULL) PARTITION BY RANGE (day);
ALTER TABLE whole_only ADD COLUMN id integer GENERATED ALWAYS AS IDENTITY;
SELECT * FROM columns('whole_only');
DROP TABLE whole_only;

-- New columns are bigint from the beginning. One that references IDs takes none of its table's rows to be rewritten.
SELECT pg_relation_filenode('before') AS file \gset
ALTER TABLE before ADD COLUMN customer_id integer REFERENCES customers, ADD COLUMN order_id smallint,
    ADD COLUMN plain integer REFERENCES plain_keys, ADD COLUMN own integer DEFAULT NULL REFERENCES customers, ADD FOREIGN KEY (order_id) REFERENCES orders (id);
SELECT * FROM columns('before') WHERE col ~ 'customer_id|order_id|plain|own';
SELECT pg_relation_filenode('before') = :file AS is_as_it_was;
ALTER TABLE before DROP COLUMN own;
CREATE TABLE nodes (id serial PRIMARY KEY, parent_id integer REFERENCES nodes, root_id smallint, other smallint REFERENCES made.nodes, two integer,
                    UNIQUE (id, two), FOREIGN KEY (root_id) REFERENCES nodes (id), FOREIGN KEY (parent_id, two) REFERENCES nodes (id, two));
SELECT * FROM columns('nodes');
CREATE TABLE pairs (a serial, b integer GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (a, b));
CREATE TABLE of_pairs (a integer, b integer, c integer REFERENCES nodes, FOREIGN KEY (a, b) REFERENCES pairs, FOREIGN KEY (b, a) REFERENCES pairs (b, a));
SELECT * FROM columns('pairs', 'of_pairs');
-- A domain is the user's choice.
CREATE DOMAIN small AS integer;
CREATE TABLE of_domain (customer_id small REFERENCES customers);
SELECT command FROM snowflake.check() WHERE object ~ 'of_domain';
DROP TABLE of_domain;
DROP DOMAIN small;
-- A column that was no identity becomes none.
CREATE TABLE typed (id bigserial NOT NULL);
ALTER TABLE typed ALTER id TYPE snowflake.id;
CREATE TABLE like_typed (LIKE typed INCLUDING IDENTITY);
DROP TABLE typed, like_typed;
-- Two identities are the server's to refuse.
CREATE TABLE two (id integer GENERATED ALWAYS AS IDENTITY GENERATED BY DEFAULT AS IDENTITY);
-- A column stays as it was written where code of others would run.
CREATE ROLE regress_snowflake_author;
GRANT CREATE, USAGE ON SCHEMA made TO regress_snowflake_author;
SET ROLE regress_snowflake_author;
CREATE FUNCTION of_author() RETURNS integer LANGUAGE sql AS 'SELECT 1';
RESET ROLE;
CREATE TABLE kept_1 (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parent integer DEFAULT 0 REFERENCES kept_1, x integer DEFAULT of_author());
CREATE TABLE kept_2 (id serial PRIMARY KEY, x integer DEFAULT of_author(), FOREIGN KEY (id) REFERENCES plain_keys);
SELECT attrelid::regclass, atttypid::regtype, attidentity FROM pg_attribute WHERE attrelid IN ('kept_1'::regclass, 'kept_2'::regclass) AND attname = 'id' ORDER BY 1;
DROP TABLE kept_1, kept_2;
DROP FUNCTION of_author;
DROP OWNED BY regress_snowflake_author;
DROP ROLE regress_snowflake_author;
-- A column stays what it is where a parent has it, and what depends on its type keeps its meaning.
CREATE TABLE generation_1 (id integer);
CREATE TABLE generation_2 (id serial) INHERITS (generation_1);
CREATE TABLE generation_3 (id serial, n integer);
CREATE TABLE generation_4 (id integer NOT NULL CHECK (id > 0), n integer, other integer) INHERITS (generation_3);
CREATE TABLE generation_5 (id smallserial) INHERITS (generation_4);
CREATE TABLE small_child () INHERITS (plain_keys);
ALTER TABLE small_child ADD COLUMN customer_id integer;
ALTER TABLE plain_keys ADD COLUMN customer_id integer REFERENCES customers;
CREATE TABLE in_call (id serial, is_true boolean GENERATED ALWAYS AS (id::boolean) STORED);
CREATE TABLE in_exclusion (id serial, EXCLUDE USING btree (id int4_ops WITH =));
SELECT * FROM columns('generation_2', 'generation_4', 'generation_5', 'small_child', 'plain_keys', 'in_call', 'in_exclusion');
-- The definition is changed in a copy: a plan that is kept goes on with what was typed.
CREATE FUNCTION make_kept() RETURNS regtype LANGUAGE plpgsql AS $$
DECLARE
    made regtype;
BEGIN
    CREATE TABLE kept (id serial, number integer GENERATED ALWAYS AS IDENTITY);
    made := (SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'kept'::regclass AND attname = 'id');
    DROP TABLE kept;
    RETURN made;
END $$;
SELECT make_kept();
SET snowflake.convert_new_columns = off;
SELECT make_kept();
SET snowflake.convert_new_columns = on;
SELECT make_kept();
-- Temporary tables keep their numbers, however they are named, and so do all where the event trigger does not fire.
CREATE TEMPORARY TABLE small_1 (id serial);
CREATE TABLE pg_temp.small_2 (id serial);
SET search_path = pg_temp, made;
CREATE TABLE small_3 (id serial);
ALTER TABLE small_3 ADD COLUMN more serial;
SET search_path = made;
ALTER EVENT TRIGGER snowflake_convert_new_columns DISABLE;
CREATE TABLE small_4 (id serial);
ALTER EVENT TRIGGER snowflake_convert_new_columns ENABLE ALWAYS;
SELECT attrelid::regclass, attname, atttypid::regtype FROM pg_attribute WHERE attrelid::regclass::text ~ 'small_[1-4]$' AND attnum > 0 ORDER BY 1, attnum;
DROP TABLE small_1, small_2, small_3;
-- Who gets the right to insert into new tables by default can draw from the sequence of an identity, as before.
CREATE ROLE regress_snowflake_inserter;
GRANT USAGE ON SCHEMA made TO regress_snowflake_inserter;
ALTER DEFAULT PRIVILEGES IN SCHEMA made GRANT INSERT, SELECT ON TABLES TO regress_snowflake_inserter;
CREATE TABLE for_inserter (id integer GENERATED BY DEFAULT AS IDENTITY);
ALTER DEFAULT PRIVILEGES IN SCHEMA made REVOKE INSERT, SELECT ON TABLES FROM regress_snowflake_inserter;
SELECT * FROM columns('for_inserter');
SET ROLE regress_snowflake_inserter;
INSERT INTO for_inserter DEFAULT VALUES RETURNING snowflake.get_node(id);
RESET ROLE;

-- What a migration tool does to make a serial column bigint, in its steps, with and without a transaction.
ALTER TABLE customers ALTER COLUMN id TYPE bigint;
ALTER TABLE customers ALTER COLUMN id DROP DEFAULT;
DROP SEQUENCE customers_id_seq;
CREATE SEQUENCE customers_id_seq;
ALTER TABLE customers ALTER COLUMN id SET DEFAULT nextval('customers_id_seq');
SELECT setval('customers_id_seq', (SELECT max(id) FROM customers)) > 1000 AS set;
SELECT * FROM columns('customers');
ALTER SEQUENCE customers_id_seq OWNED BY customers.id;
SELECT * FROM columns('customers');
BEGIN;
CREATE TABLE in_transaction (id serial);
SAVEPOINT s;
ALTER TABLE in_transaction ALTER id SET DEFAULT nextval('in_transaction_id_seq');
RELEASE s;
INSERT INTO in_transaction DEFAULT VALUES;
COMMIT;
SELECT * FROM columns('in_transaction');
INSERT INTO customers (name) VALUES ('Grace');
SELECT count(*), count(DISTINCT snowflake.get_node(id)) AS nodes FROM customers;

-- Commands as pg_dump writes them.
CREATE TABLE restored (id integer NOT NULL, other bigint NOT NULL);
CREATE SEQUENCE restored_id_seq AS integer START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE restored_id_seq OWNED BY restored.id;
ALTER TABLE restored ALTER COLUMN other ADD GENERATED BY DEFAULT AS IDENTITY
    (SEQUENCE NAME made.restored_other_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
ALTER TABLE ONLY restored ALTER COLUMN id SET DEFAULT nextval('made.restored_id_seq'::regclass);
COPY restored (id, other) FROM stdin;
1	1
2	2
\.
SELECT setval('made.restored_id_seq', 2, true), setval('made.restored_other_seq', 2, true);
INSERT INTO restored DEFAULT VALUES RETURNING snowflake.get_node(id), snowflake.get_node(other);
SELECT * FROM columns('restored');

-- Schemas with tables, partitions, inherited and copied tables, and defaults that name a sequence by a text.
SET search_path = made;
CREATE SEQUENCE owned;
CREATE TABLE by_text (id bigint DEFAULT nextval('owned'::text));
ALTER SEQUENCE owned OWNED BY by_text.id;
CREATE TABLE parted (id bigserial, day integer) PARTITION BY LIST (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE child (note text) INHERITS (customers);
CREATE TABLE copied (LIKE customers INCLUDING ALL);
CREATE TABLE copied_identity (LIKE before_2 INCLUDING ALL);
SELECT * FROM columns('by_text', 'parted', 'parted_1', 'child', 'copied', 'copied_identity');
CREATE SCHEMA made_2 CREATE TABLE inner_table (id serial);
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'made_2.inner_table'::regclass;
CREATE TEMPORARY TABLE temporary (id serial);
INSERT INTO temporary DEFAULT VALUES RETURNING id;
CREATE UNLOGGED TABLE unlogged (id integer GENERATED BY DEFAULT AS IDENTITY);
INSERT INTO unlogged DEFAULT VALUES RETURNING snowflake.get_node(id);

-- A copy of an identity is a sequence of its own, but for a table that is there already.
CREATE TABLE copied_orders (LIKE orders INCLUDING IDENTITY);
CREATE TABLE made_2.orders (LIKE orders INCLUDING ALL EXCLUDING DEFAULTS);
CREATE TABLE copied_whole (LIKE orders INCLUDING IDENTITY) PARTITION BY RANGE (id); -- from PostgreSQL 17 on shared with partitions
CREATE TABLE bare (id bigint NOT NULL);
CREATE TABLE IF NOT EXISTS bare (LIKE orders INCLUDING IDENTITY);
SELECT * FROM columns('copied_orders', 'copied_whole', 'bare');
INSERT INTO made_2.orders DEFAULT VALUES RETURNING snowflake.get_node(id), pg_get_serial_sequence('made_2.orders', 'id');
INSERT INTO copied_orders DEFAULT VALUES RETURNING snowflake.get_node(id), pg_get_serial_sequence('copied_orders', 'id');
CREATE TEMPORARY TABLE temporary_orders (LIKE orders INCLUDING IDENTITY);
INSERT INTO temporary_orders DEFAULT VALUES RETURNING id;

-- A table that the session itself is reading.
BEGIN;
CREATE TABLE being_read (id integer);
CREATE SEQUENCE being_read_id_seq;
ALTER TABLE being_read ALTER id SET DEFAULT nextval('being_read_id_seq');
DECLARE reading CURSOR FOR SELECT * FROM being_read;
ALTER SEQUENCE being_read_id_seq OWNED BY being_read.id;
COMMIT;
SELECT * FROM columns('being_read');

-- What it cannot do: an INCREMENT that may be two things, a check that no ID satisfies.
CREATE TABLE odd (id integer GENERATED BY DEFAULT AS IDENTITY (INCREMENT 2 START 1));
CREATE TABLE checked (id serial CHECK (id < 1000));
INSERT INTO odd DEFAULT VALUES RETURNING id;

-- The way back stays the way back, and a conversion by hand is not disturbed.
SELECT snowflake.convert_snowflake_to_sequence('unlogged_id_seq');
ALTER TABLE unlogged ADD COLUMN note text;
SELECT * FROM columns('unlogged');
SELECT snowflake.convert_sequence_to_snowflake('before_id_seq');
SELECT * FROM columns('before');

-- A role with no rights on the extension makes its tables, and hears why they are not converted.
CREATE ROLE regress_snowflake_maker;
GRANT ALL ON SCHEMA made TO regress_snowflake_maker;
REVOKE USAGE ON SCHEMA snowflake FROM PUBLIC;
SET ROLE regress_snowflake_maker;
CREATE TABLE of_maker (id serial);
RESET ROLE;
GRANT USAGE ON SCHEMA snowflake TO PUBLIC;
BEGIN;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA snowflake FROM PUBLIC;
SET LOCAL ROLE regress_snowflake_maker;
CREATE TABLE of_maker_1 (id serial);
RESET ROLE;
SELECT * FROM columns('of_maker_1');
ROLLBACK;
SET ROLE regress_snowflake_maker;
CREATE TABLE of_maker_2 (id serial);
CREATE TABLE of_maker_3 (id serial REFERENCES orders);
-- Functions of the caller's search_path take no part.
CREATE FUNCTION made.texteq(text, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$hostile$$; END';
CREATE FUNCTION made.current_setting(text, boolean) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$hostile$$; END';
CREATE DOMAIN made.bool AS integer;
RESET ROLE;
SET search_path = made, pg_catalog;
CREATE TABLE beside_hostile (id serial);
SET search_path = made;
SELECT * FROM columns('of_maker', 'of_maker_2', 'of_maker_3', 'beside_hostile');

-- Foreign keys made from the far end: the columns that refer to the one that is bound last are widened with it.
CREATE TABLE base (id serial PRIMARY KEY);
CREATE TABLE link (base_id integer PRIMARY KEY, up integer REFERENCES link);
CREATE TABLE far_end (link_id integer REFERENCES link);
CREATE TABLE far_full (link_id integer REFERENCES link);
INSERT INTO far_full VALUES (NULL);
ALTER TABLE link ADD FOREIGN KEY (base_id) REFERENCES base;
SELECT * FROM columns('base', 'link', 'far_end', 'far_full');
INSERT INTO base DEFAULT VALUES;
INSERT INTO link SELECT id, id FROM base;
INSERT INTO far_end SELECT base_id FROM link;

-- A blank search_path.
SELECT set_config('search_path', ' ', false);
CREATE TABLE made.without_path (id serial PRIMARY KEY, base_id integer REFERENCES made.base);
SET search_path = made;
SELECT * FROM columns('without_path');

-- It fires where changes of other servers are applied, too, and for nobody who has it off.
SET session_replication_role = replica;
CREATE TABLE applied (id serial);
RESET session_replication_role;
RESET snowflake.convert_new_columns;
CREATE TABLE after (id serial);
SELECT * FROM columns('applied', 'after');
SELECT evtenabled, evttags, obj_description(oid, 'pg_event_trigger') FROM pg_event_trigger WHERE evtname = 'snowflake_convert_new_columns';

-- An owner who is no superuser sets it for a database once the module is loaded.
CREATE ROLE regress_snowflake_owner;
SELECT current_database() AS database \gset
SELECT pg_get_userbyid(datdba) AS database_owner FROM pg_database WHERE datname = current_database() \gset
ALTER DATABASE :"database" OWNER TO regress_snowflake_owner;
\c -
SET ROLE regress_snowflake_owner;
SELECT snowflake.get_node(0);
ALTER DATABASE :"database" SET snowflake.convert_new_columns = on;
\c -
SELECT current_setting('snowflake.convert_new_columns');
-- What is computed from the column is tried.
CREATE TABLE made.short (id bigserial, code varchar(10) GENERATED ALWAYS AS ('A-' || id) STORED);
INSERT INTO made.short DEFAULT VALUES RETURNING *;
CREATE TABLE made.by_database (id serial);
SELECT * FROM made.columns('by_database');
ALTER DATABASE :"database" RESET snowflake.convert_new_columns;
ALTER DATABASE :"database" OWNER TO :"database_owner";

SET client_min_messages = warning;
DROP SCHEMA made, made_2 CASCADE;
DROP ROLE regress_snowflake_owner, regress_snowflake_maker, regress_snowflake_inserter;
