// Kysely: serial and bigserial columns by its schema builder, keys by RETURNING.
const assert = require('assert');
const { Kysely, PostgresDialect } = require('kysely');
const { Pool, types } = require('pg');

const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool() }) });

const steps = {
  async create() {
    await db.schema.createTable('customers').addColumn('id', 'serial', (c) => c.primaryKey()).addColumn('name', 'text').execute();
    await db.schema.createTable('orders').addColumn('id', 'bigserial', (c) => c.primaryKey())
      .addColumn('customer_id', 'integer', (c) => c.references('customers.id')).execute();
  },
  async use() {
    const { id } = await db.insertInto('customers').values({ name: 'one' }).returning('id').executeTakeFirstOrThrow();
    const { greatest } = await db.selectFrom('customers').select((e) => e.fn.max('id').as('greatest')).executeTakeFirstOrThrow();
    assert.equal(greatest, id);
    const many = await db.insertInto('customers').values(Array(10).fill({ name: 'many' })).returning('id').execute();
    assert.equal(new Set(many.map((row) => row.id)).size, 10);
    await db.insertInto('orders').values({ customer_id: id }).execute();
    const found = await db.selectFrom('orders').innerJoin('customers', 'customers.id', 'orders.customer_id')
      .select('name').where('customers.id', '=', id).execute();
    assert.equal(found[0].name, 'one');
    console.log('key:', typeof id);
  },
  // With the layout "javascript" a key is an exact number, also in JSON.
  async exact() {
    types.setTypeParser(types.builtins.INT8, Number);
    const { id } = await db.insertInto('customers').values({ name: 'small' }).returning('id').executeTakeFirstOrThrow();
    assert.ok(Number.isSafeInteger(id));
    const { text, json } = await db.selectFrom('customers').where('id', '=', id)
      .select((e) => [e.cast('id', 'text').as('text'), e.fn.toJson('customers').as('json')]).executeTakeFirstOrThrow();
    assert.equal(String(id), text);
    assert.equal(String(JSON.parse(JSON.stringify(json)).id), text);
  },
  async migrate() {
    await db.schema.alterTable('customers').addColumn('note', 'text').execute();
    await db.schema.alterTable('customers').alterColumn('id', (c) => c.setDataType('bigint')).execute();
  },
};

steps[process.argv[2]]().then(() => db.destroy(), (error) => { console.error(error); process.exit(1); });
