-- Obstacles: what a conversion cannot take along, all of it named before anything is changed.

-- Returns why this instance cannot make IDs, and what to do, in one line; NULL: it can.
CREATE FUNCTION snowflake._obstacle_of_node()
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE
    AS $function$
DECLARE
    reason text;
    cure text;
BEGIN
    PERFORM snowflake.node();
    RETURN NULL;
EXCEPTION WHEN SQLSTATE '55000' OR invalid_table_definition THEN
    GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT, cure = PG_EXCEPTION_HINT;
    RETURN concat('this instance cannot make IDs: ', reason, ' (' || nullif(rtrim(cure, ';.'), '') || ')');
END
$function$;

-- Finds the objects that use a sequence, besides defaults and the extension's own, and their owners that the owner of the
-- sequence has nothing to do with.
CREATE FUNCTION snowflake._users_of(
        seq regclass,
        OUT class oid, OUT object oid, OUT part integer,
        OUT stranger oid) -- NULL: the owner is none
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    sequence_owner constant oid := snowflake._owner(seq);
BEGIN
    RETURN QUERY
        SELECT d.classid, d.objid, d.objsubid, CASE WHEN NOT snowflake._is_taken_along(sequence_owner, object.owner) THEN object.owner END
            FROM pg_depend d
            CROSS JOIN LATERAL (SELECT snowflake._owner_of(d.classid, d.objid)) object(owner)
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = seq AND d.classid <> 'pg_attrdef'::regclass
              AND NOT EXISTS (SELECT FROM pg_depend e
                                  JOIN pg_extension x ON x.oid = e.refobjid AND x.extname = 'snowflake'
                                  WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e');
END
$function$;

-- Tells whether an object goes on calling the server's nextval on a sequence once the defaults call that of the
-- extension. A view or a routine that only reads the sequence does not.
CREATE FUNCTION snowflake._goes_on_counting(class oid, object oid, seq regclass)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM snowflake._sequence_uses(class, object)) THEN
        RETURN class NOT IN ('pg_rewrite'::regclass, 'pg_proc'::regclass);
    END IF;
    RETURN EXISTS (SELECT FROM snowflake._sequence_uses(class, object) used
                       WHERE used.sequence = seq AND coalesce(used.callee, '') NOT LIKE 'snowflake.%');
END
$function$;

-- Lists what uses a sequence in a way that a conversion cannot take along.
CREATE FUNCTION snowflake._obstacles_of_users(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[], to_ids boolean)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    is_identity constant boolean := EXISTS (SELECT FROM unnest(columns) c WHERE c.is_identity);
    redirected constant boolean := snowflake.redirects_nextval();
BEGIN
    RETURN QUERY
        SELECT concat(pg_describe_object(u.class, u.object, u.part),
                      ', which ' || quote_ident(pg_get_userbyid(u.stranger)) || ' owns,', ' uses the sequence')
            FROM snowflake._users_of(seq) u
            WHERE CASE
                      -- The server does not drop the sequence of an identity under its users. Those of strangers that are made
                      -- again are made by a role that may do that.
                      WHEN is_identity
                      THEN u.stranger IS NULL AND to_ids AND NOT redirected AND snowflake._goes_on_counting(u.class, u.object, seq)
                           OR NOT EXISTS (SELECT FROM unnest(dependents) x
                                              JOIN snowflake._kinds() k ON k.kind = x.kind AND k.may_call
                                              WHERE x.classid = u.class AND x.objid = u.object)
                      WHEN NOT to_ids THEN false
                      -- Where the server's nextval makes IDs, only a domain of integers does not bear them.
                      WHEN redirected
                      THEN EXISTS (SELECT FROM pg_type y
                                       WHERE u.class = 'pg_type'::regclass AND y.oid = u.object
                                         AND snowflake._is_small(snowflake._base_type(y.oid)))
                      ELSE u.stranger IS NULL AND snowflake._goes_on_counting(u.class, u.object, seq) END;
    RETURN QUERY
        SELECT format('default of column %I of table %s uses the sequence in another way than by nextval: %s',
                      c.attname, c.relid, c.old_default)
            FROM unnest(columns) c
            WHERE c.attrdef IS NOT NULL AND NOT c.is_strangers AND to_ids AND NOT redirected
              AND EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', c.attrdef) used
                              WHERE used.sequence = seq
                                AND coalesce(used.callee, '') NOT IN ('pg_catalog.nextval', 'snowflake.nextval'));
    RETURN QUERY
        SELECT format('default of column %I of table %s, which %I owns, is too long to be set again: '
                      'ALTER TABLE %2$s ALTER COLUMN %1$I DROP DEFAULT', c.attname, c.relid, pg_get_userbyid(snowflake._owner(c.relid)))
            FROM unnest(columns) c WHERE c.is_strangers AND c.new_default IS NULL;
    RETURN QUERY
        SELECT format('default of column %I of table %s may mean this sequence or another: %s', a.attname,
                      f.adrelid::regclass, pg_get_expr(f.adbin, f.adrelid))
            FROM snowflake._conversion_names(seq) name
            JOIN pg_attrdef f ON f.oid = name.attrdef
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            WHERE NOT name.is_certain;
END
$function$;

