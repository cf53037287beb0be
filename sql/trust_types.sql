-- The rule of trust where the code of somebody else is reached by a default that is inherited or copied, by a function of the
-- server, by a domain inside of a type, or by an object that he has put into an extension of his own.
SET snowflake.node = 1;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_mallory;
CREATE ROLE regress_snowflake_alice;
CREATE SCHEMA trust;
GRANT ALL ON SCHEMA trust TO PUBLIC;
SET search_path = trust;
-- Whoever's rights code of mallory has had.
CREATE TABLE told (told_as name);
GRANT INSERT ON told TO PUBLIC;
CREATE SEQUENCE heard; -- which tells of it when an error has taken back the rest
GRANT ALL ON heard TO PUBLIC;
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION really() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trust.told VALUES (current_user);
    PERFORM nextval('trust.heard') WHERE current_user IN (SELECT rolname FROM pg_roles WHERE rolsuper OR rolname ~ '_alice$');
    RETURN true;
END $$;
CREATE FUNCTION evil() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM trust.really(); RETURN 0; END $$;
CREATE DOMAIN d AS text;
CREATE TYPE c AS (x d);
RESET ROLE;

-- A default that a superuser's partition, or copy, has from mallory's table.
SET ROLE regress_snowflake_mallory;
CREATE SEQUENCE s;
CREATE TABLE events (id bigint DEFAULT nextval('s') + evil(), ts date) PARTITION BY RANGE (ts);
CREATE SEQUENCE of_integers;
CREATE TABLE wide (id integer DEFAULT nextval('of_integers') + evil(), ts date) PARTITION BY RANGE (ts);
CREATE SEQUENCE of_constants;
CREATE TABLE constants (id bigint DEFAULT nextval('of_constants') + ('(1)'::c IS NULL)::integer, ts date) PARTITION BY RANGE (ts);
RESET ROLE;
CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE wide_2026 PARTITION OF wide FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE constants_2026 PARTITION OF constants FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE archive (LIKE events INCLUDING DEFAULTS);
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('s');
SELECT snowflake.convert_sequence_to_snowflake('s');
SELECT snowflake.convert_sequence_to_snowflake('of_integers');
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN d ADD CONSTRAINT loud CHECK (really()) NOT VALID;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('of_constants');
-- The way back as well.
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN d DROP CONSTRAINT loud;
CREATE SEQUENCE back;
CREATE TABLE backs (id bigint DEFAULT snowflake.nextval('back') + ('(1)'::c IS NULL)::integer);
RESET ROLE;
CREATE TABLE backs_child () INHERITS (backs);
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN d ADD CONSTRAINT loud CHECK (really()) NOT VALID;
RESET ROLE;
SELECT snowflake.convert_snowflake_to_sequence('back');
TABLE told;
DROP TABLE events, wide, constants, archive, backs CASCADE;

-- A superuser's view that names a type of mallory's, and an index of mallory's that names one made of hers.
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN d DROP CONSTRAINT loud;
CREATE TABLE t (id serial, c c, v d);
RESET ROLE;
CREATE VIEW report AS SELECT id FROM t WHERE (c).x = ('(1)'::c).x;
CREATE TABLE audit (x d);
SET ROLE regress_snowflake_mallory;
CREATE INDEX i ON t (id) WHERE v::text <> (('(1)'::audit).x)::text;
ALTER DOMAIN d ADD CONSTRAINT loud CHECK (really()) NOT VALID;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
DROP VIEW report;
\o /dev/null
SELECT command FROM snowflake.conversion_plan('t_id_seq', online => true) WHERE command IS NOT NULL \gexec
\o
SELECT pg_get_indexdef('i'::regclass);
TABLE told;
TRUNCATE told;
-- With the right TRIGGER alone.
SET ROLE regress_snowflake_alice;
CREATE TABLE hers (id serial);
GRANT TRIGGER ON hers TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE TRIGGER t BEFORE UPDATE ON hers FOR EACH ROW WHEN (NEW.id > 0 AND '(1)'::audit IS NOT NULL)
    EXECUTE FUNCTION suppress_redundant_updates_trigger();
SET ROLE regress_snowflake_alice;
SELECT snowflake.convert_sequence_to_snowflake('hers_id_seq');
RESET ROLE;
TABLE told;
DROP TABLE t, audit, hers CASCADE;

