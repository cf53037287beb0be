-- Converting under everything that the server refuses to alter a column under: it is put back exactly
-- as it was.
SET snowflake.node = 1;
\set VERBOSITY terse
CREATE SCHEMA dep;
SET search_path = dep;
CREATE ROLE regress_snowflake_owner;
CREATE ROLE "regress_snowflake Reader";
GRANT ALL ON SCHEMA dep TO regress_snowflake_owner;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_snowflake_space LOCATION '';
\getenv sources PG_ABS_SRCDIR
\i :sources/sql/include/functions.sql

CREATE TABLE base (id serial PRIMARY KEY, t text, u integer);
INSERT INTO base (t, u) VALUES ('x', 1);

-- Views: nested, with options, rules, triggers, defaults, rights on columns, other owners.
CREATE VIEW v1 WITH (security_barrier, check_option = cascaded, security_invoker = true) AS
    SELECT id, t FROM base WHERE id > 0;
CREATE VIEW v2 ("N a", b) AS SELECT v1.id, count(*) FROM v1 GROUP BY 1;
CREATE VIEW v3 AS SELECT b.*, x."N a" FROM base b, v2 x;
CREATE VIEW v4 AS SELECT r FROM v3 r;
CREATE VIEW v5 AS SELECT (r).id FROM v4;
CREATE VIEW whole AS SELECT base AS whole FROM base;
CREATE RULE ins AS ON INSERT TO v2 DO INSTEAD INSERT INTO base (t) VALUES (new.b::text);
COMMENT ON RULE ins ON v2 IS 'rule';
CREATE RULE upd AS ON UPDATE TO base WHERE old.id = 77 DO ALSO NOTHING;
ALTER TABLE base DISABLE RULE upd;
CREATE TRIGGER instead INSTEAD OF UPDATE ON v3 FOR EACH ROW EXECUTE FUNCTION keep('a', 'b''c');
COMMENT ON TRIGGER instead ON v3 IS 'trigger';
ALTER VIEW v1 ALTER COLUMN t SET DEFAULT 'a default';
ALTER VIEW v1 ALTER COLUMN id SET DEFAULT nextval('base_id_seq');
GRANT SELECT (id), UPDATE (t) ON v1 TO "regress_snowflake Reader", regress_snowflake_owner WITH GRANT OPTION;
GRANT SELECT ON base, v2, v3 TO regress_snowflake_owner;
REVOKE DELETE ON v3 FROM CURRENT_USER;
ALTER VIEW v4 OWNER TO regress_snowflake_owner;
COMMENT ON VIEW v5 IS 'view';
COMMENT ON COLUMN v5.id IS 'column of a view';
COMMENT ON RULE "_RETURN" ON v5 IS 'rule of a view';
COMMENT ON TYPE v5 IS 'row type of a view';
-- Materialized views: with indexes, options, populated or not.
CREATE MATERIALIZED VIEW m1 WITH (fillfactor = 80, toast.autovacuum_enabled = false) AS SELECT id, t, md5(t) AS hash FROM base;
CREATE UNIQUE INDEX m1_id ON m1 (id) INCLUDE (t) WITH (fillfactor = 70);
CREATE INDEX m1_expr ON m1 ((id + 1), lower(t)) WHERE id > 0;
ALTER INDEX m1_expr ALTER COLUMN 1 SET STATISTICS 77;
COMMENT ON INDEX m1_expr IS 'index';
CLUSTER m1 USING m1_id;
ALTER MATERIALIZED VIEW m1 REPLICA IDENTITY FULL;
CREATE INDEX m1_space ON m1 (t, id) TABLESPACE regress_snowflake_space WHERE t <> '';
CREATE MATERIALIZED VIEW m2 AS SELECT m1.id FROM m1 JOIN v2 ON true WITH NO DATA;
GRANT SELECT ON m1 TO regress_snowflake_owner;
ALTER MATERIALIZED VIEW m2 OWNER TO regress_snowflake_owner;
CREATE MATERIALIZED VIEW m3 AS SELECT base AS whole, array_agg(base) AS wholes FROM base GROUP BY base;
CREATE STATISTICS m1_stat ON id, t FROM m1;
-- Triggers with columns, conditions and states.
CREATE TRIGGER t1 BEFORE UPDATE OF id, t ON base FOR EACH ROW EXECUTE FUNCTION keep();
CREATE TRIGGER t2 AFTER INSERT OR UPDATE ON base FOR EACH ROW WHEN (new.id > 5 AND new.t IS NOT NULL) EXECUTE FUNCTION keep();
CREATE CONSTRAINT TRIGGER t3 AFTER UPDATE OF id ON base DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep();
CREATE TRIGGER t4 BEFORE UPDATE OF id ON base FOR EACH ROW EXECUTE FUNCTION keep();
ALTER TABLE base DISABLE TRIGGER t1;
ALTER TABLE base ENABLE REPLICA TRIGGER t2;
ALTER TABLE base ENABLE ALWAYS TRIGGER t3;
COMMENT ON TRIGGER t3 ON base IS 'constraint trigger';
COMMENT ON CONSTRAINT t3 ON base IS 'constraint of a trigger';
ALTER TRIGGER t4 ON base DEPENDS ON EXTENSION plpgsql;
CREATE TABLE part (id integer REFERENCES base, day date) PARTITION BY LIST (day);
CREATE TABLE part_one PARTITION OF part DEFAULT;
CREATE TRIGGER t5 BEFORE UPDATE OF id ON part FOR EACH ROW EXECUTE FUNCTION keep();
COMMENT ON TRIGGER t5 ON part IS 'of all';
COMMENT ON TRIGGER t5 ON part_one IS 'of one';
COMMENT ON CONSTRAINT part_id_fkey ON part IS 'of all';
COMMENT ON CONSTRAINT part_id_fkey ON part_one IS 'of one';
-- Triggers of foreign keys and of deferrable keys that do not fire, or do so always.
CREATE TABLE unchecked (id integer REFERENCES base, other integer REFERENCES base, self integer REFERENCES unchecked,
                        key integer PRIMARY KEY REFERENCES base, UNIQUE (id) DEFERRABLE);
