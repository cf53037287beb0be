-- The swap: the steps of one short transaction in which shadow columns and twins take the names and places of the
-- originals, and the sequence is converted. No step reads a table: a validated check spares SET NOT NULL the scan.

-- Finds the objects that depend on columns and that the swap drops and makes again: those of a conversion with a lock, but
-- for indexes, which have twins. Extended statistics have no twins, and go with their column.
CREATE FUNCTION snowflake._swap_dependents(columns snowflake._conversion_column[])
    RETURNS snowflake._conversion_dependent[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT d FROM snowflake._conversion_dependents(columns) d
            WHERE NOT (d.kind IN ('index', 'statistics') AND d.depth = 1)
        UNION ALL
        SELECT DISTINCT snowflake._dependent(snowflake._conversion_object(d.classid, d.objid), kind => 'statistics', relid => s.stxrelid)
            FROM unnest(columns) c
            JOIN pg_depend d ON d.classid = 'pg_statistic_ext'::regclass AND d.refclassid = 'pg_class'::regclass
                            AND d.refobjid = c.relid AND d.refobjsubid = c.attnum
            JOIN pg_statistic_ext s ON s.oid = d.objid
            WHERE c.widened);
END
$function$;

-- Returns the names of the sequences that belong to a column: they would be dropped with it. Leaves out the sequence of an
-- identity, and names the one that takes its place.
CREATE FUNCTION snowflake._owned_sequences(part snowflake._conversion_part, s snowflake._shadow)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.objid::regclass::text
            FROM pg_depend d JOIN pg_sequence q ON q.seqrelid = d.objid
            WHERE d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid AND d.refobjsubid = s.attnum
              AND NOT (d.objid = part.seq AND snowflake._has_identity(part))
        UNION
        SELECT part.name FROM unnest(part.columns) c
            WHERE c.relid = s.relid AND c.attnum = s.attnum AND c.is_identity AND snowflake._makes_snowflakes(part.wishes);
END
$function$;