-- Lists the columns whose type cannot be made bigint, or cannot hold an ID. A view that is made again shows the widened
-- columns of its tables. Other columns of views keep their type.
CREATE FUNCTION snowflake._obstacles_of_types(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[],
        layout snowflake.layout, to_ids boolean)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    digits constant integer := snowflake._digits(layout);
BEGIN
    RETURN QUERY
        SELECT format('column %I of table %s has the domain %s: %s', c.attname, c.relid, y.oid::regtype,
                      snowflake._typed_by(snowflake._owner(c.relid), format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', c.relid, c.attname,
                                                                            snowflake._base_type(y.oid)::regtype)))
            FROM unnest(columns) c
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            JOIN pg_type y ON y.oid = a.atttypid
            WHERE y.typtype = 'd' AND snowflake._is_small(snowflake._base_type(y.oid))
              AND NOT c.is_strangers;
    RETURN QUERY
        -- A column of these types takes a number from the sequence, but not every ID. Expressions that make
        -- something else of the number are tried.
        SELECT format('column %I of %s has the type %s, which cannot hold an ID', c.attname, c.relid,
                      format_type(a.atttypid, a.atttypmod))
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            JOIN pg_type y ON y.oid = a.atttypid
            CROSS JOIN LATERAL (SELECT coalesce(nullif(y.typbasetype, 0), y.oid),
                                       CASE y.typtype WHEN 'd' THEN y.typtypmod ELSE a.atttypmod END) base(oid, mod)
            WHERE to_ids AND (c.is_identity OR c.old_default IS NOT NULL OR c.draws) AND NOT c.is_strangers
              AND (y.typcategory = 'A'
                   OR EXISTS (SELECT FROM pg_type b WHERE b.oid = base.oid AND b.typtype = 'd')
                   OR base.oid IN ('real'::regtype, 'money'::regtype, 'oid'::regtype)
                   OR (base.oid = 'double precision'::regtype AND digits > 16) -- it holds integers up to 2^53
                   OR (t.relkind = 'v' AND snowflake._is_small(base.oid)
                       AND NOT EXISTS (SELECT FROM unnest(dependents) d
                                           WHERE d.kind = 'view' AND d.relid = c.relid))
                   -- Precision and scale, or length, as the server packs them into the modifier.
                   OR (base.oid = 'numeric'::regtype AND base.mod >= 4
                       AND ((base.mod - 4) >> 16) - ((base.mod - 4) & 2047) < digits)
                   OR (base.oid IN ('varchar'::regtype, 'bpchar'::regtype) AND base.mod - 4 BETWEEN 0 AND digits - 1))
              AND NOT coalesce(c.draws AND NOT snowflake._is_call(c.attrdef, seq)
                               AND (snowflake._outcomes(ROW('pg_attrdef'::regclass, c.attrdef, c.attnum, seq)::snowflake._trial,
                                                        '{}')).outcomes IS NOT NULL, false);
END
$function$;

-- Lists the defaults, checks, generated columns, indexes and statistics that do not bear IDs of a layout.
CREATE FUNCTION snowflake._obstacles_of_expressions(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[],
        layout snowflake.layout)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    late constant bigint := snowflake._late_id(layout); -- a default has to bear every ID that its column will ever get
