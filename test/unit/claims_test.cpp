// The rule of claims, case by case. claims_simulation_test.cpp shows what it does in a cluster.
#include "claims.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace {

using namespace snowflake;

constexpr std::int64_t server = 50;
constexpr std::int64_t database = 5;
constexpr Identity me{.system_identifier = server, .database = database, .copy = 0};
constexpr Identity other{.system_identifier = 60, .database = 5, .copy = 0};
constexpr Identity third{.system_identifier = 70, .database = 5, .copy = 0};
constexpr std::uint64_t home = 1;
constexpr std::uint64_t elsewhere = 2;
constexpr int no_setting = 0;
constexpr bool counts = true;
constexpr std::int64_t second = 1'000'000;

// Times of these tests are seconds since the epoch of the layout.
constexpr std::int64_t at(std::int64_t seconds) {
    return default_layout.epoch_us() + seconds * second;
}

ActId next_id() {
    static std::uint64_t count = 0;
    return {.high = 0, .low = ++count};
}

// An act about an instance that was said when its numbers were claimed.
Act act(Kind kind, const Identity &about, int node, std::int64_t seconds) {
    return {.id = next_id(),
            .kind = kind,
            .first = node,
            .last = node,
            .about = about,
            .place = about == me ? home : elsewhere,
            .claimed_at = at(seconds),
            .said_at = at(seconds),
            .free_from = 0,
            .answers = {},
            .written_here = about == me};
}
Act claim(const Identity &about, int node, std::int64_t seconds) {
    return act(Kind::claim, about, node, seconds);
}
Act release(const Identity &about, int node, std::int64_t seconds, std::int64_t free_from) {
    Act one = act(Kind::release, about, node, seconds);
    one.free_from = at(free_from);
    return one;
}

// The same act as a server of my identity in another place writes it.
Act of_twin(Act one, const ActId &answers = {}) {
    one.place = elsewhere;
    one.written_here = false;
    one.answers = answers;
    return one;
}

Registry<Act> see(const std::vector<Act> &acts, std::uint64_t place = home) {
    return {acts, server, database, place};
}

Standing standing(int setting, const std::vector<Act> &acts, std::int64_t now = 1000) {
    return see(acts).judge(setting, at(now)).standing;
}

void expect_valid(int node, int setting, const std::vector<Act> &acts) {
    const auto verdict = see(acts).judge(setting, at(1000));
    EXPECT_EQ(verdict.standing, Standing::valid);
    EXPECT_EQ(verdict.node, node);
}

void expect_taken(const Identity &by, int setting, const std::vector<Act> &acts) {
    const auto verdict = see(acts).judge(setting, at(1000));
    ASSERT_EQ(verdict.standing, Standing::taken);
    EXPECT_EQ(verdict.reason->about, by);
}

TEST(Claims, CountWhereNothingIsSet) {
    EXPECT_EQ(standing(no_setting, {}), Standing::unset);
    EXPECT_EQ(standing(no_setting, {claim(other, 3, 1)}), Standing::unset);
    expect_valid(7, no_setting, {claim(other, 3, 1), claim(me, 7, 2)});
}

TEST(Claims, MustAgreeWithTheSetting) {
    expect_valid(7, 7, {});
    expect_valid(7, 7, {claim(me, 7, 2), claim(other, 3, 1)});
    const std::vector<Act> acts = {claim(me, 3, 2)};
    const auto verdict = see(acts).judge(7, at(3));
    EXPECT_EQ(verdict.standing, Standing::disagreement);
    EXPECT_EQ(verdict.own->first, 3);
}

TEST(Claims, AreBetterTheEarlierTheyAre) {
    expect_valid(7, no_setting, {claim(me, 7, 1), claim(other, 7, 2), claim(third, 7, 2)});
    expect_taken(other, no_setting, {claim(me, 7, 2), claim(other, 7, 1)});
    expect_taken(other, 7, {claim(other, 7, 1), claim(me, 7, 2)});
    expect_taken(other, no_setting, {claim(third, 7, 2), claim(other, 7, 1), claim(me, 7, 3)});
}

