-- The columns that check() looks at, and what it can read of them without waiting for anybody.

-- A column that gets snowflake IDs by its default, and the sequence that they come from. A column whose default
-- makes snowflake IDs, or whose sequence is converted.
CREATE TYPE snowflake._key AS (
    seq regclass, relid regclass, attnum smallint, attname name,
    layout snowflake.layout,
    callee text); -- the function that the default calls; NULL: none

-- Returns the greatest value of a bigint column from an index without keeping a lock; NULL: it cannot be read at
-- once.
CREATE FUNCTION snowflake._glimpse_greatest_value(tab regclass, attnum smallint)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_glimpse_greatest_value'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Tells whether to read a table would mean to wait for another session.
CREATE FUNCTION snowflake._is_locked_against_readers(tab regclass)
    RETURNS boolean
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    RETURN EXISTS (SELECT FROM pg_locks l
                       WHERE l.relation = tab AND l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
                         AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));

-- Tells whether a number is likely to be an ID of the default layout that was made already.
CREATE FUNCTION snowflake._is_like_an_id(number bigint)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN NOT snowflake._is_count(number)
           AND number < snowflake.from_timestamp(clock_timestamp() + interval '1 day');

-- Tells whether an ID of the default layout bears a number that this instance, or another that it knows, has.
CREATE FUNCTION snowflake._is_of_known_instance(id bigint)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    number constant integer := snowflake.get_node(id);
BEGIN
    RETURN number > 0
           AND (number::text = current_setting('snowflake.node')
                OR NOT snowflake._is_locked_against_readers('snowflake.nodes')
                   AND EXISTS (SELECT FROM snowflake._cluster() c WHERE number BETWEEN c.node AND c.last_node));
END
$function$;

-- Describes a column.
CREATE FUNCTION snowflake._column(tab regclass, attname name)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.format('column %I of table %s', attname, tab);

-- Returns the topmost tables from which a table inherits a column, or the table itself: only there it can be altered.
CREATE FUNCTION snowflake._origins_of_column(tab regclass, col name)
    RETURNS SETOF regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE above(relid) AS (
            SELECT tab::oid
            UNION SELECT i.inhparent FROM above JOIN pg_inherits i ON i.inhrelid = above.relid)
        SELECT a.attrelid::regclass
            FROM above JOIN pg_attribute a ON a.attrelid = above.relid AND a.attname = col AND a.attinhcount = 0;
END
$function$;

-- Finds the columns that get snowflake IDs by their defaults, or did so before their defaults changed. Nobody alters temporary
-- tables and sequences of other sessions.
CREATE FUNCTION snowflake._keys()
    RETURNS SETOF snowflake._key
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    RETURN QUERY
        WITH found(seq, relid, attnum, attname, layout, callee) AS (
            SELECT DISTINCT used.sequence, f.adrelid::regclass, f.adnum, a.attname,
                            coalesce(used.layout, snowflake.layout_of(used.sequence)), used.callee
                FROM pg_proc p
                JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid AND d.classid = 'pg_attrdef'::regclass
                JOIN pg_attrdef f ON f.oid = d.objid
                JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
                JOIN pg_class s ON s.oid = used.sequence AND s.relkind = 'S'
                WHERE p.pronamespace = 'snowflake'::regnamespace AND p.proname IN ('nextval', 'next_id')
                  AND used.callee = 'snowflake.nextval'
            UNION
            -- A converted sequence belongs to another column, and this one draws from it by the server's own nextval.
            SELECT q.seqrelid, f.adrelid, f.adnum, a.attname, snowflake.layout_of(q.seqrelid), used.callee
                FROM pg_sequence q
                JOIN pg_class s ON s.oid = q.seqrelid
                JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
                JOIN pg_attrdef f ON f.oid = d.objid
                JOIN pg_class t ON t.oid = f.adrelid
                JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
                WHERE snowflake._makes_ids(q.seqincrement, q.seqmax) AND used.sequence = q.seqrelid
                  AND used.callee = 'pg_catalog.nextval' AND snowflake._is_taken_along(s.relowner, t.relowner)
            UNION
            -- A converted sequence belongs to this column, which has another default, or none.
            SELECT s.oid, d.refobjid, a.attnum, a.attname, snowflake.layout_of(s.oid),
                   (SELECT min(used.callee) FROM pg_attrdef f, snowflake._sequence_uses('pg_attrdef', f.oid) used
                        WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum
                          AND (used.sequence = s.oid OR used.name[cardinality(used.name)] = s.relname))
                FROM pg_sequence q
                JOIN pg_class s ON s.oid = q.seqrelid
                JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.deptype = 'a'
                                AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
                JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                                   AND a.attidentity = '' AND a.attgenerated = '' AND snowflake._holds_ids(a.atttypid)
                WHERE snowflake._makes_ids(q.seqincrement, q.seqmax)
                  AND NOT EXISTS (SELECT FROM pg_attrdef f
                                      JOIN pg_depend e ON e.classid = 'pg_attrdef'::regclass AND e.objid = f.oid
                                                      AND e.refclassid = 'pg_proc'::regclass
                                      JOIN pg_proc p ON p.oid = e.refobjid AND p.pronamespace = 'snowflake'::regnamespace
                                                    AND p.proname IN ('nextval', 'next_id')
                                      WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum)
        )
        SELECT x.*
            FROM found x
            JOIN pg_class t ON t.oid = x.relid
            JOIN pg_class s ON s.oid = x.seq
            WHERE NOT pg_is_other_temp_schema(t.relnamespace) AND NOT pg_is_other_temp_schema(s.relnamespace);
END
$function$;

-- Leaves out what defaults say of sequences that they have no say in. To name a sequence in a default, in any layout, takes
-- no right on it. A stranger's default counts where a sequence that is converted is said to make IDs of its own layout.
CREATE FUNCTION snowflake._keys_that_count(keys snowflake._key[])
    RETURNS SETOF snowflake._key
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT k.*
            FROM unnest(keys) k
            JOIN pg_class t ON t.oid = k.relid
            JOIN pg_class s ON s.oid = k.seq
            JOIN pg_sequence q ON q.seqrelid = k.seq
            WHERE snowflake._may_act_for(t.relowner, s.relowner)
               OR snowflake._makes_ids(q.seqincrement, q.seqmax) AND k.layout OPERATOR(snowflake.=) snowflake.layout_of(k.seq);
END
$function$;
