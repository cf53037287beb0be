-- Findings of where columns get their IDs from: defaults, layouts, and sequences that are drawn from.

-- Finds columns of converted sequences with another default, and sequences that are not guarded, or whose guard does not work.
CREATE FUNCTION snowflake._findings_of_defaults(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT CASE k.callee WHEN 'pg_catalog.nextval' THEN 'error' ELSE 'warning' END,
               snowflake._column(k.relid, k.attname),
               CASE k.callee
                   WHEN 'pg_catalog.nextval' THEN format('the default calls the server''s own nextval, and makes no snowflake IDs: '
                                                          'sequence %s is converted', k.seq)
                   ELSE format('the column has lost its default, which made snowflake IDs from sequence %s', k.seq) END,
               CASE WHEN k.callee IS NULL
                    THEN CASE WHEN a.atthasdef THEN '-- If the default that it has is not meant: ' ELSE '' END
                         || snowflake._typed_by(t.relowner, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s',
                                                                   k.relid, k.attname, snowflake._call_on(k.seq::text)))
                    ELSE snowflake._typed_by_holder(snowflake._owner(k.seq), snowflake._convert_command(k.seq)) END
            FROM unnest(keys) k
            JOIN pg_class t ON t.oid = k.relid
            JOIN pg_attribute a ON a.attrelid = k.relid AND a.attnum = k.attnum
            WHERE k.callee IS DISTINCT FROM 'snowflake.nextval'
              AND (k.callee IS DISTINCT FROM 'pg_catalog.nextval' OR NOT snowflake._is_redirect_wanted());
    RETURN QUERY
        SELECT CASE WHEN is_id_seq OR NOT fits THEN 'error' ELSE 'notice' END, format('sequence %s', q.seqrelid::regclass),
               CASE WHEN NOT fits THEN format('it makes no snowflake IDs: its INCREMENT is not 1 to %s', stride)
                    ELSE 'it makes snowflake IDs and has no guard: the server''s own nextval takes numbers from it' END,
               snowflake._typed_by_holder(
                   snowflake._owner(q.seqrelid),
                   CASE WHEN is_id_seq THEN format('ALTER SEQUENCE %s INCREMENT BY %s NO MAXVALUE', q.seqrelid::regclass, snowflake._guard())
                        WHEN q.seqincrement > 1
                        THEN format('SELECT snowflake.convert_sequence_to_snowflake(%L, increment => %L)', q.seqrelid::regclass,
                                    CASE WHEN fits THEN 'keep' ELSE 'drop' END)
                        ELSE snowflake._convert_command(q.seqrelid) END)
            FROM (SELECT DISTINCT k.seq FROM snowflake._keys_that_count(keys) k WHERE k.callee = 'snowflake.nextval'
                  UNION SELECT snowflake._id_seq()) used(seq)
            JOIN pg_sequence q ON q.seqrelid = used.seq
            CROSS JOIN LATERAL (SELECT snowflake._is_id_seq(q.seqrelid), snowflake._greatest_stride('default') OFFSET 0) s(is_id_seq, stride)
            CROSS JOIN LATERAL (SELECT q.seqincrement BETWEEN 1 AND stride) x(fits)
            WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax);
    RETURN QUERY
        SELECT 'warning', format('sequence %s', last.seq),
               format('its last number is %s, and its guard works above 0 alone: the server''s own nextval takes a number from it',
                      last.number),
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
    AS $function$
DECLARE
    is_readable constant boolean := NOT snowflake._is_locked_against_readers('snowflake.nodes');
