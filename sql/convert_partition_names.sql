-- The server chooses names for the parts that partitions have of an index. They may be those of other indexes.
SET snowflake.node = 1;
CREATE SCHEMA names;
SET search_path = names;
CREATE VIEW part_index AS
    SELECT i.indexrelid::regclass::text AS index, i.indrelid::regclass::text AS relation, i.indkey::text AS key, i.indisvalid AS valid,
           (SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = i.indexrelid) AS whole,
           obj_description(i.indexrelid, 'pg_class') AS comment
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = 'names'::regnamespace;
-- Parts that were attached; one has the name that the server would give to the part of the other partition.
CREATE TABLE attached (id serial, k integer) PARTITION BY LIST (k);
CREATE TABLE attached_1 PARTITION OF attached FOR VALUES IN (1);
CREATE TABLE attached_2 PARTITION OF attached FOR VALUES IN (2);
CREATE INDEX whole ON ONLY attached (id);
CREATE INDEX custom ON attached_1 (id);
CREATE INDEX attached_1_id_idx ON attached_2 (id);
COMMENT ON INDEX attached_1_id_idx IS 'of the second';
ALTER INDEX whole ATTACH PARTITION custom;
ALTER INDEX whole ATTACH PARTITION attached_1_id_idx;
-- Two parts with each other's names, and three in a circle.
CREATE TABLE swapped (id serial, k integer) PARTITION BY LIST (k);
CREATE TABLE swapped_1 PARTITION OF swapped FOR VALUES IN (1);
CREATE INDEX ON swapped (id);
CREATE INDEX ON swapped (id, k);
CREATE INDEX ON swapped (k, id);
ALTER INDEX swapped_1_id_idx RENAME TO x;
ALTER INDEX swapped_1_id_k_idx RENAME TO swapped_1_id_idx;
ALTER INDEX swapped_1_k_id_idx RENAME TO swapped_1_id_k_idx;
ALTER INDEX x RENAME TO swapped_1_k_id_idx;
-- An index, and a key, of the partition alone under a name that the server would give to a part.
CREATE TABLE alone (id serial, k integer) PARTITION BY LIST (k);
CREATE TABLE alone_1 PARTITION OF alone FOR VALUES IN (1);
CREATE INDEX ON alone (id);
ALTER INDEX alone_1_id_idx RENAME TO renamed;
CREATE INDEX alone_1_id_idx ON alone_1 (id, k);
ALTER INDEX alone_id_idx RENAME TO alone_1_id_idx1;
ALTER TABLE alone_1 ADD CONSTRAINT alone_1_pkey PRIMARY KEY (id);
CREATE TABLE refers (id integer REFERENCES alone_1);
-- An index without parts, under a name that the server would give to a part.
CREATE TABLE partless (id serial, k integer, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE partless_1 PARTITION OF partless FOR VALUES IN (1);
CREATE INDEX partless_1_only ON ONLY partless (id);
-- Keys of long names, which those of the partitions may get, and a key of a partition that has partitions.
CREATE TABLE lines_of_the_orders_of_customers (id serial, k integer, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE lines_of_the_orders_of_customers_1 PARTITION OF lines_of_the_orders_of_customers FOR VALUES IN (1);
CREATE TABLE nested (id serial, k integer NOT NULL) PARTITION BY LIST (k);
CREATE TABLE nested_1 PARTITION OF nested FOR VALUES IN (1) PARTITION BY RANGE (k);
CREATE TABLE nested_11 PARTITION OF nested_1 DEFAULT;
ALTER TABLE nested_1 ADD PRIMARY KEY (id, k);
CREATE INDEX ON nested (id);
CREATE TEMPORARY TABLE before AS TABLE part_index;
SELECT count(*) FROM before;
SELECT t, snowflake.convert_sequence_to_snowflake(format('%s_id_seq', t)) FROM unnest('{attached,swapped,alone,partless,lines_of_the_orders_of_customers,nested}'::text[]) t;
(TABLE before EXCEPT TABLE part_index) UNION ALL (TABLE part_index EXCEPT TABLE before);

SET client_min_messages = warning;
DROP SCHEMA names CASCADE;
