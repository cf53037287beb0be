// Every function that SQL can call, and what the server calls when it loads the module: the C ABI
// between the extension script and the rooms below.

#include "allocate.hpp"
#include "layout.hpp"
#include "server.hpp"
#include "session.hpp"
#include "settings.hpp"

using namespace snowflake;

namespace {

// The ID as SQL passes it, checked. Raises 22003 if the layout cannot have made it.
Id id_argument(Datum datum, Layout layout) {
    const Id id = DatumGetInt64(datum);
    if (!layout.contains(id))
        ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                errmsg("%lld is not a snowflake ID", static_cast<long long>(id)),
                errdetail("Snowflake IDs of this layout are 0 to %lld.",
                          static_cast<long long>(layout.last_id())),
                errhint("Leave such values out, for example with WHERE id >= 0."));
    return id;
}

// The time of the ID's tick, in microseconds of the server's own epoch.
TimestampTz timestamp_of(Id id, Layout layout) {
    return layout.unix_us(layout.tick_of(id)) - server::unix_to_server_us;
}

// A time in ISO 8601, whatever DateStyle says, in the session's time zone. Palloc'd.
char *iso_timestamp(TimestampTz time) {
    int offset = 0;
    pg_tm fields{};
    fsec_t fraction = 0;
    const char *zone = nullptr;
    if (timestamp2tm(time, &offset, &fields, &fraction, &zone, nullptr) != 0)
        ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                errmsg("timestamp out of range"));
    auto *text = static_cast<char *>(palloc(MAXDATELEN + 1));
    EncodeDateTime(&fields, fraction, true, offset, zone, USE_ISO_DATES, text);
    return text;
}

} // namespace

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

// get_epoch(bigint) returns numeric: Unix seconds, with the decimals that a millisecond takes
PG_FUNCTION_INFO_V1(snowflake_get_epoch);
Datum snowflake_get_epoch(PG_FUNCTION_ARGS) {
    constexpr Layout layout = default_layout;
    constexpr std::int64_t us_per_ms = 1000;
    constexpr int decimals = 3;
    const Id id = id_argument(PG_GETARG_DATUM(0), layout);
    const std::int64_t unix_ms = layout.unix_us(layout.tick_of(id)) / us_per_ms;
    PG_RETURN_NUMERIC(int64_div_fast_to_numeric(unix_ms, decimals));
}

// get_timestamp(bigint) returns timestamptz
PG_FUNCTION_INFO_V1(snowflake_get_timestamp);
Datum snowflake_get_timestamp(PG_FUNCTION_ARGS) {
    constexpr Layout layout = default_layout;
    PG_RETURN_TIMESTAMPTZ(timestamp_of(id_argument(PG_GETARG_DATUM(0), layout), layout));
}

// get_count(bigint) returns integer
PG_FUNCTION_INFO_V1(snowflake_get_count);
Datum snowflake_get_count(PG_FUNCTION_ARGS) {
    constexpr Layout layout = default_layout;
    PG_RETURN_INT32(layout.counter_of(id_argument(PG_GETARG_DATUM(0), layout)));
}

// get_node(bigint) returns integer
PG_FUNCTION_INFO_V1(snowflake_get_node);
Datum snowflake_get_node(PG_FUNCTION_ARGS) {
    constexpr Layout layout = default_layout;
    PG_RETURN_INT32(layout.node_of(id_argument(PG_GETARG_DATUM(0), layout)));
}

// format(bigint) returns jsonb
PG_FUNCTION_INFO_V1(snowflake_format);
Datum snowflake_format(PG_FUNCTION_ARGS) {
    constexpr Layout layout = default_layout;
    const Id id = id_argument(PG_GETARG_DATUM(0), layout);
    const Fields fields = layout.split(id);
    char *json = psprintf(R"({"node": %d, "ts": "%s", "count": %d})", fields.node,
                          iso_timestamp(timestamp_of(id, layout)), fields.counter);
    PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

} // extern "C"
