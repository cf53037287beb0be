// The function of SQL that tells readers how far they can read.

#include "server/layout_datum.hpp"
#include "server/server.hpp"
#include "watermark.hpp"

using namespace snowflake;

namespace {

// Looks at the sequence that a call names, if it is a constant.
void look_ahead(const FuncExpr &call) {
    const auto constant = [&](int index) -> const Const * {
        const auto *argument = static_cast<const Node *>(list_nth(call.args, index));
        if (!IsA(argument, Const) || reinterpret_cast<const Const *>(argument)->constisnull)
            return nullptr;
        return reinterpret_cast<const Const *>(argument);
    };
    const Const *sequence = constant(0);
    const bool names_layout = list_length(call.args) > 1;
    const Const *layout = names_layout ? constant(1) : nullptr;
    if (sequence == nullptr || (names_layout && layout == nullptr))
        return;
    watermark::look_before(DatumGetObjectId(sequence->constvalue),
                           names_layout ? std::optional{layout_from_datum(layout->constvalue)}
                                        : std::nullopt);
}

} // namespace

extern "C" {

// low_watermark(regclass) and low_watermark(regclass, snowflake.layout), both of which return
// bigint
SNOWFLAKE_FUNCTION(snowflake_low_watermark);
Datum snowflake_low_watermark(PG_FUNCTION_ARGS) {
    const auto layout =
        PG_NARGS() > 1 ? std::optional{layout_from_datum(PG_GETARG_DATUM(1))} : std::nullopt;
    const std::optional<Id> bound = watermark::find(PG_GETARG_OID(0), layout, *fcinfo->flinfo);
    if (!bound)
        PG_RETURN_NULL();
    PG_RETURN_INT64(*bound);
}

// _low_watermark_planned(internal) returns internal: what the planner asks about a call
SNOWFLAKE_FUNCTION(snowflake_low_watermark_planned);
Datum snowflake_low_watermark_planned(PG_FUNCTION_ARGS) {
    const auto *request = reinterpret_cast<const Node *>(PG_GETARG_POINTER(0));
    if (IsA(request, SupportRequestSimplify))
        look_ahead(*reinterpret_cast<const SupportRequestSimplify *>(request)->fcall);
    return Datum{0}; // a null pointer: the call stays as it is
}

} // extern "C"
