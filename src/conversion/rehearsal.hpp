// A rehearsal of commands on tables that are empty for as long as it lasts.
//
// A command may make an expression again that has no meaning any more. The server finds out when it
// makes it, after all tables have been rewritten. On empty tables that takes no time.
#pragma once

#include "query.hpp"
#include "server/server.hpp"

namespace snowflake::rehearsal {

// Empties the tables, runs the query, and takes everything back that happened meanwhile, the
// emptying first of all: nothing of it can be committed. The server simplifies the expressions of
// the indexes that it builds anew: functions in these find run_path as their search_path. Raises
// 42501 unless the current role has the rights of the owners, 55006 if a query of the session uses
// a table, and what query::run() does.
void run(const Oid *tables, int count, const char *run_path, const char *text,
         const query::Row &parameter);

} // namespace snowflake::rehearsal
