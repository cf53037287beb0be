-- Defaults: the steps that set them, and the comparison of what the server stored with what was meant.

-- Returns the steps that set the new defaults of tables. Columns of a table change their defaults together, each
-- table at once.
CREATE FUNCTION snowflake._table_defaults(columns snowflake._conversion_column[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (SELECT c.relid, t.relowner,
                         string_agg(format('ALTER COLUMN %I SET DEFAULT %s', c.attname, c.new_default), ', ' ORDER BY c.attnum) AS actions
                      FROM unnest(columns) c JOIN pg_class t ON t.oid = c.relid
                      WHERE c.new_default IS NOT NULL AND t.relkind <> 'v' AND NOT c.is_identity
                      GROUP BY c.relid, t.relowner) x
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE ONLY %s %s', x.relid, x.actions), x.relowner,
                                               format('ACCESS EXCLUSIVE lock on %s', x.relid)) step
            ORDER BY x.relid::oid;
END
$function$;

-- Returns the steps that set the new defaults of views. A default of a view is set when the view is there again.
CREATE FUNCTION snowflake._view_defaults(columns snowflake._conversion_column[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            CROSS JOIN LATERAL snowflake._step(
                format('ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s', c.relid, c.attname, c.new_default), t.relowner) step
            WHERE c.new_default IS NOT NULL AND t.relkind = 'v'
            ORDER BY c.relid::oid, c.attnum;
END
$function$;

-- A column that uses a sequence, and the form of the default that it has to have, see _default_form(). The trees of
-- the defaults that a conversion in either direction leaves behind are compared with what was meant: a default that
-- was printed, parsed and stored must still mean the same.
CREATE TYPE snowflake._meant_default AS (
    relid regclass, attnum smallint,
    sequence text, -- its name, which another sequence may have afterwards
    form text);

-- Returns the default that was meant for a column.
CREATE FUNCTION snowflake._meant_default(relid regclass, attnum smallint, sequence text, form text)
    RETURNS snowflake._meant_default
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(relid, attnum, sequence, form)::snowflake._meant_default;

-- Returns the form of a default that is read again as the owner of its table, see _default_form_replaced(). Raises an error that names
-- the owner where code in it fails.
CREATE FUNCTION snowflake._form_of_default(
        attrdef oid, seq regclass, to_snowflake boolean, type oid, type_modifier integer)
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN snowflake._default_form_replaced(attrdef, seq, to_snowflake, type, type_modifier);
EXCEPTION
    WHEN syntax_error_or_access_rule_violation OR data_exception OR integrity_constraint_violation
         OR object_not_in_prerequisite_state OR plpgsql_error OR external_routine_exception THEN
        RAISE EXCEPTION 'cannot convert sequence %', seq
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = coalesce((SELECT format('%s cannot be read again as %I: %s', pg_describe_object('pg_attrdef'::regclass, f.oid, 0),
                                                   pg_get_userbyid(snowflake._owner(f.adrelid)), SQLERRM)
                                         FROM pg_attrdef f WHERE f.oid = attrdef), SQLERRM);
END
$function$;

-- Returns the defaults that columns have to have after a conversion.
CREATE FUNCTION snowflake._meant_defaults(
        seq regclass, columns snowflake._conversion_column[],
        to_snowflake boolean) -- which nextval the defaults call; NULL: that which they did
    RETURNS SETOF snowflake._meant_default
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT meant.*
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
            -- A column of a view becomes a bigint with the column that it shows, or stays as it is.
            CROSS JOIN LATERAL (
                SELECT a.atttypid WHERE NOT c.widened
                UNION
                SELECT 'bigint'::regtype
                    WHERE c.widened OR snowflake._is_small(a.atttypid)
                                       AND t.relkind = 'v' AND to_snowflake IS NOT FALSE
            ) type(oid)
            CROSS JOIN LATERAL snowflake._meant_default(
                c.relid, c.attnum, sequence => seq::text,
                form => snowflake._form_of_default(
                    c.attrdef, seq, CASE WHEN NOT c.is_strangers THEN to_snowflake END, type.oid,
                    CASE WHEN c.widened THEN -1 ELSE a.atttypmod END)) meant
            WHERE c.attrdef IS NOT NULL AND c.new_default IS NOT NULL;
END
$function$;

-- Raises an error unless columns have the defaults that were meant.
CREATE FUNCTION snowflake._require_defaults(meant snowflake._meant_default[])
    RETURNS void
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    differences text[];
BEGIN
    differences := ARRAY(
        SELECT format('default of column %I of table %s', a.attname, m.relid)
            FROM (SELECT relid, attnum, sequence, array_agg(form) FROM unnest(meant) GROUP BY relid, attnum, sequence)
                 m(relid, attnum, sequence, forms)
            JOIN pg_attribute a ON a.attrelid = m.relid AND a.attnum = m.attnum
            LEFT JOIN pg_attrdef f ON f.adrelid = m.relid AND f.adnum = m.attnum
            WHERE coalesce(snowflake._default_form(f.oid, m.sequence::regclass) <> ALL (m.forms), true));
    PERFORM snowflake._require_none(differences, 'the server did not store the default that was meant');
END
$function$;
