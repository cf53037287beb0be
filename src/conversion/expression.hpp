// Calls of nextval in the expressions that the catalogs store: found, replaced, compared.
//
// Every function here works on trees. An expression as text is data of the role that wrote it: a
// quoted name in it may look like a call, and a replacement in the text would change names as well.
#pragma once

#include "pure/layout.hpp"
#include "server/server.hpp"

namespace snowflake::expression {

// What a function does to the sequence that is its first argument.
enum class Callee {
    other,          // none of the following
    server_nextval, // the server's nextval(regclass)
    compat_nextval, // snowflake_compat.nextval(text)
    nextval,        // snowflake.nextval or next_id, with or without a layout
    nextvals,       // snowflake.nextvals
    currval,        // snowflake.currval
};

// One place where an expression names a sequence.
struct Use {
    Callee callee = Callee::other;
    Oid sequence = InvalidOid;  // InvalidOid: the sequence is named by a text, or computed
    const char *name = nullptr; // the text that names it; nullptr: none
    bool has_layout = false;    // layout is known: the callee is snowflake.nextval or nextvals
    Layout layout = default_layout;
};

// Returns the expressions and queries that an object of the catalogs stores, as a list of nodes:
// those of a column default, a rule or view, a routine, a constraint, an index, a policy, a
// trigger, a publication of a table, extended statistics, a domain, or the partition key of a table
// (class pg_partitioned_table). Returns NIL for any other object, and for one that does not exist.
// A tree that is nested too deeply to be read is nullptr in the list: the server would end with an
// error, and a stranger's default must not end what looks at all of them.
List *stored_in(Oid class_id, Oid object);

// Returns every place of a stored expression or query where a sequence is named, as a list of
// Use *: the calls above, and constants of type regclass anywhere else.
List *uses_in(Node *tree);

// Splits a name as the server's nextval(text) does: into one to three identifiers, as a list of
// char *. Returns NIL if it is not a name.
List *identifiers_of(const char *name);

// Which calls become which.
enum class Direction {
    to_snowflake, // nextval(sequence), the server's or that of snowflake_compat, becomes
                  // snowflake.nextval(sequence)
    to_server,    // snowflake.nextval(sequence [, layout]) becomes nextval(sequence)
    unchanged,    // none is replaced
};

// Returns a copy of the tree in which the calls on the sequence are replaced, or nullptr if there
// are none to replace. To snowflake, a call by name counts as well if the name is the sequence's,
// with or without its schema.
Node *with_calls_replaced(Node *tree, Oid sequence, Direction direction);

// Returns a copy of the tree in which another node stands for each call of nextval on the sequence,
// the server's or that of snowflake_compat, or nullptr if there are none.
Node *with_calls_as(Node *tree, Oid sequence, Node *in_place);

// Whether the tree is nothing but a call of nextval on the sequence, whosever it is.
bool is_call(Node *tree, Oid sequence);

// A column default: whose it is, and the tree.
struct Default {
    Oid relation;
    AttrNumber attribute;
    Node *tree;
};

// Returns the default with this OID in pg_attrdef. If there is none, raises 42704, or returns a
// tree that is nullptr if that is allowed.
Default find_default(Oid attrdef, bool may_be_missing = false);

// Returns the expression of a relation as the server prints it under the present search_path.
char *deparsed(Node *tree, Oid relation);

// Returns the expression as the server would print it if some columns of the relation had other
// names, name[i] instead of that of the column attribute[i], and were bigints. Read again, it calls
// the functions and operators of the same schemas, whatever the search_path is. nullptr: there is
// no such relation, or the expression names other than its columns, such as the whole row.
char *deparsed_with_names(Node *tree, Oid relation, const AttrNumber *attributes,
                          const char *const *names, int count);

// Parses an expression that the server has printed, up to the syntax tree.
Node *parsed(const char *text);

// Returns the text form of a tree, without the places in the source text it was parsed from, and
// with the sequence's OID left out: two trees of the same form mean the same expression.
char *form_of(Node *tree, Oid sequence);

// Returns the form that a default has after SET DEFAULT was run with its calls replaced, in a
// column of the type and its modifier: what the server makes of the text that it prints need not
// be the tree that it printed. Parses constants, and so runs the input functions of their types.
char *form_after_replacement(const Default &column, Oid sequence, Direction direction, Oid type,
                             std::int32_t type_modifier);

} // namespace snowflake::expression
