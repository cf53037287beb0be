-- A superuser widens the tables of a hostile role without a long lock: nothing that the role wrote runs as anybody else.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE hostile_online;
CREATE SCHEMA hostile_online AUTHORIZATION hostile_online;
SET ROLE hostile_online;
SET search_path = hostile_online;
CREATE TABLE seen (place text, who name);
CREATE FUNCTION spy(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    EXECUTE format('INSERT INTO hostile_online.seen VALUES (%L, current_user)', spy.place);
    RETURN true;
EXCEPTION WHEN feature_not_supported OR read_only_sql_transaction OR object_not_in_prerequisite_state THEN
    RETURN true; -- a place where nothing can be written
END $$;
ALTER FUNCTION spy VOLATILE;
CREATE FUNCTION spy_on_constants(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM set_config('hostile.who', concat(current_setting('hostile.who', true), ' ', spy_on_constants.place, ':', current_user), false);
    RETURN true;
END $$;
CREATE FUNCTION spy_on_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hostile_online.seen VALUES (TG_OP, current_user);
    RETURN NEW;
END $$;
CREATE TABLE t (id serial PRIMARY KEY, item text, CHECK (id > 0 AND spy('check')), CHECK (id < 1000 OR spy_on_constants('constant')));
CREATE TABLE r (t_id integer REFERENCES t ON DELETE CASCADE, CHECK (spy('reference') AND t_id > 0));
INSERT INTO t (item) SELECT 'a' FROM generate_series(1, 20);
INSERT INTO r SELECT id FROM t;
CREATE TRIGGER a BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION spy_on_rows();
CREATE TRIGGER b AFTER UPDATE ON t FOR EACH STATEMENT EXECUTE FUNCTION spy_on_rows();
CREATE VIEW v AS SELECT id FROM t WHERE spy('view');
CREATE RULE u AS ON UPDATE TO t DO ALSO SELECT spy('rule');
CREATE INDEX spying ON t ((id > 0 AND spy_on_constants('index')));
-- What takes the place of functions and operators of the server for whoever has the schema in the path.
CREATE FUNCTION lower(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT spy_on_constants(''lower'')::text';
CREATE FUNCTION mod(bigint, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT spy_on_constants(''mod'')::int::bigint';
CREATE OPERATOR % (FUNCTION = mod, LEFTARG = bigint, RIGHTARG = integer);
CREATE INDEX digits ON t ((id % 10), mod(id % 7, 3)) WHERE (coalesce(id, 0) % 3) % 2 = 0;
CREATE DOMAIN spied AS text CHECK (spy_on_constants('domain'));
CREATE INDEX constant ON t ((id::text = 'x'::spied));
TRUNCATE seen;
RESET ROLE;

-- Constants of an index are read, and its expressions evaluated, as the owner of the table.
SELECT role, command ~ 'fill' AS fills FROM snowflake.conversion_plan('hostile_online.t_id_seq', online => true) WHERE role IS NOT NULL;
\set ECHO none
SELECT command FROM snowflake.conversion_plan('hostile_online.t_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
SELECT current_setting('hostile.who', true) ~ current_user AS superuser_was_seen;
DROP INDEX spying; -- The next query would run its function as the superuser.
SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'r'::regclass AND attname = 't_id';
SELECT count(*), sum(id) FROM t;
-- The twin of an index means the server's operators, though the caller's search_path has nearer ones.
SELECT pg_get_indexdef('digits'::regclass);
-- The checks ran, as their owner. The triggers and the rule did not.
SELECT DISTINCT place, who FROM seen ORDER BY 1;
RESET search_path;
DROP SCHEMA hostile_online CASCADE;
DROP ROLE hostile_online;

-- A holder of TRIGGER makes triggers that look like those of a conversion. Only what the owner of the table alone can have
-- made is believed: no column of the owner changes, nothing is held up, and INSERTs go on.
CREATE ROLE online_owner;
CREATE ROLE online_forger;
CREATE SCHEMA forged;
GRANT USAGE, CREATE ON SCHEMA forged TO online_owner, online_forger;
SET search_path = forged;
CREATE FUNCTION make(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (id serial PRIMARY KEY, innocent bigint DEFAULT 7, small smallint DEFAULT 1, '
                   'CONSTRAINT larger CHECK (id + 100 > small))', name);
    EXECUTE format('GRANT TRIGGER ON %I TO online_forger', name);
    EXECUTE format('INSERT INTO %I SELECT FROM generate_series(1, 10)', name);
END $$;
CREATE FUNCTION forge(tab text, name text, condition text, sequence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL ROLE online_forger;
    EXECUTE format('CREATE OR REPLACE TRIGGER %I BEFORE INSERT OR UPDATE ON forged.%I FOR EACH ROW %s EXECUTE FUNCTION snowflake._keep_shadow(%L)',
                   name, tab, 'WHEN (' || condition || ')', sequence);
    RESET ROLE;
END $$;
-- Of an innocent column: with any name, with the name and sequence of a conversion, without a condition.
CREATE FUNCTION forge_before(tab text) RETURNS void LANGUAGE sql AS $$
    SELECT forged.forge(tab, 'a', 'NEW.innocent IS DISTINCT FROM NEW.id', 'forged.elsewhere');
    SELECT forged.forge(tab, '~snowflake_id', 'NEW.innocent IS DISTINCT FROM NEW.id', format('forged.%s_id_seq', tab));
    SELECT forged.forge(tab, '~snowflake_idz', 'NEW.innocent IS DISTINCT FROM NEW.small', 'a.b.c.d');
    SELECT forged.forge(tab, '~z', NULL, '');
$$;
-- Of the shadow: for another sequence, and from a column that a check compares with it in another way.
CREATE FUNCTION forge_after(tab text) RETURNS void LANGUAGE sql AS $$
    SELECT forged.forge(tab, '~snowflake_id2', 'NEW.snowflake_id IS DISTINCT FROM NEW.id', 'forged.elsewhere');
    SELECT forged.forge(tab, '~snowflake_id3', 'NEW.snowflake_id IS DISTINCT FROM NEW.small', format('forged.%s_id_seq', tab));
$$;
CREATE FUNCTION next_step(seq text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT command FROM snowflake.conversion_plan(seq::regclass, online => true) WHERE command IS NOT NULL ORDER BY step LIMIT 1
$$;
GRANT ALL ON ALL FUNCTIONS IN SCHEMA forged TO PUBLIC;
SET ROLE online_owner;
SELECT make(name) FROM unnest('{ordinary,locked,cancelled,checked}'::text[]) name;
CREATE SEQUENCE elsewhere;
-- The other parts are there, under names of the owner's own.
ALTER TABLE checked ALTER innocent DROP DEFAULT;
UPDATE checked SET innocent = id;
ALTER TABLE checked ADD CONSTRAINT same CHECK (innocent IS NOT DISTINCT FROM id);
RESET ROLE;
SELECT make(name) FROM unnest('{super}'::text[]) name;
SELECT forge_before(name) FROM unnest('{ordinary,locked,cancelled,checked,super}'::text[]) name;

INSERT INTO ordinary DEFAULT VALUES RETURNING *;
SELECT * FROM snowflake.conversions;
SELECT object, finding, command FROM snowflake.check() WHERE object ~ 'ordinary|checked';
BEGIN;
DROP EXTENSION snowflake CASCADE;
ROLLBACK;

-- The owner converts, in one session. The forger goes on meanwhile, and takes even the trigger of the conversion.
SET ROLE online_owner;
SELECT command FROM snowflake.conversion_plan('ordinary_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step;
SELECT snowflake._add_shadows('ordinary_id_seq', 'ordinary');
RESET ROLE;
SELECT forge_after('ordinary');
INSERT INTO ordinary DEFAULT VALUES RETURNING *;
UPDATE ordinary SET small = 2 WHERE id = 12 RETURNING *;
SELECT sequence, column_name, new_column FROM snowflake.conversions;
SELECT object, command FROM snowflake.check() WHERE object ~ 'ordinary';
SET ROLE online_owner;
SELECT snowflake.cancel_conversion('elsewhere');
RESET ROLE;
SELECT forge('ordinary', '~snowflake_id', 'NEW.snowflake_id IS DISTINCT FROM NEW.id', 'forged.elsewhere');
INSERT INTO ordinary DEFAULT VALUES RETURNING *;
SELECT * FROM snowflake.conversions;
SELECT object, finding, command FROM snowflake.check() WHERE object ~ 'column .*ordinary';
SET ROLE online_owner;
SELECT snowflake.cancel_conversion('elsewhere');
\set ECHO none
SELECT command FROM snowflake.conversion_plan('ordinary_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
INSERT INTO ordinary DEFAULT VALUES RETURNING snowflake.get_node(id), innocent, small;
\d ordinary
SELECT count(*), sum(innocent) FROM ordinary;
SELECT snowflake.convert_snowflake_to_sequence('ordinary_id_seq');
INSERT INTO ordinary DEFAULT VALUES RETURNING innocent, small;
-- With a lock.
SELECT snowflake.convert_sequence_to_snowflake('locked_id_seq');
INSERT INTO locked DEFAULT VALUES RETURNING innocent, small;
-- Taken back.
SELECT snowflake._add_shadows('cancelled_id_seq', 'cancelled');
RESET ROLE;
SELECT forge_after('cancelled');
SET ROLE online_owner;
SELECT snowflake.cancel_conversion('cancelled_id_seq');
INSERT INTO cancelled DEFAULT VALUES RETURNING *;
SELECT count(*), sum(innocent) FROM cancelled;
-- A column that the owner compares otherwise.
\set ECHO none
SELECT command FROM snowflake.conversion_plan('checked_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'checked'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY 1;
SELECT count(*), count(*) FILTER (WHERE innocent = id) AS same FROM checked;
RESET ROLE;

-- A superuser's table, a session a command. The forger takes the trigger of the conversion for the innocent column.
\set ECHO none
\c -
SELECT forged.next_step('forged.super_id_seq') \gexec
\c -
SELECT snowflake._add_shadows('forged.super_id_seq', 'forged.super');
\c -
SELECT forged.forge_after('super');
SELECT forged.forge('super', '~snowflake_id', 'NEW.innocent IS DISTINCT FROM NEW.id', 'forged.elsewhere');
\c -
SELECT forged.next_step('forged.super_id_seq') \gexec
\c -
INSERT INTO forged.super DEFAULT VALUES RETURNING *;
\c -
SELECT forged.next_step('forged.super_id_seq') \gexec
\c -
SELECT forged.next_step('forged.super_id_seq') \gexec
\c -
SELECT forged.next_step('forged.super_id_seq') \gexec
\c -
SELECT forged.next_step('forged.super_id_seq') \gexec
\c -
\set ECHO all
SET search_path = forged;
SET client_min_messages = warning;
SELECT next_step('super_id_seq');
SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'super'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY 1;
INSERT INTO super DEFAULT VALUES RETURNING snowflake.get_node(id), innocent, small;
SELECT count(*), sum(innocent) FROM super;
SELECT snowflake.convert_snowflake_to_sequence('super_id_seq');

-- On a table of the forger's own, with all parts but a sequence whose conversion takes the table along.
SET ROLE online_forger;
CREATE TABLE own (id integer, snowflake_id bigint, CONSTRAINT snowflake_id CHECK (snowflake_id IS NOT DISTINCT FROM id));
CREATE FUNCTION block(sequence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER x BEFORE INSERT OR UPDATE ON forged.own FOR EACH ROW '
                   'WHEN (NEW.snowflake_id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION snowflake._keep_shadow(%L)', sequence);
    ALTER TABLE forged.own ENABLE ALWAYS TRIGGER x;
END $$;
SELECT block('forged.super_id_seq');
INSERT INTO own VALUES (1) RETURNING *;
RESET ROLE;
SELECT * FROM snowflake.conversions;
SELECT snowflake.cancel_conversion('super_id_seq');
BEGIN;
DROP EXTENSION snowflake CASCADE;
ROLLBACK;
SET ROLE online_forger;
-- A sequence that is not there may have been dropped since: the extension stays until the HINT is typed.
SELECT block('no.such.sequence.here');
RESET ROLE;
BEGIN;
DROP EXTENSION snowflake CASCADE;
ROLLBACK;
SELECT object, finding FROM snowflake.check() WHERE object ~ 'forged.own';
-- A sequence of the forger's makes it a conversion, which ends as the HINT says.
SET ROLE online_forger;
CREATE SEQUENCE own_seq;
SELECT block('forged.own_seq');
RESET ROLE;
DROP EXTENSION snowflake CASCADE;
SELECT snowflake.cancel_conversion(seq) FROM (SELECT DISTINCT sequence::regclass FROM snowflake.conversions) c(seq);
BEGIN;
DROP EXTENSION snowflake CASCADE;
ROLLBACK;
\d own
-- To open an index for the filling evaluates what is constant in it, under the same ban.
SET ROLE online_owner;
CREATE TABLE filled (id serial PRIMARY KEY, n integer);
CREATE FUNCTION folded(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION make_table() RETURNS void LANGUAGE plpgsql AS 'BEGIN CREATE TABLE forged.made (); END';
CREATE INDEX folding ON filled ((n + folded(1)));
INSERT INTO filled (n) VALUES (1);
SELECT snowflake._add_shadows('filled_id_seq', 'filled');
CREATE OR REPLACE FUNCTION folded(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN PERFORM forged.make_table(); RETURN 1; END $$;
ALTER INDEX folding SET (fillfactor = 90); -- sessions read it again
RESET ROLE;
CALL snowflake._fill_shadows('filled_id_seq', 'filled');
SET ROLE online_owner;
CREATE OR REPLACE FUNCTION folded(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN RAISE lock_not_available; END $$;
ALTER INDEX folding SET (fillfactor = 80);
RESET ROLE;
CALL snowflake._fill_shadows('filled_id_seq', 'filled');
DROP TABLE filled;
-- A partition has its shadows from the whole, or none.
SET ROLE online_forger;
CREATE TABLE parted (id integer, other bigint) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
CREATE TRIGGER x BEFORE INSERT OR UPDATE ON parted FOR EACH ROW
    WHEN (NEW.other IS DISTINCT FROM NEW.id OR NEW.id IS NULL) EXECUTE FUNCTION snowflake._keep_shadow('forged.own_seq');
ALTER TABLE parted ENABLE ALWAYS TRIGGER x;
ALTER TABLE parted_1 ADD CONSTRAINT snowflake_x CHECK (other IS NOT DISTINCT FROM id);
RESET ROLE;
SELECT * FROM snowflake.conversions;
BEGIN;
DROP EXTENSION snowflake CASCADE;
ROLLBACK;
SELECT object, command FROM snowflake.check() WHERE object ~ 'parted';
DROP TABLE parted;
-- A temporary table takes part in nothing, and holds up nothing.
SET ROLE online_forger;
CREATE TEMPORARY TABLE fleeting (id integer, snowflake_id bigint, CONSTRAINT snowflake_id CHECK (snowflake_id IS NOT DISTINCT FROM id));
CREATE TRIGGER x BEFORE INSERT OR UPDATE ON fleeting FOR EACH ROW
    WHEN (NEW.snowflake_id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION snowflake._keep_shadow('no.such.sequence.here');
ALTER TABLE fleeting ENABLE ALWAYS TRIGGER x;
RESET ROLE;
SELECT object FROM snowflake.check() WHERE object ~ 'fleeting';
BEGIN;
DROP EXTENSION snowflake CASCADE;
ROLLBACK;
-- An index on the new column, whose function fails as if a lock could not be had, ends the filling.
SET ROLE online_forger;
CREATE FUNCTION fail(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE endless (id serial);
INSERT INTO endless DEFAULT VALUES;
RESET ROLE;
SELECT snowflake._add_shadows('endless_id_seq', 'endless');
SET ROLE online_forger;
CREATE INDEX ON endless (fail(snowflake_id));
CREATE OR REPLACE FUNCTION fail(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF $1 IS NOT NULL THEN
        RAISE EXCEPTION 'no lock' USING ERRCODE = '55P03';
    END IF;
    RETURN $1;
END $$;
RESET ROLE;
SET statement_timeout = '5min';
CALL snowflake._fill_shadows('endless_id_seq', 'endless');
RESET statement_timeout;
DROP TABLE endless, fleeting;
-- What a stranger has made on a new column goes with it by the command in the hint alone.
SET ROLE online_owner;
CREATE TABLE held (id serial PRIMARY KEY, x integer);
GRANT SELECT, TRIGGER ON held TO online_forger;
SET ROLE online_forger;
CREATE FUNCTION passes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER "~snowflake_id" AFTER DELETE ON held EXECUTE FUNCTION passes();
SET ROLE online_owner;
SELECT count(*) FROM snowflake.conversion_plan('held_id_seq', online => true);
DROP TRIGGER "~snowflake_id" ON held;
SELECT snowflake._add_shadows('held_id_seq', 'held');
SET ROLE online_forger;
CREATE VIEW holds AS SELECT snowflake_id FROM held;
CREATE TRIGGER holds AFTER UPDATE OF snowflake_id ON held FOR EACH ROW EXECUTE FUNCTION passes();
SET ROLE online_owner;
CREATE TABLE heir () INHERITS (held);
SELECT snowflake.cancel_conversion('held_id_seq');
ALTER TABLE forged.held DROP COLUMN snowflake_id CASCADE;
INSERT INTO held DEFAULT VALUES RETURNING *;
SELECT snowflake.cancel_conversion('held_id_seq');
SELECT attrelid::regclass, attname FROM pg_attribute
    WHERE attrelid IN ('held'::regclass, 'heir'::regclass) AND attnum > 0 AND NOT attisdropped ORDER BY 1, attnum;
RESET ROLE;
DROP TABLE held CASCADE;
-- A view with fewer columns cannot stand for another: the server would print columns of a join that are not there.
CREATE VIEW wide AS SELECT 1 AS a, 2 AS b, 3 AS c;
CREATE VIEW wide_too AS SELECT 1 AS a, 2 AS b, 3 AS c;
CREATE VIEW narrow AS SELECT 1 AS a;
CREATE VIEW joined AS SELECT 1 AS one FROM wide FULL JOIN wide_too USING (a, b, c);
SELECT x.query FROM snowflake._query_on_twins('joined', '{}', '{}', '{}', ARRAY['wide'::regclass, 'wide_too'::regclass]::oid[],
                                              ARRAY['narrow'::regclass, 'wide'::regclass]::oid[]) x;
DROP VIEW joined, wide, wide_too, narrow;
-- The owner of a partition alone fills no column of the bound: the row would not be found any more.
CREATE TABLE bounded (source integer, s bigint) PARTITION BY LIST (s);
CREATE TABLE bounded_1 PARTITION OF bounded FOR VALUES IN (1);
ALTER TABLE bounded_1 OWNER TO online_owner;
SET ROLE online_owner;
INSERT INTO bounded_1 VALUES (7, 1);
ALTER TABLE bounded_1 ADD CONSTRAINT snowflake_x CHECK (s IS NOT DISTINCT FROM source) NOT VALID;
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON bounded_1 FOR EACH ROW WHEN (NEW.s IS DISTINCT FROM NEW.source OR NEW.source IS NULL)
    EXECUTE FUNCTION snowflake._keep_shadow();
ALTER TABLE bounded_1 ENABLE ALWAYS TRIGGER t;
SELECT * FROM snowflake._fill_pages('bounded_1', 0, 10, false);
TABLE bounded_1;
RESET ROLE;
DROP TABLE bounded;
-- A publication that lists a new column would lose the table.
CREATE TABLE listed (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('listed_id_seq', 'listed');
SET client_min_messages = error; -- of wal_level
CREATE PUBLICATION regress_snowflake_listing FOR TABLE listed (id, snowflake_id);
SET client_min_messages = warning;
SELECT snowflake.cancel_conversion('listed_id_seq');
DROP PUBLICATION regress_snowflake_listing;
SELECT snowflake.cancel_conversion('listed_id_seq');
DROP TABLE listed;
-- Foreign keys and views of a stranger, with the names of twins, do not hold up the end of a conversion. To cancel it drops no view of
-- his; whoever types the hint does.
CREATE FUNCTION prepare(seq regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT command FROM snowflake.conversion_plan(seq, online => true) WHERE command !~ 'convert_sequence' ORDER BY step
$$;
CREATE FUNCTION build_on(tab text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE forged.refers_to_%s (x bigint CONSTRAINT snowflake_0123456789abcdef REFERENCES forged.%1$s (snowflake_id))', tab);
    EXECUTE format('CREATE VIEW forged.snowflake_0123456789abcde%s AS SELECT snowflake_id FROM forged.%s', length(tab) % 10, tab);
    EXECUTE format('CREATE VIEW forged.on_%s AS SELECT * FROM forged.snowflake_0123456789abcde%s', tab, length(tab) % 10);
END $$;
SET ROLE online_owner;
CREATE TABLE swapped (id serial PRIMARY KEY);
CREATE TABLE taken_back (id serial PRIMARY KEY);
GRANT REFERENCES, SELECT ON swapped, taken_back TO online_forger;
\set ECHO none
SELECT prepare(seq) FROM unnest('{swapped_id_seq,taken_back_id_seq}'::regclass[]) seq \gexec
\set ECHO all
SET ROLE online_forger;
SELECT build_on(tab) FROM unnest('{swapped,taken_back}'::text[]) tab;
SET ROLE online_owner;
SELECT snowflake.convert_sequence_to_snowflake('swapped_id_seq', online => true);
SELECT snowflake.cancel_conversion('taken_back_id_seq');
ALTER TABLE forged.taken_back DROP COLUMN snowflake_id CASCADE;
INSERT INTO taken_back DEFAULT VALUES RETURNING *;
SELECT snowflake.cancel_conversion('taken_back_id_seq');
\set ECHO none
SELECT prepare('taken_back_id_seq') \gexec
\set ECHO all
SET ROLE online_forger;
DROP TABLE refers_to_taken_back; -- which has lost its key
SELECT build_on('taken_back');
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('taken_back_id_seq', online => true);
SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'snowflake_0123456789abcdef' ORDER BY 1;
SELECT relname, regexp_replace(pg_get_viewdef(oid), 'snowflake_[0-9a-f]{16}[.]', '') AS pg_get_viewdef
    FROM pg_class WHERE relname LIKE 'on\_%' AND relnamespace = 'forged'::regnamespace ORDER BY 1;
DROP TABLE swapped, taken_back CASCADE;
-- Nor does a trigger on a partition, with the name of that of the conversion.
SET ROLE online_owner;
CREATE TABLE whole (id serial, day date NOT NULL, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE part PARTITION OF whole DEFAULT;
GRANT TRIGGER ON part TO online_forger;
RESET ROLE;
SELECT forge('part', '~snowflake_id', 'NEW.id IS NULL', 'forged.whole_id_seq');
SET ROLE online_owner;
SELECT snowflake._add_shadows('whole_id_seq', 'whole');
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgrelid IN ('whole'::regclass, 'part'::regclass) ORDER BY 1;
-- A column of a partition is dropped with that of the whole.
GRANT SELECT ON part TO online_forger;
SET ROLE online_forger;
CREATE VIEW of_part AS SELECT * FROM part;
SET ROLE online_owner;
SELECT snowflake.cancel_conversion('whole_id_seq');
ALTER TABLE forged.whole DROP COLUMN snowflake_id CASCADE;
RESET ROLE;
DROP TABLE whole;
-- Rights on a shadow are none on the column that it becomes.
SET ROLE online_owner;
CREATE TABLE shown (id serial);
GRANT SELECT (id) ON shown TO online_forger;
SELECT snowflake._add_shadows('shown_id_seq', 'shown');
GRANT UPDATE (snowflake_id), INSERT (snowflake_id) ON shown TO online_forger WITH GRANT OPTION;
SET ROLE online_forger;
GRANT UPDATE (snowflake_id) ON shown TO PUBLIC;
RESET ROLE;
CALL snowflake._fill_shadows('shown_id_seq', 'shown');
SELECT snowflake.convert_sequence_to_snowflake('shown_id_seq', online => true);
SELECT attname, attacl FROM pg_attribute WHERE attrelid = 'shown'::regclass AND attnum > 0 AND NOT attisdropped;
DROP TABLE shown;
-- Views that any role can make take long to be found: meanwhile others read and write the table.
CREATE TABLE viewed (id serial PRIMARY KEY);
SET ROLE online_forger;
DO $$BEGIN
    FOR n IN 1..400 LOOP
        EXECUTE format('CREATE VIEW forged.view_%s AS SELECT id FROM viewed', n);
    END LOOP;
END$$;
RESET ROLE;
BEGIN;
SELECT (snowflake._state_under_locks(snowflake._request('viewed_id_seq', stage => 'shadows', tab => 'viewed'), '1 min')).altered;
SELECT mode FROM pg_locks WHERE relation = 'viewed'::regclass AND pid = pg_backend_pid() AND mode <> 'AccessShareLock' ORDER BY mode;
COMMIT;
DROP TABLE viewed CASCADE;
-- Of a table with many marks each is looked at once: its owner holds up nobody else.
CREATE TABLE many (a int, b int, c int, d int, snowflake_a bigint, snowflake_b bigint, snowflake_c bigint, snowflake_d bigint);
DO $$
DECLARE
    col name;
BEGIN
    FOREACH col IN ARRAY '{a,b,c,d}'::name[] LOOP
        EXECUTE format('ALTER TABLE many ADD CONSTRAINT snowflake_%s CHECK (snowflake_%1$s IS NOT DISTINCT FROM %1$s)', col);
        EXECUTE format('CREATE TRIGGER %s BEFORE INSERT OR UPDATE ON many FOR EACH ROW WHEN (NEW.%1$s IS DISTINCT FROM NEW.snowflake_%1$s)
                            EXECUTE FUNCTION snowflake._keep_shadow(''forged.s'')', col);
        EXECUTE format('ALTER TABLE many ENABLE ALWAYS TRIGGER %s', col);
    END LOOP;
END $$;
BEGIN;
SET LOCAL track_functions = 'all';
SELECT count(*) FROM snowflake._shadow_pairs(ARRAY['many'::regclass]);
SELECT calls FROM pg_stat_xact_user_functions WHERE funcname = '_columns_of_trigger';
ROLLBACK;
DROP TABLE many;
-- A stranger who takes the name of a twin before it is built, and gives it back.
CREATE TABLE named (id serial PRIMARY KEY);
ALTER TABLE named OWNER TO online_owner;
SELECT (regexp_match(command, 'snowflake_[0-9a-f]{16}'))[1] AS twin FROM snowflake.conversion_plan('named_id_seq', online => true)
    WHERE command ~ '^REINDEX' \gset
CREATE TABLE :twin ();
\set ECHO none
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\set ECHO all
DROP TABLE :twin;
SELECT command FROM snowflake.conversion_plan('named_id_seq', online => true) WHERE command IS NOT NULL ORDER BY step \gexec
DROP TABLE named;
-- An index that comes while shadows are filled, with a type whose owner can put code into it.
SET ROLE online_forger;
CREATE DOMAIN later AS text;
RESET ROLE;
CREATE TABLE filled (id serial, item text);
ALTER TABLE filled OWNER TO online_owner;
INSERT INTO filled (item) VALUES ('apple');
SELECT snowflake._add_shadows('filled_id_seq', 'filled');
DO $$
DECLARE
    progress snowflake._fill_progress := snowflake._fill_begin('forged.filled_id_seq', 'forged.filled', '0', NULL, 'forged');
BEGIN
    progress := snowflake._fill_next(progress);
    RAISE WARNING 'rows that were filled: %', progress.rows;
    CREATE INDEX late ON forged.filled ((item::forged.later));
    progress := snowflake._fill_next(progress);
END $$;
DROP TABLE filled;
-- A role that is revoked while shadows are filled.
CREATE TABLE filled (id serial, item text, CHECK (item::later <> ''));
ALTER TABLE filled OWNER TO online_owner;
GRANT online_owner TO online_forger;
INSERT INTO filled (item) VALUES ('apple');
SELECT snowflake._add_shadows('filled_id_seq', 'filled');
DO $$
BEGIN
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
    REVOKE online_owner FROM online_forger;
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
END $$;
REVOKE online_owner FROM online_forger;
DROP TABLE filled;
-- A type that is given to another, and the right to make foreign keys on a table that a check writes to.
SET ROLE online_owner;
CREATE DOMAIN given AS text;
CREATE TABLE audited (a bigint PRIMARY KEY);
CREATE FUNCTION note(bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC DELETE FROM forged.audited WHERE a = $1; SELECT true; END;
CREATE TABLE filled (id serial, item text, CHECK (item::given <> ''), CHECK (note(id)));
RESET ROLE;
SELECT snowflake._add_shadows('filled_id_seq', 'filled');
DO $$
BEGIN
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
    ALTER DOMAIN forged.given OWNER TO online_forger;
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
END $$;
DO $$
BEGIN
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
    GRANT REFERENCES (a) ON forged.audited TO online_forger;
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
END $$;
DROP TABLE filled;
DROP FUNCTION note;
DROP TABLE audited;
DROP DOMAIN given;
-- What a check writes to references a table, and is referenced: to look for a key is to plan a query on either.
SET ROLE online_owner;
CREATE TABLE looked_up (id bigint PRIMARY KEY, item text);
CREATE TABLE audited (a bigint PRIMARY KEY REFERENCES looked_up);
CREATE TABLE looks (a bigint REFERENCES audited, item text);
CREATE FUNCTION note(bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC INSERT INTO forged.audited VALUES ($1); SELECT true; END;
CREATE TABLE noted (id serial, CHECK (note(id)));
RESET ROLE;
CREATE INDEX late ON looked_up ((item::later));
SELECT snowflake.convert_sequence_to_snowflake('noted_id_seq');
DROP INDEX late;
CREATE INDEX late ON looks ((item::later));
SELECT snowflake.convert_sequence_to_snowflake('noted_id_seq');
DROP TABLE noted;
DROP FUNCTION note;
DROP TABLE looks, audited, looked_up;
-- A check of a partitioned table is validated with the partitions.
CREATE TABLE filled (id serial, item text) PARTITION BY LIST (item);
CREATE TABLE filled_part PARTITION OF filled DEFAULT;
ALTER TABLE filled OWNER TO online_owner;
ALTER TABLE filled_part OWNER TO online_owner;
SELECT snowflake._add_shadows('filled_id_seq', 'filled');
DO $$
BEGIN
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
    CREATE INDEX late ON forged.filled_part ((item::forged.later));
    PERFORM snowflake._require_authors_on(ROW('forged.filled', 'ROW EXCLUSIVE', '{}', 'cannot convert', NULL));
END $$;
DROP TABLE filled;
-- A foreign key of a superuser's table, which has no column that is replaced: to validate it reads the other's table as the superuser.
CREATE TABLE keyed (id serial PRIMARY KEY);
ALTER TABLE keyed OWNER TO online_owner;
CREATE TABLE keying (x bigint REFERENCES keyed);
SELECT * FROM snowflake.conversion_plan('keyed_id_seq', online => true);
-- One that is not valid stays so.
ALTER TABLE keying DROP CONSTRAINT keying_x_fkey, ADD CONSTRAINT not_valid FOREIGN KEY (x) REFERENCES keyed NOT VALID;
SELECT count(*) AS validations FROM snowflake.conversion_plan('keyed_id_seq', online => true) WHERE command LIKE '%not_valid%';
DROP TABLE keyed, keying;
CREATE TABLE keyed (id serial, item text, PRIMARY KEY (id, item)) PARTITION BY LIST (item);
ALTER TABLE keyed OWNER TO online_owner;
CREATE TABLE keying (x bigint, item text, FOREIGN KEY (x, item) REFERENCES keyed);
SELECT * FROM snowflake.conversion_plan('keyed_id_seq', online => true);
DROP TABLE keyed, keying;
-- To validate a foreign key is to plan a query on both tables.
CREATE TABLE validated (id integer PRIMARY KEY, item text);
CREATE TABLE validating (id integer CONSTRAINT to_validate REFERENCES validated);
CREATE INDEX late ON validated ((item::later));
ALTER TABLE validated OWNER TO online_owner;
ALTER TABLE validating OWNER TO online_owner;
SELECT snowflake._validate('validating', 'to_validate');
DROP TABLE validated, validating;
DROP DOMAIN later;
-- A role without the right to use the schema of the extension drops what is its own, and is told why it drops no more.
CREATE ROLE online_dropper;
CREATE SCHEMA "of the snowflake" AUTHORIZATION online_dropper;
REVOKE USAGE ON SCHEMA snowflake FROM PUBLIC;
SET ROLE online_dropper;
DO $$ BEGIN EXECUTE 'DROP OWNED BY ' || 'CURRENT_USER'; END $$;
DROP SCHEMA snowflake;
RESET ROLE;
CREATE SCHEMA "of the snowflake" AUTHORIZATION online_dropper;
CREATE TABLE begun (id serial PRIMARY KEY);
SELECT snowflake._add_shadows('begun_id_seq', 'begun');
SET ROLE online_dropper;
DROP SCHEMA snowflake;
DROP SCHEMA "of the snowflake";
DROP OWNED BY CURRENT_USER;
RESET ROLE;
DROP ROLE online_dropper;
GRANT USAGE ON SCHEMA snowflake TO PUBLIC;
DROP SCHEMA forged CASCADE;
DROP ROLE online_owner, online_forger;
