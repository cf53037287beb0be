-- Reading IDs, against functions of the server that take and return the same.

INSERT INTO bench.work (name, title, unit) VALUES
    ('decode', 'Reading one ID', 'ns');

CALL bench.add_calls('decode', 'abs', 'abs(id)', :sample_ms);
CALL bench.add_calls('decode', 'get_timestamp', 'snowflake.get_timestamp(id)', :sample_ms);
CALL bench.add_calls('decode', 'get_node', 'snowflake.get_node(id)', :sample_ms);
CALL bench.add_calls('decode', 'get_count', 'snowflake.get_count(id)', :sample_ms);
CALL bench.add_calls('decode', 'numeric', 'id::numeric', :sample_ms);
CALL bench.add_calls('decode', 'get_epoch', 'snowflake.get_epoch(id)', :sample_ms);
CALL bench.add_calls('decode', 'jsonb_build_object',
                     $$jsonb_build_object('ts', now(), 'node', 1, 'count', id)$$, :sample_ms);
CALL bench.add_calls('decode', 'format', 'snowflake.format(id)', :sample_ms);

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('decode', 'get_timestamp', 'abs', 1.3),
    ('decode', 'get_node', 'abs', 1.3),
    ('decode', 'get_count', 'abs', 1.3),
    ('decode', 'get_epoch', 'numeric', 1.3),
    ('decode', 'format', 'jsonb_build_object', 1.3);

CALL bench.measure('decode', :rounds);
