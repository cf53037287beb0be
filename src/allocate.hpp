// One nextval, from the setting and the clock to the page and back.
#pragma once

#include "layout.hpp"
#include "server.hpp"

namespace snowflake {

// The next ID of the sequence, made under the layout. Whatever crash follows, no later call makes
// an ID that is not greater: the WAL covers it before it is returned.
//
// Raises what session::open_for_nextval() does, and 55000 (snowflake.node is not set or does not
// fit the layout; the sequence descends; its increment does not fit the counter), 22008 (the clock
// is before the layout's epoch) and 2200H (the layout or the sequence's MAXVALUE is exhausted).
Id next_id(Oid relid, Layout layout);

} // namespace snowflake
