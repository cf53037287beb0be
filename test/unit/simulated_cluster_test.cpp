// Shows on a simulated cluster, whose clocks drift, stall and jump and whose instances crash and
// are renumbered, that every promise made about IDs holds for each of millions of them: they
// increase, none is made twice, none is further ahead of the clock than there is reason for, and
// the end of the layout is the end. SNOWFLAKE_SIMULATED_IDS says how many.
#include "generator.hpp"

#include "layouts.hpp"
#include "random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr std::int64_t millisecond = 1'000; // in microseconds, as all times here
constexpr std::int64_t second = 1'000 * millisecond;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t year = 8'766 * hour;

constexpr int instance_count = 64;
constexpr int sequence_count = 8;

std::int64_t ids_to_simulate() {
    return environment_number("SNOWFLAKE_SIMULATED_IDS", 50'000'000);
}

// The clock of one instance: it runs from where it was set, faster or slower than the true time.
class Clock {
  public:
    Clock(std::int64_t true_time, Random &random) : drift_ppm_(random.between(-1'000, 1'000)) {
        jump(true_time, random);
    }

    [[nodiscard]] std::int64_t read(std::int64_t true_time) const {
        const std::int64_t running = std::max<std::int64_t>(true_time - runs_from_, 0);
        return set_to_ + running + running / 1'000'000 * drift_ppm_;
    }

    // To at most half an hour off the true time, so a jump may be an hour long, forward or back.
    void jump(std::int64_t true_time, Random &random) {
        const std::int64_t off_by = random.of_any_size(hour / 2);
        set_to_ = true_time + (random.one_in(2) ? off_by : -off_by);
        runs_from_ = true_time;
    }

    void stall(std::int64_t true_time, std::int64_t duration) {
        set_to_ = read(true_time);
        runs_from_ = true_time + duration;
    }

  private:
    std::int64_t drift_ppm_;
    std::int64_t set_to_ = 0;
    std::int64_t runs_from_ = 0;
};

// What one instance keeps of one sequence.
struct SequenceState {
    Id last = no_id;         // the greatest ID reserved, as in the sequence's tuple
    Id mark = no_id;         // the high-water mark, all that is left of it after a crash
    bool written_out = true; // by a checkpoint, since the mark was logged

    // Log when the mark is passed, and after a checkpoint.
    void reserved(Layout layout, Id id) {
        last = id;
        if (written_out || last > mark) {
            mark = high_water_mark(layout, last);
            written_out = false;
        }
    }

    void crash() { last = mark; }
};

// How far ahead of the clock a sequence may be on one instance, and why. Reckoned from what was
// asked of it and what happened to it, without the generator: since the clock last read a time that
// was beyond anything there was reason for, it may have used the counters that were asked for, a
// second's worth for each crash, and the rest of a tick for each change to a lower node.
struct Lead {
    std::int64_t since = 0; // the tick that the clock read then
    std::int64_t counters_asked = 0;
    std::int64_t crashes = 0;
    std::int64_t renumberings = 0;

    // Counters from the layout's epoch up to which there is reason for IDs, exclusive.
    [[nodiscard]] std::int64_t allowed(Layout layout) const {
        const std::int64_t capacity = std::int64_t{layout.last_counter()} + 1;
        const std::int64_t ticks = since + crashes * layout.ticks_per_second() + renumberings;
        return ticks * capacity + counters_asked;
    }

    void clock_read(Layout layout, std::int64_t now) {
        if (now * (std::int64_t{layout.last_counter()} + 1) >= allowed(layout))
            *this = {.since = now};
    }
};

// What was seen of one sequence on one instance.
struct History {
    Id greatest = no_id; // the greatest ID handed out, with the rest of its stride
    std::int64_t node = 0;
    bool used_since_crash = false;
    Lead lead;
};

// IDs of one tick that came from one reservation.
struct Run {
    Id first;
    std::int32_t stride;
    std::int32_t count;
};

