// A layout as the server passes and stores it: a datum of 8 bytes by value.
#pragma once

#include "pure/layout.hpp"
#include "server.hpp"

#include <bit>

namespace snowflake {

static_assert(sizeof(Datum) == sizeof(Layout), "snowflake needs a 64-bit PostgreSQL");

inline Datum layout_to_datum(Layout layout) {
    return UInt64GetDatum(layout.bits());
}

// Reads a datum, which must be of the type snowflake.layout. The functions that make such a datum
// from text or for a client have checked the layout, and it is not checked again.
inline Layout layout_from_datum(Datum datum) {
    return std::bit_cast<Layout>(DatumGetUInt64(datum));
}

} // namespace snowflake
