-- Objects that depend on a table that becomes partitioned. Triggers, policies, rules and members of publications are dropped and made
-- again, by the functions of their kinds (src/sql/conversion/kinds/). Views and routines are replaced, and keep what they have.

-- Finds the objects that depend on a table.
CREATE FUNCTION snowflake._objects_on_table(tab regclass)
    RETURNS SETOF snowflake._conversion_object
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    -- Not at depth 1, which is for what the server makes again by itself.
    RETURN QUERY
        SELECT DISTINCT object.*
            FROM pg_depend d
            CROSS JOIN LATERAL snowflake._conversion_object(d.classid, d.objid, depth => 2) object
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = tab
              AND NOT (d.classid = 'pg_class'::regclass AND d.objid = tab)
              AND NOT (d.classid = 'pg_type'::regclass AND d.deptype = 'i');
END
$function$;

-- Finds the objects that are made again or replaced.
CREATE FUNCTION snowflake._partition_dependents(tab regclass)
    RETURNS SETOF snowflake._conversion_dependent
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT d.*
            FROM snowflake._kinds_found(ARRAY(SELECT o FROM snowflake._objects_on_table(tab) o)) d
            WHERE d.comes_along IS NOT TRUE
              AND d.kind IN ('trigger', 'policy', 'rule', 'publication', 'statistics', 'view', 'routine');
END
$function$;

-- Tells whether an object is replaced where it is.
CREATE FUNCTION snowflake._is_replaced(dependent snowflake._conversion_dependent)
    RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN dependent.kind IN ('view', 'routine');

-- Returns the objects that are dropped and made again.
CREATE FUNCTION snowflake._remade(dependents snowflake._conversion_dependent[])
    RETURNS snowflake._conversion_dependent[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY(SELECT d FROM unnest(dependents) d WHERE NOT snowflake._is_replaced(d));

-- Finds the foreign keys of other tables to a table.
CREATE FUNCTION snowflake._keys_to_table(tab regclass)
    RETURNS SETOF pg_constraint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    -- By way of pg_depend, which has an index on what is referenced.
    RETURN QUERY
        SELECT k.*
            FROM pg_constraint k
            WHERE k.oid IN (SELECT d.objid FROM pg_depend d
                                WHERE d.classid = 'pg_constraint'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tab)
              AND k.contype = 'f' AND k.confrelid = tab AND k.conrelid <> tab AND k.conparentid = 0
            ORDER BY k.oid;
END
$function$;

-- Finds the sequences that belong to columns of a table.
CREATE FUNCTION snowflake._sequences_of_table(tab regclass, OUT seq regclass, OUT attname name)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT s.oid::regclass, a.attname
            FROM pg_depend d
            JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
            JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
            WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tab AND d.deptype = 'a'
            ORDER BY s.oid;
END
$function$;

-- Returns the relations of the caller that the commands name.
CREATE FUNCTION snowflake._locks_of_partitioning(p snowflake._partitioning, dependents snowflake._conversion_dependent[])
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
    AS $function$
BEGIN
    RETURN ARRAY(
        SELECT c.oid::regclass
            FROM pg_class c
            WHERE c.oid IN (SELECT p.tab
                            UNION SELECT d.relid FROM unnest(dependents) d
                            UNION SELECT k.conrelid FROM snowflake._keys_to_table(p.tab) k
                            UNION SELECT k.confrelid FROM pg_constraint k WHERE k.conrelid = p.tab AND k.contype = 'f'
                            UNION SELECT s.seq FROM snowflake._sequences_of_table(p.tab) s)
              AND snowflake._may_become(c.relowner)
            ORDER BY c.oid);
END
$function$;
