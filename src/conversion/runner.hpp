// Runs the commands of a conversion, so that what users wrote runs with the rights and the
// search_path of those who own it.
#pragma once

#include "server/server.hpp"

namespace snowflake::runner {

// Runs one command as the role, in a security-restricted operation. Names in it are looked up in
// the search_path that is set; users' code that it runs finds run_path instead, unless that is
// null: the functions of event triggers always, and other code where the server lets that be told
// apart. For that the command must make a new table file, as ALTER TABLE does for a rewrite and
// REFRESH MATERIALIZED VIEW: by then the server has looked up every name, and has run nothing. At
// that moment the query check runs, unless it is null, as the role that called run(), with a
// snapshot of the moment; its error ends the command before any of the users' code has run. Its $1
// is 0 then. Before that moment it runs for each function of somebody who may not act for the role
// that is about to run, which its $1 names: the server evaluates what is constant early.
//
// Returns whether the command returned a bigint in the first column of a row, and which. Raises
// what acting_role::become() and, by users_errors::run(), the command do.
bool run(const char *command, Oid role, const char *run_path, const char *check,
         std::int64_t *result);

} // namespace snowflake::runner
