-- Many IDs at once, against a function of the server that returns as many rows and does nothing
-- else.

INSERT INTO bench.work (name, title, unit) VALUES
    ('batch', format('%s IDs from one call', :'rows'), 'ms');

INSERT INTO bench.candidate (work, name, query) VALUES
    ('batch', 'generate_series', format('SELECT count(*) FROM generate_series(1, %s)', :rows)),
    ('batch', 'snowflake.nextvals',
     format('SELECT count(*) FROM snowflake.nextvals(''bench.snowflake_1'', %s)', :rows));

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('batch', 'snowflake.nextvals', 'generate_series', 1.3);

CALL bench.measure('batch', :rounds);
