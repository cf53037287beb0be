-- One statement that makes many IDs, one a row.

INSERT INTO bench.work (name, title, unit) VALUES
    ('sum', format('The sum of %s IDs, in one statement', :'rows'), 'ms');

INSERT INTO bench.candidate (work, name, query)
    SELECT 'sum', name, format('SELECT sum(%s) FROM generate_series(1, %s)', call, :rows)
    FROM bench.generator WHERE 'sum' = ANY (works) ORDER BY position;

CALL bench.measure('sum', :rounds);
