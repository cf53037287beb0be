// Node numbers in the latest IDs of the tables at hand, in the sequences, and leased: what else
// than claims shows that a number is, or has been, in use. Only here do the commands on node
// numbers ask SQL, the view snowflake.sequences, about what this database has.
#pragma once

#include "pure/claims.hpp"
#include "server/server.hpp"

namespace snowflake {

// The latest ID of a number at hand.
struct LatestId {
    std::int64_t unix_us; // when it was made; 0: there is none
    Oid table;            // that has it
};

// Looks at the latest IDs in tables whose default makes them in its sequence's layout: at no more
// than some hundred IDs a table and some hundred tables, by their indexes. Waits for no lock, and
// runs no code of users. Whoever may make a table can write IDs of any time into it: one that is
// not of a role that may act for the owner of the database is believed as far ahead as anybody may
// take IDs. The current role must be a superuser. Returns the latest for each number, by itself.
// palloc'd.
const LatestId *find_latest_ids();

// Returns the time of the last ID with one of these numbers that a sequence of this database has
// made, in Unix microseconds; 0: there is none. Whoever may make a sequence can put it in the year
// 2090: one that is not of a role that may act for the owner of the database is believed as far
// ahead as anybody may take IDs.
std::int64_t last_id_of_sequences_us(std::int32_t first, std::int32_t last);

// Returns the greatest number that fits the layouts of all sequences of this database that make
// IDs. Of roles that may not act for the owner of the database, and could choose a number by a
// layout with little room, it believes none with less than javascript has.
std::int32_t last_fitting_node();

// Keeps sessions of this database from leasing a number until the transaction ends. Returns false
// if one has leased it: a node lease is an advisory lock, whose keys snowflake.lease_node tells.
bool keep_from_leases(std::int32_t node);

} // namespace snowflake
