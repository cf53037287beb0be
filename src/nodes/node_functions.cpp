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

// The acts that concern one number, as this instance sees them. They alone decide on the number,
// and of many acts they are few.
class OfNumber {
  public:
    explicit OfNumber(registry::Acts all)
        : all_(all), self_(registry::of(all).self()),
          some_(static_cast<registry::StoredAct *>(palloc((all.size() + 1) * sizeof *some_))),
          registry_(registry::of({})) {}

    // Returns the registry of a number, which holds until that of another is asked for.
    const registry::Registry &registry(std::int32_t node) {
        if (node == node_)
            return registry_;
        const registry::StoredAct *end = std::copy_if(
            all_.begin(), all_.end(), some_, [this, node](const registry::StoredAct &act) {
                return concerns(act, self_.system_identifier, self_.database, node);
            });
        registry_ = registry::of({some_, end});
        node_ = node;
        return registry_;
    }

  private:
    registry::Acts all_;
    Instance self_;
    registry::StoredAct *some_;
    registry::Registry registry_;
    std::int32_t node_ = 0;
};

// Adds rows for what is still in force of an act: one for each part that was lost to the same
// instance, or to none. A copy has lost all to its original.
void put_act(const ReturnSetInfo &result, OfNumber &of_number, const registry::StoredAct &act,
             bool is_own, const registry::StoredAct *original) {
    std::int32_t first = 0;
    ActId lost_by{};
    const char *lost_to = nullptr;
    const std::int32_t end = act.last + 1;
    for (std::int32_t node = act.first; node <= end; ++node) {
        CHECK_FOR_INTERRUPTS();
        const bool stands = node < end && of_number.registry(node).stands(act, node);
        const registry::StoredAct *better =
            stands ? of_number.registry(node).better_claim(node, &act) : nullptr;
        if (stands && better == nullptr && is_own)
            better = original;
        const ActId better_id = better == nullptr ? ActId{} : better->id;
        if (first != 0 && (!stands || better_id != lost_by)) {
            put_numbers(result, act, registry::word_for(act.kind), first, node - 1, is_own,
                        lost_to);
            first = 0;
        }
        if (stands && first == 0) {
            first = node;
            lost_by = better_id;
            lost_to = better == nullptr ? nullptr : better->name;
        }
    }
}

// Adds rows for all acts, sorted by their first numbers.
void put_acts(const ReturnSetInfo &result, registry::Acts all, const registry::Registry &registry) {
    const std::size_t bytes = (all.size() + 1) * sizeof(registry::StoredAct *);
    auto **begin = static_cast<const registry::StoredAct **>(palloc(bytes));
    auto **end = begin;
    for (const registry::StoredAct &act : all)
        if (act.holds())
            *end++ = &act;
    std::sort(begin, end, [](const registry::StoredAct *one, const registry::StoredAct *other) {
        return one->first < other->first;
    });
    const registry::StoredAct *original = registry.proof_of_original();
    OfNumber of_number(all);
    for (auto **act = begin; act != end; ++act)
        put_act(result, of_number, **act, (*act)->about == registry.self(), original);
}

} // namespace

extern "C" {

// node() returns integer
SNOWFLAKE_FUNCTION(snowflake_node);
Datum snowflake_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT32(this_node::number(clock_us()));
}

// _node_setting() returns integer: the setting as the module knows it. A value that somebody gave
// before the module was loaded has been checked by then. A parallel worker that loads the module
// does not get to know the value.
SNOWFLAKE_FUNCTION(snowflake_node_setting);
Datum snowflake_node_setting(PG_FUNCTION_ARGS) {
    if (settings::node() == settings::node_unset)
        PG_RETURN_NULL();
    PG_RETURN_INT32(settings::node());
}

// _cluster() returns setof record
SNOWFLAKE_FUNCTION(snowflake_cluster);
Datum snowflake_cluster(PG_FUNCTION_ARGS) {
    InitMaterializedSRF(fcinfo, 0);
    const auto &result = *reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    const registry::Acts all = registry::read();
    const registry::Registry registry = registry::of(all);
    put_acts(result, all, registry);
    if (const registry::StoredAct *counterpart = registry.latest_counterpart_act())
        put_numbers(result, *counterpart, "copy", counterpart->first, counterpart->last, false,
                    registry.is_senior_to(*counterpart) ? registry.last_said()->name : nullptr);
    return Datum{0};
}

// _moved_from() returns text
SNOWFLAKE_FUNCTION(snowflake_moved_from);
Datum snowflake_moved_from(PG_FUNCTION_ARGS) {
    const char *before = registry::moved_from(registry::read());
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

// release_nodes(integer, integer) returns timestamptz
SNOWFLAKE_FUNCTION(snowflake_release_nodes);
Datum snowflake_release_nodes(PG_FUNCTION_ARGS) {
    PG_RETURN_DATUM(time_datum(
        node_commands::release_reserved(PG_GETARG_INT32(0), PG_GETARG_INT32(1)).free_from));
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
    this_node::tell_of_change(trigger.tg_relation);
    if (TRIGGER_FIRED_BY_INSERT(trigger.tg_event))
        this_node::hear(trigger.tg_relation, trigger.tg_trigtuple);
    return no_row;
}

} // extern "C"
