-- Refusals: errors that name all that is in the way, and nothing of the functions that looked for it.

-- Raises an error without the CONTEXT of the functions that were running.
CREATE FUNCTION snowflake._raise(
        sqlstate text, message text,
        detail text DEFAULT NULL, hint text DEFAULT NULL) -- NULL: none
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_raise'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Raises an error (0A000) that lists the obstacles, if there are any.
CREATE FUNCTION snowflake._require_none(obstacles text[], message text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    IF obstacles <> '{}' THEN
        PERFORM snowflake._raise('0A000', message, array_to_string(obstacles, E'\n'));
    END IF;
END
$function$;

-- Describes the sessions that hold locks of a relation that _lock() waits for, one a line; NULL: there are none. Shows of other
-- roles' sessions what pg_stat_activity shows to the caller.
CREATE FUNCTION snowflake._holders(relation oid)
    RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
DECLARE
    is_sequence constant boolean := EXISTS (SELECT FROM pg_class c WHERE c.oid = _holders.relation AND c.relkind = 'S');
BEGIN
    RETURN (
        SELECT string_agg(
                   concat(coalesce('process ' || h.pid, 'a prepared transaction'), ' holds ', h.modes,
                          ', in a transaction of ' || round(extract(epoch FROM clock_timestamp() - a.xact_start)) || ' s',
                          CASE WHEN a.state LIKE 'idle in%' THEN ' that is idle' END,
                          ': ' || left(regexp_replace(nullif(a.query, '<insufficient privilege>'), '\s+', ' ', 'g'), 100)),
                   E'\n' ORDER BY a.xact_start, h.pid)
            FROM (SELECT l.pid, string_agg(DISTINCT l.mode, ', ') AS modes
                      FROM pg_locks l
                      WHERE l.locktype = 'relation' AND l.relation = _holders.relation AND l.granted
                        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                        AND l.pid IS DISTINCT FROM pg_backend_pid()
                        AND NOT (is_sequence AND l.mode IN ('AccessShareLock', 'RowShareLock'))
                      GROUP BY l.pid, l.virtualtransaction) h
            LEFT JOIN pg_stat_activity a ON a.pid = h.pid);
END
$function$;

-- Raises an error that names the relations which other sessions have locked against readers, and those sessions.
CREATE FUNCTION snowflake._raise_locked_out(message text)
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    AS $function$
BEGIN
    PERFORM snowflake._raise(
        '55P03', message,
        (SELECT string_agg(concat(l.relation::regclass, ': ', snowflake._holders(l.relation)), E'\n' ORDER BY l.relation)
             FROM (SELECT DISTINCT x.relation FROM pg_locks x JOIN pg_class c ON c.oid = x.relation AND c.relkind <> 'i'
                       WHERE x.locktype = 'relation' AND x.granted AND x.mode = 'AccessExclusiveLock' AND x.pid <> pg_backend_pid()
                         AND x.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) l),
        'Call the function again when these transactions have ended.');
END
$function$;
