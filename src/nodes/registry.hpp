// The table snowflake.nodes, in which each row is an act: what an instance has said about numbers,
// or what another has said about it. Rows are added and never changed. The table is replicated
// among the instances.
#pragma once

#include "registry_row.hpp"

#include <optional>

namespace snowflake::registry {

using Acts = std::span<const StoredAct>;

// The acts as this instance sees them.
using Registry = snowflake::Registry<StoredAct>;
Registry of(Acts acts);

// Returns the OID of what has the name of the table, whatever that is; InvalidOid: nothing has.
Oid find_name();

// Reads all acts that are committed or of this transaction, whatever its isolation level is. Where
// there is no table, there are none. palloc'd. Raises 42P16 if the table is not as the extension
// made it, as all functions do that read it. read() takes the acts of the former self for those
// of this instance.
Acts read();
Acts read_stored();

// Reads the acts on which it depends what this instance does with a number: with that of the
// setting, or else with the one that it has claimed. In a long table they are found by indexes; a
// short one is not opened, see registry_pages.hpp. name is what find_name() has returned.
Acts read_concerning(Oid name, int setting);

// The same with the acts of the instance that a row is about, which has been added just now, and
// those about its number. arrived is its act; null: none that this version can read.
struct Arrival {
    Acts acts;
    const StoredAct *arrived = nullptr;
};
Arrival read_arrival(Relation table, HeapTuple added, int setting);

// Returns whether the open table has an act of this name.
bool contains(Relation table, const ActId &act);

// Returns what the column written_here says of an act that this session is writing now; none: it is
// not writing it.
std::optional<bool> being_written_as(const ActId &act);

// Makes other sessions that write acts wait until the transaction ends; replication does not wait.
// Raises 55000 if there is no table.
void lock();

// Does the same unless there is no table, or another session waits here for the same task, 0 to
// 65534, which will see all that is committed by now: of many one is enough. Returns whether the
// lock is there.
bool lock_unless_one_waits(std::uint16_t task);

// Writes an act of this server, or adds the row of a known one once more, for instances that
// replication has not brought it to: those that know it pass over it. The row is written as the
// owner of the table, whose triggers run with no other rights. The caller holds the lock. Raises
// 55000 if there is no table.
void write(const StoredAct &act);

// Takes the rows of an act out of the table, by no statement: no trigger has a say, and those who
// replicate the table keep what they have. The caller holds the lock, or has written the act
// itself. Raises 55000 if there is no table.
void take_away(const ActId &act);

// Begins an act of this server about an instance: that it is here. An instance that was given no
// name has that of its host and database. The cluster_name of servers that a distribution has set
// up is often the same on all.
StoredAct begin_act(const Registry &registry, const Instance &about, std::int64_t now_us);

// Dates an act that takes numbers: now, but no earlier than the claims that are known, for a clock
// that is behind theirs must not make a claim go before them.
void date_claim(StoredAct &act, const Registry &registry, std::int64_t now_us);

// Begins an act about an instance that says again, from here, what another says.
StoredAct repeat(const Registry &registry, const Instance &about, const StoredAct &before,
                 std::int64_t now_us);

// Writes such an act of this instance, and, if it has moved, that it runs elsewhere than before.
void write_again(StoredAct act, bool has_moved);

// Returns where this instance ran before, if it may be a copy, and knows of other instances that it
// could harm; null: it may not, or is a standby. A server that is alone is not to be bothered.
const char *moved_from();

// Gives up a part of what an act about any instance has taken, from a time on.
void give_up(const Registry &registry, Kind kind, const StoredAct &of, std::int32_t first,
             std::int32_t last, std::int64_t now_us, std::int64_t free_from_us);

} // namespace snowflake::registry
