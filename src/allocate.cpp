#include "allocate.hpp"

#include "clock.hpp"
#include "generator.hpp"
#include "nodes.hpp"
#include "sequence_page.hpp"
#include "session.hpp"

namespace snowflake {

namespace {

using session::Lease;
using session::Sequence;

// The INCREMENT that makes the server's own nextval fail. It says nothing about strides.
constexpr std::int64_t guard_increment = std::numeric_limits<std::int64_t>::max();

std::int64_t stride_of(const Sequence &sequence) {
    const std::int64_t increment = sequence.definition.increment;
    return increment == guard_increment ? 1 : increment;
}

// The sequence as it can be pasted into a statement: public.orders_id_seq, or in quotes as an
// argument.
const char *as_name(Oid relid) {
    return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
                                      get_rel_name(relid));
}
const char *as_literal(Oid relid) {
    return quote_literal_cstr(as_name(relid));
}

const char *as_text(std::int64_t unix_us) {
    return timestamptz_to_str(unix_us - server::unix_to_server_us);
}

[[noreturn]] void raise_above_max_value(const Sequence &sequence, std::int64_t count) {
    const char *excess = count == 1 ? "the next snowflake ID is above"
                                    : psprintf("not all of the next %lld snowflake IDs are within",
                                               static_cast<long long>(count));
    ereport(ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
            errmsg("%s the maximum value of sequence \"%s\" (%lld)", excess,
                   get_rel_name(sequence.relid),
                   static_cast<long long>(sequence.definition.max_value)),
            errhint("Convert the sequence: SELECT snowflake.convert_sequence_to_snowflake(%s);",
                    as_literal(sequence.relid)));
    pg_unreachable();
}

[[noreturn]] void raise_increment(const Sequence &sequence, const char *detail) {
    ereport(
        ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
        errmsg("sequence \"%s\" has an increment of %lld, which cannot be used for snowflake IDs",
               get_rel_name(sequence.relid), static_cast<long long>(sequence.definition.increment)),
        errdetail_internal("%s", detail),
        errhint("ALTER SEQUENCE %s INCREMENT BY 1;", as_name(sequence.relid)));
    pg_unreachable();
}

[[noreturn]] void raise_too_far_ahead(const Sequence &sequence) {
    ereport(
        ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
        errmsg("permission denied to put sequence \"%s\" more than 10 minutes ahead of the clock",
               get_rel_name(sequence.relid)),
        errhint("Ask for fewer IDs at once, or as the owner of the sequence: "
                "GRANT UPDATE ON SEQUENCE %s TO %s;",
                as_name(sequence.relid), quote_identifier(GetUserNameFromId(GetUserId(), false))));
    pg_unreachable();
}

[[noreturn]] void raise_foreign_layout(const Sequence &sequence) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s\" makes IDs in the default layout only",
                   get_rel_name(sequence.relid)),
            errdetail("It is shared by the whole database, and another layout could put it years "
                      "ahead of the clock."),
            errhint("Use a sequence of your own: CREATE SEQUENCE name;"));
    pg_unreachable();
}

[[noreturn]] void raise(Refusal refusal, const Sequence &sequence, Layout layout, int node,
                        std::int64_t now_us) {
    const bool clock_is_there = now_us >= layout.unix_us(layout.last_tick());
    switch (refusal) {
    case Refusal::before_epoch:
        ereport(ERROR, errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
                errmsg("the system clock is before the epoch of the snowflake layout"),
                errdetail("The clock reads %s; the epoch is %s.", pstrdup(as_text(now_us)),
                          pstrdup(as_text(layout.epoch_us()))),
                now_us >= default_layout.epoch_us()
                    ? errhint("Choose a layout from: SELECT name, epoch FROM snowflake.layouts;")
                    : errhint("Set the system clock of the server."));
        break;
    case Refusal::exhausted:
        ereport(ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
                errmsg("no snowflake ID is left for sequence \"%s\"", get_rel_name(sequence.relid)),
                errdetail("The timestamps of the layout end at %s; the %s is there.",
                          as_text(layout.unix_us(layout.last_tick())),
                          clock_is_there ? "clock" : "sequence"),
                clock_is_there
                    ? errhint("Choose a layout from: SELECT name, last_timestamp "
                              "FROM snowflake.layouts;")
                    : errhint("If the sequence was set too far ahead, set it back to below the "
                              "present: SELECT setval(%s, 1);",
                              as_literal(sequence.relid)));
        break;
    case Refusal::node_out_of_range:
        if (layout.node_bits() == 0)
            ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("no snowflake ID can be made in a layout without nodes"),
                    errhint("Choose a layout from: SELECT name FROM snowflake.layouts "
                            "WHERE nodes > 1;"));
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("node %d does not fit the layout", node),
                errdetail("The greatest node of the layout is %d.", layout.last_node()),
                errhint("As a superuser, run for example: LOAD 'snowflake'; "
                        "ALTER SYSTEM SET snowflake.node = 1; SELECT pg_reload_conf();"));
        break;
    case Refusal::stride_too_wide:
        raise_increment(sequence, stride_of(sequence) < 1
                                      ? "Snowflake IDs only ascend."
                                      : psprintf("The counter of the layout has room for %d.",
                                                 layout.last_counter() + 1));
    case Refusal::stride_misplaced:
        raise_increment(sequence, "An increment above 1 needs a layout whose counter is its lowest "
                                  "field.");
    case Refusal::none:
        break;
    }
    pg_unreachable();
}

