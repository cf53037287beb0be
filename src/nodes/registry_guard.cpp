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

// Whether what a later version has added has no other characters than ASCII.
bool is_ascii(const Row &row) {
    return pg_is_ascii(DatumGetCString(DirectFunctionCall1(jsonb_out, row[column_more])));
}

// Returns a row as the table keeps it: with a key of its own, where it was written, and only what
// every server can read, whatever the encoding of its database is.
HeapTuple as_kept(const Row &row, bool written_here, HeapTuple tuple, Relation table) {
    constexpr Column named[] = {column_kind, column_place, column_name, column_version};
    int columns[std::size(named) + 3] = {column_key, column_written_here, column_more};
    Datum values[std::size(columns)] = {random_uuid(), BoolGetDatum(written_here),
                                        row[column_more]};
    bool nulls[std::size(columns)] = {false, false, row.is_null(column_more) || !is_ascii(row)};
    int count = 3;
    for (const Column column : named) {
        columns[count] = column;
        values[count++] =
            CStringGetTextDatum(server::clean_ascii(TextDatumGetCString(row[column])));
    }
    return heap_modify_tuple_by_cols(tuple, RelationGetDescr(table), count, columns, values, nulls);
}

// A TRUNCATE takes these acts away, which this transaction read before, and writes again after it.
Acts kept;
LocalTransactionId kept_in = InvalidLocalTransactionId;

} // namespace

HeapTuple guard_row(const TriggerData &trigger) {
    const TriggerEvent event = trigger.tg_event;
    Relation table = trigger.tg_relation;
    if (!is_known(table) || (!TRIGGER_FIRED_BY_INSERT(event) && is_applying()))
        return nullptr;
    if (!TRIGGER_FIRED_BY_INSERT(event))
        raise_typed(TRIGGER_FIRED_BY_DELETE(event) ? "DELETE" : "UPDATE");
    const Row row = row_of(trigger.tg_trigtuple, RelationGetDescr(table));
    if (!is_readable(row))
        return nullptr;
    const ActId act = id_of(row[column_act]);
    const std::optional<bool> written_here = being_written_as(act);
    if (!written_here && (contains(table, act) || is_question(row)))
        return nullptr;
    return as_kept(row, written_here.value_or(false), trigger.tg_trigtuple, table);
}

void guard_truncate(const TriggerData &trigger) {
    if (!is_applying())
        raise_typed("TRUNCATE");
    if (TRIGGER_FIRED_BEFORE(trigger.tg_event)) {
        MemoryContext before = MemoryContextSwitchTo(TopTransactionContext);
        kept = read_stored();
        kept_in = server::current_transaction();
        MemoryContextSwitchTo(before);
    } else if (kept_in == server::current_transaction()) {
        for (const StoredAct &act : kept)
            registry::write(act);
        kept = {};
    }
}

} // namespace snowflake::registry_guard
