// The planner's support function of nextval. By it COPY inserts rows with new IDs in batches, as it
// does with bigserial. By it the server's own nextval, currval and lastval make and return
// snowflake IDs where the switch of redirect_switch.hpp is on.
//
// Batches. COPY inserts in batches unless a default calls a volatile function, because such a
// function could look at the table. The server makes an exception for its own nextval alone. Where
// the planner simplifies a call of nextval outside of any query, as COPY has it do with a default,
// the call therefore becomes
//
//     COALESCE(substitute(nextval's OID, arguments of nextval), NextValueExpr)
//
// The substitute is declared STABLE, and does what nextval does. It never returns NULL, so the
// NextValueExpr, the server's node for an identity column, never runs. COPY passes over that node;
// everybody else takes it for volatile. ALTER TABLE ADD COLUMN does: without the node it would give
// all rows one and the same ID. The substitute is declared to return a record: the planner calls
// STABLE functions for its estimates, in which an expression seems to belong to no query, but none
// that returns a record.
//
// In a query a call of snowflake.nextval stays as it is, and one of the server's functions becomes
// a call of the function that stands for it, which is volatile.
//
// The declared argument of the substitute, an internal one, keeps SQL from calling it. Its
// arguments are the OID of nextval, and those of nextval.

#include "allocate.hpp"
#include "execute_right.hpp"
#include "redirected.hpp"
#include "server/layout_datum.hpp"
#include "server/schema.hpp"
#include "server/server.hpp"

using namespace snowflake;

namespace {

// Tells whether an argument is the same in each row: a constant, or the name of a sequence, which
// is looked up at each call.
bool is_known(const void *argument) {
    const auto *node = static_cast<const Node *>(argument);
    if (IsA(node, FuncExpr)) {
        const auto *call = reinterpret_cast<const FuncExpr *>(node);
        if (call->funcid != F_REGCLASS)
            return false;
        node = static_cast<const Node *>(linitial(call->args));
    }
    return IsA(node, Const) && !reinterpret_cast<const Const *>(node)->constisnull;
}

// Tells whether a call may become one of the substitute, in an expression that belongs to no query.
bool may_be_batched(const SupportRequestSimplify &request) {
    const FuncExpr &call = *request.fcall;
    if (request.root != nullptr || call.funcid == F_CURRVAL || call.funcid == F_LASTVAL)
        return false;
    ListCell *cell = nullptr;
    foreach (cell, call.args)
        if (!is_known(lfirst(cell)))
            return false;
    return true;
}

Node *batched(const FuncExpr &call, Oid substitute) {
    Const *called =
        makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(call.funcid), false, true);
    List *arguments = list_concat(server::list_of(called), call.args);
    auto *never = server::make_node<NextValueExpr>(T_NextValueExpr);
    never->seqid = InvalidOid;
    never->typeId = INT8OID;
    auto *either = server::make_node<CoalesceExpr>(T_CoalesceExpr);
    either->coalescetype = INT8OID;
    either->args = server::list_of(
        makeFuncExpr(substitute, INT8OID, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
        never);
    either->location = -1;
    return reinterpret_cast<Node *>(either);
}

// The functions that stand for the server's, by name and number of arguments of type regclass.
struct StandIn {
    Oid servers;
    const char *name;
    std::size_t arguments;
};
constexpr StandIn stand_ins[] = {
    {F_NEXTVAL, "_nextval", 1}, {F_CURRVAL, "_currval", 1}, {F_LASTVAL, "_lastval", 0}};

// Returns the substitute of nextval; InvalidOid: there is none that the role may execute.
Oid find_substitute(Oid support) {
    const Oid argument = INTERNALOID;
    const Oid found = schema::find_sibling(support, "_batched_nextval", {&argument, 1});
    return OidIsValid(found) && server::may_execute(GetUserId(), found) ? found : InvalidOid;
}

// Returns the function that stands for one of the server's; InvalidOid: it is none of the three, or
// somebody has taken the right to execute what would stand for it from PUBLIC.
Oid stand_in_for(Oid function, Oid support) {
    const Oid argument = REGCLASSOID;
    for (const StandIn &stand_in : stand_ins) {
        if (stand_in.servers != function)
            continue;
        const Oid found =
            schema::find_sibling(support, stand_in.name, {&argument, stand_in.arguments});
        return OidIsValid(found) && server::may_execute(ACL_ID_PUBLIC, found) ? found : InvalidOid;
    }
    return InvalidOid;
}

// Returns what the call becomes; nullptr: it stays as it is. A plan outlives the role that it was
// made for: the function that stands for another asks for the right to execute that one when it is
// called. An expression that belongs to no query is planned by who evaluates it, who then gets the
// server's error about the function that was called.
Node *simplify(const SupportRequestSimplify &request, Oid support) {
    const FuncExpr &call = *request.fcall;
    if (may_be_batched(request) && server::may_execute(GetUserId(), call.funcid))
        if (const Oid substitute = find_substitute(support); OidIsValid(substitute))
            return batched(call, substitute);
    const Oid stand_in = stand_in_for(call.funcid, support);
    if (!OidIsValid(stand_in))
        return nullptr;
    FuncExpr *redirected = makeFuncExpr(stand_in, INT8OID, call.args, call.funccollid,
                                        call.inputcollid, call.funcformat);
    redirected->location = call.location;
    return reinterpret_cast<Node *>(redirected);
}

} // namespace

extern "C" {

// _plan_call(internal) returns internal: what the planner asks about a call
SNOWFLAKE_FUNCTION(snowflake_plan_call);
Datum snowflake_plan_call(PG_FUNCTION_ARGS) {
    const auto *request = reinterpret_cast<const Node *>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestSimplify))
        return Datum{0};
    PG_RETURN_POINTER(simplify(*reinterpret_cast<const SupportRequestSimplify *>(request),
                               fcinfo->flinfo->fn_oid));
}

// _batched_nextval(internal): the substitute of nextval
SNOWFLAKE_FUNCTION(snowflake_batched_nextval);
Datum snowflake_batched_nextval(PG_FUNCTION_ARGS) {
    const Oid called = PG_GETARG_OID(0);
    require_execute(*fcinfo->flinfo, called);
    if (called == F_NEXTVAL)
        PG_RETURN_INT64(redirected::nextval(PG_GETARG_OID(1)));
    if (PG_NARGS() > 2)
        PG_RETURN_INT64(next_id(PG_GETARG_OID(1), layout_from_datum(PG_GETARG_DATUM(2))));
    PG_RETURN_INT64(next_id(PG_GETARG_OID(1)));
}

} // extern "C"
