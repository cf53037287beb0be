#include "harmless.hpp"

#include "server/schema.hpp"

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

// Whose functions and types count as harmless.
enum class Source {
    server,        // the server's own, and snowflake.id, which the server's functions implement
    any_superuser, // and what superusers have made, who alone can make base types and functions in
                   // C
};

// Whether a type has neither fields nor checks, and its input is what a source allows.
bool is_plain(Oid type, Source source) {
    const Oid element = get_element_type(type);
    const Oid scalar = OidIsValid(element) ? element : type;
    const char kind = get_typtype(scalar);
    if (source == Source::server)
        return kind == TYPTYPE_BASE && (is_servers_own(scalar) || scalar == schema::id_type());
    return kind == TYPTYPE_BASE || kind == TYPTYPE_ENUM;
}

// Whether a superuser has made the function in C, and it only computes.
bool is_superusers_c(Oid function) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return false;
    const auto *form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
    const bool result = (form->prolang == ClanguageId || form->prolang == INTERNALlanguageId) &&
                        form->provolatile == PROVOLATILE_IMMUTABLE && !form->prosecdef &&
                        superuser_arg(form->proowner);
    ReleaseSysCache(tuple);
    return result;
}

bool is_listed(Oid function) {
    return std::find(std::begin(harmless_functions), std::end(harmless_functions), function) !=
           std::end(harmless_functions);
}

bool may_do_harm(Oid function, void *context) {
    if (is_servers_own(function))
        return func_volatile(function) != PROVOLATILE_IMMUTABLE && !is_listed(function);
    return *static_cast<const Source *>(context) == Source::server || !is_superusers_c(function);
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
    if (!is_simple(node) || !is_plain(exprType(node), *static_cast<const Source *>(context)))
        return true;
    // The input and output functions of the server's own types are not all immutable.
    if (!IsA(node, CoerceViaIO) && check_functions_in_node(node, may_do_harm, context))
        return true;
    return server::walk_expression(node, finds_harm, context);
}

bool finds_foreign_constant(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return server::walk_query(reinterpret_cast<Query *>(node), finds_foreign_constant, context);
    if (IsA(node, Const))
        return !is_plain(reinterpret_cast<Const *>(node)->consttype, Source::any_superuser) &&
               !is_servers_own(reinterpret_cast<Const *>(node)->consttype);
    return server::walk_expression(node, finds_foreign_constant, context);
}

} // namespace

bool to_evaluate(Node *expression) {
    Source source = Source::server;
    return !finds_harm(expression, &source);
}

bool to_run(Node *expression) {
    Source source = Source::any_superuser;
    return !finds_harm(expression, &source);
}

bool to_parse(Node *tree) {
    return !finds_foreign_constant(tree, nullptr);
}

} // namespace snowflake::harmless
