-- Shadow columns: a conversion without a long lock gives each smallint or integer column a bigint one beside it,
-- which takes its place at the end (src/conversion/shadow.hpp).
--
-- The catalog says how far such a conversion has come, and no table of the extension does. A conversion believes only what
-- the owner of the table alone can have put into the catalog. A check that compares two columns proves that they are a
-- column and its shadow; once it is valid, the shadow is filled. A trigger keeps the shadow, and names the sequence. Any
-- holder of the right TRIGGER can make such a trigger, or replace it, but only the owner can let it fire ALWAYS, which is
-- how an owner signs it. The name of a twin (see twins.sql) tells its definition.

-- Copies the number of a column to its shadow, where a check of the table compares the two; for triggers with the
-- condition NEW.shadow IS DISTINCT FROM NEW.column OR NEW.column IS NULL. Refuses nulls in a column that has lost its NOT
-- NULL since, until the commands of the plan have run again.
CREATE FUNCTION snowflake._keep_shadow()
    RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowflake_keep_shadow'
    LANGUAGE C;

-- Returns the column and the shadow that a check compares; NULL: the check compares no such two.
CREATE FUNCTION snowflake._compared_by(
        check_constraint oid,
        OUT attnum smallint, OUT shadow smallint,
        OUT refuses_null boolean) -- whether a shadow that is null does not pass
    AS 'MODULE_PATHNAME', 'snowflake_compared_by'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Fills the shadows that triggers keep in the rows on some pages of a table, and changes nothing else. Runs no trigger, rule or
-- policy.
CREATE FUNCTION snowflake._fill_pages(
        tab regclass, first_page bigint, end_page bigint,
        waits boolean,       -- for the first row that is to be filled, and locks it; then the call fills none
        run_path text DEFAULT 'pg_catalog, pg_temp', -- the search_path for functions that the indexes of the table call
        OUT filled bigint,   -- how many rows it has changed
        OUT in_use bigint)   -- how many it left as they are because other sessions have locked them
    AS 'MODULE_PATHNAME', 'snowflake_fill_pages'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Raises the server's error if publications let no row of a table be updated, and so none be filled.
CREATE FUNCTION snowflake._require_updates(tab regclass)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_require_updates'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Returns the fraction of nulls in a column by the statistics of the server; NULL: there are no statistics, or the caller
-- cannot act for the owner.
CREATE FUNCTION snowflake._null_fraction(relation oid, attnum smallint)
    RETURNS real
    AS 'MODULE_PATHNAME', 'snowflake_null_fraction'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Starts the time of statement_timeout anew.
CREATE FUNCTION snowflake._restart_statement_timeout()
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_restart_statement_timeout'
    LANGUAGE C VOLATILE PARALLEL RESTRICTED;

-- Shows a text in pg_stat_activity as the activity of the session.
CREATE FUNCTION snowflake._show_activity(activity text)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_show_activity'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Returns the expressions that an object stores as if columns had other names; NULL: an expression names more than columns
-- of the relation.
CREATE FUNCTION snowflake._expressions_with_names(
        class regclass, object oid, relation regclass, attnums smallint[], names text[])
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'snowflake_expressions_with_names'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- A column that is to be replaced, and its shadow.
CREATE TYPE snowflake._shadow AS (
    relid regclass,
    is_inherited boolean,               -- whether the table is a partition, and has the shadow from the whole
    attnum smallint, attname name,      -- of the column that is to be replaced
    shadow smallint,                    -- NULL: there is no such column yet
    shadow_name name,
    trigger_name name,                  -- NULL: nothing of the owner keeps the shadow
    same name,                          -- the constraint that compares the two; NULL: there is none
    is_exact boolean,                   -- whether that lets nulls pass as the column does
    is_filled boolean);                 -- whether the check is exact and valid

-- Returns a column with its shadow.
CREATE FUNCTION snowflake._shadow(
        relid regclass, is_inherited boolean, attnum smallint, attname name, shadow smallint, shadow_name name, trigger_name name,
        same name, is_exact boolean, is_filled boolean)
    RETURNS snowflake._shadow
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(relid, is_inherited, attnum, attname, shadow, shadow_name, trigger_name, same, is_exact, is_filled)::snowflake._shadow;

