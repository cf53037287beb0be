// A simulated cluster, whose clocks drift, stall and jump, whose instances crash and are
// renumbered, and whose users reset sequences while other sessions wait for them. It shows that
// every promise about IDs holds for each of millions of them: (a) they increase, (b) none is made
// twice, (c) none is further ahead of the clock than there is reason for, and (d) the end of the
// layout is the end. SNOWFLAKE_SIMULATED_IDS says how many.
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

namespace unit::simulated_cluster_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr std::int64_t millisecond = 1'000; // in microseconds, as all times here
constexpr std::int64_t second = 1'000 * millisecond;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t year = 8'766 * hour;

std::size_t index(int number) {
    return static_cast<std::size_t>(number);
}

constexpr int instance_count = 64;
constexpr int sequence_count = 8;

// How far the processors of one instance are from its clock at most: two of them may differ by
// clock_skew_us.
constexpr std::int64_t processor_skew = 50;

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
        return set_to_ + running + running * drift_ppm_ / 1'000'000;
    }

    // Sets the clock to at most half an hour off the true time. A jump may therefore be an hour
    // long, forward or back.
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

// What one instance keeps of one sequence: its tuple, and what the disk has of it.
struct Tuple {
    SequenceState state{.last = no_id, .reset = true}; // as CREATE SEQUENCE leaves it
    Id mark = no_id;                                   // the high-water mark
    bool written_out = true;                           // by a checkpoint, since the mark was logged
    bool logged = true;                                // else a crash leaves nothing
    SequenceState written = state; // what a crash would leave if all WAL were on disk
    SequenceState on_disk = state; // what a crash leaves
    bool lost = false;             // whether a crash has lost what covered IDs that were handed out

    // Logs when the mark is passed, and after a checkpoint.
    void advance(Layout layout, Id last) {
        state = {.last = last, .reset = false};
        if (written_out || last > mark)
            log(high_water_mark(layout, last));
    }

    // Does what setval, TRUNCATE and ALTER SEQUENCE do.
    void set(Id last) {
        state = {.last = last, .reset = true};
        log(last);
        flush();
        lost = false;
    }

    void log(Id last) {
        mark = last;
        written = {.last = last, .reset = true};
        written_out = false;
    }

    void flush() { on_disk = written; }

    void checkpoint() {
        on_disk = written = state;
        written_out = true;
    }

    void recover() {
        lost = lost || on_disk.last != written.last;
        state = written = on_disk;
        mark = state.last;
        written_out = !state.reset; // without a record to replay, the page is as it was written out
    }
};

// How far ahead of the clock a sequence may be on one instance, and why. This is reckoned without
// the generator, from what sessions asked for and what befell the sequence since the clock last
// read a time beyond all that there was reason for. Since then the sequence may have used the
// counters that were asked for, a second for each crash, the rest of a tick for each change to a
// lower node, and a closed tick for each session that gave up waiting. A session that finds the
// sequence reset takes its clock to be ahead by clock_skew_us, and crashes and closed ticks count
// from there.
struct Lead {
    std::int64_t since = 0; // the tick that the clock read then
    std::int64_t counters_asked = 0;
    std::int64_t crashes = 0;
    std::int64_t renumberings = 0;
    std::int64_t waits_given_up = 0;

    // Counters from the layout's epoch up to which there is reason for IDs, exclusive.
    [[nodiscard]] std::int64_t allowed(Layout layout) const {
        const std::int64_t capacity = std::int64_t{layout.last_counter()} + 1;
        const std::int64_t skew = (clock_skew_us + layout.tick_us() - 1) / layout.tick_us();
        const std::int64_t ticks = since + crashes * (layout.ticks_per_second() + skew) +
                                   renumberings + waits_given_up * (1 + skew);
        return ticks * capacity + counters_asked;
    }

    // Notes that a user put the sequence into this tick.
    void set_to(Layout layout, std::int64_t tick) { clock_read(layout, tick + 1); }

    void clock_read(Layout layout, std::int64_t now) {
        if (now * (std::int64_t{layout.last_counter()} + 1) >= allowed(layout))
            *this = {.since = now};
    }
};

