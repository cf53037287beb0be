-- The durable state is the tuple of the sequence, with the meaning that the server gives its
-- fields; and whatever is done to the sequence, no ID comes twice and none steps back.
SET snowflake.node = 3;

-- Collects every ID that this test makes; each must be above all before it, except where noted.
CREATE SEQUENCE s;
CREATE TABLE made (step int GENERATED ALWAYS AS IDENTITY, what text, id bigint UNIQUE);
CREATE FUNCTION make(what text, seq regclass = 's') RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    greatest_so_far bigint := (SELECT max(id) FROM made);
    new bigint := snowflake.nextval(seq);
BEGIN
    INSERT INTO made (what, id) VALUES (make.what, new);
    RETURN new > coalesce(greatest_so_far, 0);
END $$;

SELECT last_value, log_cnt, is_called FROM s;
SELECT make('new sequence');

-- last_value is the last ID, and log_cnt the distance to the high-water mark: the end of a
-- millisecond, of the last of a second that began when the mark was logged.
SELECT last_value = (SELECT max(id) FROM made) AS last_value, is_called,
       ((last_value + log_cnt) >> 22) - (last_value >> 22) BETWEEN 0 AND 999 AS within_a_second,
       (last_value + log_cnt) & 4194303 AS low_bits
    FROM s;
-- It is what the server's nextval takes it for: handed back, the sequence goes on with the next
-- value, above all IDs, and within what is logged.
SELECT last_value FROM s \gset
SELECT nextval('s') - :last_value AS step;
SELECT make('after the server''s nextval');
SELECT pg_sequence_last_value('s') = max(id) AS server_sees_it FROM made;

-- setval: up is followed at once; back is the user's word, and the clock keeps IDs above.
SELECT setval('s', (1::bigint << 62) + 5) - (1::bigint << 62) AS set_to;
SELECT snowflake.nextval('s') AS far \gset
SELECT (:far >> 22) - (1::bigint << 40) AS ticks, snowflake.get_count(:far), snowflake.get_node(:far);
SELECT setval('s', 1);
SELECT make('setval back to 1');
SELECT setval('s', 1, false);
SELECT make('setval back to 1, not called');
SELECT setval('s', max(id), false) = max(id) AS set FROM made;
SELECT make('setval to the last ID');

-- A value that is still free is used, if the clock is not beyond it.
CREATE SEQUENCE ahead;
SELECT setval('ahead', 1::bigint << 62, false) = 1::bigint << 62 AS set;
SELECT snowflake.nextval('ahead') - (1::bigint << 62) AS node_3_counter_0;

-- So it is where the value before it is the last of a node that no server has.
SELECT setval('ahead', (((1::bigint << 40) + 3) << 22) + 4096, false) IS NOT NULL AS set;
SELECT snowflake.nextval('ahead') - (((1::bigint << 40) + 3) << 22) AS node_3_counter_0;

-- ALTER SEQUENCE, every option.
ALTER SEQUENCE s CACHE 10;
SELECT make('CACHE 10'), make('CACHE 10');
ALTER SEQUENCE s CACHE 1;
SELECT make('CACHE 1');
ALTER SEQUENCE s INCREMENT BY 2;
SELECT make('INCREMENT 2'), make('INCREMENT 2');
ALTER SEQUENCE s INCREMENT BY 9223372036854775807;
SELECT make('guarded'), make('guarded');
ALTER SEQUENCE s INCREMENT BY 1;
ALTER SEQUENCE s RESTART;
SELECT make('RESTART');
ALTER SEQUENCE s RESTART WITH 1000;
SELECT make('RESTART WITH');
ALTER SEQUENCE s START WITH 7;
SELECT make('START WITH');
ALTER SEQUENCE s MINVALUE -5 NO MAXVALUE;
SELECT make('MINVALUE');
ALTER SEQUENCE s RESTART WITH -5;
SELECT make('RESTART WITH a negative value');
ALTER SEQUENCE s CYCLE;
SELECT make('CYCLE');
ALTER SEQUENCE s INCREMENT BY 9223372036854775807 MINVALUE 1 START WITH 1;
-- The server's own nextval begins anew, in the millisecond of the last ID.
SELECT bool_and(make('guarded, with CYCLE') AND nextval('s') = 1 AND make('begun anew')) AS above FROM generate_series(1, 20);
ALTER SEQUENCE s INCREMENT BY 1;
ALTER SEQUENCE s NO CYCLE NO MINVALUE START WITH 1;
SELECT make('NO CYCLE');
ALTER SEQUENCE s OWNED BY made.id;
SELECT make('OWNED BY');
ALTER SEQUENCE s OWNED BY NONE;
ALTER SEQUENCE s SET UNLOGGED;
SELECT make('UNLOGGED'), make('UNLOGGED');
SELECT log_cnt AS nothing_covered FROM s;
ALTER SEQUENCE s SET LOGGED;
SELECT make('LOGGED'), make('LOGGED');
ALTER SEQUENCE s RENAME TO t;
SELECT make('RENAME', 't');
CREATE SCHEMA elsewhere;
ALTER SEQUENCE t SET SCHEMA elsewhere;
SELECT make('SET SCHEMA', 'elsewhere.t');
ALTER SEQUENCE elsewhere.t SET SCHEMA public;
ALTER SEQUENCE t RENAME TO s;

-- All of it rolled back, as a whole and to a savepoint.
BEGIN;
ALTER SEQUENCE s RESTART CACHE 5 INCREMENT BY 3;
SELECT snowflake.nextval('s') > max(id) AS above FROM made;
ROLLBACK;
SELECT make('rolled back');
BEGIN;
SELECT make('in a transaction');
SAVEPOINT p;
ALTER SEQUENCE s RESTART CACHE 5 INCREMENT BY 3;
SELECT snowflake.nextval('s') AS inside \gset
ROLLBACK TO p;
SELECT make('back at the savepoint');
COMMIT;
SELECT make('committed');