ALTER TABLE unchecked DISABLE TRIGGER ALL;
ALTER TABLE part_one DISABLE TRIGGER ALL;
DO $$ BEGIN
    EXECUTE (SELECT format('ALTER TABLE base ENABLE ALWAYS TRIGGER %I', tgname) FROM pg_trigger t
                 JOIN pg_constraint k ON k.oid = t.tgconstraint
                 WHERE t.tgrelid = 'base'::regclass AND k.conname = 'unchecked_other_fkey'
                   AND t.tgfoid = '"RI_FKey_noaction_del"'::regproc);
END $$;
-- Policies of each command.
CREATE TABLE guarded (id integer REFERENCES base, o integer);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY p1 ON guarded USING (id > 0) WITH CHECK (id < 100);
CREATE POLICY p2 ON guarded AS RESTRICTIVE FOR SELECT TO regress_snowflake_owner, "regress_snowflake Reader"
    USING (EXISTS (SELECT FROM base WHERE base.id = guarded.id));
CREATE POLICY p3 ON guarded FOR INSERT WITH CHECK (id IN (SELECT id FROM v1));
CREATE POLICY "p 4" ON guarded FOR UPDATE TO CURRENT_USER USING (o = id);
CREATE POLICY p5 ON guarded FOR DELETE TO regress_snowflake_owner USING (id = 1);
COMMENT ON POLICY p1 ON guarded IS 'policy';
-- Generated columns and check constraints.
CREATE TABLE gen (
    id integer REFERENCES base CHECK (id > 0), x integer,
    code text COLLATE "C" GENERATED ALWAYS AS ('G' || id) STORED,
    twice integer GENERATED ALWAYS AS (id * 2) STORED NOT NULL,
    CONSTRAINT both_positive CHECK (id > 0 AND twice > 0),
    UNIQUE (code) DEFERRABLE, UNIQUE (twice) WITH (fillfactor = 66) USING INDEX TABLESPACE regress_snowflake_space);
ALTER TABLE gen ADD CONSTRAINT not_valid CHECK (code <> '') NOT VALID;
COMMENT ON CONSTRAINT both_positive ON gen IS 'constraint';
CREATE INDEX gen_code ON gen (code, x) WITH (fillfactor = 67) TABLESPACE regress_snowflake_space;
COMMENT ON CONSTRAINT gen_twice_key ON gen IS 'key';
COMMENT ON INDEX gen_twice_key IS 'index of a key';
ALTER TABLE gen CLUSTER ON gen_code, REPLICA IDENTITY USING INDEX gen_twice_key;
ALTER TABLE gen ADD EXCLUDE ((twice * 2) WITH =);
ALTER INDEX gen_expr_excl ALTER COLUMN 1 SET STATISTICS 88;
COMMENT ON COLUMN gen.code IS 'generated';
GRANT SELECT (code) ON gen TO regress_snowflake_owner WITH GRANT OPTION;
SET ROLE regress_snowflake_owner;
GRANT SELECT (code) ON gen TO "regress_snowflake Reader";
RESET ROLE;
ALTER TABLE gen ALTER code SET STATISTICS 5, ALTER code SET (n_distinct = -0.25),
    ALTER code SET STORAGE EXTERNAL, ALTER code SET COMPRESSION pglz;
