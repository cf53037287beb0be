-- Node numbers: who has which, who gives way, and what then becomes of nextval. Other instances are rows
-- that are inserted here as they would arrive by replication.
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
CREATE PROCEDURE arrives(node int, name text, at timestamptz, identifier bigint DEFAULT 5,
                         kind text DEFAULT 'claim', free_from timestamptz DEFAULT NULL)
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                                 claimed_at, said_at, free_from, version)
        VALUES (gen_random_uuid(), kind, node, node, identifier, 16384, 0, 'elsewhere:/data#1', name, at, at,
                free_from, '3.0.0 on PostgreSQL 15');
END;
-- Makes the registry empty, which no user can.
CREATE PROCEDURE forget() LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE snowflake.nodes DISABLE TRIGGER USER;
    TRUNCATE snowflake.nodes;
    ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER guard;
    ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER guard_truncate;
    ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER truncated;
    ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER changed;
END $$;
CREATE VIEW claims AS
    SELECT node, last_node, kind, name, is_this_instance, lost_to FROM snowflake.cluster;
SET timezone = 'UTC';
CREATE SEQUENCE s CACHE 100;
\x on
\pset format unaligned
\pset footer off

-- A number that the setting gives to the whole server is in the registry since CREATE EXTENSION. One that
-- a session gives itself is not.
SELECT node, last_node, kind, is_this_instance, lost_to FROM claims;
SELECT count(*) AS acts FROM snowflake.nodes \gset
SET snowflake.node = 7;
SELECT snowflake.node(), snowflake.get_node(snowflake.nextval('s'));
SELECT count(*) - :acts AS acts FROM snowflake.nodes;
CALL forget();

-- Neither a setting nor a claim.
SET snowflake.node = 0;
SELECT * FROM outcome('SELECT snowflake.node()');
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT * FROM snowflake.release_node();

-- A number that nobody chose is the instance's own, always the same, and the next one up where that is taken.
SELECT snowflake.claim_node() AS derived \gset
SELECT name LIKE '%_/' || current_database() AS host_and_database FROM claims;
SELECT :derived BETWEEN 1 AND 1023 AS in_range, snowflake.node() = :derived AS has_it,
       snowflake.get_node(snowflake.nextval('s')) = :derived AS uses_it;
CALL forget();
SELECT snowflake.claim_node(name => 'me') = :derived AS the_same;
SELECT snowflake.claim_node() = :derived AS again, (SELECT count(*) FROM snowflake.nodes) AS acts;
SELECT kind, is_this_instance, lost_to, name,
       claimed_at BETWEEN now() - interval '1 hour' AND clock_timestamp() AS recently,
       system_identifier = (SELECT system_identifier FROM pg_control_system()) AS of_this_server,
       database = (SELECT oid FROM pg_database WHERE datname = current_database()) AS of_this_database, copy,
       place ~ '^[^/]+#[0-9a-f]{8}@1$' AS in_this_place,
       version LIKE (SELECT extversion FROM pg_extension WHERE extname = 'snowflake') || ' on PostgreSQL %'
           AS of_this_version
    FROM snowflake.cluster;
SELECT snowflake.claim_node(name => 'renamed') = :derived AS again;
SELECT name FROM claims;
CALL forget();
CALL arrives(:derived, 'elder', '2025-01-01');
SELECT snowflake.claim_node() = :derived % 1023 + 1 AS next_one_up;
CALL forget();

-- A number that somebody names; another than the one it has; one that is taken; one that is none.
CALL arrives(1, 'elder', '2025-01-01');
SELECT snowflake.claim_node(2, 'me'), snowflake.claim_node(2), snowflake.claim_node();
SELECT * FROM outcome('SELECT snowflake.claim_node(3)');
SELECT node, free_from - now() BETWEEN '59 seconds' AND '2 minutes' AS kept_free FROM snowflake.release_node();
SELECT * FROM outcome('SELECT snowflake.claim_node(1)');
SELECT * FROM outcome('SELECT snowflake.claim_node(0)');
SELECT state, message FROM outcome('SELECT snowflake.claim_node(1024)');
SELECT state, message FROM outcome($$SELECT snowflake.claim_node(2, repeat('x', 256))$$);
SELECT state, message FROM outcome('SELECT snowflake.node()');
-- What the instance itself has given up it can have again at once; what another has, not before the time.
SELECT snowflake.claim_node(2);
SELECT snowflake.release_node() IS NOT NULL AS released;
CALL arrives(3, 'gone', '2025-01-01', 6);
CALL arrives(3, 'gone', '2025-01-02', 6, 'release', '2099-01-01');
CALL arrives(4, 'gone', '2025-01-02', 6, 'remove', '2025-01-03');
SELECT * FROM outcome('SELECT snowflake.claim_node(3)');
SET snowflake.node = 3;
SELECT state, message FROM outcome('SELECT snowflake.node()');
SET snowflake.node = 0;
SELECT snowflake.claim_node(4);

