// A query that SQL hands over, for C++ to run at a moment that SQL cannot choose: while a table is
// empty, while a command runs, or with a snapshot of now in a transaction that keeps an older one.
#pragma once

#include "server/server.hpp"

namespace snowflake::query {

// A value of a composite type, which a query has as its parameter $1.
struct Row {
    Oid type;
    Datum value;
};

// Returns the row that an argument of a function of SQL holds.
Row row_of(Datum argument);

// Runs a query as the current role. Raises its errors, and 42601 if it is none that returns rows.
void run(const char *text, const Row &parameter);

// Runs a query that changes nothing, on an OID, two lists of OIDs and a jsonb as $1 to $4, and with
// a snapshot of now: a function in it that is STABLE sees what has been committed by then, whatever
// the isolation level. Raises what run() does.
void run_as_of_now(const char *text, Oid argument, const List *first, const List *second,
                   const NullableDatum &json);

// Does the same, and returns the composite value in the first column of the first row, allocated in
// the current memory context; none: the query returned no row, or null. Raises 42804 as well, if
// that column is of another type.
std::optional<Datum> row_as_of_now(const char *text, const Row &parameter);

} // namespace snowflake::query
