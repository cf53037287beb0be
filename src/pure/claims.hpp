// The rule of claims: whose a node number is, as a pure function of what the instances have said.
//
// Each instance says what it does with numbers in acts: it claims one, gives one up, and so on.
// Acts are only ever added, reach other instances late, or twice, and are the same everywhere. The
// rule knows no server and no table, so that its promise can be tested on simulated clusters: of
// the instances that know each other's acts, at most one makes IDs with a number, and each of them
// knows which.
//
// Pure: no server headers, no allocation, no failure that is not a value. Times are Unix
// microseconds.
#pragma once

#include "layout.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace snowflake {

inline constexpr std::int32_t last_claimable_node = default_layout.last_node();

// How far clocks may be apart: a number that is given up is kept free for so long after the last of
// its IDs.
inline constexpr std::int64_t clock_tolerance_us = 60'000'000;

// How far ahead a claim may be dated for the clock here, rather than the one there, to be taken for
// wrong: a clock that is set to another time zone is hours behind.
inline constexpr std::int64_t believed_lead_us = 24 * 60 * clock_tolerance_us;

// An instance makes IDs. It is a database of a server, because a database has sequences of its own.
// copy is 0, or a number that tells a physical copy from its original.
struct Instance {
    std::int64_t system_identifier = 0;
    std::int64_t database = 0;
    std::int64_t copy = 0;

    constexpr bool operator==(const Instance &) const noexcept = default;
    constexpr bool operator<(const Instance &other) const noexcept {
        if (system_identifier != other.system_identifier)
            return system_identifier < other.system_identifier;
        return database != other.database ? database < other.database : copy < other.copy;
    }
};

// The name of an act: random, and the same on all servers. All zeros: none.
struct ActId {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    constexpr bool operator==(const ActId &) const noexcept = default;
    constexpr bool operator<(const ActId &other) const noexcept {
        return high != other.high ? high < other.high : low < other.low;
    }
};

enum class Kind : std::uint8_t {
    unknown,  // of a later version: counts for nothing
    here,     // tells where the instance runs; with a number: not where it ran, and nobody said why
    claim,    // takes a number as the instance's own
    setting,  // tells of a number that the setting snowflake.node gives the instance
    reserve,  // takes a range of numbers for node leases to sessions
    release,  // gives a range up
    remove,   // gives a range up for an instance that is gone
    separate, // tells of a copy that from now on is an instance of its own
    ask,      // asks the servers that receive it for what they know; about nobody
};

// One act about an instance and a range of numbers.
struct Act {
    ActId id = {};
    Kind kind = Kind::unknown;
    std::int32_t first = 0; // of the range; 0: the act is about no number
    std::int32_t last = 0;
    Instance about = {};
    std::uint64_t place = 0;     // where the writer ran: a copy runs elsewhere than its original
    std::int64_t claimed_at = 0; // of two claims to a number the earlier goes on
    std::int64_t said_at = 0;    // greater than that of all acts about the instance known before
    std::int64_t free_from = 0;  // of what is given up: from when on another may have it
    ActId answers = {};          // the act of another server that this one replies to
    bool written_here = false;   // on this server, or on the one that it was copied from

    [[nodiscard]] constexpr bool covers(std::int32_t node) const noexcept {
        return first <= node && node <= last;
    }
    [[nodiscard]] constexpr bool holds() const noexcept {
        return kind == Kind::claim || kind == Kind::setting || kind == Kind::reserve;
    }
    [[nodiscard]] constexpr bool ends() const noexcept {
        return kind == Kind::release || kind == Kind::remove;
    }
};

// Calls action with the first and the last number of each part of a range whose numbers have one
// key. Numbers whose key is false, or none, are in no part.
template <typename KeyOf, typename Action>
void for_each_part(std::int32_t first, std::int32_t last, KeyOf key_of, Action action) {
    while (first <= last) {
        const std::int32_t begin = first;
        const auto key = key_of(first);
        do
            ++first;
        while (first <= last && key_of(first) == key);
        if (key)
            action(begin, first - 1);
    }
}