-- The setting and the claim disagree.
SET snowflake.node = 5;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT state, message FROM outcome('SELECT snowflake.claim_node(5)');
SELECT (snowflake.release_node()).node;
SELECT * FROM outcome('SELECT snowflake.claim_node(4)');
SELECT snowflake.claim_node(name => 'me'), snowflake.node();
-- A number cannot be given up while the setting stands.
SELECT * FROM outcome('SELECT snowflake.release_node()');
SELECT state, message FROM outcome('SELECT snowflake.release_node(5)');
SET snowflake.node = 0;
SELECT snowflake.node();

-- A later claim to our number changes nothing here. An earlier one ends it, at once, even in the middle of a
-- lease. Both are told of when they arrive.
\set VERBOSITY terse
CALL arrives(5, 'younger', now() + interval '30 seconds', 9223372036854775807);
SELECT snowflake.node();
SELECT name, lost_to FROM claims WHERE node = 5 ORDER BY name;
SELECT snowflake.nextval('s') > 0 AS leases;
CALL arrives(5, 'elder', '2025-01-01', 6);
\set VERBOSITY default
SELECT state, message, hint FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT state, message FROM outcome($$SELECT snowflake.nextvals('s', 2)$$);
SELECT name, lost_to FROM claims WHERE node = 5 ORDER BY name;
-- With a setting as well, the way out is longer.
SET snowflake.node = 5;
SELECT * FROM outcome('SELECT snowflake.claim_node()');
SET snowflake.node = 0;
-- The same command as ever takes another number, and gives up the one that was lost.
SELECT snowflake.claim_node() = :derived AS another;
SELECT name, lost_to FROM claims WHERE node = 5 ORDER BY name;
SELECT (snowflake.release_node()).node = :derived AS released;
-- A setting that the registry does not have gives way to any claim.
SET snowflake.node = 5;
SELECT state, message FROM outcome('SELECT snowflake.node()');
SET snowflake.node = 0;

-- A claim of a clock before the epoch is worse than all others.
SELECT snowflake.claim_node(10);
\set VERBOSITY terse
CALL arrives(10, 'past', '2000-01-01', 7);
\set VERBOSITY default
SELECT snowflake.node();
SELECT (snowflake.release_node()).node;

-- A claim is dated no earlier than those that are known, and not by one that is absurd: whoever claims later would go before it.
CALL arrives(14, 'hours ahead', now() + '3 hours', 8);
CALL arrives(15, 'future', '2099-01-01', 9223372036854775807);
SELECT snowflake.claim_node(11);
SELECT node, claimed_at = (SELECT claimed_at FROM snowflake.cluster WHERE node = 14) AS no_earlier
    FROM snowflake.cluster WHERE is_this_instance;
SELECT node FROM snowflake.release_node();
SELECT snowflake.remove_node(8, 16384, force => true) > now() + '3 hours' AS removed;
SELECT count(*) FROM snowflake.cluster WHERE is_this_instance;
-- Its IDs may be of that time.
SELECT state, message, hint FROM outcome('SELECT snowflake.remove_node(9223372036854775807, 16384)');
SELECT free_from BETWEEN '2099-01-01 00:00:59' AND '2099-01-01 00:02' AS kept_free
    FROM snowflake.remove_node(9223372036854775807, 16384, force => true) free_from;
SELECT snowflake.claim_node(11);
SELECT node, claimed_at > now() + '1 minute' AS is_later FROM snowflake.cluster WHERE is_this_instance;
SELECT snowflake.remove_node(9, 16384);
SELECT o.state, o.message
    FROM snowflake.cluster c, outcome(format('SELECT snowflake.remove_node(%s, %s)', system_identifier, database)) o
    WHERE c.is_this_instance;

