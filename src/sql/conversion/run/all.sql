-- All sequences at once: one joint plan, in which each table is altered once.

-- A default that calls snowflake_compat.nextval does not depend on the sequence that it names.
CREATE FUNCTION snowflake._sequences_named(OUT attrdef oid, OUT seq oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT d.objid, c.oid
            FROM pg_depend d
            CROSS JOIN LATERAL snowflake._sequence_uses(d.classid, d.objid) used
            JOIN pg_class c ON c.relkind = 'S' AND c.relname = used.name[cardinality(used.name)]
            JOIN pg_namespace n ON n.oid = c.relnamespace
                               AND n.nspname = coalesce(used.name[cardinality(used.name) - 1], n.nspname)
            WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'snowflake_compat.nextval(text)'::regprocedure
              AND d.classid = 'pg_attrdef'::regclass AND used.callee = 'snowflake_compat.nextval';
END
$function$;
COMMENT ON FUNCTION snowflake._sequences_named() IS
    'finds the defaults that call snowflake_compat.nextval with a name, and the sequences that they may mean';

-- Those of columns that call nextval on them, or of whose identity they are. The extension's own is none of them.
CREATE FUNCTION snowflake._sequences_in_use(schema oid) -- NULL: any
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
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
                                    AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i')
                   OR c.oid IN (SELECT named.seq FROM snowflake._sequences_named() named))
            ORDER BY c.oid::regclass::text COLLATE "C");
END
$function$;
COMMENT ON FUNCTION snowflake._sequences_in_use(oid) IS
    'finds the sequences of a schema, or of all, that columns use';

