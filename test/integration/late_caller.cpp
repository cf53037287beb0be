// A module for the server whose callback evaluates an expression, late_caller.call, before each
// commit, and keeps the result in late_caller.result.
#include "../../src/server/server.hpp"

extern "C" {

PG_MODULE_MAGIC;

static void transaction_ends(XactEvent event, void *) {
    const char *call = GetConfigOption("late_caller.call", true, false);
    if (event != XACT_EVENT_PRE_COMMIT || call == nullptr || *call == '\0')
        return;
    SPI_connect();
    PushActiveSnapshot(GetTransactionSnapshot());
    SPI_execute(psprintf("SELECT set_config('late_caller.result', (%s)::text, false)", call), false,
                0);
    PopActiveSnapshot();
    SPI_finish();
}

PGDLLEXPORT void _PG_init() { // NOLINT(bugprone-reserved-identifier): the server's name for it
    RegisterXactCallback(transaction_ends, nullptr);
}

} // extern "C"
