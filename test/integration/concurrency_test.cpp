// Many sessions make IDs of one sequence at once. No ID is made twice, and none is older than the
// call that made it. The IDs of each session increase; without a lease (CACHE 1) the IDs of all
// sessions increase in the order of the calls.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <ostream>
#include <thread>

namespace integration::concurrency_test {
namespace {

constexpr unsigned clients = 8;
constexpr int calls_of_a_client = 1500;
constexpr int most_rows = 20;

// A killed server loses nothing that it has written, because the machine goes on.
const std::vector<std::string> no_waiting_for_disks = {"fsync = off"};

struct Load {
    const char *name;
    int cache;
    int increment;
    bool changing_nodes;

    friend std::ostream &operator<<(std::ostream &out, const Load &load) {
        return out << load.name;
    }
};

// One statement that made IDs. The tickets, drawn by all sessions from one counter before it was
// sent and after it was answered, tell which statements were over when another began.
struct Call {
    std::uint64_t began;
    std::uint64_t ended;
    std::vector<Id> ids;
};

using Tickets = std::atomic<std::uint64_t>;

std::vector<std::unique_ptr<Session>> connect(const Server &server, unsigned count) {
    std::vector<std::unique_ptr<Session>> sessions;
    for (unsigned i = 0; i < count; ++i)
        sessions.push_back(std::make_unique<Session>(server));
    return sessions;
}

Call call(Session &session, Tickets &tickets, const std::string &statement) {
    Call result{};
    result.began = tickets++;
    result.ids = session.numbers(statement);
    result.ended = tickets++;
    return result;
}

std::vector<Call> make_ids(Session &session, const Load &load, Random random, Tickets &tickets) {
    std::vector<Call> calls;
    for (int i = 0; i < calls_of_a_client; ++i) {
        const int node = load.changing_nodes ? between(random, 1, 1023) : 1;
        if (load.changing_nodes)
            session.run("SET snowflake.node = " + std::to_string(node));
        const std::int64_t asked_at_ms = unix_ms_now();
        const int rows = between(random, 1, most_rows);
        const bool batch = between(random, 0, 3) == 0;
        calls.push_back(call(session, tickets, batch ? nextvals("s", rows) : nextval("s", rows)));
        for (const Id id : calls.back().ids) {
            EXPECT_EQ(node_of(id), node) << id;
            EXPECT_GE(unix_ms_of(id), asked_at_ms) << id << " is older than its call";
        }
    }
    return calls;
}

std::vector<Id> ids_of(const std::vector<Call> &calls) {
    std::vector<Id> ids;
    for (const Call &one : calls)
        ids.insert(ids.end(), one.ids.begin(), one.ids.end());
    return ids;
}

// Checks that a call which was over before another began has the lower IDs. Calls that overlapped
// may have reserved theirs in either order.
testing::AssertionResult in_order_of_calls(const std::vector<Call> &calls, Id stride) {
    std::vector<const Call *> by_begin;
    by_begin.reserve(calls.size());
    for (const Call &one : calls)
        by_begin.push_back(&one);
    std::vector<const Call *> by_end = by_begin;
    std::sort(by_begin.begin(), by_begin.end(),
              [](const Call *a, const Call *b) { return a->began < b->began; });
    std::sort(by_end.begin(), by_end.end(),
              [](const Call *a, const Call *b) { return a->ended < b->ended; });

    Id greatest = -stride;
    auto next_over = by_end.begin();
    for (const Call *one : by_begin) {
        for (; (*next_over)->ended < one->began; ++next_over)
            greatest = std::max(greatest, (*next_over)->ids.back());
        if (one->ids.front() < greatest + stride)
            return testing::AssertionFailure() << one->ids.front() << " was asked for after "
                                               << greatest << " had been handed out";
    }
    return testing::AssertionSuccess();
}

class Concurrency : public testing::TestWithParam<Load> {};

TEST_P(Concurrency, MakesNoIdTwice) {
    const Load &load = GetParam();
    const Server server(1, no_waiting_for_disks);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE s CACHE " + std::to_string(load.cache) + " INCREMENT " +
                std::to_string(load.increment));

    const auto sessions = connect(server, clients);
    Tickets tickets{0};
    std::barrier start(clients);
    std::vector<std::future<std::vector<Call>>> results;
    for (unsigned i = 0; i < clients; ++i)
        results.push_back(std::async(std::launch::async, [&, i] {
            start.arrive_and_wait();
            return make_ids(*sessions[i], load, make_random(i), tickets);
        }));

