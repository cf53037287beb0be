// The rule of claims: whose a node number is, as a pure function of the claims that an instance
// sees.
//
// The rule knows no server and no table, so that its promise can be tested on simulated clusters:
// of the instances that see each other's claims, at most one makes IDs with a number, and every one
// of them knows which.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include <cstdint>

namespace snowflake {

// One instance's claim to one number. The instance is known by the identifier of its data
// directory, which a standby shares with its primary.
struct Claim {
    std::int32_t node = 0; // 0: no claim
    std::int64_t system_identifier = 0;
    std::int64_t claimed_at = 0; // by the clock of that instance
    bool leased = false;         // meant for leases to sessions, and not the instance's own number
};

// Tells which of two claims to a number is the better one: the earlier; of equals the one with the
// lower identifier. The answer depends on nothing but the two claims. Every instance therefore
// comes to the same answer, however late it hears of them.
constexpr bool is_better(const Claim &claim, const Claim &than) noexcept {
    return claim.claimed_at != than.claimed_at ? claim.claimed_at < than.claimed_at
                                               : claim.system_identifier < than.system_identifier;
}

enum class Standing : std::uint8_t {
    valid,        // the instance may make IDs with the number
    unset,        // the instance has neither a setting nor a claim
    disagreement, // the instance has both, and they differ
    taken,        // another claim to the number is better
};

// The answer of the rule for one instance. AnyClaim is Claim, or derives from it.
template <typename AnyClaim>
struct Verdict {
    Standing standing = Standing::unset;
    std::int32_t node = 0;
    AnyClaim own{};    // the instance's claim, if it has one
    AnyClaim better{}; // the best of the claims that are better, if there are any
};

// Judges the instance that has this identifier and this setting (0: none).
// for_each_claim(action) must call action with each claim there is, as often as it is called. An
// instance that has a setting and no claim gives way to every claim.
template <typename AnyClaim, typename ForEachClaim>
Verdict<AnyClaim> judge(std::int32_t setting, std::int64_t system_identifier,
                        ForEachClaim for_each_claim) {
    const auto is_own = [system_identifier](const Claim &claim) {
        return claim.system_identifier == system_identifier && !claim.leased;
    };
    Verdict<AnyClaim> verdict{};
    AnyClaim &own = verdict.own;
    AnyClaim &better = verdict.better;
    for_each_claim([&](const AnyClaim &claim) {
        if (is_own(claim) && (own.node == 0 || is_better(claim, own)))
            own = claim;
    });

    verdict.node = setting != 0 ? setting : own.node;
    if (verdict.node == 0)
        return verdict;
    if (own.node != 0 && own.node != verdict.node) {
        verdict.standing = Standing::disagreement;
        return verdict;
    }

    for_each_claim([&](const AnyClaim &claim) {
        if (claim.node == verdict.node && !is_own(claim) &&
            (own.node == 0 || is_better(claim, own)) &&
            (better.node == 0 || is_better(claim, better)))
            better = claim;
    });
    verdict.standing = better.node == 0 ? Standing::valid : Standing::taken;
    return verdict;
}

} // namespace snowflake
