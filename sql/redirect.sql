-- The redirect: the server's own nextval, currval and lastval make and return snowflake IDs.
SET snowflake.node = 5;
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_client;
CREATE SCHEMA redirected;
SET search_path = redirected;
CREATE FUNCTION is_id(bigint) RETURNS boolean LANGUAGE sql RETURN $1 > 1000000000000 AND snowflake.get_node($1) = 5;
CREATE VIEW catalog_of_redirect AS
    SELECT p.oid::regprocedure AS function, p.prosupport, count(d.objid) AS dependencies
        FROM pg_proc p LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
        WHERE p.oid IN ('pg_catalog.nextval(regclass)'::regprocedure, 'pg_catalog.currval(regclass)'::regprocedure, 'pg_catalog.lastval()'::regprocedure)
        GROUP BY p.oid, p.prosupport;

-- Who may switch it, and what it writes.
SELECT snowflake.redirects_nextval();
SET ROLE regress_snowflake_client;
SELECT snowflake.redirects_nextval();
SELECT snowflake.redirect_nextval();
SELECT snowflake.redirect_nextval(false);
SELECT snowflake._set_redirect(true);
RESET ROLE;
SELECT * FROM catalog_of_redirect ORDER BY 1;
SELECT snowflake.redirect_nextval();
SELECT snowflake.redirect_nextval();
SELECT snowflake.redirects_nextval();
SELECT * FROM catalog_of_redirect ORDER BY 1;
SELECT snowflake.redirect_nextval(false);
SELECT snowflake.redirect_nextval(false);
SELECT * FROM catalog_of_redirect ORDER BY 1;
-- A support function of somebody else stays.
ALTER FUNCTION pg_catalog.currval(regclass) SUPPORT pg_catalog.textlike_support;
SELECT snowflake.redirect_nextval();
SELECT snowflake.redirect_nextval(false);
SELECT snowflake.redirects_nextval();
UPDATE pg_proc SET prosupport = 0 WHERE oid = 'pg_catalog.currval(regclass)'::regprocedure;
BEGIN;
SELECT snowflake.redirect_nextval();
SELECT snowflake.redirects_nextval();
SAVEPOINT after;
CREATE TABLE after_a_savepoint (id integer);
ROLLBACK;
BEGIN READ ONLY;
SELECT snowflake.redirect_nextval();
ROLLBACK;
SELECT * FROM catalog_of_redirect ORDER BY 1;

-- On a sequence that is not converted, each statement says the same with the redirect off and on.
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE TABLE plain (id serial PRIMARY KEY, item text);
CREATE SEQUENCE unused;
CREATE SEQUENCE ended MAXVALUE 2 START 2;
CREATE TEMPORARY SEQUENCE mine;
CREATE SEQUENCE from_mariadb MAXVALUE 9223372036854775806 CACHE 1000;
GRANT USAGE ON SCHEMA redirected TO regress_snowflake_client;
\i :sources/sql/include/server_sequences.sql
SELECT snowflake.redirect_nextval();
\i :sources/sql/include/server_sequences.sql

-- On a converted sequence, whatever makes the call: a session that has planned before goes on through a conversion, the
-- way back and the switch.
CREATE TABLE orders (id bigserial PRIMARY KEY, item text);
CREATE VIEW orders_view AS SELECT * FROM orders;
CREATE TABLE watched (id bigint);
CREATE TABLE log (id bigint);
CREATE RULE log AS ON INSERT TO watched DO ALSO INSERT INTO log VALUES (nextval('orders_id_seq'));
CREATE DOMAIN numbered bigint DEFAULT nextval('orders_id_seq');
-- Its check, which a session keeps apart from plans, is true while the sequence makes small numbers.
CREATE DOMAIN counted bigint CHECK (nextval('orders_id_seq') > 0 AND currval('orders_id_seq') < 1000);
CREATE TABLE of_domain (id numbered);
CREATE FUNCTION by_sql() RETURNS bigint LANGUAGE sql RETURN nextval('orders_id_seq');
CREATE FUNCTION by_string() RETURNS bigint LANGUAGE sql AS $$SELECT pg_catalog.nextval('redirected.orders_id_seq')$$;
CREATE FUNCTION by_plpgsql() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    id := nextval('orders_id_seq');
    IF lastval() <> id OR currval('orders_id_seq') <> id THEN
        RAISE 'lastval and currval do not follow';
    END IF;
    RETURN id;
