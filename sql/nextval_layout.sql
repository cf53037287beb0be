-- Making IDs in other layouts than the default one.
SET snowflake.node = 5;

-- Fields of an ID that was made within the test, but for the time.
CREATE FUNCTION made(id bigint, layout snowflake.layout) RETURNS text LANGUAGE sql AS $$
    SELECT format('node %s, counter %s, %s', snowflake.get_node(id, layout),
                  snowflake.get_count(id, layout),
                  CASE WHEN snowflake.get_timestamp(id, layout)
                            BETWEEN now() - interval '1 s' AND clock_timestamp() + interval '2 s'
                       THEN 'now' ELSE 'another time' END) $$;

-- Every preset that has nodes: a new sequence begins with the clock.
CREATE PROCEDURE in_every_preset() LANGUAGE plpgsql AS $$
DECLARE
    preset record;
BEGIN
    FOR preset IN SELECT name, layout FROM snowflake.layouts WHERE nodes > 1 ORDER BY name LOOP
        EXECUTE format('CREATE SEQUENCE %I', preset.name);
        RAISE NOTICE '%: %', preset.name,
            made(snowflake.nextval(preset.name::regclass, preset.layout), preset.layout);
    END LOOP;
END $$;
CALL in_every_preset();

-- From ticks of a second to ticks of a microsecond.
CREATE SEQUENCE slow;
SELECT made(snowflake.nextval('slow', 'epoch=2024-01-01 tick=1s timestamp:33 node:10 counter:12'),
            'epoch=2024-01-01 tick=1s timestamp:33 node:10 counter:12');
CREATE SEQUENCE fast;
SELECT made(snowflake.nextval('fast', 'epoch=2024-01-01 tick=1us timestamp:51 node:10 counter:2'),
            'epoch=2024-01-01 tick=1us timestamp:51 node:10 counter:2');

-- As the default of a column.
CREATE TABLE tweets (id bigint PRIMARY KEY DEFAULT snowflake.nextval('twitter', 'twitter'), text text);
INSERT INTO tweets (text) VALUES ('first'), ('second');
SELECT text, made(id, 'twitter') FROM tweets ORDER BY id LIMIT 1;
SELECT count(*), snowflake.currval('twitter') = max(id) AS currval FROM tweets;

-- Whoever mixes layouts on one sequence gets times that mean nothing, but no ID twice.
CREATE SEQUENCE mixed CACHE 10;
SELECT bool_and(id > previous) AS increasing, count(*)
    FROM (SELECT n, id, lag(id) OVER (ORDER BY n) AS previous
              FROM (SELECT n, CASE n % 3
                                  WHEN 0 THEN snowflake.nextval('mixed')
                                  WHEN 1 THEN snowflake.nextval('mixed', 'discord')
                                  ELSE snowflake.nextval('mixed',
                                      'epoch=2015-01-01 tick=1ms timestamp:41 counter:12 node:10')
                              END AS id
                        FROM generate_series(1, 1000) n) made) compared;

-- Many at once.
SELECT count(DISTINCT id), count(DISTINCT snowflake.get_timestamp(id, 'sonyflake')) > 1 AS many_ticks,
       min(snowflake.get_node(id, 'sonyflake')), max(snowflake.get_node(id, 'sonyflake')),
       max(snowflake.get_count(id, 'sonyflake')) AS last_count,
       max(id) = snowflake.currval('sonyflake') AS currval
    FROM snowflake.nextvals('sonyflake', 1000, 'sonyflake') id;

-- The node must fit, and there must be one.
\set VERBOSITY default
SET snowflake.node = 1000;
SELECT snowflake.nextval('slow', 'epoch=2024-01-01 tick=1ms timestamp:41 node:9 counter:13');
SELECT snowflake.nextval('slow', 'mastodon');
-- A stride needs the counter in the lowest bits.
CREATE SEQUENCE strided INCREMENT BY 10;
SELECT snowflake.nextval('strided', 'sonyflake');
-- The layout must begin before the present and end after it.
SELECT snowflake.nextval('slow', 'epoch=2015-01-01 tick=1ms timestamp:30 node:10 counter:12') IS NULL;

-- Where the epoch is yet to come it is the layout that can be mended, not the clock.
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql
SELECT state, hint FROM outcome($$SELECT snowflake.nextval('slow', 'epoch=2109-01-01 tick=1ms timestamp:41 node:10 counter:12')$$);

-- A MAXVALUE that ends within the present tick leaves no room to close that tick.
CREATE SEQUENCE bounded;
\set layout '''epoch=2024-01-01 tick=1s timestamp:33 counter:20 node:10'''
SELECT snowflake.make_id(clock_timestamp(), 1000, 3, :layout) AS max_value \gset
ALTER SEQUENCE bounded MAXVALUE :max_value;
\set VERBOSITY sqlstate
SELECT snowflake.nextval('bounded', :layout);
SELECT last_value, log_cnt, is_called FROM bounded;

-- The sequence of the whole database has a layout.
\set VERBOSITY default
SELECT snowflake.nextval('snowflake.id_seq', 'twitter');
SELECT snowflake.nextvals('snowflake.id_seq', 10, 'epoch=1970-01-01 tick=1us timestamp:51 node:2 counter:10');
SELECT snowflake.nextval('snowflake.id_seq', 'default') > 0 AS in_the_default_layout;

-- NULL gives NULL.
SELECT snowflake.nextval('slow', NULL) AS nextval, snowflake.nextval(NULL, 'twitter') AS no_sequence,
       count(*) FROM snowflake.nextvals('slow', 3, NULL);

DROP TABLE tweets;
DROP SEQUENCE slow, fast, mixed, strided, bounded;
DROP PROCEDURE in_every_preset;
DROP FUNCTION made, outcome, keep, for_integers;
