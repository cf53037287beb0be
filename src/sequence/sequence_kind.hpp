// How a sequence that makes snowflake IDs is told from others: by its definition, which dumps
// carry.
//
// A converted sequence has the INCREMENT of a guard. One that keeps its INCREMENT, because clients
// number blocks, has a MAXVALUE one below the greatest bigint instead. (Sequences from MariaDB have
// that MAXVALUE too, and as a rule INCREMENT 1.)
//
// The layout of a sequence is its MINVALUE, see pure/layout_minimum.hpp, if it also has the
// INCREMENT of a guard or that MAXVALUE. A MINVALUE that a user has chosen, which may be any
// number, is therefore not taken for a layout.
#pragma once

#include "pure/layout_minimum.hpp"
#include "server/server.hpp"

namespace snowflake::sequence_kind {

// The INCREMENT that makes the server's own nextval fail. It tells nothing about the stride.
inline constexpr std::int64_t guard_increment = std::numeric_limits<std::int64_t>::max();

// The MAXVALUE of a snowflake sequence that is not guarded.
inline constexpr std::int64_t unguarded_maximum = std::numeric_limits<std::int64_t>::max() - 1;

// Tells by the options of a sequence whether it makes snowflake IDs.
inline bool is_snowflake(std::int64_t increment, std::int64_t max_value) {
    return increment == guard_increment || (increment > 1 && max_value == unguarded_maximum);
}

// Finds the layout that a sequence with these options keeps; none: it keeps none.
inline std::optional<Layout> kept_layout(std::int64_t increment, std::int64_t min_value,
                                         std::int64_t max_value) {
    if (increment != guard_increment && max_value != unguarded_maximum)
        return std::nullopt;
    return layout_of_minimum(min_value);
}

// The IDs of a sequence, as its options describe them.
struct Kind {
    bool is_snowflake = false; // it makes snowflake IDs
    bool has_layout = false;   // in this layout and in no other
    Layout layout = default_layout;
};

// Reads what the options say. A sequence that makes snowflake IDs and keeps no layout has the
// default one.
inline Kind kind_of(const FormData_pg_sequence &options) {
    const bool makes_ids = is_snowflake(options.seqincrement, options.seqmax);
    const auto kept = kept_layout(options.seqincrement, options.seqmin, options.seqmax);
    return {.is_snowflake = makes_ids,
            .has_layout = makes_ids || kept.has_value(),
            .layout = kept.value_or(default_layout)};
}

// Reads what the catalog says of a relation, which need not be a sequence, nor exist.
inline Kind kind_of(Oid relid) {
    HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        return {};
    const Kind kind = kind_of(*reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple)));
    ReleaseSysCache(tuple);
    return kind;
}

} // namespace snowflake::sequence_kind