-- Returns the name of the sequence that is the first argument of a trigger.
CREATE FUNCTION snowflake._named_by(tgargs bytea)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN convert_from(substring(tgargs FROM 1 FOR greatest(position(decode('00', 'hex') IN tgargs), 1) - 1),
                        getdatabaseencoding());

-- Returns the partitioned table at the top of a partition's tree; of another table, the table itself.
CREATE FUNCTION snowflake._whole(tab regclass)
    RETURNS regclass
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN coalesce(pg_partition_root(tab), tab);

-- Returns the table with which the shadows of a table are filled and checked: itself; the whole for a partition that has
-- partitions, and so no rows.
CREATE FUNCTION snowflake._filled_with(tab regclass)
    RETURNS regclass
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN CASE (SELECT relkind FROM pg_class WHERE oid = tab) WHEN 'p' THEN snowflake._whole(tab) ELSE tab END;

-- Returns the columns that the condition of a trigger names. The server keeps no dependencies for the clone that a partition
-- has of the trigger: its condition is that of the trigger of the whole.
CREATE FUNCTION snowflake._columns_of_trigger(trigger oid)
    RETURNS name[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    origin oid := trigger;
    parent oid;
BEGIN
    LOOP
        SELECT nullif(tgparentid, 0) INTO parent FROM pg_trigger WHERE oid = origin;
        EXIT WHEN parent IS NULL;
        origin := parent;
    END LOOP;
    RETURN ARRAY(SELECT DISTINCT a.attname
                     FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                     WHERE d.classid = 'pg_trigger'::regclass AND d.objid = origin
                       AND d.refclassid = 'pg_class'::regclass
                       AND d.refobjid = (SELECT tgrelid FROM pg_trigger WHERE oid = origin)
                     ORDER BY a.attname);
END
$function$;

-- Finds the columns that have shadows, of some tables or of all, with the check and the trigger of each pair. Temporary
-- tables have none.
CREATE FUNCTION snowflake._shadow_pairs(
        only_relids oid[], -- NULL: any table
        OUT relid regclass, OUT attnum smallint, OUT shadow smallint,
        OUT same name,         -- the check that proves the pair
        OUT is_exact boolean,  -- whether that lets nulls pass as the column does
        OUT is_valid boolean,  -- whether all rows have been seen to satisfy it
        OUT trigger_name name, -- that keeps the shadow, signed by the owner; NULL: there is none
        OUT sequence regclass) -- that the trigger names, and whose conversion takes the table along
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    for_each_row_before_insert_or_update constant integer := 1 + 2 + 4 + 16;
    tables constant oid[] :=
        coalesce(only_relids,
                 ARRAY(SELECT DISTINCT conrelid FROM pg_constraint WHERE contype = 'c' AND conname LIKE 'snowflake|_%' ESCAPE '|'));
BEGIN
    -- Anybody can make checks and triggers of this form on tables of his own: each is looked at once.
    RETURN QUERY
        WITH kept AS MATERIALIZED (
            SELECT x.oid, x.tgrelid, x.tgname, snowflake._named_by(x.tgargs) AS sequence_name,
                   snowflake._columns_of_trigger(x.oid) AS columns
                FROM pg_trigger x
                WHERE x.tgrelid = ANY (tables) AND x.tgfoid = 'snowflake._keep_shadow()'::regprocedure
                  AND x.tgenabled = 'A' AND x.tgtype = for_each_row_before_insert_or_update
        ),
        sequences AS MATERIALIZED (
            SELECT q.oid, q.relowner, q.oid::regclass::text AS name FROM pg_class q
                WHERE q.relkind = 'S' AND EXISTS (SELECT FROM kept)
        ),
        signed AS MATERIALIZED (
            SELECT kept.oid, kept.tgrelid, kept.tgname, kept.columns, q.oid::regclass AS sequence
                FROM kept
                JOIN sequences q ON q.name = kept.sequence_name
                JOIN pg_class owned ON owned.oid = kept.tgrelid
                WHERE snowflake._is_taken_along(q.relowner, owned.relowner)
        )
        SELECT DISTINCT ON (k.conrelid, pair.attnum)
               k.conrelid::regclass, pair.attnum, pair.shadow, k.conname, pair.refuses_null = a.attnotnull, k.convalidated,
               t.tgname, t.sequence
            FROM pg_constraint k
            CROSS JOIN LATERAL snowflake._compared_by(k.oid) pair
            JOIN pg_class c ON c.oid = k.conrelid AND c.relpersistence <> 't'
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.attnum
            JOIN pg_attribute b ON b.attrelid = k.conrelid AND b.attnum = pair.shadow
                               AND (b.attinhcount = 0 OR c.relispartition) -- else it is the parent's
            LEFT JOIN signed t ON t.tgrelid = k.conrelid
                              AND t.columns = ARRAY[least(a.attname, b.attname), greatest(a.attname, b.attname)]
            WHERE k.contype = 'c' AND k.conname LIKE 'snowflake|_%' ESCAPE '|'
              AND (k.coninhcount > 0) = c.relispartition -- a partition has all from the whole
              AND k.conrelid = ANY (tables) AND pair.shadow IS NOT NULL
              -- A check of the user's may compare two columns, too. A signed trigger tells, though its sequence was renamed, or a name.
              AND (b.attname IN (snowflake._shadow_name(a.attname), k.conname)
                   OR EXISTS (SELECT FROM kept
                                  WHERE kept.tgrelid = k.conrelid AND kept.columns = ARRAY[least(a.attname, b.attname), greatest(a.attname, b.attname)]))
            ORDER BY k.conrelid, pair.attnum, pair.refuses_null = a.attnotnull DESC, k.convalidated DESC, k.oid, t.oid;
END
$function$;

-- Returns the names of the triggers of _keep_shadow() that name a shadow, those that are not signed included: each would
-- keep the column from being dropped.
CREATE FUNCTION snowflake._triggers_on_shadow(tab regclass, shadow smallint)
    RETURNS SETOF name
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT t.tgname
            FROM pg_depend d JOIN pg_trigger t ON t.oid = d.objid
            WHERE d.classid = 'pg_trigger'::regclass AND d.refclassid = 'pg_class'::regclass
              AND d.refobjid = tab AND d.refobjsubid = _triggers_on_shadow.shadow
              AND t.tgfoid = 'snowflake._keep_shadow()'::regprocedure;
END
$function$;

-- Returns the name that the shadow of a column gets.
CREATE FUNCTION snowflake._shadow_name(attname name)
    RETURNS name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('snowflake_' || attname)::name;

-- Returns the name of the trigger that keeps the shadow of a column: triggers fire in the order of their names, this
-- one last.
CREATE FUNCTION snowflake._shadow_trigger_name(attname name)
    RETURNS name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('~snowflake_' || attname)::name;

-- Tells whether the comment of a column offers it as a shadow. A column that a user has added may hold numbers of another
-- origin; with the comment the user says that it holds none.
CREATE FUNCTION snowflake._is_offered(tab regclass, attnum smallint)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN coalesce(col_description(tab, attnum) = 'snowflake', false);

-- Returns the columns that a conversion widens, each with its shadow as far as there is one.
CREATE FUNCTION snowflake._shadows(columns snowflake._conversion_column[])
    RETURNS snowflake._shadow[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT snowflake._shadow(
                   c.relid, is_inherited => t.relispartition, attnum => c.attnum, attname => c.attname,
                   shadow => coalesce(p.shadow, named.attnum),
                   shadow_name => coalesce(proven.attname, snowflake._shadow_name(c.attname)),
                   trigger_name => p.trigger_name, same => p.same,
                   is_exact => coalesce(p.is_exact, false), is_filled => coalesce(p.is_exact AND p.is_valid, false))
            FROM unnest(columns) c
            JOIN pg_class t ON t.oid = c.relid
            LEFT JOIN snowflake._shadow_pairs(ARRAY(SELECT x.relid FROM unnest(columns) x WHERE x.widened)) p
                   ON p.relid = c.relid AND p.attnum = c.attnum
            LEFT JOIN pg_attribute proven ON proven.attrelid = c.relid AND proven.attnum = p.shadow
            LEFT JOIN pg_attribute named ON named.attrelid = c.relid AND named.attname = snowflake._shadow_name(c.attname)
                                        AND NOT named.attisdropped
            WHERE c.widened
            ORDER BY c.relid::oid, c.attnum);
END
$function$;

-- Returns the steps that add shadow columns to a table, the triggers that keep them, and their checks. Partitions get all
-- of them from the whole. The trigger comes before
-- the check: every row that is written from then on passes the check. Once the check is valid, it proves that no row
-- differs, and that the shadow of a NOT NULL column has no nulls: the swap need not read the rows. Another constraint of
-- the same name proves nothing.
CREATE FUNCTION snowflake._shadow_steps(part snowflake._conversion_part, tab regclass)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    s record;
    shadows constant snowflake._shadow[] := snowflake._shadows(part.columns);
BEGIN
    FOR s IN
        SELECT x.relid, x.attname, x.shadow, x.shadow_name, x.same, x.is_exact, a.attnotnull,
               x.trigger_name IS NOT NULL
               AND NOT EXISTS (SELECT FROM unnest(shadows) other
                                   WHERE other.attname = x.attname AND other.trigger_name IS NULL AND other.is_inherited
                                     AND snowflake._whole(other.relid) = tab) AS is_kept
            FROM unnest(shadows) x
            JOIN pg_attribute a ON a.attrelid = x.relid AND a.attnum = x.attnum
            WHERE x.relid = tab
    LOOP
        -- Another role has made the trigger, on the table or a partition, or somebody has disabled it.
        RETURN QUERY
            SELECT step.*
                FROM snowflake._table_tree(tab) member
                JOIN pg_trigger t ON t.tgrelid = member AND t.tgname = snowflake._shadow_trigger_name(s.attname) AND t.tgparentid = 0
                                 AND t.tgfoid = 'snowflake._keep_shadow()'::regprocedure
                CROSS JOIN LATERAL snowflake._step(format('DROP TRIGGER %I ON %s', t.tgname, member), snowflake._owner(member)) step
                WHERE NOT s.is_kept;
        RETURN QUERY
            SELECT step.*
                FROM (VALUES
                    (s.shadow IS NULL,
                     format('ALTER TABLE %s ADD COLUMN %I bigint', s.relid, s.shadow_name),
                     format('ACCESS EXCLUSIVE lock on %s', s.relid)),
                    (NOT s.is_kept,
                     format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE ON %s FOR EACH ROW '
                            'WHEN (NEW.%I IS DISTINCT FROM NEW.%I OR NEW.%4$I IS NULL) EXECUTE FUNCTION snowflake._keep_shadow(%L)',
                            snowflake._shadow_trigger_name(s.attname), s.relid, s.shadow_name, s.attname, part.seq), NULL),
                    (NOT s.is_kept,
                     format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', s.relid, snowflake._shadow_trigger_name(s.attname)), NULL),
                    -- The check was made when the column was NOT NULL and is not any more, or the other way round.
                    (s.same IS NOT NULL AND NOT s.is_exact,
                     format('ALTER TABLE %s DROP CONSTRAINT %I', s.relid, coalesce(s.same, s.shadow_name)), NULL),
                    (NOT s.is_exact,
                     format(CASE WHEN s.attnotnull THEN 'ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL AND %3$I = %I) NOT VALID'
                                 ELSE 'ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT DISTINCT FROM %I) NOT VALID' END,
                            s.relid, coalesce(s.same, s.shadow_name), s.shadow_name, s.attname), NULL)
                ) x(is_missing, command, effect)
                CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(s.relid), x.effect) step
                WHERE x.is_missing;
    END LOOP;
    RETURN QUERY
        SELECT step.*
            FROM snowflake._check_twins(shadows) t
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.relid, t.name, t.definition),
                                               snowflake._owner(t.relid)) step
            WHERE t.twin IS NULL AND snowflake._whole(t.relid) = tab AND NOT t.is_inherited;
END
$function$;
