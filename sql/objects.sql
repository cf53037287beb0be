-- What CREATE EXTENSION makes and users call: every function as the contract says, each with its comment.
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS returns,
       p.provolatile AS volatile, p.proparallel AS parallel, p.proisstrict AS strict,
       obj_description(p.oid, 'pg_proc') IS NOT NULL AS commented,
       has_function_privilege('public', p.oid, 'EXECUTE') AS public
    FROM pg_depend d
    JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
      AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake')
      AND p.proname NOT LIKE '\_%'
    ORDER BY p.proname COLLATE "C", pg_get_function_arguments(p.oid) COLLATE "C";
-- All others have names with an underscore. Functions in PL/pgSQL, public ones too, run with the same settings (see
-- src/sql/settings.sql), but for procedures, which commit, and a function that passes the caller's search_path on.
CREATE TEMPORARY VIEW made AS
    SELECT p.oid::regprocedure AS function, l.lanname AS language, p.proconfig AS settings,
           '{"search_path=pg_catalog, pg_temp", standard_conforming_strings=on, quote_all_identifiers=off, jit=off, max_parallel_workers_per_gather=0,
             plan_cache_mode=force_generic_plan}'::text[] AS common
        FROM pg_depend d
        JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        JOIN pg_language l ON l.oid = p.prolang
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
          AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake');
SELECT function FROM made
    WHERE language = 'plpgsql' AND NOT coalesce(settings @> common, false) ORDER BY function::text COLLATE "C";
-- Settings that single functions have besides.
SELECT function, setting FROM made CROSS JOIN unnest(settings) setting
    WHERE language <> 'c' AND setting <> ALL (common) ORDER BY function::text COLLATE "C", setting COLLATE "C";
-- Functions in SQL whose names are looked up when they are called.
SELECT m.function FROM made m JOIN pg_proc p ON p.oid = m.function
    WHERE m.language = 'sql' AND p.prosqlbody IS NULL AND NOT coalesce(m.settings @> common[:1], false)
    ORDER BY m.function::text COLLATE "C";

-- Procedures declare no variable of a type without its schema: PL/pgSQL would look that up in the search_path of the session.
SELECT count(DISTINCT p.oid) AS procedures, array_agg(line) FILTER (WHERE line !~ '^    \w+ (constant )?\w+[.]') AS without_schema
    FROM pg_proc p, regexp_split_to_table(substring(p.prosrc FROM '(?n)^DECLARE$\n((?:^ .*\n)*)^BEGIN$'), '\n(?=.)') line
    WHERE p.pronamespace = 'snowflake'::regnamespace AND p.prokind = 'p';
-- Everything else that it makes. The server adds operator families, row and array types by itself.
SELECT pg_describe_object(classid, objid, objsubid) COLLATE "C" AS object,
       obj_description(objid, classid::regclass::name) IS NOT NULL AS commented
    FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
      AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake')
      AND pg_describe_object(classid, objid, objsubid) NOT LIKE '% snowflake.\_%'
      AND classid NOT IN ('pg_proc'::regclass, 'pg_opfamily'::regclass)
      AND NOT (classid = 'pg_type'::regclass
               AND EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
                               WHERE t.oid = objid AND (c.relkind <> 'c' OR t.typelem <> 0)))
    ORDER BY object;
SELECT count(*) AS classes, bool_and(amvalidate(oid)) AS valid
    FROM pg_opclass WHERE opcintype = 'snowflake.layout'::regtype;

-- Anybody may make IDs with the database-wide sequence, but not set it.
SELECT has_schema_privilege('public', 'snowflake', 'USAGE') AS schema_usage,
       has_sequence_privilege('public', 'snowflake.id_seq', 'USAGE') AS sequence_usage,
       has_sequence_privilege('public', 'snowflake.id_seq', 'UPDATE') AS sequence_update,
       has_table_privilege('public', 'snowflake.layouts', 'SELECT') AS layouts_select;

-- Its state and layout, and whether the server's nextval is redirected, are part of a dump.
SELECT extconfig = ARRAY['snowflake.id_seq', 'snowflake._redirect', 'snowflake._id_seq_layout']::regclass[]::oid[] AS are_dumped, extrelocatable
    FROM pg_extension WHERE extname = 'snowflake';

-- It is guarded from the start: the server's nextval takes no number from it.
SELECT nextval('snowflake.id_seq');

-- The setting: a number of 0 (unset) to 1023, for superusers to set.
LOAD 'snowflake';
SELECT vartype, min_val, max_val, boot_val, context FROM pg_settings WHERE name = 'snowflake.node';
-- The server finds every setting by its name, which it looks up in a sorted array before PostgreSQL 16.
SELECT count(*) FILTER (WHERE current_setting(name, true) IS NULL) AS unknown, count(*) FILTER (WHERE name LIKE 'snowflake.%') AS defined
    FROM pg_settings;
SET snowflake.node = 1024;
SET snowflake.node = -1;
SET snowflake.nodes = 1;
CREATE ROLE regress_snowflake_user;
SET ROLE regress_snowflake_user;
SET snowflake.node = 5;
RESET ROLE;
DROP ROLE regress_snowflake_user;

-- It can be set for a database, a role and a transaction.
SET snowflake.node = 5;
BEGIN;
SET LOCAL snowflake.node = 6;
SELECT snowflake.get_node(snowflake.nextval());
ROLLBACK;
SELECT snowflake.get_node(snowflake.nextval());