BEGIN
    RETURN QUERY
        SELECT 'error', format('sequence %s', min(q.seqrelid::regclass::text COLLATE "C")), misfit,
               '-- ' || CASE WHEN current_setting('snowflake.node') <> '0'
                             THEN 'Take snowflake.node out of the settings; then, in a new session: '
                             ELSE 'SELECT snowflake.release_node(); ' END || 'SELECT snowflake.claim_node()'
            FROM pg_sequence q
            CROSS JOIN LATERAL (SELECT snowflake.layout_of(q.seqrelid) OFFSET 0) own(layout)
            CROSS JOIN LATERAL (SELECT CASE WHEN snowflake._makes_ids(q.seqincrement, q.seqmax) AND is_readable
                                            THEN snowflake._node_misfit(own.layout) END) node(misfit)
            WHERE misfit IS NOT NULL
            GROUP BY misfit;
    RETURN QUERY
        SELECT 'error', format('sequence %s', own.seq),
               format('its layout is %s, and was %s in the database that this one has been made from', snowflake.layout_of(own.seq), x.layout),
               snowflake._typed_by_holder(snowflake._owner(own.seq), format('SELECT snowflake.set_layout(%L, %L)', own.seq, x.layout))
            FROM snowflake._id_seq_layout x
            CROSS JOIN LATERAL (SELECT snowflake._id_seq()) own(seq)
            WHERE x.layout OPERATOR(snowflake.<>) snowflake.layout_of(own.seq);
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
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT 'error', snowflake._column(origin.relid, k.attname),
               format('it is %s, and gets snowflake IDs of sequence %s: no new ID fits into it', format_type(a.atttypid, a.atttypmod), k.seq),
               snowflake._typed_widening(origin.relid, k.attname, k.seq)
            FROM unnest(keys) k
            JOIN pg_sequence q ON q.seqrelid = k.seq AND snowflake._makes_ids(q.seqincrement, q.seqmax)
            JOIN pg_attrdef f ON f.adrelid = k.relid AND f.adnum = k.attnum
            CROSS JOIN LATERAL snowflake._origins_of_column(k.relid, k.attname) origin(relid)
            JOIN pg_attribute a ON a.attrelid = origin.relid AND a.attname = k.attname AND snowflake._is_small(snowflake._base_type(a.atttypid))
            WHERE (k.callee = 'snowflake.nextval' OR k.callee = 'pg_catalog.nextval' AND snowflake.redirects_nextval())
              AND snowflake._is_call(f.oid, k.seq);
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
-- identity in the place of what was converted. Numbers as large that no known node has made may be a user's own.
CREATE FUNCTION snowflake._findings_of_replaced_sequences()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT CASE WHEN had_ids OR found.is_certain THEN 'error' ELSE 'notice' END, snowflake._column(numbered.relid, numbered.attname),
               format('it %s snowflake IDs, and takes the numbers of sequence %s, which is not converted',
                      CASE WHEN had_ids THEN 'had' WHEN found.is_certain THEN 'holds' ELSE 'may hold' END, numbered.seq),
               CASE WHEN had_ids OR found.is_certain THEN '' ELSE '-- If it does: ' END
               || snowflake._typed_by_holder(snowflake._owner(numbered.seq), snowflake._convert_command(numbered.seq))
            FROM (SELECT q.seqrelid::regclass AS seq, a.attrelid::regclass AS relid, a.attnum, a.attname,
                         -- The column has a converted sequence, which an identity has replaced.
                         EXISTS (SELECT FROM pg_depend o JOIN pg_sequence owned ON owned.seqrelid = o.objid
                                     WHERE o.classid = 'pg_class'::regclass AND o.deptype = 'a' AND o.refclassid = 'pg_class'::regclass
                                       AND o.refobjid = a.attrelid AND o.refobjsubid = a.attnum
                                       AND snowflake._makes_ids(owned.seqincrement, owned.seqmax)) AS had_ids
                      FROM pg_sequence q
                      JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = q.seqrelid AND d.deptype = 'i'
                                      AND d.refclassid = 'pg_class'::regclass
                      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND a.attidentity <> ''
                      WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax) AND a.atttypid = 'bigint'::regtype
                  UNION
                  SELECT q.seqrelid, a.attrelid, a.attnum, a.attname, false
                      FROM pg_sequence q
                      JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
                                      AND d.refobjid = q.seqrelid
                      JOIN pg_attrdef f ON f.oid = d.objid
                      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                      WHERE NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
                        AND snowflake._is_big(a.atttypid)
                        AND EXISTS (SELECT FROM snowflake._sequence_uses('pg_attrdef', f.oid) used
                                        WHERE used.sequence = q.seqrelid AND used.callee = 'pg_catalog.nextval')) numbered
            JOIN pg_class s ON s.oid = numbered.seq AND NOT pg_is_other_temp_schema(s.relnamespace)
            CROSS JOIN LATERAL (
                SELECT bool_or(snowflake._is_of_known_instance(x.number))
                    FROM (VALUES (snowflake._glimpse_last_value(numbered.seq)),
                                 (snowflake._glimpse_greatest_value(numbered.relid, numbered.attnum))) x(number)
                    WHERE snowflake._is_like_an_id(x.number)
            ) found(is_certain) -- NULL: no number is like an ID
            WHERE had_ids OR found.is_certain IS NOT NULL;
END
$function$;

-- Finds keys of logged tables whose sequences are unlogged or temporary.
CREATE FUNCTION snowflake._findings_of_persistence(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'warning', snowflake._column(k.relid, k.attname),
               CASE s.relpersistence
                   WHEN 'u' THEN format('its sequence %s is unlogged: after a crash only the clock keeps new IDs above those it has made',
                                        k.seq)
                   ELSE format('its sequence %s is temporary: the default goes with the session', k.seq) END,
               CASE s.relpersistence
                   WHEN 'u' THEN snowflake._typed_by_holder(s.relowner, format('ALTER SEQUENCE %s SET LOGGED', k.seq))
                   ELSE snowflake._typed_by(t.relowner, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT snowflake.nextval()',
                                                               k.relid, k.attname)) END
            FROM snowflake._keys_that_count(keys) k
            JOIN pg_class s ON s.oid = k.seq
            JOIN pg_class t ON t.oid = k.relid
            WHERE t.relpersistence = 'p' AND s.relpersistence <> 'p';
END
$function$;
