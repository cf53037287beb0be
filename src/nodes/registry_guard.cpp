#include "registry_guard.hpp"

#include "announcer.hpp"
#include "registry.hpp"

namespace snowflake::registry_guard {

using namespace registry;

namespace {

[[noreturn]] void raise_typed(const char *command) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("cannot execute %s on snowflake.nodes", command),
            errdetail("Its rows are what servers have said, and are only ever added."),
            errhint("To give up the number of this instance: SELECT snowflake.release_node(); "
                    "To remove one that is gone for good, see SELECT * FROM snowflake.cluster; "
                    "and run SELECT snowflake.remove_node(system_identifier, database);"));
    pg_unreachable();
}

bool is_applying() {
    return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}

// Whether an arriving row asks for what this server knows. It is answered, and kept nowhere.
bool is_question(const Row &row) {
    if (act_of(row).kind != Kind::ask)
        return false;
    announcer::start(announcer::Task::repeat, InvalidTransactionId);
    return true;
}

// The rows that a TRUNCATE takes away, as an array; 0: there are none. It lives as long as the
// transaction in which it was made.
Datum kept_rows = 0;
LocalTransactionId kept_in = InvalidLocalTransactionId;
bool puts_rows_back = false;

// Keeps the rows. Another TRUNCATE, for which this one had to wait, has put them back since this
// statement took its snapshot. The caller has connected to SPI.
void keep_rows() {
    SPIPlanPtr plan =
        SPI_prepare("SELECT pg_catalog.array_agg(n) FROM ONLY snowflake.nodes n", 0, nullptr);
    if (plan == nullptr)
        elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
    Snapshot latest = RegisterSnapshot(GetLatestSnapshot());
    const int status =
        SPI_execute_snapshot(plan, nullptr, nullptr, latest, InvalidSnapshot, true, false, 1);
    UnregisterSnapshot(latest);
    if (status != SPI_OK_SELECT || SPI_processed != 1)
        elog(ERROR, "cannot keep the rows of snowflake.nodes");
    kept_rows = 0;
    kept_in = server::current_transaction();
    bool is_null = true;
    const Datum rows = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    if (is_null)
        return;
    MemoryContext before = MemoryContextSwitchTo(TopTransactionContext);
    kept_rows = PointerGetDatum(PG_DETOAST_DATUM_COPY(rows));
    MemoryContextSwitchTo(before);
}

// Adds the kept rows as they were. The caller has connected to SPI.
void put_rows_back(Oid table) {
    Oid type = get_array_type(get_rel_type_id(table));
    puts_rows_back = true;
    PG_TRY();
    {
        if (SPI_execute_with_args(
                "INSERT INTO snowflake.nodes SELECT (r).* FROM pg_catalog.unnest($1) r", 1, &type,
                &kept_rows, nullptr, false, 0) != SPI_OK_INSERT)
            elog(ERROR, "cannot put back the rows of snowflake.nodes");
    }
    PG_FINALLY();
    {
        puts_rows_back = false;
        kept_rows = 0;
    }
    PG_END_TRY();
}

} // namespace

HeapTuple guard_row(const TriggerData &trigger) {
    const TriggerEvent event = trigger.tg_event;
    if (!TRIGGER_FIRED_BY_INSERT(event)) {
        if (is_applying())
            return nullptr;
        raise_typed(TRIGGER_FIRED_BY_DELETE(event) ? "DELETE" : "UPDATE");
    }
    Relation table = trigger.tg_relation;
    if (!is_known(table))
        return nullptr;
    if (puts_rows_back)
        return trigger.tg_trigtuple;
    Row row = row_of(trigger.tg_trigtuple, RelationGetDescr(table));
    row.values[column_written_here - 1] = BoolGetDatum(false);
    row.nulls[column_written_here - 1] = false;
    row.values[column_key - 1] = random_uuid();
    row.nulls[column_key - 1] = false;
    if (!is_readable(row))
        return nullptr;
    const ActId act = id_of(row[column_act]);
    const std::optional<bool> written_here = being_written_as(act);
    if (!written_here && (contains(table, act) || is_question(row)))
        return nullptr;
    int columns[] = {column_key, column_written_here};
    Datum values[] = {row[column_key], BoolGetDatum(written_here.value_or(false))};
    bool nulls[] = {false, false};
    return heap_modify_tuple_by_cols(trigger.tg_trigtuple, RelationGetDescr(table),
                                     std::size(columns), columns, values, nulls);
}

void guard_truncate(const TriggerData &trigger) {
    if (!is_applying())
        raise_typed("TRUNCATE");
    const bool is_before = TRIGGER_FIRED_BEFORE(trigger.tg_event);
    SPI_connect();
    if (is_before) {
        keep_rows();
    } else if (kept_rows != 0 && kept_in == server::current_transaction()) {
        put_rows_back(RelationGetRelid(trigger.tg_relation));
    }
    SPI_finish();
}

} // namespace snowflake::registry_guard
