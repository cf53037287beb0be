// Saying what other instances should know, outside the transaction of whoever makes an ID.
#pragma once

#include "server/server.hpp"

namespace snowflake::announcer {

// The tasks of a background worker.
enum class Task : std::uint8_t {
    say_what_lacks, // as the function
    repeat,         // as the function, for a server that asks
};

// Has a background worker do a task, once a transaction. The worker waits until the transaction
// after is over, if it is one; the caller does not wait. Where no worker can start, start() warns,
// and names the command that does the same; on a standby it does nothing.
void start(Task task, TransactionId after);

// Adds the rows of what is in force once more, for servers that replication brings them to only
// now. It says nothing new: a restored server must not contradict what it is about to hear. The
// caller holds the lock of the acts.
void repeat();

// Asks the servers that receive from this one to repeat() what they know. The caller holds the lock
// of the acts.
void ask();

// Says what this instance should say and has not said yet, and passes on what copies and their
// originals may hear of each other by this instance alone. setting is the number that the setting
// gives this instance, or 0. Returns whether there was anything to say. The caller holds the lock
// of the acts.
bool say_what_lacks(int setting);

} // namespace snowflake::announcer
