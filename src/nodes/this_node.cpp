#include "this_node.hpp"

#include "announcer.hpp"
#include "former_self.hpp"
#include "node_errors.hpp"
#include "registry.hpp"
#include "server/clock.hpp"
#include "settings.hpp"

namespace snowflake::this_node {

Known known{};

namespace {

Oid table_oid = InvalidOid;        // of snowflake.nodes, where the session has looked
std::uint64_t forgotten_times = 0; // counts calls of forget()

// Whether this instance has left unsaid what others should know.
bool lacks_word(const registry::Registry &registry, const Verdict<registry::StoredAct> &verdict) {
    return registry.lack(verdict, settings::node_for_registry() != settings::node_unset).any();
}

// Warns the client whose session is the first to find that the instance runs elsewhere.
void warn_if_moved(const registry::Registry &registry) {
    if (registry.is_at_home())
        return;
    if (const char *before = registry::moved_from())
        report_moved(WARNING, before);
}

int find_node(std::int64_t now_us) {
    static_assert(settings::node_unset == 0, "what judge() takes for no setting");
    PreventCommandIfParallelMode("snowflake.node()"); // which cannot take the latest snapshot
    const int setting = settings::node();
    table_oid = registry::find_name(); // before the reading, in which a change may arrive
    const registry::Registry registry = registry::of(registry::read_concerning(table_oid, setting));
    auto verdict = registry.judge(setting, now_us);
    if (verdict.standing == Standing::unset)
        verdict.reason = former_self::find(registry);
    if (verdict.standing != Standing::valid)
        raise_refused(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, verdict, setting);
    if (lacks_word(registry, verdict)) {
        warn_if_moved(registry);
        announcer::start(announcer::Task::say_what_lacks, InvalidTransactionId);
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
    const int node = known.node != 0 ? known.node : find_node(now_us);
    if (before == forgotten_times)
        known = {.node = node, .checked_us = static_cast<std::uint64_t>(now_us)};
    return node;
}

void hear(Relation table, HeapTuple added) {
    const int setting = settings::node();
    const registry::Arrival arrival = registry::read_arrival(table, added, setting);
    if (arrival.arrived == nullptr)
        return;
    const registry::Registry registry = registry::of(arrival.acts);
    report_arrival(registry, *arrival.arrived);
    if (lacks_word(registry, registry.judge(setting, clock_us())))
        announcer::start(announcer::Task::say_what_lacks, GetTopTransactionId());
}

void init() {
    CacheRegisterRelcacheCallback(table_changed, 0);
}

} // namespace snowflake::this_node
