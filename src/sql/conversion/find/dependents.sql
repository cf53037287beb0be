-- Objects that the server does not alter a column under, and what it forgets of those that it makes
-- again by itself; the sequence and the columns that they belong to; the steps of a plan.

-- An object that depends on columns, as pg_depend names it.
CREATE TYPE snowflake._conversion_object AS (
    classid oid, objid oid,
    depth integer,   -- greater than that of everything it depends on itself
    calls boolean);  -- whether it calls a routine that depends on a column

-- Returns an object.
CREATE FUNCTION snowflake._conversion_object(classid oid, objid oid, depth integer DEFAULT 1, calls boolean DEFAULT false)
    RETURNS snowflake._conversion_object
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(classid, objid, depth, calls)::snowflake._conversion_object;

-- An object that depends on columns which the conversion of a sequence widens.
CREATE TYPE snowflake._conversion_dependent AS (
    kind text,            -- see _kinds(); NULL: an object that cannot be carried over
    classid oid, objid oid,
    relid regclass,       -- the relation that it is, or is on; NULL for a routine
    name text,            -- of a view or a routine; NULL for what is on a relation
    depth integer,
    is_rebuilt boolean,   -- whether the server makes it again, without all it had
    comes_along boolean); -- whether it comes and goes with another object

-- Returns an object as a dependent.
CREATE FUNCTION snowflake._dependent(
        object snowflake._conversion_object, kind text, relid regclass DEFAULT NULL, name text DEFAULT NULL,
        is_rebuilt boolean DEFAULT false, comes_along boolean DEFAULT false)
    RETURNS snowflake._conversion_dependent
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(kind, object.classid, object.objid, relid, name, object.depth, is_rebuilt,
               comes_along)::snowflake._conversion_dependent;

-- A sequence that is converted, in either direction, and the columns that this concerns.
CREATE TYPE snowflake._conversion_part AS (
    seq regclass,
    name text,  -- of the sequence: an identity's is replaced by one of this name
    owner oid,  -- of the sequence
    wishes snowflake._conversion_wishes, -- of the caller
    columns snowflake._conversion_column[],
    dependents snowflake._conversion_dependent[], -- on those that are widened; none on the way back
    online boolean, -- whether shadow columns take the place of those that are widened, see online/
    layout snowflake.layout); -- of the IDs

-- Returns a sequence with its columns.
CREATE FUNCTION snowflake._part(
        seq regclass, columns snowflake._conversion_column[],
        dependents snowflake._conversion_dependent[] DEFAULT '{}',
        wishes snowflake._conversion_wishes DEFAULT snowflake._least_wishes(), online boolean DEFAULT false,
        layout snowflake.layout DEFAULT 'default')
    RETURNS snowflake._conversion_part
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ROW(seq, seq::text, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = seq), wishes, columns,
               dependents, online, layout)::snowflake._conversion_part;

-- A step of conversion_plan(), without its number.
CREATE TYPE snowflake._conversion_step AS (
    command text,      -- NULL: the step is a remark
    effect text, rewrites regclass, size bigint, role name);

-- Returns a step that is a command.
CREATE FUNCTION snowflake._step(
        command text,
        owner oid, -- whose rights the command has; NULL: the caller types it
        effect text DEFAULT NULL, rewrites regclass DEFAULT NULL, size bigint DEFAULT NULL)
    RETURNS snowflake._conversion_step
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ROW(command, effect, rewrites, size, pg_catalog.pg_get_userbyid(owner))::snowflake._conversion_step;

-- Returns a step that is a remark.
CREATE FUNCTION snowflake._remark(effect text)
    RETURNS snowflake._conversion_step
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ROW(NULL, effect, NULL, NULL, NULL)::snowflake._conversion_step;
