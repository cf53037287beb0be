// Event triggers that fire for the commands of a conversion, as they would for the same commands of
// anybody.
//
// The conversion runs with a search_path of its own. An event trigger that writes to a table of its
// own may count on the caller's, and its error is the system's answer, not a fault of what the
// conversion makes again.
#pragma once

#include "server/server.hpp"

namespace snowflake::event_triggers {

// The search_path that event triggers find while a command runs, and the calls of them that have
// not ended, the innermost first.
struct Watch {
    const char *search_path; // nullptr: event triggers are not watched
    struct Call *innermost;
};

// Lets the functions of event triggers find this search_path until end(), but those that set one
// for themselves. Returns what was in force, for end(). An error between the two must not keep
// end() from being called.
Watch begin(const char *search_path);
void end(const Watch &before);

// Tells whether the function of an event trigger runs that is watched.
bool is_running();

// Returns how many errors have left functions of event triggers in this session, while they were
// watched.
std::int64_t failures();

// Installs the hooks that this needs. Called once, before begin().
void init();

} // namespace snowflake::event_triggers
