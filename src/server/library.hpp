// The file of this library.
#pragma once

#include "server.hpp"

namespace snowflake::library {

// Returns when the file was put where it is, as the file system tells it: when its inode changed
// last. (A package keeps the time of its build as that of the contents.) Raises XX000 if the file
// is gone.
TimestampTz installed_at();

} // namespace snowflake::library
