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
-- Ways with the rights of alice, on whom none of the queries depends: views that do not name the number, a rule, a function, a
-- key that cascades, and a parent, which has no trigger.
CREATE VIEW app.payments AS SELECT paid FROM app.guarded;
CREATE FUNCTION app.pay() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN UPDATE app.guarded SET paid = true; RETURN 1; END $$;
CREATE TABLE app.inbox (word text);
CREATE RULE pay AS ON INSERT TO app.inbox DO ALSO UPDATE app.guarded SET paid = true;
GRANT SELECT, UPDATE ON app.payments TO regress_snowflake_mallory;
GRANT INSERT ON app.inbox TO regress_snowflake_mallory;
CREATE TABLE app.forced (id serial PRIMARY KEY, secret text);
INSERT INTO app.forced (secret) SELECT 'forced ' || i FROM generate_series(1, 5) i;
ALTER TABLE app.forced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY hides ON app.forced USING (id > 4);
CREATE VIEW app.of_forced AS SELECT secret FROM app.forced;
GRANT SELECT ON app.of_forced TO regress_snowflake_mallory;
CREATE TABLE app.customers (name text PRIMARY KEY);
INSERT INTO app.customers VALUES ('a'), ('b');
CREATE TABLE app.invoices (id serial PRIMARY KEY, customer text REFERENCES app.customers ON DELETE CASCADE);
INSERT INTO app.invoices (customer) SELECT name FROM app.customers;
CREATE TRIGGER refuse BEFORE DELETE ON app.invoices FOR EACH ROW WHEN (OLD.id > 0) EXECUTE FUNCTION app.refuse();
GRANT SELECT, DELETE ON app.customers TO regress_snowflake_mallory;
CREATE TABLE app.top (paid boolean DEFAULT false);
CREATE TABLE app.below (id serial PRIMARY KEY) INHERITS (app.top);
INSERT INTO app.below SELECT FROM generate_series(1, 3);
CREATE TRIGGER refuse BEFORE UPDATE ON app.below FOR EACH ROW WHEN (NEW.id > 0 AND NEW.paid) EXECUTE FUNCTION app.refuse();
GRANT SELECT, UPDATE ON app.top TO regress_snowflake_mallory;
GRANT SELECT ON app.forced, app.invoices, app.below TO regress_snowflake_mallory;
-- Row-level security of a table that is not converted.
CREATE TABLE app.apart (secret text);
INSERT INTO app.apart VALUES ('apart');
ALTER TABLE app.apart ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY hides ON app.apart USING (false);
CREATE VIEW app.of_apart AS SELECT * FROM app.apart;
GRANT SELECT ON app.of_apart TO regress_snowflake_mallory;
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
        PERFORM lair.try('UPDATE app.payments SET paid = true');
        PERFORM lair.try('SELECT app.pay()');
        PERFORM lair.try('INSERT INTO app.inbox VALUES (1)');
        PERFORM lair.try('INSERT INTO lair.loot SELECT secret FROM app.of_forced');
        PERFORM lair.try('DELETE FROM app.customers');
        PERFORM lair.try('UPDATE app.top SET paid = true');
        PERFORM lair.try('INSERT INTO lair.loot SELECT secret FROM app.of_apart');
        PERFORM lair.try('UPDATE app.many SET paid = true');
        PERFORM lair.try('DELETE FROM app.many');
    END IF;
    RETURN true;
END $$;
CREATE DOMAIN lair.word AS integer CHECK (lair.steal());
CREATE VIEW lair.of_hidden AS SELECT id FROM app.hidden WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_guarded AS SELECT id, CASE WHEN id < 0 THEN app.pay() END FROM app.guarded WHERE '{1}'::lair.word[] IS NOT NULL;
ALTER VIEW lair.of_guarded ALTER COLUMN "case" SET DEFAULT array_length('{1}'::lair.word[], 1);
CREATE VIEW lair.of_forced AS SELECT id FROM app.forced WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_invoices AS SELECT id FROM app.invoices WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_below AS SELECT id FROM app.below WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_kept AS SELECT id FROM app.kept WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_shown AS SELECT id FROM app.shown WHERE '{1}'::lair.word[] IS NOT NULL;
CREATE VIEW lair.of_many AS SELECT id FROM app.many WHERE '{1}'::lair.word[] IS NOT NULL;
-- What mallory may do: read one secret, and delete nothing by way of the rule.
SELECT lair.steal();
SELECT DISTINCT secret FROM lair.loot ORDER BY 1;
SELECT DISTINCT command, sqlstate FROM lair.tries ORDER BY 1, 2;
DELETE FROM lair.loot;
DELETE FROM lair.tries;
RESET ROLE;

-- With a lock, without one, and when a table becomes partitioned.
SELECT snowflake.convert_sequence_to_snowflake('app.hidden_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.guarded_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.forced_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.invoices_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.below_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('app.kept_id_seq');
\o /dev/null
SELECT command FROM snowflake.conversion_plan('app.accounts_id_seq', online => true) WHERE command IS NOT NULL \gexec
\o
SELECT snowflake._limit_ids('app.many', 'id', '1 month', '2080-01-01', 1, false);
SELECT snowflake._validate('app.many', 'snowflake_limit');
SELECT snowflake._partition_table('app.many', 'id', '1 month', '2080-01-01', 1, false);
SELECT DISTINCT command, sqlstate FROM lair.tries ORDER BY 1, 2;
SELECT DISTINCT secret FROM lair.loot ORDER BY 1;
SELECT count(*), count(*) FILTER (WHERE paid) AS paid FROM app.guarded;
SELECT count(*) FROM app.kept;
SELECT count(*) FROM app.invoices;
SELECT count(*), count(*) FILTER (WHERE paid) AS paid FROM app.top;
SELECT count(*), sum(balance) FROM app.accounts;
SELECT snowflake.layout_of('app.accounts_id_seq') IS NOT NULL AS is_converted;
SELECT count(*), count(*) FILTER (WHERE paid) AS paid FROM app.many;
-- What an event trigger does, a superuser has chosen.
CREATE TABLE app.log (id serial PRIMARY KEY, tag text);
GRANT INSERT ON app.log TO PUBLIC;
GRANT USAGE ON SEQUENCE app.log_id_seq TO PUBLIC;
GRANT SELECT ON app.log TO PUBLIC;
SET ROLE regress_snowflake_alice;
CREATE VIEW app.of_log AS SELECT id FROM app.log WHERE id > 0;
RESET ROLE;
CREATE FUNCTION app.note() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO app.log (id, tag) SELECT 1 + coalesce(max(id), 0), current_user FROM app.log; END $$;
CREATE EVENT TRIGGER regress_note ON ddl_command_end EXECUTE FUNCTION app.note();
SELECT snowflake.convert_sequence_to_snowflake('app.log_id_seq');
DROP EVENT TRIGGER regress_note;
DROP FUNCTION app.note;
SELECT DISTINCT tag = 'regress_snowflake_alice' AS is_alice FROM app.log ORDER BY 1;
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