TEST(Claims, OfTheSameTimeAreBetterWithTheLowerIdentity) {
    expect_valid(7, no_setting, {claim(me, 7, 1), claim(other, 7, 1)});
    const Identity lower{.system_identifier = server, .database = database - 1, .copy = 0};
    expect_taken(lower, no_setting, {claim(me, 7, 1), claim(lower, 7, 1), claim(other, 7, 1)});
}

TEST(Claims, OfAClockBeforeTheEpochAreWorseThanAllOthers) {
    expect_valid(7, no_setting, {claim(me, 7, 5), claim(other, 7, -1)});
    expect_taken(other, no_setting, {claim(me, 7, -2), claim(other, 7, 5)});
}

TEST(Claims, AreAlsoMadeBySettings) {
    // A setting that is in the registry is as good as a claim; one that is not gives way.
    expect_valid(7, 7, {act(Kind::setting, me, 7, 1), claim(other, 7, 2)});
    expect_taken(other, 7, {claim(other, 7, 2)});
    expect_taken(other, 7, {act(Kind::setting, me, 7, 3), act(Kind::setting, other, 7, 2)});
    expect_valid(7, 7, {claim(other, 8, 1)});
    // It is not what the instance has claimed.
    EXPECT_EQ(standing(no_setting, {act(Kind::setting, me, 7, 1)}), Standing::unset);
}

TEST(Claims, OfADatabaseAreNotThoseOfAnotherOfTheServer) {
    const Identity neighbour{.system_identifier = server, .database = database + 1, .copy = 0};
    expect_taken(neighbour, 7, {act(Kind::setting, neighbour, 7, 1)});
}

TEST(Claims, ForLeasesAreNotTheInstancesOwn) {
    Act leases = act(Kind::lease, me, 7, 1);
    leases.last = 9;
    EXPECT_EQ(standing(no_setting, {leases}), Standing::unset);
    EXPECT_EQ(standing(8, {leases}), Standing::reserved);
    EXPECT_EQ(standing(10, {leases}), Standing::valid);
    leases.about = other;
    leases.written_here = false;
    expect_taken(other, no_setting, {claim(me, 9, 2), leases});
}

TEST(Claims, EndWithALaterActAlone) {
    expect_valid(7, 7, {claim(other, 7, 1), release(other, 7, 2, 3)});
    expect_taken(other, 7, {release(other, 7, 2, 3), claim(other, 7, 4)});
    EXPECT_EQ(standing(no_setting, {claim(me, 7, 1), release(me, 7, 2, 3)}), Standing::unset);
    // What is said at the same time keeps the number.
    expect_taken(other, 7, {claim(other, 7, 2), release(other, 7, 2, 3)});
}

TEST(Claims, LeaveTheNumberFreeForAWhile) {
    const std::vector<Act> acts = {claim(other, 7, 1), release(other, 7, 2, 100)};
    EXPECT_EQ(standing(7, acts, 99), Standing::kept_free);
    EXPECT_EQ(standing(7, acts, 100), Standing::valid);
    // Whoever had it before goes on where its own sequences are.
    const std::vector<Act> own = {claim(me, 7, 1), release(me, 7, 2, 100)};
    EXPECT_EQ(standing(7, own, 99), Standing::valid);
    // A number that somebody has while others gave it up is nobody else's.
    std::vector<Act> both = acts;
    both.push_back(claim(me, 7, 50));
    EXPECT_EQ(standing(no_setting, both, 99), Standing::valid);
}

TEST(Claims, OfAnInstanceThatWasRemovedAreGone) {
    Act removal = release(me, 7, 5, 100);
    removal.kind = Kind::remove;
    removal.place = elsewhere;
    removal.written_here = false;
    EXPECT_EQ(standing(no_setting, {claim(me, 7, 1), removal}), Standing::removed);
    EXPECT_EQ(standing(7, {act(Kind::setting, me, 7, 1), removal}), Standing::removed);
    expect_valid(8, no_setting, {claim(me, 7, 1), removal, claim(me, 8, 6)});
    expect_valid(7, no_setting, {claim(me, 7, 1), removal, claim(me, 7, 6)});
}

