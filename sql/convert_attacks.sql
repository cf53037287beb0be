-- What a role with nothing but CREATE on a schema can do against those who convert beside it: none of
-- its code may run as somebody else, stop a conversion, or come into what is made again.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_snowflake_mallory;
CREATE ROLE regress_snowflake_owner;
CREATE SCHEMA attack;
CREATE SCHEMA elsewhere AUTHORIZATION regress_snowflake_mallory;
GRANT ALL ON SCHEMA attack TO regress_snowflake_mallory, regress_snowflake_owner;
-- The hostile role's functions tell as whom they run. The file ends with what was told.
CREATE TABLE attack.told (what text, told_as name);
GRANT INSERT ON attack.told TO PUBLIC;
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION attack.tell(what text) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO attack.told VALUES (what, current_user);
    RETURN true;
END $$;
RESET ROLE;
CREATE FUNCTION attack.is_superuser() RETURNS boolean LANGUAGE sql
    AS $$ SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_snowflake_mallory' $$;

-- 1. Names that look like calls.
-- The way back: a literal and the name of a function, which together look like a call in a layout.
CREATE TABLE attack.v (id serial PRIMARY KEY);
SELECT snowflake.convert_sequence_to_snowflake('attack.v_id_seq');
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION attack." snowflake.nextval('attack.v_id_seq'::regclass, 'x"(text, regclass) RETURNS bigint
    LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION attack." nextval('attack.v_id_seq'::regclass)"(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE TABLE attack.back (c bigint DEFAULT attack." snowflake.nextval('attack.v_id_seq'::regclass, 'x"(
    '::snowflake.layout)"(1); ALTER ROLE regress_snowflake_mallory SUPERUSER; --', 'attack.v_id_seq'::regclass));
RESET ROLE;
SELECT snowflake.convert_snowflake_to_sequence('attack.v_id_seq');
SELECT attack.is_superuser();
-- The plan: a sequence whose name is what stands between two collations in a default.
SET client_min_messages = warning;
SET ROLE regress_snowflake_mallory;
CREATE COLLATION attack." nextval('attack." FROM "C";
CREATE COLLATION attack."'::regclass)" FROM "C";
CREATE COLLATION attack." number" FROM "C";
CREATE SEQUENCE attack.")), '::tsquery, '::tsquery), btrim((('::text COLLATE attack.";
CREATE TABLE attack.between (c text DEFAULT concat(
    ts_rewrite(plainto_tsquery('simple', 'a'::text COLLATE attack." nextval('attack."), ''::tsquery, ''::tsquery),
    btrim((''::text COLLATE attack."'::regclass)") || ''::text, $$SELECT ''::tsquery, ''::tsquery WHERE attack.tell('plan')$$),
    nextval('attack.")), ''::tsquery, ''::tsquery), btrim(((''::text COLLATE attack."')));
RESET ROLE;
SELECT count(*) > 0 AS planned
    FROM snowflake.conversion_plan('attack.")), ''::tsquery, ''::tsquery), btrim(((''::text COLLATE attack."');
RESET client_min_messages;
-- The conversion: a schema whose name ends the name that it is put before.
GRANT CREATE ON DATABASE :"DBNAME" TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE SCHEMA "(1); ALTER ROLE regress_snowflake_mallory SUPERUSER; --";
CREATE SCHEMA h;
CREATE SEQUENCE "(1); ALTER ROLE regress_snowflake_mallory SUPERUSER; --"."(h.";
CREATE FUNCTION attack." nextval(('"(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION attack." snowflake.nextval('"(integer) RETURNS bigint LANGUAGE sql AS 'SELECT $1::bigint';
CREATE FUNCTION h."'::text)::regclass)"(integer) RETURNS bigint LANGUAGE sql AS 'SELECT $1::bigint';
CREATE TABLE h.named (c bigint DEFAULT attack." nextval(('"(h."'::text)::regclass)"(1), nextval('"(h."'::text)));
RESET ROLE;
REVOKE CREATE ON DATABASE :"DBNAME" FROM regress_snowflake_mallory;
SELECT snowflake.convert_sequence_to_snowflake(c.oid) FROM pg_class c WHERE relname = '(h.';
SELECT attack.is_superuser();
SELECT count(*) AS calls_of_ours FROM pg_attrdef f, snowflake._sequence_uses('pg_attrdef', f.oid) used
    WHERE f.adrelid = 'h.named'::regclass AND used.callee = 'snowflake.nextval';

-- 2. To take numbers from somebody else's sequence needs no right on it. What does so neither runs, nor is
-- it altered, nor does it stop the owner: a table with checks, a temporary one, a name that could mean
-- the sequence or another, a function. A foreign key, which needs the right REFERENCES, stops the owner.
SET ROLE regress_snowflake_owner;
CREATE TABLE attack.owned (id serial PRIMARY KEY);
GRANT REFERENCES, SELECT ON attack.owned TO regress_snowflake_mallory;
CREATE TABLE attack.old_style (id integer DEFAULT nextval('owned_id_seq'::text));
RESET ROLE;
CREATE TABLE attack.supers (id serial PRIMARY KEY);
SELECT 'attack.owned_id_seq'::regclass::oid AS owned, 'attack.supers_id_seq'::regclass::oid AS supers \gset
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.uninvited (a integer DEFAULT nextval(:'owned') CHECK (attack.tell('check ' || a)),
                               b varchar(3) DEFAULT 'x' || nextval(:'owned'),
                               c integer DEFAULT nextval(:'supers') CHECK (attack.tell('check ' || c)));
INSERT INTO attack.uninvited VALUES (1, 'x', 1);
CREATE TEMP TABLE uninvited_too (a integer DEFAULT nextval(:'owned'));
CREATE TABLE attack.uninvited_by_name (a integer DEFAULT nextval('attack.owned_id_seq'::text));
CREATE SEQUENCE elsewhere.owned_id_seq;
CREATE TABLE attack.referencing (a integer REFERENCES attack.owned);
CREATE FUNCTION attack.uninvited() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT nextval('attack.owned_id_seq') + nextval('attack.supers_id_seq'); END;
RESET ROLE;
DELETE FROM attack.told;
SET ROLE regress_snowflake_owner;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.owned_id_seq');
\set VERBOSITY terse
SET ROLE regress_snowflake_mallory;
ALTER TABLE attack.referencing DROP CONSTRAINT referencing_a_fkey;
SET ROLE regress_snowflake_owner;
SELECT step, command, effect FROM snowflake.conversion_plan('attack.owned_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.owned_id_seq');
INSERT INTO attack.owned DEFAULT VALUES RETURNING snowflake.get_node(id);
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('attack.supers_id_seq');
-- The stranger's defaults fail, and are not touched by the way back either.
SET ROLE regress_snowflake_mallory;
INSERT INTO attack.uninvited (b) VALUES ('x');
DROP TABLE pg_temp.uninvited_too;
ALTER TABLE attack.uninvited ALTER a SET DEFAULT snowflake.nextval(:'owned');
CREATE FUNCTION attack.uninvited_back() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT snowflake.nextval('attack.owned_id_seq'); END;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_snowflake_to_sequence('attack.owned_id_seq');
RESET ROLE;
SELECT a.attname, pg_get_expr(f.adbin, f.adrelid), a.atttypid::regtype
    FROM pg_attrdef f JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
    WHERE f.adrelid = 'attack.uninvited'::regclass ORDER BY a.attnum;
TABLE attack.told;

-- A role that the owner is a member of is no stranger, and neither is a superuser. To be a superuser is
-- not to be a member.
SELECT snowflake._is_taken_along('regress_snowflake_owner'::regrole, 'regress_snowflake_mallory'::regrole) AS stranger,
       snowflake._is_taken_along('regress_snowflake_owner'::regrole, 'regress_snowflake_owner'::regrole) AS owner,
       snowflake._is_taken_along('regress_snowflake_mallory'::regrole, 'pg_monitor'::regrole) AS not_member,
       snowflake._is_taken_along('pg_monitor'::regrole, 'pg_read_all_stats'::regrole) AS member;
SELECT bool_or(snowflake._is_taken_along(oid, 'regress_snowflake_mallory'::regrole)) AS stranger_to_superusers,
       bool_and(snowflake._is_taken_along('regress_snowflake_owner'::regrole, oid)) AS superuser
    FROM pg_roles WHERE rolsuper;

-- The server does not drop the sequence of an identity under what uses it, whoever that belongs to. The
-- owner is told whose it is, a superuser makes it again as it was.
SET ROLE regress_snowflake_owner;
CREATE TABLE attack.identity (id integer GENERATED ALWAYS AS IDENTITY);
SELECT 'attack.identity_id_seq'::regclass::oid AS identity \gset
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.on_identity (a integer DEFAULT nextval(:'identity') CHECK (attack.tell('check ' || a)));
CREATE VIEW attack.view_of_identity AS SELECT nextval('attack.identity_id_seq');
CREATE FUNCTION attack.function_of_identity() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT nextval('attack.identity_id_seq'); END;
-- Nor does a name stop it that the conversion would give for a while.
DO $$ BEGIN EXECUTE format('CREATE TABLE attack.snowflake_%s ()', 'attack.identity_id_seq'::regclass::oid); END $$;
SET ROLE regress_snowflake_owner;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.identity_id_seq');
\set VERBOSITY terse
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('attack.identity_id_seq');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'attack.on_identity'::regclass;
SELECT pg_get_viewdef('attack.view_of_identity'), pg_get_function_sqlbody('attack.function_of_identity'::regproc);
SELECT relname AS made_again, relowner::regrole FROM pg_class WHERE relname IN ('on_identity', 'view_of_identity')
UNION ALL SELECT proname, proowner::regrole FROM pg_proc WHERE proname = 'function_of_identity' ORDER BY 1;
TABLE attack.told;

-- 3. Where a superuser converts for somebody else, that role's code runs as that role, and settings that
-- it changes are taken back: checks, generated columns, indexes, queries, input of constants.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION attack.tell_index(what text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM attack.tell(what);
    PERFORM set_config('search_path', 'elsewhere', false);
    IF current_setting('server_version_num')::integer < 190000 THEN -- later, no setting makes strings escape
        PERFORM set_config('standard_conforming_strings', 'off', false);
    END IF;
    RETURN 1;
END $$;
CREATE DOMAIN attack.telling AS integer CHECK (attack.tell('domain'));
CREATE TABLE attack.hostile (id serial PRIMARY KEY CHECK (attack.tell('check ' || id) AND attack.tell_index('settings') = 1),
    code text DEFAULT 'x' || ('{1}'::attack.telling[])[1],
    number bigserial, made integer GENERATED ALWAYS AS (id + attack.tell_index('generated')) STORED);
CREATE INDEX ON attack.hostile ((id + attack.tell_index('index')));
CREATE INDEX ON attack.hostile (id) WHERE attack.tell_index('predicate') = 1;
CREATE VIEW attack.constants AS SELECT id FROM attack.hostile WHERE '{1}'::attack.telling[] IS NOT NULL;
CREATE MATERIALIZED VIEW attack.filled AS SELECT id, attack.tell('query') FROM attack.hostile;
CREATE RULE constants AS ON UPDATE TO attack.hostile WHERE NEW.id = 1 AND '{1}'::attack.telling[] IS NULL DO INSTEAD NOTHING;
CREATE POLICY constants ON attack.hostile USING (id > 0 AND '{1}'::attack.telling[] IS NOT NULL);
CREATE FUNCTION attack.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER constants BEFORE UPDATE ON attack.hostile FOR EACH ROW
    WHEN (NEW.id > 0 AND '{1}'::attack.telling[] IS NOT NULL) EXECUTE FUNCTION attack.keep();
CREATE FUNCTION attack.constants(x integer[] DEFAULT '{1}'::attack.telling[]) RETURNS SETOF attack.constants
    LANGUAGE sql BEGIN ATOMIC SELECT * FROM attack.constants WHERE '{1}'::attack.telling[] IS NOT NULL; END;
INSERT INTO attack.hostile DEFAULT VALUES;
CREATE TABLE attack.hostile_identity (id bigint GENERATED ALWAYS AS IDENTITY CHECK (attack.tell('check')),
    text text DEFAULT ('{1}'::attack.telling[])[1]::integer::text || nextval('attack.hostile_number_seq'));
CREATE INDEX ON attack.hostile_identity (id) WHERE attack.tell_index('planned') = 1;
RESET ROLE;
RESET search_path;
RESET standard_conforming_strings;
DELETE FROM attack.told;
SELECT DISTINCT role FROM snowflake.conversion_plan('attack.hostile_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.hostile_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.hostile_number_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.hostile_identity_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('attack.hostile_number_seq');
SHOW search_path;
SHOW standard_conforming_strings;
SELECT DISTINCT what, told_as FROM attack.told ORDER BY 1, 2;
SELECT count(*) AS relations_of_others FROM pg_class
    WHERE relnamespace = 'attack'::regnamespace AND relname ~ '^(hostile|constants|filled)'
      AND relowner <> 'regress_snowflake_mallory'::regrole;
-- A foreign key that a stranger has made, and that only code of the stranger could make again.
CREATE TABLE attack.referenced (id serial PRIMARY KEY);
GRANT REFERENCES ON attack.referenced TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.trap (id integer REFERENCES attack.referenced);
CREATE INDEX ON attack.trap (id) WHERE attack.tell_index('foreign key') = 1;
RESET ROLE;
DELETE FROM attack.told;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.referenced_id_seq');
\set VERBOSITY terse
TABLE attack.told;
-- A trigger that a stranger has made on the table, with a constant whose input runs code of the stranger.
CREATE TABLE attack.watched (id serial PRIMARY KEY);
GRANT TRIGGER ON attack.watched TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE TRIGGER watching BEFORE UPDATE OF id ON attack.watched FOR EACH ROW
    WHEN ('{1}'::attack.telling[] IS NOT NULL) EXECUTE FUNCTION attack.keep();
RESET ROLE;
DELETE FROM attack.told;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.watched_id_seq');
\set VERBOSITY terse
TABLE attack.told;
DROP TRIGGER watching ON attack.watched;
-- Statistics, whose expressions the server simplifies when it plans a query: one that looks for the
-- greatest number, or one that checks a foreign key.
CREATE TABLE attack.measured (id serial PRIMARY KEY);
GRANT REFERENCES ON attack.measured TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.measuring (id integer REFERENCES attack.measured, number bigserial);
CREATE STATISTICS attack.measures ON id, (id + attack.tell_index('statistics')) FROM attack.measuring;
RESET ROLE;
RESET search_path;
RESET standard_conforming_strings;
DELETE FROM attack.told;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.measured_id_seq');
\set VERBOSITY terse
SELECT snowflake.convert_sequence_to_snowflake('attack.measuring_number_seq');
SELECT DISTINCT what, told_as FROM attack.told;
DELETE FROM attack.told;
-- Obstacles name the role that they belong to: a type made of the rows of the table, a query that fails.
-- A stranger's default stays as it is, and its column may have a domain or be a view's.
SET ROLE regress_snowflake_mallory;
CREATE TYPE attack.rows AS (watched attack.watched);
RESET ROLE;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.watched_id_seq');
DROP TYPE attack.rows;
CREATE TABLE attack.numbered (id integer GENERATED ALWAYS AS IDENTITY);
INSERT INTO attack.numbered DEFAULT VALUES;
GRANT SELECT ON attack.numbered TO regress_snowflake_mallory;
SELECT 'attack.numbered_id_seq'::regclass::oid AS numbered \gset
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.with_domain (a attack.telling DEFAULT nextval(:'numbered'));
CREATE VIEW attack.of_integers AS SELECT 1 AS a;
ALTER VIEW attack.of_integers ALTER a SET DEFAULT nextval(:'numbered');
CREATE TABLE attack.fails (yes boolean);
CREATE FUNCTION attack.fail() RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM attack.fails) THEN
        RAISE division_by_zero USING MESSAGE = 'this code fails';
    END IF;
    RETURN 1;
END $$;
CREATE MATERIALIZED VIEW attack.failing AS SELECT id, attack.fail() FROM attack.numbered;
RESET ROLE;
INSERT INTO attack.fails VALUES (true);
SELECT snowflake.convert_sequence_to_snowflake('attack.numbered_id_seq');
DELETE FROM attack.fails;
SELECT snowflake.convert_sequence_to_snowflake('attack.numbered_id_seq');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'attack.with_domain'::regclass;
\set VERBOSITY terse
TABLE attack.told;
-- Nobody becomes somebody else by these functions.
SET ROLE regress_snowflake_mallory;
SELECT snowflake._may_become('regress_snowflake_owner'::regrole) AS by_set_role;
RESET ROLE;
SET SESSION AUTHORIZATION regress_snowflake_mallory;
SELECT snowflake._may_become('regress_snowflake_owner'::regrole);
SELECT snowflake._run_as('SELECT 1', 'regress_snowflake_owner'::regrole, NULL, NULL);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION attack.as_definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER
    AS $$ SELECT snowflake._run_as('SELECT 1', 'regress_snowflake_owner'::regrole, NULL, NULL) $$;
ALTER FUNCTION attack.as_definer() OWNER TO regress_snowflake_mallory;
SELECT attack.as_definer();

-- 4. What is made again means what it meant. An operator and functions in a schema of the path, which
-- fit a bigint better than those of the server, or of the owner:
CREATE SCHEMA shared;
GRANT ALL ON SCHEMA shared TO regress_snowflake_mallory, regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
SET search_path = shared;
CREATE TABLE counted (id serial PRIMARY KEY, CHECK (id % 10 < 10), CHECK (mod(id, 10) < 10));
CREATE INDEX counted_index ON counted ((id % 10), mod(id, 10));
CREATE VIEW counted_view AS SELECT id % 10 AS digit FROM counted;
INSERT INTO counted DEFAULT VALUES;
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION mod(bigint, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN PERFORM attack.tell('mod'); RETURN 1; END $$;
CREATE OPERATOR % (FUNCTION = mod, LEFTARG = bigint, RIGHTARG = integer);
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('counted_id_seq');
RESET ROLE;
SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d
    JOIN pg_class c ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'shared.mod(bigint, integer)'::regprocedure
    WHERE d.classid <> 'pg_operator'::regclass AND d.classid <> 'pg_proc'::regclass;
TABLE attack.told;
-- A function of the owner's, which has a twin for bigint by the stranger, or none, or one by the owner.
SET ROLE regress_snowflake_owner;
CREATE FUNCTION fits(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE TABLE fitting (id serial PRIMARY KEY CHECK (fits(id)));
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION fits(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN attack.tell('fits'); END $$;
SET ROLE regress_snowflake_owner;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('fitting_id_seq');
RESET ROLE;
DROP FUNCTION shared.fits(bigint);
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('fitting_id_seq');
CREATE FUNCTION fits(bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
SELECT snowflake.convert_sequence_to_snowflake('fitting_id_seq');
\set VERBOSITY terse
RESET ROLE;
RESET search_path;
TABLE attack.told;

-- 5. Other places where the server evaluates what a role wrote: a partition key, also that of a table which
-- refers to the one converted, and tables of the hostile role that inherit from somebody else's.
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.by_key (id serial, x integer) PARTITION BY RANGE ((x + attack.tell_index('key')));
RESET ROLE;
RESET search_path;
RESET standard_conforming_strings;
CREATE TABLE attack.key_referenced (id serial PRIMARY KEY);
GRANT REFERENCES ON attack.key_referenced TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.by_key_too (id bigint REFERENCES attack.key_referenced, x integer)
    PARTITION BY RANGE ((x + attack.tell_index('key')));
RESET ROLE;
RESET search_path;
RESET standard_conforming_strings;
CREATE TABLE attack.parent (id serial, x integer);
CREATE TABLE attack.child () INHERITS (attack.parent);
ALTER TABLE attack.child OWNER TO regress_snowflake_mallory;
CREATE TABLE attack.big_parent (id bigserial, x integer) PARTITION BY RANGE (id);
CREATE TABLE attack.big_child PARTITION OF attack.big_parent FOR VALUES FROM (0) TO (MAXVALUE);
ALTER TABLE attack.big_child OWNER TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
INSERT INTO attack.child VALUES (1, 1);
ALTER TABLE attack.child ADD CHECK (attack.tell('inherits ' || id));
CREATE INDEX ON attack.big_child ((x + attack.tell_index('inherits')));
RESET ROLE;
RESET search_path;
RESET standard_conforming_strings;
DELETE FROM attack.told;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('attack.by_key_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.key_referenced_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.parent_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.big_parent_id_seq');
\set VERBOSITY terse
SELECT DISTINCT what, told_as FROM attack.told;
-- A key of big integers, which a session reads for the first time: the server evaluates what is constant in it.
SET ROLE regress_snowflake_mallory;
CREATE TABLE attack.by_big_key (id bigserial) PARTITION BY RANGE ((id + attack.tell_index('bounds')));
CREATE TABLE attack.by_big_key_1 PARTITION OF attack.by_big_key FOR VALUES FROM (0) TO (MAXVALUE);
RESET ROLE;
DELETE FROM attack.told;
\c -
SET snowflake.node = 1;
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('attack.by_big_key_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('attack.by_big_key_id_seq');
TABLE attack.told;
-- A function, an operator and a check of the hostile role that could never take the place of the owner's.
CREATE TYPE attack.state AS ENUM ('on', 'off');
SET ROLE regress_snowflake_owner;
CREATE FUNCTION shared.norm(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)';
CREATE TABLE attack.normed (id serial PRIMARY KEY, name text);
CREATE INDEX ON attack.normed (shared.norm(name));
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION shared.norm(circle) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT NULL::text';
CREATE FUNCTION shared.norm(integer, integer) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT NULL::text';
CREATE TABLE attack.checked (id bigint, state attack.state,
                             CHECK (attack.tell('no table of ours')), CHECK (state = 'on'));
-- A default that is nested more deeply than can be read ends nobody's conversion.
DO $$ BEGIN EXECUTE format('CREATE TABLE attack.deep (a bigint DEFAULT 1%s, b bigint DEFAULT nextval(''x''::text)%s)',
                           repeat('+1', 1500), repeat('+1', 1500)); END $$;
SET ROLE regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('attack.normed_id_seq');
RESET ROLE;
TABLE attack.told;

-- 6. A superuser converts for a role that may not create anything in the schema: the owner is granted what is
-- missing first. What only a superuser may say of a function, its owner cannot say again.
CREATE SCHEMA closed;
CREATE TYPE closed.state AS ENUM ('on', 'off');
CREATE TABLE closed.app (id serial PRIMARY KEY, state closed.state DEFAULT 'on' CHECK (state <> 'off'),
                         is_on boolean GENERATED ALWAYS AS (id > 0 AND state = 'on') STORED);
CREATE INDEX ON closed.app (id) WHERE state = 'on';
CREATE VIEW closed.are_on AS SELECT id FROM closed.app WHERE state = 'on';
CREATE FUNCTION closed.count() RETURNS bigint LANGUAGE sql LEAKPROOF SET log_min_duration_statement = -1
    BEGIN ATOMIC SELECT max(id) FROM closed.app; END;
ALTER TABLE closed.app OWNER TO regress_snowflake_owner;
ALTER VIEW closed.are_on OWNER TO regress_snowflake_owner;
ALTER FUNCTION closed.count OWNER TO regress_snowflake_owner;
CREATE FUNCTION closed.convert(seq regclass) RETURNS integer LANGUAGE sql SECURITY DEFINER
    AS 'SELECT snowflake.convert_sequence_to_snowflake(seq)';
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('closed.app_id_seq');
\set VERBOSITY terse
GRANT USAGE, CREATE ON SCHEMA closed TO regress_snowflake_owner;
ALTER FUNCTION closed.count NOT LEAKPROOF;
\set VERBOSITY default
SELECT snowflake.convert_sequence_to_snowflake('closed.app_id_seq');
\set VERBOSITY terse
ALTER FUNCTION closed.count RESET log_min_duration_statement SET work_mem = '1MB';
-- Also in a function with the rights of its owner, a superuser.
BEGIN;
SELECT closed.convert('closed.app_id_seq');
ROLLBACK;
SELECT snowflake.convert_sequence_to_snowflake('closed.app_id_seq');
SELECT relname, relowner::regrole FROM pg_class WHERE relnamespace = 'closed'::regnamespace AND relkind IN ('r', 'v')
    ORDER BY 1;
SELECT proowner::regrole, proleakproof, proconfig FROM pg_proc WHERE oid = 'closed.count'::regproc;

-- 7. Errors that pass for the server's: of a lock that is not to be had, of a cancellation, a failed assertion, which OTHERS
-- does not catch, and of an event trigger. The sequence of another owner is converted.
CREATE SCHEMA errors;
GRANT ALL ON SCHEMA errors TO regress_snowflake_mallory, regress_snowflake_owner;
GRANT USAGE ON SCHEMA errors TO PUBLIC; -- trials run as nobody
SET attack.code = '';
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION errors.event() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION errors.fail(bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('attack.code') = 'event' THEN
        BEGIN
            PERFORM errors.event();
        EXCEPTION WHEN OTHERS THEN
        END;
        RAISE EXCEPTION 'no event' USING ERRCODE = '22000';
    ELSIF current_setting('attack.code') <> '' THEN
        RAISE EXCEPTION 'not %', current_setting('attack.code') USING ERRCODE = current_setting('attack.code');
    END IF;
    RETURN true;
END $$;
CREATE TABLE errors.a (id serial, x bigint DEFAULT 1);
CREATE INDEX ON errors.a (errors.fail(x)) WHERE id > 0;
INSERT INTO errors.a DEFAULT VALUES;
CREATE TABLE errors.b (id bigserial, CHECK (errors.fail(id)));
RESET ROLE;
CREATE FUNCTION errors.reset() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS errors.c;
    CREATE TABLE errors.c (id serial);
    ALTER TABLE errors.c OWNER TO regress_snowflake_owner;
END $$;
SET client_min_messages = warning;
SET statement_timeout = '5min'; -- instead of for ever
\set VERBOSITY default
SET attack.code = '55P03';
SELECT snowflake.convert_sequence_to_snowflake('errors.b_id_seq');
SELECT errors.reset();
CALL snowflake.convert_all('errors');
SET attack.code = '57014';
SELECT errors.reset();
CALL snowflake.convert_all('errors');
SET attack.code = 'P0004';
SELECT errors.reset();
CALL snowflake.convert_all('errors');
SET attack.code = '55006';
SELECT errors.reset();
CALL snowflake.convert_all('errors');
SET attack.code = 'event';
SELECT errors.reset();
CALL snowflake.convert_all('errors');
\set VERBOSITY terse
RESET statement_timeout;
RESET client_min_messages;

-- A view that is nested as deeply as mallory can have it, on a table that it may not read, is named where it cannot be made again.
RESET ROLE;
CREATE TABLE attack.unread (id serial PRIMARY KEY);
SET ROLE regress_snowflake_mallory;
DO $$
DECLARE
    depth integer := 100;
    step integer := 10240;
BEGIN
    WHILE step > 4 LOOP
        BEGIN
            EXECUTE 'CREATE OR REPLACE VIEW attack.nested AS SELECT id' || repeat('+1', depth + step) || ' AS x FROM attack.unread';
            depth := depth + step;
        EXCEPTION WHEN statement_too_complex THEN
            step := step / 2;
        END;
    END LOOP;
END $$;
RESET ROLE;
DO $$
DECLARE
    detail text;
BEGIN
    PERFORM snowflake.convert_sequence_to_snowflake('attack.unread_id_seq');
EXCEPTION WHEN program_limit_exceeded OR feature_not_supported THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE NOTICE 'is named: %', detail ~* 'view attack[.]nested';
END $$;

SET client_min_messages = warning;
DROP SCHEMA attack, errors, closed, elsewhere, shared, h, "(1); ALTER ROLE regress_snowflake_mallory SUPERUSER; --" CASCADE;
DROP ROLE regress_snowflake_mallory, regress_snowflake_owner;