// One ID and the consecutive ones it stands for.
struct Stride {
    Id first;
    Id last;
};

// How often what happened; shows that the simulation met what it is for.
struct Tally {
    std::int64_t ids = 0;
    std::int64_t reservations = 0;
    std::int64_t refusals = 0;
    std::int64_t clock_behind = 0;  // the clock was behind the sequence
    std::int64_t far_ahead = 0;     // .. and the ID more than one tick ahead of it
    std::int64_t tick_overflow = 0; // more was wanted than the tick held
    std::int64_t long_batches = 0;  // .. and a batch went on in later ones
    std::int64_t after_crash = 0;   // ahead of the clock by a crash
    std::int64_t node_lowered = 0;  // the node was lower than the one before, within a tick
    std::int64_t node_raised = 0;
};

std::ostream &operator<<(std::ostream &out, const Tally &tally) {
    const auto rows = std::to_array<std::pair<std::string_view, std::int64_t>>(
        {{"IDs", tally.ids},
         {"reservations", tally.reservations},
         {"refusals", tally.refusals},
         {"clock behind the sequence", tally.clock_behind},
         {"more than one tick ahead", tally.far_ahead},
         {"more wanted than the tick held", tally.tick_overflow},
         {"batches through several ticks", tally.long_batches},
         {"ahead after a crash", tally.after_crash},
         {"node lowered within a tick", tally.node_lowered},
         {"node raised within a tick", tally.node_raised}});
    for (const auto &[what, times] : rows)
        out << "  " << what << ": " << times << '\n';
    return out;
}

// Checks the promises. It sees what was asked for and what came, and the changes made to an
// instance; it does not see the state of the sequences.
class Witness {
  public:
    explicit Witness(Layout layout)
        : layout_(layout), holders_(static_cast<std::size_t>(layout.last_node()) + 1, nobody) {}

    [[nodiscard]] const Tally &tally() const { return tally_; }

    // A node number belongs to the first instance that takes it, for good.
    void node_taken(int instance, std::int64_t node) {
        int &holder = holders_.at(static_cast<std::size_t>(node));
        ASSERT_TRUE(holder == nobody || holder == instance) << "the simulation itself is wrong";
        holder = instance;
    }

    void crashed(int instance) {
        for (History &seen : seen_.at(static_cast<std::size_t>(instance)))
            if (std::exchange(seen.used_since_crash, false))
                ++seen.lead.crashes;
    }

    void answered(int instance, int sequence, const Request &request, const Reservation &got) {
        History &seen = seen_.at(static_cast<std::size_t>(instance)).at(index(sequence));
        if (::testing::Test::HasFailure())
            return; // the first is the one to look at
        if (got.refusal == Refusal::none)
            expect_ids(instance, sequence, seen, request, got);
        else
            expect_refusal_is_justified(seen, request, got.refusal);
        if (::testing::Test::HasFailure())
            describe(instance, sequence, seen, request, got);
    }

    // Promise (b) once more, without any trust in fields: no number was made twice for a sequence.
    void expect_all_distinct() {
        for (const std::vector<Run> &runs : runs_) {
            const std::vector<Stride> strides = sorted_strides(runs);
            const auto overlap = std::adjacent_find(
                strides.begin(), strides.end(),
                [](const Stride &one, const Stride &next) { return one.last >= next.first; });
            ASSERT_EQ(overlap, strides.end()) << "made twice: " << std::next(overlap)->first;
        }
    }

  private:
    static constexpr int nobody = -1;

    static std::size_t index(int number) { return static_cast<std::size_t>(number); }