// Whether what a database of a server does with its number can depend on an act.
constexpr bool concerns(const Act &act, std::int64_t system_identifier, std::int64_t database,
                        std::int32_t node) noexcept {
    return act.covers(node) ||
           (act.about.system_identifier == system_identifier && act.about.database == database);
}

// Tells which of two claims to a number is the better one, made at these times: the earlier; of
// equals that of the lower identifiers. A claim of a clock that stands before the epoch is worse
// than every other. Every instance comes to the same answer, however late it hears of the claims.
constexpr bool is_better(std::int64_t claimed_at, const Instance &by, std::int64_t than_claimed_at,
                         const Instance &than_by) noexcept {
    const auto is_credible = [](std::int64_t time) { return time >= default_layout.epoch_us(); };
    if (is_credible(claimed_at) != is_credible(than_claimed_at))
        return is_credible(claimed_at);
    return claimed_at != than_claimed_at ? claimed_at < than_claimed_at : by < than_by;
}

// Returns the number that belongs to an instance where nobody chooses one: spread evenly over
// 1 .. last, so that instances which cannot see each other hardly ever meet.
constexpr std::int32_t derived_node(const Instance &instance,
                                    std::int32_t last = last_claimable_node) noexcept {
    std::uint64_t hash = 0x5eed;
    for (const std::int64_t part : {instance.system_identifier, instance.database, instance.copy}) {
        hash = (hash ^ static_cast<std::uint64_t>(part)) + 0x9e3779b97f4a7c15U;
        hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
        hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
        hash ^= hash >> 31U;
    }
    return 1 + static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(last));
}

enum class Standing : std::uint8_t {
    valid,        // the instance may make IDs with the number
    unset,        // the instance has neither a setting nor a claim
    disagreement, // the instance has both, and they differ
    taken,        // another claim to the number is better
    reserved,     // the instance keeps the number for node leases
    removed,      // another server has removed this instance, which was taken for gone
    kept_free,    // IDs of the instance that had the number before may lie in the future still
    copied,       // the instance is a copy, and its original has shown that it lives
};

// The answer of the rule for one instance. The pointers are into the acts that it was asked of, or
// null. AnyAct is Act, or derives from it.
template <typename AnyAct>
struct Verdict {
    Standing standing = Standing::unset;
    std::int32_t node = 0;
    const AnyAct *own = nullptr;    // the act by which the instance has the number
    const AnyAct *reason = nullptr; // the act that speaks against it
};

// The acts that an instance has still to write.
template <typename AnyAct>
struct Lack {
    bool setting = false;            // that the setting has given it its number
    bool place = false;              // that it runs elsewhere than it did
    const AnyAct *answer = nullptr;  // that it has heard this act of a copy, or of its original
    const AnyAct *rival = nullptr;   // that it goes on with its number, which this act claims, too
    const AnyAct *removal = nullptr; // that this act's writer has lost the number, unknowingly
    [[nodiscard]] constexpr bool has_own() const noexcept {
        return setting || place || answer != nullptr || rival != nullptr;
    }
    [[nodiscard]] constexpr bool any() const noexcept { return has_own() || removal != nullptr; }
};

// The acts as one instance sees them, in any order.
template <typename AnyAct>
class Registry {
  public:
    using Acts = std::span<const AnyAct>;

    constexpr Registry(Acts acts, std::int64_t system_identifier, std::int64_t database,
                       std::uint64_t place) noexcept
        : acts_(acts), place_(place), home_(place), self_{.system_identifier = system_identifier,
                                                          .database = database,
                                                          .copy = 0} {
        const AnyAct *separated = latest([this](const AnyAct &act) {
            return act.kind == Kind::separate && act.written_here &&
                   act.about.system_identifier == self_.system_identifier &&
                   act.about.database == self_.database;
        });
        if (separated != nullptr)
            self_.copy = separated->about.copy;
        last_said_ = latest([this](const AnyAct &act) { return is_said_by_self(act); });
        if (last_said_ == nullptr)
            return;
        home_ = last_said_->place;
        const AnyAct *before = latest(
            [this](const AnyAct &act) { return is_said_by_self(act) && act.place != home_; });
        home_since_ = first_said([this, before](const AnyAct &act) {
            return is_said_by_self(act) && (before == nullptr || is_later(act, *before));
        });
    }

