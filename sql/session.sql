-- What a session remembers of a sequence falls when it must: in the middle of a transaction, where
-- nextval is called again and again and looks nothing up.
SET snowflake.node = 5;
\set VERBOSITY terse

\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/fields.sql
CREATE SEQUENCE s;
SELECT put('s', 0, 5, 0);

-- The role: SET ROLE, RESET ROLE, back at a savepoint, SECURITY DEFINER.
CREATE ROLE regress_snowflake_maker;
CREATE FUNCTION definer() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT fields(snowflake.nextval('s')) $$;
BEGIN;
SELECT fields(snowflake.nextval('s'));
SAVEPOINT p;
SET LOCAL ROLE regress_snowflake_maker;
SELECT snowflake.nextval('s');
ROLLBACK TO p;
SELECT fields(snowflake.nextval('s'));
SET LOCAL ROLE regress_snowflake_maker;
SELECT definer();
SAVEPOINT p;
SELECT snowflake.nextval('s');
ROLLBACK TO p;
RESET ROLE;
SELECT fields(snowflake.nextval('s'));
COMMIT;

-- Rights, taken away and given within the transaction that uses them.
GRANT USAGE ON s TO regress_snowflake_maker;
BEGIN;
SET LOCAL ROLE regress_snowflake_maker;
SELECT fields(snowflake.nextval('s'));
RESET ROLE;
REVOKE USAGE ON s FROM regress_snowflake_maker;
SET LOCAL ROLE regress_snowflake_maker;
SAVEPOINT p;
SELECT snowflake.nextval('s');
ROLLBACK;

-- The options, between two calls.
BEGIN;
SELECT fields(snowflake.nextval('s'));
ALTER SEQUENCE s INCREMENT BY 100;
SELECT fields(snowflake.nextval('s')), fields(snowflake.nextval('s'));
ALTER SEQUENCE s INCREMENT BY 1 CACHE 10;
SELECT fields(snowflake.nextval('s'));
SELECT fields(last_value) AS reserved FROM s;
ALTER SEQUENCE s CACHE 1 MAXVALUE 5000000000000000000;
SELECT fields(snowflake.nextval('s'));
SELECT fields(last_value) AS reserved FROM s;
ALTER SEQUENCE s MAXVALUE 4611686018427408601; -- the last
SAVEPOINT p;
SELECT snowflake.nextval('s');
ROLLBACK TO p;
ALTER SEQUENCE s NO MAXVALUE;
SELECT fields(snowflake.nextval('s'));
COMMIT;

-- The file: rewritten, truncated and dropped, in a subtransaction that is rolled back. The session
-- must not keep it, nor go on in it.
BEGIN;
SELECT fields(snowflake.nextval('s'));
SAVEPOINT p;
ALTER SEQUENCE s RESTART WITH 4611686018431582208;
SELECT fields(snowflake.nextval('s'));
ROLLBACK TO p;
SELECT fields(snowflake.nextval('s'));
SAVEPOINT q;
DROP SEQUENCE s;
SELECT snowflake.nextval('s');
ROLLBACK TO q;
SELECT fields(snowflake.nextval('s'));
COMMIT;
CREATE TABLE t (id bigserial);
BEGIN;
SELECT put('t_id_seq', 0, 5, 0);
SELECT fields(snowflake.nextval('t_id_seq'));
SAVEPOINT p;
TRUNCATE t RESTART IDENTITY;
SELECT snowflake.nextval('t_id_seq') < 1::bigint << 62 AS truncated;
ROLLBACK TO p;
SELECT fields(snowflake.nextval('t_id_seq'));
COMMIT;
DROP TABLE t;
BEGIN;
SAVEPOINT p;
CREATE SEQUENCE made_here;
SELECT snowflake.nextval('made_here') > 0 AS made;
ROLLBACK TO p;
SELECT fields(snowflake.nextval('s'));
CREATE SEQUENCE made_here;
SELECT put('made_here', 7, 5, 0);
SELECT fields(snowflake.nextval('made_here'));
ROLLBACK;

