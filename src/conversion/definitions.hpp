// Definitions stay as they are while a conversion runs the code of users, and nobody touches what
// lacks its guards.
//
// A conversion looks at what it will touch, at whose it is and at what names mean, and then runs
// its commands one after the other. Code of an owner that runs in between, in the same transaction,
// could rename a schema or make a function, and so decide what a later command of another owner
// does. It would find tables whose policies, triggers and foreign keys are taken away, and views
// that lack their triggers and rules yet: it may read and write them only as a role that may act
// for their owner. Nor does it put anything in the place of a cursor that the session has open.
#pragma once

#include "server/server.hpp"
#include "users_errors.hpp"

namespace snowflake::definitions {

// Code of users is under this ban while a command or a trial runs it.
struct Ban {
    bool is_in_force;
    bool is_complete;    // whether all relations have their guards again
    Oid role;            // of the command
    const char *command; // the one that may change definitions; nullptr: none
};

Ban in_force();

// Raises 42501 if code of users runs a command that changes definitions.
void require_none(CommandTag command);

// Lets a parallel worker have the ban of its leader. Called once, when the module is loaded.
void init();

// Lets nothing but the command with this text, which may be nullptr, change definitions until
// restore() is called with what was in force before; an error must not keep it from being called.
// The caller has begun a nested level of settings, and ends it.
// Event triggers, whose functions a superuser has chosen, still may while the runner watches them.
void impose(const char *command, bool is_complete = false);
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
    PG_CATCH(); // g++ warns of PG_FINALLY() here, whose variable a longjmp could clobber
    {
        restore(before);
        PG_RE_THROW();
    }
    PG_END_TRY();
    restore(before);
}

} // namespace snowflake::definitions
