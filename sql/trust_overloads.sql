-- The trial of a check parses it again for a bigint, as nobody. An overload that somebody else made for bigint has the rights
-- of nobody in it, and the conversion is refused.
SET snowflake.node = 1;
\set SHOW_CONTEXT never
CREATE ROLE regress_snowflake_mallory;
CREATE ROLE regress_snowflake_owner;
CREATE SCHEMA shared;
GRANT ALL ON SCHEMA shared TO PUBLIC;
SET ROLE regress_snowflake_owner;
CREATE FUNCTION shared.fits(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE TABLE shared.t (id serial CHECK (shared.fits(id)));
SET ROLE regress_snowflake_mallory;
CREATE FUNCTION shared.fits(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN RAISE WARNING 'code of mallory runs as %', current_user; RETURN true; END $$;
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('shared.t_id_seq');
-- One by the owner is no obstacle by itself.
SET ROLE regress_snowflake_mallory;
DROP FUNCTION shared.fits(bigint);
SET ROLE regress_snowflake_owner;
CREATE FUNCTION shared.fits(bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 1000';
RESET ROLE;
SELECT snowflake.convert_sequence_to_snowflake('shared.t_id_seq');

SET client_min_messages = warning;
DROP SCHEMA shared CASCADE;
DROP ROLE regress_snowflake_mallory, regress_snowflake_owner;
