-- The plan of a conversion without a long lock tells what subscribers need, and its commands wait for it.
SET snowflake.node = 1;
SET client_min_messages = error; -- of wal_level
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA published;
SET search_path = published;
CREATE TABLE customers (id serial PRIMARY KEY, name text);
CREATE TABLE "Order, Lines" (number serial PRIMARY KEY, "Customer" integer NOT NULL REFERENCES customers,
                             "where" smallint REFERENCES customers);
CREATE VIEW remarks AS
    SELECT effect FROM snowflake.conversion_plan('published.customers_id_seq'::text::regclass, online => true)
        WHERE command IS NULL AND effect ~ 'subscriber|server|replication set' ORDER BY step;
CREATE VIEW commands AS
    SELECT step, command FROM snowflake.conversion_plan('published.customers_id_seq'::text::regclass, online => true, waive => 'subscribers')
        WHERE command IS NOT NULL;
TABLE remarks;

-- A list of columns, and a row filter, does not send new ones.
CREATE PUBLICATION regress_lists FOR TABLE customers (id, name) WHERE (id > 5);
TABLE remarks;
-- With the whole row as replica identity subscribers without a key look for each column that they have.
ALTER TABLE "Order, Lines" REPLICA IDENTITY FULL;
CREATE PUBLICATION "Regress's" FOR TABLE "Order, Lines" WHERE (true);
CREATE PUBLICATION regress_schema FOR TABLES IN SCHEMA published WITH (publish = 'insert');
TABLE remarks;
DROP PUBLICATION regress_lists, "Regress's";
ALTER TABLE "Order, Lines" REPLICA IDENTITY DEFAULT;

-- Nothing begins before the caller has said that the subscribers are ready, in the second transaction of a session either.
SELECT snowflake._rehearse_conversion('customers_id_seq');
BEGIN;
SELECT snowflake._rehearse_conversion('customers_id_seq');
ROLLBACK;
SELECT snowflake._rehearse_conversion('customers_id_seq', waive => 'node, order');
SELECT count(*) FROM snowflake.conversions;
SELECT command FROM commands WHERE command LIKE '%waive%' ORDER BY step;
-- What is said once is not repeated; what comes afterwards is.
SELECT effect FROM snowflake.conversion_plan('customers_id_seq', online => true, waive => 'subscribers')
    WHERE command IS NULL AND effect LIKE '%subscriber%' ORDER BY step;
SELECT command FROM commands WHERE command NOT LIKE '%, online => true%' ORDER BY step \gexec
-- A publication that was made meanwhile is found.
DROP PUBLICATION regress_schema;
CREATE PUBLICATION regress_late FOR ALL TABLES;
SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq', online => true);
SELECT snowflake.cancel_conversion('customers_id_seq');
SELECT command FROM commands ORDER BY step \gexec
SELECT attname, atttypid::regtype FROM pg_attribute
    WHERE attrelid IN ('customers'::regclass, '"Order, Lines"'::regclass) AND attname IN ('id', 'Customer', 'where') ORDER BY 1;
TABLE remarks;
-- A key that is wide already concerns no subscriber before its first ID.
CREATE TABLE wide (id bigserial PRIMARY KEY);
SELECT effect FROM snowflake.conversion_plan('wide_id_seq', online => true) WHERE effect LIKE '%subscriber%';
DROP PUBLICATION regress_late;
-- The server updates no row of a table whose publication sends updates without a replica identity.
CREATE TABLE keyless (id serial);
CREATE PUBLICATION regress_keyless FOR TABLE keyless;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/obstacles.sql
SELECT obstacles('keyless_id_seq', waive => 'subscribers');
SELECT obstacles('keyless_id_seq', online => false);
ALTER TABLE keyless REPLICA IDENTITY FULL;
SELECT obstacles('keyless_id_seq', waive => 'subscribers');
DROP PUBLICATION regress_keyless;

-- Rows that come and go: clients of the other servers lose what they write meanwhile.
CREATE TABLE both_ways (id serial PRIMARY KEY);
CREATE PUBLICATION regress_both FOR TABLE both_ways;
CREATE SUBSCRIPTION regress_both CONNECTION 'dbname=none' PUBLICATION none WITH (connect = false, slot_name = NONE);
SET allow_system_table_mods = on;
INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate)
    SELECT oid, 'both_ways'::regclass, 'r' FROM pg_subscription WHERE subname = 'regress_both';
SELECT effect FROM snowflake.conversion_plan('both_ways_id_seq', online => true) WHERE effect LIKE '%server%';
DROP SUBSCRIPTION regress_both;
DROP PUBLICATION regress_both;

