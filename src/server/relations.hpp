// Locking and reading tables and sequences by OID.
//
// A command names a relation. While it waits for the lock, the owner can rename the relation and
// put another one in its place, with code of the owner's in it.
#pragma once

#include "pure/layout.hpp"
#include "server.hpp"

namespace snowflake::relations {

// Functions raise 42501 unless the current role is a superuser or has the rights of the owner, but
// has_greatest_value_at_hand() and the two that glimpse, which anybody may call. Those that read
// raise 42P01 if the relation does not exist, or is gone once the lock is there.

// Locks a relation until the transaction ends. Returns whether it exists. Without a mode: a table,
// and the sequence of an identity column, in ACCESS EXCLUSIVE, another sequence in SHARE ROW
// EXCLUSIVE mode.
bool lock(Oid relation, LOCKMODE mode);
bool lock(Oid relation);

// Locks a relation until the transaction ends, and opens it: the caller closes it with NoLock.
// Raises 42P01 if it does not exist, and 0A000 if a standby does not have its rows.
Relation open(Oid relation, LOCKMODE mode);

// Keeps a schema from being renamed until the transaction ends: a command that names an object in
// it then finds this one. Does nothing if the current role cannot act for the other one. Raises
// 42501 if neither may use the schema, and 55006 if it was changed at the same moment.
void hold_schema(Oid schema, Oid role);

// Keeps the rights on a relation and its columns, or on a routine, from being granted and revoked
// until the transaction ends: an object that is made again then gets those that it had. The caller
// has locked the relation. catalog is pg_class or pg_proc; of others the function holds nothing,
// nor if the current role cannot act for the owner. Raises 55P03 if a right was changed at the same
// moment.
void hold_rights(Oid catalog, Oid object);

// Lets all sessions of the database plan anew once the transaction is committed, unless it has made
// the table: the plan of a statement in a trigger function has the type of a column that has been
// widened, and the server would fail there for as long as the session lasts. Raises what open()
// does.
void plan_anew(Oid relation);

// Waits until those who hold locks that lock() would wait for have ended their transactions, and
// keeps no lock: nobody queues behind this wait, as everybody would behind lock(). A VACUUM or
// ANALYZE comes first: those that the server runs by itself are cancelled when somebody has waited
// for their lock for deadlock_timeout.
void wait_for_holders(Oid relation);

// Makes a sequence belong to its column like that of a serial, if the catalog still records it as
// that of an identity and the column is none. Locks it. Returns whether it did.
bool own_as_serial(Oid sequence);

// Returns the last_value of a sequence. Raises 42809 if the relation is none.
std::int64_t last_value(Oid sequence);

inline constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();

// Returns the greatest value of a bigint column in a table that is no partitioned or foreign table,
// without the tables that inherit from it; no_value: there is none. Reads the last entry of an
// index where there is one on the column. Evaluates no expression, and no policy. Raises 42809 if
// the table has no such column.
std::int64_t greatest_value(Oid table, AttrNumber attribute);

// Tells whether a table has an index that tells the greatest value of a bigint column.
bool has_greatest_value_at_hand(Oid table, AttrNumber attribute);

// The last number taken of a sequence, and that greatest value, for somebody who only looks,
// without the rights of the owner: no_value where none was taken, where the role may not read it,
// where policies may hide rows from it, where there is no such relation or column, where somebody
// has locked it against readers, or where no index tells the greatest value. Keep no lock, and
// raise no error.
std::int64_t glimpse_last_value(Oid sequence);
std::int64_t glimpse_greatest_value(Oid table, AttrNumber attribute);

// Returns how many bytes a relation has; where somebody has locked it against readers, how many it
// had when the server counted them last; no_value: there is no such relation.
std::int64_t glimpse_size(Oid relid);

} // namespace snowflake::relations