-- TRUNCATE ... RESTART IDENTITY, rolled back and committed.
CREATE TABLE owner (id bigserial PRIMARY KEY);
ALTER TABLE owner ALTER COLUMN id SET DEFAULT snowflake.nextval('owner_id_seq');
INSERT INTO owner DEFAULT VALUES;
SELECT max(id) AS first FROM owner \gset
BEGIN;
TRUNCATE owner RESTART IDENTITY;
INSERT INTO owner DEFAULT VALUES RETURNING id > :first AS above;
ROLLBACK;
INSERT INTO owner DEFAULT VALUES RETURNING id > :first AS above;
TRUNCATE owner RESTART IDENTITY;
SELECT last_value, is_called FROM owner_id_seq;
INSERT INTO owner DEFAULT VALUES RETURNING id > :first AS above;
SELECT max(id) AS last FROM owner \gset

-- Dropped and made again under its name.
DROP TABLE owner;
CREATE SEQUENCE owner_id_seq;
SELECT snowflake.nextval('owner_id_seq') > :last AS above;
DROP SEQUENCE owner_id_seq;
-- A function keeps the sequence it was planned with only as long as that exists.
CREATE FUNCTION by_name() RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RETURN snowflake.nextval('by_name_seq'); END $$;
CREATE SEQUENCE by_name_seq;
SELECT by_name() AS first \gset
DROP SEQUENCE by_name_seq;
CREATE SEQUENCE by_name_seq;
SELECT by_name() > :first AS above;
DROP SEQUENCE by_name_seq;
DROP FUNCTION by_name;

-- All of this within one millisecond: what is set back cannot repeat an ID of that millisecond,
-- which the clock alone would not prevent.
CREATE SEQUENCE fast;
CREATE TABLE fast_ids (id bigint, way text);
CREATE TABLE fast_owner (id bigserial);
DO $$
BEGIN
    FOR i IN 1..50 LOOP
        INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'setval' FROM generate_series(1, 3);
        PERFORM setval('fast', 1);
        INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'setval, not called' FROM generate_series(1, 3);
        PERFORM setval('fast', 1, false);
        INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'RESTART';
        ALTER SEQUENCE fast RESTART;
        BEGIN
            INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'rolled back' FROM generate_series(1, 3);
            ALTER SEQUENCE fast RESTART;
            PERFORM snowflake.nextval('fast');
            RAISE EXCEPTION USING MESSAGE = snowflake.nextval('fast');
        EXCEPTION WHEN raise_exception THEN
            INSERT INTO fast_ids VALUES (SQLERRM::bigint, 'rolled back');
        END;
        INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'dropped' FROM generate_series(1, 3);
        DROP SEQUENCE fast;
        CREATE SEQUENCE fast;
        INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'unlogged';
        ALTER SEQUENCE fast SET UNLOGGED;
        INSERT INTO fast_ids SELECT snowflake.nextval('fast'), 'logged';
        ALTER SEQUENCE fast SET LOGGED;
        INSERT INTO fast_ids SELECT snowflake.nextval('fast_owner_id_seq'), 'TRUNCATE' FROM generate_series(1, 3);
        TRUNCATE fast_owner RESTART IDENTITY;
    END LOOP;
END $$;
SELECT way = 'TRUNCATE' AS of_table, count(*), count(DISTINCT id) AS ids FROM fast_ids GROUP BY 1 ORDER BY 1;
DROP TABLE fast_ids, fast_owner;
DROP SEQUENCE fast;

-- The node lowered and raised between two calls.
SET snowflake.node = 1023;
SELECT make('node 1023');
SET snowflake.node = 1;
SELECT make('node 1');
SET snowflake.node = 1023;
SELECT make('node 1023 again');
SET snowflake.node = 3;
SELECT make('node 3 again');

-- And within a millisecond that cannot pass: the sequence is far ahead of the clock.
SELECT setval('ahead', ((1::bigint << 40) + 5) << 22) IS NOT NULL AS set;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/fields.sql
SELECT fields(snowflake.nextval('ahead'));
SET snowflake.node = 2;
SELECT fields(snowflake.nextval('ahead'));
SET snowflake.node = 4;
SELECT fields(snowflake.nextval('ahead'));
SELECT setval('ahead', (((1::bigint << 40) + 7) << 22) + (4 << 12) + 4094) IS NOT NULL AS set;
SELECT fields(snowflake.nextval('ahead'));
SELECT fields(snowflake.nextval('ahead'));

-- Temporary sequences live with the session; a new one starts from the clock, as the others do.
CREATE TEMP SEQUENCE temporary;
SELECT snowflake.nextval('temporary') AS a \gset
SELECT snowflake.nextval('temporary') > :a AS above, log_cnt AS nothing_covered FROM temporary;
BEGIN READ ONLY;
SELECT snowflake.nextval('temporary') > :a AS allowed;
ROLLBACK;
SELECT setval('temporary', 1::bigint << 62) IS NOT NULL AS set;
SELECT snowflake.nextval('temporary') > 1::bigint << 62 AS followed;
DISCARD TEMP;

-- Nothing came twice, and nothing stepped back.
SELECT count(*) AS steps_back
    FROM (SELECT id, lag(id) OVER (ORDER BY step) AS previous FROM made) x WHERE id <= previous;

DROP FUNCTION make, fields, put;
DROP TABLE made;
DROP SEQUENCE s, ahead;
DROP SCHEMA elsewhere;
