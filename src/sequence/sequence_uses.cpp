#include "sequence_uses.hpp"

#include "sequence_kind.hpp"
#include "server/layout_datum.hpp"
#include "server/schema.hpp"

namespace snowflake::expression {

namespace {

// How deeply a tree may be nested. The server's own limit is that of the stack.
constexpr int deepest = 1000;

// How many bytes the text form of a tree may have. To read one of a stranger's must not take long.
constexpr Size longest = 8 * 1024 * 1024;

// Whether the text form of a tree is nested too deeply. Brackets in names are behind a backslash.
bool is_too_deep(const char *text_form) {
    int depth = 0;
    for (const char *c = text_form; *c != '\0'; ++c) {
        if (*c == '\\' && c[1] != '\0')
            ++c;
        else if (*c == '{' || *c == '(')
            ++depth;
        else if (*c == '}' || *c == ')')
            --depth;
        if (depth > 2 * deepest)
            return true;
    }
    return false;
}

// Tells a function by its OID.
Callee callee_of(Oid function) {
    if (function == F_NEXTVAL)
        return Callee::server_nextval;
    if (function < FirstNormalObjectId)
        return Callee::other;
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return Callee::other;
    const auto *form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
    const bool ours = form->pronamespace == schema::find();
    const auto is_named = [form](const char *name) {
        return std::strcmp(NameStr(form->proname), name) == 0;
    };
    Callee callee = Callee::other;
    if (ours && (is_named("nextval") || is_named("next_id")))
        callee = Callee::nextval;
    else if (ours && is_named("nextvals"))
        callee = Callee::nextvals;
    else if (ours && is_named("currval"))
        callee = Callee::currval;
    ReleaseSysCache(tuple);
    return callee;
}

// The arguments of a call in the order of the function's parameters, defaults included.
List *arguments_of(const FuncExpr *call) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
    if (!HeapTupleIsValid(tuple))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
                errmsg("function with OID %u does not exist", call->funcid));
    List *arguments =
        expand_function_arguments(list_copy(call->args), false, call->funcresulttype, tuple);
    ReleaseSysCache(tuple);
    return arguments;
}

// The node below casts that change nothing but the type.
Node *without_relabeling(Node *node) {
    while (IsA(node, RelabelType))
        node = reinterpret_cast<Node *>(reinterpret_cast<RelabelType *>(node)->arg);
    return node;
}

// The text that a node is; nullptr: it is none that is known.
const char *text_of(Node *node) {
    const Const *value = constant(without_relabeling(node));
    return value != nullptr && (value->consttype == TEXTOID || value->consttype == VARCHAROID)
               ? TextDatumGetCString(value->constvalue)
               : nullptr;
}

// Reads which sequence an argument of type regclass means.
void read_sequence(Node *argument, Use &use) {
    Node *node = without_relabeling(argument);
    if (const Const *value = constant(node)) {
        if (value->consttype == REGCLASSOID || value->consttype == OIDOID ||
            value->consttype == INT4OID)
            use.sequence = DatumGetObjectId(value->constvalue);
        return;
    }
    if (!IsA(node, FuncExpr) || reinterpret_cast<FuncExpr *>(node)->funcid != F_REGCLASS)
        return;
    use.name = text_of(static_cast<Node *>(linitial(reinterpret_cast<FuncExpr *>(node)->args)));
}

// Reads which layout the last argument of a call is, if the function takes one. A call without it
// has the layout of the sequence.
void read_layout(const List *arguments, Use &use) {
    const int position = use.callee == Callee::nextval ? 1 : use.callee == Callee::nextvals ? 2 : 0;
    if (position == 0)
        return;
    use.has_layout = true;
    use.layout = sequence_kind::kind_of(use.sequence).layout;
    if (list_length(arguments) <= position)
        return;
    const Const *value = constant(static_cast<Node *>(list_nth(arguments, position)));
    use.has_layout = value != nullptr;
    if (value != nullptr)
        use.layout = layout_from_datum(value->constvalue);
}

void remember(List **uses, const Use &use) {
    auto *copy = static_cast<Use *>(palloc(sizeof(Use)));
    *copy = use;
    *uses = lappend(*uses, copy);
}

bool collect_uses(Node *node, void *context) {
    if (node == nullptr)
        return false;
    auto **uses = static_cast<List **>(context);
    if (IsA(node, Query))
        return server::walk_query(reinterpret_cast<Query *>(node), collect_uses, context);
    Use use;
    List *arguments = NIL;
    if (read_call(node, use, &arguments)) {
        remember(uses, use);
        // A sequence that is known stands nowhere else in its own argument.
        if (use.sequence != InvalidOid)
            arguments = list_delete_first(arguments);
        return server::walk_expression(reinterpret_cast<Node *>(arguments), collect_uses, context);
    }
    if (const Const *value = constant(node); value != nullptr && value->consttype == REGCLASSOID)
        remember(uses, {.sequence = DatumGetObjectId(value->constvalue)});
    return server::walk_expression(node, collect_uses, context);
}

} // namespace

Node *node_of(Datum tree) {
    if (toast_raw_datum_size(tree) > longest)
        return nullptr;
    const char *text_form = TextDatumGetCString(tree);
    return is_too_deep(text_form) ? nullptr : static_cast<Node *>(stringToNode(text_form));
}

const Const *constant(Node *node) {
    const auto *value = IsA(node, Const) ? reinterpret_cast<const Const *>(node) : nullptr;
    return value != nullptr && !value->constisnull ? value : nullptr;
}

bool read_call(Node *node, Use &use, List **arguments) {
    if (!IsA(node, FuncExpr))
        return false;
    const auto *call = reinterpret_cast<FuncExpr *>(node);
    use = {.callee = callee_of(call->funcid)};
    if (use.callee == Callee::other)
        return false;
    *arguments = arguments_of(call);
    read_sequence(static_cast<Node *>(linitial(*arguments)), use);
    read_layout(*arguments, use);
    return true;
}

List *uses_in(Node *tree) {
    List *uses = NIL;
    collect_uses(tree, &uses);
    return uses;
}

Default find_default(Oid attrdef) {
    Default column{.relation = InvalidOid, .attribute = InvalidAttrNumber, .tree = nullptr};
    Relation catalog = table_open(AttrDefaultRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_attrdef_oid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(attrdef));
    SysScanDesc scan = systable_beginscan(catalog, AttrDefaultOidIndexId, true, nullptr, 1, &key);
    if (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple)) {
        const auto *form = reinterpret_cast<Form_pg_attrdef>(GETSTRUCT(tuple));
        bool is_null = false;
        column.relation = form->adrelid;
        column.attribute = form->adnum;
        column.tree = node_of(
            heap_getattr(tuple, Anum_pg_attrdef_adbin, RelationGetDescr(catalog), &is_null));
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    if (column.tree == nullptr && OidIsValid(column.relation))
        ereport(ERROR, errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                errmsg("default of a column of table \"%s\" is too long, or nested too deeply",
                       get_rel_name(column.relation)));
    if (column.tree == nullptr)
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
                errmsg("column default with OID %u does not exist", attrdef));
    return column;
}

} // namespace snowflake::expression
