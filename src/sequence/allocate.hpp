// The making of IDs: one nextval, or many at once, from the node and the clock to the page and
// back.
#pragma once

#include "pure/generator.hpp"
#include "server/server.hpp"

namespace snowflake {

// Makes the next ID of the sequence, in the sequence's layout; in the default one if it has none.
// Once the transaction has committed, no later call makes an ID that is not greater, whatever crash
// follows. If it has not, the same holds while the clock does not go back. See durability.hpp.
//
// Raises what session::open_for_nextval() and this_node::number() do, and 55000 (the node does not
// fit the layout; the sequence descends; its increment does not fit the counter), 22008 (the clock
// is before the layout's epoch) and 2200H (the layout or the sequence's MAXVALUE is exhausted).
Id next_id(Oid relid);

// Makes the next ID as next_id() does, for a caller that names the layout. Raises the errors of
// session::require_right_to_use_layout() as well.
Id next_id(Oid relid, Layout layout);

// Makes the next ID of the sequence, for a client that may number a block of IDs from it on. Where
// the INCREMENT of the sequence is n, above 1, the n numbers before the ID and the n - 1 after it
// are reserved with it: clients count up from the value that they get, or down.
//
// Raises what next_id() does, and 55000 if the counter has no room for 2 n.
Id next_id_amid_block(Oid relid);

// A run of IDs that are reserved and not yet handed out.
struct Batch {
    std::int64_t left;
    Id next; // while left > 0
    std::int64_t stride;
    Layout layout;
};

// Reserves count IDs, 0 or more, in one visit to the sequence and with one WAL record at most.
// Where one tick has not room for all, the IDs go on through later ticks, and the sequence may then
// be ahead of the clock. All of them count as used, and the last one is the session's currval, even
// if the caller does not take them all.
//
// Raises what next_id() does, and 42501 (a caller that may not set the sequence would put it far
// ahead of the clock). An error reserves nothing.
//
// The layout is the sequence's, unless the caller names one as for next_id().
Batch next_ids(Oid relid, std::optional<Layout> named, std::int32_t count);

// Takes the next ID from a batch that has one left.
inline Id take(Batch &batch) {
    const Id id = batch.next;
    // The last ID may be the last of the layout, after which there is none to step to.
    if (--batch.left > 0)
        batch.next = next_in_run(batch.layout, id, batch.stride);
    return id;
}

} // namespace snowflake
