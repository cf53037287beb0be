// The function by which COPY inserts rows with new IDs in batches, as it does with bigserial.
//
// COPY does so unless a default calls a volatile function, because such a function could look at
// the table. The server makes an exception for its own nextval alone. Where the planner simplifies
// a call of snowflake.nextval outside of any query, as COPY has it do with a default, the call
// therefore becomes
//
//     COALESCE(twin(nextval's OID, arguments of nextval), NextValueExpr)
//
// The twin is declared STABLE, and does what nextval does. It never returns NULL, so the
// NextValueExpr, the server's node for an identity column, never runs. COPY passes over that node;
// everybody else takes it for volatile. ALTER TABLE ADD COLUMN does: without the node it would give
// all rows one and the same ID.
//
// In a query the call stays as it is: the planner calls STABLE functions for its estimates.
//
// The twin is the function itself, called with more than one argument. So its OID is at hand, and
// its declared argument, an internal one, keeps SQL from calling it.

#include "allocate.hpp"
#include "server/layout_datum.hpp"
#include "server/server.hpp"

using namespace snowflake;

namespace {

bool is_known(const void *argument) {
    const auto *node = static_cast<const Node *>(argument);
    return IsA(node, Const) && !reinterpret_cast<const Const *>(node)->constisnull;
}

// Returns what the call becomes; nullptr: it stays as it is. A caller that may not execute one of
// the two functions gets the server's error about nextval.
Node *simplify(const SupportRequestSimplify &request, Oid twin) {
    const FuncExpr &call = *request.fcall;
    if (request.root != nullptr || !server::may_execute(twin) || !server::may_execute(call.funcid))
        return nullptr;
    ListCell *cell = nullptr;
    foreach (cell, call.args)
        if (!is_known(lfirst(cell)))
            return nullptr;

    Const *called =
        makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(call.funcid), false, true);
    List *arguments = list_concat(server::list_of(called), call.args);
    auto *never = server::make_node<NextValueExpr>(T_NextValueExpr);
    never->seqid = DatumGetObjectId(static_cast<Const *>(linitial(call.args))->constvalue);
    never->typeId = INT8OID;
    auto *either = server::make_node<CoalesceExpr>(T_CoalesceExpr);
    either->coalescetype = INT8OID;
    either->args = server::list_of(
        makeFuncExpr(twin, INT8OID, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
        never);
    either->location = -1;
    return reinterpret_cast<Node *>(either);
}

// Raises 42501 if the caller may not execute nextval: the role may be another than the planner's.
// The server, too, checks this once for each place of a call.
void require_execute(FmgrInfo &call, Oid function) {
    if (call.fn_extra != nullptr)
        return;
    if (!server::may_execute(function))
        aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
    call.fn_extra = &call;
}

} // namespace

extern "C" {

// _nextval_planned(internal) returns internal: what the planner asks about a call. And the twin of
// nextval, whose arguments are the OID of that, and its own.
SNOWFLAKE_FUNCTION(snowflake_nextval_planned);
Datum snowflake_nextval_planned(PG_FUNCTION_ARGS) {
    if (PG_NARGS() == 1) {
        const auto *request = reinterpret_cast<const Node *>(PG_GETARG_POINTER(0));
        if (!IsA(request, SupportRequestSimplify))
            return Datum{0};
        PG_RETURN_POINTER(simplify(*reinterpret_cast<const SupportRequestSimplify *>(request),
                                   fcinfo->flinfo->fn_oid));
    }
    require_execute(*fcinfo->flinfo, PG_GETARG_OID(0));
    const Layout layout = PG_NARGS() > 2 ? layout_from_datum(PG_GETARG_DATUM(2)) : default_layout;
    PG_RETURN_INT64(next_id(PG_GETARG_OID(1), layout));
}

} // extern "C"
