// Definitions stay as they are while a conversion runs the code of users.
//
// A conversion looks at what it will touch, at whose it is and at what names mean, and then runs
// its commands one after the other. Code of an owner that runs in between, in the same transaction,
// could rename a schema or make a function, and so decide what a later command of another owner
// does.
#pragma once

#include "server/server.hpp"
#include "users_errors.hpp"

namespace snowflake::definitions {

// Whether code may change definitions, and the one command that may; nullptr: none.
struct Ban {
    bool is_in_force;
    const char *command;
};

Ban in_force();

// Lets nothing but the command with this text, which may be nullptr, change definitions until
// restore() is called with what was in force before; an error must not keep it from being called.
// Event triggers, whose functions a superuser has chosen, still may while the runner watches them.
void impose(const char *command);
void restore(const Ban &before);

// Runs an action that evaluates what users wrote, and may change no definitions. Passes on its
// errors as users_errors::run() does.
template <typename Action>
void run_banned(Action action) {
    const Ban before = in_force();
    PG_TRY();
    {
        impose(nullptr);
        users_errors::run(action);
    }
    PG_FINALLY();
    { restore(before); }
    PG_END_TRY();
}

} // namespace snowflake::definitions
