// Commands that somebody types, in a session that is not known yet.
#pragma once

#include "server/server.hpp"

namespace snowflake::typed_command {

// Returns a command, as format() has quoted what is in it, in printable ASCII and on one line, so
// that all sessions read it alike: psql reads line by line and in an encoding of its own, and a
// setting says what a backslash is. Other characters are escapes (PostgreSQL manual, 4.1.2): of the
// bytes in a constant, E'..'; of the code point in an identifier, U&"..". A question mark stands
// for them outside of quotes, and for a character of an identifier that Unicode does not have.
char *in_ascii(const char *command);

} // namespace snowflake::typed_command
