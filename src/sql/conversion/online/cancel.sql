-- Taking back a conversion without a long lock, as long as the swap has not been made.

-- Finds the shadow columns that were made for the conversion of a sequence: those of columns that the sequence fills now,
-- and those whose column it filled when they were made.
CREATE FUNCTION snowflake._shadows_to_cancel(part snowflake._conversion_part)
    RETURNS snowflake._shadow[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT s FROM unnest(snowflake._shadows(ARRAY(
            SELECT snowflake._conversion_column(a.attrelid, a.attnum, a.attname, widened => true)
                FROM (
                    SELECT p.relid::oid, p.attnum FROM snowflake._shadow_pairs(NULL) p WHERE p.sequence = part.seq
                    UNION
                    SELECT c.relid, c.attnum FROM unnest(part.columns) c
                ) x(relid, attnum)
                JOIN pg_attribute a ON a.attrelid = x.relid AND a.attnum = x.attnum
                JOIN pg_class t ON t.oid = x.relid
                WHERE snowflake._may_become(t.relowner)))) s
            WHERE s.same IS NOT NULL);
END
$function$;

-- Returns the steps that take back a conversion whose swap has not been made. The columns take with them what is
-- built on them, but for foreign keys.
CREATE FUNCTION snowflake._cancel_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
DECLARE
    shadows constant snowflake._shadow[] := snowflake._shadows_to_cancel(part);
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM (
                SELECT k.conrelid, format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname)
                    FROM pg_constraint k
                    WHERE k.contype = 'f' AND k.conname LIKE 'snowflake|_%' ESCAPE '|'
                      AND k.oid IN (SELECT d.objid FROM unnest(shadows) s
                                        JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.refclassid = 'pg_class'::regclass
                                                        AND d.refobjid = s.relid AND d.refobjsubid = s.shadow)
                UNION ALL
                SELECT s.relid, format('DROP TRIGGER %I ON %s', t, s.relid)
                    FROM unnest(shadows) s, snowflake._triggers_on_shadow(s.relid, s.shadow) t
                UNION ALL
                SELECT s.relid, format('ALTER TABLE %s DROP COLUMN %I', s.relid, s.shadow_name) FROM unnest(shadows) s
            ) x(relid, command)
            CROSS JOIN LATERAL snowflake._step(x.command, snowflake._owner(x.relid)) step;
END
$function$;
