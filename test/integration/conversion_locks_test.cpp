// A conversion beside sessions that use its tables: it takes all locks or none, within the
// lock_timeout in total, and no other session is part of a deadlock because of it.
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace integration::conversion_locks_test {
namespace {

const char *const convert = "SELECT snowflake.convert_sequence_to_snowflake('t0_id_seq')";

// Chained by foreign keys: a conversion of the first widens a column of each.
constexpr int tables = 8;

std::string table(int number) {
    return "t" + std::to_string(number);
}

class ConversionLocks : public testing::Test {
  protected:
    ConversionLocks() : server_(1, {"fsync = off", "autovacuum = off"}) {
        Session session(server_);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE TABLE t0 (id serial PRIMARY KEY, item text)");
        for (int number = 1; number < tables; ++number)
            session.run("CREATE TABLE " + table(number) + " (id integer PRIMARY KEY REFERENCES " +
                        table(number - 1) + ", item text)");
    }

    Server server_;
};

// Starts the conversion. What it returns is the SQLSTATE that the conversion ends with.
std::future<std::string> start_conversion(Session &session, const std::string &lock_timeout) {
    session.run("SET lock_timeout = '" + lock_timeout + "'");
    return std::async(std::launch::async, [&session] { return session.sqlstate(convert); });
}

// Until another transaction ends, and in nobody's way.
std::string waits_for_end_of(pid_t backend, pid_t other) {
    return "EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'virtualxid' AND pid = " +
           std::to_string(backend) + " AND " + std::to_string(other) + " = ANY (pg_blocking_pids(" +
           std::to_string(backend) + ")))";
}

// More than reading takes.
std::string holds_strong_locks(pid_t backend) {
    return "EXISTS (SELECT FROM pg_locks WHERE granted AND locktype = 'relation'"
           " AND mode IN ('AccessExclusiveLock', 'ShareRowExclusiveLock') AND pid = " +
           std::to_string(backend) + ")";
}

TEST_F(ConversionLocks, NothingIsHeldWhileOneIsWaitedFor) {
    for (const std::string &relation : {table(tables - 1), std::string("t0_id_seq")}) {
        SCOPED_TRACE(relation);
        Session observer(server_);
        Session reader(server_);
        Session converter(server_);
        const pid_t backend = converter.backend();
        reader.run("BEGIN");
        reader.run(relation == "t0_id_seq" ? "SELECT nextval('t0_id_seq')"
                                           : "SELECT * FROM " + relation);
        converter.run("BEGIN");
        auto outcome = start_conversion(converter, "0");
        // It tries all first, and then gives them up for as long as it takes.
        wait_for(observer, waits_for_end_of(backend, reader.backend()) + " AND NOT " +
                               holds_strong_locks(backend));
        Session writer(server_);
        for (const char *const tab : {"t0 (item)", "t1 (item)", "t7 (item)"})
            EXPECT_EQ(writer.sqlstate("INSERT INTO " + std::string(tab) + " SELECT '' WHERE false"),
                      "00000");
        EXPECT_EQ(outcome.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
        reader.run("COMMIT");
        EXPECT_EQ(outcome.get(), "00000");
        converter.run("ROLLBACK");
    }
}

// Each table is given free after more than half of the time: counted for each lock alone, the time
// would never be over.
TEST_F(ConversionLocks, LockTimeoutBoundsTheTotal) {
    Session observer(server_);
    std::vector<std::unique_ptr<Session>> readers;
    for (int number = 0; number < tables; ++number) {
        readers.push_back(std::make_unique<Session>(server_));
        readers.back()->run("BEGIN");
        readers.back()->run("SELECT * FROM " + table(number));
    }
    Session converter(server_);
    const pid_t backend = converter.backend();
    auto outcome = start_conversion(converter, "3s");
    // Every second the one reader that it waits for goes away, so that no single lock takes it 3 s.
    while (outcome.wait_for(std::chrono::seconds(1)) == std::future_status::timeout) {
        const auto blocker = std::find_if(readers.begin(), readers.end(), [&](const auto &reader) {
            return observer.text("SELECT " + std::to_string(reader->backend()) +
                                 " = ANY (pg_blocking_pids(" + std::to_string(backend) + "))") ==
                   "t";
        });
        if (blocker != readers.end())
            (*blocker)->run("COMMIT");
    }
    EXPECT_EQ(outcome.get(), "55P03");
    // The setting is the session's again, and nothing has changed.
    EXPECT_EQ(converter.text("SHOW lock_timeout"), "3s");
    EXPECT_EQ(observer.text("SELECT pg_typeof(id) FROM (SELECT NULL) x LEFT JOIN t0 ON true"),
              "integer");
}

// Runs statements of PL/pgSQL again and again, with n as their number, until the table go_on is
// dropped, for ten minutes at least.
std::future<std::string> start_making(Session &session, const std::string &statements) {
    return std::async(std::launch::async, [&session, statements] {
        return session.sqlstate("DO $$DECLARE n integer := 0; BEGIN LOOP n := n + 1; " +
                                statements +
                                " COMMIT; PERFORM pg_sleep(0.02);"
                                " EXIT WHEN to_regclass('public.go_on') IS NULL OR n > 30000;"
                                " END LOOP; END$$");
    });
}

// A role that may use the schema of a table, and has no right on the table, makes what depends on
// it, one after the other.
TEST_F(ConversionLocks, NobodyWhoMakesDependentsHoldsItUpForLong) {
    Session session(server_);
    session.run(
        "CREATE TABLE go_on (); CREATE ROLE mallory; CREATE SCHEMA own AUTHORIZATION mallory");
    Session maker(server_);
    maker.run("SET SESSION AUTHORIZATION mallory");
    auto making = start_making(maker, "DROP VIEW IF EXISTS own.v; DROP TABLE IF EXISTS own.t;"
                                      " COMMIT;"
                                      " CREATE VIEW own.v AS SELECT item FROM t0;"
                                      " CREATE TABLE own.t (id bigint DEFAULT"
                                      " nextval('t0_id_seq'));");
    wait_for(session, "EXISTS (SELECT FROM pg_class WHERE relnamespace = 'own'::regnamespace)");
    EXPECT_EQ(session.sqlstate(convert), "00000");
    EXPECT_EQ(making.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    session.run("DROP TABLE go_on");
    EXPECT_EQ(making.get(), "00000");
}

// Views of a column that is widened are to be made again, each new one as well.
TEST_F(ConversionLocks, LockTimeoutBoundsItBesideNewViews) {
    Session session(server_);
    session.run("CREATE TABLE go_on (); CREATE SCHEMA own");
    Session maker(server_);
    auto making =
        start_making(maker, "EXECUTE format('CREATE VIEW own.v%s AS SELECT id FROM t0', n);");
    wait_for(session, "EXISTS (SELECT FROM pg_class WHERE relnamespace = 'own'::regnamespace)");
    session.run("SET lock_timeout = '2s'");
    const std::string outcome = session.sqlstate(convert);
    EXPECT_TRUE(outcome == "55P03" || outcome == "00000") << outcome;
    EXPECT_EQ(making.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    session.run("SET lock_timeout = 0; DROP TABLE go_on");
    EXPECT_EQ(making.get(), "00000");
}

// Writers take locks in every order: the sequence before the tables, the tables up and down.
TEST_F(ConversionLocks, NoWriterIsPartOfADeadlock) {
    Session(server_).run("INSERT INTO t0 (item) SELECT 'old' FROM generate_series(1, 100)");
    std::atomic<bool> stopped = false;
    const auto write = [this, &stopped](bool sequence_first) {
        Session session(server_);
        int transactions = 0;
        for (int turn = 0; !stopped || transactions == 0; ++turn) {
            session.run("BEGIN");
            if (sequence_first && session.sqlstate("SELECT nextval('t0_id_seq')") == "2200H") {
                // Converted: the guard refuses the server's own function.
                session.run("ROLLBACK");
                session.run("BEGIN");
                session.run("SELECT snowflake.nextval('t0_id_seq')");
            }
            for (int i = 0; i < tables; ++i) {
                const std::string name = table(turn % 2 == 0 ? i : tables - 1 - i);
                session.run("UPDATE " + name + " SET item = 'new' WHERE id = 1");
            }
            session.run("INSERT INTO t0 (item) VALUES ('newer')");
            session.run("COMMIT");
            ++transactions;
            // Where one transaction follows the other at once, all locks are rarely free together.
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return transactions;
    };
    auto first = std::async(std::launch::async, write, true);
    auto second = std::async(std::launch::async, write, false);
    for (int round = 0; round < 2; ++round) {
        Session converter(server_);
        EXPECT_EQ(converter.sqlstate(convert), "00000");
        EXPECT_EQ(converter.sqlstate("SELECT snowflake.convert_snowflake_to_sequence('t0_id_seq')"),
                  "00000");
    }
    stopped = true;
    EXPECT_GT(first.get(), 0);
    EXPECT_GT(second.get(), 0);
    EXPECT_EQ(Session(server_).number("SELECT count(*) - count(DISTINCT id) FROM t0"), 0);
}

} // namespace
} // namespace integration::conversion_locks_test
