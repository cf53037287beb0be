// TypeORM: synchronize makes SERIAL columns, and alters the tables until they are as the entities say.
const assert = require('assert');
const { DataSource, EntitySchema } = require('typeorm');

const step = process.argv[2];
const id = { type: step === 'create' ? 'int' : 'bigint', primary: true, generated: 'increment' };
const Customer = new EntitySchema({
  name: 'Customer', tableName: 'customers',
  columns: { id, name: { type: 'text' }, ...(step === 'migrate' && { note: { type: 'text', nullable: true } }) },
});
const Order = new EntitySchema({
  name: 'Order', tableName: 'orders', columns: { id },
  relations: { customer: { type: 'many-to-one', target: 'Customer', joinColumn: { name: 'customer_id' } } },
});

async function use(source) {
  const customers = source.getRepository('Customer');
  const customer = await customers.save({ name: 'one' });
  assert.equal((await source.query('SELECT max(id) FROM customers'))[0].max, customer.id);
  const many = await customers.save(Array.from({ length: 10 }, () => ({ name: 'many' })));
  assert.equal(new Set(many.map((row) => row.id)).size, 10);
  const order = await source.getRepository('Order').save({ customer });
  const found = await source.getRepository('Order').findOne({ where: { id: order.id }, relations: ['customer'] });
  assert.equal(found.customer.name, 'one');
  console.log('key:', typeof customer.id);
}

(async () => {
  const source = new DataSource({ type: 'postgres', host: process.env.PGHOST, port: Number(process.env.PGPORT),
    username: process.env.PGUSER, database: process.env.PGDATABASE, entities: [Customer, Order] });
  await source.initialize();
  if (step === 'use') await use(source);
  else await source.synchronize();
  await source.destroy();
})().catch((error) => { console.error(error); process.exit(1); });
