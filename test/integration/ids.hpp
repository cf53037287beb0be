// What the tests know of IDs. It is written down again, apart from the extension's code, so that a
// mistake there does not repeat itself here.
#pragma once

#include "server.hpp"
#include "session.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace integration {

// The parts of an ID in the default layout: milliseconds since 2023-01-01 UTC, node, counter.
Id compose(std::int64_t unix_ms, int node, int counter);
std::int64_t unix_ms_of(Id id);
int node_of(Id id);

std::int64_t unix_ms_now();

// Composes an ID of an hour from now. A sequence that is set to it is ahead of the clock for the
// rest of the test: its durable state alone, and not the clock, keeps it from repeating itself.
Id hour_ahead(int node = 1);

// A sequence that a test makes and follows through crashes, failovers and restores.
struct Sequence {
    std::string name;
    std::string definition; // the command that makes it
    Id stride;
    bool ahead; // set to hour_ahead()
};

// Makes the extension and the sequences.
void create_sequences(const Server &server, std::span<const Sequence> sequences);

// SELECT snowflake.nextval('sequence'), in this many rows.
std::string nextval(const std::string &sequence, int rows = 1);

// SELECT snowflake.nextvals('sequence', count).
std::string nextvals(const std::string &sequence, int count);

// SELECT setval('sequence', id).
std::string setval(const std::string &sequence, Id id);

// Each ID stands for a run of stride numbers, of which it is the first. These check that every run
// lies above the run before it, and that no two runs, in any order, have a number in common.
testing::AssertionResult increasing(const std::vector<Id> &ids, Id stride = 1);
testing::AssertionResult disjoint(std::vector<Id> ids, Id stride = 1);

using Random = std::mt19937_64;

// Makes a generator. Its seed is the variable SNOWFLAKE_SEED, or else a new one, which is printed.
// Generators of different streams are independent.
Random make_random(unsigned stream = 0);

int between(Random &random, int least, int greatest);

// How often to repeat a test of random faults: as the variable SNOWFLAKE_ROUNDS says, or else
// usually.
int rounds(int usually);

// Tells whether that is often: then tests leave nothing out to save time.
bool is_long_run();

} // namespace integration
