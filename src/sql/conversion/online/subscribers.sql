-- Subscribers of tables that get shadow columns. A subscriber stops at the first row with a column that it lacks, or with a
-- number that its column does not hold. This server cannot see what its subscribers have. So the plan tells what to run on
-- them, and when; and the commands that begin and end a conversion fail until the caller has said that it is done.

-- Finds what sends the rows of tables with shadows to subscribers.
CREATE FUNCTION snowflake._senders_of(
        shadows snowflake._shadow[],
        OUT relid regclass,
        OUT sender text,                -- as subscribers know it
        OUT change_of_type text,        -- lets values through whose type differs from that of the subscriber's column
        OUT sends_new_columns boolean,  -- and not only those of a list
        OUT finds_by_all_columns boolean) -- where the subscriber has no key, also by those that this server lacks
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 1
    AS $function$
DECLARE
    tables constant regclass[] := ARRAY(SELECT DISTINCT s.relid FROM unnest(shadows) s);
BEGIN
    RETURN QUERY
        SELECT c.oid::regclass, format('publication %I', p.pubname), 'ALTER SUBSCRIPTION ... SET (binary = false), if it is binary',
               NOT EXISTS (SELECT FROM pg_publication_rel r
                               WHERE r.prpubid = p.oid AND r.prattrs IS NOT NULL
                                 AND (r.prrelid = c.oid OR r.prrelid IN (SELECT pg_partition_ancestors(c.oid)))),
               c.relreplident = 'f' AND (p.pubupdate OR p.pubdelete)
            FROM pg_class c
            JOIN pg_publication p ON p.oid IN (SELECT snowflake._publications_of(c.oid))
            WHERE c.oid = ANY (tables);
    RETURN QUERY
        SELECT tab, 'pglogical', 'UPDATE pglogical.subscription SET sub_force_text_transfer = true', s.sends_new_columns, false
            FROM unnest(tables) tab
            CROSS JOIN LATERAL snowflake._replicated_by('pglogical', tab) s
            WHERE s.is_sent;
END
$function$;

-- Tells whether a table that this server sends can receive rows, too. pglogical does not always know which tables it receives.
CREATE FUNCTION snowflake._receives(tab regclass)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    subscriptions constant regclass := snowflake._table_of('pglogical', 'subscription');
    by_pglogical boolean := (SELECT r.is_sent FROM snowflake._replicated_by('pglogical', tab) r);
BEGIN
    IF by_pglogical AND snowflake._may_be_read(subscriptions) THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', subscriptions) INTO by_pglogical;
    END IF;
    RETURN by_pglogical OR EXISTS (SELECT FROM pg_subscription_rel r WHERE r.srrelid = tab);
END
$function$;

-- Returns what has to happen on other servers before and after a conversion.
CREATE FUNCTION snowflake._steps_of_subscribers(
        shadows snowflake._shadow[],
        OUT is_before boolean, OUT step text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH sent AS MATERIALIZED (
            SELECT * FROM snowflake._senders_of(shadows)
        ), altered AS (
            -- A column is added to a table with its partitions.
            SELECT x.sender, coalesce(pg_partition_root(x.relid), x.relid) AS relid, s.attname, s.shadow_name,
                   min(s.attnum) AS attnum, bool_or(x.sends_new_columns) AS is_added
                FROM sent x JOIN unnest(shadows) s ON s.relid = x.relid
                GROUP BY 1, 2, 3, 4
        )
        SELECT true, format('before the first command, on each subscriber of %s, with the subscription disabled: %s', w.sender, w.text)
            FROM (
                SELECT DISTINCT x.sender, 1, NULL::regclass, x.change_of_type FROM sent x
                UNION ALL
                SELECT a.sender, 2, a.relid,
                       format('ALTER TABLE %s %s%s', a.relid,
                              string_agg(format('ALTER COLUMN %I TYPE bigint', a.attname), ', ' ORDER BY a.attnum),
                              string_agg(format(', ADD COLUMN IF NOT EXISTS %I bigint', a.shadow_name), '' ORDER BY a.attnum)
                                  FILTER (WHERE a.is_added))
                    FROM altered a GROUP BY a.sender, a.relid
                UNION ALL
                SELECT x.sender, 3, x.relid, format('ALTER TABLE %s ADD PRIMARY KEY (...), unless there is one', x.relid)
                    FROM sent x WHERE x.finds_by_all_columns AND x.sends_new_columns
            ) w(sender, turn, relid, text)
            ORDER BY w.sender COLLATE "C", w.turn, w.relid::oid;
    RETURN QUERY
        SELECT DISTINCT true, format('before the first command, on the servers from which table %s receives rows: let no client write to it '
                                     'until the last command has run, since each row is updated here, and sent', x.relid)
            FROM snowflake._senders_of(shadows) x
            WHERE snowflake._receives(x.relid);
    RETURN QUERY
        SELECT false, format('after the last command, on each subscriber of %s that has received everything: ALTER TABLE %s %s', x.sender,
                             coalesce(pg_partition_root(x.relid), x.relid)::regclass,
                             string_agg(DISTINCT format('DROP COLUMN IF EXISTS %I', s.shadow_name), ', '))
            FROM snowflake._senders_of(shadows) x
            JOIN unnest(shadows) s ON s.relid = x.relid
            WHERE x.sends_new_columns
            GROUP BY x.sender, coalesce(pg_partition_root(x.relid), x.relid)
            ORDER BY x.sender COLLATE "C", coalesce(pg_partition_root(x.relid), x.relid)::oid;
END
$function$;

-- Lists what the caller has not said to have done for subscribers.
CREATE FUNCTION snowflake._obstacles_of_subscribers(part snowflake._conversion_part)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT s.step || '; then waive => ''subscribers'''
            FROM snowflake._steps_of_subscribers(snowflake._shadows(part.columns)) s
            WHERE s.is_before;
END
$function$;

-- Returns the remarks of the plan on subscribers.
CREATE FUNCTION snowflake._remarks_on_subscribers(work snowflake._shadowing, is_before boolean)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT remark.*
            FROM snowflake._steps_of_subscribers(work.shadows) WITH ORDINALITY s(is_before, step, n)
            CROSS JOIN LATERAL snowflake._remark(s.step) remark
            WHERE s.is_before = _remarks_on_subscribers.is_before
            ORDER BY s.n;
END
$function$;
