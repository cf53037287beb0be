// What the next ID is: a pure function of what a sequence last reserved, the clock and the node.
//
// It knows no server, keeps no state and reads no clock, so that its promises can be tested on
// simulated clusters: for one sequence on one node every reservation lies above the one before it,
// whatever the clock, the node and the layout do in between.
#pragma once

#include "layout.hpp"

#include <algorithm>
#include <cstdint>

namespace snowflake {

// What stands for "this sequence has reserved nothing yet"; any negative value does.
inline constexpr Id no_id = -1;

// What a caller asks of the generator.
struct Request {
    std::int64_t now;        // the clock, in ticks of the layout; negative before its epoch
    std::int64_t node;       // 1 .. the layout's last_node()
    std::int64_t stride = 1; // consecutive counters that one ID stands for
    std::int64_t wanted = 1; // IDs to reserve at once, 1 .. 2^31-1
    bool batch = false;      // whether to reserve all that are wanted, however many ticks it takes
};

// Why there is no next ID.
enum class Refusal : std::uint8_t {
    none,
    before_epoch,      // the clock reads a time before the layout's epoch
    exhausted,         // no tick of the layout is left
    node_out_of_range, // the node does not fit the layout's node field
    stride_too_wide,   // the stride is not 1 .. the number of counters in a tick
    stride_misplaced,  // a stride above 1 where the counter is not the lowest field
};

// A run of count IDs of one node: first, and then next_in_run() of each. In one tick they are step
// apart. last is the greatest ID reserved: the last of them and the rest of its stride. Nothing was
// reserved where refusal is not none, and then the other members mean nothing.
struct Reservation {
    Refusal refusal = Refusal::none;
    Id first = no_id;
    Id last = no_id;
    Id step = 0;
    std::int64_t count = 0;
};

// Reserves the next IDs of a sequence whose greatest ID so far is last (negative: none so far).
//
// The tick is the clock's if that is beyond last's. Otherwise (same tick, or the clock went back)
// it stays last's tick and the counter goes on; where the stride no longer fits into the counter,
// it is the tick after. All IDs reserved at once belong to one tick, so fewer than wanted may come,
// unless a batch is asked for: that goes on through the ticks that follow, which may be ahead of
// the clock, or is refused as a whole.
constexpr Reservation reserve(Layout layout, Id last, const Request &request) noexcept {
    const std::int64_t capacity = std::int64_t{layout.last_counter()} + 1;
    const auto refuse = [](Refusal why) { return Reservation{.refusal = why}; };

    if (request.node < 1 || request.node > layout.last_node())
        return refuse(Refusal::node_out_of_range);
    if (request.stride < 1 || request.stride > capacity)
        return refuse(Refusal::stride_too_wide);
    if (request.stride > 1 && layout.counter_step() != 1)
        return refuse(Refusal::stride_misplaced);
    if (request.now < 0)
        return refuse(Refusal::before_epoch);

    Fields next{.tick = request.now, .node = static_cast<std::int32_t>(request.node), .counter = 0};
    if (last >= 0 && layout.tick_of(last) >= request.now) {
        // last may come from another layout, so its tick may lie beyond this one's.
        const std::int64_t counter = std::int64_t{layout.counter_of(last)} + 1;
        next.tick = layout.tick_of(last);
        if (next.tick > layout.last_tick())
            return refuse(Refusal::exhausted);
        if (counter + request.stride <= capacity)
            next.counter = static_cast<std::int32_t>(counter);
        // A full counter, or a node lower than the one that made last: nothing of this node is
        // left above last in this tick.
        if (counter + request.stride > capacity || layout.compose(next) <= last) {
            ++next.tick;
            next.counter = 0;
        }
    }
    if (next.tick > layout.last_tick())
        return refuse(Refusal::exhausted);

    const Id first = layout.compose(next);
    const Id step = request.stride * layout.counter_step();
    if (request.wanted == 1) // the common case, without a division
        return {.first = first,
                .last = first + (request.stride - 1) * layout.counter_step(),
                .step = step,
                .count = 1};

    const std::int64_t fitting = (capacity - next.counter) / request.stride;
    if (!request.batch || request.wanted <= fitting) {
        const std::int64_t count = std::clamp<std::int64_t>(request.wanted, 1, fitting);
        return {.first = first,
                .last = first + (count * request.stride - 1) * layout.counter_step(),
                .step = step,
                .count = count};
    }

    const std::int64_t fitting_in_tick = capacity / request.stride;
    const std::int64_t beyond = request.wanted - fitting - 1; // IDs before the last, from next tick
    if (beyond / fitting_in_tick >= layout.last_tick() - next.tick)
        return refuse(Refusal::exhausted);
    const std::int64_t last_counter = (beyond % fitting_in_tick + 1) * request.stride - 1;
    return {.first = first,
            .last = layout.compose({.tick = next.tick + 1 + beyond / fitting_in_tick,
                                    .node = next.node,
                                    .counter = static_cast<std::int32_t>(last_counter)}),
            .step = step,
            .count = request.wanted};
}

// The ID that follows this one in a run that was reserved with this stride and does not end here.
constexpr Id next_in_run(Layout layout, Id id, std::int64_t stride) noexcept {
    if (layout.counter_of(id) + 2 * stride - 1 <= layout.last_counter())
        return id + stride * layout.counter_step();
    return layout.compose(
        {.tick = layout.tick_of(id) + 1, .node = layout.node_of(id), .counter = 0});
}

// The ID up to which one log record covers a sequence that has reserved last, an ID of the layout:
// the last ID before the tick that begins one second after last's. A sequence that finds itself on
// this mark after a crash is therefore at most one second ahead.
constexpr Id high_water_mark(Layout layout, Id last) noexcept {
    const std::int64_t second_later = layout.tick_of(last) + layout.ticks_per_second() - 1;
    return layout.last_id_of_tick(std::min(second_later, layout.last_tick()));
}

} // namespace snowflake
