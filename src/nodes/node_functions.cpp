// The functions of SQL on node numbers: only arguments in and results out. The rules stand in
// other files.

#include "announcer.hpp"
#include "node_commands.hpp"
#include "node_errors.hpp"
#include "registry.hpp"
#include "registry_guard.hpp"
#include "server/clock.hpp"
#include "server/server.hpp"
#include "settings.hpp"
#include "this_node.hpp"

using namespace snowflake;

namespace {

Datum time_datum(std::int64_t unix_us) {
    return TimestampTzGetDatum(unix_us - server::unix_to_server_us);
}

Instance instance_argument(FunctionCallInfo fcinfo) {
    return {.system_identifier = PG_GETARG_INT64(0),
            .database = PG_GETARG_INT64(1),
            .copy = PG_GETARG_INT64(2)};
}

const TriggerData &trigger_of(FunctionCallInfo fcinfo, const char *function) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                errmsg("function \"snowflake.%s\" was not called as a trigger", function));
    return *reinterpret_cast<TriggerData *>(fcinfo->context);
}

// The result of a trigger that fires after its event, or for a statement. The server ignores it.
constexpr Datum no_row{};

// Adds a row of the view snowflake.cluster: the numbers first to last, which an instance has by an
// act, and to whom it has lost them.
void put_numbers(const ReturnSetInfo &result, const registry::StoredAct &act, const char *kind,
                 std::int32_t first, std::int32_t last, bool is_own, const char *lost_to) {
    Datum values[] = {Int32GetDatum(first),
                      Int32GetDatum(last),
                      CStringGetTextDatum(kind),
                      CStringGetTextDatum(act.name),
                      BoolGetDatum(is_own),
                      lost_to == nullptr ? Datum{0} : CStringGetTextDatum(lost_to),
                      time_datum(act.claimed_at),
                      Int64GetDatum(act.about.system_identifier),
                      Int64GetDatum(act.about.database),
                      Int64GetDatum(act.about.copy),
                      CStringGetTextDatum(act.where),
                      CStringGetTextDatum(act.version)};
    bool nulls[std::size(values)] = {};
    nulls[5] = lost_to == nullptr;
    tuplestore_putvalues(result.setResult, result.setDesc, values, nulls);
}

// Adds rows for what is still in force of each act: one for each part that was lost to the same
// instance, or to none. A copy has lost all to its original.
void put_acts(const ReturnSetInfo &result, const registry::Registry &registry) {
    const registry::Acts all = registry.acts();
    const Instance &self = registry.self();
    const registry::StoredAct *original = registry.proof_of_original();
    // The acts that concern a number decide on it alone, and of many acts they are few.
    auto *some = static_cast<registry::StoredAct *>(palloc((all.size() + 1) * sizeof *all.data()));
    std::int32_t number = 0;
    registry::Registry of_number = registry;
    for (const registry::StoredAct &act : all) {
        const auto lost_to = [&](std::int32_t node) {
            const registry::StoredAct *better = of_number.better_claim(node, &act);
            return better == nullptr && act.about == self ? original : better;
        };
        const auto lost_by = [&](std::int32_t node) -> std::optional<ActId> {
            CHECK_FOR_INTERRUPTS();
            if (node != number)
                of_number = registry::of(
                    {some, std::copy_if(all.begin(), all.end(), some, [&](const Act &one) {
                         return concerns(one, self.system_identifier, self.database, node);
                     })});
            number = node;
            if (!of_number.stands(act, node))
                return std::nullopt;
            const registry::StoredAct *better = lost_to(node);
            return better == nullptr ? ActId{} : better->id;
        };
        const auto put = [&](std::int32_t first, std::int32_t last) {
            (void)lost_by(first);
            const registry::StoredAct *better = lost_to(first);
            put_numbers(result, act, registry::word_for(act.kind), first, last, act.about == self,
                        better == nullptr ? nullptr : better->name);
        };
        if (act.holds())
            for_each_part(act.first, act.last, lost_by, put);
    }
}

} // namespace

extern "C" {

// node() returns integer
SNOWFLAKE_FUNCTION(snowflake_node);
Datum snowflake_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT32(this_node::number(clock_us()));
}

// _cluster() returns setof record
SNOWFLAKE_FUNCTION(snowflake_cluster);
Datum snowflake_cluster(PG_FUNCTION_ARGS) {
    InitMaterializedSRF(fcinfo, 0);
    const auto &result = *reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    const registry::Registry registry = registry::of(registry::read());
    put_acts(result, registry);
    if (const registry::StoredAct *counterpart = registry.latest_counterpart_act())
        put_numbers(result, *counterpart, "copy", counterpart->first, counterpart->last, false,
                    registry.is_senior_to(*counterpart) ? registry.last_said()->name : nullptr);
    return Datum{0};
}

