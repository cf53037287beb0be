-- The commands that put a partitioned table in the place of a table. All of them are made before the first one runs. What the
-- server deparses then names the table, and means the new one when it runs.

-- Returns the name of an index or statistics object of the first partition. Where the name is long, the OID keeps those apart
-- that are cut off.
CREATE FUNCTION snowflake._former_name(schema name, name name, object oid)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN snowflake._free_name(schema, snowflake._name_with(
        name, '_before' || CASE WHEN octet_length(name::text) > 50 THEN '_' || object ELSE '' END)::text);

-- Returns the steps that take the names of the table, its indexes and statistics away.
CREATE FUNCTION snowflake._former_steps(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT 1, i.indexrelid, p.owner,
                       format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass,
                              snowflake._former_name(p.schema, c.relname, i.indexrelid))
                    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                    WHERE i.indrelid = p.tab
                UNION ALL
                SELECT 2, s.oid, s.stxowner,
                       format('ALTER STATISTICS %I.%I RENAME TO %I', n.nspname, s.stxname,
                              snowflake._former_name(n.nspname, s.stxname, s.oid))
                    FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
                    WHERE s.stxrelid = p.tab
                UNION ALL
                SELECT 3, p.tab, p.owner, format('ALTER TABLE %s RENAME TO %I', p.tab, p.former)
            ) x(turn, object, role, command)
            CROSS JOIN LATERAL snowflake._step(x.command, x.role) step
            ORDER BY x.turn, x.object;
END
$function$;

-- Returns the steps that make the partitioned table, with its columns, checks, keys and indexes. LIKE copies expressions as
-- trees.
CREATE FUNCTION snowflake._parent_steps(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT 1, 0::oid, 0::bigint,
                       concat(format('CREATE TABLE %s (LIKE %I.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED) '
                                     'PARTITION BY RANGE (%I)', p.tab, p.schema, p.former, p.attname),
                              ' TABLESPACE ' || quote_ident((SELECT s.spcname FROM pg_class c
                                                                  JOIN pg_tablespace s ON s.oid = c.reltablespace
                                                                 WHERE c.oid = p.tab)))
                UNION ALL
                SELECT 2, 0, 0, format('ALTER TABLE %s DROP CONSTRAINT %I', p.tab, snowflake._limit_name())
                UNION ALL
                SELECT 3, i.indexrelid, 0,
                       coalesce((SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', p.tab, k.conname, snowflake._key_definition(k.oid))
                                     FROM pg_constraint k
                                     WHERE k.conindid = i.indexrelid AND k.conrelid = p.tab AND k.contype IN ('p', 'u')),
                                pg_get_indexdef(i.indexrelid))
                    FROM pg_index i WHERE i.indrelid = p.tab
                UNION ALL
                SELECT 4, i.indexrelid, s.n, s.command
                    FROM pg_index i,
                         snowflake._conversion_index_settings(i.indexrelid, only_forgotten => false) WITH ORDINALITY s(command, n)
                    WHERE i.indrelid = p.tab
                UNION ALL
                SELECT 5, k.oid, 0, format('ALTER TABLE %s ADD CONSTRAINT %I %s', p.tab, k.conname, pg_get_constraintdef(k.oid))
                    FROM pg_constraint k WHERE k.conrelid = p.tab AND k.contype = 'f' AND k.conparentid = 0
                UNION ALL
                SELECT 6, k.oid, s.n, s.command
                    FROM pg_constraint k,
                         snowflake._conversion_annotations('pg_constraint'::regclass, k.oid,
                                                           format('CONSTRAINT %I ON %s', k.conname, p.tab))
                             WITH ORDINALITY s(command, n)
                    WHERE k.conrelid = p.tab AND k.contype <> 't' AND k.conparentid = 0 AND k.conname <> snowflake._limit_name()
            ) x(turn, object, n, command)
            CROSS JOIN LATERAL snowflake._step(x.command, p.owner) step
            ORDER BY x.turn, x.object, x.n;
END
$function$;

-- Returns the steps that give the partitioned table what else the table has: settings of columns, row-level security, the
-- replica identity, comments, rights, sequences.
CREATE FUNCTION snowflake._parent_settings(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT 1, a.attnum::bigint, s.n, s.command, NULL::oid
                    FROM pg_attribute a,
                         snowflake._conversion_column_settings('TABLE', p.tab, a.attname) WITH ORDINALITY s(command, n)
                    WHERE a.attrelid = p.tab AND a.attnum > 0 AND NOT a.attisdropped
                UNION ALL
                SELECT 2, 0, f.n, format('ALTER TABLE %s %s', p.tab, f.clause), NULL
                    FROM unnest(snowflake._flags_of_table(p.tab)) WITH ORDINALITY f(clause, n)
                UNION ALL
                SELECT 3, 0, s.n, s.command, NULL
                    FROM snowflake._conversion_annotations('pg_class'::regclass, p.tab, format('TABLE %s', p.tab))
                        WITH ORDINALITY s(command, n)
                UNION ALL
                SELECT 3, 1, s.n, s.command, NULL
                    FROM pg_class c,
                         snowflake._conversion_annotations('pg_type'::regclass, c.reltype, format('TYPE %s', p.tab))
                             WITH ORDINALITY s(command, n)
                    WHERE c.oid = p.tab
                UNION ALL
                SELECT 4, 0, s.n, s.command, s.role
                    FROM snowflake._conversion_rights('pg_class'::regclass, p.tab) WITH ORDINALITY s(command, role, n)
                UNION ALL
                SELECT 5, 0, s.n, format('ALTER SEQUENCE %s OWNED BY %s.%I', s.seq, p.tab, s.attname), NULL
                    FROM snowflake._sequences_of_table(p.tab) WITH ORDINALITY s(seq, attname, n)
            ) x(turn, object, n, command, role)
            CROSS JOIN LATERAL snowflake._step(x.command, coalesce(x.role, p.owner)) step
            ORDER BY x.turn, x.object, x.n;
