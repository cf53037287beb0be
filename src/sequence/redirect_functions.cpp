// The functions of SQL for the redirect: the switch, and what stands for the server's own nextval,
// currval and lastval where the planner has redirected these, see planner_functions.cpp.

#include "execute_right.hpp"
#include "redirect_switch.hpp"
#include "redirected.hpp"
#include "server/server.hpp"

using namespace snowflake;

extern "C" {

// _nextval(regclass) returns bigint
SNOWFLAKE_FUNCTION(snowflake_redirected_nextval);
Datum snowflake_redirected_nextval(PG_FUNCTION_ARGS) {
    require_execute(*fcinfo->flinfo, F_NEXTVAL);
    PG_RETURN_INT64(redirected::nextval(PG_GETARG_OID(0)));
}

// _currval(regclass) returns bigint
SNOWFLAKE_FUNCTION(snowflake_redirected_currval);
Datum snowflake_redirected_currval(PG_FUNCTION_ARGS) {
    require_execute(*fcinfo->flinfo, F_CURRVAL);
    PG_RETURN_INT64(redirected::currval(PG_GETARG_OID(0)));
}

// _lastval() returns bigint
SNOWFLAKE_FUNCTION(snowflake_redirected_lastval);
Datum snowflake_redirected_lastval(PG_FUNCTION_ARGS) {
    require_execute(*fcinfo->flinfo, F_LASTVAL);
    PG_RETURN_INT64(redirected::lastval());
}

// _set_redirect(boolean) returns void
SNOWFLAKE_FUNCTION(snowflake_set_redirect);
Datum snowflake_set_redirect(PG_FUNCTION_ARGS) {
    redirect_switch::set(fcinfo->flinfo->fn_oid, PG_GETARG_BOOL(0));
    PG_RETURN_VOID();
}

// redirects_nextval() returns boolean
SNOWFLAKE_FUNCTION(snowflake_redirects_nextval);
Datum snowflake_redirects_nextval(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(redirect_switch::is_on(fcinfo->flinfo->fn_oid));
}

// _applies_rows() returns boolean
SNOWFLAKE_FUNCTION(snowflake_applies_rows);
Datum snowflake_applies_rows(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_BOOL(SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA &&
                   MyBackendType != B_BACKEND);
}

// _is_superuser(oid) returns boolean
SNOWFLAKE_FUNCTION(snowflake_is_superuser);
Datum snowflake_is_superuser(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(superuser_arg(PG_GETARG_OID(0)));
}

} // extern "C"
