-- Partitions by the key that have no room for IDs.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE SCHEMA room;
SET search_path = room;

-- By range, and by a list; the command that the error names helps.
CREATE TABLE ranged (id bigserial PRIMARY KEY, item text) PARTITION BY RANGE (id);
CREATE TABLE ranged_1 PARTITION OF ranged FOR VALUES FROM (MINVALUE) TO (1000000);
CREATE TABLE ranged_2 PARTITION OF ranged FOR VALUES FROM (1000000) TO (2000000);
CREATE TABLE "ranged_default" ();
SELECT snowflake.convert_sequence_to_snowflake('ranged_id_seq');
CREATE TABLE room.ranged_default_1 PARTITION OF room.ranged DEFAULT;
SELECT snowflake.convert_sequence_to_snowflake('ranged_id_seq');
INSERT INTO ranged DEFAULT VALUES RETURNING tableoid::regclass;
CREATE TABLE listed (id bigserial PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE listed_1 PARTITION OF listed FOR VALUES IN (1, 2, NULL);
SELECT snowflake.convert_sequence_to_snowflake('listed_id_seq');

-- By an expression, with the key as the second column, at a second level, and through a foreign key.
CREATE TABLE expressed (id bigserial) PARTITION BY RANGE ((id / 1000));
CREATE TABLE expressed_1 PARTITION OF expressed FOR VALUES FROM (0) TO (1000);
SELECT snowflake.convert_sequence_to_snowflake('expressed_id_seq');
CREATE TABLE referenced (id bigserial PRIMARY KEY, year integer NOT NULL);
CREATE TABLE leveled (id bigint REFERENCES referenced, year integer) PARTITION BY RANGE (year, id);
CREATE TABLE leveled_1 PARTITION OF leveled FOR VALUES FROM (2020, 1) TO (2022, 7) PARTITION BY RANGE (id, year);
CREATE TABLE leveled_1_1 PARTITION OF leveled_1 FOR VALUES FROM (1, 1) TO (1000, 1);
SELECT snowflake.convert_sequence_to_snowflake('referenced_id_seq');

-- With room: up to MAXVALUE, by another column, by hash, and none yet.
CREATE TABLE open_range (id bigserial) PARTITION BY RANGE (id);
CREATE TABLE open_range_1 PARTITION OF open_range FOR VALUES FROM (1) TO (MAXVALUE);
CREATE TABLE by_year (id bigserial, year integer) PARTITION BY LIST (year);
CREATE TABLE by_year_1 PARTITION OF by_year FOR VALUES IN (2020);
CREATE TABLE by_hash (id bigserial) PARTITION BY HASH (id);
CREATE TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE empty (id bigserial) PARTITION BY RANGE (id);
SELECT t, snowflake.convert_sequence_to_snowflake(t || '_id_seq') FROM unnest('{open_range,by_year,by_hash,empty}'::text[]) t;
-- What is below a partition that takes no ID does not matter.
CREATE TABLE archived (item text, id bigserial) PARTITION BY RANGE (id);
CREATE TABLE archived_old (id bigint NOT NULL, item text) PARTITION BY RANGE (id);
CREATE TABLE archived_old_1 PARTITION OF archived_old FOR VALUES FROM (1) TO (1000) PARTITION BY LIST (id);
CREATE TABLE archived_old_1_1 PARTITION OF archived_old_1 FOR VALUES IN (1, 2);
ALTER TABLE archived ATTACH PARTITION archived_old FOR VALUES FROM (MINVALUE) TO (1000);
ALTER TABLE archived_old_1 ALTER id SET DEFAULT nextval('archived_id_seq');
CREATE TABLE archived_new PARTITION OF archived FOR VALUES FROM (1000) TO (MAXVALUE) PARTITION BY RANGE (id);
CREATE TABLE archived_new_1 PARTITION OF archived_new FOR VALUES FROM (1000) TO (2000);
SELECT snowflake.convert_sequence_to_snowflake('archived_id_seq');
DROP TABLE archived_new;
CREATE TABLE archived_new PARTITION OF archived FOR VALUES FROM (1000) TO (MAXVALUE);
SELECT snowflake.convert_sequence_to_snowflake('archived_id_seq');
INSERT INTO archived DEFAULT VALUES RETURNING tableoid::regclass;
-- A stranger's operator class is nothing to try: what cannot be tried is no obstacle.
CREATE FUNCTION compare(bigint, bigint) RETURNS integer IMMUTABLE STRICT LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'called'; RETURN btint8cmp($1, $2); END $$;
CREATE FUNCTION below(bigint, bigint) RETURNS boolean IMMUTABLE STRICT LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'called'; RETURN $1 < $2; END $$;
CREATE OPERATOR <<< (FUNCTION = below, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR CLASS own_order FOR TYPE bigint USING btree AS
    OPERATOR 1 <<<, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare(bigint, bigint);
CREATE TABLE ordered (id bigserial) PARTITION BY RANGE (id own_order);
CREATE TABLE ordered_1 PARTITION OF ordered FOR VALUES FROM (1) TO (2);
SELECT snowflake.convert_sequence_to_snowflake('ordered_id_seq');
-- A partition for each key is made with the key.
CREATE TABLE tenant (id bigserial PRIMARY KEY);
CREATE TABLE of_tenant (tenant_id bigint REFERENCES tenant) PARTITION BY LIST (tenant_id);
CREATE TABLE of_tenant_1 PARTITION OF of_tenant FOR VALUES IN (1);
SELECT snowflake.convert_sequence_to_snowflake('tenant_id_seq');
-- Converted already, a table whose partitions end is no obstacle to anything.
DROP TABLE ranged_default_1;
SELECT count(*) FROM snowflake.conversion_plan('ranged_id_seq');

SET client_min_messages = warning;
DROP SCHEMA room CASCADE;
