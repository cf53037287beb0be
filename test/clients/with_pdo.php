<?php
// PHP's PDO: RETURNING, and in the step "ask" lastInsertId() with the name of the sequence, which asks for its
// currval, and without, which asks for lastval.
$pdo = new PDO(sprintf('pgsql:host=%s;port=%s;dbname=%s;user=%s', getenv('PGHOST'), getenv('PGPORT'),
                       getenv('PGDATABASE'), getenv('PGUSER')));
$pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);

function verify(bool $condition, $what): void
{
    if (!$condition) {
        throw new Exception(var_export($what, true));
    }
}

switch ($argv[1]) {
    case 'create':
        $pdo->exec('CREATE TABLE customers (id serial PRIMARY KEY, name text)');
        $pdo->exec('CREATE TABLE orders (id serial PRIMARY KEY, customer_id integer REFERENCES customers)');
        break;
    case 'migrate':
        $pdo->exec('ALTER TABLE customers ADD COLUMN note text');
        break;
    case 'use':
        $insert = $pdo->prepare('INSERT INTO customers (name) VALUES (?) RETURNING id');
        $insert->execute(['one']);
        $key = $insert->fetchColumn();
        verify($pdo->query('SELECT max(id) FROM customers')->fetchColumn() === $key, $key);
        for ($i = 0; $i < 10; ++$i) {
            $insert->execute(['many']);
        }
        $pdo->prepare('INSERT INTO orders (customer_id) VALUES (?)')->execute([$key]);
        verify($pdo->query('SELECT name FROM customers JOIN orders ON customer_id = customers.id ORDER BY orders.id DESC')
                   ->fetchColumn() === 'one', $key);
        echo 'key: ', gettype($key), "\n";
        break;
    case 'ask':
        $pdo->exec("INSERT INTO customers (name) VALUES ('told')");
        $greatest = (string) $pdo->query('SELECT max(id) FROM customers')->fetchColumn();
        verify($pdo->lastInsertId('customers_id_seq') === $greatest, $greatest);
        verify($pdo->lastInsertId() === $greatest, $greatest);
        break;
}
