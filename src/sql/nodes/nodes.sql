-- The registry of node numbers: which instance has which number, where several instances replicate to
-- each other. The rule of claims in src/pure/claims.hpp, which the functions here ask, decides whose a number is.
-- src/nodes/node_commands.cpp has what the commands do.

-- The instances receive each other's rows of this table by a publication of its own, see _link_registry(). Each row is
-- an act: what an instance has said about numbers. What a subscriber has received it sends on. No row can halt
-- replication, and none goes in circles:
-- - The trigger makes the key anew on each server, and nothing else is unique or checked. A row that arrives therefore
--   never conflicts with another, and the trigger passes over one whose act is there already.
-- - The columns are the same in all versions, so that servers of all versions can replicate to each other.
--   "more" is for what a later version has to add; a kind of act that a version does not know counts for nothing.
-- A dump does not contain the rows: a database restored elsewhere must not bring claims along.
CREATE TABLE snowflake.nodes (
    key uuid PRIMARY KEY,              -- another on each server
    act uuid NOT NULL,                 -- the same on all servers
    kind text NOT NULL,                -- claim, setting, lease: takes numbers; release, remove: gives them up; separate, here, ask
    node integer NOT NULL,             -- the first number that the act is about; 0: it is about none
    last_node integer NOT NULL,
    system_identifier bigint NOT NULL, -- whose numbers these are: that of pg_control_system(),
    database bigint NOT NULL,          -- the OID of the database, which has sequences of its own,
    copy bigint NOT NULL,              -- and 0, or a number that tells a physical copy from its original
    place text NOT NULL,               -- where the writer of the act ran
    name text NOT NULL,                -- what people call the instance
    claimed_at timestamptz NOT NULL,   -- of two claims to a number the earlier is the better one; of equals that of the lower identifiers
    said_at timestamptz NOT NULL,      -- of two acts about an instance and a number the later counts
    free_from timestamptz,             -- from when on another instance may claim what is given up
    answers uuid,                      -- the act that this one replies to
    version text NOT NULL,             -- of the extension, and the major version of the server, that wrote the act
    written_here boolean NOT NULL,     -- on this server, or on the one that it is a copy of
    more jsonb                         -- what a later version has to add
);
-- A session that looks its number up finds the rows that concern it by these, once there are many. None is on a text:
-- one that is too long for an index would halt replication.
CREATE INDEX nodes_act ON snowflake.nodes (act);
CREATE INDEX nodes_identifiers ON snowflake.nodes (system_identifier, database);
CREATE INDEX nodes_number ON snowflake.nodes (node, last_node);
CREATE INDEX nodes_wide ON snowflake.nodes (last_node) WHERE last_node <> node;
COMMENT ON TABLE snowflake.nodes IS
    'what instances have said about node numbers; published as snowflake_nodes';

-- A superuser owns the table, as it owns the functions: whoever owns it can put a trigger on it, and what arrives by
-- replication may be written with the rights of a superuser. What the functions below write, they write with the rights of
-- the owner.

-- Lets rows of snowflake.nodes only be added, and each act once.
CREATE FUNCTION snowflake._guard_nodes()
    RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowflake_guard_nodes'
    LANGUAGE C;

-- Tells all sessions to look at snowflake.nodes again.
CREATE FUNCTION snowflake._nodes_changed()
    RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowflake_nodes_changed'
    LANGUAGE C;

-- The triggers fire ALWAYS, so that they see what arrives by replication, too.
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake.nodes
    FOR EACH ROW EXECUTE FUNCTION snowflake._guard_nodes();
CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON snowflake.nodes
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake._guard_nodes();
CREATE TRIGGER truncated AFTER TRUNCATE ON snowflake.nodes
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake._guard_nodes();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON snowflake.nodes
    FOR EACH ROW EXECUTE FUNCTION snowflake._nodes_changed();
ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER guard;
ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER guard_truncate;
ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER truncated;
ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER changed;

