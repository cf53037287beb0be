#include "read_otherwise.hpp"

#include "expression.hpp"

namespace snowflake::expression {

namespace {

// An expression that is read again.
struct Reading {
    Oid relation;
    const AttrNumber *attributes; // that are bigints by then
    int count;
    Oid owner;   // of the relation
    List *known; // the functions that the stored expression calls
};

bool collect_function(Oid function, void *context) {
    auto **functions = static_cast<List **>(context);
    *functions = list_append_unique_oid(*functions, function);
    return false;
}

bool collect_functions(Node *node, void *context) {
    if (node == nullptr)
        return false;
    (void)check_functions_in_node(node, collect_function, context);
    return server::walk_expression(node, collect_functions, context);
}

Node *column_read(ParseState *state, ColumnRef *reference) {
    const auto &reading = *static_cast<const Reading *>(state->p_ref_hook_state);
    Node *field = static_cast<Node *>(linitial(reference->fields));
    if (list_length(reference->fields) != 1 || !IsA(field, String))
        return nullptr;
    const AttrNumber attribute = get_attnum(reading.relation, strVal(field));
    if (attribute == InvalidAttrNumber)
        return nullptr;
    Oid type = InvalidOid;
    std::int32_t type_modifier = -1;
    Oid collation = InvalidOid;
    get_atttypetypmodcoll(reading.relation, attribute, &type, &type_modifier, &collation);
    const AttrNumber *end = reading.attributes + reading.count;
    if (std::find(reading.attributes, end, attribute) != end)
        type = INT8OID;
    return reinterpret_cast<Node *>(makeVar(1, attribute, type, type_modifier, collation, 0));
}

// The types that a function or operator takes. Those of an operator on an array are its elements'.
struct Signature {
    const Oid *types;
    int count;
};

// Whether arguments have just the types that are declared. Nothing that somebody adds to the schema
// takes the place of such a function or operator.
bool is_exact(const List *arguments, Signature declared, bool is_on_array = false) {
    if (list_length(arguments) != declared.count)
        return false;
    for (int i = 0; i < declared.count; ++i) {
        auto *argument = static_cast<Node *>(list_nth(arguments, i));
        if (IsA(argument, NamedArgExpr))
            return false; // a function that has the names in another order fits as well
        const Oid type = exprType(strip_implicit_coercions(argument));
        if ((is_on_array && i == 1 ? get_base_element_type(type) : type) != declared.types[i])
            return false;
    }
    return true;
}

Oid owner_of_operator(Oid operation) {
    HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operation));
    if (!HeapTupleIsValid(tuple))
        return InvalidOid;
    const Oid owner = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple))->oprowner;
    ReleaseSysCache(tuple);
    return owner;
}

bool is_trusted(Oid function, Oid author, const Reading &reading) {
    return list_member_oid(reading.known, function) || server::may_act_for(author, reading.owner);
}

// One of pg_catalog is printed with the schema unless it takes just these types, but for one that
// takes any, also the booleans of enclose().
bool is_settled(const FuncExpr *call, const Reading &reading) {
    if (call->funcformat == COERCE_SQL_SYNTAX)
        return true;
    Oid *types = nullptr;
    int count = 0;
    (void)get_func_signature(call->funcid, &types, &count);
    if (call->funcid < FirstNormalObjectId)
        return call->funcformat != COERCE_EXPLICIT_CALL ||
               std::find(types, types + count, Oid{ANYOID}) == types + count ||
               is_exact(call->args, {.types = types, .count = count});
    return is_trusted(call->funcid, server::owner_of_function(call->funcid), reading) &&
           (call->funcformat != COERCE_EXPLICIT_CALL ||
            is_exact(call->args, {.types = types, .count = count}));
}

bool is_exact(Oid operation, const List *arguments, bool is_on_array = false) {
    Oid types[2] = {InvalidOid, InvalidOid};
    op_input_types(operation, &types[0], &types[1]);
    const int count = OidIsValid(types[0]) ? 2 : 1;
    return is_exact(arguments, {.types = &types[2 - count], .count = count}, is_on_array);
}

bool is_settled(Oid operation, const List *arguments, bool is_on_array, const Reading &reading) {
    return operation < FirstNormalObjectId ||
           (is_exact(operation, arguments, is_on_array) &&
            is_trusted(get_opcode(operation), owner_of_operator(operation), reading));
}

// An operator that is printed without a name, or whose name stands for that of another one as well.
bool is_settled_unnamed(Oid operation, const List *arguments) {
    return operation < FirstNormalObjectId && is_exact(operation, arguments);
}

bool is_settled(const RowCompareExpr *rows) {
    for (int i = 0; i < list_length(rows->opnos); ++i)
        if (!is_settled_unnamed(
                list_nth_oid(rows->opnos, i),
                server::list_of(list_nth(rows->largs, i), list_nth(rows->rargs, i))))
            return false;
    return true;
}

// CASE value WHEN other.
bool is_settled(const CaseExpr *choice) {
    for (int i = 0; choice->arg != nullptr && i < list_length(choice->args); ++i) {
        const auto *branch = static_cast<const CaseWhen *>(list_nth(choice->args, i));
        const auto *equality = reinterpret_cast<const OpExpr *>(branch->expr);
        if (!IsA(equality, OpExpr) || !is_settled_unnamed(equality->opno, equality->args))
            return false;
    }
    return true;
}

bool is_unsettled(Node *node, void *context) {
    if (node == nullptr)
        return false;
    const auto &reading = *static_cast<const Reading *>(context);
    bool settled = true;
    if (IsA(node, FuncExpr))
        settled = is_settled(reinterpret_cast<const FuncExpr *>(node), reading);
    else if (const auto *operation = reinterpret_cast<const OpExpr *>(node); IsA(node, OpExpr))
        settled = is_settled(operation->opno, operation->args, false, reading);
    else if (const auto *any = reinterpret_cast<const ScalarArrayOpExpr *>(node);
             IsA(node, ScalarArrayOpExpr))
        settled = is_settled(any->opno, any->args, true, reading);
    else if (const auto *unnamed = reinterpret_cast<const OpExpr *>(node);
             IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
        settled = is_settled_unnamed(unnamed->opno, unnamed->args);
    else if (IsA(node, RowCompareExpr))
        settled = is_settled(reinterpret_cast<const RowCompareExpr *>(node));
    else if (IsA(node, CaseExpr))
        settled = is_settled(reinterpret_cast<const CaseExpr *>(node));
    return !settled || server::walk_expression(node, is_unsettled, context);
}

} // namespace

bool is_read_otherwise(Node *tree, Oid relation, const AttrNumber *attributes,
                       const char *const *names, int count) {
    const char *text = deparsed_with_names(tree, relation, attributes, names, count);
    if (text == nullptr)
        return true;
    Reading reading = {.relation = relation,
                       .attributes = attributes,
                       .count = count,
                       .owner = server::owner_of(relation),
                       .known = NIL};
    collect_functions(tree, &reading.known);
    ParseState *state = make_parsestate(nullptr);
    state->p_ref_hook_state = &reading;
    state->p_pre_columnref_hook = column_read;
    return is_unsettled(transformExpr(state, parsed(text), EXPR_KIND_INDEX_EXPRESSION), &reading);
}

} // namespace snowflake::expression
