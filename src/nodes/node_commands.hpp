// The commands on node numbers: claiming, giving up, removing.
//
// The current role must be a superuser, as it is in the functions of the extension. Each command
// makes other commands wait until its transaction ends, but neither replication nor nextval. Each
// raises 0A000 in a transaction that has one snapshot for all its statements.
#pragma once

#include "registry.hpp"

#include <optional>

namespace snowflake::node_commands {

// Claims a number for this instance, and returns it. Without a number: the one that it has, or that
// of the setting, or its derived one, or the next one up that nobody has. A number that was lost to
// another instance is given up for a new one. name: what people call the instance; null: as before.
// Raises 22023 if there is no such number, 55006 if it is another's, kept free or reserved, 55000
// if the instance has another, or if the clock is not to be trusted, 53400 if none is left.
std::int32_t claim(std::optional<std::int32_t> node, const char *name);

// The number that was given up, and the time from which another instance may claim it, in Unix
// microseconds.
struct GivenUp {
    std::int32_t node = 0; // 0: nothing
    std::int64_t free_from = 0;
};

// Gives up a number of this instance; node 0: the one that it has claimed. Raises 55000 while the
// setting gives the number, and on a server that may be a copy, 55006 if the number is leased.
GivenUp release(std::int32_t node);

// Gives up everything of another instance that is gone. Returns from when on others may claim it;
// 0: it has nothing. Raises 22023 for this instance, and unless forced 55006 for one that has shown
// lately that it lives, and 55000 for a second one in a transaction.
std::int64_t remove(const Instance &instance, bool forced);

// Makes this server, a physical copy, an instance of its own, and claims a number for it, which it
// returns. Raises 55000 if it runs where it claimed its number, unless forced, and what claim()
// does.
std::int32_t separate(bool forced);

// Takes over what the instance has that this database was copied from, and that is gone: by
// pg_upgrade, by a promotion or a restore, or with its files. Returns how many numbers. Raises
// 55000 if this server's major version is not later than that of the server that made the claim,
// unless forced.
std::int32_t take_over(bool forced);

// Claims a range of numbers for node leases, and returns how many were not reserved before. Raises
// 22023 if it is no range of numbers, 55006 if one of them is in use, 55000 on a copy and if the
// clock is not credible.
std::int32_t reserve(std::int32_t first, std::int32_t last);

} // namespace snowflake::node_commands