// What was seen of one sequence on one instance.
struct History {
    Id greatest = no_id;       // the greatest ID handed out or set, with the rest of its stride
    std::int64_t reached = -1; // the last tick handed out from, set to or closed
    std::int64_t closed = -1;  // the tick that was closed last
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

// How often each kind of event happened. It shows that the simulation met what it is for.
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
    std::int64_t closed = 0;          // a session found the sequence reset and closed the tick
    std::int64_t closed_with_ids = 0; // .. and IDs of this very tick had been handed out
    std::int64_t set_ahead = 0;       // .. or found it set ahead of the clock, and went on
    std::int64_t waited = 0;          // another session found the tick closed
    std::int64_t gave_up = 0;         // the clock did not leave the closed tick
    std::int64_t set_down = 0;        // setval, TRUNCATE
    std::int64_t set_up = 0;
    std::int64_t lost = 0;         // a crash left nothing of the sequence
    std::int64_t lost_records = 0; // a crash lost the record of IDs that were not committed
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
         {"node raised within a tick", tally.node_raised},
         {"ticks closed", tally.closed},
         {"ticks closed that had IDs", tally.closed_with_ids},
         {"found reset ahead of the clock", tally.set_ahead},
         {"closed ticks found", tally.waited},
         {"waits given up", tally.gave_up},
         {"set down", tally.set_down},
         {"set up", tally.set_up},
         {"lost in a crash", tally.lost},
         {"records lost in a crash", tally.lost_records}});
    for (const auto &[what, times] : rows)
        out << "  " << what << ": " << times << '\n';
    return out;
}

// A session that asks for IDs of one sequence, and that may be held up on the way.
struct Session {
    int instance;
    int sequence;
    std::int64_t processor;      // how far its processor is from the clock of the instance
    Request request;             // its time is filled in when the session gets the sequence
    std::int64_t read_us;        // the clock, when the session read it last
    std::int64_t now_us;         // the time that the session takes it to be
    std::int64_t goes_on_at = 0; // true time, whatever the clock says
    bool waits = false;
    std::int64_t closed_tick = -1; // that it waits for, or has waited for
};

// Checks the promises. The witness sees what was asked for and what came, and what befell an
// instance or a sequence; it does not see the state of the sequences.
class Witness {
  public:
    explicit Witness(Layout layout)
        : layout_(layout), holders_(static_cast<std::size_t>(layout.last_node()) + 1, nobody) {}

    [[nodiscard]] const Tally &tally() const { return tally_; }
    [[nodiscard]] Tally &tally() { return tally_; }

    // The greatest ID that a table of the user's can have.
    [[nodiscard]] Id greatest(int instance, int sequence) const {
        return seen_.at(index(instance)).at(index(sequence)).greatest;
    }

    // A node number belongs to the first instance that takes it, for good.
    void node_taken(int instance, std::int64_t node) {
        int &holder = holders_.at(static_cast<std::size_t>(node));
        ASSERT_TRUE(holder == nobody || holder == instance) << "the simulation itself is wrong";
        holder = instance;
    }

    void crashed(int instance) {
        for (History &seen : seen_.at(index(instance)))
            if (std::exchange(seen.used_since_crash, false))
                ++seen.lead.crashes;
    }

    // Notes that a user set a sequence to an ID that is above every one before.
    void set_up(int instance, int sequence, Id last) {
        History &seen = seen_.at(index(instance)).at(index(sequence));
        seen.greatest = last;
        seen.reached = std::max(seen.reached, layout_.tick_of(last));
        seen.lead.set_to(layout_, layout_.tick_of(last));
    }

    void gave_up(const Session &session) {
        ++tally_.gave_up;
        ++seen_.at(index(session.instance)).at(index(session.sequence)).lead.waits_given_up;
    }

