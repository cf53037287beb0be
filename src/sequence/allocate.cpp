#include "allocate.hpp"

#include "allocate_errors.hpp"
#include "durability.hpp"
#include "nodes/this_node.hpp"
#include "pure/generator.hpp"
#include "pure/lease.hpp"
#include "sequence_page.hpp"
#include "server/clock.hpp"
#include "session.hpp"

namespace snowflake {

namespace {

using session::Sequence;

// How many IDs to reserve, and whether all of them or none.
struct Wanted {
    std::int64_t count;
    bool batch;
    bool far_ahead;      // whether the sequence may go farther ahead than furthest_ahead_us
    std::int64_t stride; // consecutive counters to reserve for each ID
};

// IDs that were reserved on a page, and the LSN up to which the WAL covers them;
// InvalidXLogRecPtr: the sequence is not logged.
struct Granted {
    Reservation reserved;
    XLogRecPtr lsn;
};

Limits limits_of(const Sequence &sequence, Layout layout, std::int64_t now_us,
                 const Wanted &wanted) {
    Limits limits{.max_value = sequence.definition.max_value};
    if (!wanted.far_ahead)
        limits.last_tick = layout.tick_at(now_us + furthest_ahead_us);
    return limits;
}

// Writes to the page that everything up to last is reserved. This function and those below that
// nextval needs are inlined into the callers, for which the layout may be a constant: see
// generator.hpp.
[[gnu::always_inline]] inline void write_last(const LockedPage &page, Sequence &sequence,
                                              Layout layout, Id last) {
    const session::Definition &definition = sequence.definition;
    write_with_wal(page, definition.storage, last,
                   {.mark = std::min(high_water_mark(layout, last), definition.max_value),
                    .step = definition.stride,
                    .trusted = sequence.logged});
    sequence.logged = true;
}

// Waits for a closed tick to end. Returns the time to go on with, in Unix microseconds.
std::int64_t wait_for_end_of(std::int64_t closed_tick, Layout layout) {
    sleep_until(layout.unix_us(closed_tick + 1), layout.tick_us() + patience_us);
    return time_after(layout, closed_tick, clock_us());
}

// Reserves IDs on the page of the sequence, as the rule of the next ID decides.
[[gnu::always_inline]] inline Granted reserve_on_page(Sequence &sequence, Layout layout, int node,
                                                      std::int64_t now_us, const Wanted &wanted) {
    for (;;) {
        const LockedPage page = lock_page(sequence.buffer);
        SequenceState state = state_of(page);
        // Where the server's own nextval has begun a sequence with CYCLE anew, log_cnt is not 0.
        state.reset = state.reset || state.last == sequence.definition.min_value;
        if (state.reset) // the rule wants a time that was read under the lock
            now_us = clock_us() + clock_skew_us;
        const Request request{.now = tick_at(sequence.lease, layout, now_us),
                              .node = node,
                              .stride = wanted.stride,
                              .wanted = wanted.count,
                              .batch = wanted.batch};
        const Decision decision =
            decide_next_id(layout, state, request, limits_of(sequence, layout, now_us, wanted));
        if (decision.action == Action::refuse) {
            unlock(page);
            raise_refusal(decision.reserved.refusal, sequence,
                          {.layout = layout,
                           .node = node,
                           .now_us = now_us,
                           .count = wanted.batch ? wanted.count : 1});
        }
        if (decision.action != Action::wait)
            write_last(page, sequence, layout, decision.last);
        const XLogRecPtr lsn =
            sequence.definition.storage.logged ? page_lsn(page) : InvalidXLogRecPtr;
        unlock(page);

        if (likely(decision.action == Action::hand_out))
            return {.reserved = decision.reserved, .lsn = lsn};
        now_us = wait_for_end_of(decision.closed_tick, layout);
    }
}

// Waits until the clock has reached the IDs of a transaction that has rewritten the sequence. If
// the transaction is rolled back, the clock is all that keeps its IDs from being made again. A
// sequence that a user has set farther ahead than a crash does is not waited for.
void keep_to_the_clock(Layout layout, const Reservation &reserved) {
    const std::int64_t now_us = clock_us();
    if (layout.unix_us(layout.tick_of(reserved.first)) - now_us > USECS_PER_SEC)
        return;
    const std::int64_t last_tick = layout.tick_of(reserved.last);
    const std::int64_t begins_us = layout.unix_us(last_tick);
    sleep_until(begins_us, std::max<std::int64_t>(begins_us - now_us, 0) + USECS_PER_SEC);
    session::wait_for_if_rolled_back(layout.unix_us(last_tick + 1));
}

// Waits for the record of IDs up to last, which the WAL covers up to lsn. Only for IDs that the
// clock does not keep from being made again after a crash. All others wait for it at the commit.
[[gnu::always_inline]] inline void wait_for_record(Layout layout, Id last, XLogRecPtr lsn) {
    // Sessions that wait for the page find it ahead of the time that they have read before.
    if (unlikely(!durability::is_durable(lsn)) && needs_record(layout, last, clock_us()))
        durability::wait_until_durable(lsn);
}

// Reserves IDs and sees to it that they can be handed out.
[[gnu::always_inline]] inline Granted reserve_durably(Sequence &sequence, Layout layout, int node,
                                                      std::int64_t now_us, const Wanted &wanted) {
    sequence.lease.left = 0; // an error must not leave the old lease behind
    const Granted granted = reserve_on_page(sequence, layout, node, now_us, wanted);
    if (needs_record(layout, granted.reserved.last, now_us))
        wait_for_record(layout, granted.reserved.last, granted.lsn);
    if (unlikely(sequence.definition.rewritten_here))
        keep_to_the_clock(layout, granted.reserved);
    return granted;
}

// Gives the session a new lease, of up to CACHE IDs. Inlined itself, it would take registers from a
// caller that has a lease.
[[gnu::noinline]] void renew_lease(Sequence &sequence, Layout layout, int node,
                                   std::int64_t now_us) {
    const session::Definition &definition = sequence.definition;
    // Without WAL a page does not show that setval moved the sequence, and then no more than one ID
    // may be reserved at once.
    const Wanted wanted{.count = definition.storage.logged ? definition.cache : 1,
                        .batch = false,
                        .far_ahead = true,
                        .stride = definition.stride};
    const auto renew = [&](Layout in) __attribute__((always_inline)) {
        const Granted granted = reserve_durably(sequence, in, node, now_us, wanted);
        sequence.lease = lease_of(granted.reserved, in, node, granted.lsn);
    };
    if (likely(layout == default_layout))
        renew(default_layout);
    else
        renew(layout);
}

// Does what next_id() in the header does, for a sequence that is open.
[[gnu::always_inline]] inline Id next_id_of(Sequence &sequence, Layout layout) {
    const std::int64_t now_us = clock_us();
    const int node = this_node::number(now_us);
    if (!session::has_usable_lease(sequence, layout, node, now_us))
        renew_lease(sequence, layout, node, now_us);
    else if (unlikely(is_ahead(sequence.lease, now_us))) // the clock may have gone back since
        wait_for_record(layout, sequence.lease.next, sequence.lease.lsn);
    durability::rely_on(sequence.lease.lsn);
    const Id id = take(sequence.lease);
    session::handed_out(sequence, id);
    return id;
}

} // namespace

Id next_id(Oid relid) {
    Sequence &sequence = session::open_for_nextval(relid);
    return next_id_of(sequence, sequence.definition.layout);
}

Id next_id(Oid relid, Layout layout) {
    Sequence &sequence = session::open_for_nextval(relid);
    session::require_right_to_use_layout(sequence, layout);
    return next_id_of(sequence, layout);
}

Id next_id_amid_block(Oid relid) {
    Sequence &sequence = session::open_for_nextval(relid);
    const std::int64_t block = sequence.definition.stride;
    const Layout layout = sequence.definition.layout;
    if (block <= 1)
        return next_id_of(sequence, layout);
    if (2 * block > std::int64_t{layout.last_counter()} + 1)
        raise_block_too_wide(sequence, (std::int64_t{layout.last_counter()} + 1) / 2);
    const std::int64_t now_us = clock_us();
    const int node = this_node::number(now_us);
    const auto [reserved, lsn] =
        reserve_durably(sequence, layout, node, now_us,
                        {.count = 1, .batch = false, .far_ahead = true, .stride = 2 * block});
    durability::rely_on(lsn);
    const Id id = reserved.first + block * layout.counter_step();
    session::handed_out(sequence, id);
    return id;
}

Batch next_ids(Oid relid, std::optional<Layout> named, std::int32_t count) {
    Sequence &sequence = session::open_for_nextval(relid);
    if (named)
        session::require_right_to_use_layout(sequence, *named);
    const Layout layout = named.value_or(sequence.definition.layout);
    const std::int64_t now_us = clock_us();
    const int node = this_node::number(now_us);
    const std::int64_t stride = sequence.definition.stride;
    if (count == 0)
        return {.left = 0, .next = no_id, .stride = stride, .layout = layout};

    // The rest of a lease is below the batch. The session gives it up.
    const bool may_set = pg_class_aclcheck(relid, GetUserId(), ACL_UPDATE) == ACLCHECK_OK;
    const auto [reserved, lsn] =
        reserve_durably(sequence, layout, node, now_us,
                        {.count = count, .batch = true, .far_ahead = may_set, .stride = stride});
    durability::rely_on(lsn);
    session::handed_out(sequence, reserved.last - (stride - 1) * layout.counter_step());
    return {.left = reserved.count, .next = reserved.first, .stride = stride, .layout = layout};
}

} // namespace snowflake
