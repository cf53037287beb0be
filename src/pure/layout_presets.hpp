// Layouts that have a name: the default one, a narrower one, and the published formats that a
// layout can express. docs/layouts.md gives the source of each.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include "layout.hpp"

#include <array>
#include <string_view>

namespace snowflake {

struct Preset {
    std::string_view name; // in lower case
    Layout layout;
};

inline constexpr std::array presets = {
    Preset{"default", default_layout},

    // IDs below 2^53, which every number of JavaScript and of most JSON parsers holds. 6 bits of
    // node and 6 of counter leave the time of the default layout: 69 years, in milliseconds.
    Preset{"javascript", *Layout::make({.epoch_ms = 1'672'531'200'000,
                                        .tick_exponent = 3,
                                        .timestamp_bits = 41,
                                        .node_bits = 6,
                                        .counter_bits = 6,
                                        .order = Layout::Order::node_above_counter})},

    // The node is 5 bits of datacenter and 5 bits of worker.
    Preset{"twitter", *Layout::make({.epoch_ms = 1'288'834'974'657,
                                     .tick_exponent = 3,
                                     .timestamp_bits = 41,
                                     .node_bits = 10,
                                     .counter_bits = 12,
                                     .order = Layout::Order::node_above_counter})},

    // Published with 42 bits of timestamp, the highest of which is the sign of a bigint. The node
    // is 5 bits of worker and 5 bits of process.
    Preset{"discord", *Layout::make({.epoch_ms = 1'420'070'400'000,
                                     .tick_exponent = 3,
                                     .timestamp_bits = 41,
                                     .node_bits = 10,
                                     .counter_bits = 12,
                                     .order = Layout::Order::node_above_counter})},

    // Published with 41 bits of timestamp, the highest of which is the sign of a bigint. The node
    // is the shard.
    Preset{"instagram", *Layout::make({.epoch_ms = 1'314'220'021'721,
                                       .tick_exponent = 3,
                                       .timestamp_bits = 40,
                                       .node_bits = 13,
                                       .counter_bits = 10,
                                       .order = Layout::Order::node_above_counter})},

    // The start time that Sonyflake 1 takes if it is given none.
    Preset{"sonyflake", *Layout::make({.epoch_ms = 1'409'529'600'000,
                                       .tick_exponent = 4,
                                       .timestamp_bits = 39,
                                       .node_bits = 16,
                                       .counter_bits = 8,
                                       .order = Layout::Order::counter_above_node})},

    // Published with 48 bits of timestamp, the highest of which is the sign of a bigint. There is
    // no node, and therefore no ID can be made in this layout. The counter distinguishes IDs, but
    // does not order them.
    Preset{"mastodon", *Layout::make({.epoch_ms = 0,
                                      .tick_exponent = 3,
                                      .timestamp_bits = 47,
                                      .node_bits = 0,
                                      .counter_bits = 16,
                                      .order = Layout::Order::node_above_counter})},
};

} // namespace snowflake
