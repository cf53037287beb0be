#include "schema.hpp"

namespace snowflake::schema {

namespace {

constexpr const char *name = "snowflake";

// Whether this transaction has altered the schema.
bool is_changed() {
    HeapTuple tuple =
        SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(get_namespace_oid(name, false)));
    if (!HeapTupleIsValid(tuple))
        return false;
    const bool result = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
    ReleaseSysCache(tuple);
    return result;
}

} // namespace

Oid find() {
    return get_namespace_oid(name, true);
}

Oid find_function(const char *function, Oid argument_type) {
    List *qualified = server::list_of(makeString(pstrdup(name)), makeString(pstrdup(function)));
    return LookupFuncName(qualified, 1, &argument_type, false);
}

Oid find_sibling(Oid sibling, const char *function, std::span<const Oid> argument_types) {
    const oidvector *types =
        buildoidvector(argument_types.data(), static_cast<int>(argument_types.size()));
    return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(function),
                           PointerGetDatum(types), ObjectIdGetDatum(get_func_namespace(sibling)));
}

bool is_new() {
    Relation catalog = table_open(NamespaceRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_namespace_oid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(get_namespace_oid(name, false)));
    // All versions of the row, those included that this transaction has replaced.
    SysScanDesc scan = systable_beginscan(catalog, NamespaceOidIndexId, true, SnapshotAny, 1, &key);
    bool was_there = false;
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple);
         tuple = systable_getnext(scan)) {
        const TransactionId made_by = HeapTupleHeaderGetXmin(tuple->t_data);
        was_there = was_there || !TransactionIdIsCurrentTransactionId(made_by);
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    return !was_there;
}

void wait_for_transactions() {
    if (IsolationUsesXactSnapshot())
        ereport(
            ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("schema \"%s\" exists, and cannot be looked into in a transaction of isolation "
                   "level %s",
                   name, XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ"),
            errhint("Run the command in a transaction of isolation level READ COMMITTED."));
    if (is_changed())
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("schema \"%s\" was changed in this transaction", name),
                errdetail("Other sessions do not see the change yet, and may create objects in the "
                          "schema until it is committed."),
                errhint("COMMIT; and run the command again."));
    // An ANALYZE evaluates expressions of users. A VACUUM, which can take hours, makes no objects.
    int count = 0;
    const VirtualTransactionId *open =
        GetCurrentVirtualXIDs(InvalidTransactionId, false, false, PROC_IN_VACUUM, &count);
    for (int i = 0; i < count; ++i)
        VirtualXactLock(open[i], true);
}

} // namespace snowflake::schema
