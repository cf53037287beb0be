-- The layout of the IDs of a sequence: which, and what is in its way.

-- Returns the option that gives a sequence its layout, for a command; NULL: none is needed.
CREATE FUNCTION snowflake._layout_clause(part snowflake._conversion_part)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format(' MINVALUE %s', snowflake._minimum_for(part.seq, part.layout))
                FROM pg_sequence q
                WHERE q.seqrelid = part.seq AND q.seqmin <> snowflake._minimum_for(part.seq, part.layout));
END
$function$;

-- Returns why no ID can be made now in a layout.
CREATE FUNCTION snowflake._why_unusable(layout snowflake.layout)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN format(CASE (snowflake.describe(layout)).nodes WHEN 1 THEN 'the layout "%s" has no room for a node'
                                                          ELSE 'no ID can be made at this time in the layout "%s"' END, layout);

-- Says that the node of this instance does not fit a layout; NULL: it fits, or there is none. Nothing is looked up for a
-- layout that has room for every node.
CREATE FUNCTION snowflake._node_misfit(layout snowflake.layout)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    last constant bigint := (snowflake.describe(layout)).nodes - 1;
    present integer;
BEGIN
    IF last >= snowflake._last_node() THEN
        RETURN NULL;
    END IF;
    present := snowflake.node();
    RETURN CASE WHEN present > last
                THEN format('snowflake node %s of this instance does not fit the layout, which has room for nodes 1 to %s',
                            present, last) END;
EXCEPTION WHEN SQLSTATE '55000' OR invalid_table_definition THEN -- nextval() says what is wrong with the node.
    RETURN NULL;
END
$function$;

-- Returns why this instance cannot make IDs in a layout, with the number that takes the place of its own: claim_node() would
-- derive one that fits only once a sequence has the layout. NULL: it can, or has no number.
CREATE FUNCTION snowflake._obstacle_of_misfit(layout snowflake.layout)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    nodes constant bigint := (snowflake.describe(layout)).nodes;
    misfit constant text := snowflake._node_misfit(layout);
BEGIN
    RETURN CASE WHEN nodes = 1 THEN snowflake._why_unusable(layout)
                WHEN misfit IS NOT NULL
                THEN format('%s (SELECT snowflake.release_node(); SELECT snowflake.claim_node(%s))', misfit,
                            (snowflake.node() - 1) % (nodes - 1) + 1) END;
END
$function$;

-- Warns if the node of this instance does not fit a layout.
CREATE FUNCTION snowflake._warn_of_node(layout snowflake.layout)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    remark constant text := snowflake._node_misfit(layout);
BEGIN
    IF remark IS NOT NULL THEN
        RAISE WARNING '%', remark
            USING HINT = 'SELECT snowflake.release_node(); SELECT snowflake.claim_node();';
    END IF;
END
$function$;

-- Lists what names another layout for a sequence: defaults of columns, and what else of its owner's depends on it.
CREATE FUNCTION snowflake._uses_in_other_layouts(
        seq regclass, columns snowflake._conversion_column[], wanted snowflake.layout)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('default of column %I of table %s names the layout "%s"', c.attname, c.relid, used.layout)
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', c.attrdef) used
            WHERE c.attrdef IS NOT NULL AND NOT c.is_strangers AND used.sequence = seq
              AND used.layout OPERATOR(snowflake.<>) wanted
              -- A call without a layout gets that of the sequence.
              AND used.layout OPERATOR(snowflake.<>) snowflake.layout_of(seq)
        UNION
        SELECT format('%s names the layout "%s"', pg_describe_object(d.classid, d.objid, d.objsubid), used.layout)
            FROM pg_class s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid AND d.classid <> 'pg_attrdef'::regclass
            CROSS JOIN LATERAL snowflake._sequence_uses(d.classid, d.objid) used
            WHERE s.oid = seq AND used.sequence = seq
              AND used.layout OPERATOR(snowflake.<>) wanted
              AND used.layout OPERATOR(snowflake.<>) snowflake.layout_of(seq)
              AND snowflake._is_taken_along(s.relowner, snowflake._owner_of(d.classid, d.objid));
END
$function$;

