// SQL objects of an earlier version that call this library: from the moment its files are installed
// until ALTER EXTENSION snowflake UPDATE has run.
//
// Functions of earlier versions are not strict, and those of this version are. That tells them
// apart in each call, at no cost.
#pragma once

#include "server.hpp"

namespace snowflake::earlier_version {

// The hint of errors that end with the update.
inline constexpr const char *hint_to_update = "ALTER EXTENSION snowflake UPDATE;";

// Returns whether the SQL objects in this database are those of an earlier version.
bool is_installed();

// Makes certain that the SQL objects are not those of version 1.0, whose IDs have their bits in
// another order. Raises 55000 if they are.
void require_same_bits();

// Returns whether the call has to return NULL because its first argument is NULL, which only
// happens to functions of an earlier version. Raises the error of require_same_bits().
inline bool returns_null(FunctionCallInfo fcinfo) {
    if (likely(fcinfo->flinfo->fn_strict))
        return false;
    require_same_bits();
    return PG_ARGISNULL(0);
}

} // namespace snowflake::earlier_version
