-- A finding, and the command that mends it.
--
-- A command is one that the caller can run as it is, or a comment of one line. A caller who trusts nobody but superusers and
-- himself runs no code of others by it: where a command reaches tables of others, the comment says who must run it.

-- Something that is wrong or about to be, and the command that mends it.
CREATE TYPE snowflake._finding AS (severity text, object text, finding text, command text);

-- Returns a command that evaluates nothing as the caller, as a comment that names the owner unless the caller can act
-- for the owner.
CREATE FUNCTION snowflake._typed_by_holder(owner oid, command text)
    RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
    RETURN CASE WHEN snowflake._may_become(owner) THEN command
                ELSE format('-- As %I: %s', pg_get_userbyid(owner), command) END;

-- Returns the command that widens a column; what keeps it from that, as a comment.
CREATE FUNCTION snowflake._typed_widening(
        tab regclass, col name,
        seq regclass) -- whose IDs the column gets; NULL: that is not certain
    RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE
    AS $function$
DECLARE
    alone constant text := snowflake._widen_command(tab, col);
    command constant text := snowflake._widen_command(tab, col, seq);
BEGIN
    RETURN coalesce('-- ' || (SELECT o FROM snowflake._obstacles_of_widening(snowflake._column_to_widen(tab, col)) o LIMIT 1),
                    CASE WHEN command = alone AND EXISTS (SELECT FROM snowflake._dependents_of_column(tab, col) WHERE NOT is_rebuilt)
                         THEN '-- Drop what uses it, and make it again afterwards: ' || alone END,
                    snowflake._typed_by_holder(snowflake._owner(tab), command));
END
$function$;

-- Returns a command, as a comment that names owners if it evaluates code of others than the caller. To add a partition
-- evaluates what is defined on the table, on what it inherits from or is inherited by, and on the other ends of foreign
-- keys and what these inherit from or are inherited by, and reads constants of the types in it. The owner of the schema can put
-- another table in the place of this one.
CREATE FUNCTION snowflake._typed_by_owner_of(tab regclass, command text)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
DECLARE
    owner constant oid := (SELECT c.relowner FROM pg_class c WHERE c.oid = tab);
    others constant text := (
        WITH RECURSIVE family(relid) AS (
            SELECT tab::oid
            UNION
            SELECT link.relid
                FROM family f
                CROSS JOIN LATERAL (SELECT inhparent FROM pg_inherits WHERE inhrelid = f.relid
                                    UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = f.relid) link(relid)
        )
        SELECT string_agg(DISTINCT snowflake._grantee(author.oid), ', ')
            FROM (SELECT snowflake._owner(f.relid) FROM family f
                  UNION
                  SELECT snowflake._owner_of_schema(c.relnamespace) FROM pg_class c WHERE c.oid = tab
                  UNION
                  SELECT snowflake._owner(partner.relid)
                      FROM (SELECT k.confrelid FROM family f JOIN pg_constraint k ON k.conrelid = f.relid AND k.contype = 'f'
                            UNION
                            SELECT k.conrelid FROM family f JOIN pg_constraint k ON k.confrelid = f.relid AND k.contype = 'f') other(relid)
                      CROSS JOIN LATERAL snowflake._table_kin(other.relid) partner(relid)
                  UNION
                  SELECT x.author FROM family f CROSS JOIN LATERAL snowflake._authors_on(f.relid) x) author(oid)
            WHERE author.oid <> owner AND NOT pg_has_role(author.oid, current_user, 'USAGE'));
BEGIN
    RETURN CASE WHEN others IS NULL THEN snowflake._typed_by(owner, command)
                ELSE format('-- As %I, if you trust %s: %s', pg_get_userbyid(owner), others, command) END;
END
$function$;
