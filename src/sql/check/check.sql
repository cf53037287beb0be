-- check() lists what is wrong or about to be. Each of the functions before it finds one group of findings.
--
-- The functions read catalogs, and of the data the last value of each sequence and the last entry of an index. They
-- wait for no lock and keep few: a database with many thousands of tables is looked at in one transaction. No query is
-- planned on a table of a user, because the planner evaluates what indexes and partition keys call.
--
-- A command is one that the caller can run as it is, or a comment of one line. A caller who trusts nobody but superusers and
-- himself runs no code of others by it: where a command reaches tables of others, the comment says who must run it. Names are
-- quoted, and hold no line break. So psql, which reads line by line, runs nothing that a name says.

-- Something that is wrong or about to be, and the command that mends it.
CREATE TYPE snowflake._finding AS (severity text, object text, finding text, command text);

-- A column that gets snowflake IDs by its default, and the sequence that they come from. A column whose default
-- makes snowflake IDs, or whose sequence is converted.
CREATE TYPE snowflake._key AS (
    seq regclass, relid regclass, attnum smallint, attname name,
    layout snowflake.layout,
    callee text); -- the function that the default calls; NULL: none

-- Returns a text with a question mark in the place of each control character.
CREATE FUNCTION snowflake._one_line(words text)
    RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(words, '[[:cntrl:]]', '?', 'g');

