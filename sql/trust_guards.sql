-- The rule of trust while a conversion has taken away what guards a table or a view: policies, triggers, rules, foreign keys. Code of
-- somebody else that runs meanwhile, here when his view is made again, could do what these forbid.
SET snowflake.node = 1;
SET client_min_messages = warning;
SET timezone = 'UTC';
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_alice;
CREATE ROLE regress_snowflake_mallory;
CREATE SCHEMA app AUTHORIZATION regress_snowflake_alice;
GRANT USAGE ON SCHEMA app TO regress_snowflake_mallory;
CREATE SCHEMA lair AUTHORIZATION regress_snowflake_mallory;
GRANT USAGE ON SCHEMA lair TO PUBLIC;
SET ROLE regress_snowflake_alice;

-- A policy hides rows.
CREATE TABLE app.hidden (id serial PRIMARY KEY, secret text);
INSERT INTO app.hidden (secret) SELECT 'secret ' || i FROM generate_series(1, 5) i;
ALTER TABLE app.hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON app.hidden USING (true);
CREATE POLICY hides ON app.hidden AS RESTRICTIVE USING (id > 4);
GRANT SELECT ON app.hidden TO regress_snowflake_mallory;
-- Triggers refuse an UPDATE and a TRUNCATE, and a foreign key a DELETE.
CREATE FUNCTION app.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
CREATE TABLE app.guarded (id serial PRIMARY KEY, paid boolean DEFAULT false);
INSERT INTO app.guarded SELECT FROM generate_series(1, 3);
CREATE TABLE app.refers (guarded_id integer REFERENCES app.guarded);
INSERT INTO app.refers SELECT id FROM app.guarded;
CREATE TRIGGER refuse BEFORE UPDATE ON app.guarded FOR EACH ROW WHEN (NEW.id > 0 AND NEW.paid) EXECUTE FUNCTION app.refuse();
CREATE TABLE app.kept (id serial PRIMARY KEY);
INSERT INTO app.kept DEFAULT VALUES;
CREATE TRIGGER refuse BEFORE TRUNCATE ON app.kept EXECUTE FUNCTION app.refuse();
GRANT SELECT, UPDATE, DELETE ON app.guarded TO regress_snowflake_mallory;
GRANT SELECT, TRUNCATE ON app.kept TO regress_snowflake_mallory;
-- A view has a trigger and a rule in the place of writing to its table, on which mallory has no right.
CREATE TABLE app.accounts (id serial PRIMARY KEY, balance integer DEFAULT 0);
INSERT INTO app.accounts SELECT FROM generate_series(1, 3);
CREATE VIEW app.shown AS SELECT * FROM app.accounts;
CREATE TRIGGER refuse INSTEAD OF UPDATE ON app.shown FOR EACH ROW EXECUTE FUNCTION app.refuse();
CREATE RULE no_delete AS ON DELETE TO app.shown DO INSTEAD NOTHING;
GRANT SELECT, UPDATE, DELETE ON app.shown TO regress_snowflake_mallory;
-- A table that becomes partitioned.
CREATE TABLE app.many (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), paid boolean DEFAULT false);
INSERT INTO app.many SELECT FROM generate_series(1, 3);
CREATE TABLE app.refers_many (many_id bigint REFERENCES app.many);
INSERT INTO app.refers_many SELECT id FROM app.many;
CREATE TRIGGER refuse BEFORE UPDATE ON app.many FOR EACH ROW EXECUTE FUNCTION app.refuse();
GRANT SELECT, UPDATE, DELETE ON app.many TO regress_snowflake_mallory;

