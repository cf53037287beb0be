// The function of SQL that tells readers how far they can read.

#include "layout_datum.hpp"
#include "server.hpp"
#include "watermark.hpp"

using namespace snowflake;

extern "C" {

// low_watermark(regclass, snowflake.layout) returns bigint
SNOWFLAKE_FUNCTION(snowflake_low_watermark);
Datum snowflake_low_watermark(PG_FUNCTION_ARGS) {
    const std::optional<Id> bound = watermark::find(
        PG_GETARG_OID(0), layout_from_datum(PG_GETARG_DATUM(1)), *fcinfo->flinfo);
    if (!bound)
        PG_RETURN_NULL();
    PG_RETURN_INT64(*bound);
}

} // extern "C"
