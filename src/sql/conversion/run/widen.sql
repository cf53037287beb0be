-- Widening one column that holds copies of IDs, without the conversion of a sequence.

-- Makes a column bigint, or an array of bigints, as the owner of its table. What its expressions have come to name is
-- compared before any of them is evaluated.
CREATE FUNCTION snowflake._widen_as_owner(tab regclass, attname name, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = _widen_as_owner.attname) THEN
        RAISE EXCEPTION 'column "%" of relation % does not exist', attname, tab USING ERRCODE = 'undefined_column';
    END IF;
    PERFORM snowflake._run_as(format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint%s', tab, attname,
                                     (SELECT '[]' FROM pg_attribute a
                                          WHERE a.attrelid = tab AND a.attname = _widen_as_owner.attname
                                            AND a.atttypid IN ('smallint[]'::regtype, 'integer[]'::regtype))),
                              snowflake._owner(tab), snowflake._run_path(caller_search_path),
                              'SELECT snowflake._require_meaning($4, $1, $2, $3)', snowflake._references_by_name(ARRAY[tab::oid]));
END
$function$;

-- Returns a column that is to be widened, with those that inherit it.
CREATE FUNCTION snowflake._with_heirs(altered snowflake._conversion_column)
    RETURNS snowflake._conversion_column[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT snowflake._conversion_column(member, a.attnum, a.attname, widened => true, is_inherited => member <> altered.relid)
            FROM snowflake._table_tree(altered.relid) member
            JOIN pg_attribute a ON a.attrelid = member AND a.attname = altered.attname);
END
$function$;

-- Lists what keeps a column from being widened.
CREATE FUNCTION snowflake._obstacles_of_widening(altered snowflake._conversion_column)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
DECLARE
    columns constant snowflake._conversion_column[] := snowflake._with_heirs(altered);
BEGIN
    RETURN QUERY
        SELECT o FROM (SELECT snowflake._obstacles_of_tables(columns)
                       UNION ALL SELECT snowflake._obstacles_of_authors(columns, '{}')
                       UNION ALL SELECT snowflake._obstacles_of_foreign_keys(columns)) x(o)
            ORDER BY o COLLATE "C";
END
$function$;

-- Raises an error that names what keeps a column from being widened; returns the argument.
CREATE FUNCTION snowflake._require_widening(altered snowflake._conversion_column)
    RETURNS snowflake._conversion_column
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._require_none(ARRAY(SELECT snowflake._obstacles_of_widening(altered)),
                                    format('cannot widen column %I of table %s', altered.attname, altered.relid));
    RETURN altered;
END
$function$;

-- Returns a column of a table as one to be widened.
CREATE FUNCTION snowflake._column_to_widen(tab regclass, col name)
    RETURNS snowflake._conversion_column
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN snowflake._conversion_column(
        tab, (SELECT a.attnum FROM pg_attribute a WHERE a.attrelid = tab AND a.attname = col), col, widened => true);
END
$function$;

-- Returns the relations that the server locks when it widens a column, those of strangers aside.
CREATE FUNCTION snowflake._locked_by_widening(altered snowflake._conversion_column)
    RETURNS oid[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT x.relid::oid
            FROM (SELECT altered.relid
                  UNION ALL SELECT m.relid FROM unnest(snowflake._with_heirs(altered)) m
                  UNION ALL SELECT snowflake._table_partners(m.relid, m.attnum) FROM unnest(snowflake._with_heirs(altered)) m) x(relid)
            WHERE x.relid = altered.relid OR snowflake._may_become(snowflake._owner(x.relid))
            ORDER BY 1);
END
$function$;

-- Makes a column bigint, for a caller with a search_path.
CREATE FUNCTION snowflake._widen(tab regclass, attname name, caller_search_path text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET check_function_bodies = off
    SET snowflake.convert_new_columns = off
    AS $function$
DECLARE
    altered constant snowflake._conversion_column := snowflake._column_to_widen(tab, attname);
    wanted oid[] := snowflake._locked_by_widening(altered);
    locked oid[] := '{}';
BEGIN
    -- While it waits for a lock, a partition can be attached. For that it does not wait long: it has all others locked by then.
    WHILE NOT wanted <@ locked LOOP
        PERFORM snowflake._lock_all(wanted, CASE locked WHEN '{}' THEN current_setting('lock_timeout')::interval
                                                 ELSE snowflake._longest_try() END);
        PERFORM snowflake._hold_names(wanted);
        locked := wanted;
        wanted := snowflake._locked_by_widening(altered);
    END LOOP;
    PERFORM snowflake._as_of_now('SELECT snowflake._require_widening($1)', altered);
    PERFORM snowflake._widen_as_owner(tab, attname, caller_search_path);
    PERFORM snowflake._plan_anew(tab);
END
$function$;

-- Makes a column bigint.
CREATE FUNCTION snowflake._widen(tab regclass, attname name)
    RETURNS void
    LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
    SELECT snowflake._widen(tab, attname, pg_catalog.current_setting('search_path'))
$function$;

-- Returns the command that makes a column bigint.
CREATE FUNCTION snowflake._widen_command(tab regclass, col name)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.format('SELECT snowflake._widen(%L, %L)', tab, col);

-- Returns what uses a column so that the server refuses to widen it, or makes it again without all that it had.
CREATE FUNCTION snowflake._dependents_of_column(tab regclass, col name)
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY SELECT * FROM snowflake._conversion_dependents(snowflake._with_heirs(snowflake._column_to_widen(tab, col)));
END
$function$;

-- Returns the command that makes a column bigint that holds copies of the IDs of a sequence. The conversion of the sequence takes
-- what uses the column out of the way, and makes it again as it was, unless the column is a stranger's.
CREATE FUNCTION snowflake._widen_command(
        tab regclass, col name,
        seq regclass) -- NULL: that is not certain
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    IF NOT snowflake._is_id_seq(seq) AND snowflake._is_taken_along(snowflake._owner(seq), snowflake._owner(tab))
       AND EXISTS (SELECT FROM snowflake._dependents_of_column(tab, col)) THEN
        RETURN snowflake._convert_command(seq);
    END IF;
    RETURN snowflake._widen_command(tab, col);
END
$function$;
