-- A schema without foreign keys, as some frameworks make it: the application alone knows which column refers to what.
SET snowflake.node = 1;
SET client_min_messages = warning;
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE SCHEMA tracker;
CREATE SCHEMA tracker_log;
SET search_path = tracker;
CREATE TABLE users (id serial PRIMARY KEY, login text);
CREATE TABLE projects (id serial PRIMARY KEY, name text, parent_id integer, lft integer, inherit_members boolean DEFAULT true);
CREATE TABLE issues (id serial PRIMARY KEY, project_id integer NOT NULL, author_id integer DEFAULT 0 NOT NULL, assigned_to_id integer,
                     parent_id integer, root_id integer, done integer DEFAULT 0, watcher_ids integer[]);
CREATE TABLE watchers (id serial PRIMARY KEY, watchable_type text DEFAULT '' NOT NULL, watchable_id integer DEFAULT 0 NOT NULL, user_id integer);
CREATE TABLE projects_trackers (project_id integer DEFAULT 0 NOT NULL, tracker_id integer DEFAULT 0 NOT NULL);
CREATE TABLE tokens (id serial PRIMARY KEY, user_id integer REFERENCES users, valid integer, void integer);
CREATE TABLE tracker_log.entries (entry serial, issue_id integer, issue integer);
CREATE DOMAIN reference AS integer;
CREATE TABLE journals (journalized_id reference, user_id integer);
CREATE INDEX ON issues (project_id, root_id);
CREATE UNIQUE INDEX ON projects_trackers (project_id, tracker_id);
CREATE INDEX ON watchers (watchable_id, watchable_type);
CREATE VIEW open_issues AS SELECT i.id, p.name, i.author_id FROM issues i JOIN projects p ON p.id = i.project_id;
INSERT INTO users (login) VALUES ('admin'), ('guest');
INSERT INTO projects (name) VALUES ('one'), ('two');
INSERT INTO issues (project_id, author_id, root_id) VALUES (1, 1, 1), (2, 1, 2);
INSERT INTO watchers (watchable_type, watchable_id, user_id) VALUES ('Issue', 1, 2);
INSERT INTO projects_trackers VALUES (1, 1), (2, 1);
CREATE VIEW integers AS
    SELECT string_agg(attrelid::regclass || '.' || attname, ', ' ORDER BY attrelid::regclass::text COLLATE "C", attnum) AS left_as_they_are
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE relkind = 'r' AND relnamespace IN ('tracker'::regnamespace, 'tracker_log'::regnamespace) AND atttypid = 'integer'::regtype;

-- What is named is widened along with the key, in the schema of the sequence: _ is itself, and % stands for any characters.
SELECT command FROM snowflake.conversion_plan('projects_id_seq', also => '%_id') WHERE command ~ 'TYPE' ORDER BY step;
SELECT effect FROM snowflake.conversion_plan('users_id_seq', also => '%_id, %_ids') WHERE command IS NULL AND effect ~ '^column' ORDER BY step;
-- A table, or a schema and a table, may stand before it.
SELECT command FROM snowflake.conversion_plan('issues_id_seq', also => ' watchers.watchable_id,,tracker_log.%.issue%, nowhere.%') WHERE command ~ 'TYPE' ORDER BY step;
SELECT command FROM snowflake.conversion_plan('issues_id_seq', also => 'void, id, tokens.user_id, i%') WHERE command ~ 'TYPE' ORDER BY step;
-- A name that no column has is a slip.
\set VERBOSITY default
SELECT command FROM snowflake.conversion_plan('issues_id_seq', also => 'tracker.watchers.watchable, user_id, watchers.watchable_id');
-- What belongs to others stays as it is.
CREATE ROLE regress_snowflake_tracker;
ALTER TABLE journals OWNER TO regress_snowflake_tracker;
SELECT coalesce(command, effect) AS row FROM snowflake.conversion_plan('users_id_seq', also => 'journals.%_id') WHERE command ~ 'journals' OR effect ~ 'journals' ORDER BY step;
ALTER TABLE journals OWNER TO CURRENT_USER;
DROP ROLE regress_snowflake_tracker;

-- Without a long lock the columns are taken along until the end, whether or not they are named again.
\set ECHO none
\o /dev/null
SELECT command FROM snowflake.conversion_plan('issues_id_seq', target => 'bigint', also => '%.root_id, watchers.watchable_id', online => true)
    WHERE command IS NOT NULL AND command !~ 'convert_sequence' ORDER BY step \gexec
\o
\set ECHO all
SELECT table_name, column_name, is_filled, indexes_left FROM snowflake.conversions ORDER BY 1, 2;
INSERT INTO watchers (watchable_id) VALUES (7) RETURNING watchable_id = snowflake_watchable_id AS same;
SELECT snowflake.convert_sequence_to_snowflake('issues_id_seq', target => 'bigint', online => true);
SELECT * FROM integers;

-- All of it by one call.
CALL snowflake.convert_all('tracker', also => '%_id');
SELECT * FROM integers;
INSERT INTO projects (name) VALUES ('three') RETURNING id AS project \gset
INSERT INTO users (login) VALUES ('new') RETURNING id AS author \gset
INSERT INTO issues (project_id, author_id, root_id) VALUES (:project, :author, 1) RETURNING id AS issue \gset
UPDATE issues SET root_id = :issue, parent_id = 1 WHERE id = :issue;
INSERT INTO watchers (watchable_type, watchable_id, user_id) VALUES ('Issue', :issue, :author);
INSERT INTO projects_trackers VALUES (:project, 1);
SELECT count(*) FROM open_issues JOIN watchers ON watchable_id = open_issues.id JOIN users ON users.id = author_id;
SELECT object FROM snowflake.check() WHERE object ~ 'tracker' AND finding !~ 'journalized|watcher_ids' ORDER BY 1;

DROP SCHEMA tracker, tracker_log CASCADE;