BEGIN
    RETURN QUERY
        SELECT format('default of column %I of table %s is unfit for IDs (%s): %s', c.attname, c.relid,
                      fault, c.old_default)
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._fault_of(
                ROW('pg_attrdef'::regclass, c.attrdef, c.attnum, seq)::snowflake._trial, layout, near => late, tells_apart => true) fault
            WHERE c.draws AND NOT snowflake._is_call(c.attrdef, seq) AND fault IS NOT NULL;
    -- The others are tried only where the column is known to get nothing but IDs.
    IF NOT EXISTS (SELECT FROM unnest(columns) c WHERE c.draws) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT format('constraint %I of domain %s, which column %I of table %s has, is unfit for IDs (%s): %s',
                      k.conname, a.atttypid::regtype, c.attname, c.relid, fault, pg_get_constraintdef(k.oid))
            FROM unnest(columns) c
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            JOIN pg_constraint k ON k.contypid = a.atttypid AND k.contype = 'c'
            CROSS JOIN LATERAL snowflake._conversion_check_fault(k.oid, c.attnum, c.draws, layout) fault
            WHERE fault IS NOT NULL AND NOT c.is_strangers;
    RETURN QUERY
        SELECT format('constraint %I of table %s is unfit for IDs (%s): %s', k.conname, c.relid, fault,
                      pg_get_constraintdef(k.oid))
            FROM unnest(columns) c
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            JOIN pg_constraint k ON k.conrelid = c.relid AND k.contype = 'c' AND k.conkey = ARRAY[c.attnum]
            CROSS JOIN LATERAL snowflake._conversion_check_fault(k.oid, c.attnum, c.draws, layout) fault
            WHERE fault IS NOT NULL AND k.coninhcount = 0 AND NOT c.is_strangers AND snowflake._holds_ids(a.atttypid)
              AND snowflake._is_enforced(k)
              AND NOT EXISTS (SELECT FROM unnest(columns) other
                                  JOIN pg_attribute b ON b.attrelid = other.relid AND b.attnum = other.attnum
                                  WHERE other.draws AND b.atttypid = a.atttypid
                                    AND NOT snowflake._is_call(other.attrdef, seq));
    RETURN QUERY
        SELECT format('%s is unfit for IDs (%s): %s', x.name, fault,
                      CASE x.class WHEN 'pg_attrdef'::regclass THEN (SELECT pg_get_expr(f.adbin, f.adrelid) FROM pg_attrdef f WHERE f.oid = x.object)
                                   WHEN 'pg_class'::regclass THEN pg_get_indexdef(x.object)
                                   ELSE pg_get_statisticsobjdef(x.object) END)
            FROM unnest(columns) c
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum AND snowflake._holds_ids(a.atttypid)
            CROSS JOIN LATERAL snowflake._computed_from(c.relid, c.attnum) x
            CROSS JOIN LATERAL snowflake._fault_of(
                ROW(x.class, x.object, c.attnum, NULL)::snowflake._trial, layout,
                near => CASE WHEN snowflake._is_usable_now(layout) THEN snowflake.from_timestamp(clock_timestamp(), layout) ELSE late END,
                tells_apart => x.is_unique) fault
            WHERE fault IS NOT NULL AND NOT c.is_strangers;
END
$function$;