CREATE VIEW gen_view AS SELECT code FROM gen;
-- A check that is inherited, and a routine that names a key and no column.
CREATE TABLE parent (id integer REFERENCES base, CONSTRAINT positive CHECK (id > 0), k integer, CONSTRAINT parent_key UNIQUE (k, id));
CREATE TABLE heir () INHERITS (parent);
COMMENT ON CONSTRAINT positive ON parent IS 'of the parent';
COMMENT ON CONSTRAINT positive ON heir IS 'of the heir';
CREATE FUNCTION add_once() RETURNS void LANGUAGE sql BEGIN ATOMIC
    INSERT INTO parent (k) VALUES (1) ON CONFLICT ON CONSTRAINT parent_key DO NOTHING;
END;
CREATE RULE once AS ON DELETE TO parent DO ALSO INSERT INTO parent (k) VALUES (1) ON CONFLICT ON CONSTRAINT parent_key DO NOTHING;
CREATE STATISTICS gen_stat ON x, twice FROM gen;
INSERT INTO gen (id, x) VALUES (1, 1);
-- Publications with columns and rows; that wal_level may be too low for them does not matter.
SET client_min_messages = error;
CREATE PUBLICATION regress_snowflake_pub1 FOR TABLE base (id, u) WHERE (id > 5), guarded;
CREATE PUBLICATION regress_snowflake_pub2 FOR TABLES IN SCHEMA dep;
RESET client_min_messages;
-- Extended statistics, indexes and the rest that the server makes again, though not all of it.
CREATE STATISTICS base_stat (mcv) ON id, u FROM base;
ALTER STATISTICS base_stat SET STATISTICS 42;
ALTER STATISTICS base_stat OWNER TO regress_snowflake_owner;
COMMENT ON STATISTICS base_stat IS 'statistics';
CREATE UNIQUE INDEX base_replica ON base (id) WHERE true;
CREATE INDEX base_part ON base (u) WHERE id > 100;
ALTER INDEX base_part DEPENDS ON EXTENSION plpgsql;
COMMENT ON INDEX base_part IS 'partial index';
CREATE INDEX base_expr ON base (u, (id + u));
ALTER INDEX base_expr ALTER COLUMN 2 SET STATISTICS 33;
ALTER TABLE base ADD EXCLUDE ((id * 2) WITH =);
ALTER INDEX base_expr_excl ALTER COLUMN 1 SET STATISTICS 44;
ALTER TABLE base CLUSTER ON base_pkey;
ALTER TABLE base REPLICA IDENTITY USING INDEX base_pkey;
ALTER TABLE base ALTER id SET STATISTICS 55, ALTER id SET (n_distinct = -0.5);
COMMENT ON COLUMN base.id IS 'key';
GRANT UPDATE (id) ON base TO "regress_snowflake Reader";

