-- Rights are those of the server's own sequence functions, and what a session remembers of them
-- falls when they change.
SET snowflake.node = 1;
CREATE ROLE regress_snowflake_maker;
CREATE ROLE regress_snowflake_group;
CREATE SEQUENCE s;

-- Whether a function can be called on s right now.
CREATE FUNCTION allowed(function text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT %s(''s'')', function);
    RETURN true;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN false;
END $$;
CREATE FUNCTION compare(held text, OUT rights text, OUT nextval boolean, OUT server_nextval boolean,
                        OUT currval boolean, OUT server_currval boolean) LANGUAGE sql AS $$
    SELECT held, allowed('snowflake.nextval'), allowed('pg_catalog.nextval'),
           allowed('snowflake.currval'), allowed('pg_catalog.currval') $$;
SELECT * FROM compare('superuser');
SET ROLE regress_snowflake_maker;
SELECT snowflake.nextval('s');
SELECT snowflake.currval('s');
SELECT snowflake.lastval();
\set SHOW_CONTEXT never
SELECT snowflake.convert_sequence_to_snowflake('s');
SELECT snowflake.nextval() > 0 AS database_wide;
SELECT setval('snowflake.id_seq', 1);

-- The same rights allow and refuse the same functions as the server's.
RESET ROLE;
GRANT SELECT ON s TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT * FROM compare('SELECT');
RESET ROLE;
REVOKE SELECT ON s FROM regress_snowflake_maker;
GRANT UPDATE ON s TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT * FROM compare('UPDATE');
RESET ROLE;
REVOKE UPDATE ON s FROM regress_snowflake_maker;
GRANT USAGE ON s TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT * FROM compare('USAGE');
RESET ROLE;
REVOKE USAGE ON s FROM regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT * FROM compare('none');
RESET ROLE;

-- Rights by membership come and go with it, also within a transaction and back at a savepoint.
GRANT USAGE ON s TO regress_snowflake_group;
GRANT regress_snowflake_group TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS member;
RESET ROLE;
BEGIN;
REVOKE regress_snowflake_group FROM regress_snowflake_maker;
SET LOCAL ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS no_member;
ROLLBACK;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS member_again;
RESET ROLE;
BEGIN;
SAVEPOINT p;
REVOKE USAGE ON s FROM regress_snowflake_group;
SET LOCAL ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS revoked;
ROLLBACK TO p;
SET LOCAL ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS back;
COMMIT;
ALTER ROLE regress_snowflake_maker NOINHERIT;
REVOKE regress_snowflake_group FROM regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS neither;
RESET ROLE;

-- Being superuser, or the owner of the database, is a right that can be lost as well.
ALTER ROLE regress_snowflake_maker SUPERUSER;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS superuser;
RESET ROLE;
ALTER ROLE regress_snowflake_maker NOSUPERUSER;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS no_superuser;
RESET ROLE;

-- A lease is no way around: neither in a role without rights nor after they are gone.
ALTER SEQUENCE s CACHE 1000;
SELECT setval('s', 1::bigint << 62) IS NOT NULL AS far_ahead;
GRANT USAGE ON s TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS leased;
RESET ROLE;
REVOKE USAGE ON s FROM regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS revoked;
RESET ROLE;
SELECT allowed('snowflake.nextval') AS superuser_goes_on;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS not_so_the_role;
RESET ROLE;

-- A SECURITY DEFINER function lends its owner's rights, for its own duration.
CREATE FUNCTION definer() RETURNS boolean LANGUAGE sql SECURITY DEFINER
    AS $$ SELECT allowed('snowflake.nextval') $$;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS before, definer() AS inside, allowed('snowflake.nextval') AS after;
RESET ROLE;

-- A new owner, and the old one.
GRANT CREATE ON SCHEMA public TO regress_snowflake_maker;
ALTER SEQUENCE s OWNER TO regress_snowflake_maker;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS owner;
RESET ROLE;
ALTER SEQUENCE s OWNER TO CURRENT_USER;
SET ROLE regress_snowflake_maker;
SELECT allowed('snowflake.nextval') AS no_longer;
RESET ROLE;

DROP FUNCTION definer;
DROP FUNCTION compare, allowed;
DROP SEQUENCE s;
REVOKE CREATE ON SCHEMA public FROM regress_snowflake_maker;

-- Default privileges, whether they give rights or take them, change nothing of who may use the extension.
CREATE VIEW given AS
    SELECT pg_describe_object(d.classid, d.objid, 0) AS object, x.grantee, x.privilege_type, x.is_grantable
        FROM pg_depend d
        LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
        LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
        LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
        CROSS JOIN LATERAL aclexplode(coalesce(
            c.relacl, p.proacl, t.typacl,
            acldefault((CASE WHEN c.relkind = 'S' THEN 's' WHEN c.oid IS NOT NULL THEN 'r' WHEN p.oid IS NOT NULL THEN 'f' ELSE 'T' END)::"char",
                       coalesce(c.relowner, p.proowner, t.typowner)))) x
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
          AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake');
CREATE TABLE given_before AS TABLE given;
DROP EXTENSION snowflake;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM PUBLIC;
CREATE EXTENSION snowflake;
TABLE given EXCEPT TABLE given_before;
TABLE given_before EXCEPT TABLE given;
DROP EXTENSION snowflake;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO regress_snowflake_maker;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO regress_snowflake_maker WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO regress_snowflake_maker WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO regress_snowflake_maker, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO regress_snowflake_maker, PUBLIC;
DROP SCHEMA IF EXISTS snowflake;
CREATE EXTENSION snowflake;
SELECT count(*) > 500 AS are_many FROM given;
-- The initial rights name no role that could be dropped.
SELECT DISTINCT coalesce(quote_ident(pg_get_userbyid(nullif(x.grantee, 0))), 'PUBLIC') AS grantee
    FROM pg_init_privs i
    JOIN pg_depend d ON d.classid = i.classoid AND d.objid = i.objoid AND d.refclassid = 'pg_extension'::regclass
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'snowflake'
    CROSS JOIN LATERAL aclexplode(i.initprivs) x
    WHERE x.grantee <> 10 -- the superuser of initdb
    ORDER BY 1;
TABLE given EXCEPT TABLE given_before;
TABLE given_before EXCEPT TABLE given;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM regress_snowflake_maker;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM regress_snowflake_maker;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM regress_snowflake_maker;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM regress_snowflake_maker, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM regress_snowflake_maker, PUBLIC;
SELECT count(*) FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'snowflake' AND a.privilege_type = 'CREATE' AND a.grantee <> nspowner;
DROP TABLE given_before;
DROP VIEW given;
DROP ROLE regress_snowflake_maker, regress_snowflake_group;