-- Returns the steps that give the sequences of columns to their shadows.
CREATE FUNCTION snowflake._swap_sequences(part snowflake._conversion_part, shadows snowflake._shadow[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(shadows) s
            CROSS JOIN LATERAL snowflake._owned_sequences(part, s) q
            CROSS JOIN LATERAL snowflake._step(format('ALTER SEQUENCE %s OWNED BY %s.%I', q, s.relid, s.shadow_name),
                                               snowflake._owner(s.relid)) step;
END
$function$;

-- Returns the commands that make the shadow of an identity the identity, with a sequence that goes on counting under the
-- same name; no commands if columns are to hold snowflake IDs, or this is not the identity.
CREATE FUNCTION snowflake._identity_move(
        part snowflake._conversion_part, shadow snowflake._shadow,
        OUT is_before boolean, -- before the column is dropped, and with it the sequence
        OUT command text, OUT effect text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    s record;
    replacement text;
BEGIN
    IF snowflake._makes_snowflakes(part.wishes)
       OR NOT EXISTS (SELECT FROM unnest(part.columns) c WHERE c.is_identity AND c.relid = shadow.relid AND c.attnum = shadow.attnum) THEN
        RETURN;
    END IF;
    SELECT c.oid, c.relname, n.nspname, q.*, a.attidentity, l.lowest, l.highest INTO s
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_sequence q ON q.seqrelid = c.oid
        JOIN pg_attribute a ON a.attrelid = shadow.relid AND a.attnum = shadow.attnum
        CROSS JOIN LATERAL snowflake._bigint_limits(q.seqmin, q.seqmax) l
        WHERE c.oid = part.seq;
    replacement := format('%I.%I', s.nspname, snowflake._free_name(s.nspname, 'snowflake_' || s.oid));
    is_before := true;
    command := format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s INCREMENT BY %s '
                      'MINVALUE %s MAXVALUE %s START WITH %s CACHE %s%s)',
                      shadow.relid, shadow.shadow_name, CASE s.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, replacement,
                      s.seqincrement, s.lowest, s.highest, s.seqstart, s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' END);
    effect := format('takes the place of %s', part.seq);
    RETURN NEXT;
    command := format('SELECT snowflake._take_state(%L, %L)', replacement, part.seq);
    effect := 'goes on after the last value';
    RETURN NEXT;
    is_before := false;
    command := format('ALTER SEQUENCE %s RENAME TO %I', replacement, s.relname);
    effect := NULL;
    RETURN NEXT;
    RETURN QUERY
        SELECT false, x, NULL::text
            FROM snowflake._conversion_annotations('pg_class'::regclass, part.seq, format('SEQUENCE %s', part.seq)) x;
END
$function$;

-- Returns the steps that put a shadow in the place of its column, in a table with its partitions.
CREATE FUNCTION snowflake._swap_column(part snowflake._conversion_part, s snowflake._shadow)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    a record;
BEGIN
    SELECT x.attnotnull, n.conname AS not_null INTO a
        FROM pg_attribute x
        LEFT JOIN pg_constraint n ON n.conrelid = x.attrelid AND n.contype = 'n' AND n.conkey = ARRAY[x.attnum]
        WHERE x.attrelid = s.relid AND x.attnum = s.attnum;
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT format('DROP TRIGGER %I ON %s', t, s.relid), NULL
                    FROM snowflake._triggers_on_shadow(s.relid, s.shadow) t
                UNION ALL
                SELECT format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', s.relid, s.shadow_name), NULL WHERE a.attnotnull
                UNION ALL
                SELECT x.command, x.effect FROM snowflake._identity_move(part, s) x WHERE x.is_before
                UNION ALL
                SELECT format('ALTER TABLE %s DROP COLUMN %I', s.relid, s.attname),
                       format('ACCESS EXCLUSIVE lock on %s', s.relid)
                UNION ALL
                SELECT format('ALTER TABLE %s RENAME COLUMN %I TO %I', s.relid, s.shadow_name, s.attname),
                       'the new column is the last one of its table'
                UNION ALL
                SELECT x.command, x.effect FROM snowflake._identity_move(part, s) x WHERE NOT x.is_before
                UNION ALL
                -- PostgreSQL 18 gives not-null constraints names.
                SELECT format('SELECT snowflake._name_not_null(%L, %L, %L)', s.relid, s.attname, a.not_null), NULL
                    WHERE a.not_null IS NOT NULL
            ) x(command, effect)
            CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(s.relid), x.effect) step;
END
$function$;

-- Returns the step that gives a shadow the default of its column, unless the conversion sets another.
CREATE FUNCTION snowflake._swap_default(part snowflake._conversion_part, s snowflake._shadow)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_attrdef f
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', s.relid, s.attname, pg_get_expr(f.adbin, f.adrelid)),
                snowflake._owner(s.relid)) step
            WHERE f.adrelid = s.relid AND f.adnum = s.attnum
              AND NOT EXISTS (SELECT FROM unnest(part.columns) c
                                  WHERE c.relid = s.relid AND c.attnum = s.attnum AND c.new_default IS NOT NULL);
END
$function$;

-- Gives the not-null constraint of a column a name.
CREATE FUNCTION snowflake._name_not_null(tab regclass, attname name, wanted name)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    present constant name := (
        SELECT k.conname FROM pg_constraint k
            JOIN pg_attribute a ON a.attrelid = tab AND k.conkey = ARRAY[a.attnum] AND a.attname = _name_not_null.attname
            WHERE k.conrelid = tab AND k.contype = 'n');
BEGIN
    IF present <> wanted THEN
        EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', tab, present, wanted);
    END IF;
END
$function$;

