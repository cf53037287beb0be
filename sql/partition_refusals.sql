-- What partition_plan() refuses: everything that is in the way, at once, before anything is changed.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TABLE parent (x integer);
CREATE TABLE other (id bigint PRIMARY KEY);
CREATE TABLE t (
    id bigint NOT NULL DEFAULT snowflake.nextval(),
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code integer UNIQUE,
    during int4range,
    parent_id bigint,
    other_id bigint REFERENCES other,
    UNIQUE (id, code),
    EXCLUDE USING gist (during WITH &&),
    CHECK (code > 0) NO INHERIT,
    CONSTRAINT whole CHECK (t IS NOT NULL OR true),
    CONSTRAINT snowflake_limit CHECK (id > 0)
) INHERITS (parent);
ALTER TABLE t ADD CHECK (code < 10) NOT VALID, ADD UNIQUE (id), ADD FOREIGN KEY (parent_id) REFERENCES t (id);
ALTER TABLE t REPLICA IDENTITY USING INDEX t_id_key;
CREATE INDEX ON t (code);
ALTER TABLE t CLUSTER ON t_code_idx;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE MATERIALIZED VIEW filled AS SELECT id FROM t;
CREATE TEMPORARY VIEW passing AS SELECT id FROM t;
CREATE FUNCTION rows() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';
CREATE TABLE referencing (id bigint REFERENCES t (id), n integer) PARTITION BY LIST (n);
SET client_min_messages = error; -- wal_level may be below logical
CREATE PUBLICATION regress_t FOR TABLE t;
SET client_min_messages = warning;
CREATE TABLE t_2080_02 ();
INSERT INTO t (id, code) VALUES (snowflake.make_id('2080-02-01', 1, 1), 5);
SELECT * FROM snowflake.partition_plan('t', '1 month', since => '2080-01-01');
\getenv results PG_ABS_BUILDDIR
\set description :results '/results/description'
\o :description
\d t
\o
\echo `sed -f "$PG_ABS_SRCDIR/sql/include/psql_18.sed" "$PG_ABS_BUILDDIR/results/description"`
DROP TABLE t, parent, other, referencing, t_2080_02 CASCADE;
DROP PUBLICATION regress_t;

CREATE UNLOGGED TABLE t (id integer PRIMARY KEY DEFAULT snowflake.nextval());
CREATE TABLE t_self (id bigint PRIMARY KEY DEFAULT snowflake.nextval());
CREATE TRIGGER rows AFTER INSERT ON t_self REFERENCING NEW TABLE AS n FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT * FROM snowflake.partition_plan('t', '1 month', since => '2080-01-01');
SELECT * FROM snowflake.partition_plan('t_self', '1 month', since => '2026-01-01');
-- One more comes while the plan runs.
DROP TRIGGER rows ON t_self;
SELECT snowflake._limit_ids('t_self', 'id', '1 month', '2080-01-01', 2, false);
SELECT snowflake._validate('t_self', 'snowflake_limit');
CREATE TABLE t_self_2080_01 ();
SELECT snowflake._partition_table('t_self', 'id', '1 month', '2080-01-01', 2, false);
DROP TABLE t_self_2080_01;
-- A row above the bound is refused, and told of.
INSERT INTO t_self VALUES (snowflake.make_id('2080-02-01', 1, 1));
SELECT snowflake._partition_table('t_self', 'id', '1 month', '2080-01-01', 2, false);
SELECT snowflake._partition_table('t_self', 'id', '1 month', '2080-01-01', 2, false);
INSERT INTO t_self VALUES (snowflake.make_id('2080-05-01', 1, 1));
-- Locks that cannot be had, and none of them to name.
SELECT snowflake._give_up(snowflake._request(NULL, stage => 'exchange', partitioning =>
    ('t_self', 'id', '1 month', '2080-01-01', 2, false, 'UTC')::snowflake._partition_request), NULL, NULL, 1, '10 ms');
