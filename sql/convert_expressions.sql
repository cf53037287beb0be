-- Converting sequences that defaults call in larger expressions, on any number of tables and under
-- any name.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA shop;
CREATE SCHEMA "Other ""Shop""";

-- Columns that keep the number alone are widened, text and numeric keep their type.
CREATE SEQUENCE shop."Odd ""Na'me\";
CREATE TABLE shop.a (x integer DEFAULT nextval('shop."Odd ""Na''me\"'), "Y y" text DEFAULT 'ORD-' || nextval('shop."Odd ""Na''me\"'));
CREATE TABLE shop.b (x numeric DEFAULT nextval('shop."Odd ""Na''me\"'), y bigint DEFAULT COALESCE(NULL, nextval('shop."Odd ""Na''me\"')) + 0);
CREATE TABLE "Other ""Shop""".c ("X" smallint DEFAULT pg_catalog.nextval('shop."Odd ""Na''me\"'));
SET search_path = shop;
SELECT snowflake.convert_sequence_to_snowflake('"Odd ""Na''me\"');
RESET search_path;
SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema IN ('shop', 'Other "Shop"') AND table_name IN ('a', 'b', 'c') ORDER BY 1, 2;
INSERT INTO shop.a DEFAULT VALUES RETURNING snowflake.get_node(x), "Y y" LIKE 'ORD-%' AS prefixed;
INSERT INTO shop.b DEFAULT VALUES RETURNING snowflake.get_node(x::bigint), snowflake.get_node(y);
INSERT INTO "Other ""Shop""".c DEFAULT VALUES RETURNING snowflake.get_node("X");

-- Two sequences in one expression; names that begin alike; one called nextval; a string that only
-- looks like a call.
CREATE SEQUENCE shop.one;
CREATE SEQUENCE shop.one_more;
CREATE SEQUENCE shop.nextval;
CREATE TABLE shop.d (
    t text DEFAULT nextval('shop.one') || '/' || nextval('shop.one_more') || '/' || nextval('shop.one'),
    u text DEFAULT 'nextval(''shop.one''::regclass)' || nextval('shop.nextval'),
    v text DEFAULT lpad(nextval('shop.one'::regclass)::text, 30, '0'));
SELECT snowflake.convert_sequence_to_snowflake('shop.one');
SELECT column_name, column_default FROM information_schema.columns
    WHERE table_schema = 'shop' AND table_name = 'd' ORDER BY 1;
SELECT snowflake.convert_sequence_to_snowflake('shop.nextval');
SELECT snowflake.convert_sequence_to_snowflake('shop.one_more');
SELECT column_name, column_default FROM information_schema.columns
    WHERE table_schema = 'shop' AND table_name = 'd' ORDER BY 1;
INSERT INTO shop.d DEFAULT VALUES RETURNING length(v);

-- Nobody's objects stand in for the server's.
CREATE FUNCTION shop.format(text, regclass) RETURNS text LANGUAGE sql AS $$ SELECT 'DROP SCHEMA shop CASCADE' $$;
CREATE FUNCTION shop.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
CREATE SEQUENCE shop.hostile_seq;
CREATE TABLE shop.hostile (id integer DEFAULT pg_catalog.nextval('shop.hostile_seq'));
SET search_path = shop, pg_catalog, public;
SELECT snowflake.convert_sequence_to_snowflake('hostile_seq');
RESET search_path;
INSERT INTO shop.hostile DEFAULT VALUES RETURNING snowflake.get_node(id);
-- What calls somebody else's function on the sequence is not converted.
CREATE SEQUENCE shop.own_seq;
CREATE TABLE shop.own (id bigint DEFAULT shop.nextval('shop.own_seq'));
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT snowflake.convert_sequence_to_snowflake('shop.own_seq');

-- Settings of the session that change how names and strings are printed.
CREATE SEQUENCE shop."set\ting";
CREATE TABLE shop.setting (id integer DEFAULT nextval('shop."set\ting"'), t text DEFAULT E'\\' || nextval('shop."set\ting"'));
SET quote_all_identifiers = on;
-- From PostgreSQL 19 on, no setting makes strings without an E escape.
SELECT current_setting('server_version_num')::integer < 190000 AS strings_can_escape \gset
\if :strings_can_escape
SET standard_conforming_strings = off;
SET escape_string_warning = off;
\endif
SET backslash_quote = off;
SELECT snowflake.convert_sequence_to_snowflake(E'shop."set\\ting"');
RESET ALL;
SET snowflake.node = 1;
SELECT column_name, column_default FROM information_schema.columns
    WHERE table_schema = 'shop' AND table_name = 'setting' ORDER BY 1;

-- Names that are looked up only when the default runs: found where they can mean nothing else.
CREATE SEQUENCE shop."Late's";
CREATE SEQUENCE shop.late;
CREATE TABLE shop.by_name (
    a integer DEFAULT nextval('shop."Late''s"'::text), b text DEFAULT 'L' || nextval(('"Late''s"'::text)::regclass),
    c integer DEFAULT nextval('Shop.LATE'::text), d integer DEFAULT nextval('late'::text),
    e text DEFAULT nextval('late'::text) || '/' || nextval('shop.late') || 'nextval((''late''::text)::regclass)',
    f integer DEFAULT nextval('"LATE"'::text), g bigint DEFAULT nextval('nowhere.late'::text));
SELECT snowflake.convert_sequence_to_snowflake('shop."Late''s"');
CREATE TABLE "Other ""Shop""".late ();
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('shop.late');
\set VERBOSITY terse
DROP TABLE "Other ""Shop""".late;
SELECT snowflake.convert_sequence_to_snowflake('shop.late');
SELECT column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema = 'shop' AND table_name = 'by_name' ORDER BY 1;

-- Casts and text functions that bear an ID, also next to others; what has an effect is not tried.
CREATE SEQUENCE shop.fit;
CREATE SEQUENCE shop.counted;
CREATE SEQUENCE shop.untouched;
CREATE FUNCTION shop.noisy(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'called'; RETURN $1; END $$;
CREATE TABLE shop.fits (
    a bigint DEFAULT (random() * 100)::integer + nextval('shop.fit'), b text DEFAULT substr('ORD-' || nextval('shop.fit'), 1, 50),
    c text DEFAULT to_char(nextval('shop.fit'), 'FM0000000000000000000'), d integer DEFAULT nextval('shop.fit') % 1000,
    e text DEFAULT left(md5(nextval('shop.fit')::text), 20), f bigint[] DEFAULT ARRAY[nextval('shop.fit')],
    g text DEFAULT nextval('shop.untouched') || '/' || right(nextval('shop.fit')::text, 10),
    h bigint DEFAULT shop.noisy(nextval('shop.fit')) CHECK (h < 10), i varchar(23) DEFAULT 'ORD-' || nextval('shop.fit'));
CREATE TABLE shop.checks (id integer DEFAULT nextval('shop.counted') CHECK (shop.noisy(id) < 10),
    CHECK (id > 0), CHECK (id % 2 = 0), CHECK (id < 10 OR id > 100000), CHECK (id < nextval('shop.untouched')));
SELECT snowflake.convert_sequence_to_snowflake('shop.fit');
SELECT snowflake.convert_sequence_to_snowflake('shop.counted');
SELECT is_called FROM shop.untouched;
SELECT count(*) FROM information_schema.columns
    WHERE table_schema = 'shop' AND table_name IN ('fits', 'checks') AND column_default ~ 'snowflake.nextval';

SET client_min_messages = warning;
DROP SCHEMA shop, "Other ""Shop""" CASCADE;
