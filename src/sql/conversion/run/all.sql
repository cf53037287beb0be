-- All sequences, one after the other, each in a transaction of its own: what a conversion has locked, it holds until
-- its transaction ends, and code of one owner could keep the tables of all others locked.

-- Finds the sequences of a schema, or of all, that columns use: a column calls nextval on the sequence, or has it as
-- its identity. The extension's own sequence is none of them.
CREATE FUNCTION snowflake._sequences_in_use(schema oid) -- NULL: any
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT c.oid::regclass
            FROM pg_class c
            WHERE c.relkind = 'S' AND NOT pg_is_other_temp_schema(c.relnamespace)
              AND c.relnamespace = coalesce(schema, c.relnamespace)
              AND NOT EXISTS (SELECT FROM pg_depend e
                                  WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
              AND (EXISTS (SELECT FROM pg_depend d
                               WHERE d.classid = 'pg_attrdef'::regclass
                                 AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
                   OR EXISTS (SELECT FROM pg_depend d
                                  WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                                    AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'))
            ORDER BY c.oid::regclass::text COLLATE "C");
END
$function$;

-- Converts a sequence, and warns of what the conversion leaves as it is, unless that was told before. Warns of what stands
-- in the way of it, sessions that hold its tables among that: no owner keeps the sequences of others from being converted.
CREATE FUNCTION snowflake._convert_if_possible(
        seq regclass, wishes snowflake._conversion_wishes, caller_search_path text,
        INOUT told text[],
        OUT is_converted boolean) -- now; NULL: it was before, or is gone
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    name constant text := seq; -- An identity's sequence is another one of the same name afterwards.
    failures_before constant bigint := snowflake._event_trigger_failures();
    part snowflake._conversion_part;
    hints text[];
    subjects text[];
    hint text;
    subject text;
    altered integer;
    obstacles text;
BEGIN
    part := snowflake._conversion_part(seq, wishes);
    IF snowflake._is_converted(part) THEN
        RETURN;
    END IF;
    SELECT array_agg(h.hint), array_agg(h.subject) INTO hints, subjects FROM snowflake._conversion_hints(part) h;
    altered := snowflake._convert_to_snowflake(seq, wishes, online => false, caller_search_path => caller_search_path);
    RAISE NOTICE 'sequence % is converted, columns altered: %', name, altered;
    FOR hint, subject IN SELECT * FROM unnest(hints, subjects) LOOP
        -- A column or routine that could hold keys of many tables is told of once.
        IF subject <> ALL (told) THEN
            RAISE WARNING '%', hint;
            told := told || subject;
        END IF;
    END LOOP;
    is_converted := true;
EXCEPTION WHEN OTHERS THEN
    IF NOT EXISTS (SELECT FROM pg_class WHERE oid = seq) THEN
        RETURN; -- It was dropped meanwhile, perhaps by code of its owner that a conversion before has run.
    END IF;
    IF snowflake._event_trigger_failures() > failures_before THEN
        RAISE;
    END IF;
    GET STACKED DIAGNOSTICS obstacles = PG_EXCEPTION_DETAIL;
    RAISE WARNING 'sequence % is not converted', name
        USING DETAIL = concat_ws(E'\n', CASE WHEN obstacles = '' OR SQLSTATE = '55P03' THEN SQLERRM END, nullif(obstacles, ''));
    is_converted := false;
END
$function$;

-- A procedure that commits can have no SET clause: it uses full names, and no operator of its own.
CREATE PROCEDURE snowflake.convert_all(
        schema pg_catalog.regnamespace DEFAULT NULL, -- NULL: all
        target pg_catalog.text DEFAULT 'snowflake',  -- this and the next three: see convert_sequence_to_snowflake()
        also pg_catalog.text DEFAULT '',
        waive pg_catalog.text DEFAULT '',
        layout snowflake.layout DEFAULT NULL,
        INOUT converted pg_catalog.int4 DEFAULT 0,
        INOUT refused pg_catalog.int4 DEFAULT 0)
    LANGUAGE plpgsql
    AS $procedure$
DECLARE
    seq pg_catalog.regclass;
    wishes snowflake._conversion_wishes;
    told pg_catalog.text[] := '{}';
    is_converted pg_catalog.bool;
BEGIN
    COMMIT; -- Where that is an error, nothing has been done yet.
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED; -- An older snapshot would serve no sequence.
    wishes := snowflake._wishes(target, also => also, waive => waive, layout => layout);
    converted := 0;
    refused := 0;
    FOREACH seq IN ARRAY snowflake._sequences_in_use(schema) LOOP
        IF pg_catalog.texteq(pg_catalog.current_setting('lock_timeout'), '0') THEN
            PERFORM pg_catalog.set_config('lock_timeout', '10min', true);
        END IF;
        SELECT tried.told, tried.is_converted INTO told, is_converted
            FROM snowflake._convert_if_possible(seq, wishes, pg_catalog.current_setting('search_path'), told) tried;
        IF is_converted THEN
            converted := pg_catalog.int4pl(converted, 1);
        ELSIF NOT is_converted THEN
            refused := pg_catalog.int4pl(refused, 1);
        END IF;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    END LOOP;
    COMMIT; -- The caller goes on with his own isolation level.
END
$procedure$;
COMMENT ON PROCEDURE snowflake.convert_all(regnamespace, text, text, text, snowflake.layout, integer, integer) IS
    'converts all sequences that columns use, of a schema or of all schemas, each in a transaction of its own; '
    'reports on each, and counts them';
