// Tests that a layout that is written and read again is the same, and that every wrong text is
// refused for the right reason.
#include "layout_text.hpp"

#include "layouts.hpp"
#include "random.hpp"
#include "random_layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace snowflake {

// What a failed comparison of layouts prints.
static void PrintTo(Layout layout, std::ostream *out) {
    *out << LayoutText{layout}.view();
}

} // namespace snowflake

namespace unit::layout_text_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

using enum LayoutTextError;

std::string text_of(Layout layout) {
    return std::string{LayoutText{layout}.view()};
}

std::optional<Layout> layout_of(std::string_view text) {
    return parse_layout(text).layout;
}

// Expects that a text is refused for this reason, and that the failure points at this part of the
// text itself; or at none, where a part is missing.
void expect_error(std::string_view text, LayoutTextError error, std::string_view part = {}) {
    SCOPED_TRACE(text);
    const ParsedLayout parsed = parse_layout(text);
    ASSERT_FALSE(parsed.layout) << text_of(*parsed.layout);
    EXPECT_EQ(parsed.failure.error, error) << explanation(parsed.failure.error);
    EXPECT_EQ(parsed.failure.part, part);
    if (!part.empty()) {
        EXPECT_EQ(parsed.failure.part.data(), text.data() + text.rfind(part));
    }
}

constexpr std::string_view default_text =
    "epoch=2023-01-01T00:00:00Z tick=1ms timestamp:41 node:10 counter:12";

TEST(LayoutText, WritesTheCanonicalForm) {
    EXPECT_EQ(text_of(default_layout), default_text);
    EXPECT_EQ(text_of(counter_above_node),
              "epoch=2023-01-01T00:00:00Z tick=1ms timestamp:41 counter:12 node:10");
    EXPECT_EQ(text_of(seconds),
              "epoch=2023-01-01T00:00:00Z tick=1s timestamp:31 node:10 counter:12");
    EXPECT_EQ(text_of(with_epoch(0)),
              "epoch=1970-01-01T00:00:00Z tick=1ms timestamp:41 node:10 counter:12");
    EXPECT_EQ(text_of(with_epoch(1'288'834'974'657)),
              "epoch=2010-11-04T01:42:54.657Z tick=1ms timestamp:41 node:10 counter:12");
    EXPECT_EQ(text_of(with_epoch(1'709'251'199'007)),
              "epoch=2024-02-29T23:59:59.007Z tick=1ms timestamp:41 node:10 counter:12");
    EXPECT_EQ(text_of(with_epoch((std::int64_t{1} << 42) - 1)),
              "epoch=2109-05-15T07:35:11.103Z tick=1ms timestamp:41 node:10 counter:12");
}

TEST(LayoutText, NamesEveryTick) {
    constexpr std::string_view names[] = {"1us", "10us", "100us", "1ms", "10ms", "100ms", "1s"};
    for (int exponent = 0; exponent <= 6; ++exponent) {
        const Layout layout = with_fields(exponent, 40, 9, 8);
        const std::string text = "epoch=2023-01-01T00:00:00Z tick=" + std::string{names[exponent]} +
                                 " timestamp:40 node:9 counter:8";
        EXPECT_EQ(text_of(layout), text);
        EXPECT_EQ(layout_of(text), layout);
    }
}

TEST(LayoutText, EndsInAZeroByte) {
    EXPECT_EQ(std::string_view{LayoutText{default_layout}.c_str()}, default_text);
}

// The longest text there is: a fraction, a tick of five characters, widths of two digits.
TEST(LayoutText, HasRoomForTheLongest) {
    const std::string text =
        "epoch=2109-05-15T07:35:11.103Z tick=100us timestamp:10 counter:31 node:22";
    const auto layout = layout_of(text);
    ASSERT_TRUE(layout);
    EXPECT_EQ(text_of(*layout), text);
}

TEST(LayoutText, WritesOneTextForLayoutsThatAreTheSame) {
    const auto layout = layout_of("epoch=0ms tick=1ms timestamp:47 counter:16 node:0");
    ASSERT_TRUE(layout);
    EXPECT_EQ(text_of(*layout),
              "epoch=1970-01-01T00:00:00Z tick=1ms timestamp:47 node:0 counter:16");
    EXPECT_EQ(layout, layout_of(text_of(*layout)));
}

TEST(LayoutParse, TakesPartsInAnyOrderCaseAndSpacing) {
    EXPECT_EQ(layout_of(default_text), default_layout);
    EXPECT_EQ(layout_of("  \t\r\n\v\fEPOCH=2023-01-01t00:00:00z\nTick=1MS  Timestamp:41\tnode:10 "
                        "COUNTER:12 "),
              default_layout);
    EXPECT_EQ(layout_of("timestamp:41 tick=1ms node:10 counter:12 epoch=2023-01-01"),
              default_layout);
    EXPECT_EQ(layout_of("timestamp:41 counter:12 epoch=2023-01-01 node:10 tick=1ms"),
              counter_above_node);
}

