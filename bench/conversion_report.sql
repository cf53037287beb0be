-- What a conversion beside clients has done to them. Seconds before the first command of a way are its measure.

CREATE VIEW bench.conversion AS
    SELECT s.way, s.position, s.outcome, s.ended - s.started AS seconds,
           concat_ws(' ', s.way, to_char(s.position, 'FM00'), left(regexp_replace(s.command, '\(''public\.[^'']*''(, )?', '('), 60)) AS name,
           (SELECT max(t.milliseconds) FROM bench.transaction t
                WHERE t.ended >= s.started AND t.ended - t.milliseconds / 1000 <= s.ended) AS wait,
           (SELECT count(*) FROM bench.transaction t WHERE t.ended BETWEEN s.started AND s.ended) / (s.ended - s.started) AS rate,
           (SELECT string_agg(format('%s: %s', e.state, e.count), ', ')
                FROM (SELECT state, count(*) FROM bench.error e WHERE e.raised BETWEEN s.started AND s.ended GROUP BY 1 ORDER BY 1) e) AS errors,
           pg_wal_lsn_diff(s.wal_after, s.wal_before) / 1e6 AS wal, s.bytes / 1e6 AS disk
        FROM bench.stage s;

INSERT INTO bench.sample SELECT 'conversion wait', name, 1, wait FROM bench.conversion WHERE wait IS NOT NULL;
INSERT INTO bench.sample SELECT 'conversion time', name, 1, seconds FROM bench.conversion;
INSERT INTO bench.sample
    SELECT 'conversion throughput', b.name, 1, 100 * b.rate / before.rate
        FROM bench.conversion b JOIN bench.conversion before ON before.way = b.way AND before.position = 0
        WHERE b.seconds > 1;
INSERT INTO bench.sample SELECT 'conversion errors', state, 1, count(*) FROM bench.error GROUP BY state;
INSERT INTO bench.sample SELECT 'conversion errors', 'any', 1, 0 WHERE NOT EXISTS (SELECT FROM bench.error);
INSERT INTO bench.sample SELECT 'conversion WAL', way, 1, sum(wal) FROM bench.conversion WHERE position > 0 GROUP BY way;
INSERT INTO bench.sample SELECT 'conversion disk', way, 1, max(disk) FROM bench.conversion GROUP BY way;

SELECT name, round(seconds::numeric, 2) AS "s", round(wait::numeric) AS "longest wait, ms",
       CASE WHEN seconds > 1 THEN round((100 * rate / first_value(rate) OVER (PARTITION BY way ORDER BY position))::numeric) END
           AS "throughput, %",
       coalesce(errors, 'none') AS "errors by SQLSTATE", round(wal) AS "WAL, MB", round(disk) AS "disk, MB", left(outcome, 100) AS outcome
    FROM bench.conversion ORDER BY way DESC, position;
