// What this backend remembers of each sequence it has used: the last ID (currval), the lease, and
// what would cost to look up again.
//
// Nothing is remembered by hope: what the catalogs say falls with the server's own invalidation
// (relation, sequence options, roles), what a lock protects falls with the transaction that holds
// it, and everything falls with DISCARD SEQUENCES and DISCARD ALL.
#pragma once

#include "generator.hpp"
#include "sequence_page.hpp"
#include "server.hpp"

namespace snowflake::session {

// A run of IDs that this session has reserved and not handed out yet.
struct Lease {
    std::int64_t left; // IDs that can still be handed out; 0: there is no lease
    Id next;
    Id step;              // from one ID to the next
    std::int64_t tick;    // the tick that all of them belong to
    std::int64_t ends_us; // when the tick is over, in Unix microseconds
    Layout layout;        // what they were made under, and must be asked for under
    int node;
    XLogRecPtr lsn; // of the page they were reserved on, flushed; means nothing without WAL
};

// What the catalogs say of a sequence.
struct Definition {
    std::int64_t increment;
    std::int64_t cache;     // IDs to reserve at once, at least 1
    std::int64_t max_value; // no ID may be greater
    bool local_temporary;   // a temporary sequence of this session
    bool database_wide;     // snowflake.id_seq
    Storage storage;
    bool rewritten_here; // by a transaction that may still be rolled back, and is the current one
};

struct Sequence {
    Oid relid; // the key

    Id last; // last ID handed out in this session (its currval); no_id: none
    Lease lease;
    Buffer buffer; // where the page was last, and is while it is pinned; InvalidBuffer: not known

    Definition definition; // while known
    bool known;
    bool logged; // this session has written a record since it knows the definition
    // The only transaction that may use the definition; any if InvalidLocalTransactionId.
    LocalTransactionId known_in;
    Oid permitted; // the role found to have the right to nextval; InvalidOid: none

    LocalTransactionId locked_in; // the transaction that holds our lock on the sequence
};

// Registers what makes the session forget. Called once, when the module is loaded.
void define();

// The sequence for which nothing is to be looked up until the transaction ends, the role changes
// or the server invalidates something; nullptr: none. Use open_for_nextval().
extern Sequence *ready;

// Makes a sequence ready, or raises one of its errors.
Sequence &make_ready(Oid relid);

// Raises 25006 (read-only transaction or standby) or 25000 (parallel operation).
void require_nextval_possible(const Sequence &sequence);

// The sequence, locked as the server's nextval locks it (ROW EXCLUSIVE, until the transaction
// ends), its definition known, its page pinned and nextval allowed. Raises 42P01 (no such
// relation), 42809 (not a sequence), 0A000 (temporary sequence of another session), 42501 (neither
// USAGE nor UPDATE), 25006 (read-only transaction or standby) and 25000 (parallel operation).
inline Sequence &open_for_nextval(Oid relid) {
    Sequence *sequence = ready;
    if (unlikely(sequence == nullptr || sequence->relid != relid ||
                 sequence->permitted != GetUserId()))
        sequence = &make_ready(relid);
    if (unlikely(XactReadOnly || IsInParallelMode()))
        require_nextval_possible(*sequence);
    return *sequence;
}

// The last ID that nextval returned in this session for the sequence, or for whichever it was last
// called on. Raise 55000 if there is none, and 42501 without SELECT or USAGE on the sequence;
// currval also 42P01, 42809 and 0A000 as above.
Id currval(Oid relid);
Id lastval();

// The sequence that nextval was last called on; nullptr: none.
extern Sequence *last_called;

// Remembers that nextval returns id.
inline void handed_out(Sequence &sequence, Id id) {
    sequence.last = id;
    last_called = &sequence;
}

// Remembers that an ID of a tick that ends then, in Unix microseconds, is handed out from a
// sequence that this transaction has rewritten. If the transaction is rolled back or prepared, it
// waits for that time, a second at most, before it lets others use the sequence.
void outwait(std::int64_t end_of_tick_us);

} // namespace snowflake::session
