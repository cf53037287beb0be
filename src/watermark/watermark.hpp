// The low watermark of a sequence: the ID below which no row can appear any more, so that a reader
// that goes through a table by ID misses none.
//
// An ID is drawn before its transaction commits. A reader that goes on above the greatest ID it has
// seen therefore misses rows. The watermark is the least of
// - the ID after the greatest that the sequence has reserved: every later one is greater;
// - the start of the oldest transaction that holds the lock which nextval takes on the sequence,
//   as an ID: no ID is older than its call, and the lock is held until the transaction has ended;
// - the present, as an ID, where sessions may hold a lease (CACHE), or where a crash may take back
//   what the sequence says: leases are given up when their tick is over, and the clock goes on
//   across a crash.
// The watermark holds as long as the clock does not step back within a transaction that makes an
// ID, and with CACHE above 1 as long as it does not step back at all.
//
// The session looks at the sequence first, then at the locks: a transaction that is not found has
// ended, or locks the sequence afterwards and gets an ID above the greatest one seen.
//
// Such a look says what has ended, but the statement that asks may have an older snapshot, which
// does not show the rows of a transaction that ended before the look. So the session compares the
// snapshot of the statement with one taken after the look. If a transaction has ended in between,
// the answer is that of an earlier look, all of whose transactions the statement does see: the
// planner has looked a moment before the statement took its snapshot, see look_before(). The answer
// therefore holds for the statement itself, and for every later one, at any isolation level. Where
// statements run within others, the statement is the outermost one that uses a table, see
// statements.hpp.
#pragma once

#include "pure/layout.hpp"
#include "server/server.hpp"

namespace snowflake::watermark {

// Finds the low watermark of a sequence whose IDs are of its own layout, or of the one that the
// caller names where it has none; none: the watermark is not known now.
// The watermark is not known if
// - the start of a transaction that holds the lock is not known, see lock_holders.hpp;
// - such a transaction began later than the greatest ID was made: it has made none yet, or the IDs
//   are not of this layout;
// - the session has no look that the statement's snapshot shows all of: a transaction that keeps
//   its snapshot, or a cursor, calls for the first time after others have committed; so does a
//   function within a statement that uses a table.
// A session answers all the calls of a statement alike for the same sequence and layout, if they
// have the same snapshot. A cursor passes the same call each time, in which the answer is kept.
//
// Raises 42P01 (no such relation), 42809 (not a sequence), 0A000 (temporary sequence of another
// session), 42501 (neither SELECT nor USAGE), 55000 (a standby; the sequence makes no IDs of the
// layout, or the caller names another than its own).
std::optional<Id> find(Oid relid, std::optional<Layout> named, FmgrInfo &call);

// Looks at a sequence before a statement that asks for its low watermark takes its snapshot, so
// that find() has an answer if a transaction ends right then. For the planner. Does nothing where
// find() would raise an error: the statement may never come to the call.
void look_before(Oid relid, std::optional<Layout> named);

// Registers the callback by which the session forgets its looks at a sequence that was altered.
// Called once, when the module is loaded.
void init();

} // namespace snowflake::watermark
