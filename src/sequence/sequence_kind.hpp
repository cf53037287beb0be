// How a sequence that makes snowflake IDs is told from others: by its definition, which dumps
// carry.
//
// A converted sequence has the INCREMENT of a guard. One that keeps its INCREMENT, because clients
// number blocks, has a MAXVALUE one below the greatest bigint instead. (Sequences from MariaDB have
// that MAXVALUE too, and as a rule INCREMENT 1.)
#pragma once

#include "server/server.hpp"

namespace snowflake::sequence_kind {

// The INCREMENT that makes the server's own nextval fail. It tells nothing about the stride.
inline constexpr std::int64_t guard_increment = std::numeric_limits<std::int64_t>::max();

// The MAXVALUE of a snowflake sequence that is not guarded.
inline constexpr std::int64_t unguarded_max_value = std::numeric_limits<std::int64_t>::max() - 1;

// Tells by the options of a sequence whether it makes snowflake IDs.
inline bool is_snowflake(std::int64_t increment, std::int64_t max_value) {
    return increment == guard_increment || (increment > 1 && max_value == unguarded_max_value);
}

// Tells whether a relation is a sequence that makes snowflake IDs. The relation need not exist.
inline bool is_snowflake(Oid relid) {
    HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        return false;
    const auto *options = reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple));
    const bool result = is_snowflake(options->seqincrement, options->seqmax);
    ReleaseSysCache(tuple);
    return result;
}

} // namespace snowflake::sequence_kind
