# Django: its migrations make AutoField columns, and change them to BigAutoField.
import os
import sys

import django
from django.conf import settings
from django.core.management import call_command

settings.configure(
    INSTALLED_APPS=["django_shop"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PGDATABASE"],
            "USER": os.environ["PGUSER"],
            "HOST": os.environ["PGHOST"],
            "PORT": os.environ["PGPORT"],
        }
    },
)
django.setup()

from django_shop.models import Customer, Order  # noqa: E402 (after setup)


def create():
    call_command("migrate", "django_shop", "0001", verbosity=0)


def use():
    customer = Customer.objects.create(name="one")
    assert Customer.objects.order_by("-id").first().id == customer.id
    many = Customer.objects.bulk_create(Customer(name="many") for _ in range(10))
    assert len({c.id for c in many}) == 10
    order = Order.objects.create(customer=customer)
    assert Order.objects.select_related("customer").get(id=order.id).customer.name == "one"
    print("key:", type(customer.id).__name__)


def migrate():
    call_command("migrate", "django_shop", verbosity=0)


globals()[sys.argv[1]]()
