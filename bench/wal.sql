-- The WAL that IDs alone write, without a table that they go to.

INSERT INTO bench.work (name, title, unit) VALUES
    ('wal', format('WAL for %s IDs', :'rows'), 'bytes');

INSERT INTO bench.target (work, candidate, reference, bound) VALUES
    ('wal', 'snowflake', 'nextval', 0.001),
    ('wal', 'snowflake, CACHE 32', 'nextval, CACHE 32', 0.001);

CREATE PROCEDURE bench.measure_wal(ids integer, rounds integer) LANGUAGE plpgsql AS $$
DECLARE
    g bench.generator;
BEGIN
    FOR round IN 1 .. rounds LOOP
        RAISE INFO 'wal: round % of %', round, rounds;
        FOR g IN SELECT * FROM bench.generator WHERE 'wal' = ANY (works) LOOP
            INSERT INTO bench.sample
                SELECT 'wal', g.name, round, (explained -> 'Plan' ->> 'WAL Bytes')::double precision
                FROM bench.explain(format('SELECT %s FROM generate_series(1, %s)', g.call, ids))
                    AS explained;
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;

CALL bench.measure_wal(:rows, least(:rounds, 3));
