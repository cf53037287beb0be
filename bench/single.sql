-- Rows with the ID as primary key, one a statement, in one transaction.

INSERT INTO bench.work (name, title, unit) VALUES
    ('single', format('%s INSERTs of one row', :'rows'), 'ms');

SELECT format('CREATE TABLE bench.%I (%s, n integer)', 'single ' || name, bench.key_column(call))
    FROM bench.generator WHERE 'published' = ANY (works) \gexec

-- A function each, so that the statement is planned once, as a client would prepare it.
SELECT format('CREATE FUNCTION bench.%1$I(rows integer) RETURNS void LANGUAGE plpgsql AS %2$L',
              'single ' || name,
              format('BEGIN
                          FOR i IN 1 .. rows LOOP INSERT INTO bench.%I (n) VALUES (i); END LOOP;
                      END', 'single ' || name))
    FROM bench.generator WHERE 'published' = ANY (works) \gexec

INSERT INTO bench.candidate (work, name, query, prepare)
    SELECT 'single', name, format('SELECT bench.%I(%s)', 'single ' || name, :rows),
           format('TRUNCATE bench.%I; CHECKPOINT', 'single ' || name)
    FROM bench.generator WHERE 'published' = ANY (works) ORDER BY position;

CALL bench.measure('single', :rounds);
