#include "node_errors.hpp"

#include "server/clock.hpp"
#include "server/earlier_version.hpp"
#include "server_place.hpp"
#include "settings.hpp"

namespace snowflake {

namespace {

using registry::StoredAct;

[[noreturn]] void raise_unset() {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake.node is not set"),
            errdetail("Each database that makes snowflake IDs needs a node number of its own, "
                      "from 1 to %d.",
                      last_claimable_node),
            earlier_version::is_installed()
                ? errhint("%s", earlier_version::hint_to_update)
                : errhint("To be given a number: SELECT snowflake.claim_node();"));
    pg_unreachable();
}

[[noreturn]] void raise_disagreement(int setting, int claimed) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake.node is %d, but this instance has claimed node %d", setting, claimed),
            errhint("To keep node %d, %sSELECT snowflake.claim_node(%d); "
                    "To keep node %d, run: SELECT snowflake.release_node(); "
                    "SELECT snowflake.claim_node(%d);",
                    claimed, settings::how_to_unset_node(), claimed, setting, setting));
    pg_unreachable();
}

// Raises the error of a number that the instance cannot have.
[[noreturn]] void raise_not_its_own(int error_code, const Verdict<StoredAct> &verdict) {
    const StoredAct *reason = verdict.reason;
    const char *message = nullptr;
    const char *detail = nullptr;
    const char *more = "";
    if (verdict.standing == Standing::reserved) {
        message = "is reserved for node leases on this instance";
    } else if (verdict.standing == Standing::removed) {
        message = "was taken from this instance, as from one that is gone";
        detail = psprintf("A server at %s did so at %s.", one_line(reason->where),
                          time_text(reason->said_at));
    } else if (verdict.standing == Standing::kept_free) {
        message = psprintf("is kept free until %s", time_text(reason->free_from));
        detail = psprintf("Its last holder, \"%s\", may have made IDs up to that time.",
                          one_line(reason->name));
    } else {
        message = psprintf("belongs to another instance, \"%s\"", one_line(reason->name));
        detail = psprintf("It claimed the number at %s, and runs at %s.",
                          time_text(reason->claimed_at), one_line(reason->where));
        more = reason->written_here ? " If this server has taken its place, as after pg_upgrade: "
                                      "SELECT snowflake.take_over_node();"
                                    : psprintf(" If the other is gone for good, or unrelated: "
                                               "SELECT snowflake.remove_node(%s); It stops if it "
                                               "receives that.",
                                               arguments_for(reason->about));
    }
    ereport(ERROR, errcode(error_code), errmsg("snowflake node %d %s", verdict.node, message),
            detail == nullptr ? 0 : errdetail("%s", detail),
            errhint("%s%s", how_to_claim_another(), more));
    pg_unreachable();
}

[[noreturn]] void raise_copied(int error_code, const StoredAct &proof) {
    ereport(ERROR, errcode(error_code), errmsg("this server is a copy of another, which is in use"),
            errdetail("The original runs at %s, this server at %s.", one_line(proof.where),
                      server_place::here()),
            errhint("To make this server an instance of its own: SELECT snowflake.separate_copy(); "
                    "If the other is gone for good: SELECT snowflake.take_over_node();"));
    pg_unreachable();
}

// Returns the hint for an instance that has lost a number: the one that it uses, or one that it has
// reserved, or had by an earlier setting.
const char *how_to_do_without(const StoredAct &own, int node) {
    const bool is_used =
        own.kind == Kind::claim || (own.kind == Kind::setting && settings::node() == node);
    return is_used ? how_to_claim_another()
                   : psprintf("To give it up: SELECT snowflake.release_node(%d);", node);
}

void report_rival(const registry::Registry &registry, const StoredAct &own, const StoredAct &rival,
                  int node) {
    ereport(WARNING,
            errmsg("snowflake node %d of this instance was claimed by another, \"%s\", too", node,
                   one_line(rival.name)),
            errdetail(
                "The other has had it since %s, and runs at %s; this instance has had it since %s.",
                time_text(registry.counts_from(rival, node)), one_line(rival.where),
                time_text(registry.counts_from(own, node))),
            registry.goes_before(own, rival, node)
                ? errhint("The other stops once it hears of this. If it does not receive "
                          "snowflake.nodes from here, run there%s: "
                          "SELECT snowflake.release_node(%d); SELECT snowflake.claim_node();",
                          rival.kind == Kind::setting ? ", with snowflake.node out of the settings"
                                                      : "",
                          node)
                : errhint("%s", how_to_do_without(own, node)));
}