    // (a) and (b), ID by ID, then (c) and what a reservation promises as a whole.
    void expect_ids(int instance, int sequence, History &seen, const Request &request,
                    const Reservation &got) {
        seen.lead.clock_read(layout_, request.now);
        count_what_happened(seen, request, got);
        ASSERT_LE(request.now, layout_.last_tick()) << "(d) an ID beyond the end of the layout";
        ASSERT_GE(request.now, 0) << "an ID from before the epoch";
        ASSERT_GE(got.count, request.batch ? request.wanted : 1);
        ASSERT_LE(got.count, request.wanted);

        std::vector<Run> &runs = runs_.at(index(sequence));
        std::int64_t tick = layout_.tick_of(got.first);
        Id id = got.first;
        for (std::int64_t i = 0; i < got.count; ++i) {
            if (i > 0)
                id = request.batch ? next_in_run(layout_, id, request.stride) : id + got.step;
            if (id <= seen.greatest)
                FAIL() << "(a) " << id << " is not above " << seen.greatest;
            if (layout_.node_of(id) != request.node || holder_of(id) != instance)
                FAIL() << "(b) " << id << " is of node " << layout_.node_of(id);
            const std::int64_t steps = request.batch ? layout_.tick_of(id) - tick : 0;
            tick += std::clamp<std::int64_t>(steps, 0, 1);
            seen.greatest = id + request.stride - 1;
            if (layout_.tick_of(id) != tick || !layout_.contains(id))
                FAIL() << "(d) " << id << " is beyond tick " << tick;
            if (layout_.tick_of(seen.greatest) != tick ||
                layout_.node_of(seen.greatest) != request.node)
                FAIL() << "(b) the stride of " << id << " reaches beyond its tick or node";
            if (i == 0 || steps > 0)
                runs.push_back(
                    {.first = id, .stride = static_cast<std::int32_t>(request.stride), .count = 0});
            ++runs.back().count;
        }
        ASSERT_EQ(got.last, seen.greatest);
        expect_no_undue_lead(seen, request, got);
        seen.node = request.node;
        seen.used_since_crash = true;
    }

    // (c)
    void expect_no_undue_lead(History &seen, const Request &request, const Reservation &got) {
        const Fields first = layout_.split(got.first);
        const Fields last = layout_.split(got.last);
        // A stride that does not fit into what is left of a tick leaves the rest of it unused.
        const std::int64_t rests = 1 + last.tick - first.tick;
        seen.lead.counters_asked += got.count * request.stride + rests * (request.stride - 1);
        if (request.node < seen.node)
            ++seen.lead.renumberings;

        const std::int64_t capacity = std::int64_t{layout_.last_counter()} + 1;
        const std::int64_t end = last.tick * capacity + last.counter + 1;
        ASSERT_GE(first.tick, request.now) << "an ID older than the clock";
        ASSERT_LE(end, seen.lead.allowed(layout_))
            << "(c) ahead of the clock by " << first.tick - request.now << " ticks, since tick "
            << seen.lead.since << " by " << seen.lead.counters_asked << " counters, "
            << seen.lead.crashes << " crashes, " << seen.lead.renumberings << " renumberings";
    }

    // There may be refusals only at both ends of the layout.
    void expect_refusal_is_justified(const History &seen, const Request &request, Refusal why) {
        ++tally_.refusals;
        if (why == Refusal::before_epoch) {
            ASSERT_LT(request.now, 0);
            return;
        }
        ASSERT_EQ(why, Refusal::exhausted);
        if (request.now > layout_.last_tick())
            return;
        // Nothing is left but the last tick, or a crash put the sequence on the mark at the end; or
        // a batch takes more ticks than are left.
        const std::int64_t fitting = (std::int64_t{layout_.last_counter()} + 1) / request.stride;
        const std::int64_t more_ticks = request.batch ? (request.wanted - 1) / fitting + 1 : 0;
        ASSERT_TRUE(seen.greatest >= 0 || request.now + more_ticks > layout_.last_tick())
            << "exhausted before it began";
        const std::int64_t begins = std::max(layout_.tick_of(std::max<Id>(seen.greatest, 0)) +
                                                 layout_.ticks_per_second() - 1,
                                             request.now);
        ASSERT_GE(begins + more_ticks, layout_.last_tick());
    }