-- Dropped and made again under its name.
BEGIN;
SELECT fields(snowflake.nextval('s'));
DROP SEQUENCE s;
CREATE SEQUENCE s CACHE 10;
SELECT put('s', 10, 5, 0);
SELECT fields(snowflake.nextval('s')), fields(snowflake.lastval());
ROLLBACK;
SELECT fields(snowflake.nextval('s'));
-- Two change names.
CREATE SEQUENCE other;
SELECT put('other', 20, 5, 0);
BEGIN;
SELECT fields(snowflake.nextval('s')), fields(snowflake.nextval('other'));
ALTER SEQUENCE s RENAME TO third;
ALTER SEQUENCE other RENAME TO s;
ALTER SEQUENCE third RENAME TO other;
SELECT fields(snowflake.nextval('s')) AS s, fields(snowflake.nextval('other')) AS other;
SELECT fields(snowflake.currval('s')) AS s, fields(snowflake.currval('other')) AS other;
ROLLBACK;

-- Errors in PL/pgSQL, and procedures that commit and roll back.
DO $$
BEGIN
    FOR i IN 1..3 LOOP
        BEGIN
            RAISE NOTICE '%', fields(snowflake.nextval('s'));
            CREATE SEQUENCE made_here;
            PERFORM snowflake.nextval('made_here');
            PERFORM 1 / 0;
        EXCEPTION WHEN division_by_zero THEN
            RAISE NOTICE '% after the error', fields(snowflake.nextval('s'));
        END;
    END LOOP;
END $$;
DO $$
BEGIN
    FOR i IN 1..2 LOOP
        RAISE NOTICE '%', fields(snowflake.nextval('s'));
        COMMIT;
        RAISE NOTICE '% after the commit', fields(snowflake.nextval('s'));
        CREATE SEQUENCE made_here;
        PERFORM snowflake.nextval('made_here');
        ROLLBACK;
        RAISE NOTICE '% after the rollback', fields(snowflake.nextval('s'));
    END LOOP;
END $$;
-- At the end of a transaction: a deferred trigger, a cursor that is held.
CREATE TABLE ids (id bigint);
CREATE FUNCTION make_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% at the commit', fields(snowflake.nextval('s'));
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON ids DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION make_id();
BEGIN;
INSERT INTO ids VALUES (snowflake.nextval('s')) RETURNING fields(id);
DECLARE held CURSOR WITH HOLD FOR SELECT fields(snowflake.nextval('s')) FROM generate_series(1, 3);
FETCH 1 FROM held;
COMMIT;
FETCH 2 FROM held;
CLOSE held;
SELECT fields(snowflake.nextval('s'));

-- Read-only from the middle on.
BEGIN;
SELECT fields(snowflake.nextval('s'));
SET TRANSACTION READ ONLY;
SELECT snowflake.nextval('s');
ROLLBACK;

-- In a parallel operation, into which a function gets that claims to be safe.
CREATE FUNCTION claims_to_be_safe() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE
    AS $$ BEGIN RETURN snowflake.nextval('s'); END $$;
CREATE TABLE some_rows AS SELECT FROM generate_series(1, 100);
ALTER TABLE some_rows SET (parallel_workers = 2);
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT fields(snowflake.nextval('s'));
SELECT count(claims_to_be_safe()) FROM some_rows;
ROLLBACK;
CREATE OR REPLACE FUNCTION claims_to_be_safe() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE
    AS $$ BEGIN RETURN snowflake.node(); END $$;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_leader_participation = off;
SELECT count(claims_to_be_safe()) FROM some_rows;
ROLLBACK;
SELECT claims_to_be_safe();
SELECT proname, proparallel FROM pg_proc
    WHERE pronamespace = 'snowflake'::regnamespace AND proname ~ 'node' AND proparallel <> 'u'
    ORDER BY proname COLLATE "C";
DROP FUNCTION claims_to_be_safe;
DROP TABLE some_rows;

-- Many sequences by turns.
DO $$
DECLARE
    id bigint;
