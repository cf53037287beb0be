-- Rows with the ID as primary key, many in one statement; and the size of the index.

INSERT INTO bench.work (name, title, unit) VALUES
    ('insert', format('INSERT ... SELECT of %s rows', :'rows'), 'ms'),
    ('index', 'Size of the primary key of these rows', 'kB');

SELECT format('CREATE TABLE bench.%I (%s, n integer)', 'insert ' || name, bench.key_column(call))
    FROM bench.generator WHERE 'insert' = ANY (works) \gexec

-- The checkpoint is not to come while others are measured.
INSERT INTO bench.candidate (work, name, query, prepare)
    SELECT 'insert', name,
           format('INSERT INTO bench.%I (n) SELECT generate_series(1, %s)',
                  'insert ' || name, :rows),
           format('TRUNCATE bench.%I; CHECKPOINT', 'insert ' || name)
    FROM bench.generator WHERE 'insert' = ANY (works) ORDER BY position;

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('insert', 'snowflake', 'nextval', 1.02),
    ('insert', 'snowflake', 'uuid v4', 0.7),
    ('index', 'snowflake', 'nextval', 1.0),
    ('index', 'snowflake', 'uuid v4', 0.75);

CALL bench.measure('insert', :rounds);

INSERT INTO bench.sample
    SELECT 'index', name, 1, pg_indexes_size(format('bench.%I', 'insert ' || name)) / 1024
    FROM bench.candidate WHERE work = 'insert';

SELECT format('DROP TABLE bench.%I', 'insert ' || name)
    FROM bench.candidate WHERE work = 'insert' \gexec
