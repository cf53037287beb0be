// Whether a role may make IDs of a sequence in another layout than the default one.
//
// One ID in a layout with an early epoch puts a sequence years ahead, as setval can. The server
// keeps such jumps behind the right to UPDATE, and so does the extension, but for a layout that the
// sequence's owner has chosen for it.
#pragma once

#include "pure/layout.hpp"
#include "server/server.hpp"

namespace snowflake {

// The answer, and what it rests on.
struct LayoutRight {
    bool granted;
    Oid table; // whose default names the layout; InvalidOid: the answer rests on no table
};

// Finds out whether the role may call nextval on the sequence in the layout: it has UPDATE on the
// sequence, or a column of a table that the sequence's owner owns has a default that calls
// snowflake.nextval or nextvals on the sequence in this layout.
LayoutRight find_layout_right(Oid sequence, Layout layout, Oid role);

} // namespace snowflake
