#include "latest_ids.hpp"

#include "pure/lease.hpp"
#include "server/clock.hpp"
#include "server/layout_datum.hpp"
#include "server/maximum_index.hpp"

namespace snowflake {

namespace {

constexpr int most_ids = 256; // of a table

// Tables whose IDs are looked at: those with many pages first, of each owner in turn. A stranger's
// default may say any layout of a sequence.
constexpr const char *tables =
    "SELECT a.attrelid, a.attnum, s.layout, snowflake._may_act_for(t.relowner, "
    "'pg_database_owner'::pg_catalog.regrole) "
    "FROM snowflake.sequences s "
    "JOIN pg_catalog.pg_class c ON c.oid = s.sequence::pg_catalog.oid "
    "JOIN pg_catalog.pg_attribute a "
    "ON a.attrelid = s.table_name::pg_catalog.oid AND a.attname = s.column_name "
    "JOIN pg_catalog.pg_class t ON t.oid = a.attrelid "
    "WHERE t.relkind = 'r' AND snowflake._is_big(a.atttypid) "
    "AND (s.layout OPERATOR(snowflake.=) snowflake.layout_of(s.sequence) "
    "OR snowflake._may_act_for(t.relowner, c.relowner)) "
    "ORDER BY pg_catalog.row_number() OVER (PARTITION BY t.relowner "
    "ORDER BY t.relpages DESC, t.oid DESC), t.relpages DESC, t.oid DESC LIMIT 256";

// Returns what a query that returns one value returns; std::nullopt: null.
std::optional<Datum> answer_to(const char *query, int count, Datum *values) {
    Oid types[] = {INT4OID, INT4OID, TIMESTAMPTZOID};
    SPI_connect();
    if (SPI_execute_with_args(query, count, types, values, nullptr, true, 1) != SPI_OK_SELECT)
        elog(ERROR, "cannot look for snowflake IDs");
    bool is_null = true;
    const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    SPI_finish();
    return is_null ? std::nullopt : std::optional(value);
}

void note(LatestId *latest_ids, std::int64_t id, Layout layout, std::int64_t believed_us,
          Oid table) {
    if (!layout.contains(id) || layout.is_count(id))
        return;
    const Fields fields = layout.split(id);
    if (fields.node < 1 || fields.node > last_claimable_node)
        return;
    LatestId &latest = latest_ids[fields.node];
    const std::int64_t made_us = layout.unix_us(fields.tick);
    if (made_us > latest.unix_us && made_us <= believed_us)
        latest = {.unix_us = made_us, .table = table};
}

void look_at(LatestId *latest_ids, Oid table_oid, AttrNumber attribute, Layout layout,
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
                note(latest_ids, DatumGetInt64(value), layout, believed_us, table_oid);
        }
        ExecDropSingleTupleTableSlot(slot);
        index_endscan(scan);
        index_close(index, AccessShareLock);
    }
    relation_close(table, AccessShareLock);
}

} // namespace

const LatestId *find_latest_ids() {
    auto *latest_ids =
        static_cast<LatestId *>(palloc0((last_claimable_node + 1) * sizeof(LatestId)));
    SPI_connect();
    if (SPI_execute(tables, true, 0) != SPI_OK_SELECT)
        elog(ERROR, "cannot look for tables with snowflake IDs");
    for (std::uint64_t i = 0; i < SPI_processed; ++i) {
        bool is_null = false;
        const auto column = [&](int number) {
            return SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, number, &is_null);
        };
        look_at(latest_ids, DatumGetObjectId(column(1)), DatumGetInt16(column(2)),
                layout_from_datum(column(3)),
                DatumGetBool(column(4)) ? INT64_MAX : clock_us() + furthest_ahead_us);
    }
    SPI_finish();
    return latest_ids;
}

std::int64_t last_id_of_sequences_us(std::int32_t first, std::int32_t last) {
    Datum values[] = {
        Int32GetDatum(first), Int32GetDatum(last),
        TimestampTzGetDatum(clock_us() + furthest_ahead_us - server::unix_to_server_us)};
    // Whether a sequence makes IDs that no default names is known to nobody: a last value that is
    // one of the default layout counts, unless it is too far ahead to be one.
    const std::optional<Datum> time =
        answer_to("SELECT pg_catalog.max(x.made) FROM ("
                  "SELECT s.last_timestamp, s.last_node, c.relowner FROM snowflake.sequences s "
                  "JOIN pg_catalog.pg_class c ON c.oid = s.sequence::pg_catalog.oid "
                  "LEFT JOIN pg_catalog.pg_class t ON t.oid = s.table_name::pg_catalog.oid "
                  "WHERE s.layout OPERATOR(snowflake.=) snowflake.layout_of(s.sequence) "
                  "OR snowflake._may_act_for(t.relowner, c.relowner) "
                  "UNION ALL "
                  "SELECT snowflake.get_timestamp(last), snowflake.get_node(last), NULL "
                  "FROM pg_catalog.pg_class c "
                  "CROSS JOIN LATERAL snowflake._glimpse_last_value(c.oid) last "
                  "WHERE c.relkind = 'S' AND NOT snowflake._is_count(last)"
                  ") x(made, node, owner) "
                  "WHERE x.node BETWEEN $1 AND $2 AND (x.made <= $3 "
                  "OR snowflake._may_act_for(x.owner, 'pg_database_owner'::pg_catalog.regrole))",
                  3, values);
    return time ? DatumGetTimestampTz(*time) + server::unix_to_server_us : 0;
}

std::int32_t last_fitting_node() {
    const std::optional<Datum> nodes = answer_to(
        "SELECT pg_catalog.min(CASE WHEN snowflake._may_act_for(c.relowner, "
        "'pg_database_owner'::pg_catalog.regrole) "
        "THEN described.nodes ELSE GREATEST(described.nodes, 64) END)::pg_catalog.int4 "
        "FROM pg_catalog.pg_sequence q "
        "JOIN pg_catalog.pg_class c ON c.oid = q.seqrelid "
        "CROSS JOIN LATERAL snowflake.describe(snowflake.layout_of(q.seqrelid)) described "
        "WHERE snowflake._makes_ids(q.seqincrement, q.seqmax)",
        0, nullptr);
    return nodes ? std::clamp(DatumGetInt32(*nodes) - 1, 1, last_claimable_node)
                 : last_claimable_node;
}

bool keep_from_leases(std::int32_t node) {
    Datum value = Int32GetDatum(node);
    return DatumGetBool(*answer_to(
        "SELECT CASE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE locktype = 'advisory' "
        "AND classid = 1936617335 AND objsubid = 2 AND objid::int8 = $1 "
        "AND mode = 'ExclusiveLock' AND database = "
        "(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())) "
        "THEN pg_catalog.pg_try_advisory_xact_lock_shared(1936617335, $1) ELSE false END",
        1, &value));
}

} // namespace snowflake
