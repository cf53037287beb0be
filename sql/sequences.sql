-- snowflake.sequences: which sequences make snowflake IDs, and how far each has come.
SET snowflake.node = 5;
CREATE SCHEMA "Other ""Schema""";
CREATE SEQUENCE plain;
CREATE SEQUENCE used_by_nobody;
CREATE SEQUENCE guarded_one INCREMENT BY 9223372036854775807;
CREATE SEQUENCE "Other ""Schema"""."it's";
CREATE TABLE t (
    a bigint DEFAULT snowflake.nextval('plain'),
    b text DEFAULT 'T-' || snowflake.nextval('"Other ""Schema"""."it''s"', 'discord'),
    c bigint DEFAULT snowflake.nextval(),
    d bigint DEFAULT nextval('used_by_nobody')
);
CREATE TABLE u (a bigint DEFAULT snowflake.nextval('plain'));

SELECT sequence, table_name, column_name, layout, guarded FROM snowflake.sequences
    WHERE sequence IN ('plain', 'used_by_nobody', 'guarded_one', 'snowflake.id_seq',
                       '"Other ""Schema"""."it''s"')
    ORDER BY sequence::text COLLATE "C", table_name::text COLLATE "C", column_name;

-- No ID yet.
SELECT last_id, last_timestamp, ahead, ids_left > 0 AS ids_left FROM snowflake.sequences
    WHERE sequence = 'guarded_one'::regclass;

-- The last ID, decoded in the layout of the default.
INSERT INTO t DEFAULT VALUES;
SELECT sequence, last_node, last_timestamp > now() - interval '1 minute' AS recent,
       ahead < interval '1 minute' AS at_the_clock, last_id = snowflake.currval(sequence) AS currval
    FROM snowflake.sequences WHERE table_name = 't'::regclass ORDER BY column_name;

-- Ahead of the clock, with so many IDs left as the layout has room for behind it.
SELECT setval('plain', snowflake.make_id('2092-09-06 15:47:35.541+00', 7, 12));
SELECT table_name, last_timestamp AT TIME ZONE 'UTC' AS last_timestamp, last_node, last_count,
       ahead > interval '60 years' AS ahead, ids_left, ids_left / 4096 AS ticks_left
    FROM snowflake.sequences WHERE sequence = 'plain'::regclass ORDER BY table_name::text COLLATE "C";

-- What was set by hand need not be an ID.
ALTER SEQUENCE plain MINVALUE -10;
SELECT setval('plain', -10);
SELECT last_id, last_timestamp, last_node, last_count, ahead, ids_left > 0 AS ids_left
    FROM snowflake.sequences WHERE sequence = 'plain'::regclass AND table_name = 'u'::regclass;

-- None is left where the timestamps have ended.
CREATE TABLE ended (id bigint DEFAULT snowflake.nextval(
    'used_by_nobody', 'epoch=2015-01-01 tick=1ms timestamp:30 node:10 counter:12'));
SELECT layout, ids_left FROM snowflake.sequences WHERE table_name = 'ended'::regclass;

-- What only reads like a layout, or like a call, is none: in a text, as a name, of another type.
CREATE TYPE layout AS ENUM ('x');
CREATE FUNCTION "'x'::snowflake.layout)"(bigint, layout) RETURNS bigint LANGUAGE sql RETURN $1;
CREATE TABLE misleading (
    a text DEFAULT ' nextval(), it''s ''x''::snowflake.layout)' || snowflake.nextval('plain'),
    b bigint DEFAULT "'x'::snowflake.layout)"(snowflake.nextval('plain'), 'x'),
    c bigint DEFAULT "'x'::snowflake.layout)"(snowflake.nextval('plain', 'discord'), 'x')
);
SELECT column_name, sequence, layout FROM snowflake.sequences
    WHERE table_name = 'misleading'::regclass ORDER BY column_name;
SET search_path = snowflake, public;
SELECT column_name, sequence, layout FROM sequences
    WHERE table_name = 'misleading'::regclass ORDER BY column_name;
RESET search_path;

-- Whoever may not see the sequence does not see it here.
CREATE ROLE regress_snowflake_looker;
SET ROLE regress_snowflake_looker;
SELECT last_id, last_timestamp, ahead FROM snowflake.sequences
    WHERE sequence = 'plain'::regclass AND table_name = 'u'::regclass;
RESET ROLE;

DROP ROLE regress_snowflake_looker;
DROP TABLE t, u, ended, misleading;
DROP FUNCTION "'x'::snowflake.layout)";
DROP TYPE layout;
DROP SEQUENCE plain, used_by_nobody, guarded_one;
DROP SCHEMA "Other ""Schema""" CASCADE;
