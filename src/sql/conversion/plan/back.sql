-- The way back: columns call the server's own nextval() again, and the guard is gone.

-- Finds the columns whose default calls snowflake.nextval on a sequence, and their default without.
CREATE FUNCTION snowflake._columns_back(seq regclass)
    RETURNS SETOF snowflake._conversion_column
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT c.*
            FROM pg_class s
            JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_class t ON t.oid = f.adrelid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            CROSS JOIN LATERAL (
                SELECT CASE WHEN t.relowner = s.relowner OR snowflake._is_taken_along(s.relowner, t.relowner)
                            THEN snowflake._default_replaced(f.oid, seq, false) END
            ) replaced(expression)
            CROSS JOIN LATERAL snowflake._conversion_column(
                f.adrelid, f.adnum, a.attname, attrdef => f.oid,
                -- One of a stranger's is not printed.
                old_default => CASE WHEN replaced.expression IS NOT NULL THEN pg_get_expr(f.adbin, f.adrelid) END,
                new_default => replaced.expression, is_inherited => a.attinhcount > 0) c
            WHERE s.oid = seq AND replaced.expression IS NOT NULL;
END
$function$;

-- Returns what the way back of a sequence concerns; raises an error unless the sequence is the caller's.
CREATE FUNCTION snowflake._part_back(seq regclass)
    RETURNS snowflake._conversion_part
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    PERFORM snowflake._conversion_check(seq);
    IF snowflake._is_id_seq(seq) THEN
        RAISE EXCEPTION 'sequence % belongs to the extension', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Give each column that uses it a sequence of its own: '
                         'CREATE SEQUENCE name; ALTER TABLE name ALTER COLUMN name SET DEFAULT nextval(''name'');';
    END IF;
    RETURN snowflake._part(seq, ARRAY(SELECT c FROM snowflake._columns_back(seq) c));
END
$function$;

-- Raises an error if something but a default calls functions of the extension on a sequence. Whatever else calls
-- functions of the extension on the sequence would keep the extension from being dropped.
CREATE FUNCTION snowflake._require_way_back(part snowflake._conversion_part)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    obstacles text[];
BEGIN
    obstacles := ARRAY(
        SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses the sequence'
            FROM pg_class s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
            WHERE s.oid = part.seq
              AND d.classid <> 'pg_attrdef'::regclass
              AND EXISTS (SELECT FROM snowflake._sequence_uses(d.classid, d.objid) used
                              WHERE used.sequence = part.seq AND used.callee LIKE 'snowflake.%')
              AND snowflake._is_taken_along(s.relowner, snowflake._owner_of(d.classid, d.objid)));
    obstacles := obstacles || ARRAY(
        SELECT o FROM snowflake._obstacles_of_callers(part.seq, part.columns, '{}') o
        UNION ALL SELECT o FROM snowflake._obstacles_of_authors(part.columns, '{}') o
        UNION ALL SELECT o FROM snowflake._obstacles_of_rights(part.seq, part.columns, '{}') o);
    PERFORM snowflake._require_none(obstacles, format('cannot convert sequence %s back', part.name));
END
$function$;

-- Returns the steps of the way back.
CREATE FUNCTION snowflake._steps_back(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY SELECT * FROM snowflake._ownership_steps(part);
    -- The guard goes first: an event trigger may insert after each command.
    RETURN QUERY SELECT * FROM snowflake._increment_steps_back(part);
    RETURN QUERY
        SELECT step.*
            FROM unnest(part.columns) c
            JOIN pg_class t ON t.oid = c.relid
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER %s %s ALTER COLUMN %I SET DEFAULT %s', CASE t.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE ONLY' END,
                       c.relid, c.attname, c.new_default), t.relowner) step
            ORDER BY c.relid::oid, c.attnum;
END
$function$;