-- Returns the numbers that instances have, as this instance sees them.
CREATE FUNCTION snowflake._cluster(OUT node integer, OUT last_node integer, OUT kind text,
                                   OUT name text, OUT is_this_instance boolean, OUT lost_to text,
                                   OUT claimed_at timestamptz, OUT system_identifier bigint,
                                   OUT database bigint, OUT copy bigint, OUT place text,
                                   OUT version text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowflake_cluster'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

CREATE VIEW snowflake.cluster AS SELECT * FROM snowflake._cluster() ORDER BY node;
COMMENT ON VIEW snowflake.cluster IS
    'numbers that instances have, as this instance sees them';
COMMENT ON COLUMN snowflake.cluster.kind IS
    'claim, setting or lease: how the instance has the number; copy: a server with the identifiers of this one';
COMMENT ON COLUMN snowflake.cluster.lost_to IS
    'which instance has the better claim to the number; NULL where none has';

-- Returns where this instance ran before, if it may be a copy beside others; NULL: it may not.
CREATE FUNCTION snowflake._moved_from()
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_moved_from'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

CREATE FUNCTION snowflake.node()
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake.node() IS
    'returns the node number that this instance makes snowflake IDs with';

-- The functions from here on run with the rights of their owner. Operators and applications then need
-- the right to call them, and no other.

-- Returns the publications of a table. The server's own view of them locks all tables that a publication has.
CREATE FUNCTION snowflake._publications_of(tab regclass)
    RETURNS SETOF oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT p.oid
            FROM pg_class c
            CROSS JOIN pg_publication p
            CROSS JOIN LATERAL (
                -- The table, and those that it is a partition of, which are published with it.
                SELECT bool_or(whole.oid = tab), bool_or(whole.oid <> tab)
                    FROM pg_class whole
                    WHERE (whole.oid = tab OR whole.oid IN (SELECT pg_partition_ancestors(tab)))
                      -- A publication of all tables names those that it leaves out, from PostgreSQL 19 on.
                      AND CASE WHEN p.puballtables
                               THEN NOT EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid
                                                    AND (r.prrelid = tab OR r.prrelid IN (SELECT pg_partition_ancestors(tab))))
                               ELSE EXISTS (SELECT FROM pg_publication_namespace n WHERE n.pnpubid = p.oid AND n.pnnspid = whole.relnamespace)
                                    OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = whole.oid) END
            ) published(itself, as_partition)
            WHERE c.oid = tab AND pg_relation_is_publishable(tab)
              AND CASE WHEN p.pubviaroot THEN published.itself AND NOT published.as_partition
                       ELSE c.relkind <> 'p' AND (published.itself OR published.as_partition) END;
END
$function$;

-- Returns a table of an extension, wherever it stands; NULL: there is none.
CREATE FUNCTION snowflake._table_of(extension name, relname name)
    RETURNS regclass
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT c.oid FROM pg_extension x
                JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = x.oid AND d.deptype = 'e'
                                AND d.classid = 'pg_class'::regclass
                JOIN pg_class c ON c.oid = d.objid AND c.relname = _table_of.relname AND c.relkind = 'r'
                WHERE x.extname = extension
                ORDER BY c.oid LIMIT 1);
END
$function$;

-- Tells whether no code of others runs as the current role when it reads a table: to plan the query evaluates what the table's owner
-- has put into indexes, and the owner of the schema can put another relation in the place of the table.
CREATE FUNCTION snowflake._may_be_read(tab regclass)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(tab, 'SELECT')
                   AND pg_has_role(c.relowner, current_user, 'USAGE') AND pg_has_role(n.nspowner, current_user, 'USAGE')
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = tab);
END
$function$;

-- Tells whether this database receives rows of other servers, but not their registries. One that sends its registry by
-- sets of pglogical or Spock is taken to receive others by them.
CREATE FUNCTION snowflake._receives_no_claims()
    RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
    AS $function$
DECLARE
    receives boolean := EXISTS (SELECT FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
                                           WHERE d.datname = current_database() AND s.subenabled);
    sends boolean := false;
    subscriptions regclass;
    sets regclass;
