-- Widening without a long lock under materialized views: a new one is made beside each that is filled, filled, and takes
-- its place with all that it had.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA views;
SET search_path = views;
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/obstacles.sql
-- What a dump has of views, and what it has not.
CREATE VIEW described AS
    SELECT c.relname, c.relkind, c.relispopulated AS filled, pg_get_viewdef(c.oid) AS query, c.reloptions,
           ARRAY(SELECT replace(x::text, 'xtm', 'xt') FROM unnest(coalesce(c.relacl, acldefault('r', c.relowner))) x ORDER BY 1) AS acl, obj_description(c.oid, 'pg_class') AS comment, c.relreplident AS identity,
           (SELECT string_agg(concat(a.attname, a.attacl::text), ' ' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL)
               AS column_acl,
           (SELECT string_agg(concat_ws(' ', pg_get_statisticsobjdef(s.oid), obj_description(s.oid)), ', ') FROM pg_statistic_ext s WHERE s.stxrelid = c.oid)
               AS statistics,
           (SELECT string_agg(concat_ws(' ', a.attname, a.atttypid::regtype, nullif(a.attstattarget, -1), col_description(c.oid, a.attnum)), ', '
                              ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) AS columns,
           (SELECT string_agg(concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisclustered, obj_description(i.indexrelid, 'pg_class')),
                              ', ' ORDER BY i.indexrelid::regclass::text) FROM pg_index i WHERE i.indrelid = c.oid) AS indexes
        FROM pg_class c WHERE c.relkind IN ('v', 'm') AND c.relnamespace = 'views'::regnamespace AND c.relname NOT IN ('described', 'present');

CREATE ROLE regress_views_reader;
CREATE ROLE regress_views_other;
GRANT USAGE ON SCHEMA views TO regress_views_reader;
CREATE TABLE items (id serial PRIMARY KEY, name text, price numeric);
CREATE TABLE sales (item_id integer REFERENCES items, sold date, id bigint);
CREATE FUNCTION left_to_do() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(command, 'snowflake_[0-9a-f]{16}', 'TWIN', 'g')
        FROM snowflake.conversion_plan('views.items_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step
$$;
INSERT INTO items (name, price) SELECT 'item ' || i, i FROM generate_series(1, 100) i;
INSERT INTO sales SELECT 1 + i % 100, date '2026-01-01' + i, i FROM generate_series(1, 1000) i;
-- A view beneath, columns with other names, joins by name, a union, a subquery that names the query around it.
CREATE VIEW named (item, called) WITH (security_barrier) AS SELECT id, name FROM items;
CREATE MATERIALIZED VIEW totals AS
    SELECT n.item, n.called, count(s.*) AS sales, max(s.sold) AS latest
        FROM named n LEFT JOIN (SELECT item_id, sold FROM sales) s ON s.item_id = n.item GROUP BY 1, 2;
ALTER MATERIALIZED VIEW totals RENAME COLUMN item TO "the item";
CREATE UNIQUE INDEX totals_key ON totals ("the item");
CREATE INDEX totals_half ON totals (("the item" / 2), called) WHERE "the item" > 10;
COMMENT ON INDEX totals_half IS 'half';
ALTER MATERIALIZED VIEW totals CLUSTER ON totals_key;
ALTER MATERIALIZED VIEW totals ALTER COLUMN called SET STATISTICS 55;
COMMENT ON MATERIALIZED VIEW totals IS 'totals';
COMMENT ON COLUMN totals.called IS 'what it is called';
GRANT SELECT ON totals TO regress_views_reader WITH GRANT OPTION;
GRANT UPDATE (sales), SELECT (latest) ON totals TO PUBLIC;
SET ROLE regress_views_reader;
GRANT SELECT ON totals TO regress_views_other;
RESET ROLE;
CREATE STATISTICS totals_statistics (dependencies) ON "the item", called FROM totals;
COMMENT ON STATISTICS totals_statistics IS 'both';
CREATE TABLE tags (name text, tag text);
INSERT INTO tags SELECT 'item ' || i, 'tag' FROM generate_series(1, 100) i;
CREATE MATERIALIZED VIEW joined AS
    SELECT items.id, items.name, s.sold, tag FROM items JOIN tags USING (name) LEFT JOIN (sales s JOIN items x ON s.item_id = x.id) ON x.id = items.id
        WHERE EXISTS (SELECT FROM sales t WHERE t.item_id = items.id AND items.price > 50);
ALTER MATERIALIZED VIEW joined REPLICA IDENTITY NOTHING;
REVOKE TRUNCATE ON joined FROM CURRENT_USER;
CREATE MATERIALIZED VIEW united (a) AS
    SELECT id FROM items UNION ALL (SELECT item_id FROM sales ORDER BY item_id LIMIT 3) UNION SELECT -1 ORDER BY 1;
ALTER MATERIALIZED VIEW united RENAME COLUMN a TO b;
CREATE MATERIALIZED VIEW outermost WITH (fillfactor = 70) AS SELECT "the item" * 2 AS twice, b FROM totals JOIN (TABLE united) u (b) ON b = "the item";
CREATE VIEW on_top AS SELECT twice FROM outermost;
CREATE RULE quiet AS ON INSERT TO on_top DO INSTEAD NOTHING;
CREATE MATERIALIZED VIEW hollow AS SELECT id FROM items WITH NO DATA;
ALTER DEFAULT PRIVILEGES IN SCHEMA views GRANT SELECT ON TABLES TO regress_views_other;
CREATE TABLE before AS SELECT * FROM described;
CREATE VIEW present AS SELECT 'totals' AS name, to_jsonb(t) AS "row" FROM totals t UNION ALL SELECT 'joined', to_jsonb(t) FROM joined t
    UNION ALL SELECT 'united', to_jsonb(t) FROM united t UNION ALL SELECT 'outermost', to_jsonb(t) FROM outermost t;
CREATE TABLE contents AS SELECT * FROM present;
SELECT name, count(*) FROM contents GROUP BY 1 ORDER BY 1;

SELECT * FROM left_to_do();
SET default_transaction_isolation = serializable;
SELECT command FROM snowflake.conversion_plan('items_id_seq', online => true) WHERE command IS NOT NULL \gexec
RESET default_transaction_isolation;
-- What is different: the types, and what a view is printed like whose tables have columns of other names.
\pset format unaligned
SELECT relname, unnest(ARRAY[b.columns, a.columns]) AS columns FROM before b JOIN described a USING (relname) WHERE a.columns <> b.columns
    ORDER BY relname COLLATE "C";
SELECT relname, unnest(ARRAY[b.query, a.query]) AS query FROM before b JOIN described a USING (relname) WHERE a.query <> b.query
    ORDER BY relname COLLATE "C";
SELECT relname, b.indexes, a.indexes
    FROM before b FULL JOIN described a USING (relname)
    WHERE (b.relkind, b.filled, b.reloptions, b.acl, b.column_acl, b.comment, b.identity, b.statistics, b.indexes)
          IS DISTINCT FROM (a.relkind, a.filled, a.reloptions, a.acl, a.column_acl, a.comment, a.identity, a.statistics, a.indexes);
SELECT acl, column_acl, statistics FROM described WHERE relname = 'totals';
\pset format aligned
SELECT * FROM (TABLE contents EXCEPT ALL TABLE present) gone UNION ALL (TABLE present EXCEPT ALL TABLE contents);
SELECT tableoid::regclass, attname, null_frac FROM (SELECT c.oid AS tableoid, s.* FROM pg_stats s JOIN pg_class c ON c.relname = s.tablename
    WHERE s.schemaname = 'views' AND s.tablename = 'totals') s ORDER BY attname;

-- A twin is never older than what is in use, whoever refreshes that, CONCURRENTLY or not, at first or second hand.
CREATE TABLE parts (id serial PRIMARY KEY, n integer);
INSERT INTO parts (n) SELECT generate_series(1, 10);
CREATE VIEW few AS SELECT id, n FROM parts WHERE n > 3;
CREATE MATERIALIZED VIEW inner_ones AS SELECT id FROM few;
CREATE UNIQUE INDEX ON inner_ones (id);
CREATE MATERIALIZED VIEW outer_ones AS SELECT count(*) AS n, max(id) AS id FROM inner_ones;
CREATE FUNCTION parts_left() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(command, 'snowflake_[0-9a-f]{16}', 'TWIN', 'g')
        FROM snowflake.conversion_plan('parts_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step
$$;
CREATE FUNCTION twins() RETURNS TABLE (kind "char", filled boolean, comments boolean, readers text) LANGUAGE sql AS $$
    SELECT relkind, relispopulated, obj_description(oid, 'pg_class') ~ '^snowflake [0-9 ]+$',
           (SELECT string_agg(rolname, ', ') FROM pg_roles WHERE rolname LIKE 'regress_views%' AND has_table_privilege(pg_roles.oid, pg_class.oid, 'SELECT'))
        FROM pg_class WHERE relnamespace = 'views'::regnamespace AND relname ~ '^snowflake_' AND relkind IN ('v', 'm') ORDER BY oid
$$;
SELECT command FROM snowflake.conversion_plan('parts_id_seq', online => true)
    WHERE command IS NOT NULL AND command NOT LIKE '%convert_sequence%' ORDER BY step \gexec
SELECT * FROM parts_left();
SELECT * FROM twins();
INSERT INTO parts (n) VALUES (11);
REFRESH MATERIALIZED VIEW CONCURRENTLY inner_ones;
SELECT * FROM parts_left();
SELECT snowflake.convert_sequence_to_snowflake('parts_id_seq', online => true);
CALL snowflake._fill_view('parts_id_seq', 'outer_ones');
CALL snowflake._fill_view('parts_id_seq', 'inner_ones');
REFRESH MATERIALIZED VIEW outer_ones;
CALL snowflake._fill_view('parts_id_seq', 'outer_ones');
SELECT * FROM parts_left();
-- Neither is it another than what is in use, or readable by others.
GRANT SELECT ON inner_ones TO regress_views_reader WITH GRANT OPTION;
REVOKE UPDATE ON outer_ones FROM CURRENT_USER;
DO $$
DECLARE
    twin regclass;
BEGIN
    FOR twin IN SELECT oid FROM pg_class WHERE relnamespace = 'views'::regnamespace AND relname ~ '^snowflake_' AND relkind = 'm' LOOP
        EXECUTE format('GRANT SELECT (id), UPDATE ON %s TO regress_views_other, PUBLIC; REVOKE TRUNCATE ON %1$s FROM CURRENT_USER', twin);
    END LOOP;
END $$;
CREATE INDEX meanwhile ON inner_ones (id DESC);
SELECT * FROM parts_left();
SELECT snowflake._add_view('parts_id_seq', 'inner_ones');
CREATE OR REPLACE VIEW few AS SELECT id, n FROM parts WHERE n > 5;
SELECT * FROM parts_left();
SELECT command FROM snowflake.conversion_plan('parts_id_seq', online => true)
    WHERE command IS NOT NULL AND command NOT LIKE '%convert_sequence%' ORDER BY step \gexec
DROP INDEX meanwhile;
SELECT count(*) FROM twins();
SELECT command FROM snowflake.conversion_plan('parts_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
SELECT count(*) FROM twins();
TABLE inner_ones ORDER BY id;
TABLE outer_ones;
SELECT relname, acl, column_acl FROM described WHERE relname IN ('inner_ones', 'outer_ones', 'few') ORDER BY 1;
\d inner_ones
REFRESH MATERIALIZED VIEW CONCURRENTLY inner_ones;
SELECT count(*) FROM pg_class WHERE relname ~ '^snowflake_' AND relnamespace = 'views'::regnamespace;

-- All of it is taken back, and a name that somebody else has taken is left to that role.
CREATE TABLE things (id serial PRIMARY KEY);
INSERT INTO things DEFAULT VALUES;
CREATE MATERIALIZED VIEW of_things AS SELECT id FROM things;
CREATE MATERIALIZED VIEW of_these AS SELECT id FROM of_things;
SELECT command FROM snowflake.conversion_plan('things_id_seq', online => true)
    WHERE command IS NOT NULL AND command NOT LIKE '%convert_sequence%' ORDER BY step \gexec
SELECT relname AS taken FROM pg_class WHERE relnamespace = 'views'::regnamespace AND relname ~ '^snowflake_' AND relkind = 'm' ORDER BY oid LIMIT 1
\gset
SELECT snowflake.cancel_conversion('things_id_seq');
SELECT count(*) FROM pg_class WHERE relname ~ '^snowflake_' AND relnamespace = 'views'::regnamespace;
GRANT USAGE, CREATE ON SCHEMA views TO regress_views_other;
SET ROLE regress_views_other;
CREATE MATERIALIZED VIEW :taken AS SELECT 666 AS id;
RESET ROLE;
SELECT command FROM snowflake.conversion_plan('things_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
TABLE of_things;
TABLE of_these;
TABLE :taken;
DROP MATERIALIZED VIEW :taken;
REVOKE ALL ON SCHEMA views FROM regress_views_other;

-- What has no twin is named, and which way is open.
CREATE TABLE whole (id serial PRIMARY KEY);
CREATE MATERIALIZED VIEW rows AS SELECT w FROM whole w;
CREATE FUNCTION newest() RETURNS bigint STABLE BEGIN ATOMIC SELECT max(id) FROM whole; END;
CREATE MATERIALIZED VIEW by_function AS SELECT newest() FROM whole;
CREATE VIEW of_whole AS SELECT id FROM whole;
CREATE MATERIALIZED VIEW of_rows AS SELECT count(o) FROM of_whole o;
CREATE MATERIALIZED VIEW named_by AS SELECT id, 'of_whole'::regclass FROM of_whole;
CREATE TABLE other (id integer REFERENCES whole, n integer);
CREATE MATERIALIZED VIEW by_using AS SELECT id, n FROM whole JOIN other USING (id);
CREATE MATERIALIZED VIEW by_full AS SELECT id, b.n FROM other a FULL JOIN (whole w JOIN other o ON w.id = o.id) b (id, i, n) USING (id);
CREATE MATERIALIZED VIEW by_alias AS SELECT j.a FROM (whole w (a) CROSS JOIN other o (b, c)) j;
CREATE MATERIALIZED VIEW of_join AS SELECT j.id FROM (whole w JOIN tags t ON t.name = '') j;
CREATE MATERIALIZED VIEW grouped AS SELECT w.id, w.ctid IS NULL AS named FROM whole w GROUP BY w.id, w.ctid;
ALTER TABLE whole ADD name text;
CREATE MATERIALIZED VIEW by_key AS SELECT id, name FROM whole GROUP BY id;
CREATE MATERIALIZED VIEW beneath AS SELECT id FROM whole;
CREATE VIEW between AS SELECT id FROM beneath;
CREATE MATERIALIZED VIEW above AS SELECT id FROM between;
REFRESH MATERIALIZED VIEW beneath WITH NO DATA;
SELECT obstacles('whole_id_seq');
SELECT format('REFRESH MATERIALIZED VIEW %s WITH NO DATA', x)
    FROM unnest('{rows,of_rows,by_function,by_using,by_full,by_alias,of_join,by_key,above}'::text[]) x \gexec
DROP MATERIALIZED VIEW by_alias;
DROP MATERIALIZED VIEW by_full;
SELECT obstacles('whole_id_seq');
SELECT snowflake._add_view('whole_id_seq', 'named_by');
CALL snowflake._fill_view('whole_id_seq', 'named_by');
SELECT snowflake._add_shadows('whole_id_seq', 'whole');
SELECT snowflake._add_shadows('whole_id_seq', 'other');
SELECT snowflake._add_view('whole_id_seq', 'rows');
SELECT snowflake._add_view('whole_id_seq', 'named_by');
SELECT snowflake._add_view('whole_id_seq', 'of_whole');
SELECT snowflake._add_view('whole_id_seq', 'named_by');
SELECT obstacles('whole_id_seq');
SELECT snowflake.cancel_conversion('whole_id_seq');
SELECT count(*) FROM twins();

-- A view of another role reads what that may read: the rights on a column are not those on the one beside it.
CREATE TABLE secrets (id serial PRIMARY KEY, secret text);
INSERT INTO secrets (secret) VALUES ('x');
REVOKE ALL ON secrets FROM regress_views_other;
GRANT SELECT (id) ON secrets TO regress_views_other;
GRANT USAGE, CREATE ON SCHEMA views TO regress_views_other;
SET ROLE regress_views_other;
CREATE MATERIALIZED VIEW known AS SELECT id, current_user FROM secrets;
RESET ROLE;
SELECT obstacles('secrets_id_seq');
GRANT SELECT ON secrets TO regress_views_other;
SELECT command FROM snowflake.conversion_plan('secrets_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
TABLE known;
SELECT relowner::regrole FROM pg_class WHERE oid = 'known'::regclass;

-- A schema whose name needs quotes.
CREATE SCHEMA "View's ""Schema""";
SET search_path = "View's ""Schema""", views;
CREATE TABLE orders (id serial PRIMARY KEY);
INSERT INTO orders DEFAULT VALUES;
CREATE MATERIALIZED VIEW "Totals" AS SELECT id, count(*) FROM orders GROUP BY id;
CREATE INDEX "By Id" ON "Totals" (id);
SELECT command FROM snowflake.conversion_plan('orders_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
TABLE "Totals";
\d "Totals"
DROP SCHEMA "View's ""Schema""" CASCADE;
SET search_path = views;

-- The estimate counts them.
CREATE TABLE large (id serial PRIMARY KEY);
INSERT INTO large SELECT generate_series(1, 40000);
CREATE VIEW estimate AS SELECT regexp_replace(effect, '[0-9][0-9.:]*( kB| MB)?', 'N', 'g') FROM snowflake.conversion_plan('large_id_seq'::text::regclass, online => true)
    WHERE effect LIKE 'estimate%';
TABLE estimate;
CREATE MATERIALIZED VIEW of_large AS SELECT id FROM large;
TABLE estimate;

SET client_min_messages = error;
-- The sequence of an identity is made again, and what reads it could only be filled again.
SET client_min_messages = warning;
CREATE TABLE drawn (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
CREATE VIEW last_drawn AS SELECT last_value FROM drawn_id_seq;
CREATE MATERIALIZED VIEW last_kept AS SELECT * FROM last_drawn;
SELECT obstacles('drawn_id_seq');
REFRESH MATERIALIZED VIEW last_kept WITH NO DATA;
SELECT obstacles('drawn_id_seq');
DROP TABLE drawn CASCADE;
DROP SCHEMA views CASCADE;
DROP ROLE regress_views_reader;
DROP ROLE regress_views_other;
