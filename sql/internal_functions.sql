-- Functions whose names begin with an underscore, called with arguments that nobody meant: objects of another kind, OIDs that
-- name nothing, nulls, and rows and arrays of these. Anybody can call most of them. None fails with an internal error, and
-- none leaves a lock on a relation that the caller has no right on.
SET snowflake.node = 1;
SET client_min_messages = error;
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_owner;
CREATE ROLE regress_snowflake_guest;
CREATE SCHEMA closed AUTHORIZATION regress_snowflake_owner;
CREATE SCHEMA hostile;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
SET ROLE regress_snowflake_owner;
SET search_path = closed;
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE TYPE composite AS (id integer);
CREATE TABLE parent (id serial PRIMARY KEY, double bigint GENERATED ALWAYS AS (id * 2) STORED, n bigint DEFAULT 1 CHECK (n > 0),
                     x positive, t text);
CREATE TABLE child (id integer GENERATED ALWAYS AS IDENTITY, parent integer REFERENCES parent);
CREATE TABLE heir (y integer) INHERITS (parent);
CREATE TABLE partitioned (id bigint DEFAULT snowflake.nextval(), part integer) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF partitioned FOR VALUES FROM (0) TO (100);
CREATE TABLE part_default PARTITION OF partitioned DEFAULT;
CREATE TABLE by_code (id bigint) PARTITION BY RANGE (abs(id), id);
CREATE TABLE by_code_1 PARTITION OF by_code FOR VALUES FROM (0, 0) TO (100, 1);
CREATE INDEX parent_index ON parent ((n + 1)) WHERE n > 0;
CREATE INDEX ON partitioned (id);
CREATE VIEW seen AS SELECT id, double FROM parent;
CREATE MATERIALIZED VIEW materialized AS SELECT * FROM parent;
CREATE STATISTICS statistics ON (n + 1), id FROM parent;
CREATE POLICY policy ON parent USING (id > 0);
CREATE RULE rule AS ON UPDATE TO parent WHERE NEW.id > 5 DO INSTEAD NOTHING;
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION routine(s regclass DEFAULT 'parent_id_seq') RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT nextval('parent_id_seq'); END;
CREATE TRIGGER trigger BEFORE UPDATE OF id ON parent FOR EACH ROW WHEN (NEW.id > 3) EXECUTE FUNCTION keep();
CREATE UNLOGGED SEQUENCE unlogged;
CREATE SEQUENCE guarded INCREMENT 9223372036854775807;
CREATE TABLE keyed (id bigint DEFAULT snowflake.nextval('guarded'), ref integer);
INSERT INTO parent (x) VALUES (1);
INSERT INTO child (parent) VALUES (1);
RESET ROLE;
CREATE PUBLICATION regress_snowflake_publication FOR TABLE parent (id) WHERE (id > 0);
CREATE FOREIGN DATA WRAPPER regress_snowflake_wrapper;
CREATE SERVER regress_snowflake_server FOREIGN DATA WRAPPER regress_snowflake_wrapper;
CREATE FOREIGN TABLE remote (id integer) SERVER regress_snowflake_server;
ALTER FOREIGN TABLE remote OWNER TO regress_snowflake_owner;
RESET search_path;