-- Of several instances with one name, none is removed by it.
CALL forget();
CALL arrives(21, 'twin', '2025-01-01', 21);
CALL arrives(22, 'twin', '2025-01-01', 22);
SELECT * FROM outcome($$SELECT count(snowflake.remove_node(system_identifier, database, copy))
                            FROM snowflake.cluster WHERE name = 'twin'$$);
BEGIN;
SELECT snowflake.remove_node(21, 16384) IS NOT NULL AS removed;
SELECT snowflake.remove_node(22, 16384, force => true) IS NOT NULL AS removed;
COMMIT;

-- An unrelated instance is removed as a lost one is.
CALL forget();
SELECT snowflake.claim_node(12, 'me');
\set VERBOSITY terse
CALL arrives(12, 'unrelated', '2025-01-01');
\set VERBOSITY default
SELECT state, hint FROM outcome('SELECT snowflake.node()');
SELECT snowflake.remove_node(5, 16384) IS NOT NULL AS removed;
SELECT snowflake.node();
SELECT name, lost_to FROM claims ORDER BY name;

-- In a long table, indexes find the few rows that decide: those about this instance, about its number alone,
-- and about a range.
CALL forget();
SELECT snowflake.claim_node(70);
INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                             claimed_at, said_at, version)
    SELECT gen_random_uuid(), 'claim', 100 + i % 900, 100 + i % 900, 1000 + i, 16384, 0, 'elsewhere:/data#1', 'many',
           '2025-01-01', '2025-01-01', '3.0.0 on PostgreSQL 15'
        FROM generate_series(1, 2000) i;
SET snowflake.node = 70;
BEGIN;
SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'snowflake.nodes'::regclass \gset before_
SELECT snowflake.node();
SELECT seq_scan - :before_seq_scan AS scans, idx_tup_fetch - :before_idx_tup_fetch AS rows
    FROM pg_stat_xact_user_tables WHERE relid = 'snowflake.nodes'::regclass;
COMMIT;
SET snowflake.node = 0;
SELECT snowflake.node();
\set VERBOSITY terse
CALL arrives(70, 'elder', '2025-01-01', 5);
SELECT state, message FROM outcome('SELECT snowflake.node()');
SELECT snowflake.remove_node(5, 16384) IS NOT NULL AS removed;
SELECT snowflake.node();
INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                             claimed_at, said_at, version)
    VALUES (gen_random_uuid(), 'lease', 60, 80, 6, 16384, 0, 'elsewhere:/data#1', 'leases', '2025-01-01',
            '2025-01-01', '3.0.0 on PostgreSQL 15');
\set VERBOSITY default
SELECT state, message FROM outcome('SELECT snowflake.node()');
SELECT count(*) AS acts FROM snowflake.nodes \gset
INSERT INTO snowflake.nodes SELECT * FROM snowflake.nodes;
SELECT count(*) = :acts AS the_same FROM snowflake.nodes;
-- Nor is one that this session has not written itself taken for its own: not even one without a name.
CREATE PROCEDURE arrives_nameless()
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                                 claimed_at, said_at, version)
        VALUES ('00000000-0000-0000-0000-000000000000', 'claim', 90, 90, 7, 16384, 0, 'elsewhere:/data#1', 'nameless',
                '2025-01-01', '2025-01-01', '3.0.0 on PostgreSQL 15');
END;
CALL arrives_nameless();
CALL arrives_nameless();
SELECT written_here FROM snowflake.nodes WHERE node = 90;
DROP PROCEDURE arrives_nameless;
CALL forget();
SELECT snowflake.claim_node(12);


-- An instance that was taken for gone, and is not.
INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                             claimed_at, said_at, free_from, version)
    SELECT gen_random_uuid(), 'remove', 12, 12, system_identifier, database, 0, 'elsewhere:/data#1', name,
           claimed_at, '2098-01-01', '2025-01-01', version
        FROM snowflake.cluster WHERE is_this_instance;
