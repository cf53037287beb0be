-- From pgEdge's extension of the same name: whatever is a member becomes the bootstrap superuser's, before the script looks at it.
-- The Makefile puts this file behind schema.sql.

-- The functions of the earlier version, and the extension, may be an ordinary role's, who could move one out of the schema, exchange
-- its code, or make it a member or none, once the script has looked at it. So members are locked, and taken from their owners:
-- a later command of such an owner waits for the update, and fails. While a command waits for a lock, another function can
-- get the name that it has. A member with a name like those of the script would make its calls ambiguous.
DO $update$
DECLARE
    lock_members constant name := '_' || gen_random_uuid(); -- nobody knows it
    messages constant text := current_setting('client_min_messages');
    bootstrap_superuser constant name := pg_get_userbyid(10);
    member record;
    dropped text[];
BEGIN
    EXECUTE format('CREATE FUNCTION snowflake.%I() RETURNS void AS ''MODULE_PATHNAME'', ''snowflake_lock_members'' LANGUAGE C', lock_members);
    EXECUTE format('SELECT snowflake.%I()', lock_members);
    EXECUTE format('DROP FUNCTION snowflake.%I()', lock_members);
    FOR member IN
        SELECT p.oid, p.oid::regprocedure::text AS identity, starts_with(p.proname, '_') AS is_in_the_way
            FROM pg_depend d
            JOIN pg_extension x ON d.refclassid = 'pg_extension'::regclass AND x.oid = d.refobjid AND x.extname = 'snowflake'
            JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
            WHERE d.deptype = 'e' AND p.oid <> 'snowflake._schema_is_new()'::regprocedure
            ORDER BY p.oid
    LOOP
        IF member.is_in_the_way THEN
            EXECUTE format('DROP ROUTINE %s', member.identity);
            dropped := dropped || format('function %s', member.identity);
        ELSE
            EXECUTE format('ALTER ROUTINE %s OWNER TO %I', member.identity, bootstrap_superuser);
        END IF;
        IF EXISTS (SELECT FROM pg_proc p WHERE p.oid = member.oid AND (member.is_in_the_way OR p.proowner <> 10)) THEN
            RAISE EXCEPTION 'function % was changed at the same time', member.identity
                USING ERRCODE = 'object_in_use',
                      HINT = 'Run the command again.';
        END IF;
    END LOOP;
    IF dropped IS NOT NULL THEN
        SET LOCAL client_min_messages = notice;
        RAISE NOTICE 'functions of the earlier version are dropped'
            USING DETAIL = array_to_string(dropped, E'\n'),
                  HINT = 'Look in routines and applications for what calls them.';
        PERFORM set_config('client_min_messages', messages, true);
    END IF;
END
$update$;
