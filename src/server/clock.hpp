// The clock, and waiting for it.
#pragma once

#include "server.hpp"

namespace snowflake {

// Reads the system clock, in Unix microseconds.
inline std::int64_t clock_us() {
    return GetCurrentTimestamp() + server::unix_to_server_us;
}

// Sleeps until the clock shows unix_us, but no longer than limit_us however the clock moves.
// The cancellation of the query ends the sleep with an error, unless interrupts are held.
void sleep_until(std::int64_t unix_us, std::int64_t limit_us);

} // namespace snowflake
