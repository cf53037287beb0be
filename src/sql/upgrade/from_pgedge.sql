-- From pgEdge's extension of the same name: what has to be done before the parts of the script make the rest.
-- The Makefile puts this file behind from_pgedge_begin.sql and lock.sql, and from_pgedge_end.sql behind all other parts.
--
-- Six functions and the sequence are replaced in their place, and keep their OIDs: column defaults, views, policies,
-- checks and routines that use them live on as they are. All other functions of the extension are dropped.

-- Functions for this script alone. from_pgedge_end.sql drops them.

-- Returns when the file of the library was installed.
CREATE FUNCTION snowflake._library_installed_at()
    RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_library_installed_at'
    LANGUAGE C VOLATILE STRICT;

-- Runs a command as if it stood in no script of an extension.
CREATE FUNCTION snowflake._run_outside_script(command text)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_run_outside_script'
    LANGUAGE C VOLATILE STRICT;

-- The script of an extension runs without notices unless somebody sets this.
CREATE FUNCTION snowflake._report(message text, detail text, hint text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET client_min_messages = notice
    AS $function$
BEGIN
    RAISE NOTICE '%', message
        USING DETAIL = detail, HINT = hint;
END
$function$;

-- The members of the extension, without the functions that the script has made before it drops any: from_pgedge_begin.sql has left
-- no other whose name begins with an underscore.
CREATE FUNCTION snowflake._members(OUT class regclass, OUT object oid)
    RETURNS SETOF record
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT d.classid, d.objid
        FROM pg_depend d
        JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'snowflake'
        LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
          AND (starts_with(p.proname, '_') AND p.pronamespace = 'snowflake'::regnamespace) IS NOT TRUE
$function$;

-- The functions that are replaced. All but the last call the library.
CREATE FUNCTION snowflake._kept_functions(OUT callee regprocedure, OUT result regtype, OUT symbol text, OUT signature text)
    RETURNS SETOF record
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $function$
    SELECT to_regprocedure(f.signature), f.result, f.symbol, f.signature
        FROM (VALUES ('snowflake.nextval(regclass)', 'bigint'::regtype, 'snowflake_nextval'),
                     ('snowflake.currval(regclass)', 'bigint', 'snowflake_currval'),
                     ('snowflake.get_epoch(bigint)', 'numeric', 'snowflake_get_epoch'),
                     ('snowflake.get_count(bigint)', 'integer', 'snowflake_get_count'),
                     ('snowflake.get_node(bigint)', 'integer', 'snowflake_get_node'),
                     ('snowflake.format(bigint)', 'jsonb', NULL)) f(signature, result, symbol)
$function$;

-- A session that is older than the library may have loaded the one before, which makes IDs of the same sequences by
-- another rule. Nobody can see from outside what it has loaded. A second is added because file systems keep time
-- less exactly than the server.
DO $update$
DECLARE
    installed constant timestamptz := snowflake._library_installed_at() + interval '1 second';
    sessions constant text := (
        SELECT string_agg(a.pid::text, ', ' ORDER BY a.pid) FROM pg_stat_activity a
            WHERE a.datid = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND a.pid <> pg_backend_pid() AND a.backend_start < installed
              AND a.backend_type NOT IN ('autovacuum worker', 'walsender'));
BEGIN
    IF sessions IS NOT NULL THEN
        RAISE EXCEPTION 'sessions that are older than the library of the extension are connected to this database'
            USING ERRCODE = 'object_in_use',
                  DETAIL = format('Processes %s may still make IDs with the library of the earlier version.', sessions),
                  HINT = format('Restart the server, or: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (%s);',
                                sessions);
    END IF;
END
$update$;

-- The extension must be the one that is meant, and have no object that is not its own.
DO $update$
DECLARE
    lacking text;
    foreign_members text;
    drops text;
BEGIN
    SELECT string_agg(f.signature, ', ') INTO lacking
        FROM (SELECT k.signature FROM snowflake._kept_functions() k
                  WHERE k.symbol IS NOT NULL AND NOT EXISTS (
                      SELECT FROM snowflake._members() m
                          JOIN pg_proc p ON m.class = 'pg_proc'::regclass AND p.oid = m.object
                          JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
                          WHERE p.oid = k.callee AND p.prosrc = k.symbol)
              UNION ALL
              SELECT 'snowflake.id_seq'
                  WHERE NOT EXISTS (
                      SELECT FROM snowflake._members() m
                          JOIN pg_class c ON m.class = 'pg_class'::regclass AND c.oid = m.object AND c.relkind = 'S'
                          WHERE c.oid = to_regclass('snowflake.id_seq'))) f;
    IF lacking IS NOT NULL THEN
        RAISE EXCEPTION 'extension "snowflake" is not the one that this script updates'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('It lacks %s.', lacking);
    END IF;

    SELECT string_agg(pg_describe_object(m.class, m.object, 0), ', '),
           string_agg(format('ALTER EXTENSION snowflake DROP %s %s;', o.type, o.identity), ' ')
        INTO foreign_members, drops
        FROM snowflake._members() m, pg_identify_object(m.class, m.object, 0) o
        WHERE m.class <> 'pg_proc'::regclass AND (m.class, m.object) IS DISTINCT FROM ('pg_class'::regclass, 'snowflake.id_seq'::regclass)
           OR m.class = 'pg_proc'::regclass AND (SELECT pronamespace FROM pg_proc WHERE oid = m.object) <> 'snowflake'::regnamespace;
    IF foreign_members IS NOT NULL THEN
        RAISE EXCEPTION 'objects that are not its own were added to extension "snowflake"'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = foreign_members,
                  HINT = drops;
    END IF;
END
$update$;

-- The update locks snowflake.id_seq and the sequences that former identity columns have left behind before it changes
-- anything, all or none. Locked one after the other, they would make a deadlock with a transaction that has taken IDs from
-- several of them.
SELECT snowflake._lock_all(
    ARRAY(SELECT 'snowflake.id_seq'::regclass::oid
          UNION
          SELECT d.objid
              FROM pg_depend d
              JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
              JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND a.attidentity = ''
              WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'),
    current_setting('lock_timeout')::interval);

-- The update drops every function that it does not replace. It clears the names of arguments of the others, because
-- CREATE OR REPLACE FUNCTION refuses to change them.
DO $update$
DECLARE
    member record;
    dependents text;
    unexpected text[];
BEGIN
    FOR member IN
        SELECT p.oid::regprocedure::text AS identity, o.type,
               p.proname IN ('convert_column_to_int8', 'convert_sequence_to_snowflake') AS is_known
            FROM snowflake._members() m
            JOIN pg_proc p ON m.class = 'pg_proc'::regclass AND p.oid = m.object,
                 pg_identify_object(m.class, m.object, 0) o
            WHERE NOT EXISTS (SELECT FROM snowflake._kept_functions() k WHERE k.callee = p.oid AND k.result = p.prorettype)
    LOOP
        BEGIN
            EXECUTE format('DROP ROUTINE %s', member.identity);
        EXCEPTION WHEN dependent_objects_still_exist THEN
            GET STACKED DIAGNOSTICS dependents = PG_EXCEPTION_DETAIL;
            RAISE EXCEPTION 'objects depend on %, which the extension does not have any more', member.identity
                USING ERRCODE = 'dependent_objects_still_exist',
                      DETAIL = dependents,
                      HINT = 'Drop them, or let them do without it.';
        END;
        IF NOT member.is_known THEN
            unexpected := unexpected || format('%s %s', member.type, member.identity);
        END IF;
    END LOOP;
    IF unexpected IS NOT NULL THEN
        PERFORM snowflake._report('functions of the earlier version are dropped', array_to_string(unexpected, E'\n'),
                                  'Look in routines and applications for what calls them.');
    END IF;
    UPDATE pg_proc p SET proargnames = NULL
        FROM snowflake._members() m
        WHERE m.class = 'pg_proc'::regclass AND m.object = p.oid AND p.proargnames IS NOT NULL;
END
$update$;

-- The rights on what is replaced. They are taken away, so that the rights that the script grants are the initial ones
-- as in a new database, and what users have granted or revoked is done again at the end: dumps contain the difference.
-- The owner grants all of them again. The earlier version lets PUBLIC use all of these: where PUBLIC may not,
-- somebody has revoked it.
DO $update$
DECLARE
    commands text[] := '{}';
    target record;
    holder record;
BEGIN
    CREATE FUNCTION snowflake._rights_before() RETURNS text[] LANGUAGE sql AS 'SELECT ''{}''::pg_catalog.text[]';
    -- Those on columns too: REVOKE on the sequence would take them away with the others. Outside of the script, because the
    -- server would note those that are left after each REVOKE as initial ones.
    FOR holder IN
        SELECT format('%s (%I) ON TABLE snowflake.id_seq', x.privilege_type, a.attname) AS privilege, x.is_grantable,
               CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END AS name
            FROM pg_attribute a, aclexplode(a.attacl) x
            WHERE a.attrelid = 'snowflake.id_seq'::regclass
    LOOP
        commands := commands || format('GRANT %s TO %s%s', holder.privilege, holder.name,
                                       CASE WHEN holder.is_grantable THEN ' WITH GRANT OPTION' END);
        PERFORM snowflake._run_outside_script(format('REVOKE %s FROM %s CASCADE', holder.privilege, holder.name));
    END LOOP;
    FOR target IN
        SELECT 'SCHEMA' AS type, 'snowflake' AS identity, n.nspacl AS acl, n.nspowner AS owner, NULL::oid AS function
            FROM pg_namespace n WHERE n.nspname = 'snowflake'
        UNION ALL
        SELECT 'SEQUENCE', 'snowflake.id_seq', s.relacl, s.relowner, NULL
            FROM pg_class s WHERE s.oid = 'snowflake.id_seq'::regclass
        UNION ALL
        SELECT 'FUNCTION', k.callee::text, coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner, p.oid
            FROM snowflake._kept_functions() k JOIN pg_proc p ON p.oid = k.callee
    LOOP
        IF NOT EXISTS (SELECT FROM aclexplode(target.acl) x WHERE x.grantee = 0 AND x.privilege_type IN ('USAGE', 'EXECUTE')) THEN
            commands := commands || format('REVOKE ALL ON %s %s FROM PUBLIC', target.type, target.identity);
        END IF;
        FOR holder IN
            SELECT x.grantee, x.is_grantable, string_agg(x.privilege_type, ', ') AS privileges,
                   CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END AS name
                FROM aclexplode(target.acl) x
                GROUP BY x.grantee, x.is_grantable
        LOOP
            -- PUBLIC has the right to a new function from the server.
            IF holder.grantee <> target.owner AND NOT (holder.grantee = 0 AND target.function IS NOT NULL) THEN
                commands := commands || format('GRANT %s ON %s %s TO %s%s', holder.privileges, target.type, target.identity,
                                               holder.name, CASE WHEN holder.is_grantable THEN ' WITH GRANT OPTION' END);
            END IF;
            IF holder.grantee <> target.owner OR target.function IS NOT NULL THEN
                EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', target.type, target.identity, holder.name);
            END IF;
        END LOOP;
        -- No command of the server makes the rights on a function those that a new one has.
        UPDATE pg_proc SET proacl = NULL WHERE oid = target.function;
        DELETE FROM pg_init_privs WHERE classoid = 'pg_proc'::regclass AND objoid = target.function;
    END LOOP;
    EXECUTE format('CREATE OR REPLACE FUNCTION snowflake._rights_before() RETURNS text[] LANGUAGE sql AS %L',
                   format('SELECT %L::pg_catalog.text[]', commands));
END
$update$;