SELECT * FROM outcome('SELECT snowflake.node()');
-- Nor does it get the number back once another has claimed it.
BEGIN;
CALL arrives(12, E'suc\ncessor', now(), 6);
-- PostgreSQL 16 and later write out such a letter.
SELECT state, replace(message, '\x0a', '?') AS message, hint FROM outcome('SELECT snowflake.claim_node(12)');
ROLLBACK;
SELECT snowflake.claim_node(13), snowflake.node();

-- What is sent once more, for servers that subscribe only now, is nothing new.
CALL forget();
SELECT snowflake.claim_node(14), snowflake.reserve_nodes(20, 22);
SELECT snowflake._exchange_claims();
SELECT kind, node, last_node, count(*), count(DISTINCT act) AS acts
    FROM snowflake.nodes WHERE node > 0 GROUP BY 1, 2, 3 ORDER BY 2;
SELECT node, last_node, kind FROM claims ORDER BY node;

-- A copy is a server that runs elsewhere: this one does not.
SELECT state, message, hint FROM outcome('SELECT snowflake.separate_copy()');
BEGIN;
SELECT snowflake.separate_copy(true) = snowflake.node() AS separated;
SELECT kind, is_this_instance, node = snowflake.node() AS is_own FROM claims ORDER BY is_this_instance, kind;
SELECT (snowflake.release_node()).node = snowflake.claim_node(16) AS kept, snowflake.node();
ROLLBACK;
SELECT snowflake.node();
SELECT snowflake.take_over_node();

-- What is rolled back was not claimed.
SELECT (snowflake.release_node()).node;
BEGIN;
SELECT snowflake.claim_node(8), snowflake.get_node(snowflake.nextval('s'));
ROLLBACK;
SELECT state, message FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT snowflake.claim_node(9);
BEGIN;
SAVEPOINT before;
SELECT (snowflake.release_node()).node;
SELECT state, message FROM outcome('SELECT snowflake.node()');
ROLLBACK TO before;
SELECT snowflake.get_node(snowflake.nextval('s'));
COMMIT;

-- Nor is anything claimed by who may not see what others have claimed just now.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM outcome('SELECT snowflake.claim_node()');
COMMIT;

-- Rows are only added. What is typed otherwise is refused.
SELECT * FROM outcome('DELETE FROM snowflake.nodes');
SELECT state, message FROM outcome($$UPDATE snowflake.nodes SET name = 'x'$$);
SELECT state, message FROM outcome('TRUNCATE snowflake.nodes');

-- What arrives by replication never fails. A row that is there is passed over, whatever key it has; so is one
-- that cannot be read; one of a later version counts for nothing; the rest of what could be done does nothing.
SELECT count(DISTINCT act) AS acts FROM snowflake.nodes \gset
SET session_replication_role = replica;
INSERT INTO snowflake.nodes SELECT * FROM snowflake.nodes;
INSERT INTO snowflake.nodes (act, kind, node) VALUES (gen_random_uuid(), 'claim', 9);
UPDATE snowflake.nodes SET name = 'x';
DELETE FROM snowflake.nodes;
TRUNCATE snowflake.nodes;
SELECT count(*) = :acts AS the_same, count(*) FILTER (WHERE written_here) = :acts AS own,
       count(*) FILTER (WHERE name = 'x') AS renamed FROM snowflake.nodes;
CALL arrives(9, 'later version', '2025-01-01', 6, 'something new');
CALL arrives(99999, 'later version', '2025-01-01', 6);
SELECT string_agg(md5(n::text), '') AS long FROM generate_series(1, 300) n \gset
CALL arrives(9, 'long', '2025-01-01', 6, :'long');
SELECT snowflake.node();
SET client_min_messages = error;
CALL arrives(9, 'elder', '2025-01-01', 6);
RESET client_min_messages;
SELECT state, message FROM outcome('SELECT snowflake.node()');
RESET session_replication_role;
CALL forget();
SELECT state, message FROM outcome('SELECT snowflake.node()');

