-- Obstacles to partitioning a table. Each is named before anything is changed, with the way that is open.

-- Lists what a table is, or is part of, that cannot become partitioned.
CREATE FUNCTION snowflake._partition_obstacles_of_table(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('table %s %s', p.tab, why.text)
            FROM pg_class t
            CROSS JOIN LATERAL (
                SELECT 'is a partition: make partitions of it, and attach these to the whole' WHERE t.relispartition
                UNION ALL SELECT 'inherits from another, or has tables that inherit from it: ALTER TABLE ... NO INHERIT ... first'
                    WHERE NOT t.relispartition AND EXISTS (SELECT FROM pg_inherits WHERE t.oid IN (inhrelid, inhparent))
                UNION ALL SELECT 'is temporary: make it partitioned when it is created' WHERE t.relpersistence = 't'
                UNION ALL SELECT format('is unlogged: ALTER TABLE %s SET LOGGED first', p.tab) WHERE t.relpersistence = 'u'
                UNION ALL SELECT format('is of the type %s: ALTER TABLE %s NOT OF first',
                                        t.reloftype::regtype, p.tab) WHERE t.reloftype <> 0
                UNION ALL SELECT 'is not stored as a heap: move its rows into a new partitioned table'
                    WHERE t.relam <> (SELECT oid FROM pg_am WHERE amname = 'heap')
                UNION ALL SELECT format('is a member of extension %I: ALTER EXTENSION %1$I DROP TABLE %s first', x.extname, p.tab)
                    FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
                    WHERE d.classid = 'pg_class'::regclass AND d.objid = t.oid AND d.deptype = 'e'
                UNION ALL SELECT format('has its replica identity in index %s: ALTER TABLE %s REPLICA IDENTITY DEFAULT first',
                                        i.indexrelid::regclass, p.tab)
                    FROM pg_index i WHERE i.indrelid = t.oid AND i.indisreplident AND t.relreplident = 'i'
                UNION ALL SELECT format('is clustered on index %s: ALTER TABLE %s SET WITHOUT CLUSTER first', i.indexrelid::regclass, p.tab)
                    FROM pg_index i WHERE i.indrelid = t.oid AND i.indisclustered
                UNION ALL SELECT 'has a row type with rights of its own: REVOKE these, and GRANT them again afterwards'
                    FROM pg_type y WHERE y.oid = t.reltype AND y.typacl IS NOT NULL
                UNION ALL SELECT format('has columns that are being widened without a lock: finish that first')
                    WHERE EXISTS (SELECT FROM snowflake._shadow_pairs(ARRAY[t.oid]))
            ) why(text)
            WHERE t.oid = p.tab;
    RETURN QUERY
        SELECT format('column %I of table %s %s', a.attname, p.tab, why.text)
            FROM pg_attribute a
            CROSS JOIN LATERAL (
                SELECT format('is %s: %s first', format_type(a.atttypid, a.atttypmod),
                              CASE snowflake._base_type(a.atttypid)
                                   WHEN 'bigint'::regtype
                                   THEN snowflake._typed_by(p.owner, format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint', p.tab, a.attname))
                                   ELSE 'convert its sequence' END)
                    WHERE a.atttypid NOT IN ('bigint'::regtype, 'snowflake.id'::regtype)
                UNION ALL SELECT 'is generated: name another column' WHERE a.attgenerated <> ''
                UNION ALL SELECT 'has a default that makes no snowflake IDs: convert its sequence first'
                    WHERE a.atthasdef AND a.attgenerated = ''
                      AND NOT EXISTS (SELECT FROM snowflake._columns_of_ids(p.tab) k WHERE k.attnum = p.attnum)
                UNION ALL
                SELECT format('may be null: %s first',
                              snowflake._typed_by(p.owner, format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', p.tab, a.attname)))
                    WHERE NOT a.attnotnull
            ) why(text)
            WHERE a.attrelid = p.tab AND a.attnum = p.attnum;
END
$function$;

-- Lists what keeps another table from taking the name and the place of a table: what knows that by its OID, and a right.
CREATE FUNCTION snowflake._partition_obstacles_of_replacement(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('table %s has an identity, column %I: convert its sequence first', p.tab, a.attname)
            FROM pg_attribute a WHERE a.attrelid = p.tab AND a.attidentity <> '' AND NOT a.attisdropped;
    RETURN QUERY
        SELECT format('foreign key %I of table %s references the table itself, and would be checked under the lock: '
                      'drop it, and add it again afterwards', k.conname, p.tab)
            FROM pg_constraint k WHERE k.conrelid = p.tab AND k.confrelid = p.tab AND k.contype = 'f' AND k.conparentid = 0;
    -- A subscription finds the new table by name, and passes over its rows without a word.
    RETURN QUERY
        SELECT format('table %s is in a subscription: do that where its rows come from, or drop the subscription first', p.tab)
            WHERE EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = p.tab);
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_replicators(p.tab, 'would pass over its rows: take it out first');
    RETURN QUERY
        SELECT format('%I may not create objects in schema %I: GRANT CREATE ON SCHEMA %2$I TO %1$I', pg_get_userbyid(p.owner), p.schema)
            WHERE NOT has_schema_privilege(p.owner, p.schema::text, 'CREATE');
    RETURN QUERY
        SELECT format('%s uses the row type of table %s: drop it, and make it again afterwards',
                      snowflake._description_of(d.classid, d.objid), p.tab)
            FROM pg_class t
            JOIN pg_type y ON y.oid = t.reltype
            JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
            WHERE t.oid = p.tab AND d.deptype <> 'i';
END
$function$;

-- Lists the constraints and indexes that partitioned tables cannot have, or that would be checked under the lock.
CREATE FUNCTION snowflake._partition_obstacles_of_keys(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s of table %s %s',
                      coalesce(CASE k.contype WHEN 'p' THEN 'primary key ' || quote_ident(k.conname)
                                              WHEN 'x' THEN 'exclusion constraint ' || quote_ident(k.conname)
                                              WHEN 'u' THEN 'unique constraint ' || quote_ident(k.conname) END,
                               'index ' || i.indexrelid::regclass::text), p.tab, why.text)
            FROM pg_index i
            LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
            CROSS JOIN LATERAL (
                SELECT 'is one that partitioned tables cannot have: drop it, and give it to each partition' WHERE i.indisexclusion
                UNION ALL
                SELECT format('does not contain column %I, and partitioned tables can have none that does not: %s', p.attname,
                              CASE WHEN i.indisprimary
                                   THEN format('make the primary key (%I), or one that contains it', p.attname)
                                   ELSE 'drop it, and give it to each partition if it need not hold across them' END)
                    WHERE i.indisunique AND NOT i.indisexclusion
                      AND p.attnum <> ALL ((i.indkey::smallint[])[0:i.indnkeyatts - 1])
                UNION ALL
                SELECT format('is not valid: REINDEX INDEX CONCURRENTLY %s, or drop it', i.indexrelid::regclass)
                    WHERE NOT (i.indisvalid AND i.indisready AND i.indislive)
                UNION ALL
                SELECT 'names the whole row: make it again without'
                    WHERE (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
                      AND snowflake._expressions_with_names('pg_class', i.indexrelid, p.tab, '{}', '{}') IS NULL
            ) why(text)
            WHERE i.indrelid = p.tab;
    RETURN QUERY
        SELECT format('%s %I of table %s %s',
                      CASE k.contype WHEN 'f' THEN 'foreign key' WHEN 'n' THEN 'not-null constraint' ELSE 'check' END,
                       k.conname, p.tab, why.text)
            FROM pg_constraint k
            CROSS JOIN LATERAL (
                -- The parts of a valid foreign key to a partitioned table can say that they are not valid.
                SELECT format('is not valid: %s first',
                              snowflake._typed_by(p.owner, format('ALTER TABLE %s VALIDATE CONSTRAINT %I', p.tab, k.conname)))
                    WHERE NOT k.convalidated AND k.conparentid = 0 AND snowflake._is_enforced(k)
                      AND NOT (k.conname = snowflake._limit_name() AND p.is_limited IS NOT NULL)
                UNION ALL
                SELECT 'is NOT ENFORCED: drop it, and add it again afterwards' WHERE NOT snowflake._is_enforced(k)
                UNION ALL
                SELECT format('is NO INHERIT: make it again without') WHERE k.connoinherit AND k.contype IN ('c', 'n')
                UNION ALL
                SELECT 'names the whole row: make it again without'
                    WHERE k.contype = 'c' AND snowflake._expressions_with_names('pg_constraint', k.oid, p.tab, '{}', '{}') IS NULL
                UNION ALL
                SELECT format('has a name that is kept for another: ALTER TABLE %s RENAME CONSTRAINT %I TO ...', p.tab, k.conname)
                    WHERE k.conname = snowflake._limit_name() AND p.is_limited IS NULL
            ) why(text)
            WHERE k.conrelid = p.tab AND k.contype IN ('c', 'n', 'f');
END
$function$;

-- Lists the foreign keys, in either direction, that cannot be made again.
CREATE FUNCTION snowflake._partition_obstacles_of_links(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('foreign key %I of table %s %s', k.conname, k.conrelid::regclass, why.text)
            FROM pg_constraint k
            JOIN pg_class c ON c.oid = k.conrelid
            JOIN pg_class r ON r.oid = k.confrelid
            JOIN pg_class other ON other.oid = CASE k.conrelid WHEN p.tab THEN k.confrelid ELSE k.conrelid END
            CROSS JOIN LATERAL (
                SELECT format('is owned by %I', pg_get_userbyid(c.relowner)) WHERE NOT snowflake._may_become(c.relowner)
                UNION ALL
                SELECT format('is one of a partitioned table, which would be read under the lock (%s): '
                              'drop it, and add it again afterwards',
                              pg_size_pretty((SELECT sum(pg_table_size(x)) FROM snowflake._table_tree(k.conrelid) x)))
                    WHERE c.relkind = 'p' AND k.conrelid <> p.tab
                UNION ALL
                SELECT 'is enforced by triggers that are disabled, or fire on replicas: drop it, and add it again afterwards'
                    WHERE EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled <> 'O')
                UNION ALL
                SELECT format('cannot be made again: %I may not reference table %s: GRANT REFERENCES ON %2$s TO %1$I',
                              pg_get_userbyid(c.relowner), k.confrelid::regclass)
                    WHERE EXISTS (SELECT FROM unnest(k.confkey) key(attnum)
                                      WHERE NOT has_column_privilege(c.relowner, k.confrelid, key.attnum, 'REFERENCES'))
                UNION ALL
                -- To make the key, and to attach what has it, touches the tables of both.
                SELECT format('links tables of %I and %I, who may not act for each other: '
                              'give both tables to one owner, or drop the key, and add it again afterwards',
                              pg_get_userbyid(c.relowner), pg_get_userbyid(r.relowner))
                    WHERE NOT (snowflake._may_act_for(c.relowner, r.relowner) AND snowflake._may_act_for(r.relowner, c.relowner))
                UNION ALL
                -- _validate() runs as the owner of the key. What the owner of the table runs is looked at elsewhere.
                SELECT DISTINCT 'cannot be validated: ' || o
                    FROM (SELECT snowflake._table_tree(k.conrelid) UNION SELECT pg_partition_ancestors(k.conrelid)
                          UNION SELECT snowflake._table_tree(p.tab) WHERE c.relowner <> p.owner) x(relid)
                    CROSS JOIN LATERAL snowflake._obstacles_of_definitions(c.relowner, x.relid) o
                    WHERE k.confrelid = p.tab AND k.conparentid = 0 AND k.convalidated
                UNION ALL
                SELECT format('links it to table %s, which is temporary: drop it first', other.oid::regclass)
                    WHERE other.relpersistence = 't'
            ) why(text)
            WHERE k.oid IN (SELECT x.oid FROM snowflake._keys_to_table(p.tab) x
                            UNION SELECT x.oid FROM pg_constraint x WHERE x.conrelid = p.tab AND x.contype = 'f' AND x.confrelid <> p.tab);
END
$function$;

-- Lists the dependents of a table that cannot be made again on a partitioned one.
CREATE FUNCTION snowflake._partition_obstacles_of_dependents(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('trigger %I of table %s fires for each row and names transition tables, which a partition cannot have: '
                      'let it fire for each statement, or drop it', t.tgname, p.tab)
            FROM pg_trigger t
            WHERE t.tgrelid = p.tab AND (t.tgtype & 1) = 1 AND (t.tgoldtable IS NOT NULL OR t.tgnewtable IS NOT NULL);
    RETURN QUERY
        SELECT format('%s %s', CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass,
                      CASE c.relkind WHEN 'm' THEN 'would be filled again under the lock' ELSE 'is temporary' END
                      || ': drop it, and make it again afterwards')
            FROM unnest(dependents) d
            JOIN pg_class c ON c.oid = d.relid
            WHERE d.kind = 'view' AND (c.relkind = 'm' OR c.relpersistence = 't');
    RETURN QUERY
        SELECT format('%s depends on table %s: drop it, and make it again afterwards', snowflake._description_of(o.classid, o.objid), p.tab)
            FROM snowflake._objects_on_table(p.tab) o
            LEFT JOIN pg_class c ON o.classid = 'pg_class'::regclass AND c.oid = o.objid
            LEFT JOIN pg_proc f ON o.classid = 'pg_proc'::regclass AND f.oid = o.objid
            WHERE CASE o.classid WHEN 'pg_class'::regclass THEN c.relkind NOT IN ('i', 'I', 't', 'S', 'r', 'p', 'f')
                                 WHEN 'pg_proc'::regclass THEN f.prokind = 'a'
                                 ELSE o.classid NOT IN ('pg_constraint'::regclass, 'pg_attrdef'::regclass, 'pg_trigger'::regclass,
                                                        'pg_policy'::regclass, 'pg_rewrite'::regclass, 'pg_publication_rel'::regclass,
                                                        'pg_statistic_ext'::regclass) END;
    RETURN QUERY
        SELECT format('%s reads or changes table %s with ONLY, and would mean other rows: make it again without',
                      snowflake._description_of(d.classid, d.objid), p.tab)
            FROM unnest(dependents) d
            WHERE EXISTS (SELECT FROM snowflake._relations_named_with_only(d.classid, d.objid) named WHERE named = p.tab OR named IS NULL);
    -- Subscribers know the table, and none of its partitions.
    RETURN QUERY
        SELECT format('table %s is in publication %I, which would publish its partitions under their own names: '
                      'ALTER PUBLICATION %2$I SET (publish_via_partition_root) first', p.tab, b.pubname)
            FROM snowflake._publications_of(p.tab) x
            JOIN pg_publication b ON b.oid = x
            WHERE NOT b.pubviaroot;
    RETURN QUERY
        SELECT format('publication %I leaves out table %s, and cannot leave out a partition: take the table out of its EXCEPT first',
                      b.pubname, p.tab)
            FROM pg_publication_rel r
            JOIN pg_publication b ON b.oid = r.prpubid AND b.puballtables
            WHERE r.prrelid = p.tab;
END
$function$;

-- Lists the names that are taken, and the rights that the owner needs to make a table.
CREATE FUNCTION snowflake._partition_obstacles_of_names(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s %I.%I, the name of a partition, exists already: rename it, or choose another "since"', taken.what, p.schema, x.name)
            FROM (SELECT a.name FROM snowflake._partitions_ahead(p) a UNION ALL SELECT p.former) x(name)
            CROSS JOIN (SELECT quote_ident(p.schema)::regnamespace::oid) home(oid)
            CROSS JOIN LATERAL (
                SELECT 'relation' FROM pg_class c WHERE c.relname = x.name AND c.relnamespace = home.oid
                UNION ALL
                -- Each table gets a type. The server itself renames the type of an array.
                SELECT 'type' FROM pg_type y
                    WHERE y.typname = x.name AND y.typnamespace = home.oid AND y.typrelid = 0
                      AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = y.oid)) taken(what);
    RETURN QUERY
        SELECT format('the partitions would have the same name, %I: rename table %s to a shorter one', x.name, p.tab)
            FROM (SELECT a.name FROM snowflake._partitions_ahead(p) a UNION ALL SELECT p.former) x(name)
            GROUP BY x.name HAVING count(*) > 1;
    RETURN QUERY
        SELECT format('%I may not use type %s of table %s: GRANT USAGE ON TYPE %2$s TO %1$I', pg_get_userbyid(p.owner),
                      a.atttypid::regtype, p.tab)
            FROM pg_attribute a
            WHERE a.attrelid = p.tab AND a.attnum > 0 AND NOT a.attisdropped AND NOT has_type_privilege(p.owner, a.atttypid, 'USAGE');
    RETURN QUERY
        SELECT format('%I may not create objects in tablespace %I: GRANT CREATE ON TABLESPACE %2$I TO %1$I',
                      pg_get_userbyid(p.owner), s.spcname)
            FROM pg_tablespace s
            WHERE s.oid IN (SELECT c.reltablespace FROM pg_class c
                                WHERE c.oid = p.tab OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = p.tab))
              AND NOT has_tablespace_privilege(p.owner, s.oid, 'CREATE');
END
$function$;

-- Lists what keeps owners from making objects again: rights that they need, and code of others that would run as them.
CREATE FUNCTION snowflake._partition_obstacles_of_makers(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    -- The new table gets others like these.
    copied constant snowflake._conversion_dependent[] := ARRAY(
        SELECT snowflake._dependent(snowflake._conversion_object('pg_class'::regclass, i.indexrelid), 'index', i.indrelid::regclass)
            FROM pg_index i WHERE i.indrelid = p.tab
        UNION ALL
        SELECT snowflake._dependent(snowflake._conversion_object('pg_constraint'::regclass, k.oid), 'constraint', k.conrelid::regclass)
            FROM (SELECT c.oid, c.conrelid FROM pg_constraint c WHERE c.conrelid = p.tab AND c.contype = 'f'
                  UNION ALL SELECT c.oid, c.conrelid FROM snowflake._keys_to_table(p.tab) c) k);
BEGIN
    RETURN QUERY
        SELECT snowflake._obstacles_of_definitions(p.owner, member) FROM snowflake._table_tree(p.tab) member;
    RETURN QUERY
        SELECT x FROM pg_class c
            CROSS JOIN LATERAL (SELECT c.relacl UNION ALL SELECT a.attacl FROM pg_attribute a
                                                               WHERE a.attrelid = c.oid AND NOT a.attisdropped) held(acl)
            CROSS JOIN LATERAL snowflake._grant_obstacles(p.tab::text, c.relowner, held.acl) x
            WHERE c.oid = p.tab;
    RETURN QUERY SELECT * FROM snowflake._kinds_obstacles(snowflake._remade(dependents));
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_bodies(dependents);
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_callers(p.tab, '{}', dependents);
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_authors('{}', dependents);
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_rights(p.tab, '{}', dependents || copied);
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_sessions('{}', dependents);
END
$function$;

-- Lists what is wrong with the bound. A check that is there already has been looked at.
CREATE FUNCTION snowflake._partition_obstacles_of_bound(p snowflake._partitioning)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
DECLARE
    greatest_id bigint;
BEGIN
    IF p.is_limited IS NOT NULL THEN
        RETURN;
    END IF;
    IF p.since < clock_timestamp() + interval '1 minute' THEN
        RETURN NEXT format('the first partition would end at %s, and refuse new IDs before the table is partitioned: '
                           'choose a later "since"', p.since);
    ELSIF snowflake._may_become(p.owner) AND snowflake._has_greatest_value_at_hand(p.tab, p.attnum) THEN
        greatest_id := snowflake._greatest_value(p.tab, p.attnum);
        IF greatest_id >= p.bound THEN
            RETURN NEXT format('table %s has ID %s, of %s, above the end of the first partition: choose a later "since"',
                               p.tab, greatest_id,
                               snowflake.get_timestamp(greatest_id, p.layout));
        END IF;
    END IF;
END
$function$;

-- Raises an error that names everything that keeps a table from becoming partitioned.
CREATE FUNCTION snowflake._require_partitionable(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    obstacles text[];
BEGIN
    obstacles := ARRAY(
        SELECT DISTINCT x COLLATE "C"
            FROM (SELECT snowflake._partition_obstacles_of_table(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_replacement(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_keys(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_links(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_dependents(p, dependents)
                  UNION ALL SELECT snowflake._partition_obstacles_of_names(p)
                  UNION ALL SELECT snowflake._partition_obstacles_of_makers(p, dependents)
                  UNION ALL SELECT snowflake._partition_obstacles_of_bound(p)) o(x)
            ORDER BY 1);
    PERFORM snowflake._require_none(obstacles, format('cannot partition table %s', p.tab));
END
$function$;