    [[nodiscard]] int holder_of(Id id) const { return holders_[index(layout_.node_of(id))]; }

    void count_what_happened(const History &seen, const Request &request, const Reservation &got) {
        ++tally_.reservations;
        tally_.ids += got.count;
        const std::int64_t tick = layout_.tick_of(got.first);
        tally_.clock_behind += tick > request.now;
        tally_.far_ahead += tick > request.now + 1;
        tally_.tick_overflow += got.count < request.wanted;
        tally_.long_batches += layout_.tick_of(got.last) > tick;
        tally_.after_crash += seen.lead.crashes > 0 && tick > request.now;
        const bool waits = seen.greatest >= 0 && layout_.tick_of(seen.greatest) >= request.now;
        tally_.node_lowered += waits && request.node < seen.node;
        tally_.node_raised += waits && request.node > seen.node;
    }

    [[nodiscard]] std::vector<Stride> sorted_strides(const std::vector<Run> &runs) const {
        std::vector<Stride> strides;
        for (const Run &run : runs) {
            const Id step = run.stride * layout_.counter_step();
            for (std::int32_t i = 0; i < run.count; ++i) {
                const Id first = run.first + i * step;
                strides.push_back({.first = first, .last = first + run.stride - 1});
            }
        }
        std::sort(strides.begin(), strides.end(),
                  [](const Stride &one, const Stride &other) { return one.first < other.first; });
        return strides;
    }

    static void describe(int instance, int sequence, const History &seen, const Request &request,
                         const Reservation &got) {
        std::cout << "instance " << instance << ", sequence " << sequence << ", greatest seen "
                  << seen.greatest << "; asked: now " << request.now << ", node " << request.node
                  << ", stride " << request.stride << ", wanted " << request.wanted << ", batch "
                  << request.batch << "; got: refusal " << static_cast<int>(got.refusal)
                  << ", first " << got.first << ", last " << got.last << ", step " << got.step
                  << ", count " << got.count << '\n';
    }

    Layout layout_;
    std::vector<int> holders_; // by node number
    std::array<std::array<History, sequence_count>, instance_count> seen_{};
    std::array<std::vector<Run>, sequence_count> runs_;
    Tally tally_;
};

// One PostgreSQL instance.
struct Instance {
    Clock clock;
    std::int64_t node;
    std::vector<std::int64_t> nodes_held; // this one and those it had before
    std::array<SequenceState, sequence_count> sequences{};
};

// Instances that take turns at handing out IDs, each with a copy of every sequence.
class Cluster {
  public:
    Cluster(Layout layout, std::int64_t true_time, Random random)
        : layout_(layout), random_(random), true_time_(true_time), witness_(layout) {
        for (std::int64_t node = 1; node <= std::min(layout.last_node(), 1023); ++node)
            free_nodes_.push_back(node);
        for (int i = 0; i < instance_count; ++i) {
            const std::int64_t node = take_free_node(i);
            instances_.push_back(
                {.clock = Clock(true_time, random_), .node = node, .nodes_held = {node}});
        }
    }

    [[nodiscard]] std::int64_t true_time() const { return true_time_; }
    [[nodiscard]] Witness &witness() { return witness_; }
    [[nodiscard]] std::int64_t ids() const { return witness_.tally().ids; }

    void set_true_time(std::int64_t true_time) {
        true_time_ = true_time;
        for (Instance &instance : instances_)
            instance.clock.jump(true_time, random_);
    }

    void pass_time(std::int64_t duration) { true_time_ += duration; }

