// Prints how many IDs a second an application makes itself, in so many threads with a node each:
//
//   client leased_ids THREADS SECONDS   with examples/leased_ids.hpp, which waits for the clock
//   client generator THREADS SECONDS    by the rule of generator.hpp alone, ahead of the clock
#include <leased_ids.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <latch>
#include <optional>
#include <string_view>
#include <vector>

namespace {

// When to begin and when to stop.
struct Race {
    std::latch ready;
    std::atomic<bool> over{false};
};

// Calls next() until the race is over. Returns how many IDs it made.
template <typename Next>
std::int64_t count_ids(Race &race, Next next) {
    race.ready.arrive_and_wait();
    snowflake::Id last = snowflake::no_id;
    std::int64_t ids = 0;
    for (; !race.over.load(std::memory_order_relaxed); ++ids) {
        const snowflake::Id id = next();
        if (id <= last)
            throw std::logic_error("IDs do not increase");
        last = id;
    }
    return ids;
}

std::int64_t count_leased_ids(Race &race) {
    std::optional<pqxx::connection> connection;
    std::optional<examples::LeasedIds> ids;
    try {
        connection.emplace();
        ids.emplace(*connection);
    } catch (...) {
        race.ready.count_down(); // the others would wait for this thread
        throw;
    }
    return count_ids(race, [&] { return ids->next(); });
}

std::int64_t count_generated_ids(Race &race) {
    using std::chrono::system_clock;
    constexpr snowflake::Layout layout = snowflake::default_layout;
    snowflake::Id last = snowflake::no_id;
    return count_ids(race, [&] {
        const auto now = system_clock::now().time_since_epoch();
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
        last = snowflake::reserve(layout, last, {.now = layout.tick_at(us), .node = 1}).last;
        return last;
    });
}

} // namespace

int main(int argc, char **argv) {
    try {
        if (argc != 4)
            throw std::invalid_argument("usage: client leased_ids|generator THREADS SECONDS");
        const bool leased = argv[1] == std::string_view("leased_ids");
        const int threads = std::atoi(argv[2]);
        const std::chrono::seconds duration(std::atoi(argv[3]));

        Race race{.ready = std::latch(threads + 1)};
        std::vector<std::future<std::int64_t>> counts;
        counts.reserve(threads);
        for (int i = 0; i < threads; ++i)
            counts.push_back(std::async(std::launch::async,
                                        leased ? count_leased_ids : count_generated_ids,
                                        std::ref(race)));
        race.ready.arrive_and_wait();
        const auto began = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(duration);
        race.over = true;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

        std::int64_t ids = 0;
        for (std::future<std::int64_t> &count : counts)
            ids += count.get();
        std::cout << static_cast<double>(ids) / took.count() << '\n';
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
