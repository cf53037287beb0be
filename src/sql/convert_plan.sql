-- All commands of the conversion, in order.

CREATE FUNCTION snowflake.conversion_plan(
        seq regclass,
        OUT step integer, OUT command text,
        OUT effect text,      -- what the command means, where it does not say so itself
        OUT rewrites regclass, -- the table that it rewrites, with all that inherit from it
        OUT size bigint,      -- their size in bytes
        OUT role name)        -- with whose rights the command runs; NULL: the caller's
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
DECLARE
    guard constant bigint := 9223372036854775807;
    s record;
    columns snowflake.conversion_column[];
    dependents snowflake.conversion_dependent[];
    identity record;
    o record;
    obstacles text[];
    is_ours boolean;
BEGIN
    PERFORM snowflake.conversion_check(seq);
    SELECT c.oid, c.relname, c.relowner, c.relpersistence, q.* INTO s
        FROM pg_class c JOIN pg_sequence q ON q.seqrelid = c.oid
        WHERE c.oid = seq;
    step := 0;
    columns := ARRAY(SELECT c FROM snowflake.conversion_columns(seq) c);
    dependents := ARRAY(SELECT d FROM snowflake.conversion_dependents(columns) d);

    obstacles := ARRAY(SELECT x FROM snowflake.conversion_obstacles(seq, columns, dependents) x
                           ORDER BY x COLLATE "C");
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;
    -- Converted already, and nothing has come to use it since. An increment above 1 is then a stride
    -- that somebody has chosen.
    is_ours := EXISTS (SELECT FROM unnest(columns) WHERE old_default IS NOT NULL AND new_default IS NULL);
    IF (s.seqincrement = guard OR is_ours AND s.seqincrement > 1)
       AND NOT EXISTS (SELECT FROM unnest(columns) WHERE new_default IS NOT NULL OR widened) THEN
        RETURN;
    END IF;

    -- Out of the way, the outermost first.
    FOR o IN
        SELECT d.kind,
               coalesce(CASE WHEN d.kind = 'view' THEN '' ELSE 'of ' END || d.relid,
                        d.objid::regprocedure::text) AS subject,
               CASE d.kind
                   WHEN 'publication' THEN
                       (SELECT format('ALTER PUBLICATION %I DROP TABLE ONLY %s', p.pubname, d.relid)
                            FROM pg_publication_rel b JOIN pg_publication p ON p.oid = b.prpubid
                            WHERE b.oid = d.objid)
                   WHEN 'policy' THEN
                       (SELECT format('DROP POLICY %I ON %s', polname, d.relid)
                            FROM pg_policy WHERE oid = d.objid)
                   WHEN 'rule' THEN
                       (SELECT format('DROP RULE %I ON %s', rulename, d.relid)
                            FROM pg_rewrite WHERE oid = d.objid)
                   WHEN 'trigger' THEN
                       (SELECT format('DROP TRIGGER %I ON %s', tgname, d.relid)
                            FROM pg_trigger WHERE oid = d.objid)
                   WHEN 'view' THEN
                       (SELECT format('DROP %s %s', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW'
                                                                 ELSE 'VIEW' END, d.relid)
                            FROM pg_class WHERE oid = d.relid)
                   WHEN 'routine' THEN format('DROP ROUTINE %s', d.objid::regprocedure)
                   WHEN 'index' THEN format('DROP INDEX %s', d.objid::regclass)
                   WHEN 'constraint' THEN
                       (SELECT format('ALTER TABLE ONLY %s DROP CONSTRAINT %I', d.relid, conname)
                            FROM pg_constraint WHERE oid = d.objid)
                   WHEN 'generated' THEN
                       (SELECT format('ALTER TABLE ONLY %s DROP COLUMN %I', d.relid, a.attname)
                            FROM pg_attrdef f
                            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                            WHERE f.oid = d.objid)
               END AS drop_command
            FROM unnest(dependents) d
            WHERE d.kind IN ('publication', 'policy', 'rule', 'trigger', 'view', 'routine', 'generated')
               -- The others go with their view or column.
               OR d.kind = 'index' AND d.depth = 1
               OR d.kind = 'constraint'
                  AND EXISTS (SELECT FROM pg_constraint WHERE oid = d.objid AND contype = 'x')
            ORDER BY d.kind IN ('view', 'routine', 'generated'), d.depth DESC, d.objid DESC
    LOOP
        step := step + 1;
        command := o.drop_command;
        effect := format('%s %s, made again below', o.kind, o.subject);
        RETURN NEXT;
    END LOOP;

    -- An identity column cannot have a default of its own, and its sequence goes with the identity:
    -- a new one takes its name and its place.
    SELECT c.*, t.relowner, a.attidentity, n.nspname,
           -- A name that nobody has taken, for the time that there are two sequences.
           (SELECT x.name
                FROM generate_series(0, 1000) i
                CROSS JOIN LATERAL (SELECT concat_ws('_', 'snowflake', s.oid, nullif(i, 0))) x(name)
                WHERE NOT EXISTS (SELECT FROM pg_class
                                      WHERE relnamespace = n.oid AND relname = x.name)
                ORDER BY i LIMIT 1) AS substitute
        INTO identity
        FROM unnest(columns) c
        JOIN pg_class t ON t.oid = c.relid
        JOIN pg_class q ON q.oid = seq
        JOIN pg_namespace n ON n.oid = q.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
        WHERE c.is_identity;
    IF FOUND THEN
        FOR o IN
            SELECT * FROM unnest(columns)
                WHERE old_default IS NOT NULL
                  -- Those of views that are out of the way went with them.
                  AND relid NOT IN (SELECT d.relid FROM unnest(dependents) d WHERE d.kind = 'view')
                ORDER BY relid::oid, attnum
        LOOP
            step := step + 1;
            command := format('ALTER TABLE ONLY %s ALTER COLUMN %I DROP DEFAULT', o.relid, o.attname);
            effect := 'set again below';
            RETURN NEXT;
        END LOOP;
        step := step + 1;
        command := format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', seq, guard);
        effect := format('guards the sequence; SHARE ROW EXCLUSIVE lock on %s', seq);
        RETURN NEXT;
        step := step + 1;
        command := format('CREATE %sSEQUENCE %I.%I AS bigint INCREMENT BY %s MINVALUE %s START WITH %s CACHE %s',
                          CASE s.relpersistence WHEN 'u' THEN 'UNLOGGED ' WHEN 't' THEN 'TEMPORARY ' END,
                          identity.nspname, identity.substitute, guard, s.seqmin, s.seqstart, s.seqcache);
        effect := format('takes the place of %s', seq);
        RETURN NEXT;
        step := step + 1;
        command := format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s',
                          format('%I.%I', identity.nspname, identity.substitute), seq);
        effect := 'goes on after the last value';
        RETURN NEXT;
        step := step + 1;
        command := format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', identity.relid, identity.attname);
        effect := format('ACCESS EXCLUSIVE lock on %s%s', identity.relid,
                         CASE identity.attidentity WHEN 'a' THEN '; GENERATED ALWAYS is no longer enforced'
                         END);
        RETURN NEXT;
        step := step + 1;
        command := format('ALTER SEQUENCE %I.%I RENAME TO %I', identity.nspname, identity.substitute, s.relname);
        effect := NULL;
        RETURN NEXT;
        IF s.relowner <> quote_ident(current_user)::regrole THEN
            step := step + 1;
            command := format('ALTER SEQUENCE %s OWNER TO %I', seq, pg_get_userbyid(s.relowner));
            RETURN NEXT;
        END IF;
        step := step + 1;
        command := format('ALTER SEQUENCE %s OWNED BY %s.%I', seq, identity.relid, identity.attname);
        RETURN NEXT;
        FOR o IN
            SELECT x.command, x.role FROM snowflake.conversion_rights('pg_class'::regclass, seq) x
            UNION ALL SELECT x, NULL FROM snowflake.conversion_annotations(
                'pg_class'::regclass, seq, format('SEQUENCE %s', seq)) x
        LOOP
            step := step + 1;
            command := o.command;
            role := pg_get_userbyid(o.role);
            RETURN NEXT;
        END LOOP;
        role := NULL;
    END IF;

    -- The columns, each table in one go: types first, for the table and all that inherit from it.
    FOR o IN
        SELECT t.relid,
               string_agg(concat('ALTER COLUMN ' || quote_ident(n.attname) || ' DROP NOT NULL, ',
                                 format('ALTER COLUMN %I TYPE bigint', t.attname),
                                 ', ADD CONSTRAINT ' || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid)),
                          ', ' ORDER BY t.attnum) AS actions,
               (SELECT string_agg(
                           -- Made from wider values, it needs the width itself.
                           concat(format(', ADD COLUMN %I %s', a.attname,
                                         CASE WHEN a.atttypid IN ('smallint'::regtype, 'integer'::regtype)
                                              THEN 'bigint' ELSE format_type(a.atttypid, a.atttypmod) END),
                                  CASE WHEN a.attcollation <> y.typcollation
                                       THEN ' COLLATE ' || a.attcollation::regcollation END,
                                  ' GENERATED ALWAYS AS (', pg_get_expr(f.adbin, f.adrelid),
                                  CASE a.attgenerated WHEN 'v' THEN ') VIRTUAL' ELSE ') STORED' END,
                                  CASE WHEN a.attnotnull THEN
                                      (SELECT format(' CONSTRAINT %I', conname) FROM pg_constraint
                                           WHERE conrelid = a.attrelid AND contype = 'n'
                                             AND conkey = ARRAY[a.attnum])
                                  END,
                                  CASE WHEN a.attnotnull THEN ' NOT NULL' END), '' ORDER BY a.attnum)
                    FROM unnest(dependents) g
                    JOIN pg_attrdef f ON f.oid = g.objid
                    JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                    JOIN pg_type y ON y.oid = a.atttypid
                    WHERE g.kind = 'generated' AND g.relid = t.relid) AS generated,
               (WITH RECURSIVE tree(relid) AS (
                    SELECT t.relid::oid
                    UNION SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.relid)
                SELECT sum(pg_total_relation_size(tree.relid))::bigint FROM tree) AS size
            FROM unnest(columns) t
            LEFT JOIN snowflake.conversion_not_nulls(columns) n ON n.relid = t.relid AND n.attnum = t.attnum
            LEFT JOIN pg_constraint k ON k.oid = n.conid
            WHERE t.widened AND NOT t.is_inherited
            GROUP BY t.relid
            ORDER BY t.relid::oid
    LOOP
        step := step + 1;
        command := concat('ALTER TABLE ', o.relid, ' ', o.actions, o.generated);
        rewrites := o.relid;
        size := o.size;
        effect := format('rewrites table %s (%s); ACCESS EXCLUSIVE lock', o.relid, pg_size_pretty(size));
        role := pg_get_userbyid(snowflake._table_role(o.relid));
        RETURN NEXT;
    END LOOP;
    role := NULL;
    rewrites := NULL;
    size := NULL;
    effect := NULL;
    FOR command IN
        SELECT snowflake.conversion_annotations('pg_constraint'::regclass, k.oid,
                                                format('CONSTRAINT %I ON %s', k.conname, n.relid))
            FROM snowflake.conversion_not_nulls(columns) n JOIN pg_constraint k ON k.oid = n.conid
    LOOP
        step := step + 1;
        RETURN NEXT;
    END LOOP;

    -- A default of a view is set when the view is there again.
    FOR o IN
        SELECT c.relid, t.relkind,
               string_agg(format('ALTER COLUMN %I SET DEFAULT %s', c.attname, c.new_default), ', '
                          ORDER BY c.attnum) AS actions,
               snowflake._default_role(c.relid, array_agg(c.attrdef)) AS role
            FROM unnest(columns) c JOIN pg_class t ON t.oid = c.relid
            WHERE c.new_default IS NOT NULL AND t.relkind <> 'v'
            GROUP BY c.relid, t.relkind
            ORDER BY c.relid::oid
    LOOP
        step := step + 1;
        command := format('ALTER TABLE ONLY %s %s', o.relid, o.actions);
        effect := format('ACCESS EXCLUSIVE lock on %s', o.relid);
        role := pg_get_userbyid(o.role);
        RETURN NEXT;
    END LOOP;
    role := NULL;

    IF identity IS NULL THEN
        step := step + 1;
        command := format('ALTER SEQUENCE %s AS bigint INCREMENT BY %s NO MAXVALUE NO CYCLE', seq, guard);
        effect := format('guards the sequence; SHARE ROW EXCLUSIVE lock on %s', seq);
        RETURN NEXT;
        -- The guard works above a value that counts as taken: beyond it the next step leaves bigint.
        step := step + 1;
        command := format('SELECT pg_catalog.setval(%L, greatest(last_value, 1)) FROM %s', seq, seq);
        effect := 'steps past the last value';
        RETURN NEXT;
    END IF;

    -- And back again what was in the way, the innermost first. Materialized views are filled when all
    -- is there: without its policies a table would show nothing to who does not own it.
    FOR o IN
        SELECT d.kind,
               coalesce(CASE WHEN d.kind = 'view' THEN '' ELSE 'on ' END || d.relid,
                        d.objid::regprocedure::text) AS subject,
               x.command AS definition, x.role, n
            FROM unnest(dependents) d
            CROSS JOIN LATERAL snowflake.conversion_definition(d.kind, d.objid) WITH ORDINALITY x(command, role, n)
            ORDER BY x.command LIKE 'REFRESH %', d.depth,
                     array_position(ARRAY['generated', 'index', 'constraint', 'statistics', 'view'], d.kind),
                     d.objid, n
    LOOP
        step := step + 1;
        command := o.definition;
        role := pg_get_userbyid(o.role);
        effect := CASE WHEN o.n = 1 AND o.kind <> 'generated'
                       THEN format('%s %s as before', o.kind, o.subject) END;
        RETURN NEXT;
    END LOOP;
    FOR o IN
        SELECT c.relid, c.attname, c.new_default,
               snowflake._default_role(c.relid, ARRAY[c.attrdef]) AS role
            FROM unnest(columns) c JOIN pg_class t ON t.oid = c.relid
            WHERE c.new_default IS NOT NULL AND t.relkind = 'v'
            ORDER BY c.relid::oid, c.attnum
    LOOP
        step := step + 1;
        role := pg_get_userbyid(o.role);
        command := format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', o.relid, o.attname, o.new_default);
        effect := NULL;
        RETURN NEXT;
    END LOOP;

    FOR effect IN SELECT snowflake._conversion_strangers(seq, columns)
    LOOP
        step := step + 1;
        command := NULL;
        role := NULL;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION snowflake.conversion_plan(regclass) IS
    'the commands that convert_sequence_to_snowflake would run, in order, and what each of them means';
