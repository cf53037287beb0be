// The query of a view as it reads shadow columns in place of those that they will replace, and the
// twins of views in place of these. The twin of a materialized view is filled by such a query while
// the view is in use.
#pragma once

#include "server/server.hpp"

namespace snowflake::twin_query {

// A column of a table, and that which is read in its place.
struct Column {
    Oid table;
    AttrNumber source;
    AttrNumber shadow;
};

// A view, and that which is read in its place: one with the same columns.
struct View {
    Oid original;
    Oid twin;
};

// Prints the query of a view, as CREATE VIEW takes it after AS, with the names that the columns of
// the view have now. Locks the relations that it reads. Changes the query. Passes over shadows and
// twins that are not there. Returns nullptr if it names the whole row of a table or view that the
// arguments name, or of a join.
char *deparsed_on(Query *query, Oid view, std::span<const Column> columns,
                  std::span<const View> views);

} // namespace snowflake::twin_query