TEST(LayoutParse, TakesEpochsInEachForm) {
    const auto with = [](std::string_view epoch) {
        return layout_of("epoch=" + std::string{epoch} +
                         " tick=1ms timestamp:41 node:10 counter:12");
    };
    EXPECT_EQ(with("2023-01-01"), default_layout);
    EXPECT_EQ(with("1672531200000ms"), default_layout);
    EXPECT_EQ(with("1672531200000MS"), default_layout);
    EXPECT_EQ(with("2023-01-01T00:00:00.0Z"), default_layout);
    EXPECT_EQ(with("2010-11-04T01:42:54.657Z"), with_epoch(1'288'834'974'657));
    EXPECT_EQ(with("2010-11-04T01:42:54.65Z"), with_epoch(1'288'834'974'650));
    EXPECT_EQ(with("2010-11-04T01:42:54.6Z"), with_epoch(1'288'834'974'600));
    EXPECT_EQ(with("2010-11-04T01:42:54.006Z"), with_epoch(1'288'834'974'006));
    EXPECT_EQ(with("1970-01-01"), with_epoch(0));
    EXPECT_EQ(with("0ms"), with_epoch(0));
    EXPECT_EQ(with("2024-02-29"), with_epoch(1'709'164'800'000));
    EXPECT_EQ(with("2109-05-15T07:35:11.103Z"), with_epoch((std::int64_t{1} << 42) - 1));
    EXPECT_EQ(with("4398046511103ms"), with_epoch((std::int64_t{1} << 42) - 1));
}

TEST(LayoutParse, TakesTheExtremesOfEachWidth) {
    for (const std::string_view fields :
         {"timestamp:1 node:31 counter:31", "timestamp:1 node:0 counter:0",
          "timestamp:32 node:31 counter:0", "timestamp:53 counter:0 node:0"})
        EXPECT_TRUE(layout_of("epoch=2023-01-01 tick=1ms " + std::string{fields})) << fields;
    EXPECT_TRUE(layout_of("epoch=2023-01-01 tick=1us timestamp:62 node:1 counter:0"));
}

TEST(LayoutParse, SaysWhichPartIsWrong) {
    const auto with = [](std::string_view before, std::string_view after) {
        std::string text{default_text};
        return text.replace(text.find(before), before.size(), after);
    };
    const auto expect_part = [&](std::string_view before, std::string_view after,
                                 LayoutTextError error) {
        expect_error(with(before, after), error, after);
    };

    for (const std::string_view part :
         {"counter=12", "counter", "counts:12", ":12", "=", ":", "counter;12", "counterr:12"})
        expect_part("counter:12", part, unknown_part);
    for (const std::string_view part : {"epoch:2023-01-01", "epochs=2023-01-01", "=2023-01-01"})
        expect_part("epoch=2023-01-01T00:00:00Z", part, unknown_part);
    expect_part("tick=1ms", "tick:1ms", unknown_part);
    expect_part("tick=1ms", "discord", unknown_part);

    for (const std::string_view epoch : {"",
                                         "2023",
                                         "now",
                                         "2023-1-1",
                                         "2023-13-01",
                                         "2023-00-01",
                                         "2023-01-00",
                                         "2023-02-29",
                                         "23-01-01",
                                         "02023-01-01",
                                         "2023/01/01",
                                         "2023-01-01T",
                                         "2023-01-01Z",
                                         "2023-01-01T00:00Z",
                                         "2023-01-01T00:00:00",
                                         "2023-01-01T00:00:00+00",
                                         "2023-01-01T24:00:00Z",
                                         "2023-01-01T00:60:00Z",
                                         "2023-01-01T00:00:60Z",
                                         "2023-01-01T00:00:00.Z",
                                         "2023-01-01T00:00:00.0000Z",
                                         "2023-01-01T00:00:00.000Zz",
                                         "-1ms",
                                         "1672531200000",
                                         "ms",
                                         "1672531200s",
                                         "+1ms",
                                         "9999999999999999999ms",
                                         "1.5ms",
                                         "2023-01-01x"})
        expect_part("epoch=2023-01-01T00:00:00Z", "epoch=" + std::string{epoch}, bad_epoch);
    for (const std::string_view epoch :
         {"1969-12-31", "1969-12-31T23:59:59.999Z", "0001-01-01", "2109-05-15T07:35:11.104Z",
          "4398046511104ms", "999999999999999999ms", "9999-12-31"})
        expect_part("epoch=2023-01-01T00:00:00Z", "epoch=" + std::string{epoch},
                    epoch_out_of_range);

    for (const std::string_view tick :
         {"", "1", "ms", "2ms", "1000us", "10s", "01ms", "1 ms", "1mss"})
        expect_error(with("tick=1ms", "tick=" + std::string{tick}), bad_tick,
                     "tick=" + std::string{tick}.substr(0, tick.find(' ')));

    for (const std::string_view width :
         {"", "0", "64", "-1", "x", "41x", "041", "4.1", "99999999999"})
        expect_part("timestamp:41", "timestamp:" + std::string{width}, bad_timestamp_width);
    for (const std::string_view width : {"", "32", "-1", "x", "010", "10,"}) {
        expect_part("node:10", "node:" + std::string{width}, bad_node_width);
        expect_part("counter:12", "counter:" + std::string{width}, bad_counter_width);
    }
}

