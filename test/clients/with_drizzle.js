// Drizzle: keys by RETURNING, as numbers or bigints by the mode of the column.
const assert = require('assert');
const { drizzle } = require('drizzle-orm/node-postgres');
const { bigserial, bigint, pgTable, text } = require('drizzle-orm/pg-core');
const { eq, max, sql } = require('drizzle-orm');
const { Client } = require('pg');

const customers = pgTable('customers', { id: bigserial('id', { mode: 'bigint' }).primaryKey(), name: text('name') });
const orders = pgTable('orders', { id: bigserial('id', { mode: 'bigint' }).primaryKey(),
  customerId: bigint('customer_id', { mode: 'bigint' }).references(() => customers.id) });

const steps = {
  // What drizzle-kit writes for these tables.
  async create(db) {
    await db.execute(sql`CREATE TABLE "customers" ("id" bigserial PRIMARY KEY NOT NULL, "name" text)`);
    await db.execute(sql`CREATE TABLE "orders" ("id" bigserial PRIMARY KEY NOT NULL, "customer_id" bigint)`);
    await db.execute(sql`ALTER TABLE "orders" ADD CONSTRAINT "orders_customer_id_customers_id_fk"
      FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id")`);
  },
  async use(db) {
    const [{ id }] = await db.insert(customers).values({ name: 'one' }).returning({ id: customers.id });
    const [{ greatest }] = await db.select({ greatest: max(customers.id) }).from(customers);
    assert.equal(String(greatest), String(id));
    await db.insert(customers).values(Array(10).fill({ name: 'many' }));
    await db.insert(orders).values({ customerId: id });
    const found = await db.select().from(orders).innerJoin(customers, eq(orders.customerId, customers.id)).where(eq(customers.id, id));
    assert.equal(found[0].customers.name, 'one');
    console.log('key:', typeof id);
  },
  async migrate(db) { await db.execute(sql`ALTER TABLE "customers" ADD COLUMN "note" text`); },
};

(async () => {
  const client = new Client();
  await client.connect();
  await steps[process.argv[2]](drizzle(client));
  await client.end();
})().catch((error) => { console.error(error); process.exit(1); });
