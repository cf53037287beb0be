-- Findings of the installation: the node number of this instance, the objects of the extension, and shadow columns that
-- nothing keeps.

-- Finds what is wrong with the node number of this instance, and numbers that are claimed twice. An instance that has never
-- had a number needs none as long as no column gets IDs.
CREATE FUNCTION snowflake._findings_of_node(keys snowflake._key[])
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    setting integer;
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
        WHEN invalid_table_definition THEN -- _cluster() refuses likewise.
            GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT, cure = PG_EXCEPTION_HINT;
            RETURN QUERY SELECT 'error', 'table snowflake.nodes', reason,
                                CASE WHEN cure LIKE 'ALTER TABLE %' THEN snowflake._typed_by_owner_of('snowflake.nodes', rtrim(cure, ';'))
                                     ELSE '-- ' || cure END;
            RETURN;
    END;
    setting := nullif(current_setting('snowflake.node')::integer, 0);
    RETURN QUERY
        WITH numbered AS MATERIALIZED (SELECT * FROM snowflake._cluster())
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
               CASE WHEN c.is_this_instance THEN '' ELSE format('-- On %I: ', c.name) END
               || CASE WHEN c.kind = 'setting' AND NOT c.is_this_instance
                       THEN 'take snowflake.node out of the settings; then, in a new session: ' ELSE '' END
               || format(CASE WHEN c.node = c.last_node THEN 'SELECT snowflake.release_node(%s)'
                              ELSE 'SELECT snowflake.release_node(n) FROM pg_catalog.generate_series(%s, %s) n' END, c.node, c.last_node)
               || CASE WHEN c.kind = 'lease' OR c.is_this_instance THEN '' ELSE '; SELECT snowflake.claim_node()' END
            FROM numbered c
            -- The first row above names faults of the number that this instance uses.
            WHERE c.lost_to IS NOT NULL AND c.kind <> 'copy'
              AND (NOT c.is_this_instance OR c.kind = 'lease' OR c.kind = 'setting' AND c.node IS DISTINCT FROM setting)
        UNION ALL
        SELECT 'warning', 'this instance', 'it receives rows of other servers, but not their node numbers',
               '-- For each of them: CREATE SUBSCRIPTION name CONNECTION ''...'' PUBLICATION snowflake_nodes'
            WHERE snowflake._receives_no_claims()
        UNION ALL
        SELECT 'warning', 'publication snowflake_nodes', format('%I, who owns it, could publish other things than node numbers',
                                                                pg_get_userbyid(p.pubowner)),
               'DROP PUBLICATION snowflake_nodes'
            FROM pg_publication p
            WHERE p.pubname = 'snowflake_nodes'
              AND NOT pg_has_role(p.pubowner, 'pg_database_owner', 'USAGE')
        UNION ALL
        SELECT 'warning', 'this instance', format('a copy of this server, or its original, runs at %I', c.place),
               '-- On the copy: SELECT snowflake.separate_copy()'
            FROM numbered c
            WHERE c.kind = 'copy'
        UNION ALL
        SELECT 'warning', 'this instance', format('it ran at %I before: it was copied, moved or promoted', before),
               '-- If it is a copy beside its original: SELECT snowflake.separate_copy(); '
               'if it has taken the other''s place: SELECT snowflake.take_over_node()'
            FROM snowflake._moved_from() before
            WHERE before IS NOT NULL;
END
$function$;

-- Returns a digest for each function of the extension. The digest is of the whole definition but the name, owner
-- and rights; the text of the body counts, and the library. The setting keeps the names as the extension script has stored them.
CREATE FUNCTION snowflake._digests()
    RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
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

-- Returns the digests that the functions had when the extension was installed: installed.sql writes them into it.
CREATE FUNCTION snowflake._installed_digests()
    RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL;