    [[nodiscard]] constexpr Acts acts() const noexcept { return acts_; }
    [[nodiscard]] constexpr const Instance &self() const noexcept { return self_; }

    // Whether the instance runs where it ran when it wrote its last act, if it has written any.
    [[nodiscard]] constexpr bool is_at_home() const noexcept { return place_ == home_; }

    // Whether the instance runs where somebody has last had it claim, take over or give up. One
    // that has only said by itself that it runs elsewhere may be a copy, a successor, or moved.
    [[nodiscard]] constexpr bool is_settled() const noexcept {
        const AnyAct *word = latest(
            [this](const AnyAct &act) { return is_said_by_self(act) && act.answers == ActId{}; });
        return is_at_home() && (word == nullptr || word->kind != Kind::here || word->first == 0);
    }

    // Returns the latest act that this instance has written where it does not run now; null: none,
    // or it is settled here.
    [[nodiscard]] constexpr const AnyAct *last_said_elsewhere() const noexcept {
        if (is_settled())
            return nullptr;
        return latest(
            [this](const AnyAct &act) { return is_said_by_self(act) && act.place != place_; });
    }

    // Returns the latest act that this instance has written; null: none.
    [[nodiscard]] constexpr const AnyAct *last_said() const noexcept { return last_said_; }

    // Whether an act of these identifiers comes from another server: a copy, or the original.
    [[nodiscard]] constexpr bool is_of_counterpart(const Act &act) const noexcept {
        return act.about == self_ && !act.written_here && act.place != home_ &&
               act.kind != Kind::remove && !is_of_own_past(act);
    }

    // Returns the act that decides what an instance has to do with a number; null: none.
    [[nodiscard]] constexpr const AnyAct *standing(const Instance &of,
                                                   std::int32_t node) const noexcept {
        return latest([&](const AnyAct &act) {
            return act.about == of && act.covers(node) && (act.holds() || act.ends()) &&
                   !is_of_counterpart(act);
        });
    }

    // Tells whether an act that takes numbers is still in force for one of them.
    [[nodiscard]] constexpr bool stands(const AnyAct &act, std::int32_t node) const noexcept {
        if (!act.holds() || !act.covers(node) || is_inherited(act))
            return false;
        const AnyAct *decides = standing(act.about, node);
        return decides != nullptr && decides->id == act.id;
    }

    // Returns the time from which on the claim of an act to a number counts. That is claimed_at,
    // unless the number was given up since, and the writer of the act does not know of it, like a
    // lost server that comes back or one that was restored: then when it went on regardless.
    [[nodiscard]] constexpr std::int64_t counts_from(const Act &act,
                                                     std::int32_t node) const noexcept {
        const AnyAct *end = latest([&](const AnyAct &other) {
            return other.ends() && other.about == act.about && other.covers(node) &&
                   other.said_at > act.claimed_at && other.said_at < act.said_at &&
                   ends_in(act.place, other, node);
        });
        if (end == nullptr)
            return act.claimed_at;
        return first_said([&](const AnyAct &other) {
            return other.holds() && other.about == act.about && other.covers(node) &&
                   other.place == act.place && other.said_at > end->said_at;
        });
    }

    // Tells whether one of two acts that claim a number of different instances goes before the
    // other.
    [[nodiscard]] constexpr bool goes_before(const Act &act, const Act &than,
                                             std::int32_t node) const noexcept {
        return is_better(counts_from(act, node), act.about, counts_from(than, node), than.about);
    }

    // Returns the act by which this instance has claimed a number; null: none.
    [[nodiscard]] constexpr const AnyAct *own_claim() const noexcept {
        return latest([this](const AnyAct &act) {
            return act.kind == Kind::claim && act.about == self_ && stands(act, act.first);
        });
    }

    // Returns the best claim to a number, of other instances than that of an act, that goes before
    // the act; before null: the best one of other instances than this one. null: there is none.
    [[nodiscard]] constexpr const AnyAct *better_claim(std::int32_t node,
                                                       const AnyAct *before) const noexcept {
        const Instance &but = before == nullptr ? self_ : before->about;
        const AnyAct *best = before;
        for (const AnyAct &act : acts_)
            if (act.about != but && stands(act, node) &&
                (best == nullptr || goes_before(act, *best, node)))
                best = &act;
        return best == before ? nullptr : best;
    }

