-- What a conversion beside clients has done to them. Seconds before the first command are the measure.

CREATE VIEW bench.conversion AS
    SELECT s.position, s.outcome, s.ended - s.started AS seconds,
           format('%s %s', to_char(s.position, 'FM00'), left(regexp_replace(s.command, '\(''public\.[^'']*''(, )?', '('), 60)) AS name,
           (SELECT max(t.milliseconds) FROM bench.transaction t
                WHERE t.ended >= s.started AND t.ended - t.milliseconds / 1000 <= s.ended) AS wait,
           (SELECT count(*) FROM bench.transaction t WHERE t.ended BETWEEN s.started AND s.ended) / (s.ended - s.started) AS rate
        FROM bench.stage s;

INSERT INTO bench.sample SELECT 'conversion wait', name, 1, wait FROM bench.conversion WHERE wait IS NOT NULL;
INSERT INTO bench.sample SELECT 'conversion time', name, 1, seconds FROM bench.conversion;
INSERT INTO bench.sample
    SELECT 'conversion throughput', b.name, 1, 100 * b.rate / before.rate
        FROM bench.conversion b, bench.conversion before
        WHERE before.position = 0 AND b.seconds > 1;

SELECT name, round(seconds::numeric, 2) AS "s", round(wait::numeric) AS "longest wait, ms",
       CASE WHEN seconds > 1 THEN round((100 * rate / (SELECT rate FROM bench.conversion WHERE position = 0))::numeric) END AS "throughput, %",
       left(outcome, 100) AS outcome
    FROM bench.conversion ORDER BY position;
