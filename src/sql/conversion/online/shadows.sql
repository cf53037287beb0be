-- Shadow columns: a conversion without a long lock gives each smallint or integer column a bigint one beside it,
-- which takes its place at the end (src/conversion/shadow.hpp).
--
-- No table says how far such a conversion has come: the catalog does. A shadow is the column that a trigger of
-- the extension keeps, by a condition that names the pair; and it is filled when the constraint that compares the
-- pair is valid. What is built on it (see twins.sql) has a name that tells what it is.

CREATE FUNCTION snowflake._keep_shadow()
    RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowflake_keep_shadow'
    LANGUAGE C;
COMMENT ON FUNCTION snowflake._keep_shadow() IS
    'gives the shadow of a column its number; for triggers with the condition NEW.shadow IS DISTINCT FROM NEW.column';

CREATE FUNCTION snowflake._fill_pages(
        tab regclass, role oid, -- NULL: the caller
        sources smallint[], shadows smallint[],
        first_page bigint, end_page bigint,
        waits boolean,       -- for a row that is locked; then the call ends with the first row that it has changed
        OUT filled bigint,   -- how many rows it has changed
        OUT in_use bigint)   -- how many it left as they are because other sessions have locked them
    AS 'MODULE_PATHNAME', 'snowflake_fill_pages'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake._fill_pages(regclass, oid, smallint[], smallint[], bigint, bigint, boolean) IS
    'fills the shadows of the rows on some pages of a table, and changes nothing else: no trigger, rule or policy has a say';

CREATE FUNCTION snowflake._pages_of(tab regclass)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_pages_of'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake._pages_of(regclass) IS
    'returns how many pages a table of the caller has, and locks it against changes of its definition';

CREATE FUNCTION snowflake._show_activity(activity text)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_show_activity'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake._show_activity(text) IS
    'lets pg_stat_activity show what the session does';

CREATE FUNCTION snowflake._expressions_with_names(
        class regclass, object oid, relation regclass, attnums smallint[], names text[])
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'snowflake_expressions_with_names'
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    -- The text is the same in every session, and read as what it was in another.
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET datestyle = ISO
    SET intervalstyle = postgres
    SET timezone = 'UTC'
    SET extra_float_digits = 1
    SET bytea_output = hex
    SET lc_monetary = 'C';
COMMENT ON FUNCTION snowflake._expressions_with_names(regclass, oid, regclass, smallint[], text[]) IS
    'returns the expressions that an object stores as if columns had other names; NULL: one names other than columns of the relation';

CREATE TYPE snowflake._shadow AS (
    relid regclass,
    attnum smallint, attname name,      -- of the column that is to be replaced
    shadow smallint,                    -- NULL: there is no such column yet
    shadow_name name,
    trigger_name name,                  -- NULL: nothing keeps the shadow
    same name,                          -- the constraint that compares the two; NULL: there is none
    is_filled boolean);                 -- whether that is valid
COMMENT ON TYPE snowflake._shadow IS
    'a column that is to be replaced, and its shadow';

CREATE FUNCTION snowflake._shadow_pairs(
        only_relid oid, -- NULL: any table
        OUT relid regclass, OUT attnum smallint, OUT shadow smallint, OUT trigger_name name,
        OUT is_always boolean, -- whether the trigger fires whatever the session says
        OUT sequence text)     -- the name that the sequence had
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    -- By way of pg_depend, which has an index on what is referenced.
    RETURN QUERY
        SELECT t.tgrelid::regclass, max(a.attnum) FILTER (WHERE a.atttypid <> 'bigint'::regtype)::smallint,
               max(a.attnum) FILTER (WHERE a.atttypid = 'bigint'::regtype)::smallint, t.tgname, t.tgenabled = 'A',
               convert_from(substring(t.tgargs FROM 1 FOR greatest(position('\x00'::bytea IN t.tgargs), 1) - 1), getdatabaseencoding())
            FROM pg_depend f
            JOIN pg_trigger t ON t.oid = f.objid
            JOIN pg_depend d ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.tgrelid AND d.refobjsubid > 0
            JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum = d.refobjsubid
            WHERE f.classid = 'pg_trigger'::regclass
              AND f.refclassid = 'pg_proc'::regclass AND f.refobjid = 'snowflake._keep_shadow()'::regprocedure
              AND t.tgrelid = coalesce(only_relid, t.tgrelid)
            GROUP BY t.oid, t.tgrelid, t.tgname, t.tgenabled, t.tgargs
            HAVING count(DISTINCT a.attnum) = 2;
END
$function$;
COMMENT ON FUNCTION snowflake._shadow_pairs(oid) IS
    'finds the shadow columns of a table, or of all, that triggers keep';

CREATE FUNCTION snowflake._shadow_name(attname name)
    RETURNS name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('snowflake_' || attname)::name;
COMMENT ON FUNCTION snowflake._shadow_name(name) IS
    'returns the name that the shadow of a column gets';

CREATE FUNCTION snowflake._shadow_trigger_name(attname name)
    RETURNS name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('~snowflake_' || attname)::name;
COMMENT ON FUNCTION snowflake._shadow_trigger_name(name) IS
    'returns the name of the trigger that keeps the shadow of a column: triggers fire in the order of their names, this one last';

