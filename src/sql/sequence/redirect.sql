-- The redirect: the server's own nextval, currval and lastval make and return snowflake IDs on converted sequences,
-- so that neither the schema nor a client changes. What it does to plans is told in src/sequence/planner_functions.cpp,
-- how it is switched in src/sequence/redirect_switch.hpp.

-- Stands for the server's nextval in plans. On a sequence that is not converted, this and the next two functions do what the
-- server's do.
CREATE FUNCTION snowflake._nextval(regclass)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_redirected_nextval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Stands for the server's currval in plans.
CREATE FUNCTION snowflake._currval(regclass)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_redirected_currval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Stands for the server's lastval in plans.
CREATE FUNCTION snowflake._lastval()
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_redirected_lastval'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

CREATE FUNCTION snowflake.redirects_nextval()
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_redirects_nextval'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake.redirects_nextval() IS
    'tells whether the server''s own nextval, currval and lastval make and return snowflake IDs in this database';

-- Switches the redirect, for a superuser.
CREATE FUNCTION snowflake._set_redirect(enabled boolean)
    RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_set_redirect'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- A dump does not have the switch, which is in the server's own catalog. It has this table: the row that a restore
-- writes switches the redirect on in the new database. pg_upgrade copies the table as a file, which does not.
-- Nothing in it is unique: two restores into one database must not meet.
CREATE TABLE snowflake._redirect (
    enabled boolean NOT NULL); -- false: a role says so that is no superuser
ALTER TABLE snowflake._redirect REPLICA IDENTITY FULL; -- A publication of all tables lets no row be deleted without one.
SELECT pg_catalog.pg_extension_config_dump('snowflake._redirect', '');

-- Tells whether this process applies the rows of another server. A client may restore a dump with session_replication_role set as
-- such a process has it.
CREATE FUNCTION snowflake._applies_rows()
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_applies_rows'
    LANGUAGE C STABLE PARALLEL RESTRICTED;

-- Tells whether a role is a superuser. Administrators may let nobody read pg_roles.
CREATE FUNCTION snowflake._is_superuser(role oid)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_is_superuser'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Switches the redirect on for a row that a superuser's restore writes. What another role writes is only said, and acts no more
-- when a superuser restores a dump of it; it takes no row away. Another server's row says nothing of this one, and must
-- not stop replication by meeting the row that is there. Nobody needs to change a row.
CREATE FUNCTION snowflake._redirect_is_written()
    RETURNS trigger
    LANGUAGE plpgsql
    AS $function$
DECLARE
    is_superuser constant boolean := snowflake._is_superuser(quote_ident(current_user)::regrole);
BEGIN
    IF snowflake._applies_rows() OR tg_op = 'UPDATE' OR tg_op = 'DELETE' AND NOT is_superuser THEN
        RETURN NULL;
    ELSIF tg_op = 'DELETE' THEN
        RETURN old;
    ELSIF EXISTS (SELECT FROM snowflake._redirect) THEN
        RETURN NULL;
    END IF;
    new.enabled := new.enabled AND is_superuser;
    IF new.enabled THEN
        PERFORM snowflake._set_redirect(true);
    ELSE
        RAISE WARNING 'the server''s own nextval makes no snowflake IDs until a superuser redirects it'
            USING HINT = 'As a superuser, run: SELECT snowflake.redirect_nextval();';
    END IF;
    RETURN new;
END
$function$;

CREATE TRIGGER redirect_is_written
    BEFORE INSERT OR UPDATE OR DELETE ON snowflake._redirect
    FOR EACH ROW EXECUTE FUNCTION snowflake._redirect_is_written();
ALTER TABLE snowflake._redirect ENABLE ALWAYS TRIGGER redirect_is_written;

-- Tells how many converted sequences the server's own nextval is called on.
CREATE FUNCTION snowflake._redirected_sequences()
    RETURNS bigint
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT count(*) FROM pg_sequence q
                WHERE snowflake._makes_ids(q.seqincrement, q.seqmax)
                  AND EXISTS (SELECT FROM pg_depend d
                                  CROSS JOIN LATERAL snowflake._sequence_uses(d.classid, d.objid) used
                                  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = q.seqrelid
                                    AND used.sequence = q.seqrelid AND used.callee = 'pg_catalog.nextval'));
END
$function$;

CREATE FUNCTION snowflake.redirect_nextval(enabled boolean DEFAULT true)
    RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    AS $function$
DECLARE
    left_behind bigint;
BEGIN
    PERFORM snowflake._set_redirect(enabled);
    DELETE FROM snowflake._redirect;
    IF enabled THEN
        INSERT INTO snowflake._redirect VALUES (true);
    ELSE
        left_behind := snowflake._redirected_sequences();
        IF left_behind > 0 THEN
            RAISE WARNING 'the server''s own nextval, which is called on % converted sequence(s), fails there from now on',
                    left_behind
                USING HINT = 'To go on: SELECT snowflake.redirect_nextval();';
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION snowflake.redirect_nextval(boolean) IS
    'has the server''s own nextval, currval and lastval make and return snowflake IDs on converted sequences of this '
    'database, or no longer';

-- Tells whether the redirect is on, or was in the database that this one has been made from.
CREATE FUNCTION snowflake._is_redirect_wanted()
    RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN snowflake.redirects_nextval() OR EXISTS (SELECT FROM snowflake._redirect);
