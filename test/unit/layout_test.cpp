// Tests that a layout packs timestamp, node and counter as documented and splits them again, and
// that parts which make no layout are refused.
#include "layout.hpp"

#include "layout_minimum.hpp"
#include "layouts.hpp"
#include "random.hpp"
#include "random_layouts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace unit::layout_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;
using namespace std::chrono_literals;
using std::chrono::sys_days;

using Order = Layout::Order;
using UtcTime = std::chrono::sys_time<std::chrono::milliseconds>;

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

// Unix milliseconds of a date, by the calendar of the standard library.
constexpr std::int64_t unix_ms(UtcTime time) {
    return time.time_since_epoch().count();
}

constexpr std::optional<Layout> layout_with_tick(int tick_exponent) {
    Layout::Parts parts = default_parts;
    parts.tick_exponent = tick_exponent;
    return Layout::make(parts);
}

// All of it works at compile time.
static_assert(std::is_trivially_copyable_v<Layout>);
static_assert(Layout::make(default_parts).has_value());
static_assert(!layout_with_tick(-1) && layout_with_tick(0) && layout_with_tick(6));
static_assert(!layout_with_tick(7)); // would read beyond a table, which no constant may
static_assert(default_layout.compose({.tick = 1, .node = 2, .counter = 3}) == 4'202'499);
static_assert(default_layout.split(4'202'499) == Fields{.tick = 1, .node = 2, .counter = 3});
static_assert(default_layout.contains(int64_max));
static_assert(default_layout.tick_at(default_layout.epoch_us()) == 0);
static_assert(default_layout.unix_us(0) == default_layout.epoch_us());
static_assert(default_layout.last_id_of_tick(0) == 4'194'303);
static_assert(unix_ms(sys_days{2023y / 1 / 1}) == epoch_2023);
static_assert(unix_ms(sys_days{2024y / 1 / 1}) == epoch_2024);

// The layout of parts which may be none.
std::optional<Layout> layout_of(std::int64_t epoch_ms, int tick_exponent, int timestamp_bits,
                                int node_bits, int counter_bits) {
    return Layout::make({.epoch_ms = epoch_ms,
                         .tick_exponent = tick_exponent,
                         .timestamp_bits = timestamp_bits,
                         .node_bits = node_bits,
                         .counter_bits = counter_bits,
                         .order = Order::node_above_counter});
}

Layout::Parts parts_of(Layout layout) {
    return {.epoch_ms = layout.epoch_ms(),
            .tick_exponent = layout.tick_exponent(),
            .timestamp_bits = layout.timestamp_bits(),
            .node_bits = layout.node_bits(),
            .counter_bits = layout.counter_bits(),
            .order = layout.order()};
}

Fields random_fields(Layout layout, Random &random) {
    return {.tick = random.of_any_size(layout.last_tick()),
            .node = static_cast<std::int32_t>(random.between(0, layout.last_node())),
            .counter = static_cast<std::int32_t>(random.between(0, layout.last_counter()))};
}

TEST(DefaultLayout, HasTheDocumentedParts) {
    EXPECT_EQ(default_layout.epoch_ms(), epoch_2023);
    EXPECT_EQ(default_layout.epoch_us(), epoch_2023 * 1000);
    EXPECT_EQ(default_layout.tick_exponent(), 3);
    EXPECT_EQ(default_layout.tick_us(), 1000);
    EXPECT_EQ(default_layout.ticks_per_second(), 1000);
    EXPECT_EQ(default_layout.timestamp_bits(), 41);
    EXPECT_EQ(default_layout.node_bits(), 10);
    EXPECT_EQ(default_layout.counter_bits(), 12);
    EXPECT_EQ(default_layout.order(), Order::node_above_counter);
    EXPECT_EQ(default_layout.timestamp_shift(), 22);
    EXPECT_EQ(default_layout.node_shift(), 12);
    EXPECT_EQ(default_layout.counter_shift(), 0);
    EXPECT_EQ(default_layout.counter_step(), 1);
    EXPECT_EQ(default_layout, Layout::make(default_parts));
}

