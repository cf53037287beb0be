-- What a conversion without a long lock cannot take along, beyond what no conversion can: each is named before
-- anything is changed, with the way that is open: a step by hand, or the conversion with a lock.

-- Returns why publications let no row of a table be updated; NULL: they do.
CREATE FUNCTION snowflake._refusal_of_updates(tab regclass)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    message text;
    detail text;
BEGIN
    PERFORM snowflake._require_updates(tab);
    RETURN NULL;
EXCEPTION WHEN invalid_column_reference OR object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RETURN coalesce(nullif(detail, ''), message);
END
$function$;

-- Lists the tables that cannot have shadow columns.
CREATE FUNCTION snowflake._online_obstacles_of_tables(columns snowflake._conversion_column[], shadows snowflake._shadow[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('table %s %s: convert it with a lock', s.relid, why.text)
            FROM unnest(shadows) s
            JOIN pg_class t ON t.oid = s.relid
            CROSS JOIN LATERAL (
                SELECT 'inherits from another, or has tables that inherit from it'
                    WHERE t.relkind <> 'p' AND NOT t.relispartition
                      AND EXISTS (SELECT FROM pg_inherits WHERE t.oid IN (inhrelid, inhparent))
                -- 1600 is MaxHeapAttributeNumber of the server.
                UNION ALL SELECT 'cannot have one more column, with those that were dropped'
                    WHERE t.relnatts + (SELECT count(*) FROM unnest(shadows) x WHERE x.relid = t.oid AND x.shadow IS NULL) > 1600
                UNION ALL SELECT 'is a foreign table' WHERE t.relkind = 'f'
                UNION ALL SELECT 'is temporary' WHERE t.relpersistence = 't'
                UNION ALL SELECT 'is not stored as a heap'
                    WHERE t.relkind = 'r' AND t.relam <> (SELECT oid FROM pg_am WHERE amname = 'heap')
                -- Without a key the subscription takes a row for another one if they differ in any column, also in one
                -- that the publisher does not have, and goes on without a word.
                UNION ALL SELECT 'is in a subscription, and has no primary key by which rows are found that differ in the new column'
                    WHERE EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = t.oid)
                      AND NOT EXISTS (SELECT FROM pg_index i
                                          WHERE i.indrelid = t.oid AND i.indisvalid AND (i.indisprimary OR i.indisreplident))
                UNION ALL SELECT format('lets no row be updated, and so none be filled (%s)', refusal)
                    FROM snowflake._refusal_of_updates(t.oid) refusal
                    WHERE t.relkind = 'r' AND NOT s.is_filled AND refusal IS NOT NULL
            ) why(text);
    RETURN QUERY
        -- Where the column is still an integer, Spock 6 stores a part of a larger number, and 5 discards the row.
        SELECT snowflake._obstacles_of_replicators(
                   relid, 'cuts larger numbers down to integers: stop the clients of all servers, and convert with a lock on each', 'pglogical')
            FROM (SELECT DISTINCT s.relid FROM unnest(shadows) s) s;
    RETURN QUERY
        SELECT format('column %I of table %s has the name of the shadow of %I: rename it', s.shadow_name, s.relid, s.attname)
            FROM unnest(shadows) s
            JOIN pg_attribute a ON a.attrelid = s.relid AND a.attname = s.shadow_name AND NOT a.attisdropped
            WHERE s.same IS NULL
              AND (NOT snowflake._is_offered(s.relid, a.attnum)
                   OR a.atttypid <> 'bigint'::regtype OR a.atthasdef OR a.attnotnull OR a.attidentity <> '');
    RETURN QUERY
        -- Long names are cut off, and the trigger's is the longer one.
        SELECT format('shadows of columns of table %s would have the same name, %I: rename one of %s', s.relid, min(s.shadow_name::text),
                      string_agg(quote_ident(s.attname), ', ' ORDER BY s.attnum))
            FROM unnest(shadows) s GROUP BY s.relid, snowflake._shadow_trigger_name(s.attname) HAVING count(*) > 1;
    RETURN QUERY
        SELECT x
            FROM unnest(shadows) s
            JOIN pg_class t ON t.oid = s.relid
            JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = s.attnum
            CROSS JOIN LATERAL snowflake._grant_obstacles(s.relid::text, t.relowner, a.attacl) x;
    RETURN QUERY
        SELECT format('another sequence is being converted on table %s: finish that first', p.relid)
            FROM snowflake._shadow_pairs(ARRAY(SELECT s.relid FROM unnest(shadows) s WHERE NOT s.is_inherited)) p
            WHERE p.trigger_name IS NOT NULL
              AND NOT EXISTS (SELECT FROM unnest(shadows) x WHERE x.relid = p.relid AND x.attnum = p.attnum);
    RETURN QUERY
        SELECT format('column %I of table %s is the identity of another sequence, which goes with it: convert with a lock',
                      s.attname, s.relid)
            FROM unnest(shadows) s
            JOIN unnest(columns) c ON c.relid = s.relid AND c.attnum = s.attnum
            JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = s.attnum
            WHERE a.attidentity <> '' AND NOT c.is_identity AND NOT s.is_inherited;
    RETURN QUERY
        -- PostgreSQL 18 has such constraints.
        SELECT format('not-null constraint %I of table %s is not valid: validate it', k.conname, s.relid)
            FROM unnest(shadows) s
            JOIN pg_constraint k ON k.conrelid = s.relid AND k.contype = 'n' AND k.conkey = ARRAY[s.attnum]
            WHERE NOT k.convalidated;
END
$function$;

-- Lists the tables that have no index to find the greatest number of a column. The swap looks for the greatest
-- number that a sequence has given out (_greatest_number()).
CREATE FUNCTION snowflake._online_obstacles_of_searches(columns snowflake._conversion_column[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('table %s would be read under the lock, for the greatest number in column %I: create an index on it, '
                      'or convert with a lock', searched.relid::regclass, searched.attname)
            -- No other table is to be locked.
            FROM (SELECT DISTINCT t.oid, a.attname, a.attnum
                      FROM unnest(columns) c
                      CROSS JOIN LATERAL snowflake._table_tree(c.relid) member(relid)
                      JOIN pg_class t ON t.oid = member.relid
                      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = c.attname
                      WHERE (c.is_identity OR c.old_default IS NOT NULL) AND NOT c.is_strangers
                        AND t.relkind = 'r' AND snowflake._is_big(a.atttypid)
                      OFFSET 0) searched(relid, attname, attnum)
            WHERE snowflake._is_large(pg_relation_size(searched.relid))
              AND NOT snowflake._has_greatest_value_at_hand(searched.relid, searched.attnum);
END
$function$;

-- Tells that a number which the swap would find above the IDs of the present is there already (_require_room()).
CREATE FUNCTION snowflake._online_obstacles_of_room(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
DECLARE
    last bigint;
BEGIN
    IF NOT snowflake._makes_snowflakes(part.wishes) OR snowflake._is_converted(part)
       OR NOT snowflake._is_usable_now(part.layout)
       OR EXISTS (SELECT FROM snowflake._online_obstacles_of_searches(part.columns)) THEN
        RETURN;
    END IF;
    last := snowflake._greatest_number(part.seq, part.columns);
    IF last >= snowflake._bound_of_numbers(part.layout) THEN
        RETURN NEXT format('the greatest number in use, %s, is above the snowflake IDs of the present, so new IDs could meet it: '
                           'if no row has it, SELECT pg_catalog.setval(%L, %s)',
                           last, part.name, (SELECT greatest(seqmin, 1) FROM pg_sequence WHERE seqrelid = part.seq));
    END IF;
END
$function$;

-- Lists the triggers that could change a column after its shadow was made.
CREATE FUNCTION snowflake._online_obstacles_of_triggers(shadows snowflake._shadow[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('trigger %I of table %s has the name of the one that keeps the shadow column: rename it', t.tgname, s.relid)
            FROM unnest(shadows) s
            JOIN pg_trigger t ON t.tgrelid = s.relid AND t.tgname = snowflake._shadow_trigger_name(s.attname)
            WHERE t.tgfoid <> 'snowflake._keep_shadow()'::regprocedure;
    -- 1: for each row, 2: before, 4: insert, 16: update.
    RETURN QUERY
        SELECT DISTINCT format('trigger %I of table %s would fire after the one that keeps the shadow column: rename it', t.tgname, s.relid)
            FROM unnest(shadows) s
            JOIN pg_trigger t ON t.tgrelid = s.relid AND NOT t.tgisinternal
            WHERE (t.tgtype & 3) = 3 AND (t.tgtype & 20) <> 0
              AND t.tgfoid <> 'snowflake._keep_shadow()'::regprocedure
              AND t.tgname::text COLLATE "C" > snowflake._shadow_trigger_name(s.attname)::text COLLATE "C";
END
$function$;

-- Lists the indexes and constraints that cannot be built beside those that are there.
CREATE FUNCTION snowflake._online_obstacles_of_indexes(work snowflake._shadowing)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    indexes constant oid[] := ARRAY(SELECT t.original FROM unnest(work.indexes) t) || work.whole_indexes;
BEGIN
    RETURN QUERY
        SELECT format('constraint %I of table %s cannot be built beside the one that is there: convert with a lock',
                      k.conname, k.conrelid::regclass)
            FROM unnest(indexes) t(original)
            JOIN pg_index i ON i.indexrelid = t.original
            JOIN pg_constraint k ON k.conrelid = i.indrelid AND k.conindid = t.original AND k.contype IN ('p', 'u', 'x')
            WHERE (i.indisexclusion OR k.condeferrable) AND k.conparentid = 0;
    RETURN QUERY
        SELECT DISTINCT format('%I may not create objects in %s %I: GRANT CREATE ON %s %3$I TO %1$I', owner.name, lower(place.kind),
                               place.name, place.kind)
            FROM unnest(indexes) t(original)
            JOIN pg_class c ON c.oid = t.original
            CROSS JOIN LATERAL pg_get_userbyid(c.relowner) owner(name)
            CROSS JOIN LATERAL (
                SELECT 'SCHEMA', n.nspname FROM pg_namespace n
                    WHERE n.oid = c.relnamespace AND NOT has_schema_privilege(owner.name, n.oid, 'CREATE')
                UNION ALL
                SELECT 'TABLESPACE', s.spcname FROM pg_tablespace s
                    WHERE s.oid = c.reltablespace AND NOT has_tablespace_privilege(owner.name, s.oid, 'CREATE')) place(kind, name);
    -- REINDEX takes this right from PostgreSQL 17 on, of the owner, too.
    RETURN QUERY
        SELECT DISTINCT format('%I may not build indexes of table %s: GRANT MAINTAIN ON %2$s TO %1$I', current_user, i.indrelid::regclass)
            FROM unnest(indexes) t(original)
            JOIN pg_index i ON i.indexrelid = t.original
            WHERE CASE WHEN current_setting('server_version_num')::integer >= 170000
                       THEN NOT has_table_privilege(i.indrelid, 'MAINTAIN') ELSE false END;
    RETURN QUERY
        -- Its value would be another as soon as there is one more column.
        SELECT DISTINCT format('%s names the whole row: make it again without, or convert with a lock',
                               pg_describe_object(x.class, x.object, 0))
            FROM unnest(work.shadows) s
            CROSS JOIN LATERAL (
                SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i
                    WHERE i.indrelid = s.relid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
                UNION ALL
                SELECT 'pg_constraint'::regclass, k.oid FROM pg_constraint k
                    WHERE k.conrelid = s.relid AND k.contype = 'c'
            ) x(class, object)
            WHERE snowflake._expressions_on_shadows(work.shadows, x.class, x.object, s.relid) IS NULL;
END
$function$;

-- Lists the foreign keys that cannot be made beside those that are there.
CREATE FUNCTION snowflake._online_obstacles_of_keys(work snowflake._shadowing)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('foreign key %I of table %s %s', k.conname, k.conrelid::regclass, why.text)
            FROM (SELECT x.original, x.twin FROM unnest(work.keys) x
                  UNION ALL SELECT x, NULL FROM unnest(work.whole_keys) x) t(original, twin)
            JOIN pg_constraint k ON k.oid = t.original
            JOIN pg_class c ON c.oid = k.conrelid
            JOIN pg_class r ON r.oid = k.confrelid
            CROSS JOIN LATERAL (
                SELECT 'sets a default: convert with a lock' WHERE 'd' IN (k.confupdtype, k.confdeltype)
                UNION ALL
                SELECT 'is enforced by triggers that are disabled, or fire on replicas: let them fire, or convert with a lock'
                    WHERE EXISTS (SELECT FROM pg_trigger
                                      WHERE tgconstraint IN (t.original, t.twin) AND tgisinternal AND tgenabled <> 'O')
                UNION ALL
                -- Before PostgreSQL 18 such a key is never NOT VALID: to add it reads the rows under the lock.
                SELECT 'links two partitioned tables: convert with a lock'
                    WHERE c.relkind = 'p' AND r.relkind = 'p' AND current_setting('server_version_num')::integer < 180000
                UNION ALL
                SELECT CASE WHEN snowflake._is_enforced(k) THEN 'is not valid: validate it, or drop it'
                            ELSE 'is NOT ENFORCED: convert with a lock' END
                    WHERE 'p' IN (c.relkind, r.relkind) AND NOT k.convalidated
                UNION ALL
                SELECT format('is owned by %I: give both tables to one owner, or drop it, and add it again afterwards',
                              pg_get_userbyid(c.relowner))
                    WHERE NOT snowflake._is_taken_along((work.part).owner, c.relowner)
            ) why(text);
END
$function$;

-- Finds what makes a view unfit for a twin.
CREATE FUNCTION snowflake._faults_of_view(
        work snowflake._shadowing, dependents snowflake._conversion_dependent[], view snowflake._twin)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
DECLARE
    rule constant oid := (SELECT r.oid FROM pg_rewrite r WHERE r.ev_class = view.original AND r.rulename = '_RETURN');
BEGIN
    IF snowflake._may_become(snowflake._owner(view.original)) THEN
        RETURN QUERY
            SELECT coalesce(q.fault, 'is nested too deeply') FROM snowflake._query_of_twin(work, view.original) q WHERE q.query IS NULL;
    END IF;
    RETURN QUERY
        SELECT 'names ' || snowflake._description_of(d.refclassid, d.refobjid)
            FROM pg_depend d
            WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = rule
              AND (EXISTS (SELECT FROM unnest(dependents) x
                               WHERE x.kind = 'routine' AND x.classid = d.refclassid AND x.objid = d.refobjid)
                   -- The twin would need a twin as well: the conversion makes again what reads the sequence.
                   OR d.refclassid = 'pg_class'::regclass AND d.refobjid = (work.part).seq AND snowflake._is_of_identity(d.refobjid)
                   OR EXISTS (SELECT FROM pg_type y
                                  WHERE d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
                                    AND y.typrelid IN (SELECT s.relid FROM unnest(work.shadows) s
                                                       UNION ALL SELECT v.original FROM unnest(work.views) v)));
    RETURN QUERY
        SELECT DISTINCT format('groups by %I alone, the primary key of %s', a.attname, k.conrelid::regclass)
            FROM pg_depend d
            JOIN pg_constraint k ON k.oid = d.refobjid
            JOIN unnest(work.shadows) s ON s.relid = k.conrelid AND s.attnum = ANY (k.conkey)
            JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = s.attnum
            WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = rule AND d.refclassid = 'pg_constraint'::regclass;
    RETURN QUERY
        SELECT 'reads ' || b.relid::text || ', which is not filled'
            FROM snowflake._views_beneath(dependents, view.original) b
            JOIN pg_class c ON c.oid = b.relid AND c.relkind = 'm' AND NOT c.relispopulated
            WHERE b.relid <> view.original AND EXISTS (SELECT FROM pg_class WHERE oid = view.original AND relkind = 'm');
    IF NOT snowflake._reads_the_same(work, view) THEN
        RETURN NEXT 'has a new one beside it that reads other columns';
    END IF;
END
$function$;

-- Lists the views that can have no twin.
CREATE FUNCTION snowflake._online_obstacles_of_views(work snowflake._shadowing, dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('%s %s %s, so that none can be filled beside it: convert with a lock, or first '
                               'REFRESH MATERIALIZED VIEW ... WITH NO DATA',
                               CASE c.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, t.relid, why.text)
            FROM unnest(work.views) t
            JOIN pg_class c ON c.oid = t.original
            CROSS JOIN LATERAL snowflake._faults_of_view(work, dependents, t) why(text);
    RETURN QUERY
        -- The rights on a column go with it, and its shadow gets them in the swap.
        SELECT DISTINCT format('%I, the owner of view %s, may read no more than columns of table %s: GRANT SELECT ON %3$s TO %1$I, '
                               'or convert with a lock', pg_get_userbyid(c.relowner), t.relid, s.relid)
            FROM unnest(work.views) t
            JOIN pg_class c ON c.oid = t.original
            JOIN pg_rewrite r ON r.ev_class = t.original AND r.rulename = '_RETURN'
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
            JOIN unnest(work.shadows) s ON s.relid = d.refobjid AND s.attnum = d.refobjsubid
            WHERE has_column_privilege(c.relowner, s.relid, s.attnum, 'SELECT') AND NOT has_table_privilege(c.relowner, s.relid, 'SELECT');
END
$function$;

-- Lists what depends on columns, and would take long to be made again.
CREATE FUNCTION snowflake._online_obstacles_of_dependents(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('generated column %I of table %s would be made again under the lock: convert with a lock', a.attname, d.relid)
            FROM unnest(dependents) d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE d.kind = 'generated';
END
$function$;

-- Lists what names a shadow column beside the one that it will replace. Such as a view of SELECT * that was made
-- meanwhile. The swap makes it again when no column has the name of the shadow any more.
CREATE FUNCTION snowflake._online_obstacles_of_names(shadows snowflake._shadow[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('%s names column %I of table %s, which takes the place of %I: make it again without',
                               pg_describe_object(d.classid, d.objid, 0), s.shadow_name, s.relid, s.attname)
            FROM unnest(shadows) s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid AND d.refobjsubid = s.attnum
            JOIN pg_depend o ON o.refclassid = 'pg_class'::regclass AND o.refobjid = s.relid AND o.refobjsubid = s.shadow
                            AND o.classid = d.classid AND o.objid = d.objid
            LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
            WHERE d.classid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass)
              AND t.tgfoid IS DISTINCT FROM 'snowflake._keep_shadow()'::regprocedure;
END
$function$;

-- Lists what a conversion without a long lock cannot take along.
CREATE FUNCTION snowflake._online_obstacles(part snowflake._conversion_part, dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    work constant snowflake._shadowing := snowflake._shadowing(part);
BEGIN
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_tables(part.columns, work.shadows);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_partitions(work.shadows);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_searches(part.columns);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_room(part);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_triggers(work.shadows);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_indexes(work);
    -- _validate() runs as the owner of the key, also where that has no column that is replaced.
    RETURN QUERY
        SELECT format('foreign key %I of table %s cannot be validated: %s', k.conname, k.conrelid::regclass, o)
            FROM (SELECT x.original FROM unnest(work.keys) x UNION SELECT unnest(work.whole_keys)) t(original)
            JOIN pg_constraint k ON k.oid = t.original AND k.convalidated AND k.conrelid NOT IN (SELECT s.relid FROM unnest(work.shadows) s)
            CROSS JOIN LATERAL snowflake._obstacles_of_command(k.conrelid, ARRAY[k.confrelid::regclass]) o;
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_keys(work);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_views(work, dependents);
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_dependents(dependents);
    RETURN QUERY
        SELECT x || ', or convert with a lock'
            FROM snowflake._obstacles_of_positions(ARRAY(SELECT s.relid FROM unnest(work.shadows) s), dependents) x;
    RETURN QUERY SELECT * FROM snowflake._online_obstacles_of_names(work.shadows);
END
$function$;

-- Lists the columns that have shadows, for a conversion that has no use for them. With a lock the server would have
-- to alter columns that triggers and checks of the other conversion name.
CREATE FUNCTION snowflake._obstacles_of_shadows(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('column %I of table %s is being widened without a lock: finish that, '
                               'or SELECT snowflake.cancel_conversion(%L)',
                               c.attname, c.relid, coalesce(p.sequence, part.seq))
            FROM unnest(part.columns) c
            JOIN pg_class t ON t.oid = c.relid AND NOT t.relispartition
            JOIN snowflake._shadow_pairs(ARRAY(SELECT x.relid FROM unnest(part.columns) x WHERE x.widened)) p
              ON p.relid = c.relid AND p.attnum = c.attnum
            WHERE c.widened;
END
$function$;