    // Returns the latest act of a server with the identifiers of this one; null: there is none.
    [[nodiscard]] constexpr const AnyAct *latest_counterpart_act() const noexcept {
        return latest([this](const AnyAct &act) { return is_of_counterpart(act); });
    }

    // Returns the original's act that is later than this server's last unprompted act: proof that
    // both live, and that this server is the copy. An original that is gone, as after a failover,
    // adds no act. null: there is none.
    [[nodiscard]] constexpr const AnyAct *proof_of_original() const noexcept {
        const AnyAct *unprompted = latest([this](const AnyAct &act) {
            return is_said_by_self(act) && act.place == home_ && act.answers == ActId{};
        });
        if (unprompted == nullptr)
            return nullptr;
        return latest([this, unprompted](const AnyAct &act) {
            return is_of_counterpart(act) && act.said_at > unprompted->said_at &&
                   is_senior(act.place, home_);
        });
    }

    // Whether this server had the identifiers before the writer of an act of a counterpart had it.
    [[nodiscard]] constexpr bool is_senior_to(const Act &counterpart) const noexcept {
        return last_said_ != nullptr && is_senior(home_, counterpart.place);
    }

    // Returns the act that keeps a number free at a time, after another instance has given it up;
    // null: none.
    [[nodiscard]] constexpr const AnyAct *kept_free(std::int32_t node,
                                                    std::int64_t now) const noexcept {
        for (const AnyAct &act : acts_)
            if (act.ends() && act.about != self_ && act.covers(node) && act.free_from > now &&
                standing(act.about, node) == &act)
                return &act;
        return nullptr;
    }

    // Judges the instance, which has this setting (0: none), at this time.
    [[nodiscard]] constexpr Verdict<AnyAct> judge(std::int32_t setting,
                                                  std::int64_t now) const noexcept {
        const AnyAct *claim = own_claim();
        Verdict<AnyAct> verdict{.node = setting, .own = claim};
        if (setting == 0 && claim == nullptr)
            return without_number();
        if (setting == 0)
            verdict.node = claim->first;
        if (claim != nullptr && claim->first != verdict.node) {
            verdict.standing = Standing::disagreement;
            return verdict;
        }
        verdict.reason = proof_of_original();
        if (verdict.reason != nullptr) {
            verdict.standing = Standing::copied;
            return verdict;
        }
        judge_number(verdict, now);
        return verdict;
    }

    // Returns the acts that the instance has still to write. The verdict is that of judge();
    // setting_counts tells whether the number comes from a setting of the server or the database.
    [[nodiscard]] constexpr Lack<AnyAct> lack(const Verdict<AnyAct> &verdict,
                                              bool setting_counts) const noexcept {
        Lack<AnyAct> lack;
        if (const AnyAct *counterpart = latest_counterpart_act();
            counterpart != nullptr && has_to_answer(*counterpart, verdict))
            lack.answer = counterpart;
        if (verdict.standing != Standing::valid)
            return lack;
        lack.setting = verdict.own == nullptr && setting_counts;
        if (verdict.own == nullptr)
            return lack;
        lack.place = !is_at_home();
        lack.removal = claim_that_is_back(verdict.node, *verdict.own);
        if (is_at_home() && lack.removal == nullptr)
            lack.rival = unanswered_rival(verdict.node);
        return lack;
    }

    // Chooses a number of 1 .. last for the instance where nobody has: its derived one, or the next
    // one up that nobody has, that is not kept free, and that is in no ID at hand: latest_id(node)
    // returns the time of the latest, or 0. Returns 0 if none is left.
    template <typename LatestId>
    [[nodiscard]] constexpr std::int32_t
    choose(std::int64_t now, LatestId latest_id,
           std::int32_t last = last_claimable_node) const noexcept {
        const std::int32_t derived = derived_node(self_, last);
        for (std::int32_t step = 0; step < last; ++step) {
            const std::int32_t node = 1 + (derived - 1 + step) % last;
            // The instance may have made IDs of its derived number itself.
            const bool is_seen = latest_id(node) > (step == 0 ? now : 0);
            const AnyAct *own = standing(self_, node);
            const bool is_reserved = own != nullptr && own->kind == Kind::reserve;
            if (!is_seen && !is_reserved && !is_taken(node, now))
                return node;
        }
        return 0;
    }

