// What SQL can call to make IDs and to learn the node, and what the server calls when it loads the
// module: the C ABI between the extension script and the rooms below.

#include "allocate.hpp"
#include "clock.hpp"
#include "layout.hpp"
#include "layout_datum.hpp"
#include "nodes.hpp"
#include "run_as.hpp"
#include "schema.hpp"
#include "server.hpp"
#include "session.hpp"
#include "settings.hpp"

using namespace snowflake;

extern "C" {

SNOWFLAKE_MODULE_MAGIC;

void _PG_init() { // NOLINT(bugprone-reserved-identifier): the server's name for it
    settings::define(nodes::forget);
    nodes::define();
    session::define();
    run_as::init();
}

// _schema_is_new() returns boolean
PG_FUNCTION_INFO_V1(snowflake_schema_is_new);
Datum snowflake_schema_is_new(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_BOOL(schema::is_new());
}

// nextval(regclass) returns bigint
PG_FUNCTION_INFO_V1(snowflake_nextval);
Datum snowflake_nextval(PG_FUNCTION_ARGS) {
    PG_RETURN_INT64(next_id(PG_GETARG_OID(0), default_layout));
}

// nextval(regclass, snowflake.layout) returns bigint
PG_FUNCTION_INFO_V1(snowflake_nextval_in);
Datum snowflake_nextval_in(PG_FUNCTION_ARGS) {
    PG_RETURN_INT64(next_id(PG_GETARG_OID(0), layout_from_datum(PG_GETARG_DATUM(1))));
}

// nextvals(regclass, integer) and nextvals(regclass, integer, snowflake.layout), both of which
// return setof bigint
PG_FUNCTION_INFO_V1(snowflake_nextvals);
Datum snowflake_nextvals(PG_FUNCTION_ARGS) {
    if (SRF_IS_FIRSTCALL()) {
        const std::int32_t count = PG_GETARG_INT32(1);
        if (count < 0)
            ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of snowflake IDs must not be negative"));
        const Layout layout =
            PG_NARGS() > 2 ? layout_from_datum(PG_GETARG_DATUM(2)) : default_layout;
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

// node_setting() returns integer: the setting as the module knows it. A value that somebody gave
// before the module was loaded has been checked by then.
PG_FUNCTION_INFO_V1(snowflake_node_setting);
Datum snowflake_node_setting(PG_FUNCTION_ARGS) {
    if (settings::node() == settings::node_unset)
        PG_RETURN_NULL();
    PG_RETURN_INT32(settings::node());
}

// how_to_unset_node() returns text
PG_FUNCTION_INFO_V1(snowflake_how_to_unset_node);
Datum snowflake_how_to_unset_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(settings::how_to_unset_node()));
}

// node() returns integer
PG_FUNCTION_INFO_V1(snowflake_node);
Datum snowflake_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT32(nodes::node(clock_us()));
}

// nodes_changed() returns trigger
PG_FUNCTION_INFO_V1(snowflake_nodes_changed);
Datum snowflake_nodes_changed(PG_FUNCTION_ARGS) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                errmsg("function \"snowflake.nodes_changed\" was not called as a trigger"));
    nodes::tell_of_change(reinterpret_cast<TriggerData *>(fcinfo->context)->tg_relation);
    PG_RETURN_POINTER(nullptr); // what an AFTER trigger returns is ignored
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