    std::vector<Call> calls;
    for (auto &result : results) {
        const std::vector<Call> own = result.get();
        EXPECT_TRUE(increasing(ids_of(own), load.increment)) << "in one session";
        calls.insert(calls.end(), own.begin(), own.end());
    }
    EXPECT_TRUE(disjoint(ids_of(calls), load.increment));
    if (load.cache == 1) {
        EXPECT_TRUE(in_order_of_calls(calls, load.increment));
    }
}

INSTANTIATE_TEST_SUITE_P(Loads, Concurrency,
                         testing::Values(Load{"Cache1", 1, 1, false}, Load{"Cache50", 50, 1, false},
                                         Load{"Strides", 1, 16, false},
                                         Load{"Cache50Strides", 50, 16, false},
                                         Load{"ChangingNodes", 1, 1, true},
                                         Load{"Cache50ChangingNodes", 50, 1, true}),
                         [](const auto &instance) { return std::string(instance.param.name); });

// An ID and how many numbers it stands for.
struct Span {
    Id first;
    Id stride;
};

// How often ALTER SEQUENCE has begun or ended: an even number while none runs, an odd one during
// one.
using Version = std::atomic<int>;

// The stride alternates, so that the IDs of a session which has missed an alteration show it.
constexpr int cache_in(int version) {
    return version % 8 < 4 ? 1 : 50;
}
constexpr int increment_in(int version) {
    return version % 4 == 2 ? 16 : 1;
}

std::vector<Span> make_spans(Session &session, Random random, const Version &version,
                             std::atomic<int> &calls, const std::atomic<bool> &done) {
    std::vector<Span> spans;
    while (!done) {
        const int before = version;
        const auto ids = session.numbers(nextval("s", between(random, 1, most_rows)));
        // The test knows which definition the IDs come from only if none has changed meanwhile.
        const bool known = before % 2 == 0 && before == version;
        for (const Id id : ids)
            spans.push_back({.first = id, .stride = known ? increment_in(before) : 1});
        ++calls;
    }
    return spans;
}

testing::AssertionResult in_order(const std::vector<Span> &spans) {
    const auto found =
        std::adjacent_find(spans.begin(), spans.end(), [](const Span &one, const Span &next) {
            return next.first < one.first + one.stride;
        });
    if (found == spans.end())
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << found->first << " stands for " << found->stride
                                       << " numbers, and then comes " << std::next(found)->first;
}

// Stops the clients when the scope ends, also by an exception. Else they would go on for ever.
class StopAtEnd {
  public:
    explicit StopAtEnd(std::atomic<bool> &done) : done_(&done) {}
    StopAtEnd(const StopAtEnd &) = delete;
    StopAtEnd &operator=(const StopAtEnd &) = delete;
    StopAtEnd(StopAtEnd &&) = delete;
    StopAtEnd &operator=(StopAtEnd &&) = delete;
    ~StopAtEnd() { *done_ = true; }

  private:
    std::atomic<bool> *done_;
};

// ALTER SEQUENCE changes what the other sessions remember and moves the sequence to a new file. A
// session that went on by what it remembered would make IDs that others make too.
TEST(ConcurrentAlterSequence, MakesNoIdTwice) {
    constexpr unsigned makers = 4;
    constexpr int alterations = 100;
    constexpr int least_calls_between = 5;
    Server server(1, no_waiting_for_disks);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE s");
    session.run(setval("s", hour_ahead()));

    const auto sessions = connect(server, makers);
    for (const auto &each : sessions)
        each->run(nextval("s")); // the session remembers the definition
    Version version{0};
    std::atomic<bool> done{false};
    std::atomic<int> calls{0};
    std::atomic<unsigned> failed{0};
    std::vector<std::future<std::vector<Span>>> results;
    for (unsigned i = 0; i < makers; ++i)
        results.push_back(std::async(std::launch::async, [&, i] {
            try {
                return make_spans(*sessions[i], make_random(i), version, calls, done);
            } catch (...) {
                ++failed;
                throw;
            }
        }));

    const StopAtEnd stop(done);
    for (int i = 0; i < alterations && failed == 0; ++i) {
        const int next = ++version + 1;
        session.run("ALTER SEQUENCE s CACHE " + std::to_string(cache_in(next)) + " INCREMENT " +
                    std::to_string(increment_in(next)));
        ++version;
        for (const int before = calls; calls < before + least_calls_between && failed == 0;)
            pause_between_looks();
    }
    done = true;

    std::vector<Span> all;
    for (auto &result : results) {
        const std::vector<Span> own = result.get();
        EXPECT_TRUE(in_order(own)) << "in one session";
        all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end(),
              [](const Span &one, const Span &other) { return one.first < other.first; });
    EXPECT_TRUE(in_order(all));

    server.kill_all();
    server.start();
    EXPECT_GE(Session(server).number(nextval("s")), all.back().first + all.back().stride);
}

// One session sets the sequence back to 1, over and over. The sequence then forgets which IDs of
// the present millisecond were handed out, while other sessions may have read the clock before
// that.
class ConcurrentSetval : public testing::TestWithParam<const char *> {};

TEST_P(ConcurrentSetval, MakesNoIdTwice) {
    constexpr unsigned makers = 6;
    constexpr int calls_of_a_maker = 100;
    const Server server(1, no_waiting_for_disks);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run(std::string("CREATE ") + GetParam() + " SEQUENCE s");

    const auto sessions = connect(server, makers);
    std::atomic<unsigned> ended{0};
    std::vector<std::future<std::vector<Id>>> results;
    for (unsigned i = 0; i < makers; ++i)
        results.push_back(std::async(std::launch::async, [&, i] {
            std::vector<Id> ids;
            try {
                Random random = make_random(i);
                for (int calls = 0; calls < calls_of_a_maker; ++calls) {
                    const auto some =
                        sessions[i]->numbers(nextval("s", between(random, 1, most_rows)));
                    ids.insert(ids.end(), some.begin(), some.end());
                }
            } catch (...) {
                ++ended;
                throw;
            }
            ++ended;
            return ids;
        }));
    // Each setval closes a tick for all makers.
    Random pause = make_random(makers);
    while (ended < makers) {
        session.run(setval("s", 1));
        std::this_thread::sleep_for(std::chrono::microseconds(between(pause, 0, 2000)));
    }

    std::vector<Id> ids;
    for (auto &result : results) {
        const std::vector<Id> own = result.get();
        EXPECT_TRUE(increasing(own)) << "in one session";
        ids.insert(ids.end(), own.begin(), own.end());
    }
    EXPECT_TRUE(disjoint(ids));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConcurrentSetval, testing::Values("", "UNLOGGED"),
                         [](const auto &instance) {
                             return std::string(*instance.param == '\0' ? "Logged" : "Unlogged");
                         });

} // namespace
} // namespace integration::concurrency_test
