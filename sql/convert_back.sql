-- The way back: the server's own nextval again, above the last ID.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA back;
SET search_path = back;
CREATE TABLE plain (id serial PRIMARY KEY, t text);
CREATE TABLE reference (plain_id integer REFERENCES plain, number text DEFAULT 'N-' || nextval('plain_id_seq'));
CREATE VIEW plain_view AS SELECT id, t FROM plain;
ALTER VIEW plain_view ALTER id SET DEFAULT nextval('plain_id_seq');
CREATE TABLE identity (id integer GENERATED ALWAYS AS IDENTITY);
CREATE SEQUENCE "al'one";
CREATE TABLE parts (id serial, k integer) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF parts DEFAULT;
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('identity_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('"al''one"');
SELECT snowflake.convert_sequence_to_snowflake('parts_id_seq');
INSERT INTO plain (t) VALUES ('snowflake');
INSERT INTO identity DEFAULT VALUES;
INSERT INTO parts DEFAULT VALUES;

SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('identity_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('"al''one"');
SELECT snowflake.convert_snowflake_to_sequence('parts_id_seq');
SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
    WHERE table_schema = 'back' AND column_default IS NOT NULL ORDER BY 1, 2;
SELECT relname, seqincrement FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid
    WHERE relnamespace = 'back'::regnamespace ORDER BY relname COLLATE "C";
INSERT INTO plain (t) VALUES ('after');
INSERT INTO plain_view (t) VALUES ('through the view');
SELECT t, id > lag(id) OVER (ORDER BY t = 'snowflake' DESC, t) AS above FROM plain ORDER BY t = 'snowflake' DESC, t;
INSERT INTO identity DEFAULT VALUES;
SELECT count(*), count(DISTINCT id), min(id) > 1000 AS above FROM identity;
INSERT INTO parts DEFAULT VALUES;
SELECT count(DISTINCT id) FROM parts;
SELECT nextval('"al''one"');

-- Calls with a layout go back as well, and are none of the conversion's business on the way there.
CREATE SEQUENCE tweet_seq;
CREATE TABLE tweet (id bigint PRIMARY KEY DEFAULT snowflake.nextval('tweet_seq', 'twitter'),
                    label text DEFAULT 'T' || snowflake.nextval('tweet_seq', 'twitter'));
SELECT snowflake.convert_sequence_to_snowflake('tweet_seq');
INSERT INTO tweet DEFAULT VALUES
    RETURNING snowflake.get_timestamp(id, 'twitter') > now() - interval '1 minute' AS present;
SELECT nextval('tweet_seq');
SELECT snowflake.convert_snowflake_to_sequence('tweet_seq');
SELECT column_name, column_default FROM information_schema.columns
    WHERE table_schema = 'back' AND table_name = 'tweet' ORDER BY 1;
INSERT INTO tweet DEFAULT VALUES;
SELECT count(*), max(id) = (SELECT last_value - 1 FROM tweet_seq) AS goes_on FROM tweet;

-- Back twice, there again, and back again.
SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('plain_id_seq');
INSERT INTO plain (t) VALUES ('there again') RETURNING snowflake.get_node(id);
SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');

-- Not the caller's, no sequence, the extension's own, used by what cannot be changed.
CREATE VIEW next_one AS SELECT snowflake.nextval('plain_id_seq');
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');
DROP VIEW next_one;
CREATE RULE latest AS ON DELETE TO plain_view DO INSTEAD
    DELETE FROM plain WHERE id = snowflake.currval('plain_id_seq');
SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');
DROP RULE latest ON plain_view;
SELECT snowflake.convert_snowflake_to_sequence('plain');
SELECT snowflake.convert_snowflake_to_sequence('snowflake.id_seq');
CREATE ROLE regress_snowflake_user;
GRANT USAGE ON SCHEMA back TO regress_snowflake_user;
SET ROLE regress_snowflake_user;
SELECT snowflake.convert_snowflake_to_sequence('plain_id_seq');
RESET ROLE;

-- Nothing needs the extension any more.
BEGIN;
DROP EXTENSION snowflake;
INSERT INTO plain (t) VALUES ('without');
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA back CASCADE;
DROP ROLE regress_snowflake_user;
