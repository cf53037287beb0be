// The functions of SQL that make IDs, or tell which ones the session has made. Only arguments in
// and results out: the rules stand in other files.

#include "allocate.hpp"
#include "pure/layout.hpp"
#include "server/earlier_version.hpp"
#include "server/layout_datum.hpp"
#include "server/server.hpp"
#include "session.hpp"

using namespace snowflake;

extern "C" {

// nextval(regclass) returns bigint
SNOWFLAKE_FUNCTION(snowflake_nextval);
Datum snowflake_nextval(PG_FUNCTION_ARGS) {
    if (earlier_version::returns_null(fcinfo))
        PG_RETURN_NULL();
    PG_RETURN_INT64(next_id(PG_GETARG_OID(0)));
}

// nextval(regclass, snowflake.layout) returns bigint
SNOWFLAKE_FUNCTION(snowflake_nextval_in);
Datum snowflake_nextval_in(PG_FUNCTION_ARGS) {
    PG_RETURN_INT64(next_id(PG_GETARG_OID(0), layout_from_datum(PG_GETARG_DATUM(1))));
}

// nextvals(regclass, integer) and nextvals(regclass, integer, snowflake.layout), both of which
// return setof bigint
SNOWFLAKE_FUNCTION(snowflake_nextvals);
Datum snowflake_nextvals(PG_FUNCTION_ARGS) {
    if (SRF_IS_FIRSTCALL()) {
        const std::int32_t count = PG_GETARG_INT32(1);
        if (count < 0)
            ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of snowflake IDs must not be negative"));
        const auto layout =
            PG_NARGS() > 2 ? std::optional{layout_from_datum(PG_GETARG_DATUM(2))} : std::nullopt;
        FuncCallContext *call = SRF_FIRSTCALL_INIT();
        call->user_fctx = MemoryContextAlloc(call->multi_call_memory_ctx, sizeof(Batch));
        *static_cast<Batch *>(call->user_fctx) = next_ids(PG_GETARG_OID(0), layout, count);
    }

    FuncCallContext *call = SRF_PERCALL_SETUP();
    auto &batch = *static_cast<Batch *>(call->user_fctx);
    if (batch.left == 0)
        SRF_RETURN_DONE(call);
    SRF_RETURN_NEXT(call, Int64GetDatum(take(batch)));
}

// currval(regclass) returns bigint
SNOWFLAKE_FUNCTION(snowflake_currval);
Datum snowflake_currval(PG_FUNCTION_ARGS) {
    if (earlier_version::returns_null(fcinfo))
        PG_RETURN_NULL();
    PG_RETURN_INT64(session::currval(PG_GETARG_OID(0)));
}

// lastval() returns bigint
SNOWFLAKE_FUNCTION(snowflake_lastval);
Datum snowflake_lastval(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT64(session::lastval());
}

} // extern "C"