    void answered(const Session &session, bool was_reset, const Decision &got) {
        History &seen = seen_.at(index(session.instance)).at(index(session.sequence));
        if (::testing::Test::HasFailure())
            return; // the first is the one to look at
        seen.lead.clock_read(layout_, layout_.tick_at(session.read_us));
        switch (got.action) {
        case Action::refuse:
            expect_refusal_is_justified(seen, session.request, got.reserved.refusal);
            break;
        case Action::close:
            expect_closing_is_justified(seen, session, was_reset, got);
            break;
        case Action::wait:
            ++tally_.waited;
            EXPECT_EQ(got.closed_tick, seen.closed) << "a wait for a tick that nobody closed";
            EXPECT_GE(got.closed_tick, session.request.now) << "a wait for a tick that is over";
            EXPECT_GT(got.closed_tick, session.closed_tick) << "a second wait for one tick";
            break;
        case Action::hand_out:
            tally_.set_ahead += was_reset;
            expect_ids(session.instance, session.sequence, seen, session.request, got.reserved);
            break;
        }
        if (::testing::Test::HasFailure())
            describe(session, seen, got);
    }

    // Checks promise (b) once more, without any trust in fields: no number was made twice for a
    // sequence.
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

    // Checks (a) and (b) ID by ID, then (c) and what a reservation promises as a whole.
    void expect_ids(int instance, int sequence, History &seen, const Request &request,
                    const Reservation &got) {
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
        seen.reached = layout_.tick_of(got.last);
        expect_no_undue_lead(seen, request, got);
        seen.node = request.node;
        seen.used_since_crash = true;
    }

