// The node number that this instance makes IDs with.
//
// It is the value of the setting, or else the number that this instance has claimed in the table
// snowflake.nodes, which is replicated among the instances. A number to which another instance has
// the better claim is refused.
#pragma once

#include "server/server.hpp"

namespace snowflake::this_node {

// The number as this session has looked it up. Read it with number().
struct Known {
    int node;                 // of this instance; 0: to be looked up
    std::uint64_t checked_us; // when the session last found it to be so, in Unix microseconds
};
extern Known known;

// Looks the number up, or raises one of number()'s errors.
int look_up(std::int64_t now_us);

// Returns the number of this instance, 1 .. last_claimable_node. now_us is the time, in Unix
// microseconds. Raises 55000 if there is none, if the setting and the claim disagree, if the number
// is another instance's, is kept free after one, or is reserved for node leases, if this instance
// was removed, or if it is a copy whose original lives; 25000 in a parallel operation; 42P16 if the
// table is not as the extension has made it.
//
// A session looks the number up when it first asks, and again after every change of the setting or
// of the table. The table's trigger tells all sessions, which take notice with their next
// transaction or lock. A session that takes its IDs in one long statement takes notice here, once a
// second.
//
// The first session that finds something unsaid which other instances should know, such as a number
// that the setting gives, has a background worker say it.
inline int number(std::int64_t now_us) {
    const std::uint64_t since_us = static_cast<std::uint64_t>(now_us) - known.checked_us;
    return likely(since_us < USECS_PER_SEC) ? known.node : look_up(now_us);
}

// Makes the session look again.
void forget();

// Takes notice of a row that was added to the table. If it comes from elsewhere, logs what it means
// for this instance, and has a background worker reply to it once the transaction has committed.
void hear(Relation table, HeapTuple added);

// Registers the callback by which the session hears of changes to the table. Called once, when the
// module is loaded.
void init();

} // namespace snowflake::this_node
