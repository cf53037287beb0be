#include "node_commands.hpp"

#include "announcer.hpp"
#include "former_self.hpp"
#include "latest_ids.hpp"
#include "node_errors.hpp"
#include "pure/lease.hpp"
#include "server/clock.hpp"
#include "server_place.hpp"
#include "settings.hpp"

namespace snowflake::node_commands {

namespace {

using registry::Registry;
using registry::StoredAct;

// The registry as a command reads it under the lock.
struct Start {
    Registry registry;
    std::int64_t now_us;
};

Start begin() {
    registry::lock();
    // A snapshot that stays would not show the tables and sequences whose latest IDs are looked at.
    if (IsolationUsesXactSnapshot())
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot change snowflake nodes in a transaction of isolation level %s",
                       XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ"),
                errhint("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT snowflake.claim_node(); "
                        "COMMIT;"));
    return {.registry = registry::of(registry::read()), .now_us = clock_us()};
}

// Calls action with each part of an act's range for which the act is still in force.
template <typename Action>
void for_each_standing_part(const Registry &registry, const StoredAct &act, Action action) {
    for_each_part(
        act.first, act.last, [&](std::int32_t node) { return registry.stands(act, node); }, action);
}

void require_range(std::int32_t first, std::int32_t last) {
    if (first >= 1 && last <= last_claimable_node && first <= last)
        return;
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            first == last
                ? errmsg("snowflake node %d is out of range", first)
                : errmsg("snowflake nodes %d to %d are not a range of nodes", first, last),
            errdetail("Nodes are 1 to %d.", last_claimable_node),
            errhint("%s", how_to_claim_another()));
}

// Others would take such a claim for worse than every other.
void require_credible_clock(const Start &start) {
    if (start.now_us < default_layout.epoch_us())
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("cannot claim a snowflake node by a clock that stands before the epoch"),
                errdetail("The clock reads %s; the epoch is %s.", time_text(start.now_us),
                          time_text(default_layout.epoch_us())),
                errhint("Set the system clock of the server."));
}

// From when on another instance may have the numbers: when their last IDs lie in the past by
// everybody's clock.
std::int64_t free_from(const Start &start, std::int32_t first, std::int32_t last) {
    const LatestId *latest_ids = find_latest_ids();
    std::int64_t last_us = std::max(start.now_us, last_id_of_sequences_us(first, last));
    for (std::int32_t node = first; node <= last; ++node)
        last_us = std::max(last_us, latest_ids[node].unix_us);
    return last_us + clock_tolerance_us;
}

// Only the server that has made a claim, or has said that it took its place, gives it up.
void require_at_home(const Start &start) {
    if (const StoredAct *before = start.registry.last_said_elsewhere())
        report_moved(ERROR, before->where);
}

void require_not_copied(const Start &start, int setting) {
    if (const auto verdict = start.registry.judge(setting, start.now_us);
        verdict.standing == Standing::copied)
        raise_refused(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, verdict, setting);
}

// Finds when another instance has last shown that it lives, by an act or by an ID at hand.
std::int64_t last_sign_of(const Start &start, const Instance &instance) {
    const LatestId *latest_ids = find_latest_ids();
    std::int64_t last_us = 0;
    for (const StoredAct &act : start.registry.acts()) {
        if (act.about != instance || act.kind == Kind::remove)
            continue;
        last_us = std::max(last_us, act.said_at);
        for (std::int32_t node = act.first; act.holds() && node <= act.last; ++node)
            if (start.registry.stands(act, node))
                last_us = std::max(last_us, latest_ids[node].unix_us);
    }
    return last_us;
}

// The instance that was last removed without force, and the transaction.
Instance removed{};
LocalTransactionId removed_in = InvalidLocalTransactionId;

// Refuses to remove a second instance in a transaction: a query may have found it by a name that
// both have.
void require_single(const Instance &instance) {
    const bool is_first = removed_in != server::current_transaction();
    if (!is_first && removed != instance)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("cannot remove more than one instance in a transaction"),
                errdetail("Several may have the same name."),
                errhint("To remove this one, too: SELECT snowflake.remove_node(%s, force => true);",
                        arguments_for(instance)));
    removed = instance;
    removed_in = server::current_transaction();
}

// Refuses to remove an instance that has shown itself lately: it lives, as far as anybody knows,
// and would stop.
void require_silent(const Start &start, const Instance &instance, std::int64_t last_sign_us) {
    constexpr std::int64_t silence_us = 5 * 60 * 1'000'000LL;
    if (last_sign_us <= start.now_us - silence_us)
        return;
    ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
            errmsg("the instance has shown within the last five minutes that it lives"),
            errdetail("Its last act, or the last ID with its number, is of %s.",
                      time_text(last_sign_us)),
            errhint("If it is gone for good: SELECT snowflake.remove_node(%s, force => true);",
                    arguments_for(instance)));
}

