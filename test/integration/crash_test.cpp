// No ID that a client ever received is made again after the server was killed with SIGKILL, and
// IDs go on above all of them, whatever one session did before.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace integration::crash_test {
namespace {

// The WAL writer hardly ever writes: the crash loses all WAL that no session has flushed.
const std::vector<std::string> lazy_wal_writer = {
    "wal_writer_delay = 10s", "wal_writer_flush_after = 1GB", "autovacuum = off"};

// What one session does with a sequence s before the crash, and the stride of that sequence.
struct History {
    std::string name;
    Id stride;
    std::vector<std::string> statements;
};

// Runs the statements and kills the server. The next ID must be above every number that they
// returned, all of which count as IDs that a client got.
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
        // ALTER SEQUENCE copies the tuple to a new file. The WAL covers the old file only, but the
        // copied log_cnt claims the same for the new one.
        {"after ALTER SEQUENCE START", 1, {create, set, one, restarted, "BEGIN", one, one}},
        {"after UNLOGGED and LOGGED", 1, {create, set, one, unlogged, logged, "BEGIN", one, one}},
        {"the server's nextval after ours", 1, {create, set, one, natives, natives}},
        {"ours after the server's nextval", 1, {create, set, natives, "BEGIN", one}},
        {"both by turns", 1, {create, set, one, natives, "CHECKPOINT", natives, "BEGIN", one}},
    };
}

// full_page_writes must make no difference, because every record of a sequence holds its whole
// page.
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

// With wal_level = minimal the server logs nothing of a sequence in the transaction that makes it.
// It writes the sequence's file out at the commit instead.
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

// A copied database has sequences with the OIDs and the tuples of the originals. Their tuples tell
// of WAL that covers only the originals.
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
    Session(server).run("ALTER DATABASE copy SET snowflake.node = 2"); // 1 is that of the original

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

// The high-water mark, on which a crash puts the sequence, is a second ahead at most.
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

    // If the system's clock is set back meanwhile, the sequence is ahead by that much more.
    const auto took = std::chrono::steady_clock::now() - began;
    const std::int64_t took_ms = std::chrono::ceil<std::chrono::milliseconds>(took).count();
    const std::int64_t now_ms = std::max(unix_ms_now(), began_ms + took_ms);
    EXPECT_GT(after, before);
    EXPECT_LE(unix_ms_of(before), now_ms);
    EXPECT_LE(unix_ms_of(after), now_ms + 1000);
}

} // namespace
} // namespace integration::crash_test
