-- Node numbers that are claimed: who has which, who gives way, and what then becomes of nextval.
-- Other instances are rows that are inserted here as they would arrive by replication.
CREATE FUNCTION outcome(statement text, OUT state text, OUT message text, OUT hint text)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END $$;
CREATE PROCEDURE arrives(node int, name text, age interval, identifier bigint DEFAULT 5)
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO snowflake.nodes (node, system_identifier, name, claimed_at, version)
        VALUES (node, identifier, name, now() - age, '1.0.0');
END;
CREATE VIEW claims AS
    SELECT node, name, leased, is_this_instance, lost_to FROM snowflake.cluster;
CREATE SEQUENCE s CACHE 100;
\x on
\pset format unaligned
\pset footer off

-- No claims: the setting alone counts.
SET snowflake.node = 7;
SELECT snowflake.node(), snowflake.get_node(snowflake.nextval('s'));
SET snowflake.node = 0;
SELECT * FROM outcome('SELECT snowflake.node()');
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT snowflake.release_node();

-- No setting: the lowest free number, at once, and always the same.
CALL arrives(1, 'elder', '1 day');
SELECT snowflake.claim_node(name => 'me');
SELECT snowflake.node(), snowflake.get_node(snowflake.nextval('s'));
SELECT snowflake.claim_node(), snowflake.claim_node(2);
SELECT * FROM claims ORDER BY node;
SELECT system_identifier = (SELECT system_identifier FROM pg_control_system()) AS mine,
       claimed_at BETWEEN now() - interval '1 hour' AND clock_timestamp() AS recently,
       version = (SELECT extversion FROM pg_extension WHERE extname = 'snowflake') AS this_version
    FROM snowflake.nodes WHERE name = 'me';
SELECT snowflake.claim_node(name => 'renamed');
SELECT name FROM claims WHERE is_this_instance;

-- Another number than the one it has, a number that is taken, one that is none.
SELECT * FROM outcome('SELECT snowflake.claim_node(3)');
SELECT snowflake.release_node();
SELECT * FROM outcome('SELECT snowflake.claim_node(1)');
SELECT * FROM outcome('SELECT snowflake.claim_node(0)');
SELECT * FROM outcome('SELECT snowflake.claim_node(1024)');
SELECT * FROM outcome('SELECT snowflake.node()');
SELECT snowflake.claim_node(3);

-- The setting and the claim disagree.
SET snowflake.node = 4;
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT * FROM outcome('SELECT snowflake.claim_node(4)');
SELECT snowflake.release_node();
SELECT * FROM outcome('SELECT snowflake.claim_node(3)');
SELECT snowflake.claim_node(name => 'me'), snowflake.node();
SET snowflake.node = 0;
SELECT snowflake.node();

-- A later claim to our number changes nothing here. An earlier one ends it, at once, even in the
-- middle of a lease; and so does its equal with a lower identifier.
CALL arrives(4, 'younger', '-1 day');
SELECT snowflake.node();
SELECT name, lost_to FROM claims WHERE node = 4 ORDER BY name;
SELECT snowflake.nextval('s') > 0 AS leases;
CALL arrives(4, 'elder', '1 day', 6);
SELECT * FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT * FROM outcome($$SELECT snowflake.nextvals('s', 2)$$);
SELECT * FROM outcome('SELECT snowflake.claim_node()');
SELECT name, lost_to FROM claims WHERE node = 4 ORDER BY name;
DELETE FROM snowflake.nodes WHERE system_identifier = 6;
SELECT snowflake.node();
UPDATE snowflake.nodes o SET claimed_at = m.claimed_at
    FROM snowflake.nodes m WHERE m.name = 'me' AND o.name = 'younger';
SELECT state, message FROM outcome('SELECT snowflake.node()');
UPDATE snowflake.nodes SET system_identifier = 9223372036854775807 WHERE name = 'younger';
SELECT snowflake.node();
CALL arrives(4, 'elder', '1 day', 6);

-- With a setting as well, the way out is longer.
SET snowflake.node = 4;
SELECT * FROM outcome('SELECT snowflake.node()');
SELECT * FROM outcome('SELECT snowflake.claim_node()');
SELECT snowflake.release_node();
-- A setting that comes without a claim gives way to any.
SELECT * FROM outcome('SELECT snowflake.node()');
SELECT * FROM outcome('SELECT snowflake.claim_node()');
SET snowflake.node = 0;

-- What is rolled back was not claimed.
BEGIN;
SELECT snowflake.claim_node(8), snowflake.get_node(snowflake.nextval('s'));
ROLLBACK;
SELECT state, message FROM outcome($$SELECT snowflake.nextval('s')$$);
SELECT snowflake.claim_node(9);
BEGIN;
SAVEPOINT before;
DELETE FROM snowflake.nodes WHERE node = 9;
SELECT state, message FROM outcome('SELECT snowflake.node()');
ROLLBACK TO before;
SELECT snowflake.get_node(snowflake.nextval('s'));
COMMIT;

