-- Tables of publications: the column list or the row filter that a publication has for a table.

-- Finds the tables of publications among objects that depend on columns.
CREATE FUNCTION snowflake._publication_found(objects snowflake._conversion_object[])
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM unnest(objects) o
            JOIN pg_publication_rel b ON b.oid = o.objid
            CROSS JOIN LATERAL snowflake._dependent(o, kind => 'publication', relid => b.prrelid) d
            WHERE o.classid = 'pg_publication_rel'::regclass;
END
$function$;

-- Lists what keeps tables from being added to publications again.
CREATE FUNCTION snowflake._publication_obstacles(dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('publication %I is owned by %I', p.pubname, pg_get_userbyid(p.pubowner))
            FROM unnest(dependents) d
            JOIN pg_publication_rel b ON b.oid = d.objid
            JOIN pg_publication p ON p.oid = b.prpubid
            WHERE NOT snowflake._may_become(p.pubowner);
    -- A publication's owner has to own the tables in it.
    RETURN QUERY
        SELECT format('publication %I is owned by %I, who may not act for %I, the owner of table %s: give both to one owner', p.pubname,
                      pg_get_userbyid(p.pubowner), pg_get_userbyid(c.relowner), d.relid)
            FROM unnest(dependents) d
            JOIN pg_publication_rel b ON b.oid = d.objid
            JOIN pg_publication p ON p.oid = b.prpubid
            JOIN pg_class c ON c.oid = d.relid
            WHERE NOT pg_has_role(p.pubowner, c.relowner, 'USAGE');
END
$function$;

-- Returns the command that takes a table out of a publication.
CREATE FUNCTION snowflake._publication_drop(dependent snowflake._conversion_dependent)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT format('ALTER PUBLICATION %I DROP TABLE ONLY %s', p.pubname, dependent.relid)
                FROM pg_publication_rel b JOIN pg_publication p ON p.oid = b.prpubid
                WHERE b.oid = dependent.objid);
END
$function$;

-- Returns the command that adds a table to a publication again.
CREATE FUNCTION snowflake._publication_remake(
        dependent snowflake._conversion_dependent,
        OUT command text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT concat(format('ALTER PUBLICATION %I ADD TABLE ONLY %s', p.pubname, b.prrelid::regclass),
                      (SELECT format(' (%s)', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum))
                           FROM pg_attribute a
                           WHERE a.attrelid = b.prrelid AND a.attnum = ANY (b.prattrs::smallint[])
                           HAVING count(*) > 0),
                      ' WHERE (' || pg_get_expr(b.prqual, b.prrelid) || ')'),
               NULL::oid
            FROM pg_publication_rel b JOIN pg_publication p ON p.oid = b.prpubid
            WHERE b.oid = dependent.objid;
END
$function$;
