// Knex: its schema builder makes serial and bigserial columns.
const assert = require('assert');
const knex = require('knex')({ client: 'pg', connection: { host: process.env.PGHOST, port: process.env.PGPORT,
  user: process.env.PGUSER, database: process.env.PGDATABASE } });

const steps = {
  async create() {
    await knex.schema.createTable('customers', (t) => { t.increments('id'); t.text('name'); });
    await knex.schema.createTable('orders', (t) => {
      t.bigIncrements('id');
      t.integer('customer_id').references('customers.id');
    });
  },
  async use() {
    const [{ id }] = await knex('customers').insert({ name: 'one' }).returning('id');
    assert.equal((await knex('customers').max('id'))[0].max, id);
    const many = await knex('customers').insert(Array(10).fill({ name: 'many' })).returning('id');
    assert.equal(new Set(many.map((row) => row.id)).size, 10);
    await knex('orders').insert({ customer_id: id });
    const found = await knex('orders').join('customers', 'customers.id', 'orders.customer_id').where('customers.id', id);
    assert.equal(found[0].name, 'one');
    console.log('key:', typeof id);
  },
  async migrate() {
    await knex.schema.alterTable('customers', (t) => { t.text('note'); t.string('name', 99).alter(); });
  },
};

steps[process.argv[2]]().then(() => knex.destroy(), (error) => { console.error(error); process.exit(1); });
