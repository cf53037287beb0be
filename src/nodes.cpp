#include "nodes.hpp"

#include "acts.hpp"
#include "announcer.hpp"
#include "node_errors.hpp"
#include "settings.hpp"

namespace snowflake::nodes {

Known known{};

namespace {

Oid table_oid = InvalidOid;        // of snowflake.nodes, where the session has looked
std::uint64_t forgotten_times = 0; // counts calls of forget()

int find_node(std::int64_t now_us) {
    static_assert(settings::node_unset == 0, "what judge() takes for no setting");
    PreventCommandIfParallelMode("snowflake.node()"); // which cannot take the latest snapshot
    const int setting = settings::node();
    table_oid = acts::find_table();
    const acts::View view = acts::see(acts::read());
    const auto verdict = view.judge(setting, now_us);
    if (verdict.standing != Standing::valid)
        raise_refused(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, verdict, setting);
    const bool counts = settings::node_is_given_to_all();
    if (view.lack(verdict, counts).any())
        announcer::start(counts ? setting : settings::node_unset);
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
    const int node = known.node != 0 ? known.node : find_node(now_us);
    if (before == forgotten_times)
        known = {.node = node, .checked_us = static_cast<std::uint64_t>(now_us)};
    return node;
}

void tell_of_change(Relation table) {
    CacheInvalidateRelcache(table);
}

void init() {
    CacheRegisterRelcacheCallback(table_changed, 0);
}

} // namespace snowflake::nodes
