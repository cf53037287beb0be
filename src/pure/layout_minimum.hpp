// A layout as the MINVALUE of a sequence, which is where a sequence keeps its layout.
//
// MINVALUE is a part of the sequence's definition: a dump has it, and nobody but the owner changes
// it. For a sequence that ascends and does not cycle it bounds nothing but setval. A number with
// the marker is at most -2^62, far below every MINVALUE of a sequence that counts. Such numbers do
// exist: src/sequence/sequence_kind.hpp names what else tells a layout from a user's MINVALUE.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include "layout.hpp"

namespace snowflake {

// The bit above those of a layout.
inline constexpr std::uint64_t layout_marker = std::uint64_t{1} << 62;

// Tells whether a sequence can keep the layout: IDs can be made in it.
constexpr bool is_for_sequences(Layout layout) noexcept {
    return layout.node_bits() > 0;
}

// Returns the MINVALUE of a sequence that keeps this layout: -(2^63 - 1) to -2^62.
constexpr std::int64_t minimum_of(Layout layout) noexcept {
    return -static_cast<std::int64_t>(layout.bits() | layout_marker);
}

// Finds the layout that a MINVALUE means; none: it is an ordinary number.
constexpr std::optional<Layout> layout_of_minimum(std::int64_t minimum) noexcept {
    const std::uint64_t marked = -static_cast<std::uint64_t>(minimum);
    if (minimum >= 0 || (marked & layout_marker) == 0)
        return std::nullopt;
    const auto layout = Layout::from_bits(marked & ~layout_marker);
    return layout && is_for_sequences(*layout) ? layout : std::nullopt;
}

} // namespace snowflake
