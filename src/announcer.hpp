// Saying what other instances should know, outside the transaction of whoever makes an ID.
#pragma once

#include "server.hpp"

namespace snowflake::announcer {

// Has a background worker say what this instance should say and has not said yet. setting is the
// number that the setting gives it, or 0. The worker waits until the transaction after is over, if
// it is one; the caller does not wait. Where no worker can start, it warns, and names the command
// that does the same; on a standby it does nothing.
void start(int setting, TransactionId after = InvalidTransactionId);

// Says it in the present transaction, if it still has to be said. Returns whether it had. The
// caller holds the lock of the acts.
bool say_what_lacks(int setting);

} // namespace snowflake::announcer
