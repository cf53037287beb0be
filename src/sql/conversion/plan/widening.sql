-- Widening: the steps that make columns bigint.

-- Finds the columns to be widened whose not-null constraints have other names in tables that inherit them. A server
-- that gives not-null constraints names (PostgreSQL 18) makes them again with the column, the parent's before those
-- of its children, which then must not have other names. That does not matter if the parent's constraint is out of
-- the way in the meantime.
CREATE FUNCTION snowflake._conversion_not_nulls(
        columns snowflake._conversion_column[],
        OUT relid regclass, OUT attnum smallint, OUT attname name,
        OUT conid oid,          -- the constraint of the table that the others inherit from
        OUT is_droppable boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(columns) c
                       JOIN pg_inherits i ON i.inhparent = c.relid
                       WHERE c.widened AND NOT c.is_inherited) THEN
        RETURN;
    END IF;
    RETURN QUERY
        WITH RECURSIVE named AS MATERIALIZED (
            SELECT k.oid, k.conrelid AS relid, a.attname, k.conname
                FROM pg_constraint k
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
                WHERE k.contype = 'n' AND k.conislocal
        ),
        -- With the names between the top and the table.
        tree(top, attnum, attname, relid, above) AS (
            SELECT c.relid, c.attnum, c.attname, c.relid::oid, '{}'::name[]
                FROM unnest(columns) c
                WHERE c.widened AND NOT c.is_inherited
            UNION ALL
            SELECT t.top, t.attnum, t.attname, i.inhrelid,
                   t.above || ARRAY(SELECT n.conname FROM named n
                                        WHERE n.relid = t.relid AND n.attname = t.attname AND t.relid <> t.top)
                FROM tree t JOIN pg_inherits i ON i.inhparent = t.relid
        )
        SELECT t.top, t.attnum, t.attname, first.oid,
               first.oid IS NOT NULL AND NOT bool_or(own.conname <> ANY (t.above))
               -- The constraint goes from all that have it from the top alone.
               AND NOT EXISTS (SELECT FROM pg_index i
                                   JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::smallint[])
                                   WHERE i.indrelid IN (SELECT snowflake._table_tree(t.top)) AND (i.indisprimary OR i.indisreplident)
                                     AND a.attname = t.attname
                                     AND (i.indrelid = t.top
                                          OR NOT EXISTS (SELECT FROM named n WHERE n.relid = i.indrelid AND n.attname = a.attname)))
            FROM tree t
            JOIN named own ON own.relid = t.relid AND own.attname = t.attname
            LEFT JOIN named first ON first.relid = t.top AND first.attname = t.attname
            WHERE t.relid <> t.top AND (own.conname <> first.conname OR own.conname <> ANY (t.above))
            GROUP BY t.top, t.attnum, t.attname, first.oid;
END
$function$;

-- Returns the steps that widen columns, and add the generated columns made from them. The columns of a table are
-- altered in one go, for the table and all that inherit from it.
CREATE FUNCTION snowflake._conversion_widenings(
        columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    in_the_way constant jsonb := (SELECT coalesce(jsonb_agg(i ORDER BY i.index::oid), '[]')
                                      FROM snowflake._indexes_in_the_way(columns) i);
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM jsonb_array_elements(in_the_way) i
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER INDEX %s RENAME TO %I', i ->> 'index', i ->> 'free_name'), snowflake._owner((i ->> 'index')::regclass),
                'leaves its name to the server for the moment') step;
    RETURN QUERY
        SELECT step.*
            FROM (SELECT c.relid,
                         string_agg(concat('ALTER COLUMN ' || quote_ident(n.attname) || ' DROP NOT NULL, ',
                                           format('ALTER COLUMN %I TYPE bigint', c.attname),
                                           ', ADD CONSTRAINT ' || quote_ident(k.conname) || ' '
                                           || pg_get_constraintdef(k.oid)),
                                    ', ' ORDER BY c.attnum) AS actions
                      FROM unnest(columns) c
                      LEFT JOIN snowflake._conversion_not_nulls(columns) n
                             ON n.relid = c.relid AND n.attnum = c.attnum
                      LEFT JOIN pg_constraint k ON k.oid = n.conid
                      WHERE c.widened AND NOT c.is_inherited
                      GROUP BY c.relid) t
            CROSS JOIN LATERAL (SELECT sum(pg_total_relation_size(member))::bigint AS size
                                    FROM snowflake._table_tree(t.relid) member) tree
            CROSS JOIN LATERAL snowflake._step(
                concat('ALTER TABLE ', t.relid, ' ', t.actions, snowflake._generated_additions(t.relid, dependents)),
                snowflake._owner(t.relid),
                format('rewrites table %s (%s); ACCESS EXCLUSIVE lock', t.relid, pg_size_pretty(tree.size)), t.relid, tree.size) step
            ORDER BY t.relid::oid;
    RETURN QUERY SELECT * FROM snowflake._generated_expressions(dependents);
    RETURN QUERY
        SELECT step.*
            FROM jsonb_array_elements(in_the_way) i
            CROSS JOIN LATERAL snowflake._step(
                format('SELECT snowflake._give_index_name(%L, %L)', format('%I.%I', i ->> 'namespace', i ->> 'free_name'), i ->> 'name'),
                snowflake._owner((i ->> 'index')::regclass)) step;
    RETURN QUERY
        SELECT step.*
            FROM snowflake._conversion_not_nulls(columns) n
            JOIN pg_constraint k ON k.oid = n.conid
            CROSS JOIN LATERAL snowflake._conversion_annotations(
                'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, n.relid)) x
            CROSS JOIN LATERAL snowflake._step(x, snowflake._owner(n.relid)) step;
END
$function$;

-- Returns the step that lets a sequence go on counting as bigint, under its name and by its INCREMENT; none if it does so
-- already, or makes IDs.
CREATE FUNCTION snowflake._bigint_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_sequence q
            CROSS JOIN LATERAL snowflake._bigint_limits(q.seqmin, q.seqmax) l
            CROSS JOIN LATERAL (
                SELECT concat(CASE WHEN l.lowest <> q.seqmin THEN ' NO MINVALUE' END,
                              CASE WHEN l.highest <> q.seqmax THEN ' NO MAXVALUE' END)
            ) changed(limits)
            CROSS JOIN LATERAL snowflake._step(format('ALTER SEQUENCE %s AS bigint%s', part.seq, changed.limits), part.owner,
                                               format('SHARE ROW EXCLUSIVE lock on %s', part.seq)) step
            WHERE q.seqrelid = part.seq AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
              AND (q.seqtypid <> 'bigint'::regtype OR changed.limits <> '');
    RETURN QUERY
        SELECT step.*
            FROM pg_sequence q
            CROSS JOIN LATERAL snowflake._bigint_limits(q.seqmin, q.seqmax) l
            CROSS JOIN LATERAL snowflake._remark(
                format('sequence %s keeps its %s', part.seq,
                       CASE WHEN q.seqincrement > 0 THEN 'MAXVALUE of ' || l.highest ELSE 'MINVALUE of ' || l.lowest END)) step
            WHERE q.seqrelid = part.seq AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
              AND (q.seqincrement > 0 AND l.highest < 9223372036854775807 OR q.seqincrement < 0 AND l.lowest > -9223372036854775808);
END
$function$;
