#include "expression.hpp"

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

// Whether the catalog stores that there is no tree, as for a rule without a condition.
bool is_none(Datum tree) {
    return std::strcmp(TextDatumGetCString(tree), "<>") == 0;
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

bool names_sequence(const Use &use, Oid sequence) {
    return use.sequence == sequence || (use.callee == Callee::server_nextval &&
                                        use.name != nullptr && is_name_of(use.name, sequence));
}

// The calls to replace, and their replacement.
struct Replacement {
    Oid sequence;
    Callee callee;  // whose calls are replaced
    Node *in_place; // what stands for them afterwards
    bool found;
};

Node *replace(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    auto &replacement = *static_cast<Replacement *>(context);
    Use use;
    List *arguments = NIL;
    if (read_call(node, use, &arguments) && use.callee == replacement.callee &&
        names_sequence(use, replacement.sequence)) {
        replacement.found = true;
        return static_cast<Node *>(copyObjectImpl(replacement.in_place));
    }
    return server::mutate_expression(node, replace, context);
}

Node *replaced(Node *tree, Oid sequence, Callee callee, Node *in_place) {
    Replacement replacement{
        .sequence = sequence, .callee = callee, .in_place = in_place, .found = false};
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

Node *first_stored_in(Oid class_id, Oid object) {
    const List *trees = stored_in(class_id, object);
    return trees == NIL ? nullptr : static_cast<Node *>(linitial(trees));
}

namespace {

bool collect_types(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return server::walk_query(reinterpret_cast<Query *>(node), collect_types, context);
    auto **types = static_cast<List **>(context);
    if (IsA(node, Const))
        *types = list_append_unique_oid(*types, reinterpret_cast<const Const *>(node)->consttype);
    else if (IsA(node, CoerceToDomain))
        *types = list_append_unique_oid(*types,
                                        reinterpret_cast<const CoerceToDomain *>(node)->resulttype);
    else if (const Oid type = server::type_from_json(node); OidIsValid(type))
        *types = list_append_unique_oid(*types, type);
    return server::walk_expression(node, collect_types, context);
}

bool lists_columns(const RangeTblEntry &entry) {
    return entry.alias != nullptr && entry.alias->colnames != NIL;
}

// Returns the relation whose rows a function in FROM returns, 0 if it returns others.
Oid relation_returned(const RangeTblFunction &function) {
    return get_typ_typrelid(getBaseType(exprType(function.funcexpr)));
}

bool collect_named_by_position(Node *node, void *context) {
    if (node == nullptr)
        return false;
    auto **relations = static_cast<List **>(context);
    if (IsA(node, RowExpr)) // the row type of a relation, or that of any record
        *relations = list_append_unique_oid(
            *relations,
            get_typ_typrelid(getBaseType(reinterpret_cast<const RowExpr *>(node)->row_typeid)));
    if (!IsA(node, Query))
        return server::walk_expression(node, collect_named_by_position, context);
    auto *query = reinterpret_cast<Query *>(node);
    bool any_join_lists = false;
    for (int i = 1; i <= list_length(query->rtable); ++i) {
        const RangeTblEntry &entry = *rt_fetch(i, query->rtable);
        any_join_lists = any_join_lists || (entry.rtekind == RTE_JOIN && lists_columns(entry));
    }
    for (int i = 1; i <= list_length(query->rtable); ++i) {
        const RangeTblEntry &entry = *rt_fetch(i, query->rtable);
        if (entry.rtekind == RTE_RELATION && (any_join_lists || lists_columns(entry)))
            *relations = list_append_unique_oid(*relations, entry.relid);
        for (int j = 0; j < list_length(entry.functions); ++j)
            *relations = list_append_unique_oid(
                *relations, relation_returned(*static_cast<const RangeTblFunction *>(
                                list_nth(entry.functions, j))));
    }
    return server::walk_query(query, collect_named_by_position, context);
}

bool collect_named_with_only(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return server::walk_expression(node, collect_named_with_only, context);
    auto *query = reinterpret_cast<Query *>(node);
    auto **relations = static_cast<List **>(context);
    for (int i = 1; i <= list_length(query->rtable); ++i) {
        const RangeTblEntry &entry = *rt_fetch(i, query->rtable);
        // The old and the new row of a rule, and what an INSERT inserts into, have no children
        // either.
        const bool is_named =
            entry.inFromCl || (i == query->resultRelation && query->commandType != CMD_INSERT);
        if (entry.rtekind == RTE_RELATION && !entry.inh && is_named)
            *relations = list_append_unique_oid(*relations, entry.relid);
    }
    return server::walk_query(query, collect_named_with_only, context);
}

bool collect_read(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return server::walk_expression(node, collect_read, context);
    auto *query = reinterpret_cast<Query *>(node);
    auto **relations = static_cast<List **>(context);
    for (int i = 1; i <= list_length(query->rtable); ++i) {
        const RangeTblEntry &entry = *rt_fetch(i, query->rtable);
        if (entry.rtekind == RTE_RELATION)
            *relations = list_append_unique_oid(*relations, entry.relid);
    }
    return server::walk_query(query, collect_read, context);
}

} // namespace

List *relations_read(Node *tree) {
    List *relations = NIL;
    (void)collect_read(tree, &relations);
    return relations;
}

List *relations_inserted_into(Node *tree) {
    List *relations = NIL;
    auto *actions = IsA(tree, List) ? reinterpret_cast<List *>(tree) : NIL;
    for (int i = 0; i < list_length(actions); ++i) {
        auto *action = static_cast<Node *>(list_nth(actions, i));
        if (!IsA(action, Query))
            continue;
        const auto *query = reinterpret_cast<const Query *>(action);
        int index = query->commandType == CMD_INSERT ? query->resultRelation : 0;
        if (query->commandType == CMD_SELECT && list_length(query->jointree->fromlist) == 1) {
            const auto *only = static_cast<const Node *>(linitial(query->jointree->fromlist));
            if (IsA(only, RangeTblRef))
                index = reinterpret_cast<const RangeTblRef *>(only)->rtindex;
        }
        if (index != 0)
            relations = list_append_unique_oid(relations, rt_fetch(index, query->rtable)->relid);
    }
    return relations;
}

List *relations_named_by_position(Node *tree) {
    List *relations = NIL;
    (void)collect_named_by_position(tree, &relations);
    return relations;
}

bool returns_columns(Node *body, Oid type) {
    while (body != nullptr && IsA(body, List) && reinterpret_cast<const List *>(body) != NIL)
        body = static_cast<Node *>(llast(reinterpret_cast<const List *>(body)));
    if (body == nullptr || !IsA(body, Query))
        return false;
    const auto *query = reinterpret_cast<const Query *>(body);
    const List *results =
        query->commandType == CMD_SELECT ? query->targetList : query->returningList;
    int columns = 0;
    bool is_row = false;
    for (int i = 0; i < list_length(results); ++i) {
        const auto *result = static_cast<const TargetEntry *>(list_nth(results, i));
        if (result->resjunk)
            continue;
        ++columns;
        is_row = getBaseType(exprType(reinterpret_cast<const Node *>(result->expr))) == type;
    }
    return columns > 1 || !is_row;
}

List *relations_named_with_only(Node *tree) {
    List *relations = NIL;
    (void)collect_named_with_only(tree, &relations);
    return relations;
}

List *types_of_constants(Node *tree) {
    List *types = NIL;
    collect_types(tree, &types);
    return types;
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
    return replaced(tree, sequence, to_snowflake ? Callee::server_nextval : Callee::nextval,
                    reinterpret_cast<Node *>(call));
}

Node *with_calls_as(Node *tree, Oid sequence, Node *in_place) {
    return replaced(tree, sequence, Callee::server_nextval, in_place);
}

bool is_call(Node *tree, Oid sequence) {
    Use use;
    List *arguments = NIL;
    return read_call(strip_implicit_coercions(tree), use, &arguments) &&
           (use.callee == Callee::server_nextval || use.callee == Callee::nextval) &&
           names_sequence(use, sequence);
}

UpperBound upper_bound(Node *check) {
    const auto *less = reinterpret_cast<const OpExpr *>(check);
    if (check == nullptr || !IsA(check, OpExpr) || less->opno != Int8LessOperator)
        return {};
    auto *left = static_cast<Node *>(linitial(less->args));
    const auto *right = static_cast<const Const *>(lsecond(less->args));
    if (IsA(left, FuncExpr)) {
        const auto *cast = reinterpret_cast<const FuncExpr *>(left);
        if (cast->funcid != F_INT8_INT2 && cast->funcid != F_INT8_INT4)
            return {};
        left = static_cast<Node *>(linitial(cast->args));
    }
    if (IsA(left, RelabelType))
        left = reinterpret_cast<Node *>(reinterpret_cast<const RelabelType *>(left)->arg);
    if (!IsA(left, Var) || !IsA(right, Const) || right->constisnull)
        return {};
    return {.attribute = reinterpret_cast<const Var *>(left)->varattno,
            .bound = DatumGetInt64(right->constvalue)};
}

// The server locks the relation to print the names of its columns, and takes for granted that it is
// there.
char *deparsed(Node *tree, Oid relation) {
    Relation held = try_relation_open(relation, AccessShareLock);
    if (held == nullptr)
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
                errmsg("relation with OID %u does not exist", relation));
    char *text = deparse_expression(
        tree, deparse_context_for(RelationGetRelationName(held), relation), false, false);
    relation_close(held, AccessShareLock);
    return text;
}

// The server prints columns of a relation under the names that they have, but those of a list of
// values under the names that it is given.
char *deparsed_with_names(Node *tree, Oid relation, const AttrNumber *attributes,
                          const char *const *names, int count) {
    AttrNumber last = server::count_columns(relation);
    char *relation_name = get_rel_name(relation);
    if (last == 0 || relation_name == nullptr || names_other_than_columns(tree, &last))
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
    entry->eref = makeAlias(relation_name, columns);
    auto *statement = server::make_node<PlannedStmt>(T_PlannedStmt);
    statement->rtable = server::list_of(entry);
    List *context = deparse_context_for_plan_tree(statement, server::list_of(relation_name));
    return deparse_expression(tree, context, false, false);
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
                    type_modifier, get_attname(column.relation, column.attribute, true), 0);
    Node *meant = with_calls_replaced(again, sequence, direction);
    return form_of(meant != nullptr ? meant : again, sequence);
}

} // namespace snowflake::expression