SET ROLE regress_snowflake_mallory;
CREATE TABLE lair.loot (secret text);
CREATE TABLE lair.tries (command text, sqlstate text);
-- Tries what alice forbids, and tells what came of it.
CREATE FUNCTION lair.try(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command;
    INSERT INTO lair.tries VALUES (command, 'done');
EXCEPTION WHEN OTHERS THEN
    INSERT INTO lair.tries VALUES (command, SQLSTATE);
END $$;
CREATE FUNCTION lair.steal() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF current_user = 'regress_snowflake_mallory' THEN
        PERFORM lair.try('INSERT INTO lair.loot SELECT secret FROM app.hidden');
        PERFORM lair.try('UPDATE app.guarded SET paid = true');
        PERFORM lair.try('DELETE FROM app.guarded WHERE id > 2');
        PERFORM lair.try('TRUNCATE app.kept');
        PERFORM lair.try('UPDATE app.shown SET balance = 1000000');
        PERFORM lair.try('DELETE FROM app.shown');
        PERFORM lair.try('UPDATE app.many SET paid = true');
        PERFORM lair.try('DELETE FROM app.many');
    END IF;
    RETURN true;
END $$;
CREATE DOMAIN lair.word AS integer CHECK (lair.steal());
CREATE VIEW lair.of_hidden AS SELECT id FROM app.hidden WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_guarded AS SELECT id FROM app.guarded WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_kept AS SELECT id FROM app.kept WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_shown AS SELECT id FROM app.shown WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_many AS SELECT id FROM app.many WHERE '{1}'::lair.word[] IS NOT NULL;
-- What mallory may do: read one secret, and delete nothing by way of the rule.
SELECT lair.steal();
SELECT DISTINCT secret FROM lair.loot;
SELECT DISTINCT command, sqlstate FROM lair.tries ORDER BY 1, 2;
DELETE FROM lair.loot;
DELETE FROM lair.tries;
RESET ROLE;

-- With a lock, without one, and when a table becomes partitioned.
SELECT snowflake.convert_sequence_to_snowflake('app.hidden_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.guarded_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.kept_id_seq');
\o /dev/null
SELECT command FROM snowflake.conversion_plan('app.accounts_id_seq', online => true) WHERE command IS NOT NULL \gexec
\o
SELECT snowflake._limit_ids('app.many', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('app.many', 'snowflake_limit');
SELECT snowflake._partition_table('app.many', 'id', '1 month', '2080-01-01', 1, false);
SELECT DISTINCT command, sqlstate FROM lair.tries ORDER BY 1, 2;
SELECT DISTINCT secret FROM lair.loot;
SELECT count(*), count(*) FILTER (WHERE paid) AS paid FROM app.guarded;
SELECT count(*) FROM app.kept;
SELECT count(*), sum(balance) FROM app.accounts;
SELECT snowflake.layout_of('app.accounts_id_seq') IS NOT NULL AS is_converted;
SELECT count(*), count(*) FILTER (WHERE paid) AS paid FROM app.many;
-- In a worker that builds an index: the leader waits in the first row for the error of the worker, which reads the others.
CREATE ROLE regress_snowflake_staff;
GRANT regress_snowflake_staff TO regress_snowflake_alice;
GRANT USAGE ON SCHEMA app TO regress_snowflake_staff;
CREATE SCHEMA team AUTHORIZATION regress_snowflake_staff;
SET ROLE regress_snowflake_alice;
CREATE TABLE app.watched (id serial PRIMARY KEY, secret text);
INSERT INTO app.watched (secret) SELECT 'secret ' || i FROM generate_series(1, 5) i;
ALTER TABLE app.watched ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON app.watched USING (true);
CREATE POLICY hides ON app.watched AS RESTRICTIVE USING (id > 4);
GRANT SELECT ON app.watched TO regress_snowflake_staff;
SELECT 'app.watched_id_seq'::regclass::oid AS seq \gset
SET ROLE regress_snowflake_staff;
CREATE FUNCTION team.peek(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    leader constant text := current_setting('regress.leader', true);
BEGIN
    IF leader <> pg_backend_pid()::text THEN
        RAISE EXCEPTION 'a worker has seen % rows', (SELECT count(*) FROM app.watched);
    END IF;
    WHILE leader IS NOT NULL LOOP
        PERFORM pg_sleep(0.01);
    END LOOP;
    RETURN true;
END $$;
CREATE TABLE team.draws (id integer DEFAULT nextval(:'seq'), x text) WITH (parallel_workers = 1, fillfactor = 10);
INSERT INTO team.draws SELECT i, repeat('x', 200) FROM generate_series(1, 30) i;
CREATE INDEX ON team.draws (team.peek(id));
SELECT set_config('regress.leader', pg_backend_pid()::text, false) IS NOT NULL AS is_set;
RESET ROLE;
SET statement_timeout = '10min';
SELECT snowflake.convert_sequence_to_snowflake('app.watched_id_seq');
DROP SCHEMA app, lair, team CASCADE;
DROP ROLE regress_snowflake_alice, regress_snowflake_mallory, regress_snowflake_staff;
