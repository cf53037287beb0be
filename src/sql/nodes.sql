-- The registry of node numbers: which instance has which number, where several instances replicate to
-- each other. The rule of claims in src/claims.hpp, which the functions here ask, decides whose a number is.

-- Users replicate this table among the instances like their own tables. Only the instance that a row
-- is about writes the row, and the key contains its system identifier: two instances that claim the
-- same number make two rows, and no replication conflict. For the same reason no other column is
-- unique. A dump does not contain the rows: a database restored elsewhere must not bring claims along.
CREATE TABLE snowflake.nodes (
    node integer NOT NULL CHECK (node BETWEEN 1 AND snowflake._last_node()),
    system_identifier bigint NOT NULL,
    name text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    leased boolean NOT NULL DEFAULT false,
    version text NOT NULL,
    PRIMARY KEY (node, system_identifier)
);
GRANT SELECT ON TABLE snowflake.nodes TO PUBLIC;
COMMENT ON TABLE snowflake.nodes IS
    'node numbers that instances have claimed; to be replicated among them';
COMMENT ON COLUMN snowflake.nodes.system_identifier IS
    'whose claim it is: the system_identifier of pg_control_system()';
COMMENT ON COLUMN snowflake.nodes.name IS
    'what people call the instance';
COMMENT ON COLUMN snowflake.nodes.claimed_at IS
    'of two claims to a number the earlier is the better one; of equals that of the lower identifier';
COMMENT ON COLUMN snowflake.nodes.leased IS
    'whether sessions of the instance get the number from snowflake.lease_node; else it is its own';
COMMENT ON COLUMN snowflake.nodes.version IS
    'version of the extension when the instance last called snowflake.claim_node';

CREATE FUNCTION snowflake._nodes_changed()
    RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowflake_nodes_changed'
    LANGUAGE C;
REVOKE EXECUTE ON FUNCTION snowflake._nodes_changed() FROM PUBLIC;
COMMENT ON FUNCTION snowflake._nodes_changed() IS
    'tells all sessions to look at snowflake.nodes again';

-- The trigger fires ALWAYS, so that sessions hear of rows that arrive by replication, too. TRUNCATE
-- needs no trigger: the server itself tells all sessions of it.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON snowflake.nodes
    FOR EACH ROW EXECUTE FUNCTION snowflake._nodes_changed();
ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER changed;

CREATE FUNCTION snowflake._is_better_claim(claimed_at timestamptz, system_identifier bigint,
                                           than_claimed_at timestamptz,
                                           than_system_identifier bigint)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_is_better_claim'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake._is_better_claim(timestamptz, bigint, timestamptz, bigint) IS
    'tells whether of two claims to a node number the first is the better one';

-- Of the claims to one number, the best is the one that no other is better than. All others have lost
-- to it.
CREATE VIEW snowflake.cluster AS
    SELECT n.node, n.name, n.system_identifier, n.claimed_at, n.leased, n.version,
           n.system_identifier = c.system_identifier AS is_this_instance,
           (SELECT best.name FROM snowflake.nodes best
                WHERE best.node = n.node AND best.system_identifier <> n.system_identifier
                  AND NOT EXISTS (
                      SELECT FROM snowflake.nodes other
                          WHERE other.node = best.node
                            AND snowflake._is_better_claim(
                                    other.claimed_at, other.system_identifier,
                                    best.claimed_at, best.system_identifier))) AS lost_to
        FROM snowflake.nodes n CROSS JOIN pg_catalog.pg_control_system() c;
GRANT SELECT ON TABLE snowflake.cluster TO PUBLIC;
COMMENT ON VIEW snowflake.cluster IS
    'instances that have claimed node numbers, as this instance sees them';
COMMENT ON COLUMN snowflake.cluster.lost_to IS
    'which instance has the better claim to the number; NULL where none has';

CREATE FUNCTION snowflake._node_setting()
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_node_setting'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake._node_setting() IS
    'returns the value of the setting snowflake.node; NULL: it is not set';

CREATE FUNCTION snowflake._how_to_unset_node()
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_how_to_unset_node'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake._how_to_unset_node() IS
    'returns the part of a hint that takes the setting snowflake.node away from where it stands';

CREATE FUNCTION snowflake.node()
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.node() IS
    'returns the node number that this instance makes snowflake IDs with';

-- The functions that follow are for claim_node.

