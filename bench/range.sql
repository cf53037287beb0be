-- Finding rows by time, and reading all IDs of a table, alone and with parallel workers.

INSERT INTO bench.work (name, title, unit) VALUES
    ('range', format('Rows of 100 seconds among %s', 10 * :rows), 'ms'),
    ('parallel', format('Time, node and counter of %s rows', 10 * :rows), 'ms');

-- An ID every 100 ms.
CREATE UNLOGGED TABLE bench.event AS
    SELECT snowflake.make_id(timestamptz '2025-01-01 00:00:00Z' + i * interval '100 ms', 1, 0) AS id
    FROM generate_series(0, 10 * :rows - 1) AS i;
ALTER TABLE bench.event ADD PRIMARY KEY (id);
VACUUM ANALYZE bench.event;

INSERT INTO bench.candidate (work, name, query) VALUES
    ('range', 'by ID',
     $$SELECT count(*) FROM bench.event
       WHERE snowflake.created_between(id, '2025-01-01 00:10:00Z', '2025-01-01 00:11:40Z')$$),
    ('range', 'computed per row',
     $$SELECT count(*) FROM bench.event
       WHERE snowflake.get_timestamp(id) >= '2025-01-01 00:10:00Z'
         AND snowflake.get_timestamp(id) < '2025-01-01 00:11:40Z'$$);

INSERT INTO bench.target (work, candidate, reference, bound, at_least) VALUES
    ('range', 'computed per row', 'by ID', 1000, true);

-- The process of the session works too. Conditions that hold for no row, so that all are computed.
INSERT INTO bench.candidate (work, name, prepare, query)
    SELECT 'parallel', workers + 1 || CASE workers WHEN 0 THEN ' process' ELSE ' processes' END,
           format('ALTER TABLE bench.event SET (parallel_workers = %s)', workers),
           $$SELECT count(*) FROM bench.event
             WHERE snowflake.get_timestamp(id) < '2024-01-01'
                OR snowflake.get_node(id) = 0
                OR snowflake.get_count(id) > 0$$
    FROM unnest('{0,1,3,7}'::integer[]) workers WHERE workers < :processors;

-- At least 0.8 of the processes' worth.
INSERT INTO bench.target (work, candidate, reference, bound, at_least)
    SELECT 'parallel', '1 process', name, 0.8 * split_part(name, ' ', 1)::integer, true
    FROM bench.candidate WHERE work = 'parallel' AND name <> '1 process';

SET max_parallel_workers_per_gather = 0;
CALL bench.measure('range', :rounds);

SET max_parallel_workers_per_gather = 7;
CALL bench.measure('parallel', :rounds);
DROP TABLE bench.event;
