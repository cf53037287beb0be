// The right to execute a function, for functions that run in the place of another one.
#pragma once

#include "server/server.hpp"

namespace snowflake {

// Raises 42501 if the current role may not execute the function for which the call stands: the role
// may be another than the planner's. The server, too, checks this once for each place of a call.
inline void require_execute(FmgrInfo &call, Oid function) {
    if (call.fn_extra != nullptr)
        return;
    if (!server::may_execute(GetUserId(), function))
        aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
    call.fn_extra = &call;
}

} // namespace snowflake
