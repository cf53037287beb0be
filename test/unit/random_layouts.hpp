// Layouts at random, every one as good as any other.
#pragma once

#include "layout.hpp"
#include "random.hpp"

#include <cstdint>
#include <optional>

namespace snowflake::testing {

// Makes parts that are in their ranges; their sum may be too great for a layout.
inline Layout::Parts random_parts(Random &random) {
    return {.epoch_ms = random.of_any_size((std::int64_t{1} << 42) - 1),
            .tick_exponent = static_cast<int>(random.between(0, 6)),
            .timestamp_bits = static_cast<int>(random.between(1, 63)),
            .node_bits = static_cast<int>(random.between(0, 31)),
            .counter_bits = static_cast<int>(random.between(0, 31)),
            .order = random.one_in(2) ? Layout::Order::node_above_counter
                                      : Layout::Order::counter_above_node};
}

inline Layout random_layout(Random &random) {
    std::optional<Layout> layout;
    while (!layout)
        layout = Layout::make(random_parts(random));
    return *layout;
}

} // namespace snowflake::testing
