-- Converting sequences whose columns foreign keys reference: the referencing columns are widened with
-- them, however far.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA fk;
CREATE SCHEMA "fk 2";
SET search_path = fk;

-- Transitive, composite, self-referencing, across schemas, deferrable, NOT VALID.
CREATE TABLE p (id serial PRIMARY KEY, code text NOT NULL, parent integer REFERENCES p, UNIQUE (id, code));
CREATE TABLE "fk 2".c (
    p_id smallint, p_code text, id integer PRIMARY KEY REFERENCES p,
    FOREIGN KEY (p_id, p_code) REFERENCES p (id, code) MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL);
CREATE TABLE d (c_id integer REFERENCES "fk 2".c DEFERRABLE INITIALLY DEFERRED, other integer, untouched integer);
INSERT INTO p (code) VALUES ('a');
INSERT INTO d VALUES (NULL, 99);
ALTER TABLE d ADD CONSTRAINT not_valid FOREIGN KEY (other) REFERENCES "fk 2".c NOT VALID;
COMMENT ON CONSTRAINT not_valid ON d IS 'to be cleaned';
-- Cyclic.
CREATE TABLE hen (id serial PRIMARY KEY, egg integer);
CREATE TABLE egg (id serial PRIMARY KEY, hen integer REFERENCES hen DEFERRABLE INITIALLY DEFERRED);
ALTER TABLE hen ADD FOREIGN KEY (egg) REFERENCES egg DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX ON egg (hen) WHERE hen > 0;

CREATE TEMPORARY TABLE before AS
    SELECT conname, conrelid::regclass::text AS tab, pg_get_constraintdef(oid) AS definition, convalidated,
           obj_description(oid, 'pg_constraint') AS comment
        FROM pg_constraint WHERE connamespace IN ('fk'::regnamespace, '"fk 2"'::regnamespace);
SELECT snowflake.convert_sequence_to_snowflake('p_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('hen_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('egg_id_seq');
SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema LIKE 'fk%' AND data_type <> 'text' ORDER BY 1, 2, 3;
-- All constraints are as they were.
SELECT count(*) > 0 AS compared, count(*) FILTER (WHERE a.conname IS NULL) AS changed
    FROM before b
    LEFT JOIN pg_constraint a
           ON a.conname = b.conname AND a.conrelid::regclass::text = b.tab
          AND pg_get_constraintdef(a.oid) = b.definition AND a.convalidated = b.convalidated
          AND obj_description(a.oid, 'pg_constraint') IS NOT DISTINCT FROM b.comment;
-- They hold.
INSERT INTO p (code) VALUES ('new');
INSERT INTO "fk 2".c SELECT id, code, id FROM p WHERE code = 'new' RETURNING snowflake.get_node(id), snowflake.get_node(p_id);
INSERT INTO d (other) VALUES (98);
UPDATE p SET parent = 5;
BEGIN;
INSERT INTO egg (hen) VALUES (1);
COMMIT;

-- Each table is rewritten once, however many of its columns change.
CREATE TABLE q (id serial PRIMARY KEY);
CREATE TABLE many (id integer PRIMARY KEY REFERENCES q, a integer REFERENCES q, b integer REFERENCES many);
SELECT command, rewrites FROM snowflake.conversion_plan('q_id_seq') WHERE rewrites IS NOT NULL ORDER BY step;
SELECT snowflake.convert_sequence_to_snowflake('q_id_seq');

-- What is wide already stays untouched.
CREATE TABLE wide (id bigserial PRIMARY KEY);
CREATE TABLE wide_child (wide_id bigint REFERENCES wide);
SELECT command FROM snowflake.conversion_plan('wide_id_seq') WHERE command LIKE 'ALTER TABLE%' ORDER BY step;
-- Only the table whose default changes is locked then, and none at all the second time.
CREATE VIEW locked AS
    SELECT relation::regclass FROM pg_locks
        WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND locktype = 'relation';
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('wide_id_seq');
TABLE locked;
COMMIT;
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('wide_id_seq');
TABLE locked;
COMMIT;

SET client_min_messages = warning;
DROP SCHEMA fk, "fk 2" CASCADE;
DROP TABLE before;
