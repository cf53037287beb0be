#include "schema.hpp"

#include "server.hpp"

namespace snowflake::schema {

bool is_new() {
    Relation catalog = table_open(NamespaceRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_namespace_oid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(get_namespace_oid("snowflake", false)));
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

} // namespace snowflake::schema