    // Whether another instance has a number, or had it and may have made IDs of a time to come.
    [[nodiscard]] constexpr bool is_taken(std::int32_t node, std::int64_t now) const noexcept {
        return better_claim(node, nullptr) != nullptr || kept_free(node, now) != nullptr;
    }

    // Returns the claimed_at of a claim that is made now: no earlier than that of any claim of
    // another instance that stands, unless that one is too far ahead to be believed. All later
    // claims would go before this one.
    [[nodiscard]] constexpr std::int64_t next_claimed_at(std::int64_t now) const noexcept {
        std::int64_t latest = now;
        for (const AnyAct &act : acts_) {
            const std::int32_t node = act.first < 1 ? 1 : act.first;
            if (act.claimed_at > latest && act.claimed_at <= now + believed_lead_us &&
                node <= last_claimable_node && act.about != self_ && stands(act, node))
                latest = act.claimed_at;
        }
        return latest;
    }

    // Returns the said_at of an act about an instance that is written now.
    [[nodiscard]] constexpr std::int64_t next_said_at(const Instance &about,
                                                      std::int64_t now) const noexcept {
        const AnyAct *before = latest([&](const AnyAct &act) { return act.about == about; });
        return before != nullptr && before->said_at >= now ? before->said_at + 1 : now;
    }

  private:
    // Whether an act tells of the setting of the database that this one was copied from by CREATE
    // DATABASE. Both have the setting of their server, and need not know of each other.
    [[nodiscard]] constexpr bool is_inherited(const Act &act) const noexcept {
        return act.kind == Kind::setting && act.written_here &&
               act.about.system_identifier == self_.system_identifier &&
               act.about.database != self_.database;
    }

    // Returns the latest act of those that fit; of equals one that takes numbers, since to keep a
    // number does less harm than to give it away; null: none fits.
    template <typename Fits>
    [[nodiscard]] constexpr const AnyAct *latest(Fits fits) const noexcept {
        const AnyAct *found = nullptr;
        // Later acts mostly come later in the span, and then few are asked whether they fit.
        for (std::size_t i = acts_.size(); i-- > 0;)
            if ((found == nullptr || is_later(acts_[i], *found)) && fits(acts_[i]))
                found = &acts_[i];
        return found;
    }

    // Returns when the first of the acts that fit was said; INT64_MAX: none fits.
    template <typename Fits>
    [[nodiscard]] constexpr std::int64_t first_said(Fits fits) const noexcept {
        std::int64_t first = INT64_MAX;
        for (const AnyAct &act : acts_)
            if (act.said_at < first && fits(act))
                first = act.said_at;
        return first;
    }

    // Returns the claim to this instance's number of one that has lost it and is back, and by whose
    // own knowledge the claim goes before that of this instance; null: there is none.
    [[nodiscard]] constexpr const AnyAct *claim_that_is_back(std::int32_t node,
                                                             const AnyAct &own) const noexcept {
        for (const AnyAct &act : acts_)
            if (act.about != self_ && act.covers(node) && act.holds() &&
                is_better(act.claimed_at, act.about, own.claimed_at, self_) && stands(act, node))
                return &act;
        return nullptr;
    }

    // Returns the latest claim of another instance to this one's number to which this one has not
    // replied; null: there is none. The other may have joined late, and not know of this one. An
    // answer is not answered, so that this comes to an end.
    [[nodiscard]] constexpr const AnyAct *unanswered_rival(std::int32_t node) const noexcept {
        const auto is_word = [this, node](const AnyAct &act) {
            return act.about != self_ && act.covers(node) && act.holds() && act.answers == ActId{};
        };
        return latest([&](const AnyAct &act) {
            if (!is_word(act) || has_answered(act))
                return false;
            const AnyAct *decides = standing(act.about, node);
            const AnyAct *last_word = latest(
                [&](const AnyAct &other) { return other.about == act.about && is_word(other); });
            return decides != nullptr && decides->holds() && last_word == &act;
        });
    }

