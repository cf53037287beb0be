// An ID as 13 characters of Crockford's base 32, both ways: digits and capital letters without I,
// L, O and U. The texts sort as the IDs do.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include "layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace snowflake::base32 {

// Characters of a text: 63 bits in groups of five, the first of which has three.
inline constexpr std::size_t length = 13;

inline constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// Writes an ID, 0 or greater, with the highest bits first.
constexpr std::array<char, length> encode(Id id) noexcept {
    std::array<char, length> text{};
    auto rest = static_cast<std::uint64_t>(id);
    for (std::size_t i = length; i-- > 0; rest >>= 5)
        text[i] = alphabet[rest & 31];
    return text;
}

// The value of a character, 0 to 31; -1: it has none. Case does not matter. The letters that people
// take for digits count as these: I and L as 1, O as 0.
constexpr int value_of(char character) noexcept {
    const char capital =
        character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character;
    if (capital == 'O')
        return 0;
    if (capital == 'I' || capital == 'L')
        return 1;
    const std::size_t index = alphabet.find(capital);
    return index == std::string_view::npos ? -1 : static_cast<int>(index);
}

// Reads an ID. There is none if the text has not exactly 13 characters besides hyphens, which are
// skipped, if one of them has no value, or if the number takes more than 63 bits.
constexpr std::optional<Id> decode(std::string_view text) noexcept {
    std::uint64_t number = 0;
    std::size_t count = 0;
    for (const char character : text) {
        if (character == '-')
            continue;
        const int value = value_of(character);
        if (value < 0 || ++count > length || (count == 1 && value > 7))
            return std::nullopt;
        number = number << 5 | static_cast<std::uint64_t>(value);
    }
    if (count != length)
        return std::nullopt;
    return static_cast<Id>(number);
}

} // namespace snowflake::base32
