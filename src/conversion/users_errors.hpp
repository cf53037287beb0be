// Errors of users' code, which can raise any SQLSTATE.
//
// The conversion tries again after a lock timeout, and a caller ends it by a cancellation;
// PL/pgSQL's OTHERS catches neither a cancellation nor a failed assertion. An owner whose code
// raises one of these would decide what becomes of the sequences of others.
#pragma once

#include "server/server.hpp"

namespace snowflake::users_errors {

// The facts that tell an error of the server from one that users' code has raised.
struct Origin {
    MemoryContext context;
    int lock_timeout; // of the caller, in milliseconds; 0: none
    std::int64_t event_trigger_failures;
};

Origin origin();

// Passes on the error that was just caught, with the SQLSTATE 38000 if its own is that of a lock
// timeout, a cancellation or a failed assertion and it is an error of users' code: neither the
// server nor an event trigger has raised it since the origin. A lock timeout is the server's if the
// session has waited as long as the caller allows.
[[noreturn]] void pass_on(const Origin &origin);

// Runs an action that evaluates what users wrote. Passes on its errors as pass_on() does.
template <typename Action>
void run(Action action) {
    const Origin before = origin();
    PG_TRY();
    { action(); }
    PG_CATCH();
    { pass_on(before); }
    PG_END_TRY();
}

} // namespace snowflake::users_errors