-- Returns a command, as a comment that names the owner of what it alters unless the owner may act for the caller.
CREATE FUNCTION snowflake._typed_by(owner oid, command text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN pg_has_role(owner, current_user, 'USAGE') THEN command
                ELSE format('-- As %I: %s', pg_get_userbyid(owner), command) END;

-- Returns a command that evaluates nothing as the caller, as a comment that names the owner unless the caller can act
-- for the owner.
CREATE FUNCTION snowflake._typed_by_holder(owner oid, command text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
    RETURN CASE WHEN snowflake._may_become(owner) THEN command
                ELSE format('-- As %I: %s', pg_get_userbyid(owner), command) END;

-- Returns the command that widens a column; what keeps it from that, as a comment.
CREATE FUNCTION snowflake._typed_widening(tab regclass, col name, command text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN coalesce('-- ' || (SELECT o FROM snowflake._obstacles_of_widening(snowflake._column_to_widen(tab, col)) o LIMIT 1),
                    snowflake._typed_by_holder(snowflake._owner(tab), command));
END
$function$;

-- Returns a command, as a comment that names owners if it evaluates code of others than the caller. To add a partition
-- evaluates what is defined on the table, on what it inherits from or is inherited by, and on the other ends of foreign
-- keys and what these inherit from or are inherited by, and reads constants of the types in it.
CREATE FUNCTION snowflake._typed_by_owner_of(tab regclass, command text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    owner constant oid := (SELECT c.relowner FROM pg_class c WHERE c.oid = tab);
    others constant text := (
        WITH RECURSIVE family(relid) AS (
            SELECT tab::oid
            UNION
            SELECT link.relid
                FROM family f
                CROSS JOIN LATERAL (SELECT inhparent FROM pg_inherits WHERE inhrelid = f.relid
                                    UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = f.relid) link(relid)
        )
        SELECT string_agg(DISTINCT quote_ident(pg_get_userbyid(author.oid)), ', ')
            FROM (SELECT snowflake._owner(f.relid) FROM family f
                  UNION
                  SELECT snowflake._owner(partner.relid)
                      FROM (SELECT k.confrelid FROM family f JOIN pg_constraint k ON k.conrelid = f.relid AND k.contype = 'f'
                            UNION
                            SELECT k.conrelid FROM family f JOIN pg_constraint k ON k.confrelid = f.relid AND k.contype = 'f') other(relid)
                      CROSS JOIN LATERAL snowflake._table_kin(other.relid) partner(relid)
                  UNION
                  SELECT x.author FROM snowflake._authors_on_table(tab, NULL) x) author(oid)
            WHERE author.oid <> owner AND NOT pg_has_role(author.oid, current_user, 'USAGE'));
BEGIN
    RETURN CASE WHEN others IS NULL THEN snowflake._typed_by(owner, command)
                ELSE format('-- As %I, if you trust %s: %s', pg_get_userbyid(owner), others, command) END;
END
$function$;

-- Returns the greatest value of a bigint column from an index without keeping a lock; NULL: it cannot be read at
-- once.
CREATE FUNCTION snowflake._glimpse_greatest_value(tab regclass, attnum smallint)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_glimpse_greatest_value'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Tells whether a number is likely to be an ID of the default layout that was made already.
CREATE FUNCTION snowflake._is_like_an_id(number bigint)
    RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT NOT snowflake._is_count(number)
           AND number < snowflake.from_timestamp(clock_timestamp() + interval '1 day')
$function$;

-- Tells whether to read a table would mean to wait for another session.
CREATE FUNCTION snowflake._is_locked_against_readers(tab regclass)
    RETURNS boolean
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT EXISTS (SELECT FROM pg_locks l
                       WHERE l.relation = tab AND l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
                         AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
$function$;

-- Describes a column.
CREATE FUNCTION snowflake._column(tab regclass, attname name)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.format('column %I of table %s', attname, tab);

-- Finds the columns that get snowflake IDs by their defaults, or did so before their defaults changed.
CREATE FUNCTION snowflake._keys()
    RETURNS SETOF snowflake._key
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT used.sequence, f.adrelid::regclass, f.adnum, a.attname, coalesce(used.layout, snowflake.layout_of(used.sequence)), used.callee
            FROM pg_proc p
            JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid AND d.classid = 'pg_attrdef'::regclass
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
            JOIN pg_class s ON s.oid = used.sequence AND s.relkind = 'S'
            WHERE p.pronamespace = 'snowflake'::regnamespace AND p.proname IN ('nextval', 'next_id')
              AND used.callee = 'snowflake.nextval'
        UNION
        -- Of a converted sequence that belongs to another column, and is drawn from by the server's own nextval.
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
        -- Of a converted sequence whose column has another default, or none.
        SELECT s.oid, d.refobjid, a.attnum, a.attname, snowflake.layout_of(s.oid),
               (SELECT min(used.callee) FROM pg_attrdef f, snowflake._sequence_uses('pg_attrdef', f.oid) used
                    WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum
                      AND (used.sequence = s.oid OR used.name[cardinality(used.name)] = s.relname))
            FROM pg_sequence q
            JOIN pg_class s ON s.oid = q.seqrelid
            JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.deptype = 'a'
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
            JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            WHERE snowflake._makes_ids(q.seqincrement, q.seqmax)
              AND NOT EXISTS (SELECT FROM pg_attrdef f
                                  JOIN pg_depend e ON e.classid = 'pg_attrdef'::regclass AND e.objid = f.oid
                                                  AND e.refclassid = 'pg_proc'::regclass
                                  JOIN pg_proc p ON p.oid = e.refobjid AND p.pronamespace = 'snowflake'::regnamespace
                                                AND p.proname IN ('nextval', 'next_id')
                                  WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum);
END
$function$;

-- Leaves out what defaults say of sequences that they have no say in. To name a sequence in a default, in any layout, takes
-- no right on it. A stranger's default counts where a sequence that is converted is said to make IDs of its own layout.
CREATE FUNCTION snowflake._keys_that_count(keys snowflake._key[])
    RETURNS SETOF snowflake._key
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    SET jit = off
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

-- Finds columns of converted sequences with another default, and sequences that are not guarded, or whose guard does not work.
CREATE FUNCTION snowflake._findings_of_defaults(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT CASE k.callee WHEN 'pg_catalog.nextval' THEN 'error' ELSE 'warning' END,
               snowflake._column(k.relid, k.attname),
               CASE k.callee
                   WHEN 'pg_catalog.nextval' THEN format('the default calls the server''s own nextval, and makes no snowflake IDs: sequence %s is converted', k.seq)
                   ELSE format('the column has lost its default, which made snowflake IDs from sequence %s', k.seq) END,
               CASE WHEN k.callee IS NULL
                    THEN snowflake._typed_by(t.relowner, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s',
                                                                k.relid, k.attname, snowflake._call_on(k.seq::text)))
                    ELSE snowflake._typed_by_holder(snowflake._owner(k.seq), snowflake._convert_command(k.seq)) END
            FROM unnest(keys) k
            JOIN pg_class t ON t.oid = k.relid
            WHERE k.callee IS DISTINCT FROM 'snowflake.nextval'
              AND (k.callee IS DISTINCT FROM 'pg_catalog.nextval' OR NOT snowflake._is_redirect_wanted());
    RETURN QUERY
        SELECT CASE WHEN is_id_seq THEN 'error' ELSE 'notice' END, format('sequence %s', q.seqrelid::regclass),
               'it makes snowflake IDs and has no guard: the server''s own nextval takes numbers from it',
               CASE WHEN is_id_seq THEN format('ALTER SEQUENCE %s INCREMENT BY %s NO MAXVALUE', q.seqrelid::regclass, snowflake._guard())
                    WHEN q.seqincrement BETWEEN 2 AND snowflake._greatest_stride('default')
                    THEN format('SELECT snowflake.convert_sequence_to_snowflake(%L, increment => ''keep'')', q.seqrelid::regclass)
                    ELSE snowflake._typed_by_holder(snowflake._owner(q.seqrelid), snowflake._convert_command(q.seqrelid)) END
            FROM (SELECT DISTINCT k.seq FROM snowflake._keys_that_count(keys) k WHERE k.callee = 'snowflake.nextval'
                  UNION SELECT d.objid FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'snowflake'
                            WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'e') used(seq)
            JOIN pg_sequence q ON q.seqrelid = used.seq
            CROSS JOIN LATERAL (SELECT snowflake._is_id_seq(q.seqrelid) OFFSET 0) s(is_id_seq)
            WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax);
    RETURN QUERY
        SELECT 'warning', format('sequence %s', last.seq),
               format('its last number is %s, and its guard works above 0 alone: the server''s own nextval takes a number from it', last.number),
               snowflake._typed_by_holder(snowflake._owner(last.seq), format('SELECT pg_catalog.setval(%L, 1)', last.seq))
            FROM (SELECT q.seqrelid::regclass AS seq, snowflake._glimpse_last_value(q.seqrelid) AS number
                      FROM pg_sequence q JOIN pg_class c ON c.oid = q.seqrelid
                      WHERE q.seqincrement = snowflake._guard() AND q.seqmin < 1 AND q.seqmax > 0
                        AND NOT pg_is_other_temp_schema(c.relnamespace)) last
            WHERE last.number < 1;
    RETURN QUERY
        SELECT 'warning', format('sequence %s', q.seqrelid::regclass),
               'it has CYCLE: the server''s own nextval begins anew with its MINVALUE, where the guard alone would stop it',
               snowflake._typed_by_holder(c.relowner, format('ALTER SEQUENCE %s NO CYCLE', q.seqrelid::regclass))
            FROM pg_sequence q JOIN pg_class c ON c.oid = q.seqrelid
            WHERE q.seqincrement = snowflake._guard() AND q.seqcycle AND NOT pg_is_other_temp_schema(c.relnamespace);
END
$function$;

-- Finds layouts of sequences that the node of this instance does not fit, and defaults that name another layout.
CREATE FUNCTION snowflake._findings_of_layouts(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'error', format('sequence %s', min(q.seqrelid::regclass::text COLLATE "C")), misfit,
               '-- ' || CASE WHEN snowflake._node_setting() IS NOT NULL THEN 'Take snowflake.node out of the settings; then, in a new session: '
                             ELSE 'SELECT snowflake.release_node(); ' END || 'SELECT snowflake.claim_node()'
            FROM pg_sequence q
            CROSS JOIN LATERAL (SELECT snowflake.layout_of(q.seqrelid) OFFSET 0) own(layout)
            CROSS JOIN LATERAL (SELECT CASE WHEN snowflake._makes_ids(q.seqincrement, q.seqmax)
                                                 AND NOT snowflake._is_locked_against_readers('snowflake.nodes')
                                            THEN snowflake._node_misfit(own.layout) END) node(misfit)
            WHERE misfit IS NOT NULL
            GROUP BY misfit;
    RETURN QUERY
        SELECT 'error', snowflake._column(k.relid, k.attname),
               format('its default names another layout than sequence %s has, and fails', k.seq),
               snowflake._typed_by(t.relowner, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s',
                                                      k.relid, k.attname, snowflake._call_on(k.seq::text)))
            FROM unnest(keys) k
            JOIN pg_class t ON t.oid = k.relid
            JOIN pg_sequence q ON q.seqrelid = k.seq
            WHERE snowflake._makes_ids(q.seqincrement, q.seqmax)
              AND k.layout OPERATOR(snowflake.<>) snowflake.layout_of(k.seq);
END
$function$;

-- Finds columns that get IDs and do not bear them, and roles that may insert rows and not take IDs for them. Anybody can
-- name a sequence in a default, and is given no right for it.
CREATE FUNCTION snowflake._findings_of_drawing(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'error', snowflake._column(x.relid, x.attname),
               format('it is %s, and gets snowflake IDs of sequence %s: no new ID fits into it', x.type, x.seq),
               snowflake._typed_widening(x.relid, x.attname, snowflake._widen_command(x.relid, x.attname))
            FROM (
                -- Only the column of the topmost table can be altered.
                WITH RECURSIVE above(relid, attname, seq) AS (
                    SELECT k.relid::oid, k.attname, k.seq
                        FROM unnest(keys) k
                        JOIN pg_sequence q ON q.seqrelid = k.seq AND snowflake._makes_ids(q.seqincrement, q.seqmax)
                        JOIN pg_attrdef f ON f.adrelid = k.relid AND f.adnum = k.attnum
                        WHERE (k.callee = 'snowflake.nextval' OR k.callee = 'pg_catalog.nextval' AND snowflake.redirects_nextval())
                          AND snowflake._is_call(f.oid, k.seq)
                    UNION
                    SELECT i.inhparent, x.attname, x.seq FROM above x JOIN pg_inherits i ON i.inhrelid = x.relid
                )
                SELECT x.relid::regclass, x.attname, x.seq, format_type(a.atttypid, a.atttypmod) AS type
                    FROM above x
                    JOIN pg_attribute a ON a.attrelid = x.relid AND a.attname = x.attname AND a.attinhcount = 0
                    JOIN pg_type y ON y.oid = a.atttypid
                    WHERE snowflake._is_small(coalesce(nullif(y.typbasetype, 0), y.oid))) x;
    RETURN QUERY
        SELECT DISTINCT 'warning', format('table %s', k.relid),
               format('%s may insert into it, and not take IDs from sequence %s for column %I',
                      CASE inserter.role WHEN 0 THEN 'everybody' ELSE quote_ident(pg_get_userbyid(inserter.role)) END, k.seq, k.attname),
               CASE WHEN inserter.role IN (SELECT snowflake._inserters(k.relid, through_others => false)) THEN ''
                    ELSE '-- If you trust who lets others write through a view or rule: ' END
               || snowflake._typed_by(snowflake._owner(k.seq), snowflake._grant_to_draw(inserter.role, k.seq::text))
            FROM unnest(keys) k
            CROSS JOIN LATERAL snowflake._inserters(k.relid, through_others => true) inserter(role)
            WHERE k.callee IS NOT NULL AND snowflake._owner(k.seq) = snowflake._owner(k.relid)
              AND NOT snowflake._may_draw(inserter.role, k.seq);
END
$function$;

-- Finds columns that hold snowflake IDs and take other numbers now. A migration tool may have put a serial or an
-- identity in the place of what was converted.
CREATE FUNCTION snowflake._findings_of_replaced_sequences()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'error', snowflake._column(numbered.relid, numbered.attname),
               format('it holds snowflake IDs, and takes the numbers of sequence %s, which is not converted', numbered.seq),
               snowflake._typed_by_holder(snowflake._owner(numbered.seq), snowflake._convert_command(numbered.seq))
            FROM (SELECT q.seqrelid::regclass AS seq, a.attrelid::regclass AS relid, a.attnum, a.attname
                      FROM pg_sequence q
                      JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = q.seqrelid AND d.deptype = 'i'
                                      AND d.refclassid = 'pg_class'::regclass
                      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND a.attidentity <> ''
                      WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax) AND a.atttypid = 'bigint'::regtype
                  UNION
                  SELECT q.seqrelid, a.attrelid, a.attnum, a.attname
                      FROM pg_sequence q
                      JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
                                      AND d.refobjid = q.seqrelid
                      JOIN pg_attrdef f ON f.oid = d.objid
                      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                      WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
                        AND a.atttypid IN ('bigint'::regtype, 'snowflake.id'::regtype)
                        AND EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', f.oid) used
                                        WHERE used.sequence = q.seqrelid AND used.callee = 'pg_catalog.nextval')) numbered
            WHERE snowflake._is_like_an_id(snowflake._glimpse_last_value(numbered.seq))
               OR snowflake._is_like_an_id(snowflake._glimpse_greatest_value(numbered.relid, numbered.attnum));
END
$function$;

-- Finds the columns of smallint and integer that take the numbers of a sequence, or reference a column that does, and
-- returns the least of their bounds. The size is that of the last VACUUM or ANALYZE: to measure could mean to wait for a lock.
CREATE FUNCTION snowflake._integers_fed(
        OUT seq oid, OUT bound bigint, OUT held_by text,
        OUT size bigint) -- of all their tables that can be widened without a long lock, in bytes
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        WITH fed AS (
            SELECT d.objid AS seq, d.refobjid AS relid, d.refobjsubid::smallint AS attnum
                FROM pg_sequence q
                JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = q.seqrelid AND d.deptype = 'i'
                                AND d.refclassid = 'pg_class'::regclass
            UNION
            SELECT q.seqrelid, f.adrelid, f.adnum
                FROM pg_sequence q
                JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
                                AND d.refobjid = q.seqrelid
                JOIN pg_attrdef f ON f.oid = d.objid
        ),
        held AS (
            SELECT f.* FROM fed f
            UNION
            SELECT f.seq, k.conrelid, pair.here
                FROM fed f
                JOIN pg_constraint k ON k.contype = 'f' AND k.confrelid = f.relid AND k.conparentid = 0
                CROSS JOIN LATERAL unnest(k.conkey, k.confkey) pair(here, there)
                WHERE pair.there = f.attnum
        )
        SELECT DISTINCT ON (h.seq) h.seq, CASE a.atttypid WHEN 'smallint'::regtype THEN 32767 ELSE 2147483647 END::bigint,
               format('%s is %s', snowflake._column(h.relid, a.attname), format_type(a.atttypid, -1)),
               (SELECT sum(x.relpages) * current_setting('block_size')::bigint FROM pg_class x
                    WHERE x.relkind = 'r' AND x.oid IN (SELECT y.relid FROM held y WHERE y.seq = h.seq))
            FROM held h
            JOIN pg_class s ON s.oid = h.seq
            JOIN pg_class t ON t.oid = h.relid AND NOT t.relispartition
            JOIN pg_attribute a ON a.attrelid = h.relid AND a.attnum = h.attnum
            WHERE snowflake._is_small(a.atttypid)
              -- To name a sequence in a default takes no right on it.
              AND snowflake._is_taken_along(s.relowner, t.relowner)
            ORDER BY h.seq, 2, h.relid, h.attnum;
END
$function$;

-- Finds sequences that have used more than half of the numbers which they, or the columns that hold these, have room for,
-- and that a bigint would have. A sequence with another MAXVALUE ends where somebody has chosen.
CREATE FUNCTION snowflake._findings_of_integers()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
DECLARE
    bearable constant numeric := 0.5;
    -- A rewrite does about 25 MB a second, indexes included: this is a lock of some seconds.
    large constant bigint := 100 * 1024 * 1024;
BEGIN
    RETURN QUERY
        SELECT CASE WHEN x.used < 1 THEN 'warning' ELSE 'error' END, format('sequence %s', x.seq),
               format('%s %% of its numbers are used: %s', trunc(100 * x.used), coalesce(x.held_by, 'its last is ' || x.last_number)),
               snowflake._typed_by_holder(snowflake._owner(x.seq),
                                          format(CASE WHEN x.size >= large
                                                      THEN 'SELECT * FROM snowflake.conversion_plan(%L, online => true, target => ''bigint'')'
                                                      ELSE 'SELECT snowflake.convert_sequence_to_snowflake(%L, target => ''bigint'')' END, x.seq))
            FROM (
                SELECT r.seq, r.held_by, r.size, r.last_number,
                       abs(snowflake._glimpse_last_value(r.seq) - r.first_number) / nullif(abs(r.last_number - r.first_number), 0) AS used
                    FROM (
                        SELECT q.seqrelid::regclass AS seq, i.held_by, i.size,
                               CASE WHEN q.seqincrement > 0 THEN greatest(q.seqmin, -i.bound - 1)
                                    ELSE least(q.seqmax, i.bound) END::numeric AS first_number,
                               CASE WHEN q.seqincrement > 0 THEN least(q.seqmax, i.bound)
                                    ELSE greatest(q.seqmin, -i.bound - 1) END::numeric AS last_number
                            FROM pg_sequence q
                            JOIN pg_class c ON c.oid = q.seqrelid
                            LEFT JOIN snowflake._integers_fed() i ON i.seq = q.seqrelid
                            WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax) AND NOT q.seqcycle
                              AND NOT pg_is_other_temp_schema(c.relnamespace)
                    ) r
                    WHERE abs(r.last_number) IN (32767, 32768, 2147483647, 2147483648)
            ) x
            WHERE x.used > bearable;
END
$function$;

-- Finds sequences that are far ahead of the clock.
CREATE FUNCTION snowflake._findings_of_clock(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
DECLARE
    bound constant interval := '1 minute';
BEGIN
    RETURN QUERY
        SELECT 'warning', format('sequence %s', s.seq),
               format('it is %s ahead of the clock',
                      date_trunc('minute', snowflake.get_timestamp(s.last, s.layout) - clock_timestamp())),
               format('-- If no ID from ahead is in use: SELECT pg_catalog.setval(%L, %s)', s.seq, greatest(s.minimum, 1))
            FROM (SELECT k.seq, k.layout, q.seqmin AS minimum, snowflake._glimpse_last_value(k.seq) AS last
                      FROM (SELECT DISTINCT x.seq, x.layout FROM snowflake._keys_that_count(keys) x) k JOIN pg_sequence q ON q.seqrelid = k.seq) s
            CROSS JOIN LATERAL snowflake.describe(s.layout) described
            WHERE s.last >= CASE WHEN clock_timestamp() + bound BETWEEN described.epoch AND described.last_timestamp
                                 THEN snowflake.from_timestamp(clock_timestamp() + bound, s.layout) END
              AND s.last <= snowflake.make_id(described.last_timestamp, (described.nodes - 1)::integer, (described.ids_per_tick - 1)::integer, s.layout)
            ORDER BY s.seq::text COLLATE "C";
END
$function$;

-- Finds integer columns that reference snowflake IDs, or have the names of such references.
CREATE FUNCTION snowflake._findings_of_references(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT 'error', snowflake._column(k.conrelid, a.attname),
               format('it is %s and references snowflake IDs of table %s: no new ID fits into it',
                      format_type(a.atttypid, -1), k.confrelid::regclass),
               snowflake._typed_widening(k.conrelid, a.attname, snowflake._widen_command(k.conrelid, a.attname, source.seq))
            FROM pg_constraint k
            CROSS JOIN LATERAL unnest(k.conkey, k.confkey) pair(here, there)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.here
            JOIN pg_type y ON y.oid = a.atttypid
            JOIN pg_attribute r ON r.attrelid = k.confrelid AND r.attnum = pair.there
            CROSS JOIN LATERAL (SELECT CASE WHEN r.atttypid IN ('bigint'::regtype, 'snowflake.id'::regtype)
                                            THEN snowflake._source_of_ids(k.confrelid, pair.there) END) source(seq)
            WHERE k.contype = 'f' AND k.conparentid = 0 AND a.attinhcount = 0
              AND snowflake._is_small(coalesce(nullif(y.typbasetype, 0), y.oid))
              AND source.seq IS NOT NULL;
    RETURN QUERY
        SELECT 'notice', snowflake._column(i.relid, i.attname),
               format('it is %s: no new ID fits into it, if it holds copies of %s', i.type,
                      string_agg(DISTINCT format('%s.%I', named.relid, named.attname), ', ')),
               snowflake._typed_widening(i.relid, i.attname, snowflake._widen_command(i.relid, i.attname))
            FROM (SELECT k.relid, k.attname, name
                      FROM unnest(keys) k
                      JOIN pg_class t ON t.oid = k.relid AND NOT t.relispartition
                      CROSS JOIN LATERAL unnest(snowflake._copy_names(t.relname, k.attname)) name
                      WHERE name <> 'id') named
            JOIN snowflake._integer_columns('{}') i ON i.attname = named.name AND i.wider IS NOT NULL
            GROUP BY i.relid, i.attname, i.type;
END
$function$;

-- Finds layouts, maximum values and partitions that end soon, and tables that wait for becoming partitioned.
CREATE FUNCTION snowflake._findings_of_ends(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
DECLARE
    next_year constant timestamptz := clock_timestamp() + interval '1 year';
    next_week constant timestamptz := clock_timestamp() + interval '7 days';
BEGIN
    RETURN QUERY
        SELECT 'warning', format('sequence %s', k.seq),
               format('the timestamps of its layout end at %s', described.last_timestamp),
               'SELECT name, last_timestamp FROM snowflake.layouts ORDER BY last_timestamp'
            FROM (SELECT DISTINCT x.seq, x.layout FROM snowflake._keys_that_count(keys) x) k, snowflake.describe(k.layout) described
            WHERE described.last_timestamp < next_year;
    RETURN QUERY
        SELECT 'warning', format('sequence %s', k.seq), format('its MAXVALUE, %s, is below the IDs of %s', q.seqmax, next_year::date),
               concat('ALTER SEQUENCE ', k.seq, CASE WHEN q.seqtypid <> 'bigint'::regtype THEN ' AS bigint' END,
                      CASE WHEN q.seqincrement < 0 THEN ' INCREMENT BY 1' END, ' NO MAXVALUE')
            FROM (SELECT DISTINCT x.seq, x.layout FROM snowflake._keys_that_count(keys) x) k
            JOIN pg_sequence q ON q.seqrelid = k.seq
            CROSS JOIN LATERAL snowflake.describe(k.layout) described
            WHERE q.seqmax < snowflake.from_timestamp(least(greatest(next_year, described.epoch), described.last_timestamp), k.layout);
    RETURN QUERY
        SELECT DISTINCT CASE WHEN x.bound < snowflake.from_timestamp(next_week, k.layout) THEN 'warning' ELSE 'notice' END,
               format('table %s', k.relid),
               format('it refuses IDs of %s and later, until the rest of its plan has made it partitioned', snowflake.get_timestamp(x.bound, k.layout)),
               format('SELECT * FROM snowflake.partition_plan(%L, ''1 month'')', k.relid)
            FROM unnest(keys) k
            CROSS JOIN LATERAL snowflake._limit(k.relid, k.attname) x
            CROSS JOIN LATERAL snowflake.describe(k.layout) described
            WHERE next_week BETWEEN described.epoch AND described.last_timestamp;
    RETURN QUERY
        SELECT 'warning', format('table %s', k.relid), format('no partition takes the IDs of %s', next_week::date),
               snowflake._typed_by_owner_of(k.relid, format('CREATE TABLE %I.%I PARTITION OF %s DEFAULT', n.nspname,
                                                            snowflake._free_name(n.nspname, t.relname || '_default'), k.relid))
            FROM unnest(keys) k
            JOIN pg_partitioned_table p ON p.partrelid = k.relid AND p.partdefid = 0 AND p.partstrat IN ('l', 'r')
            JOIN pg_class t ON t.oid = k.relid
            JOIN pg_namespace n ON n.oid = t.relnamespace
            CROSS JOIN LATERAL snowflake.describe(k.layout) described
            WHERE p.partattrs[0] = k.attnum AND next_week BETWEEN described.epoch AND described.last_timestamp
              -- The trials would wait for a session that alters the table, or one that it is a partition of. Where an
              -- expression is part of a key, they would run what its owner wrote.
              AND CASE WHEN EXISTS (SELECT FROM pg_partition_ancestors(k.relid) above JOIN pg_class c ON c.oid = above.relid
                                        LEFT JOIN pg_partitioned_table key ON key.partrelid = c.oid
                                        WHERE snowflake._is_locked_against_readers(c.oid) OR NOT snowflake._may_become(c.relowner)
                                              OR key.partexprs IS NOT NULL)
                       THEN false
                       ELSE NOT EXISTS (
                           SELECT FROM pg_inherits i
                               WHERE i.inhparent = k.relid
                                 AND NOT snowflake._partition_refuses(i.inhrelid, k.attnum, snowflake.from_timestamp(next_week, k.layout)))
                           -- A row comes to a table only through all that it is a partition of.
                           AND NOT EXISTS (
                               SELECT FROM pg_partition_ancestors(k.relid) above
                                   JOIN pg_inherits i ON i.inhrelid = above.relid
                                   JOIN pg_attribute a ON a.attrelid = i.inhparent AND a.attname = k.attname
                                   WHERE snowflake._partition_refuses(above.relid, a.attnum, snowflake.from_timestamp(next_week, k.layout))) END;
END
$function$;

-- Finds keys of logged tables whose sequences are unlogged or temporary.
CREATE FUNCTION snowflake._findings_of_persistence(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'warning', snowflake._column(k.relid, k.attname),
               CASE s.relpersistence
                   WHEN 'u' THEN format('its sequence %s is unlogged: after a crash only the clock keeps new IDs above those it has made', k.seq)
                   ELSE format('its sequence %s is temporary: the default goes with the session', k.seq) END,
               CASE s.relpersistence
                   WHEN 'u' THEN format('ALTER SEQUENCE %s SET LOGGED', k.seq)
                   ELSE snowflake._typed_by(t.relowner, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT snowflake.nextval()',
                                                               k.relid, k.attname)) END
            FROM snowflake._keys_that_count(keys) k
            JOIN pg_class s ON s.oid = k.seq
            JOIN pg_class t ON t.oid = k.relid
            WHERE t.relpersistence = 'p' AND s.relpersistence <> 'p' AND NOT pg_is_other_temp_schema(s.relnamespace);
END
$function$;

-- Finds what is wrong with the node number of this instance, and numbers that are claimed twice. An instance that has never
-- had a number needs none as long as no column gets IDs.
CREATE FUNCTION snowflake._findings_of_node(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    setting constant integer := snowflake._node_setting();
    reason text;
    cure text;
BEGIN
    IF snowflake._is_locked_against_readers('snowflake.nodes') THEN
        RETURN;
    END IF;
    BEGIN
        PERFORM snowflake.node();
    EXCEPTION
        WHEN SQLSTATE '55000' THEN -- The words are those in which nextval() refuses.
            GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT, cure = PG_EXCEPTION_HINT;
        WHEN invalid_table_definition THEN -- The view snowflake.cluster refuses likewise.
            GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT, cure = PG_EXCEPTION_HINT;
            RETURN QUERY SELECT 'error', 'table snowflake.nodes', reason,
                                CASE WHEN cure LIKE 'ALTER TABLE %' THEN snowflake._typed_by_owner_of('snowflake.nodes', rtrim(cure, ';'))
                                     ELSE '-- ' || cure END;
            RETURN;
    END;
    RETURN QUERY
        WITH numbered AS MATERIALIZED (SELECT * FROM snowflake.cluster)
        SELECT 'error', 'this instance', reason, '-- ' || cure
            WHERE reason IS NOT NULL
              AND (keys <> '{}' OR setting IS NOT NULL OR EXISTS (SELECT FROM numbered c WHERE c.is_this_instance))
        UNION ALL
        SELECT 'notice', format('node %s', setting), 'the setting snowflake.node has the number, and other instances do not hear of it',
               format('SELECT snowflake.claim_node(%s)', setting)
            WHERE setting IS NOT NULL AND reason IS NULL
              AND NOT EXISTS (SELECT FROM numbered c WHERE c.is_this_instance AND c.node = setting)
        UNION ALL
        SELECT 'warning',
               CASE WHEN c.last_node > c.node THEN format('nodes %s to %s', c.node, c.last_node) ELSE format('node %s', c.node) END,
               format('claimed by %I as well as by %I, which has the better claim', c.name, c.lost_to),
               format(CASE c.kind
                          WHEN 'lease' THEN '-- On %I: SELECT snowflake.release_nodes(%s, %s)'
                          WHEN 'setting' THEN '-- On %I: take snowflake.node out of the settings; then, in a new session: SELECT snowflake.claim_node()'
                          ELSE '-- On %I: SELECT snowflake.release_node(); SELECT snowflake.claim_node()' END,
                      c.name, c.node, c.last_node)
            FROM numbered c
            WHERE c.lost_to IS NOT NULL AND NOT c.is_this_instance AND c.kind <> 'copy'
        UNION ALL
        SELECT 'warning', 'this instance', 'it receives rows of other servers, but not their node numbers',
               '-- For each of them: CREATE SUBSCRIPTION name CONNECTION ''...'' PUBLICATION snowflake_nodes'
            WHERE snowflake._receives_no_claims()
        UNION ALL
        SELECT 'warning', 'publication snowflake_nodes', format('%I, who owns it, could publish other things than node numbers', pg_get_userbyid(p.pubowner)),
               'DROP PUBLICATION snowflake_nodes'
            FROM pg_publication p
            WHERE p.pubname = 'snowflake_nodes'
              AND p.pubowner NOT IN (SELECT oid FROM pg_roles WHERE rolsuper
                                     UNION SELECT extowner FROM pg_extension WHERE extname = 'snowflake')
        UNION ALL
        SELECT 'warning', 'this instance', format('a copy of this server, or its original, runs at %I', c.place),
               '-- On the copy: SELECT snowflake.separate_copy()'
            FROM numbered c
            WHERE c.kind = 'copy'
        UNION ALL
        SELECT 'warning', 'this instance', format('it ran at %I before: it was copied, moved or promoted', before),
               '-- If it is a copy beside its original: SELECT snowflake.separate_copy(); if it has taken the other''s place: SELECT snowflake.take_over_node()'
            FROM snowflake._moved_from() before
            WHERE before IS NOT NULL;
END
$function$;

-- Returns a digest for each function of the extension. The digest is of the whole definition but the name, owner
-- and rights; the text of the body counts, and the library. The setting keeps the names as the extension script has stored them.
CREATE FUNCTION snowflake._digests()
    RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET quote_all_identifiers = off
    AS $function$
BEGIN
    RETURN (
        SELECT jsonb_object_agg(p.oid::regprocedure::text,
                                md5(concat_ws('|', l.lanname, p.prosrc, p.probin, p.prokind, p.prosecdef, p.proisstrict, p.provolatile,
                                              p.proparallel, p.proconfig::text)))
            FROM pg_proc p
            JOIN pg_language l ON l.oid = p.prolang
            JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
            JOIN pg_extension x ON d.refclassid = 'pg_extension'::regclass AND x.oid = d.refobjid AND x.extname = 'snowflake'
            WHERE p.proname <> '_installed_digests');
END
$function$;

-- Finds objects of the extension that were altered, and objects that do not belong to its schemas.
CREATE FUNCTION snowflake._findings_of_extension()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'error', 'function ' || coalesce(made.key, now.key),
               CASE WHEN made.key IS NULL THEN 'it was added to the extension by hand' ELSE 'it is not as the extension has made it' END,
               CASE WHEN made.key IS NULL THEN format('ALTER EXTENSION snowflake DROP FUNCTION %s', now.key)
                    ELSE '-- As a superuser, run its CREATE FUNCTION of the extension script again, as CREATE OR REPLACE FUNCTION' END
            FROM jsonb_each_text(snowflake._installed_digests()) made
            FULL JOIN jsonb_each_text(snowflake._digests()) now ON now.key = made.key
            WHERE now.value IS DISTINCT FROM made.value
        UNION ALL
        SELECT 'warning', 'event trigger ' || e.evtname, 'it is not enabled always: ' || made.lest,
               format('ALTER EVENT TRIGGER %I ENABLE ALWAYS', e.evtname)
            FROM (VALUES ('snowflake_convert_new_columns'::name, 'new columns may not be converted'),
                         ('_snowflake_drop', 'DROP EXTENSION may leave behind triggers that stop every write')) made(name, lest)
            JOIN pg_event_trigger e ON e.evtname = made.name AND e.evtenabled <> 'A'
        UNION ALL
        SELECT 'error', format('trigger %I of table %s', g.tgname, g.tgrelid::regclass),
               'it is not enabled always: what other instances claim is not heard of, or not guarded',
               snowflake._typed_by(t.relowner, format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', g.tgrelid::regclass, g.tgname))
            FROM pg_trigger g
            JOIN pg_class t ON t.oid = g.tgrelid
            WHERE (g.tgrelid = 'snowflake.nodes'::regclass AND g.tgname IN ('guard', 'guard_truncate', 'truncated', 'changed')
                   OR g.tgrelid = 'snowflake._redirect'::regclass AND g.tgname = 'redirect_is_written'
                   OR g.tgrelid = 'snowflake._id_seq_layout'::regclass AND g.tgname = 'layout_is_written')
              AND g.tgenabled <> 'A'
        UNION ALL
        SELECT 'error', format('schema %I', n.nspname),
               format('%s may create objects in it, and have their code run by whoever uses the extension',
                      coalesce(quote_ident(pg_get_userbyid(nullif(a.grantee, 0))), 'everybody')),
               format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, coalesce(quote_ident(pg_get_userbyid(nullif(a.grantee, 0))), 'PUBLIC'))
            FROM pg_namespace n, aclexplode(n.nspacl) a
            WHERE n.nspname = 'snowflake' AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
        UNION ALL
        SELECT 'error', 'function nextval(regclass)',
               'it is not redirected in this database, and was in the one that this has been made from: it fails on converted sequences',
               CASE WHEN NOT EXISTS (SELECT FROM snowflake._redirect WHERE enabled)
                    THEN '-- If that is so, as a superuser: '
                    WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN '' ELSE '-- As a superuser: ' END
               || 'SELECT snowflake.redirect_nextval()'
            WHERE snowflake._is_redirect_wanted() AND NOT snowflake.redirects_nextval()
        UNION ALL
        -- Moved to where others look names up, it could take the place of what they mean.
        SELECT 'error', pg_describe_object(o.classid, o.objid, 0), 'it stands in a schema of the extension, and does not belong there',
               '-- Drop it, or let its owner move it to a schema of his own'
            FROM pg_depend o
            JOIN pg_namespace n ON o.refclassid = 'pg_namespace'::regclass AND n.oid = o.refobjid
                               AND n.nspname = 'snowflake'
            WHERE o.classid <> 'pg_extension'::regclass
              AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.classid AND d.objid = o.objid AND d.deptype = 'e');
END
$function$;

-- Finds triggers, columns and checks that are parts of no conversion, or of one that has lost another part. What
-- only looks like a conversion without a long lock, or is one that has lost a part. Nothing acts on it.
CREATE FUNCTION snowflake._findings_of_shadows()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    SET jit = off
    AS $function$
BEGIN
    -- Where the sequence was renamed, its online plan takes the columns over.
    RETURN QUERY
        SELECT 'error', snowflake._column(p.relid, a.attname),
               'a check compares it with another column, and no trigger that the owner of the table has enabled always keeps it for a sequence: '
               'new rows may be refused', snowflake._typed_by_holder(snowflake._owner(p.relid), format('SELECT snowflake.cancel_conversion(%L)', p.relid))
            FROM snowflake._shadow_pairs(NULL) p JOIN pg_attribute a ON a.attrelid = p.relid AND a.attnum = p.shadow
            WHERE p.trigger_name IS NULL
        UNION ALL
        SELECT 'warning', format('trigger %I of table %s', t.tgname, t.tgrelid::regclass),
               'it belongs to no conversion that the owner of the table has begun',
               snowflake._typed_by_holder(snowflake._owner(t.tgrelid), format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass))
            FROM pg_depend d
            JOIN pg_trigger t ON t.oid = d.objid
            JOIN pg_class c ON c.oid = t.tgrelid AND c.relpersistence <> 't'
            WHERE d.classid = 'pg_trigger'::regclass
              AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'snowflake._keep_shadow()'::regprocedure
              AND NOT EXISTS (SELECT FROM snowflake._shadow_pairs(t.tgrelid) p
                                  WHERE coalesce(p.trigger_name = t.tgname,
                                                 t.tgname IN (SELECT snowflake._triggers_on_shadow(p.relid, p.shadow))));
END
$function$;

CREATE FUNCTION snowflake.check(
        OUT severity text, -- error, warning or notice
        OUT object text,
        OUT finding text,
        OUT command text)  -- that mends it
    RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 10
    SET search_path = pg_catalog, pg_temp
    SET DateStyle = ISO
    SET IntervalStyle = postgres
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
DECLARE
    keys constant snowflake._key[] := ARRAY(SELECT k FROM snowflake._keys() k);
BEGIN
    RETURN QUERY
        SELECT f.severity, snowflake._one_line(f.object), snowflake._one_line(f.finding),
               CASE WHEN f.command !~ '^-- ' AND f.command <> snowflake._one_line(f.command)
                    THEN '-- With a line break or the like for each "?": ' ELSE '' END || snowflake._one_line(f.command)
            FROM (SELECT * FROM snowflake._findings_of_node(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_extension()
                  UNION ALL SELECT * FROM snowflake._findings_of_defaults(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_layouts(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_drawing(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_replaced_sequences()
                  UNION ALL SELECT * FROM snowflake._findings_of_integers()
                  UNION ALL SELECT * FROM snowflake._findings_of_clock(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_references(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_ends(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_persistence(keys)
                  UNION ALL SELECT * FROM snowflake._findings_of_shadows()) f
            ORDER BY array_position(ARRAY['error', 'warning', 'notice'], f.severity), f.object COLLATE "C", f.finding COLLATE "C";
END
$function$;
COMMENT ON FUNCTION snowflake.check() IS
    'lists what is wrong in this database with snowflake IDs, or about to be, and the commands that mend it';
