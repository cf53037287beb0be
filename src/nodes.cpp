#include "nodes.hpp"

#include "claims.hpp"
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

struct NamedClaim : Claim {
    const char *name = nullptr; // palloc'd
};

NamedClaim read_claim(TupleTableSlot *row) {
    const auto attribute = [row](Column column) {
        bool is_null = false;
        return slot_getattr(row, column, &is_null); // no column is nullable
    };
    NamedClaim claim;
    claim.node = DatumGetInt32(attribute(column_node));
    claim.system_identifier = DatumGetInt64(attribute(column_system_identifier));
    claim.claimed_at = DatumGetTimestampTz(attribute(column_claimed_at));
    claim.leased = DatumGetBool(attribute(column_leased));
    claim.name = TextDatumGetCString(attribute(column_name));
    return claim;
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
            errhint("As a superuser, run for example: LOAD 'snowflake'; "
                    "ALTER SYSTEM SET snowflake.node = 1; SELECT pg_reload_conf(); "
                    "Or, to be given a number: SELECT snowflake.claim_node();"));
    pg_unreachable();
}

[[noreturn]] void raise_disagreement(int setting, int claimed) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake.node is %d, but this instance has claimed node %d", setting, claimed),
            errhint("To keep node %d, %sSELECT snowflake.claim_node(%d); "
                    "To keep node %d, run: SELECT snowflake.release_node();",
                    claimed, settings::how_to_unset_node(), claimed, setting));
    pg_unreachable();
}

// The number is given up in every form that this instance has it, and a free one taken.
int hint_at_another(bool claimed) {
    return errhint("To claim a free one, %s%sSELECT snowflake.claim_node();",
                   settings::how_to_unset_node(),
                   claimed ? "SELECT snowflake.release_node(); " : "");
}

[[noreturn]] void raise_taken(const NamedClaim &better, bool claimed) {
    ereport(
        ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
        errmsg("snowflake node %d belongs to another instance, \"%s\"", better.node, better.name),
        errdetail("The instance with the system identifier %lld claimed it at %s.",
                  static_cast<long long>(better.system_identifier),
                  timestamptz_to_str(better.claimed_at)),
        hint_at_another(claimed));
    pg_unreachable();
}

[[noreturn]] void raise_reserved(int node, bool claimed) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake node %d is reserved for leases on this instance", node),
            hint_at_another(claimed));
    pg_unreachable();
}

int find_node() {
    static_assert(settings::node_unset == 0, "what judge() takes for no setting");
    const auto identifier = static_cast<std::int64_t>(GetSystemIdentifier());
    const int setting = settings::node();
    const auto verdict =
        judge<NamedClaim>(setting, identifier, [](auto action) { for_each_claim(action); });
    switch (verdict.standing) {
    case Standing::valid:
        break;
    case Standing::unset:
        raise_unset();
    case Standing::disagreement:
        raise_disagreement(setting, verdict.own.node);
    case Standing::taken:
        const bool claimed = verdict.own.node != 0;
        if (verdict.better.system_identifier == identifier)
            raise_reserved(verdict.node, claimed);
        raise_taken(verdict.better, claimed);
    }
    return verdict.node;
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
