// A layout as the server passes and stores it: a datum of 8 bytes by value.
#pragma once

#include "layout.hpp"
#include "server.hpp"

#include <bit>

namespace snowflake {

static_assert(sizeof(Datum) == sizeof(Layout), "snowflake needs a 64-bit PostgreSQL");

inline Datum layout_to_datum(Layout layout) {
    return UInt64GetDatum(layout.bits());
}

// The datum must be one of the type snowflake.layout: what is read from text or from a client was
// checked then, and is not checked again.
inline Layout layout_from_datum(Datum datum) {
    return std::bit_cast<Layout>(DatumGetUInt64(datum));
}

} // namespace snowflake