-- Lists what holds rows of tables: the server does not widen a column of theirs.
CREATE FUNCTION snowflake._obstacles_of_row_types(columns snowflake._conversion_column[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s uses the row type of table %s: %s',
                      snowflake._with_owner(pg_describe_object(d.classid, d.objid, d.objsubid),
                                            snowflake._owner_of(d.classid, d.objid)),
                      c.relid,
                      CASE WHEN holder.relkind IN ('r', 'p', 'f')
                           THEN format('let it hold jsonb (to_jsonb), and rows again afterwards (%s)',
                                       CASE a.atttypid WHEN y.oid THEN 'jsonb_populate_record' ELSE 'jsonb_populate_recordset' END)
                           ELSE 'drop it, and make it again afterwards' END)
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            JOIN pg_type y ON y.oid = t.reltype
            JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
            LEFT JOIN pg_class holder ON d.classid = 'pg_class'::regclass AND holder.oid = d.objid
            LEFT JOIN pg_attribute a ON a.attrelid = holder.oid AND a.attnum = d.objsubid
            WHERE c.widened AND d.deptype <> 'i' AND d.classid IN ('pg_class'::regclass, 'pg_type'::regclass)
              -- A view of such rows holds none of them, and a materialized view is made again.
              AND coalesce(holder.relkind NOT IN ('v', 'm'), true);
END
$function$;

-- Lists the columns that the server does not widen.
CREATE FUNCTION snowflake._obstacles_of_tables(columns snowflake._conversion_column[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('column %I of table %s is part of the partition key: copy the rows into a new table whose column is bigint',
                      c.attname, c.relid)
            FROM unnest(columns) c
            JOIN pg_partitioned_table p ON p.partrelid = c.relid
            WHERE c.widened
              AND (c.attnum = ANY (p.partattrs::smallint[])
                   -- The columns of an expression depend on the table.
                   OR EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relid
                                    AND d.objsubid = c.attnum AND d.deptype = 'i'
                                    AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
                                    AND d.refobjsubid = 0));
    RETURN QUERY
        SELECT format('column %I of table %s is inherited from several parents: ALTER TABLE %2$s NO INHERIT %3$s, and INHERIT it again '
                      'when all have bigint', c.attname, c.relid, string_agg(p.parent::text, ', NO INHERIT ' ORDER BY p.n) FILTER (WHERE p.n > 1))
            FROM unnest(columns) c
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            CROSS JOIN LATERAL (
                SELECT i.inhparent::regclass, row_number() OVER (ORDER BY i.inhseqno)
                    FROM pg_inherits i JOIN pg_attribute b ON b.attrelid = i.inhparent AND b.attname = a.attname AND NOT b.attisdropped
                    WHERE i.inhrelid = c.relid
            ) p(parent, n)
            WHERE c.widened AND a.attinhcount > 1
            GROUP BY c.relid, c.attnum, c.attname;
    RETURN QUERY
        SELECT format('not-null constraints of column %I have other names in tables that inherit it from %s: take these out of the '
                      'inheritance, or detach them, give the constraints one name, and put the tables back', n.attname, n.relid)
            FROM snowflake._conversion_not_nulls(columns) n
            WHERE NOT n.is_droppable;
    RETURN QUERY
        SELECT format('table %s is of the type %s: ALTER TABLE %1$s NOT OF', c.relid, t.reloftype::regtype)
            FROM unnest(columns) c JOIN pg_class t ON t.oid = c.relid
            WHERE c.widened AND t.reloftype <> 0;
    RETURN QUERY
        SELECT format('index %s names %s, which is not for bigint: drop it, and make it again afterwards', i.indexrelid::regclass,
                      pg_describe_object('pg_opclass'::regclass, o.oid, 0))
            FROM unnest(columns) c
            JOIN pg_index i ON i.indrelid = c.relid
            JOIN pg_class x ON x.oid = i.indexrelid AND NOT x.relispartition
            CROSS JOIN LATERAL unnest(i.indkey::smallint[], i.indclass::oid[]) key(attnum, class)
            JOIN pg_opclass o ON o.oid = key.class AND NOT o.opcdefault AND snowflake._is_small(o.opcintype)
            WHERE c.widened AND key.attnum = c.attnum;
    RETURN QUERY SELECT * FROM snowflake._obstacles_of_row_types(columns);
END
$function$;

-- Lists the foreign keys that cannot be made again.
CREATE FUNCTION snowflake._obstacles_of_foreign_keys(columns snowflake._conversion_column[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('foreign key %I of table %s cannot be made again: %I may not reference table %s: '
                      'GRANT REFERENCES ON %4$s TO %3$I',
                      k.conname, k.conrelid::regclass, pg_get_userbyid(t.relowner), k.confrelid::regclass)
            FROM unnest(columns) x
            JOIN pg_class t ON t.oid = x.relid
            CROSS JOIN LATERAL snowflake._keys_of(x.relid, x.attnum) keys(key)
            JOIN pg_constraint k ON k.oid = keys.key
            WHERE x.widened
              AND EXISTS (SELECT FROM unnest(k.confkey) key(attnum)
                              WHERE NOT has_column_privilege(t.relowner, k.confrelid, key.attnum, 'REFERENCES'));
    RETURN QUERY
        -- The server makes the index of the partition again with that of the whole, and does not drop the key before.
        SELECT DISTINCT format('foreign key %I of table %s references partition %s, whose key belongs to the whole table: '
                               'drop it, and add it again afterwards', k.conname, k.conrelid::regclass, k.confrelid::regclass)
            FROM unnest(columns) x
            CROSS JOIN LATERAL snowflake._keys_of(x.relid, x.attnum) keys(key)
            JOIN pg_constraint k ON k.oid = keys.key AND k.confrelid = x.relid AND k.conparentid = 0
            JOIN pg_class i ON i.oid = k.conindid AND i.relispartition
            WHERE x.widened;
END
$function$;

-- Lists what cannot be made again where columns become the last of their tables, or would name others: the server prints it
-- with all columns of a table in their order.
CREATE FUNCTION snowflake._obstacles_of_positions(tables regclass[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s names columns of table %s by their places, in a list of aliases or as the result of a function: make it again without',
                      CASE WHEN d.kind = 'view' THEN 'view ' || d.name ELSE pg_describe_object(d.classid, d.objid, 0) END, named.relid::regclass)
            FROM unnest(dependents) d
            CROSS JOIN LATERAL (SELECT DISTINCT snowflake._relations_named_by_position(d.classid, d.objid)) named(relid)
            WHERE named.relid = ANY (tables);
    RETURN QUERY
        SELECT format('%s returns rows of table %s that it puts together from columns: let it return whole rows (SELECT x FROM %2$s x)',
                      pg_describe_object(d.classid, d.objid, 0), y.typrelid::regclass)
            FROM unnest(dependents) d
            JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
            JOIN pg_type y ON y.oid = snowflake._base_type(p.prorettype) AND y.typrelid = ANY (tables)
            WHERE CASE WHEN d.kind = 'routine' THEN snowflake._returns_columns(p.oid, y.oid) END;
END
$function$;

-- Lists the temporary objects of other sessions that a conversion would have to change. No session alters the
-- temporary tables of another one, or makes its views again.
CREATE FUNCTION snowflake._obstacles_of_sessions(
        columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT concat(snowflake._with_owner(pg_describe_object('pg_class'::regclass, t.oid, 0), t.relowner),
                      ' is temporary in ',
                      coalesce('the session of process ' || snowflake._session_of(t.relnamespace), 'a session that has ended'))
            FROM pg_class t
            WHERE t.oid IN (SELECT c.relid FROM unnest(columns) c WHERE c.widened OR c.new_default IS NOT NULL
                            UNION ALL SELECT d.relid FROM unnest(dependents) d)
              AND pg_is_other_temp_schema(t.relnamespace);
    RETURN QUERY
        SELECT concat(pg_describe_object('pg_proc'::regclass, p.oid, 0), ' is temporary in ',
                      coalesce('the session of process ' || snowflake._session_of(p.pronamespace), 'a session that has ended'))
            FROM unnest(dependents) d JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
            WHERE pg_is_other_temp_schema(p.pronamespace);
END
$function$;

-- Tells whether replication sets of pglogical or Spock have a table. They know it by its OID, and send its columns by name.
CREATE FUNCTION snowflake._replicated_by(
        replicator text, tab regclass,
        OUT is_sent boolean,           -- NULL: the caller may not see that
        OUT sends_new_columns boolean) -- and not only those that a set lists
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    sets constant regclass := snowflake._table_of(replicator, 'replication_set_table');
BEGIN
    IF sets IS NULL THEN
        is_sent := false;
    ELSIF snowflake._may_be_read(sets) THEN
        EXECUTE format('SELECT count(*) > 0, bool_or(set_att_list IS NULL) FROM %s WHERE set_reloid = $1', sets)
            INTO is_sent, sends_new_columns USING tab;
    END IF;
END
$function$;

-- Lists the replicators, pglogical and Spock, whose replication sets have a table, and why that is in the way.
CREATE FUNCTION snowflake._obstacles_of_replicators(
        tab regclass, why text,
        passed_over text DEFAULT '') -- a replicator that is in nobody's way, if the caller sees its sets
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT CASE WHEN s.is_sent THEN format('table %s is in a replication set of %s, which %s', tab, replicator, why)
                    ELSE format('%I may not see whether table %s is in a replication set of %s: GRANT USAGE ON SCHEMA %3$I TO %1$I; '
                                'GRANT SELECT ON %3$I.replication_set_table TO %1$I', current_user, tab, replicator) END
            FROM unnest(ARRAY['pglogical', 'spock']) replicator
            CROSS JOIN LATERAL snowflake._replicated_by(replicator, tab) s
            WHERE s.is_sent IS NULL OR s.is_sent AND replicator <> passed_over;
END
$function$;

-- Lists the indexes that could not be built when they were made, and that a conversion builds again: those of the tables that it
-- rewrites, or else those on the columns that it widens, and those of materialized views.
CREATE FUNCTION snowflake._obstacles_of_invalid_indexes(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('index %s is not valid: unless a session is building it, REINDEX INDEX CONCURRENTLY %1$s, or drop it', i.indexrelid::regclass)
            FROM (SELECT x.indexrelid
                      FROM unnest(part.columns) c JOIN pg_index x ON x.indrelid = c.relid
                      WHERE c.widened AND (NOT part.online OR c.attnum = ANY (x.indkey::smallint[])
                                           OR EXISTS (SELECT FROM pg_depend d
                                                          WHERE d.classid = 'pg_class'::regclass AND d.objid = x.indexrelid
                                                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
                                                            AND d.refobjsubid = c.attnum))
                  UNION ALL
                  SELECT d.objid FROM unnest(part.dependents) d WHERE d.kind = 'index') built(index)
            JOIN pg_index i ON i.indexrelid = built.index AND NOT i.indisvalid
            JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i'
            WHERE NOT snowflake._is_twin_name(c.relname); -- one of another conversion
END
$function$;

-- Lists the members of extensions among dependents: the server does not drop them.
CREATE FUNCTION snowflake._obstacles_of_members(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s is a member of extension %I: ALTER EXTENSION %2$I DROP %s %s, and ADD it again afterwards',
                      snowflake._description_of(d.classid, d.objid), x.extname, member.type, member.identity)
            FROM unnest(dependents) d
            -- A view is known by its rule.
            CROSS JOIN LATERAL (SELECT CASE d.kind WHEN 'view' THEN 'pg_class'::regclass::oid ELSE d.classid END,
                                       CASE d.kind WHEN 'view' THEN d.relid::oid ELSE d.objid END) made(class, object)
            JOIN pg_depend e ON e.classid = made.class AND e.objid = made.object AND e.deptype = 'e' AND NOT d.is_rebuilt
            JOIN pg_extension x ON e.refclassid = 'pg_extension'::regclass AND x.oid = e.refobjid
            CROSS JOIN LATERAL pg_identify_object(made.class, made.object, 0) member;
END
$function$;

-- Lists what the conversion of a sequence cannot take along; empty if it can be converted.
CREATE FUNCTION snowflake._conversion_obstacles(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[],
        layout snowflake.layout,
        to_ids boolean DEFAULT true) -- whether the columns are to hold snowflake IDs
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT obstacle
            FROM (SELECT snowflake._obstacles_of_users(seq, columns, dependents, to_ids)
                  UNION ALL SELECT snowflake._obstacles_of_types(seq, columns, dependents, layout, to_ids)
                  UNION ALL SELECT snowflake._obstacles_of_expressions(seq, columns, dependents, layout)
                  UNION ALL SELECT snowflake._obstacles_of_tables(columns)
                  UNION ALL SELECT snowflake._partition_obstacles(columns, layout)
                  UNION ALL SELECT snowflake._obstacles_of_foreign_keys(columns)
                  UNION ALL SELECT snowflake._obstacles_of_callers(seq, columns, dependents)
                  UNION ALL SELECT snowflake._obstacles_of_authors(columns, dependents)
                  UNION ALL SELECT snowflake._obstacles_of_rights(seq, columns, dependents)
                  UNION ALL SELECT snowflake._obstacles_of_sessions(columns, dependents)
                  UNION ALL SELECT snowflake._identity_obstacles(seq, columns)
                  UNION ALL SELECT snowflake._kinds_obstacles(dependents)
                  UNION ALL SELECT snowflake._obstacles_of_members(dependents)
                  UNION ALL
                  SELECT concat(snowflake._with_owner(snowflake._description_of(d.classid, d.objid), snowflake._owner_of(d.classid, d.objid)),
                                ' depends on a column to be widened: drop it, and make it again afterwards')
                      FROM unnest(dependents) d WHERE d.kind IS NULL
                 ) x(obstacle);
END
$function$;