// Warns that somebody else may be using a number: its IDs are in tables.
void warn_of_ids(const LatestId *latest_ids, std::int32_t node) {
    ereport(WARNING, errmsg("tables of this database have IDs of snowflake node %d", node),
            errdetail("The latest is of %s, in table %s.", time_text(latest_ids[node].unix_us),
                      server::qualified_name(latest_ids[node].table)),
            errhint("If another server makes them: SELECT snowflake.release_node(); "
                    "SELECT snowflake.claim_node();"));
}

// Chooses a number that fits the layouts and is in no ID at hand. Whoever can make a table can
// write IDs of all numbers: where nothing else is left, first the layouts give way, then the IDs.
std::int32_t choose(const Start &start) {
    const LatestId *latest_ids = find_latest_ids();
    const auto choose_up_to = [&](std::int32_t last, bool believes_ids) {
        const auto latest = [&](std::int32_t candidate) {
            CHECK_FOR_INTERRUPTS();
            return believes_ids ? latest_ids[candidate].unix_us : 0;
        };
        return start.registry.choose(start.now_us, latest, last);
    };
    std::int32_t node = choose_up_to(last_fitting_node(), true);
    if (node == 0)
        node = choose_up_to(last_claimable_node, true);
    if (node != 0)
        return node;
    node = choose_up_to(last_claimable_node, false);
    if (node == 0)
        ereport(ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                errmsg("all snowflake nodes are claimed"),
                errhint("Remove instances that are gone for good: SELECT * FROM "
                        "snowflake.cluster; SELECT snowflake.remove_node(system_identifier, "
                        "database);"));
    warn_of_ids(latest_ids, node);
    return node;
}

// Compares a number that the caller has named with the IDs in tables. Past IDs of the number only
// raise a warning: the caller may know that their maker is gone. IDs of a time to come raise an
// error, because this instance could make the same IDs again.
void check_latest_ids(const Start &start, std::int32_t node) {
    const LatestId *latest_ids = find_latest_ids();
    const std::int64_t latest = latest_ids[node].unix_us;
    if (latest > start.now_us)
        ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
                errmsg("snowflake node %d has made IDs of a time to come", node),
                errdetail("Table %s has IDs of the node up to %s.",
                          server::qualified_name(latest_ids[node].table), time_text(latest)),
                errhint("%s", how_to_claim_another()));
    if (latest != 0 && node != derived_node(start.registry.self()))
        warn_of_ids(latest_ids, node);
}

void require_claimable(const Start &start, std::int32_t node, int setting) {
    auto as_setting = start.registry.judge(node, start.now_us);
    if (as_setting.standing == Standing::removed) {
        // An explicit claim comes back, unless another has made one since.
        as_setting.reason = start.registry.better_claim(node, nullptr);
        if (as_setting.reason == nullptr)
            return;
        as_setting.standing = Standing::taken;
    }
    if (as_setting.standing != Standing::valid)
        raise_refused(as_setting.standing == Standing::copied
                          ? ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
                          : ERRCODE_OBJECT_IN_USE,
                      as_setting, setting);
}

// Raises 55000 if the instance has claimed another number than the one that it is to claim, or the
// setting gives it another.
void require_no_other(const StoredAct *kept, int setting, std::int32_t wanted) {
    if (kept != nullptr && kept->first != wanted)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("this instance has already claimed snowflake node %d", kept->first),
                errhint("To give it up for the other: SELECT snowflake.release_node(); "
                        "SELECT snowflake.claim_node(%d);",
                        wanted));
    if (setting != 0 && setting != wanted)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("cannot claim snowflake node %d: snowflake.node is %d", wanted, setting),
                errhint("To claim node %d, %sSELECT snowflake.claim_node(%d);", wanted,
                        settings::how_to_unset_node(), wanted));
}

// Publishes the registry, and warns where this server receives none.
void link_registry() {
    SPI_connect();
    if (SPI_execute("SELECT snowflake._link_registry()", false, 0) != SPI_OK_SELECT)
        elog(ERROR, "cannot publish snowflake.nodes");
    SPI_finish();
}

// The act by which this instance has a number; null: it does not have it.
const StoredAct *own_act_on(const Start &start, std::int32_t node) {
    const StoredAct *own = start.registry.standing(start.registry.self(), node);
    return own != nullptr && own->holds() ? own : nullptr;
}

