// Layouts that differ from the default one in one respect each, for tests that go through several.
#pragma once

#include "layout.hpp"

#include <array>
#include <cstdint>

namespace snowflake::testing {

// Unix milliseconds of the epochs used here.
inline constexpr std::int64_t epoch_2023 = 1'672'531'200'000;
inline constexpr std::int64_t epoch_2024 = 1'704'067'200'000;

// The parts of the default layout, written out anew, as a start for others.
inline constexpr Layout::Parts default_parts{.epoch_ms = epoch_2023,
                                             .tick_exponent = 3,
                                             .timestamp_bits = 41,
                                             .node_bits = 10,
                                             .counter_bits = 12,
                                             .order = Layout::Order::node_above_counter};

// Milliseconds in the widths of the default layout, from another epoch.
constexpr Layout with_epoch(std::int64_t epoch_ms) {
    Layout::Parts parts = default_parts;
    parts.epoch_ms = epoch_ms;
    return Layout::make(parts).value();
}

// The epoch and order of the default layout with other widths.
constexpr Layout with_fields(int tick_exponent, int timestamp_bits, int node_bits,
                             int counter_bits) {
    Layout::Parts parts = default_parts;
    parts.tick_exponent = tick_exponent;
    parts.timestamp_bits = timestamp_bits;
    parts.node_bits = node_bits;
    parts.counter_bits = counter_bits;
    return Layout::make(parts).value();
}

constexpr Layout counter_above_node_layout() {
    Layout::Parts parts = default_parts;
    parts.order = Layout::Order::counter_above_node;
    return Layout::make(parts).value();
}

// timestamp:41 counter:12 node:10
inline constexpr Layout counter_above_node = counter_above_node_layout();

// Ticks of 1 s with 4096 counters each, until 2091.
inline constexpr Layout seconds = with_fields(6, 31, 10, 12);

// Ticks of 1 us with 4 counters each.
inline constexpr Layout microseconds = with_fields(0, 51, 10, 2);

// Half of the default layout: its last tick is in 2057.
inline constexpr Layout narrow = with_fields(3, 40, 10, 12);

inline constexpr std::array<Layout, 5> some_layouts = {default_layout, counter_above_node, seconds,
                                                       microseconds, narrow};

} // namespace snowflake::testing
