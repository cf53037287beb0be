-- What is kept of a conversion of four tables beside clients, in both ways. conversion.sh runs the clients.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('conversion wait', format('Longest wait of a client beside a conversion of four tables of %s rows', :'rows'), 'ms', false),
    ('conversion time', 'How long each of its commands takes', 's', false),
    ('conversion throughput', 'What the clients get done meanwhile, in commands that take longer than a second',
     '% of before', true),
    ('conversion errors', 'Errors of the clients, by SQLSTATE', 'errors', false),
    ('conversion WAL', 'WAL that its commands write, with that of the clients', 'MB', false),
    ('conversion disk', 'The four tables with their indexes, at most', 'MB', false);

-- What the clients have done: when a transaction ended, and how long it took.
CREATE TABLE bench.transaction (ended double precision, milliseconds double precision);
CREATE TABLE bench.error (raised double precision, state text);
-- The commands of the conversion; the first of each way only waits.
CREATE TABLE bench.stage (
    way text, position integer, command text, started double precision, ended double precision, outcome text,
    wal_before pg_lsn, wal_after pg_lsn, bytes bigint);