END $$;
CREATE FUNCTION by_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.id := nextval('orders_id_seq'); RETURN new; END $$;
CREATE FUNCTION by_rule() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM log;
    INSERT INTO watched VALUES (1);
    RETURN (SELECT id FROM log);
END $$;
CREATE TABLE triggered (id bigint, note text);
CREATE TRIGGER number BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION by_trigger();
PREPARE of_name(text) AS SELECT nextval($1);
PREPARE of_parameter AS SELECT nextval($1);
PREPARE inserts AS INSERT INTO orders (item) VALUES ('one'), ('two') RETURNING id;
CREATE FUNCTION is_domain(bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN $1::counted > 0; END $$;
-- Tells for each way of making a number whether it has made an ID.
CREATE PROCEDURE try() LANGUAGE plpgsql AS $$
DECLARE
    way text;
    id bigint;
    ids text[] := '{}';
BEGIN
    FOREACH way IN ARRAY ARRAY[
        'INSERT INTO orders DEFAULT VALUES RETURNING id', 'INSERT INTO orders_view (item) VALUES (1) RETURNING id',
        'INSERT INTO of_domain VALUES (DEFAULT) RETURNING id', $s$EXECUTE of_name('orders_id_seq')$s$,
        $s$EXECUTE of_parameter('orders_id_seq')$s$, 'EXECUTE inserts', 'SELECT by_sql()', 'SELECT by_string()', 'SELECT by_plpgsql()',
        'INSERT INTO triggered DEFAULT VALUES RETURNING id', 'SELECT by_rule()', 'SELECT is_domain(1)::int'] LOOP
        BEGIN
            EXECUTE way INTO id;
        EXCEPTION WHEN check_violation OR sequence_generator_limit_exceeded THEN
            ids := ids || 'refused'::text;
            CONTINUE;
        END;
        ids := ids || CASE WHEN is_id(id) THEN 'ID' ELSE 'number' END;
    END LOOP;
    RAISE NOTICE '%', ids;
END $$;
CALL try();
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
CALL try();
SELECT snowflake.redirect_nextval(false);
CALL try();
SELECT snowflake.redirect_nextval();
CALL try();
BEGIN;
SELECT snowflake.convert_snowflake_to_sequence('orders_id_seq');
SELECT setval('orders_id_seq', 100);
CALL try();
ROLLBACK;
CALL try();
SELECT nextval('orders_id_seq') = lastval() AS same, nextval('plain_id_seq') = lastval() AS servers, snowflake.nextval() = lastval() AS own,
       currval('orders_id_seq') = snowflake.currval('orders_id_seq') AS one;
SELECT is_id(c) FROM currval('orders_id_seq') c;
DISCARD SEQUENCES;
SELECT currval('orders_id_seq');
SELECT lastval();
SET ROLE regress_snowflake_client;
SELECT nextval('orders_id_seq');
SELECT currval('orders_id_seq');
RESET ROLE;
BEGIN READ ONLY;
SELECT nextval('orders_id_seq');
ROLLBACK;

-- No worker of a parallel query draws.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders WHERE nextval('orders_id_seq') > 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- COPY, and columns that are added: as many IDs as rows.
COPY orders (item) FROM PROGRAM 'seq 1000';
SELECT count(*), count(DISTINCT id), bool_and(is_id(id)) AS are_ids FROM orders WHERE item ~ '^\d+$' AND is_id(id);
CREATE TABLE thousand AS SELECT generate_series(1, 1000) AS n;
ALTER TABLE thousand ADD COLUMN id bigint DEFAULT nextval('orders_id_seq'), ADD COLUMN label text DEFAULT 'k' || nextval('orders_id_seq'),
    ADD COLUMN other numbered;
SELECT count(DISTINCT id), count(DISTINCT label), count(DISTINCT other), bool_and(is_id(id)) AS are_ids FROM thousand;
-- A bigserial that is not converted is copied with the WAL that it has without the redirect, but for a page or two.
CREATE TABLE copied (id bigserial, n integer);
CREATE FUNCTION wal_of_copy() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    before pg_lsn;
    fewest numeric; -- the server's own processes write some, too
BEGIN
    FOR i IN 1..3 LOOP
        TRUNCATE copied;
        CHECKPOINT;
        before := pg_current_wal_insert_lsn();
        COPY copied (n) FROM PROGRAM 'seq 20000';
        fewest := least(fewest, pg_current_wal_insert_lsn() - before);
    END LOOP;
    RETURN fewest;
END $$;
SELECT wal_of_copy() AS redirected \gset
ALTER TABLE copied ALTER id SET DEFAULT nextval('redirected.copied_id_seq'::text);
SELECT wal_of_copy() AS by_text \gset
SELECT count(DISTINCT id) AS of_20000 FROM copied;
SELECT snowflake.redirect_nextval(false);
SELECT wal_of_copy() AS of_server \gset
SELECT :redirected / :of_server < 1.2 AS in_batches, :by_text / :of_server < 1.2 AS by_text_too;
SELECT snowflake.redirect_nextval();

-- A conversion leaves every expression as it is, whoever wrote it. An identity gets what bigserial makes.
CREATE TABLE users (id serial PRIMARY KEY, parent_id integer REFERENCES users, label text DEFAULT 'u' || nextval('redirected.users_id_seq'));
CREATE TABLE by_name (id bigint DEFAULT nextval('redirected.users_id_seq'::text));
CREATE VIEW users_view AS SELECT id, nextval('users_id_seq') AS next FROM users;
CREATE FUNCTION users_next() RETURNS bigint LANGUAGE sql RETURN nextval('users_id_seq');
CREATE DOMAIN users_key bigint DEFAULT nextval('users_id_seq');
CREATE TABLE last_one (id bigint DEFAULT currval('users_id_seq'));
SELECT command FROM snowflake.conversion_plan('users_id_seq') WHERE command IS NOT NULL AND command !~ '^CREATE VIEW';
SELECT snowflake.convert_sequence_to_snowflake('users_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('users_id_seq');
SELECT adrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_class c ON c.oid = adrelid
    WHERE relname IN ('users', 'by_name', 'last_one', 'users_view') ORDER BY 1, adnum;
SELECT pg_get_viewdef('users_view') ~ $$ nextval\('users_id_seq'::regclass\)$$ AS as_before, pg_get_function_sqlbody('users_next'::regproc);
INSERT INTO users DEFAULT VALUES RETURNING is_id(id), is_id(substr(label, 2)::bigint) AS label_is;
INSERT INTO by_name DEFAULT VALUES RETURNING is_id(id);
SELECT is_id(next), is_id(users_next()) FROM users_view;
CREATE DOMAIN small_key integer DEFAULT nextval('plain_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
DROP DOMAIN small_key;
CREATE TABLE people (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
CREATE VIEW people_view AS SELECT name FROM people;
CREATE VIEW people_over_view AS SELECT name FROM people_view;
CREATE TABLE people_inbox (name text);
CREATE RULE deliver AS ON UPDATE TO people_inbox DO ALSO INSERT INTO people (name) VALUES (new.name);
CREATE ROLE regress_snowflake_by_column;
CREATE ROLE regress_snowflake_by_view;
CREATE ROLE regress_snowflake_by_rule;
CREATE ROLE regress_snowflake_reader;
GRANT USAGE ON SCHEMA redirected TO regress_snowflake_by_column, regress_snowflake_by_view, regress_snowflake_by_rule, regress_snowflake_reader;
GRANT INSERT ON people TO regress_snowflake_client;
GRANT INSERT (name) ON people TO regress_snowflake_by_column;
GRANT INSERT ON people_over_view TO regress_snowflake_by_view;
GRANT UPDATE, SELECT ON people_inbox TO regress_snowflake_by_rule;
GRANT SELECT, UPDATE ON people, people_view TO regress_snowflake_reader;
SELECT command FROM snowflake.conversion_plan('people_id_seq') WHERE command IS NOT NULL AND command !~ '^COMMENT|setval|snowflake_\d';
SELECT snowflake.convert_sequence_to_snowflake('people_id_seq');
SELECT pg_get_expr(adbin, adrelid), attidentity, attnotnull, atttypid::regtype, pg_get_serial_sequence('people', 'id')
    FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'people'::regclass;
SET ROLE regress_snowflake_client;
INSERT INTO redirected.people (name) VALUES ('client');
SET ROLE regress_snowflake_by_column;
INSERT INTO redirected.people (name) VALUES ('column');
SET ROLE regress_snowflake_by_view;
INSERT INTO redirected.people_over_view (name) VALUES ('view');
SET ROLE regress_snowflake_by_rule;
UPDATE redirected.people_inbox SET name = 'none';
SET ROLE regress_snowflake_reader;
SELECT nextval('redirected.people_id_seq');
RESET ROLE;
SELECT count(*), bool_and(is_id(id)) AS are_ids FROM people;
-- A plan outlives the role that it was made for.
BEGIN;
REVOKE EXECUTE ON FUNCTION nextval(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION nextval(regclass) TO regress_snowflake_by_view;
GRANT USAGE ON SEQUENCE people_id_seq TO regress_snowflake_by_view, regress_snowflake_reader;
SET LOCAL ROLE regress_snowflake_reader;
PREPARE by_whom AS SELECT is_id(nextval('redirected.people_id_seq'));
SAVEPOINT refused;
EXECUTE by_whom;
ROLLBACK TO refused;
SET LOCAL ROLE regress_snowflake_by_view;
EXECUTE by_whom;
DEALLOCATE by_whom;
ROLLBACK;
-- Where PUBLIC may not execute what stands for the server's function, that one is called.
BEGIN;
CREATE TABLE drawn (id serial);
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA snowflake FROM PUBLIC;
GRANT ALL ON drawn, drawn_id_seq TO regress_snowflake_reader;
SET LOCAL ROLE regress_snowflake_reader;
INSERT INTO redirected.drawn DEFAULT VALUES RETURNING id;
ROLLBACK;
-- Rights that are missing are found.
REVOKE USAGE ON SEQUENCE people_id_seq FROM regress_snowflake_by_view;
GRANT INSERT ON people TO regress_snowflake_reader;
SELECT severity, object, finding, command FROM snowflake.check() WHERE object LIKE '%people%';

-- What was converted with the redirect off goes back to the server's form, but for a layout that the server's nextval
-- does not take.
SELECT snowflake.redirect_nextval(false);
CREATE TABLE before (id serial PRIMARY KEY, twitter bigint DEFAULT snowflake.nextval('redirected.before_id_seq', 'twitter'));
ALTER TABLE before ADD COLUMN other bigint DEFAULT nextval('before_id_seq') + 1;
SELECT snowflake.convert_sequence_to_snowflake('before_id_seq');
SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'before'::regclass ORDER BY adnum;
SELECT snowflake.redirect_nextval();
SELECT snowflake.convert_sequence_to_snowflake('before_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('before_id_seq');
SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'before'::regclass ORDER BY adnum;
SELECT sequence, table_name, column_name, layout FROM snowflake.sequences WHERE sequence::text IN ('before_id_seq', 'people_id_seq') ORDER BY 1, 3;

-- A column that is made small again is found.
ALTER TABLE before ALTER COLUMN id TYPE integer;
SELECT severity, object, finding, command FROM snowflake.check() WHERE object LIKE '%before%' AND severity = 'error';
ALTER TABLE before ALTER COLUMN id TYPE bigint;

-- New columns.
SET snowflake.convert_new_columns = on;
CREATE TABLE made (id serial PRIMARY KEY, number integer GENERATED BY DEFAULT AS IDENTITY);
CREATE TABLE refers (made_id integer REFERENCES made);
RESET snowflake.convert_new_columns;
SELECT attrelid::regclass, attname, atttypid::regtype, pg_get_expr(adbin, adrelid)
    FROM pg_attribute LEFT JOIN pg_attrdef ON attrelid = adrelid AND attnum = adnum
    WHERE attrelid IN ('made'::regclass, 'refers'::regclass) AND attnum > 0 ORDER BY 1, attnum;
INSERT INTO made DEFAULT VALUES RETURNING is_id(id), is_id(number) AS number_is;

-- INCREMENT 50: clients count a block up from the value, or down from it. Of all of these numbers, none belongs to
-- two blocks, to another node or to another millisecond.
CREATE SEQUENCE blocks INCREMENT 50 CACHE 10;
CREATE SEQUENCE wide_blocks INCREMENT 4000;
SELECT snowflake.convert_sequence_to_snowflake('wide_blocks', increment => 'keep');
DROP SEQUENCE wide_blocks;
SELECT step, command FROM snowflake.conversion_plan('blocks', increment => 'keep') WHERE command LIKE 'ALTER%';
SELECT snowflake.convert_sequence_to_snowflake('blocks', increment => 'keep');
SELECT snowflake.convert_sequence_to_snowflake('blocks', increment => 'keep');
SELECT increment, maximum_value FROM information_schema.sequences WHERE sequence_name = 'blocks';
-- Nobody has to say again what the MAXVALUE says.
CREATE TABLE uses_blocks (id integer DEFAULT nextval('blocks'::regclass));
SELECT snowflake.convert_sequence_to_snowflake('blocks');
SELECT pg_get_expr(f.adbin, f.adrelid), q.seqincrement, q.seqmax FROM pg_attrdef f, pg_sequence q
    WHERE f.adrelid = 'uses_blocks'::regclass AND q.seqrelid = 'blocks'::regclass;
DROP TABLE uses_blocks;
CREATE TABLE taken (id bigint);
CREATE PROCEDURE take_blocks(calls integer) LANGUAGE sql BEGIN ATOMIC
    WITH called AS MATERIALIZED (SELECT nextval('blocks') AS v FROM generate_series(1, calls))
    INSERT INTO taken SELECT v + n FROM called, generate_series(-50, 49) n;
END;
CALL take_blocks(200);
WITH called AS MATERIALIZED (SELECT snowflake.nextval('blocks') AS v FROM generate_series(1, 50))
    INSERT INTO taken SELECT v + n FROM called, generate_series(0, 49) n;
CALL take_blocks(50);
INSERT INTO taken SELECT v + n FROM snowflake.nextvals('blocks', 20) v, generate_series(0, 49) n;
CALL take_blocks(1);
SELECT count(*), count(DISTINCT id), min(snowflake.get_node(id)) AS node, max(snowflake.get_node(id)) AS same_node FROM taken;
WITH called AS MATERIALIZED (SELECT nextval('blocks') AS v FROM generate_series(1, 200))
    SELECT bool_and(snowflake.get_timestamp(v - 50) = snowflake.get_timestamp(v + 49)) AS one_tick FROM called;
SELECT last_value - currval('blocks') AS reserved_above FROM blocks;
DROP PROCEDURE take_blocks;
DROP TABLE taken;

-- A block that does not fit twice into a tick.
ALTER SEQUENCE blocks INCREMENT BY 2049;
SELECT nextval('blocks');
ALTER SEQUENCE redirected.blocks INCREMENT BY 2048;
SELECT snowflake.get_count(nextval('blocks'));

-- An INCREMENT that somebody has put in the place of the guard is marked by converting once more.
ALTER SEQUENCE orders_id_seq INCREMENT BY 10;
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', increment => 'keep');
SELECT snowflake.get_node(nextval('orders_id_seq')), snowflake.get_count(currval('orders_id_seq')) >= 10 AS within;
SELECT sequence, table_name, guarded FROM snowflake.sequences WHERE sequence IN ('orders_id_seq', 'blocks') ORDER BY 1, 2;

-- The way back takes that MAXVALUE away.
SELECT snowflake.convert_snowflake_to_sequence('orders_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('blocks');
SELECT seqrelid::regclass, seqincrement, seqmax FROM pg_sequence
    WHERE seqrelid IN ('orders_id_seq'::regclass, 'blocks'::regclass) ORDER BY 1;
SELECT setval('blocks', 1000);
SELECT nextval('blocks');
DROP SEQUENCE blocks;

-- An identity with an INCREMENT keeps it, and is marked.
CREATE TABLE events (id bigint GENERATED BY DEFAULT AS IDENTITY (INCREMENT 20));
SELECT snowflake.convert_sequence_to_snowflake('events_id_seq', increment => 'keep');
SELECT seqincrement, seqmax FROM pg_sequence WHERE seqrelid = 'events_id_seq'::regclass;
SELECT snowflake.get_count(nextval('events_id_seq')) >= 20 AS within;
DROP TABLE events;

-- What stands for the server's functions has to be everybody's.
REVOKE EXECUTE ON FUNCTION snowflake._nextval(regclass), snowflake._lastval() FROM PUBLIC;
SELECT object, finding, command FROM snowflake.check();
GRANT EXECUTE ON FUNCTION snowflake._nextval(regclass), snowflake._lastval() TO PUBLIC;
-- It cannot be dropped while the redirect is on, whatever the command.
DROP EXTENSION snowflake;
DROP EXTENSION snowflake CASCADE;
DROP SCHEMA snowflake CASCADE;
DROP FUNCTION snowflake._plan_call(internal) CASCADE;
DROP SCHEMA IF EXISTS "no schema of snowflake";

-- check() tells of a database in which it was on. A restore may set session_replication_role.
BEGIN;
SELECT snowflake._set_redirect(false);
SELECT severity, object, finding, command FROM snowflake.check() WHERE object LIKE 'function nextval%' OR finding LIKE '%own nextval%';
DELETE FROM snowflake._redirect;
SET LOCAL session_replication_role = replica;
INSERT INTO snowflake._redirect VALUES (true);
SET LOCAL session_replication_role = origin;
SELECT snowflake.redirects_nextval(), count(*) FROM snowflake._redirect;
INSERT INTO snowflake._redirect VALUES (true);
INSERT INTO snowflake._redirect VALUES (true);
SELECT snowflake.redirects_nextval(), count(*) FROM snowflake._redirect;
SET LOCAL session_replication_role = replica;
DELETE FROM snowflake._redirect;
SELECT count(*) FROM snowflake._redirect;
ROLLBACK;
-- One who may restore a dump, and is no superuser, is told what to run.
BEGIN;
GRANT pg_write_all_data TO regress_snowflake_client;
SELECT snowflake.redirect_nextval(false);
SET ROLE regress_snowflake_client;
INSERT INTO snowflake._redirect VALUES (true);
UPDATE snowflake._redirect SET enabled = true;
DELETE FROM snowflake._redirect;
RESET ROLE;
SELECT snowflake.redirects_nextval(), enabled FROM snowflake._redirect;
SELECT command FROM snowflake.check() WHERE object ~ 'nextval\(';
-- Not even when a superuser restores a dump of that.
SELECT enabled AS dumped FROM snowflake._redirect \gset
DELETE FROM snowflake._redirect;
INSERT INTO snowflake._redirect VALUES (:'dumped');
SELECT snowflake.redirects_nextval();
SELECT snowflake.redirect_nextval();
TABLE snowflake._redirect;
ROLLBACK;

SELECT snowflake.redirect_nextval(false);
SELECT * FROM catalog_of_redirect ORDER BY 1;
SELECT nextval('people_id_seq');
SET client_min_messages = warning;
DROP SCHEMA redirected CASCADE;
DROP ROLE regress_snowflake_client, regress_snowflake_by_column, regress_snowflake_by_view, regress_snowflake_by_rule,
    regress_snowflake_reader;
