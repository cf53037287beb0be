-- INCREMENT and the other options of a sequence, there and back.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
\set VERBOSITY default
CREATE SCHEMA incr;
SET search_path = incr;
CREATE VIEW options AS
    SELECT c.relname, q.seqtypid::regtype AS type, q.seqincrement AS increment, q.seqmin AS min, q.seqmax AS max,
           q.seqcache AS cache, q.seqcycle AS cycle, obj_description(c.oid, 'pg_class') AS comment
        FROM pg_sequence q JOIN pg_class c ON c.oid = q.seqrelid
        WHERE c.relnamespace = 'incr'::regnamespace
        ORDER BY c.oid;

-- Blocks or several servers: the caller says which.
CREATE TABLE blocks (id bigserial PRIMARY KEY);
ALTER SEQUENCE blocks_id_seq INCREMENT BY 50;
SELECT snowflake.convert_sequence_to_snowflake('blocks_id_seq');
SELECT count(*) FROM snowflake.conversion_plan('blocks_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('blocks_id_seq', increment => 'guess');
SELECT command, effect FROM snowflake.conversion_plan('blocks_id_seq', increment => 'keep') WHERE concat(command, effect) ~ 'SEQUENCE|last_value|stride';
SELECT command, effect FROM snowflake.conversion_plan('blocks_id_seq', increment => 'drop') WHERE concat(command, effect) ~ 'SEQUENCE|last_value|stride';
SELECT snowflake.convert_sequence_to_snowflake('blocks_id_seq', 'keep');
TABLE options;
-- A block is reserved whole.
SELECT snowflake.get_count(snowflake.nextval('blocks_id_seq')) % 50 AS first,
       snowflake.nextval('blocks_id_seq') - snowflake.nextval('blocks_id_seq') <= -50 AS apart;
-- Again, in another session too, it is converted.
SELECT snowflake.convert_sequence_to_snowflake('blocks_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('blocks_id_seq');
TABLE options;
SELECT snowflake.convert_sequence_to_snowflake('blocks_id_seq', 'drop');
SELECT nextval('blocks_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('blocks_id_seq');
TABLE options;
DROP TABLE blocks;

-- A rollback takes the IDs back, which are too large for the column as it was.
CREATE SEQUENCE wide_blocks INCREMENT BY 10;
CREATE TABLE narrow (id integer DEFAULT nextval('wide_blocks'));
BEGIN;
SELECT snowflake.convert_sequence_to_snowflake('wide_blocks', 'keep');
INSERT INTO narrow DEFAULT VALUES RETURNING snowflake.get_node(id);
ROLLBACK;
INSERT INTO narrow DEFAULT VALUES RETURNING id;
DROP TABLE narrow;
DROP SEQUENCE wide_blocks;

-- More than one call can reserve.
CREATE TABLE many (id bigserial PRIMARY KEY);
ALTER SEQUENCE many_id_seq INCREMENT BY 5000;
SELECT snowflake.convert_sequence_to_snowflake('many_id_seq', 'keep');
SELECT snowflake.convert_sequence_to_snowflake('many_id_seq', 'drop');
SELECT snowflake.convert_snowflake_to_sequence('many_id_seq');
TABLE options;
DROP TABLE many;

-- The way back gives what was there, as long as the sequence has made no ID that is beyond it: type, limits,
-- CYCLE, CACHE, of an owned sequence, of one that several columns use, and of an identity.
CREATE TABLE plain (id serial PRIMARY KEY);
CREATE TABLE identity (id smallint GENERATED ALWAYS AS IDENTITY (INCREMENT BY 2 MAXVALUE 999 CACHE 7));
CREATE SEQUENCE odd AS integer INCREMENT BY 2 MINVALUE 5 MAXVALUE 100000 START 11 CACHE 3 CYCLE;
COMMENT ON SEQUENCE odd IS E'odd\nones';
CREATE TABLE odds (a bigint DEFAULT nextval('odd'), b bigint DEFAULT nextval('odd'));
CREATE SEQUENCE down INCREMENT BY -1;
CREATE TABLE downs (id integer DEFAULT nextval('down'));
CREATE SEQUENCE down_to_1 AS integer INCREMENT BY -3 MINVALUE 1 MAXVALUE 50 START 40;
CREATE TABLE downs_to_1 (id integer DEFAULT nextval('down_to_1'));
CREATE TEMPORARY TABLE before AS TABLE options;
TABLE before ORDER BY relname COLLATE "C";
SELECT relname, snowflake.convert_sequence_to_snowflake(format('incr.%I', relname)::regclass, 'drop') FROM before ORDER BY relname COLLATE "C";
SELECT relname, type, increment, min, max, cache, cycle, comment FROM options ORDER BY relname COLLATE "C";
SELECT relname, snowflake.convert_snowflake_to_sequence(format('incr.%I', relname)::regclass) FROM before ORDER BY relname COLLATE "C";
(TABLE before EXCEPT TABLE options) UNION ALL (TABLE options EXCEPT TABLE before);

-- With IDs beyond what it had, the limits stay away, and say so.
SELECT snowflake.convert_sequence_to_snowflake('odd', 'drop');
INSERT INTO odds DEFAULT VALUES;
ALTER SEQUENCE odd RENAME TO odder;
SELECT pg_sequence_last_value('odder') AS last \gset
SELECT snowflake.convert_snowflake_to_sequence('odder');
SELECT * FROM options WHERE relname = 'odder';
SELECT nextval('odder') - :last AS step;

-- A line in the comment that somebody else has written is a comment.
CREATE TABLE commented (id bigserial);
COMMENT ON SEQUENCE commented_id_seq IS 'snowflake: converted from AS bigint INCREMENT BY 1 MINVALUE 1 MAXVALUE 9999999999999999999 NO CYCLE';
SELECT snowflake.convert_sequence_to_snowflake('commented_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('commented_id_seq');
SELECT * FROM options WHERE relname = 'commented_id_seq';

SET client_min_messages = warning;
DROP SCHEMA incr CASCADE;
