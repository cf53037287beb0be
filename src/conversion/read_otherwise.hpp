// Whether an expression that is printed and read again can come to mean another thing.
#pragma once

#include "sequence/sequence_uses.hpp"

namespace snowflake::expression {

// Whether an expression that deparsed_with_names() prints can mean another thing when it is read:
// under another search_path, or because somebody has added a function or operator to a schema that
// it names. It cannot where each function and operator outside of pg_catalog takes just the types
// that it is called with, and is one that the expression calls now, or of somebody who may act for
// the owner of the relation. Raises what the server raises when it reads the text, and parses
// constants, and so runs the input functions of their types. The names are those that the columns
// have.
bool is_read_otherwise(Node *tree, Oid relation, const AttrNumber *attributes,
                       const char *const *names, int count);

} // namespace snowflake::expression
