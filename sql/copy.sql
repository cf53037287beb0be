-- COPY of rows without IDs: they are made as the lines are read, and the rows are inserted in batches, as with
-- bigserial. And what else of the server plans an expression outside of a query.
SET snowflake.node = 1;
CREATE SCHEMA copying;
SET search_path = copying;

-- How many rows a table has, how many IDs, and whether these increase with the number of the line.
CREATE FUNCTION ids(rows_of regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format($q$SELECT format('%%s rows, %%s IDs, in order: %%s', count(*), count(DISTINCT id),
                                    bool_and(id > previous IS NOT FALSE))
                          FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM %s) x$q$, rows_of)
        INTO result;
    RETURN result;
END $$;
-- Puts a sequence so far ahead of the clock that the next IDs differ by one.
CREATE FUNCTION put_far_ahead(seq regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT setval(seq, (((1::bigint << 40) + 1) << 22) + (1 << 12)) $$;

CREATE SEQUENCE s;
CREATE TABLE plain (id bigint DEFAULT snowflake.nextval('s'), n int UNIQUE);
COPY plain (n) FROM PROGRAM 'seq 2500';
SELECT ids('plain');
SELECT max(id) = snowflake.currval('s') AS last_is_currval FROM plain;

-- The first statement of a session, which loads the library.
\c -
COPY copying.plain (n) FROM PROGRAM 'seq 2501 5000';
SET search_path = copying;
SELECT ids('plain');
\copy plain (n) from program 'seq 5001 5010'
COPY plain (n) FROM STDIN;
5011
5012
\.
SELECT ids('plain');
SET snowflake.node = 1;

-- Rows are inserted in batches: when the third one fails, IDs are made for all five, and the server no longer has the
-- text of the line. No row is left, and its ID does not come again.
CREATE SEQUENCE b;
CREATE TABLE batches (id bigint DEFAULT snowflake.nextval('b'), n int UNIQUE);
SELECT put_far_ahead('b') AS start \gset
COPY batches (n) FROM STDIN;
1
2
1
4
5
\.
SELECT snowflake.currval('b') - :start AS ids_made, count(*) FROM batches;
COPY batches (n) FROM STDIN;
1
2
nothing
\.
SELECT snowflake.currval('b') - :start AS ids_made, count(*) FROM batches;
COPY batches (n) FROM STDIN;
1
2
\.
SELECT id - :start AS id, n FROM batches ORDER BY n;
-- The server's own sequences behave alike.
CREATE TABLE core (id bigserial, n int UNIQUE);
COPY core (n) FROM STDIN;
1
2
1
4
5
\.
SELECT last_value FROM core_id_seq;
-- So does nextval in a layout, by its other name, for the database-wide sequence, and in a function of SQL.
CREATE FUNCTION wrapped() RETURNS bigint LANGUAGE sql AS $$ SELECT snowflake.nextval('b') $$;
CREATE TABLE others (id bigint DEFAULT snowflake.nextval('s', 'twitter'), a bigint DEFAULT snowflake.next_id('s'),
                     b bigint DEFAULT snowflake.next_id('s', 'twitter'), c bigint DEFAULT snowflake.nextval(),
                     d bigint DEFAULT wrapped(), e snowflake.id DEFAULT snowflake.nextval('s'), n int UNIQUE);
ALTER SEQUENCE s RESTART;
COPY others (n) FROM STDIN;
1
1
\.
COPY others (n) FROM PROGRAM 'seq 1000';
SELECT ids('others');
SELECT count(DISTINCT a) AS a, count(DISTINCT b) AS b, count(DISTINCT c) AS c, count(DISTINCT d) AS d, count(DISTINCT e) AS e FROM others;
-- A sequence that is named by a text is found for each row, and the rows are inserted in batches as well.
CREATE TABLE by_text (id bigint DEFAULT snowflake.nextval('s'::text::regclass), n int UNIQUE);
COPY by_text (n) FROM STDIN;
1
1
\.
COPY by_text (n) FROM PROGRAM 'seq 1000';
SELECT ids('by_text');

-- Partitions, domains, triggers, rows left out.
CREATE TABLE parts (id bigint DEFAULT snowflake.nextval('s'), n int) PARTITION BY HASH (n);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
COPY parts (n) FROM PROGRAM 'seq 5000';
SELECT ids('parts');
CREATE DOMAIN key AS bigint DEFAULT snowflake.nextval('s') CHECK (VALUE > 0);
CREATE TABLE of_domain (id key, n int);
COPY of_domain (n) FROM PROGRAM 'seq 2500';
SELECT ids('of_domain');
CREATE TABLE watched (id key DEFAULT snowflake.nextval('s'), n int);
CREATE TABLE seen (id bigint, n int, at text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO seen VALUES (new.id, new.n, tg_when);
    RETURN new;
END $$;
CREATE TRIGGER after_row AFTER INSERT ON watched FOR EACH ROW EXECUTE FUNCTION see();
COPY watched (n) FROM PROGRAM 'seq 2000';
CREATE TRIGGER before_row BEFORE INSERT ON watched FOR EACH ROW EXECUTE FUNCTION see();
COPY watched (n) FROM PROGRAM 'seq 2001 4000';
SELECT ids('watched');
SELECT at, count(*), count(w) AS of_row FROM seen LEFT JOIN watched w USING (id, n) GROUP BY at ORDER BY at;
CREATE TABLE evens (LIKE plain INCLUDING DEFAULTS);
COPY evens (n) FROM PROGRAM 'seq 5000' WHERE n % 2 = 0;
SELECT ids('evens');
COPY evens (n) FROM PROGRAM 'seq 5001 5500' WHERE n % 2 = 0 AND snowflake.nextval('s') > 0;
SELECT ids('evens');

-- In functions and triggers.
CREATE FUNCTION load(first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('COPY plain (n) FROM PROGRAM ''seq %s %s''', first, last);
END $$;
SELECT load(10001, 12500);
SELECT load(12501, 13000);
SELECT ids('plain');
CREATE TABLE outer_table (id bigint DEFAULT snowflake.nextval('s'), n int);
CREATE FUNCTION load_inner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM load(20000 + 10 * new.n, 20009 + 10 * new.n);
    EXECUTE format('CREATE TABLE inner_%s AS SELECT generate_series(1, 100) AS n', new.n);
    EXECUTE format('ALTER TABLE inner_%s ADD COLUMN id bigint DEFAULT snowflake.nextval(''s'')', new.n);
    RETURN NULL;
END $$;
CREATE TRIGGER load AFTER INSERT ON outer_table FOR EACH ROW EXECUTE FUNCTION load_inner();
COPY outer_table (n) FROM PROGRAM 'seq 3';
SELECT ids('outer_table'), ids('plain');
SELECT count(DISTINCT id) AS in_all_three FROM (SELECT id FROM inner_1 UNION ALL SELECT id FROM inner_2 UNION ALL SELECT id FROM inner_3) x;

-- New columns get an ID for each row.
CREATE TABLE old AS SELECT generate_series(1, 1000) AS n;
ALTER TABLE old ADD COLUMN id bigint DEFAULT snowflake.nextval('s');
ALTER TABLE old ADD COLUMN of_domain key;
ALTER TABLE old ADD COLUMN named text DEFAULT 'k' || snowflake.nextval('s');
ALTER TABLE old ADD COLUMN tweet bigint NOT NULL DEFAULT snowflake.nextval('s', 'twitter');
ALTER TABLE old ADD COLUMN wrapped bigint DEFAULT wrapped(), ADD COLUMN two bigint DEFAULT 2;
CREATE FUNCTION add() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE old ADD COLUMN added bigint DEFAULT snowflake.nextval('s');
END $$;
SELECT add();
ALTER TABLE old ALTER COLUMN two TYPE bigint USING snowflake.nextval('s');
SELECT count(DISTINCT id) AS id, count(DISTINCT of_domain) AS of_domain, count(DISTINCT named) AS named, count(DISTINCT tweet) AS tweet,
       count(DISTINCT wrapped) AS wrapped, count(DISTINCT added) AS added, count(DISTINCT two) AS two FROM old;
SELECT min(named) ~ '^k[0-9]+$' AS named FROM old;

-- Arguments of CALL and EXECUTE, the condition of a trigger, the bound of a partition: one ID for each evaluation.
SELECT put_far_ahead('b') AS start \gset
CREATE PROCEDURE hand(id bigint) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO batches VALUES (id, 10); END $$;
CALL hand(snowflake.nextval('b'));
PREPARE hand (bigint) AS INSERT INTO batches VALUES ($1, 11);
EXECUTE hand(snowflake.nextval('b'));
CREATE TRIGGER late BEFORE INSERT ON batches FOR EACH ROW WHEN (snowflake.nextval('b') < new.id) EXECUTE FUNCTION see();
INSERT INTO batches VALUES (0, 12), (0, 13);
SELECT n, id - :start AS id FROM batches WHERE n IN (10, 11) ORDER BY n;
SELECT snowflake.currval('b') - :start AS made;
CREATE TABLE bounded (id bigint) PARTITION BY RANGE (id);
CREATE TABLE bounded_1 PARTITION OF bounded FOR VALUES FROM (snowflake.nextval('b')) TO (MAXVALUE);
SELECT snowflake.currval('b') - :start AS made;
DROP TRIGGER late ON batches;

-- In a query a call stays what it is, and no estimate makes an ID.
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO batches (n) VALUES (14);
EXPLAIN (VERBOSE, COSTS OFF) SELECT FROM batches WHERE id < snowflake.nextval('b');
EXPLAIN (VERBOSE, COSTS OFF) SELECT FROM batches WHERE id = ANY (ARRAY[snowflake.nextval('b'), n]);
SELECT snowflake.currval('b') - :start AS made;

-- Nothing happens before there is a row.
SET snowflake.node = 0;
BEGIN;
COPY plain (n) FROM PROGRAM 'true';
SELECT count(*) AS locks FROM pg_locks WHERE relation = 's'::regclass;
COPY plain (n) FROM PROGRAM 'echo 0';
ROLLBACK;
SET snowflake.node = 1;
BEGIN READ ONLY;
COPY plain (n) FROM PROGRAM 'echo 0';
ROLLBACK;

-- SQL cannot call what stands in for nextval. PostgreSQL 19 gives other hints.
\set VERBOSITY terse
SELECT snowflake._batched_nextval(1);
SELECT snowflake._batched_nextval('s'::regclass::internal);
SELECT snowflake._batched_nextval(1, 's'::regclass);
\set VERBOSITY default

-- The rights are those that nextval takes, on the sequence and on the function.
CREATE ROLE regress_snowflake_copier;
GRANT USAGE ON SCHEMA copying TO regress_snowflake_copier;
GRANT INSERT ON plain, batches TO regress_snowflake_copier;
SET ROLE regress_snowflake_copier;
COPY plain (n) FROM STDIN;
\.
COPY plain (n) FROM STDIN;
-1
\.
RESET ROLE;
GRANT USAGE ON SEQUENCE s, b TO regress_snowflake_copier;
SET ROLE regress_snowflake_copier;
COPY plain (n) FROM STDIN;
-1
\.
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION snowflake._batched_nextval FROM PUBLIC;
SET ROLE regress_snowflake_copier;
COPY batches (n) FROM STDIN;
10
\.
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION snowflake.nextval(regclass) FROM PUBLIC;
SET ROLE regress_snowflake_copier;
\copy plain (n) FROM /dev/null
ROLLBACK;
-- A session plans the checks of a domain once, for whichever role.
CREATE DOMAIN late AS bigint CHECK (VALUE < snowflake.nextval('s'));
SELECT 1::late;
BEGIN;
REVOKE EXECUTE ON FUNCTION snowflake.nextval(regclass) FROM PUBLIC;
SELECT 2::late;
SET ROLE regress_snowflake_copier;
SELECT 3::late;
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA copying CASCADE;
DROP ROLE regress_snowflake_copier;
