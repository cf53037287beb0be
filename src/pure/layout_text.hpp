// A layout as text, both ways:
//
//   epoch=2015-01-01T00:00:00Z tick=1ms timestamp:41 node:10 counter:12
//
// Fields stand in the order of their bits, from the highest to the lowest.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include "layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace snowflake {

// Why a text is not a layout.
enum class LayoutTextError : std::uint8_t {
    unknown_preset,
    unknown_part,
    repeated_part,
    missing_epoch,
    missing_tick,
    missing_timestamp,
    missing_node,
    missing_counter,
    bad_epoch,
    epoch_out_of_range,
    bad_tick,
    bad_timestamp_width,
    bad_node_width,
    bad_counter_width,
    timestamp_not_first,
    too_many_bits,
    ends_too_late,
};

// The error of a text, and the part that causes it; empty where a part is missing.
struct LayoutTextFailure {
    LayoutTextError error;
    std::string_view part;
};

// A layout, or why there is none.
struct ParsedLayout {
    std::optional<Layout> layout;
    LayoutTextFailure failure; // means nothing if there is a layout
};

// Reads a layout: the name of a preset, or each of the five parts once. White space separates the
// parts. The fields stand from the highest to the lowest, epoch and tick anywhere. Case does not
// matter. An epoch is a date (midnight UTC), a time in UTC with up to three decimals, or Unix
// milliseconds such as 1288834974657ms.
[[nodiscard]] ParsedLayout parse_layout(std::string_view text) noexcept;

// Explains an error in a sentence, with the range that is allowed.
[[nodiscard]] const char *explanation(LayoutTextError error) noexcept;

// The text form of a layout, with a zero byte at its end.
class LayoutText {
  public:
    explicit LayoutText(Layout layout) noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {buffer_.data(), size_}; }
    [[nodiscard]] const char *c_str() const noexcept { return buffer_.data(); }

  private:
    // Enough for every layout: an epoch of 24 bytes, a tick of 5, widths of 2 digits.
    static constexpr std::size_t capacity = 80;

    void put(std::string_view text) noexcept;
    void put_number(std::int64_t number, int digits) noexcept;
    void put_epoch(std::int64_t unix_ms) noexcept;
    void put_field(std::string_view name, int bits) noexcept;

    std::array<char, capacity> buffer_{};
    std::size_t size_ = 0;
};

} // namespace snowflake
