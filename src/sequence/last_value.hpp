// The last value of a sequence that takes the place of another one, or gets a guard.
#pragma once

#include "server/server.hpp"

namespace snowflake {

// Marks the last value of another sequence, or of the same one, as taken from a sequence; 1 where
// it is below. The server's setval does so, too, but then its currval returns that value in this
// session, which drew no such value. Locks the sequence as ALTER SEQUENCE does. A rollback takes
// that back only if the transaction has made or altered the sequence before. Raises 42501 unless
// the current role has the rights of the owner of both, 42P01 and 42809 if one of them is no
// sequence, 22003 if its limits do not allow the value, and 25006 in a read-only transaction.
void take_last_value(Oid sequence, Oid other);

// Has a sequence go on where another one is, with its last value, taken or not: the same rules.
void take_state(Oid sequence, Oid other);

} // namespace snowflake
