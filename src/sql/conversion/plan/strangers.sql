-- Columns of strangers, which a conversion leaves as they are: roles that the owner of the sequence has
-- nothing to do with, see _is_taken_along().

-- Describes the defaults of strangers that use a sequence.
CREATE FUNCTION snowflake._strangers_defaults(seq regclass)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    owner constant oid := snowflake._owner(seq);
BEGIN
    RETURN QUERY
        SELECT format('default of column %I of %s, which %I owns, stays as it is: %s',
                      a.attname, a.attrelid::regclass, pg_get_userbyid(c.relowner),
                      CASE WHEN NOT snowflake.redirects_nextval() THEN 'the guard makes it fail'
                           WHEN snowflake._is_small(a.atttypid) THEN 'no ID fits into the column'
                           ELSE 'it makes IDs' END)
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            JOIN pg_class c ON c.oid = a.attrelid
            WHERE d.classid = 'pg_attrdef'::regclass
              AND d.refclassid = 'pg_class'::regclass AND d.refobjid = seq
              AND CASE WHEN c.relowner = owner THEN false
                       ELSE NOT snowflake._is_taken_along(owner, c.relowner) END
              AND EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', f.oid) used
                              WHERE used.callee = 'pg_catalog.nextval' AND used.sequence = seq);
END
$function$;

-- Describes the columns of strangers that refer to columns of a sequence by a foreign key.
CREATE FUNCTION snowflake._strangers_references(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    owner constant oid := part.owner;
BEGIN
    RETURN QUERY
        SELECT format('column %I of %s, which %I owns, stays %s: %s fits into it', a.attname,
                      a.attrelid::regclass, pg_get_userbyid(c.relowner), format_type(a.atttypid, a.atttypmod),
                      snowflake._what_is_too_large(part.wishes))
            FROM unnest(part.columns) referenced
            JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = referenced.relid
                            AND d.refobjsubid = referenced.attnum
            JOIN pg_constraint k ON k.oid = d.objid AND k.contype = 'f' AND k.confrelid = referenced.relid
                                AND referenced.attnum = ANY (k.confkey)
            JOIN pg_attribute a ON a.attrelid = k.conrelid
                               AND a.attnum = k.conkey[array_position(k.confkey, referenced.attnum)]
            JOIN pg_class c ON c.oid = a.attrelid
            WHERE snowflake._is_small(a.atttypid)
              AND CASE WHEN c.relowner = owner THEN false
                       ELSE NOT snowflake._is_taken_along(owner, c.relowner) END;
END
$function$;

-- Describes the objects that are no defaults and call the server's nextval on a sequence. Where that is redirected, they
-- stay as they are and get IDs.
CREATE FUNCTION snowflake._redirected_users(seq regclass)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s calls nextval on the sequence, and gets IDs from now on: what it puts them into has to be a bigint',
                      snowflake._description_of(u.class, u.object))
            FROM snowflake._users_of(seq) u
            WHERE snowflake.redirects_nextval()
              AND EXISTS (SELECT FROM snowflake._sequence_uses(u.class, u.object) used
                              WHERE used.sequence = seq AND used.callee = 'pg_catalog.nextval');
END
$function$;

-- Returns remarks on what the conversion of a sequence leaves as it is because it belongs to somebody else, or is no
-- column.
CREATE FUNCTION snowflake._conversion_strangers(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT snowflake._strangers_references(part)
                  UNION SELECT snowflake._strangers_defaults(part.seq) WHERE snowflake._makes_snowflakes(part.wishes)
                  UNION SELECT snowflake._redirected_users(part.seq) WHERE snowflake._makes_snowflakes(part.wishes)) x(remark)
            CROSS JOIN LATERAL snowflake._remark(x.remark) step
            ORDER BY x.remark;
END
$function$;
