-- The steps: all commands of a conversion, in order. Several sequences have one plan, in which each table is
-- altered once.

-- The mark of a sequence says that its INCREMENT is a size of blocks. Nobody has to say it again.
CREATE FUNCTION snowflake._conversion_part(seq regclass, increment text, move_generated boolean, online boolean)
    RETURNS snowflake._conversion_part
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    PERFORM snowflake._require_increment_word(increment);
    PERFORM snowflake._conversion_check(seq);
    IF increment = 'refuse' AND (SELECT seqmax = snowflake._mark() FROM pg_sequence WHERE seqrelid = seq) THEN
        increment := 'keep';
    END IF;
    RETURN (seq, seq::text, (SELECT relowner FROM pg_class WHERE oid = seq), increment, move_generated,
            ARRAY(SELECT c FROM snowflake._conversion_columns(seq) c), online)::snowflake._conversion_part;
END
$function$;
COMMENT ON FUNCTION snowflake._conversion_part(regclass, text, boolean, boolean) IS
    'returns what the conversion of a sequence concerns; raises an error unless the sequence is the caller''s';

-- A column that several sequences concern, such as a key that is a reference too, changes once.
CREATE FUNCTION snowflake._joint_columns(parts snowflake._conversion_part[])
    RETURNS snowflake._conversion_column[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    IF cardinality(parts) = 1 THEN
        RETURN parts[1].columns;
    END IF;
    RETURN ARRAY(
        SELECT (c.relid, c.attnum, c.attname, bool_or(c.is_identity), max(c.attrdef), max(c.old_default),
                max(c.new_default), bool_or(c.widened), bool_and(c.is_inherited),
                c.is_strangers)::snowflake._conversion_column
            FROM unnest(parts) part CROSS JOIN LATERAL unnest(part.columns) c
            GROUP BY c.relid, c.attnum, c.attname, c.is_strangers);
END
$function$;
COMMENT ON FUNCTION snowflake._joint_columns(snowflake._conversion_part[]) IS
    'returns the columns that the conversion of several sequences concerns, each once';

-- Converted already, and nothing has come to use the sequence since. An increment above 1 is then a stride
-- that somebody has chosen; a caller who says that it is one gets it marked.
CREATE FUNCTION snowflake._is_converted(part snowflake._conversion_part)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    definition constant pg_sequence := (SELECT q FROM pg_sequence q WHERE q.seqrelid = part.seq);
BEGIN
    RETURN NOT snowflake._is_left_behind(part.seq)
           AND (SELECT (snowflake._makes_ids(definition.seqincrement, definition.seqmax)
                    OR definition.seqincrement > 1 AND part.increment <> 'keep'
                       AND coalesce(bool_or(c.old_default IS NOT NULL AND c.new_default IS NULL), false))
                   AND NOT coalesce(bool_or(c.new_default IS NOT NULL OR c.widened), false)
                FROM unnest(part.columns) c);
END
$function$;
COMMENT ON FUNCTION snowflake._is_converted(snowflake._conversion_part) IS
    'tells whether there is nothing left to convert';

CREATE FUNCTION snowflake._has_identity(part snowflake._conversion_part)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT coalesce(pg_catalog.bool_or(c.is_identity), false) FROM pg_catalog.unnest(part.columns) c);
COMMENT ON FUNCTION snowflake._has_identity(snowflake._conversion_part) IS
    'tells whether a sequence is the identity of a column, and is made anew';

CREATE FUNCTION snowflake._obstacles(part snowflake._conversion_part)
    RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    dependents constant snowflake._conversion_dependent[] :=
        ARRAY(SELECT d FROM snowflake._conversion_dependents(part.columns) d);
