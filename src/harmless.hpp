// Whether an expression can be evaluated, or parsed again, without running code that a user wrote.
//
// What users can make (functions, operators, types, casts, domains) has an OID above those of the
// server's own objects, and stands in the tree. Of the server's own functions some run what users
// have made: table_to_xml evaluates a view, ts_rewrite runs a query. So the list is of functions
// that are known to be harmless, not of those that are known to do harm.
#pragma once

#include "server.hpp"

namespace snowflake::harmless {

// Returns whether evaluating the expression runs the server's immutable functions only, and those
// of a short list of others, on the server's own types. A node that is not known does not count as
// harmless. A parameter does.
bool to_evaluate(Node *expression);

// Returns whether all constants of an expression or query are of the server's own types: when its
// text is parsed again, the input functions of these types run, which for an array of a domain
// include the domain's checks.
bool to_parse(Node *tree);

} // namespace snowflake::harmless
