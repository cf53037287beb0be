-- The layout of snowflake.id_seq, which is the database's own. A dump has the last value of this sequence, but not its
-- definition: that comes with the extension. It has this table: the row that a restore writes gives the sequence its
-- layout. pg_upgrade keeps the definition itself. Nothing in the table is unique: two restores into one database must not
-- meet.
CREATE TABLE snowflake._id_seq_layout (
    layout snowflake.layout NOT NULL);
ALTER TABLE snowflake._id_seq_layout REPLICA IDENTITY FULL; -- A publication of all tables lets no row be deleted without one.
SELECT pg_catalog.pg_extension_config_dump('snowflake._id_seq_layout', '');

-- Returns the sequence of the extension, which is the default of nextval(), whatever its name and its schema are: the owner of the
-- database can change both. NULL: there is none.
CREATE FUNCTION snowflake._id_seq()
    RETURNS regclass
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT d.refobjid::regclass
                FROM pg_depend d
                WHERE d.classid = 'pg_proc'::regclass AND d.objid = 'snowflake.nextval(regclass)'::regprocedure
                  AND d.refclassid = 'pg_class'::regclass);

-- Gives the sequence of the extension the layout of a row. Another server's row says nothing of this one. Nobody needs to change
-- a row. A role that may write everywhere has no say.
CREATE FUNCTION snowflake._id_seq_layout_is_written()
    RETURNS trigger
    LANGUAGE plpgsql
    AS $function$
BEGIN
    IF snowflake._applies_rows() OR snowflake._id_seq() IS NULL OR tg_op = 'UPDATE' THEN
        RETURN NULL;
    ELSIF NOT pg_has_role(current_user, 'pg_database_owner', 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of sequence %', snowflake._id_seq() USING ERRCODE = 'insufficient_privilege';
    ELSIF tg_op = 'DELETE' THEN
        RETURN old;
    ELSIF snowflake.layout_of(snowflake._id_seq()) OPERATOR(snowflake.<>) new.layout THEN
        EXECUTE format('ALTER SEQUENCE %s MINVALUE %s', snowflake._id_seq(), snowflake._minimum_for(snowflake._id_seq(), new.layout));
    END IF;
    RETURN new;
END
$function$;

CREATE TRIGGER layout_is_written
    BEFORE INSERT OR UPDATE OR DELETE ON snowflake._id_seq_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake._id_seq_layout_is_written();
ALTER TABLE snowflake._id_seq_layout ENABLE ALWAYS TRIGGER layout_is_written;