// Whether the session may hand out from what it has reserved: under the same layout and node,
// while the clock has not passed the tick, and unless something like setval has moved the sequence
// since.
bool usable(const Sequence &sequence, Layout layout, int node, std::int64_t now_us) {
    const Lease &lease = sequence.lease;
    return lease.left > 0 && now_us < lease.ends_us && lease.node == node &&
           lease.layout == layout && unchanged_since(sequence.buffer, lease.lsn);
}

// The tick of a time. Mostly the one of the last lease, which spares the division.
std::int64_t tick_at(Layout layout, std::int64_t unix_us, const Lease &lease) {
    if (lease.layout == layout && unix_us < lease.ends_us &&
        unix_us >= lease.ends_us - layout.tick_us())
        return lease.tick;
    return layout.tick_at(unix_us);
}

Id take(Lease &lease) {
    const Id id = lease.next;
    // The last one may be the last of the layout, with nothing to step to.
    if (--lease.left > 0)
        lease.next += lease.step;
    return id;
}

// An ID that no node makes. As the last one reserved it closes its tick: the next is in a later
// one.
Id closing_id(Layout layout, std::int64_t tick) {
    return layout.compose({.tick = tick, .node = 0, .counter = layout.last_counter()});
}

// Whether a tick is closed that the clock, read at this one, had not left then.
bool is_closed(Layout layout, Id last, std::int64_t tick) {
    return last >= 0 && layout.tick_of(last) >= tick &&
           last == closing_id(layout, layout.tick_of(last));
}

// What the clock shows after this tick, in Unix microseconds. Only a clock that stands still or
// steps back is not waited for.
std::int64_t wait_for_tick_after(Layout layout, std::int64_t tick) {
    // Sleeps may end early, and the clock may be slewed meanwhile.
    constexpr std::int64_t patience_us = 100'000;
    const std::int64_t next_tick_us = layout.unix_us(tick + 1);
    sleep_until(next_tick_us, layout.tick_us() + patience_us);
    return std::max(clock_us(), next_tick_us);
}

// Reserves as many IDs as wanted, but one where a lease would pass MAXVALUE.
Reservation reserve_below_max_value(Layout layout, Id last, Request request,
                                    std::int64_t max_value) {
    const Reservation reserved = reserve(layout, last, request);
    if (reserved.last <= max_value || request.batch)
        return reserved;
    request.wanted = 1;
    return reserve(layout, last, request);
}

// How much two processors may disagree on the time, generously.
constexpr std::int64_t clock_skew_us = 100;

// What was reserved on a page, and the LSN up to which the WAL covers it.
struct Granted {
    Reservation reserved;
    XLogRecPtr lsn;
};

// How many IDs to reserve, and whether all of them or none.
struct Wanted {
    std::int64_t count;
    bool batch;
    bool far_ahead; // whether a batch may put the sequence farther than furthest_ahead_us
};

// How far ahead of the clock a batch can put the sequence if the caller may not set it: so far that
// in the default layout any batch that begins with the clock is possible.
constexpr std::int64_t furthest_ahead_us = 600 * USECS_PER_SEC;

bool is_too_far_ahead(Layout layout, Id last, std::int64_t now_us, Wanted wanted) {
    return wanted.batch && !wanted.far_ahead &&
           layout.unix_us(layout.tick_of(last)) - now_us > furthest_ahead_us;
}

// Reserves IDs on the page of the sequence.
//
// A sequence that was made anew or set back does not tell which IDs of the present tick have been
// handed out before. Who finds it so closes the tick for everybody and waits for the next.
Granted reserve_on_page(Sequence &sequence, Layout layout, int node, std::int64_t now_us,
                        Wanted wanted) {
    const session::Definition &definition = sequence.definition;
    const std::int64_t stride = stride_of(sequence);
    for (;;) {
        const LockedPage page = lock_page(sequence.buffer);
        const bool reset = !continued(page);
        // Under the lock: not before what was handed out until the reset, by a clock that may
        // differ a little between processors.
        if (reset)
            now_us = clock_us() + clock_skew_us;
        const std::int64_t tick = tick_at(layout, now_us, sequence.lease);
        const Id last = last_reserved(page);
        const Reservation reserved = reserve_below_max_value(layout, last,
                                                             {.now = tick,
                                                              .node = node,
                                                              .stride = stride,
                                                              .wanted = wanted.count,
                                                              .batch = wanted.batch},
                                                             definition.max_value);
        if (reserved.refusal != Refusal::none) {
            unlock(page);
            raise(reserved.refusal, sequence, layout, node, now_us);
        }
        if (is_too_far_ahead(layout, reserved.last, now_us, wanted)) {
            unlock(page);
            raise_too_far_ahead(sequence);
        }

        const bool closed = !reset && is_closed(layout, last, tick);
        const bool wait = closed || (reset && (last < 0 || layout.tick_of(last) <= tick));
        const Id new_last = wait ? closing_id(layout, tick) : reserved.last;
        // No later tick has an ID below one that closes this tick.
        if (std::max(reserved.last, new_last) > definition.max_value) {
            unlock(page);
            raise_above_max_value(sequence, wanted.batch ? wanted.count : 1);
        }
        if (!closed) {
            advance(page, definition.storage, new_last,
                    {.mark = std::min(high_water_mark(layout, new_last), definition.max_value),
                     .step = stride,
                     .trusted = sequence.logged});
            sequence.logged = true;
        }
        const XLogRecPtr lsn = page_lsn(page);
        unlock(page);

        if (likely(!wait))
            return {.reserved = reserved, .lsn = lsn};
        now_us = wait_for_tick_after(layout, closed ? layout.tick_of(last) : tick);
    }
}

