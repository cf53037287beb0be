-- The data of a panel of the chart of growth: a line for each step, a column for each candidate.
SELECT round * :rows / 1e6 AS millions, s.candidate, s.value / 1000 AS value, c.position
    FROM bench.sample s JOIN bench.candidate c ON c.work = 'growth' AND c.name = s.candidate
    WHERE s.work = :'work' ORDER BY round
    \crosstabview millions candidate value position
