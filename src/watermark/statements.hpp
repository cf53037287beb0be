// The statements that this session runs, one within another: an expression of a statement calls a
// function, which runs statements of its own.
//
// A function that is VOLATILE gives each of its statements a new snapshot. What low_watermark
// answers there must hold for the statement around it, too, whose snapshot is older:
// SELECT ... WHERE id < f() compares rows with the bound that f returns.
#pragma once

#include "server/server.hpp"

namespace snowflake::statements {

// Returns the snapshot of the outermost running statement that reads or writes a table; the active
// one, which must be there, if there is no such statement. nullptr: it is not known, because the
// library was loaded within the statement that the client sent.
//
// The session does not notice that it was loaded within a statement of a procedure or of DO.
Snapshot outermost_snapshot();

// Registers the hook by which the session follows its statements. Called once, when the module is
// loaded.
void init();

} // namespace snowflake::statements
