#include "harmless.hpp"

namespace snowflake::harmless {

namespace {

// Functions of the server that are not immutable and yet read nothing but the clock, settings and
// their arguments. By OID, which is the same in every version of the server: a name could be
// somebody else's, and the symbols of overloaded functions change with their overloads.
constexpr Oid harmless_functions[] = {
    274,  // timeofday()
    1171, // date_part(text, timestamptz)
    1178, // date(timestamptz)
    1217, // date_trunc(text, timestamptz)
    1284, // date_trunc(text, timestamptz, text)
    1299, // now()
    1598, // random()
    1768, // to_char(interval, text)
    1770, // to_char(timestamptz, text)
    1772, // to_char(numeric, text)
    1773, // to_char(integer, text)
    1774, // to_char(bigint, text)
    1775, // to_char(real, text)
    1776, // to_char(double precision, text)
    2003, // textanycat(text, anynonarray)
    2004, // anytextcat(anynonarray, text)
    2037, // timezone(text, timetz)
    2049, // to_char(timestamp, text)
    2647, // transaction_timestamp()
    2648, // statement_timestamp()
    2649, // clock_timestamp()
    3058, // concat("any")
    3059, // concat_ws(text, "any")
    3432, // gen_random_uuid()
    3539, // format(text, "any")
    3540, // format(text)
    6203, // extract(text, timestamptz)
};

bool is_servers_own(Oid object) {
    return object < FirstGenbkiObjectId;
}

// Whether a type is the server's own and has neither fields nor checks of its own.
bool is_plain(Oid type) {
    return is_servers_own(type) && get_typtype(type) == TYPTYPE_BASE;
}

bool is_listed(Oid function) {
    return std::find(std::begin(harmless_functions), std::end(harmless_functions), function) !=
           std::end(harmless_functions);
}

bool may_do_harm(Oid function, void *) {
    return !is_servers_own(function) ||
           (func_volatile(function) != PROVOLATILE_IMMUTABLE && !is_listed(function));
}

// Whether a node is of a kind that does nothing by itself beyond calling the functions that
// check_functions_in_node() tells of.
bool is_simple(Node *node) {
    switch (nodeTag(node)) {
    case T_Const:
    case T_Param:
    case T_Var:
    case T_FuncExpr:
    case T_NamedArgExpr:
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
    case T_ScalarArrayOpExpr:
    case T_BoolExpr:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_ArrayCoerceExpr:
    case T_CollateExpr:
    case T_CaseExpr:
    case T_CaseTestExpr:
    case T_ArrayExpr:
    case T_SubscriptingRef:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
    case T_SQLValueFunction:
    case T_NullTest:
    case T_BooleanTest:
        return true;
    default:
        return false;
    }
}

// Returns true, which ends the walk, at a node that may run users' code.
bool finds_harm(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, List) || IsA(node, CaseWhen)) // they have no type of their own
        return server::walk_expression(node, finds_harm, context);
    if (!is_simple(node) || !is_plain(exprType(node)))
        return true;
    // The input and output functions of the server's own types are not all immutable.
    if (!IsA(node, CoerceViaIO) && check_functions_in_node(node, may_do_harm, nullptr))
        return true;
    return server::walk_expression(node, finds_harm, context);
}

bool finds_foreign_constant(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return server::walk_query(reinterpret_cast<Query *>(node), finds_foreign_constant, context);
    if (IsA(node, Const))
        return !is_servers_own(reinterpret_cast<Const *>(node)->consttype);
    return server::walk_expression(node, finds_foreign_constant, context);
}

} // namespace

bool to_evaluate(Node *expression) {
    return !finds_harm(expression, nullptr);
}

bool to_parse(Node *tree) {
    return !finds_foreign_constant(tree, nullptr);
}

} // namespace snowflake::harmless
