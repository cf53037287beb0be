// The rows of the table snowflake.nodes, read without opening the table.
//
// A connection's first ID has to know whose the number is. To open a table, the server looks up its
// triggers, indexes and more, which takes longer than the rest of that ID. These functions read
// what they need and no more: the table's row in pg_class, its columns in pg_attribute, and its
// pages. They do so at each call, under a reader's lock, and keep nothing: no answer can be stale.
#pragma once

#include "registry_row.hpp"

namespace snowflake::registry_pages {

// A table of at most this many pages is read page by page; of a longer one, the rows that indexes
// find.
inline constexpr BlockNumber few_pages = 4;

// Reads all rows that are committed or of this transaction, whatever its isolation level is; not in
// a parallel operation. Each is a registry::Row of the list, palloc'd. std::nullopt: the relation
// has more than few_pages, is gone, or is not as the extension has made it, and the caller has to
// open it.
std::optional<List *> read(Oid table);

} // namespace snowflake::registry_pages