-- Returns the layout that a sequence has, or the one that the defaults of a sequence that is not converted name; the
-- default layout where they name none, or several.
CREATE FUNCTION snowflake._present_layout(seq regclass, columns snowflake._conversion_column[])
    RETURNS snowflake.layout
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    named constant snowflake.layout[] := ARRAY(
        SELECT DISTINCT used.layout
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', c.attrdef) used
            JOIN pg_sequence q ON q.seqrelid = seq AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
            WHERE c.attrdef IS NOT NULL AND NOT c.is_strangers AND used.sequence = seq AND used.callee LIKE 'snowflake.%'
              -- A group must not choose for its members.
              AND snowflake._may_act_for(snowflake._owner(c.relid), snowflake._owner(seq)));
BEGIN
    RETURN CASE WHEN cardinality(named) = 1 THEN named[1] ELSE snowflake.layout_of(seq) END;
END
$function$;

-- Lists what keeps a sequence from being converted to IDs of a layout.
CREATE FUNCTION snowflake._layout_obstacles(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT snowflake._why_unusable(part.layout) WHERE NOT snowflake._is_usable_now(part.layout)
        UNION ALL
        SELECT CASE WHEN snowflake._last_value(part.seq) >= snowflake.from_timestamp(clock_timestamp(), part.layout)
                    THEN format('sequence %s has made IDs above those of the layout "%s" at this time', part.seq, part.layout)
                    ELSE format('sequence %s is converted, and has another layout: SELECT snowflake.set_layout(%L, %L)',
                                part.seq, part.seq, part.layout)
               END
            FROM pg_sequence q
            WHERE q.seqrelid = part.seq AND snowflake._makes_ids(q.seqincrement, q.seqmax)
              AND snowflake.layout_of(part.seq) OPERATOR(snowflake.<>) part.layout
        UNION ALL
        SELECT snowflake._uses_in_other_layouts(part.seq, part.columns, part.layout);
END
$function$;

-- Raises an error if a sequence cannot have the layout that it has been given: a default or something else names another,
-- or a default, a check or a partitioned table does not bear its IDs, or its stride does not fit.
CREATE FUNCTION snowflake._require_fitting_layout(part snowflake._conversion_part)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    others constant text[] := ARRAY(SELECT snowflake._uses_in_other_layouts(part.seq, part.columns, part.layout));
    filled snowflake._conversion_column[];
    faults text[];
BEGIN
    SELECT array_agg(snowflake._conversion_column(c.relid, c.attnum, c.attname, attrdef => c.attrdef, old_default => c.old_default,
                                                  draws => c.draws OR b.relid IS NOT NULL,
                                                  is_inherited => c.is_inherited, is_strangers => c.is_strangers))
        INTO filled
        FROM unnest(part.columns) c
        LEFT JOIN snowflake._columns_back(part.seq) b ON b.relid = c.relid AND b.attnum = c.attnum;
    faults := ARRAY(SELECT snowflake._obstacles_of_types(part.seq, filled, part.dependents, part.layout, true)
                    UNION ALL SELECT snowflake._obstacles_of_expressions(part.seq, filled, part.dependents, part.layout)
                    UNION ALL SELECT snowflake._partition_obstacles(filled, part.layout)
                    UNION ALL
                    SELECT format('INCREMENT BY %s is above %s, the most IDs of one call', q.seqincrement, greatest)
                        FROM pg_sequence q, snowflake._greatest_stride(part.layout) greatest
                        WHERE q.seqrelid = part.seq AND q.seqincrement > greatest AND q.seqincrement <> snowflake._guard()
                    ORDER BY 1);
    IF others || faults <> '{}' THEN
        RAISE EXCEPTION 'sequence % cannot have the layout "%"', part.seq, part.layout
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = array_to_string(others || faults, E'\n'),
                  HINT = CASE WHEN others <> '{}'
                              THEN 'Leave the layout out of the defaults: ALTER TABLE name ALTER COLUMN name SET DEFAULT '
                                   || snowflake._call_on(part.seq::text) || ';'
                              ELSE 'Choose another layout from: SELECT name FROM snowflake.layouts;' END;
    END IF;
END
$function$;