CREATE FUNCTION snowflake._claimed_node()
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_claimed_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION snowflake._claimed_node() FROM PUBLIC;
COMMENT ON FUNCTION snowflake._claimed_node() IS
    'returns the node number that this instance has claimed; NULL: none';

CREATE FUNCTION snowflake._require_claimable(node integer)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_require_claimable'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION snowflake._require_claimable(integer) FROM PUBLIC;
COMMENT ON FUNCTION snowflake._require_claimable(integer) IS
    'raises an error if another claim to the node number is better than one of this instance';

CREATE FUNCTION snowflake._how_to_claim_another()
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_how_to_claim_another'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION snowflake._how_to_claim_another() FROM PUBLIC;
COMMENT ON FUNCTION snowflake._how_to_claim_another() IS
    'returns a hint: how to get a free node number in place of one that is refused';

-- The functions from here on run with the rights of their owner. Operators and applications then need
-- the right to call them, and no other.

CREATE FUNCTION snowflake.claim_node(node integer DEFAULT NULL, name text DEFAULT NULL)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    identifier CONSTANT bigint := (SELECT system_identifier FROM pg_control_system());
    setting CONSTANT integer := snowflake._node_setting();
    mine integer;
    wanted integer;
BEGIN
    -- Without the lock two sessions might find the same number free.
    LOCK TABLE snowflake.nodes IN SHARE ROW EXCLUSIVE MODE;
    -- A transaction that has one snapshot for all its statements is refused: it would not see the claims of
    -- a session that it has waited for here.
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE EXCEPTION 'cannot claim a snowflake node in a transaction of isolation level %',
                        upper(current_setting('transaction_isolation'))
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'BEGIN ISOLATION LEVEL READ COMMITTED; SELECT snowflake.claim_node(); '
                         'COMMIT;';
    END IF;

    mine := snowflake._claimed_node();
    wanted := coalesce(claim_node.node, mine, setting,
        (SELECT min(free) FROM generate_series(1, snowflake._last_node()) free
             WHERE NOT EXISTS (SELECT FROM snowflake.nodes n WHERE n.node = free)));

    IF wanted IS NULL THEN
        RAISE EXCEPTION 'all snowflake nodes are claimed'
            USING ERRCODE = 'configuration_limit_exceeded',
                  HINT = 'As a superuser, remove from snowflake.nodes the claims of instances that '
                         'are gone for good.';
    ELSIF wanted NOT BETWEEN 1 AND snowflake._last_node() THEN
        RAISE EXCEPTION 'snowflake node % is out of range', wanted
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Nodes are 1 to %s.', snowflake._last_node()),
                  HINT = snowflake._how_to_claim_another();
    ELSIF wanted <> mine THEN
        RAISE EXCEPTION 'this instance has already claimed snowflake node %', mine
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('To give it up for the other: SELECT snowflake.release_node(); '
                                'SELECT snowflake.claim_node(%s);', wanted);
    ELSIF wanted <> setting THEN
        RAISE EXCEPTION 'cannot claim snowflake node %: snowflake.node is %', wanted, setting
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('To claim node %s, %sSELECT snowflake.claim_node(%s);', wanted,
                                snowflake._how_to_unset_node(), wanted);
    END IF;

    PERFORM snowflake._require_claimable(wanted);
    INSERT INTO snowflake.nodes AS n (node, system_identifier, name, version)
        VALUES (wanted, identifier,
                coalesce(claim_node.name, nullif(current_setting('cluster_name'), ''),
                         'node ' || wanted),
                (SELECT extversion FROM pg_extension WHERE extname = 'snowflake'))
        ON CONFLICT ON CONSTRAINT nodes_pkey DO UPDATE
            SET name = coalesce(claim_node.name, n.name), version = excluded.version
            WHERE (n.name, n.version)
                  IS DISTINCT FROM (coalesce(claim_node.name, n.name), excluded.version);
    RETURN wanted;
END $function$;
REVOKE EXECUTE ON FUNCTION snowflake.claim_node(integer, text) FROM PUBLIC;
COMMENT ON FUNCTION snowflake.claim_node(integer, text) IS
    'claims a node number, or the lowest free one, for this instance';

CREATE FUNCTION snowflake.release_node()
    RETURNS integer
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $function$
    DELETE FROM snowflake.nodes
        WHERE system_identifier = (SELECT system_identifier FROM pg_control_system()) AND NOT leased
        RETURNING node
$function$;
REVOKE EXECUTE ON FUNCTION snowflake.release_node() FROM PUBLIC;
COMMENT ON FUNCTION snowflake.release_node() IS
    'gives up the node number that this instance has claimed';