TEST(Claims, OfUnrelatedInstancesCountForNothing) {
    Act ignore = act(Kind::ignore, other, 0, 9);
    ignore.written_here = true;
    expect_valid(7, 7, {claim(other, 7, 1), ignore});
    ignore.written_here = false; // on another server
    expect_taken(other, 7, {claim(other, 7, 1), ignore});
}

TEST(Claims, OfALaterVersionCountForNothing) {
    expect_valid(7, 7, {act(Kind::unknown, other, 7, 1)});
}

// A failover: the standby runs elsewhere, and has the same acts.
TEST(Claims, GoOnWhereAStandbyWasPromoted) {
    const std::vector<Act> acts = {claim(me, 7, 1)};
    const auto promoted = see(acts, elsewhere);
    EXPECT_EQ(promoted.judge(no_setting, at(2)).standing, Standing::valid);
    EXPECT_FALSE(promoted.is_at_home());
    const Lack lack = promoted.lack(promoted.judge(no_setting, at(2)), counts);
    EXPECT_TRUE(lack.place);
    EXPECT_FALSE(lack.setting);
}

TEST(Claims, OfACopyTakeNothingFromTheOriginal) {
    const Act first = claim(me, 7, 1);
    const Act given_up = of_twin(release(me, 7, 5, 6));
    expect_valid(7, no_setting, {first, given_up});
    // To a third instance the copy's word is as good as the original's, until that answers.
    const auto third_sees = [](const std::vector<Act> &acts) {
        return Registry<Act>{acts, third.system_identifier, third.database, 3}.judge(7, at(50));
    };
    Act first_there = first;
    first_there.written_here = false;
    Act answer = claim(me, 7, 8);
    answer.claimed_at = first.claimed_at;
    answer.written_here = false;
    EXPECT_EQ(third_sees({first_there, given_up}).standing, Standing::valid);
    EXPECT_EQ(third_sees({first_there, given_up, answer}).standing, Standing::taken);
}

// The original answers what the copy says, the copy then stops, and nobody goes on answering.
TEST(Claims, OfACopyEndWithTheOriginalsAnswer) {
    const Act first = claim(me, 7, 1);
    Act moved = claim(me, 7, 10); // said by the copy
    moved.place = elsewhere;

    const std::vector<Act> at_original = {first, of_twin(moved)};
    const auto original = see(at_original);
    const Lack lack = original.lack(original.judge(no_setting, at(11)), counts);
    EXPECT_EQ(lack.answer, moved.id);
    Act answer = claim(me, 7, 12); // said by the original
    answer.answers = moved.id;

    Act answer_there = answer;
    answer_there.written_here = false;
    const std::vector<Act> at_copy = {first, moved, answer_there};
    const auto copy = see(at_copy, elsewhere);
    const auto verdict = copy.judge(no_setting, at(13));
    ASSERT_EQ(verdict.standing, Standing::copied);
    EXPECT_EQ(verdict.reason->id, answer.id);
    EXPECT_FALSE(copy.lack(verdict, counts).any());

    const std::vector<Act> after = {first, of_twin(moved), answer};
    const auto again = see(after);
    EXPECT_EQ(again.judge(no_setting, at(14)).standing, Standing::valid);
    EXPECT_FALSE(again.lack(again.judge(no_setting, at(14)), counts).any());
}

// What the old primary said before a failover comes late: nothing shows that it lives.
TEST(Claims, OfAPromotedStandbyDoNotEndWithOldWords) {
    const Act first = claim(me, 7, 1);
    Act moved = claim(me, 7, 10);
    moved.place = elsewhere;
    Act late = claim(me, 7, 5);
    late.written_here = false; // said at home, and known to others alone
    const std::vector<Act> acts = {first, moved, late};
    EXPECT_EQ(see(acts, elsewhere).judge(no_setting, at(11)).standing, Standing::valid);
}

