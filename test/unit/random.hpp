// Random numbers for the tests. The seed is fixed, so that a failure can be seen again. The
// environment variable SNOWFLAKE_SEED sets another seed.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace snowflake::testing {

// Reads a number from the environment; fallback where the variable is not set.
inline std::int64_t environment_number(const char *name, std::int64_t fallback) {
    const char *const set = std::getenv(name);
    if (set == nullptr)
        return fallback;
    const std::string_view text = set;
    const char *const end = text.data() + text.size();
    std::int64_t value = 0;
    const auto [stopped_at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped_at != end || value < 0)
        throw std::invalid_argument(std::string(name) + " is not a number: " + set);
    return value;
}

// A generator without the distributions of the standard library, which differ between systems.
class Random {
  public:
    explicit Random(std::int64_t seed) : engine_(static_cast<std::uint64_t>(seed)) {}

    // low .. high, both included; any range will do.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        const auto base = static_cast<std::uint64_t>(low);
        const std::uint64_t values = static_cast<std::uint64_t>(high) - base + 1;
        return static_cast<std::int64_t>(base + (values == 0 ? engine_() : engine_() % values));
    }

    // 0 .. high, with small numbers as likely as great ones: half of them have half the bits.
    std::int64_t of_any_size(std::int64_t high) { return between(0, high >> between(0, 62)); }

    // Is true once in so many times.
    bool one_in(std::int64_t times) { return between(1, times) == 1; }

  private:
    std::mt19937_64 engine_;
};

inline Random seeded_random() {
    const std::int64_t seed = environment_number("SNOWFLAKE_SEED", 20'230'101);
    std::cout << "SNOWFLAKE_SEED=" << seed << std::endl; // at once: what follows may crash
    return Random(seed);
}

} // namespace snowflake::testing