    // Checks (c).
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
            << seen.lead.crashes << " crashes, " << seen.lead.renumberings << " renumberings, "
            << seen.lead.waits_given_up << " waits given up";
    }

    // Expects that a session closes only the tick of its clock, and only where it found the
    // sequence reset.
    void expect_closing_is_justified(History &seen, const Session &session, bool was_reset,
                                     const Decision &got) {
        ++tally_.closed;
        tally_.closed_with_ids += got.closed_tick == seen.reached;
        ASSERT_TRUE(was_reset);
        ASSERT_EQ(got.closed_tick, layout_.tick_at(session.read_us + clock_skew_us));
        ASSERT_EQ(layout_.tick_of(got.last), got.closed_tick);
        ASSERT_EQ(layout_.node_of(got.last), 0) << "(b) an ID that a node can make";
        seen.closed = got.closed_tick;
        seen.reached = std::max(seen.reached, got.closed_tick);
        seen.used_since_crash = true;
    }

    // Expects refusals only at the two ends of the layout.
    void expect_refusal_is_justified(const History &seen, const Request &request, Refusal why) {
        ++tally_.refusals;
        if (why == Refusal::before_epoch) {
            ASSERT_LT(request.now, 0);
            return;
        }
        ASSERT_EQ(why, Refusal::exhausted);
        if (request.now > layout_.last_tick())
            return;
        // The sequence is in the last tick, or a crash put it on the mark at the end, or a batch
        // takes more ticks than are left.
        const std::int64_t fitting = (std::int64_t{layout_.last_counter()} + 1) / request.stride;
        const std::int64_t more_ticks = request.batch ? (request.wanted - 1) / fitting + 1 : 0;
        ASSERT_TRUE(seen.reached >= 0 || request.now + more_ticks > layout_.last_tick())
            << "exhausted before it began";
        const std::int64_t begins = std::max(
            std::max<std::int64_t>(seen.reached, 0) + layout_.ticks_per_second() - 1, request.now);
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

    static void describe(const Session &session, const History &seen, const Decision &decision) {
        const Request &request = session.request;
        const Reservation &got = decision.reserved;
        std::cout << "instance " << session.instance << ", sequence " << session.sequence
                  << ", greatest seen " << seen.greatest << "; asked: now " << request.now
                  << ", node " << request.node << ", stride " << request.stride << ", wanted "
                  << request.wanted << ", batch " << request.batch << "; got: action "
                  << static_cast<int>(decision.action) << ", refusal "
                  << static_cast<int>(got.refusal) << ", first " << got.first << ", last "
                  << got.last << ", step " << got.step << ", count " << got.count
                  << ", closed tick " << decision.closed_tick << '\n';
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
    std::array<Tuple, sequence_count> sequences{};
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
            instances_.back().sequences.back().logged = false;
        }
    }

    [[nodiscard]] std::int64_t true_time() const { return true_time_; }
    [[nodiscard]] Witness &witness() { return witness_; }
    [[nodiscard]] std::int64_t ids() const { return witness_.tally().ids; }

    void set_true_time(std::int64_t true_time) {
        true_time_ = true_time;
        for (int i = 0; i < instance_count; ++i)
            jump(i);
    }

    void pass_time(std::int64_t duration) {
        true_time_ += duration;
        let_sessions_go_on();
    }

    // Lets some instance be busy for a moment. Something may befall it meanwhile.
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
        sessions_.clear();
        for (Instance &instance : instances_)
            instance.sequences.back().logged = true; // else it would not know that it was there
        for (int i = 0; i < instance_count; ++i)
            for (int sequence = 0; sequence < sequence_count; ++sequence)
                expect_end_of(i, sequence);
    }

  private:
    void expect_end_of(int i, int sequence) {
        Session session = begin(i, sequence);
        const auto ask_at = [&](std::int64_t tick) {
            session.read_us = session.now_us = layout_.unix_us(tick);
            const Action action = ask(session);
            commit_everything(i); // because the clock goes anywhere
            return action;
        };
        session.request.stride = 1;
        session.request.wanted = std::int64_t{layout_.last_counter()} + 1;
        session.request.batch = false;
        // A sequence that was set back, or has lost a record, goes by the clock, which goes
        // anywhere in this test. A crash would take a closed tick back, and what is left in it is
        // new.
        if (goes_by_the_clock(tuple(session), witness_.greatest(i, sequence)) ||
            is_closed(layout_, tuple(session).state.last, 0)) {
            set(i, sequence, layout_.last_id());
            witness_.set_up(i, sequence, layout_.last_id());
        }
        for (int lease = 0; ask_at(layout_.last_tick()) == Action::hand_out; ++lease)
            ASSERT_LT(lease, 1) << "(d) the last tick holds no more than one full lease";
        for (int again = 0; again < 100; ++again) {
            session.request.stride = random_stride();
            session.request.wanted = random_wanted();
            session.request.batch = random_.one_in(4);
            ASSERT_NE(ask_at(random_.between(0, layout_.last_tick() + 1)), Action::hand_out)
                << "(d) an ID after the end";
            if (random_.one_in(10))
                crash(i);
        }
    }

    void befall(int i) {
        Instance &instance = instances_.at(index(i));
        if (random_.one_in(40))
            jump(i);
        if (random_.one_in(40))
            instance.clock.stall(true_time_, random_.of_any_size(10 * minute));
        if (random_.one_in(40))
            crash(i);
        if (random_.one_in(40))
            renumber(i);
        if (random_.one_in(20))
            for (Tuple &sequence : instance.sequences)
                sequence.checkpoint();
    }

    // Sets the clock of an instance. The clock alone keeps the IDs of a sequence that was set back
    // above the earlier ones, and IDs that were lost with their record. A user who sets the clock
    // back must therefore first set such a sequence to the greatest ID in the table, and what is
    // not committed may be made again.
    void jump(int i) {
        commit_everything(i);
        for (int sequence = 0; sequence < sequence_count; ++sequence) {
            const Id greatest = witness_.greatest(i, sequence);
            if (goes_by_the_clock(instances_.at(index(i)).sequences.at(index(sequence)), greatest))
                set(i, sequence, greatest);
        }
        instances_.at(index(i)).clock.jump(true_time_, random_);
    }

    // Tells whether the sequence itself, or what a crash leaves of it, is not above its greatest
    // ID.
    static bool goes_by_the_clock(const Tuple &tuple, Id greatest) {
        return tuple.state.reset || tuple.lost || tuple.on_disk.last < greatest;
    }

    void commit_everything(int i) {
        for (Tuple &sequence : instances_.at(index(i)).sequences)
            sequence.flush();
    }

    // Crashes an instance, which is back no sooner than a server can be. Nothing is promised of IDs
    // that are not committed under a clock that stood still meanwhile.
    void crash(int i) {
        Instance &instance = instances_.at(index(i));
        const std::int64_t back_at = true_time_ + shortest_restart_us;
        const std::int64_t passed = instance.clock.read(back_at) - instance.clock.read(true_time_);
        if (passed < shortest_restart_us / 2)
            commit_everything(i);
        std::erase_if(sessions_, [i](const Session &session) { return session.instance == i; });
        witness_.crashed(i);
        for (int sequence = 0; sequence < sequence_count; ++sequence) {
            Tuple &tuple = instance.sequences.at(index(sequence));
            if (tuple.logged) {
                witness_.tally().lost_records += tuple.on_disk.last != tuple.written.last;
                tuple.recover();
                continue;
            }
            ++witness_.tally().lost;
            set(i, sequence, lowest_possible(i, sequence, no_id));
        }
        true_time_ = back_at;
    }

    // Resets a sequence in any of the ways that users have.
    void reset(int i, int sequence) {
        const Id greatest = witness_.greatest(i, sequence);
        switch (random_.between(0, 4)) {
        case 0: // TRUNCATE, RESTART
            return set_down(i, sequence, no_id);
        case 1: // setval, to any number
            return set_down(i, sequence, random_.of_any_size(std::max<Id>(greatest, 0)));
        case 2: // .. mostly to one of the same tick
            return set_down(i, sequence,
                            greatest - random_.of_any_size(layout_.last_id_of_tick(0)));
        case 3: // setval, to the greatest ID in the table; ALTER SEQUENCE
            return set(i, sequence, greatest);
        default:
            set_up(i, sequence);
        }
    }

    void set(int i, int sequence, Id last) {
        instances_.at(index(i)).sequences.at(index(sequence)).set(last);
    }

    void set_down(int i, int sequence, Id last) {
        ++witness_.tally().set_down;
        set(i, sequence, lowest_possible(i, sequence, last));
    }

    // Sets a sequence to an ID of some other layout or program, up to ten seconds ahead of the
    // greatest ID.
    void set_up(int i, int sequence) {
        const Id greatest = std::max<Id>(witness_.greatest(i, sequence), 0);
        const std::int64_t ticks = random_.of_any_size(10 * layout_.ticks_per_second());
        const Id last = greatest + random_.of_any_size(std::min(layout_.last_id_of_tick(ticks),
                                                                layout_.last_id() - greatest));
        if (last > layout_.first_id_of_tick(layout_.last_tick()))
            return;
        ++witness_.tally().set_up;
        set(i, sequence, last);
        witness_.set_up(i, sequence, last);
    }

    // Returns the lowest ID, from last on, to which a user may set a sequence. Nothing is promised
    // for a sequence that is set back while it is ahead of the clock. The user sets such a sequence
    // to the greatest ID in the table.
    [[nodiscard]] Id lowest_possible(int i, int sequence, Id last) const {
        const Id greatest = witness_.greatest(i, sequence);
        const std::int64_t clock = instances_.at(index(i)).clock.read(true_time_);
        const bool ahead =
            greatest >= 0 && layout_.tick_of(greatest) > layout_.tick_at(clock + processor_skew);
        return ahead ? greatest : last;
    }

    // Gives an instance another number. No other instance may ever have held it, because the IDs
    // made under it still exist.
    void renumber(int i) {
        Instance &instance = instances_.at(index(i));
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

    // Returns a time that is mostly less than a millisecond, so that calls meet in one tick, and
    // sometimes up to a minute.
    std::int64_t random_moment() {
        if (random_.one_in(256))
            return random_.of_any_size(minute);
        return random_.one_in(2) ? 0 : random_.between(0, millisecond / 2);
    }

    // Lets a session ask: at once, or held up after it has read the clock.
    void call(int i, int sequence) {
        Session session = begin(i, sequence);
        if (random_.one_in(8)) {
            session.goes_on_at = true_time_ + random_.of_any_size(10 * millisecond);
            sessions_.push_back(session);
        } else {
            proceed(session);
        }
        if (random_.one_in(100))
            reset(i, sequence);
    }

    Session begin(int i, int sequence) {
        Session session{.instance = i,
                        .sequence = sequence,
                        .processor = random_.between(-processor_skew, processor_skew),
                        .request = {.now = 0,
                                    .node = instances_.at(index(i)).node,
                                    .stride = random_stride(),
                                    .wanted = random_wanted(),
                                    .batch = random_.one_in(4)},
                        .read_us = 0,
                        .now_us = 0};
        session.now_us = session.read_us = read_clock(session);
        return session;
    }

    void proceed(Session session) {
        const Tuple &state = tuple(session);
        if (state.state.reset) { // reads the clock while it holds the sequence
            session.read_us = read_clock(session);
            session.now_us = session.read_us + clock_skew_us;
        }
        const Action action = ask(session);
        if (action != Action::close && action != Action::wait)
            return;
        session.waits = true;
        session.closed_tick = layout_.tick_of(state.state.last);
        session.goes_on_at = true_time_ + layout_.tick_us() + patience_us;
        sessions_.push_back(session);
    }

    // Lets those sessions go on whose time has come. They may have to wait again.
    void let_sessions_go_on() {
        std::vector<Session> ready;
        std::erase_if(sessions_, [&](const Session &session) {
            const bool goes_on = true_time_ >= session.goes_on_at || is_over(session);
            if (goes_on)
                ready.push_back(session);
            return goes_on;
        });
        for (Session &session : ready) {
            if (session.waits) {
                if (!is_over(session))
                    witness_.gave_up(session);
                session.waits = false;
                session.read_us = read_clock(session);
                session.now_us = time_after(layout_, session.closed_tick, session.read_us);
            }
            proceed(session);
        }
    }

    // Tells whether the session waits for a tick that its clock has left.
    [[nodiscard]] bool is_over(const Session &session) const {
        return session.waits && read_clock(session) >= layout_.unix_us(session.closed_tick + 1);
    }

    [[nodiscard]] std::int64_t read_clock(const Session &session) const {
        return instances_.at(index(session.instance)).clock.read(true_time_) + session.processor;
    }

    Tuple &tuple(const Session &session) {
        return instances_.at(index(session.instance)).sequences.at(index(session.sequence));
    }

    // Lets a session that holds the sequence ask the rule, and write what it decides.
    Action ask(Session &session) {
        Tuple &state = tuple(session);
        session.request.now = layout_.tick_at(session.now_us);
        const bool was_reset = state.state.reset;
        const Decision decision = decide_next_id(layout_, state.state, session.request);
        if (decision.action == Action::hand_out || decision.action == Action::close)
            state.advance(layout_, decision.last);
        // Nothing is promised of an ID that is not committed if the clock went back meanwhile.
        const bool commits = random_.one_in(2) || read_clock(session) < session.read_us;
        if (decision.action == Action::hand_out &&
            (commits || needs_record(layout_, decision.last, session.read_us)))
            state.flush();
        witness_.answered(session, was_reset, decision);
        return decision.action;
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
    std::vector<Session> sessions_; // that are held up, or wait for a tick to end
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
    EXPECT_GT(tally.closed, 0);
    if (layout.tick_us() >= millisecond) { // an ID and a reset hardly ever meet in a shorter tick
        EXPECT_GT(tally.closed_with_ids, 0);
    }
    EXPECT_GT(tally.set_ahead, 0);
    EXPECT_GT(tally.waited, 0);
    EXPECT_GT(tally.gave_up, 0);
    EXPECT_GT(tally.set_down, 0);
    EXPECT_GT(tally.set_up, 0);
    EXPECT_GT(tally.lost, 0);
    EXPECT_GT(tally.lost_records, 0);
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

// The time passes the epoch. Instances whose clocks read a time before it are refused until then.
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

// The time passes the end of the layout, one clock after the other, and then all clocks are set
// back.
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
} // namespace unit::simulated_cluster_test