BEGIN
    FOR subscriptions, sets IN
        SELECT snowflake._table_of(replicator, 'subscription'), snowflake._table_of(replicator, 'replication_set_table')
            FROM unnest(ARRAY['pglogical', 'spock']) replicator
    LOOP
        CONTINUE WHEN (snowflake._may_be_read(subscriptions) AND snowflake._may_be_read(sets)) IS NOT TRUE;
        EXECUTE format('SELECT $2 OR EXISTS (SELECT FROM %s), $3 OR EXISTS (SELECT FROM %s WHERE set_reloid = $1)', subscriptions, sets)
            INTO receives, sends USING 'snowflake.nodes'::regclass, receives, sends;
    END LOOP;
    RETURN receives AND NOT sends
           AND NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = 'snowflake.nodes'::regclass);
END
$function$;

-- Lets the server's own nextval() take no number from guarded sequences of which none was ever taken, or whose last number
-- is below 1: a guard would not yet refuse the next. A dump of the schema alone leaves sequences so, and setval() where a
-- layout is the MINVALUE. A sequence that another session holds is left for the next time.
CREATE FUNCTION snowflake._close_guards()
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET lock_timeout = '10ms'
    AS $function$
DECLARE
    seq oid;
BEGIN
    FOR seq IN
        SELECT q.seqrelid
            FROM pg_sequence q JOIN pg_class c ON c.oid = q.seqrelid
            WHERE q.seqincrement = snowflake._guard() AND c.relpersistence <> 't'
              AND NOT EXISTS (SELECT FROM pg_locks l
                                  WHERE l.relation = q.seqrelid AND l.mode <> 'AccessShareLock' AND l.pid <> pg_backend_pid()
                                    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
    LOOP
        BEGIN
            -- A session may take the first ID at this moment, or alter the sequence. The lock keeps that from being
            -- overwritten. A guard works above 0, where not every sequence with this INCREMENT gets.
            IF coalesce(snowflake._glimpse_last_value(seq), 0) < 1 AND snowflake._lock(seq) THEN
                PERFORM snowflake._take_last_value(seq, seq)
                    FROM pg_sequence q
                    WHERE q.seqrelid = seq AND q.seqincrement = snowflake._guard() AND q.seqmax > 0
                      AND coalesce(snowflake._glimpse_last_value(seq), 0) < 1;
                -- Gives the lock back, and leaves the sequence as it is now. The server has no room for the locks of all
                -- sequences of a large database.
                RAISE lock_not_available;
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
END
$function$;

-- Publishes the registry, and warns where this server receives none. It is published by itself, whatever else is: to a
-- subscriber of this publication the name and the rows are the same on all servers. The publication is made when a server
-- claims a number or subscribes to another, not by CREATE EXTENSION: the one that a dump contains is there by then. It is
-- no part of the extension, since pg_dump dumps all publications. Before PostgreSQL 18 it leaves tables of extensions out
-- of them. A server whose wal_level is too low has nobody to publish to, and its dumps nothing to warn of.
CREATE FUNCTION snowflake._link_registry()
    RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    AS $function$
DECLARE
    publication constant pg_publication := (SELECT p FROM pg_publication p WHERE pubname = 'snowflake_nodes');
BEGIN
    IF current_setting('wal_level') <> 'logical' OR publication.oid IN (SELECT snowflake._publications_of('snowflake.nodes')) THEN
        NULL;
    ELSIF publication.oid IS NULL THEN
        CREATE PUBLICATION snowflake_nodes FOR TABLE snowflake.nodes WITH (publish = 'insert');
    ELSIF pg_has_role(publication.pubowner, 'pg_database_owner', 'USAGE') THEN
        ALTER PUBLICATION snowflake_nodes ADD TABLE snowflake.nodes;
    ELSE -- Others who own the publication could publish what they like under its name.
        RAISE WARNING 'publication snowflake_nodes is owned by %, and publishes no node numbers',
                      quote_ident(pg_get_userbyid(publication.pubowner))
            USING DETAIL = 'The extension publishes the table snowflake.nodes under this name.',
                  HINT = 'DROP PUBLICATION snowflake_nodes; SELECT snowflake.claim_node();';
    END IF;
    PERFORM snowflake._close_guards();
    IF snowflake._receives_no_claims() THEN
        RAISE WARNING 'this server receives rows of other servers, but not their node numbers'
            USING DETAIL = 'Two servers with one node number make the same IDs.',
                  HINT = 'Run SELECT snowflake.claim_node(); on the others, and here, for each of them: '
                         'CREATE SUBSCRIPTION name CONNECTION ''...'' PUBLICATION snowflake_nodes;';
    END IF;
END
$function$;

-- Writes into snowflake.nodes what this instance has not said yet, such as the number of the setting.
CREATE FUNCTION snowflake._say_what_lacks()
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_say_what_lacks'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

CREATE FUNCTION snowflake.claim_node(node integer DEFAULT NULL, name text DEFAULT NULL)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_claim_node'
    LANGUAGE C VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION snowflake.claim_node(integer, text) IS
    'claims a node number, or one that nobody has, for this instance';

CREATE FUNCTION snowflake.release_node(INOUT node integer DEFAULT NULL, OUT free_from timestamptz)
    AS 'MODULE_PATHNAME', 'snowflake_release_node'
    LANGUAGE C VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION snowflake.release_node(integer) IS
    'gives up a node number of this instance, and tells from when on another may have it';

-- Sends the claims that this server knows once more, and asks the servers that receive them to do the same.
CREATE FUNCTION snowflake._exchange_claims()
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_exchange_claims'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- Exchanges claims with others when this server is joined to them. Two servers that were given one number before they
-- were joined find out by this, in any order of their subscriptions, also where the registry is not copied.
CREATE FUNCTION snowflake._tell_new_peers()
    RETURNS event_trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    AS $function$
BEGIN
    -- Whatever is wrong with the registry, the subscription is made: check() names it. What is wrong with the publication
    -- keeps no claim from being sent.
    BEGIN
        PERFORM snowflake._exchange_claims();
    EXCEPTION WHEN OTHERS THEN
        NULL;
    END;
    PERFORM snowflake._link_registry();
EXCEPTION WHEN OTHERS THEN
    RETURN;
END
$function$;

CREATE EVENT TRIGGER _snowflake_subscription ON ddl_command_end
    WHEN TAG IN ('CREATE SUBSCRIPTION', 'ALTER SUBSCRIPTION')
    EXECUTE FUNCTION snowflake._tell_new_peers();
COMMENT ON EVENT TRIGGER _snowflake_subscription IS
    'publishes the registry, and exchanges node numbers with other servers, when this one is joined to them';

CREATE FUNCTION snowflake.remove_node(
        system_identifier bigint, database bigint, copy bigint DEFAULT 0, force boolean DEFAULT false)
    RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_remove_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION snowflake.remove_node(bigint, bigint, bigint, boolean) IS
    'gives up the node numbers of an instance that is gone, and tells from when on another may have them';

CREATE FUNCTION snowflake.separate_copy(force boolean DEFAULT false)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_separate_copy'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION snowflake.separate_copy(boolean) IS
    'makes this server, a physical copy, an instance of its own, and claims a node number for it';

CREATE FUNCTION snowflake.take_over_node(force boolean DEFAULT false)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_take_over_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION snowflake.take_over_node(boolean) IS
    'takes over the node numbers of the instance that this database comes from, and that is gone';

CREATE FUNCTION snowflake.reserve_nodes(first integer, last integer)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_reserve_nodes'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION snowflake.reserve_nodes(integer, integer) IS
    'claims a range of node numbers for snowflake.lease_node on this instance';

-- A node lease is two advisory locks of the session. One is of the number: its keys are a number
-- that stands for this extension, and the node. The other is of the token, whose lowest bits are the node.
-- A client that shares the session with others, by way of a pooler, can show only the token of its own node lease.
CREATE FUNCTION snowflake.lease_node(OUT node integer, INOUT token bigint DEFAULT NULL)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    AS $function$
DECLARE
    lock_class CONSTANT integer := 1936617335; -- "snow" in ASCII
    candidates CONSTANT integer[] := ARRAY(
        SELECT number FROM snowflake.cluster c, generate_series(c.node, c.last_node) number
            WHERE c.is_this_instance AND c.kind = 'lease' AND c.lost_to IS NULL ORDER BY number);
    is_held boolean;
BEGIN
    -- A standby has the claims of its primary, but not its locks: it would lease a number twice.
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'cannot execute snowflake.lease_node() during recovery'
            USING ERRCODE = 'read_only_sql_transaction',
                  HINT = 'Lease the node number on the primary.';
    END IF;

    IF token IS NOT NULL THEN
        node := (token & snowflake._last_node())::integer;
        SELECT count(*) = 2 INTO is_held FROM pg_locks l
            WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid() AND l.mode = 'ExclusiveLock'
              AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
              AND (l.objsubid = 1 AND l.classid::bigint << 32 | l.objid::bigint = token
                   OR l.objsubid = 2 AND l.classid = lock_class::oid AND l.objid = node::oid);
        IF NOT is_held THEN
            RAISE EXCEPTION 'this session does not hold the lease of snowflake node %', node
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      DETAIL = 'The session that leased it has ended, or a pooler has passed this call to another session.',
                      HINT = 'Use a connection of its own, and lease again: SELECT * FROM snowflake.lease_node();';
        ELSIF node <> ALL (candidates) THEN
            RAISE EXCEPTION 'snowflake node % is not reserved for node leases any more', node
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = 'Lease another: SELECT * FROM snowflake.lease_node();';
        END IF;
        RETURN;
    END IF;

    -- A number that this session has leased already is another client's, for all that is known.
    FOR node IN
        SELECT candidate FROM unnest(candidates) candidate
            WHERE NOT EXISTS (SELECT FROM pg_locks l
                                  WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid()
                                    AND l.classid = lock_class::oid AND l.objsubid = 2
                                    AND l.objid = candidate::oid)
            ORDER BY candidate
    LOOP
        IF pg_try_advisory_lock(lock_class, node) THEN
            token := ('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint << 10 | node;
            PERFORM pg_advisory_lock(token);
            RETURN;
        END IF;
    END LOOP;

    IF candidates = '{}' THEN
        RAISE EXCEPTION 'no snowflake nodes are reserved for node leases on this instance'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'As a superuser, run for example: SELECT snowflake.reserve_nodes(900, 999);';
    END IF;
    RAISE EXCEPTION 'all % snowflake nodes that are reserved for node leases are in use',
                    cardinality(candidates)
        USING ERRCODE = 'configuration_limit_exceeded',
              HINT = format('As a superuser, reserve more, for example: '
                            'SELECT snowflake.reserve_nodes(1000, %s);', snowflake._last_node());
END $function$;
COMMENT ON FUNCTION snowflake.lease_node(bigint) IS
    'leases a node number to this session until it ends, or confirms the node lease of a token';

-- A number that the setting gives is in the registry from now on.
DO $install$
DECLARE
    publications constant text := (SELECT string_agg(quote_ident(p.pubname), ', ' ORDER BY p.pubname)
                                       FROM snowflake._publications_of('snowflake.nodes') x JOIN pg_publication p ON p.oid = x
                                       WHERE p.puballtables);
BEGIN
    IF publications IS NOT NULL THEN
        RAISE WARNING 'table snowflake.nodes is published with all tables: %', publications
            USING DETAIL = 'Nothing is replicated to a database that has no such table.',
                  HINT = 'On subscribers: CREATE EXTENSION snowflake;';
    END IF;
    PERFORM snowflake._say_what_lacks();
END
$install$;
