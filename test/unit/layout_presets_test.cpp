// Tests that the presets, and layouts written as text, read the IDs that were published for them.
#include "layout_presets.hpp"

#include "layout_text.hpp"
#include "layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace unit::layout_presets_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;
using namespace std::chrono_literals;
using std::chrono::sys_days;

Layout layout_of(std::string_view text) {
    return parse_layout(text).layout.value();
}

TEST(Presets, AreReadByName) {
    for (const Preset &known : presets) {
        EXPECT_EQ(layout_of(known.name), known.layout);
        EXPECT_EQ(std::ranges::count(presets, known.name, &Preset::name), 1);
    }
    EXPECT_EQ(layout_of("default"), default_layout);
    EXPECT_EQ(layout_of("\tDEFAULT "), default_layout);
}

TEST(Presets, HaveThePublishedEpochs) {
    EXPECT_EQ(layout_of("twitter").epoch_ms(), 1'288'834'974'657);
    EXPECT_EQ(layout_of("discord").epoch_ms(), 1'420'070'400'000);
    EXPECT_EQ(layout_of("instagram").epoch_ms(), 1'314'220'021'721);
    EXPECT_EQ(layout_of("sonyflake"),
              layout_of("epoch=2014-09-01 tick=10ms timestamp:39 counter:8 node:16"));
    EXPECT_EQ(layout_of("mastodon").epoch_ms(), 0);
}

// Number.MAX_SAFE_INTEGER of JavaScript, and every integer that a double holds with its neighbours.
TEST(Presets, KeepToWhatJavaScriptHolds) {
    const Layout javascript = layout_of("javascript");
    EXPECT_EQ(javascript.last_id(), 9'007'199'254'740'991);
    EXPECT_EQ(javascript.last_node(), 63);
    EXPECT_EQ(javascript.last_counter() + 1, 64);
    EXPECT_EQ(javascript.last_tick(), default_layout.last_tick());
    EXPECT_EQ(javascript.epoch_ms(), default_layout.epoch_ms());
}

// An ID, and what is published about it.
struct Published {
    std::string_view layout;
    Id id;
    std::chrono::sys_time<std::chrono::milliseconds> made;
    std::int32_t node, counter;
};

// docs/layouts.md tells where they come from.
const Published published[] = {
    // A post of Wikipedia's.
    {"twitter", 1'541'815'603'606'036'480, sys_days{2022y / 6 / 28} + 16h + 7min + 40s + 105ms, 378,
     0},
    {"twitter", 1'212'092'628'029'698'048, sys_days{2019y / 12 / 31} + 19h + 26min + 16s + 771ms,
     327, 0},
    // The example of Discord's reference: worker 1, process 0, increment 7.
    {"discord", 175'928'847'299'117'063, sys_days{2016y / 4 / 30} + 11h + 18min + 25s + 796ms,
     1 << 5 | 0, 7},
    // The example of Instagram's article: 1387263000 ms, shard 1341, 5001st row.
    {"instagram", Id{1'387'263'000} << 23 | 1341 << 10 | 5001 % 1024,
     sys_days{2011y / 8 / 24} + 21h + 7min + 1s + 721ms + 1'387'263'000ms, 1341, 905},
    // The example of Mastodon's API reference, a post of 03:48:33.901.
    {"mastodon", 103'270'115'826'048'975, sys_days{2019y / 12 / 8} + 3h + 48min + 33s + 849ms, 0,
     40'911},
    // By Sonyflake's definition: 10 ms each, then the sequence, then the machine.
    {"sonyflake", Id{123'456'789} << 24 | 200 << 16 | 54'321,
     sys_days{2014y / 9 / 1} + 1'234'567'890ms, 54'321, 200},
    // The example of a library that has Sonyflake's fields, but counts milliseconds.
    {"epoch=2020-05-18 tick=1ms timestamp:39 counter:8 node:16", 1'211'144'891'006'978,
     sys_days{2020y / 5 / 18} + 20h + 3min + 9s + 861ms, 2, 0},
    {"epoch=2024-01-01 tick=1ms timestamp:41 node:10 counter:12", 129'996'446'076'932'098,
     sys_days{2024y / 12 / 24} + 17h + 19min + 27s + 961ms, 937, 2},
};

TEST(Presets, ReadThePublishedIds) {
    for (const Published &known : published) {
        SCOPED_TRACE(known.id);
        const Layout layout = layout_of(known.layout);
        const std::int64_t unix_us = known.made.time_since_epoch().count() * 1000;
        ASSERT_TRUE(layout.contains(known.id));
        const Fields fields = layout.split(known.id);
        EXPECT_EQ(layout.unix_us(fields.tick), unix_us);
        EXPECT_EQ(fields.node, known.node);
        EXPECT_EQ(fields.counter, known.counter);
        EXPECT_EQ(
            layout.compose(
                {.tick = layout.tick_at(unix_us), .node = known.node, .counter = known.counter}),
            known.id);
    }
}

} // namespace
} // namespace unit::layout_presets_test
