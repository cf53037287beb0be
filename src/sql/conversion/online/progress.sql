-- How far conversions without a long lock have come, and what is left: in bytes of the tables that are filled, with all of
-- their indexes, and of the indexes that get twins. The catalog says what is done, and the activity of the session that fills
-- a table how many of its pages; when that began, pg_stat_activity knows.

-- Returns how many bytes a relation has, or had when the server counted them last: waits for no lock.
CREATE FUNCTION snowflake._glimpse_size(relation oid)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_glimpse_size'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- A table that is filled, or an index that gets a twin.
CREATE TYPE snowflake._online_work AS (relid regclass, index oid, bytes bigint, is_done boolean);

-- Returns the work of a conversion without a long lock, that which is done included.
CREATE FUNCTION snowflake._online_work(shadows snowflake._shadow[], indexes snowflake._twin[])
    RETURNS SETOF snowflake._online_work
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT s.relid, NULL::oid,
               snowflake._glimpse_size(s.relid)
               + (SELECT coalesce(sum(snowflake._glimpse_size(i.indexrelid)), 0)::bigint FROM pg_index i WHERE i.indrelid = s.relid),
               bool_and(s.is_filled)
            FROM unnest(shadows) s GROUP BY s.relid
        UNION ALL
        SELECT t.relid, t.original, snowflake._glimpse_size(t.original), t.is_ready FROM unnest(indexes) t;
END
$function$;

-- Estimates the time, WAL and disk that the rest of a conversion without a long lock takes, from what was measured (see
-- docs/converting-online.md); NULL: that is not worth mentioning.
CREATE FUNCTION snowflake._online_estimate(part snowflake._conversion_part)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    work constant snowflake._shadowing := snowflake._shadowing(part);
    bytes_a_second constant bigint := 10 * 1024 * 1024;
    wal constant numeric := 6;
    disk constant numeric := 1.4;
    bytes constant bigint := (
        SELECT sum(w.bytes) FROM snowflake._online_work(work.shadows, work.indexes) w WHERE NOT w.is_done AND w.index IS NULL);
    -- A materialized view takes the time of its query, and its size again.
    views constant bigint := (SELECT sum(pg_total_relation_size(t.original)) FROM unnest(work.views) t WHERE NOT t.is_ready);
BEGIN
    RETURN concat(
            format('estimate: %s at %s a second, for %s of tables and indexes; ',
                   justify_interval(make_interval(secs => ceil(bytes::numeric / bytes_a_second)::double precision)),
                   pg_size_pretty(bytes_a_second), pg_size_pretty(bytes)),
            'the time of a REFRESH of materialized views (' || pg_size_pretty(nullif(views, 0)) || '); ',
            format('up to %s of WAL; at the peak %s more on disk',
                   pg_size_pretty(wal * bytes + coalesce(views, 0)), pg_size_pretty(trunc(disk * bytes + coalesce(views, 0)))))
        WHERE snowflake._is_large(bytes);
END
$function$;

-- Finds the session that works on the shadow columns of a table.
CREATE FUNCTION snowflake._worker_on(
        tab regclass,
        OUT pid integer, OUT query text, OUT query_start timestamptz,
        OUT page numeric, OUT pages numeric) -- how far it has filled the table
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT x.pid, x.query, x.query_start, filled.pages[1]::numeric, filled.pages[2]::numeric
            FROM pg_stat_activity x
            CROSS JOIN LATERAL regexp_match(x.query, ': ([0-9]{1,10}) of ([0-9]{1,10}) pages, ') filled(pages)
            WHERE x.datname = current_database() AND x.state = 'active' AND x.query LIKE 'snowflake: %'
              AND strpos(x.query || ':', format(' table %s:', tab)) > 0
              AND snowflake._may_act_for(x.usesysid, snowflake._owner(tab))
            ORDER BY x.query_start LIMIT 1;
END
$function$;

