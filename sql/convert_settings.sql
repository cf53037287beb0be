-- Settings of the session change nothing of what is made again, and nothing changes them.
SET snowflake.node = 1;
CREATE SCHEMA settings;
SET search_path = settings;
SET client_min_messages = warning;
CREATE TABLE t (id serial PRIMARY KEY, g bigint GENERATED ALWAYS AS (id + 1) STORED);
CREATE INDEX t_g ON t (g);
CREATE VIEW constants AS
    SELECT id,
           CASE WHEN id < 0 THEN '2000-01-01' ELSE '2025-02-01 00:00:00+00'::timestamptz END AS at,
           '2025-02-01'::date AS day,
           '-1 days +02:03:04'::interval AS span,
           '1 year -2 days'::interval AS spans,
           0.30000000000000004::double precision AS number,
           1.1754944e-38::real AS small,
           '\x5c00'::bytea AS bytes,
           '{1,NULL}'::text[] AS list,
           E'a\\b''c' AS text,
           id = NULL AS never,
           '12.34'::money AS money
        FROM t WHERE id > 0;
CREATE MATERIALIZED VIEW stored AS SELECT id FROM t;
INSERT INTO t DEFAULT VALUES;
-- A materialized view whose owner reads the rows that a policy lets him read.
CREATE ROLE regress_snowflake_owner;
GRANT USAGE, CREATE ON SCHEMA settings TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
CREATE TABLE limited (id serial PRIMARY KEY);
INSERT INTO limited VALUES (1), (2);
ALTER TABLE limited ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY above ON limited USING (id > 1);
CREATE MATERIALIZED VIEW above AS SELECT id FROM limited;
RESET ROLE;
CREATE SEQUENCE laid_out;
CREATE TABLE twitter (id bigint DEFAULT snowflake.nextval('laid_out', 'twitter'));
SELECT snowflake.convert_sequence_to_snowflake('laid_out');
CREATE TABLE widened (id integer, list text[], CONSTRAINT list CHECK (id > 0 OR list <> '{1,NULL}'));
CREATE TEMPORARY TABLE before AS SELECT pg_get_viewdef('constants') AS def, c::text AS row FROM constants c;
CREATE TEMPORARY TABLE spaces AS
    SELECT relname, reltablespace, relam FROM pg_class WHERE relnamespace = 'settings'::regnamespace AND relkind IN ('r', 'i', 'm');
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_snowflake_space LOCATION '';
CREATE ACCESS METHOD regress_snowflake_heap TYPE TABLE HANDLER heap_tableam_handler;

SET DateStyle = 'SQL, DMY';
SET IntervalStyle = sql_standard;
SET extra_float_digits = 0;
SET bytea_output = escape;
SET TimeZone = 'Asia/Kathmandu';
SET default_tablespace = regress_snowflake_space;
SET default_table_access_method = regress_snowflake_heap;
SET transform_null_equals = on;
SET array_nulls = off;
SET quote_all_identifiers = on;
-- From PostgreSQL 19 on, no setting makes strings without an E escape.
SELECT current_setting('server_version_num')::integer < 190000 AS strings_can_escape \gset
\if :strings_can_escape
SET standard_conforming_strings = off;
SET escape_string_warning = on;
\endif
SET backslash_quote = off;
SET xmloption = document;
SET row_security = off;
SET default_toast_compression = pglz;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('t_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('laid_out');
SELECT snowflake.convert_sequence_to_snowflake('limited_id_seq');
TABLE above;
SELECT snowflake.convert_snowflake_to_sequence('limited_id_seq');
SELECT snowflake._widen('widened', 'id');
SHOW DateStyle;
SHOW default_tablespace;
RESET ALL;
SET snowflake.node = 1;
SET search_path = settings;
SET client_min_messages = warning;
SELECT pg_get_viewdef('constants') = def AS same_definition, c::text = row AS same_row
    FROM constants c, before;
SELECT relname, c.reltablespace = s.reltablespace AS same_space, c.relam = s.relam AS same_method
    FROM pg_class c JOIN spaces s USING (relname) WHERE relnamespace = 'settings'::regnamespace ORDER BY relname COLLATE "C";
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'list' AND conrelid = 'widened'::regclass;

-- What has a tablespace and an access method of its own keeps them.
CREATE TABLE own (id serial PRIMARY KEY USING INDEX TABLESPACE regress_snowflake_space) USING regress_snowflake_heap TABLESPACE regress_snowflake_space;
CREATE MATERIALIZED VIEW own_rows USING regress_snowflake_heap TABLESPACE regress_snowflake_space AS SELECT id FROM own;
CREATE INDEX own_rows_id ON own_rows (id) TABLESPACE regress_snowflake_space;
SELECT snowflake.convert_sequence_to_snowflake('own_id_seq');
SELECT relname, spcname, amname
    FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace JOIN pg_am m ON m.oid = c.relam
    WHERE relnamespace = 'settings'::regnamespace ORDER BY relname COLLATE "C";

DROP SCHEMA settings CASCADE;
DROP ROLE regress_snowflake_owner;
DROP ACCESS METHOD regress_snowflake_heap CASCADE;
DROP TABLESPACE regress_snowflake_space;

-- What is made of values is made as it is in a session that has set nothing.
\setenv PGDATESTYLE German
\c -
SET client_min_messages = warning;
CREATE TABLE german (id serial, d date CHECK (d::text ~ '^\d\d[.]'));
ALTER TABLE german ADD CHECK (d::text ~ '^\d\d[.]' AND id > 0);
INSERT INTO german (d) VALUES ('24.12.2025');
CREATE MATERIALIZED VIEW german_texts AS SELECT id, d::text AS day FROM german;
SELECT snowflake.convert_sequence_to_snowflake('german_id_seq');
TABLE german_texts;
SHOW DateStyle;
DROP TABLE german CASCADE;
