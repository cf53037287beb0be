#include "registry.hpp"

#include "former_self.hpp"
#include "registry_pages.hpp"
#include "server/acting_role.hpp"
#include "server/earlier_version.hpp"
#include "server/schema.hpp"
#include "server_place.hpp"

namespace snowflake::registry {

namespace {

// The version of the extension, and last the major version of the server.
constexpr const char *version = SNOWFLAKE_VERSION " on PostgreSQL " PG_MAJORVERSION;

// The act that this session is writing now, and what is written of it: a repeated one may have been
// written elsewhere. The name is random: no row that arrives has the same.
ActId being_written{};
bool writes_as_written_here = false;

// Raises 42P16 unless the table has the columns that the extension has given it.
void require_as_made(Relation table) {
    const bool is_table = is_known(table);
    AttrNumber unchecked = InvalidAttrNumber;
    if (is_table)
        unchecked = find_unchecked(RelationGetDescr(table));
    if (is_table && unchecked == InvalidAttrNumber)
        return;
    const Oid oid = RelationGetRelid(table);
    const char *name = server::qualified_name(oid);
    ereport(ERROR, errcode(ERRCODE_INVALID_TABLE_DEFINITION),
            errmsg("\"%s\" is not as the extension has made it", name),
            errdetail("Its columns have been changed, or it is no table."),
            is_table ? errhint("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL;", name,
                               quote_identifier(get_attname(oid, unchecked, false)))
                     : errhint("Restore the table that CREATE EXTENSION has made."));
}

// Opens the table for reading; null: there is none, as where another session has dropped the
// extension. Raises 42P16 if it is not as the extension made it: its values are not to be trusted.
Relation open_table() {
    const Oid oid = find_name();
    Relation table = OidIsValid(oid) ? try_relation_open(oid, AccessShareLock) : nullptr;
    if (table != nullptr)
        require_as_made(table);
    return table;
}

// The rows of the table as of one moment.
struct Reading {
    Relation table;
    Snapshot snapshot;
};

Reading begin_reading(Relation table) {
    PreventCommandIfParallelMode("reading snowflake.nodes"); // by the latest snapshot
    return {.table = table, .snapshot = RegisterSnapshot(GetLatestSnapshot())};
}

void end_reading(const Reading &reading) {
    UnregisterSnapshot(reading.snapshot);
}

// A column and the value that is looked for.
struct Key {
    Column column;
    RegProcedure equal;
    Datum value;
};

// Calls action with each row that has these values, by an index of the table on these columns; if
// there is none, by reading all rows.
template <typename Action>
void for_each_row(const Reading &reading, const char *index, std::initializer_list<Key> keys,
                  Action action) {
    ScanKeyData scan_keys[column_count];
    int count = 0;
    for (const Key &key : keys)
        ScanKeyInit(&scan_keys[count++], key.column, BTEqualStrategyNumber, key.equal, key.value);
    const Oid oid = get_relname_relid(index, RelationGetNamespace(reading.table));
    SysScanDesc scan =
        systable_beginscan(reading.table, oid, OidIsValid(oid), reading.snapshot, count, scan_keys);
    for (HeapTuple tuple = systable_getnext(scan); tuple != nullptr; tuple = systable_getnext(scan))
        action(row_of(tuple, RelationGetDescr(reading.table)));
    systable_endscan(scan);
}

// A list of acts that grows. It is palloc'd and has no destructor.
struct ActList {
    StoredAct *acts = nullptr;
    std::size_t count = 0;
    std::size_t capacity = 0;

