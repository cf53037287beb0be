// The triggers of the table snowflake.nodes, by which its rows are only ever added, and each act
// once. They fire for replicated rows too, and no row halts replication.
#pragma once

#include "server/server.hpp"

namespace snowflake::registry_guard {

// Decides what becomes of a row that is to be added, changed or removed: the tuple to add; null:
// nothing is done. A row that arrives by replication never fails: it is passed over if it is there
// already, or cannot be read. Raises 55000 if somebody types UPDATE or DELETE.
HeapTuple guard_row(const TriggerData &trigger);

// Keeps the rows over a TRUNCATE that arrives by replication. Raises 55000 for one that is typed.
void guard_truncate(const TriggerData &trigger);

} // namespace snowflake::registry_guard
