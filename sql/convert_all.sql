-- All sequences, each in a transaction of its own. What stands in the way is reported.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA everything;
CREATE SCHEMA elsewhere;
SET search_path = everything;
CREATE TABLE customer (id serial PRIMARY KEY);
CREATE TABLE purchase (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id integer REFERENCES customer,
                       number bigint DEFAULT nextval('customer_id_seq'));
CREATE TABLE line (purchase_id integer REFERENCES purchase, n serial, PRIMARY KEY (purchase_id, n));
CREATE TABLE elsewhere.far (id serial PRIMARY KEY, line_n bigint);
CREATE FUNCTION elsewhere.remember() RETURNS trigger LANGUAGE plpgsql AS
    $$ DECLARE last_id integer; BEGIN last_id := new.id; RETURN new; END $$;
CREATE TRIGGER remember BEFORE INSERT ON elsewhere.far FOR EACH ROW EXECUTE FUNCTION elsewhere.remember();
CREATE VIEW lines AS SELECT customer_id, purchase_id, n FROM purchase JOIN line ON purchase_id = id;
CREATE MATERIALIZED VIEW purchases AS SELECT id FROM purchase;
INSERT INTO customer DEFAULT VALUES;
INSERT INTO purchase (customer_id) VALUES (1);
INSERT INTO line VALUES (1);
-- What stands in the way.
CREATE TABLE "Blocks" (id bigserial);
ALTER SEQUENCE "Blocks_id_seq" INCREMENT 10;
CREATE TABLE two (a bigserial, b bigserial, label text);
ALTER TABLE two ALTER label SET DEFAULT nextval('two_a_seq') || '-' || nextval('two_b_seq');
CREATE TABLE narrow (id serial CHECK (id < 1000));
CREATE SEQUENCE unused;
-- How often each table is rewritten.
CREATE FUNCTION tell() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'rewrite of %', pg_event_trigger_table_rewrite_oid()::regclass; END $$;
CREATE EVENT TRIGGER regress_snowflake_tell ON table_rewrite EXECUTE FUNCTION tell();
CALL snowflake.convert_all('everything');
DROP EVENT TRIGGER regress_snowflake_tell;
SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema = 'everything' AND data_type <> 'text' ORDER BY 1, 2;
INSERT INTO customer DEFAULT VALUES RETURNING snowflake.get_node(id);
INSERT INTO purchase (customer_id) SELECT max(id) FROM customer RETURNING snowflake.get_node(id), snowflake.get_node(number);
INSERT INTO line SELECT max(id) FROM purchase;
SELECT count(*) FROM lines WHERE snowflake.get_node(n) = 1 AND snowflake.get_node(customer_id) = 1;
SELECT nextval('purchase_id_seq');
-- Again, nothing is left but what stands in the way.
CALL snowflake.convert_all('everything');
-- Without a schema, all; not those of other roles.
CREATE ROLE regress_snowflake_user;
GRANT USAGE ON SCHEMA elsewhere, everything TO regress_snowflake_user;
SET ROLE regress_snowflake_user;
CREATE TEMPORARY TABLE own (id serial);
SET client_min_messages = error; -- The names of other tests' sequences are not ours to know.
CALL snowflake.convert_all();
RESET client_min_messages;
SELECT snowflake.get_node(nextval) FROM snowflake.nextval('own_id_seq');
CALL snowflake.convert_all('elsewhere');
RESET ROLE;
-- What a conversion does not change, and may fail at the first ID, is a warning.
CALL snowflake.convert_all('elsewhere');
INSERT INTO elsewhere.far DEFAULT VALUES;
SELECT nextval('elsewhere.far_id_seq');
-- What fails only when it runs stands in the way as well. The others are converted.
CREATE TABLE other (id serial);
CREATE TABLE called (id serial);
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE VIEW call_view AS SELECT for_integers(id) FROM called;
CALL snowflake.convert_all('everything');
SELECT attrelid::regclass, atttypid::regtype FROM pg_attribute WHERE attrelid IN ('other'::regclass, 'called'::regclass) AND attname = 'id' ORDER BY 1;
-- A number above the IDs of the present, and users' code that fails, stand in the way of one sequence. What an
-- event trigger raises ends the whole.
CREATE TABLE high (id bigserial);
INSERT INTO high VALUES (9000000000000000000);
CREATE TABLE fails (yes boolean);
CREATE FUNCTION fail() RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM everything.fails) THEN
        RAISE 'this code fails';
    END IF;
    RETURN 1;
END $$;
CREATE TABLE failing (id serial CHECK (id > 0 AND fail() = 1));
INSERT INTO fails VALUES (true);
CREATE TABLE fine (id serial);
CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'not now' USING ERRCODE = 'feature_not_supported'; END $$;
CREATE EVENT TRIGGER regress_snowflake_refuse ON ddl_command_end EXECUTE FUNCTION refuse();
CALL snowflake.convert_all('everything');
DROP EVENT TRIGGER regress_snowflake_refuse;
CALL snowflake.convert_all('everything');

-- A column that could hold the keys of several tables is named once.
CREATE SCHEMA alike;
SET search_path = alike;
CREATE TABLE apple (id serial PRIMARY KEY);
CREATE TABLE pear (id serial PRIMARY KEY);
CREATE TABLE basket (id integer PRIMARY KEY);
CALL snowflake.convert_all('alike');
DROP TABLE apple, pear, basket;
DROP SCHEMA alike;
SET search_path = everything;

-- In the transaction of somebody else nothing is converted, and settings of the caller do not matter. No lock is awaited for ever.
CREATE FUNCTION is_bounded() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_setting('lock_timeout') = '0' THEN
        RAISE 'nothing bounds the wait for a lock';
    END IF;
    RETURN true;
END $$;
CREATE TABLE late (id serial, CHECK (id > 0 AND is_bounded()));
SET lock_timeout = '1min';
INSERT INTO late DEFAULT VALUES;
RESET lock_timeout;
BEGIN;
CALL snowflake.convert_all('everything');
ROLLBACK;
SET search_path = elsewhere, public;
CREATE MATERIALIZED VIEW everything.late_rows AS SELECT id FROM everything.late;
SET default_transaction_isolation = serializable;
CALL snowflake.convert_all('everything');
RESET default_transaction_isolation;
SELECT nextval('everything.late_id_seq');

SET client_min_messages = warning;
DROP TABLE own;
DROP SCHEMA everything, elsewhere CASCADE;
DROP ROLE regress_snowflake_user;
