#include "statements.hpp"

namespace snowflake::statements {

namespace {

Snapshot oldest = nullptr; // of the running statements that use a table
ExecutorRun_hook_type next_run = nullptr;

// When the client sent the statement within which the library was loaded, and the transaction of
// that time; 0: within none.
TimestampTz loaded_within = 0;
LocalTransactionId loaded_in = InvalidLocalTransactionId;

bool uses_table(const PlannedStmt *statement) {
    ListCell *cell = nullptr;
    foreach (cell, statement->rtable)
        if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_RELATION)
            return true;
    return false;
}

// Tells which of two snapshots of a session was taken first: transactions only end from one to the
// next, and new ones come after xmax.
bool is_older(Snapshot one, Snapshot other) {
    return TransactionIdPrecedes(one->xmax, other->xmax) ||
           (one->xmax == other->xmax && one->xcnt > other->xcnt);
}

// Calls the hook that was installed before this one, or the server's own function.
template <typename... More>
void run_next(QueryDesc *query, ScanDirection direction, std::uint64_t count, More... more) {
    (next_run != nullptr ? next_run : standard_ExecutorRun)(query, direction, count, more...);
}

template <typename... More>
void run(QueryDesc *query, ScanDirection direction, std::uint64_t count, More... more) {
    Snapshot before = oldest;
    if (!uses_table(query->plannedstmt) ||
        (before != nullptr && !is_older(query->snapshot, before))) {
        run_next(query, direction, count, more...);
        return;
    }
    oldest = query->snapshot;
    PG_TRY();
    { run_next(query, direction, count, more...); }
    PG_FINALLY();
    { oldest = before; }
    PG_END_TRY();
}

} // namespace

Snapshot oldest_snapshot() {
    if (oldest != nullptr)
        return oldest;
    if (loaded_within != 0 && loaded_within == GetCurrentStatementStartTimestamp() &&
        loaded_in == server::current_transaction())
        return nullptr;
    return GetActiveSnapshot();
}

void init() {
    // The planner of the client's statement loads the library before the statement runs.
    if (ActivePortal != nullptr) {
        loaded_within = GetCurrentStatementStartTimestamp();
        loaded_in = server::current_transaction();
    }
    next_run = ExecutorRun_hook;
    ExecutorRun_hook = run;
}

} // namespace snowflake::statements
