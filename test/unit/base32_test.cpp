// IDs as text in Crockford's base 32.
#include "base32.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>

namespace unit::base32_test {
namespace {

using namespace snowflake;

constexpr Id last_id = std::numeric_limits<Id>::max();

std::string encoded(Id id) {
    const auto text = base32::encode(id);
    return {text.data(), text.size()};
}

// Numbers that others have published in this alphabet, without leading zeros: the example of the
// specification of ULIDs, whose first ten characters are a time in milliseconds, and small ones.
struct Vector {
    Id number;
    std::string_view text;
};
constexpr std::array vectors{
    Vector{0, "0000000000000"},       Vector{1, "0000000000001"},
    Vector{31, "000000000000Z"},      Vector{32, "0000000000010"},
    Vector{1234, "000000000016J"},    Vector{1'469'918'176'385, "00001ARYZ6S41"},
    Vector{last_id, "7ZZZZZZZZZZZZ"},
};

TEST(Base32, AgreesWithPublishedVectors) {
    for (const Vector &vector : vectors) {
        EXPECT_EQ(encoded(vector.number), vector.text);
        EXPECT_EQ(base32::decode(vector.text), vector.number) << vector.text;
    }
}

TEST(Base32, ReadsWhatPeopleType) {
    EXPECT_EQ(base32::decode("00001aryz6s41"), 1'469'918'176'385);
    EXPECT_EQ(base32::decode("oooolARYZ6S4I"), 1'469'918'176'385);
    EXPECT_EQ(base32::decode("OOOOiARYZ6S4L"), 1'469'918'176'385);
    EXPECT_EQ(base32::decode("0000-1ARY-Z6S4-1"), 1'469'918'176'385);
}

TEST(Base32, RefusesWhatIsNoId) {
    for (const std::string_view text :
         {"", "-", "0", "000000000000", "00000000000000", "000000000000U", "000000000000*",
          "00000000000 0", "8000000000000", "ZZZZZZZZZZZZZ", "0000000000\xc3\xa9"})
        EXPECT_FALSE(base32::decode(text)) << text;
}

TEST(Base32, SortsAsTheIdsDo) {
    Id id = 1;
    std::string before = encoded(0);
    for (int bits = 0; bits < 63; ++bits, id = bits < 63 ? id << 1 : id) {
        EXPECT_LT(before, encoded(id));
        before = encoded(id);
        EXPECT_LT(before, encoded(id | (id - 1) | 1) + "0");
        EXPECT_EQ(base32::decode(before), id);
    }
    EXPECT_LT(before, encoded(last_id));
}

} // namespace
} // namespace unit::base32_test
