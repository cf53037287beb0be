-- Converting sequences of partitioned and inherited tables.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA part;
SET search_path = part;

-- Foreign keys from and to a partitioned table; a partition of another shape; two levels.
CREATE TABLE region (id serial PRIMARY KEY);
CREATE TABLE sale (
    id serial, region_id integer REFERENCES region, year integer, PRIMARY KEY (id, year)
) PARTITION BY LIST (year);
CREATE TABLE sale_20 PARTITION OF sale FOR VALUES IN (2020) PARTITION BY LIST (year);
CREATE TABLE sale_20_all PARTITION OF sale_20 DEFAULT;
CREATE TABLE sale_21 (year integer NOT NULL, dropped integer, region_id integer, id integer NOT NULL DEFAULT nextval('sale_id_seq'));
ALTER TABLE sale_21 DROP COLUMN dropped;
ALTER TABLE sale ATTACH PARTITION sale_21 FOR VALUES IN (2021);
CREATE TABLE refund (sale_id integer, year integer, FOREIGN KEY (sale_id, year) REFERENCES sale);
CREATE INDEX sale_region ON sale (region_id);
CREATE INDEX sale_only ON ONLY sale (id, region_id);
CREATE TABLE log (sale_id integer);
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE TRIGGER keep BEFORE UPDATE OF id ON sale FOR EACH ROW EXECUTE FUNCTION keep();
ALTER TABLE sale_20_all DISABLE TRIGGER keep;
CREATE VIEW sale_20_view AS SELECT id FROM sale_20;
INSERT INTO region DEFAULT VALUES;
INSERT INTO sale (region_id, year) VALUES (1, 2020), (1, 2021);
INSERT INTO refund VALUES (1, 2020);
SELECT snowflake.convert_sequence_to_snowflake('sale_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('region_id_seq');
SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema = 'part' AND column_name <> 'year' ORDER BY 1, 2;
SELECT indexrelid::regclass, indisvalid, (SELECT count(*) FROM pg_inherits WHERE inhparent = indexrelid) AS partitions
    FROM pg_index WHERE indrelid = 'sale'::regclass ORDER BY indexrelid::regclass::text COLLATE "C";
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgname = 'keep' ORDER BY tgrelid::regclass::text COLLATE "C";
INSERT INTO sale (region_id, year) VALUES (1, 2020), (1, 2021) RETURNING snowflake.get_node(id);
INSERT INTO sale_21 (year) VALUES (2021) RETURNING snowflake.get_node(id);
INSERT INTO refund SELECT id, year FROM sale WHERE id > 1000;
INSERT INTO refund VALUES (99, 2020);

-- The indexes of partitions keep what they have of their own.
CREATE TABLE shelf (id serial, floor integer NOT NULL, CONSTRAINT shelf_key UNIQUE (floor, id)) PARTITION BY LIST (floor);
CREATE TABLE shelf_1 PARTITION OF shelf FOR VALUES IN (1);
CREATE TABLE shelf_rest PARTITION OF shelf DEFAULT PARTITION BY LIST (floor);
CREATE TABLE shelf_all PARTITION OF shelf_rest DEFAULT;
CREATE INDEX shelf_sum ON shelf (floor, (id + floor));
COMMENT ON INDEX shelf_sum IS 'of the whole';
ALTER INDEX shelf_1_floor_id_key RENAME TO "Odd 'Key";
COMMENT ON CONSTRAINT "Odd 'Key" ON shelf_1 IS 'key of a part';
ALTER TABLE shelf_1 REPLICA IDENTITY USING INDEX "Odd 'Key";
ALTER INDEX shelf_all_floor_expr_idx RENAME TO sums;
ALTER INDEX sums SET (fillfactor = 50);
ALTER INDEX sums ALTER COLUMN 2 SET STATISTICS 77;
COMMENT ON INDEX sums IS 'of a part';
ALTER TABLE shelf_all CLUSTER ON sums;
CREATE VIEW shelf_index AS
    SELECT c.relname, c.reloptions, i.indisclustered, i.indisreplident, i.indrelid::regclass::text AS relation,
           (SELECT string_agg(attstattarget::text, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid),
           (SELECT p.relname FROM pg_class p JOIN pg_inherits h ON h.inhparent = p.oid WHERE h.inhrelid = c.oid) AS whole,
           obj_description(c.oid, 'pg_class') AS comment,
           (SELECT obj_description(k.oid, 'pg_constraint') FROM pg_constraint k WHERE k.conindid = c.oid) AS key_comment
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = 'part'::regnamespace AND i.indrelid::regclass::text LIKE 'shelf%';
CREATE TEMPORARY TABLE before AS TABLE shelf_index;
SELECT count(*) FROM before;
SELECT snowflake.convert_sequence_to_snowflake('shelf_id_seq');
(TABLE before EXCEPT TABLE shelf_index) UNION ALL (TABLE shelf_index EXCEPT TABLE before);
DROP TABLE before;

-- Wide already, partitioned by the ID itself.
CREATE TABLE hashed (id bigserial PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT snowflake.convert_sequence_to_snowflake('hashed_id_seq');
INSERT INTO hashed DEFAULT VALUES RETURNING snowflake.get_node(id);

-- Inheritance: a child has a default, a key and a view of its own.
CREATE TABLE parent (id serial, item text);
CREATE TABLE child (extra text, UNIQUE (id)) INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);
ALTER TABLE grandchild ALTER id SET DEFAULT 7;
CREATE TABLE of_child (child_id integer REFERENCES child (id));
CREATE VIEW child_view AS SELECT id FROM child;
SELECT snowflake.convert_sequence_to_snowflake('parent_id_seq');
SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema = 'part' AND table_name LIKE '%child%' AND data_type <> 'text' ORDER BY 1, 2;
INSERT INTO child DEFAULT VALUES RETURNING snowflake.get_node(id);
INSERT INTO of_child SELECT id FROM ONLY child;
INSERT INTO grandchild DEFAULT VALUES RETURNING id;

-- Not-null constraints of children have names of their own where the server gives them any.
CREATE TABLE elder (id serial, item text);
CREATE TABLE younger (id integer CONSTRAINT younger_has_id NOT NULL) INHERITS (elder);
CREATE TABLE keyed (PRIMARY KEY (id)) INHERITS (elder);
CREATE TABLE plain () INHERITS (elder);
CREATE TABLE youngest (id integer CONSTRAINT younger_has_id NOT NULL) INHERITS (younger);
CREATE VIEW not_null AS
    SELECT conrelid::regclass AS relation, conname, conislocal, coninhcount, obj_description(oid, 'pg_constraint')
        FROM pg_constraint WHERE contype = 'n' AND connamespace = 'part'::regnamespace;
DO $$ BEGIN
    IF EXISTS (TABLE not_null) THEN
        COMMENT ON CONSTRAINT elder_id_not_null ON elder IS 'each has one';
    END IF;
END $$;
CREATE TEMPORARY TABLE before AS TABLE not_null;
SELECT snowflake.convert_sequence_to_snowflake('elder_id_seq');
(TABLE before EXCEPT TABLE not_null) UNION ALL (TABLE not_null EXCEPT TABLE before);
SELECT attrelid::regclass, attnotnull, attinhcount, atttypid::regtype FROM pg_attribute
    WHERE attname = 'id' AND attrelid IN ('elder'::regclass, 'younger'::regclass, 'keyed'::regclass, 'plain'::regclass, 'youngest'::regclass)
    ORDER BY attrelid::regclass::text COLLATE "C";
-- Where the parent has a primary key the conversion succeeds, or names the constraints beforehand.
CREATE FUNCTION widens(parent regclass) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    PERFORM snowflake.convert_sequence_to_snowflake(pg_get_serial_sequence(parent::text, 'id')::regclass);
    ASSERT (SELECT atttypid = 'bigint'::regtype FROM pg_attribute WHERE attrelid = parent AND attname = 'id');
    RETURN true;
EXCEPTION
    WHEN feature_not_supported THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
        ASSERT detail = format('not-null constraints of column id have other names in tables that inherit it from part.%s: take these out of '
                               'the inheritance, or detach them, give the constraints one name, and put the tables back', parent), detail;
        RETURN false;
END $$;
CREATE TABLE keeper (id serial PRIMARY KEY);
CREATE TABLE kept (id integer CONSTRAINT kept_has_id NOT NULL) INHERITS (keeper);
DO $$
BEGIN
    -- Before PostgreSQL 18 no constraint stands for NOT NULL.
    IF EXISTS (SELECT FROM not_null WHERE relation = 'keeper'::regclass) THEN
        ASSERT NOT widens('keeper');
        ALTER TABLE kept NO INHERIT keeper;
        ALTER TABLE kept RENAME CONSTRAINT kept_has_id TO keeper_id_not_null;
        ALTER TABLE kept INHERIT keeper;
    END IF;
    ASSERT widens('keeper');
END $$;
-- So if a table between has the column in its primary key, with the constraint of the parent.
CREATE TABLE par (id serial);
CREATE TABLE between () INHERITS (par);
CREATE TABLE beneath (id integer NOT NULL) INHERITS (between);
ALTER TABLE between ADD PRIMARY KEY (id);
DO $$
BEGIN
    ASSERT widens('par') <> EXISTS (SELECT FROM not_null WHERE relation = 'par'::regclass);
END $$;

-- A foreign key to a partition keeps the server from making the index of the whole again.
CREATE TABLE stay (id serial, year integer, PRIMARY KEY (id, year)) PARTITION BY LIST (year);
CREATE TABLE stay_20 PARTITION OF stay FOR VALUES IN (2020);
CREATE TABLE guest (stay_id integer, year integer, FOREIGN KEY (stay_id, year) REFERENCES stay_20);
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT snowflake.convert_sequence_to_snowflake('stay_id_seq');
ALTER TABLE guest DROP CONSTRAINT guest_stay_id_year_fkey;
SELECT snowflake.convert_sequence_to_snowflake('stay_id_seq');

SET client_min_messages = warning;
DROP TABLE before;
DROP SCHEMA part CASCADE;
