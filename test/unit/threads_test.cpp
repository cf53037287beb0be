// Tests that the threads of an application may use the pure files at once, because they share
// nothing that changes. The thread sanitizer, with which this is built, fails it where it sees a
// race.
#include "generator.hpp"
#include "layout_presets.hpp"
#include "layout_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace {

using namespace snowflake;

// The work of one thread, in the default layout: it makes IDs of one node, the clock a tick further
// with every tenth, and reads every preset while the other threads do.
struct Work {
    std::vector<Id> ids;
    bool read_presets = true;
};

void do_work(std::int64_t node, Work &work) {
    constexpr int rounds = 2000;
    Id last = no_id;
    for (int round = 0; round < rounds; ++round) {
        const Reservation got = reserve(default_layout, last, {.now = round / 10, .node = node});
        last = got.last;
        work.ids.push_back(got.first);
        for (const Preset &preset : presets) {
            const LayoutText text{preset.layout};
            work.read_presets = work.read_presets &&
                                parse_layout(preset.name).layout == preset.layout &&
                                parse_layout(text.view()).layout == preset.layout;
        }
    }
}

TEST(Threads, ShareNothingThatChanges) {
    std::vector<Work> works(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < works.size(); ++i)
        threads.emplace_back(do_work, static_cast<std::int64_t>(i) + 1, std::ref(works[i]));
    for (std::thread &thread : threads)
        thread.join();

    std::vector<Id> ids;
    for (const Work &work : works) {
        EXPECT_TRUE(work.read_presets);
        ids.insert(ids.end(), work.ids.begin(), work.ids.end());
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

} // namespace