BEGIN
    FOR i IN 1..20 LOOP
        EXECUTE format('CREATE SEQUENCE many_%s', i);
        PERFORM put(format('many_%s', i), i, 5, 0);
    END LOOP;
    FOR round IN 1..3 LOOP
        FOR i IN 1..20 LOOP
            id := snowflake.nextval(format('many_%s', i));
            IF fields(id) <> format('tick %s, node 5, counter %s', i, round) THEN
                RAISE '% of sequence %', fields(id), i;
            END IF;
        END LOOP;
    END LOOP;
    FOR i IN 1..20 LOOP
        EXECUTE format('DROP SEQUENCE many_%s', i);
    END LOOP;
END $$;

-- DISCARD in a transaction.
BEGIN;
SELECT fields(snowflake.nextval('s'));
DISCARD SEQUENCES;
SAVEPOINT p;
SELECT snowflake.currval('s');
ROLLBACK TO p;
SELECT fields(snowflake.nextval('s')), fields(snowflake.lastval());
COMMIT;
SELECT fields(snowflake.nextval('s'));
DISCARD ALL;
SET snowflake.node = 5;
SELECT fields(snowflake.nextval('s'));

-- Temporary sequences: discarded, dropped at the commit and rolled back.
CREATE TEMP SEQUENCE temporary;
BEGIN;
SELECT put('temporary', 30, 5, 0);
SELECT fields(snowflake.nextval('temporary'));
DISCARD TEMP;
SELECT snowflake.nextval('temporary');
ROLLBACK;
BEGIN;
SELECT fields(snowflake.nextval('temporary'));
DISCARD TEMP;
SELECT fields(snowflake.nextval('s'));
COMMIT;
BEGIN;
CREATE TEMP TABLE dropped (id bigserial) ON COMMIT DROP;
SELECT snowflake.nextval('dropped_id_seq') > 0 AS made;
COMMIT;
BEGIN;
SAVEPOINT p;
CREATE TEMP SEQUENCE temporary;
SELECT snowflake.nextval('temporary') > 0 AS made;
ROLLBACK TO p;
CREATE TEMP SEQUENCE temporary;
SELECT put('temporary', 31, 5, 0);
SELECT fields(snowflake.nextval('temporary'));
DISCARD SEQUENCES;
COMMIT;
SELECT fields(snowflake.nextval('temporary'));
DISCARD ALL;

-- The page is pinned while nothing is looked up. Otherwise it is looked for: another page may have
-- taken its buffer, as here, where a table is read that is larger than all buffers.
\c -
SET temp_buffers = 100;
SET snowflake.node = 5;
CREATE TEMP SEQUENCE temporary;
CREATE TEMP TABLE large AS SELECT repeat('x', 1500) AS filler FROM generate_series(1, 1000);
SELECT put('temporary', 40, 5, 0);
SELECT fields(snowflake.nextval('temporary'));
SELECT count(*) FROM large WHERE filler = repeat('x', 1500);
SELECT fields(snowflake.nextval('temporary')) AS in_another_transaction;
BEGIN;
SELECT fields(snowflake.nextval('temporary'));
SELECT count(*) FROM large WHERE filler = repeat('x', 1500);
SELECT fields(snowflake.nextval('temporary')) AS in_the_same;
SAVEPOINT p;
SELECT 1 / 0;
ROLLBACK TO p;
SELECT count(*) FROM large WHERE filler = repeat('x', 1500);
SELECT fields(snowflake.nextval('temporary')) AS after_an_error;
DISCARD SEQUENCES;
SELECT count(*) FROM large WHERE filler = repeat('x', 1500);
SELECT fields(snowflake.nextval('temporary')) AS after_discard;
COMMIT;
SELECT count(*) FROM large WHERE filler = repeat('x', 1500);

-- Settings with names that the server puts elsewhere than the C library hide none of the extension's.
\c -
SELECT count(set_config(chr(233) || 'x.a' || n, '1', false)) AS before_the_library_is_loaded FROM generate_series(1, 500) n;
SET snowflake.node = 7;
SELECT snowflake.node();
SELECT name, setting FROM pg_settings WHERE name LIKE 'snowflake.%' AND name <> 'snowflake.layout_of_new_columns' ORDER BY 1;
DROP SEQUENCE s, other;
DROP TABLE ids;
DROP FUNCTION make_id, definer, fields, put;
DROP ROLE regress_snowflake_maker;
