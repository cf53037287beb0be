#include "clock.hpp"

namespace snowflake {

void sleep_until(std::int64_t unix_us, std::int64_t limit_us) {
    constexpr std::int64_t longest_nap_us = 1000;
    while (limit_us > 0) {
        const std::int64_t left_us = unix_us - clock_us();
        if (left_us <= 0)
            return;
        CHECK_FOR_INTERRUPTS();
        const std::int64_t nap_us = std::min({left_us, limit_us, longest_nap_us});
        pg_usleep(nap_us);
        limit_us -= nap_us;
    }
}

} // namespace snowflake