-- A trial locks the table, and runs as its owner.
SELECT 'closed.part'::regclass::oid AS part \gset
SET SESSION AUTHORIZATION regress_snowflake_guest;
SELECT snowflake._try_partition(:part, 1::smallint, '{1}');
RESET SESSION AUTHORIZATION;
SELECT snowflake._try_partition(:part, 1::smallint, '{1, 100}');
-- Nor does anybody learn what is in a table of others, by the statistics of the server.
ANALYZE closed.parent;
SELECT 'closed.parent'::regclass::oid AS parent \gset
SELECT snowflake._null_fraction(:parent, 5::smallint);
SET SESSION AUTHORIZATION regress_snowflake_guest;
SELECT snowflake._null_fraction(:parent, 5::smallint);
RESET SESSION AUTHORIZATION;
-- Nothing that is no error is raised as one.
SELECT state, snowflake._raise(state, 'what is no error') FROM unnest('{00000,01000,02000}'::text[]) state;
SELECT snowflake._raise('03000', 'what is one');
-- What a wrapper hides from the planner is refused in a parallel worker.
CREATE FUNCTION hostile.called(call text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
DECLARE
    result text;
BEGIN
    EXECUTE 'SELECT snowflake.' || call INTO result;
    RETURN result;
END $$;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT hostile.called('_last_value(''snowflake.id_seq'')');
SELECT hostile.called('_greatest_value(''closed.parent'', 4::smallint)');
SELECT hostile.called('_as_of_now(''SELECT $1'', ROW(1, 2))');
SELECT hostile.called('_fill_pages(''closed.child'', 0, 1, false)');
SELECT hostile.called('_lock(''closed.child''::regclass)');
SELECT hostile.called('_wait_for_holders(''closed.child''::regclass)');
SELECT hostile.called('_hold_definition(''closed.child''::regclass, ''ROW SHARE'')');
SELECT hostile.called('_take_last_value(''closed.child_id_seq'', ''closed.child_id_seq'')');
SELECT hostile.called('_take_state(''closed.child_id_seq'', ''closed.child_id_seq'')');
SELECT hostile.called('_own_as_serial(''closed.child_id_seq'')');
SELECT hostile.called('_hold_schema(''closed''::regnamespace, ''regress_snowflake_owner''::regrole)');
SELECT hostile.called('_hold_rights(''pg_class''::regclass, ''closed.child''::regclass)');
SELECT hostile.called('_set_redirect(true)');
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- An expression is not printed with the columns of what it does not belong to.
SELECT snowflake._expressions_with_names('pg_constraint', k.oid, relation, '{1}', '{x}')
    FROM pg_constraint k, unnest('{closed.parent, closed.child, 0}'::regclass[]) relation
    WHERE k.conrelid = 'closed.parent'::regclass AND k.contype = 'c' ORDER BY relation DESC;
SELECT snowflake._expressions_with_names('pg_rewrite', oid, ev_class, '{1}', '{x}') FROM pg_rewrite WHERE ev_class = 'closed.seen'::regclass;
-- Only a pair that a check and a trigger ALWAYS prove is filled, and not where a key, a check that is valid or a generated
-- column counts on the number that is there: nothing would look at the row.
CREATE TABLE hostile.filled (id integer, snowflake_id bigint);
INSERT INTO hostile.filled VALUES (1, 100);
SELECT snowflake._fill_pages('hostile.filled', 0, 100, false);
ALTER TABLE hostile.filled ADD CONSTRAINT snowflake_id CHECK (snowflake_id IS NOT DISTINCT FROM id) NOT VALID;
CREATE TRIGGER "~snowflake_id" BEFORE INSERT OR UPDATE ON hostile.filled FOR EACH ROW
    WHEN (NEW.snowflake_id IS DISTINCT FROM NEW.id OR NEW.id IS NULL) EXECUTE FUNCTION snowflake._keep_shadow('x');
SELECT snowflake._fill_pages('hostile.filled', 0, 100, false);
ALTER TABLE hostile.filled ENABLE ALWAYS TRIGGER "~snowflake_id";
CREATE FUNCTION hostile.filled_with(definition text, undo text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'ALTER TABLE hostile.filled ' || definition;
    BEGIN
        RETURN (SELECT filled FROM snowflake._fill_pages('hostile.filled', 0, 100, false));
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        EXECUTE 'ALTER TABLE hostile.filled ' || undo;
        RETURN NULL;
    END;
END $$;
SELECT definition, hostile.filled_with('ADD CONSTRAINT c ' || definition, 'DROP CONSTRAINT c CASCADE')
    FROM unnest('{UNIQUE (snowflake_id), CHECK (snowflake_id > 50)}'::text[]) definition;
SELECT hostile.filled_with('ADD COLUMN made bigint GENERATED ALWAYS AS (snowflake_id + 1) STORED', 'DROP COLUMN made');
CREATE TABLE hostile.referenced (id bigint PRIMARY KEY);
INSERT INTO hostile.referenced VALUES (100);
SELECT hostile.filled_with('ADD CONSTRAINT c FOREIGN KEY (snowflake_id) REFERENCES hostile.referenced', 'DROP CONSTRAINT c');
SELECT * FROM hostile.filled;
SELECT hostile.filled_with('ADD CONSTRAINT c CHECK (snowflake_id < 50) NOT VALID', '');
SELECT * FROM hostile.filled;
DROP TABLE hostile.filled, hostile.referenced;
-- Nobody would look again at what a deferrable constraint lets pass until the end of the transaction.
CREATE TABLE hostile.filled (id integer, snowflake_id bigint, EXCLUDE USING btree (snowflake_id WITH =) DEFERRABLE);
INSERT INTO hostile.filled VALUES (1, 100), (1, 101);
ALTER TABLE hostile.filled ADD CONSTRAINT snowflake_id CHECK (snowflake_id IS NOT DISTINCT FROM id) NOT VALID;
CREATE TRIGGER "~snowflake_id" BEFORE INSERT OR UPDATE ON hostile.filled FOR EACH ROW
    WHEN (NEW.snowflake_id IS DISTINCT FROM NEW.id OR NEW.id IS NULL) EXECUTE FUNCTION snowflake._keep_shadow('x');
ALTER TABLE hostile.filled ENABLE ALWAYS TRIGGER "~snowflake_id";
SELECT snowflake._fill_pages('hostile.filled', 0, 100, false);
SELECT * FROM hostile.filled;
DROP TABLE hostile.filled;
-- A command is one statement.
SELECT snowflake._run_as('SELECT 1; SELECT 2', current_user::regrole, NULL, NULL);
SELECT snowflake._run_as('', current_user::regrole, NULL, NULL);
-- The check that a command waits for does not run in a query, which has looked at its tables already.
CREATE FUNCTION hostile.checked() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'checked'; END $$;
CREATE FUNCTION hostile.strange(bigint) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT $1';
ALTER FUNCTION hostile.strange OWNER TO regress_snowflake_owner;
SET SESSION AUTHORIZATION regress_snowflake_guest;
SELECT snowflake._run_as('SELECT hostile.strange(1)', current_user::regrole, 'public', 'SELECT hostile.checked()');
RESET SESSION AUTHORIZATION;
-- A rehearsal empties a table, and code that its indexes run meanwhile uses none of them: it would mark the entries of all rows as dead.
CREATE TABLE hostile.emptied (id integer, k integer);
INSERT INTO hostile.emptied SELECT n, n FROM generate_series(1, 10) n;
CREATE FUNCTION hostile.looks(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM hostile.emptied WHERE k = 5;
    RETURN $1;
END $$;
CREATE INDEX first ON hostile.emptied ((id + hostile.looks(1)));
CREATE UNIQUE INDEX second ON hostile.emptied (k);
SELECT snowflake._rehearse(ARRAY['hostile.emptied'::regclass::oid], '', 'SELECT $1', ROW(1, 2));
DROP TABLE hostile.emptied;
-- A query that is handed over is one that the caller could run, and returns a row if one is needed.
CREATE TYPE hostile.pair AS (a integer, b text);
SELECT snowflake._as_of_now('SELECT $1', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('SELECT NULL::hostile.pair', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('SELECT $1 WHERE false', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('SELECT ($1).b', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('SELECT', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('COMMIT', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('COPY hostile.none TO STDOUT', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('DELETE FROM closed.parent RETURNING $1', ROW(1, 'x')::hostile.pair);
SELECT snowflake._as_of_now('SELECT $1', ROW(1, 2));
SELECT snowflake._rehearse('{NULL}', '', 'SELECT $1', ROW(1, 'x')::hostile.pair);
SELECT snowflake._obstacle_of_misfit('mastodon');
SELECT snowflake._rehearse('{0, 1259}', '', 'SELECT $1', ROW(1, 'x')::hostile.pair);
SELECT snowflake._rehearse('{}', '', 'SET search_path = x', ROW(1, 'x')::hostile.pair);
SET SESSION AUTHORIZATION regress_snowflake_guest;
SELECT snowflake._rehearse(ARRAY[:part], '', 'SELECT $1', ROW(1, 2));
SELECT snowflake._as_of_now('SELECT p FROM closed.parent p', ROW(1, 2));
RESET SESSION AUTHORIZATION;

-- OIDs of all that is above, and of nothing.
CREATE TABLE hostile.oids AS
    SELECT oid FROM pg_class WHERE relnamespace = 'closed'::regnamespace
    UNION SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'closed'::regnamespace AND relkind IN ('r', 'm')
    UNION SELECT k.oid FROM pg_constraint k WHERE k.connamespace = 'closed'::regnamespace
    UNION SELECT d.oid FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid WHERE c.relnamespace = 'closed'::regnamespace
    UNION SELECT r.oid FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relnamespace = 'closed'::regnamespace
    UNION SELECT g.oid FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid WHERE c.relnamespace = 'closed'::regnamespace
    UNION SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'closed'::regnamespace
    UNION SELECT y.oid FROM pg_type y WHERE y.typname IN ('positive', 'composite') AND y.typnamespace = 'closed'::regnamespace
    UNION SELECT oid FROM pg_policy UNION SELECT oid FROM pg_publication_rel UNION SELECT oid FROM pg_statistic_ext
    UNION SELECT 'integer'::regtype UNION SELECT 'regress_snowflake_owner'::regrole UNION SELECT 'closed'::regnamespace
    UNION SELECT unnest('{pg_class,pg_proc,pg_rewrite,pg_constraint,pg_attrdef,pg_policy,pg_trigger,pg_statistic_ext}'::regclass[])
    UNION SELECT unnest('{0, 1, 4294967295}'::oid[]);

-- Expressions for arguments of a type, collected once.
CREATE TABLE hostile.expressions (type oid PRIMARY KEY, items text[] NOT NULL);
CREATE FUNCTION hostile.expressions_of(type_oid oid) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    y pg_type;
    found text[] := (SELECT items FROM hostile.expressions WHERE type = type_oid);
    items text[];
BEGIN
    IF found IS NOT NULL THEN
        RETURN found;
    END IF;
    SELECT * INTO y FROM pg_type WHERE oid = type_oid;
    found := CASE
        WHEN y.typname IN ('oid', 'regclass', 'xid') THEN ARRAY(SELECT quote_literal(oid) FROM hostile.oids ORDER BY oid)
        WHEN y.typname = 'int2' THEN '{0,1,3,''-1'',''-6'',32767,''-32768''}'
        WHEN y.typname = 'int4' THEN '{0,1,''-1'',2147483647,''-2147483648''}'
        WHEN y.typname = 'int8' THEN '{0,1,''-1'',9223372036854775807,''-9223372036854775808''}'
        WHEN y.typname = 'bool' THEN '{true,false}'
        WHEN y.typname = 'jsonb' THEN ARRAY['''{}''', '''[]''', '''null''', '''1''', '''[1, null, {}]''']
        WHEN y.typname = 'interval' THEN ARRAY['''0''', '''1 day''', '''-1 day''', '''178000000 years''']
        WHEN y.typname = 'timestamptz' THEN ARRAY['''infinity''', '''-infinity''', '''epoch''']
        WHEN y.typname IN ('name', 'char', 'cstring') THEN ARRAY['''''', '''id''', '''a"b''']
        WHEN y.typname = 'layout' THEN ARRAY['''default''', '''twitter''']
        WHEN y.typname = 'text' THEN
            ARRAY['''''', '''x''', '''view''', '''index''', '''%s %I''', '''"''', '''public''', '''refuse''', '''fill''', '''swap''', '''closed.parent''']
        ELSE '{}' END;
    IF y.typelem <> 0 AND y.typlen = -1 THEN
        items := hostile.expressions_of(y.typelem);
        found := ARRAY['''{}''', '''{NULL}''', format('ARRAY[[%s, %s], [%1$s, %2$s]]', items[1], items[2])]
                 || ARRAY(SELECT format('ARRAY[%s]', item) FROM unnest(items) item);
    ELSIF y.typtype = 'c' THEN
        found := ARRAY(
            SELECT format('ROW(%s)', string_agg(CASE n WHEN 1 THEN 'NULL' ELSE e.items[1 + floor(random() * cardinality(e.items))] END,
                                                ', ' ORDER BY a.attnum))
                FROM generate_series(1, 30) n
                CROSS JOIN pg_attribute a
                CROSS JOIN LATERAL (SELECT hostile.expressions_of(a.atttypid) OFFSET 0) e(items)
                WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
                GROUP BY n);
    END IF;
    found := ARRAY(SELECT format('%s::%s', item, y.oid::regtype) FROM unnest(found || 'NULL'::text) item);
    INSERT INTO hostile.expressions VALUES (type_oid, found);
    RETURN found;
END $$;

-- What stands for the server's nextval and the like locks a relation before it looks at rights, as these do, and raises their
-- errors. Functions in SQL take ACCESS SHARE locks that the server lets anybody take, by pg_get_ruledef() and pg_partition_tree().
CREATE FUNCTION hostile.faults_for(caller name, OUT fault text, OUT call text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    f record;
    round integer;
BEGIN
    FOR f IN
        SELECT p.oid, p.proname, p.pronargs, l.lanname = 'c' AS is_c
            FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = 'snowflake'::regnamespace AND p.proname LIKE '\_%' AND p.prokind = 'f'
              AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype) AND p.proname NOT IN ('_nextval', '_currval', '_lastval')
              AND has_function_privilege(caller, p.oid, 'EXECUTE')
            ORDER BY p.proname COLLATE "C", p.oid::regprocedure::text COLLATE "C"
    LOOP
        FOR round IN 1..CASE WHEN f.pronargs = 0 THEN 1 WHEN f.is_c THEN 150 ELSE 12 END LOOP
            SELECT format('SELECT snowflake.%I(%s)', f.proname,
                          string_agg(e.items[1 + floor(random() * cardinality(e.items))], ', ' ORDER BY n))
                INTO call
                FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY t(a, n) JOIN hostile.expressions e ON e.type = t.a
                WHERE p.oid = f.oid;
            BEGIN
                EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', caller);
                EXECUTE coalesce(call, format('SELECT snowflake.%I()', f.proname));
                RESET SESSION AUTHORIZATION;
                SELECT string_agg(format('%s on %s', l.mode, l.relation::regclass), ', ' ORDER BY l.relation) INTO fault
                    FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                    WHERE l.pid = pg_backend_pid() AND c.relnamespace IN ('closed'::regnamespace, 'pg_toast'::regnamespace)
                      AND NOT pg_has_role(caller, c.relowner, 'USAGE')
                      AND (f.is_c OR l.mode <> 'AccessShareLock');
                IF fault IS NOT NULL THEN
                    RETURN NEXT;
                END IF;
                RAISE SQLSTATE 'UNDO1';
            EXCEPTION WHEN OTHERS THEN
                IF SQLSTATE LIKE 'XX%' THEN
                    fault := SQLERRM;
                    RETURN NEXT;
                END IF;
            END;
        END LOOP;
    END LOOP;
END $$;
SELECT setseed(0.25);
SELECT count(*) > 300 AS are_collected
    FROM (SELECT hostile.expressions_of(a) FROM pg_proc p, unnest(p.proargtypes) a
              WHERE p.pronamespace = 'snowflake'::regnamespace AND p.proname LIKE '\_%') e;
SELECT * FROM hostile.faults_for('regress_snowflake_guest');
SELECT * FROM hostile.faults_for(current_user);

-- A search_path that cannot be set leaves nothing behind for the next command that makes a table.
\set VERBOSITY sqlstate
SELECT snowflake._run_as('ALTER TABLE closed.parent VALIDATE CONSTRAINT parent_n_check', current_user::regrole, repeat('a,', 5000000) || ',', NULL);
\set VERBOSITY default
CREATE TABLE hostile.last ();

DROP SCHEMA hostile CASCADE;
DROP PUBLICATION regress_snowflake_publication;
DROP FOREIGN DATA WRAPPER regress_snowflake_wrapper CASCADE;
DROP SCHEMA closed CASCADE;
DROP ROLE regress_snowflake_owner, regress_snowflake_guest;
