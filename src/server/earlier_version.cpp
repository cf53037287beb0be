#include "earlier_version.hpp"

#include "schema.hpp"

namespace snowflake::earlier_version {

namespace {

// The transaction in which the version was looked up last. An update is another transaction, after
// which the functions are strict.
LocalTransactionId looked_up_in = InvalidLocalTransactionId;

// Returns whether the extension is installed in a version.
bool is_of_version(const char *version) {
    Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
                CStringGetDatum("snowflake"));
    SysScanDesc scan = systable_beginscan(catalog, ExtensionNameIndexId, true, nullptr, 1, &key);
    bool result = false;
    if (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple)) {
        bool is_null = true;
        const Datum installed =
            heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(catalog), &is_null);
        result = !is_null && strcmp(TextDatumGetCString(installed), version) == 0;
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    return result;
}

} // namespace

bool is_installed() {
    return OidIsValid(get_extension_oid("snowflake", true)) &&
           !OidIsValid(get_relname_relid("nodes", schema::find()));
}

void require_same_bits() {
    if (looked_up_in == server::current_transaction())
        return;
    if (is_of_version("1.0"))
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("version 1.0 of the extension \"snowflake\" made IDs with another order of "
                       "bits"),
                errdetail("The library that is installed would read and make other IDs."),
                errhint("To be told what to do, run: %s", hint_to_update));
    looked_up_in = server::current_transaction();
}

} // namespace snowflake::earlier_version