-- Numbers for leases are nobody's own.
SELECT * FROM outcome('SELECT snowflake.lease_node()');
SELECT snowflake.reserve_nodes(20, 22), snowflake.reserve_nodes(21, 23);
SELECT node, last_node, kind FROM claims ORDER BY node;
SELECT state, message FROM outcome('SELECT snowflake.node()');
SELECT * FROM outcome('SELECT snowflake.claim_node(21)');
SET snowflake.node = 21;
SELECT * FROM outcome('SELECT snowflake.node()');
SET snowflake.node = 24;
SELECT * FROM outcome('SELECT snowflake.reserve_nodes(24, 24)');
SET snowflake.node = 0;
CALL arrives(9, 'elder', '2025-01-01', 6);
SELECT state, message, detail FROM outcome('SELECT snowflake.reserve_nodes(8, 10)');
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(2, 1)');
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(1000, 1024)');
SELECT node, free_from > now() AS kept_free FROM generate_series(22, 24) n, snowflake.release_node(n);
SELECT node, last_node FROM claims WHERE kind = 'lease';
SELECT snowflake.reserve_nodes(22, 22);

-- Each client has a lease of its own, also where a pooler lets them share a session. Each can show only its
-- own token. A number that another instance has the better claim to is not leased.
SELECT node, token & 1023 AS in_token, token AS first FROM snowflake.lease_node() \gset first_
SELECT node, token AS second FROM snowflake.lease_node() \gset second_
SELECT :first_node AS first, :first_in_token AS in_token, :second_node AS second;
SELECT node FROM snowflake.lease_node(:first_first);
SELECT node FROM snowflake.lease_node(:second_second);
SELECT * FROM outcome('SELECT snowflake.lease_node(1044)');
SELECT state, message FROM outcome('SELECT snowflake.release_node(20)');
SET client_min_messages = error;
CALL arrives(20, 'elder', '2025-01-01', 6);
RESET client_min_messages;
SELECT * FROM outcome(format('SELECT snowflake.lease_node(%s)', :first_first));
SELECT node FROM snowflake.lease_node(:second_second);
SELECT node FROM snowflake.lease_node();
SELECT state, message FROM outcome('SELECT snowflake.lease_node()');
DISCARD ALL;
SELECT state, message FROM outcome(format('SELECT snowflake.lease_node(%s)', :second_second));
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
-- A lock of another kind, or without its token, is no lease.
SELECT pg_advisory_lock_shared(1936617335, 21);
SELECT node FROM snowflake.lease_node();
DISCARD ALL;
SET timezone = 'UTC';
SET snowflake.node = 0;

-- Rights: everybody sees the cluster and makes IDs; the rest can be granted.
SELECT snowflake.claim_node(30);
CREATE ROLE regress_snowflake_operator;
GRANT EXECUTE ON FUNCTION snowflake.claim_node(integer, text), snowflake.release_node(integer),
    snowflake.remove_node(bigint, bigint, bigint, boolean), snowflake.reserve_nodes(integer, integer),
    snowflake.lease_node(bigint) TO regress_snowflake_operator;
CREATE ROLE regress_snowflake_user;
ALTER TABLE snowflake.nodes ENABLE ROW LEVEL SECURITY;
SET ROLE regress_snowflake_user;
SELECT snowflake.node(), snowflake.get_node(snowflake.nextval());
SELECT count(*) FROM snowflake.cluster WHERE is_this_instance AND kind = 'claim';
SELECT command, state, message
    FROM unnest(ARRAY['SELECT snowflake.claim_node()', 'SELECT snowflake.release_node()',
                      'SELECT snowflake.remove_node(1, 2)', 'SELECT snowflake.separate_copy()',
                      'SELECT snowflake.take_over_node()', 'SELECT snowflake.reserve_nodes(40, 41)',
                      'SELECT snowflake.lease_node()', 'DELETE FROM snowflake.nodes']) command, outcome(command);
SET ROLE regress_snowflake_operator;
SELECT (snowflake.release_node()).node, snowflake.claim_node(31), snowflake.reserve_nodes(40, 41);
SELECT snowflake.node();
SELECT node FROM snowflake.lease_node();
RESET ROLE;
ALTER TABLE snowflake.nodes DISABLE ROW LEVEL SECURITY;
SELECT pg_advisory_unlock_all();

-- The owner of the table writes what the functions write, and nobody's code gets the rights of a superuser.
CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'runs as %', current_user;
    RETURN NEW;
