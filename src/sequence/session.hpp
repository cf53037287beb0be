// The memory of this backend: what it remembers of each sequence that it has used. That is the last
// ID (currval), the lease, and what would cost to look up again.
//
// Every cached value has an invalidation rule. What the catalogs say is forgotten on the server's
// own invalidation (relation, sequence options, roles). What a lock protects is forgotten at the
// end of the transaction that holds the lock. DISCARD SEQUENCES and DISCARD ALL forget everything.
#pragma once

#include "pure/generator.hpp"
#include "pure/lease.hpp"
#include "sequence_page.hpp"
#include "server/server.hpp"

namespace snowflake::session {

// A sequence's definition in the catalogs.
struct Definition {
    std::int64_t increment;
    std::int64_t stride;            // what the increment asks for
    std::int64_t cache;             // IDs to reserve at once, at least 1
    std::int64_t min_value;         // with which a sequence that cycles begins anew
    std::int64_t max_value;         // no ID may be greater
    bool has_layout;                // the layout is the sequence's own, and calls can name no other
    Layout layout = default_layout; // of a call that names none
    bool local_temporary;           // a temporary sequence of this session
    Storage storage;
    bool rewritten_here; // by the current transaction, which may still be rolled back
};

struct Sequence {
    Oid relid; // the key

    Id last; // the last ID that this session has handed out (its currval); no_id: none
    Lease lease;
    Buffer buffer; // where the page was last, and is while it is pinned; InvalidBuffer: not known
    std::uint64_t ready_since; // the generation of the session in which it became ready; 0: none

    Definition definition;
    bool definition_known; // whether the definition is up to date
    // The only transaction that may use the definition; InvalidLocalTransactionId: every one may.
    LocalTransactionId definition_valid_in;
    bool logged;   // whether this session has written a record since it read the definition
    Oid permitted; // the role found to have the right to nextval; InvalidOid: none
    Oid may_set;   // the role found to have the right to setval; InvalidOid: none
    LocalTransactionId locked_in; // the transaction that holds this session's lock on the sequence
};

// Registers the callbacks and the hook by which the session forgets. Called once, when the module
// is loaded.
void init();

// The sequence that was opened last, if nothing is to be looked up for it until the transaction
// ends, the role changes or the server invalidates something; nullptr: none. Use
// open_for_nextval().
extern Sequence *ready;

// Makes a sequence ready, or raises one of the errors of open_for_nextval(). A handful of sequences
// can be ready at once: this only finds such a one.
Sequence &make_ready(Oid relid);

// Makes certain that the current role, which an open sequence is open for, may name the layout in a
// call. Where the sequence has a layout, the call can name no other. Where it has none, one ID in a
// layout with an early epoch puts the sequence years ahead, as setval can: that takes the right to
// UPDATE. Raises 55000 (another layout) and 42501 (no right).
void require_right_to_use_layout(Sequence &sequence, Layout layout);

// Raises 55000: a call names another layout than that of the sequence.
[[noreturn]] void raise_other_layout(Oid relid, Layout own, Layout named);

// Opens a locked relation, which must be a sequence that this session can use. The caller closes
// the relation without unlocking it. Raises 42P01, 42809 and 0A000 as open_for_nextval() does.
Relation open_sequence(Oid relid);

// Tells whether the current role has one of these rights on the sequence.
bool has_rights(Oid relid, AclMode any_of);

// Raises 42501 unless has_rights().
void require_rights(Oid relid, AclMode any_of);

// Tells whether this transaction has locked any sequence for IDs.
bool may_have_made_ids();

// Opens a sequence for nextval: locks it as the server's nextval does (ROW EXCLUSIVE, until the
// transaction ends), knows its definition, pins its page, and checks that nextval is allowed.
// Raises 42P01 (no such relation), 42809 (not a sequence), 0A000 (temporary sequence of another
// session), 42501 (neither USAGE nor UPDATE), 25006 (read-only transaction or standby) and 25000
// (parallel operation).
inline Sequence &open_for_nextval(Oid relid) {
    Sequence *sequence = ready;
    if (unlikely(sequence == nullptr || sequence->relid != relid ||
                 sequence->permitted != GetUserId() || XactReadOnly || IsInParallelMode()))
        return make_ready(relid);
    return *sequence;
}

// Tells whether the session may hand out from its lease of an open sequence: the lease is usable,
// and nothing such as setval has moved the sequence since.
inline bool has_usable_lease(const Sequence &sequence, Layout layout, int node,
                             std::int64_t now_us) {
    return is_usable(sequence.lease, layout, node, now_us) &&
           unchanged_since(sequence.buffer, sequence.lease.lsn);
}

// Return the last ID that nextval returned in this session, for a sequence or for the one that it
// was last called on. Raise 55000 if there is none, and 42501 without SELECT or USAGE on the
// sequence; currval also 42P01, 42809 and 0A000 as above.
Id currval(Oid relid);
Id lastval();

// The sequence that nextval was last called on; nullptr: none.
extern Sequence *last_called;

// Whether the server's own nextval was called after that, see redirected.hpp.
extern bool server_was_last;

// Remembers that nextval returns id.
inline void handed_out(Sequence &sequence, Id id) {
    sequence.last = id;
    last_called = &sequence;
    server_was_last = false;
}

// Tells whether a relation is a sequence that is converted. Locks it first, as the server's nextval
// does, so that it stays so until the transaction ends. Other relations are none. Raises 42P01 if
// there is no such relation.
bool makes_ids(Oid relid);

// Remembers a time, in Unix microseconds, at which the tick of an ID ends that the session takes
// from a sequence which its transaction has rewritten. If the transaction is rolled back or
// prepared, the session waits for that time, a second at most, before other sessions can use the
// sequence: the sequence would know nothing of the ID, and would make it again.
void wait_for_if_rolled_back(std::int64_t end_of_tick_us);

} // namespace snowflake::session
