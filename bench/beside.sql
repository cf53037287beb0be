-- Two sessions that insert rows one by one, beside two that read rows by their ID: in each query the
-- 10 from a random one of the first 1000 on. pgbench drives them; a query is a name of a candidate.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('inserts beside', 'INSERTs of 2 sessions beside 2 that read', 'rows/s', true),
    ('queries beside', 'Queries of 2 sessions beside 2 that insert', 'queries/s', true);

SELECT format('CREATE TABLE bench.%I (%s, n integer)', 'beside ' || name, bench.key_column(call)),
       format('CREATE TABLE bench.%I AS SELECT n AS place, id FROM bench.%I',
              'known ' || name, 'beside ' || name),
       format('INSERT INTO bench.%I (n) SELECT generate_series(1, %s)', 'beside ' || name, :rows),
       format('INSERT INTO bench.%I SELECT n, id FROM bench.%I WHERE n <= 1000',
              'known ' || name, 'beside ' || name),
       format('CREATE INDEX ON bench.%I (place)', 'known ' || name),
       format('VACUUM ANALYZE bench.%I, bench.%I', 'beside ' || name, 'known ' || name)
    FROM bench.generator WHERE 'beside' = ANY (works) \gexec

INSERT INTO bench.candidate (work, name, query)
    SELECT work, name, name
    FROM bench.generator, unnest(ARRAY['inserts beside', 'queries beside']) work
    WHERE 'beside' = ANY (works) ORDER BY work, position;
