#include "expression.hpp"

#include "server/layout_datum.hpp"
#include "server/schema.hpp"

namespace snowflake::expression {

namespace {

// Where a catalog stores trees.
struct Storage {
    Oid class_id; // of the objects, which for an index is not the catalog
    Oid catalog;
    Oid index; // of the catalog, on the objects' OIDs
    AttrNumber oid_column;
    AttrNumber columns[2]; // of trees; 0: no more
};

constexpr Storage storages[] = {
    {AttrDefaultRelationId,
     AttrDefaultRelationId,
     AttrDefaultOidIndexId,
     Anum_pg_attrdef_oid,
     {Anum_pg_attrdef_adbin, 0}},
    {RewriteRelationId,
     RewriteRelationId,
     RewriteOidIndexId,
     Anum_pg_rewrite_oid,
     {Anum_pg_rewrite_ev_qual, Anum_pg_rewrite_ev_action}},
    {ProcedureRelationId,
     ProcedureRelationId,
     ProcedureOidIndexId,
     Anum_pg_proc_oid,
     {Anum_pg_proc_proargdefaults, Anum_pg_proc_prosqlbody}},
    {ConstraintRelationId,
     ConstraintRelationId,
     ConstraintOidIndexId,
     Anum_pg_constraint_oid,
     {Anum_pg_constraint_conbin, 0}},
    {RelationRelationId,
     IndexRelationId,
     IndexRelidIndexId,
     Anum_pg_index_indexrelid,
     {Anum_pg_index_indexprs, Anum_pg_index_indpred}},
    {PolicyRelationId,
     PolicyRelationId,
     PolicyOidIndexId,
     Anum_pg_policy_oid,
     {Anum_pg_policy_polqual, Anum_pg_policy_polwithcheck}},
    {TriggerRelationId,
     TriggerRelationId,
     TriggerOidIndexId,
     Anum_pg_trigger_oid,
     {Anum_pg_trigger_tgqual, 0}},
    {PublicationRelRelationId,
     PublicationRelRelationId,
     PublicationRelObjectIndexId,
     Anum_pg_publication_rel_oid,
     {Anum_pg_publication_rel_prqual, 0}},
    {StatisticExtRelationId,
     StatisticExtRelationId,
     StatisticExtOidIndexId,
     Anum_pg_statistic_ext_oid,
     {Anum_pg_statistic_ext_stxexprs, 0}},
    {PartitionedRelationId,
     PartitionedRelationId,
     PartitionedRelidIndexId,
     Anum_pg_partitioned_table_partrelid,
     {Anum_pg_partitioned_table_partexprs, 0}},
    {TypeRelationId,
     TypeRelationId,
     TypeOidIndexId,
     Anum_pg_type_oid,
     {Anum_pg_type_typdefaultbin, 0}},
};

// How deeply a tree may be nested. The server's own limit is that of the stack.
constexpr int deepest = 1000;

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

// The tree that a catalog stores; nullptr: it is nested too deeply, or there is none.
Node *node_of(Datum tree) {
    const char *text_form = TextDatumGetCString(tree);
    return is_too_deep(text_form) ? nullptr : static_cast<Node *>(stringToNode(text_form));
}

// Whether the catalog stores that there is no tree, as for a rule without a condition.
bool is_none(Datum tree) {
    return std::strcmp(TextDatumGetCString(tree), "<>") == 0;
}

// Which of the functions above this is.
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
    else if (form->pronamespace == schema::find_compat() && is_named("nextval"))
        callee = Callee::compat_nextval;
    ReleaseSysCache(tuple);
    return callee;
}

// The arguments of a call in the order of the function's parameters, defaults included.
List *arguments_of(const FuncExpr *call) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for function %u", call->funcid);
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

// The constant that a node is, if it is one and not null.
const Const *constant(Node *node) {
    const auto *value = IsA(node, Const) ? reinterpret_cast<const Const *>(node) : nullptr;
    return value != nullptr && !value->constisnull ? value : nullptr;
}

// The text that a node is; nullptr: it is none that is known.
const char *text_of(Node *node) {
    const Const *value = constant(without_relabeling(node));
    return value != nullptr && (value->consttype == TEXTOID || value->consttype == VARCHAROID)
               ? TextDatumGetCString(value->constvalue)
               : nullptr;
}

// Reads which sequence an argument of type regclass means, or of type text where the function takes
// a name.
void read_sequence(Node *argument, Use &use) {
    if (use.callee == Callee::compat_nextval) {
        use.name = text_of(argument);
        return;
    }
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

// Reads which layout the last argument of a call is, if the function takes one.
void read_layout(const List *arguments, Use &use) {
    const int position = use.callee == Callee::nextval ? 1 : use.callee == Callee::nextvals ? 2 : 0;
    if (position == 0)
        return;
    use.has_layout = true;
    use.layout = default_layout;
    if (list_length(arguments) <= position)
        return;
    const Const *value = constant(static_cast<Node *>(list_nth(arguments, position)));
    use.has_layout = value != nullptr;
    if (value != nullptr)
        use.layout = layout_from_datum(value->constvalue);
}

// What a node says of a sequence, if it is a call of one of the functions.
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

// Whether a text names the sequence, with or without schema and database.
bool is_name_of(const char *written, Oid sequence) {
    const List *names = identifiers_of(written);
    const char *expected[] = {get_rel_name(sequence),
                              get_namespace_name(get_rel_namespace(sequence)),
                              get_database_name(MyDatabaseId)};
    const int count = list_length(names);
    if (count == 0)
        return false;
    for (int i = 0; i < count; ++i) {
        const auto *name = static_cast<const char *>(list_nth(names, count - 1 - i));
        if (expected[i] == nullptr || std::strcmp(name, expected[i]) != 0)
            return false;
    }
    return true;
}

// Whether a conversion puts snowflake.nextval in the place of the call.
bool is_unconverted(Callee callee) {
    return callee == Callee::server_nextval || callee == Callee::compat_nextval;
}

bool names_sequence(const Use &use, Oid sequence) {
    return use.sequence == sequence ||
           (is_unconverted(use.callee) && use.name != nullptr && is_name_of(use.name, sequence));
}

// What to replace, and by what.
struct Replacement {
    Oid sequence;
    bool (*is_meant)(Callee); // the calls that are replaced
    Node *in_place;           // what stands for them afterwards
    bool found;
};

Node *replace(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    auto &replacement = *static_cast<Replacement *>(context);
    Use use;
    List *arguments = NIL;
    if (read_call(node, use, &arguments) && replacement.is_meant(use.callee) &&
        names_sequence(use, replacement.sequence)) {
        replacement.found = true;
        return static_cast<Node *>(copyObjectImpl(replacement.in_place));
    }
    return server::mutate_expression(node, replace, context);
}

Node *replaced(Node *tree, Oid sequence, bool (*is_meant)(Callee), Node *in_place) {
    Replacement replacement{
        .sequence = sequence, .is_meant = is_meant, .in_place = in_place, .found = false};
    Node *result = replace(tree, &replacement);
    return replacement.found ? result : nullptr;
}

Node *constant_of(Oid sequence) {
    return reinterpret_cast<Node *>(makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
                                              ObjectIdGetDatum(sequence), false, true));
}

Node *leave_out_sequence(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    if (const Const *value = constant(node);
        value != nullptr && value->consttype == REGCLASSOID &&
        DatumGetObjectId(value->constvalue) == *static_cast<const Oid *>(context))
        return constant_of(InvalidOid);
    return server::mutate_expression(node, leave_out_sequence, context);
}

// Whether a tree holds what cannot be printed with names for the first columns of one relation, as
// many as the context says: a query, a whole row, a system column, or a column of another relation.
bool names_other_than_columns(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return true;
    if (!IsA(node, Var))
        return server::walk_expression(node, names_other_than_columns, context);
    const auto *column = reinterpret_cast<const Var *>(node);
    return column->varno != 1 || column->varlevelsup != 0 || column->varattno < 1 ||
           column->varattno > *static_cast<const AttrNumber *>(context);
}

// How many columns a relation has, dropped ones included; 0: there is no such relation.
AttrNumber column_count(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple))
        return 0;
    const AttrNumber count = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relnatts;
    ReleaseSysCache(tuple);
    return count;
}

} // namespace

