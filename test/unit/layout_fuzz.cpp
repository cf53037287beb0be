// A fuzz target. It takes any bytes for the text of a layout, or for its bits with an ID and a
// time, and expects an error or an answer in range, and no undefined behaviour. libFuzzer calls it,
// or fuzz_driver.cpp.
#include "layout.hpp"
#include "layout_presets.hpp"
#include "layout_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

namespace {

using namespace snowflake;

// Ends the process if a condition does not hold, which every driver notices.
void require(bool holds, int line = __builtin_LINE()) {
    if (holds)
        return;
    std::cerr << __FILE__ << ":" << line << ": does not hold\n";
    std::abort();
}

// Checks any number as an ID: the layout does not contain it, or it is the ID of its fields.
void try_id(Layout layout, Id id) {
    if (!layout.contains(id)) {
        require(id < 0 || id > layout.last_id());
        return;
    }
    const Fields fields = layout.split(id);
    require(fields.tick >= 0 && fields.tick <= layout.last_tick());
    require(fields.node >= 0 && fields.node <= layout.last_node());
    require(fields.counter >= 0 && fields.counter <= layout.last_counter());
    require(layout.compose(fields) == id);
    require(layout.first_id_of_tick(fields.tick) <= id);
    require(layout.last_id_of_tick(fields.tick) >= id);
    require(layout.tick_at(layout.unix_us(fields.tick)) == fields.tick);
    require(layout.unix_us(fields.tick + 1) - layout.unix_us(fields.tick) == layout.tick_us());
}

// Checks any time from -2^62 on: it is outside the layout, or within its tick.
void try_time(Layout layout, std::int64_t unix_us) {
    constexpr std::int64_t earliest = -(std::int64_t{1} << 62);
    const std::int64_t time = std::max(unix_us, earliest);
    const std::int64_t tick = layout.tick_at(time);
    if (tick < 0) {
        require(time < layout.epoch_us());
    } else if (tick > layout.last_tick()) {
        require(time >= layout.unix_us(layout.last_tick() + 1));
    } else {
        require(layout.unix_us(tick) <= time && time < layout.unix_us(tick + 1));
        require(layout.contains(layout.first_id_of_tick(tick)));
    }
}

void try_layout(Layout layout, std::int64_t number) {
    require(Layout::from_bits(layout.bits()) == layout);
    require(parse_layout(LayoutText{layout}.view()).layout == layout);
    require(layout.decimals() >= 6 - layout.tick_exponent() && layout.decimals() <= 6);
    try_id(layout, number);
    try_id(layout, layout.last_id() - (number & 0xff));
    try_time(layout, number);
    try_time(layout, layout.unix_us(layout.last_tick() + 1) - (number & 1));
}

void try_text(std::string_view text, std::int64_t number) {
    const ParsedLayout parsed = parse_layout(text);
    if (parsed.layout) {
        try_layout(*parsed.layout, number);
        return;
    }
    require(!std::string_view{explanation(parsed.failure.error)}.empty());
    const std::string_view part = parsed.failure.part;
    require(part.empty() ||
            (part.data() >= text.data() && part.data() + part.size() <= text.data() + text.size()));
}

void try_bits(std::uint64_t bits, std::int64_t number) {
    const auto layout = Layout::from_bits(bits);
    if (layout) {
        require(layout->bits() == bits);
        try_layout(*layout, number);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    std::array<std::int64_t, 2> numbers{};
    if (size > 0)
        std::memcpy(numbers.data(), data, std::min(size, sizeof numbers));
    const auto [bits, number] = numbers;

    try_text({reinterpret_cast<const char *>(data), size}, number);
    try_bits(static_cast<std::uint64_t>(bits), number);
    // The two highest bits are always 0: without them more numbers are layouts.
    try_bits(static_cast<std::uint64_t>(bits) << 2 >> 2, number);
    for (const Preset &preset : presets)
        try_layout(preset.layout, bits);
    return 0;
}