END $$;
CREATE TRIGGER trap BEFORE INSERT ON snowflake.nodes FOR EACH ROW EXECUTE FUNCTION trap();
ALTER TABLE snowflake.nodes OWNER TO regress_snowflake_user;
SELECT snowflake.claim_node(name => 'renamed') = 31 AS written;
ALTER TABLE snowflake.nodes OWNER TO CURRENT_USER;
DROP TRIGGER trap ON snowflake.nodes;
DROP FUNCTION trap;

-- IDs at hand show numbers that others have. The instance's own may have been made before.
CALL forget();
-- The numbers here are neither the derived one nor the next one up; messages that name them are not shown as they are.
SELECT (:derived + 100) % 1023 + 1 AS seen, (:derived + 200) % 1023 + 1 AS ahead, (:derived + 300) % 1023 + 1 AS given_up,
       (:derived + 400) % 1023 + 1 AS set \gset
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval('s'));
INSERT INTO orders SELECT snowflake.make_id(now() - interval '1 hour', node, 0)
    FROM unnest(ARRAY[:derived, :seen]) node;
SELECT snowflake.claim_node() = :derived AS derived;
SELECT (snowflake.release_node()).node = :derived AS released;
SET client_min_messages = error;
SELECT snowflake.claim_node(:seen) = :seen AS claimed;
RESET client_min_messages;
SELECT (snowflake.release_node()).node = :seen AS released;
CALL forget();
INSERT INTO orders VALUES (snowflake.make_id('2050-01-01', :derived, 0)), (snowflake.make_id('2050-01-01', :ahead, 0));
SELECT snowflake.claim_node() = :derived % 1023 + 1 AS next_one_up;
SELECT snowflake.release_node() IS NOT NULL AS released;
SELECT state, replace(message, :'ahead', 'N') AS message, detail, hint
    FROM outcome(format('SELECT snowflake.claim_node(%s)', :ahead));
-- What is given up is kept free beyond its last ID.
SELECT snowflake.claim_node(:given_up) = :given_up AS claimed;
INSERT INTO orders VALUES (snowflake.make_id('2051-01-01', :given_up, 0));
SELECT node = :given_up AS released, free_from FROM snowflake.release_node();
SET snowflake.node = :set;
SELECT setval('s', snowflake.make_id('2052-01-01', :set, 0)) IS NOT NULL AS set;
SELECT snowflake.claim_node() = :set AS claimed;
SET snowflake.node = 0;
SELECT node = :set AS released, free_from FROM snowflake.release_node();
DROP TABLE orders;

-- A role that may make tables and sequences keeps nobody from a number, by IDs of all numbers, by a layout with few, or by
-- what looks like a guard and has no room above 0.
CALL forget();
CREATE SEQUENCE few INCREMENT 9223372036854775807;
CREATE SEQUENCE below INCREMENT 9223372036854775807 MINVALUE -100 MAXVALUE 0 START -5;
SELECT setval('below', -5);
SELECT snowflake.set_layout('few', 'epoch=2023-01-01 tick=1ms timestamp:41 node:1 counter:12');
SELECT snowflake.claim_node() AS the_one_that_fits;
SELECT snowflake.claim_node() AS the_same;
SELECT count(*) FROM snowflake.check() WHERE object ~ 'below';
-- A claim makes a guard work that was left open, and leaves no currval behind that nobody drew.
CREATE SEQUENCE left_open INCREMENT 9223372036854775807;
SELECT last_value, is_called FROM left_open;
BEGIN;
SELECT snowflake.claim_node() AS the_same;
-- It keeps no lock of it: a database may have more sequences than there is room for locks.
SELECT count(*) FROM pg_locks WHERE relation = 'left_open'::regclass;
COMMIT;
SELECT last_value, is_called FROM left_open;
SELECT currval('left_open');
SELECT nextval('left_open');
SELECT snowflake.release_node() IS NOT NULL AS released;
CALL forget();
DO $$
BEGIN
    FOR k IN 0..4 LOOP
        EXECUTE format('CREATE TABLE many_%s (id bigint PRIMARY KEY DEFAULT snowflake.nextval(''s''))', k);
        EXECUTE format('INSERT INTO many_%s SELECT snowflake.make_id(''2050-01-01'', node, 0) FROM generate_series(%s, %s) node',
                       k, greatest(1, k * 250), least(1023, k * 250 + 249));
    END LOOP;
