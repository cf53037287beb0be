-- Orders and their items, of which a query reads the latest orders with theirs. The server is
-- restarted in between, so join.sh lets the candidates have their turns.

INSERT INTO bench.work (name, title, unit) VALUES
    ('join cold', format('JOIN of the latest 1 in 1000 of %s orders, cold', :'rows'), 'ms'),
    ('join warm', 'The same JOIN, warm', 'ms');

-- An item an order, made in the same order.
SELECT format('CREATE TABLE bench.%I (%s, n integer)', 'orders ' || name, bench.key_column(call)),
       format('INSERT INTO bench.%I (n) SELECT generate_series(1, %s)', 'orders ' || name, :rows),
       format('CREATE INDEX ON bench.%I (n)', 'orders ' || name),
       format('CREATE TABLE bench.%I AS SELECT %s AS id, id AS order_id, n
                   FROM (SELECT id, n FROM bench.%I ORDER BY n) AS orders',
              'items ' || name, call, 'orders ' || name),
       format('ALTER TABLE bench.%I ADD PRIMARY KEY (id)', 'items ' || name),
       format('CREATE INDEX ON bench.%I (order_id)', 'items ' || name),
       format('VACUUM ANALYZE bench.%I, bench.%I', 'orders ' || name, 'items ' || name)
    FROM bench.generator WHERE 'join' = ANY (works) \gexec

INSERT INTO bench.candidate (work, name, query)
    SELECT w.name, g.name,
           format('SELECT count(*), sum(items.n)
                       FROM bench.%1$I AS orders
                       JOIN bench.%2$I AS items ON items.order_id = orders.id
                       WHERE orders.n > %3$s',
                  'orders ' || g.name, 'items ' || g.name, :rows - :rows / 1000)
    FROM bench.work w, bench.generator g
    WHERE w.name IN ('join cold', 'join warm') AND 'join' = ANY (g.works)
    ORDER BY g.position;
