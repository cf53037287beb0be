-- The library's functions for the conversion: they read and make expressions of the catalogs as trees
-- (src/conversion/expression.hpp, and trial.hpp there), run commands as another role (runner.hpp there),
-- and read relations by OID (src/server/relations.hpp).

-- Finds the types of the constants in the stored expressions of an object; NULL: there is one that is too long or nested too deeply
-- to be looked into.
CREATE FUNCTION snowflake._types_of_constants(class regclass, object oid)
    RETURNS SETOF oid
    AS 'MODULE_PATHNAME', 'snowflake_types_of_constants'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 2;

-- Finds the relations that a rule reads or changes; NULL: as above.
CREATE FUNCTION snowflake._relations_read(rule oid)
    RETURNS SETOF oid
    AS 'MODULE_PATHNAME', 'snowflake_relations_read'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 2;

-- Finds the relations whose columns the stored queries of an object name one by one, in their order, when the server prints
-- them; NULL: as above.
CREATE FUNCTION snowflake._relations_named_by_position(class regclass, object oid)
    RETURNS SETOF oid
    AS 'MODULE_PATHNAME', 'snowflake_relations_named_by_position'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 2;

-- Tells whether a routine in standard SQL puts the row of a type that it returns together from columns.
CREATE FUNCTION snowflake._returns_columns(routine oid, type oid)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_returns_columns'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Finds the relations that the stored queries of an object name with ONLY; NULL: as above.
CREATE FUNCTION snowflake._relations_named_with_only(class regclass, object oid)
    RETURNS SETOF oid
    AS 'MODULE_PATHNAME', 'snowflake_relations_named_with_only'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1;

-- Tells whether a column default is nothing but a call of nextval on a sequence. False for a stranger's that is too long to
-- be read: a query can ask of any default, in whatever order the planner joins.
CREATE FUNCTION snowflake._is_call(attrdef oid, seq regclass)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_is_call'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Returns the column, and the bound, of a check that is nothing but "column < bound"; NULL: it is another one.
CREATE FUNCTION snowflake._upper_bound(check_constraint oid, OUT attnum smallint, OUT bound bigint)
    AS 'MODULE_PATHNAME', 'snowflake_upper_bound'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Returns a column default with the calls of nextval on a sequence replaced by snowflake.nextval, or back; NULL:
-- there are none.
CREATE FUNCTION snowflake._default_replaced(attrdef oid, seq regclass, to_snowflake boolean)
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_default_replaced'
    LANGUAGE C STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off;

-- Returns the tree of a column default as text that can be compared; the sequence is left out.
CREATE FUNCTION snowflake._default_form(attrdef oid, seq regclass)
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_default_form'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Returns what _default_form() has to be once the default is set again, with its calls replaced.
CREATE FUNCTION snowflake._default_form_replaced(
        attrdef oid, seq regclass,
        to_snowflake boolean, -- NULL: nothing is replaced
        type oid, typmod integer)
    RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_default_form_replaced'
    LANGUAGE C STABLE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off;

-- Returns what a default makes of each number from the sequence; NULL: it was not tried.
CREATE FUNCTION snowflake._try_default(attrdef oid, seq regclass, numbers bigint[])
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'snowflake_try_default'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

-- Returns what a check, a generated column (class pg_attrdef), an index or extended statistics make of each number in a column
-- that they name alone; NULL: they were not tried.
CREATE FUNCTION snowflake._try_stored(class oid, object oid, attnum smallint, numbers bigint[])
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'snowflake_try_stored'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET quote_all_identifiers = off;

-- Returns for each number in a column of the whole whether a partition refuses it (f); NULL: it was not tried.
CREATE FUNCTION snowflake._try_partition(partition regclass, attnum smallint, numbers bigint[])
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'snowflake_try_partition'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

-- Returns the process of the session that a temporary schema belongs to; NULL: there is none.
CREATE FUNCTION snowflake._session_of(temporary_schema oid)
    RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_session_of'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

-- Lets a sequence of the caller belong to its column as that of a serial does, where the column was an identity;
-- returns whether it was.
CREATE FUNCTION snowflake._own_as_serial(seq regclass)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_own_as_serial'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Reads the greatest value of a bigint column of a table of the caller by OID, without expressions and policies;
-- NULL: there is none.
CREATE FUNCTION snowflake._greatest_value(tab regclass, attnum smallint)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_greatest_value'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Tells whether an index tells the greatest value of a bigint column.
CREATE FUNCTION snowflake._has_greatest_value_at_hand(tab regclass, attnum smallint)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_has_greatest_value_at_hand'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

-- Tells whether _run_as() lets the caller act for a role, as SET ROLE would.
CREATE FUNCTION snowflake._may_become(role oid)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_may_become'
    LANGUAGE C STABLE STRICT PARALLEL UNSAFE;

-- Tells whether a role has the rights of another, or may SET ROLE to it.
CREATE FUNCTION snowflake._may_act_for(author oid, role oid)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_may_act_for'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Runs a command with the rights of a role, in a security-restricted operation. Users' code that it runs finds the
-- search_path run_path. A query, which the caller could run, checks what the command has made, objects $3 of the classes $2,
-- before any of that code runs. Until then it is asked for each function of somebody who may not act for the role: $1, else 0.
-- Its $4 is the argument.
CREATE FUNCTION snowflake._run_as(command text, role oid, run_path text, query text, argument jsonb DEFAULT NULL)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_run_as'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Returns how many commands of this session that _run_as() ran have failed because of an event trigger.
CREATE FUNCTION snowflake._event_trigger_failures()
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_event_trigger_failures'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Runs a query, as the caller could, on a row as its $1 and with the catalogs as of now; returns the row that the query
-- returns. A function that is STABLE reads with the snapshot that it finds, which SERIALIZABLE keeps.
CREATE FUNCTION snowflake._as_of_now(query text, argument record)
    RETURNS record
    AS 'MODULE_PATHNAME', 'snowflake_as_of_now'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
