// Whether an expression can be evaluated, or parsed again, without running code that a user wrote.
//
// What users can make (functions, operators, types, casts, domains) has an OID above those of the
// server's own objects, and stands in the tree. Of the server's own functions some run what users
// have made: table_to_xml evaluates a view, ts_rewrite runs a query. So the list is of functions
// that are known to be harmless, not of those that are known to do harm.
#pragma once

#include "server/server.hpp"

namespace snowflake::harmless {

// Returns whether evaluating the expression runs the server's immutable functions only, and those
// of a short list of others, on the server's own types. A node that is not known does not count as
// harmless. A parameter does.
bool to_evaluate(Node *expression);

// Returns whether evaluating the expression runs nothing that an ordinary role wrote: besides what
// to_evaluate() allows, functions in C that a superuser has made, as extensions bring them, and
// enumerations and base types, which have no checks.
bool to_run(Node *expression);

// Returns whether parsing the text of an expression or query again runs nothing that an ordinary
// role wrote. That are the input functions of the types of its constants, which for an array of a
// domain, or for a composite type or range, include the checks of domains.
bool to_parse(Node *tree);

} // namespace snowflake::harmless