-- Nor is anything claimed by who may not see what others have claimed just now.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM outcome('SELECT snowflake.claim_node()');
COMMIT;

-- Rows that come and go in other ways.
SET session_replication_role = replica;
CALL arrives(9, 'elder', '1 day', 6);
SELECT state, message FROM outcome('SELECT snowflake.node()');
RESET session_replication_role;
TRUNCATE snowflake.nodes;
SELECT state, message FROM outcome('SELECT snowflake.node()');
COPY snowflake.nodes (node, system_identifier, name, version) FROM stdin;
9	7	copied	1.0.0
\.
SELECT * FROM outcome('SELECT snowflake.claim_node(9)');
SELECT state FROM outcome($$INSERT INTO snowflake.nodes VALUES (1024, 7, 'x', now(), false, '1.0.0')$$);

-- Numbers for leases are nobody's own.
SELECT * FROM outcome('SELECT snowflake.lease_node()');
SELECT snowflake.reserve_nodes(20, 22), snowflake.reserve_nodes(21, 23);
SELECT leased, count(*) FROM claims WHERE node BETWEEN 20 AND 23 GROUP BY leased;
SELECT state, message FROM outcome('SELECT snowflake.node()');
SELECT * FROM outcome('SELECT snowflake.claim_node(21)');
SET snowflake.node = 21;
SELECT * FROM outcome('SELECT snowflake.node()');
SET snowflake.node = 24;
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(24, 24)');
SET snowflake.node = 0;
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(8, 10)');
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(2, 1)');
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(1000, 1024)');

-- A session has one lease, until it gives it back or ends. A number that another instance has the
-- better claim to is not leased.
SELECT snowflake.lease_node(), snowflake.lease_node();
CALL arrives(20, 'elder', '1 day', 6);
SELECT snowflake.lease_node();
DISCARD ALL;
SELECT snowflake.lease_node();
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
DISCARD ALL;
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
-- A shared lock is no lease: another session may have it as well.
SELECT pg_advisory_lock_shared(1936617335, 22);
SELECT snowflake.lease_node();
DISCARD ALL;
-- A lock that would end with its transaction becomes one that ends with the session.
BEGIN;
SELECT pg_advisory_xact_lock(1936617335, 22);
SELECT snowflake.lease_node();
COMMIT;
SELECT objid AS leased FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
SELECT snowflake.lease_node();
DISCARD ALL;
SET snowflake.node = 0;

-- Rights: everybody sees the cluster and makes IDs; the rest can be granted.
SELECT snowflake.claim_node(30);
CREATE ROLE regress_snowflake_operator;
GRANT EXECUTE ON FUNCTION snowflake.claim_node(integer, text), snowflake.release_node(),
    snowflake.reserve_nodes(integer, integer), snowflake.lease_node() TO regress_snowflake_operator;
CREATE ROLE regress_snowflake_user;
ALTER TABLE snowflake.nodes ENABLE ROW LEVEL SECURITY;
SET ROLE regress_snowflake_user;
SELECT snowflake.node(), snowflake.get_node(snowflake.nextval());
SELECT count(*) FROM snowflake.cluster WHERE is_this_instance AND NOT leased;
SELECT state, message FROM outcome('SELECT snowflake.claim_node()');
SELECT state, message FROM outcome('SELECT snowflake.release_node()');
SELECT state, message FROM outcome('SELECT snowflake.reserve_nodes(40, 41)');
SELECT state, message FROM outcome('SELECT snowflake.lease_node()');
SELECT state, message FROM outcome('DELETE FROM snowflake.nodes');
SET ROLE regress_snowflake_operator;
SELECT snowflake.release_node(), snowflake.claim_node(31), snowflake.reserve_nodes(40, 41);
SELECT snowflake.lease_node(), snowflake.node();
RESET ROLE;
ALTER TABLE snowflake.nodes DISABLE ROW LEVEL SECURITY;

-- All of them claimed.
SELECT snowflake.release_node();
SELECT pg_advisory_unlock_all();
TRUNCATE snowflake.nodes;
INSERT INTO snowflake.nodes (node, system_identifier, name, version)
    SELECT i, i, 'instance', '1.0.0' FROM generate_series(1, 1023) i;
SELECT * FROM outcome('SELECT snowflake.claim_node()');

-- The extension goes and comes without its claims.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
SELECT count(*) FROM snowflake.nodes;
SELECT snowflake.claim_node();
SELECT snowflake.node(), snowflake.get_node(snowflake.nextval());
SELECT snowflake.release_node();

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
SELECT snowflake.get_node(snowflake.nextval('s'));

DROP SEQUENCE s;
DROP FUNCTION outcome;
DROP ROLE regress_snowflake_operator, regress_snowflake_user;
