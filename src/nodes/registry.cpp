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
std::optional<ActId> being_written;
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

// Returns the OID of the table; InvalidOid: the extension is not installed.
Oid find_table() {
    Relation table = open_table();
    if (table == nullptr)
        return InvalidOid;
    const Oid oid = RelationGetRelid(table);
    relation_close(table, AccessShareLock);
    return oid;
}

// Lets for_each_row() read rows as of this moment, until PopActiveSnapshot().
void begin_reading() {
    PreventCommandIfParallelMode("reading snowflake.nodes"); // by the latest snapshot
    PushActiveSnapshot(GetLatestSnapshot());
}

// A column and the value that is looked for.
struct Key {
    Column column;
    RegProcedure equal;
    Datum value;
};

// Calls action with each tuple that has these values, by an index of the table on these columns; if
// there is none, by reading all rows.
template <typename Action>
void for_each_tuple(Relation table, const char *index, std::initializer_list<Key> keys,
                    Action action) {
    ScanKeyData scan_keys[column_count];
    int count = 0;
    for (const Key &key : keys)
        ScanKeyInit(&scan_keys[count++], key.column, BTEqualStrategyNumber, key.equal, key.value);
    const Oid oid = get_relname_relid(index, RelationGetNamespace(table));
    SysScanDesc scan =
        systable_beginscan(table, oid, OidIsValid(oid), GetActiveSnapshot(), count, scan_keys);
    for (HeapTuple tuple = systable_getnext(scan); tuple != nullptr; tuple = systable_getnext(scan))
        action(tuple);
    systable_endscan(scan);
}

// Does so with each row.
template <typename Action>
void for_each_row(Relation table, const char *index, std::initializer_list<Key> keys,
                  Action action) {
    for_each_tuple(table, index, keys, [table, &action](HeapTuple tuple) {
        action(row_of(tuple, RelationGetDescr(table)));
    });
}

// A list of acts that grows. It is palloc'd and has no destructor.
struct ActList {
    StoredAct *acts = nullptr;
    std::size_t count = 0;
    std::size_t capacity = 0;

    // Does nothing with an act that is there: its row may stand twice, because two subscriptions
    // have brought it at once.
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

// The identifiers of this instance, unless it is a separated copy.
Instance this_database() {
    return {.system_identifier = static_cast<std::int64_t>(GetSystemIdentifier()),
            .database = static_cast<std::int64_t>(MyDatabaseId),
            .copy = 0};
}

void add_about(ActList &list, Relation table, const Instance &database) {
    for_each_row(table, "nodes_identifiers",
                 {{column_system_identifier, F_INT8EQ, Int64GetDatum(database.system_identifier)},
                  {column_database, F_INT8EQ, Int64GetDatum(database.database)}},
                 [&list](const Row &row) { add_row(list, row); });
}

// Reads all that concerns() this instance, and some more: all about the database of another one,
// which may be this one again, all about a number of that, or 0, and all ranges of numbers.
ActList read_concerning(Relation table, int setting, const Instance &other,
                        std::int32_t number_of_other) {
    begin_reading();
    ActList list;
    const auto add = [&list](const Row &row) { add_row(list, row); };
    add_about(list, table, this_database());
    const StoredAct *claim = of({list.acts, list.count}).own_claim();
    const std::int32_t claimed = claim != nullptr ? claim->first : 0;
    if (other != this_database())
        add_about(list, table, other);
    for (const std::int32_t node : {setting != 0 ? setting : claimed, number_of_other})
        if (node != 0)
            for_each_row(table, "nodes_number",
                         {{column_node, F_INT4EQ, Int32GetDatum(node)},
                          {column_last_node, F_INT4EQ, Int32GetDatum(node)}},
                         add);
    for_each_row(table, "nodes_wide", {}, add);
    PopActiveSnapshot();
    return list;
}

ActList read_all() {
    ActList list;
    Relation table = open_table();
    if (table == nullptr)
        return list;
    begin_reading();
    for_each_row(table, "", {}, [&list](const Row &row) { add_row(list, row); });
    PopActiveSnapshot();
    relation_close(table, AccessShareLock);
    return list;
}

// The acts of a list as this instance sees them.
Acts seen(const ActList &list) {
    former_self::adopt({list.acts, list.count}, this_database());
    return {list.acts, list.count};
}

// Returns the OID of the table. Raises 55000 if there is none.
Oid require_table() {
    if (const Oid table = find_table(); OidIsValid(table))
        return table;
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("the table snowflake.nodes is missing"),
            errhint("%s", earlier_version::is_installed() ? earlier_version::hint_to_update
                                                          : "CREATE EXTENSION snowflake;"));
    pg_unreachable();
}

} // namespace

