// What SQL can call to make IDs, and what the server calls when it loads the module: the C ABI
// between the extension script and the rooms below.

#include "allocate.hpp"
#include "layout.hpp"
#include "server.hpp"
#include "session.hpp"
#include "settings.hpp"

using namespace snowflake;

extern "C" {

SNOWFLAKE_MODULE_MAGIC;

void _PG_init() { // NOLINT(bugprone-reserved-identifier): the server's name for it
    settings::define();
    session::define();
}

// nextval(regclass) returns bigint
PG_FUNCTION_INFO_V1(snowflake_nextval);
Datum snowflake_nextval(PG_FUNCTION_ARGS) {
    PG_RETURN_INT64(next_id(PG_GETARG_OID(0), default_layout));
}

// currval(regclass) returns bigint
PG_FUNCTION_INFO_V1(snowflake_currval);
Datum snowflake_currval(PG_FUNCTION_ARGS) {
    PG_RETURN_INT64(session::currval(PG_GETARG_OID(0)));
}

// lastval() returns bigint
PG_FUNCTION_INFO_V1(snowflake_lastval);
Datum snowflake_lastval(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT64(session::lastval());
}

} // extern "C"
