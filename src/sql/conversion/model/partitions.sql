-- The commands that make a partition.

-- Returns clauses of ALTER TABLE that give a table the row-level security and the replica identity of another.
CREATE FUNCTION snowflake._flags_of_table(tab regclass)
    RETURNS text[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT array_remove(ARRAY[CASE WHEN c.relrowsecurity THEN 'ENABLE ROW LEVEL SECURITY' END,
                                      CASE WHEN c.relforcerowsecurity THEN 'FORCE ROW LEVEL SECURITY' END,
                                      CASE c.relreplident WHEN 'f' THEN 'REPLICA IDENTITY FULL'
                                                          WHEN 'n' THEN 'REPLICA IDENTITY NOTHING' END], NULL)
                FROM pg_class c WHERE c.oid = tab);
END
$function$;

-- Returns the commands that make a partition, with the row-level security and the replica identity of the whole, and rights for
-- its owner alone, whatever default privileges give.
CREATE FUNCTION snowflake._new_partition(whole regclass, name text, bound text, options text DEFAULT '')
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN NEXT format('CREATE TABLE %s PARTITION OF %s %s%s', name, whole, bound, options);
    RETURN QUERY SELECT format('ALTER TABLE %s %s', name, clause) FROM unnest(snowflake._flags_of_table(whole)) clause;
    RETURN QUERY
        SELECT command
            FROM pg_class c
            CROSS JOIN LATERAL snowflake._revoke_command(
                format('ALL ON TABLE %s', name),
                ARRAY(SELECT x.grantee
                          FROM pg_default_acl d CROSS JOIN LATERAL aclexplode(d.defaclacl) x
                          WHERE d.defaclrole IN (c.relowner, quote_ident(current_user)::regrole) -- who may type it
                            AND d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, c.relnamespace)
                            AND x.grantee <> c.relowner)) command
            WHERE c.oid = whole AND command IS NOT NULL;
END
$function$;

-- Returns what to type for a default partition of a table.
CREATE FUNCTION snowflake._default_partition(whole regclass)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN (SELECT string_agg(x.command, '; ' ORDER BY x.n)
                FROM pg_class t
                JOIN pg_namespace n ON n.oid = t.relnamespace
                CROSS JOIN LATERAL snowflake._new_partition(
                    whole, format('%I.%I', n.nspname, snowflake._free_name(n.nspname, t.relname || '_default')), 'DEFAULT')
                    WITH ORDINALITY x(command, n)
                WHERE t.oid = whole);
END
$function$;