    // Some instance is busy for a moment, and something may befall it meanwhile.
    void turn() {
        const auto i = static_cast<int>(random_.between(0, instance_count - 1));
        const auto sequence = static_cast<int>(random_.between(0, sequence_count - 1));
        for (std::int64_t calls = random_.between(1, 32); calls > 0; --calls) {
            pass_time(random_moment());
            if (random_.one_in(16))
                befall(i);
            call(i, random_.one_in(8) ? static_cast<int>(calls) % sequence_count : sequence);
        }
    }

    // Asks for all that is left until the end of the layout, then shows that it stays the end,
    // whatever the clock says.
    void expect_end() {
        for (int i = 0; i < instance_count; ++i)
            for (int sequence = 0; sequence < sequence_count; ++sequence)
                expect_end_of(i, sequence);
    }

  private:
    void expect_end_of(int i, int sequence) {
        const Instance &instance = instances_.at(static_cast<std::size_t>(i));
        Request request{.now = layout_.last_tick(), .node = instance.node};
        request.wanted = std::int64_t{layout_.last_counter()} + 1;
        for (int lease = 0; ask(i, sequence, request); ++lease)
            ASSERT_LT(lease, 1) << "(d) the last tick holds no more than one full lease";
        for (int again = 0; again < 100; ++again) {
            request.now = random_.between(0, layout_.last_tick() + 1);
            request.stride = random_stride();
            request.wanted = random_wanted();
            request.batch = random_.one_in(4);
            ASSERT_FALSE(ask(i, sequence, request)) << "(d) an ID after the end";
            if (random_.one_in(10))
                crash(i);
        }
    }

    void befall(int i) {
        Instance &instance = instances_.at(static_cast<std::size_t>(i));
        if (random_.one_in(40))
            instance.clock.jump(true_time_, random_);
        if (random_.one_in(40))
            instance.clock.stall(true_time_, random_.of_any_size(10 * minute));
        if (random_.one_in(40))
            crash(i);
        if (random_.one_in(40))
            renumber(i);
        if (random_.one_in(20))
            for (SequenceState &sequence : instance.sequences)
                sequence.written_out = true;
    }

    void crash(int i) {
        for (SequenceState &sequence : instances_.at(static_cast<std::size_t>(i)).sequences)
            sequence.crash();
        witness_.crashed(i);
    }

    // To a number that no other instance ever held: the IDs made under it are still about.
    void renumber(int i) {
        Instance &instance = instances_.at(static_cast<std::size_t>(i));
        const bool take_new = instance.nodes_held.size() < 10 && !free_nodes_.empty();
        if (take_new)
            instance.nodes_held.push_back(take_free_node(i));
        instance.node = instance.nodes_held.at(static_cast<std::size_t>(
            random_.between(0, static_cast<std::int64_t>(instance.nodes_held.size()) - 1)));
    }

    std::int64_t take_free_node(int i) {
        const auto any = random_.between(0, static_cast<std::int64_t>(free_nodes_.size()) - 1);
        std::swap(free_nodes_.at(static_cast<std::size_t>(any)), free_nodes_.back());
        const std::int64_t node = free_nodes_.back();
        free_nodes_.pop_back();
        witness_.node_taken(i, node);
        return node;
    }

    // Mostly less than a millisecond, so that calls meet in one tick; sometimes up to a minute.
    std::int64_t random_moment() {
        if (random_.one_in(256))
            return random_.of_any_size(minute);
        return random_.one_in(2) ? 0 : random_.between(0, millisecond / 2);
    }

    void call(int i, int sequence) {
        const Instance &instance = instances_.at(static_cast<std::size_t>(i));
        ask(i, sequence,
            {.now = layout_.tick_at(instance.clock.read(true_time_)),
             .node = instance.node,
             .stride = random_stride(),
             .wanted = random_wanted(),
             .batch = random_.one_in(4)});
    }

    // Whether there was an ID.
    bool ask(int i, int sequence, const Request &request) {
        SequenceState &state = instances_.at(static_cast<std::size_t>(i))
                                   .sequences.at(static_cast<std::size_t>(sequence));
        const Reservation got = reserve(layout_, state.last, request);
        if (got.refusal == Refusal::none)
            state.reserved(layout_, got.last);
        witness_.answered(i, sequence, request, got);
        return got.refusal == Refusal::none;
    }

