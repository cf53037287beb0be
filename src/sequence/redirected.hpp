// The server's own nextval, currval and lastval where they are redirected (redirect_switch.hpp):
// they make and return snowflake IDs on a sequence that is converted, and do what the server does
// on all others. Each call finds out which of the two a sequence is, so that a conversion needs no
// new plans.
#pragma once

#include "pure/layout.hpp"
#include "server/server.hpp"

namespace snowflake::redirected {

// Returns the next ID of a converted sequence, as next_id_amid_block() makes it; else the next
// value of the sequence, with the errors of the server's own nextval. Raises 42P01 if there is no
// such sequence.
Id nextval(Oid sequence);

// Returns the ID that was last made in this session for a converted sequence, as session::currval()
// does; else what the server's own currval returns or raises. Raises 42P01 if there is no such
// sequence.
Id currval(Oid sequence);

// Returns the later of what nextval() above and snowflake.nextval last returned in this session.
// Raises the errors of the server's own lastval. A value that the server took without a call, for
// an identity column, does not count.
Id lastval();

} // namespace snowflake::redirected
