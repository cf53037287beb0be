// Shadow columns: bigint columns beside smaller ones, which hold the same numbers until they take
// their place.
//
// A trigger with a condition, WHEN (NEW.shadow IS DISTINCT FROM NEW.source), keeps each of them.
// The condition is where the pair of columns is written: the server keeps it up when a column is
// renamed, and a dump has it.
#pragma once

#include "server/server.hpp"

namespace snowflake::shadow {

// A shadow column, and the smallint or integer column whose numbers it holds.
struct Pair {
    AttrNumber source;
    AttrNumber shadow;
};

// Returns the row that a BEFORE INSERT OR UPDATE trigger has to return: the new one, with the
// number of the source in the shadow. Raises 39P01 if it is called as another trigger, or if the
// trigger has another condition.
HeapTuple kept(const TriggerData &trigger, FmgrInfo *function);

// How many rows fill() has changed, and how many it left as they are because another session has
// locked them.
struct Filled {
    std::int64_t rows;
    std::int64_t in_use;
};

// Which rows fill() looks at: those on the pages from first up to, but not including, end.
struct Pages {
    BlockNumber first;
    BlockNumber end;
};

// Gives the shadows of a table the numbers of their sources where they differ. Changes nothing
// else: no trigger, rule or policy has a say. It leaves out rows that others have locked; or, if it
// waits, ends with the first row that it has changed, and so waits while it holds no other row.
// Evaluates the expressions of indexes as the role, InvalidOid: as the current one. Raises 42501
// unless the current role has the rights of the owner, 42P01 if there is no such table, 42809 if it
// is not stored as a heap, 55000 if a column is none of these any more, 23502 if a shadow that is
// NOT NULL would become null.
Filled fill(Oid table_oid, Oid role, const Pair *pairs, int count, Pages pages, bool waits);

// Returns how many pages a table has, and keeps it from being renamed or altered until the
// transaction ends. Raises 42501 unless the current role has the rights of the owner, 42P01 if
// there is no such table.
BlockNumber lock_and_count_pages(Oid oid);

} // namespace snowflake::shadow
