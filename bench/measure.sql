-- What the parts of the benchmark share: where figures are kept, and how a query is timed.

CREATE SCHEMA bench;

-- What is measured. Less of the unit is better, but where "more" says otherwise.
CREATE TABLE bench.work (
    position integer GENERATED ALWAYS AS IDENTITY,
    name text PRIMARY KEY,
    title text NOT NULL,
    unit text NOT NULL,
    more boolean NOT NULL DEFAULT false
);

-- What is compared in a work, in turn. A figure is the milliseconds that the query takes, times
-- scale; works that pgbench drives give query and figure meanings of their own. What prepares the
-- query is not timed.
CREATE TABLE bench.candidate (
    position integer GENERATED ALWAYS AS IDENTITY,
    work text NOT NULL REFERENCES bench.work,
    name text NOT NULL,
    query text NOT NULL,
    scale double precision NOT NULL DEFAULT 1,
    prepare text,
    PRIMARY KEY (work, name)
);

-- The figures.
CREATE TABLE bench.sample (
    work text NOT NULL REFERENCES bench.work,
    candidate text NOT NULL,
    round integer NOT NULL,
    value double precision NOT NULL,
    PRIMARY KEY (work, candidate, round)
);

-- What is promised: candidate / reference, both of one round, at most or at least the bound.
CREATE TABLE bench.target (
    position integer GENERATED ALWAYS AS IDENTITY,
    work text NOT NULL REFERENCES bench.work,
    candidate text NOT NULL,
    reference text NOT NULL,
    bound double precision NOT NULL,
    at_least boolean NOT NULL DEFAULT false
);

-- The candidates of a work in the order of a round: each comes first equally often, so that none
-- always runs after the same other.
CREATE FUNCTION bench.turns(of text, round integer) RETURNS SETOF bench.candidate
    LANGUAGE sql STABLE
    BEGIN ATOMIC
        SELECT * FROM bench.candidate WHERE work = of
            ORDER BY (position + round) % (SELECT count(*) FROM bench.candidate WHERE work = of);
    END;

-- Runs a query to its end, its rows going nowhere, and returns what EXPLAIN says of it.
CREATE FUNCTION bench.explain(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    explained jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, WAL, SUMMARY, FORMAT JSON) ' || query
        INTO explained;
    RETURN explained -> 0;
END
$$;

-- How long a query takes to plan and run.
CREATE FUNCTION bench.milliseconds(query text) RETURNS double precision LANGUAGE sql
    RETURN (SELECT (e ->> 'Planning Time')::double precision
                   + (e ->> 'Execution Time')::double precision
            FROM bench.explain(query) e);

-- Measures all candidates of a work once a round. Round 0 warms up and does not count.
CREATE PROCEDURE bench.measure(of text, rounds integer) LANGUAGE plpgsql AS $$
DECLARE
    c bench.candidate;
    value double precision;
BEGIN
    FOR round IN 0 .. rounds LOOP
        RAISE INFO '%: round % of %', of, round, rounds;
        FOR c IN SELECT * FROM bench.turns(of, round) LOOP
            IF c.prepare IS NOT NULL THEN
                EXECUTE c.prepare;
                COMMIT;
            END IF;
            value := bench.milliseconds(c.query) * c.scale;
            IF round > 0 THEN
                INSERT INTO bench.sample VALUES (of, c.name, round, value);
            END IF;
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;

-- A query that evaluates an expression, which may use a bigint called id, 64 times a row: then the
-- row itself costs next to nothing.
CREATE FUNCTION bench.calls(call text, rows integer) RETURNS text LANGUAGE sql
    RETURN format('SELECT %s FROM generate_series(600000000000000000, %s) AS id',
                  call || repeat(', ' || call, 63), 600000000000000000 + rows - 1);

-- Adds a candidate whose figure is the nanoseconds of one call, from samples of so many ms.
CREATE PROCEDURE bench.add_calls(work text, name text, call text, sample_ms integer)
    LANGUAGE plpgsql AS $$
DECLARE
    rows integer := 100;
BEGIN
    PERFORM bench.milliseconds(bench.calls(call, rows));
    rows := ceil(rows * sample_ms / bench.milliseconds(bench.calls(call, rows)));
    INSERT INTO bench.candidate (work, name, query, scale)
        VALUES (work, name, bench.calls(call, rows), 1e6 / 64 / rows);
END
$$;