    // Does nothing with an act that is there: its row may stand twice, because two subscriptions
    // have brought it at once, or because it was said to all once more.
    void add(const StoredAct &act) {
        if (std::any_of(acts, acts + count,
                        [&act](const StoredAct &one) { return one.id == act.id; }))
            return;
        if (count == capacity) {
            capacity = capacity == 0 ? 64 : 2 * capacity;
            const std::size_t bytes = capacity * sizeof(StoredAct);
            acts =
                static_cast<StoredAct *>(acts == nullptr ? palloc(bytes) : repalloc(acts, bytes));
        }
        acts[count++] = act;
    }
};

void add_row(ActList &list, const Row &row) {
    if (is_readable(row))
        list.add(act_of(row));
}

ActList read_all(const Reading &reading) {
    ActList list;
    for_each_row(reading, "", {}, [&list](const Row &row) { add_row(list, row); });
    return list;
}

// Reads the table from its pages, if they are few; std::nullopt: it has to be opened.
std::optional<ActList> read_pages(Oid table) {
    const std::optional<List *> rows = registry_pages::read(table);
    if (!rows)
        return std::nullopt;
    ActList list;
    for (int row = 0; row < list_length(*rows); ++row)
        add_row(list, *static_cast<const Row *>(list_nth(*rows, row)));
    return list;
}

bool is_of_database(const Instance &instance, const Instance &database) {
    return instance.system_identifier == database.system_identifier &&
           instance.database == database.database;
}

// The identifiers of this instance, unless it is a separated copy.
Instance this_database() {
    return {.system_identifier = static_cast<std::int64_t>(GetSystemIdentifier()),
            .database = static_cast<std::int64_t>(MyDatabaseId),
            .copy = 0};
}

void add_about(ActList &list, const Reading &reading, const Instance &database) {
    for_each_row(reading, "nodes_identifiers",
                 {{column_system_identifier, F_INT8EQ, Int64GetDatum(database.system_identifier)},
                  {column_database, F_INT8EQ, Int64GetDatum(database.database)}},
                 [&list](const Row &row) { add_row(list, row); });
}

// Reads what concerns() this instance, all about the database of another one, which may be this one
// again, and all about a number of that; 0: none.
ActList read_concerning(const Reading &reading, int setting, const Instance &other,
                        std::int32_t number_of_other) {
    ActList list;
    const Instance self = this_database();
    add_about(list, reading, self);
    const StoredAct *claim = of({list.acts, list.count}).own_claim();
    const std::int32_t number = setting != 0 ? setting : claim != nullptr ? claim->first : 0;
    if (!is_of_database(other, self))
        add_about(list, reading, other);
    const auto add = [&](const Row &row) {
        if (!is_readable(row))
            return;
        const StoredAct act = act_of(row);
        if (!is_of_database(act.about, self) && !is_of_database(act.about, other) &&
            (concerns(act, self.system_identifier, self.database, number) ||
             act.covers(number_of_other)))
            list.add(act);
    };
    const auto add_of_number = [&](std::int32_t node) {
        if (node != 0)
            for_each_row(reading, "nodes_number",
                         {{column_node, F_INT4EQ, Int32GetDatum(node)},
                          {column_last_node, F_INT4EQ, Int32GetDatum(node)}},
                         add);
    };
    add_of_number(number);
    if (number_of_other != number)
        add_of_number(number_of_other);
    for_each_row(reading, "nodes_wide", {}, add);
    return list;
}

// The acts of a list as this instance sees them.
Acts seen(const ActList &list) {
    former_self::adopt({list.acts, list.count}, this_database());
    return {list.acts, list.count};
}

[[noreturn]] void raise_no_table() {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("the table snowflake.nodes is missing"),
            errhint("%s", earlier_version::is_installed() ? earlier_version::hint_to_update
                                                          : "CREATE EXTENSION snowflake;"));
    pg_unreachable();
}

} // namespace

