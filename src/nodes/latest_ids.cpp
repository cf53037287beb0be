#include "latest_ids.hpp"

#include "pure/lease.hpp"
#include "server/clock.hpp"
#include "server/layout_datum.hpp"
#include "server/maximum_index.hpp"

namespace snowflake {

namespace {

constexpr int most_ids = 256; // of a table

// Tables whose IDs are looked at: those with many pages first.
constexpr const char *tables =
    "SELECT a.attrelid, a.attnum, s.layout, snowflake._may_act_for(c.relowner, x.extowner) "
    "FROM snowflake.sequences s "
    "JOIN pg_catalog.pg_extension x ON x.extname = 'snowflake' "
    "JOIN pg_catalog.pg_attribute a "
    "ON a.attrelid = s.table_name::pg_catalog.oid AND a.attname = s.column_name "
    "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
    "WHERE c.relkind = 'r' AND a.atttypid = 'pg_catalog.int8'::pg_catalog.regtype "
    "AND s.layout OPERATOR(snowflake.=) snowflake.layout_of(s.sequence) "
    "ORDER BY c.relpages DESC, c.oid DESC LIMIT 256";

} // namespace

void LatestIds::note(std::int64_t id, Layout layout, std::int64_t believed_us, Oid table) {
    if (!layout.contains(id) || layout.is_count(id))
        return;
    const Fields fields = layout.split(id);
    if (fields.node < 1 || fields.node > last_claimable_node)
        return;
    Latest &latest = latest_[fields.node];
    const std::int64_t made_us = layout.unix_us(fields.tick);
    if (made_us > latest.unix_us && made_us <= believed_us)
        latest = {.unix_us = made_us, .table = table};
}

void LatestIds::look_at(Oid table_oid, AttrNumber attribute, Layout layout,
                        std::int64_t believed_us) {
    if (!ConditionalLockRelationOid(table_oid, AccessShareLock))
        return;
    Relation table = try_relation_open(table_oid, NoLock);
    if (table == nullptr)
        return;
    Relation index =
        RELATION_IS_OTHER_TEMP(table) ? nullptr : maximum_index::open(table, attribute, false);
    if (index != nullptr) {
        // Rows that are not committed yet, or not there any more, had their IDs from somebody too.
        IndexScanDesc scan = server::begin_index_scan(table, index, SnapshotAny);
        index_rescan(scan, nullptr, 0, nullptr, 0);
        TupleTableSlot *slot = table_slot_create(table, nullptr);
        for (int left = most_ids; left > 0 && index_getnext_slot(scan, BackwardScanDirection, slot);
             --left) {
            bool is_null = false;
            const Datum value = slot_getattr(slot, attribute, &is_null);
            if (!is_null)
                note(DatumGetInt64(value), layout, believed_us, table_oid);
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
        latest_ids->look_at(DatumGetObjectId(column(1)), DatumGetInt16(column(2)),
                            layout_from_datum(column(3)),
                            DatumGetBool(column(4)) ? INT64_MAX : clock_us() + furthest_ahead_us);
    }
    SPI_finish();
    return *latest_ids;
}

std::int64_t last_id_of_sequences_us(std::int32_t first, std::int32_t last) {
    std::int64_t latest = 0;
    SPI_connect();
    Oid types[] = {INT4OID, INT4OID, TIMESTAMPTZOID};
    Datum values[] = {
        Int32GetDatum(first), Int32GetDatum(last),
        TimestampTzGetDatum(clock_us() + furthest_ahead_us - server::unix_to_server_us)};
    if (SPI_execute_with_args(
            "SELECT pg_catalog.max(s.last_timestamp) FROM snowflake.sequences s "
            "JOIN pg_catalog.pg_class c ON c.oid = s.sequence::pg_catalog.oid "
            "JOIN pg_catalog.pg_extension x ON x.extname = 'snowflake' "
            "WHERE s.layout OPERATOR(snowflake.=) snowflake.layout_of(s.sequence) "
            "AND s.last_node BETWEEN $1 AND $2 AND (s.last_timestamp <= $3 "
            "OR snowflake._may_act_for(c.relowner, x.extowner))",
            3, types, values, nullptr, true, 1) != SPI_OK_SELECT)
        elog(ERROR, "cannot look for sequences with snowflake IDs");
    bool is_null = true;
    const Datum time = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    if (!is_null)
        latest = DatumGetTimestampTz(time) + server::unix_to_server_us;
    SPI_finish();
    return latest;
}

std::int32_t last_fitting_node() {
    SPI_connect();
    if (SPI_execute("SELECT "
                    "pg_catalog.min((snowflake.describe(snowflake.layout_of(q.seqrelid))).nodes)::"
                    "pg_catalog.int4 "
                    "FROM pg_catalog.pg_sequence q "
                    "WHERE snowflake._makes_ids(q.seqincrement, q.seqmax)",
                    true, 1) != SPI_OK_SELECT)
        elog(ERROR, "cannot look for sequences with snowflake IDs");
    bool is_null = true;
    const Datum nodes = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    const std::int32_t last = is_null ? last_claimable_node : DatumGetInt32(nodes) - 1;
    SPI_finish();
    return std::clamp(last, 1, last_claimable_node);
}

} // namespace snowflake
