-- The view of the sequences that make snowflake IDs.

-- Returns the last number taken of a sequence without keeping a lock; NULL: none was, or it cannot be read at once.
CREATE FUNCTION snowflake._glimpse_last_value(seq regclass)
    RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_glimpse_last_value'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

CREATE VIEW snowflake.sequences AS
    WITH
    -- Defaults are found by the sequences and the functions on which they depend. The view names no sequence: a
    -- conversion of that sequence would look at the view.
    used AS (
        SELECT DISTINCT uses.sequence, f.adrelid AS relation, f.adnum AS attribute, uses.layout,
               uses.callee = 'pg_catalog.nextval' AS is_servers
            FROM pg_catalog.pg_attrdef f
            CROSS JOIN LATERAL snowflake._sequence_uses('pg_catalog.pg_attrdef', f.oid) uses
            WHERE uses.callee IN ('snowflake.nextval', 'pg_catalog.nextval') AND uses.sequence IS NOT NULL
              AND EXISTS (SELECT FROM pg_catalog.pg_depend d
                              LEFT JOIN pg_catalog.pg_sequence s ON s.seqrelid = d.refobjid
                              LEFT JOIN pg_catalog.pg_proc p ON p.oid = d.refobjid AND p.proname IN ('nextval', 'next_id')
                              LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'snowflake'
                              WHERE d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid
                                AND (d.refclassid = 'pg_catalog.pg_class'::regclass AND s.seqrelid IS NOT NULL
                                     OR d.refclassid = 'pg_catalog.pg_proc'::regclass AND n.oid IS NOT NULL))
    ),
    found AS (
        SELECT c.oid::regclass AS sequence, used.relation::regclass AS table_name,
               a.attname AS column_name, coalesce(used.layout, snowflake.layout_of(c.oid)) AS layout,
               snowflake._glimpse_last_value(c.oid) AS last_id,
               s.seqincrement = snowflake._guard() AS guarded
            FROM pg_catalog.pg_sequence s
            JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
            LEFT JOIN used ON used.sequence = c.oid
                          AND (NOT used.is_servers OR snowflake._makes_ids(s.seqincrement, s.seqmax))
            LEFT JOIN pg_catalog.pg_attribute a
                ON a.attrelid = used.relation AND a.attnum = used.attribute
            WHERE (used.sequence IS NOT NULL OR snowflake._makes_ids(s.seqincrement, s.seqmax))
              AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
    )
    SELECT found.sequence, found.table_name, found.column_name, found.layout, found.last_id,
           decoded.last_timestamp, decoded.last_node, decoded.last_count,
           CASE WHEN valid.id IS NOT NULL
                THEN greatest(decoded.last_timestamp - pg_catalog.clock_timestamp(), '0')
           END AS ahead,
           pg_catalog.trunc(
               extract(epoch FROM greatest(
                           described.last_timestamp
                           - greatest(decoded.last_timestamp, pg_catalog.clock_timestamp()),
                           '0'))
               / extract(epoch FROM described.tick)) * described.ids_per_tick AS ids_left,
           found.guarded
        FROM found
        CROSS JOIN LATERAL snowflake.describe(found.layout) described
        -- A value that setval() has set need not be an ID of the layout.
        CROSS JOIN LATERAL (
            SELECT CASE WHEN found.last_id BETWEEN 0 AND snowflake.make_id(
                                 described.last_timestamp, (described.nodes - 1)::integer,
                                 (described.ids_per_tick - 1)::integer, found.layout)
                        THEN found.last_id END AS id
        ) valid
        CROSS JOIN LATERAL (
            SELECT snowflake.get_timestamp(valid.id, found.layout) AS last_timestamp,
                   snowflake.get_node(valid.id, found.layout) AS last_node,
                   snowflake.get_count(valid.id, found.layout) AS last_count
        ) decoded;
COMMENT ON VIEW snowflake.sequences IS
    'sequences that a default uses with snowflake.nextval, or that are converted';
COMMENT ON COLUMN snowflake.sequences.last_id IS
    'last ID of the sequence, or, before the first, the last number; NULL: none, no right to see it, or the sequence is being altered';
COMMENT ON COLUMN snowflake.sequences.ahead IS
    'how far the last ID is ahead of the clock';
COMMENT ON COLUMN snowflake.sequences.ids_left IS
    'IDs that the sequence can still make on one node until the timestamps of the layout end';
COMMENT ON COLUMN snowflake.sequences.guarded IS
    'whether the server''s own nextval refuses to take a value from the sequence';

