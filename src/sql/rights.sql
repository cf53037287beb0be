-- Rights: anybody may call a function, but for those named here, and read a table that is named here.

-- The bootstrap superuser owns all but the sequence of the database, whoever installs: the owner of a function can change what it
-- does for everybody who calls it, and whoever is a superuser today may be none one day. pg_shdepend does not name owners that are
-- predefined roles.
DO $install$
DECLARE
    bootstrap_superuser constant name := pg_get_userbyid(10);
    member record;
BEGIN
    FOR member IN
        SELECT o.type, o.identity
            FROM pg_depend d
            JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'snowflake'
            CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) o
            WHERE d.deptype = 'e' AND snowflake._owner_of(d.classid, d.objid) <> 10
              AND (d.classid, d.objid) IS DISTINCT FROM ('pg_class'::regclass, 'snowflake.id_seq'::regclass)
              -- From PostgreSQL 18 on, the types that come with others are members, too.
              AND NOT EXISTS (SELECT FROM pg_depend i WHERE i.classid = d.classid AND i.objid = d.objid AND i.deptype = 'i')
    LOOP
        EXECUTE format('ALTER %s %s OWNER TO %I', member.type, member.identity, bootstrap_superuser);
    END LOOP;
    EXECUTE format('ALTER SCHEMA snowflake OWNER TO %I', bootstrap_superuser);
END
$install$;

-- Default privileges change no right. They give the objects of this script to roles that the script does not know, such as the
-- registry, or take from PUBLIC what nextval needs. Without default privileges nothing has rights of its own yet.
DO $install$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT o.kind, o.name,
               (SELECT string_agg(DISTINCT snowflake._grantee(a.grantee), ', ')
                    FROM aclexplode(o.rights) a WHERE a.grantee <> o.owner) AS grantees
            FROM pg_depend d
            JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'snowflake'
            JOIN (SELECT tableoid, oid, 'TABLE', oid::regclass::text, relowner, relacl FROM pg_class
                  UNION ALL
                  SELECT tableoid, oid, 'ROUTINE', oid::regprocedure::text, proowner, proacl FROM pg_proc
                  UNION ALL
                  SELECT tableoid, oid, 'TYPE', oid::regtype::text, typowner, typacl FROM pg_type) o(class, oid, kind, name, owner, rights)
              ON o.class = d.classid AND o.oid = d.objid
            WHERE o.rights IS NOT NULL
    LOOP
        IF made.grantees IS NOT NULL THEN
            EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', made.kind, made.name, made.grantees);
        END IF;
        IF made.kind <> 'TABLE' THEN
            EXECUTE format('GRANT ALL ON %s %s TO PUBLIC', made.kind, made.name);
        END IF;
    END LOOP;
END
$install$;

GRANT USAGE ON SCHEMA snowflake TO PUBLIC;
GRANT USAGE, SELECT ON SEQUENCE snowflake.id_seq TO PUBLIC;
GRANT SELECT ON snowflake.layouts, snowflake.sequences, snowflake.nodes, snowflake.cluster, snowflake.conversions, snowflake._redirect,
    snowflake._id_seq_layout TO PUBLIC;

-- Functions of an operator, and those that only triggers and functions call, are for roles that are granted them.
REVOKE EXECUTE ON FUNCTION snowflake._guard_nodes(), snowflake._nodes_changed(), snowflake._close_guards(),
    snowflake._link_registry(), snowflake._say_what_lacks(), snowflake._exchange_claims(), snowflake._tell_new_peers(),
    snowflake._refuse_to_drop(), snowflake.claim_node(integer, text), snowflake.release_node(integer),
    snowflake.remove_node(bigint, bigint, bigint, boolean), snowflake.separate_copy(boolean), snowflake.take_over_node(boolean),
    snowflake.reserve_nodes(integer, integer), snowflake.lease_node(bigint) FROM PUBLIC;

-- The owner of the database need be no superuser to restore a dump, to number a server that nobody has numbered, and to own the
-- subscription that brings the claims of others. A claim takes no number from another instance, and does not change one that
-- this instance has. No role of users is named here: dumps would name it still when it is dropped, and fail.
GRANT INSERT ON snowflake.nodes, snowflake._redirect TO pg_database_owner;
GRANT INSERT, DELETE ON snowflake._id_seq_layout TO pg_database_owner;
GRANT EXECUTE ON FUNCTION snowflake.claim_node(integer, text) TO pg_database_owner;
