// During a transaction a session holds a lock on the sequence and a pin on its page. It releases
// both at the end of the transaction, whatever end that is. After a pin that is left the server
// logs a warning, and the sequence cannot be dropped.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace integration::transaction_test {
namespace {

// The warnings of the server's resource owners all speak of a leak.
bool log_speaks_of_leaks(const Server &server) {
    return read_file(server.file("log")).find("leak") != std::string::npos;
}

TEST(Transaction, LetsGoOfTheSequenceWhenItIsPrepared) {
    const Server server(1, {"fsync = off", "max_prepared_transactions = 2"});
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE s");

    session.run("BEGIN");
    const Id first = session.number(nextval("s"));
    session.run("PREPARE TRANSACTION 'one'");
    const Id second = session.number(nextval("s"));
    EXPECT_GT(second, first);
    // The prepared transaction still holds its lock, and nothing else.
    session.run("SET lock_timeout = 1");
    EXPECT_EQ(session.sqlstate("DROP SEQUENCE s"), "55P03");
    session.run("RESET lock_timeout");

    session.run("BEGIN");
    session.run("CREATE SEQUENCE made_here");
    session.run(nextval("made_here"));
    session.run("PREPARE TRANSACTION 'two'");
    session.run("ROLLBACK PREPARED 'two'");
    session.run("COMMIT PREPARED 'one'");
    EXPECT_GT(session.number(nextval("s")), second);

    // A transaction that cannot be prepared is rolled back.
    session.run("BEGIN");
    session.run("CREATE TEMP SEQUENCE t");
    session.run(nextval("t"));
    EXPECT_EQ(session.sqlstate("PREPARE TRANSACTION 'three'"), "0A000");
    session.run("DROP SEQUENCE s");
    EXPECT_FALSE(log_speaks_of_leaks(server));
}

// The lock of a prepared transaction would stand in the way when the session drops the sequence at
// its end. The server refuses it in every transaction that uses a temporary object.
TEST(Transaction, IsNotPreparedWithATemporarySequence) {
    const Server server(1, {"fsync = off", "max_prepared_transactions = 2"});
    {
        Session session(server);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE SEQUENCE permanent");
        session.run("CREATE TEMP SEQUENCE t CACHE 50");
        for (const char *use :
             {"SELECT snowflake.nextval('t')", "SELECT snowflake.nextvals('t', 2)",
              "SELECT snowflake.currval('t')", "SELECT snowflake.lastval()"}) {
            SCOPED_TRACE(use);
            session.run("SELECT snowflake.nextval('t')");
            session.run("BEGIN");
            session.run(use);
            EXPECT_EQ(session.sqlstate("PREPARE TRANSACTION 'temporary'"), "0A000");
        }
        // Another sequence is used in between.
        session.run("BEGIN");
        session.run(nextval("permanent"));
        session.run(nextval("t"));
        session.run(nextval("permanent"));
        EXPECT_EQ(session.sqlstate("PREPARE TRANSACTION 'temporary'"), "0A000");
        session.run("BEGIN");
        session.run(nextval("permanent"));
        session.run("PREPARE TRANSACTION 'permanent'");
        session.run("COMMIT PREPARED 'permanent'");
    }
    // The session ends, and takes the sequence with it.
    wait_for(server, "SELECT count(*) FROM pg_class WHERE relname = 't'", "0");
}

TEST(Transaction, LetsGoOfTheSequenceWhenItsSessionEnds) {
    const Server server(1, {"fsync = off"});
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE s");

    Session other(server);
    const std::string pid = other.text("SELECT pg_backend_pid()");
    other.run("BEGIN");
    const Id last = other.number(nextval("s"));
    const std::chrono::milliseconds limit = patience;
    EXPECT_EQ(session.text("SELECT pg_terminate_backend(" + pid + ", " +
                           std::to_string(limit.count()) + ")"),
              "t");
    EXPECT_GT(session.number(nextval("s")), last);
    session.run("DROP SEQUENCE s");
    EXPECT_FALSE(log_speaks_of_leaks(server));
}

// The file of a sequence is damaged while the server is down, so that it must read the damage.
class TransactionOnDamage : public testing::TestWithParam<const char *> {};

TEST_P(TransactionOnDamage, GoesOnAfterTheError) {
    constexpr std::streamoff special_space = 8192 - 8;
    // The server must not notice the damage before the extension does.
    Server server(1, {"fsync = off", "autovacuum = off", "ignore_checksum_failure = on"});
    std::filesystem::path file;
    {
        Session session(server);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE SEQUENCE sound");
        session.run("CREATE SEQUENCE s");
        session.run(nextval("s"));
        file = server.file("data") / session.text("SELECT pg_relation_filepath('s')");
    }
    server.stop();
    if (GetParam() == std::string("Truncated"))
        std::filesystem::resize_file(file, 0);
    else
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
            .seekp(special_space)
            .write("damaged!", 8);
    server.start();

    Session session(server);
    session.run("BEGIN");
    for (int again = 0; again < 3; ++again) {
        const Id id = session.number(nextval("sound"));
        session.run("SAVEPOINT p");
        EXPECT_EQ(session.sqlstate(nextval("s")), "XX001");
        session.run("ROLLBACK TO p");
        EXPECT_GT(session.number(nextval("sound")), id);
    }
    session.run("COMMIT");
    session.run("DROP SEQUENCE s");
    EXPECT_FALSE(log_speaks_of_leaks(server));
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransactionOnDamage, testing::Values("Truncated", "Overwritten"),
                         [](const auto &instance) { return std::string(instance.param); });

} // namespace
} // namespace integration::transaction_test
