#include "twin_query.hpp"

#include "server/acting_role.hpp"

namespace snowflake::twin_query {

namespace {

// The columns and views that a walk over a query replaces.
struct Twins {
    std::span<const Column> columns;
    std::span<const View> views;
    List *levels;      // range tables: that of the query that the walk is in, then those around it
    const char *fault; // why the query cannot be printed; nullptr: it can
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

// Whether a view can stand for another in a query. The server prints the columns of joins by their
// numbers, without looking whether there are as many.
bool can_stand_for(Oid twin, Oid original) {
    if (!acting_role::may_become(server::owner_of(twin)))
        return false;
    LockRelationOid(twin, AccessShareLock);
    const char kind = get_rel_relkind(twin);
    return (kind == RELKIND_VIEW || kind == RELKIND_MATVIEW) &&
           server::count_columns(twin) >= server::count_columns(original);
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

void note(Twins &twins, bool is_there, const char *fault) {
    if (is_there && twins.fault == nullptr)
        twins.fault = fault;
}

// Replaces what a reference to a column says: which entry of the range table, and which column.
void replace_column(Twins &twins, const List *range_table, int entry, AttrNumber *attribute) {
    const RangeTblEntry *from = entry_at(range_table, entry);
    if (from == nullptr)
        return;
    if (*attribute == InvalidAttrNumber)
        note(twins,
             from->rtekind == RTE_JOIN ||
                 (from->rtekind == RTE_RELATION && has_twins(twins, from->relid)),
             "names a whole row");
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

bool is_source(const Twins &twins, Oid table, int attribute) {
    return std::any_of(twins.columns.begin(), twins.columns.end(), [=](const Column &column) {
        return column.table == table && column.source == attribute;
    });
}

// Whether a column of a join, or of what it joins, is made from a column that is replaced.
struct Origin {
    const Twins &twins;
    const List *range_table;
};

bool comes_from_source(Node *node, void *context);

bool comes_from_source(const Origin &origin, int index, int attribute) {
    const RangeTblEntry *entry = entry_at(origin.range_table, index);
    if (entry == nullptr || attribute < 1)
        return false;
    if (entry->rtekind == RTE_RELATION)
        return is_source(origin.twins, entry->relid, attribute);
    if (entry->rtekind != RTE_JOIN || attribute > list_length(entry->joinaliasvars))
        return false;
    List *made_from = lappend(NIL, list_nth(entry->joinaliasvars, attribute - 1));
    return server::walk_expression(reinterpret_cast<Node *>(made_from), comes_from_source,
                                   const_cast<Origin *>(&origin));
}

bool comes_from_source(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Var))
        return server::walk_expression(node, comes_from_source, context);
    const auto *var = reinterpret_cast<const Var *>(node);
    return comes_from_source(*static_cast<const Origin *>(context), var->varno, var->varattno);
}

// Whether USING merges a column that is replaced, on one side of a join.
bool merges_source(const Origin &origin, const Node *side, const List *numbers, int merged) {
    int index = 0;
    if (IsA(side, RangeTblRef))
        index = reinterpret_cast<const RangeTblRef *>(side)->rtindex;
    else if (IsA(side, JoinExpr))
        index = reinterpret_cast<const JoinExpr *>(side)->rtindex;
    for (int i = 0; i < merged; ++i)
        if (comes_from_source(origin, index, list_nth_int(numbers, i)))
            return true;
    return false;
}

bool any_table_has_twins(const Twins &twins, const List *range_table) {
    for (int i = 1; i <= list_length(range_table); ++i)
        if (const RangeTblEntry *entry = entry_at(range_table, i);
            entry->rtekind == RTE_RELATION && has_twins(twins, entry->relid))
            return true;
    return false;
}

// Notes a join that the server would not print as it is meant. A column that USING merges has one
// name on both sides, which shadows have not: the server would list the columns of the tables under
// other names, and counts without the shadows. The columns of a join with an alias are printed as
// those of the alias, which are the sources.
void note_join(Twins &twins, const JoinExpr *join) {
    if (twins.levels == NIL)
        return;
    const auto *range_table = static_cast<const List *>(linitial(twins.levels));
    const RangeTblEntry *entry = entry_at(range_table, join->rtindex);
    if (entry == nullptr || entry->rtekind != RTE_JOIN)
        return;
    const Origin origin{.twins = twins, .range_table = range_table};
    note(twins,
         merges_source(origin, join->larg, entry->joinleftcols, entry->joinmergedcols) ||
             merges_source(origin, join->rarg, entry->joinrightcols, entry->joinmergedcols),
         "joins by USING where ON would do");
    note(twins,
         (join->alias != nullptr || join->join_using_alias != nullptr) &&
             any_table_has_twins(twins, range_table),
         "gives a join an alias");
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
        note_join(twins, reinterpret_cast<const JoinExpr *>(node));
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
                can_stand_for(view.twin, view.original)) {
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

Printed printed_on(Query *query, Oid view, std::span<const Column> columns,
                   std::span<const View> views) {
    Twins twins{.columns = columns, .views = views, .levels = NIL, .fault = nullptr};
    AcquireRewriteLocks(query, false, false);
    (void)replace_columns(reinterpret_cast<Node *>(query), &twins);
    if (twins.fault != nullptr)
        return {.query = nullptr, .fault = twins.fault};
    (void)replace_views(reinterpret_cast<Node *>(query), &twins);
    name_results(query, column_names(view));
    return {.query = pg_get_querydef(query, false), .fault = nullptr};
}

} // namespace snowflake::twin_query
