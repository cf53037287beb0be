-- The tables of results.md, in Markdown.

\echo '## Targets'
\echo
\echo 'Ratios of two figures of one round: the median, and what the middle half of rounds spans.'
\echo
\echo '| work | of | to | target | measured | | met |'
\echo '|---|---|---|---|---:|---|---|'
SELECT format('| %s | %s | %s | %s %s | %s | %s to %s | %s |', title, candidate, reference,
              CASE WHEN at_least THEN 'at least' ELSE 'at most' END, bound,
              bench.pretty(median), bench.pretty(low), bench.pretty(high),
              CASE WHEN met THEN 'yes' ELSE '**no**' END)
    FROM bench.verdict v JOIN bench.work w ON w.name = v.work ORDER BY w.position, v.position;

\echo
\echo '## Figures'
\echo
\echo 'The median, and what the middle half of all rounds spans.'
\echo
\echo '| work | candidate | median | | |'
\echo '|---|---|---:|---|---|'
SELECT format('| %s | %s | %s | %s | %s to %s |',
              title, candidate, bench.pretty(median), unit, bench.pretty(low), bench.pretty(high))
    FROM bench.result r JOIN bench.work w ON w.name = r.work
    ORDER BY w.position, CASE WHEN more THEN -median ELSE median END;

\echo
\echo '## A published comparison, and the same here'
\echo
SELECT format('Published are figures for a million rows; here there are %s.', :'rows');
\echo
\echo '| | auto-increment, theirs | here | snowflake, theirs | here | UUID v4, theirs | here |'
\echo '|---|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s |', label, string_agg(
           format('%s | %s %s', figure, bench.pretty(median / divisor), unit), ' | '
           ORDER BY position))
    FROM (VALUES (1, 'INSERT, one by one', 'single', '{45 s,48 s,95 s}'::text[], 1000, 's'),
                 (2, 'INSERT ... SELECT', 'insert', '{"","",""}', 1000, 's'),
                 (3, 'index', 'index', '{32 MB,32 MB,64 MB}', 1024, 'MB'),
                 (4, 'SELECT with JOIN, cold', 'join cold', '{"",120 ms,180 ms}', 1, 'ms'),
                 (5, 'SELECT with JOIN, warm', 'join warm', '{"",25 ms,45 ms}', 1, 'ms'))
             AS line (number, label, work, published, divisor, unit),
         unnest('{nextval,snowflake,uuid v4}'::text[], published)
             WITH ORDINALITY AS of (candidate, figure, position)
         JOIN bench.result USING (candidate)
    WHERE result.work = line.work
    GROUP BY number, label ORDER BY number;
