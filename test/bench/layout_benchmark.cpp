// What it costs to put an ID together, to take it apart, and to read and write a layout. The layout
// is one that the compiler cannot know, as in the functions that take a layout.

#include "layout.hpp"
#include "layout_text.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace bench::layout_benchmark {
namespace {

using namespace snowflake;

constexpr std::int64_t some_tick = 123'456'789'012;

// Hides from the compiler what it could compute beforehand.
template <typename T>
T unknown(T value) {
    benchmark::DoNotOptimize(value);
    return value;
}

void compose(benchmark::State &state) {
    const Layout layout = unknown(default_layout);
    Fields fields{.tick = some_tick, .node = 1, .counter = 0};
    for (auto _ : state) {
        ++fields.tick;
        benchmark::DoNotOptimize(layout.compose(fields));
    }
}
BENCHMARK(compose);

void compose_in_default_layout(benchmark::State &state) {
    Fields fields{.tick = some_tick, .node = 1, .counter = 0};
    for (auto _ : state) {
        ++fields.tick;
        benchmark::DoNotOptimize(default_layout.compose(fields));
    }
}
BENCHMARK(compose_in_default_layout);

void split(benchmark::State &state) {
    const Layout layout = unknown(default_layout);
    Id id = layout.compose({.tick = some_tick, .node = 1, .counter = 0});
    for (auto _ : state) {
        Fields fields = layout.split(++id);
        benchmark::DoNotOptimize(fields);
    }
}
BENCHMARK(split);

void split_in_default_layout(benchmark::State &state) {
    Id id = default_layout.compose({.tick = some_tick, .node = 1, .counter = 0});
    for (auto _ : state) {
        Fields fields = default_layout.split(++id);
        benchmark::DoNotOptimize(fields);
    }
}
BENCHMARK(split_in_default_layout);

void tick_at(benchmark::State &state) {
    const Layout layout = unknown(default_layout);
    std::int64_t unix_us = layout.unix_us(some_tick);
    for (auto _ : state)
        benchmark::DoNotOptimize(layout.tick_at(++unix_us));
}
BENCHMARK(tick_at);

void write_layout(benchmark::State &state) {
    const Layout layout = unknown(default_layout);
    for (auto _ : state) {
        LayoutText text{layout};
        benchmark::DoNotOptimize(text);
    }
}
BENCHMARK(write_layout);

void read_layout(benchmark::State &state) {
    const LayoutText text{default_layout};
    for (auto _ : state) {
        ParsedLayout parsed = parse_layout(unknown(text.view()));
        benchmark::DoNotOptimize(parsed);
    }
}
BENCHMARK(read_layout);

void read_preset(benchmark::State &state) {
    for (auto _ : state) {
        ParsedLayout parsed = parse_layout(unknown(std::string_view{"twitter"}));
        benchmark::DoNotOptimize(parsed);
    }
}
BENCHMARK(read_preset);

} // namespace
} // namespace bench::layout_benchmark
