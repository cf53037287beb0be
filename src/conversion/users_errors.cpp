#include "users_errors.hpp"

#include "event_triggers.hpp"

namespace snowflake::users_errors {

namespace {

bool passes_for_servers(const ErrorData &error) {
    return error.sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
           error.sqlerrcode == ERRCODE_QUERY_CANCELED || error.sqlerrcode == ERRCODE_ASSERT_FAILURE;
}

// The server raises all of its cancellations and lock timeouts in one function. Code that is
// evaluated can set a lock_timeout, too, but a statement_timeout only for the next statement.
bool is_servers(const ErrorData &error, const Origin &origin) {
    if (event_triggers::failures() != origin.event_trigger_failures)
        return true;
    if (error.funcname == nullptr || std::strcmp(error.funcname, "ProcessInterrupts") != 0)
        return false;
    return error.sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE ||
           (origin.lock_timeout > 0 && server::last_lock_timeout() >= origin.lock_timeout);
}

} // namespace

Origin origin() {
    return {.context = CurrentMemoryContext,
            .lock_timeout = LockTimeout,
            .event_trigger_failures = event_triggers::failures()};
}

void pass_on(const Origin &origin) {
    MemoryContext raised_in = MemoryContextSwitchTo(origin.context);
    ErrorData *error = CopyErrorData();
    if (!passes_for_servers(*error) || is_servers(*error, origin)) {
        MemoryContextSwitchTo(raised_in);
        PG_RE_THROW();
    }
    FlushErrorState();
    error->sqlerrcode = ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
    ReThrowError(error);
}

} // namespace snowflake::users_errors