-- The tables in which pglogical and Spock keep what they send.
CREATE TABLE sent (id serial PRIMARY KEY);
CREATE ROLE regress_sender;
GRANT CREATE, USAGE ON SCHEMA published TO regress_sender;
ALTER TABLE sent OWNER TO regress_sender;
CREATE VIEW plan AS
    SELECT step, effect FROM snowflake.conversion_plan('published.sent_id_seq'::text::regclass, online => true) WHERE command IS NULL;
CREATE SCHEMA pglogical;
CREATE TABLE pglogical.replication_set_table (set_id oid, set_reloid regclass, set_att_list text[]);
CREATE TABLE pglogical.subscription (sub_id oid);
INSERT INTO pglogical.replication_set_table VALUES (1, 'sent', NULL), (2, 'sent', '{id}'), (3, 'wide', NULL);
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    SELECT 3999999999, 'pglogical', 10, 'pglogical'::regnamespace, false, '2';
-- A table that is not the extension's is somebody else's.
SELECT effect FROM plan WHERE effect LIKE '%pglogical%' ORDER BY step;
ALTER EXTENSION pglogical ADD TABLE pglogical.replication_set_table;
SELECT effect FROM plan WHERE effect LIKE '%pglogical%' ORDER BY step;
SELECT effect FROM snowflake.conversion_plan('sent_id_seq') WHERE effect LIKE '%pglogical%';
-- An owner who may not see what is sent converts with a lock.
SET ROLE regress_sender;
SELECT * FROM snowflake.conversion_plan('sent_id_seq', online => true);
SELECT count(*) > 0 FROM snowflake.conversion_plan('sent_id_seq');
RESET ROLE;
GRANT USAGE ON SCHEMA pglogical TO regress_sender;
GRANT SELECT ON pglogical.replication_set_table TO regress_sender;
SET ROLE regress_sender;
-- Nor may the owner see the subscriptions.
SELECT effect FROM snowflake.conversion_plan('sent_id_seq', online => true) WHERE effect LIKE '%receives%';
RESET ROLE;
DELETE FROM pglogical.replication_set_table WHERE set_att_list IS NULL;
INSERT INTO pglogical.subscription VALUES (1);
SELECT effect FROM plan WHERE effect ~ 'pglogical|receives' ORDER BY step;
-- To plan a query on a table runs code of its owner, which must not be that of an ordinary role.
CREATE FUNCTION tell(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN RAISE WARNING 'code of the owner runs'; RETURN $1; END $$;
ALTER EXTENSION pglogical ADD TABLE pglogical.subscription;
SET client_min_messages = error;
CREATE INDEX told ON pglogical.subscription ((sub_id::bigint + tell(1)));
CREATE INDEX told_too ON pglogical.replication_set_table ((set_id::bigint + tell(1)));
ALTER TABLE pglogical.subscription OWNER TO regress_sender;
ALTER TABLE pglogical.replication_set_table OWNER TO regress_sender;
SET client_min_messages = warning;
SELECT snowflake._receives_no_claims();
SELECT (snowflake._replicated_by('pglogical', 'sent')).is_sent IS NULL AS may_not_be_read;
SET client_min_messages = error;
ALTER EXTENSION pglogical DROP TABLE pglogical.subscription;
DROP INDEX pglogical.told, pglogical.told_too;
ALTER TABLE pglogical.replication_set_table OWNER TO CURRENT_USER;
ALTER TABLE pglogical.subscription OWNER TO CURRENT_USER;
UPDATE pg_extension SET extname = 'spock' WHERE extname = 'pglogical';
ALTER SCHEMA pglogical RENAME TO spock;
SELECT * FROM plan;
SELECT effect FROM snowflake.conversion_plan('sent_id_seq') WHERE effect LIKE '%Spock%';
-- A server that has a subscription is warned that it receives no claims, unless its sets have the registry.
ALTER EXTENSION spock ADD TABLE spock.subscription;
SELECT finding FROM snowflake.check() WHERE finding LIKE '%node numbers%';
INSERT INTO spock.replication_set_table VALUES (1, 'snowflake.nodes', NULL);
SELECT finding FROM snowflake.check() WHERE finding LIKE '%node numbers%';
ALTER EXTENSION spock DROP TABLE spock.subscription;
ALTER EXTENSION spock DROP TABLE spock.replication_set_table;
DELETE FROM pg_extension WHERE extname = 'spock';
RESET allow_system_table_mods;

DROP SCHEMA published, spock CASCADE;
DROP ROLE regress_sender;
