// The node number that this instance makes IDs with, and who else claims it.
//
// It is that of the setting, or else the one that this instance has claimed in the table
// snowflake.nodes, which is replicated among the instances. A number that another instance has the
// better claim to is refused.
#pragma once

#include "server.hpp"

namespace snowflake::nodes {

// What the session knows. Use node().
struct Known {
    int node;                 // of this instance; 0: to be looked up
    std::uint64_t checked_us; // when that was last found to be so, in Unix microseconds
};
extern Known known;

// Finds out, or raises one of node()'s errors.
int look_up(std::int64_t now_us);

// The number of this instance, 1 .. settings::max_node. now_us is the time, in Unix microseconds.
// Raises 55000 if there is none, if the setting and the claim disagree, or if the number is another
// instance's or is reserved for leases.
//
// It is looked up when a session first asks, and again after every change of the setting or of the
// table. The table's trigger tells all sessions. They hear of it with their next transaction or
// lock; one that takes its IDs in a single long statement listens here, once a second.
inline int node(std::int64_t now_us) {
    const std::uint64_t since_us = static_cast<std::uint64_t>(now_us) - known.checked_us;
    return likely(since_us < USECS_PER_SEC) ? known.node : look_up(now_us);
}

// Makes the session look again.
void forget();

// Tells all sessions, once the transaction commits, that the table has changed.
void tell_of_change(Relation table);

// Registers what the table's changes do. Called once, when the module is loaded.
void define();

} // namespace snowflake::nodes
