-- What the figures come to, for tables and charts.

-- Of each candidate the median, and what the middle half of its figures spans.
CREATE VIEW bench.result AS
    SELECT work, candidate,
           percentile_cont(0.25) WITHIN GROUP (ORDER BY value) AS low,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median,
           percentile_cont(0.75) WITHIN GROUP (ORDER BY value) AS high
    FROM bench.sample GROUP BY work, candidate;

-- The same of the ratios that were promised.
CREATE VIEW bench.verdict AS
    SELECT t.*, r.*, CASE WHEN at_least THEN r.median >= bound ELSE r.median <= bound END AS met
    FROM bench.target t, LATERAL (
        SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY c.value / r.value) AS low,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY c.value / r.value) AS median,
               percentile_cont(0.75) WITHIN GROUP (ORDER BY c.value / r.value) AS high
        FROM bench.sample c JOIN bench.sample r USING (work, round)
        WHERE c.work = t.work AND c.candidate = t.candidate AND r.candidate = t.reference) r;

-- A figure as people read it: three digits, thousands apart.
CREATE FUNCTION bench.pretty(value double precision) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN value >= 1000 THEN to_char(value, 'FM999,999,999,990')
                WHEN value = 0 THEN '0'
                ELSE round(value::numeric, 2 - floor(log(value::numeric))::integer)::text END;
