-- The schema. It must hold nothing but this extension: a role that could put an overload of one of the
-- functions into the schema would have its code run by every caller of the function, superusers among them.

\echo Use "CREATE EXTENSION snowflake" to load this file. \quit

-- The script looks up no name in the schema. It runs as a superuser also where the owner of a database
-- installs the extension, and that owner may have made and filled the schema.
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE FUNCTION snowflake._schema_is_new()
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_schema_is_new'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake._schema_is_new() IS
    'tells whether the schema snowflake was made by this transaction';

-- Only a schema that no other session has seen, or that no ordinary role has owned, is accepted. In any
-- other, a session that was allowed to create objects when it began a transaction may commit one after the
-- extension is there.
DO $install$
DECLARE
    s record;
BEGIN
    SELECT r.rolname, r.rolsuper, snowflake._schema_is_new() AS is_new,
           EXISTS (SELECT FROM pg_depend d
                       WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid
                         AND (d.classid, d.objid) IS DISTINCT FROM ('pg_extension'::regclass, x.oid)
                         AND NOT EXISTS (SELECT FROM pg_depend e
                                             WHERE e.classid = d.classid AND e.objid = d.objid
                                               AND e.refclassid = 'pg_extension'::regclass
                                               AND e.refobjid = x.oid AND e.deptype = 'e')) AS is_used,
           EXISTS (SELECT FROM aclexplode(n.nspacl) a
                       WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner) AS is_shared
        INTO s
        FROM pg_extension x
        JOIN pg_namespace n ON n.oid = x.extnamespace
        JOIN pg_roles r ON r.oid = n.nspowner
        WHERE x.extname = 'snowflake';
    IF NOT (s.rolsuper OR s.is_new) THEN
        RAISE EXCEPTION 'schema "snowflake" exists, and is owned by "%"', s.rolname
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'The owner of the schema could run code as whoever uses the extension.',
                  HINT = 'Let CREATE EXTENSION make the schema: DROP SCHEMA snowflake;';
    ELSIF s.is_shared THEN
        RAISE EXCEPTION 'others than its owner may create objects in schema "snowflake"'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'They could run code as whoever uses the extension.',
                  HINT = 'Let CREATE EXTENSION make the schema: DROP SCHEMA snowflake;';
    ELSIF s.is_used THEN
        RAISE EXCEPTION 'schema "snowflake" is not empty'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'What is in it could be taken for a part of the extension.',
                  HINT = 'Move what you need elsewhere, and DROP SCHEMA snowflake CASCADE;';
    END IF;
    IF NOT s.rolsuper THEN
        ALTER SCHEMA snowflake OWNER TO CURRENT_USER;
    END IF;
END
$install$;

GRANT USAGE ON SCHEMA snowflake TO PUBLIC;

