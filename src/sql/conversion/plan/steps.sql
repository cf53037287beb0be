-- The steps: all commands of a conversion, in order.

-- Returns what the conversion of a sequence concerns; raises an error unless the sequence is the caller's. The mark
-- of a sequence says that its INCREMENT is a size of blocks. Nobody has to say it again. Nor the layout that the sequence
-- has, or that its defaults name.
CREATE FUNCTION snowflake._conversion_part(
        seq regclass, increment text DEFAULT 'drop', move_generated boolean DEFAULT false, online boolean DEFAULT false,
        layout snowflake.layout DEFAULT NULL)
    RETURNS snowflake._conversion_part
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
DECLARE
    columns snowflake._conversion_column[];
BEGIN
    PERFORM snowflake._require_increment_word(increment);
    PERFORM snowflake._conversion_check(seq);
    IF increment = 'refuse' AND (SELECT seqmax = snowflake._mark() FROM pg_sequence WHERE seqrelid = seq) THEN
        increment := 'keep';
    END IF;
    columns := ARRAY(SELECT c FROM snowflake._conversion_columns(seq) c);
    RETURN snowflake._part(seq, columns, ARRAY(SELECT d FROM snowflake._conversion_dependents(columns) d), increment,
                           move_generated, online, coalesce(layout, snowflake._present_layout(seq, columns)));
END
$function$;

-- Tells whether a sequence is converted, and nothing unconverted uses it.
-- An increment above 1 is then a stride that somebody has chosen; a caller who says that it is one gets it marked.
CREATE FUNCTION snowflake._is_converted(part snowflake._conversion_part)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    definition constant pg_sequence := (SELECT q FROM pg_sequence q WHERE q.seqrelid = part.seq);
BEGIN
    RETURN NOT snowflake._is_left_behind(part.seq)
           AND (SELECT (snowflake._makes_ids(definition.seqincrement, definition.seqmax)
                    OR definition.seqincrement > 1 AND part.increment <> 'keep'
                       AND coalesce(bool_or(c.old_default IS NOT NULL AND NOT c.draws), false))
                   AND NOT coalesce(bool_or(c.new_default IS NOT NULL OR c.widened), false)
                FROM unnest(part.columns) c);
END
$function$;

-- Tells whether a sequence is the identity of a column, and is made anew.
CREATE FUNCTION snowflake._has_identity(part snowflake._conversion_part)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT coalesce(pg_catalog.bool_or(c.is_identity), false) FROM pg_catalog.unnest(part.columns) c);

-- Lists what the conversion of a sequence cannot take along; empty if it can be converted.
CREATE FUNCTION snowflake._obstacles(part snowflake._conversion_part)
    RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT x
            FROM (SELECT snowflake._conversion_obstacles(part.seq, part.columns, part.dependents, part.layout) WHERE snowflake._is_usable_now(part.layout)
                  UNION ALL
                  SELECT format('generated column %I of table %s depends on a column to be widened and is not the last column: '
                                'convert with move_generated => true to make it the last one', m.attname, m.relid)
                      FROM snowflake._generated_moves(part.dependents) m WHERE NOT part.move_generated AND NOT part.online
                  UNION ALL
                  SELECT snowflake._online_obstacles(part, part.dependents) WHERE part.online
                  UNION ALL
                  SELECT snowflake._obstacles_of_shadows(part) WHERE NOT part.online
                  UNION ALL
                  SELECT snowflake._layout_obstacles(part)
                  UNION ALL
                  SELECT snowflake._increment_obstacles(part) WHERE NOT snowflake._is_converted(part)) o(x)
            ORDER BY x COLLATE "C");
END
$function$;

-- Raises an error that names everything that the conversion of a sequence cannot take along.
CREATE FUNCTION snowflake._require_no_obstacles(part snowflake._conversion_part)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
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

-- Returns the steps of the conversion of a sequence; none if it is converted already.
CREATE FUNCTION snowflake._conversion_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    IF snowflake._is_converted(part) THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM snowflake._kinds_drops(part.dependents);
    RETURN QUERY SELECT * FROM snowflake._conversion_widenings(part.columns, part.dependents);
    RETURN QUERY SELECT * FROM snowflake._identity_steps(part, part.dependents);
    RETURN QUERY SELECT * FROM snowflake._ownership_steps(part);
    RETURN QUERY SELECT * FROM snowflake._room_steps(part) WHERE NOT snowflake._has_identity(part);
    RETURN QUERY SELECT * FROM snowflake._table_defaults(part.columns);
    RETURN QUERY SELECT * FROM snowflake._guard_steps(part) WHERE NOT snowflake._has_identity(part);
    RETURN QUERY SELECT * FROM snowflake._kinds_steps(part.dependents);
    RETURN QUERY SELECT * FROM snowflake._view_refreshes(part.dependents);
    RETURN QUERY SELECT * FROM snowflake._view_defaults(part.columns);
    RETURN QUERY
        SELECT step.*
            FROM snowflake._generated_moves(part.dependents) m
            CROSS JOIN LATERAL snowflake._remark(format('generated column %I of table %s becomes the last column', m.attname, m.relid)) step;
    RETURN QUERY
        SELECT step.*
            FROM snowflake._node_misfit(part.layout) misfit, snowflake._remark(misfit) step
            WHERE misfit IS NOT NULL;
    RETURN QUERY SELECT * FROM snowflake._conversion_strangers(part.seq, part.columns);
END
$function$;
