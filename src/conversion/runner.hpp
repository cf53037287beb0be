// Runs the commands of a conversion, so that what users wrote runs with the rights and the
// search_path of those who own it.
#pragma once

#include "server/server.hpp"

namespace snowflake::runner {

// A query that checks what a command has made; none if it is null.
struct Check {
    const char *query;
    NullableDatum argument; // of type jsonb
};

// Runs one command as the role, in a security-restricted operation. Names in it are looked up in
// the search_path that is set; users' code that it runs finds run_path instead, unless that is
// null: the functions of event triggers always, and other code from where the command has looked up
// all names: where it makes a new table file, as ALTER TABLE does for a rewrite and REFRESH
// MATERIALIZED VIEW, or an index and nothing else, or from the beginning of one that names nothing
// but tables, columns and constraints.
//
// Nothing is evaluated between the moment in which the command has looked up its names and that in
// which the check has compared them: it runs as the role that called run(), with a snapshot of the
// moment, before a new table file or an index of expressions is filled, before code of an event
// trigger, and at the end of the command. Its $1 is 0 then, $2 and $3 are the classes and OIDs of
// what the command has made, and $4 is the argument. Its error ends the command. The
// server evaluates what is constant earlier: the query runs for each function of somebody who may
// not act for the role that is about to run, which its $1 names. So the script calls C++, and C++
// the script: only hooks in C++ see these moments, and only the script knows what the objects
// named.
//
// Of CREATE INDEX CONCURRENTLY, it runs what unbuilt_index.hpp says, and leaves it to the caller to
// compare an index without expressions, which evaluates nothing.
//
// Returns whether the command returned a bigint in the first column of a row, and which. Raises
// what acting_role::become() and, by users_errors::run(), the command do, and 42601 if the command
// is not one statement. A query is run without a check, which could change what the query has
// planned to read.
bool run(const char *command, Oid role, const char *run_path, const Check &check,
         std::int64_t *result);

} // namespace snowflake::runner