    // Whether this instance has replied to an act.
    [[nodiscard]] constexpr bool has_answered(const Act &act) const noexcept {
        return std::any_of(acts_.begin(), acts_.end(), [this, &act](const AnyAct &own) {
            return is_said_by_self(own) && own.answers == act.id;
        });
    }

    // Whether an act that gives a number up counts for what is said in a place. What a copy gives
    // up is nothing to the original, which had the number before.
    [[nodiscard]] constexpr bool ends_in(std::uint64_t place, const AnyAct &end,
                                         std::int32_t node) const noexcept {
        return end.kind == Kind::remove || end.place == place ||
               first_said([&](const AnyAct &act) {
                   return act.about == end.about && act.place == place && act.covers(node) &&
                          act.holds();
               }) > end.said_at;
    }

    [[nodiscard]] static constexpr bool is_later(const Act &act, const Act &than) noexcept {
        if (act.said_at != than.said_at)
            return act.said_at > than.said_at;
        return act.holds() != than.holds() ? act.holds() : than.id < act.id;
    }

    [[nodiscard]] constexpr bool is_said_by_self(const Act &act) const noexcept {
        return act.about == self_ && act.written_here && act.kind != Kind::remove;
    }

    [[nodiscard]] constexpr bool has_to_answer(const Act &counterpart,
                                               const Verdict<AnyAct> &verdict) const noexcept {
        if (!is_at_home() || has_answered(counterpart))
            return false;
        // The junior does not answer answers, so that this comes to an end.
        if (counterpart.answers != ActId{} && !is_senior(home_, counterpart.place))
            return false;
        // A copy that has been stopped is no proof against its original, which may have moved.
        return verdict.standing != Standing::copied || is_senior(counterpart.place, home_);
    }

    // Whether this instance was in one place before it was in the other.
    [[nodiscard]] constexpr bool is_senior(std::uint64_t place, std::uint64_t than) const noexcept {
        const auto first_said_in = [this](std::uint64_t where) {
            return first_said([this, where](const AnyAct &act) {
                return act.about == self_ && act.place == where && act.kind != Kind::remove;
            });
        };
        return first_said_in(place) < first_said_in(than);
    }

    // Whether an act was said by this server itself, where it ran before it ran where it runs, and
    // was then lost by a restore or a failover.
    [[nodiscard]] constexpr bool is_of_own_past(const Act &act) const noexcept {
        return act.said_at <= home_since_ &&
               std::any_of(acts_.begin(), acts_.end(), [this, &act](const AnyAct &own) {
                   return is_said_by_self(own) && own.place == act.place;
               });
    }

    // The verdict on an instance that has no number.
    [[nodiscard]] constexpr Verdict<AnyAct> without_number() const noexcept {
        const AnyAct *removed = latest([this](const AnyAct &act) {
            return act.kind == Kind::remove && act.about == self_ &&
                   standing(self_, act.first) == &act;
        });
        if (removed == nullptr)
            return {};
        return {.standing = Standing::removed, .node = removed->first, .reason = removed};
    }

    constexpr void judge_number(Verdict<AnyAct> &verdict, std::int64_t now) const noexcept {
        const AnyAct *mine = standing(self_, verdict.node);
        if (mine != nullptr && (mine->kind == Kind::reserve || mine->kind == Kind::remove)) {
            verdict.standing = mine->kind == Kind::reserve ? Standing::reserved : Standing::removed;
            verdict.reason = mine;
            return;
        }
        verdict.own = mine != nullptr && mine->holds() ? mine : nullptr;
        verdict.reason = better_claim(verdict.node, verdict.own);
        if (verdict.reason != nullptr) {
            verdict.standing = Standing::taken;
            return;
        }
        if (verdict.own == nullptr)
            verdict.reason = kept_free(verdict.node, now);
        verdict.standing = verdict.reason == nullptr ? Standing::valid : Standing::kept_free;
    }

    Acts acts_;
    std::uint64_t place_;
    std::uint64_t home_;
    std::int64_t home_since_ = INT64_MIN; // when it first said something at home, this time
    Instance self_;
    const AnyAct *last_said_ = nullptr;
};

} // namespace snowflake
