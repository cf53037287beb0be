-- The type snowflake.layout, and reading IDs of any layout.
SET TIME ZONE 'UTC';
SET DateStyle = ISO;
SET IntervalStyle = postgres;

-- Text comes out in one form, whatever form it came in.
SELECT text, text::snowflake.layout AS layout
    FROM (VALUES (1, 'default'), (2, ' Twitter '), (3, 'DISCORD'),
                 (4, 'epoch=2024-01-01 tick=1ms timestamp:41 counter:12 node:10'),
                 (5, E'tick=100MS\ttimestamp:33 node:0\ncounter:20 epoch=1288834974657ms'),
                 (6, 'epoch=2024-02-29T12:34:56.7Z tick=1us timestamp:51 node:8 counter:4'))
         AS input (n, text)
    ORDER BY n;

-- It passes by value, in 8 bytes.
SELECT typlen, typbyval, typalign, obj_description(oid, 'pg_type') AS comment
    FROM pg_type WHERE oid = 'snowflake.layout'::regtype;

-- What is no layout is refused, and the part at fault is named.
SELECT 'discrod'::snowflake.layout;
SELECT ''::snowflake.layout;
SELECT 'epoch=2024-01-01 tick=5ms timestamp:41 node:10 counter:12'::snowflake.layout;
SELECT 'epoch=2024-02-30 tick=1ms timestamp:41 node:10 counter:12'::snowflake.layout;
SELECT 'epoch=2024-01-01 tick=1ms timestamp:42 node:10 counter:12'::snowflake.layout;
SELECT 'epoch=2024-01-01 tick=1ms node:10 timestamp:41 counter:12'::snowflake.layout;
SELECT 'epoch=2024-01-01 tick=1ms timestamp:41 node:10'::snowflake.layout;
\set VERBOSITY sqlstate
SELECT 'discrod'::snowflake.layout;
-- A number is no layout, and a layout no number.
SELECT 1::bigint::snowflake.layout;
SELECT 'default'::snowflake.layout::bigint;
\set VERBOSITY default

-- Where the server lets callers ask instead of failing, they are told.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 160000 THEN
        ASSERT pg_input_is_valid('discord', 'snowflake.layout');
        ASSERT NOT pg_input_is_valid('discrod', 'snowflake.layout');
        ASSERT (pg_input_error_info('discrod', 'snowflake.layout')).sql_error_code = '22P02';
    END IF;
END
$$;

-- The presets.
SELECT * FROM snowflake.layouts \gx
SELECT (snowflake.describe('epoch=2024-01-01 tick=1s timestamp:31 node:1 counter:31')).*,
       snowflake.describe(NULL) IS NULL AS null_for_null \gx

-- Layouts compare, hash, group and sort.
SET search_path = public, snowflake;
SELECT 'twitter'::layout = 'epoch=1288834974657ms tick=1ms timestamp:41 node:10 counter:12'::layout
           AS twitter_is_twitter,
       'twitter'::layout <> 'discord'::layout AS twitter_is_not_discord,
       'epoch=2023-01-01 tick=1ms timestamp:41 counter:12 node:10'::layout = 'default'::layout
           AS order_matters,
       'mastodon'::layout = 'epoch=0ms tick=1ms timestamp:47 counter:16 node:0'::layout
           AS order_of_nothing;
-- Exactly one of <, = and > holds, as the server's own checks of operators want it.
SELECT bool_and((a.layout < b.layout)::int + (a.layout = b.layout)::int
                + (a.layout > b.layout)::int = 1
                AND (a.layout <= b.layout) = NOT (a.layout > b.layout)
                AND (a.layout >= b.layout) = NOT (a.layout < b.layout)
                AND (a.layout <> b.layout) = NOT (a.layout = b.layout)
                AND (a.layout = b.layout) = (a.name = b.name)) AS ordered
    FROM layouts a, layouts b;
CREATE TABLE makers (maker text, layout snowflake.layout);
INSERT INTO makers
    SELECT name || n, layout FROM layouts, generate_series(1, 3) n;