void write(const StoredAct &act) {
    const Oid table = find_table();
    if (!OidIsValid(table))
        raise_no_table();
    being_written = act.id;
    writes_as_written_here = act.written_here;
    Oid argument_types[column_count];
    Datum values[column_count];
    char nulls[column_count];
    int count = 0;
    const auto add = [&](Column column, Datum value, bool is_null = false) {
        argument_types[count] = column_types[column - 1];
        values[count] = value;
        nulls[count++] = is_null ? 'n' : ' ';
    };
    const auto time = [](std::int64_t unix_us) {
        return TimestampTzGetDatum(unix_us - server::unix_to_server_us);
    };
    add(column_act, uuid_of(act.id));
    add(column_kind, CStringGetTextDatum(word_for(act.kind)));
    add(column_node, Int32GetDatum(act.first));
    add(column_last_node, Int32GetDatum(act.last));
    add(column_system_identifier, Int64GetDatum(act.about.system_identifier));
    add(column_database, Int64GetDatum(act.about.database));
    add(column_copy, Int64GetDatum(act.about.copy));
    add(column_place, CStringGetTextDatum(act.where));
    add(column_name, CStringGetTextDatum(act.name));
    add(column_claimed_at, time(act.claimed_at));
    add(column_said_at, time(act.said_at));
    add(column_free_from, time(act.free_from), act.free_from == 0);
    add(column_answers, uuid_of(act.answers), act.answers == ActId{});
    add(column_version, CStringGetTextDatum(act.version));

    const acting_role::Previous before = acting_role::become_owner_of(table);
    SPI_connect();
    const int status = SPI_execute_with_args(
        "INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, "
        "copy, place, name, claimed_at, said_at, free_from, answers, version) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        count, argument_types, values, nulls, false, 0);
    if (status != SPI_OK_INSERT)
        elog(ERROR, "SPI_execute_with_args failed: %s", SPI_result_code_string(status));
    if (SPI_processed != 1)
        ereport(
            ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("a row about node numbers was not written to snowflake.nodes"),
            errdetail("A trigger has kept the row out, or another row says that it was written "
                      "at the end of all time."),
            errhint("To begin anew as another instance: SELECT snowflake.separate_copy(true);"));
    SPI_finish();
    acting_role::resume(before);
    being_written = {};
}

Oid find_name() {
    const Oid schema = schema::find();
    return OidIsValid(schema) ? get_relname_relid(table_name, schema) : InvalidOid;
}

Oid find_table() {
    Relation table = open_table();
    if (table == nullptr)
        return InvalidOid;
    const Oid oid = RelationGetRelid(table);
    relation_close(table, AccessShareLock);
    return oid;
}

bool contains(Relation table, const ActId &act) {
    bool found = false;
    const auto look = [&](const Row &row) {
        found = found || (!row.is_null(column_act) && id_of(row[column_act]) == act);
    };
    const Reading reading = begin_reading(table);
    for_each_row(reading, "nodes_act", {{column_act, F_UUID_EQ, uuid_of(act)}}, look);
    end_reading(reading);
    return found;
}

std::optional<bool> being_written_as(const ActId &act) {
    return act == being_written ? std::optional(writes_as_written_here) : std::nullopt;
}

Acts read() {
    Relation table = open_table();
    if (table == nullptr)
        return {};
    const Reading reading = begin_reading(table);
    const ActList list = read_all(reading);
    end_reading(reading);
    relation_close(table, AccessShareLock);
    return seen(list);
}

Acts read_concerning(Oid name, int setting) {
    if (OidIsValid(name))
        if (const std::optional<ActList> list = read_pages(name))
            return seen(*list);
    Relation table = open_table();
    if (table == nullptr)
        return {};
    const Reading reading = begin_reading(table);
    const ActList list = read_concerning(reading, setting, this_database(), 0);
    end_reading(reading);
    relation_close(table, AccessShareLock);
    return seen(list);
}

Arrival read_arrival(Relation table, HeapTuple added, int setting) {
    if (!is_known(table))
        return {.acts = {}, .arrived = nullptr};
    const Row row = row_of(added, RelationGetDescr(table));
    if (!is_readable(row))
        return {.acts = {}, .arrived = nullptr};
    const StoredAct arrived = act_of(row);
    const Reading reading = begin_reading(table);
    ActList list = read_concerning(reading, setting, arrived.about, arrived.first);
    end_reading(reading);
    const auto is_arrived = [&arrived](const StoredAct &act) { return act.id == arrived.id; };
    // The statement that adds the row does not see it yet.
    if (std::none_of(list.acts, list.acts + list.count, is_arrived))
        list.add(arrived);
    return {.acts = seen(list),
            .arrived = std::find_if(list.acts, list.acts + list.count, is_arrived)};
}

Registry of(Acts acts) {
    const Instance self = this_database();
    return {acts, self.system_identifier, self.database,
            server_place::number_of(server_place::here())};
}

void lock() {
    const Oid table = find_table();
    if (!OidIsValid(table))
        raise_no_table();
    LockRelationOid(table, ShareUpdateExclusiveLock);
}

bool lock_without_waiting() {
    const Oid table = find_table();
    return OidIsValid(table) && ConditionalLockRelationOid(table, ShareUpdateExclusiveLock);
}

StoredAct begin_act(const Registry &registry, const Instance &about, std::int64_t now_us) {
    StoredAct act;
    act.id = id_of(random_uuid());
    act.kind = Kind::here;
    act.about = about;
    act.claimed_at = now_us;
    act.said_at = registry.next_said_at(about, now_us);
    act.written_here = true;
    act.where = server_place::here();
    act.name = psprintf("%s/%s", server_place::host(), get_database_name(MyDatabaseId));
    act.version = version;
    return act;
}

void date_claim(StoredAct &act, const Registry &registry, std::int64_t now_us) {
    act.claimed_at = registry.next_claimed_at(now_us);
    // An act that gives the numbers up again must be dated later than their claim.
    act.said_at = std::max(act.said_at, act.claimed_at);
}

StoredAct repeat(const Registry &registry, const Instance &about, const StoredAct &before,
                 std::int64_t now_us) {
    StoredAct act = begin_act(registry, about, now_us);
    act.kind = before.kind;
    act.first = before.first;
    act.last = before.last;
    act.name = before.name;
    act.claimed_at = before.claimed_at;
    return act;
}

void write_again(StoredAct act, bool has_moved) {
    write(act);
    if (!has_moved)
        return;
    act.id = id_of(random_uuid());
    act.kind = Kind::here;
    act.answers = {};
    ++act.said_at;
    write(act);
}

const char *moved_from(Acts all) {
    const Registry registry = of(all);
    const bool is_alone =
        std::all_of(all.begin(), all.end(), [](const StoredAct &act) { return act.written_here; });
    const StoredAct *before = registry.last_said_elsewhere();
    const bool is_none = is_alone || before == nullptr || registry.is_settled();
    return is_none || RecoveryInProgress() ? nullptr : before->where;
}

void give_up(const Registry &registry, Kind kind, const StoredAct &of, std::int32_t first,
             std::int32_t last, std::int64_t now_us, std::int64_t free_from_us) {
    StoredAct act = repeat(registry, of.about, of, now_us);
    act.kind = kind;
    act.first = first;
    act.last = last;
    act.free_from = free_from_us;
    write(act);
}

} // namespace snowflake::registry
