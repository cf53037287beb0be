// The clock of a running server is set back, ahead, before the epoch, and stopped, also across
// crashes and restarts. No ID is made twice or out of order, none is older than its call, and none
// is farther ahead of the clock than the number of IDs that were asked for explains.
#include "fake_clock.hpp"
#include "load.hpp"
#include "server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace integration::clock_test {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds day = 24h;
constexpr milliseconds year = 365 * day;

// 4096 IDs fit into a millisecond.
constexpr Id capacity = 4096;

// The most that a sequence is put ahead by a crash.
constexpr std::int64_t crash_ms = 1000;

// Reads the server's clock, in Unix milliseconds.
std::int64_t clock_of(Session &session) {
    return session.number("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
}

struct Sequence {
    std::string name;
    std::string definition;
    Id stride;
    bool leased; // with a lease, order holds within a session only
};
const std::array<Sequence, 4> sequences{{
    {"plain", "CREATE SEQUENCE plain", 1, false},
    {"cached", "CREATE SEQUENCE cached CACHE 50", 1, true},
    {"wide", "CREATE SEQUENCE wide INCREMENT 100", 100, false},
    {"unlogged", "CREATE UNLOGGED SEQUENCE unlogged", 1, false},
}};

// One sequence of a server, two sessions that take IDs of it by turns, and all the IDs they got.
class Witness {
  public:
    Witness(Server &server, Sequence sequence) : server_(&server), sequence_(std::move(sequence)) {
        connect();
    }

    void connect() {
        for (auto &session : sessions_)
            session = std::make_unique<Session>(*server_);
    }
    void disconnect() {
        for (auto &session : sessions_)
            session.reset();
    }

    // Takes IDs in both sessions. No ID may be before the clock. None may be after the clock and
    // the greatest ID so far by more milliseconds than the IDs fill, and put_ahead_ms, by which a
    // crash may have put the sequence ahead.
    void take(int rows, std::int64_t put_ahead_ms = 0) {
        SCOPED_TRACE("of " + sequence_.name);
        for (std::size_t i = 0; i < sessions_.size(); ++i) {
            const std::int64_t before_ms = clock_of(*sessions_.at(i));
            const auto ids = sessions_.at(i)->numbers(nextval(sequence_.name, rows));
            const std::int64_t after_ms = clock_of(*sessions_.at(i));
            // The end of a millisecond may shorten a lease, and a session may give up its rest.
            const Id reserved = sequence_.leased ? rows + 100 : rows;
            const Id filled_ms = reserved / (capacity / sequence_.stride) + 1;

            EXPECT_TRUE(increasing(ids, sequence_.stride));
            EXPECT_GE(unix_ms_of(ids.front()), before_ms) << "older than its call";
            EXPECT_LE(unix_ms_of(ids.back()),
                      std::max(after_ms, last_ms()) + filled_ms + put_ahead_ms);
            EXPECT_GE(ids.front(), sequence_.leased ? above_.at(i) : greatest_ + sequence_.stride);
            above_.at(i) = ids.back() + sequence_.stride;
            greatest_ = std::max(greatest_, ids.back());
            all_.insert(all_.end(), ids.begin(), ids.end());
        }
    }

    // From now on both sessions must go on above every ID so far. Leases end with their sessions.
    void expect_all_above() { above_.fill(greatest_ + sequence_.stride); }

    // The millisecond of the greatest ID so far; 0 if there is none.
    [[nodiscard]] std::int64_t last_ms() const { return greatest_ < 0 ? 0 : unix_ms_of(greatest_); }

    void expect_disjoint() const {
        EXPECT_TRUE(disjoint(all_, sequence_.stride)) << "of " << sequence_.name;
    }

    Session &session() { return *sessions_.front(); }
    [[nodiscard]] const Sequence &sequence() const { return sequence_; }

  private:
    Server *server_;
    Sequence sequence_;
    std::array<std::unique_ptr<Session>, 2> sessions_;
    std::array<Id, 2> above_{};
    Id greatest_ = -capacity;
    std::vector<Id> all_;
};

class Clock : public testing::Test {
  protected:
    void SetUp() override {
        if (!FakeClock::available())
            GTEST_SKIP() << "libfaketime is not installed";
        clock_.emplace(directory_.path());
        server_.emplace(1, std::vector<std::string>{"autovacuum = off", "fsync = off"},
                        clock_->launcher());
        Session session(*server_);
        session.run("CREATE EXTENSION snowflake");
        for (const Sequence &sequence : sequences) {
            session.run(sequence.definition);
            witnesses_.emplace_back(*server_, sequence);
        }
        take();
    }

    void TearDown() override {
        for (const Witness &witness : witnesses_)
            witness.expect_disjoint();
    }

    // Takes IDs of all sequences, which a crash may have put ahead by put_ahead_ms.
    void take(std::int64_t put_ahead_ms = 0) {
        constexpr int some = 200;
        for (Witness &witness : witnesses_)
            witness.take(some, put_ahead_ms);
    }

    // Sets the clock, and checks that the server shows it.
    void differ_by(milliseconds offset) {
        clock_->differ_by(offset);
        expect_to_differ_by(offset);
    }
    void expect_to_differ_by(milliseconds offset) {
        const std::int64_t before_ms = unix_ms_now();
        const std::int64_t shown_ms = clock_of(session());
        EXPECT_GE(shown_ms, before_ms + offset.count() - 1);
        EXPECT_LE(shown_ms, unix_ms_now() + offset.count() + 1);
    }
    void stand_still_at(std::int64_t unix_ms) {
        clock_->stand_still_at(unix_ms);
        EXPECT_EQ(clock_of(session()), unix_ms);
    }

    // Ends the server, by a crash or cleanly, sets its clock, and starts it again.
    template <typename Set>
    void crash(Set set_clock) {
        server().kill_all();
        // An unlogged sequence begins anew after a crash. Only the clock keeps its IDs above the
        // earlier ones, and the test may set the clock back: it follows that sequence no longer.
        std::erase_if(witnesses_,
                      [](const Witness &one) { return one.sequence().name == "unlogged"; });
        restart(set_clock);
        for (Witness &witness : witnesses_)
            witness.expect_all_above();
    }
    template <typename Set>
    void shut_down(Set set_clock) {
        server().stop();
        restart(set_clock);
        for (Witness &witness : witnesses_)
            witness.expect_all_above();
    }

    FakeClock &clock() { return clock_.value(); }
    Server &server() { return server_.value(); }
    Session &session() { return witnesses_.front().session(); }
    std::vector<Witness> &witnesses() { return witnesses_; }

  private:
    template <typename Set>
    void restart(Set set_clock) {
        for (Witness &witness : witnesses_)
            witness.disconnect();
        set_clock();
        server().start();
        for (Witness &witness : witnesses_)
            witness.connect();
    }

    TemporaryDirectory directory_;
    std::optional<FakeClock> clock_;
    std::optional<Server> server_;
    std::vector<Witness> witnesses_;
};

// The clock stands still before and after each step, so that a slow machine sees the step as well.
TEST_F(Clock, MayStepBackWhileTheServerRuns) {
    for (const milliseconds step : {milliseconds(1ms), milliseconds(1s), milliseconds(1h)}) {
        SCOPED_TRACE(std::to_string(step.count()) + " ms");
        // A day beyond where the steps before have left the sequences.
        const std::int64_t from_ms = witnesses().front().last_ms() + day.count();
        stand_still_at(from_ms);
        take();
        stand_still_at(from_ms - step.count());
        take();
        for (const Witness &witness : witnesses())
            EXPECT_GE(witness.last_ms(), from_ms);
        stand_still_at(from_ms + step.count());
        take();
    }
}

TEST_F(Clock, MayStepBackByADayAcrossACrash) {
    take();
    crash([&] { clock().differ_by(-day); });
    expect_to_differ_by(-day);
    take(crash_ms);
    take();
}

// The commit that stores a bound flushes what the sequence has reserved, so no ID comes below the
// bound, wherever the clock is. A bound that a reader keeps elsewhere has no such flush: only the
// clock keeps new IDs above it.
TEST_F(Clock, MayStepBackAcrossACrashWhileBoundsAreInATable) {
    session().run("CREATE TABLE bounds (sequence regclass, bound bigint)");
    session().run("INSERT INTO bounds SELECT s, snowflake.low_watermark(s) "
                  "FROM unnest('{plain,cached,wide}'::regclass[]) s");
    crash([&] { clock().differ_by(-day); });
    EXPECT_EQ(session().number("SELECT count(bound) FROM bounds"), 3);
    EXPECT_EQ(
        session().number("SELECT count(*) FROM bounds WHERE snowflake.nextval(sequence) < bound"),
        0);
}

TEST_F(Clock, MayStepBackByADayAcrossARestart) {
    take();
    shut_down([&] { clock().differ_by(-day); });
    expect_to_differ_by(-day);
    take();
}

// A sequence that was used meanwhile stays in that year. Another one starts in the present.
TEST_F(Clock, MayBeAYearAheadForAWhile) {
    differ_by(year);
    take();
    differ_by(0ms);
    take();
    session().run("CREATE SEQUENCE unused");
    const Id present = session().number(nextval("unused"));
    EXPECT_LE(unix_ms_of(present), clock_of(session()));
    for (const Witness &witness : witnesses())
        EXPECT_GT(witness.last_ms(), clock_of(session()) + (year - day).count());

    crash([] {});
    take(crash_ms);
    shut_down([&] { clock().differ_by(year + day); });
    take();
}

void expect_to_fail(Witness &witness, const std::string &sqlstate) {
    const std::string sequence = witness.sequence().name;
    const std::string state =
        "SELECT concat_ws(' ', last_value, log_cnt, is_called) FROM " + sequence;
    Session &session = witness.session();
    const std::string before = session.text(state);
    EXPECT_EQ(session.sqlstate(nextval(sequence)), sqlstate) << "of " << sequence;
    EXPECT_EQ(session.sqlstate("SELECT * FROM snowflake.nextvals('" + sequence + "', 10)"),
              sqlstate)
        << "of " << sequence;
    EXPECT_EQ(session.text(state), before) << "of " << sequence;
}

TEST_F(Clock, BeforeTheEpochIsAnErrorUntilItIsMended) {
    stand_still_at(unix_ms_of(0) - 1);
    for (Witness &witness : witnesses())
        expect_to_fail(witness, "22008");
    crash([] {});
    for (Witness &witness : witnesses())
        expect_to_fail(witness, "22008");

    // The epoch itself is the first millisecond that has IDs.
    stand_still_at(unix_ms_of(0));
    take(crash_ms);
    differ_by(0ms);
    take();
}

TEST_F(Clock, AfterTheLastTimestampIsAnErrorUntilItIsMended) {
    constexpr std::int64_t timestamps = std::int64_t{1} << 41;
    stand_still_at(unix_ms_of(0) + timestamps);
    for (Witness &witness : witnesses())
        expect_to_fail(witness, "2200H");
    differ_by(0ms);
    take();
}

TEST_F(Clock, MayStandStill) {
    constexpr int often = 20;
    stand_still_at(witnesses().front().last_ms() + day.count());
    for (int i = 0; i < often; ++i)
        take();
    // A new sequence makes its first ID in the next millisecond, but does not wait for it for ever.
    session().run("CREATE SEQUENCE fresh");
    EXPECT_EQ(unix_ms_of(session().number(nextval("fresh"))), clock_of(session()) + 1);

    crash([] {});
    take(crash_ms);
    shut_down([] {});
    take();
}

// Each of these IDs takes a whole millisecond, so the test knows where the sequence stands before
// the crash.
TEST_F(Clock, MayBeOutrunBeforeACrash) {
    constexpr int bulk = 5000;
    const std::int64_t now_ms = witnesses().front().last_ms() + day.count();
    stand_still_at(now_ms);
    session().run("CREATE SEQUENCE bulk INCREMENT 4096");
    const std::string nextvals =
        "SELECT * FROM snowflake.nextvals('bulk', " + std::to_string(bulk) + ")";
    const auto before = session().numbers(nextvals);
    EXPECT_EQ(unix_ms_of(before.back()), now_ms + bulk);

    shut_down([] {});
    const auto after_restart = session().numbers(nextvals);
    EXPECT_EQ(unix_ms_of(after_restart.front()), now_ms + bulk + 1);

    crash([] {});
    const Id after_crash = session().number(nextval("bulk"));
    EXPECT_GE(after_crash, after_restart.back() + capacity);
    EXPECT_LE(unix_ms_of(after_crash), unix_ms_of(after_restart.back()) + crash_ms);
}

TEST_F(Clock, MayStepAnywhereUnderLoad) {
    constexpr int steps = 30;
    constexpr int ids_between = 100;
    const std::array<milliseconds, 8> offsets{0ms, -1ms, -1s, -1h, 1ms, 1s, 1h, -day};
    Random random = make_random();
    std::vector<Task> tasks;
    for (const Sequence &sequence : sequences)
        for (int clients = 0; clients < 2; ++clients)
            tasks.push_back({.sequence = sequence.name, .stride = sequence.stride});

    const Load load(server(), tasks, random);
    for (int step = 1; step <= steps; ++step) {
        load.wait_for_ids(step * ids_between);
        clock().differ_by(offsets.at(
            static_cast<std::size_t>(between(random, 0, static_cast<int>(offsets.size()) - 1))));
    }
    load.stop();
    Book book;
    load.enter_in(book);
    for (Witness &witness : witnesses())
        EXPECT_GE(witness.session().number(nextval(witness.sequence().name)),
                  book.above(witness.sequence().name));
}

} // namespace
} // namespace integration::clock_test
