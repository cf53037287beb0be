-- Sequences in the expressions that the catalogs store (src/sequence/sequence_uses.hpp).

-- Finds every occurrence of a sequence in the stored expressions of an object.
CREATE FUNCTION snowflake._sequence_uses(
        class regclass, object oid,
        OUT callee text,         -- the function that is called on the sequence; NULL: a constant alone
        OUT sequence regclass,   -- NULL: named by a text, or computed
        OUT name text[],         -- the identifiers of the text
        OUT layout snowflake.layout) -- of snowflake.nextval and nextvals; NULL: computed
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowflake_sequence_uses'
    LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 2;
