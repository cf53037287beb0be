# SQLAlchemy with Alembic: SERIAL columns, and in the step "ask" a Sequence() that SQLAlchemy calls by itself.
import sys

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.orm import Session, declarative_base, relationship

Base = declarative_base()


class Customer(Base):
    __tablename__ = "customers"
    id = sa.Column(sa.BigInteger, primary_key=True)
    name = sa.Column(sa.Text)


class Order(Base):
    __tablename__ = "orders"
    id = sa.Column(sa.BigInteger, primary_key=True)
    customer_id = sa.Column(sa.ForeignKey("customers.id"))
    customer = relationship(Customer)


class Asked(Base):
    __tablename__ = "asked"
    id = sa.Column(sa.BigInteger, sa.Sequence("asked_id_seq"), primary_key=True)
    name = sa.Column(sa.Text)


engine = sa.create_engine("postgresql+psycopg2://")


def create():
    with engine.begin() as connection:
        op = Operations(MigrationContext.configure(connection))
        op.create_table("customers", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text))
        op.create_table("orders", sa.Column("id", sa.Integer, primary_key=True), sa.Column("customer_id", sa.Integer))
        op.create_foreign_key("bound", "orders", "customers", ["customer_id"], ["id"])
        op.create_table("asked", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text))


def use():
    with Session(engine) as session:
        order = Order(customer=Customer(name="one"))
        session.add(order)
        session.add_all(Customer(name="many") for _ in range(10))
        session.flush()
        key = order.customer.id
        assert session.execute(sa.select(Customer.id).where(Customer.name == "one").order_by(Customer.id.desc())).first()[0] == key
        session.bulk_save_objects([Customer(name="bulk") for _ in range(10)], return_defaults=True)
        session.execute(sa.insert(Customer), [{"name": "core"} for _ in range(10)])
        session.commit()
        assert session.get(Order, order.id).customer.name == "one"
        print("key:", type(key).__name__)


def ask():
    with Session(engine) as session:
        asked = Asked(name="asked")
        session.add(asked)
        session.flush()
        assert session.execute(sa.select(sa.func.max(Asked.id))).scalar() == asked.id
        assert session.execute(sa.Sequence("asked_id_seq")) > asked.id
        session.commit()


def migrate():
    with engine.begin() as connection:
        op = Operations(MigrationContext.configure(connection))
        op.add_column("customers", sa.Column("note", sa.Text))
        op.alter_column("customers", "id", type_=sa.BigInteger, existing_type=sa.Integer)
        op.alter_column("orders", "customer_id", type_=sa.BigInteger, existing_type=sa.Integer)


globals()[sys.argv[1]]()
