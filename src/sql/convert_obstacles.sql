-- What the conversion cannot take along.

CREATE FUNCTION snowflake.conversion_obstacles(
        seq regclass, columns snowflake.conversion_column[], dependents snowflake.conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
    WITH col AS (SELECT * FROM unnest(columns)),
    dependent AS (SELECT * FROM unnest(dependents)),
    caller(is_superuser) AS (
        SELECT rolsuper FROM pg_roles WHERE rolname = current_user
    ),
    sequence AS (
        SELECT c.oid, c.relowner AS owner FROM pg_class c WHERE c.oid = seq
    ),
    -- The columns that take a number from the sequence by more than a call of nextval alone, with the
    -- type that they will have.
    trial AS MATERIALIZED (
        SELECT col.relid, col.attnum, col.attrdef,
               coalesce(nullif(y.typbasetype, 0),
                        CASE WHEN col.widened OR y.oid IN ('smallint'::regtype, 'integer'::regtype)
                                  AND col.relid IN (SELECT relid FROM dependent WHERE kind = 'view')
                             THEN 'bigint'::regtype ELSE y.oid END) AS type,
               CASE WHEN y.typtype = 'd' THEN y.typtypmod WHEN col.widened THEN -1 ELSE a.atttypmod END
                   AS typmod
            FROM col
            JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
            JOIN pg_type y ON y.oid = a.atttypid
            WHERE col.new_default IS NOT NULL AND NOT col.is_strangers
              AND NOT snowflake._is_call(col.attrdef, seq)
              AND (y.oid < 16384 OR y.typbasetype BETWEEN 1 AND 16383)
    )
    -- Other users of the sequence would go on calling the server's nextval. A stranger's stand in the
    -- way only of an identity, whose sequence the server does not drop under them.
    SELECT concat(pg_describe_object(d.classid, d.objid, d.objsubid),
                  ', which ' || quote_ident(pg_get_userbyid(stranger.owner)) || ' owns,', ' uses the sequence')
        FROM sequence, pg_depend d
        CROSS JOIN LATERAL (SELECT snowflake._owner_of(d.classid, d.objid)) object(owner)
        LEFT JOIN LATERAL (SELECT object.owner WHERE NOT snowflake._is_taken_along(sequence.owner, object.owner))
            stranger(owner) ON true
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
          AND d.classid <> 'pg_attrdef'::regclass
          AND NOT EXISTS (SELECT FROM pg_depend e
                              JOIN pg_extension x ON x.oid = e.refobjid AND x.extname = 'snowflake'
                              WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')
          -- What calls our functions, and a view that only looks at the sequence, may do so. Where the
          -- sequence is made anew, a stranger's objects are as well, by whoever may do that.
          AND CASE WHEN EXISTS (SELECT FROM col WHERE is_identity)
                   THEN NOT (stranger.owner IS NOT NULL
                             AND EXISTS (SELECT FROM dependent
                                             WHERE dependent.classid = d.classid AND dependent.objid = d.objid
                                               AND dependent.kind IN ('view', 'routine', 'rule', 'trigger', 'policy')))
                   ELSE stranger.owner IS NULL
                        AND (NOT EXISTS (SELECT FROM snowflake._sequence_uses(d.classid, d.objid))
                             AND d.classid NOT IN ('pg_rewrite'::regclass, 'pg_proc'::regclass)
                             OR EXISTS (SELECT FROM snowflake._sequence_uses(d.classid, d.objid) used
                                            WHERE used.sequence = seq
                                              AND coalesce(used.callee, '') NOT LIKE 'snowflake.%')) END
    UNION ALL
    -- No session alters the temporary tables of another one.
    SELECT concat(format('default of column %I of temporary table %s', col.attname, col.relid),
                  ', which ' || quote_ident(pg_get_userbyid(stranger.owner)) || ' owns,',
                  ' uses the sequence in another session')
        FROM sequence, col
        JOIN pg_class t ON t.oid = col.relid
        LEFT JOIN LATERAL (SELECT t.relowner WHERE NOT snowflake._is_taken_along(sequence.owner, t.relowner))
            stranger(owner) ON true
        WHERE col.new_default IS NOT NULL AND pg_is_other_temp_schema(t.relnamespace)
    UNION ALL
    SELECT format('default of column %I of table %s uses the sequence in another way than by nextval: %s',
                  attname, relid, old_default)
        FROM col
        WHERE attrdef IS NOT NULL AND NOT is_strangers
          AND EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', attrdef) used
                          WHERE used.sequence = seq
                            AND coalesce(used.callee, '') NOT IN ('pg_catalog.nextval', 'snowflake.nextval'))
    UNION ALL
    SELECT format('default of column %I of table %s may mean this sequence or another: %s', a.attname,
                  f.adrelid::regclass, pg_get_expr(f.adbin, f.adrelid))
        FROM snowflake.conversion_names(seq) name
        JOIN pg_attrdef f ON f.oid = name.attrdef
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE NOT name.is_certain
    UNION ALL
    SELECT format('column %I of table %s has the domain %s', col.attname, col.relid, y.oid::regtype)
        FROM col
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        JOIN pg_type y ON y.oid = a.atttypid
        WHERE y.typtype = 'd' AND y.typbasetype IN ('smallint'::regtype, 'integer'::regtype)
          AND NOT col.is_strangers
    UNION ALL
    -- These take a number from the sequence, but not every ID. What an expression makes of it is tried.
    SELECT format('column %I of %s has the type %s, which cannot hold an ID', col.attname, col.relid,
                  format_type(a.atttypid, a.atttypmod))
        FROM col
        JOIN pg_class t ON t.oid = col.relid
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        JOIN pg_type y ON y.oid = a.atttypid
        CROSS JOIN LATERAL (SELECT coalesce(nullif(y.typbasetype, 0), y.oid),
                                   CASE y.typtype WHEN 'd' THEN y.typtypmod ELSE a.atttypmod END) base(oid, mod)
        WHERE (col.is_identity OR col.old_default IS NOT NULL) AND NOT col.is_strangers
          AND NOT EXISTS (SELECT FROM trial
                              WHERE trial.attrdef = col.attrdef
                                AND snowflake._try_default(trial.attrdef, seq, trial.type, trial.typmod, '{}')
                                    IS NOT NULL)
          AND (y.typcategory = 'A'
               OR EXISTS (SELECT FROM pg_type b WHERE b.oid = base.oid AND b.typtype = 'd')
               OR base.oid IN ('real'::regtype, 'double precision'::regtype, 'money'::regtype, 'oid'::regtype)
               OR (t.relkind = 'v' AND base.oid IN ('smallint'::regtype, 'integer'::regtype)
                   AND NOT EXISTS (SELECT FROM dependent
                                       WHERE dependent.kind = 'view' AND dependent.relid = col.relid))
               -- 19 digits: precision and scale, or length, as the server packs them into the modifier.
               OR (base.oid = 'numeric'::regtype AND base.mod >= 4
                   AND ((base.mod - 4) >> 16) - ((base.mod - 4) & 2047) < 19)
               OR (base.oid IN ('varchar'::regtype, 'bpchar'::regtype) AND base.mod BETWEEN 4 AND 22))
    UNION ALL
    SELECT format('default of column %I of table %s is unfit for IDs (%s): %s', col.attname, col.relid,
                  fault, col.old_default)
        FROM col
        JOIN trial ON trial.attrdef = col.attrdef
        CROSS JOIN LATERAL snowflake.conversion_default_fault(trial.attrdef, seq, trial.type, trial.typmod) fault
        WHERE fault IS NOT NULL
    UNION ALL
    -- Only where the column is known to get nothing but IDs.
    SELECT format('constraint %I of table %s is unfit for IDs (%s): %s', k.conname, col.relid, fault,
                  pg_get_constraintdef(k.oid))
        FROM col
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        JOIN pg_constraint k ON k.conrelid = col.relid AND k.contype = 'c' AND k.conkey = ARRAY[col.attnum]
        CROSS JOIN LATERAL snowflake.conversion_check_fault(k.oid, col.attnum, col.new_default IS NOT NULL) fault
        WHERE fault IS NOT NULL AND k.coninhcount = 0
          AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)
          AND EXISTS (SELECT FROM col WHERE new_default IS NOT NULL)
          AND NOT EXISTS (SELECT FROM col c
                              JOIN pg_attribute b ON b.attrelid = c.relid AND b.attnum = c.attnum
                              WHERE c.new_default IS NOT NULL AND b.atttypid = a.atttypid
                                AND NOT snowflake._is_call(c.attrdef, seq))
    UNION ALL
    SELECT format('column %I of table %s is part of the partition key', col.attname, col.relid)
        FROM col
        JOIN pg_partitioned_table p ON p.partrelid = col.relid
        WHERE col.widened
          AND (col.attnum = ANY (p.partattrs::smallint[])
               -- The columns of an expression depend on the table.
               OR EXISTS (SELECT FROM pg_depend d
                              WHERE d.classid = 'pg_class'::regclass AND d.objid = col.relid
                                AND d.objsubid = col.attnum AND d.deptype = 'i'
                                AND d.refclassid = 'pg_class'::regclass AND d.refobjid = col.relid
                                AND d.refobjsubid = 0))
    UNION ALL
    SELECT format('column %I of table %s is inherited from several parents', col.attname, col.relid)
        FROM col
        JOIN pg_attribute a ON a.attrelid = col.relid AND a.attnum = col.attnum
        WHERE col.widened AND a.attinhcount > 1
    UNION ALL
    SELECT format('not-null constraints of column %I have other names in tables that inherit it from %s',
                  attname, relid)
        FROM snowflake.conversion_not_nulls(columns)
        WHERE NOT is_droppable
    UNION ALL
    SELECT format('table %s is of the type %s', col.relid, t.reloftype::regtype)
        FROM col JOIN pg_class t ON t.oid = col.relid
        WHERE col.widened AND t.reloftype <> 0
    UNION ALL
    SELECT DISTINCT concat(pg_describe_object(d.classid, d.objid, d.objsubid),
                           ', which ' || quote_ident(pg_get_userbyid(stranger.owner)) || ' owns,',
                           ' uses the row type of table ', col.relid)
        FROM sequence, col
        JOIN pg_class t ON t.oid = col.relid
        JOIN pg_type y ON y.oid = t.reltype
        JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
        CROSS JOIN LATERAL (SELECT snowflake._owner_of(d.classid, d.objid)) object(owner)
        LEFT JOIN LATERAL (SELECT object.owner WHERE NOT snowflake._is_taken_along(sequence.owner, object.owner))
            stranger(owner) ON true
        WHERE col.widened AND d.deptype <> 'i' AND d.classid IN ('pg_class'::regclass, 'pg_type'::regclass)
          -- A view of such rows holds none of them, a materialized view is made again.
          AND NOT (d.classid = 'pg_class'::regclass
                   AND EXISTS (SELECT FROM pg_class WHERE oid = d.objid AND relkind IN ('v', 'm')))
    UNION ALL
    -- The server does not let the caller alter or drop what belongs to somebody else.
    SELECT DISTINCT format('%s is owned by %I', relid, pg_get_userbyid(c.relowner))
        FROM (SELECT relid FROM col WHERE widened OR new_default IS NOT NULL
              UNION SELECT relid FROM dependent
                  WHERE kind IN ('view', 'rule', 'trigger', 'policy', 'index', 'generated')) r
        JOIN pg_class c ON c.oid = r.relid
        WHERE NOT pg_has_role(c.relowner, 'USAGE')
    UNION ALL
    SELECT format('%s is owned by %I', pg_describe_object('pg_proc'::regclass, p.oid, 0),
                  pg_get_userbyid(p.proowner))
        FROM dependent d
        JOIN pg_proc p ON p.oid = d.objid
        WHERE d.kind = 'routine' AND NOT pg_has_role(p.proowner, 'USAGE')
    UNION ALL
    SELECT format('publication %I is owned by %I', p.pubname, pg_get_userbyid(p.pubowner))
        FROM dependent d
        JOIN pg_publication_rel b ON b.oid = d.objid
        JOIN pg_publication p ON p.oid = b.prpubid
        WHERE d.kind = 'publication' AND NOT pg_has_role(p.pubowner, 'USAGE')
    UNION ALL
    SELECT format('the row type of %s has rights of its own', d.relid)
        FROM dependent d
        JOIN pg_class c ON c.oid = d.relid
        JOIN pg_type y ON y.oid = c.reltype
        WHERE d.kind = 'view' AND y.typacl IS NOT NULL
    UNION ALL
    -- What is made again must be allowed to the caller, and to its owner to whom it is given.
    SELECT DISTINCT format('%s cannot be made again: %I may not create objects in schema %I',
                           pg_describe_object(made.classid, made.objid, 0), pg_get_userbyid(r.role), n.nspname)
        FROM (SELECT 'pg_class'::regclass::oid, c.oid, c.relnamespace, c.relowner, true
                  FROM dependent d JOIN pg_class c ON c.oid = d.relid WHERE d.kind = 'view'
              UNION ALL
              SELECT 'pg_proc'::regclass, p.oid, p.pronamespace, p.proowner, true
                  FROM dependent d JOIN pg_proc p ON p.oid = d.objid WHERE d.kind = 'routine'
              UNION ALL
              SELECT 'pg_class'::regclass, c.oid, c.relnamespace, NULL, true
                  FROM dependent d JOIN pg_class c ON c.oid = d.objid WHERE d.kind = 'index'
              UNION ALL
              SELECT 'pg_class'::regclass, c.oid, c.relnamespace, c.relowner, true
                  FROM pg_class c WHERE c.oid = seq AND EXISTS (SELECT FROM col WHERE is_identity)
              UNION ALL
              SELECT 'pg_constraint'::regclass, k.oid, k.connamespace, NULL, true
                  FROM dependent d JOIN pg_constraint k ON k.oid = d.objid
                  WHERE d.kind = 'constraint' AND k.conindid <> 0
              UNION ALL
              SELECT 'pg_statistic_ext'::regclass, s.oid, s.stxnamespace, s.stxowner, d.kind = 'statistics'
                  FROM dependent d JOIN pg_statistic_ext s ON s.oid = d.objid
                  WHERE d.kind IN ('statistics', 'rebuilt statistics')
             ) made(classid, objid, namespace, owner, by_caller)
        JOIN pg_namespace n ON n.oid = made.namespace
        CROSS JOIN LATERAL unnest(ARRAY[CASE WHEN made.by_caller THEN quote_ident(current_user)::regrole END,
                                        nullif(made.owner, quote_ident(current_user)::regrole)]::oid[]) r(role)
        WHERE NOT has_schema_privilege(r.role, n.oid, 'CREATE')
          AND NOT (SELECT is_superuser FROM caller)
    UNION ALL
    SELECT format('trigger %I of %s cannot be made again: %I may not execute the function %s', t.tgname,
                  d.relid, current_user, t.tgfoid::regprocedure)
        FROM dependent d JOIN pg_trigger t ON t.oid = d.objid
        WHERE d.kind = 'trigger' AND NOT has_function_privilege(t.tgfoid, 'EXECUTE')
    UNION ALL
    SELECT format('trigger %I of %s cannot be made again: %I may not create triggers there', t.tgname, d.relid,
                  current_user)
        FROM dependent d JOIN pg_trigger t ON t.oid = d.objid
        WHERE d.kind = 'trigger' AND NOT has_table_privilege(d.relid, 'TRIGGER')
    UNION ALL
    -- Any role that has the right TRIGGER may have made a trigger, which has no owner. The server
    -- parses the constants of its condition when it is made again.
    SELECT DISTINCT format('trigger %I of %s cannot be made again without running code of %I', t.tgname,
                           d.relid, pg_get_userbyid(y.typowner))
        FROM dependent d
        JOIN pg_trigger t ON t.oid = d.objid
        JOIN pg_class c ON c.oid = d.relid
        JOIN pg_depend e ON e.classid = 'pg_trigger'::regclass AND e.objid = t.oid
                        AND e.refclassid = 'pg_type'::regclass
        JOIN pg_type y ON y.oid = e.refobjid
        WHERE d.kind = 'trigger'
          AND CASE WHEN y.typowner = c.relowner OR snowflake._is_taken_along(c.relowner, y.typowner) THEN false
                   ELSE NOT snowflake._is_harmless_to_parse('pg_trigger', t.oid) END
    UNION ALL
    SELECT format('%s cannot be made again: %I may not use the language %I',
                  pg_describe_object('pg_proc'::regclass, p.oid, 0), current_user, l.lanname)
        FROM dependent d
        JOIN pg_proc p ON p.oid = d.objid
        JOIN pg_language l ON l.oid = p.prolang
        WHERE d.kind = 'routine'
          AND NOT (l.lanpltrusted AND has_language_privilege(l.oid, 'USAGE'))
          AND NOT (SELECT is_superuser FROM caller)
    UNION ALL
    SELECT DISTINCT format('foreign key %I of table %s cannot be made again: %I may not reference table %s',
                           k.conname, k.conrelid::regclass, pg_get_userbyid(made_by.role), k.confrelid::regclass)
        FROM col
        JOIN pg_constraint k ON (k.conrelid = col.relid AND col.attnum = ANY (k.conkey)
                                 OR k.confrelid = col.relid AND col.attnum = ANY (k.confkey))
        CROSS JOIN LATERAL (
            SELECT coalesce(snowflake._table_role(col.relid), quote_ident(current_user)::regrole)
        ) made_by(role)
        WHERE col.widened AND k.contype = 'f'
          AND EXISTS (SELECT FROM unnest(k.confkey) x(attnum)
                          WHERE NOT has_column_privilege(made_by.role, k.confrelid, x.attnum, 'REFERENCES'))
    UNION ALL
    SELECT DISTINCT format('foreign keys of table %s, which %I owns, cannot be made again without running code of that role',
                           c.oid::regclass, pg_get_userbyid(c.relowner))
        FROM sequence, col
        CROSS JOIN LATERAL snowflake._table_partners(col.relid) partner(relid)
        JOIN pg_class c ON c.oid = partner.relid
        WHERE CASE WHEN NOT col.widened OR c.relowner = sequence.owner
                        OR snowflake._is_taken_along(sequence.owner, c.relowner) THEN false
                   ELSE snowflake._has_users_code(c.oid) END
    UNION ALL
    SELECT DISTINCT format('table %s, which inherits from %s, is owned by %I: code of that role would run as %I',
                           c.oid::regclass, col.relid, pg_get_userbyid(c.relowner), pg_get_userbyid(t.relowner))
        FROM col
        JOIN pg_class t ON t.oid = col.relid
        CROSS JOIN LATERAL snowflake._table_tree(col.relid) member(relid)
        JOIN pg_class c ON c.oid = member.relid
        WHERE CASE WHEN NOT col.widened OR col.is_inherited OR c.relowner = t.relowner THEN false
                   ELSE snowflake._table_role(col.relid) IS NOT NULL END
    UNION ALL
    -- In a bigint column another function of the same name may fit better. A stranger's must not.
    SELECT DISTINCT format('%s, which %I owns, could take the place of %s in %s',
                           pg_describe_object(rival.class, rival.oid, 0), pg_get_userbyid(rival.owner),
                           pg_describe_object(r.ref_class, r.ref_object, 0),
                           pg_describe_object(r.class, r.object, 0))
        FROM sequence
        CROSS JOIN snowflake._references(ARRAY(SELECT relid::oid FROM col WHERE widened)) r
        CROSS JOIN LATERAL (
            SELECT * FROM snowflake._rivals(r.ref_class, r.ref_object)
                WHERE r.ref_class IN ('pg_proc'::regclass, 'pg_operator'::regclass)
        ) rival
        WHERE CASE WHEN rival.owner IN (sequence.owner, snowflake._owner_of(r.ref_class, r.ref_object)) THEN false
                   ELSE NOT snowflake._is_taken_along(sequence.owner, rival.owner) END
    UNION ALL
    SELECT format('constraint %I of table %s has triggers that are disabled, as only a superuser may do again',
                  k.conname, k.conrelid::regclass)
        FROM dependent d JOIN pg_constraint k ON k.oid = d.objid
        WHERE d.kind IN ('constraint', 'rebuilt constraint')
          AND EXISTS (SELECT FROM snowflake.conversion_constraint_triggers(k.oid))
          AND NOT (SELECT is_superuser FROM caller)
    UNION ALL
    SELECT DISTINCT format('rights on %s were granted by %I, which %I may not become here', held.object,
                           pg_get_userbyid(x.grantor), current_user)
        FROM (SELECT c.oid::regclass::text, c.relowner, c.relacl
                  FROM pg_class c
                  WHERE c.oid IN (SELECT relid FROM dependent WHERE kind = 'view')
                     OR c.oid = seq AND EXISTS (SELECT FROM col WHERE is_identity)
              UNION ALL
              SELECT p.oid::regprocedure::text, p.proowner, p.proacl
                  FROM dependent d JOIN pg_proc p ON p.oid = d.objid
                  WHERE d.kind = 'routine'
              UNION ALL
              SELECT a.attrelid::regclass::text, c.relowner, a.attacl
                  FROM dependent d
                  JOIN pg_class c ON c.oid = d.relid
                  JOIN pg_attribute a ON a.attrelid = c.oid
                  LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
                  WHERE d.kind = 'view' OR d.kind = 'generated' AND f.oid = d.objid
             ) held(object, owner, acl)
        CROSS JOIN LATERAL aclexplode(held.acl) x
        WHERE x.grantor <> held.owner AND NOT snowflake._may_become(x.grantor)
    UNION ALL
    SELECT format('generated column %I of table %s depends on a column to be widened and is not the last column',
                  a.attname, d.relid)
        FROM dependent d
        JOIN pg_attrdef f ON f.oid = d.objid
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
        WHERE d.kind = 'generated'
          AND (a.attinhcount > 0
               OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = d.relid)
               OR EXISTS (SELECT FROM pg_attribute later
                              WHERE later.attrelid = a.attrelid AND later.attnum > a.attnum
                                AND NOT later.attisdropped
                                AND NOT EXISTS (SELECT FROM dependent e
                                                    JOIN pg_attrdef g ON g.oid = e.objid
                                                    WHERE e.kind = 'generated'
                                                      AND g.adrelid = later.attrelid
                                                      AND g.adnum = later.attnum)))
    UNION ALL
    SELECT format('%s depends on a column to be widened', pg_describe_object(d.classid, d.objid, 0))
        FROM dependent d
        WHERE EXISTS (SELECT FROM pg_depend e
                          WHERE e.classid = d.classid AND e.objid = d.objid
                            AND (d.kind IS NULL OR e.deptype = 'e'))
$function$;
COMMENT ON FUNCTION snowflake.conversion_obstacles(
    regclass, snowflake.conversion_column[], snowflake.conversion_dependent[]) IS
    'what the conversion of a sequence cannot take along; empty if it can be converted';
