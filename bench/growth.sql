-- Tables that grow, all of them by turns, in steps of as many rows as are measured elsewhere.

INSERT INTO bench.work (name, title, unit) VALUES
    ('growth', format('%s rows more, again and again', :'rows'), 'ms'),
    ('growth index', 'Size of the primary key meanwhile', 'MB');

SELECT format('CREATE TABLE bench.%I (%s, n integer)', 'growth ' || name, bench.key_column(call))
    FROM bench.generator WHERE 'growth' = ANY (works) \gexec

INSERT INTO bench.candidate (work, name, query)
    SELECT 'growth', name, format('INSERT INTO bench.%I (n) SELECT generate_series(1, %s)',
                                  'growth ' || name, :rows)
    FROM bench.generator WHERE 'growth' = ANY (works) ORDER BY position;

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('growth', 'snowflake', 'nextval', 1.02);

-- A step is a round. A checkpoint of its own is not to come while others are measured.
CREATE PROCEDURE bench.grow(steps integer) LANGUAGE plpgsql AS $$
DECLARE
    c bench.candidate;
BEGIN
    FOR step IN 1 .. steps LOOP
        RAISE INFO 'growth: step % of %', step, steps;
        CHECKPOINT;
        FOR c IN SELECT * FROM bench.turns('growth', step) LOOP
            INSERT INTO bench.sample VALUES ('growth', c.name, step, bench.milliseconds(c.query));
            INSERT INTO bench.sample VALUES
                ('growth index', c.name, step,
                 pg_indexes_size(format('bench.%I', 'growth ' || c.name)) / 1e6);
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;

SELECT max(size) AS steps FROM unnest(:'sizes'::integer[]) AS size \gset
CALL bench.grow(:steps);

SELECT format('DROP TABLE bench.%I', 'growth ' || name)
    FROM bench.candidate WHERE work = 'growth' \gexec

-- What the last steps took until each size was reached, ten at most; and the index at that size.
CREATE TEMPORARY TABLE size AS
    SELECT size, greatest(lag(size, 1, 0) OVER (ORDER BY size), size - 10) + 1 AS first_step,
           format('growth time %s', size) AS time, format('growth index %s', size) AS index
    FROM (SELECT DISTINCT unnest(:'sizes'::integer[])) AS given (size);

INSERT INTO bench.work (name, title, unit)
    SELECT time, format('%s rows more, in a table that has then %s', :'rows', size * :rows), 'ms'
    FROM size ORDER BY size;
INSERT INTO bench.work (name, title, unit)
    SELECT index, format('Size of the primary key of %s rows', size * :rows), 'MB'
    FROM size ORDER BY size;
INSERT INTO bench.sample
    SELECT time, candidate, round, value FROM bench.sample, size
    WHERE work = 'growth' AND round BETWEEN first_step AND size;
INSERT INTO bench.sample
    SELECT index, candidate, round, value FROM bench.sample, size
    WHERE work = 'growth index' AND round = size;
