# peewee: SERIAL columns by its models, keys by RETURNING, changes by its migrator. The steps "dump" and "load" write models
# by pwiz, and make their tables.
import contextlib
import os
import sys

import peewee
import pwiz
from playhouse.migrate import PostgresqlMigrator, migrate as apply
from playhouse.reflection import Introspector

database = peewee.PostgresqlDatabase(os.environ["PGDATABASE"])


class Model(peewee.Model):
    class Meta:
        database = database


class Customer(Model):
    id = peewee.AutoField() if sys.argv[1] == "create" else peewee.BigAutoField()
    name = peewee.TextField()

    class Meta:
        table_name = "customers"


class Order(Model):
    id = peewee.BigAutoField()
    customer = peewee.ForeignKeyField(Customer)

    class Meta:
        table_name = "orders"


def create():
    database.create_tables([Customer, Order])


def use():
    customer = Customer.create(name="one")
    assert Customer.select(peewee.fn.MAX(Customer.id)).scalar() == customer.id
    many = [row[0] for row in Customer.insert_many([{"name": "many"}] * 10).execute()]
    assert len(set(many)) == 10 and min(many) > customer.id
    order = Order.create(customer=customer)
    assert Order.get_by_id(order.id).customer.name == "one"
    print("key:", type(customer.id).__name__)


def migrate():
    migrator = PostgresqlMigrator(database)
    apply(migrator.add_column("customers", "note", peewee.TextField(null=True)),
          migrator.alter_column_type("customers", "id", peewee.BigIntegerField()))


def dump():
    with open(os.environ["SCHEMA"], "w") as file, contextlib.redirect_stdout(file):
        pwiz.print_models(Introspector.from_database(database))


def load():
    models = {}
    exec(open(os.environ["SCHEMA"]).read(), models)
    models["database"].create_tables([models["Customers"], models["Orders"]])


globals()[sys.argv[1]]()
