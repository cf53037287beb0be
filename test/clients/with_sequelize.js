// Sequelize: sync() makes SERIAL columns; a bigint comes as a string.
const assert = require('assert');
const { Sequelize, DataTypes } = require('sequelize');

const sequelize = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, '', {
  dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: false,
});
const options = { timestamps: false };
const id = { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true };
const Customer = sequelize.define('customers', { id, name: DataTypes.TEXT,
  ...(process.argv[2] === 'migrate' && { note: DataTypes.TEXT }) }, options);
const Order = sequelize.define('orders', { id }, options);
Order.belongsTo(Customer, { foreignKey: 'customer_id' });

const steps = {
  async create() { await sequelize.sync(); },
  async use() {
    const customer = await Customer.create({ name: 'one' });
    assert.equal(await Customer.max('id'), customer.id);
    const many = await Customer.bulkCreate(Array(10).fill({ name: 'many' }));
    assert.equal(new Set(many.map((row) => row.id)).size, 10);
    const order = await Order.create({ customer_id: customer.id });
    assert.equal((await Order.findByPk(order.id, { include: Customer })).customer.name, 'one');
    console.log('key:', typeof customer.id);
  },
  async migrate() { await sequelize.sync({ alter: true }); },
};

steps[process.argv[2]]().then(() => sequelize.close(), (error) => { console.error(error); process.exit(1); });
