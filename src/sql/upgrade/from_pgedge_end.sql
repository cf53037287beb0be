-- From pgEdge's extension of the same name: what remains to be done once the parts of the script have made the rest.
-- See from_pgedge.sql.

SELECT snowflake._run_outside_script(command) FROM unnest(snowflake._rights_before()) command;

DO $update$
BEGIN
    EXECUTE format('COMMENT ON EXTENSION snowflake IS %L',
                   (SELECT comment FROM pg_available_extensions WHERE name = 'snowflake'));
END
$update$;

-- The conversion of an identity column by the earlier version left the sequence to the identity, which is none any more.
SELECT snowflake._own_as_serial(d.objid::regclass)
    FROM pg_depend d
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND snowflake._is_left_behind(d.objid::regclass)
    ORDER BY d.objid;

-- The earlier version ignored INCREMENT, MAXVALUE and the type of a sequence, and up to version 2.4 left the latter two
-- as they were. A sequence that has no room for an ID makes none with this version.
--
-- Sequences that make IDs are named by defaults, or have made an ID above their own MAXVALUE, which nothing but this
-- extension does. A default can name any sequence, also one that its owner has nothing to do with: such a sequence stays
-- as it is. So does a temporary one of another session, which no other session can change.
DO $update$
DECLARE
    used record;
    repaired text[];
    too_wide text[];
    unguarded text[];
BEGIN
    FOR used IN
        SELECT k.seq, q.seqincrement AS increment, q.seqmax AS maximum
            FROM snowflake._keys() k
            JOIN pg_sequence q ON q.seqrelid = k.seq
            JOIN pg_class s ON s.oid = k.seq
            JOIN pg_class t ON t.oid = k.relid
            WHERE k.callee = 'snowflake.nextval' AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
              AND snowflake._is_taken_along(s.relowner, t.relowner) AND NOT pg_is_other_temp_schema(s.relnamespace)
        UNION
        SELECT q.seqrelid, q.seqincrement, q.seqmax
            FROM pg_sequence q
            JOIN pg_class s ON s.oid = q.seqrelid
            WHERE snowflake._glimpse_last_value(q.seqrelid) > q.seqmax AND NOT pg_is_other_temp_schema(s.relnamespace)
        ORDER BY 1
    LOOP
        IF used.maximum < snowflake.from_timestamp(clock_timestamp() + interval '1 day') THEN
            EXECUTE format('ALTER SEQUENCE %s AS bigint MAXVALUE 9223372036854775807', used.seq); -- NO MAXVALUE: -1 if it descends
            repaired := repaired || format('%s: MAXVALUE %s', used.seq, used.maximum);
        END IF;
        IF used.increment = 1 THEN
            unguarded := unguarded || format('SELECT snowflake.convert_sequence_to_snowflake(%L);', used.seq);
        ELSIF used.increment NOT BETWEEN 1 AND snowflake._greatest_stride('default') THEN
            too_wide := too_wide || format('ALTER SEQUENCE %s INCREMENT BY 1;', used.seq);
        END IF;
    END LOOP;
    IF repaired IS NOT NULL THEN
        PERFORM snowflake._report('sequences had no room for snowflake IDs, and are bigint without MAXVALUE now',
                                  array_to_string(repaired, E'\n'), 'To see what else is to be done: SELECT * FROM snowflake.check();');
    END IF;
    IF too_wide IS NOT NULL THEN
        PERFORM snowflake._report('sequences have an INCREMENT with which they make no snowflake IDs',
                                  'The earlier version ignored that. INCREMENT is how many counters an ID takes, 1 to 4096.',
                                  array_to_string(too_wide, E'\n'));
    END IF;
    IF unguarded IS NOT NULL THEN
        PERFORM snowflake._report('sequences of snowflake IDs have no guard',
                                  'The server''s own nextval takes numbers from them.', array_to_string(unguarded, E'\n'));
    END IF;
END
$update$;

-- The guard, which snowflake.id_seq has now, makes the server's own nextval() fail.
DO $update$
DECLARE
    found text[];
BEGIN
    found := ARRAY(
        SELECT DISTINCT snowflake._column(f.adrelid, a.attname)
            FROM pg_depend d
            JOIN pg_attrdef f ON f.oid = d.objid
            JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_attrdef', f.oid) used
            WHERE d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
              AND d.refobjid = 'snowflake.id_seq'::regclass
              AND used.sequence = d.refobjid AND used.callee = 'pg_catalog.nextval'
            ORDER BY 1);
    IF found <> '{}' THEN
        PERFORM snowflake._report('defaults call the server''s own nextval, which takes no more numbers from snowflake.id_seq',
                                  array_to_string(found, E'\n'),
                                  'SELECT snowflake.convert_sequence_to_snowflake(''snowflake.id_seq'');');
    END IF;
END
$update$;

-- A user of format() may read a key that has another name now.
DO $update$
DECLARE
    found text[];
BEGIN
    found := ARRAY(
        SELECT DISTINCT CASE WHEN r.oid IS NULL THEN pg_describe_object(d.classid, d.objid, 0)
                             ELSE pg_describe_object('pg_class'::regclass, r.ev_class, 0) END
            FROM pg_depend d
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
            WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'snowflake.format(bigint)'::regprocedure
        UNION
        SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0)
            FROM pg_proc p
            WHERE p.prosqlbody IS NULL AND p.prosrc ~* E'\\msnowflake"?\\s*\\.\\s*"?format\\M'
              AND p.pronamespace <> 'snowflake'::regnamespace
        ORDER BY 1);
    IF found <> '{}' THEN
        PERFORM snowflake._report('the node is under the key "node" in what snowflake.format() returns, no longer under "id"',
                                  array_to_string(found, E'\n'), 'Look at each of these: it may read the key "id".');
    END IF;
END
$update$;

DROP FUNCTION snowflake._library_installed_at(), snowflake._run_outside_script(text), snowflake._report(text, text, text),
              snowflake._members(), snowflake._kept_functions(), snowflake._rights_before();