END $$;
SET client_min_messages = error; -- the warning names the number
SELECT snowflake.claim_node() = :derived AS derived;
RESET client_min_messages;
SELECT snowflake.release_node() IS NOT NULL AS released;
DROP TABLE many_0, many_1, many_2, many_3, many_4;
DROP SEQUENCE few, below, left_open;
-- Nor does another role choose the number by a layout of its own, or hide IDs of others behind tables of its own.
CALL forget();
CREATE SEQUENCE steers INCREMENT 9223372036854775807;
SELECT snowflake.set_layout('steers', 'epoch=2023-01-01 tick=1ms timestamp:41 node:1 counter:12');
ALTER SEQUENCE steers OWNER TO regress_snowflake_user;
-- No preset has less room than javascript. With the number 1 taken, the layout of two numbers would leave none.
CALL arrives(1, 'other', '2025-01-01', 8);
SELECT snowflake.claim_node() BETWEEN 2 AND 63 AS fits_javascript;
SELECT snowflake.release_node() IS NOT NULL AS released;
CALL forget();
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval('s'));
INSERT INTO orders VALUES (snowflake.make_id('2050-01-01', :ahead, 0));
CREATE SCHEMA hiding;
GRANT ALL ON SCHEMA hiding TO regress_snowflake_user;
DO $$
BEGIN
    FOR k IN 1..257 LOOP
        EXECUTE format('CREATE TABLE hiding.t_%s (id bigint PRIMARY KEY DEFAULT snowflake.nextval(''s''))', k);
        EXECUTE format('ALTER TABLE hiding.t_%s OWNER TO regress_snowflake_user', k);
    END LOOP;
END $$;
UPDATE pg_class SET relpages = 1000000 WHERE relnamespace = 'hiding'::regnamespace AND relkind = 'r';
SELECT state, replace(message, :'ahead', 'N') AS message FROM outcome(format('SELECT snowflake.claim_node(%s)', :ahead));
DROP TABLE orders;
DROP SEQUENCE steers;
DO $$ BEGIN FOR k IN 1..257 LOOP EXECUTE format('DROP TABLE hiding.t_%s', k); END LOOP; END $$;
DROP SCHEMA hiding;
-- Nor does it retire a number for years, by what its own tables and sequences say.
CALL forget();
CREATE SEQUENCE hers INCREMENT 9223372036854775807;
CREATE TABLE of_hers (id bigint PRIMARY KEY DEFAULT snowflake.nextval('hers'));
INSERT INTO of_hers SELECT snowflake.make_id('2090-01-01', node, 0) FROM generate_series(63, 65) node;
SELECT setval('hers', max(id)) = max(id) AS far_ahead FROM of_hers;
ALTER SEQUENCE hers OWNER TO regress_snowflake_user;
ALTER TABLE of_hers OWNER TO regress_snowflake_user;
SELECT snowflake.claim_node(63);
SELECT free_from BETWEEN now() AND now() + '1 hour' AS soon_free FROM snowflake.release_node();
SELECT snowflake.claim_node(65);
SELECT free_from BETWEEN now() AND now() + '1 hour' AS soon_free FROM snowflake.release_node();
CALL arrives(64, 'lost', '2025-01-01', 8);
SELECT free_from BETWEEN now() AND now() + '1 hour' AS soon_free FROM snowflake.remove_node(8, 16384) free_from;
-- What nobody needs a right for is believed: IDs of the next ten minutes.
INSERT INTO of_hers VALUES (snowflake.make_id(now() + '5 minutes', 66, 0));
SELECT state, message FROM outcome('SELECT snowflake.claim_node(66)');
DROP TABLE of_hers;
DROP SEQUENCE hers;

-- All of them claimed.
CALL forget();
INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                             claimed_at, said_at, version)
    VALUES (gen_random_uuid(), 'lease', 1, 1023, 5, 16384, 0, 'elsewhere:/data#1', 'all', '2025-01-01',
            '2025-01-01', '3.0.0 on PostgreSQL 15');
SELECT * FROM outcome('SELECT snowflake.claim_node()');

