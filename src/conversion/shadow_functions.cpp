// SQL functions on shadow columns. Arguments in and results out, nothing else.

#include "expression.hpp"
#include "server/acting_role.hpp"
#include "shadow.hpp"
#include "twin_query.hpp"

using namespace snowflake;

namespace {

// Tells whether no code of a table's owner is running, which must not change what the caller's
// session allows or shows.
bool is_callers_own() {
    return !InSecurityRestrictedOperation() && !InLocalUserIdChange();
}

// Other names of columns.
struct Names {
    AttrNumber *attributes;
    const char **names;
    int count;
};

// Raises 22023 if an item is null, or if there are not as many as count, which is -1 for any.
Datum *items_of(Datum argument, Oid type, int *count) {
    ArrayType *array = DatumGetArrayTypeP(argument);
    std::int16_t length = 0;
    bool by_value = false;
    char alignment = '\0';
    get_typlenbyvalalign(type, &length, &by_value, &alignment);
    Datum *items = nullptr;
    int found = 0;
    if (!array_contains_nulls(array))
        deconstruct_array(array, type, length, by_value, alignment, &items, nullptr, &found);
    if (array_contains_nulls(array) || (*count >= 0 && found != *count))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("columns and what belongs to them must be as many, and not null"));
    *count = found;
    return items;
}

Names names_argument(Datum attributes_argument, Datum names_argument) {
    int count = -1;
    const Datum *attributes = items_of(attributes_argument, INT2OID, &count);
    const Datum *texts = items_of(names_argument, TEXTOID, &count);
    const Names names = {.attributes = server::allocate_array<AttrNumber>(count),
                         .names = server::allocate_array<const char *>(count),
                         .count = count};
    for (int i = 0; i < count; ++i) {
        names.attributes[i] = DatumGetInt16(attributes[i]);
        names.names[i] = TextDatumGetCString(texts[i]);
    }
    return names;
}

// The expressions that an object stores, those of an index one by one before its condition.
const List *expressions_of(Oid class_id, Oid object) {
    const List *trees = expression::stored_in(class_id, object);
    List *expressions = NIL;
    for (int i = 0; i < list_length(trees); ++i) {
        auto *tree = static_cast<Node *>(list_nth(trees, i));
        expressions = tree != nullptr && IsA(tree, List)
                          ? list_concat(expressions, reinterpret_cast<const List *>(tree))
                          : lappend(expressions, tree);
    }
    return expressions;
}

// The query of a view; nullptr: there is none, or it is nested too deeply to be read.
Query *query_of(Oid view) {
    const Oid rule = GetSysCacheOid2(RULERELNAME, Anum_pg_rewrite_oid, ObjectIdGetDatum(view),
                                     CStringGetDatum("_RETURN"));
    const List *trees = expression::stored_in(RewriteRelationId, rule);
    for (int i = 0; i < list_length(trees); ++i) {
        auto *tree = static_cast<Node *>(list_nth(trees, i));
        if (tree == nullptr)
            return nullptr;
        if (IsA(tree, List))
            tree = static_cast<Node *>(linitial(reinterpret_cast<List *>(tree)));
        if (IsA(tree, Query))
            return reinterpret_cast<Query *>(tree);
    }
    return nullptr;
}

BlockNumber page_argument(Datum argument) {
    return static_cast<BlockNumber>(
        std::clamp<std::int64_t>(DatumGetInt64(argument), 0, std::int64_t{MaxBlockNumber}));
}

} // namespace

extern "C" {

// _keep_shadow() returns trigger
SNOWFLAKE_FUNCTION(snowflake_keep_shadow);
Datum snowflake_keep_shadow(PG_FUNCTION_ARGS) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                errmsg("function \"snowflake._keep_shadow\" was not called as a trigger"));
    PG_RETURN_POINTER(
        shadow::row_with_shadow(*reinterpret_cast<TriggerData *>(fcinfo->context), fcinfo->flinfo));
}

