#include "nodes.hpp"

#include "claims.hpp"
#include "schema.hpp"
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

// Raises an error if the table is not as the extension made it. Its values are not to be trusted
// then.
void require_own_definition(Relation table) {
    constexpr Oid types[] = {INT4OID, INT8OID, TEXTOID, TIMESTAMPTZOID, BOOLOID};
    TupleDesc row = RelationGetDescr(table);
    bool is_own = table->rd_rel->relkind == RELKIND_RELATION && row->natts >= column_leased;
    for (int i = 0; is_own && i < column_leased; ++i) {
        const FormData_pg_attribute &column = *TupleDescAttr(row, i);
        is_own = !column.attisdropped && column.attnotnull && column.atttypid == types[i];
    }
    if (!is_own)
        ereport(
            ERROR, errcode(ERRCODE_INVALID_TABLE_DEFINITION),
            errmsg("\"%s\" is not as the extension has made it", server::qualified_name(table_oid)),
            errdetail(
                "Its first columns must be node integer, system_identifier bigint, name text, "
                "claimed_at timestamptz and leased boolean, all of them NOT NULL."));
}

// Calls action with each row of snowflake.nodes. The table may be gone, where another session drops
// the extension.
template <typename Action>
void for_each_claim(Action action) {
    table_oid = get_relname_relid("nodes", schema::find());
    Relation table =
        OidIsValid(table_oid) ? try_relation_open(table_oid, AccessShareLock) : nullptr;
    if (table == nullptr)
        return;
    require_own_definition(table);
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    TupleTableSlot *row = table_slot_create(table, nullptr);
    TableScanDesc scan = table_beginscan(table, snapshot, 0, nullptr);
    while (table_scan_getnextslot(scan, ForwardScanDirection, row))
        action(read_claim(row));
    table_endscan(scan);
    ExecDropSingleTupleTableSlot(row);
    UnregisterSnapshot(snapshot);
    relation_close(table, AccessShareLock);
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

[[noreturn]] void raise_reserved(int error_code, int node, bool claimed) {
    ereport(ERROR, errcode(error_code),
            errmsg("snowflake node %d is reserved for leases on this instance", node),
            errhint("%s", how_to_claim_another(claimed)));
    pg_unreachable();
}

[[noreturn]] void raise_owned(int error_code, const NamedClaim &better, bool claimed) {
    ereport(
        ERROR, errcode(error_code),
        errmsg("snowflake node %d belongs to another instance, \"%s\"", better.node, better.name),
        errdetail("The instance with the system identifier %lld claimed it at %s.",
                  static_cast<long long>(better.system_identifier),
                  timestamptz_to_str(better.claimed_at)),
        errhint("%s", how_to_claim_another(claimed)));
    pg_unreachable();
}

std::int64_t this_instance() {
    return static_cast<std::int64_t>(GetSystemIdentifier());
}

// Asks the rule of claims about this instance, as if this were its setting.
Verdict<NamedClaim> judge_this_instance(int setting) {
    PreventCommandIfParallelMode("snowflake.node()"); // which cannot take the latest snapshot
    static_assert(settings::node_unset == 0, "what judge() takes for no setting");
    return judge<NamedClaim>(setting, this_instance(), [](auto action) { for_each_claim(action); });
}

// Raises the error for a number to which there is a better claim.
[[noreturn]] void raise_taken(int error_code, const Verdict<NamedClaim> &verdict) {
    const bool claimed = verdict.own.node != 0;
    if (verdict.better.system_identifier == this_instance())
        raise_reserved(error_code, verdict.node, claimed);
    raise_owned(error_code, verdict.better, claimed);
}

int find_node() {
    const int setting = settings::node();
    const auto verdict = judge_this_instance(setting);
    switch (verdict.standing) {
    case Standing::valid:
        break;
    case Standing::unset:
        raise_unset();
    case Standing::disagreement:
        raise_disagreement(setting, verdict.own.node);
    case Standing::taken:
        raise_taken(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, verdict);
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

int claimed_node() {
    return judge_this_instance(settings::node_unset).own.node;
}

void require_claimable(int node) {
    const auto verdict = judge_this_instance(node);
    if (verdict.standing == Standing::taken)
        raise_taken(ERRCODE_OBJECT_IN_USE, verdict);
}

// The instance has to give up its number in every form that it has it: the setting, and the claim.
const char *how_to_claim_another(bool claimed) {
    return psprintf("To claim a free one, %s%sSELECT snowflake.claim_node();",
                    settings::how_to_unset_node(),
                    claimed ? "SELECT snowflake.release_node(); " : "");
}

void init() {
    CacheRegisterRelcacheCallback(table_changed, 0);
}

} // namespace snowflake::nodes
