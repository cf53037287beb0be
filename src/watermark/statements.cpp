#include "statements.hpp"

namespace snowflake::statements {

namespace {

Snapshot outermost = nullptr; // of the running statements that use a table
ExecutorRun_hook_type next_run = nullptr;

// When the client sent the statement within which the library was loaded; 0: within none.
TimestampTz loaded_within = 0;

bool uses_table(const PlannedStmt *statement) {
    ListCell *cell = nullptr;
    foreach (cell, statement->rtable)
        if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_RELATION)
            return true;
    return false;
}

// Tells whether the statement that the client has sent runs, and uses a table.
bool is_within_statement() {
    if (ActivePortal == nullptr)
        return false;
    ListCell *cell = nullptr;
    foreach (cell, ActivePortal->stmts)
        if (uses_table(lfirst_node(PlannedStmt, cell)))
            return true;
    return false;
}

// What ran before this was installed.
template <typename... More>
void run_next(QueryDesc *query, ScanDirection direction, std::uint64_t count, More... more) {
    (next_run != nullptr ? next_run : standard_ExecutorRun)(query, direction, count, more...);
}

template <typename... More>
void run(QueryDesc *query, ScanDirection direction, std::uint64_t count, More... more) {
    if (outermost != nullptr || !uses_table(query->plannedstmt)) {
        run_next(query, direction, count, more...);
        return;
    }
    outermost = query->snapshot;
    PG_TRY();
    { run_next(query, direction, count, more...); }
    PG_FINALLY();
    { outermost = nullptr; }
    PG_END_TRY();
}

} // namespace

Snapshot outermost_snapshot() {
    if (outermost != nullptr)
        return outermost;
    if (loaded_within != 0 && loaded_within == GetCurrentStatementStartTimestamp())
        return nullptr;
    return GetActiveSnapshot();
}

void init() {
    if (is_within_statement())
        loaded_within = GetCurrentStatementStartTimestamp();
    next_run = ExecutorRun_hook;
    ExecutorRun_hook = run;
}

} // namespace snowflake::statements