ANALYZE makers;
SELECT layout, count(*) FROM makers GROUP BY layout ORDER BY min(maker) COLLATE "C";
SELECT count(DISTINCT layout) FROM makers;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT layout, count(*) FROM makers GROUP BY layout;
EXPLAIN (COSTS OFF) SELECT count(*) FROM makers a JOIN makers b ON a.layout = b.layout;
SELECT count(*) FROM makers a JOIN makers b ON a.layout = b.layout;
RESET enable_sort;
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM makers a JOIN makers b ON a.layout = b.layout;
SELECT count(*) FROM makers a JOIN makers b ON a.layout = b.layout;
RESET enable_hashjoin;
RESET enable_nestloop;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE INDEX makers_layout ON makers USING hash (layout);
EXPLAIN (COSTS OFF) SELECT maker FROM makers WHERE layout = 'discord';
SELECT maker FROM makers WHERE layout = 'discord' ORDER BY maker;
DROP INDEX makers_layout;
CREATE UNIQUE INDEX makers_layout ON makers (layout, maker);
EXPLAIN (COSTS OFF) SELECT maker FROM makers WHERE layout = 'discord';
SELECT maker FROM makers WHERE layout = 'discord' ORDER BY maker;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET search_path;

-- Binary, out and in again; the server's directory is the place that it can write to.
CREATE TABLE makers_copy (LIKE makers);
COPY makers TO PROGRAM 'cat > snowflake_layouts.copy' (FORMAT binary);
COPY makers_copy FROM PROGRAM 'cat snowflake_layouts.copy && rm snowflake_layouts.copy'
    (FORMAT binary);
SELECT count(*) AS copied
    FROM makers JOIN makers_copy USING (maker)
    WHERE makers.layout OPERATOR(snowflake.=) makers_copy.layout;
-- 8 bytes that are no layout: all zero, so a timestamp without bits.
\set VERBOSITY sqlstate
CREATE TEMP TABLE received (layout snowflake.layout);
COPY received FROM PROGRAM
    $$printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\001\0\0\0\010\0\0\0\0\0\0\0\0\377\377'$$
    (FORMAT binary);
\set VERBOSITY default

-- IDs of other makers, published by them.
CREATE TABLE published (maker text, layout snowflake.layout, id bigint);
INSERT INTO published VALUES
    ('Twitter', 'twitter', 1541815603606036480),
    ('Discord', 'discord', 175928847299117063),
    ('Instagram', 'instagram', 11637205501278089),
    ('Mastodon', 'mastodon', 103270115826048975),
    ('2024', 'epoch=2024-01-01 tick=1ms timestamp:41 node:10 counter:12', 129996446076932098);
SELECT maker, snowflake.get_timestamp(id, layout), snowflake.get_epoch(id, layout) AS epoch,
       snowflake.get_node(id, layout) AS node, snowflake.get_count(id, layout) AS count
    FROM published ORDER BY maker COLLATE "C";
SELECT maker, snowflake.format(id, layout) FROM published ORDER BY maker COLLATE "C";
-- Discord's worker and process share the node.
SELECT snowflake.get_node(id, 'discord') >> 5 AS worker,
       snowflake.get_node(id, 'discord') & 31 AS process
    FROM published WHERE maker = 'Discord';
-- The default layout given is the default layout left out.
SELECT bool_and(snowflake.get_epoch(id, 'default') = snowflake.get_epoch(id)
                AND snowflake.get_timestamp(id, 'default') = snowflake.get_timestamp(id)
                AND snowflake.get_node(id, 'default') = snowflake.get_node(id)
                AND snowflake.get_count(id, 'default') = snowflake.get_count(id)
                AND snowflake.format(id, 'default') = snowflake.format(id)) AS same
    FROM published;

-- get_epoch has the decimals that the tick takes, and that the epoch takes.
SELECT tick, snowflake.get_epoch(12345678, format('epoch=2024-01-01 tick=%s timestamp:40 node:0 counter:4', tick)::snowflake.layout)
    FROM unnest(ARRAY['1us', '10us', '100us', '1ms', '10ms', '100ms', '1s']) AS tick;
SELECT snowflake.get_epoch(16, 'epoch=1500ms tick=1s timestamp:40 node:0 counter:4');
SELECT bool_and(to_timestamp(snowflake.get_epoch(id, layout)) = snowflake.get_timestamp(id, layout))
    FROM published;

-- The furthest time that a layout can have is one that the server can tell.
SELECT last_timestamp
    FROM snowflake.describe('epoch=2109-05-15T07:35:11.103Z tick=1s timestamp:43 node:0 counter:0');

-- NULL gives NULL, what the layout cannot have made is an error.
SELECT snowflake.get_node(1, NULL) IS NULL, snowflake.get_node(NULL, 'discord') IS NULL,
       snowflake.format(1, NULL) IS NULL;
SELECT snowflake.get_node(-1, 'discord');
SELECT snowflake.get_node(1 << 20, 'epoch=2024-01-01 tick=1ms timestamp:20 node:0 counter:0');
DROP TABLE makers, makers_copy, published;