TEST(DefaultLayout, EndsInSeptember2092) {
    constexpr std::int64_t end = unix_ms(sys_days{2092y / 9 / 6} + 15h + 47min + 35s + 551ms);
    EXPECT_EQ(default_layout.last_tick(), 2'199'023'255'551);
    EXPECT_EQ(default_layout.unix_us(default_layout.last_tick()), end * 1000);
    EXPECT_EQ(default_layout.tick_at(end * 1000 + 999), default_layout.last_tick());
    EXPECT_EQ(default_layout.tick_at(end * 1000 + 1000), default_layout.last_tick() + 1);
}

TEST(DefaultLayout, HasTheDocumentedLimits) {
    EXPECT_EQ(default_layout.last_node(), 1023);
    EXPECT_EQ(default_layout.last_counter(), 4095);
    EXPECT_EQ(default_layout.last_id(), int64_max);
    EXPECT_EQ(default_layout.compose({.tick = 2'199'023'255'551, .node = 1023, .counter = 4095}),
              int64_max);
    EXPECT_EQ(default_layout.compose({.tick = 0, .node = 0, .counter = 0}), 0);
}

// Every bit of an ID belongs to the field that it should belong to.
TEST(Layout, PutsTheNodeAboveTheCounter) {
    EXPECT_EQ(default_layout.split(1), (Fields{.tick = 0, .node = 0, .counter = 1}));
    EXPECT_EQ(default_layout.split(2048), (Fields{.tick = 0, .node = 0, .counter = 2048}));
    EXPECT_EQ(default_layout.split(4096), (Fields{.tick = 0, .node = 1, .counter = 0}));
    EXPECT_EQ(default_layout.split(2'097'152), (Fields{.tick = 0, .node = 512, .counter = 0}));
    EXPECT_EQ(default_layout.split(4'194'304), (Fields{.tick = 1, .node = 0, .counter = 0}));
}

TEST(Layout, PutsTheCounterAboveTheNodeIfToldSo) {
    EXPECT_EQ(counter_above_node.order(), Order::counter_above_node);
    EXPECT_EQ(counter_above_node.timestamp_shift(), 22);
    EXPECT_EQ(counter_above_node.counter_shift(), 10);
    EXPECT_EQ(counter_above_node.node_shift(), 0);
    EXPECT_EQ(counter_above_node.counter_step(), 1024);
    EXPECT_EQ(counter_above_node.compose({.tick = 1, .node = 2, .counter = 3}), 4'197'378);
    EXPECT_EQ(counter_above_node.split(1), (Fields{.tick = 0, .node = 1, .counter = 0}));
    EXPECT_EQ(counter_above_node.split(1024), (Fields{.tick = 0, .node = 0, .counter = 1}));
    EXPECT_EQ(counter_above_node.split(4'194'304), (Fields{.tick = 1, .node = 0, .counter = 0}));
    EXPECT_NE(counter_above_node, default_layout);
}

TEST(Layout, MayDoWithoutNodeOrCounter) {
    const Layout without_node = with_fields(3, 41, 0, 22);
    EXPECT_EQ(without_node.last_node(), 0);
    EXPECT_EQ(without_node.split(4'194'305), (Fields{.tick = 1, .node = 0, .counter = 1}));

    const Layout without_counter = with_fields(3, 41, 22, 0);
    EXPECT_EQ(without_counter.last_counter(), 0);
    EXPECT_EQ(without_counter.split(4'194'305), (Fields{.tick = 1, .node = 1, .counter = 0}));

    const Layout only_timestamp = with_fields(3, 41, 0, 0);
    EXPECT_EQ(only_timestamp.split(7), (Fields{.tick = 7, .node = 0, .counter = 0}));
    EXPECT_EQ(only_timestamp.last_id_of_tick(7), 7);
}

TEST(Layout, ContainsNoNegativeIdAndNoneBeyondItsTimestamp) {
    EXPECT_TRUE(default_layout.contains(0));
    EXPECT_FALSE(default_layout.contains(-1));
    EXPECT_FALSE(default_layout.contains(std::numeric_limits<Id>::min()));

    EXPECT_EQ(narrow.last_id(), (Id{1} << 62) - 1);
    EXPECT_TRUE(narrow.contains(narrow.last_id()));
    EXPECT_FALSE(narrow.contains(narrow.last_id() + 1));
    EXPECT_FALSE(narrow.contains(int64_max));
}