-- A default that takes numbers of two sequences would have to change twice in one plan.
CREATE FUNCTION snowflake._joint_obstacles(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('default of column %I of table %s uses sequence %s as well: convert them one by one', c.attname, c.relid,
                               d.refobjid::regclass)
            FROM unnest(part.columns) c
            JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = c.attrdef
                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> part.seq
            JOIN pg_sequence q ON q.seqrelid = d.refobjid
            WHERE c.new_default IS NOT NULL AND NOT c.is_strangers;
END
$function$;
COMMENT ON FUNCTION snowflake._joint_obstacles(snowflake._conversion_part) IS
    'lists what keeps a sequence from being converted together with others';

CREATE TYPE snowflake._conversion_prospect AS (seq regclass, obstacle text); -- NULL: none
COMMENT ON TYPE snowflake._conversion_prospect IS
    'a sequence that could be converted, and what stands in the way';

CREATE FUNCTION snowflake._prospect(seq regclass)
    RETURNS snowflake._conversion_prospect
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    owner constant oid := (SELECT relowner FROM pg_class WHERE oid = seq);
    part snowflake._conversion_part;
BEGIN
    IF NOT pg_has_role(owner, 'USAGE') THEN
        RETURN (seq, format('it is owned by %I', pg_get_userbyid(owner)))::snowflake._conversion_prospect;
    END IF;
    part := snowflake._conversion_part(seq, 'refuse', false, false);
    RETURN (seq, nullif(array_to_string(
                            snowflake._obstacles(part) || ARRAY(SELECT o FROM snowflake._joint_obstacles(part) o), E'\n'), '')
           )::snowflake._conversion_prospect;
END
$function$;
COMMENT ON FUNCTION snowflake._prospect(regclass) IS
    'tells what keeps a sequence from being converted together with others';

-- What fails only when it runs, and fails the whole, is a fault of one of the sequences. An error ends each rehearsal,
-- and gives its locks back: no session waits for them while another sequence waits for locks of that session.
CREATE FUNCTION snowflake._rehearsed_prospect(seq regclass, caller_search_path text)
    RETURNS snowflake._conversion_prospect
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    request constant snowflake._conversion_request := (ARRAY[seq], true, 'refuse', false, NULL);
    state snowflake._conversion_state;
    is_running boolean := false;
    is_possible boolean := false;
    obstacle text;
BEGIN
    state := snowflake._state_under_locks(request, current_setting('lock_timeout')::interval);
    PERFORM snowflake._require_room(state.parts[1]);
    state.run_path := snowflake._run_path(caller_search_path);
    state.emptied := snowflake._tables_to_empty(state.parts[1].columns);
    is_running := true;
    PERFORM snowflake._rehearse(state);
    is_possible := true;
    RAISE raise_exception;
EXCEPTION WHEN feature_not_supported OR object_not_in_prerequisite_state OR plpgsql_error THEN
    IF is_possible THEN
        RETURN (seq, NULL)::snowflake._conversion_prospect;
    ELSIF snowflake._is_of_the_system(SQLSTATE, is_running) THEN
        RAISE;
    END IF;
    GET STACKED DIAGNOSTICS obstacle = PG_EXCEPTION_DETAIL;
    RETURN (seq, coalesce(nullif(obstacle, ''), SQLERRM))::snowflake._conversion_prospect;
END
$function$;
COMMENT ON FUNCTION snowflake._rehearsed_prospect(regclass, text) IS
    'tells what fails when a sequence is converted alone';

CREATE FUNCTION snowflake._convert_those_possible(
        INOUT prospects snowflake._conversion_prospect[], caller_search_path text,
        OUT state snowflake._conversion_state) -- NULL: none was converted
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    seqs constant regclass[] := ARRAY(SELECT p.seq FROM unnest(prospects) p WHERE p.obstacle IS NULL AND p.seq IS NOT NULL);
    outcome record;
BEGIN
    IF seqs <> '{}' THEN
        state := snowflake._conversion_run((seqs, true, 'refuse', false, NULL)::snowflake._conversion_request, caller_search_path);
    END IF;
EXCEPTION WHEN feature_not_supported OR object_not_in_prerequisite_state OR plpgsql_error THEN
    IF snowflake._is_of_the_system(SQLSTATE, false) THEN
        RAISE; -- An event trigger refuses the rehearsal as well.
    END IF;
    prospects := ARRAY(SELECT CASE WHEN p.obstacle IS NULL THEN snowflake._rehearsed_prospect(p.seq, caller_search_path) ELSE p END
                           FROM unnest(prospects) p);
    IF seqs = ARRAY(SELECT p.seq FROM unnest(prospects) p WHERE p.obstacle IS NULL) THEN
        RAISE; -- Each of them can be converted alone.
    END IF;
    SELECT * INTO outcome FROM snowflake._convert_those_possible(prospects, caller_search_path);
    prospects := outcome.prospects;
    state := outcome.state;
END
$function$;
COMMENT ON FUNCTION snowflake._convert_those_possible(snowflake._conversion_prospect[], text) IS
    'converts the sequences of prospects that nothing stands in the way of, and returns what became of all';

CREATE FUNCTION snowflake._convert_all(
        schema regnamespace, caller_search_path text,
        OUT sequence regclass, OUT columns integer, OUT in_the_way text)
    RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off
    SET jit = off
    AS $function$
DECLARE
    outcome record;
    state snowflake._conversion_state;
BEGIN
    SELECT * INTO outcome FROM snowflake._convert_those_possible(
        ARRAY(SELECT snowflake._prospect(s) FROM unnest(snowflake._sequences_in_use(schema)) s), caller_search_path);
    state := outcome.state;
    IF state.always THEN
        RAISE NOTICE 'GENERATED ALWAYS is no longer enforced: the columns have defaults now';
    END IF;
    -- An identity's sequence is another one of the same name by now.
    RETURN QUERY
        SELECT p.name::regclass,
               (SELECT count(*)::integer FROM unnest(p.columns) c
                    WHERE c.new_default IS NOT NULL AND NOT c.is_strangers OR c.widened), NULL::text
            FROM unnest(state.parts) p
        UNION ALL
        SELECT p.seq, NULL, p.obstacle FROM unnest(outcome.prospects::snowflake._conversion_prospect[]) p WHERE p.obstacle IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION snowflake._convert_all(regnamespace, text) IS
    'does what convert_all() does, for a caller with a search_path';

CREATE FUNCTION snowflake.convert_all(
        schema regnamespace DEFAULT NULL, -- NULL: all
        OUT sequence regclass,
        OUT columns integer,    -- how many columns were altered for it; NULL: it was not converted
        OUT in_the_way text)    -- what cannot be taken along, a line each; NULL: nothing
    RETURNS SETOF record
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    AS $function$
    SELECT * FROM snowflake._convert_all(schema, pg_catalog.current_setting('search_path'))
$function$;
COMMENT ON FUNCTION snowflake.convert_all(regnamespace) IS
    'converts all sequences that columns use, of a schema or of all schemas, together; returns what became of each';
