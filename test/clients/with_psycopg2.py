# psycopg 2: literals in the text of the statement, keys by RETURNING.
import sys

import psycopg2
from psycopg2.extras import execute_values

connection = psycopg2.connect("")
cursor = connection.cursor()


def insert(name):
    cursor.execute("INSERT INTO customers (name) VALUES (%s) RETURNING id", (name,))
    return cursor.fetchone()[0]


def create():
    cursor.execute("CREATE TABLE customers (id serial PRIMARY KEY, name text)")
    cursor.execute("CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id integer REFERENCES customers)")


def use():
    key = insert("one")
    cursor.execute("SELECT max(id) FROM customers")
    assert cursor.fetchone()[0] == key, key
    many = execute_values(cursor, "INSERT INTO customers (name) VALUES %s RETURNING id", [("many",)] * 10, fetch=True)
    assert len(set(many)) == 10 and min(many)[0] > key
    cursor.execute("INSERT INTO orders (customer_id) VALUES (%s) RETURNING id", (key,))
    cursor.execute("SELECT name FROM customers JOIN orders ON orders.customer_id = customers.id WHERE customers.id = %s", (key,))
    assert cursor.fetchone()[0] == "one"
    print("key:", type(key).__name__)


def ask():
    cursor.execute("SELECT nextval(%s)", ("customers_id_seq",))
    key = cursor.fetchone()[0]
    cursor.execute("INSERT INTO customers (id, name) VALUES (%s, 'asked')", (key,))
    cursor.execute("INSERT INTO customers (name) VALUES ('told')")
    cursor.execute("SELECT currval(%s), max(id) FROM customers", ("customers_id_seq",))
    current, greatest = cursor.fetchone()
    assert key < current == greatest, (key, current, greatest)


def migrate():
    cursor.execute("ALTER TABLE customers ADD COLUMN note text, ALTER COLUMN id TYPE bigint")


globals()[sys.argv[1]]()
connection.commit()
