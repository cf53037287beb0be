// A lease: a run of IDs that one session has reserved and not handed out yet, and the rules of what
// may be done with it.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include "generator.hpp"

#include <cstdint>

namespace snowflake {

// How far ahead of the clock a batch can put the sequence if the caller may not set it: so far that
// in the default layout any batch that begins with the clock is possible.
inline constexpr std::int64_t furthest_ahead_us = 600'000'000;

// IDs of one tick. A lease that is used up still tells its tick and the state of the page.
struct Lease {
    std::int64_t left = 0; // IDs that can still be handed out; 0: there is no lease
    Id next = no_id;
    Id step = 0;                                        // from one ID to the next
    std::int64_t tick = 0;                              // the tick that all of the IDs belong to
    std::int64_t begins_us = default_layout.unix_us(0); // when the tick begins
    std::int64_t ends_us = default_layout.unix_us(1); // when it is over, both in Unix microseconds
    Layout layout = default_layout;                   // in which the IDs were made
    int node = 0;                                     // with which the IDs were made
    std::uint64_t lsn = 0; // of the page, up to which the WAL covers these IDs; 0: without WAL
};

// The lease of a reservation that was made with this node, on a page with this LSN.
constexpr Lease lease_of(const Reservation &reserved, Layout layout, int node,
                         std::uint64_t lsn) noexcept {
    const std::int64_t tick = layout.tick_of(reserved.first);
    return {.left = reserved.count,
            .next = reserved.first,
            .step = reserved.step,
            .tick = tick,
            .begins_us = layout.unix_us(tick),
            .ends_us = layout.unix_us(tick + 1),
            .layout = layout,
            .node = node,
            .lsn = lsn};
}

// Tells whether a session may hand out from the lease to a caller that asks for an ID in this
// layout, with this node and at this time: an ID must be of the caller's layout and node, and must
// not be older than the tick of the time. The session has to check as well that nothing but nextval
// has changed the sequence since.
constexpr bool is_usable(const Lease &lease, Layout layout, int node,
                         std::int64_t now_us) noexcept {
    return lease.left > 0 && now_us < lease.ends_us && lease.node == node && lease.layout == layout;
}

// Tells whether the IDs of a lease are ahead of the clock at this time.
constexpr bool is_ahead(const Lease &lease, std::int64_t now_us) noexcept {
    return now_us < lease.begins_us;
}

// Takes the next ID from a lease that has one left.
constexpr Id take(Lease &lease) noexcept {
    const Id id = lease.next;
    // The last ID may be the last of the layout, after which there is none to step to.
    if (--lease.left > 0)
        lease.next += lease.step;
    return id;
}

// The tick of a time. It is mostly the tick of the last lease, which spares the division.
constexpr std::int64_t tick_at(const Lease &lease, Layout layout, std::int64_t unix_us) noexcept {
    if (lease.layout == layout && unix_us < lease.ends_us && unix_us >= lease.begins_us)
        return lease.tick;
    return layout.tick_at(unix_us);
}

} // namespace snowflake