CREATE FUNCTION snowflake.reserve_nodes(first integer, last integer)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    identifier CONSTANT bigint := (SELECT system_identifier FROM pg_control_system());
    setting CONSTANT integer := snowflake._node_setting();
    taken integer[];
    reserved integer;
BEGIN
    IF first < 1 OR last > snowflake._last_node() OR first > last THEN
        RAISE EXCEPTION 'snowflake nodes % to % are not a range of nodes', first, last
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Nodes are 1 to %s.', snowflake._last_node());
    END IF;

    LOCK TABLE snowflake.nodes IN SHARE ROW EXCLUSIVE MODE;
    taken := ARRAY(SELECT n.node FROM snowflake.nodes n
                       WHERE n.node BETWEEN first AND last
                         AND (n.system_identifier <> identifier OR NOT n.leased)
                   UNION SELECT setting WHERE setting BETWEEN first AND last
                   ORDER BY 1);
    IF taken <> '{}' THEN
        RAISE EXCEPTION 'snowflake nodes % to % are not all free', first, last
            USING ERRCODE = 'object_in_use',
                  DETAIL = format('In use: %s.', array_to_string(taken, ', ')),
                  HINT = 'To see by whom: SELECT node, name FROM snowflake.cluster ORDER BY node;';
    END IF;

    INSERT INTO snowflake.nodes (node, system_identifier, name, leased, version)
        SELECT number, identifier,
               coalesce(nullif(current_setting('cluster_name'), ''), 'leases'), true,
               (SELECT extversion FROM pg_extension WHERE extname = 'snowflake')
            FROM generate_series(first, last) number
        ON CONFLICT ON CONSTRAINT nodes_pkey DO NOTHING;
    GET DIAGNOSTICS reserved = ROW_COUNT;
    RETURN reserved;
END $function$;
REVOKE EXECUTE ON FUNCTION snowflake.reserve_nodes(integer, integer) FROM PUBLIC;
COMMENT ON FUNCTION snowflake.reserve_nodes(integer, integer) IS
    'claims a range of node numbers for snowflake.lease_node on this instance';

-- A lease of a node number is an advisory lock of the session. The two keys of the lock are a number
-- that stands for this extension, and the node.
CREATE FUNCTION snowflake.lease_node()
    RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    lock_class CONSTANT integer := 1936617335; -- "snow" in ASCII
    candidates CONSTANT integer[] := ARRAY(
        SELECT c.node FROM snowflake.cluster c
            WHERE c.is_this_instance AND c.leased AND c.lost_to IS NULL ORDER BY c.node);
    candidate integer;
BEGIN
    -- A standby has the claims of its primary, but not its locks: it would lease a number twice.
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'cannot execute snowflake.lease_node() during recovery'
            USING ERRCODE = 'read_only_sql_transaction',
                  HINT = 'Lease the node number on the primary.';
    END IF;

    SELECT l.objid::integer INTO candidate FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = lock_class::oid AND l.objsubid = 2
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND l.pid = pg_backend_pid() AND l.mode = 'ExclusiveLock' -- others may share other modes
          AND l.objid::integer = ANY (candidates)
        ORDER BY l.objid;
    IF FOUND THEN
        -- This session has the lock, and no other session has. The lock may be the transaction's, which
        -- looks the same here but ends with the transaction: locked again, it is the session's.
        PERFORM pg_advisory_lock(lock_class, candidate);
        RETURN candidate;
    END IF;

    FOREACH candidate IN ARRAY candidates LOOP
        IF pg_try_advisory_lock(lock_class, candidate) THEN
            RETURN candidate;
        END IF;
    END LOOP;

    IF candidates = '{}' THEN
        RAISE EXCEPTION 'no snowflake nodes are reserved for leases on this instance'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'As a superuser, run for example: SELECT snowflake.reserve_nodes(900, 999);';
    END IF;
    RAISE EXCEPTION 'all % snowflake nodes that are reserved for leases are in use',
                    cardinality(candidates)
        USING ERRCODE = 'configuration_limit_exceeded',
              HINT = format('As a superuser, reserve more, for example: '
                            'SELECT snowflake.reserve_nodes(1000, %s);', snowflake._last_node());
END $function$;
REVOKE EXECUTE ON FUNCTION snowflake.lease_node() FROM PUBLIC;
COMMENT ON FUNCTION snowflake.lease_node() IS
    'leases a node number to this session, until it ends';

