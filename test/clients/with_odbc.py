# psqlODBC: keys by RETURNING, and in the step "ask" by SELECT @@IDENTITY, for which the driver asks for the currval of the
# sequence that it reads in the default of the column.
import os
import sys

import pyodbc

connection = pyodbc.connect(
    "Driver=PostgreSQL Unicode;Servername={PGHOST};Port={PGPORT};Database={PGDATABASE};UID={PGUSER}".format(**os.environ)
)
cursor = connection.cursor()


def create():
    cursor.execute("CREATE TABLE customers (id serial PRIMARY KEY, name text)")
    cursor.execute("CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id integer REFERENCES customers)")


def use():
    key = cursor.execute("INSERT INTO customers (name) VALUES (?) RETURNING id", "one").fetchval()
    assert cursor.execute("SELECT max(id) FROM customers").fetchval() == key, key
    cursor.executemany("INSERT INTO customers (name) VALUES (?)", [("many",)] * 10)
    cursor.execute("INSERT INTO orders (customer_id) VALUES (?)", key)
    cursor.execute("SELECT name FROM customers JOIN orders ON orders.customer_id = customers.id WHERE customers.id = ?", key)
    assert cursor.fetchval() == "one"
    print("key:", type(key).__name__)


def ask():
    cursor.execute("INSERT INTO customers (name) VALUES ('told')")
    key = cursor.execute("SELECT @@IDENTITY").fetchval()
    assert key is not None, "@@IDENTITY is null"
    assert cursor.execute("SELECT max(id) FROM customers").fetchval() == key, key


def migrate():
    cursor.execute("ALTER TABLE customers ADD COLUMN note text")


globals()[sys.argv[1]]()
connection.commit()
