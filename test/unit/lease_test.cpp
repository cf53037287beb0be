// The rules of a lease, one by one.
#include "lease.hpp"

#include "layouts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace unit::lease_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr int node = 7;
constexpr std::int64_t tick = 22'433'400'123;
constexpr std::int64_t begins_us = default_layout.unix_us(tick);
constexpr std::int64_t ends_us = default_layout.unix_us(tick + 1);

Lease lease(std::int64_t wanted, std::int64_t stride = 1) {
    return lease_of(reserve(default_layout, no_id,
                            {.now = tick, .node = node, .stride = stride, .wanted = wanted}),
                    default_layout, node, 99);
}

TEST(Lease, HandsOutWhatWasReserved) {
    Lease three = lease(3, 100);
    EXPECT_EQ(three.lsn, 99);
    const Id first = default_layout.compose({.tick = tick, .node = node, .counter = 0});
    EXPECT_EQ(take(three), first);
    EXPECT_EQ(take(three), first + 100);
    EXPECT_TRUE(is_usable(three, default_layout, node, begins_us));
    EXPECT_EQ(take(three), first + 200);
    EXPECT_FALSE(is_usable(three, default_layout, node, begins_us));
}

TEST(Lease, OfTheLastIdsOfALayoutEndsThere) {
    constexpr Id last_id = std::numeric_limits<Id>::max();
    const Reservation reserved = reserve(
        default_layout, last_id - 2,
        {.now = default_layout.last_tick(), .node = default_layout.last_node(), .wanted = 9});
    Lease two = lease_of(reserved, default_layout, default_layout.last_node(), 0);
    EXPECT_EQ(two.left, 2);
    EXPECT_EQ(take(two), last_id - 1);
    EXPECT_EQ(take(two), last_id);
    EXPECT_EQ(two.left, 0);
}

TEST(Lease, IsUsableUntilItsTickIsOver) {
    const Lease two = lease(2);
    EXPECT_TRUE(is_usable(two, default_layout, node, begins_us));
    EXPECT_TRUE(is_usable(two, default_layout, node, ends_us - 1));
    EXPECT_FALSE(is_usable(two, default_layout, node, ends_us));
    EXPECT_TRUE(is_usable(two, default_layout, node, begins_us - 1)); // the clock went back
}

TEST(Lease, IsAheadWhileTheClockIsBeforeItsTick) {
    const Lease two = lease(2);
    EXPECT_TRUE(is_ahead(two, begins_us - 1));
    EXPECT_FALSE(is_ahead(two, begins_us));
    EXPECT_FALSE(is_ahead(two, ends_us - 1));
}

TEST(Lease, IsUsableForItsNodeAndLayout) {
    const Lease two = lease(2);
    EXPECT_FALSE(is_usable(two, default_layout, node + 1, begins_us));
    EXPECT_FALSE(is_usable(two, counter_above_node, node, begins_us));
}

TEST(Lease, IsNotThereAtFirst) {
    EXPECT_FALSE(is_usable({}, default_layout, 0, default_layout.epoch_us()));
}

TEST(Lease, KnowsTheTicksThatTheLayoutKnows) {
    for (const Lease &any : {Lease{}, lease(1), lease(2)})
        for (const Layout layout : {default_layout, counter_above_node, seconds, microseconds})
            for (const std::int64_t us :
                 {default_layout.epoch_us() - 1, default_layout.epoch_us(),
                  default_layout.epoch_us() + 999, default_layout.epoch_us() + 1000, begins_us - 1,
                  begins_us, begins_us + 1, ends_us - 1, ends_us, ends_us + 1})
                EXPECT_EQ(tick_at(any, layout, us), layout.tick_at(us)) << us;
}

} // namespace
} // namespace unit::lease_test
