-- The rule of trust: nothing runs as a role unless every author whose code it can reach may act for that role. Each
-- attack is made in two orders, for the server evaluates the index with the lower OID first, and keeps the outcome for
-- the session. It is converted with a lock and without a long one, in the session that made it and with a session a
-- command, and with snowflake.convert_new_columns off and on.
\set SHOW_CONTEXT never
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_trust_mallory;
CREATE ROLE regress_trust_leader;
CREATE ROLE regress_trust_member IN ROLE regress_trust_leader;
CREATE SCHEMA trust;
GRANT USAGE ON SCHEMA trust TO PUBLIC;

-- Code of a role tells as whom it runs. No rollback takes back what a sequence has counted.
CREATE SEQUENCE trust.ran_in_trust;
CREATE SEQUENCE trust.ran_as_stranger;
GRANT ALL ON ALL SEQUENCES IN SCHEMA trust TO PUBLIC;
CREATE FUNCTION trust.tell(author name) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF pg_has_role(author, current_user, 'MEMBER') THEN
        PERFORM nextval('trust.ran_in_trust');
    ELSE
        PERFORM nextval('trust.ran_as_stranger');
        RAISE WARNING 'code of % runs as %', author,
            CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN 'superuser' ELSE current_user END;
    END IF;
    RETURN true;
END $$;
DO $$
DECLARE
    author name;
