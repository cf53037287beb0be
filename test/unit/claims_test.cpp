// The rule of claims, case by case. claims_simulation_test.cpp shows what it does in a cluster.
#include "claims.hpp"

#include "random.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace unit::claims_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr std::int64_t server = 50;
constexpr std::int64_t database = 5;
constexpr Instance me{.system_identifier = server, .database = database, .copy = 0};
constexpr Instance other{.system_identifier = 60, .database = 5, .copy = 0};
constexpr Instance third{.system_identifier = 70, .database = 5, .copy = 0};
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
    return {.high = 0x4000, .low = ++count};
}

ActId id_of(const Act *act) {
    return act == nullptr ? ActId{} : act->id;
}

// An act about an instance that was said when its numbers were claimed.
Act act(Kind kind, const Instance &about, int node, std::int64_t seconds) {
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
Act claim(const Instance &about, int node, std::int64_t seconds) {
    return act(Kind::claim, about, node, seconds);
}
Act release(const Instance &about, int node, std::int64_t seconds, std::int64_t free_from) {
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

// The same act said again, later.
Act again(Act one, std::int64_t seconds) {
    one.id = next_id();
    one.said_at = at(seconds);
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

void expect_taken(const Instance &by, int setting, const std::vector<Act> &acts) {
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
    const Instance lower{.system_identifier = server, .database = database - 1, .copy = 0};
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
    const Instance neighbour{.system_identifier = server, .database = database + 1, .copy = 0};
    expect_taken(neighbour, 7, {act(Kind::setting, neighbour, 7, 1)});
    // One that came with CREATE DATABASE, from a database that has the setting of the same server.
    Act inherited = act(Kind::setting, neighbour, 7, 1);
    inherited.written_here = true;
    expect_valid(7, 7, {inherited});
    expect_valid(7, 7, {inherited, act(Kind::setting, me, 7, 2)});
    expect_valid(7, no_setting, {inherited, claim(me, 7, 2)});
    Act claimed = claim(neighbour, 7, 1);
    claimed.written_here = true;
    expect_taken(neighbour, 7, {claimed});
    inherited.about.system_identifier = server + 1; // by pg_createsubscriber
    expect_taken(inherited.about, 7, {inherited});
}

TEST(Claims, ForLeasesAreNotTheInstancesOwn) {
    Act leases = act(Kind::reserve, me, 7, 1);
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

Act removal(const Instance &about, int node, std::int64_t seconds) {
    Act one = release(about, node, seconds, seconds + 60);
    one.kind = Kind::remove;
    return one;
}

// A server is removed, its number is passed on, and it comes back without knowing.
TEST(Claims, OfAServerThatIsBackComeAfterThoseMadeMeanwhile) {
    const Act first = claim(other, 7, 1);
    const Act back = again(first, 100);
    const std::vector<Act> acts = {first, removal(other, 7, 5), claim(me, 7, 70), back};
    expect_valid(7, no_setting, acts);
    EXPECT_EQ(see(acts).counts_from(back, 7), at(100));
    const auto lack = see(acts).lack(see(acts).judge(no_setting, at(101)), counts);
    EXPECT_EQ(id_of(lack.removal), back.id);
    std::vector<Act> told = acts;
    told.push_back(removal(other, 7, 102));
    EXPECT_FALSE(see(told).lack(see(told).judge(no_setting, at(103)), counts).any());
    // Nobody has told it where nobody has the number.
    const std::vector<Act> free = {first, removal(other, 7, 5), claim(me, 8, 70), back};
    EXPECT_FALSE(see(free).lack(see(free).judge(no_setting, at(101)), counts).any());
    // Of two that come later, one that has gone on without a break is better.
    const std::vector<Act> later = {first, removal(other, 7, 5), back, again(back, 300),
                                    claim(me, 7, 200)};
    expect_taken(other, no_setting, later);
}

// It is restored to a time before it gave the number up, and says so in another place.
TEST(Claims, OfAServerThatWasRestoredComeAfterThoseMadeMeanwhile) {
    const Act first = claim(other, 7, 1);
    Act restored = again(first, 100);
    restored.place = 9;
    const std::vector<Act> acts = {first, release(other, 7, 5, 65), claim(me, 7, 70), restored};
    expect_valid(7, no_setting, acts);
    // By its own view, once it has heard of all that, what it said before is not of another.
    std::vector<Act> own = acts;
    for (Act &act : own) {
        act.written_here = act.id == first.id || act.id == restored.id;
        if (act.place != 9 && act.about == other)
            act.place = 3;
    }
    const Registry<Act> view{own, other.system_identifier, other.database, 9};
    EXPECT_EQ(view.latest_counterpart_act(), nullptr);
    EXPECT_EQ(view.judge(no_setting, at(200)).standing, Standing::taken);
}

// What a copy gives up, and the original then says again, takes no time from the original's claim.
TEST(Claims, OfAnOriginalCountFromTheirBeginning) {
    const Act first = claim(other, 7, 1);
    Act given_up = release(other, 7, 50, 110);
    given_up.place = 9;
    const Act answer = again(first, 51);
    expect_taken(other, no_setting, {first, given_up, answer, claim(me, 7, 52)});
}

// A lost server's word that comes back after a restore is its own, not that of a copy.
TEST(Claims, OfTheOwnPastAreNotThoseOfACopy) {
    const Act first = claim(me, 7, 1);
    Act lost = of_twin(claim(me, 8, 6));
    lost.place = home;
    Act moved = claim(me, 7, 10);
    moved.place = elsewhere;
    const std::vector<Act> acts = {first, moved, lost};
    EXPECT_EQ(see(acts, elsewhere).latest_counterpart_act(), nullptr);
    Act living = lost;
    living.said_at = at(11);
    const std::vector<Act> two = {first, moved, living};
    EXPECT_EQ(see(two, elsewhere).latest_counterpart_act(), &two.back());
}

// A copy claims a number, and its original, which has none, answers. Or the original moves, after
// its copy has given its number up.
TEST(Claims, OfACopyAreNotThoseOfTheOriginalsOwnPast) {
    const Act copied = of_twin(claim(me, 7, 5));
    Act answer = act(Kind::here, me, 0, 6);
    answer.answers = copied.id;
    EXPECT_EQ(standing(no_setting, {copied, answer}), Standing::unset);
    EXPECT_EQ(standing(no_setting, {copied, claim(me, 8, 6), release(me, 8, 7, 8)}),
              Standing::unset);

    const Act first = claim(me, 7, 1);
    Act moved = again(first, 20);
    moved.place = 9;
    const std::vector<Act> acts = {first, of_twin(release(me, 7, 10, 70)), moved};
    const auto view = see(acts, 9);
    EXPECT_NE(view.latest_counterpart_act(), nullptr);
    const std::vector<Act> given_up = {first, of_twin(claim(me, 8, 10)), moved};
    EXPECT_EQ(see(given_up, 9).standing(me, 8), nullptr);
}

// A verdict needs no other acts than those that concern the instance.
TEST(Claims, DependOnTheActsThatConcernTheInstance) {
    Random random(environment_number("SNOWFLAKE_SEED", 20230101));
    for (int round = 0; round < 2000; ++round) {
        std::vector<Act> acts;
        const auto count = random.between(1, 30);
        for (int i = 0; i < count; ++i) {
            const Instance whose[] = {me, other, third, {server, database, 1}};
            Act one = act(static_cast<Kind>(random.between(0, 8)), whose[random.between(0, 3)],
                          static_cast<int>(random.between(6, 9)), random.between(1, 40));
            if (one.kind == Kind::reserve)
                one.last += static_cast<int>(random.between(0, 2));
            one.said_at = at(random.between(1, 40));
            one.place = static_cast<std::uint64_t>(random.between(1, 3));
            one.free_from = at(random.between(1, 60));
            one.written_here = random.between(0, 1) == 1;
            acts.push_back(one);
        }
        const int setting = random.between(0, 1) == 1 ? 7 : no_setting;
        const auto all = see(acts);
        const auto expected = all.judge(setting, at(30));
        const Act *own = all.own_claim();
        const int node = setting != 0 ? setting : own != nullptr ? own->first : 0;
        std::vector<Act> some;
        for (const Act &one : acts)
            if (concerns(one, server, database, node))
                some.push_back(one);
        const auto fewer = see(some);
        const auto verdict = fewer.judge(setting, at(30));
        EXPECT_EQ(verdict.standing, expected.standing);
        EXPECT_EQ(verdict.node, expected.node);
        EXPECT_EQ(id_of(verdict.own), id_of(expected.own));
        EXPECT_EQ(id_of(verdict.reason), id_of(expected.reason));
        const auto lack = fewer.lack(verdict, counts);
        const auto expected_lack = all.lack(expected, counts);
        EXPECT_EQ(lack.setting, expected_lack.setting);
        EXPECT_EQ(lack.place, expected_lack.place);
        EXPECT_EQ(id_of(lack.answer), id_of(expected_lack.answer));
        EXPECT_EQ(id_of(lack.removal), id_of(expected_lack.removal));
    }
}

TEST(Claims, ConcernTheDatabaseTheyAreAbout) {
    EXPECT_TRUE(concerns(act(Kind::here, me, 0, 1), server, database, 7));
    EXPECT_FALSE(concerns(act(Kind::here, me, 0, 1), server, database + 1, 7));
    EXPECT_FALSE(concerns(act(Kind::here, me, 0, 1), server + 1, database, 7));
    EXPECT_TRUE(concerns(claim(other, 7, 1), server, database, 7));
    EXPECT_FALSE(concerns(claim(other, 8, 1), server, database, 7));
}

// The epoch itself is a time that a clock can show.
TEST(Claims, OfTheEpochAreCredible) {
    EXPECT_TRUE(is_better(at(0), other, at(0) - 1, me));
    EXPECT_FALSE(is_better(at(0) - 1, other, at(0), me));
}

TEST(Claims, LackWhateverIsUnsaid) {
    const Act some;
    EXPECT_FALSE(Lack<Act>{}.any());
    EXPECT_TRUE((Lack<Act>{.setting = true}.has_own()));
    EXPECT_TRUE((Lack<Act>{.place = true}.has_own()));
    EXPECT_TRUE((Lack<Act>{.answer = &some}.has_own()));
    EXPECT_TRUE((Lack<Act>{.rival = &some}.has_own()));
    EXPECT_FALSE((Lack<Act>{.removal = &some}.has_own()));
    EXPECT_TRUE((Lack<Act>{.removal = &some}.any()));
}

// The other may have joined late, and not have heard of the better claim.
TEST(Claims, AreSaidAgainToARivalOnceForEachOfItsWords) {
    const Act mine = claim(me, 7, 1);
    const Act rival = claim(other, 7, 5);
    const auto expect_rival = [](const std::vector<Act> &acts, const ActId &expected,
                                 std::uint64_t place = home) {
        const auto view = see(acts, place);
        EXPECT_EQ(id_of(view.lack(view.judge(no_setting, at(100)), counts).rival), expected);
    };
    expect_rival({mine, claim(other, 8, 5)}, ActId{});
    expect_rival({mine, rival}, rival.id);
    expect_rival({rival, mine}, rival.id);
    Act answer = again(mine, 6);
    answer.answers = rival.id;
    expect_rival({mine, rival, answer}, ActId{});
    const Act repeated = again(rival, 9);
    expect_rival({mine, rival, answer, repeated}, repeated.id);
    expect_rival({repeated, rival, mine}, repeated.id); // its last word alone
    // An answer is not answered: two servers that each take their own claim for the better one
    // would never stop.
    Act by_rival = again(rival, 9);
    by_rival.answers = mine.id;
    expect_rival({mine, rival, answer, by_rival}, ActId{});
    expect_rival({mine, rival, by_rival}, rival.id); // the word before it is still unanswered
    // Whoever has lost the number, or does not run where it said so, has nothing to say.
    expect_rival({claim(me, 7, 6), rival}, ActId{});
    expect_rival({mine, rival}, ActId{}, elsewhere);
    expect_rival({mine, rival, release(other, 7, 9, 9)}, ActId{});
    // A third's claim to the number does not hide the other's.
    const Act third_claim = claim(third, 7, 4);
    Act to_third = again(mine, 8);
    to_third.answers = third_claim.id;
    expect_rival({mine, rival, third_claim, to_third}, rival.id);
}

TEST(Claims, OfALaterVersionCountForNothing) {
    expect_valid(7, 7, {act(Kind::unknown, other, 7, 1)});
    expect_taken(other, 7, {claim(other, 7, 1), act(Kind::unknown, other, 7, 2)});
}

// A failover: the standby runs elsewhere, and has the same acts.
TEST(Claims, GoOnWhereAStandbyWasPromoted) {
    const std::vector<Act> acts = {claim(me, 7, 1)};
    const auto promoted = see(acts, elsewhere);
    EXPECT_EQ(promoted.judge(no_setting, at(2)).standing, Standing::valid);
    EXPECT_FALSE(promoted.is_at_home());
    const auto lack = promoted.lack(promoted.judge(no_setting, at(2)), counts);
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
    const auto lack = original.lack(original.judge(no_setting, at(11)), counts);
    EXPECT_EQ(id_of(lack.answer), moved.id);
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

// The copy hears the original, and is not heard. Any later word of the original ends it; an
// operator who knows that the original is gone has the copy say that it goes on.
TEST(Claims, OfACopyEndWithALaterWordOfTheOriginal) {
    const Act first = claim(me, 7, 1);
    Act moved = claim(me, 7, 10);
    moved.place = elsewhere;
    Act word = again(first, 12);
    word.written_here = false;
    std::vector<Act> acts = {first, moved, word};
    EXPECT_EQ(see(acts, elsewhere).judge(no_setting, at(13)).standing, Standing::copied);
    acts.push_back(again(moved, 13));
    acts.back().answers = word.id; // as each server does by itself
    EXPECT_EQ(see(acts, elsewhere).judge(no_setting, at(14)).standing, Standing::copied);
    acts.push_back(again(moved, 14));
    EXPECT_EQ(see(acts, elsewhere).judge(no_setting, at(15)).standing, Standing::valid);
}

// A copy is answered by its original, whatever another copy has answered, also where it has only
// answered itself; and by a server that runs elsewhere than it did, once it has said so.
TEST(Claims, OfACopyAreAnsweredByTheOriginalItself) {
    const Act first = claim(me, 7, 1);
    const Act moved = of_twin(again(first, 10));
    Act of_another = of_twin(again(first, 11), moved.id);
    of_another.place = 9;
    const auto answer = [](const std::vector<Act> &acts, std::uint64_t place) {
        const auto view = see(acts, place);
        return id_of(view.lack(view.judge(no_setting, at(20)), counts).answer);
    };
    Act earlier = of_another;
    earlier.said_at = at(9);
    EXPECT_EQ(answer({first, moved, earlier}, home), moved.id);
    EXPECT_EQ(answer({first, of_another}, home), of_another.id);
    EXPECT_EQ(answer({first, moved}, 9), ActId{});
}

// The original has stopped its copy, and moves: to other files, or by a failover. The copy hears
// that, and says nothing that would stop the original in its turn.
TEST(Claims, OfAnOriginalThatMovesAreNotEndedByAStoppedCopy) {
    const Act first = claim(me, 7, 1);
    Act copied = again(first, 10); // said by the copy
    copied.place = elsewhere;
    Act answer = again(first, 12); // said by the original
    answer.written_here = false;
    answer.answers = copied.id;
    Act moved = again(first, 20); // said by the original, in a third place
    moved.written_here = false;
    moved.place = 9;
    const std::vector<Act> at_copy = {first, copied, answer, moved};
    const auto copy = see(at_copy, elsewhere);
    const auto verdict = copy.judge(no_setting, at(21));
    EXPECT_EQ(verdict.standing, Standing::copied);
    EXPECT_FALSE(copy.lack(verdict, counts).any());
    // The word of an original that it can tell by is answered, so that the original knows of it.
    answer.answers = {};
    const std::vector<Act> heard = {first, copied, answer};
    const auto same = see(heard, elsewhere);
    EXPECT_EQ(id_of(same.lack(same.judge(no_setting, at(21)), counts).answer), answer.id);
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
    const Instance apart{.system_identifier = server, .database = database, .copy = 99};
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

// What the original says of a separated copy does not make it that copy, and another database of
// the server may be one.
TEST(Claims, OfASeparatedCopyAreNotTheOriginals) {
    const Instance apart{.system_identifier = server, .database = database, .copy = 99};
    const Instance neighbour{.system_identifier = server, .database = database + 1, .copy = 99};
    Act removed = removal(apart, 8, 10);
    removed.written_here = true;
    Act separate = act(Kind::separate, neighbour, 0, 11);
    separate.written_here = true;
    const std::vector<Act> acts = {claim(me, 7, 1), removed, separate};
    EXPECT_EQ(see(acts).self(), me);
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

TEST(Claims, AreDatedNoEarlierThanThoseThatAreKnown) {
    const std::vector<Act> none;
    EXPECT_EQ(see(none).next_claimed_at(at(2)), at(2));
    Act wide = act(Kind::reserve, third, 0, 5);
    wide.last = 3;
    Act beyond = claim(third, last_claimable_node + 1, 30);
    const Act given_up = claim(other, 8, 20);
    const std::vector<Act> acts = {
        claim(other, 7, 3), wide, claim(other, 6, 4), beyond, given_up, release(other, 8, 21, 22),
        claim(me, 5, 50)};
    EXPECT_EQ(see(acts).next_claimed_at(at(2)), at(5));
    EXPECT_EQ(see(acts).next_claimed_at(at(6)), at(6));
    const std::vector<Act> last = {claim(other, 1, 2), claim(third, last_claimable_node, 3)};
    EXPECT_EQ(see(last).next_claimed_at(at(1)), at(3));
    const std::vector<Act> first = {claim(third, 1, 3), claim(other, 2, 2)};
    EXPECT_EQ(see(first).next_claimed_at(at(1)), at(3));
}

TEST(Claims, AreNotDatedByAClockFarAhead) {
    constexpr std::int64_t hour = 3600;
    const std::vector<Act> acts = {claim(other, 7, 24 * hour + 3), claim(third, 6, hour)};
    EXPECT_EQ(see(acts).next_claimed_at(at(2)), at(hour));
    EXPECT_EQ(see(acts).next_claimed_at(at(3)), at(24 * hour + 3));
}

TEST(Claims, AreSaidLaterThanAllThatIsKnownOfTheInstance) {
    const std::vector<Act> acts = {claim(me, 7, 10), claim(other, 7, 20)};
    EXPECT_EQ(see(acts).next_said_at(me, at(9)), at(10) + 1);
    EXPECT_EQ(see(acts).next_said_at(me, at(10)), at(10) + 1);
    EXPECT_EQ(see(acts).next_said_at(me, at(11)), at(11));
    EXPECT_EQ(see(acts).next_said_at(third, at(1)), at(1));
}

TEST(Claims, OfTheSeniorAreThoseOfWhoWasThereFirst) {
    const Act first = claim(me, 7, 1);
    const Act copied = of_twin(claim(me, 7, 10));
    const std::vector<Act> acts = {first, copied};
    EXPECT_TRUE(see(acts).is_senior_to(copied));
    const Act earlier = of_twin(claim(me, 7, 0));
    const std::vector<Act> junior = {first, earlier};
    EXPECT_FALSE(see(junior).is_senior_to(earlier));
    // A server that has said nothing yet is senior to none, also where its lost words come back.
    Act lost = first;
    lost.written_here = false;
    const std::vector<Act> silent = {lost, copied};
    EXPECT_EQ(see(silent).last_said(), nullptr);
    EXPECT_FALSE(see(silent).is_senior_to(copied));
}

// Removals name an instance without being said by it.
TEST(Claims, AreNotSaidByWhoeverIsNamedInACommand) {
    const Act first = claim(me, 7, 1);
    const Act removal_of_me = act(Kind::remove, me, 9, 10);
    const std::vector<Act> of_another = {first, of_twin(removal_of_me)};
    EXPECT_EQ(see(of_another).latest_counterpart_act(), nullptr);
    const std::vector<Act> own = {first, removal_of_me};
    EXPECT_EQ(see(own).last_said()->id, first.id);
    // Nor is this instance older or younger than a copy because a removal was typed there.
    Act removed = of_twin(act(Kind::remove, me, 9, 0));
    const Act copied = of_twin(again(first, 10));
    const std::vector<Act> acts = {first, removed, copied};
    EXPECT_TRUE(see(acts).is_senior_to(copied));
}

// The claims of an unrelated instance that was removed, and that goes on and does not know of it,
// come after the one that was made before.
TEST(Claims, OfAnUnrelatedInstanceThatWasRemovedComeLater) {
    const Act mine = claim(me, 7, 5);
    const std::vector<Act> acts = {claim(other, 7, 1), mine, removal(other, 7, 8)};
    expect_valid(7, no_setting, acts);
    for (std::int64_t seconds : {9, 20}) {
        std::vector<Act> more = acts;
        more.push_back(again(claim(other, 7, 1), seconds));
        expect_valid(7, no_setting, more);
    }
}

// Each part of what speaks for an end to a claim of another is needed.
TEST(Claims, CountFromTheirBeginningUnlessTheNumberWasGivenUpMeanwhile) {
    const Act first = claim(other, 7, 10);
    const Act back = again(first, 100);
    const auto expect_from = [&](std::int64_t seconds, Act end) {
        const std::vector<Act> acts = {first, end, back};
        EXPECT_EQ(see(acts).counts_from(back, 7), at(seconds));
    };
    expect_from(100, removal(other, 7, 50));
    expect_from(100, release(other, 7, 50, 60));
    expect_from(10, removal(other, 8, 50));             // of another number
    expect_from(10, removal(third, 7, 50));             // of another instance
    expect_from(10, removal(other, 7, 9));              // before the claim
    expect_from(10, removal(other, 7, 10));             // ended by the claim
    expect_from(10, removal(other, 7, 100));            // ended by the last word
    expect_from(10, removal(other, 7, 101));            // after the last word
    expect_from(10, act(Kind::here, other, 7, 50));     // no end
    Act elsewhere_given_up = release(other, 7, 50, 60); // by a copy
    elsewhere_given_up.place = 9;
    expect_from(10, elsewhere_given_up);
}

// A claim counts again from the first word after the end that is about it.
TEST(Claims, CountFromTheFirstWordAboutTheNumberAfterItsEnd) {
    const Act first = claim(other, 7, 10);
    const Act back = again(first, 100);
    const auto expect_from = [&](std::int64_t seconds, const Act &word) {
        const std::vector<Act> acts = {first, removal(other, 7, 50), word, back};
        EXPECT_EQ(see(acts).counts_from(back, 7), at(seconds));
    };
    expect_from(60, again(first, 60));
    expect_from(100, again(first, 50)); // what was said at the same time did not go on regardless
    expect_from(100, claim(third, 7, 60));
    expect_from(100, claim(other, 8, 60));
    expect_from(100, act(Kind::here, other, 7, 60));
    Act elsewhere_said = again(first, 60);
    elsewhere_said.place = 9;
    expect_from(100, elsewhere_said);
}

// What is given up in one place ends what was said before in another one only if the instance ran
// there later.
TEST(Claims, EndElsewhereOnlyWhereTheInstanceWentLater) {
    const Act first = claim(other, 7, 10);
    Act given_up = release(other, 7, 50, 60);
    given_up.place = 9;
    Act moved = again(first, 100);
    moved.place = 8;
    const auto expect_from = [&](std::int64_t seconds, std::vector<Act> more) {
        std::vector<Act> acts = {first, given_up, moved};
        acts.insert(acts.end(), more.begin(), more.end());
        EXPECT_EQ(see(acts).counts_from(moved, 7), at(seconds));
    };
    const auto in_the_place = [](Act one, std::int64_t seconds) {
        one = again(one, seconds);
        one.place = 8;
        return one;
    };
    expect_from(100, {});
    expect_from(10, {in_the_place(first, 40)});                          // it ran there before
    expect_from(10, {in_the_place(first, 50)});                          // at the same time
    expect_from(100, {in_the_place(claim(third, 7, 10), 40)});           // another did
    expect_from(100, {in_the_place(claim(other, 8, 10), 40)});           // with another number
    expect_from(100, {in_the_place(act(Kind::here, other, 7, 10), 40)}); // without a claim
    expect_from(100, {again(first, 40)});                                // elsewhere
}

// Only another instance that has given up this number keeps it free, and only if it has not taken
// it again.
TEST(Claims, KeepFreeOnlyWhatWasGivenUp) {
    const auto kept = [](const std::vector<Act> &acts) {
        return see(acts).kept_free(7, at(50)) != nullptr;
    };
    EXPECT_TRUE(kept({release(other, 7, 2, 100)}));
    EXPECT_FALSE(kept({release(me, 7, 2, 100)}));
    EXPECT_FALSE(kept({release(other, 8, 2, 100)}));
    EXPECT_FALSE(kept({release(other, 7, 2, 50)}));
    EXPECT_FALSE(kept({release(other, 7, 2, 100), claim(other, 7, 3)}));
    Act holding = claim(other, 7, 2);
    holding.free_from = at(100);
    EXPECT_FALSE(kept({holding}));
}

// The instance tells those that are back, and no others, that they have lost the number.
TEST(Claims, OfThoseThatAreBackAreTheOnlyOnesToBeTold) {
    const Act mine = claim(me, 7, 70);
    const Act end = removal(other, 7, 5);
    const auto told = [](const std::vector<Act> &acts) {
        const auto view = see(acts);
        return view.lack(view.judge(no_setting, at(200)), counts).removal != nullptr;
    };
    const Act back = again(claim(other, 7, 1), 100);
    EXPECT_TRUE(told({end, mine, back}));
    EXPECT_FALSE(told({end, mine, claim(other, 7, 100)})); // it knows that it is later
    EXPECT_FALSE(told({end, mine, back, release(other, 7, 110, 170)}));
    // Whoever makes no IDs with the number has nothing to tell.
    EXPECT_FALSE(told({end, claim(third, 7, 60), mine, back}));
}

// A word of this server in another place, or an answer, is not what a copy has to be told of.
TEST(Claims, OfACopyEndOnlyWithWhatIsLaterThanItsOwnWordWhereItRuns) {
    Act moved = again(claim(me, 7, 1), 10);
    moved.place = elsewhere;
    Act word = again(claim(me, 7, 1), 10);
    word.written_here = false;
    word.place = 9;
    Act senior = again(word, 1);
    const std::vector<Act> same_time = {senior, moved, word};
    EXPECT_EQ(see(same_time, elsewhere).judge(no_setting, at(40)).standing, Standing::valid);
    Act later = again(word, 11);
    const std::vector<Act> ended = {senior, moved, later};
    EXPECT_EQ(see(ended, elsewhere).judge(no_setting, at(40)).standing, Standing::copied);
}

TEST(Claims, AreRemovedOnlyFromTheInstanceThatIsNamed) {
    EXPECT_EQ(standing(no_setting, {removal(other, 7, 5)}), Standing::unset);
    EXPECT_EQ(standing(no_setting, {release(me, 7, 5, 6)}), Standing::unset);
    EXPECT_EQ(standing(no_setting, {removal(me, 7, 5), release(me, 7, 6, 7)}), Standing::unset);
    EXPECT_EQ(standing(no_setting, {removal(me, 7, 5)}), Standing::removed);
    // A number that this instance has given up is no claim of its own that could go before another.
    expect_taken(other, 7, {release(me, 7, 5, 6), claim(other, 7, 10)});
}

// Nothing is said of a place where there is no claim.
TEST(Claims, AreSaidOfAPlaceOnlyWhereThereAreAny) {
    const Act here = act(Kind::here, me, 0, 1);
    const std::vector<Act> acts = {here};
    const auto moved = see(acts, elsewhere);
    EXPECT_FALSE(moved.lack(moved.judge(7, at(2)), false).any());
}

TEST(DerivedNode, IsSpreadOverAllNumbers) {
    std::map<int, int> counted;
    for (int i = 0; i < 100 * last_claimable_node; ++i)
        ++counted[derived_node({.system_identifier = 7'000'000'000'000'000'000 + i / 3,
                                .database = 5 + i % 3,
                                .copy = 0})];
    ASSERT_EQ(counted.size(), static_cast<std::size_t>(last_claimable_node));
    for (const auto &[node, count] : counted) {
        EXPECT_GE(node, 1);
        EXPECT_LE(node, last_claimable_node);
        EXPECT_GT(count, 40) << node; // of 100 expected: six standard deviations
        EXPECT_LT(count, 160) << node;
    }
}

std::int64_t nowhere(std::int32_t) {
    return 0;
}

TEST(Choice, PassesOverWhatTheInstanceHasReservedAlone) {
    const int derived = derived_node(me);
    const std::vector<Act> own = {claim(me, derived, 1)};
    EXPECT_EQ(see(own).choose(at(9), nowhere), derived);
    EXPECT_FALSE(see(own).is_taken(derived, at(9)));
}

TEST(Choice, IsTheDerivedNumberOrTheNextThatIsFree) {
    const int derived = derived_node(me);
    const auto next = [=](int step) { return 1 + (derived - 1 + step) % 1023; };
    const std::vector<Act> none;
    EXPECT_EQ(see(none).choose(at(9), nowhere), derived);
    const std::vector<Act> some = {claim(other, derived, 1), claim(third, next(1), 1),
                                   release(third, next(1), 2, 10),
                                   act(Kind::reserve, me, next(2), 1)};
    EXPECT_EQ(see(some).choose(at(9), nowhere), next(3));
    EXPECT_EQ(see(some).choose(at(10), nowhere), next(1));
}

TEST(Choice, KeepsToTheNumbersThatFit) {
    constexpr int last = 63;
    std::vector<Act> acts;
    for (int count = 0; count < last; ++count) {
        const int node = see(acts).choose(at(9), nowhere, last);
        ASSERT_GE(node, 1);
        ASSERT_LE(node, last);
        if (count == 0) {
            EXPECT_EQ(node, derived_node(me, last));
        }
        acts.push_back(claim(other, node, 1));
    }
    EXPECT_EQ(see(acts).choose(at(9), nowhere, last), 0);
    EXPECT_NE(see(acts).choose(at(9), nowhere), 0);
}

TEST(Choice, LeavesNumbersThatTheIdsAtHandShow) {
    const std::vector<Act> none;
    const int derived = derived_node(me);
    const auto seen = [=](std::int64_t at_derived) {
        return [=](std::int32_t node) { return node == derived ? at_derived : at(1); };
    };
    EXPECT_EQ(see(none).choose(at(9), seen(at(9))), derived);
    EXPECT_EQ(see(none).choose(at(9), seen(at(10))), 0);
}

TEST(Choice, EndsWhereAllNumbersAreTaken) {
    std::vector<Act> acts;
    for (int node = 1; node <= last_claimable_node; ++node)
        acts.push_back(claim(other, node, 1));
    EXPECT_EQ(see(acts).choose(at(9), nowhere), 0);
}

} // namespace
} // namespace unit::claims_test
