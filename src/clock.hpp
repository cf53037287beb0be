// The clock, and waiting for it.
#pragma once

#include "server.hpp"

namespace snowflake {

// What the system clock shows, in Unix microseconds.
inline std::int64_t clock_us() {
    return GetCurrentTimestamp() + server::unix_to_server_us;
}

// Sleeps until the clock shows unix_us, but no longer than limit_us however the clock moves.
// Query cancellation ends it with its error, where interrupts are not held.
void sleep_until(std::int64_t unix_us, std::int64_t limit_us);

} // namespace snowflake