// _compared_by(oid) returns record (attnum smallint, shadow smallint, refuses_null boolean)
SNOWFLAKE_FUNCTION(snowflake_compared_by);
Datum snowflake_compared_by(PG_FUNCTION_ARGS) {
    const shadow::Comparison compared =
        shadow::compared_by(expression::first_stored_in(ConstraintRelationId, PG_GETARG_OID(0)));
    if (compared.pair.shadow == InvalidAttrNumber)
        PG_RETURN_NULL();
    Datum values[] = {Int16GetDatum(compared.pair.source), Int16GetDatum(compared.pair.shadow),
                      BoolGetDatum(compared.refuses_null)};
    bool nulls[] = {false, false, false};
    PG_RETURN_DATUM(server::row_datum(fcinfo, values, nulls));
}

// _fill_pages(regclass, bigint, bigint, boolean, text) returns record (filled bigint, in_use
// bigint)
SNOWFLAKE_FUNCTION(snowflake_fill_pages);
Datum snowflake_fill_pages(PG_FUNCTION_ARGS) {
    const shadow::Filled filled = shadow::fill(
        PG_GETARG_OID(0),
        {.first = page_argument(PG_GETARG_DATUM(1)), .end = page_argument(PG_GETARG_DATUM(2))},
        PG_GETARG_BOOL(3), text_to_cstring(PG_GETARG_TEXT_PP(4)));
    Datum values[] = {Int64GetDatum(filled.rows), Int64GetDatum(filled.in_use)};
    bool nulls[] = {false, false};
    PG_RETURN_DATUM(server::row_datum(fcinfo, values, nulls));
}

// _snapshots_since(xid) returns text[]
SNOWFLAKE_FUNCTION(snowflake_snapshots_since);
Datum snowflake_snapshots_since(PG_FUNCTION_ARGS) {
    int count = 0;
    const server::HolderId *holders = GetCurrentVirtualXIDs(
        PG_GETARG_TRANSACTIONID(0), true, false, PROC_IS_AUTOVACUUM | PROC_IN_VACUUM, &count);
    auto *names = server::allocate_array<Datum>(count);
    for (int i = 0; i < count; ++i)
        names[i] = CStringGetTextDatum(server::name_of(holders[i]));
    PG_RETURN_POINTER(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

// _require_updates(regclass) returns void
SNOWFLAKE_FUNCTION(snowflake_require_updates);
Datum snowflake_require_updates(PG_FUNCTION_ARGS) {
    shadow::require_updates(PG_GETARG_OID(0));
    PG_RETURN_VOID();
}

// _restart_statement_timeout() returns void
SNOWFLAKE_FUNCTION(snowflake_restart_statement_timeout);
Datum snowflake_restart_statement_timeout(FunctionCallInfo) {
    if (StatementTimeout > 0 && get_timeout_active(STATEMENT_TIMEOUT) && is_callers_own())
        enable_timeout_after(STATEMENT_TIMEOUT, StatementTimeout);
    PG_RETURN_VOID();
}

// _null_fraction(oid, smallint) returns real
SNOWFLAKE_FUNCTION(snowflake_null_fraction);
Datum snowflake_null_fraction(PG_FUNCTION_ARGS) {
    const Oid relation = PG_GETARG_OID(0);
    const Oid owner = server::owner_of(relation);
    if (!OidIsValid(owner) || !acting_role::may_become(owner))
        PG_RETURN_NULL();
    const bool with_children = get_rel_relkind(relation) == RELKIND_PARTITIONED_TABLE;
    HeapTuple tuple =
        SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relation),
                        Int16GetDatum(PG_GETARG_INT16(1)), BoolGetDatum(with_children));
    if (!HeapTupleIsValid(tuple))
        PG_RETURN_NULL();
    const float4 fraction = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(tuple))->stanullfrac;
    ReleaseSysCache(tuple);
    PG_RETURN_FLOAT4(fraction);
}