// _moved_from() returns text
SNOWFLAKE_FUNCTION(snowflake_moved_from);
Datum snowflake_moved_from(PG_FUNCTION_ARGS) {
    const char *before = registry::moved_from();
    if (before == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_DATUM(CStringGetTextDatum(before));
}

// _say_what_lacks() returns boolean
SNOWFLAKE_FUNCTION(snowflake_say_what_lacks);
Datum snowflake_say_what_lacks(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    registry::lock();
    PG_RETURN_BOOL(announcer::say_what_lacks(settings::node_for_registry()));
}

// _exchange_claims() returns void
SNOWFLAKE_FUNCTION(snowflake_exchange_claims);
Datum snowflake_exchange_claims(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    registry::lock();
    announcer::repeat();
    announcer::ask();
    PG_RETURN_VOID();
}

// claim_node(integer, text) returns integer
SNOWFLAKE_FUNCTION(snowflake_claim_node);
Datum snowflake_claim_node(PG_FUNCTION_ARGS) {
    std::optional<std::int32_t> node;
    if (!PG_ARGISNULL(0))
        node = PG_GETARG_INT32(0);
    const char *name = PG_ARGISNULL(1) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(1));
    constexpr std::size_t longest_name = 255; // all sessions read it
    if (name != nullptr && std::strlen(name) > longest_name)
        ereport(ERROR, errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
                errmsg("name of an instance is too long for %zu bytes", longest_name));
    PG_RETURN_INT32(node_commands::claim(node, name));
}

// release_node(integer) returns (integer, timestamptz)
SNOWFLAKE_FUNCTION(snowflake_release_node);
Datum snowflake_release_node(PG_FUNCTION_ARGS) {
    const auto given_up = node_commands::release(PG_ARGISNULL(0) ? 0 : PG_GETARG_INT32(0));
    Datum values[] = {Int32GetDatum(given_up.node), time_datum(given_up.free_from)};
    bool nulls[] = {given_up.node == 0, given_up.node == 0};
    PG_RETURN_DATUM(server::row_datum(fcinfo, values, nulls));
}

// remove_node(bigint, bigint, bigint, boolean) returns timestamptz
SNOWFLAKE_FUNCTION(snowflake_remove_node);
Datum snowflake_remove_node(PG_FUNCTION_ARGS) {
    const std::int64_t free_from =
        node_commands::remove(instance_argument(fcinfo), PG_GETARG_BOOL(3));
    if (free_from == 0)
        PG_RETURN_NULL();
    PG_RETURN_DATUM(time_datum(free_from));
}

// separate_copy(boolean) returns integer
SNOWFLAKE_FUNCTION(snowflake_separate_copy);
Datum snowflake_separate_copy(PG_FUNCTION_ARGS) {
    PG_RETURN_INT32(node_commands::separate(PG_GETARG_BOOL(0)));
}

// take_over_node(boolean) returns integer
SNOWFLAKE_FUNCTION(snowflake_take_over_node);
Datum snowflake_take_over_node(PG_FUNCTION_ARGS) {
    PG_RETURN_INT32(node_commands::take_over(PG_GETARG_BOOL(0)));
}

// reserve_nodes(integer, integer) returns integer
SNOWFLAKE_FUNCTION(snowflake_reserve_nodes);
Datum snowflake_reserve_nodes(PG_FUNCTION_ARGS) {
    PG_RETURN_INT32(node_commands::reserve(PG_GETARG_INT32(0), PG_GETARG_INT32(1)));
}

// _guard_nodes() returns trigger
SNOWFLAKE_FUNCTION(snowflake_guard_nodes);
Datum snowflake_guard_nodes(PG_FUNCTION_ARGS) {
    const TriggerData &trigger = trigger_of(fcinfo, "_guard_nodes");
    if (TRIGGER_FIRED_FOR_STATEMENT(trigger.tg_event)) {
        registry_guard::guard_truncate(trigger);
        return no_row;
    }
    return PointerGetDatum(registry_guard::guard_row(trigger));
}

// _nodes_changed() returns trigger
SNOWFLAKE_FUNCTION(snowflake_nodes_changed);
Datum snowflake_nodes_changed(PG_FUNCTION_ARGS) {
    const TriggerData &trigger = trigger_of(fcinfo, "_nodes_changed");
    CacheInvalidateRelcache(trigger.tg_relation); // tells all sessions, once this commits
    if (TRIGGER_FIRED_BY_INSERT(trigger.tg_event))
        this_node::hear(trigger.tg_relation, trigger.tg_trigtuple);
    return no_row;
}

} // extern "C"
