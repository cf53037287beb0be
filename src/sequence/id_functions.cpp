// The functions of SQL that read IDs, and that compose them from a time. They need no clock and no
// sequence.

#include "pure/base32.hpp"
#include "pure/layout.hpp"
#include "server/earlier_version.hpp"
#include "server/layout_datum.hpp"
#include "server/server.hpp"

using namespace snowflake;

namespace {

// Checks an ID that SQL passes. Raises 22003 if the layout cannot have made it.
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

// The time at which a tick, 0 .. last_tick() + 1, begins, in microseconds of the server's own
// epoch.
TimestampTz begin_of(std::int64_t tick, Layout layout) {
    return layout.unix_us(tick) - server::unix_to_server_us;
}

// Finds the tick of a time that SQL passes. Raises 22008 if the layout has no such tick.
std::int64_t tick_argument(TimestampTz time, Layout layout) {
    // This excludes infinity, too.
    if (time < begin_of(0, layout) || time >= begin_of(layout.last_tick() + 1, layout)) {
        // The server's next conversion overwrites the text that it returns.
        const char *first = pstrdup(timestamptz_to_str(begin_of(0, layout)));
        const char *last = pstrdup(timestamptz_to_str(begin_of(layout.last_tick(), layout)));
        ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                errmsg("timestamp \"%s\" is outside the layout", timestamptz_to_str(time)),
                errdetail("Timestamps of this layout are \"%s\" to \"%s\".", first, last),
                TIMESTAMP_NOT_FINITE(time)
                    ? errhint("Compare with one bound alone for a range that is open on one side, "
                              "for example: id >= snowflake.from_timestamp('%s').",
                              first)
                    : 0);
    }
    return layout.tick_at(time + server::unix_to_server_us);
}

// Checks a node or a counter that SQL passes. Raises 22003 if the layout's field is too narrow for
// it.
std::int32_t field_argument(std::int32_t value, const char *name, int bits, std::int32_t last) {
    if (value < 0 || value > last)
        ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                errmsg("%s %d is outside the layout", name, value),
                errdetail("This layout has %d bits of %s, for 0 to %d.", bits, name, last));
    return value;
}

// Returns the time as Unix seconds, with as many decimals as the layout needs.
Datum get_epoch(Id id, Layout layout) {
    constexpr std::int64_t powers[] = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
    const int decimals = layout.decimals();
    return NumericGetDatum(
        int64_div_fast_to_numeric(layout.unix_us(layout.tick_of(id)) / powers[decimals], decimals));
}

Datum get_timestamp(Id id, Layout layout) {
    return TimestampTzGetDatum(begin_of(layout.tick_of(id), layout));
}

Datum get_count(Id id, Layout layout) {
    return Int32GetDatum(layout.counter_of(id));
}

Datum get_node(Id id, Layout layout) {
    return Int32GetDatum(layout.node_of(id));
}

// Writes an ID as JSON. The time is ISO 8601 in the session's time zone, whatever DateStyle says.
Datum format(Id id, Layout layout) {
    const Fields fields = layout.split(id);
    char *json = psprintf(R"({"node": %d, "ts": "%s", "count": %d})", fields.node,
                          timestamptz_to_str(begin_of(fields.tick, layout)), fields.counter);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}

Datum from_timestamp(TimestampTz time, Layout layout) {
    return Int64GetDatum(layout.first_id_of_tick(tick_argument(time, layout)));
}

Datum make_id(TimestampTz time, std::int32_t node, std::int32_t count, Layout layout) {
    const Fields fields{
        .tick = tick_argument(time, layout),
        .node = field_argument(node, "node", layout.node_bits(), layout.last_node()),
        .counter = field_argument(count, "counter", layout.counter_bits(), layout.last_counter())};
    return Int64GetDatum(layout.compose(fields));
}

} // namespace

