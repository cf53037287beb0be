// The statements that this session runs, one within another: an expression of a statement calls a
// function, which runs statements of its own.
//
// A function that is VOLATILE gives each of its statements a new snapshot. What low_watermark
// answers there must hold for the statement around it, too, whose snapshot is older:
// SELECT ... WHERE id < f() compares rows with the bound that f returns. A cursor that is fetched
// from within has the snapshot of when it was opened.
#pragma once

#include "server/server.hpp"

namespace snowflake::statements {

// Returns the oldest snapshot of the running statements that read or write a table; the active one,
// which must be there, if there is no such statement. nullptr: it is not known, because the library
// was loaded by something within the statement that the client sent, in this transaction.
Snapshot oldest_snapshot();

// Registers the hook by which the session follows its statements. Called once, when the module is
// loaded.
void init();

} // namespace snowflake::statements
