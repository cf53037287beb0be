// No ID that a client ever received is made again after the server was killed with SIGKILL, and
// IDs go on above all of them.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>

namespace integration {
namespace {

// The WAL writer all but sleeps: what nobody waits for to reach the disk is lost in the crash.
const std::vector<std::string> lazy_wal_writer = {
    "wal_writer_delay = 10s", "wal_writer_flush_after = 1GB", "autovacuum = off"};

// The sequences under load. A stride of 4096 takes a whole millisecond, so that the sequence runs
// ahead of the clock by itself and passes its high-water mark every 1000 IDs.
struct Sequence {
    const char *name;
    const char *definition;
    Id stride;
};
constexpr std::array<Sequence, 4> sequences{{
    {"plain", "CREATE SEQUENCE plain", 1},
    {"cached", "CREATE SEQUENCE cached CACHE 50", 1},
    {"wide", "CREATE SEQUENCE wide INCREMENT 4096", 4096},
    {"wide_cached", "CREATE SEQUENCE wide_cached INCREMENT 1000 CACHE 50", 1000},
}};

// How a client takes its IDs. Only the first kind waits for the disk at the end of a statement.
constexpr std::array<const char *, 3> ways{
    "SET synchronous_commit = on", "SET synchronous_commit = off",
    "BEGIN", // and never COMMIT
};

// A client that makes IDs until its server is killed, and keeps every ID it was given.
class Client {
  public:
    Client(const Server &server, const Sequence &sequence, const char *way, Random random)
        : sequence_(&sequence), session_(server), random_(random) {
        session_.run(way);
        thread_ = std::thread([this] { work(); });
    }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    Client(Client &&) = delete;
    Client &operator=(Client &&) = delete;
    ~Client() {
        stop_ = true;
        thread_.join();
    }

    [[nodiscard]] int received() const { return received_; }
    [[nodiscard]] bool ended() const { return ended_; }

    // Waits for the end that the killed server is to it.
    std::vector<Id> ids_received() {
        while (!ended_)
            pause_between_looks();
        return ids_;
    }

    // Why it ended; of use where it should not have.
    std::string error() {
        ids_received();
        return error_;
    }

    [[nodiscard]] const Sequence &sequence() const { return *sequence_; }

  private:
    void work() {
        constexpr int most_rows = 50;
        try {
            while (!stop_) {
                const int rows = between(random_, 1, most_rows);
                const bool batch = between(random_, 0, 1) == 1;
                const auto some = session_.numbers(batch ? nextvals(sequence_->name, rows)
                                                         : nextval(sequence_->name, rows));
                ids_.insert(ids_.end(), some.begin(), some.end());
                received_ += rows;
            }
        } catch (const std::exception &error) {
            error_ = error.what();
        }
        ended_ = true;
    }

    const Sequence *sequence_;
    Session session_;
    Random random_;
    std::vector<Id> ids_;
    std::string error_;
    std::atomic<int> received_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

// Calls CHECKPOINT over and over until its server is killed.
class Checkpointer {
  public:
    explicit Checkpointer(const Server &server)
        : session_(server), thread_([this] {
              try {
                  while (!stop_)
                      session_.run("CHECKPOINT");
              } catch (const std::exception &) {
                  stop_ = true;
              }
          }) {}
    Checkpointer(const Checkpointer &) = delete;
    Checkpointer &operator=(const Checkpointer &) = delete;
    Checkpointer(Checkpointer &&) = delete;
    Checkpointer &operator=(Checkpointer &&) = delete;
    ~Checkpointer() {
        stop_ = true;
        thread_.join();
    }