    std::int64_t random_stride() {
        if (layout_.counter_step() != 1 || !random_.one_in(4))
            return 1;
        return 1 + random_.of_any_size(layout_.last_counter());
    }

    std::int64_t random_wanted() {
        if (random_.one_in(2))
            return 1;
        return random_.one_in(500) ? random_.between(1, 10'000) : random_.between(1, 32);
    }

    Layout layout_;
    Random random_;
    std::int64_t true_time_;
    Witness witness_;
    std::vector<std::int64_t> free_nodes_;
    std::vector<Instance> instances_;
};

// Lets a cluster make so many IDs in the middle of its layout, where no ID may be refused.
void expect_promises_hold(Layout layout, std::int64_t ids) {
    Cluster cluster(layout, layout.epoch_us() + year, seeded_random());
    while (cluster.ids() < ids && !::testing::Test::HasFailure())
        cluster.turn();
    cluster.witness().expect_all_distinct();

    const Tally &tally = cluster.witness().tally();
    std::cout << tally;
    EXPECT_EQ(tally.refusals, 0);
    if (ids < 1'000'000)
        return; // too few for everything to have happened
    EXPECT_GT(tally.clock_behind, 0);
    EXPECT_GT(tally.far_ahead, 0);
    EXPECT_GT(tally.tick_overflow, 0);
    EXPECT_GT(tally.long_batches, 0);
    EXPECT_GT(tally.after_crash, 0);
    EXPECT_GT(tally.node_lowered, 0);
    EXPECT_GT(tally.node_raised, 0);
}

TEST(SimulatedCluster, KeepsItsPromisesInTheDefaultLayout) {
    expect_promises_hold(default_layout, ids_to_simulate());
}

TEST(SimulatedCluster, KeepsItsPromisesWithTheCounterAboveTheNode) {
    expect_promises_hold(counter_above_node, ids_to_simulate() / 20);
}

TEST(SimulatedCluster, KeepsItsPromisesWithTicksOfASecond) {
    expect_promises_hold(seconds, ids_to_simulate() / 20);
}

TEST(SimulatedCluster, KeepsItsPromisesWithTicksOfAMicrosecond) {
    expect_promises_hold(microseconds, ids_to_simulate() / 20);
}

// Over the epoch: some clocks read a time before it and are refused until they pass it.
TEST(SimulatedCluster, KeepsItsPromisesFromTheEpochOn) {
    const Random random = seeded_random();
    for (const Layout layout : some_layouts) {
        Cluster cluster(layout, layout.epoch_us() - hour, random);
        while (cluster.true_time() < layout.epoch_us() + hour && !HasFailure()) {
            cluster.turn();
            cluster.pass_time(second);
        }
        cluster.witness().expect_all_distinct();
        EXPECT_GT(cluster.witness().tally().refusals, 0);
        EXPECT_GT(cluster.ids(), 0);
    }
}

// Over the end: the clocks pass it one after the other, then all of them are set back again.
TEST(SimulatedCluster, KeepsItsPromisesUpToTheEndOfTheLayout) {
    const Random random = seeded_random();
    for (const Layout layout : some_layouts) {
        const std::int64_t end = layout.unix_us(layout.last_tick());
        Cluster cluster(layout, end - hour, random);
        while (cluster.true_time() < end + hour && !HasFailure()) {
            cluster.turn();
            cluster.pass_time(second);
        }
        EXPECT_GT(cluster.witness().tally().refusals, 0);

        cluster.set_true_time(end);
        for (int turns = 0; turns < 1'000 && !HasFailure(); ++turns)
            cluster.turn();
        cluster.expect_end();
        cluster.witness().expect_all_distinct();
    }
}

} // namespace
