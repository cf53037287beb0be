// The functions of SQL that switch the redirect, and tell whether it is on.

#include "redirect.hpp"
#include "server/server.hpp"

using namespace snowflake;

extern "C" {

// _set_redirect(boolean) returns void
SNOWFLAKE_FUNCTION(snowflake_set_redirect);
Datum snowflake_set_redirect(PG_FUNCTION_ARGS) {
    redirect::set(fcinfo->flinfo->fn_oid, PG_GETARG_BOOL(0));
    PG_RETURN_VOID();
}

// redirects_nextval() returns boolean
SNOWFLAKE_FUNCTION(snowflake_redirects_nextval);
Datum snowflake_redirects_nextval(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(redirect::is_on(fcinfo->flinfo->fn_oid));
}

} // extern "C"