BEGIN
    RETURN ARRAY(
        SELECT x
            FROM (SELECT snowflake._conversion_obstacles(part.seq, part.columns, dependents)
                  UNION ALL
                  SELECT format('generated column %I of table %s depends on a column to be widened and is not the last column: '
                                'convert with move_generated => true to make it the last one', m.attname, m.relid)
                      FROM snowflake._generated_moves(dependents) m WHERE NOT part.move_generated AND NOT part.online
                  UNION ALL
                  SELECT snowflake._online_obstacles(part, dependents) WHERE part.online
                  UNION ALL
                  SELECT snowflake._obstacles_of_shadows(part) WHERE NOT part.online
                  UNION ALL
                  SELECT snowflake._increment_obstacles(part) WHERE NOT snowflake._is_converted(part)) o(x)
            ORDER BY x COLLATE "C");
END
$function$;
COMMENT ON FUNCTION snowflake._obstacles(snowflake._conversion_part) IS
    'lists what the conversion of a sequence cannot take along; empty if it can be converted';

CREATE FUNCTION snowflake._require_no_obstacles(part snowflake._conversion_part)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    obstacles constant text[] := snowflake._obstacles(part);
BEGIN
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence %', part.name
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._require_no_obstacles(snowflake._conversion_part) IS
    'raises an error that names everything that the conversion of a sequence cannot take along';

CREATE FUNCTION snowflake._event_trigger_remarks()
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM pg_event_trigger e
            CROSS JOIN LATERAL snowflake._remark(
                format('event trigger %I fires for these commands with the rights of the owner of each relation, in a '
                       'security-restricted operation: it can make nothing temporary there', e.evtname)) step
            WHERE e.evtenabled IN ('O', 'A')
              AND NOT EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = e.oid AND d.deptype = 'e')
            ORDER BY e.evtname;
END
$function$;
COMMENT ON FUNCTION snowflake._event_trigger_remarks() IS
    'returns remarks on the event triggers that fire for the commands of a conversion';

CREATE FUNCTION snowflake._conversion_steps(all_parts snowflake._conversion_part[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
DECLARE
    parts constant snowflake._conversion_part[] :=
        ARRAY(SELECT p FROM unnest(all_parts) p WHERE NOT snowflake._is_converted(p));
    columns constant snowflake._conversion_column[] := snowflake._joint_columns(parts);
    dependents constant snowflake._conversion_dependent[] :=
        ARRAY(SELECT d FROM snowflake._conversion_dependents(columns) d);
BEGIN
    RETURN QUERY SELECT * FROM snowflake._kinds_drops(dependents);
    RETURN QUERY SELECT * FROM snowflake._conversion_widenings(columns, dependents);
    RETURN QUERY SELECT s.* FROM unnest(parts) p, snowflake._identity_steps(p, dependents) s;
    RETURN QUERY SELECT s.* FROM unnest(parts) p, snowflake._ownership_steps(p) s;
    RETURN QUERY SELECT s.* FROM unnest(parts) p, snowflake._room_steps(p) s WHERE NOT snowflake._has_identity(p);
    RETURN QUERY SELECT * FROM snowflake._table_defaults(columns);
    RETURN QUERY SELECT s.* FROM unnest(parts) p, snowflake._guard_steps(p) s WHERE NOT snowflake._has_identity(p);
    RETURN QUERY SELECT * FROM snowflake._kinds_steps(dependents);
    RETURN QUERY SELECT * FROM snowflake._view_refreshes(dependents);
    RETURN QUERY SELECT * FROM snowflake._view_defaults(columns);
    RETURN QUERY
        SELECT step.*
            FROM snowflake._generated_moves(dependents) m
            CROSS JOIN LATERAL snowflake._remark(format('generated column %I of table %s becomes the last column', m.attname, m.relid)) step;
    RETURN QUERY SELECT * FROM snowflake._event_trigger_remarks() WHERE parts <> '{}';
    RETURN QUERY SELECT s.* FROM unnest(parts) p, snowflake._conversion_strangers(p.seq, p.columns) s;
END
$function$;
COMMENT ON FUNCTION snowflake._conversion_steps(snowflake._conversion_part[]) IS
    'returns the steps of the conversion of sequences, those that are converted already aside';
