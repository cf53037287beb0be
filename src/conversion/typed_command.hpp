// Commands that somebody types, in a session that is not known yet.
#pragma once

#include "server/server.hpp"

namespace snowflake::typed_command {

// Returns a command, as format() has quoted what is in it, in printable ASCII and on one line, so
// that all sessions read it alike: psql reads line by line and in an encoding of its own, and a
// setting says what a backslash is. In quotes, other characters and backslashes are Unicode escapes
// (U&'..', U&"..", PostgreSQL manual, 4.1.2.3), which a session with another setting refuses; a
// question mark stands for them elsewhere, and for what a database of encoding SQL_ASCII says no
// more of.
char *in_ascii(const char *command);

} // namespace snowflake::typed_command
