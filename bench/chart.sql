-- The data of a chart, a bar a line: label, median, what the middle half spans, whether the bar is
-- this extension's, and the median as people read it.
SELECT concat(CASE WHEN c.work ~ '^sessions' THEN split_part(title, ' on ', 1) || ': ' END, c.name),
       median, low, high, (c.name LIKE 'snowflake%')::integer, bench.pretty(median)
    FROM bench.candidate c
    JOIN bench.result r ON r.work = c.work AND r.candidate = c.name
    JOIN bench.work w ON w.name = c.work
    WHERE c.work ~ :'works' ORDER BY w.position, c.position;
