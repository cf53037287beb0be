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

struct Printed {
    char *query;       // as CREATE VIEW takes it after AS; nullptr: there is none
    const char *fault; // why there is none, as what the query does; else nullptr
};

// Prints the query of a view with the names that the columns of the view have now. Locks the
// relations that it reads. Changes the query. Passes over shadows and twins that are not there.
// There is no query for one that names whole rows of tables and views that the arguments name, nor
// for one with joins whose columns the server would print under other names.
Printed printed_on(Query *query, Oid view, std::span<const Column> columns,
                   std::span<const View> views);

} // namespace snowflake::twin_query
