-- COPY into a table with the ID as primary key. copy.sh runs it; the query is the command.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('copy', format('COPY of %s rows', :'rows'), 'rows/s', true),
    ('copy wal', 'WAL of this COPY', 'MB', false);

SELECT format('CREATE TABLE bench.%I (%s, n integer)', 'copy ' || name, bench.key_column(call))
    FROM bench.generator WHERE 'copy' = ANY (works) \gexec

INSERT INTO bench.candidate (work, name, query)
    SELECT 'copy', name, format('COPY bench.%I (n) FROM STDIN', 'copy ' || name)
    FROM bench.generator WHERE 'copy' = ANY (works) ORDER BY position;

-- What copy.sh puts before each row.
INSERT INTO bench.candidate (work, name, query) VALUES
    ('copy', 'snowflake, IDs in the file', 'COPY bench."copy snowflake" (id, n) FROM STDIN');