TEST(Layout, KnowsTheLastIdOfATick) {
    EXPECT_EQ(default_layout.last_id_of_tick(1), 8'388'607);
    EXPECT_EQ(counter_above_node.last_id_of_tick(1), 8'388'607);
    for (const Layout layout : some_layouts)
        EXPECT_EQ(layout.last_id_of_tick(layout.last_tick()), layout.last_id());
}

TEST(Layout, KnowsTheFirstIdOfATick) {
    EXPECT_EQ(default_layout.first_id_of_tick(0), 0);
    EXPECT_EQ(default_layout.first_id_of_tick(1), 4'194'304);
    EXPECT_EQ(counter_above_node.first_id_of_tick(1), 4'194'304);
    for (const Layout layout : some_layouts)
        EXPECT_EQ(layout.first_id_of_tick(layout.last_tick()),
                  layout.last_id_of_tick(layout.last_tick() - 1) + 1);
}

TEST(Layout, TellsCountsFromIds) {
    // 2023-01-02 00:00:00 UTC begins 86,400,000 ms after the epoch.
    constexpr Id second_day = Id{86'400'000} << 22;
    EXPECT_FALSE(default_layout.is_count(second_day));
    EXPECT_TRUE(default_layout.is_count(second_day - 1));
    EXPECT_TRUE(default_layout.is_count(0));
    EXPECT_TRUE(default_layout.is_count(-1));
    EXPECT_FALSE(default_layout.is_count(int64_max));
    for (int exponent = 0; exponent <= 6; ++exponent) {
        const Layout layout = with_fields(exponent, 40, 10, 12);
        const std::int64_t tick = layout.tick_at(layout.epoch_us() + 86'400'000'000);
        EXPECT_FALSE(layout.is_count(layout.first_id_of_tick(tick)));
        EXPECT_TRUE(layout.is_count(layout.last_id_of_tick(tick - 1)));
    }
}

// Reckoned by hand: the decimals of a tick, and more if the epoch is no multiple of the tick.
TEST(Layout, KnowsHowManyDecimalsItsTimesTake) {
    for (int exponent = 0; exponent <= 6; ++exponent)
        EXPECT_EQ(with_fields(exponent, 40, 10, 12).decimals(), 6 - exponent);
    EXPECT_EQ(with_epoch(epoch_2023 + 657).decimals(), 3);
    const auto seconds_from = [](std::int64_t epoch_ms) {
        return layout_of(epoch_ms, 6, 31, 10, 12).value().decimals();
    };
    EXPECT_EQ(seconds_from(0), 0);
    EXPECT_EQ(seconds_from(epoch_2023), 0);
    EXPECT_EQ(seconds_from(epoch_2023 + 500), 1);
    EXPECT_EQ(seconds_from(epoch_2023 + 510), 2);
    EXPECT_EQ(seconds_from(epoch_2023 + 657), 3);
    EXPECT_EQ(layout_of(epoch_2023 + 657, 0, 51, 0, 0).value().decimals(), 6);
}

// Where node or counter has no bits, neither of them comes first.
TEST(Layout, IsOneWhicheverEmptyFieldComesFirst) {
    for (const auto &[node, counter] : {std::pair{0, 12}, std::pair{10, 0}, std::pair{0, 0}}) {
        Layout::Parts parts = default_parts;
        parts.node_bits = node;
        parts.counter_bits = counter;
        const auto layout = Layout::make(parts);
        parts.order = Order::counter_above_node;
        EXPECT_EQ(Layout::make(parts), layout);
        EXPECT_EQ(layout.value().order(), Order::node_above_counter);
    }
}

TEST(LayoutBits, AreReadAsTheLayoutThatHasThem) {
    for (const Layout layout : some_layouts)
        EXPECT_EQ(Layout::from_bits(layout.bits()), layout);
    // What tables keep, written out: order, counter, node, timestamp, tick, epoch.
    EXPECT_EQ(default_layout.bits(), std::uint64_t{0} << 61 | std::uint64_t{12} << 56 |
                                         std::uint64_t{10} << 51 | std::uint64_t{41} << 45 |
                                         std::uint64_t{3} << 42 | std::uint64_t{epoch_2023});
    EXPECT_EQ(counter_above_node.bits(), default_layout.bits() | std::uint64_t{1} << 61);
}

TEST(LayoutBits, AreRefusedIfNoLayoutHasThem) {
    const std::uint64_t bits = default_layout.bits();
    EXPECT_FALSE(Layout::from_bits(0));
    EXPECT_FALSE(Layout::from_bits(std::numeric_limits<std::uint64_t>::max()));
    EXPECT_FALSE(Layout::from_bits(bits | std::uint64_t{1} << 62));
    EXPECT_FALSE(Layout::from_bits(bits | std::uint64_t{1} << 63));
    EXPECT_FALSE(Layout::from_bits(bits | std::uint64_t{7} << 42));   // a tick of 10 s
    EXPECT_FALSE(Layout::from_bits(bits + (std::uint64_t{1} << 56))); // 64 bits
    // The order of fields of which one is empty.
    EXPECT_FALSE(Layout::from_bits(with_fields(3, 41, 0, 12).bits() | std::uint64_t{1} << 61));
}

TEST(LayoutMake, AcceptsTheExtremesOfEachPart) {
    EXPECT_TRUE(layout_of(0, 3, 41, 10, 12));
    EXPECT_TRUE(layout_of((std::int64_t{1} << 42) - 1, 3, 41, 10, 12));
    EXPECT_TRUE(layout_of(epoch_2023, 0, 41, 10, 12));
    EXPECT_TRUE(layout_of(epoch_2023, 6, 41, 10, 12));
    EXPECT_TRUE(layout_of(epoch_2023, 3, 1, 10, 12));
    EXPECT_TRUE(layout_of(epoch_2023, 3, 41, 0, 12));
    EXPECT_TRUE(layout_of(epoch_2023, 3, 32, 31, 0));
    EXPECT_TRUE(layout_of(epoch_2023, 3, 41, 10, 0));
    EXPECT_TRUE(layout_of(epoch_2023, 3, 32, 0, 31));
    EXPECT_TRUE(layout_of(epoch_2023, 3, 1, 31, 31)); // 63 bits in all
}

TEST(LayoutMake, RefusesAPartOutOfItsRange) {
    EXPECT_FALSE(layout_of(-1, 3, 41, 10, 12));
    EXPECT_FALSE(layout_of(std::int64_t{1} << 42, 3, 41, 10, 12));
    EXPECT_FALSE(layout_of(std::numeric_limits<std::int64_t>::min(), 3, 41, 10, 12));
    EXPECT_FALSE(layout_of(int64_max, 3, 41, 10, 12));
    EXPECT_FALSE(layout_of(epoch_2023, -1, 41, 10, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 7, 41, 10, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 0, 10, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, -1, 10, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 41, -1, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 31, 32, 0));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 41, 10, -1));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 31, 0, 32));
}

