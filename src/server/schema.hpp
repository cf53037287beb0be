// The schema of the extension, which nobody else can put an object into.
#pragma once

#include "server.hpp"

namespace snowflake::schema {

// Returns the OID of the schema; InvalidOid: the extension is not installed in this database.
Oid find();

// Returns the OID of a function in the schema with one argument of a type. Raises 42883 if there
// is none.
Oid find_function(const char *function, Oid argument_type);

// Returns the OID of a function with these types of arguments in the schema of another function of
// the extension; InvalidOid: there is none. The caller needs no right on the schema.
Oid find_sibling(Oid sibling, const char *function, std::span<const Oid> argument_types);

// Returns whether this transaction made the schema. What it has only altered, by GRANT or ALTER
// SCHEMA, does not count: another session may have seen it before.
bool is_new();

// Waits until all transactions of this database have ended that are open now: one may have made
// objects in the schema before it lost the right to. Raises 55P03 after lock_timeout, 55000 if this
// transaction has altered the schema, and 0A000 in one that would not see the objects.
void wait_for_transactions();

} // namespace snowflake::schema
