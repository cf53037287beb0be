// The errors and warnings about node numbers.
#pragma once

#include "registry.hpp"

namespace snowflake {

// Raises the error of a verdict that is not valid, with this error code: 55000 where IDs are to be
// made, 55006 where the number is to be claimed.
[[noreturn]] void raise_refused(int error_code, const Verdict<registry::StoredAct> &verdict,
                                int setting);

// Raises 55000 on a server that was upgraded, and whose former number others know.
[[noreturn]] void raise_upgraded(const registry::StoredAct &former);

// Warns, or raises 55000, on a server that is not where it was: it may be a copy, from which
// nothing may be taken by its original. It ran at this place before.
void report_moved(int level, const char *before);

// Logs what an act that has arrived by replication means for this instance, if it means something:
// another has claimed its number, or is a copy of it.
void report_arrival(const registry::Registry &registry, const registry::StoredAct &arrived);

// Returns what a user runs to get a free number in place of one that is refused, as a hint.
// palloc'd.
const char *how_to_claim_another();

// Returns a text of another server with a question mark in the place of each control character, as
// check() shows it. palloc'd.
const char *one_line(const char *text);

// Returns a time, in Unix microseconds, as text. palloc'd.
const char *time_text(std::int64_t unix_us);

// Returns the identifiers of an instance as the arguments of remove_node. palloc'd.
const char *arguments_for(const Instance &instance);

} // namespace snowflake
