// MikroORM: its schema generator makes serial columns, and alters the tables until they are as the entities say. It drops what
// it does not know, in every schema that it is not told to ignore.
const assert = require('assert');
const { EntitySchema, MikroORM } = require('@mikro-orm/postgresql');

const step = process.argv[2];
const id = { type: step === 'create' ? 'integer' : 'bigint', primary: true };
const Customer = new EntitySchema({
  name: 'Customer', tableName: 'customers',
  properties: { id, name: { type: 'text' }, ...(step === 'migrate' && { note: { type: 'text', nullable: true } }) },
});
const Order = new EntitySchema({
  name: 'Order', tableName: 'orders', properties: { id, customer: { kind: 'm:1', entity: 'Customer' } },
});

const steps = {
  async create(orm) { await orm.schema.createSchema(); },
  async use(orm) {
    const em = orm.em.fork();
    const customer = em.create('Customer', { name: 'one' });
    await em.persistAndFlush(customer);
    assert.equal((await em.getConnection().execute('SELECT max(id) FROM customers'))[0].max, String(customer.id));
    const many = Array.from({ length: 10 }, () => em.create('Customer', { name: 'many' }));
    const order = em.create('Order', { customer });
    await em.persistAndFlush([...many, order]);
    assert.equal(new Set(many.map((row) => row.id)).size, 10);
    const found = await orm.em.fork().findOneOrFail('Order', { id: order.id }, { populate: ['customer'] });
    assert.equal(found.customer.name, 'one');
    console.log('key:', typeof customer.id);
  },
  // The keys are bigint already: it adds the column, and does nothing else.
  async migrate(orm) {
    const changes = (await orm.schema.getUpdateSchemaSQL({ wrap: false })).trim();
    assert.equal(changes, 'alter table "customers" add column "note" text null;');
    await orm.schema.updateSchema();
    assert.equal(await orm.schema.getUpdateSchemaSQL(), '');
    orm.config.get('schemaGenerator').ignoreSchema = [];
    assert.match(await orm.schema.getUpdateSchemaSQL(), /drop table .*"snowflake"/);
  },
};

(async () => {
  const orm = await MikroORM.init({ entities: [Customer, Order], dbName: process.env.PGDATABASE, host: process.env.PGHOST,
    port: Number(process.env.PGPORT), user: process.env.PGUSER, schemaGenerator: { ignoreSchema: ['snowflake'] } });
  await steps[step](orm);
  await orm.close();
})().catch((error) => { console.error(error); process.exit(1); });
