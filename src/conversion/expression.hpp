// Calls of nextval in the expressions that the catalogs store: found, replaced, compared.
//
// Every function here works on trees. An expression as text is data of the role that wrote it: a
// quoted name in it may look like a call, and a replacement in the text would change names as well.
#pragma once

#include "sequence/sequence_uses.hpp"

namespace snowflake::expression {

// Returns the expressions and queries that an object of the catalogs stores, as a list of nodes:
// those of a column default, a rule or view, a routine, a constraint, an index, a policy, a
// trigger, a publication of a table, extended statistics, a domain, or the partition key of a table
// (class pg_partitioned_table). Returns NIL for any other object, and for one that does not exist.
// A tree that is too long or nested too deeply is nullptr in the list: the server would end with an
// error, and a stranger's default must not end what looks at all of them.
List *stored_in(Oid class_id, Oid object);

// Returns the first of these; nullptr as well if there is none.
Node *first_stored_in(Oid class_id, Oid object);

// Returns the types of the constants in a stored expression or query, and the domains that values
// are made of in it, as a list of OIDs. To read the expression again, the server reads each
// constant by the input function of its type, and may check it by that of a domain.
List *types_of_constants(Node *tree);

// Returns the relations that a stored query reads or changes, as a list of OIDs, and in that of a
// view before PostgreSQL 16 the view itself.
List *relations_read(Node *tree);

// Returns the relations that a stored query inserts into, as a list of OIDs: by INSERT, or as a
// view that is no more than its one relation.
List *relations_inserted_into(Node *tree);

// Returns the relations whose columns a stored query names one by one, in their order, when the
// server prints it, as a list of OIDs: those with a list of aliases, of their own or of a join,
// those whose rows a function returns, and those of whose type a row is made. Printed, such a query
// depends on how many columns there are.
List *relations_named_by_position(Node *tree);

// Whether the body of a function in standard SQL that returns rows of a type puts them together
// from columns, rather than to return whole ones.
bool returns_columns(Node *body, Oid type);

// Returns the relations that a stored query names with ONLY, as a list of OIDs.
List *relations_named_with_only(Node *tree);

// Splits a name as the server's nextval(text) does: into one to three identifiers, as a list of
// char *. Returns NIL if it is not a name.
List *identifiers_of(const char *name);

// The direction in which calls are replaced.
enum class Direction {
    to_snowflake, // nextval(sequence) becomes snowflake.nextval(sequence)
    to_server,    // snowflake.nextval(sequence [, layout]) becomes nextval(sequence)
    unchanged,    // none is replaced
};

// Returns a copy of the tree in which the calls on the sequence are replaced, or nullptr if there
// are none to replace. To snowflake, a call by name counts as well if the name is the sequence's,
// with or without its schema.
Node *with_calls_replaced(Node *tree, Oid sequence, Direction direction);

// Returns a copy of the tree in which another node stands for each call of the server's nextval on
// the sequence, or nullptr if there are none.
Node *with_calls_as(Node *tree, Oid sequence, Node *in_place);

// Whether the tree is nothing but a call of nextval on the sequence, whosever it is.
bool is_call(Node *tree, Oid sequence);

// A column, and the bigint that a check says its values are below. attribute 0: none.
struct UpperBound {
    AttrNumber attribute;
    std::int64_t bound;
};

// Returns what a check says, if that is nothing but "column < bound". A column of a smaller type,
// or a domain, is cast to bigint.
UpperBound upper_bound(Node *check);

// Returns the expression of a relation as the server prints it under the present search_path.
// Raises 42P01 if there is no such relation.
char *deparsed(Node *tree, Oid relation);

// Returns the expression as the server would print it under the present search_path if some columns
// of the relation had other names, name[i] instead of that of the column attribute[i]. nullptr:
// there is no such relation, or the expression names other than its columns, such as the whole row.
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
