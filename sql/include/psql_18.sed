# What psql 19 prints in a description of a table, as psql 15 to 18 print it.
s/^Included in publications:/Publications:/
/^Inherits:$/{
N
s/\n */ /
}
