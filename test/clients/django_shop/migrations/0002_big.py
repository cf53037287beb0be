# The change that makemigrations writes when BigAutoField becomes the default.
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("django_shop", "0001_initial")]
    operations = [
        migrations.AlterField("Customer", "id", models.BigAutoField(primary_key=True)),
        migrations.AlterField("Order", "id", models.BigAutoField(primary_key=True)),
    ]