END
$function$;

-- Returns the steps that attach the table as the first partition, and leave that to its owner: rights on the whole are enough,
-- and one that is taken away there must not go on here.
CREATE FUNCTION snowflake._attach_steps(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    former constant text := format('%I.%I', p.schema, p.former);
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(ARRAY[
                     format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (%s)', p.tab, former, p.bound),
                     format('ALTER TABLE %s DROP CONSTRAINT %I', former, snowflake._limit_name()),
                     snowflake._revoke_command(format('ALL ON TABLE %s', former), snowflake._holders_beside_owner(p.tab))]) x(command)
            CROSS JOIN LATERAL snowflake._step(x.command, p.owner) step
            WHERE x.command IS NOT NULL;
END
$function$;

-- Returns the steps that make the partitions ahead, with the storage parameters of the table.
CREATE FUNCTION snowflake._ahead_steps(p snowflake._partitioning)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    options constant text := (
        SELECT ' WITH (' || string_agg(format('%s%I = %L', given.prefix, x.option_name, x.option_value), ', ') || ')'
            FROM pg_class c
            LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
            CROSS JOIN LATERAL (VALUES ('', c.reloptions), ('toast.', t.reloptions)) given(prefix, options)
            CROSS JOIN LATERAL pg_options_to_table(given.options) x
            WHERE c.oid = p.tab);
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._partitions_ahead(p) WITH ORDINALITY a(name, lower_bound, upper_bound, number)
            CROSS JOIN LATERAL snowflake._new_partition(
                p.tab, format('%I.%I', p.schema, a.name),
                CASE WHEN a.lower_bound IS NULL THEN 'DEFAULT' ELSE format('FOR VALUES FROM (%s) TO (%s)', a.lower_bound, a.upper_bound) END,
                coalesce(options, '')) WITH ORDINALITY x(command, n)
            CROSS JOIN LATERAL snowflake._step(x.command, p.owner) step
            ORDER BY a.number, x.n;
END
$function$;

-- Returns the steps that let views and routines mean the partitioned table. They keep their rights, comments and dependents.
CREATE FUNCTION snowflake._replacement_steps(dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(dependents) d
            CROSS JOIN LATERAL snowflake._step(
                CASE d.kind WHEN 'view' THEN snowflake._view_definition(d.relid, replaces => true)
                            WHEN 'routine' THEN rtrim(pg_get_functiondef(d.objid), E'\n') END,
                snowflake._maker(d)) step
            WHERE snowflake._is_replaced(d)
            ORDER BY d.objid;
END
$function$;

-- Returns the steps that drop the foreign keys of other tables, or make them again.
CREATE FUNCTION snowflake._reference_steps(p snowflake._partitioning, drops boolean)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._keys_to_table(p.tab) WITH ORDINALITY k
            CROSS JOIN LATERAL (
                SELECT 0, format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname) WHERE drops
                UNION ALL
                -- The rows that are there have been checked, and are checked again afterwards, without the lock.
                SELECT 0, concat(format('ALTER TABLE %s ADD CONSTRAINT %I %s',
                                        k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)),
                                 CASE WHEN k.convalidated THEN ' NOT VALID' END)
                    WHERE NOT drops
                UNION ALL
                SELECT s.n, s.command
                    FROM snowflake._conversion_annotations('pg_constraint'::regclass, k.oid,
                                                           format('CONSTRAINT %I ON %s', k.conname, k.conrelid::regclass))
                        WITH ORDINALITY s(command, n)
                    WHERE NOT drops
            ) x(n, command)
            CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(k.conrelid)) step
            ORDER BY k.ordinality, x.n;
END
$function$;

-- Returns all steps of the exchange.
CREATE FUNCTION snowflake._exchange_steps(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    remade constant snowflake._conversion_dependent[] := snowflake._remade(dependents);
BEGIN
    RETURN QUERY SELECT * FROM snowflake._kinds_drops(remade);
    RETURN QUERY SELECT * FROM snowflake._reference_steps(p, drops => true);
    RETURN QUERY SELECT * FROM snowflake._former_steps(p);
    RETURN QUERY SELECT * FROM snowflake._parent_steps(p);
    RETURN QUERY SELECT * FROM snowflake._parent_settings(p);
    RETURN QUERY SELECT * FROM snowflake._attach_steps(p);
    RETURN QUERY SELECT * FROM snowflake._ahead_steps(p);
    RETURN QUERY SELECT * FROM snowflake._replacement_steps(dependents);
    RETURN QUERY SELECT * FROM snowflake._kinds_remakes(remade);
    RETURN QUERY SELECT * FROM snowflake._reference_steps(p, drops => false);
END
$function$;