BEGIN
    FOREACH author IN ARRAY '{mallory, leader, member}'::name[] LOOP
        EXECUTE format('CREATE FUNCTION trust.of_%s(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
                            ''BEGIN PERFORM trust.tell(''''regress_trust_%1$s''''); RETURN 0; END'';
                        ALTER FUNCTION trust.of_%1$s(bigint) OWNER TO regress_trust_%1$s', author);
    END LOOP;
END $$;
CREATE FUNCTION trust.diff(bigint, bigint) RETURNS double precision IMMUTABLE LANGUAGE sql
    AS 'SELECT ($1 - $2 + trust.of_mallory(1))::double precision';
ALTER FUNCTION trust.diff(bigint, bigint) OWNER TO regress_trust_mallory;
CREATE FUNCTION trust.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE DOMAIN trust.telling AS integer CHECK (trust.of_mallory(VALUE) = 0);
ALTER DOMAIN trust.telling OWNER TO regress_trust_mallory;

-- The server would run the code itself if it validated a key: keys are marked as valid.
-- What is made first, the hostile objects, and the rest. All sequences to convert are named v_id_seq.
CREATE TABLE trust.attacks (attack text PRIMARY KEY, base text, hostile text, rest text);
INSERT INTO trust.attacks VALUES
    ('range',
     'SET ROLE regress_trust_mallory; CREATE TYPE r AS RANGE (SUBTYPE = bigint, SUBTYPE_DIFF = trust.diff);
      CREATE TABLE v (id serial, x integer); INSERT INTO v (x) SELECT i FROM generate_series(1, 300) i',
     'CREATE INDEX ON v USING gist (r(id, id + x))',
     'ALTER TABLE v ADD PRIMARY KEY (id)'),
    ('indexes',
     'SET ROLE regress_trust_mallory; CREATE TABLE v (id serial PRIMARY KEY CHECK (id > trust.of_mallory(id)), x integer);
      CREATE TABLE k (id integer); INSERT INTO v VALUES (1); INSERT INTO k VALUES (1)',
     'CREATE INDEX ON k ((trust.of_mallory(1) + id)); CREATE INDEX ON v (id) WHERE trust.of_mallory(1) = 0',
     'ALTER TABLE k ADD FOREIGN KEY (id) REFERENCES v NOT VALID'),
    ('key of a stranger',
     'CREATE TABLE v (id serial PRIMARY KEY); GRANT REFERENCES ON v TO PUBLIC; SET ROLE regress_trust_mallory; CREATE TABLE k (id integer)',
     'CREATE INDEX ON k ((trust.of_mallory(1) + id))',
     'ALTER TABLE k ADD FOREIGN KEY (id) REFERENCES v NOT VALID'),
    ('key to a stranger',
     'SET ROLE regress_trust_mallory; CREATE TABLE v (id serial PRIMARY KEY); RESET ROLE; CREATE TABLE k (id integer)',
     'SET ROLE regress_trust_mallory; CREATE INDEX ON v ((trust.of_mallory(1) + id))',
     'RESET ROLE; ALTER TABLE k ADD FOREIGN KEY (id) REFERENCES v NOT VALID'),
    ('key of another column',
     'SET ROLE regress_trust_mallory; CREATE TABLE k (id integer PRIMARY KEY); RESET ROLE; CREATE TABLE v (id serial PRIMARY KEY, k integer)',
     'SET ROLE regress_trust_mallory; CREATE INDEX ON k ((trust.of_mallory(1) + id))',
     'RESET ROLE; ALTER TABLE v ADD FOREIGN KEY (k) REFERENCES k NOT VALID'),
    ('key of a member',
     'SET ROLE regress_trust_leader; CREATE TABLE v (id serial PRIMARY KEY); GRANT REFERENCES ON v TO PUBLIC;
      SET ROLE regress_trust_member; CREATE TABLE k (id integer)',
     'CREATE INDEX ON k ((trust.of_member(1) + id)); SET ROLE regress_trust_leader; CREATE INDEX ON v ((trust.of_leader(1) + id))',
     'SET ROLE regress_trust_member; ALTER TABLE k ADD FOREIGN KEY (id) REFERENCES v NOT VALID'),
    ('key to a member',
     'SET ROLE regress_trust_member; CREATE TABLE v (id serial PRIMARY KEY); GRANT REFERENCES ON v TO PUBLIC;
      SET ROLE regress_trust_leader; CREATE TABLE k (id integer)',
     'CREATE INDEX ON k ((trust.of_leader(1) + id)); SET ROLE regress_trust_member; CREATE INDEX ON v ((trust.of_member(1) + id))',
     'SET ROLE regress_trust_leader; ALTER TABLE k ADD FOREIGN KEY (id) REFERENCES v NOT VALID'),
    ('child',
     'CREATE TABLE v (id serial); CREATE TABLE c () INHERITS (v); ALTER TABLE c OWNER TO regress_trust_mallory; SET ROLE regress_trust_mallory',
     'ALTER TABLE c ADD CHECK (id > trust.of_mallory(1))',
     'CREATE INDEX ON c (id)'),
    ('parent',
     'SET ROLE regress_trust_mallory; CREATE TABLE v (id serial)',
     'SET ROLE regress_trust_mallory; CREATE INDEX ON ONLY v ((trust.of_mallory(1) + id))',
     'RESET ROLE; CREATE TABLE c () INHERITS (v)'),
    ('partition',
     'SET ROLE regress_trust_mallory; CREATE TABLE v (id serial, day bigint) PARTITION BY RANGE (trust.of_mallory(day))',
     'SET ROLE regress_trust_mallory; CREATE INDEX ON ONLY v ((trust.of_mallory(1) + id))',
     'SET ROLE regress_trust_mallory; CREATE TABLE c PARTITION OF v FOR VALUES FROM (0) TO (1); RESET ROLE; ALTER TABLE c OWNER TO CURRENT_USER'),
    ('key to a partition',
     'SET ROLE regress_trust_mallory; CREATE TABLE p (id bigint) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF p FOR VALUES FROM (0) TO (1)',
     'RESET ROLE; ALTER TABLE part OWNER TO regress_trust_mallory; SET ROLE regress_trust_mallory;
      CREATE INDEX ON p ((trust.of_mallory(1) + id)); RESET ROLE; ALTER TABLE part OWNER TO CURRENT_USER',
     'RESET ROLE; ALTER TABLE part OWNER TO CURRENT_USER; CREATE UNIQUE INDEX ON part (id);
      CREATE TABLE v (id serial PRIMARY KEY); ALTER TABLE v ADD FOREIGN KEY (id) REFERENCES part (id) NOT VALID'),
    ('column of a child',
     'SET ROLE regress_trust_mallory; CREATE TABLE p (x bigint, made bigint GENERATED ALWAYS AS (trust.of_mallory(x)) STORED)',
     'SET ROLE regress_trust_mallory; CREATE INDEX ON p ((trust.of_mallory(1) + x))',
     'RESET ROLE; CREATE TABLE v (id serial) INHERITS (p)'),
    ('materialized view',
     'SET ROLE regress_trust_mallory; CREATE TABLE v (id serial)',
     'SET ROLE regress_trust_mallory; CREATE INDEX ON v (id) WHERE trust.of_mallory(1) = 0',
     'RESET ROLE; CREATE MATERIALIZED VIEW c AS SELECT id FROM v WITH NO DATA; UPDATE pg_class SET relispopulated = true WHERE oid = ''c''::regclass'),
    ('trigger',
     'CREATE TABLE v (id serial PRIMARY KEY); GRANT TRIGGER ON v TO PUBLIC; SET ROLE regress_trust_mallory',
     'SET ROLE regress_trust_mallory; CREATE TRIGGER t BEFORE UPDATE OF id ON v FOR EACH ROW WHEN (NEW.id > 0 AND ''{1}''::trust.telling[] IS NOT NULL)
          EXECUTE FUNCTION trust.keep()',
     'RESET ROLE; CREATE INDEX ON v (id)');

CREATE TABLE trust.sequences (attack text, early boolean, seq text, answer text, tried boolean DEFAULT false);
CREATE FUNCTION trust.make() RETURNS void LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
    a trust.attacks;
    schema text;
    n integer := 0;
BEGIN
    DELETE FROM trust.sequences;
    FOR a IN SELECT * FROM trust.attacks ORDER BY attack COLLATE "C" LOOP
        FOR early IN 0 .. 1 LOOP
            n := n + 1;
            schema := 'trust_' || n;
            EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE; CREATE SCHEMA %1$I; GRANT ALL ON SCHEMA %1$I TO PUBLIC', schema);
            PERFORM set_config('search_path', schema, true);
            EXECUTE CASE early WHEN 1 THEN concat_ws(';', a.base, a.hostile, a.rest) ELSE concat_ws(';', a.base, a.rest, a.hostile) END;
            RESET ROLE;
            UPDATE pg_constraint SET convalidated = true WHERE contype = 'f' AND connamespace = schema::regnamespace;
            INSERT INTO trust.sequences VALUES (a.attack, early = 1, schema || '.v_id_seq');
        END LOOP;
    END LOOP;
END $$;

CREATE FUNCTION trust.answer(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE command;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN regexp_replace(replace(coalesce(nullif(detail, ''), SQLERRM), session_user, 'superuser'), 'trust_\d+\.', '', 'g');
END $$;
CREATE FUNCTION trust.convert() RETURNS void LANGUAGE sql SET client_min_messages = warning AS $$
    UPDATE trust.sequences SET answer = trust.answer(format('SELECT snowflake.convert_sequence_to_snowflake(%L)', seq))
$$;
-- Returns the next command of each conversion without a long lock, of those that have one.
CREATE FUNCTION trust.next() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    s trust.sequences;
    command text;
BEGIN
    FOR s IN SELECT * FROM trust.sequences WHERE answer IS NULL ORDER BY attack COLLATE "C", early LOOP
        command := NULL;
        s.answer := trust.answer(format('SELECT snowflake.conversion_plan(%L, online => true)', s.seq));
        IF s.answer = 'done' THEN
            command := (SELECT p.command FROM snowflake.conversion_plan(s.seq::regclass, online => true) p
                            WHERE p.command IS NOT NULL AND NOT (s.tried AND p.command ~ '_rehearse_conversion') ORDER BY step LIMIT 1);
            RETURN QUERY SELECT command WHERE command IS NOT NULL;
        END IF;
        UPDATE trust.sequences x SET answer = CASE WHEN command IS NULL THEN s.answer END, tried = true WHERE x.seq = s.seq;
    END LOOP;
END $$;
-- The answers, each with the orders of creation that it was given for.
CREATE FUNCTION trust.answers(OUT attack text, OUT orders text, OUT answer text) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT attack, string_agg(CASE WHEN early THEN 'early' ELSE 'late' END, ', ' ORDER BY early), answer
        FROM trust.sequences GROUP BY attack, answer ORDER BY attack COLLATE "C", 2
$$;

-- 1. With the setting off, with a lock, in the session that has made it all. Roles that do not meet, or whose authors
-- may act for the other, are converted; all others are obstacles.
SELECT trust.make();
SELECT trust.convert();
SELECT * FROM trust.answers();
CREATE TABLE trust.with_lock AS SELECT * FROM trust.answers();
SELECT is_called AS ran_in_trust FROM trust.ran_in_trust;
SELECT is_called AS ran_as_stranger FROM trust.ran_as_stranger;
-- In a session that has not made it, the same.
SELECT trust.make();
\c -
SELECT trust.convert();
SELECT * FROM trust.answers() EXCEPT SELECT * FROM trust.with_lock;
SELECT is_called AS ran_as_stranger FROM trust.ran_as_stranger;
-- Without a long lock. A foreign key that a conversion with a lock leaves alone, and what does not go without a lock at all, are obstacles here.
SELECT trust.make();
\set ECHO none
\o /dev/null
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
SELECT * FROM trust.next() \gexec
\o
\set ECHO all
-- An index that calls the constructor of a range depends on the range in some versions of the server, and so is refused.
SELECT * FROM (SELECT * FROM trust.answers() EXCEPT SELECT * FROM trust.with_lock) answers
    WHERE attack <> 'range' ORDER BY 1, 2;
CREATE TABLE trust.without_lock AS SELECT * FROM trust.answers();
SELECT is_called AS ran_as_stranger FROM trust.ran_as_stranger;
SELECT count(*) AS unfinished FROM trust.sequences WHERE answer IS NULL;
-- With a session a command, the same.
SELECT trust.make();
\set ECHO none
\o /dev/null
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\c -
SELECT * FROM trust.next() \gexec
\o
\set ECHO all
SELECT * FROM trust.answers() EXCEPT SELECT * FROM trust.without_lock;
SELECT is_called AS ran_as_stranger FROM trust.ran_as_stranger;

-- 2. With the setting on. What cannot be widened stays as the user wrote it.
CREATE FUNCTION trust.new_columns() RETURNS TABLE (attack text, orders text, columns text) LANGUAGE sql AS $$
    SELECT attack, string_agg(CASE WHEN early THEN 'early' ELSE 'late' END, ', ' ORDER BY early), columns
        FROM trust.sequences,
             LATERAL (SELECT string_agg(format('%s.%s %s', c.relname, a.attname, a.atttypid::regtype), ', ' ORDER BY c.relname DESC)
                          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id'
                          WHERE c.relkind IN ('r', 'p') AND c.relnamespace = split_part(seq, '.', 1)::regnamespace) x(columns)
        GROUP BY attack, columns ORDER BY attack COLLATE "C", 2
$$;
SET snowflake.convert_new_columns = on;
SELECT trust.make();
SELECT * FROM trust.new_columns();
SELECT trust.convert();
SELECT * FROM trust.answers();
SELECT is_called AS ran_as_stranger FROM trust.ran_as_stranger;
RESET snowflake.convert_new_columns;
-- LIKE copies expressions of a stranger, and the type of a column brings functions of its own. The server itself runs
-- those of indexes: the setting must not make them run once more.
SET client_min_messages = warning;
CREATE SCHEMA trust_like;
GRANT ALL ON SCHEMA trust_like TO PUBLIC;
SET search_path = trust_like;
SET ROLE regress_trust_mallory;
CREATE TABLE w (id integer GENERATED BY DEFAULT AS IDENTITY CHECK (id > trust.of_mallory(1)), x integer);
CREATE INDEX ON w ((id + trust.of_mallory(1))) WHERE id > trust.of_mallory(2);
CREATE STATISTICS measures ON id, (x + trust.of_mallory(3)) FROM w;
CREATE TYPE r AS RANGE (SUBTYPE = bigint, SUBTYPE_DIFF = trust.diff);
RESET ROLE;
SET client_min_messages = error;
CREATE TABLE not_converted (LIKE w INCLUDING ALL);
SELECT last_value AS by_server FROM trust.ran_as_stranger \gset
SELECT setval('trust.ran_as_stranger', 1, false);
SET snowflake.convert_new_columns = on;
SET client_min_messages = warning;
CREATE TABLE checked (LIKE w INCLUDING CONSTRAINTS INCLUDING IDENTITY);
CREATE TABLE measured (LIKE w INCLUDING STATISTICS INCLUDING IDENTITY);
CREATE TABLE ranged (id serial, x r, EXCLUDE USING gist (x WITH &&));
CREATE TABLE harmless (LIKE w INCLUDING IDENTITY);
SELECT is_called AS ran_as_stranger FROM trust.ran_as_stranger;
SET client_min_messages = error;
CREATE TABLE indexed (LIKE w INCLUDING ALL);
SELECT last_value = :by_server AS only_by_server FROM trust.ran_as_stranger;
SET client_min_messages = warning;
SELECT relname, atttypid::regtype FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
    WHERE relkind = 'r' AND relnamespace = 'trust_like'::regnamespace AND attname = 'id' ORDER BY relname;
RESET snowflake.convert_new_columns;
RESET search_path;

DO $$
DECLARE
    schema name;
BEGIN
    FOR schema IN SELECT nspname FROM pg_namespace WHERE nspname ~ '^trust' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', schema);
    END LOOP;
END $$;
DROP ROLE regress_trust_mallory, regress_trust_leader, regress_trust_member;