extern "C" {

// SQL has each function twice: with a layout as its last argument, and without. The function
// without has the default layout as a constant, which the compiler folds into shifts and masks.

// name(bigint) and name(bigint, snowflake.layout)
#define SNOWFLAKE_FUNCTION_OF_ID(name)                                                             \
    SNOWFLAKE_FUNCTION(snowflake_##name);                                                          \
    Datum snowflake_##name(PG_FUNCTION_ARGS) {                                                     \
        if (earlier_version::returns_null(fcinfo))                                                 \
            PG_RETURN_NULL();                                                                      \
        return name(id_argument(PG_GETARG_DATUM(0), default_layout), default_layout);              \
    }                                                                                              \
    SNOWFLAKE_FUNCTION(snowflake_##name##_in);                                                     \
    Datum snowflake_##name##_in(PG_FUNCTION_ARGS) {                                                \
        const Layout layout = layout_from_datum(PG_GETARG_DATUM(1));                               \
        return name(id_argument(PG_GETARG_DATUM(0), layout), layout);                              \
    }

SNOWFLAKE_FUNCTION_OF_ID(get_epoch)     // returns numeric
SNOWFLAKE_FUNCTION_OF_ID(get_timestamp) // returns timestamptz
SNOWFLAKE_FUNCTION_OF_ID(get_count)     // returns integer
SNOWFLAKE_FUNCTION_OF_ID(get_node)      // returns integer
SNOWFLAKE_FUNCTION_OF_ID(format)        // returns jsonb

// _is_count(bigint) returns boolean
SNOWFLAKE_FUNCTION(snowflake_is_count);
Datum snowflake_is_count(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(default_layout.is_count(PG_GETARG_INT64(0)));
}

// from_timestamp(timestamptz) returns bigint
SNOWFLAKE_FUNCTION(snowflake_from_timestamp);
Datum snowflake_from_timestamp(PG_FUNCTION_ARGS) {
    return from_timestamp(PG_GETARG_TIMESTAMPTZ(0), default_layout);
}

// from_timestamp(timestamptz, snowflake.layout) returns bigint
SNOWFLAKE_FUNCTION(snowflake_from_timestamp_in);
Datum snowflake_from_timestamp_in(PG_FUNCTION_ARGS) {
    return from_timestamp(PG_GETARG_TIMESTAMPTZ(0), layout_from_datum(PG_GETARG_DATUM(1)));
}

// make_id(timestamptz, integer, integer) returns bigint
SNOWFLAKE_FUNCTION(snowflake_make_id);
Datum snowflake_make_id(PG_FUNCTION_ARGS) {
    return make_id(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_INT32(1), PG_GETARG_INT32(2),
                   default_layout);
}

// make_id(timestamptz, integer, integer, snowflake.layout) returns bigint
SNOWFLAKE_FUNCTION(snowflake_make_id_in);
Datum snowflake_make_id_in(PG_FUNCTION_ARGS) {
    return make_id(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_INT32(1), PG_GETARG_INT32(2),
                   layout_from_datum(PG_GETARG_DATUM(3)));
}

// to_base32(bigint) returns text
SNOWFLAKE_FUNCTION(snowflake_to_base32);
Datum snowflake_to_base32(PG_FUNCTION_ARGS) {
    const auto encoded = base32::encode(id_argument(PG_GETARG_DATUM(0), default_layout));
    PG_RETURN_TEXT_P(cstring_to_text_with_len(encoded.data(), static_cast<int>(encoded.size())));
}

// from_base32(text) returns bigint
SNOWFLAKE_FUNCTION(snowflake_from_base32);
Datum snowflake_from_base32(PG_FUNCTION_ARGS) {
    const char *written = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const auto id = base32::decode(written);
    if (!id)
        ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                errmsg("\"%s\" is not a snowflake ID in base 32", written),
                errdetail("It has 13 characters of %.*s, the first of which is 0 to 7.",
                          static_cast<int>(base32::alphabet.size()), base32::alphabet.data()),
                errhint("For example: SELECT snowflake.from_base32('0EE20Z3WFCK00');"));
    PG_RETURN_INT64(*id);
}

} // extern "C"
