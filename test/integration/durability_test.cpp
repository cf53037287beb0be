// An ID costs no flush of its own: the commit of the transaction that has used it waits until the
// WAL that covers it is on disk. The server is killed, what was not flushed is lost, and the clock
// is set back a day: the sequence alone must keep the IDs of committed transactions from coming
// again. IDs that were not committed must not come again while the clock does not go back.
#include "fake_clock.hpp"
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace integration::durability_test {
namespace {

using namespace std::chrono_literals;

// The WAL writer hardly ever writes: the crash loses all WAL that no session has flushed.
std::vector<std::string> lazy_wal_writer() {
    return {"wal_writer_delay = 10s", "wal_writer_flush_after = 1GB", "autovacuum = off",
            "max_prepared_transactions = 2", "fsync = off"};
}

// What a session does before the crash, when another session has used the sequence s, and a
// checkpoint has passed: the next ID needs a record.
struct History {
    std::string name;
    std::string definition; // of s
    bool other_writes;      // whether another session writes the record, and commits nothing
    std::vector<std::string> statements;
};

std::vector<History> committed_histories() {
    const std::string create = "CREATE SEQUENCE s";
    const std::string lease = "CREATE SEQUENCE s CACHE 50";
    const std::string one = nextval("s");
    return {
        {"with a row", create, false, {"INSERT INTO t SELECT snowflake.nextval('s') RETURNING id"}},
        {"read only", create, false, {one}},
        {"several at once", create, false, {nextvals("s", 100)}},
        {"by the record of another session", create, true, {one}},
        {"with a row, by the record of another session",
         create,
         true,
         {"INSERT INTO t SELECT snowflake.nextval('s') RETURNING id"}},
        {"with a transaction ID and nothing written",
         create,
         true,
         {"BEGIN", "SELECT pg_current_xact_id()::text::bigint * 0", one, "COMMIT"}},
        {"with rows in an unlogged table",
         create,
         true,
         {"INSERT INTO u SELECT snowflake.nextval('s') RETURNING id"}},
        {"in a subtransaction", create, false, {"BEGIN", "SAVEPOINT p", one, "COMMIT"}},
        {"in a subtransaction rolled back",
         create,
         false,
         {"BEGIN", "SAVEPOINT p", one, "ROLLBACK TO p", "COMMIT"}},
        {"from a lease of a transaction rolled back",
         lease,
         false,
         {"BEGIN", "SELECT snowflake.nextval('s') * 0", "ROLLBACK", one}},
        {"in a procedure that commits", create, false, {"CALL insert_ids(3)", "TABLE t"}},
        {"prepared",
         create,
         false,
         {"BEGIN", one, "PREPARE TRANSACTION 'p'", "COMMIT PREPARED 'p'"}},
        {"after an asynchronous commit",
         create,
         false,
         {"SET synchronous_commit = off", one, "SET synchronous_commit = on", one}},
        {"in the layout of another",
         create,
         false,
         {"SELECT snowflake.nextval('s', 'epoch=2015-01-01 tick=1ms timestamp:41 node:10 "
          "counter:12')"}},
    };
}

class Durability : public testing::Test {
  protected:
    void SetUp() override {
        if (!FakeClock::available())
            GTEST_SKIP() << "libfaketime is not installed";
    }

    static void prepare(const Server &server) {
        Session session(server);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE TABLE t (id bigint)");
        session.run("CREATE UNLOGGED TABLE u (id bigint)");
        session.run("CREATE PROCEDURE insert_ids(count int) LANGUAGE plpgsql AS $$ BEGIN "
                    "FOR i IN 1..count LOOP INSERT INTO t SELECT snowflake.nextval('s'); "
                    "COMMIT; END LOOP; END $$");
    }

    // Runs the statements in one session, kills the server, and returns the greatest number that
    // came. A zero is not an ID.
    static Id greatest_before_crash(Server &server, const History &history) {
        Session session(server);
        session.run("DROP SEQUENCE IF EXISTS s");
        session.run("TRUNCATE t, u");
        session.run(history.definition);
        session.run(nextval("s"));
        Session other(server);
        other.run(nextval("s"));
        session.run("CHECKPOINT");
        if (history.other_writes) {
            other.run("BEGIN");
            other.run(nextval("s"));
        }
        Id greatest = 0;
        for (const std::string &statement : history.statements)
            for (const Id id : session.numbers(statement))
                greatest = std::max(greatest, id);
        server.kill_all();
        return greatest;
    }

    // The sequence must be above by itself. What it says of itself is read by the server's means.
    static void expect_recovered_above(const Server &server, Id greatest) {
        Session session(server);
        EXPECT_GE(session.number("SELECT last_value FROM s"), greatest);
        const Id next = session.number(nextval("s"));
        EXPECT_GT(next, greatest);
    }

    TemporaryDirectory directory_; // of the clock
};

TEST_F(Durability, ACommittedIdNeverComesAgain) {
    FakeClock clock(directory_.path());
    // The clock stands still, so that a lease does not end.
    const std::int64_t now = unix_ms_now();
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    for (const History &history : committed_histories()) {
        SCOPED_TRACE(history.name);
        clock.differ_by(0ms);
        if (history.definition.ends_with("CACHE 50"))
            clock.stand_still_at(now);
        const Id greatest = greatest_before_crash(server, history);
        EXPECT_GT(greatest, 0);
        clock.differ_by(-24h);
        server.start();
        expect_recovered_above(server, greatest);
    }
}

// Nothing waits for the disk before the commit, and a transaction that only makes an ID gets no
// transaction ID. The commit does wait.
TEST_F(Durability, AnIdWaitsForNothing) {
    const Server server(1, lazy_wal_writer());
    prepare(server);
    Session session(server);
    session.run("CREATE SEQUENCE s");
    const std::string flushed = "SELECT pg_current_wal_flush_lsn() >= '";
    session.run("CHECKPOINT");
    session.run("BEGIN");
    session.run(nextval("s"));
    EXPECT_EQ(session.text("SELECT pg_current_xact_id_if_assigned() IS NULL"), "t");
    const std::string lsn = session.text("SELECT pg_current_wal_insert_lsn()");
    EXPECT_EQ(session.text(flushed + lsn + "'"), "f");
    session.run("COMMIT");
    EXPECT_EQ(session.text(flushed + lsn + "'"), "t");

    // With synchronous_commit = off it does not wait for an ID either, as it does not for a row.
    // The WAL writer may be quicker, once in a while.
    session.run("SET synchronous_commit = off");
    bool waited = true;
    for (int tries = 20; waited && tries > 0; --tries) {
        session.run("CHECKPOINT");
        session.run("BEGIN");
        session.run(nextval("s"));
        const std::string later = session.text("SELECT pg_current_wal_insert_lsn()");
        session.run("COMMIT");
        waited = session.text(flushed + later + "'") == "t";
    }
    EXPECT_FALSE(waited);
}

// Where the WAL of an ID is on disk already, rows that need no WAL are committed without a flush,
// as with a sequence of the server. The sequence writes a record a second, and so not each row is
// asked for.
TEST_F(Durability, ARowWithoutWalIsNotFlushedForItsId) {
    const Server server(1, lazy_wal_writer());
    prepare(server);
    Session session(server);
    session.run("CREATE SEQUENCE s");
    session.run("CREATE TEMP TABLE temporary (id bigint)");
    for (const std::string table : {"u", "temporary"}) {
        SCOPED_TRACE(table);
        bool flushed = true;
        constexpr int tries = 20;
        for (int i = 0; flushed && i < tries; ++i) {
            session.run(nextval("s"));
            session.run("BEGIN");
            session.run("INSERT INTO " + table + " SELECT snowflake.nextval('s')");
            session.run("COMMIT");
            flushed = session.text("SELECT pg_current_wal_flush_lsn() >= "
                                   "pg_current_wal_insert_lsn()") == "t";
        }
        EXPECT_FALSE(flushed);
    }
}

// The least that the clock goes on while a server crashes and starts again.
constexpr std::int64_t restart_ms = 2;

// IDs that the clock does not keep from coming again, under a clock that hardly goes on.
std::vector<History> uncommitted_histories() {
    const std::string one = nextval("s");
    const std::string create = "CREATE SEQUENCE s";
    const std::string ahead = "SELECT setval('s', snowflake.nextval('s') + (60000::bigint << 22))";
    return {
        {"ahead by setval", create, false, {ahead, "CHECKPOINT", "BEGIN", one}},
        {"ahead by setval that is not committed", create, false, {"BEGIN", ahead, one}},
        {"ahead by setval of another session", create, true, {ahead, "CHECKPOINT", "BEGIN", one}},
        {"without waiting for the disk",
         create,
         false,
         {ahead, "SET synchronous_commit = off", "CHECKPOINT", one}},
        {"more than fit into the present",
         "CREATE SEQUENCE s INCREMENT 4096",
         false,
         {one, "CHECKPOINT", "BEGIN", one, one}},
        {"several at once, through later ticks", create, false, {"BEGIN", nextvals("s", 10000)}},
        {"from a lease ahead",
         "CREATE SEQUENCE s CACHE 50",
         false,
         {ahead, "CHECKPOINT", "BEGIN", one, one}},
    };
}

TEST_F(Durability, AnIdThatTheClockDoesNotKeepNeverComesAgain) {
    FakeClock clock(directory_.path());
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    for (const History &history : uncommitted_histories()) {
        SCOPED_TRACE(history.name);
        const std::int64_t now = unix_ms_now();
        clock.stand_still_at(now);
        const Id greatest = greatest_before_crash(server, history);
        EXPECT_GT(greatest, 0);
        clock.stand_still_at(now + restart_ms);
        server.start();
        EXPECT_GT(Session(server).number(nextval("s")), greatest);
    }
}

// A tick of a second is not over when the server is back.
TEST_F(Durability, AnIdOfALongTickNeverComesAgain) {
    FakeClock clock(directory_.path());
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    for (const char *end : {"COMMIT", "ROLLBACK", "SELECT"}) {
        SCOPED_TRACE(end);
        const std::string one = "SELECT snowflake.nextval('s', 'epoch=2023-01-01 tick=1s "
                                "timestamp:32 node:10 counter:12')";
        const std::int64_t now = unix_ms_now() / 1000 * 1000;
        clock.stand_still_at(now);
        Id last = 0;
        {
            Session session(server);
            session.run("DROP SEQUENCE IF EXISTS s");
            session.run("CREATE SEQUENCE s");
            session.run(one);
            clock.stand_still_at(now + 5000);
            session.run("CHECKPOINT");
            session.run("BEGIN");
            last = session.number(one);
            session.run(end);
            server.kill_all();
        }
        clock.stand_still_at(now + 5000 + restart_ms);
        server.start();
        EXPECT_GT(Session(server).number(one), last);
    }
}

// A crash puts the sequence on its mark, ahead of the clock. The next crash comes at once.
TEST_F(Durability, AnIdAfterACrashNeverComesAgainAfterTheNext) {
    FakeClock clock(directory_.path());
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    Session(server).run("CREATE SEQUENCE s");
    std::int64_t now = unix_ms_now();
    const auto crash = [&] {
        server.kill_all();
        clock.stand_still_at(now += restart_ms);
        server.start();
    };
    for (int round = 0; round < 3; ++round) {
        Session(server).run(nextval("s"));
        crash();
        Id last = 0;
        {
            Session session(server);
            EXPECT_GT(unix_ms_of(session.number(nextval("s"))), now) << "not on the mark";
            session.run("CHECKPOINT");
            session.run("BEGIN");
            last = session.number(nextval("s"));
            crash();
        }
        EXPECT_GT(Session(server).number(nextval("s")), last);
    }
}

// The clock goes back between two IDs: the second one is ahead of it.
TEST_F(Durability, AnIdAfterTheClockWentBackNeverComesAgain) {
    FakeClock clock(directory_.path());
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    Id last = 0;
    {
        Session session(server);
        session.run("CREATE SEQUENCE s");
        session.run(nextval("s"));
        clock.differ_by(-1h);
        session.run("CHECKPOINT");
        session.run("BEGIN");
        last = session.number(nextval("s"));
        server.kill_all();
    }
    server.start();
    EXPECT_GT(Session(server).number(nextval("s")), last);
}

// The clock goes back while the session holds a lease: what is left of it is ahead of the clock.
TEST_F(Durability, AnIdOfALeaseAfterTheClockWentBackNeverComesAgain) {
    FakeClock clock(directory_.path());
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    const std::int64_t now = unix_ms_now();
    Id last = 0;
    {
        Session session(server);
        session.run("CREATE SEQUENCE s CACHE 50");
        session.run(nextval("s"));
        clock.stand_still_at(now + 5000);
        session.run(nextval("s"));
        session.run("DISCARD SEQUENCES");
        session.run("CHECKPOINT");
        session.run("BEGIN");
        session.run(nextval("s"));
        clock.stand_still_at(now + 4000);
        last = session.number(nextval("s"));
        server.kill_all();
    }
    clock.stand_still_at(now + 5000);
    server.start();
    const std::vector<Id> ids = Session(server).numbers(nextval("s", 200));
    EXPECT_EQ(std::count(ids.begin(), ids.end(), last), 0);
    EXPECT_GT(ids.front(), last);
}

// Another module makes an ID when the extension has already told the commit what to wait for.
TEST_F(Durability, AnIdMadeDuringTheCommitNeverComesAgain) {
    FakeClock clock(directory_.path());
    Server server(1, lazy_wal_writer(), clock.launcher());
    prepare(server);
    Session(server).run("CREATE SEQUENCE s");
    Session(server).run(nextval("s"));
    for (const char *commits : {"on", "local"}) {
        SCOPED_TRACE(commits);
        clock.differ_by(0ms);
        Id last = 0;
        {
            Session session(server);
            // The module whose callback is registered first is called last.
            session.run("LOAD '" + file_beside_program("liblate_caller.so").string() + "'");
            session.run("LOAD 'snowflake'");
            session.run(std::string("SET synchronous_commit = ") + commits);
            session.run("CHECKPOINT");
            session.run("SET late_caller.call = 'snowflake.nextval(''s'')'"); // calls at its commit
            session.run("SET late_caller.call = ''");
            last = session.number("SELECT current_setting('late_caller.result')");
            server.kill_all();
        }
        clock.differ_by(-24h);
        server.start();
        EXPECT_GT(Session(server).number(nextval("s")), last);
    }
}

} // namespace
} // namespace integration::durability_test
