// Shadow columns: bigint columns beside smaller ones, which hold the same numbers until they take
// their place.
//
// A check, "shadow IS NOT DISTINCT FROM source", proves which columns are a pair: only the owner of
// the table can have made it. A trigger with the condition "NEW.shadow IS DISTINCT FROM NEW.source
// OR NEW.source IS NULL" keeps the shadow. The server keeps up both when a column is renamed, and a
// dump has both.
#pragma once

#include "server/server.hpp"

namespace snowflake::shadow {

// A shadow column, and the smallint or integer column whose numbers it holds.
struct Pair {
    AttrNumber source;
    AttrNumber shadow;
};

// The check of a pair, as the table has it.
struct Comparison {
    Pair pair; // attribute numbers of 0: the check compares no shadow with its source
    bool refuses_null;
};

// Tells whether a check of this name can be one that compares a pair: users have others of their
// own.
bool is_name_of_check(const char *name);

// Returns the pair that a check compares, by one of the two expressions
// shadow IS NOT DISTINCT FROM source
// shadow IS NOT NULL AND shadow = source
Comparison compared_by(const Node *check);

// Returns the row that a trigger has to return: for BEFORE INSERT OR UPDATE, the new one with the
// number of the source in the shadow. A trigger whose condition names no pair that a check of the
// table compares changes nothing. Raises 23514 for a null that the column allows by now, and the
// check does not.
HeapTuple row_with_shadow(const TriggerData &trigger, FmgrInfo *function);

// How many rows fill() has changed, and how many it left as they are because another session has
// locked them.
struct Filled {
    std::int64_t rows;
    std::int64_t in_use;
};

// The rows that fill() looks at: those on the pages from first up to, but not including, end.
struct Pages {
    BlockNumber first;
    BlockNumber end;
};

// Gives the shadows of a table the numbers of their sources where they differ: those which the
// owner of the table lets a trigger keep. Changes nothing else: no trigger, rule or policy has a
// say. It leaves out rows that others have locked; or, if it waits, it only locks the first row
// that is to be filled, and so waits while it holds no other row, and evaluates nothing. Evaluates
// the expressions of indexes as the owner, whose functions find the search_path run_path. Raises
// 42501 unless the current role has the rights of the owner, 42P01 if there is no such table, 42809
// if it is not stored as a heap, 55000 if no trigger keeps a shadow, or if a row to be changed has
// a number that a constraint or a generated column counts on, 23502 if a shadow that is NOT NULL
// would become null.
Filled fill(Oid table_oid, Pages pages, bool waits, const char *run_path);

// Raises the server's error, 42P10 or 55000, if publications let no row of a table be updated, so
// that fill() could not fill any. Raises none where the table is gone, or locked against readers.
void require_updates(Oid table_oid);

} // namespace snowflake::shadow
