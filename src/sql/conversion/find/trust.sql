-- The rule of trust: nothing runs as a role unless every author whose code it can reach may act for that role.
--
-- Each command of a conversion runs as the owner of its relation, in a security-restricted operation, whoever
-- calls: that is what the server's own maintenance does. Authors are the owners of the relations that a command
-- touches, and of what a trigger names; a superuser's code may run as anybody. Nothing here asks what the code
-- is. An owner can add to it at any time, and to plan a query is to evaluate it.

-- Returns the role that drops an object and makes it again.
CREATE FUNCTION snowflake._maker(dependent snowflake._conversion_dependent)
    RETURNS oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    CASE dependent.kind
        WHEN 'routine' THEN RETURN snowflake._owner_of(dependent.classid, dependent.objid);
        WHEN 'publication' THEN
            RETURN (SELECT p.pubowner FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
                        WHERE r.oid = dependent.objid);
        ELSE RETURN snowflake._owner_of('pg_class'::regclass, dependent.relid);
    END CASE;
END
$function$;

-- Returns the objects that the commands of a conversion alter or make again, each with the role that runs these
-- commands.
CREATE FUNCTION snowflake._makers(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[],
        OUT role oid, OUT class oid, OUT object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT c.relowner, 'pg_class'::regclass::oid, c.oid
            FROM pg_class c
            WHERE c.oid = seq
               OR c.oid IN (SELECT x.relid FROM unnest(columns) x WHERE x.widened OR x.draws OR x.new_default IS NOT NULL)
        UNION
        SELECT snowflake._maker(d), d.classid, d.objid FROM unnest(dependents) d WHERE d.kind IS NOT NULL
        UNION
        SELECT snowflake._owner(c.relid), 'pg_attrdef'::regclass, c.attrdef
            FROM unnest(columns) c WHERE c.attrdef IS NOT NULL AND c.new_default IS NOT NULL
        UNION
        SELECT snowflake._maker(d), 'pg_attrdef'::regclass, f.oid
            FROM unnest(dependents) d JOIN pg_attrdef f ON f.adrelid = d.relid WHERE d.kind = 'view';
END
$function$;

-- Describes an object as pg_describe_object() does, a view by its name. For the server a view is a rule of its
-- relation.
CREATE FUNCTION snowflake._description_of(class oid, object oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN coalesce((SELECT pg_describe_object('pg_class'::regclass, ev_class, 0) FROM pg_rewrite
                         WHERE class = 'pg_rewrite'::regclass AND oid = object AND rulename = '_RETURN'),
                    -- Only an object of a class that the server knows can be asked for.
                    (SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d
                         WHERE d.classid = class AND d.objid = object LIMIT 1));
END
$function$;

-- Names an object, and by what it is used.
CREATE FUNCTION snowflake._link_of(class oid, object oid, user_class oid, user_object oid)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN format('%s, which %s uses,', snowflake._description_of(class, object), snowflake._description_of(user_class, user_object));
END
$function$;

-- Lists the objects for whose owner the caller cannot act.
CREATE FUNCTION snowflake._obstacles_of_callers(
        seq regclass, columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT format('%s is owned by %I', snowflake._description_of(m.class, m.object), pg_get_userbyid(m.role))
            FROM snowflake._makers(seq, columns, dependents) m
            WHERE m.class NOT IN ('pg_publication_rel'::regclass, 'pg_attrdef'::regclass) AND NOT snowflake._may_become(m.role);
END
$function$;

-- Returns the columns that commands widen, and those that inherit them.
CREATE FUNCTION snowflake._altered_with(
        columns snowflake._conversion_column[],
        OUT relid regclass, -- that the command alters, as its owner
        OUT member regclass, OUT attnum smallint)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT c.relid, tree.relid, a.attnum
            FROM unnest(columns) c
            CROSS JOIN LATERAL snowflake._table_tree(c.relid) tree(relid)
            JOIN pg_attribute a ON a.attrelid = tree.relid AND a.attname = c.attname
            WHERE c.widened AND NOT c.is_inherited;
END
$function$;

-- Returns the tables that the server touches when it widens columns of a table, that table among them. Code of an author runs as a
-- role when the server plans or evaluates anything of the author's relation.
CREATE FUNCTION snowflake._touched_by_widening(
        columns snowflake._conversion_column[],
        OUT relid regclass, -- that the command alters, as its owner
        OUT touched regclass, OUT link text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH altered AS (SELECT * FROM snowflake._altered_with(columns))
        SELECT x.relid, x.member, format('table %s, which inherits from %s,', x.member, x.relid)
            FROM altered x
        UNION
        -- A table has the checks, generated columns and indexes of what it inherits from.
        SELECT x.relid, kin.relid, format('table %s, which %s is related to by inheritance,', kin.relid, x.relid)
            FROM altered x CROSS JOIN LATERAL snowflake._table_kin(x.relid) kin(relid)
            WHERE x.member = x.relid AND kin.relid NOT IN (SELECT member FROM altered)
        UNION
        SELECT x.relid, partner.relid, format('table %s, which foreign key %I links to %s,', partner.relid, k.conname, x.member)
            FROM altered x
            CROSS JOIN LATERAL snowflake._keys_of(x.member, x.attnum) keys(key)
            JOIN pg_constraint k ON k.oid = key
            CROSS JOIN LATERAL snowflake._table_kin(CASE k.conrelid WHEN x.member THEN k.confrelid ELSE k.conrelid END) partner(relid);
END
$function$;

-- Returns the materialized views that are filled again.
CREATE FUNCTION snowflake._filled_again(dependents snowflake._conversion_dependent[])
    RETURNS regclass[]
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN ARRAY(SELECT c.oid FROM unnest(dependents) d
                     JOIN pg_class c ON d.kind = 'view' AND c.oid = d.relid AND c.relkind = 'm' AND c.relispopulated);
END
$function$;

-- Returns what the server reads when it fills materialized views: relations, their policies, functions and operators.
CREATE FUNCTION snowflake._read_by_filling(
        views regclass[],
        OUT filled regclass, OUT class oid, OUT object oid,
        OUT by_function boolean) -- whether a function in standard SQL reads it
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE read(filled, class, object, by_function) AS (
            SELECT v, 'pg_class'::regclass::oid, v::oid, false FROM unnest(views) v
            UNION
            SELECT read.filled, next.class, next.object, read.by_function OR read.class = 'pg_proc'::regclass
                FROM read
                CROSS JOIN LATERAL (
                    SELECT d.refclassid, d.refobjid
                        FROM (SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r
                                  WHERE read.class = 'pg_class'::regclass AND r.ev_class = read.object
                              UNION ALL
                              SELECT read.class, read.object WHERE read.class <> 'pg_class'::regclass) reader(class, object)
                        JOIN pg_depend d ON d.classid = reader.class AND d.objid = reader.object
                        WHERE d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
                    UNION ALL
                    SELECT 'pg_policy'::regclass, y.oid FROM pg_policy y
                        WHERE read.class = 'pg_class'::regclass AND y.polrelid = read.object
                    UNION ALL
                    SELECT 'pg_class'::regclass, i.inhrelid FROM pg_inherits i
                        WHERE read.class = 'pg_class'::regclass AND i.inhparent = read.object
                ) next(class, object)
        )
        SELECT read.filled, read.class, read.object, read.by_function FROM read;
END
$function$;

-- Returns the relations that materialized views are filled from.
CREATE FUNCTION snowflake._touched_by_views(
        views regclass[],
        OUT relid regclass, OUT touched regclass, OUT link text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT read.filled, c.oid::regclass, format('table %s, which materialized view %s reads,', c.oid::regclass, read.filled)
            FROM snowflake._read_by_filling(views) read
            JOIN pg_class c ON read.class = 'pg_class'::regclass AND c.oid = read.object AND c.relkind <> 'S'
            WHERE NOT read.by_function; -- _authors_of() finds the others
END
$function$;

-- Returns the types that an object's expressions name: the server evaluates their code when it reads or runs these. It does
-- not run a routine that it makes again, whose signature names types, too: of one, it reads constants alone. From PostgreSQL 17
-- on there are expressions whose types the server does not note: JSON_VALUE and its like.
CREATE FUNCTION snowflake._types_read(class oid, object oid)
    RETURNS SETOF oid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 2
    AS $function$
DECLARE
    is_routine constant boolean := class = 'pg_proc'::regclass;
    in_trees constant oid[] := CASE WHEN is_routine OR current_setting('server_version_num')::integer >= 170000
                                    THEN ARRAY(SELECT snowflake._types_of_constants(class, object)) END;
BEGIN
    RETURN QUERY SELECT t FROM unnest(in_trees) t WHERE t IS NOT NULL;
    IF NOT is_routine OR array_position(in_trees, NULL) IS NOT NULL THEN
        RETURN QUERY SELECT d.refobjid FROM pg_depend d
                         WHERE d.classid = class AND d.objid = object AND d.refclassid = 'pg_type'::regclass;
    END IF;
END
$function$;

-- Returns what is defined on a relation and can be evaluated.
CREATE FUNCTION snowflake._definitions_on(rel regclass, OUT class oid, OUT object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 3
    AS $function$
BEGIN
    RETURN QUERY
        SELECT 'pg_class'::regclass::oid, i.indexrelid FROM pg_index i WHERE i.indrelid = rel
        UNION ALL SELECT 'pg_constraint'::regclass, k.oid FROM pg_constraint k WHERE k.conrelid = rel
        UNION ALL SELECT 'pg_attrdef'::regclass, a.oid FROM pg_attrdef a WHERE a.adrelid = rel
        UNION ALL SELECT 'pg_statistic_ext'::regclass, s.oid FROM pg_statistic_ext s WHERE s.stxrelid = rel
        UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r WHERE r.ev_class = rel
        UNION ALL SELECT 'pg_policy'::regclass, y.oid FROM pg_policy y WHERE y.polrelid = rel
        UNION ALL SELECT 'pg_trigger'::regclass, t.oid FROM pg_trigger t WHERE t.tgrelid = rel AND NOT t.tgisinternal;
END
$function$;

-- Returns the owners of what an object's expressions reach in any number of steps, each with something of his. The checks of a
-- domain read its values, and its owner can change them at any time. The owner of a composite type can put a domain into it, that
-- of a range type has chosen functions, and that of any type can give its name to another one, and makes casts, which a foreign
-- key calls that is made again. The owner of an operator gives it a negator, which takes its place. A function or operator has
-- types in its signature, and an aggregate those of its functions. The body of a function in standard SQL reads relations, or
-- writes to them, and so evaluates what is defined on them; their owners can add to that at any time, and to what is written to
-- also holders of TRIGGER and REFERENCES, by whom a trigger or a key may be there already, or in a transaction that is open. What
-- a body that is text names is in no catalog: the owner of the function answers for it, unless a trigger calls the function.
CREATE FUNCTION snowflake._authors_of(class oid, object oid, OUT author oid, OUT via_class oid, OUT via_object oid)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    SET enable_hashjoin = off -- as in _conversion_state()
    SET enable_mergejoin = off
    AS $function$
BEGIN
    RETURN QUERY
        WITH RECURSIVE reached(class, object, is_written) AS (
            SELECT seed.class, seed.object, false
                FROM (SELECT _authors_of.class, _authors_of.object WHERE _authors_of.class = 'pg_type'::regclass
                      UNION ALL
                      SELECT 'pg_type'::regclass, t FROM snowflake._types_read(_authors_of.class, _authors_of.object) t
                      UNION ALL
                      SELECT d.refclassid, d.refobjid
                          FROM pg_depend d
                          WHERE d.classid = _authors_of.class AND d.objid = _authors_of.object AND d.classid <> 'pg_proc'::regclass
                            AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)) seed(class, object)
            UNION
            -- A function that is not volatile, or has no command that changes rows, writes nothing, and fires no trigger.
            SELECT next.class, next.object,
                   CASE WHEN r.class = 'pg_proc'::regclass
                        THEN (SELECT p.provolatile = 'v' AND coalesce(p.prosqlbody::text ~ ':commandType [2-5]', false)
                                  FROM pg_proc p WHERE p.oid = r.object)
                        ELSE r.is_written END
                FROM reached r
                CROSS JOIN LATERAL (
                    SELECT d.refclassid, d.refobjid
                        FROM pg_depend d
                        WHERE d.classid = r.class AND d.objid = r.object
                          AND (d.refclassid IN ('pg_type'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
                               OR d.refclassid = 'pg_class'::regclass
                                  AND r.class IN ('pg_proc'::regclass, 'pg_rewrite'::regclass, 'pg_policy'::regclass))
                    UNION ALL
                    SELECT 'pg_type'::regclass, t FROM snowflake._types_read(r.class, r.object) t WHERE r.class <> 'pg_type'::regclass
                    UNION ALL
                    SELECT 'pg_type'::regclass, a.atttypid FROM pg_type y JOIN pg_attribute a ON a.attrelid = y.typrelid AND a.attnum > 0
                        WHERE r.class = 'pg_type'::regclass AND y.oid = r.object
                    UNION ALL
                    SELECT 'pg_constraint'::regclass, k.oid FROM pg_constraint k
                        WHERE r.class = 'pg_type'::regclass AND k.contypid = r.object
                    UNION ALL
                    SELECT x.* FROM snowflake._definitions_on(r.object) x
                        WHERE r.class = 'pg_class'::regclass AND (r.is_written OR x.class <> 'pg_trigger'::regclass)
                    UNION ALL
                    SELECT 'pg_class'::regclass, kin FROM snowflake._table_kin(r.object) kin WHERE r.class = 'pg_class'::regclass
                    UNION ALL
                    -- Foreign keys read these, or write to them.
                    SELECT 'pg_class'::regclass, CASE k.conrelid WHEN r.object THEN k.confrelid ELSE k.conrelid END
                        FROM pg_constraint k
                        WHERE r.class = 'pg_class'::regclass AND r.is_written AND k.contype = 'f' AND r.object IN (k.conrelid, k.confrelid)
                ) next(class, object)
        )
        SELECT y.typowner, r.class, r.object
            FROM reached r JOIN pg_type y ON r.class = 'pg_type'::regclass AND y.oid = r.object
        UNION ALL
        SELECT o.oprowner, r.class, r.object
            FROM reached r JOIN pg_operator o ON r.class = 'pg_operator'::regclass AND o.oid = r.object
        UNION ALL
        SELECT c.relowner, r.class, r.object
            FROM reached r JOIN pg_class c ON r.class = 'pg_class'::regclass AND c.oid = r.object AND c.relkind <> 'S'
        UNION ALL
        SELECT x.grantee, r.class, r.object
            FROM reached r
            JOIN pg_class c ON r.class = 'pg_class'::regclass AND c.oid = r.object AND c.relkind <> 'S'
            CROSS JOIN LATERAL (SELECT e.* FROM aclexplode(c.relacl) e
                                UNION ALL SELECT e.* FROM pg_attribute a, aclexplode(a.attacl) e
                                              WHERE a.attrelid = c.oid AND NOT a.attisdropped) x
            WHERE r.is_written AND x.privilege_type IN ('TRIGGER', 'REFERENCES') AND x.grantee <> c.relowner
        UNION ALL
        SELECT snowflake._owner_of(d.refclassid, d.refobjid), d.refclassid, d.refobjid
            FROM reached r
            JOIN pg_depend d ON d.classid = r.class AND d.objid = r.object
            WHERE r.class = 'pg_trigger'::regclass AND d.refclassid = 'pg_proc'::regclass;
END
$function$;

-- Returns the authors on a relation: of the types of its columns, and of all that definitions on it reach. Whatever reads or fills
-- the relation can evaluate code of each.
CREATE FUNCTION snowflake._authors_on(
        rel regclass,
        OUT author oid, OUT via_class oid, OUT via_object oid,
        OUT class oid, OUT object oid) -- the definition
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT x.*, d.class, d.object
            FROM snowflake._definitions_on(rel) d CROSS JOIN LATERAL snowflake._authors_of(d.class, d.object) x
            WHERE d.class <> 'pg_trigger'::regclass -- A conversion writes no row by a statement: it fires no trigger.
        UNION ALL
        SELECT x.*, 'pg_class'::regclass::oid, rel::oid -- its columns, and the key of its partitions
            FROM snowflake._authors_of('pg_class'::regclass, rel) x;
END
$function$;

-- Returns, for each definition that is made again, the role that runs it and its authors. A trigger
-- has no owner, and any holder of the right TRIGGER can make one: the owners of its functions and operators count, too.
CREATE FUNCTION snowflake._authors_of_definitions(
        columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[],
        OUT role oid, OUT author oid, OUT link text)
    RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT made.role, named.author, snowflake._link_of(named.class, named.object, made.class, made.object)
            FROM snowflake._makers(0, columns, dependents) made
            CROSS JOIN LATERAL (
                SELECT 'pg_type'::regclass::oid, type, x.author
                    FROM snowflake._types_read(made.class, made.object) type
                    CROSS JOIN LATERAL snowflake._authors_of('pg_type'::regclass, type) x
                UNION ALL
                -- An index is planned, though a view without data has no row for it.
                SELECT x.via_class, x.via_object, x.author
                    FROM snowflake._authors_of(made.class, made.object) x
                    WHERE made.class = 'pg_class'::regclass AND x.via_class <> 'pg_type'::regclass
                UNION ALL
                -- A trigger for each row reads the key of the partitions.
                SELECT x.via_class, x.via_object, x.author
                    FROM pg_trigger t
                    CROSS JOIN LATERAL snowflake._table_tree(t.tgrelid) member
                    CROSS JOIN LATERAL snowflake._authors_of('pg_class'::regclass, member) x
                    WHERE made.class = 'pg_trigger'::regclass AND t.oid = made.object AND (t.tgtype & 1) = 1
                UNION ALL
                SELECT e.refclassid, e.refobjid, snowflake._owner_of(e.refclassid, e.refobjid)
                    FROM pg_depend e
                    WHERE made.class = 'pg_trigger'::regclass AND e.classid = made.class AND e.objid = made.object
                      AND e.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
            ) named(class, object, author)
            WHERE made.class <> 'pg_class'::regclass OR made.object IN (SELECT d.objid FROM unnest(dependents) d);
END
$function$;

-- Describes a link to an author, or to one who can have triggers on it, whose code would run as a role.
CREATE FUNCTION snowflake._obstacle_of_author(link text, author oid, role oid, is_owned boolean)
    RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $function$
BEGIN
    RETURN format('%s %s %s, whose code would run as %I: %s what uses it, and make it again afterwards', link,
                  CASE WHEN is_owned THEN 'is owned by' ELSE 'can have triggers or foreign keys of' END, snowflake._grantee(author), pg_get_userbyid(role),
                  CASE WHEN is_owned THEN 'give both to one owner, or drop' ELSE 'revoke the rights TRIGGER and REFERENCES, or drop' END);
END
$function$;

-- Lists the authors of what is defined on a relation whose code would run as a role that they cannot act for.
CREATE FUNCTION snowflake._obstacles_of_definitions(role oid, touched regclass)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
BEGIN
    RETURN QUERY
        SELECT snowflake._obstacle_of_author(
                   snowflake._link_of(t.via_class, t.via_object, t.class, t.object), t.author, role,
                   is_owned => t.author = snowflake._owner_of(t.via_class, t.via_object))
            FROM snowflake._authors_on(touched) t
            WHERE t.author <> role AND NOT snowflake._may_act_for(t.author, role);
END
$function$;

-- Lists the authors whose code a command would run that the owner of a table runs on it, on what inherits from it, and on others with
-- all that they are related to. The server reads the keys of what the table is a partition of.
CREATE FUNCTION snowflake._obstacles_of_command(tab regclass, others regclass[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
    AS $function$
DECLARE
    role constant oid := snowflake._owner(tab);
BEGIN
    RETURN QUERY
        SELECT DISTINCT o
            FROM (SELECT snowflake._table_tree(tab) UNION SELECT pg_partition_ancestors(tab)
                  UNION SELECT snowflake._table_kin(other) FROM unnest(others) other) x(relid)
            CROSS JOIN LATERAL (
                SELECT snowflake._obstacle_of_author(format('table %s', x.relid), author, role, is_owned => true)
                    FROM snowflake._owner(x.relid) author WHERE NOT snowflake._may_act_for(author, role)
                UNION ALL
                SELECT snowflake._obstacles_of_definitions(role, x.relid)) y(o);
END
$function$;

-- Lists the owners whose code would run as a role that they cannot act for. A child is altered with its parent: the
-- parent's owner needs the rights of the child's.
CREATE FUNCTION snowflake._obstacles_of_authors(
        columns snowflake._conversion_column[], dependents snowflake._conversion_dependent[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        WITH touching AS MATERIALIZED (
            SELECT snowflake._owner(w.relid) AS role, w.touched, w.link
                FROM (SELECT * FROM snowflake._touched_by_widening(columns)
                      UNION ALL SELECT * FROM snowflake._touched_by_views(snowflake._filled_again(dependents))) w
        )
        SELECT DISTINCT o
            FROM (
                SELECT format('%s is owned by %s, whose code would run as %I: give both tables to one owner, or drop what links them '
                              'and make it again afterwards', w.link, snowflake._grantee(author), pg_get_userbyid(w.role))
                    FROM touching w CROSS JOIN LATERAL snowflake._owner(w.touched) author
                    WHERE author <> w.role AND NOT snowflake._may_act_for(author, w.role)
                UNION ALL
                SELECT snowflake._obstacles_of_definitions(w.role, w.touched) FROM (SELECT DISTINCT role, touched FROM touching) w
                UNION ALL
                SELECT snowflake._obstacle_of_author(d.link, d.author, d.role, is_owned => true)
                    FROM snowflake._authors_of_definitions(columns, dependents) d
                    WHERE d.author <> d.role AND NOT snowflake._may_act_for(d.author, d.role)
            ) x(o);
    RETURN QUERY
        SELECT DISTINCT format('table %s, which inherits from %s, is owned by %I, for whom %I may not act: give both tables to one owner',
                               member.relid, x.relid, pg_get_userbyid(m.relowner), pg_get_userbyid(c.relowner))
            FROM unnest(columns) x
            JOIN pg_class c ON c.oid = x.relid
            CROSS JOIN LATERAL snowflake._table_tree(x.relid) member(relid)
            JOIN pg_class m ON m.oid = member.relid
            WHERE x.widened AND NOT x.is_inherited AND NOT pg_has_role(c.relowner, m.relowner, 'USAGE');
END
$function$;

-- Lists the roles that granted rights on an object and that the caller cannot act for.
CREATE FUNCTION snowflake._grant_obstacles(object text, owner oid, acl aclitem[])
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 10
    AS $function$
BEGIN
    RETURN QUERY
        SELECT DISTINCT format('rights on %s were granted by %I, which %I may not become here', object,
                               pg_get_userbyid(x.grantor), current_user)
            FROM aclexplode(array_remove(acl, NULL)) x
            WHERE x.grantor <> owner AND NOT snowflake._may_become(x.grantor);
END
$function$;