-- What is defined on a table that a function in standard SQL writes to, by mallory with the right TRIGGER, or with a type of hers.
SET ROLE regress_snowflake_alice;
CREATE TABLE noted (x int);
GRANT TRIGGER ON noted TO regress_snowflake_mallory;
CREATE FUNCTION note(x bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC INSERT INTO noted VALUES (1); SELECT x > 0; END;
CREATE TABLE t (id serial CHECK (note(id)));
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM trust.really(); RETURN NEW; END';
CREATE TRIGGER steal BEFORE INSERT ON noted FOR EACH ROW EXECUTE FUNCTION steal();
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
-- A function that only reads fires no trigger.
SET ROLE regress_snowflake_alice;
CREATE FUNCTION is_known(x bigint) RETURNS boolean LANGUAGE sql STABLE BEGIN ATOMIC SELECT count(*) >= 0 FROM noted; END;
CREATE FUNCTION is_seen(x bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC SELECT count(*) >= 0 FROM noted; END;
CREATE TABLE reads (id serial CHECK (is_known(id)), CHECK (is_seen(id)));
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('reads_id_seq');
DROP TABLE reads;
DROP TRIGGER steal ON noted;
REVOKE TRIGGER ON noted FROM regress_snowflake_mallory;
GRANT TRIGGER ON noted TO PUBLIC;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
REVOKE TRIGGER ON noted FROM PUBLIC;
-- A foreign key writes to the table that has it.
SET ROLE regress_snowflake_alice;
CREATE TABLE keyed (x int PRIMARY KEY);
CREATE TABLE following (x int REFERENCES keyed ON DELETE CASCADE);
GRANT TRIGGER ON following TO regress_snowflake_mallory;
CREATE FUNCTION empty(x bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC DELETE FROM keyed; SELECT true; END;
CREATE TABLE empties (id serial CHECK (empty(id)));
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('empties_id_seq');
DROP TABLE empties, following, keyed CASCADE;
ALTER TABLE noted ADD CHECK (x::text::d IS NOT NULL);
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
TABLE told;
DROP TABLE t, noted CASCADE;
DROP FUNCTION steal;
-- A row that is written into a partition of alice's evaluates the key of the whole, which is mallory's.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION key(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TABLE whole (x int) PARTITION BY LIST (key(x));
CREATE TABLE part PARTITION OF whole DEFAULT;
RESET ROLE;
ALTER TABLE part OWNER TO regress_snowflake_alice;
SET ROLE regress_snowflake_alice;
CREATE FUNCTION note(x bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC INSERT INTO part VALUES (1); SELECT x > 0; END;
CREATE TABLE t (id serial CHECK (note(id)));
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('t_id_seq');
DROP TABLE t, whole CASCADE;
DROP FUNCTION key;

-- Functions of the server that run code of users, in a check that LIKE has copied.
SET ROLE regress_snowflake_mallory;
CREATE VIEW loud AS SELECT really();
CREATE TABLE likes (id integer GENERATED BY DEFAULT AS IDENTITY CHECK (id > 0 AND table_to_xml('trust.loud', true, true, '') IS NOT NULL), x text);
RESET ROLE;
SET snowflake.convert_new_columns = on;
CREATE TABLE mine (LIKE likes INCLUDING ALL);
RESET snowflake.convert_new_columns;
TABLE told;
DROP TABLE likes, mine;

-- An overload that mallory has put into an extension of hers, which stands for the superuser's.
CREATE EXTENSION intarray SCHEMA trust;
UPDATE pg_extension SET extowner = 'regress_snowflake_mallory'::regrole WHERE extname = 'intarray';
SET ROLE regress_snowflake_alice;
CREATE TABLE arrays (id serial CHECK (idx('{1,2,3}', id) >= 0));
SET ROLE regress_snowflake_mallory;
CREATE DOMAIN number AS bigint;
CREATE FUNCTION idx(integer[], number) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM trust.really(); RETURN 1; END $$;
ALTER EXTENSION intarray ADD DOMAIN number;
ALTER EXTENSION intarray ADD FUNCTION idx(integer[], number);
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('arrays_id_seq');
TABLE told;
DROP TABLE arrays;
DROP EXTENSION intarray;

-- Numbers above the IDs of the present, in a table of a role whose rights the owner of the sequence does not inherit.
CREATE ROLE regress_snowflake_group;
GRANT CREATE ON SCHEMA trust TO regress_snowflake_group;
ALTER ROLE regress_snowflake_alice NOINHERIT;
GRANT regress_snowflake_group TO regress_snowflake_alice;
SET ROLE regress_snowflake_alice;
CREATE SEQUENCE shared;
GRANT USAGE ON SEQUENCE shared TO regress_snowflake_group;
RESET ROLE;
SET ROLE regress_snowflake_group;
CREATE TABLE of_group (id bigint DEFAULT nextval('shared'));
INSERT INTO of_group VALUES (9000000000000000000);
SET SESSION AUTHORIZATION regress_snowflake_alice;
SELECT snowflake.convert_sequence_to_snowflake('trust.shared');
RESET SESSION AUTHORIZATION;
DROP TABLE of_group;

-- check() believes nothing that a default of mallory's says of alice's sequence, and runs nothing of mallory's.
SET ROLE regress_snowflake_alice;
CREATE TABLE innocent (id serial);
SET ROLE regress_snowflake_mallory;
CREATE TABLE names (id bigint PRIMARY KEY DEFAULT snowflake.nextval('innocent_id_seq'));
CREATE TABLE refers (x integer REFERENCES names);
CREATE VIEW refers_view AS SELECT x FROM refers;
CREATE FUNCTION part(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 1; END $$;
CREATE SEQUENCE of_parts;
CREATE TABLE parts (id bigint DEFAULT snowflake.nextval('of_parts'), k bigint) PARTITION BY RANGE (id, part(k));
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0, 5) TO (10, 5);
CREATE OR REPLACE FUNCTION part(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN PERFORM trust.really(); RAISE EXCEPTION 'no check today'; END $$;
RESET ROLE;
SELECT severity, object, finding, command FROM snowflake.check() WHERE object ~ 'innocent|names|refers|parts';
TABLE told;

-- No code of an owner ends convert_all for the others.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION fails(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF $1 > 1000 THEN
        RAISE EXCEPTION 'no' USING ERRCODE = '40001';
    END IF;
    RETURN true;
END $$;
CREATE TABLE fails (id serial, n integer);
INSERT INTO fails (n) VALUES (1);
ALTER TABLE fails ADD CHECK (fails(id)) NOT VALID;
RESET ROLE;
SET client_min_messages = notice;
CALL snowflake.convert_all('trust');
SET client_min_messages = warning;

-- Checks, indexes and statistics that are copied or inherited, and that the server itself reads again.
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN d DROP CONSTRAINT loud;
CREATE DOMAIN n AS integer;
CREATE TYPE numbers AS (a n);
CREATE TABLE likes_numbers (id integer GENERATED BY DEFAULT AS IDENTITY, CHECK (id > ('(0)'::numbers).a));
CREATE TABLE refers_to (r integer, CHECK (r > ('(0)'::numbers).a));
CREATE TABLE calls (x bigint, CHECK (x > 0 AND really()));
CREATE TABLE of_statistics (id serial, x integer);
RESET ROLE;
CREATE TABLE copied (LIKE likes_numbers INCLUDING ALL);
CREATE TABLE with_statistics (id serial, x integer);
CREATE STATISTICS with_constant ON (id + ('(0)'::numbers).a), x FROM with_statistics;
CREATE TABLE ids (id bigserial PRIMARY KEY);
SELECT snowflake.convert_sequence_to_snowflake('ids_id_seq');
CREATE TABLE parent (r integer);
CREATE TABLE child (LIKE refers_to INCLUDING ALL);
ALTER TABLE child INHERIT parent;
CREATE TABLE called (r integer);
CREATE TABLE calling (r integer, LIKE calls INCLUDING ALL) INHERITS (called);
CREATE TABLE orders (LIKE refers_to INCLUDING ALL);
INSERT INTO orders VALUES (1);
ALTER TABLE orders ADD FOREIGN KEY (r) REFERENCES ids NOT VALID;
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN n ADD CONSTRAINT loud CHECK (really()) NOT VALID;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('copied_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('with_statistics_id_seq');
SELECT snowflake.conversion_plan('with_statistics_id_seq', online => true);
SET client_min_messages = notice;
SET snowflake.convert_new_columns = on;
ALTER TABLE parent ADD FOREIGN KEY (r) REFERENCES ids;
ALTER TABLE called ADD FOREIGN KEY (r) REFERENCES ids;
RESET snowflake.convert_new_columns;
SET client_min_messages = warning;
SELECT object, command FROM snowflake.check() WHERE object ~ 'orders';
TABLE told;
DROP TABLE copied, likes_numbers, refers_to, calls, with_statistics, of_statistics, parent, child, called, calling, orders, ids;

-- Reading a constant changes no definition, such as that of a foreign key which the conversion did not see.
CREATE TABLE keys (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);
GRANT REFERENCES ON keys TO regress_snowflake_mallory;
SET ROLE regress_snowflake_mallory;
CREATE TABLE late (p integer);
CREATE FUNCTION run(command text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE command; END $$;
CREATE FUNCTION link(v integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'trust.keys'::regclass AND mode = 'AccessExclusiveLock') THEN
        PERFORM trust.run('ALTER TABLE trust.late ADD CONSTRAINT late FOREIGN KEY (p) REFERENCES trust.keys');
    END IF;
    RETURN true;
END $$;
CREATE DOMAIN linking AS integer CHECK (link(VALUE));
CREATE TYPE links AS (a linking);
CREATE TABLE stranger (x bigint DEFAULT nextval('trust.keys_id_seq') + ('(0)'::links).a);
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('keys_id_seq');
SELECT count(*) AS late_keys FROM pg_constraint WHERE conname = 'late';
DROP TABLE stranger, late, keys;

-- A default of hers that fails when it is read again: the error names her.
CREATE TABLE keys (id integer GENERATED BY DEFAULT AS IDENTITY);
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION fails(v integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF session_user <> current_user AND current_setting('trust.fails', true) = 'yes' THEN
        RAISE undefined_function USING MESSAGE = 'no such function';
    END IF;
    RETURN true;
END $$;
CREATE DOMAIN failing AS integer CHECK (fails(VALUE));
CREATE TYPE failures AS (a failing);
CREATE TABLE stranger (x bigint DEFAULT nextval('trust.keys_id_seq') + ('(0)'::failures).a);
RESET ROLE;
SET trust.fails = 'yes';
SELECT snowflake.convert_sequence_to_snowflake('keys_id_seq');
RESET trust.fails;
DROP TABLE stranger, keys;

-- Nobody owns nothing.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION owns(n bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM lo_create(0); RETURN true; END $$;
CREATE TABLE owns (id serial, CHECK (owns(id)));
SELECT count(*) > 0 AS planned FROM snowflake.conversion_plan('owns_id_seq');
RESET ROLE;
SELECT count(*) FROM pg_largeobject_metadata m WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = m.lomowner);
DROP TABLE owns;

-- A conversion gives nobody a right on the sequence for inserting elsewhere, or for a right on a column that was dropped.
SET ROLE regress_snowflake_alice;
CREATE TABLE posts (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, old text);
GRANT INSERT (old) ON posts TO regress_snowflake_mallory;
ALTER TABLE posts DROP COLUMN old;
CREATE TABLE comments (post bigint);
CREATE VIEW of_posts AS SELECT * FROM comments WHERE post IN (SELECT id FROM posts);
CREATE TABLE draws (id bigint DEFAULT nextval('posts_id_seq'), n integer);
GRANT INSERT ON of_posts, draws TO regress_snowflake_mallory;
SELECT snowflake.convert_sequence_to_snowflake('posts_id_seq');
SELECT has_sequence_privilege('regress_snowflake_mallory', 'posts_id_seq', 'USAGE') AS given;
RESET ROLE;
DROP TABLE posts, comments, draws CASCADE;

-- What internal functions refuse.
SELECT snowflake._run_as('BEGIN', 'regress_snowflake_mallory'::regrole, NULL, NULL);
SELECT snowflake._run_as('COPY pg_class TO STDOUT', 'regress_snowflake_mallory'::regrole, NULL, NULL);
BEGIN READ ONLY;
SELECT snowflake._fill_pages('fails', 0, 10, false);
ROLLBACK;
BEGIN READ ONLY;
SELECT snowflake._hold_schema('trust'::regnamespace, quote_ident(current_user)::regrole);
ROLLBACK;

-- Types of mallory's that no constant names: a cast, the columns of a set of rows, a range under an index.
SET ROLE regress_snowflake_mallory;
CREATE DOMAIN late AS integer;
CREATE TYPE pair AS (a integer, b late);
CREATE FUNCTION difference(integer, integer) RETURNS float8 IMMUTABLE LANGUAGE sql RETURN $1 - $2;
CREATE TYPE span AS RANGE (subtype = integer, subtype_diff = difference);
RESET ROLE;
CREATE TABLE casts (id serial PRIMARY KEY, y text, CHECK (id > 0 AND (y::pair).a > 0));
CREATE TABLE many_casts (id serial PRIMARY KEY, y text, CHECK (id > 0 AND (y::pair[])[1] IS NOT NULL));
CREATE TABLE sets (id serial PRIMARY KEY, j jsonb);
CREATE MATERIALIZED VIEW of_sets AS SELECT id, x.b FROM sets, jsonb_to_record(j) AS x(b late);
CREATE TABLE spans (id serial PRIMARY KEY, s span);
CREATE INDEX ON spans USING gist (s);
INSERT INTO casts (y) VALUES ('(1,2)');
INSERT INTO many_casts (y) VALUES ('{"(1,2)"}');
INSERT INTO sets (j) VALUES ('{"b": 1}');
INSERT INTO spans (s) SELECT span(i, i + 10) FROM generate_series(1, 1000) i;
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN late ADD CONSTRAINT loud CHECK (really()) NOT VALID;
CREATE OR REPLACE FUNCTION difference(integer, integer) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN PERFORM trust.really(); RETURN $1 - $2; END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('casts_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('many_casts_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('sets_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('spans_id_seq');
SELECT count(*) FROM snowflake.conversion_plan('casts_id_seq', online => true);
SELECT snowflake._add_shadows('casts_id_seq', 'casts');
TABLE told;
DROP TABLE casts, many_casts, sets, spans CASCADE;

-- Types that no expression names: those of columns that a function of the server makes values of, and of what a materialized view
-- holds. All indexes of a table are built again, not only those of the column.
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN late DROP CONSTRAINT loud;
CREATE TYPE holder AS (n late);
CREATE FUNCTION distance(integer, integer) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1 - $2; END $$;
CREATE TYPE range AS RANGE (subtype = integer, subtype_diff = distance);
RESET ROLE;
CREATE TABLE checked (id serial PRIMARY KEY, h holder, CHECK (id > 0 AND json_populate_record(h, '{"n": 1}') IS NOT NULL));
CREATE TABLE holders (id serial PRIMARY KEY, h holder);
CREATE MATERIALIZED VIEW of_holders AS SELECT id, to_json(json_populate_record(h, '{"n": 1}')) FROM holders;
CREATE TABLE spans (id serial PRIMARY KEY, s range);
CREATE MATERIALIZED VIEW of_spans AS SELECT id, s FROM spans;
CREATE INDEX ON of_spans USING gist (s);
CREATE TABLE partial (id serial PRIMARY KEY, x integer);
CREATE INDEX ON partial (x) WHERE (x::late)::integer > 0;
CREATE TABLE excluded (id serial PRIMARY KEY, x integer, EXCLUDE (((x::late)::integer + 1) WITH =));
CREATE TABLE later (id serial PRIMARY KEY, x integer);
-- By way of a view, whether it depends on the column or not; in a whole row; in statistics on other columns.
CREATE TABLE viewed (id serial PRIMARY KEY, h holder);
CREATE VIEW between_them AS SELECT id, to_json(json_populate_record(h, '{"n": 1}')) AS j FROM viewed;
CREATE MATERIALIZED VIEW of_viewed AS SELECT id, j FROM between_them;
CREATE TABLE joined (id serial PRIMARY KEY);
CREATE TABLE other (x integer);
CREATE VIEW beside_them AS SELECT (x::late)::integer AS y FROM other;
CREATE MATERIALIZED VIEW of_joined AS SELECT id, y FROM joined, beside_them;
CREATE TABLE whole (id serial PRIMARY KEY, h holder);
CREATE MATERIALIZED VIEW of_whole AS SELECT id, to_json(json_populate_record(x, '{"h": {"n": 1}}')) FROM whole x;
CREATE TABLE checked_whole (id serial PRIMARY KEY, h holder);
ALTER TABLE checked_whole ADD CONSTRAINT whole CHECK (id > 0 AND json_populate_record(checked_whole, '{"h": {"n": 1}}') IS NOT NULL);
-- In a table's columns alone; in the result of a function that a check calls.
CREATE TABLE held (id serial PRIMARY KEY, h holder);
CREATE FUNCTION held() RETURNS holder IMMUTABLE LANGUAGE sql RETURN NULL::holder;
CREATE TABLE returned (id serial PRIMARY KEY, CHECK (id > 0 AND json_populate_record(held(), '{"n": 1}') IS NOT NULL));
-- In an expression that is too long to be read.
CREATE TABLE checked_deeply (id serial PRIMARY KEY, h holder);
DO $$BEGIN
    EXECUTE concat('ALTER TABLE checked_deeply ADD CONSTRAINT deep CHECK (json_populate_record(h, ''{"n": 1}'') IS NOT NULL AND ',
                   repeat('(id <> 0 AND (true OR ', 1100), 'true', repeat('))', 1100), ')');
END$$;
CREATE TABLE counted (id serial PRIMARY KEY, x integer, y integer);
CREATE STATISTICS pairs ON ((x::late)::integer), y FROM counted;
INSERT INTO returned DEFAULT VALUES;
INSERT INTO viewed DEFAULT VALUES;
INSERT INTO joined DEFAULT VALUES;
INSERT INTO other VALUES (1);
INSERT INTO whole DEFAULT VALUES;
INSERT INTO checked_whole DEFAULT VALUES;
REFRESH MATERIALIZED VIEW of_viewed;
REFRESH MATERIALIZED VIEW of_joined;
REFRESH MATERIALIZED VIEW of_whole;
INSERT INTO checked DEFAULT VALUES;
INSERT INTO holders DEFAULT VALUES;
INSERT INTO spans (s) SELECT range(i, i + 10) FROM generate_series(1, 1000) i;
INSERT INTO partial (x) VALUES (1);
INSERT INTO excluded (x) VALUES (1);
REFRESH MATERIALIZED VIEW of_holders;
REFRESH MATERIALIZED VIEW of_spans;
ANALYZE spans;
SELECT snowflake._add_shadows('later_id_seq', 'later');
CREATE INDEX ON later (x) WHERE (x::late)::integer > 0;
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN late ADD CONSTRAINT loud CHECK (really()) NOT VALID;
CREATE OR REPLACE FUNCTION distance(integer, integer) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN PERFORM trust.really(); RETURN $1 - $2; END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('checked_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('holders_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('spans_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('partial_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('excluded_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('viewed_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('joined_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('whole_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('checked_whole_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('checked_deeply_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('held_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('returned_id_seq');
SELECT snowflake.conversion_plan('counted_id_seq', online => true);
SELECT snowflake.conversion_plan('holders_id_seq', online => true);
DROP MATERIALIZED VIEW of_spans;
SELECT snowflake.conversion_plan('spans_id_seq', online => true);
CALL snowflake._fill_shadows('later_id_seq', 'later');
TABLE told;
-- With one owner it converts.
ALTER TYPE holder OWNER TO CURRENT_USER;
ALTER DOMAIN late OWNER TO CURRENT_USER;
SELECT snowflake.convert_sequence_to_snowflake('held_id_seq');
ALTER TYPE holder OWNER TO regress_snowflake_mallory;
DROP TABLE checked, holders, spans, partial, excluded, later, viewed, joined, other, whole, checked_whole, checked_deeply,
    held, returned, counted CASCADE;

-- In an index that a superuser's table has from mallory's, whose constants a plan reads; in the default of a view's column.
SET ROLE regress_snowflake_mallory;
CREATE DOMAIN small AS integer;
CREATE TYPE with_small AS (a small);
CREATE TABLE w (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, c with_small);
CREATE INDEX ON w (id) WHERE c <> '(1)'::with_small;
RESET ROLE;
CREATE TABLE shown (id serial PRIMARY KEY, n text);
CREATE VIEW showing AS SELECT id, n FROM shown;
ALTER VIEW showing ALTER n SET DEFAULT ('(1)'::with_small)::text;
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN small ADD CONSTRAINT loud CHECK (really()) NOT VALID;
RESET ROLE;
CREATE TABLE like_w (LIKE w INCLUDING ALL);
SELECT snowflake.conversion_plan('like_w_id_seq', online => true);
SELECT snowflake._rehearse_conversion('like_w_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('like_w_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('shown_id_seq');
SELECT snowflake.conversion_plan('shown_id_seq', online => true);
-- By way of the check of a domain of alice's. By the name of an enum, which its owner can give to another type.
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN small DROP CONSTRAINT loud;
CREATE TYPE label AS ENUM ('(1)', '(2)');
SET ROLE regress_snowflake_alice;
CREATE DOMAIN over_small AS integer CHECK ((VALUE::small) > 0);
CREATE TABLE by_domain (id serial PRIMARY KEY, j integer);
CREATE INDEX ON by_domain ((j::over_small IS NULL));
CREATE TABLE by_label (id serial PRIMARY KEY, k label, CHECK (id > 0 OR k <> '(2)'::label));
CREATE TABLE parted_label (id bigserial PRIMARY KEY, k label);
CREATE INDEX ON parted_label (id) WHERE k = '(1)'::label;
-- By way of the functions of an aggregate, and of what a function in standard SQL reads. JSON_VALUE leaves no dependency.
CREATE FUNCTION adds(small, integer) RETURNS small IMMUTABLE LANGUAGE sql AS 'SELECT $1 + $2';
CREATE AGGREGATE added(integer) (SFUNC = adds, STYPE = small, INITCOND = '0');
CREATE TABLE of_added (id serial PRIMARY KEY, j integer);
CREATE MATERIALIZED VIEW adding AS SELECT id, added(j) FROM of_added GROUP BY id;
SET ROLE regress_snowflake_mallory;
CREATE TABLE read_by_it (x integer);
GRANT SELECT ON read_by_it TO regress_snowflake_alice;
SET ROLE regress_snowflake_alice;
CREATE FUNCTION reads(integer) RETURNS bigint STABLE LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM read_by_it WHERE x = $1; END;
CREATE TABLE of_reads (id serial PRIMARY KEY, j integer);
CREATE MATERIALIZED VIEW reading AS SELECT id, reads(j) FROM of_reads;
CREATE TABLE of_json (id serial PRIMARY KEY, j jsonb);
SELECT current_setting('server_version_num')::integer >= 170000 AS has_json_value \gset
\set ECHO none
\if :has_json_value
    CREATE INDEX by_json ON of_json ((JSON_VALUE(j, '$' RETURNING small) IS NULL));
\else
    CREATE INDEX by_json ON of_json ((j::integer::small IS NULL));
\endif
\set ECHO all
SELECT snowflake.convert_sequence_to_snowflake('of_added_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('of_reads_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('of_json_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_domain_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_label_id_seq');
SELECT snowflake.conversion_plan('by_label_id_seq', online => true);
SELECT snowflake.convert_sequence_to_snowflake('parted_label_id_seq');
SELECT snowflake.partition_plan('parted_label', every => '1 year', ahead => 2);
RESET ROLE;
DROP TABLE w, like_w, shown, by_domain, by_label, parted_label, of_added, of_reads, of_json, read_by_it CASCADE;

-- By way of a policy of a table that a materialized view reads. The owner of an enum makes casts, which a foreign key can call.
CREATE ROLE regress_snowflake_bob;
GRANT regress_snowflake_bob TO regress_snowflake_alice;
GRANT ALL ON SCHEMA trust TO regress_snowflake_bob;
SET ROLE regress_snowflake_mallory;
CREATE DOMAIN in_policy AS integer;
CREATE TABLE allowed (x integer);
CREATE VIEW of_allowed AS SELECT x FROM allowed;
GRANT SELECT ON allowed, of_allowed TO PUBLIC;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = integer, RIGHTARG = integer);
SET ROLE regress_snowflake_alice;
CREATE TABLE by_type (id serial PRIMARY KEY, x integer);
CREATE TABLE by_relation (id serial PRIMARY KEY, x integer);
ALTER TABLE by_type ENABLE ROW LEVEL SECURITY;
ALTER TABLE by_relation ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON by_type USING (x::in_policy IS NOT NULL);
CREATE POLICY p ON by_relation USING (x IN (SELECT a.x FROM of_allowed a));
GRANT SELECT ON by_type, by_relation TO regress_snowflake_bob;
CREATE TABLE moody (id serial PRIMARY KEY, mood mood, moods mood[]);
CREATE TABLE keyed (id serial PRIMARY KEY);
RESET ROLE;
CREATE FUNCTION of_mood(mood) RETURNS integer LANGUAGE sql IMMUTABLE RETURN 1;
CREATE CAST (mood AS integer) WITH FUNCTION of_mood(mood) AS IMPLICIT;
SET ROLE regress_snowflake_alice;
CREATE TABLE by_cast (mood mood REFERENCES keyed);
CREATE TABLE negated (id serial PRIMARY KEY, n integer, CHECK (id > 0 AND NOT (n OPERATOR(===) 5)));
SET ROLE regress_snowflake_bob;
CREATE MATERIALIZED VIEW of_by_type AS SELECT * FROM by_type;
CREATE MATERIALIZED VIEW of_by_relation AS SELECT * FROM by_relation;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('by_type_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('by_relation_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('moody_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('keyed_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('negated_id_seq');
DROP TABLE by_type, by_relation, moody, by_cast, keyed, negated CASCADE;
DROP OWNED BY regress_snowflake_bob;
DROP ROLE regress_snowflake_bob;

-- What a group says of a member's sequence is not believed: another member may have said it.
GRANT regress_snowflake_group TO regress_snowflake_alice, regress_snowflake_mallory;
GRANT USAGE ON SCHEMA trust TO regress_snowflake_group;
SET ROLE regress_snowflake_alice;
CREATE TABLE members (id serial);
SET ROLE regress_snowflake_group;
CREATE TABLE of_group (id bigint DEFAULT snowflake.nextval('members_id_seq', 'javascript'));
SET ROLE regress_snowflake_alice;
SELECT finding, command FROM snowflake.check() WHERE object LIKE '%members%';
SELECT snowflake.convert_sequence_to_snowflake('members_id_seq');
RESET ROLE;
REVOKE regress_snowflake_group FROM regress_snowflake_alice, regress_snowflake_mallory;
DROP TABLE of_group, members;

-- What a rehearsal empties, a key of partitions that a trigger or a cancellation reads, and what is on the twin of a view, have authors, too.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION evil(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN trust.really(); END';
CREATE DOMAIN hers AS integer;
CREATE OPERATOR ==== (FUNCTION = int8eq, LEFTARG = bigint, RIGHTARG = bigint);
CREATE TABLE emptied (id serial PRIMARY KEY);
INSERT INTO emptied SELECT generate_series(1, 40000); -- enough for a rehearsal
RESET ROLE;
CREATE TABLE partner (ref bigint REFERENCES emptied, n integer);
CREATE INDEX ON partner ((n::hers));
SET ROLE regress_snowflake_alice;
CREATE TABLE parted (id serial, k integer, n integer) PARTITION BY LIST (k);
CREATE TABLE seen (id serial PRIMARY KEY, n bigint);
CREATE MATERIALIZED VIEW of_seen AS SELECT id, n FROM seen;
RESET ROLE;
SELECT snowflake._add_shadows('parted_id_seq', 'parted');
SELECT snowflake._add_shadows('seen_id_seq', 'seen');
SELECT snowflake._add_view('seen_id_seq', 'of_seen');
SELECT relname AS twin FROM pg_class WHERE relkind = 'm' AND relnamespace = 'trust'::regnamespace AND relname ~ '^snowflake_' \gset
SET ROLE regress_snowflake_alice;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2) PARTITION BY RANGE ((n::hers));
CREATE INDEX extra ON :twin (n) WHERE NOT (n OPERATOR(trust.====) 5);
CREATE TABLE counted (id serial PRIMARY KEY);
CREATE FUNCTION above(integer) RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM counted WHERE id > $1);
CREATE TABLE keyed (k integer, n integer) PARTITION BY RANGE ((n::hers));
CREATE TRIGGER counts AFTER INSERT ON keyed FOR EACH ROW WHEN (above(NEW.k) > 0) EXECUTE FUNCTION suppress_redundant_updates_trigger();
SET ROLE regress_snowflake_mallory;
ALTER DOMAIN hers ADD CHECK (evil(1));
CREATE FUNCTION evil(bigint, bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN trust.really(); END';
CREATE OPERATOR !==== (FUNCTION = evil, LEFTARG = bigint, RIGHTARG = bigint, NEGATOR = ====);
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('emptied_id_seq');
SELECT snowflake.convert_sequence_to_snowflake('counted_id_seq');
SELECT snowflake.cancel_conversion('parted_id_seq');
CALL snowflake._fill_shadows('seen_id_seq', 'seen');
SELECT snowflake._add_indexes('seen_id_seq', 'seen');
SELECT 'REINDEX INDEX trust.' || relname FROM pg_class WHERE relkind = 'i' AND relname ~ '^snowflake_[0-9a-f]+$' \gexec
CALL snowflake._fill_view('seen_id_seq', 'of_seen');
SELECT snowflake.cancel_conversion('seen_id_seq');
-- What is to be run on a table of another is to be run by its owner.
SET ROLE regress_snowflake_alice;
DROP TABLE parted_2;
ALTER TABLE parted ADD g bigint GENERATED ALWAYS AS (snowflake_id + 1) STORED;
CREATE TABLE unchecked (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), n integer);
ALTER TABLE unchecked ADD CHECK (n > 0) NOT VALID;
RESET ROLE;
SELECT snowflake.cancel_conversion('parted_id_seq');
SELECT snowflake.partition_plan('unchecked', '1 month');
DROP TABLE partner, emptied, parted, unchecked;
DROP TABLE keyed, counted CASCADE;
DROP TABLE seen CASCADE;

-- An owner's code does not switch off the statement_timeout of the caller.
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION endless(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE slow (id serial, x integer);
CREATE INDEX ON slow (endless(x));
INSERT INTO slow DEFAULT VALUES;
CREATE OR REPLACE FUNCTION endless(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..100 LOOP
        PERFORM pg_sleep(0.1), snowflake._restart_statement_timeout();
    END LOOP;
    RETURN $1;
END $$;
RESET ROLE;
SET statement_timeout = '1s';
SELECT snowflake.convert_sequence_to_snowflake('slow_id_seq');
RESET statement_timeout;
DROP TABLE slow;

TABLE told;
SELECT is_called FROM heard;
DROP SCHEMA trust CASCADE;
DROP ROLE regress_snowflake_mallory, regress_snowflake_alice, regress_snowflake_group;
