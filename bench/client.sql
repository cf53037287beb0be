-- IDs that an application makes itself. client.sh runs them; the query says with what.

INSERT INTO bench.work (name, title, unit, more)
    SELECT 'client ' || n,
           format('An application of %s thread%s, a node each', n, CASE n WHEN 1 THEN '' ELSE 's' END),
           'IDs/s', true
    FROM generate_series(1, 2) n;

INSERT INTO bench.candidate (work, name, query)
    SELECT w.name, of.name, of.query
    FROM bench.work w, (VALUES ('leased_ids.hpp', 'leased_ids'),
                               ('generator.hpp, ahead of the clock', 'generator')) AS of (name, query)
    WHERE w.name LIKE 'client %' ORDER BY w.position, of.name DESC;

-- What a layout has room for while it keeps to the clock.
INSERT INTO bench.sample
    SELECT 'client ' || n, 'limit of the layout', 1,
           n * (SELECT ids_per_second FROM snowflake.describe('default'))
    FROM generate_series(1, 2) n;
