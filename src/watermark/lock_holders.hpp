// The holders of the lock that nextval takes on a sequence, and the starts of their transactions.
#pragma once

#include "server/server.hpp"

namespace snowflake::lock_holders {

// When the transactions began that hold the lock.
struct Starts {
    bool all_known = true; // whether the start of each of them is known
    std::int64_t oldest_us = std::numeric_limits<std::int64_t>::max(); // Unix; greatest: no holder
};

// Finds the starts of the transactions that hold the lock on an open sequence, this one and
// prepared ones among them. A transaction that locks the sequence later than the call reads the
// clock later.
//
// A start is not known where track_activities was off when the transaction began, and of a prepared
// transaction that has the lock by the server's own functions alone.
Starts find(Relation sequence);

// Registers the callback that keeps the start of a transaction which is prepared. Called once, when
// the module is loaded.
void init();

} // namespace snowflake::lock_holders
