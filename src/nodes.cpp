#include "nodes.hpp"

#include "settings.hpp"

namespace snowflake::nodes {

Known known{};

namespace {

Oid table_oid = InvalidOid;        // of snowflake.nodes, where the session has looked
std::uint64_t forgotten_times = 0; // counts calls of forget()

// The columns of snowflake.nodes.
enum Column : AttrNumber {
    column_node = 1,
    column_system_identifier,
    column_name,
    column_claimed_at,
    column_leased
};

struct Claim {
    int node;                       // 0: there is none
    std::int64_t system_identifier; // as SQL shows it
    TimestampTz claimed_at;
    const char *name; // palloc'd
    bool leased;      // to sessions of the instance, and not its own number
};

// Of two claims to a number the earlier is the better one. Every instance comes to the same
// answer, because it takes nothing but the rows.
bool is_better(const Claim &claim, const Claim &other) {
    return claim.claimed_at != other.claimed_at ? claim.claimed_at < other.claimed_at
                                                : claim.system_identifier < other.system_identifier;
}

Claim read_claim(TupleTableSlot *row) {
    const auto attribute = [row](Column column) {
        bool is_null = false;
        return slot_getattr(row, column, &is_null); // no column is nullable
    };
    return {.node = DatumGetInt32(attribute(column_node)),
            .system_identifier = DatumGetInt64(attribute(column_system_identifier)),
            .claimed_at = DatumGetTimestampTz(attribute(column_claimed_at)),
            .name = TextDatumGetCString(attribute(column_name)),
            .leased = DatumGetBool(attribute(column_leased))};
}

// Calls action with each claim there is.
template <typename Action>
void for_each_claim(Action action) {
    table_oid = get_relname_relid("nodes", get_namespace_oid("snowflake", true));
    if (!OidIsValid(table_oid))
        return;
    Relation table = table_open(table_oid, AccessShareLock);
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    TupleTableSlot *row = table_slot_create(table, nullptr);
    TableScanDesc scan = table_beginscan(table, snapshot, 0, nullptr);
    while (table_scan_getnextslot(scan, ForwardScanDirection, row))
        action(read_claim(row));
    table_endscan(scan);
    ExecDropSingleTupleTableSlot(row);
    UnregisterSnapshot(snapshot);
    table_close(table, AccessShareLock);
}

[[noreturn]] void raise_unset() {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake.node is not set"),
            errdetail("Each PostgreSQL instance that makes snowflake IDs needs a node number of "
                      "its own, from 1 to %d.",
                      settings::max_node),
            errhint("As a superuser, run for example: "
                    "ALTER SYSTEM SET snowflake.node = 1; SELECT pg_reload_conf(); "
                    "Or, to be given a number: SELECT snowflake.claim_node();"));
    pg_unreachable();
}

[[noreturn]] void raise_disagreement(int setting, int claimed) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake.node is %d, but this instance has claimed node %d", setting, claimed),
            errhint("As a superuser, to keep node %d, run: "
                    "ALTER SYSTEM RESET snowflake.node; SELECT pg_reload_conf(); "
                    "To keep node %d: SELECT snowflake.release_node();",
                    claimed, setting));
    pg_unreachable();
}

// What gives up the number in every form that this instance has it, and takes a free one.
const char *commands_for_another(bool set, bool claimed) {
    return psprintf("%s%sSELECT snowflake.claim_node();",
                    set ? "ALTER SYSTEM RESET snowflake.node; SELECT pg_reload_conf(); " : "",
                    claimed ? "SELECT snowflake.release_node(); " : "");
}

[[noreturn]] void raise_taken(const Claim &better, const char *commands) {
    ereport(
        ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
        errmsg("snowflake node %d belongs to another instance, \"%s\"", better.node, better.name),
        errdetail("The instance with the system identifier %lld claimed it at %s.",
                  static_cast<long long>(better.system_identifier),
                  timestamptz_to_str(better.claimed_at)),
        errhint("As a superuser, run: %s", commands));
    pg_unreachable();
}

[[noreturn]] void raise_reserved(int node, const char *commands) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake node %d is reserved for leases on this instance", node),
            errhint("As a superuser, run: %s", commands));
    pg_unreachable();
}

// This instance's own claim: the best, should it have several.
Claim find_own() {
    const auto identifier = static_cast<std::int64_t>(GetSystemIdentifier());
    Claim own{};
    for_each_claim([&](const Claim &claim) {
        if (claim.system_identifier == identifier && !claim.leased &&
            (own.node == 0 || is_better(claim, own)))
            own = claim;
    });
    return own;
}

// The best claim to a number that goes before this instance's own. Where that has only a setting
// and no claim, every claim does.
Claim find_better(int node, const Claim &own) {
    const auto identifier = static_cast<std::int64_t>(GetSystemIdentifier());
    Claim better{};
    for_each_claim([&](const Claim &claim) {
        const bool is_own = claim.system_identifier == identifier && !claim.leased;
        if (claim.node == node && !is_own && (own.node == 0 || is_better(claim, own)) &&
            (better.node == 0 || is_better(claim, better)))
            better = claim;
    });
    return better;
}

int find_node() {
    const int setting = settings::node();
    const bool set = setting != settings::node_unset;
    const Claim own = find_own();
    const bool claimed = own.node != 0;
    const int node = set ? setting : own.node;
    if (node == 0)
        raise_unset();
    if (claimed && own.node != node)
        raise_disagreement(setting, own.node);

    const Claim better = find_better(node, own);
    if (better.node == 0)
        return node;
    const char *commands = commands_for_another(set, claimed);
    if (better.system_identifier == static_cast<std::int64_t>(GetSystemIdentifier()))
        raise_reserved(node, commands);
    raise_taken(better, commands);
}

void table_changed(Datum, Oid relid) {
    if (relid == table_oid || !OidIsValid(relid))
        forget();
}

} // namespace

void forget() {
    ++forgotten_times;
    known = {};
}

int look_up(std::int64_t now_us) {
    AcceptInvalidationMessages();
    const std::uint64_t before = forgotten_times;
    const int node = known.node != 0 ? known.node : find_node();
    if (before == forgotten_times)
        known = {.node = node, .checked_us = static_cast<std::uint64_t>(now_us)};
    return node;
}

void tell_of_change(Relation table) {
    CacheInvalidateRelcache(table);
}

void define() {
    CacheRegisterRelcacheCallback(table_changed, 0);
}

} // namespace snowflake::nodes