TEST(Claims, OfASeparatedCopyAreItsOwn) {
    const Act first = claim(me, 7, 1);
    const Identity apart{.system_identifier = server, .database = database, .copy = 99};
    Act separate = act(Kind::separate, apart, 0, 5);
    separate.place = elsewhere;
    separate.written_here = true;
    Act own = claim(apart, 8, 6);
    own.written_here = true;
    const std::vector<Act> acts = {first, separate, own};
    const auto copy = see(acts, elsewhere);
    EXPECT_EQ(copy.self(), apart);
    EXPECT_TRUE(copy.is_at_home());
    EXPECT_EQ(copy.judge(no_setting, at(7)).node, 8);
    EXPECT_EQ(copy.judge(7, at(7)).standing, Standing::disagreement);
    const std::vector<Act> without = {first, separate};
    EXPECT_EQ(see(without, elsewhere).judge(7, at(7)).standing, Standing::taken);
    // The original hears of it, and stays what it is.
    separate.written_here = false;
    const std::vector<Act> at_original = {first, separate};
    EXPECT_EQ(see(at_original).self(), me);
    expect_valid(7, no_setting, at_original);
}

TEST(Claims, AreSaidOfASettingThatNobodyKnows) {
    const std::vector<Act> none;
    EXPECT_TRUE(see(none).lack(see(none).judge(7, at(1)), counts).setting);
    EXPECT_FALSE(see(none).lack(see(none).judge(7, at(1)), false).any());
    const std::vector<Act> known = {act(Kind::setting, me, 7, 1)};
    EXPECT_FALSE(see(known).lack(see(known).judge(7, at(1)), counts).any());
    const std::vector<Act> lost = {claim(other, 7, 1)};
    EXPECT_FALSE(see(lost).lack(see(lost).judge(7, at(1)), counts).any());
}

TEST(DerivedNode, IsSpreadOverAllNumbers) {
    std::map<int, int> counted;
    for (int i = 0; i < 100 * last_claimable_node; ++i)
        ++counted[derived_node({.system_identifier = 7'000'000'000'000'000'000 + i / 3,
                                .database = 5 + i % 3,
                                .copy = 0})];
    ASSERT_EQ(counted.size(), static_cast<std::size_t>(last_claimable_node));
    EXPECT_GE(counted.begin()->first, 1);
    EXPECT_LE(counted.rbegin()->first, last_claimable_node);
    for (const auto &[node, count] : counted) {
        EXPECT_GT(count, 40) << node; // of 100 expected: six standard deviations
        EXPECT_LT(count, 160) << node;
    }
}

Seen nowhere(std::int32_t) {
    return Seen::nowhere;
}

TEST(Choice, IsTheDerivedNumberOrTheNextThatIsFree) {
    const int derived = derived_node(me);
    const auto next = [derived](int step) { return 1 + (derived - 1 + step) % 1023; };
    const std::vector<Act> none;
    EXPECT_EQ(see(none).choose(at(9), nowhere), derived);
    const std::vector<Act> some = {claim(other, derived, 1), claim(third, next(1), 1),
                                   release(third, next(1), 2, 10),
                                   act(Kind::lease, me, next(2), 1)};
    EXPECT_EQ(see(some).choose(at(9), nowhere), next(3));
    EXPECT_EQ(see(some).choose(at(10), nowhere), next(1));
}

TEST(Choice, LeavesNumbersThatTheIdsAtHandShow) {
    const std::vector<Act> none;
    const int derived = derived_node(me);
    const auto seen = [derived](Seen at_derived) {
        return [=](std::int32_t node) { return node == derived ? at_derived : Seen::past; };
    };
    EXPECT_EQ(see(none).choose(at(9), seen(Seen::past)), derived);
    EXPECT_EQ(see(none).choose(at(9), seen(Seen::later)), 0);
}

TEST(Choice, EndsWhereAllNumbersAreTaken) {
    std::vector<Act> acts;
    for (int node = 1; node <= last_claimable_node; ++node)
        acts.push_back(claim(other, node, 1));
    EXPECT_EQ(see(acts).choose(at(9), nowhere), 0);
}

} // namespace
