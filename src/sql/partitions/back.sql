-- The way back: the first partition takes the rows of the others, and the place of the whole.

-- Returns a partitioned table, with the name of the first partition.
CREATE FUNCTION snowflake._partitioned(tab regclass)
    RETURNS snowflake._partitioning
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    p snowflake._partitioning;
BEGIN
    PERFORM snowflake._partition_check(tab);
    SELECT c.oid, c.relowner, n.nspname, c.relname, a.attnum, a.attname, f.relname
        INTO p.tab, p.owner, p.schema, p.relname, p.attnum, p.attname, p.former
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_partitioned_table t ON t.partrelid = c.oid AND t.partstrat = 'r' AND t.partnatts = 1
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = t.partattrs[0]
        JOIN pg_inherits i ON i.inhparent = c.oid
        JOIN pg_class f ON f.oid = i.inhrelid AND f.relnamespace = c.relnamespace
        WHERE c.oid = _partitioned.tab AND pg_get_expr(f.relpartbound, f.oid) LIKE 'FOR VALUES FROM (MINVALUE) TO (%';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no first partition that could take its place', tab
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'That is a partition of all IDs below another, in the same schema.';
    END IF;
    RETURN p;
END
$function$;

-- Lists the publications that would send the rows that are moved, as those of a table that subscribers do not have. A
-- publication that names the table does not: it is taken out meanwhile.
CREATE FUNCTION snowflake._merge_obstacles_of_publications(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('publication %I would send the rows that are moved as new ones of table %I.%I: in one transaction '
                      'ALTER PUBLICATION %1$I SET (publish = %4$L), run the plan, and set it back', b.pubname, p.schema, p.former,
                      concat_ws(', ', CASE WHEN b.pubupdate THEN 'update' END, CASE WHEN b.pubdelete THEN 'delete' END,
                                CASE WHEN b.pubtruncate THEN 'truncate' END))
            FROM pg_publication b
            WHERE b.pubinsert
              AND (b.puballtables
                   OR EXISTS (SELECT FROM pg_publication_namespace n JOIN pg_namespace s ON s.oid = n.pnnspid
                                  WHERE n.pnpubid = b.oid AND s.nspname = p.schema));
END
$function$;

-- Lists the constraints and indexes of the first partition alone, which would become those of the whole table: rows of other
-- partitions need not satisfy them.
CREATE FUNCTION snowflake._merge_obstacles_of_first_partition(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    former constant regclass := format('%I.%I', p.schema, p.former)::regclass;
BEGIN
    RETURN QUERY
        SELECT format('partition %s alone has %s: first drop it, or give it to table %s as well', former, x.what, p.tab)
            FROM (SELECT format('constraint %I', k.conname) FROM pg_constraint k
                      WHERE k.conrelid = former AND k.contype IN ('c', 'f', 'p', 'u', 'x') AND k.conislocal AND k.coninhcount = 0
                  UNION ALL
                  SELECT format('index %s', i.indexrelid::regclass) FROM pg_index i
                      WHERE i.indrelid = former
                        AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
                        AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = former AND k.conindid = i.indexrelid)
                  UNION ALL
                  SELECT format('NOT NULL on column %I', own.attname)
                      FROM pg_attribute a JOIN pg_attribute own ON own.attrelid = former AND own.attname = a.attname
                      WHERE a.attrelid = p.tab AND own.attnum > 0 AND own.attnotnull AND NOT a.attnotnull) x(what);
    -- The rows that are moved have to satisfy it.
    RETURN QUERY
        SELECT format('constraint %I of table %s is not valid: validate it, or drop it and add it again afterwards', k.conname, p.tab)
            FROM pg_constraint k
            WHERE k.conrelid = p.tab AND k.contype IN ('c', 'f') AND k.conparentid = 0 AND NOT k.convalidated AND snowflake._is_enforced(k);
    RETURN QUERY
        SELECT format('partition %s computes column %I in another way than table %s: first let both compute it alike',
                      former, own.attname, p.tab)
            FROM pg_attribute a
            JOIN pg_attribute own ON own.attrelid = former AND own.attname = a.attname
            LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
            LEFT JOIN pg_attrdef o ON o.adrelid = own.attrelid AND o.adnum = own.attnum
            WHERE a.attrelid = p.tab AND own.attnum > 0 AND own.attgenerated <> ''
              AND pg_get_expr(f.adbin, f.adrelid) IS DISTINCT FROM pg_get_expr(o.adbin, o.adrelid);
END
$function$;

-- Raises an error that names everything that keeps a partitioned table from becoming an ordinary one.
CREATE FUNCTION snowflake._require_mergeable(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    obstacles text[];
BEGIN
    obstacles := ARRAY(
        SELECT DISTINCT x COLLATE "C"
            FROM (SELECT snowflake._partition_obstacles_of_replacement(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_links(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_dependents(p, dependents)
                  UNION ALL SELECT snowflake._partition_obstacles_of_makers(p, dependents)
                  UNION ALL SELECT snowflake._merge_obstacles_of_publications(p)
                  -- Each row that is moved is looked for in the tables that it references.
                  UNION ALL
                  SELECT snowflake._obstacles_of_definitions(p.owner, x)
                      FROM (SELECT DISTINCT snowflake._table_kin(k.confrelid)
                                FROM pg_constraint k WHERE k.conrelid = p.tab AND k.contype = 'f') read(x)
                  UNION ALL SELECT snowflake._merge_obstacles_of_first_partition(p)
                  UNION ALL
                  SELECT format('partition %s %s', c.oid::regclass, why.text)
                      FROM pg_inherits i
                      JOIN pg_class c ON c.oid = i.inhrelid
                      CROSS JOIN LATERAL (
                          SELECT 'is no ordinary table: detach it first' WHERE c.relkind <> 'r'
                          -- The whole shows none of its rows any more, but would take it along when it is dropped.
                          UNION ALL SELECT format('is being detached: ALTER TABLE %s DETACH PARTITION %s FINALIZE first',
                                                  p.tab, i.inhrelid::regclass)
                              WHERE i.inhdetachpending
                          UNION ALL SELECT format('is owned by %I: give it to %I, or detach it first', pg_get_userbyid(c.relowner),
                                                  pg_get_userbyid(p.owner)) WHERE c.relowner <> p.owner
                          -- A rule or trigger could change the rows that are moved, or leave some out. A policy of the first
                          -- partition would become one of the table.
                          UNION ALL SELECT format('has a rule, trigger or policy of its own, %I: drop it first', x.name)
                              FROM (SELECT t.tgname FROM pg_trigger t
                                        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgparentid = 0
                                    UNION ALL SELECT r.rulename FROM pg_rewrite r WHERE r.ev_class = c.oid
                                    UNION ALL SELECT y.polname FROM pg_policy y WHERE y.polrelid = c.oid AND c.relname = p.former) x(name)
                          UNION ALL SELECT format('is in publication %I, which would publish the whole table: take it out first', b.pubname)
                              FROM pg_publication_rel r JOIN pg_publication b ON b.oid = r.prpubid
                              WHERE r.prrelid = c.oid AND c.relname = p.former
                          -- Such an object would keep the partition from being dropped, or show all rows of the table.
                          UNION ALL SELECT format('is named by %s: drop that first', snowflake._description_of(d.classid, d.objid))
                              FROM pg_depend d
                              LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
                              WHERE d.deptype = 'n'
                                AND (d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
                                     OR d.refclassid = 'pg_type'::regclass AND d.refobjid = c.reltype)
                                AND coalesce(k.conparentid, 0) = 0 AND snowflake._relation_of(d.classid, d.objid) IS DISTINCT FROM c.oid
                      ) why(text)
                      WHERE i.inhparent = p.tab) o(x)
            ORDER BY 1);
    PERFORM snowflake._require_none(obstacles, format('cannot make table %s an ordinary one', p.tab));
END
$function$;

-- Returns the steps that move all rows into the first partition, and give that and its indexes the names of the whole: views
-- that are made again refer to them. The rights on the first partition alone, its comments and its defaults end: those of the
-- whole take their places. The owner sees all rows where row-level security is not forced; _run_partitioning() makes anything
-- else an error. Foreign keys are checked row by row: a check at the end of the transaction cannot be queued in a
-- security-restricted operation.
CREATE FUNCTION snowflake._merge_steps(p snowflake._partitioning, whole text)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    former constant text := format('%I.%I', p.schema, p.former);
    columns constant text := (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                                  WHERE a.attrelid = p.tab AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '');
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT 1, 0::oid, format('ALTER TABLE %s DETACH PARTITION %s', p.tab, former)
                UNION ALL SELECT 2, 0, format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', p.tab)
                UNION ALL SELECT 2, 1, format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY', former)
                UNION ALL SELECT 2, 2, x FROM snowflake._revocations(former::regclass) x
                UNION ALL SELECT 2, 3, format('COMMENT ON TABLE %s IS NULL', former)
                    WHERE obj_description(former::regclass, 'pg_class') IS NOT NULL
                UNION ALL SELECT 2, 4, format('COMMENT ON TYPE %s IS NULL', former)
                    FROM pg_class c WHERE c.oid = former::regclass AND obj_description(c.reltype, 'pg_type') IS NOT NULL
                UNION ALL SELECT 2, i.indexrelid, format('COMMENT ON INDEX %s IS %L', i.indexrelid::regclass, whole.comment)
                    FROM pg_index i
                    JOIN pg_inherits h ON h.inhrelid = i.indexrelid
                    CROSS JOIN LATERAL obj_description(h.inhparent, 'pg_class') whole(comment)
                    WHERE i.indrelid = former::regclass
                      AND obj_description(i.indexrelid, 'pg_class') IS DISTINCT FROM whole.comment
                UNION ALL SELECT 2, i.indexrelid, x
                    FROM pg_index i
                    JOIN pg_inherits h ON h.inhrelid = i.indexrelid
                    CROSS JOIN LATERAL snowflake._conversion_extensions(
                        'pg_class'::regclass, h.inhparent, format('INDEX %s', i.indexrelid::regclass)) x
                    WHERE i.indrelid = former::regclass
                UNION ALL SELECT 2, k.oid, format('COMMENT ON CONSTRAINT %I ON %s IS %L', k.conname, former, whole.comment)
                    FROM pg_constraint k
                    JOIN pg_constraint w ON w.conrelid = p.tab
                                        AND (w.oid = k.conparentid
                                             OR w.contype IN ('c', 'n') AND w.contype = k.contype AND w.conname = k.conname)
                    CROSS JOIN LATERAL obj_description(w.oid, 'pg_constraint') whole(comment)
                    WHERE k.conrelid = former::regclass
                      AND obj_description(k.oid, 'pg_constraint') IS DISTINCT FROM whole.comment
                UNION ALL SELECT 2, a.attnum::oid, x.command
                    FROM pg_attribute a
                    JOIN pg_attribute own ON own.attrelid = former::regclass AND own.attname = a.attname
                    LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
                    LEFT JOIN pg_attrdef o ON o.adrelid = own.attrelid AND o.adnum = own.attnum
                    CROSS JOIN LATERAL (
                        SELECT format('COMMENT ON COLUMN %s.%I IS NULL', former, own.attname)
                            WHERE col_description(own.attrelid, own.attnum) IS NOT NULL
                        UNION ALL
                        SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I ', former, own.attname)
                               || coalesce('SET DEFAULT ' || pg_get_expr(f.adbin, f.adrelid), 'DROP DEFAULT')
                            WHERE a.attgenerated = '' AND pg_get_expr(f.adbin, f.adrelid) IS DISTINCT FROM pg_get_expr(o.adbin, o.adrelid)
                    ) x(command)
                    WHERE a.attrelid = p.tab AND a.attnum > 0 AND NOT a.attisdropped
                UNION ALL SELECT late.turn, k.oid, format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY %s',
                                                          former, k.conname, late.checked)
                    FROM pg_constraint k
                    CROSS JOIN (VALUES (2, 'IMMEDIATE'), (4, 'DEFERRED')) late(turn, checked)
                    WHERE k.conrelid = former::regclass AND k.contype = 'f' AND k.condeferred
                UNION ALL SELECT 3, 0, format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s',
                                              former, columns, columns, p.tab)
                UNION ALL SELECT 4, s.seq, format('ALTER SEQUENCE %s OWNED BY %s.%I', s.seq, former, s.attname)
                    FROM snowflake._sequences_of_table(p.tab) s
                UNION ALL SELECT 5, t.oid, format('DROP STATISTICS %I.%I', n.nspname, t.stxname)
                    FROM pg_statistic_ext t JOIN pg_namespace n ON n.oid = t.stxnamespace WHERE t.stxrelid = former::regclass
                UNION ALL SELECT 6, 0, format('ALTER TABLE %s RENAME TO %I', p.tab, whole)
                UNION ALL SELECT 7, 0, format('ALTER TABLE %s RENAME TO %I', former, p.relname)
                UNION ALL SELECT 8 + x.turn, h.inhrelid, x.command
                    FROM pg_index i
                    JOIN pg_inherits h ON h.inhrelid = i.indexrelid
                    JOIN pg_class named ON named.oid = h.inhparent
                    CROSS JOIN LATERAL (VALUES
                        (0, format('ALTER INDEX %s RENAME TO %I', named.oid::regclass,
                                   snowflake._free_name(p.schema, 'snowflake_' || named.oid))),
                        (1, format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass, named.relname))) x(turn, command)
                    WHERE i.indrelid = former::regclass
            ) x(turn, object, command)
            CROSS JOIN LATERAL snowflake._step(x.command, p.owner) step
            ORDER BY x.turn, x.object;
