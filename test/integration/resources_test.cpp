// Many sequences in one session, many IDs in one transaction, many connections on one sequence.
// Memory does not grow with them, and an error leaves nothing behind.
#include "load.hpp"
#include "registry.hpp"
#include "server.hpp"

#include <fstream>
#include <sstream>

namespace integration::resources_test {
namespace {

const std::vector<std::string> no_waiting_for_disks = {"autovacuum = off", "fsync = off"};

// How many bytes the server process of a session has allocated, and how many of them for the
// extension's table.
Id allocated(Session &session) {
    return session.number("SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts");
}
Id remembered(Session &session) {
    return session.number("SELECT coalesce(sum(total_bytes), 0)::bigint"
                          " FROM pg_backend_memory_contexts WHERE name = 'snowflake sequences'");
}

// Asks the kernel how many bytes of memory belong to a process alone.
Id resident(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    std::string line;
    while (std::getline(status, line)) {
        std::istringstream words(line);
        std::string name;
        Id kilobytes = 0;
        if (words >> name >> kilobytes && name == "RssAnon:")
            return kilobytes * 1024;
    }
    throw std::runtime_error("the kernel does not tell how much memory a process has");
}

constexpr int many = 10'000;

TEST(Resources, ASessionMayUseTenThousandSequences) {
    std::vector<std::string> settings = no_waiting_for_disks;
    // Each used sequence is locked until the end of the transaction.
    settings.emplace_back("max_locks_per_transaction = 256");
    const Server server(1, settings);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    // The sequences are ahead of the clock: a new one would wait for the next millisecond.
    session.run("DO $$BEGIN FOR i IN 1.." + std::to_string(many) +
                " LOOP EXECUTE 'CREATE SEQUENCE s' || i; PERFORM setval('s' || i, " +
                std::to_string(hour_ahead()) +
                "); IF i % 100 = 0 THEN COMMIT; END IF; END LOOP; END$$");
    const std::string all = "SELECT count(snowflake.nextval(('s' || i)::regclass))"
                            " FROM generate_series(1, " +
                            std::to_string(many) + ") i";

    Session user(server);
    EXPECT_EQ(user.number(all), many);
    const Id bytes = remembered(user);
    EXPECT_GT(bytes, 0);
    EXPECT_LT(bytes / many, 512);
    const Id before = allocated(user);
    EXPECT_EQ(user.number(all), many);
    EXPECT_EQ(remembered(user), bytes);
    EXPECT_LT(allocated(user), before + before / 20);
    EXPECT_EQ(session.number("SELECT count(*) FROM pg_locks WHERE pid = " +
                             std::to_string(user.backend())),
              0);

    user.run("DISCARD SEQUENCES");
    EXPECT_EQ(remembered(user), 0);
}

// A leak of a single byte a call would exceed the limits.
TEST(Resources, AMillionIdsInOneTransactionTakeNoMemory) {
    const Server server(1, no_waiting_for_disks);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    for (const std::string cache : {"1", "50"}) {
        SCOPED_TRACE("CACHE " + cache);
        session.run("CREATE SEQUENCE s CACHE " + cache);
        const auto make = [&session](int ids) {
            session.run("DO $$BEGIN FOR i IN 1.." + std::to_string(ids) +
                        " LOOP PERFORM snowflake.nextval('s'); END LOOP; END$$");
        };
        session.run("BEGIN");
        make(many);
        const pid_t backend = session.backend();
        const Id allocated_before = allocated(session);
        const Id resident_before = resident(backend);
        make(1'000'000);
        EXPECT_LT(allocated(session), allocated_before + 200'000);
        EXPECT_LT(resident(backend), resident_before + 1'000'000);
        session.run("COMMIT");
        session.run("DROP SEQUENCE s");
    }
    // The server logs a warning of every resource that a transaction has not given back.
    EXPECT_EQ(read_file(server.file("log")).find("leak"), std::string::npos);
}

TEST(Resources, TwoHundredConnectionsMayShareASequence) {
    constexpr std::size_t connections = 200;
    std::vector<std::string> settings = no_waiting_for_disks;
    settings.emplace_back("max_connections = 210");
    const Server server(1, settings);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE s");
    session.run(setval("s", hour_ahead()));

    Random random = make_random();
    const Load load(server, std::vector<Task>(connections, {.sequence = "s"}), random);
    load.wait_for_ids(100);
    load.stop();
    Book book;
    load.enter_in(book);
    EXPECT_GE(session.number(nextval("s")), book.above("s"));
}

struct Mistake {
    std::string name;
    std::string sqlstate;
    std::vector<std::string> before;
    std::string statement;
    std::vector<std::string> after;
};

std::vector<Mistake> mistakes() {
    const std::string one = "SELECT snowflake.nextval('s')";
    const std::string since_2023 = "'epoch=2023-01-01T00:00:00Z tick=1ms timestamp:";
    const std::string since_2090 = "'epoch=2090-01-01T00:00:00Z tick=1ms timestamp:";
    return {
        {"no node", "55000", {"SET snowflake.node = 0"}, one, {"RESET snowflake.node"}},
        {"no right", "42501", {"SET ROLE nobody"}, one, {"RESET ROLE"}},
        {"no right to see",
         "42501",
         {"SET ROLE nobody"},
         "SELECT snowflake.currval('s')",
         {"RESET ROLE"}},
        {"a table", "42809", {}, "SELECT snowflake.nextval('t')", {}},
        {"no such relation", "42P01", {}, "SELECT snowflake.nextval(1::oid::regclass)", {}},
        {"read only", "25006", {}, "SET TRANSACTION READ ONLY; " + one, {}},
        {"above the maximum", "2200H", {}, "SELECT snowflake.nextval('small')", {}},
        {"many above the maximum",
         "2200H",
         {},
         "SELECT * FROM snowflake.nextvals('small', 10)",
         {}},
        {"descending", "55000", {}, "SELECT snowflake.nextval('down')", {}},
        {"a stride too wide", "55000", {}, "SELECT snowflake.nextval('wide')", {}},
        {"a stride above the node",
         "55000",
         {},
         "SELECT snowflake.nextval('strided', " + since_2023 + "41 counter:12 node:10')",
         {}},
        {"a layout without nodes",
         "55000",
         {},
         "SELECT snowflake.nextval('s', " + since_2023 + "41 node:0 counter:12')",
         {}},
        {"a node beyond the layout",
         "55000",
         {"SET snowflake.node = 2"},
         "SELECT snowflake.nextval('s', " + since_2023 + "41 node:1 counter:12')",
         {"RESET snowflake.node"}},
        {"another layout on the sequence of all",
         "55000",
         {},
         "SELECT snowflake.nextval('snowflake.id_seq', 'twitter')",
         {}},
        {"before the epoch",
         "22008",
         {},
         "SELECT snowflake.nextval('s', " + since_2090 + "41 node:10 counter:12')",
         {}},
        {"too far ahead",
         "42501",
         {"SET ROLE guest"},
         "SELECT * FROM snowflake.nextvals('s', 2147483647, " + since_2023 +
             "43 node:10 counter:10')",
         {"RESET ROLE"}},
        {"a negative number of IDs", "22023", {}, "SELECT * FROM snowflake.nextvals('s', -1)", {}},
        {"a temporary sequence of another session",
         "0A000",
         {},
         "SELECT snowflake.nextval(oid) FROM pg_class WHERE relname = 'elsewhere'",
         {}},
        {"the node of another instance",
         "55000",
         {arrival(6, "another"), "SET snowflake.node = 6"},
         one,
         {"RESET snowflake.node", "SELECT snowflake.remove_node(5, 16384)"}},
        {"a node that is reserved for node leases",
         "55000",
         {"SELECT snowflake.reserve_nodes(900, 909)", "SET snowflake.node = 905"},
         one,
         {"RESET snowflake.node",
          "SELECT count(snowflake.release_node(n)) FROM generate_series(900, 909) n"}},
        {"another node than was claimed",
         "55000",
         {"SELECT snowflake.claim_node(1)", "SET snowflake.node = 2"},
         one,
         {"SELECT snowflake.release_node()", "RESET snowflake.node"}},
        {"at the end of time", "2200H", {}, "SELECT snowflake.nextval('at_the_end')", {}},
        {"currval too early", "55000", {}, "SELECT snowflake.currval('unused')", {}},
        {"an error after it", "22012", {}, "SELECT snowflake.nextval('s') / 0", {}},
        {"a negative ID", "22003", {}, "SELECT snowflake.get_node(-1)", {}},
    };
}

class Mistakes : public testing::Test {
  protected:
    Mistakes() {
        session_.run("CREATE EXTENSION snowflake");
        session_.run("CREATE ROLE nobody");
        session_.run("CREATE ROLE guest");
        session_.run("CREATE TABLE t ()");
        session_.run("CREATE SEQUENCE s");
        session_.run("CREATE SEQUENCE unused");
        session_.run("CREATE SEQUENCE small AS integer");
        session_.run("CREATE SEQUENCE down INCREMENT -1");
        session_.run("CREATE SEQUENCE wide INCREMENT 5000");
        session_.run("CREATE SEQUENCE strided INCREMENT 2");
        session_.run("CREATE TEMP SEQUENCE elsewhere");
        session_.run("GRANT USAGE ON s TO guest");
        session_.run("CREATE SEQUENCE at_the_end");
        session_.run("SELECT setval('at_the_end', 9223372036854775807)");
        session_.run(one_);
    }

    // Counts the locks that the other session still holds.
    Id locks_of(Session &other) {
        return session_.number("SELECT count(*) FROM pg_locks WHERE pid = " +
                               std::to_string(other.backend()));
    }

    [[nodiscard]] const Server &server() const { return server_; }
    Session &session() { return session_; }
    const std::string one_ = nextval("s");

  private:
    Server server_{1, no_waiting_for_disks};
    Session session_{server_};
};

TEST_F(Mistakes, LeaveNoLock) {
    Session clumsy(server());
    Id last = clumsy.number(one_);
    for (const Mistake &mistake : mistakes()) {
        SCOPED_TRACE(mistake.name);
        for (const std::string &statement : mistake.before)
            clumsy.run(statement);
        EXPECT_EQ(clumsy.sqlstate(mistake.statement), mistake.sqlstate);
        EXPECT_EQ(locks_of(clumsy), 0);
        for (const std::string &statement : mistake.after)
            clumsy.run(statement);
        // Both sessions go on, so the error has left no page locked.
        const Id next = clumsy.number(one_);
        EXPECT_GT(next, last);
        last = session().number(one_);
        EXPECT_GT(last, next);
    }
}

// A nextval that was rolled back keeps its lock until the transaction ends, as the server's own
// does.
TEST_F(Mistakes, LeaveTheTransactionUsable) {
    Session clumsy(server());
    for (const Mistake &mistake : mistakes()) {
        SCOPED_TRACE(mistake.name);
        for (const std::string &statement : mistake.before)
            clumsy.run(statement);
        clumsy.run("BEGIN");
        clumsy.run("SAVEPOINT before");
        EXPECT_EQ(clumsy.sqlstate(mistake.statement), mistake.sqlstate);
        clumsy.run("ROLLBACK TO before");
        for (const std::string &statement : mistake.after)
            clumsy.run(statement);
        session().run(one_);
        clumsy.run(one_);
        clumsy.run("COMMIT");
        EXPECT_EQ(locks_of(clumsy), 0);
    }
    EXPECT_EQ(read_file(server().file("log")).find("leak"), std::string::npos);
}

TEST(DroppedSequence, IsGoneBetweenTwoCallsOfASession) {
    const Server server(1, no_waiting_for_disks);
    Session session(server);
    Session other(server);
    session.run("CREATE EXTENSION snowflake");
    for (const std::string cache : {"1", "50"}) {
        session.run("CREATE SEQUENCE s CACHE " + cache);
        session.run("PREPARE one AS SELECT snowflake.nextval('s')");
        const Id first = session.number("EXECUTE one");
        other.run("DROP SEQUENCE s");
        EXPECT_EQ(session.sqlstate("EXECUTE one"), "42P01");
        EXPECT_EQ(session.sqlstate("SELECT snowflake.lastval()"), "55000");
        other.run("CREATE SEQUENCE s");
        EXPECT_EQ(session.sqlstate("SELECT snowflake.currval('s')"), "55000");
        EXPECT_GT(session.number(nextval("s")), first);
        session.run("DEALLOCATE one");
        other.run("DROP SEQUENCE s");
    }
}

} // namespace
} // namespace integration::resources_test