-- A column that the user has added may hold what only looks like numbers of ours. The user says that it does not.
CREATE FUNCTION snowflake._is_offered(tab regclass, attnum smallint)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN coalesce(col_description(tab, attnum) = 'snowflake', false);
COMMENT ON FUNCTION snowflake._is_offered(regclass, smallint) IS
    'tells whether the comment of a column offers it as a shadow';

CREATE FUNCTION snowflake._shadows(columns snowflake._conversion_column[])
    RETURNS snowflake._shadow[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off -- what the server prints is compared
    SET jit = off
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT (c.relid, c.attnum, c.attname, coalesce(p.shadow, named.attnum),
                coalesce(kept.attname, snowflake._shadow_name(c.attname)), p.trigger_name, k.conname,
                coalesce(k.convalidated, false))::snowflake._shadow
            FROM unnest(columns) c
            LEFT JOIN LATERAL snowflake._shadow_pairs(c.relid) p ON p.attnum = c.attnum
            LEFT JOIN pg_attribute kept ON kept.attrelid = c.relid AND kept.attnum = p.shadow
            JOIN pg_attribute present ON present.attrelid = c.relid AND present.attnum = c.attnum
            LEFT JOIN pg_attribute named ON named.attrelid = c.relid AND named.attname = snowflake._shadow_name(c.attname)
                                        AND NOT named.attisdropped
            LEFT JOIN LATERAL (
                SELECT x.conname, x.convalidated FROM pg_constraint x
                    WHERE x.conrelid = c.relid AND x.contype = 'c'
                      AND pg_get_expr(x.conbin, x.conrelid)
                          = format(CASE WHEN present.attnotnull THEN '((%I IS NOT NULL) AND (%1$I = %I))'
                                        ELSE '(NOT (%I IS DISTINCT FROM %I))' END,
                                   coalesce(kept.attname, snowflake._shadow_name(c.attname)), present.attname)
                    ORDER BY x.convalidated DESC
                    LIMIT 1
            ) k ON true
            WHERE c.widened
            ORDER BY c.relid::oid, c.attnum);
END
$function$;
COMMENT ON FUNCTION snowflake._shadows(snowflake._conversion_column[]) IS
    'returns the columns that a conversion widens, each with its shadow as far as there is one';

-- The trigger comes first, so that every row that is written from now on passes the constraint. That is what
-- proves, once it is valid, that no row differs; and for a column without nulls that there is none in its shadow, so that
-- the swap need not look. Another constraint of the same name proves nothing.
CREATE FUNCTION snowflake._shadow_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    s record;
    owner name;
    shadows constant snowflake._shadow[] := snowflake._shadows(part.columns);
BEGIN
    FOR s IN
        SELECT x.*, a.attnotnull FROM unnest(shadows) x
            JOIN pg_attribute a ON a.attrelid = x.relid AND a.attnum = x.attnum
    LOOP
        owner := pg_get_userbyid(snowflake._table_role(s.relid));
        RETURN QUERY
            SELECT x.command, x.effect, NULL::regclass, NULL::bigint, owner
                FROM (VALUES
                    (s.shadow IS NULL,
                     format('ALTER TABLE %s ADD COLUMN %I bigint', s.relid, s.shadow_name),
                     format('ACCESS EXCLUSIVE lock on %s', s.relid)),
                    (s.trigger_name IS NULL,
                     format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE ON %s FOR EACH ROW '
                            'WHEN (NEW.%I IS DISTINCT FROM NEW.%I) EXECUTE FUNCTION snowflake._keep_shadow(%L)',
                            snowflake._shadow_trigger_name(s.attname), s.relid, s.shadow_name, s.attname, part.seq), NULL),
                    (s.trigger_name IS NULL OR NOT EXISTS (SELECT FROM snowflake._shadow_pairs(s.relid) p
                                                               WHERE p.attnum = s.attnum AND p.is_always),
                     format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', s.relid,
                            coalesce(s.trigger_name, snowflake._shadow_trigger_name(s.attname))), NULL),
                    -- It was made when the column was NOT NULL and is not any more, or the other way round.
                    (s.same IS NULL AND EXISTS (SELECT FROM pg_constraint k
                                                    WHERE k.conrelid = s.relid AND k.contype = 'c'
                                                      AND k.conname = snowflake._shadow_name(s.attname)
                                                      AND k.conkey @> ARRAY[s.attnum, s.shadow] AND k.conkey <@ ARRAY[s.attnum, s.shadow]),
                     format('ALTER TABLE %s DROP CONSTRAINT %I', s.relid, snowflake._shadow_name(s.attname)), NULL),
                    (s.same IS NULL,
                     format(CASE WHEN s.attnotnull THEN 'ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL AND %3$I = %I) NOT VALID'
                                 ELSE 'ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT DISTINCT FROM %I) NOT VALID' END,
                            s.relid, snowflake._shadow_name(s.attname), s.shadow_name, s.attname), NULL)
                ) x(is_missing, command, effect)
                WHERE x.is_missing;
    END LOOP;
    RETURN QUERY
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.relid, t.name, t.definition), NULL::text, NULL::regclass,
               NULL::bigint, pg_get_userbyid(snowflake._table_role(t.relid))
            FROM snowflake._check_twins(shadows) t
            WHERE t.twin IS NULL;
END
$function$;
COMMENT ON FUNCTION snowflake._shadow_steps(snowflake._conversion_part) IS
    'returns the steps that add shadow columns, the triggers that keep them, and their checks';