// The act that release() ends; null: there is nothing to give up. Without a number it is the claim,
// or else what an earlier value of the setting has left behind.
const StoredAct *act_to_release(const Start &start, std::int32_t node, int setting) {
    if (node != 0)
        return own_act_on(start, node);
    if (const StoredAct *claim = start.registry.own_claim())
        return claim;
    const StoredAct *left = nullptr;
    for (const StoredAct &act : start.registry.acts())
        if (act.kind == Kind::setting && act.about == start.registry.self() &&
            act.first != setting && start.registry.stands(act, act.first))
            left = &act;
    return left;
}

// Raises 22021 for a name that a server of another encoding could not read: the row would stop its
// replication.
void require_ascii(const char *name) {
    if (name != nullptr && !pg_is_ascii(name))
        ereport(ERROR, errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
                errmsg("name \"%s\" has characters other than ASCII", name),
                errdetail("Servers whose encodings lack them could not read it."),
                errhint("SELECT snowflake.claim_node(name => 'north');"));
}

void confirm_claim(const Start &start, const StoredAct &own, const char *name) {
    const bool is_renamed = name != nullptr && strcmp(name, own.name) != 0;
    if (!is_renamed && start.registry.is_at_home())
        return;
    StoredAct act = registry::repeat(start.registry, start.registry.self(), own, start.now_us);
    if (name != nullptr)
        act.name = name;
    registry::write_again(act, !start.registry.is_settled());
}

} // namespace

std::int32_t claim(std::optional<std::int32_t> node, const char *name) {
    require_ascii(name);
    const Start start = begin();
    const int setting = settings::node();
    require_not_copied(start, setting);
    const StoredAct *own = start.registry.own_claim();
    const bool is_lost = own != nullptr && start.registry.better_claim(own->first, own) != nullptr;
    const StoredAct *kept = is_lost ? nullptr : own;
    const StoredAct *former = former_self::find(start.registry);
    if (!node && kept == nullptr && former != nullptr)
        raise_upgraded(*former);
    const bool is_chosen = !node && kept == nullptr && setting == 0;
    const std::int32_t wanted =
        is_chosen ? choose(start) : node.value_or(kept != nullptr ? kept->first : setting);
    require_range(wanted, wanted);
    require_no_other(kept, setting, wanted);
    if (kept != nullptr) {
        confirm_claim(start, *kept, name);
        if (const char *before = registry::moved_from())
            report_moved(WARNING, before);
        link_registry();
        return wanted;
    }
    if (own == nullptr || own->first != wanted)
        require_credible_clock(start);
    // The number that was lost is given up first, so that the rule looks at the other alone.
    if (own != nullptr && own->first != wanted)
        registry::give_up(start.registry, Kind::release, *own, own->first, own->last, start.now_us,
                          free_from(start, own->first, own->last));
    const Start now{.registry = registry::of(registry::read()), .now_us = start.now_us};
    require_claimable(now, wanted, setting);
    const StoredAct *before = now.registry.standing(now.registry.self(), wanted);
    if (!is_chosen && before == nullptr)
        check_latest_ids(now, wanted);
    StoredAct act = registry::begin_act(now.registry, now.registry.self(), now.now_us);
    act.kind = Kind::claim;
    act.first = act.last = wanted;
    if (name != nullptr || own != nullptr)
        act.name = name != nullptr ? name : own->name;
    registry::date_claim(act, now.registry, now.now_us);
    if (before != nullptr && before->holds())
        act.claimed_at = before->claimed_at;
    registry::write(act);
    link_registry();
    return wanted;
}

GivenUp release(std::int32_t node) {
    const Start start = begin();
    const int setting = settings::node();
    const StoredAct *own = act_to_release(start, node, setting);
    const bool is_reserved = own != nullptr && own->kind == Kind::reserve;
    const std::int32_t first = own == nullptr || is_reserved ? node : own->first;
    const std::int32_t last = own == nullptr || is_reserved ? node : own->last;
    if (setting != 0 && (first == setting || first == 0))
        ereport(
            ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("cannot give up snowflake node %d while snowflake.node is %d", setting, setting),
            errhint("To give it up, %sSELECT snowflake.release_node(%d);",
                    settings::how_to_unset_node(), setting));
    if (own == nullptr)
        return {};
    require_at_home(start);
    if (is_reserved && !keep_from_leases(node))
        ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
                errmsg("snowflake node %d is leased to a session", node),
                errhint("Wait until the session has ended."));
    const GivenUp given_up{.node = first, .free_from = free_from(start, first, last)};
    registry::give_up(start.registry, Kind::release, *own, first, last, start.now_us,
                      given_up.free_from);
    return given_up;
}

