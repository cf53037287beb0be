-- TPC-B, its history keyed by the ID. pgbench drives it; the query is the column with the key.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('tpcb', 'TPC-B with the ID as key of its history, 4 clients', 'tps', true);

INSERT INTO bench.candidate (work, name, query)
    SELECT 'tpcb', name, bench.key_column(call)
    FROM bench.generator WHERE 'tpcb' = ANY (works) ORDER BY position;

INSERT INTO bench.target (work, candidate, reference, bound, at_least) VALUES
    ('tpcb', 'snowflake', 'nextval', 0.98, true);
