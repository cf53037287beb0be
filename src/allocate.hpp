// One nextval, or many at once, from the node and the clock to the page and back.
#pragma once

#include "generator.hpp"
#include "server.hpp"

namespace snowflake {

// The next ID of the sequence, made under the layout. Whatever crash follows, no later call makes
// an ID that is not greater: the WAL covers it before it is returned.
//
// Raises what session::open_for_nextval() and nodes::node() do, and 55000 (the node does not fit
// the layout; the sequence descends; its increment does not fit the counter), 22008 (the clock is
// before the layout's epoch) and 2200H (the layout or the sequence's MAXVALUE is exhausted).
Id next_id(Oid relid, Layout layout);

// A run of IDs that are reserved and not yet handed out.
struct Batch {
    std::int64_t left;
    Id next; // while left > 0
    std::int64_t stride;
    Layout layout;
};

// Reserves count IDs, 0 or more, in one visit to the sequence and with one WAL record at most. They
// go on through later ticks where one tick has not room for all: the sequence may then be ahead of
// the clock. All of them are taken, and the last is the session's currval, whatever is done with
// them.
//
// Raises what next_id() does, and reserves nothing then.
Batch next_ids(Oid relid, Layout layout, std::int32_t count);

// The next ID of a batch that has one left.
inline Id take(Batch &batch) {
    const Id id = batch.next;
    // The last one may be the last of the layout, with nothing to step to.
    if (--batch.left > 0)
        batch.next = next_in_run(batch.layout, id, batch.stride);
    return id;
}

} // namespace snowflake
