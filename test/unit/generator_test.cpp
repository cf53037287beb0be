// The rules of the next ID and their boundaries, one by one. Random tests then show that no state,
// clock or request makes the generator go back or leave its layout.
#include "generator.hpp"

#include "layouts.hpp"
#include "random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

namespace snowflake {

// How GoogleTest prints a refusal.
static void PrintTo(Refusal refusal, std::ostream *out) {
    constexpr const char *names[] = {"none",
                                     "before_epoch",
                                     "exhausted",
                                     "node_out_of_range",
                                     "stride_too_wide",
                                     "stride_misplaced",
                                     "too_far_ahead",
                                     "above_max_value"};
    *out << names[static_cast<int>(refusal)];
}

} // namespace snowflake

namespace unit::generator_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

// A tick like any other in the default layout: 2023-09-17 15:30:00.123 UTC.
constexpr std::int64_t now = 22'433'400'123;
constexpr std::int64_t last_tick = default_layout.last_tick();

// The default layout with the bits of the counter given to the node: one ID a tick.
constexpr Layout without_counter = with_fields(3, 41, 22, 0);

// An ID of the default layout.
constexpr Id id(std::int64_t tick, std::int32_t node, std::int32_t counter) {
    return default_layout.compose({.tick = tick, .node = node, .counter = counter});
}

constexpr Reservation next(Id last, const Request &request) {
    return reserve(default_layout, last, request);
}

constexpr Refusal refusal(Id last, const Request &request) {
    return next(last, request).refusal;
}

// The generator works at compile time.
static_assert(next(no_id, {.now = now, .node = 7}).first == id(now, 7, 0));
static_assert(high_water_mark(default_layout, 0) == id(999, 1023, 4095));

TEST(GeneratorFirst, ANewSequenceBeginsWithTheClockAndCounterZero) {
    const Reservation got = next(no_id, {.now = now, .node = 7});
    EXPECT_EQ(got.refusal, Refusal::none);
    EXPECT_EQ(got.first, id(now, 7, 0));
    EXPECT_EQ(got.last, id(now, 7, 0));
    EXPECT_EQ(got.step, 1);
    EXPECT_EQ(got.count, 1);
}

TEST(GeneratorFirst, AnyNegativeLastMeansNone) {
    EXPECT_EQ(next(-2, {.now = now, .node = 7}).first, id(now, 7, 0));
    EXPECT_EQ(next(int64_min, {.now = now, .node = 7}).first, id(now, 7, 0));
    EXPECT_EQ(next(no_id, {.now = 0, .node = 1}).first, id(0, 1, 0));
}

TEST(GeneratorFirst, IdZeroIsAnIdThatWasReserved) {
    EXPECT_EQ(next(0, {.now = 0, .node = 1}).first, id(0, 1, 1));
}

// A sequence that was never a snowflake has small numbers, all of them in the first ticks.
TEST(GeneratorFirst, AnOrdinarySequenceGoesOnWithTheClock) {
    EXPECT_EQ(next(1'000'000, {.now = now, .node = 7}).first, id(now, 7, 0));
}

TEST(GeneratorRule1, AClockBeyondLastGivesItsTickAndCounterZero) {
    EXPECT_EQ(next(id(now - 1, 7, 5), {.now = now, .node = 7}).first, id(now, 7, 0));
    EXPECT_EQ(next(id(now - 1, 7, 4095), {.now = now, .node = 7}).first, id(now, 7, 0));
    EXPECT_EQ(next(id(now - 1, 1023, 4095), {.now = now, .node = 1}).first, id(now, 1, 0));
    EXPECT_EQ(next(id(0, 7, 5), {.now = now, .node = 7}).first, id(now, 7, 0));
    EXPECT_EQ(next(id(now, 7, 5), {.now = last_tick, .node = 7}).first, id(last_tick, 7, 0));
}

TEST(GeneratorRule2, WithinATickTheCounterGoesOn) {
    EXPECT_EQ(next(id(now, 7, 0), {.now = now, .node = 7}).first, id(now, 7, 1));
    EXPECT_EQ(next(id(now, 7, 5), {.now = now, .node = 7}).first, id(now, 7, 6));
    EXPECT_EQ(next(id(now, 7, 4094), {.now = now, .node = 7}).first, id(now, 7, 4095));
}

TEST(GeneratorRule2, AFullCounterGivesTheTickAfter) {
    EXPECT_EQ(next(id(now, 7, 4095), {.now = now, .node = 7}).first, id(now + 1, 7, 0));
    // From there on the sequence counts in that tick until the clock gets there.
    EXPECT_EQ(next(id(now + 1, 7, 0), {.now = now, .node = 7}).first, id(now + 1, 7, 1));
    EXPECT_EQ(next(id(now + 1, 7, 4095), {.now = now, .node = 7}).first, id(now + 2, 7, 0));
    EXPECT_EQ(next(id(now + 2, 7, 9), {.now = now + 3, .node = 7}).first, id(now + 3, 7, 0));
}

TEST(GeneratorRule2, AClockThatWentBackIsWaitedFor) {
    constexpr std::int64_t year = 365LL * 86'400'000;
    constexpr std::int64_t later = now + year;
    for (const std::int64_t back : {std::int64_t{1}, year, later}) {
        SCOPED_TRACE(back);
        const std::int64_t then = later - back;
        EXPECT_EQ(next(id(later, 7, 5), {.now = then, .node = 7}).first, id(later, 7, 6));
        EXPECT_EQ(next(id(later, 7, 4095), {.now = then, .node = 7}).first, id(later + 1, 7, 0));
    }
}

