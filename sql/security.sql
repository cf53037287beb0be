-- No object of the caller's can stand in for one of the server's, and no name is taken for code.
SET snowflake.node = 1;
\set SHOW_CONTEXT never

-- A twin of every function and operator of the server that the extension names, before the server's in
-- the path. None of them may run.
CREATE SCHEMA hostile;
CREATE SCHEMA victim;
DO $$
DECLARE
    body constant text := 'BEGIN RAISE EXCEPTION ''hostile code ran''; END';
    source constant text := 'lower( abs( length( % '
        || (SELECT string_agg(prosrc, ' ') FROM pg_proc WHERE pronamespace = 'snowflake'::regnamespace);
    f record;
BEGIN
    FOR f IN
        SELECT p.proname AS name, oidvectortypes(p.proargtypes) AS arguments,
               pg_get_function_result(p.oid) AS result
            FROM pg_proc p
            WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
              AND position(p.proname || '(' IN source) > 0
              -- What PL/pgSQL can take and give.
              AND p.proallargtypes IS NULL
              AND NOT EXISTS (SELECT FROM unnest(p.proargtypes || p.prorettype) a JOIN pg_type t ON t.oid = a
                                  WHERE t.typtype = 'p' AND t.typname !~ '^any[a-z]|^void$')
    LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
                       f.name, f.arguments, f.result, body);
    END LOOP;
    -- Those that take anything, in the ways they are called.
    FOR f IN SELECT format('VARIADIC %s[]', t) AS arguments
                 FROM unnest('{text,name,regclass,oid,bigint,integer}'::regtype[]) t
    LOOP
        EXECUTE format('CREATE FUNCTION hostile.format(text, %s) RETURNS text LANGUAGE plpgsql AS %L',
                       f.arguments, body);
        EXECUTE format('CREATE FUNCTION hostile.concat(%s) RETURNS text LANGUAGE plpgsql AS %L',
                       f.arguments, body);
    END LOOP;
    FOR f IN
        SELECT o.oprname AS name, nullif(o.oprleft, 0)::regtype AS l, o.oprright::regtype AS r,
               o.oprresult::regtype AS result, format('operator %s', o.oid) AS function
            FROM pg_operator o
            WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b'
              AND position(' ' || o.oprname || ' ' IN source) > 0
    LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L',
                       f.function, f.l, f.r, f.result, body);
        EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.%I, LEFTARG = %s, RIGHTARG = %s)',
                       f.name, f.function, f.l, f.r);
    END LOOP;
END $$;
SELECT name, EXISTS (SELECT FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace AND proname = name) AS has_twin
    FROM unnest('{format,nextval,left,jsonb_object_keys,pg_get_expr,has_schema_privilege,current_setting,unnest}'::name[]) name;
SELECT name, count(*) > 1 AS has_twins
    FROM pg_operator RIGHT JOIN unnest('{=,<>,>=,||,+,->,->>}'::name[]) name
      ON oprname = name AND oprnamespace = 'hostile'::regnamespace
    GROUP BY name ORDER BY name COLLATE "C";

CREATE TABLE victim.parent (id serial PRIMARY KEY, big boolean GENERATED ALWAYS AS (id + 1 > 100) STORED,
                            CHECK (id >= 0 AND length('a' || id::text) > 1));
