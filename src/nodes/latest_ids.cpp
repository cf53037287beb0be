#include "latest_ids.hpp"

namespace snowflake {

namespace {

constexpr int most_ids = 256; // of a table

// Tables whose IDs are looked at: those with many pages first.
constexpr const char *tables =
    "SELECT a.attrelid, a.attnum FROM snowflake.sequences s "
    "JOIN pg_catalog.pg_attribute a "
    "ON a.attrelid = s.table_name::pg_catalog.oid AND a.attname = s.column_name "
    "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
    "WHERE c.relkind = 'r' AND a.atttypid = 'pg_catalog.int8'::pg_catalog.regtype "
    "AND s.layout OPERATOR(snowflake.=) 'default' "
    "ORDER BY c.relpages DESC, c.oid DESC LIMIT 256";

// Finds an index whose entries are in the order of the column; InvalidOid: there is none.
Oid find_index(Relation table, AttrNumber attribute) {
    Oid found = InvalidOid;
    List *indexes = RelationGetIndexList(table);
    const ListCell *cell = nullptr;
    foreach (cell, indexes) {
        const Oid oid = lfirst_oid(cell);
        if (!ConditionalLockRelationOid(oid, AccessShareLock))
            continue;
        Relation index = index_open(oid, NoLock);
        const bool fits = index->rd_index->indisvalid && index->rd_rel->relam == BTREE_AM_OID &&
                          index->rd_index->indkey.values[0] == attribute &&
                          heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr) &&
                          heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, nullptr) &&
                          index->rd_opcintype[0] == INT8OID && index->rd_indoption[0] == 0;
        index_close(index, fits ? NoLock : AccessShareLock);
        if (fits) {
            found = oid;
            break;
        }
    }
    list_free(indexes);
    return found;
}

} // namespace

// A value from before the second day of the layout is the small number of an ordinary sequence.
void LatestIds::note(std::int64_t id) {
    if (id < default_layout.first_id_of_tick(USECS_PER_DAY / default_layout.tick_us()))
        return;
    const Fields fields = default_layout.split(id);
    if (fields.node < 1 || fields.node > last_claimable_node)
        return;
    std::int64_t &latest = latest_us_[fields.node];
    latest = std::max(latest, default_layout.unix_us(fields.tick));
}

void LatestIds::look_at(Oid table_oid, AttrNumber attribute) {
    if (!ConditionalLockRelationOid(table_oid, AccessShareLock))
        return;
    Relation table = try_relation_open(table_oid, NoLock);
    if (table == nullptr)
        return;
    const Oid index_oid = RELATION_IS_OTHER_TEMP(table) ? InvalidOid : find_index(table, attribute);
    if (OidIsValid(index_oid)) {
        Relation index = index_open(index_oid, NoLock);
        // Rows that are not committed yet, or not there any more, had their IDs from somebody too.
        IndexScanDesc scan = server::begin_index_scan(table, index, SnapshotAny);
        index_rescan(scan, nullptr, 0, nullptr, 0);
        TupleTableSlot *slot = table_slot_create(table, nullptr);
        for (int left = most_ids; left > 0 && index_getnext_slot(scan, BackwardScanDirection, slot);
             --left) {
            bool is_null = false;
            const Datum value = slot_getattr(slot, attribute, &is_null);
            if (!is_null)
                note(DatumGetInt64(value));
        }
        ExecDropSingleTupleTableSlot(slot);
        index_endscan(scan);
        index_close(index, AccessShareLock);
    }
    relation_close(table, AccessShareLock);
}

const LatestIds &LatestIds::look() {
    auto *latest_ids = static_cast<LatestIds *>(palloc0(sizeof(LatestIds)));
    SPI_connect();
    if (SPI_execute(tables, true, 0) != SPI_OK_SELECT)
        elog(ERROR, "cannot look for tables with snowflake IDs");
    for (std::uint64_t i = 0; i < SPI_processed; ++i) {
        bool is_null = false;
        const auto column = [&](int number) {
            return SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, number, &is_null);
        };
        latest_ids->look_at(DatumGetObjectId(column(1)), DatumGetInt16(column(2)));
    }
    SPI_finish();
    return *latest_ids;
}

} // namespace snowflake