-- The extension goes and comes without its claims, and the instance gets the same number.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
SELECT count(*) FROM snowflake.nodes;
SELECT snowflake.claim_node() = :derived AS the_same, snowflake.node() = :derived AS in_use;
SELECT (snowflake.release_node()).node = :derived AS released;

-- What the setting is cannot be pretended before the module is loaded.
GRANT EXECUTE ON FUNCTION snowflake.reserve_nodes(integer, integer) TO regress_snowflake_operator;
\c -
SELECT current_setting('snowflake.node') AS real \gset
SET client_min_messages = error;
SET ROLE regress_snowflake_operator;
SET snowflake.node = 0;
SELECT state FROM outcome(format('SELECT snowflake.reserve_nodes(%1$s, %1$s)', :real));
RESET ROLE;

REVOKE EXECUTE ON FUNCTION snowflake.reserve_nodes(integer, integer) FROM regress_snowflake_operator;

-- Of a range that somebody wrote into the registry, the numbers count that there are.
SET snowflake.node = 0;
CREATE PROCEDURE claims_here(first int, last int, at timestamptz) LANGUAGE sql BEGIN ATOMIC
    INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                                 claimed_at, said_at, version)
        SELECT gen_random_uuid(), 'claim', first, last, c.system_identifier, d.oid::bigint, 0, n.place, 'wide', at, at, '3.0.0'
            FROM pg_control_system() c, pg_database d, (SELECT DISTINCT place FROM snowflake.nodes WHERE written_here) n
            WHERE d.datname = current_database();
END;
BEGIN;
CALL claims_here(-2147483648, -2147483648, '2099-01-01');
SELECT message FROM outcome('SELECT snowflake.node()');
SELECT node FROM snowflake.release_node();
CALL claims_here(0, 0, '2099-01-02');
SELECT message FROM outcome('SELECT snowflake.node()');
SELECT node FROM snowflake.release_node();
CALL claims_here(1024, 2147483647, '2099-01-03');
SELECT message FROM outcome('SELECT snowflake.node()');
SELECT node FROM snowflake.release_node();
CALL claims_here(1022, 2147483647, '2099-01-04');
SELECT node, last_node, kind FROM snowflake.cluster;
SELECT node FROM snowflake.release_node();
SELECT node, last_node, kind FROM snowflake.cluster;
ROLLBACK;
DROP PROCEDURE claims_here;

-- A table that is not as the extension has made it is not trusted.
SET snowflake.node = 7;
BEGIN;
ALTER TABLE snowflake.nodes ALTER COLUMN name DROP NOT NULL;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
ROLLBACK;
BEGIN;
ALTER TABLE snowflake.nodes RENAME TO put_aside;
CREATE VIEW snowflake.nodes AS SELECT * FROM snowflake.put_aside;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
ROLLBACK;
BEGIN;
ALTER TABLE snowflake.nodes DROP COLUMN version;
SELECT state FROM outcome($$SELECT snowflake.nextval('s')$$);
ROLLBACK;
SELECT snowflake.get_node(snowflake.nextval('s'));

-- A table that was written anew is trusted, and one with a further column. A long row counts as others do.
SET snowflake.node = 0;
SELECT snowflake.claim_node() AS claimed \gset
SET client_min_messages = warning;
VACUUM FULL snowflake.nodes;
\c -
SET client_min_messages = error;
SET snowflake.node = 0;
SELECT snowflake.node() = :claimed AS the_same;
BEGIN;
ALTER TABLE snowflake.nodes ADD COLUMN later integer DEFAULT 5;
SELECT snowflake.node() = :claimed AS the_same;
ROLLBACK;
BEGIN;
INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, copy, place, name,
                             claimed_at, said_at, version)
    SELECT gen_random_uuid(), 'claim', :claimed, :claimed, 5, 16384, 0, string_agg(gen_random_uuid()::text, ''), 'far',
           '2025-01-01', '2025-01-01', '3.0.0 on PostgreSQL 15' FROM generate_series(1, 1000);
SELECT state, message ~ '\mfar\M' AS is_named FROM outcome('SELECT snowflake.node()');
ROLLBACK;
SELECT (snowflake.release_node()).node = :claimed AS released;

DROP SEQUENCE s;
DROP FUNCTION outcome, keep, for_integers;
DROP ROLE regress_snowflake_operator, regress_snowflake_user;
