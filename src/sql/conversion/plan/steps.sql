-- The steps: all commands of a conversion, in order.

-- Returns what the conversion of a sequence concerns; raises an error unless the sequence is the caller's. The mark
-- of a sequence says that its INCREMENT is a size of blocks. Nobody has to say it again. Nor the layout that the sequence
-- has, or that its defaults name.
CREATE FUNCTION snowflake._conversion_part(
        seq regclass, wishes snowflake._conversion_wishes DEFAULT snowflake._least_wishes(), online boolean DEFAULT false)
    RETURNS snowflake._conversion_part
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
DECLARE
    columns snowflake._conversion_column[];
BEGIN
    PERFORM snowflake._conversion_check(seq);
    IF wishes.increment = 'refuse' AND (SELECT seqmax = snowflake._unguarded_maximum() FROM pg_sequence WHERE seqrelid = seq) THEN
        wishes.increment := 'keep';
    END IF;
    columns := ARRAY(SELECT c FROM snowflake._conversion_columns(seq, wishes, online) c);
    RETURN snowflake._part(seq, columns, ARRAY(SELECT d FROM snowflake._conversion_dependents(columns) d), wishes, online,
                           coalesce(wishes.layout, snowflake._present_layout(seq, columns)));
END
$function$;

-- Tells whether there is nothing left to convert. For IDs that is so if the sequence is converted, and nothing unconverted
-- uses it. An increment above 1 is then a stride that somebody has chosen; a sequence whose caller says so gets the MAXVALUE of
-- an unguarded one.
CREATE FUNCTION snowflake._is_converted(part snowflake._conversion_part)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    definition constant pg_sequence := (SELECT q FROM pg_sequence q WHERE q.seqrelid = part.seq);
BEGIN
    IF NOT snowflake._makes_snowflakes(part.wishes) THEN
        RETURN NOT EXISTS (SELECT FROM unnest(part.columns) c WHERE c.widened)
               AND NOT EXISTS (SELECT FROM snowflake._bigint_steps(part) s WHERE s.command IS NOT NULL);
    END IF;
    RETURN NOT snowflake._is_left_behind(part.seq)
           AND (SELECT (snowflake._makes_ids(definition.seqincrement, definition.seqmax)
                    OR definition.seqincrement BETWEEN 2 AND snowflake._greatest_stride(part.layout)
                       AND (part.wishes).increment = 'refuse' AND coalesce(bool_or(c.old_default IS NOT NULL AND NOT c.draws), false))
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
DECLARE
    to_ids constant boolean := snowflake._makes_snowflakes(part.wishes);
BEGIN
    RETURN ARRAY(
        SELECT x
            FROM (SELECT snowflake._conversion_obstacles(part.seq, part.columns, part.dependents, part.layout, to_ids)
                      WHERE NOT to_ids OR snowflake._is_usable_now(part.layout)
                  UNION ALL
                  SELECT w.obstacle FROM snowflake._waivable_obstacles(part) w WHERE w.word <> ALL ((part.wishes).waive)
                  UNION ALL
                  SELECT snowflake._obstacles_of_slips(part.seq, (part.wishes).also)
                  UNION ALL
                  SELECT snowflake._obstacles_of_invalid_indexes(part)
                  UNION ALL
                  SELECT snowflake._online_obstacles(part, part.dependents) WHERE part.online
                  UNION ALL
                  SELECT snowflake._obstacles_of_shadows(part) WHERE NOT part.online
                  UNION ALL
                  SELECT snowflake._obstacles_of_positions(ARRAY(SELECT m.relid FROM snowflake._generated_moves(part.dependents) m), part.dependents)
                      WHERE NOT part.online
                  UNION ALL
                  SELECT snowflake._layout_obstacles(part) WHERE to_ids
                  UNION ALL
                  SELECT snowflake._increment_obstacles(part) WHERE to_ids AND NOT snowflake._is_converted(part)) o(x)
            ORDER BY x COLLATE "C");
END
$function$;

-- Lists the obstacles that a caller can waive, each with the word that waives it.
CREATE FUNCTION snowflake._waivable_obstacles(part snowflake._conversion_part, OUT obstacle text, OUT word text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('generated column %I of table %s depends on a column to be widened and is not the last column: '
                      'convert with waive => ''generated'' to make it the last one', m.attname, m.relid), 'generated'
            FROM snowflake._generated_moves(part.dependents) m WHERE NOT part.online;
    RETURN QUERY SELECT * FROM snowflake._waivable_obstacles_of_writers(part);
    -- The stages, which have the locks, do not look for what is waived.
    RETURN QUERY
        SELECT o, 'subscribers' FROM snowflake._obstacles_of_subscribers(part) o
            WHERE part.online AND 'subscribers' <> ALL ((part.wishes).waive);
    IF snowflake._makes_snowflakes(part.wishes) AND NOT snowflake._is_converted(part) THEN
        RETURN QUERY
            SELECT o || ': convert with waive => ''node'' to rehearse without', 'node'
                FROM (SELECT snowflake._obstacle_of_node() UNION ALL
                      SELECT snowflake._obstacle_of_misfit(part.layout) WHERE snowflake._is_usable_now(part.layout)) x(o)
                WHERE o IS NOT NULL;
    END IF;
END
$function$;

-- Raises an error that names everything that the conversion of a sequence cannot take along.
CREATE FUNCTION snowflake._require_no_obstacles(part snowflake._conversion_part)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_none(snowflake._obstacles(part), format('cannot convert sequence %s', part.name));
END
$function$;

-- Returns the steps of the conversion of a sequence; none if it is converted already.
CREATE FUNCTION snowflake._conversion_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    IF snowflake._is_converted(part) THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM snowflake._kinds_drops(part.dependents);
    RETURN QUERY SELECT * FROM snowflake._conversion_widenings(part.columns, part.dependents);
    IF snowflake._makes_snowflakes(part.wishes) THEN
        RETURN QUERY SELECT * FROM snowflake._identity_steps(part, part.dependents);
        RETURN QUERY SELECT * FROM snowflake._ownership_steps(part);
        RETURN QUERY SELECT * FROM snowflake._room_steps(part) WHERE NOT snowflake._has_identity(part);
        RETURN QUERY SELECT * FROM snowflake._table_defaults(part.columns);
        RETURN QUERY SELECT * FROM snowflake._guard_steps(part) WHERE NOT snowflake._has_identity(part);
    ELSE
        RETURN QUERY SELECT * FROM snowflake._bigint_steps(part);
    END IF;
    RETURN QUERY SELECT * FROM snowflake._kinds_remakes(part.dependents);
    RETURN QUERY SELECT * FROM snowflake._view_refreshes(part.dependents);
    RETURN QUERY SELECT * FROM snowflake._view_defaults(part.columns);
    RETURN QUERY
        SELECT step.*
            FROM snowflake._generated_moves(part.dependents) m
            CROSS JOIN LATERAL snowflake._remark(format('generated column %I of table %s becomes the last column',
                                                        m.attname, m.relid)) step;
    RETURN QUERY SELECT * FROM snowflake._conversion_strangers(part);
END
$function$;