-- Returns the steps that give a shadow the settings, the comment and the rights of its column.
CREATE FUNCTION snowflake._swap_settings(s snowflake._shadow)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT format('COMMENT ON COLUMN %s.%I IS NULL', s.relid, s.attname), NULL::oid
                    WHERE snowflake._is_offered(s.relid, s.shadow)
                UNION ALL
                SELECT c, NULL
                    FROM pg_class t,
                         snowflake._conversion_column_settings(CASE t.relkind WHEN 'p' THEN 'TABLE ONLY' ELSE 'TABLE' END,
                                                               s.relid, s.attname) c
                    WHERE t.oid = s.relid
                UNION ALL
                SELECT c, NULL FROM pg_constraint k
                    CROSS JOIN LATERAL snowflake._conversion_annotations(
                        'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, s.relid)) c
                    WHERE k.conrelid = s.relid AND k.contype = 'n' AND k.conkey = ARRAY[s.attnum]
                UNION ALL
                -- Rights on the shadow end: nobody gave them on the column.
                SELECT snowflake._revoke_command(format('ALL (%I) ON TABLE %s', s.attname, s.relid),
                                                 ARRAY(SELECT x.grantee FROM aclexplode(a.attacl) x)), NULL
                    FROM pg_attribute a
                    WHERE a.attrelid = s.relid AND a.attnum = s.shadow
                UNION ALL
                (SELECT g.command, g.role
                    FROM snowflake._conversion_grants('pg_class'::regclass, s.relid, s.attnum) WITH ORDINALITY g(command, role, n)
                    ORDER BY g.n)
            ) x(command, role)
            CROSS JOIN LATERAL snowflake._step(x.command, coalesce(x.role, snowflake._owner(s.relid))) step
            WHERE x.command IS NOT NULL;
END
$function$;

-- Returns the commands that put the twin of an index, and of its constraint, in the place of the original.
CREATE FUNCTION snowflake._swap_index(t snowflake._twin)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('ALTER INDEX %I.%I RENAME TO %I', n.nspname, t.name, c.relname)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = t.original
        UNION ALL
        SELECT format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s USING INDEX %2$I', t.relid, k.conname,
                      CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END)
            FROM pg_constraint k WHERE k.conindid = t.original AND k.contype IN ('p', 'u')
        UNION ALL
        -- An index keeps the names that the columns had when it was built.
        SELECT format('ALTER TABLE %s RENAME COLUMN %I TO %I', t.original::regclass, present.attname, wanted.attname)
            FROM pg_attribute present JOIN pg_attribute wanted ON wanted.attrelid = t.original AND wanted.attnum = present.attnum
            WHERE present.attrelid = t.twin AND present.attname <> wanted.attname;
    RETURN QUERY SELECT * FROM snowflake._conversion_index_settings(t.original, only_forgotten => false);
    RETURN QUERY
        SELECT x FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._conversion_annotations(
                'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, t.relid)) x
            WHERE k.conindid = t.original AND k.contype IN ('p', 'u');
END
$function$;

-- Returns the commands that give the twin of a constraint the name and comment of the original, and let it wait for a commit no
-- longer than that.
CREATE FUNCTION snowflake._swap_constraint(t snowflake._twin)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', t.relid, t.name, k.conname)
            FROM pg_constraint k WHERE k.oid = t.original AND NOT t.is_inherited;
    RETURN QUERY
        SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY IMMEDIATE', t.relid, k.conname)
            FROM pg_constraint k WHERE k.oid = t.original AND k.condeferrable AND NOT k.condeferred;
    RETURN QUERY
        SELECT x FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._conversion_annotations(
                'pg_constraint'::regclass, k.oid, format('CONSTRAINT %I ON %s', k.conname, t.relid)) x
            WHERE k.oid = t.original;
END
$function$;

-- Returns the steps that drop the twins of checks and foreign keys that are gone.
CREATE FUNCTION snowflake._swap_orphans(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._orphans(work) o
            JOIN pg_constraint k ON o.class = 'pg_constraint'::regclass AND k.oid = o.object
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname),
                                               snowflake._owner(k.conrelid)) step;
END
$function$;

-- Returns the steps that put shadow columns and twins in the place of the originals.
CREATE FUNCTION snowflake._swap_exchange(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT t.original FROM unnest(work.keys) t UNION ALL SELECT x FROM unnest(work.whole_keys) x) y(original)
            JOIN pg_constraint k ON k.oid = y.original AND k.conparentid = 0
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname),
                                               snowflake._owner(k.conrelid)) step;
    RETURN QUERY SELECT * FROM snowflake._swap_orphans(work);
    RETURN QUERY SELECT * FROM snowflake._swap_sequences(work.part, work.shadows);
    RETURN QUERY SELECT x.* FROM unnest(work.shadows) s, snowflake._swap_column(work.part, s) x WHERE NOT s.is_inherited;
    RETURN QUERY SELECT x.* FROM unnest(work.shadows) s, snowflake._swap_default(work.part, s) x;
    RETURN QUERY
        SELECT step.*
            FROM (SELECT t.relid, c FROM unnest(work.indexes) t, snowflake._swap_index(t) c
                  UNION ALL
                  SELECT t.relid, c FROM unnest(work.checks || work.keys) t, snowflake._swap_constraint(t) c) x(relid, command)
            CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(x.relid)) step;
    RETURN QUERY SELECT * FROM snowflake._swap_whole_indexes(work);
    RETURN QUERY SELECT * FROM snowflake._swap_whole_keys(work);
    RETURN QUERY SELECT x.* FROM unnest(work.shadows) s, snowflake._swap_settings(s) x;