END
$function$;

-- Returns all steps of the way back. Views and routines would keep the server from dropping the partitioned table.
CREATE FUNCTION snowflake._return_steps(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    remade constant snowflake._conversion_dependent[] := snowflake._remade(dependents);
    whole constant text := snowflake._free_name(p.schema, snowflake._name_with(p.relname, '_whole')::text);
BEGIN
    RETURN QUERY SELECT * FROM snowflake._kinds_drops(remade);
    RETURN QUERY SELECT * FROM snowflake._reference_steps(p, drops => true);
    RETURN QUERY SELECT * FROM snowflake._merge_steps(p, whole);
    RETURN QUERY SELECT * FROM snowflake._replacement_steps(dependents);
    RETURN NEXT snowflake._step(format('DROP TABLE %I.%I', p.schema, whole), p.owner);
    RETURN QUERY SELECT * FROM snowflake._parent_settings(p);
    RETURN QUERY SELECT * FROM snowflake._kinds_remakes(remade);
    RETURN QUERY SELECT * FROM snowflake._reference_steps(p, drops => false);
END
$function$;

-- Returns the size of the rows that the way back moves.
CREATE FUNCTION snowflake._size_to_move(p snowflake._partitioning)
    RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT coalesce(sum(pg_relation_size(c.oid)), 0) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = p.tab AND c.relname <> p.former);
END
$function$;

-- Returns what is left to do until a table is an ordinary one again.
CREATE FUNCTION snowflake._steps_to_ordinary(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    size constant bigint := snowflake._size_to_move(p);
BEGIN
    RETURN NEXT snowflake._step(
        format('SELECT snowflake._merge_partitions(%L)', p.tab), NULL,
        format('moves the rows of all other partitions (%s) into %I.%I, which becomes table %s; ACCESS EXCLUSIVE locks all the while',
               pg_size_pretty(size), p.schema, p.former, p.tab), size => size);
    RETURN QUERY SELECT * FROM snowflake._reference_validations(p.tab, only_invalid => false);
END
$function$;
