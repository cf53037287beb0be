-- Commands that stand behind every object that is made again, or behind many kinds of them: comments,
-- security labels, dependencies on extensions, settings of columns.

-- Returns the commands that let an object depend on the extensions that it depends on.
CREATE FUNCTION snowflake._conversion_extensions(classid oid, objid oid, target text)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('ALTER %s DEPENDS ON EXTENSION %I', target, e.extname)
            FROM pg_depend d
            JOIN pg_extension e ON e.oid = d.refobjid
            WHERE d.classid = _conversion_extensions.classid AND d.objid = _conversion_extensions.objid
              AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'x';
END
$function$;

-- Returns the commands that give an object the comment, security labels and extension dependencies it has.
CREATE FUNCTION snowflake._conversion_annotations(classid oid, objid oid, target text)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('COMMENT ON %s IS %L', target, d.description)
            FROM pg_description d
            WHERE d.classoid = classid AND d.objoid = objid AND d.objsubid = 0;
    RETURN QUERY
        SELECT format('SECURITY LABEL FOR %I ON %s IS %L', l.provider, target, l.label)
            FROM pg_seclabel l
            WHERE l.classoid = classid AND l.objoid = objid AND l.objsubid = 0;
    RETURN QUERY
        SELECT * FROM snowflake._conversion_extensions(classid, objid, target);
END
$function$;

-- Returns the clause of ALTER TABLE that makes a trigger or a rule fire as it does.
CREATE FUNCTION snowflake._conversion_firing(enabled "char")
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE enabled WHEN 'O' THEN 'ENABLE' WHEN 'D' THEN 'DISABLE'
                        WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' END;

-- Returns the commands that give a column the settings, comment and security labels it has.
CREATE FUNCTION snowflake._conversion_column_settings(type text, relation regclass, only_column name)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('ALTER %s %s ALTER COLUMN %I SET %s', type, relation, a.attname, setting)
            FROM pg_attribute a
            JOIN pg_type y ON y.oid = a.atttypid
            CROSS JOIN LATERAL unnest(ARRAY[
                'STATISTICS ' || nullif(a.attstattarget, -1),
                -- The server keeps notes of its own among the options.
                (SELECT '(' || string_agg(x, ', ') || ')'
                     FROM unnest(a.attoptions) x WHERE x LIKE 'n\_distinct%'),
                'STORAGE ' || CASE WHEN a.attstorage <> y.typstorage THEN
                    CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'm' THEN 'MAIN'
                                      WHEN 'e' THEN 'EXTERNAL' ELSE 'EXTENDED' END END,
                'COMPRESSION ' || CASE a.attcompression WHEN 'l' THEN 'lz4' WHEN 'p' THEN 'pglz' END
            ]) setting
            WHERE a.attrelid = relation AND a.attname = only_column AND setting IS NOT NULL;
    RETURN QUERY
        SELECT format('COMMENT ON COLUMN %s.%I IS %L', relation, a.attname,
                      col_description(relation, a.attnum))
            FROM pg_attribute a
            WHERE a.attrelid = relation AND a.attname = only_column
              AND col_description(relation, a.attnum) IS NOT NULL;
    RETURN QUERY
        SELECT format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', l.provider, relation, a.attname, l.label)
            FROM pg_attribute a
            JOIN pg_seclabel l ON l.classoid = 'pg_class'::regclass AND l.objoid = a.attrelid
                              AND l.objsubid = a.attnum
            WHERE a.attrelid = relation AND a.attname = only_column;
END
$function$;