TEST(GeneratorRule3, ALowerNodeWithinATickGivesTheTickAfter) {
    EXPECT_EQ(next(id(now, 7, 5), {.now = now, .node = 6}).first, id(now + 1, 6, 0));
    EXPECT_EQ(next(id(now, 1023, 5), {.now = now, .node = 1}).first, id(now + 1, 1, 0));
    EXPECT_EQ(next(id(now, 7, 4095), {.now = now, .node = 6}).first, id(now + 1, 6, 0));
    EXPECT_EQ(next(id(now, 7, 5), {.now = now - 1000, .node = 6}).first, id(now + 1, 6, 0));
}

TEST(GeneratorRule3, ALowerNodeTakesItsWholeLeaseFromTheTickAfter) {
    const Reservation got = next(id(now, 7, 4090), {.now = now, .node = 6, .wanted = 100});
    EXPECT_EQ(got.first, id(now + 1, 6, 0));
    EXPECT_EQ(got.last, id(now + 1, 6, 99));
    EXPECT_EQ(got.count, 100);
}

TEST(GeneratorRule3, AHigherNodeGoesOnInTheTick) {
    EXPECT_EQ(next(id(now, 7, 5), {.now = now, .node = 8}).first, id(now, 8, 6));
    EXPECT_EQ(next(id(now, 7, 4095), {.now = now, .node = 8}).first, id(now + 1, 8, 0));
}

TEST(GeneratorRule3, ALowerNodeBelowTheCounterGoesOnInTheTick) {
    const Id last = counter_above_node.compose({.tick = now, .node = 9, .counter = 5});
    const Reservation got = reserve(counter_above_node, last, {.now = now, .node = 3});
    EXPECT_EQ(counter_above_node.split(got.first), (Fields{.tick = now, .node = 3, .counter = 6}));
    EXPECT_GT(got.first, last);
}

TEST(GeneratorNode, AnyNodeOfTheFieldButZeroWillDo) {
    EXPECT_EQ(next(no_id, {.now = now, .node = 1}).first, id(now, 1, 0));
    EXPECT_EQ(next(no_id, {.now = now, .node = 1023}).first, id(now, 1023, 0));
}

TEST(GeneratorNode, OtherNodesAreRefused) {
    // The huge ones would pass if they were cut to the field, or to 32 bits.
    for (const std::int64_t node :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1024}, std::int64_t{1025},
          (std::int64_t{1} << 31) + 1, (std::int64_t{1} << 32) + 1, int64_max, int64_min})
        EXPECT_EQ(refusal(no_id, {.now = now, .node = node}), Refusal::node_out_of_range) << node;
}

TEST(GeneratorNode, ALayoutWithoutNodesMakesNoIds) {
    const Layout without_node = with_fields(3, 41, 0, 22);
    for (const std::int64_t node : {0, 1})
        EXPECT_EQ(reserve(without_node, no_id, {.now = now, .node = node}).refusal,
                  Refusal::node_out_of_range);
}

TEST(GeneratorStride, ReservesThatManyCounters) {
    const Reservation hundred = next(no_id, {.now = now, .node = 7, .stride = 100});
    EXPECT_EQ(hundred.first, id(now, 7, 0));
    EXPECT_EQ(hundred.last, id(now, 7, 99));
    EXPECT_EQ(hundred.count, 1);
    EXPECT_EQ(next(hundred.last, {.now = now, .node = 7, .stride = 100}).first, id(now, 7, 100));
    EXPECT_EQ(next(hundred.last, {.now = now, .node = 7}).first, id(now, 7, 100));
}

TEST(GeneratorStride, GoesToTheTickAfterWhereItDoesNotFit) {
    const Request request{.now = now, .node = 7, .stride = 100};
    EXPECT_EQ(next(id(now, 7, 3995), request).first, id(now, 7, 3996)); // 3996 .. 4095
    EXPECT_EQ(next(id(now, 7, 3996), request).first, id(now + 1, 7, 0));
    EXPECT_EQ(next(id(now, 7, 4095), request).first, id(now + 1, 7, 0));
}

TEST(GeneratorStride, MayBeAsWideAsTheCounter) {
    const Request request{.now = now, .node = 7, .stride = 4096};
    const Reservation whole_tick = next(no_id, request);
    EXPECT_EQ(whole_tick.first, id(now, 7, 0));
    EXPECT_EQ(whole_tick.last, id(now, 7, 4095));
    EXPECT_EQ(next(whole_tick.last, request).first, id(now + 1, 7, 0));
    EXPECT_EQ(next(id(now, 7, 0), request).first, id(now + 1, 7, 0));
}

TEST(GeneratorStride, OthersAreRefused) {
    for (const std::int64_t stride : {std::int64_t{4097}, std::int64_t{0}, std::int64_t{-1},
                                      (std::int64_t{1} << 32) + 1, int64_max, int64_min})
        EXPECT_EQ(refusal(no_id, {.now = now, .node = 7, .stride = stride}),
                  Refusal::stride_too_wide)
            << stride;
}

TEST(GeneratorStride, NeedsTheCounterInTheLowestBits) {
    const auto with_stride = [](std::int64_t stride) {
        return reserve(counter_above_node, no_id, {.now = now, .node = 7, .stride = stride});
    };
    EXPECT_EQ(with_stride(1).refusal, Refusal::none);
    EXPECT_EQ(with_stride(2).refusal, Refusal::stride_misplaced);
    EXPECT_EQ(with_stride(4096).refusal, Refusal::stride_misplaced);
}

TEST(GeneratorClock, BeforeTheEpochIsAlwaysRefused) {
    for (const std::int64_t before : {std::int64_t{-1}, std::int64_t{-1000}, int64_min})
        for (const Id last : {no_id, Id{0}, id(now, 7, 5), default_layout.last_id()})
            EXPECT_EQ(refusal(last, {.now = before, .node = 7}), Refusal::before_epoch) << last;
}

