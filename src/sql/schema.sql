-- The schema. It must hold nothing of other roles: one that could put an overload of one of the functions
-- into the schema would have its code run by every caller of the function, superusers among them.

-- The script looks up no name in the schema. It runs as a superuser also where the owner of a database
-- installs the extension, and that owner may have made and filled the schema.
SET LOCAL search_path = pg_catalog, pg_temp;

DO $install$
BEGIN
    CREATE FUNCTION snowflake._schema_is_new()
        RETURNS boolean
        AS 'MODULE_PATHNAME', 'snowflake_schema_is_new'
        LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
EXCEPTION WHEN undefined_function THEN
    RAISE EXCEPTION 'this session has loaded the library of an earlier version'
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Run the command in a new session. If shared_preload_libraries names snowflake, restart the server before.';
END
$install$;

-- Only a schema that no other session has seen, or that belongs to a superuser, is accepted. In a schema that others have
-- seen, a session that was allowed to create objects when it began a transaction may still commit one: the script waits for
-- all transactions that are open before it looks for objects.
DO $install$
DECLARE
    s record;
    foreign_objects text;
BEGIN
    SELECT x.oid AS extension, n.oid AS schema, r.rolname, r.rolsuper, snowflake._schema_is_new() AS is_new,
           (SELECT string_agg(CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, ', ' ORDER BY a.grantee)
                FROM aclexplode(n.nspacl) a
                WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner) AS creators,
           (SELECT count(*) > 1 FROM pg_depend d
                WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = x.oid AND d.deptype = 'e') AS is_update
        INTO s
        FROM pg_extension x
        JOIN pg_namespace n ON n.oid = x.extnamespace
        JOIN pg_roles r ON r.oid = n.nspowner
        WHERE x.extname = 'snowflake';
    IF NOT (s.rolsuper OR s.is_new) THEN
        RAISE EXCEPTION 'schema "snowflake" exists, and is owned by "%"', s.rolname
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'The owner of the schema could run code as whoever uses the extension.',
                  HINT = CASE WHEN s.is_update THEN 'As a superuser, run: ALTER SCHEMA snowflake OWNER TO CURRENT_USER;'
                              ELSE 'Let CREATE EXTENSION make the schema: DROP SCHEMA snowflake;' END;
    ELSIF s.creators IS NOT NULL AND s.is_new THEN
        -- Default privileges give such a right. No other session has seen the schema.
        EXECUTE format('REVOKE ALL ON SCHEMA snowflake FROM %s CASCADE', s.creators);
    ELSIF s.creators IS NOT NULL THEN
        RAISE EXCEPTION 'others than its owner may create objects in schema "snowflake"'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'They could run code as whoever uses the extension.',
                  HINT = CASE WHEN s.is_update THEN format('REVOKE CREATE ON SCHEMA snowflake FROM %s CASCADE;', s.creators)
                              ELSE 'Let CREATE EXTENSION make the schema: DROP SCHEMA snowflake;' END;
    END IF;
    IF NOT s.is_new THEN
        CREATE FUNCTION snowflake._wait_for_transactions()
            RETURNS void
            AS 'MODULE_PATHNAME', 'snowflake_wait_for_transactions'
            LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
        PERFORM snowflake._wait_for_transactions();
        DROP FUNCTION snowflake._wait_for_transactions();
    END IF;
    -- A role that may create objects in the database can put a trusted extension into any schema, and a dump makes it first. What the
    -- bootstrap superuser, whose OID is 10, owns of it is code of the extension alone.
    SELECT string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ' ORDER BY d.classid, d.objid) INTO foreign_objects
        FROM pg_depend d
        LEFT JOIN pg_depend e ON e.classid = d.classid AND e.objid = d.objid AND e.refclassid = 'pg_extension'::regclass AND e.deptype = 'e'
        WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = s.schema AND d.classid <> 'pg_extension'::regclass
          AND e.refobjid IS DISTINCT FROM s.extension
          AND (e.refobjid IS NULL
               OR EXISTS (SELECT FROM (SELECT tableoid, oid, proowner FROM pg_proc
                                       UNION ALL SELECT tableoid, oid, typowner FROM pg_type
                                       UNION ALL SELECT tableoid, oid, relowner FROM pg_class
                                       UNION ALL SELECT tableoid, oid, oprowner FROM pg_operator
                                       UNION ALL SELECT tableoid, oid, opcowner FROM pg_opclass
                                       UNION ALL SELECT tableoid, oid, opfowner FROM pg_opfamily
                                       UNION ALL SELECT tableoid, oid, collowner FROM pg_collation
                                       UNION ALL SELECT tableoid, oid, conowner FROM pg_conversion
                                       UNION ALL SELECT tableoid, oid, stxowner FROM pg_statistic_ext
                                       UNION ALL SELECT tableoid, oid, dictowner FROM pg_ts_dict
                                       UNION ALL SELECT tableoid, oid, cfgowner FROM pg_ts_config) o(class, oid, owner)
                              WHERE o.class = d.classid AND o.oid = d.objid AND o.owner <> 10));
    IF foreign_objects IS NOT NULL THEN
        RAISE EXCEPTION 'schema "snowflake" is not empty'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'What is in it could be taken for a part of the extension: ' || foreign_objects,
                  HINT = CASE WHEN s.is_update THEN 'Move it elsewhere, for example: ALTER TABLE snowflake.name SET SCHEMA public;'
                              ELSE 'Move what you need elsewhere, and DROP SCHEMA snowflake CASCADE;' END;
    END IF;
END
$install$;