TEST(LayoutMake, RefusesMoreThan63Bits) {
    EXPECT_FALSE(layout_of(epoch_2023, 3, 42, 10, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 41, 11, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 41, 10, 13));
    EXPECT_FALSE(layout_of(epoch_2023, 3, 2, 31, 31));
    EXPECT_FALSE(layout_of(epoch_2023, 0, 64, 0, 0));
    // Sums that would be in range if they wrapped around.
    constexpr int int_max = std::numeric_limits<int>::max();
    EXPECT_FALSE(layout_of(epoch_2023, 3, int_max, int_max, 12));
    EXPECT_FALSE(layout_of(epoch_2023, 3, int_max, int_max, int_max));
}

// 2^bits ticks must end within 2^63-1 microseconds. The widest timestamp for each tick, by hand:
// 63 bits less the binary logarithm of the tick, rounded down.
TEST(LayoutMake, RefusesATimestampThatMicrosecondsCannotExpress) {
    constexpr int widest[] = {62, 59, 56, 53, 49, 46, 43};
    for (int exponent = 0; exponent <= 6; ++exponent) {
        SCOPED_TRACE(exponent);
        for (const std::int64_t epoch : {std::int64_t{0}, (std::int64_t{1} << 42) - 1}) {
            EXPECT_TRUE(layout_of(epoch, exponent, widest[exponent], 0, 0));
            EXPECT_FALSE(layout_of(epoch, exponent, widest[exponent] + 1, 0, 0));
            EXPECT_FALSE(layout_of(epoch, exponent, 63, 0, 0));
        }
    }
}

