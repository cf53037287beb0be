-- The way back: columns call the server's own nextval() again, and the guard is gone.

CREATE FUNCTION snowflake._columns_back(seq regclass)
    RETURNS SETOF snowflake._conversion_column
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
    SELECT f.adrelid, f.adnum, a.attname, false, f.oid, pg_get_expr(f.adbin, f.adrelid), replaced.expression,
           false, a.attinhcount > 0, false
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
        WHERE s.oid = seq AND replaced.expression IS NOT NULL
          AND (t.relowner = s.relowner OR snowflake._is_taken_along(s.relowner, t.relowner))
$function$;
COMMENT ON FUNCTION snowflake._columns_back(regclass) IS
    'finds the columns whose default calls snowflake.nextval on a sequence, and their default without';

-- Whatever else calls functions of the extension on the sequence would keep the extension from being
-- dropped.
CREATE FUNCTION snowflake._require_way_back(seq regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    obstacles text[];
BEGIN
    obstacles := ARRAY(
        SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' uses the sequence'
            FROM pg_class s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
            WHERE s.oid = seq
              AND d.classid <> 'pg_attrdef'::regclass
              AND EXISTS (SELECT FROM snowflake._sequence_uses(d.classid, d.objid) used
                              WHERE used.sequence = seq AND used.callee LIKE 'snowflake.%')
              AND snowflake._is_taken_along(s.relowner, snowflake._owner_of(d.classid, d.objid)));
    IF obstacles <> '{}' THEN
        RAISE EXCEPTION 'cannot convert sequence % back', seq
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = array_to_string(obstacles, E'\n');
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake._require_way_back(regclass) IS
    'raises an error if something but a default calls functions of the extension on a sequence';

CREATE FUNCTION snowflake._set_defaults_back(columns snowflake._conversion_column[])
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    col record;
BEGIN
    FOR col IN
        SELECT c.relid, c.attname, c.new_default, t.relkind,
               snowflake._default_role(c.relid, ARRAY[c.attrdef]) AS role
            FROM unnest(columns) c JOIN pg_class t ON t.oid = c.relid
            WHERE c.new_default IS NOT NULL
            ORDER BY c.relid::oid, c.attnum
    LOOP
        PERFORM snowflake._run_as(
            format('ALTER %s %s ALTER COLUMN %I SET DEFAULT %s',
                   CASE col.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE ONLY' END,
                   col.relid, col.attname, col.new_default),
            col.role, NULL, NULL);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION snowflake._set_defaults_back(snowflake._conversion_column[]) IS
    'sets the defaults of columns, each as the role that may run their expressions';

CREATE FUNCTION snowflake.convert_snowflake_to_sequence(seq regclass)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    AS $function$
DECLARE
    columns snowflake._conversion_column[];
    meant snowflake._meant_default[];
BEGIN
    PERFORM snowflake._conversion_check(seq);
    IF snowflake._is_id_seq(seq) THEN
        RAISE EXCEPTION 'sequence % belongs to the extension', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Give each column that uses it a sequence of its own: '
                         'CREATE SEQUENCE name; ALTER TABLE name ALTER COLUMN name SET DEFAULT nextval(''name'');';
    END IF;
    columns := ARRAY(SELECT c FROM snowflake._columns_back(seq) c);
    PERFORM snowflake._conversion_lock(ARRAY(SELECT c.relid FROM unnest(columns) c));
    columns := ARRAY(SELECT c FROM snowflake._columns_back(seq) c);

    PERFORM snowflake._require_way_back(seq);
    meant := snowflake._meant_defaults(seq, columns, false);
    PERFORM snowflake._set_defaults_back(columns);
    PERFORM snowflake._require_defaults(seq, meant);
    IF (SELECT seqincrement FROM pg_sequence WHERE seqrelid = seq) = snowflake._guard() THEN
        EXECUTE format('ALTER SEQUENCE %s INCREMENT BY 1', seq);
    ELSIF columns = '{}' THEN
        RAISE NOTICE 'sequence % is not a snowflake sequence', seq;
    END IF;
    RETURN cardinality(columns);
END
$function$;
COMMENT ON FUNCTION snowflake.convert_snowflake_to_sequence(regclass) IS
    'makes a snowflake sequence and the columns that use it call the server''s own nextval again; returns the number of columns altered';