-- Returns the twins of the indexes on columns, but for those of tables of which an index cannot be printed at once: an owner may
-- have put constants into one that take a lock, or are too long.
CREATE FUNCTION snowflake._twins_at_once(shadows snowflake._shadow[])
    RETURNS snowflake._twin[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    SET lock_timeout = '10ms'
    AS $function$
DECLARE
    tab regclass;
    found snowflake._twin[] := '{}';
BEGIN
    FOR tab IN SELECT DISTINCT s.relid FROM unnest(shadows) s LOOP
        BEGIN
            found := found || ARRAY(SELECT t FROM snowflake._index_twins(ARRAY(SELECT s FROM unnest(shadows) s WHERE s.relid = tab)) t);
        EXCEPTION WHEN lock_not_available OR program_limit_exceeded THEN
            NULL;
        END;
    END LOOP;
    RETURN found;
END
$function$;

-- Lists the columns that are being widened without a long lock, and how far that has come.
CREATE FUNCTION snowflake._conversions(
        OUT sequence text, OUT table_name regclass, OUT column_name name, OUT new_column name,
        OUT is_filled boolean, OUT indexes_left bigint, OUT keys_left bigint,
        OUT percent integer,      -- of the whole conversion of the sequence
        OUT bytes_left bigint,    -- to fill and to index, of all its tables
        OUT bytes_a_second bigint, -- at which the table of the column is being filled
        OUT process integer, OUT activity text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    shadows constant snowflake._shadow[] := snowflake._shadows(ARRAY(
        SELECT snowflake._conversion_column(p.relid, p.attnum, a.attname, widened => true)
            FROM snowflake._shadow_pairs(NULL) p JOIN pg_attribute a ON a.attrelid = p.relid AND a.attnum = p.attnum
            WHERE p.trigger_name IS NOT NULL));
    indexes constant snowflake._twin[] := snowflake._twins_at_once(shadows);
BEGIN
    RETURN QUERY
        WITH pair AS MATERIALIZED (
            SELECT * FROM snowflake._shadow_pairs(NULL) WHERE trigger_name IS NOT NULL
        ), work AS MATERIALIZED (
            SELECT x.relid, x.at_first, CASE WHEN x.is_done THEN 0 ELSE x.at_first * (1 - coalesce(x.share, 0)) END AS bytes_to_do,
                   x.share, x.pid, x.query, x.query_start, x.index
                FROM (SELECT w.*, r.*, r.page / greatest(r.pages, r.page, 1) AS share,
                             -- A table grows while it is filled.
                             w.bytes * least(r.pages * current_setting('block_size')::integer / greatest(snowflake._glimpse_size(w.relid), 1), 1)
                                 AS at_first
                          FROM snowflake._online_work(shadows, indexes) w
                          LEFT JOIN LATERAL snowflake._worker_on(w.relid) r ON w.index IS NULL) x
        )
        SELECT p.sequence::text, s.relid, s.attname, s.shadow_name, s.is_filled,
               (SELECT count(*) FROM unnest(indexes) t JOIN pg_index i ON i.indexrelid = t.original
                    WHERE t.relid = s.relid AND NOT t.is_ready
                      AND (s.attnum = ANY (i.indkey::smallint[])
                           OR EXISTS (SELECT FROM pg_depend d
                                          WHERE d.classid = 'pg_class'::regclass AND d.objid = t.original
                                            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relid
                                            AND d.refobjsubid = s.attnum))),
               (SELECT count(*) FROM snowflake._key_twins(shadows) t JOIN pg_constraint k ON k.oid = t.original
                    WHERE t.relid = s.relid AND s.attnum = ANY (k.conkey) AND NOT t.is_ready),
               least(trunc(100 * (1 - whole.bytes_to_do / greatest(whole.bytes, 1))), 99)::integer, whole.bytes_to_do::bigint,
               (r.at_first * r.share / greatest(extract(epoch FROM clock_timestamp() - r.query_start), 0.001))::bigint,
               r.pid, regexp_replace(r.query, '^snowflake: ', '')
            FROM unnest(shadows) s
            JOIN pair p ON p.relid = s.relid AND p.attnum = s.attnum
            JOIN work r ON r.relid = s.relid AND r.index IS NULL
            CROSS JOIN LATERAL (
                SELECT sum(w.bytes_to_do), sum(w.at_first) FROM work w
                    WHERE w.relid IN (SELECT o.relid FROM pair o WHERE o.sequence = p.sequence)
            ) whole(bytes_to_do, bytes)
            ORDER BY s.relid::oid, s.attnum;
END
$function$;

CREATE VIEW snowflake.conversions AS SELECT * FROM snowflake._conversions();
COMMENT ON VIEW snowflake.conversions IS
    'the columns that are being widened without a long lock: how far that has come, and the session that is at it';
