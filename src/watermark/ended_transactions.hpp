// The transactions that had ended at a moment, as a snapshot shows them; and whether an older or a
// newer snapshot shows as many.
#pragma once

#include "server/server.hpp"

namespace snowflake {

// The transactions that had ended: all before next but those that were still running.
struct EndedTransactions {
    TransactionId next = InvalidTransactionId;
    std::uint32_t running_count = 0;
    TransactionId *running = nullptr; // in the order of their numbers
};

// Finds the transactions that a snapshot shows to have ended. The memory of running is of the
// context.
EndedTransactions ended_in(Snapshot snapshot, MemoryContext context);

// Frees running.
void forget(EndedTransactions &ended);

// Tells whether a snapshot shows the end of all these transactions. It then shows every row that
// they have committed.
bool shows(Snapshot snapshot, const EndedTransactions &ended);

} // namespace snowflake
