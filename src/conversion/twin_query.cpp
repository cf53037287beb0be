#include "twin_query.hpp"

namespace snowflake::twin_query {

namespace {

// What a walk over a query replaces.
struct Twins {
    std::span<const Column> columns;
    std::span<const View> views;
    List *levels; // range tables: that of the query that the walk is in, then those around it
    bool names_whole_row;
};

bool has_twins(const Twins &twins, Oid relation) {
    return std::any_of(twins.columns.begin(), twins.columns.end(),
                       [&](const Column &column) { return column.table == relation; }) ||
           std::any_of(twins.views.begin(), twins.views.end(),
                       [&](const View &view) { return view.original == relation; });
}

bool is_column(Oid table, AttrNumber attribute) {
    HeapTuple tuple = attribute > 0 ? SearchSysCacheAttNum(table, attribute) : nullptr;
    if (!HeapTupleIsValid(tuple))
        return false;
    ReleaseSysCache(tuple);
    return true;
}

bool is_view(Oid relation) {
    const char kind = get_rel_relkind(relation);
    return kind == RELKIND_VIEW || kind == RELKIND_MATVIEW;
}

AttrNumber shadow_of(const Twins &twins, Oid table, AttrNumber attribute) {
    for (const Column &column : twins.columns)
        if (column.table == table && column.source == attribute && is_column(table, column.shadow))
            return column.shadow;
    return attribute;
}

// The entry of a range table; nullptr: there is none.
const RangeTblEntry *entry_at(const List *range_table, int index) {
    if (index < 1 || index > list_length(range_table))
        return nullptr;
    return static_cast<const RangeTblEntry *>(list_nth(range_table, index - 1));
}

// Replaces what a reference to a column says: which entry of the range table, and which column.
void replace_column(Twins &twins, const List *range_table, int entry, AttrNumber *attribute) {
    const RangeTblEntry *from = entry_at(range_table, entry);
    if (from == nullptr)
        return;
    if (*attribute == InvalidAttrNumber)
        twins.names_whole_row |= from->rtekind == RTE_JOIN ||
                                 (from->rtekind == RTE_RELATION && has_twins(twins, from->relid));
    else if (from->rtekind == RTE_RELATION)
        *attribute = shadow_of(twins, from->relid, *attribute);
}

// The server prints a column by what the query said where it said something else than what it
// means.
void replace_var(Twins &twins, Var *var) {
    if (static_cast<int>(var->varlevelsup) >= list_length(twins.levels))
        return;
    const auto *range_table =
        static_cast<const List *>(list_nth(twins.levels, static_cast<int>(var->varlevelsup)));
    replace_column(twins, range_table, var->varno, &var->varattno);
    if (var->varnosyn > 0)
        replace_column(twins, range_table, static_cast<int>(var->varnosyn), &var->varattnosyn);
}

// Replaces the numbers of columns that a join has of one side. A join has the shadow of a column as
// well if that was there when the query was made: then the two change places.
void replace_joined(const Twins &twins, const List *range_table, const Node *side, List *numbers) {
    const int index =
        IsA(side, RangeTblRef) ? reinterpret_cast<const RangeTblRef *>(side)->rtindex : 0;
    const RangeTblEntry *from = entry_at(range_table, index);
    if (from == nullptr || from->rtekind != RTE_RELATION)
        return;
    for (int i = 0; i < list_length(numbers); ++i) {
        int &number = lfirst_int(list_nth_cell(numbers, i));
        for (const Column &column : twins.columns) {
            if (column.table != from->relid || !is_column(column.table, column.shadow))
                continue;
            if (number == column.source)
                number = column.shadow;
            else if (number == column.shadow)
                number = column.source;
            else
                continue;
            break;
        }
    }
}

void replace_in_join(const Twins &twins, const JoinExpr *join) {
    if (twins.levels == NIL)
        return;
    const auto *range_table = static_cast<const List *>(linitial(twins.levels));
    const RangeTblEntry *entry = entry_at(range_table, join->rtindex);
    if (entry == nullptr || entry->rtekind != RTE_JOIN)
        return;
    replace_joined(twins, range_table, join->larg, entry->joinleftcols);
    replace_joined(twins, range_table, join->rarg, entry->joinrightcols);
}

// Replaces columns everywhere in a query.
bool replace_columns(Node *node, void *context) {
    if (node == nullptr)
        return false;
    auto &twins = *static_cast<Twins *>(context);
    if (IsA(node, Query)) {
        auto *query = reinterpret_cast<Query *>(node);
        twins.levels = lcons(query->rtable, twins.levels);
        (void)server::walk_query(query, replace_columns, context);
        twins.levels = list_delete_first(twins.levels);
        return false;
    }
    if (IsA(node, Var))
        replace_var(twins, reinterpret_cast<Var *>(node));
    else if (IsA(node, JoinExpr))
        replace_in_join(twins, reinterpret_cast<const JoinExpr *>(node));
    return server::walk_expression(node, replace_columns, context);
}

// Replaces views everywhere in a query, after its columns: these are found by the relations.
bool replace_views(Node *node, void *context) {
    if (node == nullptr)
        return false;
    const auto &twins = *static_cast<const Twins *>(context);
    if (!IsA(node, Query))
        return server::walk_expression(node, replace_views, context);
    auto *query = reinterpret_cast<Query *>(node);
    for (int i = 0; i < list_length(query->rtable); ++i) {
        auto *entry = static_cast<RangeTblEntry *>(list_nth(query->rtable, i));
        for (const View &view : twins.views)
            if (entry->rtekind == RTE_RELATION && entry->relid == view.original &&
                is_view(view.twin)) {
                entry->relid = view.twin;
                break;
            }
    }
    return server::walk_query(query, replace_views, context);
}

void name_targets(const List *targets, const List *names) {
    int next = 0;
    for (int i = 0; i < list_length(targets) && next < list_length(names); ++i) {
        auto *target = static_cast<TargetEntry *>(list_nth(targets, i));
        if (!target->resjunk)
            target->resname = strVal(list_nth(names, next++));
    }
}

// Names what a query returns, and each of those that it combines.
void name_results(Query *query, const List *names) {
    List *queries = server::list_of(query);
    for (int i = 0; i < list_length(queries); ++i) {
        const auto *next = static_cast<const Query *>(list_nth(queries, i));
        name_targets(next->targetList, names);
        for (int j = 0; next->setOperations != nullptr && j < list_length(next->rtable); ++j) {
            const auto *entry = static_cast<const RangeTblEntry *>(list_nth(next->rtable, j));
            if (entry->rtekind == RTE_SUBQUERY)
                queries = lappend(queries, entry->subquery);
        }
    }
}

List *column_names(Oid view) {
    List *names = NIL;
    for (AttrNumber attribute = 1;; ++attribute) {
        char *name = get_attname(view, attribute, true);
        if (name == nullptr)
            return names;
        names = lappend(names, makeString(name));
    }
}

} // namespace

char *deparsed_on(Query *query, Oid view, std::span<const Column> columns,
                  std::span<const View> views) {
    Twins twins{.columns = columns, .views = views, .levels = NIL, .names_whole_row = false};
    AcquireRewriteLocks(query, false, false);
    (void)replace_columns(reinterpret_cast<Node *>(query), &twins);
    if (twins.names_whole_row)
        return nullptr;
    (void)replace_views(reinterpret_cast<Node *>(query), &twins);
    name_results(query, column_names(view));
    return pg_get_querydef(query, false);
}

} // namespace snowflake::twin_query