List *stored_in(Oid class_id, Oid object) {
    const auto *storage = std::find_if(std::begin(storages), std::end(storages),
                                       [=](const Storage &s) { return s.class_id == class_id; });
    if (storage == std::end(storages))
        return NIL;
    List *trees = NIL;
    Relation catalog = table_open(storage->catalog, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, storage->oid_column, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(object));
    SysScanDesc scan = systable_beginscan(catalog, storage->index, true, nullptr, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    for (const AttrNumber column : storage->columns) {
        bool is_null = true;
        Datum tree{};
        if (HeapTupleIsValid(tuple) && column != 0)
            tree = heap_getattr(tuple, column, RelationGetDescr(catalog), &is_null);
        if (!is_null && !is_none(tree))
            trees = lappend(trees, node_of(tree));
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    return trees;
}

List *uses_in(Node *tree) {
    List *uses = NIL;
    collect_uses(tree, &uses);
    return uses;
}

List *identifiers_of(const char *name) {
    List *names = NIL;
    if (!SplitIdentifierString(pstrdup(name), '.', &names) || list_length(names) > 3)
        return NIL;
    return names;
}

Node *with_calls_replaced(Node *tree, Oid sequence, Direction direction) {
    if (direction == Direction::unchanged)
        return nullptr;
    const bool to_snowflake = direction == Direction::to_snowflake;
    auto *call = makeFuncExpr(
        to_snowflake ? schema::find_function("nextval", REGCLASSOID) : Oid{F_NEXTVAL}, INT8OID,
        server::list_of(constant_of(sequence)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
    const auto is_converted = [](Callee callee) { return callee == Callee::nextval; };
    return replaced(tree, sequence, to_snowflake ? is_unconverted : +is_converted,
                    reinterpret_cast<Node *>(call));
}

Node *with_calls_as(Node *tree, Oid sequence, Node *in_place) {
    return replaced(tree, sequence, is_unconverted, in_place);
}

bool is_call(Node *tree, Oid sequence) {
    Use use;
    List *arguments = NIL;
    return read_call(strip_implicit_coercions(tree), use, &arguments) &&
           (is_unconverted(use.callee) || use.callee == Callee::nextval) &&
           names_sequence(use, sequence);
}

Default find_default(Oid attrdef, bool may_be_missing) {
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
    if (column.tree == nullptr && OidIsValid(column.relation) && !may_be_missing)
        ereport(ERROR, errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                errmsg("default of a column of table \"%s\" is nested too deeply",
                       get_rel_name(column.relation)));
    if (column.tree == nullptr && !may_be_missing)
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
                errmsg("column default with OID %u does not exist", attrdef));
    return column;
}

char *deparsed(Node *tree, Oid relation) {
    return deparse_expression(tree, deparse_context_for(get_rel_name(relation), relation), false,
                              false);
}

namespace {

// The columns that are printed under other names, and as bigints.
struct Renamed {
    const AttrNumber *attributes;
    int count;
};

void widen(Oid *type) {
    if (*type == INT2OID || *type == INT4OID)
        *type = INT8OID;
}

// Also what is computed from bigints is one. A cast, which is printed with its type, stays.
Node *with_bigints(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    const auto &renamed = *static_cast<const Renamed *>(context);
    const AttrNumber *end = renamed.attributes + renamed.count;
    Node *copy = server::mutate_expression(node, with_bigints, context);
    if (auto *var = reinterpret_cast<Var *>(copy);
        IsA(copy, Var) && std::find(renamed.attributes, end, var->varattno) != end)
        widen(&var->vartype);
    else if (auto *call = reinterpret_cast<FuncExpr *>(copy);
             IsA(copy, FuncExpr) && call->funcformat == COERCE_EXPLICIT_CALL)
        widen(&call->funcresulttype);
    else if (IsA(copy, OpExpr))
        widen(&reinterpret_cast<OpExpr *>(copy)->opresulttype);
    else if (IsA(copy, CoalesceExpr))
        widen(&reinterpret_cast<CoalesceExpr *>(copy)->coalescetype);
    else if (IsA(copy, CaseExpr))
        widen(&reinterpret_cast<CaseExpr *>(copy)->casetype);
    else if (IsA(copy, MinMaxExpr))
        widen(&reinterpret_cast<MinMaxExpr *>(copy)->minmaxtype);
    return copy;
}

} // namespace

// The server prints columns of a relation under the names that they have, but those of a list of
// values under the names that it is given.
//
// The server prints the schema of a function or operator where the name alone would find another
// one for arguments of these types. The text will be read for bigints, under any search_path: the
// arguments have to be bigints when it is printed, lest an overload of a stranger's be found then.
char *deparsed_with_names(Node *tree, Oid relation, const AttrNumber *attributes,
                          const char *const *names, int count) {
    AttrNumber last = column_count(relation);
    if (last == 0 || names_other_than_columns(tree, &last))
        return nullptr;
    List *columns = NIL;
    for (AttrNumber attribute = 1; attribute <= last; ++attribute) {
        const AttrNumber *found = std::find(attributes, attributes + count, attribute);
        const char *name = found != attributes + count ? names[found - attributes]
                                                       : get_attname(relation, attribute, true);
        columns = lappend(columns, makeString(pstrdup(name != nullptr ? name : "")));
    }
    auto *entry = server::make_node<RangeTblEntry>(T_RangeTblEntry);
    entry->rtekind = RTE_VALUES;
    entry->eref = makeAlias(get_rel_name(relation), columns);
    auto *statement = server::make_node<PlannedStmt>(T_PlannedStmt);
    statement->rtable = server::list_of(entry);
    List *context =
        deparse_context_for_plan_tree(statement, server::list_of(get_rel_name(relation)));
    Renamed renamed = {.attributes = attributes, .count = count};
    return deparse_expression(with_bigints(tree, &renamed), context, false, false);
}

Node *parsed(const char *text) {
    const List *statements = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
    const auto *select =
        list_length(statements) == 1
            ? reinterpret_cast<SelectStmt *>(linitial_node(RawStmt, statements)->stmt)
            : nullptr;
    if (select == nullptr || !IsA(select, SelectStmt) || list_length(select->targetList) != 1)
        elog(ERROR, "an expression was not printed as one");
    return linitial_node(ResTarget, select->targetList)->val;
}

char *form_of(Node *tree, Oid sequence) {
    // To read the text form back forgets the places.
    Node *placeless = static_cast<Node *>(stringToNode(nodeToString(tree)));
    return nodeToString(leave_out_sequence(placeless, &sequence));
}

char *form_after_replacement(const Default &column, Oid sequence, Direction direction, Oid type,
                             std::int32_t type_modifier) {
    Node *again =
        cookDefault(make_parsestate(nullptr), parsed(deparsed(column.tree, column.relation)), type,
                    type_modifier, get_attname(column.relation, column.attribute, false), 0);
    Node *meant = with_calls_replaced(again, sequence, direction);
    return form_of(meant != nullptr ? meant : again, sequence);
}

} // namespace snowflake::expression
