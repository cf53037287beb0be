// Indexes that are made without their content.
//
// CREATE INDEX CONCURRENTLY reads names and constants as whoever types it, hours after it was
// printed. So the conversion reads the command itself, as it does all others, and does no more than
// the first phase of it: REINDEX INDEX CONCURRENTLY, which names nothing else, builds the index.
#pragma once

#include "server/server.hpp"

namespace snowflake::unbuilt_index {

// Whether a statement is CREATE INDEX CONCURRENTLY.
bool is_made_by(const Node *statement);

// Makes the index of such a statement, whose text is the command: neither valid nor ready, as if it
// had been interrupted. Raises 42501 unless the table is the current role's, 42809 if it is
// partitioned or no table, 25006 in a read-only transaction, and what CREATE INDEX does.
void make(const Node *statement, const char *command);

} // namespace snowflake::unbuilt_index