TEST(GeneratorClock, BeforeTheEpochIsRefusedEvenIfLastIsBeyondTheLayout) {
    EXPECT_EQ(reserve(narrow, int64_max, {.now = -1, .node = 7}).refusal, Refusal::before_epoch);
}

TEST(GeneratorEnd, TheLastIdOfTheLayoutCanBeHad) {
    const Reservation got = next(id(last_tick, 1023, 4094), {.now = last_tick, .node = 1023});
    EXPECT_EQ(got.first, int64_max);
    EXPECT_EQ(got.last, int64_max);
}

TEST(GeneratorEnd, AfterTheLastIdItIsExhaustedAndStaysSo) {
    for (const std::int64_t clock : {std::int64_t{0}, now, last_tick - 1, last_tick, last_tick + 1})
        for (const std::int64_t node : {1, 512, 1023})
            for (const std::int64_t stride : {1, 100, 4096})
                EXPECT_EQ(refusal(int64_max, {.now = clock, .node = node, .stride = stride}),
                          Refusal::exhausted);
}

TEST(GeneratorEnd, TheTickAfterTheLastIsNeverTaken) {
    const Id full = id(last_tick, 7, 4095);
    EXPECT_EQ(refusal(full, {.now = last_tick, .node = 7}), Refusal::exhausted);
    EXPECT_EQ(refusal(full, {.now = now, .node = 8}), Refusal::exhausted);
    EXPECT_EQ(refusal(id(last_tick, 7, 5), {.now = now, .node = 6}), Refusal::exhausted);
    EXPECT_EQ(refusal(id(last_tick, 7, 3996), {.now = now, .node = 7, .stride = 100}),
              Refusal::exhausted);
}

TEST(GeneratorEnd, AClockBeyondTheLastTickIsRefused) {
    for (const std::int64_t clock : {last_tick + 1, last_tick + 86'400'000, int64_max})
        for (const Id last : {no_id, id(now, 7, 5), id(last_tick, 7, 5), int64_max})
            EXPECT_EQ(refusal(last, {.now = clock, .node = 7}), Refusal::exhausted);
}

TEST(GeneratorEnd, ALeaseEndsWithTheLayout) {
    const Reservation got =
        next(id(last_tick, 1023, 4090), {.now = last_tick, .node = 1023, .wanted = 100});
    EXPECT_EQ(got.count, 5);
    EXPECT_EQ(got.last, int64_max);
}

// A caller asks for a layout that ends before the last ID of the sequence, which is from another.
TEST(GeneratorEnd, ALastBeyondTheLayoutIsRefused) {
    for (const Id last : {narrow.last_id() + 1, id(narrow.last_tick() + 5, 7, 5), int64_max})
        for (const std::int64_t clock : {std::int64_t{0}, now, narrow.last_tick(), last_tick})
            EXPECT_EQ(reserve(narrow, last, {.now = clock, .node = 7}).refusal, Refusal::exhausted);
}

// A layout that reads other fields from the last ID goes on all the same.
TEST(GeneratorEnd, ALastOfAnotherLayoutIsPassed) {
    const Id last = id(now, 7, 5);
    const Reservation got = reserve(counter_above_node, last, {.now = now, .node = 7});
    EXPECT_EQ(got.refusal, Refusal::none);
    EXPECT_GT(got.first, last);
    EXPECT_EQ(counter_above_node.tick_of(got.first), now);
}

TEST(GeneratorWanted, GivesARunOfConsecutiveIds) {
    const Reservation got = next(id(now, 7, 5), {.now = now, .node = 7, .wanted = 10});
    EXPECT_EQ(got.first, id(now, 7, 6));
    EXPECT_EQ(got.last, id(now, 7, 15));
    EXPECT_EQ(got.step, 1);
    EXPECT_EQ(got.count, 10);
}

TEST(GeneratorWanted, LessThanOneIsOne) {
    for (const std::int64_t wanted :
         {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1}, int64_min})
        EXPECT_EQ(next(no_id, {.now = now, .node = 7, .wanted = wanted}).count, 1) << wanted;
}

TEST(GeneratorWanted, NoMoreComeThanTheTickHolds) {
    EXPECT_EQ(next(no_id, {.now = now, .node = 7, .wanted = 4096}).count, 4096);
    for (const std::int64_t wanted : {std::int64_t{4097}, int64_max}) {
        const Reservation whole_tick = next(no_id, {.now = now, .node = 7, .wanted = wanted});
        EXPECT_EQ(whole_tick.count, 4096);
        EXPECT_EQ(whole_tick.last, id(now, 7, 4095));
        const Reservation rest = next(id(now, 7, 5), {.now = now, .node = 7, .wanted = wanted});
        EXPECT_EQ(rest.count, 4090);
        EXPECT_EQ(rest.last, id(now, 7, 4095));
    }
}

TEST(GeneratorWanted, StridesStandSideBySide) {
    const Reservation got =
        next(id(now, 7, 99), {.now = now, .node = 7, .stride = 100, .wanted = 3});
    EXPECT_EQ(got.first, id(now, 7, 100));
    EXPECT_EQ(got.step, 100);
    EXPECT_EQ(got.count, 3);
    EXPECT_EQ(got.last, id(now, 7, 399));
}

