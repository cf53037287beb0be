// The switch, one for a database, with which the server's own nextval, currval and lastval make and
// return snowflake IDs on converted sequences.
//
// On, each of the three functions has the extension's support function in the catalog, as ALTER
// FUNCTION .. SUPPORT would have set it: the planner asks that function what to make of a call, see
// planner_functions.cpp. There is no command that takes a support function away, so both ways write
// the catalog. The server's functions then depend on that of the extension, which nothing can drop
// while they do: the server needs its own.
#pragma once

#include "server/server.hpp"

namespace snowflake::redirect_switch {

// Tells whether the server's nextval is redirected in this database to the extension that the given
// function of it belongs to.
bool is_on(Oid sibling);

// Switches the redirect on or off for the extension that the given function of it belongs to; does
// nothing if it is so already. All sessions make new plans once the transaction has committed. One
// transaction at a time switches; the others wait. Raises 42501 unless the current role is a
// superuser, 25006 in a read-only transaction, and 55000 if one of the server's functions that is
// to be redirected has a support function of somebody else.
void set(Oid sibling, bool on);

} // namespace snowflake::redirect_switch
