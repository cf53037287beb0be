-- Identity columns. A column with an identity cannot have a default of its own, and the sequence goes with
-- the identity: a new sequence takes its name and its place. One command takes the identity away and sets the
-- default, so that an event trigger can insert before and after it.

-- Returns the steps that drop the defaults which use the sequence of an identity. Defaults that use the sequence
-- keep the server from dropping it. The default of a view that is out of the way went with the view.
CREATE FUNCTION snowflake._identity_defaults(
        columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._step(format('ALTER TABLE ONLY %s ALTER COLUMN %I DROP DEFAULT', c.relid, c.attname),
                                               snowflake._owner(c.relid), 'set again below') step
            WHERE c.old_default IS NOT NULL
              AND c.relid NOT IN (SELECT d.relid FROM unnest(dependents) d WHERE d.kind = 'view')
            ORDER BY c.relid::oid, c.attnum;
END
$function$;

-- Returns the commands that put a new sequence in the place of an identity's.
CREATE FUNCTION snowflake._identity_replacement(
        part snowflake._conversion_part, identity snowflake._conversion_column,
        OUT command text, OUT effect text, OUT role oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    seq constant regclass := part.seq;
    s record;
    replacement text; -- the new sequence, under its first name
    -- With partitions, from PostgreSQL 17 on. Then the server takes no ONLY, also where there are none yet.
    is_shared constant boolean := (SELECT relkind = 'p' FROM pg_class WHERE oid = identity.relid) AND NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_attribute a ON a.attrelid = i.inhrelid AND a.attname = identity.attname
            WHERE i.inhparent = identity.relid AND a.attidentity = '');
BEGIN
    SELECT c.oid, c.relname, c.relpersistence, n.nspname, q.*, a.attidentity INTO s
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_sequence q ON q.seqrelid = c.oid
        JOIN pg_attribute a ON a.attrelid = identity.relid AND a.attnum = identity.attnum
        WHERE c.oid = seq;
    IF NOT FOUND OR identity.attname IS NULL THEN
        RETURN;
    END IF;
    role := part.owner;
    replacement := format('%I.%I', s.nspname, snowflake._free_name(s.nspname, 'snowflake_' || s.oid));
    command := format('CREATE %sSEQUENCE %s AS bigint INCREMENT BY %s%s MINVALUE %s START WITH %s CACHE %s',
                      CASE s.relpersistence WHEN 'u' THEN 'UNLOGGED ' WHEN 't' THEN 'TEMPORARY ' END,
                      replacement, snowflake._future_increment(part),
                      CASE WHEN snowflake._future_increment(part) <> snowflake._guard()
                           THEN ' MAXVALUE ' || snowflake._unguarded_maximum() END,
                      snowflake._minimum_for(seq, part.layout), s.seqstart, s.seqcache);
    effect := format('takes the place of %s', seq);
    RETURN NEXT;
    command := format('SELECT snowflake._take_last_value(%L, %L)', replacement, seq);
    effect := 'goes on after the last value';
    role := NULL;
    RETURN NEXT;
    role := part.owner;
    command := format('ALTER TABLE %s%s ALTER COLUMN %I DROP IDENTITY, ALTER COLUMN %I SET DEFAULT %s',
                      CASE WHEN NOT is_shared THEN 'ONLY ' END, identity.relid, identity.attname, identity.attname,
                      snowflake._call_on(replacement));
    effect := format('ACCESS EXCLUSIVE lock on %s%s', identity.relid,
                     CASE s.attidentity WHEN 'a' THEN '; GENERATED ALWAYS is no longer enforced' END);
    RETURN NEXT;
    effect := NULL;
    command := format('ALTER SEQUENCE %s RENAME TO %I', replacement, s.relname);
    RETURN NEXT;
    command := format('ALTER SEQUENCE %s OWNED BY %s.%I', seq, identity.relid, identity.attname);
    RETURN NEXT;
END
$function$;

-- Returns the steps that make the sequence of an identity anew; none if the sequence is no identity's.
CREATE FUNCTION snowflake._identity_steps(
        part snowflake._conversion_part, dependents snowflake._conversion_dependent[])
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
DECLARE
    seq constant regclass := part.seq;
    identity snowflake._conversion_column;
BEGIN
    SELECT c.* INTO identity FROM unnest(part.columns) c WHERE c.is_identity;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM snowflake._identity_defaults(part.columns, dependents);
    RETURN QUERY
        SELECT step.*
            FROM (SELECT x.command, x.effect, x.role FROM snowflake._identity_replacement(part, identity) x
                  UNION ALL SELECT x.command, NULL, coalesce(x.role, part.owner) FROM snowflake._conversion_rights('pg_class'::regclass, seq) x
                  UNION ALL
                  SELECT snowflake._grant_to_draw(inserter.role, seq::text), 'inserting takes this right now', part.owner
                      FROM (SELECT DISTINCT snowflake._inserters(c.relid, through_others => false)
                                FROM unnest(part.columns) c WHERE c.draws AND c.attrdef IS NULL) inserter(role)
                      WHERE NOT snowflake._may_draw(inserter.role, seq)
                  UNION ALL
                  SELECT x, NULL, part.owner
                      FROM snowflake._conversion_annotations('pg_class'::regclass, seq, format('SEQUENCE %s', seq)) x
                 ) x(command, effect, role)
            CROSS JOIN LATERAL snowflake._step(x.command, x.role, x.effect) step;
    RETURN QUERY SELECT * FROM snowflake._remember_steps(part);
    RETURN QUERY SELECT * FROM snowflake._stride_remarks(part);
END
$function$;

-- Lists what keeps the sequence of an identity from being made anew.
CREATE FUNCTION snowflake._identity_obstacles(seq regclass, columns snowflake._conversion_column[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(columns) c WHERE c.is_identity) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT x
            FROM pg_class c
            CROSS JOIN LATERAL snowflake._grant_obstacles(c.oid::regclass::text, c.relowner, c.relacl) x
            WHERE c.oid = seq;
    RETURN QUERY
        SELECT format('sequence %s, which would be made anew, is a member of extension %I', seq, x.extname)
            FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
            WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
              AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e';
END
$function$;

-- Tells whether a sequence belongs to an identity that is none any more. An extension of the same name turned
-- identities into defaults by writing to the catalog, and left the sequence to a column that is no identity any
-- more: neither a dump nor ALTER SEQUENCE can do with that.
CREATE FUNCTION snowflake._is_left_behind(seq regclass)
    RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM pg_depend d
                       JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                       WHERE d.classid = 'pg_class'::regclass AND d.objid = seq
                         AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i' AND a.attidentity = '');
END
$function$;

-- Returns the step that mends a sequence which was left behind by an identity.
CREATE FUNCTION snowflake._ownership_steps(part snowflake._conversion_part)
    RETURNS SETOF snowflake._conversion_step
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT step.*
            FROM snowflake._step(format('SELECT snowflake._own_as_serial(%L)', part.seq), part.owner,
                                 'the sequence belongs to its column as that of a serial does') step
            WHERE snowflake._is_left_behind(part.seq);
END
$function$;
