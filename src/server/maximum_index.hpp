// The index of a table that tells the greatest value of a bigint column.
#pragma once

#include "server.hpp"

namespace snowflake::maximum_index {

// Opens the first index whose last entries are the greatest values of the column, and locks it
// against changes; nullptr: there is none. An index that is locked against readers, as REINDEX
// does, is passed over unless the caller may wait. The caller closes the index.
Relation open(Relation table, AttrNumber attribute, bool may_wait);

} // namespace snowflake::maximum_index