void report_copy(const StoredAct &counterpart) {
    ereport(WARNING, errmsg("a server that is a copy of this one, or its original, is in use"),
            errdetail("The other runs at %s, this server at %s.", one_line(counterpart.where),
                      server_place::here()),
            errhint("On the copy: SELECT snowflake.separate_copy();"));
}

// Whether a server that has the identifiers of this one, and also seems to run where this one does,
// has said an act: since this one was started, it has heard of all that it said itself.
bool is_of_double(const registry::Registry &registry, const StoredAct &arrived) {
    return arrived.about == registry.self() && !arrived.written_here && registry.is_at_home() &&
           arrived.kind != Kind::remove &&
           arrived.said_at - server::unix_to_server_us > PgStartTime;
}

} // namespace

const char *one_line(const char *text) {
    char *copy = pstrdup(text);
    for (char *c = copy; *c != '\0'; ++c)
        if (static_cast<unsigned char>(*c) < ' ' || *c == '\x7f')
            *c = '?';
    return copy;
}

const char *time_text(std::int64_t unix_us) {
    return pstrdup(timestamptz_to_str(unix_us - server::unix_to_server_us));
}

const char *arguments_for(const Instance &instance) {
    return instance.copy == 0
               ? psprintf("%lld, %lld", static_cast<long long>(instance.system_identifier),
                          static_cast<long long>(instance.database))
               : psprintf("%lld, %lld, %lld", static_cast<long long>(instance.system_identifier),
                          static_cast<long long>(instance.database),
                          static_cast<long long>(instance.copy));
}

const char *how_to_claim_another() {
    return psprintf("To claim a free one, %sSELECT snowflake.claim_node();",
                    settings::how_to_unset_node());
}

void raise_upgraded(const StoredAct &former) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("this database had snowflake node %d before pg_upgrade", former.first),
            errdetail("The other servers know it as that of an instance that ran at %s.",
                      one_line(former.where)),
            errhint("If that is gone: SELECT snowflake.take_over_node(); To have another number "
                    "beside it: SELECT snowflake.claim_node(number);"));
    pg_unreachable();
}

void raise_refused(int error_code, const Verdict<StoredAct> &verdict, int setting) {
    switch (verdict.standing) {
    case Standing::valid:
        break;
    case Standing::unset:
        if (verdict.reason != nullptr)
            raise_upgraded(*verdict.reason);
        raise_unset();
    case Standing::disagreement:
        raise_disagreement(setting, verdict.own->first);
    case Standing::copied:
        raise_copied(error_code, *verdict.reason);
    default:
        raise_not_its_own(error_code, verdict);
    }
    elog(ERROR, "snowflake node %d is not refused", verdict.node);
    pg_unreachable();
}

void report_moved(int level, const char *before) {
    ereport(level, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("this server is not where it claimed its snowflake node"),
            errdetail("It ran at %s, and runs at %s: it was copied, moved or promoted.",
                      one_line(before), server_place::here()),
            errhint("If it is a copy beside its original: SELECT snowflake.separate_copy(); "
                    "If it has taken the other's place: SELECT snowflake.take_over_node();"));
}

void report_arrival(const registry::Registry &registry, const StoredAct &arrived) {
    if (registry.is_of_counterpart(arrived) || is_of_double(registry, arrived))
        report_copy(arrived);
    if (arrived.about == registry.self() || !arrived.holds())
        return;
    for (int node = arrived.first; node <= arrived.last; ++node) {
        const StoredAct *own = registry.standing(registry.self(), node);
        if (own != nullptr && own->holds() && registry.stands(arrived, node)) {
            report_rival(registry, *own, arrived, node);
            return;
        }
    }
}

} // namespace snowflake