// A transaction that has rewritten the sequence does not run ahead of the clock: if it is rolled
// back, the clock is all that keeps its IDs from being made again. A sequence that somebody has set
// farther ahead than a crash does is not waited for.
void keep_to_the_clock(Layout layout, const Reservation &reserved) {
    const std::int64_t now_us = clock_us();
    if (layout.unix_us(layout.tick_of(reserved.first)) - now_us > USECS_PER_SEC)
        return;
    const std::int64_t last_tick = layout.tick_of(reserved.last);
    const std::int64_t begins_us = layout.unix_us(last_tick);
    sleep_until(begins_us, std::max<std::int64_t>(begins_us - now_us, 0) + USECS_PER_SEC);
    session::outwait(layout.unix_us(last_tick + 1));
}

// Reserves IDs and sees to it that they can be handed out. The LSN of the lease is then theirs.
Reservation reserve_durably(Sequence &sequence, Layout layout, int node, std::int64_t now_us,
                            Wanted wanted) {
    if (unlikely(sequence.definition.database_wide && layout != default_layout))
        raise_foreign_layout(sequence);
    const auto [reserved, lsn] = reserve_on_page(sequence, layout, node, now_us, wanted);

    // An ID must not leave before its record is on disk, here and on synchronous standbys, whoever
    // wrote that: a transaction that changes nothing else waits for neither when it commits. Almost
    // always this is one comparison.
    if (sequence.definition.storage.logged && lsn != sequence.lease.lsn) {
        XLogFlush(lsn);
        server::wait_for_standbys(lsn);
        sequence.lease.lsn = lsn;
    }
    if (unlikely(sequence.definition.rewritten_here))
        keep_to_the_clock(layout, reserved);
    return reserved;
}

// Gives the session a new lease, of up to CACHE IDs.
void renew_lease(Sequence &sequence, Layout layout, int node, std::int64_t now_us) {
    sequence.lease.left = 0;
    // Without WAL a page does not show that setval moved the sequence, so nothing is leased.
    const std::int64_t wanted = sequence.definition.storage.logged ? sequence.definition.cache : 1;
    const Reservation reserved = reserve_durably(
        sequence, layout, node, now_us, {.count = wanted, .batch = false, .far_ahead = true});
    const std::int64_t tick = layout.tick_of(reserved.first);
    sequence.lease = {.left = reserved.count,
                      .next = reserved.first,
                      .step = reserved.step,
                      .tick = tick,
                      .ends_us = layout.unix_us(tick + 1),
                      .layout = layout,
                      .node = node,
                      .lsn = sequence.lease.lsn};
}

} // namespace

Id next_id(Oid relid, Layout layout) {
    Sequence &sequence = session::open_for_nextval(relid);
    const std::int64_t now_us = clock_us();
    const int node = nodes::node(now_us);
    if (!usable(sequence, layout, node, now_us))
        renew_lease(sequence, layout, node, now_us);
    const Id id = take(sequence.lease);
    session::handed_out(sequence, id);
    return id;
}

Batch next_ids(Oid relid, Layout layout, std::int32_t count) {
    Sequence &sequence = session::open_for_nextval(relid);
    const std::int64_t now_us = clock_us();
    const int node = nodes::node(now_us);
    const std::int64_t stride = stride_of(sequence);
    if (count == 0)
        return {.left = 0, .next = no_id, .stride = stride, .layout = layout};

    // What is left of a lease is below the batch, and must not come after it.
    sequence.lease.left = 0;
    const bool may_set = pg_class_aclcheck(relid, GetUserId(), ACL_UPDATE) == ACLCHECK_OK;
    const Reservation reserved = reserve_durably(
        sequence, layout, node, now_us, {.count = count, .batch = true, .far_ahead = may_set});
    session::handed_out(sequence, reserved.last - (stride - 1) * layout.counter_step());
    return {.left = reserved.count, .next = reserved.first, .stride = stride, .layout = layout};
}

} // namespace snowflake
