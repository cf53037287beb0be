# The models of the application of with_django.py, as docs/clients.md shows them, and the names of their tables.
import re

with open("../../docs/clients.md") as page:
    exec(re.search(r"^```python\n(.*?)^```", page.read(), re.DOTALL | re.MULTILINE)[1])

Customer._meta.db_table = "customers"  # noqa: F821 (defined by the page)
Order._meta.db_table = "orders"  # noqa: F821