END
$function$;

-- Returns the steps of the swap that ends a conversion without a long lock.
CREATE FUNCTION snowflake._swap_steps(work snowflake._shadowing)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    part constant snowflake._conversion_part := work.part;
    to_ids constant boolean := snowflake._makes_snowflakes(part.wishes);
    dependents snowflake._conversion_dependent[];
    c snowflake._conversion_column;
    swapped snowflake._conversion_column[] := '{}';
BEGIN
    IF snowflake._is_converted(part) THEN
        RETURN;
    END IF;
    dependents := snowflake._swap_dependents(part.columns);
    FOREACH c IN ARRAY part.columns LOOP
        c.is_identity := c.is_identity AND NOT c.widened;
        swapped := swapped || c;
    END LOOP;
    RETURN QUERY
        SELECT step.* FROM snowflake._views_on_shadows(work.shadows) v, snowflake._drop_view_on_shadows(v) step
            WHERE v NOT IN (SELECT t.twin FROM unnest(work.views) t) AND snowflake._is_taken_along(part.owner, snowflake._owner(v));
    RETURN QUERY SELECT * FROM snowflake._kinds_drops(dependents);
    IF to_ids THEN
        RETURN QUERY SELECT * FROM snowflake._identity_steps(part, dependents);
        RETURN QUERY SELECT * FROM snowflake._ownership_steps(part);
        RETURN QUERY SELECT * FROM snowflake._room_steps(part) WHERE NOT snowflake._has_identity(part);
    ELSIF snowflake._has_identity(part) THEN
        RETURN QUERY SELECT * FROM snowflake._identity_defaults(part.columns, dependents);
    ELSE
        RETURN QUERY SELECT * FROM snowflake._bigint_steps(part);
    END IF;
    RETURN QUERY SELECT * FROM snowflake._swap_exchange(work);
    RETURN QUERY
        SELECT step.*
            FROM snowflake._conversion_rights('pg_class'::regclass, part.seq) x
            CROSS JOIN LATERAL snowflake._step(x.command, coalesce(x.role, part.owner)) step
            WHERE NOT to_ids AND snowflake._has_identity(part);
    RETURN QUERY SELECT * FROM snowflake._table_defaults(swapped);
    RETURN QUERY SELECT * FROM snowflake._guard_steps(part) WHERE to_ids AND NOT snowflake._has_identity(part);
    RETURN QUERY SELECT * FROM snowflake._swap_views(work, dependents);
    RETURN QUERY SELECT * FROM snowflake._kinds_remakes(ARRAY(
        SELECT d FROM unnest(dependents) d
            WHERE d.kind NOT IN ('view', 'index') OR d.relid NOT IN (SELECT t.relid FROM unnest(work.views) t)));
    RETURN QUERY SELECT * FROM snowflake._view_defaults(part.columns);
    RETURN QUERY SELECT * FROM snowflake._conversion_strangers(part);
END
$function$;

-- Returns the defaults that were meant for columns, as defaults of the shadows that replace them.
CREATE FUNCTION snowflake._meant_after_swap(meant snowflake._meant_default[], shadows snowflake._shadow[])
    RETURNS snowflake._meant_default[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY(SELECT snowflake._meant_default(m.relid, coalesce(s.shadow, m.attnum), sequence => m.sequence, form => m.form)
                     FROM unnest(meant) m LEFT JOIN unnest(shadows) s ON s.relid = m.relid AND s.attnum = m.attnum);
