-- The names of IDs that docs/security.md shows, made and read, against a random uuid, which has to be stored.

INSERT INTO bench.work (name, title, unit) VALUES
    ('names', 'Making and reading an opaque name of an ID', 'ns');

CALL bench.add_calls('names', 'gen_random_uuid', 'gen_random_uuid()', :sample_ms);
CALL bench.add_calls('names', 'public_id', 'public_id(id)', :sample_ms);
CALL bench.add_calls('names', 'public_id and id_of', 'id_of(public_id(id))', :sample_ms);

CALL bench.measure('names', :rounds);
