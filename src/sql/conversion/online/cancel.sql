-- Taking back a conversion without a long lock, as long as the swap has not been made; or, for a table, the shadows that no
-- trigger keeps.

-- Returns what a cancellation works with: the conversion of a sequence, or the columns of a table whose shadows no
-- conversion keeps.
CREATE FUNCTION snowflake._part_to_cancel(relation regclass)
    RETURNS snowflake._conversion_part
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    IF (SELECT relkind IN ('r', 'p') FROM pg_class WHERE oid = relation) IS NOT TRUE THEN
        RETURN snowflake._conversion_part(relation, online => true);
    ELSIF NOT snowflake._may_become(snowflake._owner(relation)) THEN
        RAISE EXCEPTION 'must be owner of table %', relation
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN snowflake._part(relation, ARRAY(
        SELECT DISTINCT snowflake._conversion_column(a.attrelid, a.attnum, a.attname, widened => true)
            FROM snowflake._table_tree(snowflake._whole(relation)) member
            CROSS JOIN LATERAL snowflake._shadow_pairs(ARRAY[member::oid]) p
            JOIN pg_attribute kept ON kept.attrelid = p.relid AND kept.attnum = p.attnum
            JOIN pg_attribute a ON a.attrelid = snowflake._whole(relation) AND a.attname = kept.attname
            WHERE p.trigger_name IS NULL));
END
$function$;

-- Finds the shadow columns that were made for the conversion of a sequence: those of columns that the sequence fills now,
-- and those whose column it filled when they were made.
CREATE FUNCTION snowflake._shadows_to_cancel(part snowflake._conversion_part)
    RETURNS snowflake._shadow[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT s FROM unnest(snowflake._shadows(ARRAY(
            SELECT snowflake._conversion_column(a.attrelid, a.attnum, a.attname, widened => true)
                FROM (
                    SELECT p.relid::oid, p.attnum FROM snowflake._shadow_pairs(NULL) p WHERE p.sequence = part.seq
                    UNION
                    SELECT c.relid, c.attnum FROM unnest(part.columns) c
                ) x(relid, attnum)
                JOIN pg_attribute a ON a.attrelid = x.relid AND a.attnum = x.attnum
                JOIN pg_class t ON t.oid = x.relid
                WHERE snowflake._may_become(t.relowner)))) s
            WHERE s.same IS NOT NULL);
END
$function$;

-- Returns the steps that take back a conversion whose swap has not been made. The columns take along what is built on them, and foreign
-- keys of strangers. Other views, routines, policies and triggers are in the way, whoever owns them, and so is a publication that
-- lists a column, which would lose the whole table.
CREATE FUNCTION snowflake._cancel_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    shadows constant snowflake._shadow[] := snowflake._shadows_to_cancel(part);
    obstacle text;
    hint text;
BEGIN
    -- The server evaluates keys of partitions when it drops a column of the whole.
    SELECT o INTO obstacle
        FROM unnest(shadows) s
        CROSS JOIN LATERAL snowflake._owner(s.relid) role
        CROSS JOIN LATERAL snowflake._table_tree(s.relid) heir(relid)
        JOIN pg_class h ON h.oid = heir.relid
        CROSS JOIN LATERAL (
            SELECT format('table %s, which inherits from %s, is owned by %I, whose code would run as %I: give both tables to one owner',
                          heir.relid, s.relid, pg_get_userbyid(h.relowner), pg_get_userbyid(role))
                WHERE NOT snowflake._may_act_for(h.relowner, role)
            UNION ALL
            SELECT snowflake._obstacle_of_author(snowflake._link_of(x.via_class, x.via_object, 'pg_class'::regclass, heir.relid), x.author,
                                                 role, is_owned => true)
                FROM snowflake._authors_of('pg_class'::regclass, heir.relid) x
                WHERE h.relkind = 'p' AND NOT snowflake._may_act_for(x.author, role)
        ) why(o)
        ORDER BY heir.relid::oid
        LIMIT 1;
    obstacle := coalesce(obstacle, (
        SELECT format('publication %I lists column %I of table %s: take it out of the list first', b.pubname, s.shadow_name, s.relid)
            FROM unnest(shadows) s
            JOIN pg_publication_rel r ON r.prrelid = s.relid AND s.shadow = ANY (r.prattrs)
            JOIN pg_publication b ON b.oid = r.prpubid
            ORDER BY b.pubname, s.shadow_name
            LIMIT 1));
    IF obstacle IS NULL THEN
        SELECT format('%s names column %I of table %s: make it again without', snowflake._description_of(d.classid, d.objid),
                      s.shadow_name, s.relid),
               CASE WHEN is_own AND d.classid NOT IN ('pg_attrdef'::regclass, 'pg_publication_rel'::regclass)
                    THEN format('If nobody needs it: DROP %s %s;', upper(replace(object.type, ' object', '')), object.identity)
                    ELSE 'If nobody needs anything that names it: '
                         || snowflake._typed_by(snowflake._owner(s.relid), format('ALTER TABLE %s DROP COLUMN %I CASCADE;',
                                                                                  snowflake._whole(s.relid), s.shadow_name)) END
            INTO obstacle, hint
            FROM unnest(shadows) s
            JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid AND d.refobjsubid = s.shadow
                            AND d.classid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass)
            LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
            CROSS JOIN LATERAL snowflake._may_become(snowflake._owner_of(d.classid, d.objid)) is_own
            CROSS JOIN LATERAL pg_identify_object(CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END,
                                                  coalesce(r.ev_class, d.objid), 0) object
            WHERE t.tgfoid IS DISTINCT FROM 'snowflake._keep_shadow()'::regprocedure
              AND coalesce(snowflake._relation_of(d.classid, d.objid), 0) NOT IN (SELECT snowflake._views_on_shadows(shadows))
            ORDER BY is_own DESC, d.classid, d.objid
            LIMIT 1;
    END IF;
    IF obstacle IS NOT NULL THEN
        PERFORM snowflake._raise('0A000', 'cannot take back the conversion of ' || part.name, obstacle, hint);
    END IF;
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT s.relid, format('DROP TRIGGER %I ON %s', t, s.relid)
                    FROM unnest(shadows) s, snowflake._triggers_on_shadow(s.relid, s.shadow) t
                UNION ALL
                SELECT s.relid, format('ALTER TABLE %s DROP COLUMN %I CASCADE', s.relid, s.shadow_name)
                    FROM unnest(shadows) s WHERE NOT s.is_inherited
            ) x(relid, command)
            CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(x.relid)) step;
END
$function$;
