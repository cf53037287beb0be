#include "lock_holders.hpp"

#include "sequence/session.hpp"

namespace snowflake::lock_holders {

namespace {

// Tells the locks that keep a start from advisory locks of SQL, which have 1 or 2 in this place.
constexpr std::uint16_t class_of_kept_starts = 0x5346;

// The lock by which a prepared transaction keeps its start. Locks are all that the server keeps of
// a prepared transaction for others to see, across restarts too.
LOCKTAG kept_start(TimestampTz start) {
    LOCKTAG tag;
    SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, static_cast<std::uint32_t>(start >> 32),
                         static_cast<std::uint32_t>(start), class_of_kept_starts);
    return tag;
}

bool is_kept_start(const LOCKTAG &tag) {
    return tag.locktag_type == LOCKTAG_ADVISORY && tag.locktag_field4 == class_of_kept_starts;
}

TimestampTz start_of(const LOCKTAG &kept) {
    return static_cast<TimestampTz>(std::uint64_t{kept.locktag_field2} << 32 | kept.locktag_field3);
}

// Finds the start that a prepared transaction has kept; 0: none.
TimestampTz find_kept_start(const server::HolderId &holder) {
    const LockData *locks = GetLockStatusData();
    for (int i = 0; i < locks->nelements; ++i) {
        const LockInstanceData &lock = locks->locks[i];
        // A prepared transaction has no process.
        if (lock.pid == 0 && is_kept_start(lock.locktag) &&
            server::same_holder(server::holder_of(lock), holder))
            return start_of(lock.locktag);
    }
    return 0;
}

bool is_prepared(const server::HolderId &holder) {
    if (VirtualTransactionIdIsRecoveredPreparedXact(holder))
        return true;
    bool more = false;
    return TransactionIdIsValid(TwoPhaseGetXidByVirtualXID(holder, &more));
}

void note(Starts &starts, TimestampTz start) {
    if (start == 0)
        starts.all_known = false;
    else
        starts.oldest_us = std::min(starts.oldest_us, start + server::unix_to_server_us);
}

void note_holder(Starts &starts, const server::HolderId &holder) {
    if (!VirtualTransactionIdIsRecoveredPreparedXact(holder)) {
        // The order matters: if the session is still in the transaction, it was when it said this.
        const TimestampTz start = server::start_in_session_of(holder);
        pg_read_barrier();
        if (server::is_in_its_session(holder))
            return note(starts, start);
    }
    // Otherwise the transaction has ended since it was found, unless it is prepared.
    if (is_prepared(holder))
        note(starts, find_kept_start(holder));
}

// Keeps the start of a transaction that is about to be prepared and may have made IDs.
void transaction_is_prepared(XactEvent event, void *) {
    if (event != XACT_EVENT_PRE_PREPARE || !session::may_have_made_ids())
        return;
    const LOCKTAG tag = kept_start(GetCurrentTransactionStartTimestamp());
    (void)LockAcquire(&tag, ShareLock, false, false);
}

} // namespace

Starts find(Relation sequence) {
    LOCKTAG tag;
    SET_LOCKTAG_RELATION(tag, MyDatabaseId, RelationGetRelid(sequence));
    Starts starts;
    if (CheckRelationLockedByMe(sequence, RowExclusiveLock, true))
        note(starts, GetCurrentTransactionStartTimestamp());
    int count = 0;
    server::HolderId *holders = GetLockConflicts(&tag, ShareLock, &count);
    for (int i = 0; i < count; ++i)
        note_holder(starts, holders[i]);
    pfree(holders);
    return starts;
}

void init() {
    RegisterXactCallback(transaction_is_prepared, nullptr);
}

} // namespace snowflake::lock_holders