-- The way back keeps what a partition has of its own.
CREATE TRIGGER own BEFORE INSERT ON t_self_before_2080_01 FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT * FROM snowflake.partition_plan('t_self', back => true);
DROP TRIGGER own ON t_self_before_2080_01;
-- Rows that it would not see would be lost: those of a snapshot's future, and of a partition that is half detached.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake._merge_partitions('t_self');
ROLLBACK;
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 't_self_2080_02'::regclass;
SELECT * FROM snowflake.partition_plan('t_self', back => true);
ROLLBACK;
-- Nor does a publication send rows that are moved: one of the table is without it meanwhile, one of a schema is refused.
SET client_min_messages = error; -- as above
CREATE PUBLICATION regress_t FOR TABLES IN SCHEMA public WITH (publish = 'insert, delete', publish_via_partition_root);
SET client_min_messages = warning;
SELECT * FROM snowflake.partition_plan('t_self', back => true);
BEGIN;
ALTER PUBLICATION regress_t SET (publish = 'delete');
SELECT count(command) FROM snowflake.partition_plan('t_self', back => true);
ROLLBACK;
DROP PUBLICATION regress_t;
CREATE VIEW of_one AS SELECT * FROM t_self_2080_02;
SELECT command FROM snowflake.partition_plan('t_self', back => true) \gexec
SELECT count(*) FROM pg_inherits WHERE inhparent = 't_self'::regclass;
DROP VIEW of_one;
CREATE INDEX own ON t_self_before_2080_01 (abs(id));
ALTER TABLE t_self_before_2080_01 ADD CONSTRAINT own CHECK (abs(id) > 0);
SELECT command FROM snowflake.partition_plan('t_self', back => true) \gexec
CREATE INDEX of_all ON t_self (abs(id));
ALTER TABLE t_self ADD CONSTRAINT own CHECK (abs(id) > 0);
SELECT command FROM snowflake.partition_plan('t_self', back => true) \gexec
SELECT indexname FROM pg_indexes WHERE tablename = 't_self' ORDER BY indexname COLLATE "C";
SELECT conname FROM pg_constraint WHERE conrelid = 't_self'::regclass AND contype = 'c';
CREATE TABLE hashed (id bigint PRIMARY KEY DEFAULT snowflake.nextval()) PARTITION BY HASH (id);
SELECT * FROM snowflake.partition_plan('hashed', back => true);
-- From version 17 on, a partition can have another generation expression than the table.
CREATE TABLE computes (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), n bigint GENERATED ALWAYS AS (id + 1) STORED)
    PARTITION BY RANGE (id);
CREATE TABLE computes_0 PARTITION OF computes FOR VALUES FROM (MINVALUE) TO (1);
CREATE TABLE computes_otherwise (id bigint, n bigint GENERATED ALWAYS AS (id + 2) STORED);
SELECT count(command) FROM snowflake.partition_plan('computes', back => true);
BEGIN;
SET LOCAL allow_system_table_mods = on;
UPDATE pg_attrdef SET adbin = (SELECT adbin FROM pg_attrdef WHERE adrelid = 'computes_otherwise'::regclass)
    WHERE adrelid = 'computes_0'::regclass AND adnum = 2;
SELECT * FROM snowflake.partition_plan('computes', back => true);
ROLLBACK;

-- Objects that name the table with ONLY would not see its partitions. Old and new rows of rules, and a table that is inserted
-- into, have none. A new table has a new row type.
CREATE TABLE alone (id bigint PRIMARY KEY DEFAULT snowflake.nextval());
CREATE TABLE notes (id bigint);
CREATE VIEW only_alone AS SELECT id FROM notes WHERE id IN (SELECT x.id FROM ONLY alone x);
CREATE VIEW all_of_them AS SELECT id FROM alone;
CREATE FUNCTION counts() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM ONLY alone old; END;
DO $$BEGIN
    EXECUTE concat('CREATE VIEW deep AS SELECT FROM ONLY alone WHERE ', repeat('(id <> 0 AND (true OR ', 1100), 'true', repeat('))', 1100));
END$$;
CREATE FUNCTION adds() RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO alone DEFAULT VALUES; END;
CREATE RULE changes AS ON INSERT TO notes DO ALSO UPDATE ONLY alone SET id = NEW.id;
CREATE RULE notes AS ON UPDATE TO alone DO ALSO INSERT INTO notes VALUES (OLD.id), (NEW.id);
CREATE POLICY sees ON alone USING (EXISTS (SELECT FROM ONLY alone x WHERE x.id > alone.id));
CREATE POLICY sees_all ON alone USING (EXISTS (SELECT FROM alone x WHERE x.id > alone.id));
REVOKE USAGE ON TYPE alone FROM PUBLIC;
SELECT * FROM snowflake.partition_plan('alone', '1 month', since => '2080-01-01');
DROP TABLE alone, notes CASCADE;

-- A valid key to a partitioned table is none, though what belongs to the partitions can say that it is not valid.
CREATE TABLE days (day integer PRIMARY KEY) PARTITION BY LIST (day);
CREATE TABLE days_1 PARTITION OF days FOR VALUES IN (1);
CREATE TABLE seen (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), day integer);
ALTER TABLE seen ADD FOREIGN KEY (day) REFERENCES days NOT VALID;
ALTER TABLE seen VALIDATE CONSTRAINT seen_day_fkey;
SELECT count(*) > 0 AS is_planned FROM snowflake.partition_plan('seen', '1 month', since => '2080-01-01');
DROP TABLE seen, days;

