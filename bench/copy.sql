-- COPY of rows without IDs, which the table's default makes: with the ID as primary key, and without an index.
-- copy.sh runs it; the query is the command.

INSERT INTO bench.work (name, title, unit, more) VALUES
    ('copy', format('COPY of %s rows', :'rows'), 'rows/s', true),
    ('copy wal', 'WAL of this COPY', 'MB', false),
    ('copy unindexed', format('COPY of %s rows without an index', :'rows'), 'rows/s', true),
    ('copy unindexed wal', 'WAL of this COPY', 'MB', false);

SELECT format('CREATE TABLE bench.%I (%s, n integer)', work || ' ' || name,
              CASE work WHEN 'copy' THEN bench.key_column(call)
                        ELSE replace(bench.key_column(call), ' PRIMARY KEY', '') END)
    FROM bench.generator, unnest(ARRAY['copy', 'copy unindexed']) work WHERE 'copy' = ANY (works) \gexec

INSERT INTO bench.candidate (work, name, query)
    SELECT work, name, format('COPY bench.%I (n) FROM STDIN', work || ' ' || name)
    FROM bench.generator, unnest(ARRAY['copy', 'copy unindexed']) work
    WHERE 'copy' = ANY (works) ORDER BY work, position;

INSERT INTO bench.target (work, candidate, reference, bound, at_least) VALUES
    ('copy', 'snowflake', 'nextval', 1.0, true),
    ('copy wal', 'snowflake', 'nextval', 1.02, false),
    ('copy unindexed', 'snowflake', 'nextval', 1.0, true),
    ('copy unindexed wal', 'snowflake', 'nextval', 1.02, false);