TEST(GeneratorWanted, NoMoreStridesComeThanTheTickHolds) {
    const Reservation whole_tick =
        next(no_id, {.now = now, .node = 7, .stride = 100, .wanted = 1000});
    EXPECT_EQ(whole_tick.count, 40); // 4096 / 100, and 96 counters are left
    EXPECT_EQ(whole_tick.last, id(now, 7, 3999));

    const Reservation rest =
        next(id(now, 7, 3795), {.now = now, .node = 7, .stride = 100, .wanted = 1000});
    EXPECT_EQ(rest.first, id(now, 7, 3796));
    EXPECT_EQ(rest.count, 3);
    EXPECT_EQ(rest.last, id(now, 7, 4095));

    const Reservation widest =
        next(no_id, {.now = now, .node = 7, .stride = 4096, .wanted = int64_max});
    EXPECT_EQ(widest.count, 1);
    EXPECT_EQ(widest.last, id(now, 7, 4095));
}

TEST(GeneratorWanted, StepsOverTheNodeBelowTheCounter) {
    const Reservation got =
        reserve(counter_above_node, no_id, {.now = now, .node = 7, .wanted = 3});
    EXPECT_EQ(got.step, 1024);
    EXPECT_EQ(got.last, got.first + 2048);
    EXPECT_EQ(counter_above_node.split(got.last), (Fields{.tick = now, .node = 7, .counter = 2}));

    const Reservation whole_tick =
        reserve(counter_above_node, no_id, {.now = now, .node = 7, .wanted = int64_max});
    EXPECT_EQ(whole_tick.count, 4096);
    EXPECT_EQ(counter_above_node.counter_of(whole_tick.last), 4095);
}

TEST(GeneratorWanted, WithoutCountersATickHoldsOneId) {
    const Reservation got = reserve(without_counter, no_id, {.now = now, .node = 7, .wanted = 9});
    EXPECT_EQ(got.count, 1);
    EXPECT_EQ(got.last, got.first);
    const Reservation after = reserve(without_counter, got.last, {.now = now, .node = 7});
    EXPECT_EQ(without_counter.split(after.first),
              (Fields{.tick = now + 1, .node = 7, .counter = 0}));
}

Request batch_of(std::int64_t wanted, std::int64_t stride = 1) {
    return {.now = now, .node = 7, .stride = stride, .wanted = wanted, .batch = true};
}

TEST(GeneratorBatch, OfOneIsANextval) {
    for (const Id last : {no_id, id(now - 1, 7, 5), id(now, 7, 5), id(now, 7, 4095)}) {
        const Reservation got = next(last, batch_of(1));
        EXPECT_EQ(got.first, next(last, {.now = now, .node = 7}).first);
        EXPECT_EQ(got.last, got.first);
        EXPECT_EQ(got.count, 1);
    }
}

TEST(GeneratorBatch, FillsATickToTheLastCounter) {
    const Reservation whole_tick = next(no_id, batch_of(4096));
    EXPECT_EQ(whole_tick.first, id(now, 7, 0));
    EXPECT_EQ(whole_tick.last, id(now, 7, 4095));
    EXPECT_EQ(whole_tick.count, 4096);

    const Reservation rest = next(id(now, 7, 5), batch_of(4090));
    EXPECT_EQ(rest.first, id(now, 7, 6));
    EXPECT_EQ(rest.last, id(now, 7, 4095));
    EXPECT_EQ(rest.count, 4090);
}

TEST(GeneratorBatch, GoesOnInTheTickAfter) {
    const Reservation one_more = next(no_id, batch_of(4097));
    EXPECT_EQ(one_more.first, id(now, 7, 0));
    EXPECT_EQ(one_more.last, id(now + 1, 7, 0));
    EXPECT_EQ(one_more.count, 4097);

    const Reservation rest_and_one = next(id(now, 7, 5), batch_of(4091));
    EXPECT_EQ(rest_and_one.first, id(now, 7, 6));
    EXPECT_EQ(rest_and_one.last, id(now + 1, 7, 0));

    EXPECT_EQ(next(id(now, 7, 4095), batch_of(2)).last, id(now + 1, 7, 1));
}

