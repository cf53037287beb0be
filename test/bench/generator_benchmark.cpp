// What the rule of the next ID costs, without a server around it.

#include "generator.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace bench::generator_benchmark {
namespace {

using namespace snowflake;

constexpr std::int64_t some_tick = 123'456'789'012;

// Reserves from a sequence on and on. After so many reservations the clock is a tick further.
void reserve_on_and_on(benchmark::State &state, Request request, std::int64_t reservations_a_tick) {
    Layout layout = default_layout;
    benchmark::DoNotOptimize(layout);
    Id last = no_id;
    std::int64_t left = reservations_a_tick;
    for (auto _ : state) {
        const Reservation reserved = reserve(layout, last, request);
        last = reserved.last;
        benchmark::DoNotOptimize(last);
        if (--left == 0) {
            ++request.now;
            left = reservations_a_tick;
        }
    }
}

// The counter starts anew each time.
void reserve_in_new_ticks(benchmark::State &state) {
    reserve_on_and_on(state, {.now = some_tick, .node = 1}, 1);
}
BENCHMARK(reserve_in_new_ticks);

// As many as a tick has room for.
void reserve_in_full_ticks(benchmark::State &state) {
    reserve_on_and_on(state, {.now = some_tick, .node = 1}, 4096);
}
BENCHMARK(reserve_in_full_ticks);

// What CACHE 32 reserves.
void reserve_leases(benchmark::State &state) {
    reserve_on_and_on(state, {.now = some_tick, .node = 1, .wanted = 32}, 128);
}
BENCHMARK(reserve_leases);

// What nextvals reserves for a million IDs.
void reserve_batches(benchmark::State &state) {
    reserve_on_and_on(state, {.now = some_tick, .node = 1, .wanted = 1'000'000, .batch = true},
                      4096);
}
BENCHMARK(reserve_batches);

// What one nextval asks of the whole rule.
void decide_in_full_ticks(benchmark::State &state) {
    Layout layout = default_layout;
    benchmark::DoNotOptimize(layout);
    SequenceState sequence{.last = no_id, .reset = false};
    Request request{.now = some_tick, .node = 1};
    for (auto _ : state) {
        benchmark::DoNotOptimize(sequence);
        sequence.last = decide_next_id(layout, sequence, request).last;
        request.now += (sequence.last & 4095) == 4095;
    }
}
BENCHMARK(decide_in_full_ticks);

void step_in_run(benchmark::State &state) {
    Layout layout = default_layout;
    benchmark::DoNotOptimize(layout);
    Id id = layout.compose({.tick = some_tick, .node = 1, .counter = 0});
    for (auto _ : state) {
        id = next_in_run(layout, id, 1);
        benchmark::DoNotOptimize(id);
    }
}
BENCHMARK(step_in_run);

} // namespace
} // namespace bench::generator_benchmark