-- Finds objects of the extension that were altered, and objects that do not belong to its schemas.
CREATE FUNCTION snowflake._findings_of_extension()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'error', 'function ' || coalesce(made.key, now.key),
               CASE WHEN made.key IS NULL THEN 'it was added to the extension by hand' ELSE 'it is not as the extension has made it' END,
               CASE WHEN made.key IS NULL THEN format('ALTER EXTENSION snowflake DROP ROUTINE %s', now.key)
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
               'others than its owner may create objects in it, and have their code run by whoever uses the extension',
               snowflake._revoke_command('CREATE ON SCHEMA snowflake', array_agg(a.grantee))
            FROM pg_namespace n, aclexplode(n.nspacl) a
            WHERE n.nspname = 'snowflake' AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
            GROUP BY n.nspname
        UNION ALL
        SELECT 'error', 'function nextval(regclass)',
               'it is not redirected in this database, and was in the one that this has been made from: it fails on converted sequences',
               CASE WHEN NOT EXISTS (SELECT FROM snowflake._redirect WHERE enabled)
                    THEN '-- If that is so, as a superuser: '
                    WHEN snowflake._is_superuser(quote_ident(current_user)::regrole) THEN '' ELSE '-- As a superuser: ' END
               || 'SELECT snowflake.redirect_nextval()'
            WHERE snowflake._is_redirect_wanted() AND NOT snowflake.redirects_nextval()
        UNION ALL
        SELECT 'error', format('function %s', f.oid::regprocedure),
               'not everybody may execute it, and so it does not stand for the server''s own: that fails on converted sequences',
               snowflake._typed_by(f.proowner, format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', f.oid::regprocedure))
            FROM pg_proc f
            WHERE snowflake.redirects_nextval() AND NOT has_function_privilege('public', f.oid, 'EXECUTE')
              AND f.oid IN ('snowflake._nextval(regclass)'::regprocedure, 'snowflake._currval(regclass)'::regprocedure,
                            'snowflake._lastval()'::regprocedure)
        UNION ALL
        -- Moved to where others look names up, it could take the place of what they mean.
        SELECT 'error', pg_describe_object(o.classid, o.objid, 0), 'it stands in a schema of the extension, and does not belong there',
               '-- Drop it, or let its owner move it to a schema of his own'
            FROM pg_depend o
            JOIN pg_namespace n ON o.refclassid = 'pg_namespace'::regclass AND n.oid = o.refobjid
                               AND n.nspname = 'snowflake'
            LEFT JOIN pg_extension x ON o.classid = 'pg_extension'::regclass AND x.oid = o.objid
            WHERE x.extname IS DISTINCT FROM 'snowflake'
              AND NOT EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
                                  WHERE d.classid = o.classid AND d.objid = o.objid AND d.refclassid = 'pg_extension'::regclass
                                    AND d.deptype = 'e'
                                    -- Of another extension the bootstrap superuser, whose OID is 10, owns what nobody else has written.
                                    AND (e.extname = 'snowflake' OR coalesce(snowflake._owner_of(o.classid, o.objid), 10) = 10));
END
$function$;

-- Finds triggers, columns and checks that are parts of no conversion, or of one that has lost another part. What
-- only looks like a conversion without a long lock, or is one that has lost a part. Nothing acts on it.
CREATE FUNCTION snowflake._findings_of_shadows()
    RETURNS SETOF snowflake._finding
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    -- Where the sequence was renamed, its online plan takes the columns over. A partition belongs to the conversion of the whole.
    RETURN QUERY
        SELECT 'error', snowflake._column(p.relid, a.attname),
               'a check compares it with another column, and no trigger that the owner of the table has enabled always keeps it '
               'for a sequence: new rows may be refused',
               coalesce((SELECT format('-- Run what is left of the plan: SELECT command FROM snowflake.conversion_plan(%L, online => true)',
                                       w.sequence)
                             FROM snowflake._shadow_pairs(ARRAY[snowflake._whole(p.relid)::oid]) w WHERE w.sequence IS NOT NULL LIMIT 1),
                        snowflake._typed_by_holder(snowflake._owner(p.relid), format('SELECT snowflake.cancel_conversion(%L)', p.relid)))
            FROM snowflake._shadow_pairs(NULL) p JOIN pg_attribute a ON a.attrelid = p.relid AND a.attnum = p.shadow
            WHERE p.trigger_name IS NULL
        UNION ALL
        SELECT 'warning', format('trigger %I of table %s', t.tgname, t.tgrelid::regclass),
               'it belongs to no conversion that the owner of the table has begun',
               snowflake._typed_by_holder(snowflake._owner(t.tgrelid), format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass))
            FROM pg_depend d
            JOIN pg_trigger t ON t.oid = d.objid
            JOIN pg_class c ON c.oid = t.tgrelid AND c.relpersistence <> 't'
            WHERE d.classid = 'pg_trigger'::regclass AND t.tgparentid = 0
              AND d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'snowflake._keep_shadow()'::regprocedure
              AND NOT EXISTS (SELECT FROM snowflake._shadow_pairs(ARRAY[t.tgrelid]) p
                                  WHERE coalesce(p.trigger_name = t.tgname,
                                                 t.tgname IN (SELECT snowflake._triggers_on_shadow(p.relid, p.shadow))));
END
$function$;