  private:
    Session session_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

using Clients = std::vector<std::unique_ptr<Client>>;

// One client for every sequence and way.
Clients start_clients(const Server &server, Random &random) {
    Clients clients;
    for (const Sequence &sequence : sequences)
        for (const char *way : ways)
            clients.push_back(std::make_unique<Client>(server, sequence, way, Random(random())));
    return clients;
}

// Returns once each client has got this many IDs; false if one ended before.
bool wait_for_ids(const Clients &clients, int wanted) {
    const auto pending = [wanted](const auto &client) { return client->received() < wanted; };
    while (std::any_of(clients.begin(), clients.end(), pending)) {
        if (std::any_of(clients.begin(), clients.end(),
                        [](const auto &client) { return client->ended(); }))
            return false;
        pause_between_looks();
    }
    return true;
}

// All IDs that the clients were given of one sequence.
std::vector<Id> ids_received(const Clients &clients, const Sequence &sequence) {
    std::vector<Id> all;
    for (const auto &client : clients) {
        if (&client->sequence() != &sequence)
            continue;
        const std::vector<Id> own = client->ids_received();
        EXPECT_TRUE(increasing(own, sequence.stride)) << "in one session, of " << sequence.name;
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

class CrashUnderLoad : public testing::TestWithParam<bool> {};

TEST_P(CrashUnderLoad, LosesNoId) {
    constexpr int rounds = 10;
    const bool ahead = GetParam();
    Random random = make_random();

    Server server(1, lazy_wal_writer);
    {
        Session session(server);
        session.run("CREATE EXTENSION snowflake");
        for (const Sequence &sequence : sequences) {
            session.run(sequence.definition);
            if (ahead)
                session.run(setval(sequence.name, hour_ahead()));
        }
    }

    std::array<Id, sequences.size()> above{};
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Clients clients = start_clients(server, random);
        std::unique_ptr<Checkpointer> checkpointer;
        if (round % 2 == 1)
            checkpointer = std::make_unique<Checkpointer>(server);

        const bool all_worked = wait_for_ids(clients, between(random, 1, 1500));
        server.kill_all();
        if (!all_worked)
            for (const auto &client : clients)
                ADD_FAILURE() << client->sequence().name << ": " << client->error();

        for (std::size_t i = 0; i < sequences.size(); ++i) {
            const Sequence &sequence = sequences.at(i);
            const std::vector<Id> ids = ids_received(clients, sequence);
            EXPECT_TRUE(disjoint(ids, sequence.stride)) << "of " << sequence.name;
            ASSERT_FALSE(ids.empty());
            const auto [least, greatest] = std::minmax_element(ids.begin(), ids.end());
            EXPECT_GE(*least, above.at(i)) << "of " << sequence.name;
            above.at(i) = *greatest + sequence.stride;
        }
        if (HasFailure())
            return;
        server.start();
    }
}

INSTANTIATE_TEST_SUITE_P(Clock, CrashUnderLoad, testing::Bool(), [](const auto &instance) {
    return std::string(instance.param ? "SequencesAhead" : "SequencesInTime");
});

// What one session does with a sequence s before the crash, and the stride of that sequence.
struct History {
    std::string name;
    Id stride;
    std::vector<std::string> statements;
};

// Whatever the statements return counts as an ID that a client was given.
void expect_to_go_on_above(Server &server, const History &history) {
    SCOPED_TRACE(history.name);
    std::vector<Id> ids;
    {
        Session session(server);
        session.run("DROP SEQUENCE IF EXISTS s");
        for (const std::string &statement : history.statements)
            for (const Id id : session.numbers(statement))
                ids.push_back(id);
        server.kill_all();
    }
    server.start();
    EXPECT_TRUE(disjoint(ids, history.stride));

    const Id next = Session(server).number(nextval("s"));
    EXPECT_GE(next, *std::max_element(ids.begin(), ids.end()) + history.stride);
}

// Histories of a sequence that was set an hour ahead of the clock.
std::vector<History> histories() {
    const std::string one = nextval("s");
    const std::string batch = nextvals("s", 10000);
    const std::string natives = "SELECT pg_catalog.nextval('s')";
    const std::string leap = "SELECT setval('s', snowflake.nextval('s') + 42949672960)"; // 10 s
    const std::string set = setval("s", hour_ahead());
    const std::string create = "CREATE SEQUENCE s";
    const std::string wide = "CREATE SEQUENCE s INCREMENT 4096";
    const std::string lease = "CREATE SEQUENCE s CACHE 50";
    const std::string still_free =
        "DO $$BEGIN PERFORM setval('s', " + std::to_string(hour_ahead()) + ", false); END$$";
    const std::string lazily = "SET synchronous_commit = off";
    const std::string altered = "ALTER SEQUENCE s CACHE 7";
    const std::string restarted = "ALTER SEQUENCE s START WITH 7";
    const std::string unlogged = "ALTER SEQUENCE s SET UNLOGGED";
    const std::string logged = "ALTER SEQUENCE s SET LOGGED";
    return {
        {"committed", 1, {create, set, one}},
        {"in an open transaction", 1, {create, set, "BEGIN", one}},
        {"the first of a sequence", 1, {create, still_free, "BEGIN", one}},
        {"the first, then a checkpoint", 1, {create, still_free, "BEGIN", one, "CHECKPOINT", one}},
        {"in a transaction rolled back", 1, {create, set, "BEGIN", one, "ROLLBACK"}},
        {"without waiting for the disk", 1, {create, set, lazily, one}},
        {"after a checkpoint", 1, {create, set, one, "CHECKPOINT", "BEGIN", one}},
        {"before a checkpoint", 1, {create, set, "BEGIN", one, "CHECKPOINT"}},
        {"around checkpoints",
         1,
         {create, set, "BEGIN", one, "CHECKPOINT", one, "CHECKPOINT", one}},
        {"before a second checkpoint",
         1,
         {create, set, "BEGIN", one, "CHECKPOINT", one, "CHECKPOINT"}},
        // The mark is 1000 milliseconds away, and each of these IDs takes one of them.
        {"up to the mark", 4096, {wide, set, "BEGIN", nextval("s", 999)}},
        {"onto the mark", 4096, {wide, set, "BEGIN", nextval("s", 1000)}},
        {"past the mark", 4096, {wide, set, "BEGIN", nextval("s", 1001)}},
        {"far past the mark", 4096, {wide, set, "BEGIN", nextval("s", 3500)}},
        {"past it after a checkpoint",
         4096,
         {wide, set, one, "CHECKPOINT", "BEGIN", nextval("s", 1500)}},
        {"a batch", 1, {create, set, "BEGIN", batch}},
        {"batches around checkpoints",
         1,
         {create, set, batch, "CHECKPOINT", "BEGIN", batch, one, "CHECKPOINT", batch}},
        {"one after a batch", 1, {create, set, batch, "CHECKPOINT", "BEGIN", one}},
        {"a batch onto the mark", 4096, {wide, set, "BEGIN", nextvals("s", 1000)}},
        {"a batch past the mark", 4096, {wide, set, "BEGIN", nextvals("s", 1001)}},
        {"batches far past the mark",
         4096,
         {wide, set, "BEGIN", nextvals("s", 3500), nextvals("s", 900), "CHECKPOINT", one}},
        {"from a lease", 1, {lease, set, "BEGIN", one, "CHECKPOINT", nextval("s", 60)}},
        {"after setval", 1, {create, set, one, leap, "BEGIN", one}},
        {"after setval in the transaction", 1, {create, set, one, "BEGIN", one, leap, one}},
        {"after ALTER SEQUENCE", 1, {create, set, one, altered, "BEGIN", one}},
        // Rewritten, with what the tuple says of the WAL copied to a file that no record covers.
        {"after ALTER SEQUENCE START", 1, {create, set, one, restarted, "BEGIN", one, one}},
        {"after UNLOGGED and LOGGED", 1, {create, set, one, unlogged, logged, "BEGIN", one, one}},
        {"the server's nextval after ours", 1, {create, set, one, natives, natives}},
        {"ours after the server's nextval", 1, {create, set, natives, "BEGIN", one}},
        {"both by turns", 1, {create, set, one, natives, "CHECKPOINT", natives, "BEGIN", one}},
    };
}

// A record of a sequence holds the whole page in any case, so that nothing hangs on this setting.
class CrashAfter : public testing::TestWithParam<const char *> {};

TEST_P(CrashAfter, GoesOnAboveWhateverWasDoneBefore) {
    std::vector<std::string> settings = lazy_wal_writer;
    settings.push_back(std::string("full_page_writes = ") + GetParam());
    Server server(1, settings);
    Session(server).run("CREATE EXTENSION snowflake");
    for (const History &history : histories())
        expect_to_go_on_above(server, history);
}

INSTANTIATE_TEST_SUITE_P(FullPageWrites, CrashAfter, testing::Values("on", "off"),
                         [](const auto &instance) { return std::string(instance.param); });

// With wal_level = minimal nothing is logged of a sequence in the transaction that makes it; its
// file is written out at the commit.
std::vector<History> histories_without_wal() {
    const std::string one = nextval("s");
    const std::string set = setval("s", hour_ahead());
    const std::string create = "CREATE SEQUENCE s";
    const std::string wide = "CREATE SEQUENCE s INCREMENT 4096";
    const std::string altered = "ALTER SEQUENCE s CACHE 7";
    return {
        {"nothing after it", 1, {"BEGIN", create, set, one, "COMMIT"}},
        {"one after it", 1, {"BEGIN", create, set, one, "COMMIT", "BEGIN", one}},
        {"without an ID in it", 1, {"BEGIN", create, set, "COMMIT", "BEGIN", one}},
        {"then a checkpoint", 1, {"BEGIN", create, set, one, "COMMIT", "CHECKPOINT", "BEGIN", one}},
        {"strides",
         4096,
         {"BEGIN", wide, set, nextval("s", 500), "COMMIT", "BEGIN", nextval("s", 600)}},
        {"a rewritten one",
         1,
         {create, set, one, "BEGIN", altered, nextval("s", 20), "COMMIT", "BEGIN", one}},
    };
}

TEST(Crash, GoesOnAboveWhatWasDoneWithoutWal) {
    std::vector<std::string> settings = lazy_wal_writer;
    settings.insert(settings.end(), {"wal_level = minimal", "max_wal_senders = 0"});
    Server server(1, settings);
    Session(server).run("CREATE EXTENSION snowflake");
    for (const History &history : histories_without_wal())
        expect_to_go_on_above(server, history);
}

// Writing a record takes a transaction ID, and that takes a place in the table of locks. Where none
// is left there is no ID, and the next still needs the record.
TEST(Crash, GoesOnAboveAfterARecordThatFailed) {
    std::vector<std::string> settings = lazy_wal_writer;
    settings.insert(settings.end(), {"max_locks_per_transaction = 10", "max_connections = 10"});
    Server server(1, settings);
    Id last = 0;
    {
        Session session(server);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE SEQUENCE s");
        session.run(setval("s", hour_ahead()));
        session.run(nextval("s"));
        session.run("CHECKPOINT"); // so that a record is due

        Session greedy(server);
        ASSERT_EQ(greedy.sqlstate("SELECT pg_advisory_lock(i) FROM generate_series(1, 1000000) i"),
                  "53200");
        EXPECT_EQ(session.sqlstate(nextval("s")), "53200");
        greedy.run("SELECT pg_advisory_unlock_all()");
        session.run("BEGIN");
        last = session.number(nextval("s"));
        server.kill_all();
    }
    server.start();
    EXPECT_GT(Session(server).number(nextval("s")), last);
}

// A database copied with its sequences: they have the OIDs and the tuples of the originals, which
// tell of WAL that covers the originals alone.
class CrashAfterCopy : public testing::TestWithParam<const char *> {};

TEST_P(CrashAfterCopy, GoesOnAboveInBothDatabases) {
    constexpr std::array<const char *, 2> databases{"original", "copy"};
    Server server(1, lazy_wal_writer);
    Session(server).run("CREATE DATABASE original");
    {
        Session session(server, "original");
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE SEQUENCE s");
        session.run(setval("s", hour_ahead()));
        session.run(nextval("s", 10));
    }
    Session(server).run(std::string("CREATE DATABASE copy TEMPLATE original STRATEGY ") +
                        GetParam());

    std::array<Id, databases.size()> last{};
    {
        std::vector<std::unique_ptr<Session>> sessions;
        for (const char *database : databases) {
            sessions.push_back(std::make_unique<Session>(server, database));
            sessions.back()->run("BEGIN");
        }
        for (int round = 0; round < 10; ++round)
            for (std::size_t i = 0; i < databases.size(); ++i) {
                const Id id = sessions.at(i)->number(nextval("s"));
                EXPECT_GT(id, last.at(i)) << "in the " << databases.at(i);
                last.at(i) = id;
            }
        server.kill_all();
    }
    server.start();
    for (std::size_t i = 0; i < databases.size(); ++i)
        EXPECT_GT(Session(server, databases.at(i)).number(nextval("s")), last.at(i))
            << "in the " << databases.at(i);
}

INSTANTIATE_TEST_SUITE_P(Strategies, CrashAfterCopy, testing::Values("wal_log", "file_copy"),
                         [](const auto &instance) { return std::string(instance.param); });

// The high-water mark costs no more than a second of IDs.
TEST(Crash, PutsASequenceAtMostASecondAheadOfTheClock) {
    Server server(1);
    Session(server).run("CREATE EXTENSION snowflake");
    Session(server).run("CREATE SEQUENCE s");

    const auto began = std::chrono::steady_clock::now();
    const std::int64_t began_ms = unix_ms_now();
    const Id before = Session(server).number(nextval("s"));
    server.kill_all();
    server.start();
    const Id after = Session(server).number(nextval("s"));

    // Where somebody sets the system's clock back meanwhile, the sequence is ahead by that too.
    const auto took = std::chrono::steady_clock::now() - began;
    const std::int64_t took_ms = std::chrono::ceil<std::chrono::milliseconds>(took).count();
    const std::int64_t now_ms = std::max(unix_ms_now(), began_ms + took_ms);
    EXPECT_GT(after, before);
    EXPECT_LE(unix_ms_of(before), now_ms);
    EXPECT_LE(unix_ms_of(after), now_ms + 1000);
}

} // namespace
} // namespace integration