// _show_activity(text) returns void
SNOWFLAKE_FUNCTION(snowflake_show_activity);
Datum snowflake_show_activity(PG_FUNCTION_ARGS) {
    if (is_callers_own())
        pgstat_report_activity(STATE_RUNNING, text_to_cstring(PG_GETARG_TEXT_PP(0)));
    PG_RETURN_VOID();
}

// _expressions_with_names(regclass, oid, regclass, smallint[], text[]) returns text[]
SNOWFLAKE_FUNCTION(snowflake_expressions_with_names);
Datum snowflake_expressions_with_names(PG_FUNCTION_ARGS) {
    const Oid relation = PG_GETARG_OID(2);
    const List *expressions = expressions_of(PG_GETARG_OID(0), PG_GETARG_OID(1));
    const Names names = names_argument(PG_GETARG_DATUM(3), PG_GETARG_DATUM(4));
    const int count = list_length(expressions);
    auto *texts = server::allocate_array<Datum>(count);
    for (int i = 0; i < count; ++i) {
        auto *tree = static_cast<Node *>(list_nth(expressions, i));
        const char *printed =
            tree == nullptr ? nullptr
                            : expression::deparsed_with_names(tree, relation, names.attributes,
                                                              names.names, names.count);
        if (printed == nullptr)
            PG_RETURN_NULL();
        texts[i] = CStringGetTextDatum(printed);
    }
    PG_RETURN_POINTER(construct_array(texts, count, TEXTOID, -1, false, TYPALIGN_INT));
}

// _query_on_twins(regclass, oid[], smallint[], smallint[], oid[], oid[]) returns record (query
// text, fault text)
SNOWFLAKE_FUNCTION(snowflake_query_on_twins);
Datum snowflake_query_on_twins(PG_FUNCTION_ARGS) {
    const Oid view = PG_GETARG_OID(0);
    const Oid owner = server::owner_of(view);
    if (!OidIsValid(owner) || !acting_role::may_become(owner))
        PG_RETURN_NULL();
    int count = -1;
    const Datum *tables = items_of(PG_GETARG_DATUM(1), OIDOID, &count);
    const Datum *sources = items_of(PG_GETARG_DATUM(2), INT2OID, &count);
    const Datum *shadows = items_of(PG_GETARG_DATUM(3), INT2OID, &count);
    auto *columns = server::allocate_array<twin_query::Column>(count);
    for (int i = 0; i < count; ++i)
        columns[i] = {.table = DatumGetObjectId(tables[i]),
                      .source = DatumGetInt16(sources[i]),
                      .shadow = DatumGetInt16(shadows[i])};
    int view_count = -1;
    const Datum *originals = items_of(PG_GETARG_DATUM(4), OIDOID, &view_count);
    const Datum *twins = items_of(PG_GETARG_DATUM(5), OIDOID, &view_count);
    auto *views = server::allocate_array<twin_query::View>(view_count);
    for (int i = 0; i < view_count; ++i)
        views[i] = {.original = DatumGetObjectId(originals[i]), .twin = DatumGetObjectId(twins[i])};
    // The view stays as it is from here on: to print its query locks what it reads.
    Relation held = try_relation_open(view, AccessShareLock);
    if (held == nullptr)
        PG_RETURN_NULL();
    relation_close(held, NoLock);
    Query *query = query_of(view);
    if (query == nullptr)
        PG_RETURN_NULL();
    const auto printed =
        twin_query::printed_on(query, view, {columns, static_cast<std::size_t>(count)},
                               {views, static_cast<std::size_t>(view_count)});
    const bool is_printed = printed.query != nullptr;
    Datum values[] = {is_printed ? CStringGetTextDatum(printed.query) : Datum{},
                      is_printed ? Datum{} : CStringGetTextDatum(printed.fault)};
    bool nulls[] = {!is_printed, is_printed};
    PG_RETURN_DATUM(server::row_datum(fcinfo, values, nulls));
}

} // extern "C"