-- Arguments.
SELECT * FROM snowflake.partition_plan(NULL, '1 month');
SELECT * FROM snowflake.partition_plan('t_self');
CREATE TABLE plain (id bigserial PRIMARY KEY, second bigint DEFAULT snowflake.nextval(), third bigint DEFAULT snowflake.nextval());
SET plpgsql.extra_errors = 'all';
SELECT * FROM snowflake.partition_plan('plain', '1 month');
RESET plpgsql.extra_errors;
SELECT * FROM snowflake.partition_plan('plain', '1 month', id_column => 'fourth');
-- A column whose IDs are made by clients has no default.
SELECT * FROM snowflake.partition_plan('plain', '1 month', id_column => 'id');
ALTER TABLE plain ALTER id DROP DEFAULT;
SELECT count(*) FROM snowflake.partition_plan('plain', '1 month', id_column => 'id');
ALTER TABLE plain DROP second, DROP third;
SELECT * FROM snowflake.partition_plan('plain', '1 month');
SELECT * FROM snowflake.partition_plan('plain', '-1 month', id_column => 'id');
SELECT * FROM snowflake.partition_plan('plain', '1 month', ahead => 0, id_column => 'id');
SELECT * FROM snowflake.partition_plan('plain_pkey', '1 month');
SELECT * FROM snowflake.partition_plan(0, '1 month');
CREATE ROLE regress_snowflake_user;
SET ROLE regress_snowflake_user;
SELECT * FROM snowflake.partition_plan('plain', '1 month');
RESET ROLE;
-- The first partition ends where a step begins, a day ahead at least.
SELECT every, snowflake._next_beginning(every) - (now() + interval '1 day') BETWEEN '0' AND every AS is_next,
       snowflake._next_beginning(every) = date_trunc(unit, snowflake._next_beginning(every)) AS is_beginning
    FROM (VALUES ('1 year'::interval, 'year'), ('3 months', 'month'), ('1 week', 'week'), ('1 day', 'day'), ('6 hours', 'hour')) x(every, unit);
-- The way back keeps no identity, and nothing that uses the row type of the table.
CREATE TABLE by_hand (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE by_hand_1 PARTITION OF by_hand FOR VALUES FROM (MINVALUE) TO (1000);
CREATE TABLE by_hand_2 PARTITION OF by_hand FOR VALUES FROM (1000) TO (MAXVALUE);
CREATE FUNCTION v_of(by_hand) RETURNS text LANGUAGE sql AS 'SELECT $1.v';
SELECT * FROM snowflake.partition_plan('by_hand', back => true);
DROP FUNCTION v_of;
ALTER TABLE by_hand ADD parent bigint REFERENCES by_hand;
SET client_min_messages = error;
CREATE SUBSCRIPTION regress_snowflake_of_hand CONNECTION 'dbname=none' PUBLICATION none WITH (connect = false, slot_name = NONE);
SET client_min_messages = warning;
INSERT INTO pg_subscription_rel SELECT oid, 'by_hand'::regclass, 'r', NULL FROM pg_subscription;
SELECT * FROM snowflake.partition_plan('by_hand', back => true);
DROP SUBSCRIPTION regress_snowflake_of_hand;
ALTER TABLE by_hand DROP parent;
SELECT snowflake.convert_sequence_to_snowflake('by_hand_id_seq') > 0 AS converted;
SELECT count(*) FROM snowflake.partition_plan('by_hand', back => true);
ALTER TABLE by_hand ADD CONSTRAINT wrong CHECK (id < 0) NOT VALID;
SELECT count(*) FROM snowflake.partition_plan('by_hand', back => true);
-- An index that names the whole row, and a domain of bigint.
CREATE DOMAIN number AS bigint;
CREATE TABLE rows_indexed (id number PRIMARY KEY DEFAULT snowflake.nextval(), n integer);
CREATE INDEX ON rows_indexed (n) WHERE rows_indexed IS NOT NULL;
SELECT count(*) FROM snowflake.partition_plan('rows_indexed', '1 month');
DROP TABLE rows_indexed;
DROP DOMAIN number;
-- PostgreSQL 18 has keys that are NOT ENFORCED: no row of them is left to look at.
CREATE TABLE hall (id bigint DEFAULT snowflake.nextval() PRIMARY KEY);
CREATE TABLE seat (hall_id bigint CONSTRAINT seat_key REFERENCES hall);
DO $$
DECLARE
    next text;
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        EXECUTE 'ALTER TABLE seat ALTER CONSTRAINT seat_key NOT ENFORCED';
    END IF;
    FOR next IN SELECT command FROM snowflake.partition_plan('hall', '1 month', ahead => 2) WHERE command IS NOT NULL LOOP
        EXECUTE next;
    END LOOP;
END $$;
SELECT command FROM snowflake.partition_plan('hall', '1 month', ahead => 2) WHERE command IS NOT NULL;
DROP TABLE t, t_self, hashed, computes, computes_otherwise, plain, by_hand, seat, hall;
DROP FUNCTION nothing;
DROP ROLE regress_snowflake_user;