-- Everything there is to know about them.
CREATE FUNCTION everything() RETURNS TABLE (object text, fact text) LANGUAGE sql STABLE
    SET search_path = pg_catalog AS $$
    WITH class AS (SELECT * FROM pg_class WHERE relnamespace = 'dep'::regnamespace),
    object(classid, objid, subid, fact) AS (
        SELECT 'pg_class'::regclass::oid, oid, 0, concat_ws('|', relkind, relowner::regrole,
               (SELECT string_agg(x::text, ',' ORDER BY x::text COLLATE "C") FROM unnest(relacl) x), reloptions,
               relispopulated, relrowsecurity, relreplident, relpersistence,
               (SELECT t.reloptions FROM pg_class t WHERE t.oid = class.reltoastrelid),
               (SELECT spcname FROM pg_tablespace s WHERE s.oid = reltablespace),
               CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid) END)
            FROM class WHERE relkind <> 'S'
        UNION ALL
        SELECT 'pg_class'::regclass, attrelid, attnum, concat_ws('|', attname, atttypid::regtype, attnotnull,
               (SELECT string_agg(x::text, ',' ORDER BY x::text COLLATE "C") FROM unnest(attacl) x),
               nullif(attstattarget, -1), attstorage, attcompression, attcollation::regcollation, attgenerated, pg_get_expr(adbin, adrelid),
               (SELECT string_agg(x, ',') FROM unnest(attoptions) x WHERE x LIKE 'n\_distinct%'))
            FROM pg_attribute
            LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
            WHERE attrelid IN (SELECT oid FROM class WHERE relkind <> 'S') AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT 'pg_class'::regclass, indexrelid, 0,
               concat_ws('|', pg_get_indexdef(indexrelid), indisclustered, indisreplident, indisvalid)
            FROM pg_index WHERE indrelid IN (SELECT oid FROM class)
        UNION ALL
        SELECT 'pg_type'::regclass, reltype, 0, relname::text FROM class WHERE reltype <> 0
        UNION ALL
        SELECT 'pg_constraint'::regclass, oid, 0, concat_ws('|', pg_get_constraintdef(oid), convalidated,
               (SELECT string_agg(concat_ws(' ', tgrelid::regclass, tgfoid::regproc, tgenabled), ',' ORDER BY tgrelid, tgfoid)
                    FROM pg_trigger WHERE tgconstraint = pg_constraint.oid AND tgisinternal))
            FROM pg_constraint WHERE connamespace = 'dep'::regnamespace
        UNION ALL
        SELECT 'pg_rewrite'::regclass, oid, 0, concat_ws('|', pg_get_ruledef(oid), ev_enabled)
            FROM pg_rewrite WHERE ev_class IN (SELECT oid FROM class)
        UNION ALL
        SELECT 'pg_trigger'::regclass, oid, 0, concat_ws('|', pg_get_triggerdef(oid), tgenabled)
            FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM class) AND NOT tgisinternal
        UNION ALL
        SELECT 'pg_policy'::regclass, oid, 0, concat_ws('|', polpermissive, polcmd, polroles,
               pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
            FROM pg_policy WHERE polrelid IN (SELECT oid FROM class)
        UNION ALL
        SELECT 'pg_publication_rel'::regclass, b.oid, 0, concat_ws('|', pubname, prattrs, pg_get_expr(prqual, prrelid))
            FROM pg_publication_rel b JOIN pg_publication p ON p.oid = prpubid
            WHERE prrelid IN (SELECT oid FROM class)
        UNION ALL
        SELECT 'pg_statistic_ext'::regclass, oid, 0,
               concat_ws('|', pg_get_statisticsobjdef(oid), stxowner::regrole, nullif(stxstattarget, -1))
            FROM pg_statistic_ext WHERE stxnamespace = 'dep'::regnamespace
    )
    -- That columns are bigint and call another nextval is what is to change.
    SELECT pg_describe_object(classid, objid, subid),
           replace(replace(concat_ws('|', object.fact, d.description,
                  (SELECT string_agg(extname, ',') FROM pg_depend x JOIN pg_extension ON pg_extension.oid = refobjid
                       WHERE x.classid = object.classid AND x.objid = object.objid AND deptype = 'x')),
                  'integer', 'bigint'), 'snowflake.nextval', 'nextval')
        FROM object
        LEFT JOIN pg_description d ON d.classoid = classid AND d.objoid = objid AND d.objsubid = subid
$$;
CREATE TEMPORARY TABLE before AS SELECT * FROM everything();
SELECT snowflake.convert_sequence_to_snowflake('base_id_seq');
CREATE TEMPORARY TABLE after AS SELECT * FROM everything();
SELECT count(*) > 130 AS compared FROM before;
-- Nothing else has changed.
SELECT * FROM (
    SELECT 'before' AS state, * FROM (TABLE before EXCEPT TABLE after) b
    UNION ALL
    SELECT 'after', * FROM (TABLE after EXCEPT TABLE before) a) difference
ORDER BY object COLLATE "C", state DESC, fact COLLATE "C";

SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'dep' AND data_type = 'integer' ORDER BY 1, 2;
INSERT INTO v1 (id, t) VALUES (DEFAULT, DEFAULT) RETURNING snowflake.get_node(id), t;
INSERT INTO gen (id) SELECT max(id) FROM base RETURNING snowflake.get_node(id), code = 'G' || id AS code, twice = id * 2 AS twice;
SELECT count(*) FROM v5;
SELECT * FROM m1;
REFRESH MATERIALIZED VIEW m2;
SELECT (whole).id = (wholes[1]).id AS same FROM m3;

-- A materialized view is filled when the policies are there again by which its owner sees rows.
CREATE TABLE secret (id serial PRIMARY KEY);
INSERT INTO secret DEFAULT VALUES;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY positive ON secret USING (id > 0);
GRANT SELECT ON secret TO regress_snowflake_owner;
CREATE MATERIALIZED VIEW shown AS SELECT id FROM secret;
ALTER MATERIALIZED VIEW shown OWNER TO regress_snowflake_owner;
SELECT snowflake.convert_sequence_to_snowflake('secret_id_seq');
SELECT * FROM shown;

SET client_min_messages = warning;
DROP PUBLICATION regress_snowflake_pub1, regress_snowflake_pub2;
DROP SCHEMA dep CASCADE;
DROP TABLESPACE regress_snowflake_space;
DROP TABLE before, after;
DROP ROLE regress_snowflake_owner, "regress_snowflake Reader";
