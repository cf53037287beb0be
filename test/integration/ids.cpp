// IDs: composed, taken apart, asked for and checked. Random numbers that a seed repeats.
#include "ids.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>

namespace integration {

namespace {

constexpr std::int64_t epoch_ms = 1'672'531'200'000; // 2023-01-01 00:00:00 UTC
constexpr int node_bits = 10;
constexpr int counter_bits = 12;

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char *given = std::getenv("SNOWFLAKE_SEED");
        const std::uint64_t chosen =
            given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
        std::cout << "SNOWFLAKE_SEED=" << chosen << '\n';
        return chosen;
    }();
    return value;
}

} // namespace

Id compose(std::int64_t unix_ms, int node, int counter) {
    return (unix_ms - epoch_ms) << (node_bits + counter_bits) | Id{node} << counter_bits |
           Id{counter};
}

std::int64_t unix_ms_of(Id id) {
    return (id >> (node_bits + counter_bits)) + epoch_ms;
}

int node_of(Id id) {
    return static_cast<int>(id >> counter_bits & ((1 << node_bits) - 1));
}

std::int64_t unix_ms_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Id hour_ahead(int node) {
    constexpr std::int64_t hour_ms = 3'600'000;
    return compose(unix_ms_now() + hour_ms, node, 0);
}

void create_sequences(const Server &server, std::span<const Sequence> sequences) {
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    for (const Sequence &sequence : sequences) {
        session.run(sequence.definition);
        if (sequence.ahead)
            session.run(setval(sequence.name, hour_ahead()));
    }
}

std::string nextval(const std::string &sequence, int rows) {
    return "SELECT snowflake.nextval('" + sequence + "') FROM generate_series(1, " +
           std::to_string(rows) + ")";
}

std::string nextvals(const std::string &sequence, int count) {
    return "SELECT snowflake.nextvals('" + sequence + "', " + std::to_string(count) + ")";
}

std::string setval(const std::string &sequence, Id id) {
    return "SELECT setval('" + sequence + "', " + std::to_string(id) + ")";
}

testing::AssertionResult increasing(const std::vector<Id> &ids, Id stride) {
    const auto found = std::adjacent_find(
        ids.begin(), ids.end(), [stride](Id one, Id next) { return next < one + stride; });
    if (found == ids.end())
        return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "after " << *found << " comes " << *std::next(found) << " (position "
           << found - ids.begin() + 1 << " of " << ids.size() << ", stride " << stride << ")";
}

testing::AssertionResult disjoint(std::vector<Id> ids, Id stride) {
    std::sort(ids.begin(), ids.end());
    return increasing(ids, stride);
}

Random make_random(unsigned stream) {
    const std::uint64_t base = seed();
    std::seed_seq sequence{static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(base >> 32),
                           stream};
    return Random(sequence);
}

int between(Random &random, int least, int greatest) {
    return std::uniform_int_distribution<int>(least, greatest)(random);
}

int rounds(int usually) {
    const char *wanted = std::getenv("SNOWFLAKE_ROUNDS");
    return wanted != nullptr ? std::stoi(wanted) : usually;
}

bool is_long_run() {
    return rounds(0) >= 100;
}

} // namespace integration