TEST(LayoutParse, RefusesAPartThatComesAgain) {
    for (const std::string_view part :
         {"epoch=2024-01-01", "tick=1s", "timestamp:1", "node:1", "counter:1"})
        expect_error(std::string{default_text} + " " + std::string{part}, repeated_part, part);
}

TEST(LayoutParse, RefusesATextWithoutOneOfTheParts) {
    const auto without = [](std::string_view part) {
        std::string text{default_text};
        return text.erase(text.find(part), part.size());
    };
    expect_error(without("epoch=2023-01-01T00:00:00Z"), missing_epoch);
    expect_error(without("tick=1ms"), missing_tick);
    expect_error(without("timestamp:41"), missing_timestamp);
    expect_error(without("node:10"), missing_node);
    expect_error(without("counter:12"), missing_counter);
}

TEST(LayoutParse, RefusesFieldsThatCannotBe) {
    expect_error("epoch=2023-01-01 tick=1ms node:10 timestamp:41 counter:12", timestamp_not_first,
                 "timestamp:41");
    expect_error("epoch=2023-01-01 tick=1ms counter:12 node:10 timestamp:41", timestamp_not_first,
                 "timestamp:41");
    expect_error("epoch=2023-01-01 tick=1ms timestamp:41 node:10 counter:13", too_many_bits,
                 "counter:13");
    expect_error("epoch=2023-01-01 tick=1ms timestamp:41 counter:13 node:10", too_many_bits,
                 "node:10");
    expect_error("epoch=2023-01-01 tick=1ms timestamp:40 node:31 counter:31", too_many_bits,
                 "node:31");
    expect_error("epoch=2023-01-01 tick=1ms timestamp:54 node:0 counter:0", ends_too_late,
                 "timestamp:54");
}

TEST(LayoutParse, RefusesNamesThatItDoesNotKnow) {
    for (const std::string_view name : {"discrod", "default2", "defaul", "41", "twitter,", "\xff"})
        expect_error(name, unknown_preset, name);
    expect_error("discord twitter", unknown_part, "twitter");
    expect_error("", unknown_preset);
    expect_error(" \n", unknown_preset);
    expect_error("discord epoch=2024-01-01", unknown_part, "discord");
    // A zero byte is a character like any other.
    expect_error({"discord\0", 8}, unknown_preset, {"discord\0", 8});
}

TEST(LayoutParse, ExplainsEveryErrorInASentence) {
    for (int error = 0; error <= static_cast<int>(ends_too_late); ++error) {
        const std::string_view sentence = explanation(static_cast<LayoutTextError>(error));
        ASSERT_FALSE(sentence.empty());
        EXPECT_EQ(sentence.back(), '.') << sentence;
        for (int other = 0; other < error; ++other)
            EXPECT_NE(sentence, explanation(static_cast<LayoutTextError>(other)));
    }
}

// Every second text has its parts in another order, and its letters in another case.
TEST(LayoutTextRandom, IsReadAsWhatWasWritten) {
    Random random = seeded_random();
    for (int i = 0; i < 100'000; ++i) {
        const Layout layout = random_layout(random);
        std::string text = text_of(layout);
        ASSERT_EQ(layout_of(text), layout) << text;
        const auto fields = text.find("timestamp:");
        text = text.substr(fields) + " " + text.substr(0, fields);
        std::ranges::transform(text, text.begin(), [&random](char c) {
            return random.one_in(2) && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        });
        ASSERT_EQ(layout_of(text), layout) << text;
    }
}

// A text with any one character changed is refused, or is a layout that can be written and read.
TEST(LayoutTextRandom, ChangedTextIsRefusedOrReadRight) {
    Random random = seeded_random();
    for (int i = 0; i < 300'000; ++i) {
        std::string text = text_of(random_layout(random));
        const auto at =
            static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1));
        text[at] = static_cast<char>(random.between(0, 255));
        const ParsedLayout parsed = parse_layout(text);
        if (parsed.layout) {
            ASSERT_EQ(layout_of(text_of(*parsed.layout)), parsed.layout) << text;
        } else {
            ASSERT_NE(explanation(parsed.failure.error), std::string_view{}) << text;
        }
    }
}

} // namespace
} // namespace unit::layout_text_test