TEST(GeneratorBatch, GoesThroughAsManyTicksAsItTakes) {
    EXPECT_EQ(next(no_id, batch_of(3 * 4096)).last, id(now + 2, 7, 4095));
    EXPECT_EQ(next(no_id, batch_of(3 * 4096 + 1)).last, id(now + 3, 7, 0));
    EXPECT_EQ(next(id(now, 7, 5), batch_of(4090 + 2 * 4096)).last, id(now + 2, 7, 4095));
    // 2^31 - 1 IDs fill 2^19 ticks but for the last of them.
    EXPECT_EQ(next(no_id, batch_of(2'147'483'647)).last, id(now + 524'287, 7, 4094));
}

TEST(GeneratorBatch, LeavesWhatIsTooShortForAStride) {
    // 40 strides of 100 fit into 4096 counters.
    EXPECT_EQ(next(no_id, batch_of(40, 100)).last, id(now, 7, 3999));
    EXPECT_EQ(next(no_id, batch_of(41, 100)).last, id(now + 1, 7, 99));
    EXPECT_EQ(next(no_id, batch_of(80, 100)).last, id(now + 1, 7, 3999));
    EXPECT_EQ(next(no_id, batch_of(81, 100)).last, id(now + 2, 7, 99));
    EXPECT_EQ(next(id(now, 7, 3895), batch_of(2, 100)).last, id(now, 7, 4095));
    EXPECT_EQ(next(id(now, 7, 3896), batch_of(2, 100)).last, id(now + 1, 7, 99));
    EXPECT_EQ(next(no_id, batch_of(3, 4096)).last, id(now + 2, 7, 4095));
}

TEST(GeneratorBatch, KeepsItsNodeBelowTheCounter) {
    const Reservation got = reserve(counter_above_node, no_id, batch_of(4097));
    EXPECT_EQ(got.step, 1024);
    EXPECT_EQ(counter_above_node.split(got.last),
              (Fields{.tick = now + 1, .node = 7, .counter = 0}));
}

TEST(GeneratorBatch, WithoutCountersTakesATickForEachId) {
    const Reservation got = reserve(without_counter, no_id, batch_of(9));
    EXPECT_EQ(got.count, 9);
    EXPECT_EQ(without_counter.split(got.last), (Fields{.tick = now + 8, .node = 7, .counter = 0}));
}

TEST(GeneratorBatch, IsRefusedAsAWholeAtTheEndOfTheLayout) {
    const auto from_tick = [](std::int64_t tick, std::int64_t wanted, std::int64_t stride) {
        return next(id(tick, 7, 5),
                    {.now = 0, .node = 7, .stride = stride, .wanted = wanted, .batch = true});
    };
    EXPECT_EQ(from_tick(last_tick, 4090, 1).last, id(last_tick, 7, 4095));
    EXPECT_EQ(from_tick(last_tick, 4091, 1).refusal, Refusal::exhausted);
    EXPECT_EQ(from_tick(last_tick - 2, 4090 + 2 * 4096, 1).last, id(last_tick, 7, 4095));
    EXPECT_EQ(from_tick(last_tick - 2, 4091 + 2 * 4096, 1).refusal, Refusal::exhausted);
    EXPECT_EQ(from_tick(last_tick - 1, 80, 100).last, id(last_tick, 7, 3999));
    EXPECT_EQ(from_tick(last_tick - 1, 81, 100).refusal, Refusal::exhausted);
    EXPECT_EQ(from_tick(last_tick - 1000, 2'147'483'647, 1).refusal, Refusal::exhausted);
}

TEST(GeneratorRun, TheNextIsAStepOnUntilTheTickIsFull) {
    EXPECT_EQ(next_in_run(default_layout, id(now, 7, 5), 1), id(now, 7, 6));
    EXPECT_EQ(next_in_run(default_layout, id(now, 7, 4094), 1), id(now, 7, 4095));
    EXPECT_EQ(next_in_run(default_layout, id(now, 7, 4095), 1), id(now + 1, 7, 0));
    EXPECT_EQ(next_in_run(default_layout, id(now, 7, 3896), 100), id(now, 7, 3996));
    EXPECT_EQ(next_in_run(default_layout, id(now, 7, 3897), 100), id(now + 1, 7, 0));
    EXPECT_EQ(next_in_run(default_layout, id(now, 7, 0), 4096), id(now + 1, 7, 0));

    const auto above_node = [](std::int64_t tick, std::int32_t counter) {
        return counter_above_node.compose({.tick = tick, .node = 7, .counter = counter});
    };
    EXPECT_EQ(next_in_run(counter_above_node, above_node(now, 5), 1), above_node(now, 6));
    EXPECT_EQ(next_in_run(counter_above_node, above_node(now, 4095), 1), above_node(now + 1, 0));

    const Id alone = without_counter.compose({.tick = now, .node = 7, .counter = 0});
    EXPECT_EQ(next_in_run(without_counter, alone, 1),
              without_counter.compose({.tick = now + 1, .node = 7, .counter = 0}));
}

TEST(HighWaterMark, IsTheLastIdOfTheSecondFromLast) {
    EXPECT_EQ(high_water_mark(default_layout, id(now, 7, 5)), id(now + 999, 1023, 4095));
    EXPECT_EQ(high_water_mark(default_layout, id(now, 1023, 4095)), id(now + 999, 1023, 4095));
    EXPECT_EQ(high_water_mark(default_layout, id(0, 0, 0)), id(999, 1023, 4095));
}

TEST(HighWaterMark, WithTicksOfASecondIsTheLastIdOfTheTick) {
    const Id last = seconds.compose({.tick = 5, .node = 7, .counter = 9});
    EXPECT_EQ(high_water_mark(seconds, last), seconds.last_id_of_tick(5));
}

TEST(HighWaterMark, WithTicksOfAMicrosecondIsAMillionTicksOn) {
    const Id last = microseconds.compose({.tick = 5, .node = 7, .counter = 3});
    EXPECT_EQ(high_water_mark(microseconds, last), microseconds.last_id_of_tick(1'000'004));
}

TEST(HighWaterMark, EndsWithTheLayout) {
    EXPECT_EQ(high_water_mark(default_layout, id(last_tick - 1000, 7, 5)),
              id(last_tick - 1, 1023, 4095));
    for (const std::int64_t tick : {last_tick - 999, last_tick - 998, last_tick})
        EXPECT_EQ(high_water_mark(default_layout, id(tick, 7, 5)), int64_max);
    for (const Layout layout : some_layouts)
        EXPECT_EQ(high_water_mark(layout, layout.last_id()), layout.last_id());
}

TEST(HighWaterMark, ASequenceThatLandsOnItGoesOnAtMostASecondAhead) {
    for (const Layout layout : some_layouts) {
        const std::int64_t tick = 123'456;
        const Id last = layout.compose({.tick = tick, .node = 2, .counter = 1});
        const Id mark = high_water_mark(layout, last);
        for (const std::int64_t node : {1, 2, 1023}) {
            const Reservation got = reserve(layout, mark, {.now = tick, .node = node});
            EXPECT_EQ(got.refusal, Refusal::none);
            EXPECT_GT(got.first, mark);
            EXPECT_EQ(layout.split(got.first), (Fields{.tick = tick + layout.ticks_per_second(),
                                                       .node = static_cast<std::int32_t>(node),
                                                       .counter = 0}));
        }
    }
}

TEST(HighWaterMark, AtTheEndOfTheLayoutNothingIsLeftAboveIt) {
    const Id mark = high_water_mark(default_layout, id(last_tick - 5, 7, 5));
    EXPECT_EQ(refusal(mark, {.now = last_tick - 5, .node = 1023}), Refusal::exhausted);
}

constexpr Id closing(std::int64_t tick) {
    return id(tick, 0, 4095);
}

constexpr Decision decided(Id last, bool reset, const Request &request, const Limits &limits = {}) {
    return decide_next_id(default_layout, {.last = last, .reset = reset}, request, limits);
}

constexpr bool going_on = false;
constexpr bool reset = true;

void expect_hands_out(Id first, const Decision &decision) {
    EXPECT_EQ(decision.action, Action::hand_out);
    EXPECT_EQ(decision.reserved.first, first);
    EXPECT_EQ(decision.last, decision.reserved.last);
}

void expect_closes(std::int64_t tick, const Decision &decision) {
    EXPECT_EQ(decision.action, Action::close);
    EXPECT_EQ(decision.closed_tick, tick);
    EXPECT_EQ(decision.last, closing(tick));
}

void expect_waits(std::int64_t tick, const Decision &decision) {
    EXPECT_EQ(decision.action, Action::wait);
    EXPECT_EQ(decision.closed_tick, tick);
}

void expect_refuses(Refusal why, const Decision &decision) {
    EXPECT_EQ(decision.action, Action::refuse);
    EXPECT_EQ(decision.reserved.refusal, why);
}

TEST(GeneratorRule4, ASequenceThatGoesOnIsAReservation) {
    for (const Id last : {no_id, Id{5}, id(now - 1, 7, 5), id(now, 7, 5), id(now + 9, 7, 4095)}) {
        const Request request{.now = now, .node = 7, .wanted = 10};
        expect_hands_out(next(last, request).first, decided(last, going_on, request));
        EXPECT_EQ(decided(last, going_on, request).last, next(last, request).last);
        EXPECT_EQ(decided(last, going_on, request).reserved.count, next(last, request).count);
    }
}

TEST(GeneratorRule4, ASequenceThatWasResetClosesTheTick) {
    for (const Id last : {no_id, Id{0}, Id{1'000'000}, id(now - 1, 1023, 4095), id(now, 1, 0),
                          id(now, 7, 5), id(now, 1023, 4095), closing(now)})
        for (const bool batch : {false, true})
            expect_closes(
                now, decided(last, reset, {.now = now, .node = 7, .wanted = 5000, .batch = batch}));
}

// No session has handed out IDs before that the clock has not reached.
TEST(GeneratorRule4, ASequenceThatWasSetAheadOfTheClockGoesOnFromThere) {
    const Request request{.now = now, .node = 7};
    expect_hands_out(id(now + 1, 7, 6), decided(id(now + 1, 7, 5), reset, request));
    expect_hands_out(id(now + 1001, 7, 0), decided(id(now + 1000, 1023, 4095), reset, request));
    expect_hands_out(id(now + 2, 7, 0), decided(closing(now + 1), reset, request));
}

TEST(GeneratorRule4, ASessionThatFindsTheTickClosedWaits) {
    expect_waits(now, decided(closing(now), going_on, {.now = now, .node = 7}));
    // The time that a session has read may be older.
    expect_waits(now, decided(closing(now), going_on, {.now = now - 1, .node = 7}));
    expect_waits(now, decided(closing(now), going_on, {.now = 0, .node = 1023, .wanted = 100}));
}

TEST(GeneratorRule4, AfterTheClosedTickTheSequenceGoesOn) {
    expect_hands_out(id(now + 1, 7, 0),
                     decided(closing(now), going_on, {.now = now + 1, .node = 7}));
    expect_hands_out(id(now + 2, 7, 0),
                     decided(closing(now), going_on, {.now = now + 2, .node = 7}));
}

// Otherwise sessions would wait although nothing has reset the sequence.
TEST(GeneratorRule4, NoIdThatANodeMakesClosesATick) {
    for (const std::int32_t node : {1, 512, 1023})
        expect_hands_out(id(now + 1, 7, 0),
                         decided(id(now, node, 4095), going_on, {.now = now, .node = 7}));
    EXPECT_EQ(decided(id(now, 0, 4094), going_on, {.now = now, .node = 7}).action,
              Action::hand_out);
    for (const Layout layout : some_layouts)
        EXPECT_NE(high_water_mark(layout, layout.first_id_of_tick(5)),
                  closing_id(layout,
                             layout.tick_of(high_water_mark(layout, layout.first_id_of_tick(5)))));
}

TEST(GeneratorRule4, AClosedTickHasNothingLeftInAnyLayout) {
    for (const Layout layout :
         {default_layout, counter_above_node, seconds, microseconds, narrow, without_counter}) {
        const std::int64_t tick = 123'456;
        for (const std::int64_t node : {std::int64_t{1}, std::int64_t{layout.last_node()}}) {
            const Reservation got =
                reserve(layout, closing_id(layout, tick), {.now = tick, .node = node});
            EXPECT_EQ(layout.tick_of(got.first), tick + 1);
        }
    }
}

TEST(GeneratorRule4, WhatCannotBeHadIsRefusedBeforeAnythingIsClosed) {
    for (const bool state : {going_on, reset}) {
        expect_refuses(Refusal::node_out_of_range, decided(5, state, {.now = now, .node = 0}));
        expect_refuses(Refusal::before_epoch, decided(5, state, {.now = -1, .node = 7}));
        expect_refuses(Refusal::exhausted, decided(5, state, {.now = last_tick + 1, .node = 7}));
        expect_refuses(Refusal::exhausted, decided(int64_max, state, {.now = now, .node = 7}));
    }
    expect_refuses(Refusal::exhausted,
                   decided(closing(last_tick), going_on, {.now = last_tick, .node = 7}));
}

TEST(GeneratorRule4, TheTimeAfterAWaitIsInTheNextTickAtLeast) {
    const std::int64_t end = default_layout.unix_us(now + 1);
    EXPECT_EQ(time_after(default_layout, now, end), end);
    EXPECT_EQ(time_after(default_layout, now, end + 5), end + 5);
    EXPECT_EQ(time_after(default_layout, now, end - 1), end); // the clock stands still
    EXPECT_EQ(time_after(default_layout, now, 0), end);
}

TEST(GeneratorLimits, NoIdIsAboveTheMaximum) {
    const Request request{.now = now, .node = 7};
    const Id last = id(now, 7, 5);
    expect_hands_out(id(now, 7, 6), decided(last, going_on, request, {.max_value = last + 1}));
    expect_refuses(Refusal::above_max_value, decided(last, going_on, request, {.max_value = last}));
    expect_refuses(Refusal::above_max_value, decided(5, going_on, request, {.max_value = 1'000}));
}

TEST(GeneratorLimits, ALeaseThatPassesTheMaximumBecomesOneId) {
    const Id last = id(now, 7, 5);
    const Request lease{.now = now, .node = 7, .wanted = 10};
    EXPECT_EQ(decided(last, going_on, lease, {.max_value = last + 10}).reserved.count, 10);
    EXPECT_EQ(decided(last, going_on, lease, {.max_value = last + 9}).reserved.count, 1);
    expect_refuses(Refusal::above_max_value, decided(last, going_on, lease, {.max_value = last}));
}

TEST(GeneratorLimits, ABatchThatPassesTheMaximumIsRefusedAsAWhole) {
    const Id last = id(now, 7, 5);
    EXPECT_EQ(decided(last, going_on, batch_of(10), {.max_value = last + 10}).reserved.count, 10);
    expect_refuses(Refusal::above_max_value,
                   decided(last, going_on, batch_of(10), {.max_value = last + 9}));
}

TEST(GeneratorLimits, NoTickIsClosedAboveTheMaximum) {
    const Request request{.now = now, .node = 7};
    expect_closes(now, decided(no_id, reset, request, {.max_value = id(now, 7, 0)}));
    // Where the counter is the higher field, the ID that closes the tick is above the next ID.
    const Id first = counter_above_node.compose({.tick = now, .node = 7, .counter = 0});
    const auto with_maximum = [&](Id max_value) {
        return decide_next_id(counter_above_node, {.last = no_id, .reset = true}, request,
                              {.max_value = max_value});
    };
    expect_refuses(Refusal::above_max_value, with_maximum(first));
    expect_refuses(Refusal::above_max_value, with_maximum(closing_id(counter_above_node, now) - 1));
    EXPECT_EQ(with_maximum(closing_id(counter_above_node, now)).action, Action::close);
}

TEST(GeneratorLimits, NoIdIsBeyondTheLastTick) {
    const auto up_to = [](std::int64_t tick, std::int64_t wanted) {
        return decided(no_id, going_on, batch_of(wanted), {.last_tick = tick});
    };
    EXPECT_EQ(up_to(now + 1, 2 * 4096).action, Action::hand_out);
    expect_refuses(Refusal::too_far_ahead, up_to(now + 1, 2 * 4096 + 1));
    expect_refuses(Refusal::too_far_ahead, up_to(now - 1, 1));
}

// Expects what must hold of a reservation whatever was asked for.
void expect_sound(Layout layout, Id last, const Request &request, const Reservation &got) {
    const std::int64_t stride = request.stride;
    ASSERT_GT(got.first, last);
    ASSERT_GE(got.count, 1);
    ASSERT_LE(got.count, std::max<std::int64_t>(request.wanted, 1));
    ASSERT_EQ(got.step, stride * layout.counter_step());

    // The whole reservation belongs to one tick of the layout and to the node.
    const Fields first = layout.split(got.first);
    const Fields end = layout.split(got.last);
    ASSERT_TRUE(layout.contains(got.last));
    ASSERT_EQ(first.node, request.node);
    ASSERT_EQ(end.node, request.node);
    ASSERT_EQ(end.tick, first.tick);
    ASSERT_EQ(end.counter - first.counter + 1, got.count * stride);
    ASSERT_TRUE(got.count == request.wanted || request.wanted < 1 ||
                end.counter + stride > layout.last_counter());

    // The tick is the clock's, or last's, or the one after.
    const std::int64_t tick_of_last = last < 0 ? -1 : layout.tick_of(last);
    if (request.now > tick_of_last) {
        ASSERT_EQ(first.tick, request.now);
        ASSERT_EQ(first.counter, 0);
    } else if (first.tick == tick_of_last) {
        ASSERT_EQ(first.counter, layout.counter_of(last) + 1);
    } else {
        ASSERT_EQ(first.tick, tick_of_last + 1);
        ASSERT_EQ(first.counter, 0);
    }
}

// Tells whether the state, the clock or the request gives reason for a refusal.
bool is_justified(Layout layout, Id last, const Request &request, Refusal why) {
    switch (why) {
    case Refusal::none:
        return true;
    case Refusal::before_epoch:
        return request.now < 0;
    case Refusal::exhausted:
        return request.now > layout.last_tick() ||
               last >= layout.compose({layout.last_tick(), 0, 0});
    case Refusal::node_out_of_range:
        return request.node < 1 || request.node > layout.last_node();
    case Refusal::stride_too_wide:
        return request.stride < 1 || request.stride > std::int64_t{layout.last_counter()} + 1;
    case Refusal::stride_misplaced:
        return request.stride > 1 && layout.counter_step() > 1;
    case Refusal::too_far_ahead: // these two are for decide_next_id()
    case Refusal::above_max_value:
        return false;
    }
    return false;
}

// Makes a request that is mostly near what is possible, and sometimes well beyond.
Request random_request(Layout layout, Id last, Random &random) {
    const std::int64_t tick = last < 0 ? 0 : layout.tick_of(last);
    const std::int64_t any_tick = random.of_any_size(int64_max) - 1;
    const std::int64_t capacity = std::int64_t{layout.last_counter()} + 1;
    return {.now = random.one_in(4) ? any_tick : tick + random.between(-2, 2),
            .node = random.between(0, std::int64_t{layout.last_node()} + 1),
            .stride = random.one_in(2) ? 1 : random.of_any_size(capacity + 1),
            .wanted = random.of_any_size(2 * capacity)};
}

TEST(GeneratorRandom, IsSoundInAnyState) {
    Random random = seeded_random();
    int given = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        const Layout layout =
            some_layouts.at(static_cast<std::size_t>(random.between(0, some_layouts.size() - 1)));
        const Id last = random.of_any_size(int64_max) - 1;
        const Request request = random_request(layout, last, random);
        const Reservation got = reserve(layout, last, request);
        ASSERT_TRUE(is_justified(layout, last, request, got.refusal))
            << "last " << last << ", now " << request.now << ", node " << request.node
            << ", stride " << request.stride;
        if (got.refusal == Refusal::none) {
            ++given;
            ASSERT_NO_FATAL_FAILURE(expect_sound(layout, last, request, got));
        }
    }
    EXPECT_GT(given, 100'000); // else the requests were not worth much
}

// Reserves the IDs of a batch by single calls while the clock stands still, until one is refused.
std::vector<Reservation> singles(Layout layout, Id last, const Request &batch) {
    Request single = batch;
    single.wanted = 1;
    single.batch = false;
    std::vector<Reservation> all;
    while (static_cast<std::int64_t>(all.size()) < batch.wanted) {
        const Reservation got = reserve(layout, last, single);
        if (got.refusal != Refusal::none)
            break;
        all.push_back(got);
        last = got.last;
    }
    return all;
}

// Expects that a batch is what single calls make, or is refused where they do not get all IDs.
void expect_batch_of_singles(Layout layout, Id last, const Request &request,
                             const Reservation &got) {
    const std::vector<Reservation> expected = singles(layout, last, request);
    if (static_cast<std::int64_t>(expected.size()) < request.wanted) {
        const Id reached = expected.empty() ? last : expected.back().last;
        Request one_more = request;
        one_more.wanted = 1;
        ASSERT_EQ(got.refusal, reserve(layout, reached, one_more).refusal);
        return;
    }
    ASSERT_EQ(got.refusal, Refusal::none);
    ASSERT_EQ(got.count, request.wanted);
    ASSERT_EQ(got.step, request.stride * layout.counter_step());
    ASSERT_EQ(got.last, expected.back().last);
    Id id = got.first;
    ASSERT_EQ(id, expected.front().first);
    for (std::size_t i = 1; i < expected.size(); ++i) {
        id = next_in_run(layout, id, request.stride);
        ASSERT_EQ(id, expected[i].first) << "at " << i;
    }
}

TEST(GeneratorRandom, ABatchIsWhatSingleCallsMake) {
    Random random = seeded_random();
    int given = 0;
    int refused = 0;
    for (int i = 0; i < 10'000; ++i) {
        const Layout layout = random.one_in(6) ? without_counter
                                               : some_layouts.at(static_cast<std::size_t>(
                                                     random.between(0, some_layouts.size() - 1)));
        const std::int64_t capacity = std::int64_t{layout.last_counter()} + 1;
        // Near the end of the layout, or anywhere.
        const Id before_end = random.of_any_size(4 << layout.timestamp_shift());
        const Id last = random.one_in(3) ? layout.last_id() - before_end
                                         : random.of_any_size(layout.last_id()) - 1;
        Request request = random_request(layout, last, random);
        request.wanted = random.between(1, random.one_in(2) ? 16 : 3 * capacity);
        request.batch = true;
        const Reservation got = reserve(layout, last, request);
        ASSERT_NO_FATAL_FAILURE(expect_batch_of_singles(layout, last, request, got))
            << "last " << last << ", now " << request.now << ", node " << request.node
            << ", stride " << request.stride << ", wanted " << request.wanted;
        given += got.refusal == Refusal::none;
        refused += got.refusal == Refusal::exhausted;
    }
    EXPECT_GT(given, 1'000); // else the requests were not worth much
    EXPECT_GT(refused, 100);
}

TEST(GeneratorRandom, TheMarkCoversLastAndAtMostTheSecondAfter) {
    Random random = seeded_random();
    for (int i = 0; i < 500'000; ++i) {
        const Layout layout =
            some_layouts.at(static_cast<std::size_t>(random.between(0, some_layouts.size() - 1)));
        const Id last = random.one_in(2) ? random.of_any_size(layout.last_id())
                                         : layout.last_id() - random.of_any_size(layout.last_id());
        const Id mark = high_water_mark(layout, last);
        ASSERT_GE(mark, last);
        ASSERT_TRUE(layout.contains(mark));
        ASSERT_LT(layout.tick_of(mark) - layout.tick_of(last), layout.ticks_per_second());
        ASSERT_EQ(mark, layout.last_id_of_tick(layout.tick_of(mark)));
    }
}

} // namespace
} // namespace unit::generator_test
