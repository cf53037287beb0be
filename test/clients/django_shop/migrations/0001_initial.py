# Tables with AutoField, as applications had them before BigAutoField became the default.
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "Customer",
            [("id", models.AutoField(primary_key=True)), ("name", models.TextField())],
            options={"db_table": "customers"},
        ),
        migrations.CreateModel(
            "Order",
            [
                ("id", models.AutoField(primary_key=True)),
                ("customer", models.ForeignKey("django_shop.Customer", on_delete=models.CASCADE)),
            ],
            options={"db_table": "orders"},
        ),
    ]
