-- A superuser makes tables of others partitioned. Their code runs as them, or not at all.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
CREATE ROLE regress_snowflake_mallory;
CREATE ROLE regress_snowflake_alice;
CREATE SCHEMA lair AUTHORIZATION regress_snowflake_mallory;
CREATE SCHEMA home AUTHORIZATION regress_snowflake_alice;
GRANT USAGE ON SCHEMA lair, home TO PUBLIC;
SET client_min_messages = warning;
-- Tells of a role that is not the one who wrote this, and whether anything ran at all.
SET ROLE regress_snowflake_mallory;
CREATE SEQUENCE lair.calls;
CREATE FUNCTION lair.tell(x bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'regress_snowflake_mallory' THEN
        RAISE WARNING 'code of mallory runs as %', current_user;
    ELSE
        PERFORM nextval('lair.calls');
    END IF;
    RETURN x;
END $$;
CREATE FUNCTION lair.tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM lair.tell(1); RETURN NEW; END';
CREATE TABLE lair.t (
    id bigint DEFAULT snowflake.nextval() CHECK (lair.tell(1) + id > 0),
    x bigint DEFAULT lair.tell(2),
    y bigint GENERATED ALWAYS AS (lair.tell(x)) STORED,
    PRIMARY KEY (id)
);
CREATE INDEX ON lair.t (lair.tell(x)) WHERE lair.tell(3) > 0;
CREATE STATISTICS lair.s ON (lair.tell(x)), id FROM lair.t;
CREATE TRIGGER tell BEFORE INSERT ON lair.t FOR EACH ROW WHEN (lair.tell(NEW.x) > 0) EXECUTE FUNCTION lair.tell();
CREATE POLICY tell ON lair.t USING (lair.tell(x) > 0);
ALTER TABLE lair.t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE VIEW lair.v AS SELECT lair.tell(x) AS x, id FROM lair.t WHERE lair.tell(4) > 0;
CREATE TABLE lair.r (id bigint REFERENCES lair.t CHECK (lair.tell(5) > 0));
INSERT INTO lair.t (x) SELECT 1 FROM generate_series(1, 100);
INSERT INTO lair.r SELECT id FROM lair.t;
RESET ROLE;
ALTER SEQUENCE lair.calls RESTART;
SELECT step, regexp_replace(command, '''20.*''', '...') AS command, role FROM snowflake.partition_plan('lair.t', '1 month', since => '2080-01-01') WHERE command IS NOT NULL;
\set ECHO none
SELECT command FROM snowflake.partition_plan('lair.t', '1 month', ahead => 2, since => '2080-01-01', with_default => true) WHERE command IS NOT NULL \gexec
SET ROLE regress_snowflake_mallory;
INSERT INTO lair.t (id) VALUES (snowflake.make_id('2080-01-05', 1, 1)), (snowflake.make_id('2081-01-05', 1, 1));
RESET ROLE;
SELECT command FROM snowflake.partition_plan('lair.t', back => true) WHERE command IS NOT NULL \gexec
\set ECHO all
SELECT is_called AS has_run FROM lair.calls;
SELECT relkind, relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = 'lair.t'::regclass;
SET ROLE regress_snowflake_mallory;
SELECT count(*) FROM lair.t;
RESET ROLE;

-- What links tables of two owners, and types of others.
SET ROLE regress_snowflake_mallory;
CREATE DOMAIN lair.word AS text CHECK (lair.tell(6) > 0);
RESET ROLE;
SET ROLE regress_snowflake_alice;
CREATE TABLE home.t (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), word lair.word);
CREATE TABLE home.u (id bigint PRIMARY KEY DEFAULT snowflake.nextval());
GRANT REFERENCES ON home.u TO regress_snowflake_mallory;
GRANT TRIGGER ON home.u TO regress_snowflake_mallory;
RESET ROLE;
SET ROLE regress_snowflake_mallory;
CREATE TABLE lair.of_u (id bigint REFERENCES home.u);
CREATE TRIGGER tell BEFORE INSERT ON home.u FOR EACH ROW EXECUTE FUNCTION lair.tell();
RESET ROLE;
SELECT * FROM snowflake.partition_plan('home.t', '1 month', since => '2080-01-01');
SELECT * FROM snowflake.partition_plan('home.u', '1 month', since => '2080-01-01');
DROP TRIGGER tell ON home.u;
DROP TABLE lair.of_u;
SELECT snowflake._limit_ids('home.u', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('home.u', 'snowflake_limit');
-- What comes in between counts as well.
SET ROLE regress_snowflake_mallory;
CREATE TRIGGER tell BEFORE INSERT ON home.u FOR EACH ROW EXECUTE FUNCTION lair.tell();
RESET ROLE;
SELECT snowflake._partition_table('home.u', 'id', '1 month', '2080-01-01', 1, false);
DROP TRIGGER tell ON home.u;
-- Rights that were given for all new tables do not reach rows past the policies, or past a right that was taken back.
SET ROLE regress_snowflake_alice;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO regress_snowflake_mallory;
RESET ROLE;
SELECT snowflake._partition_table('home.u', 'id', '1 month', '2080-01-01', 1, true);
SELECT c.relname, has_table_privilege('regress_snowflake_mallory', c.oid, 'SELECT') AS may_read
    FROM pg_class c WHERE c.relnamespace = 'home'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relname COLLATE "C";
SET ROLE regress_snowflake_mallory;
SELECT * FROM snowflake.partition_plan('home.u', back => true);
SELECT snowflake._merge_partitions('home.u');
SELECT snowflake._limit_ids('home.t', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('home.u', 'u_pkey');
RESET ROLE;
-- The planner opens the partitions of the table that a foreign key refers to.
CREATE TABLE home.whole (k bigint PRIMARY KEY) PARTITION BY RANGE (k);
CREATE TABLE home.whole_1 PARTITION OF home.whole FOR VALUES FROM (0) TO (10);
CREATE TABLE home.refers (k bigint);
ALTER TABLE home.refers ADD CONSTRAINT refers_k FOREIGN KEY (k) REFERENCES home.whole NOT VALID;
ALTER TABLE home.whole_1 OWNER TO regress_snowflake_mallory;
SELECT snowflake._validate('home.refers', 'refers_k');
DROP TABLE home.whole, home.refers;
-- Names of types, and a key to a partitioned table.
SET ROLE regress_snowflake_alice;
CREATE TABLE home.parts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE home.parts_0 PARTITION OF home.parts FOR VALUES FROM (0) TO (10);
CREATE TABLE home.named (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), part bigint REFERENCES home.parts);
CREATE TYPE home.named_2080_01 AS ENUM ('taken');
SELECT * FROM snowflake.partition_plan('home.named', '1 month', since => '2080-01-01');
DROP TYPE home.named_2080_01;
SELECT snowflake._limit_ids('home.named', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('home.named', 'snowflake_limit');
SELECT snowflake._partition_table('home.named', 'id', '1 month', '2080-01-01', 1, false);
SELECT conname, confrelid::regclass FROM pg_constraint WHERE conrelid = 'home.named'::regclass AND contype = 'f' AND conparentid = 0;
SELECT snowflake._merge_partitions('home.named');
SELECT conname, confrelid::regclass, convalidated FROM pg_constraint WHERE conrelid = 'home.named'::regclass AND contype = 'f' AND conparentid = 0;
RESET ROLE;
DROP TABLE home.named, home.parts;
-- To validate a partition's key can evaluate what the whole has. On the way back each row is looked for in the tables that the table
-- references. A key that is not valid stays so, and is read by nobody. Rights on a column that was dropped are nobody's.
SET ROLE regress_snowflake_alice;
CREATE TABLE home.looked_up (id bigint PRIMARY KEY, item text);
CREATE TABLE home.looks (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), old text, item bigint REFERENCES home.looked_up);
CREATE TABLE home.refers_whole (id integer, looks bigint, item text DEFAULT 'x'::lair.word) PARTITION BY LIST (id);
CREATE TABLE home.refers_part PARTITION OF home.refers_whole FOR VALUES IN (1);
ALTER TABLE home.refers_part ADD CONSTRAINT refers FOREIGN KEY (looks) REFERENCES home.looks;
CREATE TABLE home.not_valid (looks bigint, item text, CHECK (item::lair.word <> ''));
ALTER TABLE home.not_valid ADD FOREIGN KEY (looks) REFERENCES home.looks NOT VALID;
GRANT SELECT (old) ON home.looks TO regress_snowflake_mallory WITH GRANT OPTION;
SET ROLE regress_snowflake_mallory;
GRANT SELECT (old) ON home.looks TO PUBLIC;
SET ROLE regress_snowflake_alice;
ALTER TABLE home.looks DROP COLUMN old;
ALTER TABLE home.refers_part ALTER item DROP DEFAULT; -- of the whole one stays
SELECT snowflake._limit_ids('home.looks', 'id', '1 month', '2080-01-01', 1, false);
DROP TABLE home.refers_whole;
SELECT snowflake._limit_ids('home.looks', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('home.looks', 'snowflake_limit');
SELECT snowflake._partition_table('home.looks', 'id', '1 month', '2080-01-01', 1, false);
SELECT convalidated FROM pg_constraint WHERE conrelid = 'home.not_valid'::regclass AND contype = 'f' AND conparentid = 0;
SET client_min_messages = error; -- of the owner's own command
CREATE INDEX late ON home.looked_up ((item::lair.word));
SET client_min_messages = warning;
SELECT snowflake._merge_partitions('home.looks');
DROP INDEX home.late;
SELECT snowflake._merge_partitions('home.looks');
RESET ROLE;
DROP TABLE home.not_valid, home.looks, home.looked_up;
-- A role that may read the first partition alone does not read the whole table after the merge. Comments and defaults of that
-- partition do not become the table's; its own constraints and indexes are obstacles, as rows of other partitions may not fit.
SET ROLE regress_snowflake_alice;
CREATE TABLE home.kept (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), secret text DEFAULT 'a', other text,
                        CONSTRAINT not_d CHECK (other <> 'd'));
CREATE INDEX kept_other ON home.kept (other);
REVOKE ALL ON home.kept FROM regress_snowflake_mallory;
COMMENT ON COLUMN home.kept.other IS 'whole';
RESET ROLE;
SELECT snowflake._limit_ids('home.kept', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('home.kept', 'snowflake_limit');
SELECT snowflake._partition_table('home.kept', 'id', '1 month', '2080-01-01', 1, false);
SET ROLE regress_snowflake_alice;
GRANT SELECT ON home.kept_before_2080_01 TO regress_snowflake_mallory, PUBLIC;
GRANT UPDATE (secret) ON home.kept_before_2080_01 TO regress_snowflake_mallory WITH GRANT OPTION;
SET ROLE regress_snowflake_mallory;
GRANT UPDATE (secret) ON home.kept_before_2080_01 TO PUBLIC;
SET ROLE regress_snowflake_alice;
COMMENT ON TABLE home.kept_before_2080_01 IS 'archive';
COMMENT ON COLUMN home.kept_before_2080_01.secret IS 'of the archive';
COMMENT ON COLUMN home.kept_before_2080_01.other IS 'of the archive';
COMMENT ON TYPE home.kept_before_2080_01 IS 'of the archive';
COMMENT ON CONSTRAINT not_d ON home.kept_before_2080_01 IS 'of the archive';
COMMENT ON CONSTRAINT kept_pkey_before ON home.kept_before_2080_01 IS 'of the archive';
COMMENT ON CONSTRAINT kept_pkey ON home.kept IS 'whole';
COMMENT ON INDEX home.kept_other_before IS 'of the archive';
COMMENT ON INDEX home.kept_other IS 'whole''s';
ALTER INDEX home.kept_other DEPENDS ON EXTENSION plpgsql;
ALTER TABLE ONLY home.kept ALTER secret SET DEFAULT 'b';
ALTER TABLE home.kept_before_2080_01 ALTER other SET DEFAULT 'c';
CREATE POLICY reads ON home.kept_before_2080_01 TO regress_snowflake_mallory USING (true);
ALTER TABLE home.kept_before_2080_01 ADD CONSTRAINT own CHECK (secret <> 'b'), ADD CONSTRAINT own_too UNIQUE (other),
    ADD CONSTRAINT own_key FOREIGN KEY (id) REFERENCES home.u, ALTER other SET NOT NULL;
CREATE INDEX own_index ON home.kept_before_2080_01 (secret);
-- Whoever may use a schema can name its partitions.
CREATE TYPE home.kept_whole AS ENUM ('taken');
CREATE TABLE home.names_type (x home.kept_2080_01);
CREATE TABLE home.refers_to_part (id bigint REFERENCES home.kept_2080_01);
SET ROLE regress_snowflake_mallory;
CREATE VIEW lair.of_part AS SELECT id FROM home.kept_2080_01;
CREATE VIEW lair.of_first AS SELECT id FROM home.kept_before_2080_01;
RESET ROLE;
SET client_min_messages = error; -- wal_level may be below logical
CREATE PUBLICATION regress_kept FOR TABLE home.kept_before_2080_01;
SET client_min_messages = warning;
SELECT * FROM snowflake.partition_plan('home.kept', back => true);
DROP POLICY reads ON home.kept_before_2080_01;
DROP PUBLICATION regress_kept;
ALTER TABLE home.kept_before_2080_01 DROP CONSTRAINT own, DROP CONSTRAINT own_too, DROP CONSTRAINT own_key, ALTER other DROP NOT NULL;
DROP INDEX home.own_index;
DROP VIEW lair.of_part, lair.of_first;
DROP TABLE home.names_type, home.refers_to_part;
SELECT snowflake._merge_partitions('home.kept');
SELECT relkind, ARRAY(SELECT DISTINCT x.grantee::regrole FROM aclexplode(relacl) x) AS holders FROM pg_class WHERE oid = 'home.kept'::regclass;
SELECT a.attname, a.attacl, pg_get_expr(f.adbin, f.adrelid), col_description(a.attrelid, a.attnum), obj_description(a.attrelid)
    FROM pg_attribute a LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
    WHERE a.attrelid = 'home.kept'::regclass AND a.attnum > 0 ORDER BY a.attnum;
SELECT obj_description(reltype, 'pg_type') FROM pg_class WHERE oid = 'home.kept'::regclass;
SELECT conname, obj_description(oid, 'pg_constraint') FROM pg_constraint
    WHERE conrelid = 'home.kept'::regclass AND contype <> 'n' ORDER BY conname COLLATE "C";
SELECT indexrelid::regclass, obj_description(indexrelid, 'pg_class'),
       EXISTS (SELECT FROM pg_depend d WHERE d.objid = indexrelid AND d.deptype = 'x') AS depends_on_extension
    FROM pg_index WHERE indrelid = 'home.kept'::regclass ORDER BY 1;
SET client_min_messages = error;
DROP OWNED BY regress_snowflake_mallory, regress_snowflake_alice CASCADE;
DROP ROLE regress_snowflake_mallory, regress_snowflake_alice;
