#include "ended_transactions.hpp"

namespace snowflake {

namespace {

bool was_running(const EndedTransactions &ended, TransactionId transaction) {
    return std::binary_search(ended.running, ended.running + ended.running_count, transaction);
}

} // namespace

EndedTransactions ended_in(Snapshot snapshot, MemoryContext context) {
    EndedTransactions ended{
        .next = snapshot->xmax, .running_count = snapshot->xcnt, .running = nullptr};
    if (ended.running_count > 0) {
        ended.running = static_cast<TransactionId *>(
            MemoryContextAlloc(context, ended.running_count * sizeof(TransactionId)));
        std::copy(snapshot->xip, snapshot->xip + snapshot->xcnt, ended.running);
        std::sort(ended.running, ended.running + ended.running_count);
    }
    return ended;
}

void forget(EndedTransactions &ended) {
    if (ended.running != nullptr)
        pfree(ended.running);
    ended = {};
}

bool shows(Snapshot snapshot, const EndedTransactions &ended) {
    // Snapshots of logical decoding, and of the time before a standby was promoted, list their
    // transactions in another way.
    if (snapshot->snapshot_type != SNAPSHOT_MVCC || snapshot->takenDuringRecovery ||
        TransactionIdPrecedes(snapshot->xmax, ended.next))
        return false;
    return std::all_of(snapshot->xip, snapshot->xip + snapshot->xcnt, [&](TransactionId running) {
        return TransactionIdFollowsOrEquals(running, ended.next) || was_running(ended, running);
    });
}

} // namespace snowflake
