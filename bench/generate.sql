-- One call in one session.

INSERT INTO bench.work (name, title, unit) VALUES
    ('generate', 'One ID, in one session', 'ns');

SELECT format('CALL bench.add_calls(%L, %L, %L, %s)', 'generate', name, call, :sample_ms)
    FROM bench.generator WHERE 'generate' = ANY (works) ORDER BY position \gexec

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('generate', 'snowflake', 'nextval', 0.42),
    ('generate', 'snowflake, CACHE 32', 'clock_timestamp', 1.25),
    ('generate', 'snowflake, CACHE 32', 'nextval, CACHE 32', 0.5),
    ('generate', 'snowflake, CACHE 256', 'clock_timestamp', 1.25),
    ('generate', 'snowflake, CACHE 256', 'nextval, CACHE 256', 0.5);

CALL bench.measure('generate', :rounds);
