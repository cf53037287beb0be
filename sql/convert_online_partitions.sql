-- Partitioned tables widened without a long lock: partition by partition, and all at once in the swap.
-- test/integration/online_test.cpp does the same beside writers.
SET snowflake.node = 1;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA parted;
SET search_path = parted;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
\i :sources/sql/include/obstacles.sql
CREATE FUNCTION steps(seq regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT command FROM snowflake.conversion_plan(seq, online => true) WHERE command IS NOT NULL ORDER BY step
$$;
-- All that the tables have but the types and the order of their columns.
CREATE VIEW definitions AS
    SELECT 'column', a.attrelid::regclass::text AS relation, a.attname::text AS name,
           concat_ws(' ', a.attnotnull, a.attinhcount, CASE WHEN NOT c.relispartition THEN a.attidentity ELSE '' END,
                     coalesce(a.attstattarget, -1), col_description(a.attrelid, a.attnum),
                     regexp_replace(pg_get_expr(f.adbin, f.adrelid), 'snowflake[.]', '')) AS definition
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
        LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
        WHERE c.relnamespace = 'parted'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT 'constraint', k.conrelid::regclass::text, k.conname,
           concat_ws(' ', k.convalidated, k.conindid::regclass, pg_get_constraintdef(k.oid), obj_description(k.oid, 'pg_constraint'),
                     p.conrelid::regclass || '.' || p.conname)
        FROM pg_constraint k LEFT JOIN pg_constraint p ON p.oid = k.conparentid
        WHERE k.connamespace = 'parted'::regnamespace AND k.contype <> 'n'
          AND k.conrelid = coalesce(p.conrelid, k.conrelid) IS NOT DISTINCT FROM (k.contype <> 'f' OR k.conparentid = 0)
    UNION ALL
    SELECT 'index', i.indrelid::regclass::text, c.relname,
           concat_ws(' ', i.indisvalid, replace(pg_get_indexdef(c.oid), '(10)::bigint', '10'), obj_description(c.oid, 'pg_class'),
                     i.indisclustered, i.indisreplident, h.inhparent::regclass)
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_inherits h ON h.inhrelid = c.oid
        WHERE c.relnamespace = 'parted'::regnamespace
    UNION ALL
    SELECT 'trigger', t.tgrelid::regclass::text, t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'parted'::regnamespace AND NOT t.tgisinternal;
CREATE TABLE region (id serial PRIMARY KEY) WITH (autovacuum_enabled = off);
CREATE TABLE sale (
    id serial, region_id integer NOT NULL REFERENCES region ON DELETE CASCADE, day date NOT NULL, item text,
    CONSTRAINT sale_key PRIMARY KEY (id, day), CONSTRAINT positive CHECK (id > 0 AND region_id > 0)
) PARTITION BY RANGE (day);
-- Two levels, a partition of another shape, and one for all other days.
CREATE TABLE sale_2024 PARTITION OF sale FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') PARTITION BY RANGE (day);
CREATE TABLE sale_2024_b PARTITION OF sale_2024 FOR VALUES FROM ('2024-07-01') TO ('2025-01-01') WITH (autovacuum_enabled = off);
CREATE TABLE sale_2024_a PARTITION OF sale_2024 FOR VALUES FROM ('2024-01-01') TO ('2024-07-01') WITH (autovacuum_enabled = off);
CREATE TABLE sale_2025 (day date NOT NULL, dropped integer, item text, region_id integer CONSTRAINT sale_region_id_not_null NOT NULL,
                        id integer CONSTRAINT sale_id_not_null NOT NULL DEFAULT nextval('sale_id_seq'),
                        CONSTRAINT positive CHECK (id > 0 AND region_id > 0)) WITH (autovacuum_enabled = off);
ALTER TABLE sale_2025 DROP COLUMN dropped;
ALTER TABLE sale ATTACH PARTITION sale_2025 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE sale_rest PARTITION OF sale DEFAULT WITH (autovacuum_enabled = off);
CREATE INDEX by_region ON sale (region_id) INCLUDE (item);
CREATE INDEX by_digit ON sale ((id % 10) DESC) WITH (fillfactor = 80) WHERE region_id > 1;
CREATE INDEX only_here ON ONLY sale (id);
CREATE UNIQUE INDEX sale_2025_alone ON sale_2025 (id);
ALTER TABLE sale_2024_a ADD CONSTRAINT alone CHECK (region_id > -100);
ALTER TABLE sale_2024 ADD CONSTRAINT of_a_year CHECK (id > -200);
CREATE TABLE refund (id serial PRIMARY KEY, sale_id integer, day date, region_id integer REFERENCES region,
                     FOREIGN KEY (sale_id, day) REFERENCES sale ON DELETE SET NULL) WITH (autovacuum_enabled = off);
CREATE TABLE note_of_2025 (sale_id integer REFERENCES sale_2025 (id)) WITH (autovacuum_enabled = off);
COMMENT ON CONSTRAINT sale_key ON sale IS 'key of the whole';
COMMENT ON CONSTRAINT positive ON sale_2025 IS 'check of a part';
COMMENT ON INDEX by_region IS 'of the whole';
COMMENT ON COLUMN sale_2025.id IS 'of a part';
ALTER INDEX sale_2025_region_id_item_idx RENAME TO "Odd 'Index";
ALTER TABLE sale_2025 REPLICA IDENTITY USING INDEX sale_2025_pkey;
ALTER TABLE sale ALTER id SET STATISTICS 50;
ALTER TABLE sale_2025 ALTER id SET STATISTICS 70;
ALTER TABLE sale_rest ALTER id SET STATISTICS -1;
CREATE TRIGGER keep BEFORE UPDATE OF id ON sale FOR EACH ROW EXECUTE FUNCTION keep();
ALTER TABLE sale_2025 DISABLE TRIGGER keep;
CREATE VIEW seen AS SELECT id, region_id FROM sale WHERE day > '2024-02-01';
INSERT INTO region SELECT FROM generate_series(1, 5);
INSERT INTO sale (region_id, day) SELECT i % 5 + 1, date '2023-12-01' + i FROM generate_series(1, 700) i;
INSERT INTO refund (sale_id, day, region_id) SELECT id, day, region_id FROM sale WHERE id % 7 = 0;
INSERT INTO note_of_2025 SELECT id FROM sale_2025 WHERE id % 9 = 0;
CREATE TEMPORARY TABLE before AS TABLE definitions;
CREATE FUNCTION changed() RETURNS TABLE (change text, relation text, name text, definition text) LANGUAGE sql AS $$
    (SELECT '-', b.relation, b.name, b.definition FROM before b EXCEPT ALL SELECT '-', d.relation, d.name, d.definition FROM definitions d)
    UNION ALL
    (SELECT '+', d.relation, d.name, d.definition FROM definitions d EXCEPT ALL SELECT '+', b.relation, b.name, b.definition FROM before b)
    ORDER BY 2, 3, 1
$$;
SELECT count(*) FROM before;
SELECT * FROM steps('sale_id_seq');
-- Each size is that of the table, in which versions of PostgreSQL differ.
SELECT coalesce(replace(effect, pg_size_pretty(pg_table_size(substring(effect FROM 'rows of table (\S+)')::regclass)), 'its size'),
                effect) AS effect
    FROM snowflake.conversion_plan('sale_id_seq', online => true) WHERE command IS NULL OR command ~ 'shadows';

-- Every row that is written has both numbers from the first stage on, whichever way it comes.
SELECT snowflake._add_shadows('sale_id_seq', 'sale'), snowflake._add_shadows('sale_id_seq', 'refund'),
       snowflake._add_shadows('sale_id_seq', 'note_of_2025');
SELECT table_name, column_name, new_column, is_filled FROM snowflake.conversions;
INSERT INTO sale (region_id, day) VALUES (1, '2024-01-01') RETURNING tableoid::regclass, id, snowflake_id;
INSERT INTO sale_2025 (region_id, day) VALUES (1, '2025-01-01') RETURNING id, snowflake_id;
UPDATE sale SET day = '2025-02-02' WHERE id = 701 RETURNING tableoid::regclass, id, snowflake_id;
-- A trigger that one partition has lost: the plan begins with it.
ALTER TABLE sale_2024_a DISABLE TRIGGER "~snowflake_id";
SELECT object, command FROM snowflake.check() WHERE object ~ 'sale_2024_a';
SELECT * FROM steps('sale_id_seq') LIMIT 1;
SELECT snowflake._add_shadows('sale_id_seq', 'sale');
SELECT tgrelid::regclass, tgenabled FROM pg_trigger WHERE tgname = '~snowflake_id' ORDER BY tgrelid::regclass::text COLLATE "C";
CALL snowflake._fill_shadows('sale_id_seq', 'sale_2024_b');
SELECT table_name, is_filled FROM snowflake.conversions;
-- The whole is not done before its parts are.
CALL snowflake._fill_shadows('sale_id_seq', 'sale');
SELECT * FROM steps('sale_id_seq') LIMIT 5;
DROP EXTENSION snowflake CASCADE;

-- Partitions that come and go midway: a new one has everything, one that is attached needs the new column, and one that is
-- detached is converted by itself.
DROP INDEX only_here;
CREATE TABLE sale_2026 PARTITION OF sale FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE sale_2027 (id integer NOT NULL, region_id integer NOT NULL, day date NOT NULL, item text);
ALTER TABLE sale ATTACH PARTITION sale_2027 FOR VALUES FROM ('2027-01-01') TO ('2028-01-01');
DROP TABLE sale_2027;
CREATE TABLE sale_2027 (LIKE sale INCLUDING ALL);
ALTER TABLE sale ATTACH PARTITION sale_2027 FOR VALUES FROM ('2027-01-01') TO ('2028-01-01');
INSERT INTO sale (region_id, day) VALUES (1, '2026-01-01'), (1, '2027-01-01') RETURNING tableoid::regclass, id = snowflake_id AS is_same;
ALTER TABLE sale DETACH PARTITION sale_2026;
INSERT INTO sale_2026 (region_id, day) VALUES (1, '2026-01-01');
SELECT object, command FROM snowflake.check() WHERE object ~ 'sale_2026';
SELECT * FROM steps('sale_id_seq') WHERE steps ~ '_shadows';
SELECT snowflake._add_shadows('sale_id_seq', 'sale_2026');
INSERT INTO sale_2026 (region_id, day) VALUES (1, '2026-01-01') RETURNING id = snowflake_id AS is_same;
BEGIN;
SELECT snowflake.cancel_conversion('sale_id_seq');
DROP TABLE sale_2026;
ALTER TABLE sale DETACH PARTITION sale_2027;
DROP TABLE sale_2027;
CREATE INDEX only_here ON ONLY sale (id);
SELECT * FROM changed();
ROLLBACK;
DROP TABLE sale_2026;
ALTER TABLE sale DETACH PARTITION sale_2027;
SELECT snowflake.cancel_conversion('sale_2027');
DROP TABLE sale_2027;
SELECT snowflake.cancel_conversion('sale_id_seq');
CREATE INDEX only_here ON ONLY sale (id);
SELECT * FROM changed();

-- Taken back after every stage, of a table that is referenced by the partitioned one.
\set ECHO none
SELECT * FROM steps('region_id_seq') WHERE steps ~ 'shadows' LIMIT 5 \gexec
\set ECHO all
SELECT snowflake.cancel_conversion('region_id_seq');
SELECT * FROM changed();
\set ECHO none
SELECT * FROM steps('region_id_seq') WHERE steps ~ 'shadows|_indexes|INDEX' LIMIT 16 \gexec
\set ECHO all
SELECT snowflake.cancel_conversion('region_id_seq');
SELECT * FROM changed();
\set ECHO none
SELECT * FROM steps('region_id_seq') WHERE steps ~ 'shadows|_indexes|INDEX|_key' LIMIT 28 \gexec
\set ECHO all
SELECT snowflake.cancel_conversion('region_id_seq');
SELECT * FROM changed();
\set ECHO none
SELECT * FROM steps('region_id_seq') WHERE steps ~ 'shadows|_indexes|INDEX|_key' \gexec
\set ECHO all
SELECT * FROM steps('region_id_seq');
SELECT snowflake.cancel_conversion('region_id_seq');
SELECT * FROM changed();

-- To the end. The swap reads no row of any table.
\set ECHO none
SELECT * FROM steps('region_id_seq') WHERE steps !~ 'convert_seq' \gexec
\set ECHO all
-- What there is to do is found out under a lock that lets others read and write.
BEGIN;
SELECT (snowflake._state_under_locks(snowflake._request('region_id_seq', stage => 'swap'), '1 min')).altered;
SELECT mode FROM pg_locks WHERE relation = 'sale_2025'::regclass AND pid = pg_backend_pid() AND mode <> 'AccessShareLock' ORDER BY mode;
ROLLBACK;
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('region_id_seq', online => true);
SELECT relname, seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE schemaname = 'parted' AND seq_tup_read > 0;
COMMIT;
SELECT * FROM changed();
SELECT * FROM steps('region_id_seq');
SELECT count(*), count(DISTINCT region_id), sum(region_id), min(pg_typeof(region_id)::text) FROM sale;
INSERT INTO sale (region_id, day) VALUES (99, '2024-01-01');
DELETE FROM refund WHERE region_id = 5;
DELETE FROM note_of_2025 n USING sale s WHERE s.id = n.sale_id AND s.region_id = 5;
DELETE FROM region WHERE id = 5;
SELECT count(*) FROM sale;

-- A key to the whole is checked again afterwards; the plan of a conversion that was interrupted there has only that.
\set ECHO none
SELECT * FROM steps('sale_id_seq') WHERE steps !~ 'convert_seq|refund_sale_id_day_fkey' \gexec
\set ECHO all
SELECT * FROM steps('sale_id_seq');
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('sale_id_seq', online => true);
SELECT relname, seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE schemaname = 'parted' AND seq_tup_read > 0;
COMMIT;
SELECT * FROM changed();
SELECT * FROM steps('sale_id_seq');
INSERT INTO refund (sale_id, day) VALUES (1, '1999-01-01');
\set ECHO none
SELECT * FROM steps('sale_id_seq') \gexec
\set ECHO all
SELECT * FROM steps('sale_id_seq');
SELECT * FROM changed();
\d sale
\d sale_2025
INSERT INTO sale (region_id, day) VALUES (1, '2024-01-01'), (1, '2025-01-01') RETURNING tableoid::regclass, snowflake.get_node(id);
DELETE FROM sale WHERE id = 7;
SELECT count(*) FROM refund WHERE sale_id IS NULL;
-- There is a way back to the server's own nextval.
SELECT snowflake.convert_snowflake_to_sequence('sale_id_seq');
SELECT DISTINCT pg_get_expr(f.adbin, f.adrelid) FROM pg_attrdef f WHERE f.adrelid IN (SELECT relid FROM pg_partition_tree('sale'));

-- Keys of partitions alone, an identity, and numbers that go on.
CREATE TABLE event (id integer GENERATED ALWAYS AS IDENTITY, day integer) PARTITION BY LIST (day);
CREATE TABLE event_1 PARTITION OF event (id CONSTRAINT event_id_not_null NOT NULL, PRIMARY KEY (id)) FOR VALUES IN (1);
CREATE TABLE event_2 PARTITION OF event (id CONSTRAINT event_id_not_null NOT NULL, PRIMARY KEY (id)) FOR VALUES IN (2);
CREATE FUNCTION week(day integer) RETURNS integer LANGUAGE sql IMMUTABLE RETURN day / 7;
CREATE INDEX by_week ON event (week(day), id);
CREATE TABLE of_event (event_id integer REFERENCES event_2);
INSERT INTO event (day) SELECT i % 2 + 1 FROM generate_series(1, 10) i;
INSERT INTO of_event SELECT id FROM event_2;
\set ECHO none
SELECT command FROM snowflake.conversion_plan('event_id_seq', online => true, target => 'bigint') WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
INSERT INTO event (day) VALUES (1) RETURNING id, pg_typeof(id);
SELECT * FROM definitions WHERE relation ~ 'event' ORDER BY 1, 2, 3;
CREATE TABLE logged (id integer GENERATED ALWAYS AS IDENTITY, day integer) PARTITION BY LIST (day);
CREATE TABLE logged_1 PARTITION OF logged FOR VALUES IN (1);
INSERT INTO logged (day) VALUES (1);
\set ECHO none
SELECT * FROM steps('logged_id_seq') \gexec
\set ECHO all
INSERT INTO logged (day) VALUES (1) RETURNING snowflake.get_node(id);

-- As an ordinary role.
CREATE ROLE regress_parted;
GRANT CREATE, USAGE ON SCHEMA parted TO regress_parted;
SET ROLE regress_parted;
CREATE TABLE own (id serial, day integer, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
CREATE TABLE own_1 PARTITION OF own FOR VALUES IN (1);
CREATE TABLE of_own (id integer, day integer, FOREIGN KEY (id, day) REFERENCES own);
INSERT INTO own (day) VALUES (1);
INSERT INTO of_own VALUES (1, 1);
\set ECHO none
SELECT command FROM snowflake.conversion_plan('own_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
INSERT INTO own (day) VALUES (1) RETURNING snowflake.get_node(id);
RESET ROLE;
DROP TABLE of_own, own;

-- A key between two partitioned tables, and one within one. Before PostgreSQL 18 such a key is in the way.
CREATE TABLE place (id serial, up integer, day integer, PRIMARY KEY (id, day), FOREIGN KEY (up, day) REFERENCES place)
    PARTITION BY LIST (day);
CREATE TABLE place_1 PARTITION OF place FOR VALUES IN (1);
CREATE TABLE place_2 PARTITION OF place FOR VALUES IN (2);
CREATE TABLE place_3 (id integer NOT NULL, up integer, day integer NOT NULL); -- other not-null constraints on PostgreSQL 18
ALTER TABLE place ATTACH PARTITION place_3 FOR VALUES IN (3);
CREATE TABLE guest (place_id integer, day integer,
                    FOREIGN KEY (place_id, day) REFERENCES place ON DELETE CASCADE DEFERRABLE) PARTITION BY LIST (day);
COMMENT ON CONSTRAINT guest_place_id_day_fkey ON guest IS 'sits there';
CREATE TABLE guest_1 PARTITION OF guest FOR VALUES IN (1);
CREATE TABLE guest_2 PARTITION OF guest FOR VALUES IN (2);
INSERT INTO place (day) SELECT 1 + n % 2 FROM generate_series(1, 10) n;
UPDATE place SET up = id WHERE id > 5;
INSERT INTO guest SELECT id, day FROM place;
TRUNCATE before;
INSERT INTO before TABLE definitions;
SELECT current_setting('server_version_num')::integer >= 180000 AS is_possible \gset
SELECT count(*) = CASE WHEN :'is_possible' THEN 0 ELSE 2 END AS is_said
    FROM obstacles('place_id_seq') o WHERE o LIKE 'foreign key %_day_fkey of table parted.% links two partitioned tables: convert with a lock';
\set ECHO none
\if :is_possible
    \o /dev/null
    SELECT * FROM steps('place_id_seq') \gexec
    \o
\else
    SELECT snowflake.convert_sequence_to_snowflake('place_id_seq') \g /dev/null
\endif
\set ECHO all
SELECT * FROM steps('place_id_seq');
SELECT * FROM changed();
SELECT conrelid::regclass, confrelid::regclass, convalidated FROM pg_constraint
    WHERE contype = 'f' AND connamespace = 'parted'::regnamespace AND conrelid::regclass::text ~ 'guest|place'
    ORDER BY 1, 2;
INSERT INTO guest (place_id, day) VALUES (11, 1);
DELETE FROM place WHERE id = 1 AND day = 2;
SELECT count(*) FROM guest;
DROP TABLE guest, place;
-- PostgreSQL 18 has keys that are NOT ENFORCED.
CREATE TABLE hall (id serial, day integer, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
CREATE TABLE seat (hall_id integer, day integer);
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        EXECUTE 'ALTER TABLE seat ADD CONSTRAINT seat_key FOREIGN KEY (hall_id, day) REFERENCES hall NOT ENFORCED';
        ASSERT (SELECT array_agg(o) FROM obstacles('hall_id_seq') o)
            = '{foreign key seat_key of table parted.seat is NOT ENFORCED: convert with a lock}';
        ASSERT snowflake.convert_sequence_to_snowflake('hall_id_seq') > 0;
        ASSERT (SELECT pg_get_constraintdef(oid) LIKE '% NOT ENFORCED' FROM pg_constraint WHERE conname = 'seat_key');
    END IF;
END $$;
DROP TABLE seat, hall;
-- A partition that was made with a check, and got it again from the whole.
CREATE TABLE claim (id serial CHECK (id > 0), day integer) PARTITION BY LIST (day);
CREATE TABLE claim_1 (id integer NOT NULL CONSTRAINT own CHECK (id > 0) CONSTRAINT claim_id_check CHECK (id > 0), day integer);
ALTER TABLE claim ATTACH PARTITION claim_1 FOR VALUES IN (1);
INSERT INTO claim (day) VALUES (1);
SELECT step FROM steps('claim_id_seq') step \gexec
SELECT * FROM steps('claim_id_seq');
SELECT conname, coninhcount, convalidated, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = 'claim_1'::regclass AND contype = 'c' ORDER BY conname;
DROP TABLE claim;
-- A load of fixtures switches the triggers of a partition off and on: the owner has signed none any more. The plan signs it again.
CREATE TABLE loaded (id serial, day integer, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
CREATE TABLE loaded_1 PARTITION OF loaded FOR VALUES IN (1);
SELECT snowflake._add_shadows('loaded_id_seq', 'loaded');
ALTER TABLE loaded_1 DISABLE TRIGGER ALL;
ALTER TABLE loaded_1 ENABLE TRIGGER ALL;
SELECT object, command FROM snowflake.check() WHERE object ~ 'loaded';
SELECT step FROM steps('loaded_id_seq') step \gexec
SELECT object, command FROM snowflake.check() WHERE object ~ 'loaded';
DROP TABLE loaded;
-- What is in the way.
CREATE TABLE by_id (id serial) PARTITION BY RANGE (id);
SELECT obstacles('by_id_id_seq');
CREATE TABLE lot (id serial, day integer, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
CREATE TABLE lot_1 PARTITION OF lot FOR VALUES IN (1);
CREATE TABLE lot_2 PARTITION OF lot FOR VALUES IN (2);
CREATE TABLE bid (lot_id integer, day integer, FOREIGN KEY (lot_id, day) REFERENCES lot) PARTITION BY LIST (day);
CREATE TABLE bid_1 PARTITION OF bid (lot_id NOT NULL) FOR VALUES IN (1);
ALTER TABLE lot_2 OWNER TO regress_parted;
SET allow_system_table_mods = on;
UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 'lot_1'::regclass;
SELECT replace(o, 'fkey_2', 'fkey2') AS obstacle FROM obstacles('lot_id_seq') o WHERE o !~ 'links two partitioned tables';
UPDATE pg_inherits SET inhdetachpending = false WHERE inhrelid = 'lot_1'::regclass;
RESET allow_system_table_mods;
-- The server updates no row of a partition that is published without its replica identity.
DROP TABLE bid;
ALTER TABLE lot_2 OWNER TO CURRENT_USER;
SET client_min_messages = error; -- of wal_level
CREATE PUBLICATION regress_by_root FOR TABLE lot (id) WITH (publish_via_partition_root);
SELECT obstacles('lot_id_seq');
ALTER PUBLICATION regress_by_root SET (publish = 'insert, delete');
SELECT obstacles('lot_id_seq');
ALTER PUBLICATION regress_by_root SET TABLE lot (id, day);
CREATE PUBLICATION regress_of_part FOR TABLE lot_1 WHERE (day IS NOT NULL), lot_2 (day);
SELECT obstacles('lot_id_seq');
DROP PUBLICATION regress_by_root, regress_of_part;

-- ANALYZE does not know how many pages a partitioned table has.
ANALYZE lot;
SELECT relpages, snowflake._glimpse_size(oid) FROM pg_class WHERE oid = 'lot'::regclass;
DROP SCHEMA parted CASCADE;
DROP ROLE regress_parted;