TEST(LayoutTime, TicksArePowersOfTenMicroseconds) {
    std::int64_t tick_us = 1;
    for (int exponent = 0; exponent <= 6; ++exponent, tick_us *= 10) {
        const Layout layout = with_fields(exponent, 40, 10, 12);
        EXPECT_EQ(layout.tick_us(), tick_us);
        EXPECT_EQ(layout.ticks_per_second(), 1'000'000 / tick_us);
    }
}

// A tick is the time from its beginning to just before the next one's; so are those before 0.
void expect_tick_edges(Layout layout, std::int64_t tick) {
    SCOPED_TRACE(tick);
    const std::int64_t begin = epoch_2023 * 1000 + tick * layout.tick_us();
    EXPECT_EQ(layout.tick_at(begin - 1), tick - 1);
    EXPECT_EQ(layout.tick_at(begin), tick);
    EXPECT_EQ(layout.tick_at(begin + layout.tick_us() - 1), tick);
    EXPECT_EQ(layout.tick_at(begin + layout.tick_us()), tick + 1);
}

TEST(LayoutTime, ATickBeginsOnItsEdge) {
    for (int exponent = 0; exponent <= 6; ++exponent) {
        SCOPED_TRACE(exponent);
        const Layout layout = with_fields(exponent, 40, 10, 12);
        for (const std::int64_t tick : {0, 1, 2, 999, 1000, 86'400'000, -1, -2, -1000, -86'400'000})
            expect_tick_edges(layout, tick);
        expect_tick_edges(layout, layout.last_tick());
    }
}

TEST(LayoutTime, ATickTellsWhenItBegan) {
    for (const Layout layout : some_layouts) {
        for (const std::int64_t tick : {std::int64_t{0}, std::int64_t{1}, layout.last_tick()}) {
            EXPECT_EQ(layout.unix_us(tick), epoch_2023 * 1000 + tick * layout.tick_us());
            EXPECT_EQ(layout.tick_at(layout.unix_us(tick)), tick);
        }
    }
}