CREATE TABLE victim.child (id integer GENERATED ALWAYS AS IDENTITY, parent integer REFERENCES victim.parent);
CREATE INDEX expression ON victim.parent ((id % 10)) WHERE id > 0;
CREATE VIEW victim.view AS SELECT count(*), max(lower(id::text) || 'x') FROM victim.parent WHERE id <> 7;
CREATE MATERIALIZED VIEW victim.filled AS SELECT id * 2 AS twice, abs(id) FROM victim.parent;
CREATE POLICY own ON victim.parent USING (id = 1 OR current_setting('a.b', true) = 'c');
CREATE FUNCTION victim.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER passes BEFORE UPDATE OF id ON victim.parent FOR EACH ROW
    WHEN (OLD.id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION victim.keep();
INSERT INTO victim.parent DEFAULT VALUES;
INSERT INTO victim.child (parent) VALUES (1);
CREATE SEQUENCE victim.other_layout;

SET search_path = hostile, pg_temp, pg_catalog;
CREATE TEMP TABLE pg_class (oid pg_catalog.oid, relname pg_catalog.name, relkind pg_catalog."char");
CREATE TEMP TABLE pg_depend (objid pg_catalog.oid);
CREATE TEMP TABLE pg_proc (oid pg_catalog.oid);
SELECT 1 = 1;
SELECT pg_catalog.count(snowflake.nextval()) AS nextval, pg_catalog.count(snowflake.currval()) AS currval, pg_catalog.count(snowflake.lastval()) AS lastval;
SELECT pg_catalog.count(*) AS nextvals FROM snowflake.nextvals('snowflake.id_seq', 3);
SELECT snowflake.get_epoch(4194304), snowflake.get_node(4194304), snowflake.get_count(4194304);
SELECT pg_catalog.count(snowflake.get_timestamp(4194304)) AS get_timestamp,
       pg_catalog.count(snowflake.format(4194304)) AS format;
-- The same in a layout, and what makes IDs by hand.
SELECT pg_catalog.count(snowflake.nextval('victim.other_layout', 'twitter')) AS nextval;
SELECT pg_catalog.count(*) AS nextvals FROM snowflake.nextvals('victim.other_layout', 3, 'twitter');
SELECT snowflake.get_epoch(4194304, 'twitter'), snowflake.get_node(4194304, 'twitter'), snowflake.get_count(4194304, 'twitter');
SELECT pg_catalog.count(snowflake.get_timestamp(4194304, 'twitter')) AS get_timestamp,
       pg_catalog.count(snowflake.format(4194304, 'twitter')) AS format;
SELECT snowflake.from_timestamp('2023-01-01 00:00:00.001+00'),
       snowflake.from_timestamp('2010-11-04 01:42:54.658+00', 'twitter') AS of_twitter;
SELECT snowflake.make_id('2023-01-01 00:00:00.001+00', 1, 2),
       snowflake.make_id('2010-11-04 01:42:54.658+00', 1, 2, 'twitter') AS of_twitter;
SELECT snowflake.created_between(4194304, '2023-01-01 00:00:00+00', '2023-01-01 00:00:01+00'),
       snowflake.created_between(4194304, '2010-11-04 01:42:54.657+00', '2010-11-05 00:00:00+00', 'twitter')
           AS of_twitter;
SELECT pg_catalog.count(*) AS described FROM snowflake.describe('twitter');
SELECT 'twitter'::snowflake.layout OPERATOR(snowflake.=) 'twitter'::snowflake.layout AS equal,
       'twitter'::snowflake.layout OPERATOR(snowflake.<>) 'twitter'::snowflake.layout AS unequal;
-- Claims, and what shows them.
BEGIN;
SELECT snowflake.claim_node(1, 'here'), snowflake.reserve_nodes(900, 901), snowflake.node();
SELECT node, pg_catalog.pg_advisory_unlock_all() FROM snowflake.lease_node();
SELECT pg_catalog.count(*) AS released FROM snowflake.release_node(901);
SELECT snowflake.remove_node(5, 16384), snowflake.take_over_node();
SELECT pg_catalog.count(*) AS claims, pg_catalog.count(lost_to) AS lost FROM snowflake.cluster;
SET LOCAL snowflake.node = 0;
SELECT node FROM snowflake.release_node();
SELECT pg_catalog.int4gt(snowflake.separate_copy(true), 0) AS separated;
ROLLBACK;
SELECT pg_catalog.int8gt(pg_catalog.count(*), 0) AS layouts FROM snowflake.layouts;
SELECT pg_catalog.int8gt(pg_catalog.count(*), 0) AS sequences FROM snowflake.sequences;
SELECT pg_catalog.count(*) AS columns FROM snowflake._conversion_columns('victim.parent_id_seq');
SELECT pg_catalog.array_agg(c) AS columns FROM snowflake._conversion_columns('victim.parent_id_seq') c \gset
SELECT pg_catalog.count(*) AS dependents FROM snowflake._conversion_dependents(:'columns');
SELECT pg_catalog.array_agg(d) AS dependents FROM snowflake._conversion_dependents(:'columns') d \gset
SELECT pg_catalog.count(*) AS obstacles
    FROM snowflake._conversion_obstacles('victim.parent_id_seq', :'columns', :'dependents', 'default');
SELECT pg_catalog.count(DISTINCT d.kind) AS kinds, pg_catalog.bool_and(x.command IS NOT NULL) AS defined
    FROM snowflake._conversion_dependents(:'columns') d,
         snowflake._kind_remake(d) x;
SELECT pg_catalog.count(*) AS rights
    FROM snowflake._conversion_rights('pg_catalog.pg_class'::pg_catalog.regclass, 'victim.parent'::pg_catalog.regclass);
SELECT pg_catalog.count(*) AS annotations
    FROM snowflake._conversion_annotations('pg_catalog.pg_class'::pg_catalog.regclass, 'victim.parent'::pg_catalog.regclass, 'TABLE x');
SELECT pg_catalog.int8gt(pg_catalog.count(*), 5) AS plan FROM snowflake.conversion_plan('victim.parent_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('victim.parent_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('victim.child_id_seq');
INSERT INTO victim.parent DEFAULT VALUES;
SELECT snowflake.convert_snowflake_to_sequence('victim.parent_id_seq');
RESET search_path;
DROP TABLE pg_temp.pg_class, pg_temp.pg_depend, pg_temp.pg_proc;
-- What was made again calls nothing of theirs either.
SELECT DISTINCT d.classid::regclass FROM pg_depend d
    JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
    WHERE p.pronamespace = 'hostile'::regnamespace AND d.classid NOT IN ('pg_operator'::regclass, 'pg_proc'::regclass);
SELECT DISTINCT d.classid::regclass FROM pg_depend d
    JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    WHERE o.oprnamespace = 'hostile'::regnamespace AND d.classid <> 'pg_operator'::regclass;

-- Nothing runs with other rights than the caller's, but what claims nodes, which not everybody may call.
-- Nothing looks up a name in another path than its own. The exceptions call functions by their full names, to pass
-- on the caller's path.
SELECT p.oid::regprocedure, has_function_privilege('public', p.oid, 'EXECUTE') AS public FROM pg_proc p
    WHERE p.pronamespace = 'snowflake'::regnamespace AND p.prosecdef ORDER BY p.proname COLLATE "C";
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'snowflake'::regnamespace AND l.lanname NOT IN ('c', 'internal') AND p.prosqlbody IS NULL
      AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)
    ORDER BY p.proname COLLATE "C";

-- Names that are quoted, broken, full of metacharacters or as long as can be. The way there and back,
-- and the hint of an error typed in, on a table of that name in a schema of that name.
CREATE FUNCTION there_and_back(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    seq regclass;
    hint text;
    before text;
    after text;
BEGIN
    EXECUTE format('CREATE SCHEMA %I', name);
    EXECUTE format('CREATE TABLE %1$I.%1$I (%1$I serial PRIMARY KEY, parent integer REFERENCES %1$I.%1$I)', name);
    EXECUTE format('CREATE VIEW %1$I.view AS SELECT %1$I AS %1$I FROM %1$I.%1$I', name);
    EXECUTE format('COMMENT ON VIEW %I.view IS %L', name, name);
    EXECUTE format('GRANT SELECT (%1$I) ON %1$I.%1$I TO PUBLIC', name);
    seq := pg_get_serial_sequence(format('%1$I.%1$I', name), name);
    SELECT pg_get_expr(adbin, adrelid) INTO before FROM pg_attrdef d
        WHERE d.adrelid = format('%1$I.%1$I', name)::regclass;
    BEGIN
        PERFORM snowflake.nextval(seq);
    EXCEPTION WHEN sequence_generator_limit_exceeded THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    END;
    EXECUTE replace(hint, 'Convert the sequence: ', '');
    EXECUTE format('INSERT INTO %1$I.%1$I DEFAULT VALUES', name);
    IF snowflake.currval(seq) < 1::bigint << 22 THEN RETURN 'no snowflake ID'; END IF;
    IF obj_description(format('%I.view', name)::regclass, 'pg_class') <> name THEN RETURN 'comment'; END IF;
    EXECUTE format('ALTER SEQUENCE %s INCREMENT BY -1 MINVALUE -5', seq);
    BEGIN
        PERFORM snowflake.nextval(seq);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    END;
    EXECUTE hint;
    PERFORM snowflake.nextval(seq);
    PERFORM snowflake.convert_snowflake_to_sequence(seq);
    SELECT pg_get_expr(adbin, adrelid) INTO after FROM pg_attrdef d
        WHERE d.adrelid = format('%1$I.%1$I', name)::regclass;
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
    RETURN CASE WHEN before = after THEN 'ok' ELSE after END;
END $$;
SET client_min_messages = warning;
SELECT n, there_and_back(name) FROM unnest(ARRAY[
    'quote"and''apostrophe', E'new\nline', E'tab\tand\rreturn', 'back\slash\', 'percent %s %I $1 \1 \& & ',
    '$body$', 'nextval(''x''::regclass)', '; DROP SCHEMA snowflake CASCADE; --', '/* comment', ' ', '.', '"."',
    'SELECT', '(', '[a-z]+)*', repeat('x', 63), repeat('''', 63), repeat('"', 63), repeat('é', 31),
    'snowflake.nextval(']) WITH ORDINALITY t(name, n);
RESET client_min_messages;
DROP FUNCTION there_and_back;

-- Who may not use a sequence learns nothing from these functions that the server would not tell.
CREATE ROLE regress_snowflake_stranger;
CREATE SCHEMA closed;
CREATE TABLE closed.secret (id serial PRIMARY KEY);
INSERT INTO closed.secret VALUES (41);
SET ROLE regress_snowflake_stranger;
SELECT snowflake.nextval('closed.secret_id_seq');
RESET ROLE;
SELECT 'closed.secret_id_seq'::regclass::oid AS secret \gset
SET ROLE regress_snowflake_stranger;
SELECT snowflake.nextval(:secret);
SELECT * FROM snowflake.nextvals(:secret, 2);
SELECT snowflake.currval(:secret);
SELECT * FROM snowflake.conversion_plan(:secret);
SELECT snowflake._convert_to_snowflake(:secret, snowflake._wishes(), false, '');
SELECT snowflake.convert_sequence_to_snowflake(:secret);
SELECT snowflake.convert_snowflake_to_sequence(:secret);
RESET ROLE;

-- The right to use a sequence is none to convert it.
GRANT USAGE ON SCHEMA closed TO regress_snowflake_stranger;
GRANT ALL ON closed.secret_id_seq, closed.secret TO regress_snowflake_stranger;
SET ROLE regress_snowflake_stranger;
SELECT snowflake.convert_sequence_to_snowflake('closed.secret_id_seq');
-- Nor is the ownership of the sequence one to alter the table that it fills.
RESET ROLE;
GRANT CREATE ON SCHEMA closed TO regress_snowflake_stranger;
ALTER SEQUENCE closed.secret_id_seq OWNED BY NONE;
ALTER SEQUENCE closed.secret_id_seq OWNER TO regress_snowflake_stranger;
SET ROLE regress_snowflake_stranger;
SELECT snowflake.convert_sequence_to_snowflake('closed.secret_id_seq');
-- The database-wide sequence is for everybody, unless that is taken away.
SELECT snowflake.nextval() > 0 AS made;
RESET ROLE;
BEGIN;
REVOKE USAGE, SELECT ON SEQUENCE snowflake.id_seq FROM PUBLIC;
SET LOCAL ROLE regress_snowflake_stranger;
SAVEPOINT p;
SELECT snowflake.nextval();
ROLLBACK TO p;
SELECT snowflake.currval();
ROLLBACK;
SET ROLE regress_snowflake_stranger;
-- The setting is not for everybody.
SET snowflake.node = 2;
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA closed CASCADE;
DROP SCHEMA victim CASCADE;
DROP SCHEMA hostile CASCADE;
DROP ROLE regress_snowflake_stranger;
