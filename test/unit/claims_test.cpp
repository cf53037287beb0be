// The rule of claims, case by case. claims_simulation_test.cpp shows what it does in a cluster.
#include "claims.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace snowflake;

constexpr std::int64_t me = 50;
constexpr int no_setting = 0;

Claim claim(std::int32_t node, std::int64_t by, std::int64_t at, bool leased = false) {
    return {.node = node, .system_identifier = by, .claimed_at = at, .leased = leased};
}

Verdict<Claim> judge_me(int setting, const std::vector<Claim> &claims) {
    return judge<Claim>(setting, me, [&](auto action) {
        for (const Claim &one : claims)
            action(one);
    });
}

void expect_valid(int node, const Verdict<Claim> &verdict) {
    EXPECT_EQ(verdict.standing, Standing::valid);
    EXPECT_EQ(verdict.node, node);
}

void expect_taken(std::int64_t by, const Verdict<Claim> &verdict) {
    EXPECT_EQ(verdict.standing, Standing::taken);
    EXPECT_EQ(verdict.better.system_identifier, by);
}

TEST(Claims, CountWhereNothingIsSet) {
    EXPECT_EQ(judge_me(no_setting, {}).standing, Standing::unset);
    EXPECT_EQ(judge_me(no_setting, {claim(3, 60, 1)}).standing, Standing::unset);
    expect_valid(7, judge_me(no_setting, {claim(3, 60, 1), claim(7, me, 2)}));
}

TEST(Claims, MustAgreeWithTheSetting) {
    expect_valid(7, judge_me(7, {}));
    expect_valid(7, judge_me(7, {claim(7, me, 2), claim(3, 60, 1)}));
    const Verdict<Claim> verdict = judge_me(7, {claim(3, me, 2)});
    EXPECT_EQ(verdict.standing, Standing::disagreement);
    EXPECT_EQ(verdict.own.node, 3);
}

TEST(Claims, AreBetterTheEarlierTheyAre) {
    expect_valid(7, judge_me(no_setting, {claim(7, me, 1), claim(7, 40, 2), claim(7, 60, 2)}));
    expect_taken(60, judge_me(no_setting, {claim(7, me, 2), claim(7, 60, 1)}));
    expect_taken(60, judge_me(7, {claim(7, 60, 1), claim(7, me, 2)}));
    expect_taken(60, judge_me(no_setting, {claim(7, 40, 2), claim(7, 60, 1), claim(7, me, 3)}));
}

TEST(Claims, OfTheSameTimeAreBetterWithTheLowerIdentifier) {
    expect_valid(7, judge_me(no_setting, {claim(7, me, 1), claim(7, 60, 1)}));
    expect_taken(40, judge_me(no_setting, {claim(7, me, 1), claim(7, 40, 1), claim(7, 60, 1)}));
}

TEST(Claims, AreBetterThanASettingAlone) {
    expect_taken(60, judge_me(7, {claim(7, 60, 1)}));
    expect_valid(7, judge_me(7, {claim(8, 60, 1)}));
}

TEST(Claims, ForLeasesAreNotTheInstancesOwn) {
    EXPECT_EQ(judge_me(no_setting, {claim(7, me, 1, true)}).standing, Standing::unset);
    expect_taken(me, judge_me(7, {claim(7, me, 1, true)}));
    expect_taken(60, judge_me(no_setting, {claim(7, me, 2), claim(7, 60, 1, true)}));
}

} // namespace