TEST(LayoutTime, TakesTheWholeRangeOfAClock) {
    const Layout from_1970 = with_epoch(0);
    EXPECT_EQ(from_1970.tick_at(int64_max), int64_max / 1000);
    EXPECT_EQ(from_1970.tick_at(-(std::int64_t{1} << 62)), -4'611'686'018'427'388);
    EXPECT_EQ(default_layout.tick_at(0), -epoch_2023);
    EXPECT_GT(default_layout.tick_at(int64_max), default_layout.last_tick());
}

TEST(LayoutRandom, KeepsThePartsItWasMadeOf) {
    Random random = seeded_random();
    for (int i = 0; i < 100'000; ++i) {
        const Layout layout = random_layout(random);
        ASSERT_EQ(Layout::make(parts_of(layout)), layout);
        ASSERT_EQ(Layout::from_bits(layout.bits()), layout);
        ASSERT_LE(layout.timestamp_bits() + layout.node_bits() + layout.counter_bits(), 63);
        ASSERT_EQ(layout.timestamp_shift(), layout.node_bits() + layout.counter_bits());
        ASSERT_GE(layout.unix_us(layout.last_tick()), layout.epoch_us());
    }
}

TEST(LayoutRandom, ReadsBackWhatItComposed) {
    Random random = seeded_random();
    for (int i = 0; i < 500'000; ++i) {
        const Layout layout = random_layout(random);
        const Fields fields = random_fields(layout, random);
        const Id id = layout.compose(fields);
        ASSERT_TRUE(layout.contains(id));
        ASSERT_EQ(layout.split(id), fields);
        ASSERT_GE(id, layout.first_id_of_tick(fields.tick));
        ASSERT_LE(id, layout.last_id_of_tick(fields.tick));
    }
}

TEST(LayoutRandom, ComposesAgainWhatItSplit) {
    Random random = seeded_random();
    for (int i = 0; i < 500'000; ++i) {
        const Layout layout = random_layout(random);
        const Id id = random.of_any_size(layout.last_id());
        const Fields fields = layout.split(id);
        ASSERT_LE(fields.tick, layout.last_tick());
        ASSERT_LE(fields.node, layout.last_node());
        ASSERT_LE(fields.counter, layout.last_counter());
        ASSERT_EQ(layout.compose(fields), id);
    }
}

// Time first: an ID of a later tick is greater, whatever its node and counter.
TEST(LayoutRandom, SortsByTime) {
    Random random = seeded_random();
    for (int i = 0; i < 500'000; ++i) {
        const Layout layout = random_layout(random);
        const Fields one = random_fields(layout, random);
        const Fields other = random_fields(layout, random);
        if (one.tick != other.tick) {
            ASSERT_EQ(layout.compose(one) < layout.compose(other), one.tick < other.tick);
        }
    }
}

// A layout as the MINVALUE of a sequence.

TEST(LayoutMinimum, StandsForTheLayoutFarBelowNumbersThatCount) {
    Random random = seeded_random();
    for (int i = 0; i < 500'000; ++i) {
        const Layout layout = random_layout(random);
        if (!is_for_sequences(layout))
            continue;
        const std::int64_t minimum = minimum_of(layout);
        ASSERT_LE(minimum, -(std::int64_t{1} << 62));
        ASSERT_EQ(layout_of_minimum(minimum), layout);
    }
}

// Stored in catalogs and dumps: the number of a layout must never change.
TEST(LayoutMinimum, IsTheSameForEver) {
    EXPECT_EQ(minimum_of(default_layout), -5'500'352'570'945'751'040);
}

TEST(LayoutMinimum, IsNoNumberThatUsersChoose) {
    for (int power = 0; power < 62; ++power) {
        EXPECT_EQ(layout_of_minimum(-(std::int64_t{1} << power)), std::nullopt) << power;
        EXPECT_EQ(layout_of_minimum(std::int64_t{1} << power), std::nullopt) << power;
    }
    std::int64_t number = 1;
    for (int power = 1; power <= 18; ++power) {
        number *= 10;
        EXPECT_EQ(layout_of_minimum(-number), std::nullopt) << number;
    }
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    for (const std::int64_t other : {lowest, lowest + 1, lowest + 2, lowest / 2, lowest / 2 - 1,
                                     std::int64_t{0}, std::numeric_limits<std::int64_t>::max()})
        EXPECT_EQ(layout_of_minimum(other), std::nullopt) << other;
}

TEST(LayoutMinimum, IsNoneWhereNoIdCanBeMade) {
    const Layout without_nodes = *Layout::make({.epoch_ms = 0,
                                                .tick_exponent = 3,
                                                .timestamp_bits = 47,
                                                .node_bits = 0,
                                                .counter_bits = 16,
                                                .order = Layout::Order::node_above_counter});
    EXPECT_FALSE(is_for_sequences(without_nodes));
    EXPECT_EQ(layout_of_minimum(minimum_of(without_nodes)), std::nullopt);
}

// Many numbers below -2^62 do read as a layout, which is why MINVALUE alone does not tell.
TEST(LayoutMinimum, ReadsBackEveryNumberThatItTakesForALayout) {
    Random random = seeded_random();
    int layouts = 0;
    for (int i = 0; i < 500'000; ++i) {
        const auto number = random.between(std::numeric_limits<std::int64_t>::min(), int64_max);
        const auto layout = layout_of_minimum(number);
        if (!layout)
            continue;
        ++layouts;
        ASSERT_EQ(minimum_of(*layout), number);
    }
    EXPECT_GT(layouts, 1000);
}

} // namespace
} // namespace unit::layout_test
