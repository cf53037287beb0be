-- From pgEdge's extension of the same name: what remains to be done once the parts of the script have made the rest.
-- See from_pgedge.sql.

SELECT snowflake._run_outside_script(command) FROM unnest(snowflake._grants_before()) command;

DO $update$
BEGIN
    EXECUTE format('COMMENT ON EXTENSION snowflake IS %L',
                   (SELECT comment FROM pg_available_extensions WHERE name = 'snowflake'));
END
$update$;

-- Its conversion of an identity column left the sequence to the identity, which is none any more.
SELECT snowflake._own_as_serial(d.objid::regclass)
    FROM pg_depend d
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND snowflake._is_left_behind(d.objid::regclass)
    ORDER BY d.objid;

-- The sequences that defaults make IDs from. A default can name any sequence, also one that its owner has nothing to do
-- with: such a sequence stays as it is.
CREATE FUNCTION snowflake._used_sequences(OUT seq regclass, OUT increment bigint, OUT maximum bigint)
    RETURNS SETOF record
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT DISTINCT k.seq, q.seqincrement, q.seqmax
        FROM snowflake._keys() k
        JOIN pg_sequence q ON q.seqrelid = k.seq
        JOIN pg_class s ON s.oid = k.seq
        JOIN pg_class t ON t.oid = k.relid
        WHERE k.callee = 'snowflake.nextval' AND NOT snowflake._makes_ids(q.seqincrement, q.seqmax)
          AND snowflake._is_taken_along(s.relowner, t.relowner)
        ORDER BY k.seq
$function$;

-- It ignored MAXVALUE and the type of a sequence, and up to version 2.4 left both as they were. A sequence that has no
-- room for an ID makes none with this version.
DO $update$
DECLARE
    repaired text[];
    narrow record;
BEGIN
    FOR narrow IN
        SELECT u.seq, u.maximum FROM snowflake._used_sequences() u
            WHERE u.maximum < snowflake.from_timestamp(clock_timestamp() + interval '1 day')
    LOOP
        EXECUTE format('ALTER SEQUENCE %s AS bigint NO MAXVALUE', narrow.seq);
        repaired := repaired || format('%s: MAXVALUE %s', narrow.seq, narrow.maximum);
    END LOOP;
    IF repaired IS NOT NULL THEN
        PERFORM snowflake._report('sequences had no room for snowflake IDs, and are bigint without MAXVALUE now',
                                  array_to_string(repaired, E'\n'), 'What else is to be done, tells: SELECT * FROM snowflake.check();');
    END IF;
END
$update$;

-- What users have to look at themselves.
DO $update$
DECLARE
    found text[];
BEGIN
    found := ARRAY(
        SELECT format('ALTER SEQUENCE %s INCREMENT BY 1;', u.seq) FROM snowflake._used_sequences() u
            WHERE u.increment NOT BETWEEN 1 AND 4096);
    IF found <> '{}' THEN
        PERFORM snowflake._report('sequences have an INCREMENT with which they make no snowflake IDs',
                                  'The earlier version ignored that. INCREMENT is how many counters an ID takes, 1 to 4096.',
                                  array_to_string(found, E'\n'));
    END IF;

    found := ARRAY(
        SELECT format('SELECT snowflake.convert_sequence_to_snowflake(%L);', u.seq) FROM snowflake._used_sequences() u
            WHERE u.increment = 1);
    IF found <> '{}' THEN
        PERFORM snowflake._report('sequences of snowflake IDs have no guard',
                                  'The server''s own nextval takes numbers from them.', array_to_string(found, E'\n'));
    END IF;

    found := ARRAY(
        SELECT DISTINCT CASE WHEN r.oid IS NULL THEN pg_describe_object(d.classid, d.objid, 0)
                             ELSE pg_describe_object('pg_class'::regclass, r.ev_class, 0) END
            FROM pg_depend d
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
            WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'snowflake.format(bigint)'::regprocedure
        UNION
        SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0)
            FROM pg_proc p
            WHERE p.prosqlbody IS NULL AND p.prosrc ~* '\msnowflake"?\s*\.\s*"?format\M'
              AND p.pronamespace <> 'snowflake'::regnamespace
        ORDER BY 1);
    IF found <> '{}' THEN
        PERFORM snowflake._report('the node is under the key "node" in what snowflake.format() returns, no longer under "id"',
                                  array_to_string(found, E'\n'), 'Look at each of these: it may read the key "id".');
    END IF;
END
$update$;

DROP FUNCTION snowflake._library_installed_at(), snowflake._run_outside_script(text), snowflake._report(text, text, text),
              snowflake._members(), snowflake._kept_functions(), snowflake._grants_before(), snowflake._used_sequences();
