#include "allocate.hpp"

#include "clock.hpp"
#include "generator.hpp"
#include "sequence_page.hpp"
#include "session.hpp"
#include "settings.hpp"

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

// The sequence as an argument that can be pasted into a statement: 'public.orders_id_seq'.
const char *as_literal(Oid relid) {
    return quote_literal_cstr(quote_qualified_identifier(
        get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid)));
}

const char *as_text(std::int64_t unix_us) {
    return timestamptz_to_str(unix_us - server::unix_to_server_us);
}

[[noreturn]] void raise_node_unset() {
    ereport(
        ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
        errmsg("snowflake.node is not set"),
        errdetail("Each PostgreSQL instance that makes snowflake IDs needs a node number of its "
                  "own, from 1 to %d.",
                  settings::max_node),
        errhint("As a superuser, run for example: "
                "ALTER SYSTEM SET snowflake.node = 1; SELECT pg_reload_conf();"));
    pg_unreachable();
}

[[noreturn]] void raise_above_max_value(const Sequence &sequence) {
    ereport(ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
            errmsg("the next snowflake ID is above the maximum value of sequence \"%s\" (%lld)",
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
        errhint("ALTER SEQUENCE %s INCREMENT BY 1;",
                quote_qualified_identifier(get_namespace_name(get_rel_namespace(sequence.relid)),
                                           get_rel_name(sequence.relid))));
    pg_unreachable();
}

[[noreturn]] void raise(Refusal refusal, const Sequence &sequence, Layout layout, int node,
                        std::int64_t now_us) {
    switch (refusal) {
    case Refusal::before_epoch:
        ereport(ERROR, errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
                errmsg("the system clock is before the epoch of the snowflake layout"),
                errdetail("The clock reads %s; the epoch is %s.", pstrdup(as_text(now_us)),
                          pstrdup(as_text(layout.epoch_us()))),
                errhint("Set the system clock of the server."));
        break;
    case Refusal::exhausted:
        ereport(
            ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
            errmsg("no snowflake ID is left for sequence \"%s\"", get_rel_name(sequence.relid)),
            errdetail("The timestamps of the layout end at %s; the sequence or the clock is there.",
                      as_text(layout.unix_us(layout.last_tick()))),
            errhint("If the sequence was set too far ahead, set it back to below the present: "
                    "SELECT setval(%s, 1);",
                    as_literal(sequence.relid)));
        break;
    case Refusal::node_out_of_range:
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("snowflake.node is %d, which does not fit the layout", node),
                errdetail("The greatest node of the layout is %d.", layout.last_node()),
                errhint("As a superuser, run for example: "
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
bool usable(const Sequence &sequence, Layout layout, int node, std::int64_t now) {
    const Lease &lease = sequence.lease;
    return lease.left > 0 && lease.tick >= now && lease.node == node && lease.layout == layout &&
           unchanged_since(sequence.buffer, lease.lsn);
}

Id take(Lease &lease) {
    const Id id = lease.next;
    // The last one may be the last of the layout, with nothing to step to.
    if (--lease.left > 0)
        lease.next += lease.step;
    return id;
}

// Whether IDs of this tick may have been handed out that the page does not tell of, because the
// sequence was made anew or set back since.
bool may_repeat(const LockedPage &page, Layout layout, std::int64_t tick) {
    const Id last = last_reserved(page);
    return !continued(page) && (last < 0 || layout.tick_of(last) <= tick);
}

// Locks the page of the sequence at a moment whose tick is above all that it may repeat, and brings
// now_us, the clock in Unix microseconds, up to that moment.
LockedPage lock_page_in_time(Sequence &sequence, Layout layout, std::int64_t &now_us) {
    XLogRecPtr waited_on = InvalidXLogRecPtr;
    for (bool waited = false;; waited = true) {
        const LockedPage page =
            lock_page(sequence.relid, sequence.definition.storage, sequence.buffer);
        const std::int64_t tick = layout.tick_at(now_us);
        if (likely(!may_repeat(page, layout, tick)))
            return page;
        // Who set it meanwhile once more may have come from a later tick.
        if (waited && page_lsn(page) == waited_on)
            return page;
        waited_on = page_lsn(page);
        unlock(page);
        // A clock that stands still is not waited for.
        const std::int64_t next_tick_us = layout.unix_us(tick + 1);
        sleep_until(next_tick_us, layout.tick_us());
        now_us = std::max(clock_us(), next_tick_us);
    }
}

// Reserves up to wanted IDs on the page of the sequence and makes them its lease.
void reserve_lease(Sequence &sequence, Layout layout, int node, std::int64_t now_us,
                   std::int64_t wanted) {
    const session::Definition &definition = sequence.definition;
    sequence.lease.left = 0;
    const LockedPage page = lock_page_in_time(sequence, layout, now_us);

    Request request{.now = layout.tick_at(now_us),
                    .node = node,
                    .stride = stride_of(sequence),
                    .wanted = wanted};
    const Id last = last_reserved(page);
    Reservation reserved = reserve(layout, last, request);
    // Near MAXVALUE the last IDs are reserved one by one.
    if (reserved.last > definition.max_value) {
        request.wanted = 1;
        reserved = reserve(layout, last, request);
    }
    const bool above_max_value = reserved.last > definition.max_value;
    if (reserved.refusal != Refusal::none || above_max_value) {
        unlock(page);
        if (above_max_value)
            raise_above_max_value(sequence);
        raise(reserved.refusal, sequence, layout, node, now_us);
    }

    const Id mark = std::min(high_water_mark(layout, reserved.last), definition.max_value);
    advance(page, definition.storage, reserved.last, mark, request.stride);
    const XLogRecPtr lsn = page_lsn(page);
    unlock(page);

    // An ID must not leave before its record is on disk, whoever wrote that: a transaction that
    // changes nothing else is not flushed when it commits. Almost always this is one comparison.
    if (definition.storage.logged)
        XLogFlush(lsn);

    sequence.lease = {.left = reserved.count,
                      .next = reserved.first,
                      .step = reserved.step,
                      .tick = layout.tick_of(reserved.first),
                      .layout = layout,
                      .node = node,
                      .lsn = lsn};
}

} // namespace

Id next_id(Oid relid, Layout layout) {
    Sequence &sequence = session::open_for_nextval(relid);
    const int node = settings::node();
    if (unlikely(node == settings::node_unset))
        raise_node_unset();

    const std::int64_t now_us = clock_us();
    if (!usable(sequence, layout, node, layout.tick_at(now_us))) {
        // Without WAL a page does not show that setval moved the sequence, so nothing is leased.
        const bool lease = sequence.definition.storage.logged;
        reserve_lease(sequence, layout, node, now_us, lease ? sequence.definition.cache : 1);
    }
    const Id id = take(sequence.lease);
    session::handed_out(sequence, id, layout);
    return id;
}

} // namespace snowflake
