-- What USAGE on a sequence allows: IDs in the default layout, and in one that its owner has chosen for
-- it. Any other could put the sequence ahead for years, which setval may only with UPDATE.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_owner;
CREATE ROLE regress_snowflake_user;
CREATE ROLE regress_snowflake_updater;
CREATE SCHEMA usage;
GRANT ALL ON SCHEMA usage TO regress_snowflake_owner, regress_snowflake_user, regress_snowflake_updater;
SET ROLE regress_snowflake_owner;
SET search_path = usage;
CREATE SEQUENCE seq;
CREATE TABLE plain (id bigserial);
GRANT USAGE ON seq, plain_id_seq TO regress_snowflake_user, regress_snowflake_updater;
GRANT UPDATE ON seq TO regress_snowflake_updater;

-- A layout whose present is as far ahead as can be; the refusal costs the sequence nothing.
SET ROLE regress_snowflake_user;
SELECT snowflake.nextval('seq', 'epoch=1990-01-01 tick=1ms timestamp:41 node:10 counter:12');
SELECT snowflake.nextval('plain_id_seq', 'epoch=1990-01-01 tick=1ms timestamp:41 node:10 counter:12');
SELECT count(*) FROM snowflake.nextvals('seq', 10, 'twitter');
SELECT count(*) FROM snowflake.nextvals('seq', 0, 'twitter');
SELECT snowflake.get_node(snowflake.nextval('seq')), count(*) FROM snowflake.nextvals('seq', 10);
SELECT snowflake.get_timestamp(snowflake.nextval('seq', 'default'))
       BETWEEN now() - interval '1 min' AND now() + interval '1 min' AS present;
-- The hint, typed in by the owner; UPDATE allows it, in this session and in the next transaction.
SET ROLE regress_snowflake_updater;
SELECT snowflake.get_node(snowflake.nextval('seq', 'twitter'), 'twitter');
SELECT snowflake.get_node(snowflake.nextval('seq', 'twitter'), 'twitter');
-- Another role does not go on with what this one has leased, nor this one once the right is gone.
SET ROLE regress_snowflake_owner;
ALTER SEQUENCE seq CACHE 10;
SET ROLE regress_snowflake_updater;
SELECT snowflake.get_node(snowflake.nextval('seq', 'twitter'), 'twitter');
SET ROLE regress_snowflake_user;
SELECT snowflake.nextval('seq', 'twitter');
SET ROLE regress_snowflake_owner;
REVOKE UPDATE ON seq FROM regress_snowflake_updater;
SET ROLE regress_snowflake_updater;
SELECT snowflake.nextval('seq', 'twitter');

-- A default of the owner's names the layout: the owner fills the column, and another role once the sequence has the layout.
SET ROLE regress_snowflake_owner;
CREATE SEQUENCE chosen;
CREATE TABLE by_default (id text DEFAULT 'D-' || snowflake.nextval('chosen', 'discord'), other integer);
INSERT INTO by_default (other) VALUES (1);
GRANT USAGE ON chosen TO regress_snowflake_user;
GRANT INSERT ON by_default TO regress_snowflake_user;
SET ROLE regress_snowflake_user;
INSERT INTO by_default (other) VALUES (2);
-- Not for a role that does not own the sequence, even by a table that takes its numbers from it.
CREATE TABLE by_stranger (id bigint DEFAULT snowflake.nextval('chosen', 'twitter'));
INSERT INTO by_stranger DEFAULT VALUES;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('chosen');
SET ROLE regress_snowflake_user;
INSERT INTO by_default (other) VALUES (2), (3);
SELECT snowflake.get_node(snowflake.nextval('chosen'), 'discord') AS unnamed, snowflake.get_node(snowflake.nextval('chosen', 'discord'), 'discord') AS named;
INSERT INTO by_stranger DEFAULT VALUES;
RESET ROLE;
SELECT other, snowflake.get_node(substr(id, 3)::bigint, 'discord') FROM by_default ORDER BY other;
SET ROLE regress_snowflake_user;

-- A plain bigserial: its first snowflake ID is allowed, and the server's own numbers go on from there.
SELECT snowflake.nextval('plain_id_seq') > 1 AS made;
SELECT nextval('plain_id_seq') > 1::bigint << 22 AS goes_on;

RESET ROLE;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA usage CASCADE;
DROP ROLE regress_snowflake_owner, regress_snowflake_user, regress_snowflake_updater;