void take_away(const ActId &act) {
    CommandCounterIncrement(); // what this transaction has written goes, too
    Relation table = table_open(require_table(), RowExclusiveLock);
    begin_reading();
    for_each_tuple(table, "nodes_act", {{column_act, F_UUID_EQ, uuid_of(act)}},
                   [table](HeapTuple tuple) { simple_heap_delete(table, &tuple->t_self); });
    PopActiveSnapshot();
    table_close(table, NoLock);
}

void write(const StoredAct &act) {
    const Oid table = require_table();
    being_written = act.id;
    writes_as_written_here = act.written_here;
    Row row = row_of(act);
    Oid types[column_count];
    char nulls[column_count];
    for (int i = 0; i < column_count; ++i) {
        types[i] = column_types[i];
        nulls[i] = row.nulls[i] ? 'n' : ' ';
    }
    const acting_role::Previous before = acting_role::become_owner_of(table);
    SPI_connect();
    const int status = SPI_execute_with_args(
        "INSERT INTO snowflake.nodes VALUES "
        "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        column_count, types, row.values, nulls, false, 0);
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
    being_written.reset();
}

Oid find_name() {
    const Oid schema = schema::find();
    return OidIsValid(schema) ? get_relname_relid(table_name, schema) : InvalidOid;
}

bool contains(Relation table, const ActId &act) {
    bool found = false;
    begin_reading();
    for_each_row(table, "nodes_act", {{column_act, F_UUID_EQ, uuid_of(act)}},
                 [&found](const Row &) { found = true; });
    PopActiveSnapshot();
    return found;
}

std::optional<bool> being_written_as(const ActId &act) {
    return act == being_written ? std::optional(writes_as_written_here) : std::nullopt;
}

Acts read_stored() {
    const ActList list = read_all();
    return {list.acts, list.count};
}

Acts read() {
    return seen(read_all());
}

Acts read_concerning(Oid name, int setting) {
    if (OidIsValid(name))
        if (const std::optional<ActList> list = read_pages(name))
            return seen(*list);
    Relation table = open_table();
    if (table == nullptr)
        return {};
    const ActList list = read_concerning(table, setting, this_database(), 0);
    relation_close(table, AccessShareLock);
    return seen(list);
}

Arrival read_arrival(Relation table, HeapTuple added, int setting) {
    if (!is_known(table))
        return {};
    const Row row = row_of(added, RelationGetDescr(table));
    if (!is_readable(row) || DatumGetBool(row[column_written_here]))
        return {};
    const StoredAct arrived = act_of(row);
    ActList list = read_concerning(table, setting, arrived.about, arrived.first);
    list.add(arrived); // the statement that adds the row does not see it yet
    return {.acts = seen(list),
            .arrived =
                std::find_if(list.acts, list.acts + list.count,
                             [&arrived](const StoredAct &act) { return act.id == arrived.id; })};
}

Registry of(Acts acts) {
    const Instance self = this_database();
    return {acts, self.system_identifier, self.database,
            server_place::number_of(server_place::here())};
}

void lock() {
    LockRelationOid(require_table(), ShareUpdateExclusiveLock);
}

bool lock_unless_one_waits(std::uint16_t task) {
    const Oid table = find_table();
    if (!OidIsValid(table))
        return false;
    LOCKTAG turn;
    SET_LOCKTAG_OBJECT(turn, MyDatabaseId, RelationRelationId, table,
                       static_cast<std::uint16_t>(task + 1));
    if (LockAcquire(&turn, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
        return false;
    LockRelationOid(table, ShareUpdateExclusiveLock);
    LockRelease(&turn, ExclusiveLock, false);
    return find_table() == table; // which may have been dropped meanwhile
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

const char *moved_from() {
    const Registry registry = of(read());
    const bool is_alone = std::all_of(registry.acts().begin(), registry.acts().end(),
                                      [](const StoredAct &act) { return act.written_here; });
    const StoredAct *before = registry.last_said_elsewhere();
    return is_alone || before == nullptr || RecoveryInProgress() ? nullptr : before->where;
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