std::int64_t remove(const Instance &instance, bool forced) {
    const Start start = begin();
    if (instance == start.registry.self())
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("these are the identifiers of this instance itself"),
                errhint("To give up its number: SELECT snowflake.release_node();"));
    const std::int64_t last_sign_us = last_sign_of(start, instance);
    if (!forced) {
        require_silent(start, instance, last_sign_us);
        require_single(instance);
    }
    std::int64_t latest = 0;
    for (const StoredAct &act : start.registry.acts()) {
        if (act.about != instance || !act.holds())
            continue;
        for_each_standing_part(start.registry, act, [&](std::int32_t first, std::int32_t last) {
            const std::int64_t from =
                std::max(free_from(start, first, last), last_sign_us + clock_tolerance_us);
            registry::give_up(start.registry, Kind::remove, act, first, last, start.now_us, from);
            latest = std::max(latest, from);
        });
    }
    return latest;
}

std::int32_t separate(bool forced) {
    const Start start = begin();
    const StoredAct *last = start.registry.last_said();
    const bool copied = start.registry.proof_of_original() != nullptr;
    if (!forced && last != nullptr && start.registry.is_settled() && !copied)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("this server is no copy: it runs where it claimed its snowflake node"),
                errdetail("It runs at %s.", server_place::here()),
                errhint("If it is a copy nonetheless: SELECT snowflake.separate_copy(true);"));
    StoredAct act = registry::begin_act(start.registry, start.registry.self(), start.now_us);
    act.kind = Kind::separate;
    act.about.copy = static_cast<std::int64_t>(act.id.low >> 1U | 1U);
    registry::write(act);
    return claim(std::nullopt, nullptr);
}

std::int32_t take_over(bool forced) {
    const Start start = begin();
    const Instance &self = start.registry.self();
    const bool is_itself =
        !start.registry.is_settled() || start.registry.proof_of_original() != nullptr;
    const StoredAct *former = is_itself ? nullptr : former_self::find(start.registry, false);
    if (!is_itself && former == nullptr)
        return 0;
    if (!is_itself && !forced && !former_self::is_of_earlier_version(*former))
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("this server has not been upgraded since \"%s\" claimed its snowflake node",
                       one_line(former->name)),
                errdetail("It may be a copy beside that instance."),
                errhint("If it is: SELECT snowflake.claim_node(); If the other is gone for good: "
                        "SELECT snowflake.take_over_node(true);"));
    std::int32_t count = 0;
    for (const StoredAct &act : start.registry.acts()) {
        if (act.about != (is_itself ? self : former->about) || !act.holds())
            continue;
        for_each_standing_part(start.registry, act, [&](std::int32_t first, std::int32_t last) {
            if (!is_itself)
                registry::give_up(start.registry, Kind::remove, act, first, last, start.now_us,
                                  start.now_us);
            StoredAct again = registry::repeat(start.registry, self, act, start.now_us);
            again.said_at += count; // each is said after the one before
            again.first = first;
            again.last = last;
            registry::write(again);
            count += last - first + 1;
        });
    }
    if (count == 0)
        registry::write(registry::begin_act(start.registry, self, start.now_us));
    link_registry();
    return count;
}

std::int32_t reserve(std::int32_t first, std::int32_t last) {
    require_range(first, last);
    const Start start = begin();
    require_at_home(start);
    require_not_copied(start, settings::node());
    require_credible_clock(start);
    StringInfoData in_use;
    initStringInfo(&in_use);
    for (std::int32_t node = first; node <= last; ++node) {
        const StoredAct *own = own_act_on(start, node);
        if (node == settings::node() || (own != nullptr && own->kind != Kind::reserve) ||
            start.registry.is_taken(node, start.now_us))
            appendStringInfo(&in_use, in_use.len == 0 ? "%d" : ", %d", node);
    }
    if (in_use.len > 0)
        ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
                errmsg("snowflake nodes %d to %d are not all free", first, last),
                errdetail("In use: %s.", in_use.data),
                errhint("To see by whom: SELECT node, name FROM snowflake.cluster ORDER BY node;"));
    std::int32_t count = 0;
    const auto is_new = [&](std::int32_t node) { return own_act_on(start, node) == nullptr; };
    for_each_part(first, last, is_new, [&](std::int32_t from, std::int32_t to) {
        StoredAct act = registry::begin_act(start.registry, start.registry.self(), start.now_us);
        act.said_at += count;
        act.kind = Kind::reserve;
        act.first = from;
        act.last = to;
        registry::date_claim(act, start.registry, start.now_us);
        registry::write(act);
        count += to - from + 1;
    });
    return count;
}

} // namespace snowflake::node_commands
