-- What code does while a conversion runs, and what names come to mean in places that a conversion does not look at first.
\set SHOW_CONTEXT never
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_meanwhile_mallory;
CREATE ROLE regress_meanwhile_alice;
CREATE SCHEMA meanwhile;
GRANT ALL ON SCHEMA meanwhile TO regress_meanwhile_mallory, regress_meanwhile_alice;
CREATE SCHEMA hers AUTHORIZATION regress_meanwhile_mallory;
CREATE SCHEMA other AUTHORIZATION regress_meanwhile_mallory;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_meanwhile_mallory', current_database()); END $$;
-- Code of mallory tells as whom it runs. No rollback takes that back.
CREATE FUNCTION meanwhile.tell() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'regress_meanwhile_mallory' THEN
        RAISE WARNING 'code of mallory runs as somebody else';
    END IF;
    RETURN 0;
END $$;
SET ROLE regress_meanwhile_mallory;
CREATE FUNCTION hers.code(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN meanwhile.tell(); END';
-- A view of hers runs the code of a function of hers, do(), when it is made again.
CREATE FUNCTION hers.do() RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION hers.do_in_view() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN hers.do(); END';
CREATE DOMAIN hers.doing AS integer CHECK (hers.do_in_view());
RESET ROLE;

-- 1. Code that a conversion runs changes no definitions. It would put another table in the place of one that a materialized
-- view reads, or a function in the place of one that an index calls.
CREATE TABLE meanwhile.t (id serial PRIMARY KEY);
INSERT INTO meanwhile.t DEFAULT VALUES;
CREATE FUNCTION meanwhile.fits(numeric) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE TABLE other.x (id bigint);
SET ROLE regress_meanwhile_mallory;
CREATE TABLE hers.x (id bigint);
CREATE INDEX ON hers.x ((id + hers.code(1)));
CREATE VIEW meanwhile.of_hers AS SELECT id FROM meanwhile.t WHERE '{1}'::hers.doing[] IS NOT NULL;
RESET ROLE;
CREATE MATERIALIZED VIEW meanwhile.filled AS SELECT t.id FROM meanwhile.t LEFT JOIN other.x USING (id);
CREATE INDEX ON meanwhile.filled (meanwhile.fits(id));
\set VERBOSITY default
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    ALTER SCHEMA other RENAME TO away;
    ALTER SCHEMA hers RENAME TO other;
    RETURN true;
END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    CREATE FUNCTION meanwhile.fits(bigint) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT $1 + hers.code(1)';
    RETURN true;
END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
-- Not by a function of the extension either.
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM snowflake._run_as('CREATE TABLE hers.made ()', 'regress_meanwhile_mallory'::regrole, '', NULL);
    RETURN true;
END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM snowflake._run_as('CREATE INDEX CONCURRENTLY made ON hers.x (x)', 'regress_meanwhile_mallory'::regrole, '', NULL);
    RETURN true;
END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
-- It fires no trigger that the caller has deferred, and puts none of its cursors in the place of his, from which he would run it.
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN SET CONSTRAINTS ALL IMMEDIATE; RETURN true; END';
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    cursor refcursor := 'of_caller';
BEGIN
    CLOSE cursor;
    OPEN cursor FOR SELECT 'of mallory';
    RETURN true;
EXCEPTION WHEN OTHERS THEN
    RETURN true; -- "cannot drop pinned portal"
END $$;
RESET ROLE;
BEGIN;
DECLARE of_caller CURSOR FOR SELECT 'of the caller';
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
FETCH ALL FROM of_caller;
CLOSE of_caller;
ROLLBACK;
-- Nor in a trial, whose error is the trial's alone.
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN CREATE TABLE hers.made (); RETURN true; END';
CREATE FUNCTION hers.tried(bigint) RETURNS bigint STABLE LANGUAGE plpgsql AS 'BEGIN PERFORM hers.do(); RETURN $1; END';
CREATE SEQUENCE hers.s;
CREATE TABLE hers.tried (id bigint DEFAULT hers.tried(nextval('hers.s')));
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('hers.s');
SELECT to_regclass('hers.made') IS NULL AS nothing_made;
-- What it does otherwise, it may do.
SET ROLE regress_meanwhile_mallory;
CREATE OR REPLACE FUNCTION hers.do() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL work_mem = '1MB';
    INSERT INTO hers.x VALUES (1);
    RETURN true;
END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('meanwhile.t_id_seq');
\set VERBOSITY terse

-- 2. A new bigint column, which is not widened, has a check that LIKE has copied.
SET ROLE regress_meanwhile_mallory;
CREATE TABLE hers.copied (id bigint GENERATED ALWAYS AS IDENTITY CHECK (id > hers.code(1)));
RESET ROLE;
SET snowflake.convert_new_columns = on;
CREATE TABLE meanwhile.copy (LIKE hers.copied INCLUDING CONSTRAINTS INCLUDING IDENTITY);
CREATE TABLE meanwhile.plain (LIKE hers.copied INCLUDING IDENTITY);
RESET snowflake.convert_new_columns;
SELECT relname, attidentity <> '' AS is_identity FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
    WHERE attname = 'id' AND attrelid IN ('meanwhile.copy'::regclass, 'meanwhile.plain'::regclass) ORDER BY 1;

-- 3. A default that names a sequence by a text. A sequence of that name that a stranger of the owner of the table has made
-- does not take the place of the one that is meant.
SET ROLE regress_meanwhile_alice;
CREATE SEQUENCE meanwhile.number;
RESET ROLE;
CREATE TABLE meanwhile.named (id bigint DEFAULT nextval('number'::text));
SET ROLE regress_meanwhile_mallory;
CREATE SEQUENCE hers.number;
\set VERBOSITY default
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('hers.number');
\set VERBOSITY terse

-- 4. All sequences: one that is gone when its turn comes ends nothing.
CREATE SCHEMA every;
CREATE TABLE every.a (id serial);
CREATE TABLE every.b (id serial);
CREATE TABLE every.c (id serial);
CREATE FUNCTION meanwhile.drop_b() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN DROP TABLE IF EXISTS every.b; END';
CREATE EVENT TRIGGER regress_meanwhile_drop ON ddl_command_end WHEN TAG IN ('ALTER SEQUENCE') EXECUTE FUNCTION meanwhile.drop_b();
CALL snowflake.convert_all('every');
DROP EVENT TRIGGER regress_meanwhile_drop;

-- 5. The partition that a foreign key references has a whole of mallory's, which can have an index with code of mallory.
CREATE TABLE meanwhile.whole (id bigint) PARTITION BY RANGE (id);
CREATE TABLE meanwhile.part PARTITION OF meanwhile.whole FOR VALUES FROM (0) TO (MAXVALUE);
CREATE UNIQUE INDEX ON meanwhile.part (id);
ALTER TABLE meanwhile.part ALTER id SET DEFAULT snowflake.nextval();
CREATE TABLE meanwhile.refers (id integer REFERENCES meanwhile.part (id));
ALTER TABLE meanwhile.whole OWNER TO regress_meanwhile_mallory;
SELECT replace(command, session_user, 'superuser') AS command FROM snowflake.check() WHERE object ~ 'meanwhile.refers';

-- 6. Whoever runs a plan has a search_path. An exact match in it takes the place of nothing that takes any types.
CREATE TYPE meanwhile.mood AS ENUM ('fine', 'ill');
SET ROLE regress_meanwhile_alice;
CREATE TABLE meanwhile.felt (id serial PRIMARY KEY, mood meanwhile.mood, span int4range);
CREATE INDEX felt_fine ON meanwhile.felt (id) WHERE mood = 'fine' AND mood = ANY ('{fine}');
CREATE INDEX felt_span ON meanwhile.felt (id, lower(span));
SET ROLE regress_meanwhile_mallory;
CREATE FUNCTION hers.equals(meanwhile.mood, meanwhile.mood) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN meanwhile.tell() = 0; END';
CREATE OPERATOR meanwhile.= (FUNCTION = hers.equals, LEFTARG = meanwhile.mood, RIGHTARG = meanwhile.mood);
CREATE FUNCTION meanwhile.lower(int4range) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN meanwhile.tell(); END';
RESET ROLE;
INSERT INTO meanwhile.felt (mood, span) VALUES ('fine', '[1,2)');
SET search_path = meanwhile;
\o /dev/null
SELECT command FROM snowflake.conversion_plan('felt_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\o
RESET search_path;
SELECT pg_get_indexdef(i) FROM unnest('{meanwhile.felt_fine, meanwhile.felt_span}'::regclass[]) i;
SET ROLE regress_meanwhile_alice;
CREATE FUNCTION meanwhile.same(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE TABLE meanwhile.compared (id serial PRIMARY KEY, mood meanwhile.mood);
CREATE INDEX compared_1 ON meanwhile.compared (id) WHERE mood IS DISTINCT FROM 'ill';
CREATE INDEX compared_2 ON meanwhile.compared (nullif(mood, 'ill'), id);
CREATE INDEX compared_3 ON meanwhile.compared ((CASE mood WHEN 'ill' THEN id END));
CREATE INDEX compared_4 ON meanwhile.compared (num_nulls(id, mood));
CREATE INDEX compared_5 ON meanwhile.compared (meanwhile.same(id));
CREATE INDEX compared_6 ON meanwhile.compared ((CASE id WHEN 1 THEN 2 END), nullif(id, 1)) WHERE id IS DISTINCT FROM 3;
INSERT INTO meanwhile.compared (mood) VALUES ('fine'), ('ill');
RESET ROLE;
SET search_path = meanwhile;
\o /dev/null
SELECT command FROM snowflake.conversion_plan('compared_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\o
RESET search_path;
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'meanwhile.compared'::regclass ORDER BY 1;

-- 7. The name that an index built beside another gets can be seen, and taken.
SET ROLE regress_meanwhile_alice;
CREATE TABLE meanwhile.held (id serial PRIMARY KEY);
SELECT substring(command FROM 'snowflake_\w+') AS twin
    FROM snowflake.conversion_plan('meanwhile.held_id_seq', online => true) WHERE command ~ 'CONCURRENTLY' \gset
SET ROLE regress_meanwhile_mallory;
CREATE TABLE meanwhile.:twin ();
SET ROLE regress_meanwhile_alice;
\o /dev/null
SELECT command FROM snowflake.conversion_plan('meanwhile.held_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\o
SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'meanwhile.held'::regclass AND attname = 'id';
RESET ROLE;

-- 8. A check of the user's own that compares two columns makes neither of them one of a conversion.
CREATE TABLE meanwhile.own (id serial, copy bigint, CONSTRAINT snowflake_copy CHECK (copy IS NOT DISTINCT FROM id));
SELECT snowflake.cancel_conversion('meanwhile.own_id_seq');
SELECT count(*) AS columns FROM pg_attribute WHERE attrelid = 'meanwhile.own'::regclass AND attnum > 0 AND NOT attisdropped;

DROP SCHEMA meanwhile, hers, other, every CASCADE;
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM regress_meanwhile_mallory', current_database()); END $$;
DROP ROLE regress_meanwhile_mallory, regress_meanwhile_alice;
