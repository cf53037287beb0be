// The functions of SQL on layouts: the input and output of the type, the descriptions of a layout,
// and the layouts that sequences have.

#include "allocate_errors.hpp"
#include "pure/layout.hpp"
#include "pure/layout_presets.hpp"
#include "pure/layout_text.hpp"
#include "sequence_kind.hpp"
#include "server/layout_datum.hpp"
#include "server/server.hpp"

using namespace snowflake;

namespace {

// Sets the detail of an error message: which part of the text is at fault, and why.
int detail_of(const LayoutTextFailure &failure) {
    const std::string_view part = failure.part;
    if (part.empty())
        return errdetail("%s", explanation(failure.error));
    return errdetail("In \"%.*s\": %s", static_cast<int>(part.size()), part.data(),
                     explanation(failure.error));
}

Interval *interval_of_us(std::int64_t us) {
    auto *interval = static_cast<Interval *>(palloc0(sizeof(Interval)));
    interval->time = us;
    return interval;
}

Datum timestamp_datum(std::int64_t unix_us) {
    return TimestampTzGetDatum(unix_us - server::unix_to_server_us);
}

} // namespace

extern "C" {

// layout_in(cstring) returns snowflake.layout
SNOWFLAKE_FUNCTION(snowflake_layout_in);
Datum snowflake_layout_in(PG_FUNCTION_ARGS) {
    const char *input = PG_GETARG_CSTRING(0);
    const ParsedLayout parsed = parse_layout(input);
    if (!parsed.layout)
        SNOWFLAKE_ERETURN(
            fcinfo->context, Datum{0}, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
            errmsg("invalid input syntax for type %s: \"%s\"", "snowflake.layout", input),
            detail_of(parsed.failure),
            errhint("Write for example 'epoch=2024-01-01 tick=1ms timestamp:41 node:10 "
                    "counter:12', or a name in SELECT * FROM snowflake.layouts."));
    return layout_to_datum(*parsed.layout);
}

// layout_out(snowflake.layout) returns cstring
SNOWFLAKE_FUNCTION(snowflake_layout_out);
Datum snowflake_layout_out(PG_FUNCTION_ARGS) {
    const LayoutText output{layout_from_datum(PG_GETARG_DATUM(0))};
    PG_RETURN_CSTRING(pstrdup(output.c_str()));
}

// layout_recv(internal) returns snowflake.layout
SNOWFLAKE_FUNCTION(snowflake_layout_recv);
Datum snowflake_layout_recv(PG_FUNCTION_ARGS) {
    auto *message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    const auto layout = Layout::from_bits(static_cast<std::uint64_t>(pq_getmsgint64(message)));
    if (!layout)
        ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                errmsg("invalid binary representation of type %s", "snowflake.layout"));
    return layout_to_datum(*layout);
}

// preset_names() returns text[]
SNOWFLAKE_FUNCTION(snowflake_preset_names);
Datum snowflake_preset_names(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    Datum names[presets.size()];
    Datum *next = names;
    for (const Preset &preset : presets)
        *next++ = PointerGetDatum(
            cstring_to_text_with_len(preset.name.data(), static_cast<int>(preset.name.size())));
    PG_RETURN_ARRAYTYPE_P(construct_array(names, presets.size(), TEXTOID, -1, false, TYPALIGN_INT));
}

// _minimum_of(snowflake.layout) returns bigint
SNOWFLAKE_FUNCTION(snowflake_minimum_of);
Datum snowflake_minimum_of(PG_FUNCTION_ARGS) {
    const Layout layout = layout_from_datum(PG_GETARG_DATUM(0));
    if (!is_for_sequences(layout))
        raise_no_nodes(ERRCODE_INVALID_PARAMETER_VALUE);
    PG_RETURN_INT64(minimum_of(layout));
}

// _kept_layout(increment bigint, minimum bigint, maximum bigint) returns snowflake.layout
SNOWFLAKE_FUNCTION(snowflake_kept_layout);
Datum snowflake_kept_layout(PG_FUNCTION_ARGS) {
    const auto layout =
        sequence_kind::kept_layout(PG_GETARG_INT64(0), PG_GETARG_INT64(1), PG_GETARG_INT64(2));
    if (!layout)
        PG_RETURN_NULL();
    return layout_to_datum(*layout);
}

// _guard() returns bigint
SNOWFLAKE_FUNCTION(snowflake_guard);
Datum snowflake_guard(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT64(sequence_kind::guard_increment);
}

// _unguarded_maximum() returns bigint
SNOWFLAKE_FUNCTION(snowflake_unguarded_maximum);
Datum snowflake_unguarded_maximum(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT64(sequence_kind::unguarded_maximum);
}

// _makes_ids(increment bigint, maximum bigint) returns boolean
SNOWFLAKE_FUNCTION(snowflake_makes_ids);
Datum snowflake_makes_ids(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(sequence_kind::is_snowflake(PG_GETARG_INT64(0), PG_GETARG_INT64(1)));
}

// layout_of(regclass) returns snowflake.layout. Anybody may see it, as with the server's other
// properties of a sequence. Like the server's own functions it returns null where there is no such
// relation, lest a query on the catalog fail because another session drops one.
SNOWFLAKE_FUNCTION(snowflake_layout_of);
Datum snowflake_layout_of(PG_FUNCTION_ARGS) {
    const Oid relid = PG_GETARG_OID(0);
    const char relkind = get_rel_relkind(relid);
    if (relkind == '\0')
        PG_RETURN_NULL();
    if (relkind != RELKIND_SEQUENCE)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a sequence", get_rel_name(relid)));
    return layout_to_datum(sequence_kind::kind_of(relid).layout);
}

// describe(snowflake.layout) returns record; its columns are those of the extension script
SNOWFLAKE_FUNCTION(snowflake_describe);
Datum snowflake_describe(PG_FUNCTION_ARGS) {
    const Layout layout = layout_from_datum(PG_GETARG_DATUM(0));
    const std::int64_t ids_per_tick = std::int64_t{layout.last_counter()} + 1;
    Datum values[] = {
        timestamp_datum(layout.epoch_us()),
        timestamp_datum(layout.unix_us(layout.last_tick())),
        IntervalPGetDatum(interval_of_us(layout.tick_us())),
        Int32GetDatum(layout.timestamp_bits()),
        Int32GetDatum(layout.node_bits()),
        Int32GetDatum(layout.counter_bits()),
        Int64GetDatum(std::int64_t{layout.last_node()} + 1),
        Int64GetDatum(ids_per_tick),
        Int64GetDatum(ids_per_tick * layout.ticks_per_second()),
    };
    bool nulls[std::size(values)] = {};
    PG_RETURN_DATUM(server::row_datum(fcinfo, values, nulls));
}

} // extern "C"
