// node-postgres: a bigint comes as a string, and a number in JSON loses digits; a snowflake.id does not. With the layout
// "javascript" both are exact numbers.
const assert = require('assert');
const { Client, types } = require('pg');

const steps = {
  async create(db) {
    await db.query('CREATE TABLE customers (id serial PRIMARY KEY, name text)');
    await db.query('CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id integer REFERENCES customers)');
  },
  async use(db) {
    const key = (await db.query('INSERT INTO customers (name) VALUES ($1) RETURNING id', ['one'])).rows[0].id;
    assert.equal((await db.query('SELECT max(id) FROM customers')).rows[0].max, key);
    await db.query("INSERT INTO customers (name) SELECT 'many' FROM generate_series(1, 10)");
    await db.query('INSERT INTO orders (customer_id) VALUES ($1)', [key]);
    const json = (await db.query(`SELECT json_build_object('string', id::snowflake.id, 'number', 514621319594119169) AS json
      FROM customers WHERE id = $1`, [key])).rows[0].json;
    assert.equal(json.string, String(key));
    assert.notEqual(String(json.number), '514621319594119169');
    console.log('key:', typeof key);
  },
  async ask(db) {
    const key = (await db.query('SELECT nextval($1)', ['customers_id_seq'])).rows[0].nextval;
    assert.equal((await db.query('SELECT currval($1)', ['customers_id_seq'])).rows[0].currval, key);
    await db.query("INSERT INTO customers (id, name) VALUES ($1, 'asked')", [key]);
  },
  async exact(db) {
    types.setTypeParser(types.builtins.INT8, Number);
    const { id, text, json } = (await db.query(`WITH made AS (INSERT INTO customers (name) VALUES ('small') RETURNING *)
      SELECT id, id::text AS text, to_json(made)::text AS json FROM made`)).rows[0];
    assert.ok(Number.isSafeInteger(id));
    assert.equal(String(id), text);
    assert.equal(String(JSON.parse(json).id), text);
    assert.equal((await db.query('SELECT name FROM customers WHERE id = $1', [JSON.parse(json).id])).rows[0].name, 'small');
  },
  async migrate(db) {
    await db.query('ALTER TABLE customers ADD COLUMN note text');
  },
};

(async () => {
  const db = new Client();
  await db.connect();
  await steps[process.argv[2]](db);
  await db.end();
})().catch((error) => { console.error(error); process.exit(1); });
