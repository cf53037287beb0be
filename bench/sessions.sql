-- Several sessions that make IDs of one sequence. pgbench drives them; a figure is transactions a
-- second, times scale.

INSERT INTO bench.work (name, title, unit, more)
    SELECT 'sessions ' || n,
           format('%s session%s on one sequence', n, CASE n WHEN 1 THEN '' ELSE 's' END),
           'IDs/s', true
    FROM unnest(:'sessions'::integer[]) n;

INSERT INTO bench.candidate (work, name, query, scale)
    SELECT w.name, g.name, format('SELECT count(%s) FROM generate_series(1, 1000)', g.call), 1000
    FROM bench.work w, bench.generator g
    WHERE w.name LIKE 'sessions %' AND 'sessions' = ANY (g.works) ORDER BY w.position, g.position;

INSERT INTO bench.target (work, candidate, reference, bound, at_least)
    SELECT name, 'snowflake' || cache, 'nextval' || cache, bound, true
    FROM bench.work, (VALUES ('', 2.0), (', CACHE 32', 1.5)) AS of (cache, bound)
    WHERE name LIKE 'sessions %' AND name <> 'sessions 1' ORDER BY work.position;
