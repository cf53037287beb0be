-- A transaction that makes an ID and does nothing else. pgbench drives it.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('transaction', 'One ID as a whole transaction', 'tps', true);

INSERT INTO bench.candidate (work, name, query) VALUES
    ('transaction', 'nextval', $$SELECT nextval('bench.server_1')$$),
    ('transaction', 'snowflake', 'SELECT snowflake.nextval()');

INSERT INTO bench.target (work, candidate, reference, bound, at_least) VALUES
    ('transaction', 'snowflake', 'nextval', 1.0, true);
