// Sequences in the expressions that the catalogs store: the occurrences in a tree.
#pragma once

#include "pure/layout.hpp"
#include "server/server.hpp"

namespace snowflake::expression {

// A function that takes a sequence as its first argument.
enum class Callee {
    other,          // none of the following
    server_nextval, // the server's nextval(regclass)
    nextval,        // snowflake.nextval or next_id, with or without a layout
    nextvals,       // snowflake.nextvals
    currval,        // snowflake.currval
};

// One occurrence of a sequence in an expression.
struct Use {
    Callee callee = Callee::other;
    Oid sequence = InvalidOid;  // InvalidOid: the sequence is named by a text, or computed
    const char *name = nullptr; // the text that names it; nullptr: none
    bool has_layout = false;    // layout is known: the callee is snowflake.nextval or nextvals
    Layout layout = default_layout;
};

// Returns the tree that a catalog stores; nullptr: it is too long or nested too deeply,
// or there is none.
Node *node_of(Datum tree);

// Returns the constant that a node is; nullptr: it is none, or null.
const Const *constant(Node *node);

// Reads a node that is a call of one of the functions above: the use, and the arguments in the
// order of the parameters, defaults included. Returns false for any other node.
bool read_call(Node *node, Use &use, List **arguments);

// Returns every occurrence of a sequence in a stored expression or query, as a list of
// Use *: the calls above, and constants of type regclass anywhere else.
List *uses_in(Node *tree);

// A column default: whose it is, and the tree.
struct Default {
    Oid relation;
    AttrNumber attribute;
    Node *tree;
};

// Returns the default with this OID in pg_attrdef. Raises 42704 if there is none, and 54001 if it
// is too long, or nested too deeply.
Default find_default(Oid attrdef);

} // namespace snowflake::expression
