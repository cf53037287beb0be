// COPY of rows without IDs: as little WAL as with bigserial, and what needs more than one server or
// session: foreign tables, logical replication, and readers beside it.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <atomic>
#include <thread>

namespace integration::copy_test {
namespace {

const std::vector<std::string> quiet{"fsync = off", "autovacuum = off", "wal_level = logical"};

// COPY table (n) of the lines first to last.
std::string copy(const std::string &table, int first, int last) {
    return "COPY " + table + " (n) FROM PROGRAM 'seq " + std::to_string(first) + " " +
           std::to_string(last) + "'";
}

// Returns how many bytes of WAL a statement writes, on a server that does nothing else.
Id wal_of(Session &session, const std::string &statement) {
    const std::string place = "SELECT pg_current_wal_insert_lsn() - '0/0'";
    const Id before = session.number(place);
    session.run(statement);
    return session.number(place) - before;
}

TEST(Copy, WritesAsLittleWalAsWithBigserial) {
    const Server server(1, quiet);
    Session session(server);
    session.run("CREATE EXTENSION snowflake;"
                "CREATE SEQUENCE s;"
                "CREATE TABLE core (id bigserial, n int);"
                "CREATE TABLE ours (id bigint DEFAULT snowflake.nextval('s'), n int);"
                "CREATE TABLE core_with_key (LIKE core INCLUDING DEFAULTS, PRIMARY KEY (id));"
                "CREATE TABLE ours_with_key (LIKE ours INCLUDING DEFAULTS, PRIMARY KEY (id));"
                "SELECT snowflake.nextval('s');"
                "CHECKPOINT");
    for (const char *key : {"", "_with_key"}) {
        const auto wal = [&](const std::string &table) {
            return wal_of(session, copy(table + key, 1, 100'000));
        };
        const Id core = wal("core");
        EXPECT_LE(wal("ours"), core + core / 50) << key;
        EXPECT_EQ(session.number(std::string("SELECT count(DISTINCT id) FROM ours") + key),
                  100'000);
    }
}

TEST(Copy, GivesTheRowsOfAForeignTableIdsInTheirOrder) {
    const Server server(1, quiet);
    Session session(server);
    session.run("CREATE EXTENSION snowflake; CREATE EXTENSION postgres_fdw;"
                "CREATE SEQUENCE s;"
                "CREATE TABLE far (id bigint PRIMARY KEY, n int)");
    session.run("DO $$BEGIN"
                " EXECUTE format('CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw"
                "   OPTIONS (host %L, port %L, dbname %L)', split_part(current_setting("
                "   'unix_socket_directories'), ',', 1), current_setting('port'),"
                "   current_database());"
                " EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER itself"
                "   OPTIONS (user %L)', current_user); END$$");
    for (const char *batch : {"1", "100"}) {
        session.run(std::string("TRUNCATE far; DROP FOREIGN TABLE IF EXISTS near;"
                                "CREATE FOREIGN TABLE near (id bigint DEFAULT"
                                " snowflake.nextval('s'), n int) SERVER itself"
                                " OPTIONS (table_name 'far', batch_size '") +
                    batch + "')");
        session.run(copy("near", 1, 1000));
        EXPECT_TRUE(increasing(session.numbers("SELECT id FROM far ORDER BY n"))) << batch;
        EXPECT_EQ(session.number("SELECT count(*) FROM far"), 1000) << batch;
    }
}

// A subscriber has a column that the publisher lacks. It fills the column with its default, in the
// copy and for each row that arrives later.
TEST(Copy, GivesTheRowsThatReplicationCopiesIdsOfTheSubscriber) {
    const Server publisher(1, quiet);
    const Server subscriber(2, quiet);
    Session source(publisher);
    source.run("CREATE TABLE orders (n int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE orders;"
               "INSERT INTO orders SELECT generate_series(1, 3000)");
    Session target(subscriber);
    target.run("CREATE EXTENSION snowflake; CREATE SEQUENCE s;"
               "CREATE TABLE orders (n int PRIMARY KEY, id bigint DEFAULT snowflake.nextval('s'))");
    target.run("CREATE SUBSCRIPTION s CONNECTION '" + publisher.conninfo() + "' PUBLICATION p");
    wait_for(target, "(SELECT count(*) FROM orders) = 3000");
    EXPECT_TRUE(increasing(target.numbers("SELECT id FROM orders ORDER BY n")));
    source.run("INSERT INTO orders SELECT generate_series(3001, 3500)");
    wait_for(target, "(SELECT count(*) FROM orders) = 3500");
    EXPECT_TRUE(increasing(target.numbers("SELECT id FROM orders ORDER BY n")));
    EXPECT_EQ(target.number("SELECT min(snowflake.get_node(id)) FROM orders"), 2);
    target.run("DROP SUBSCRIPTION s");
}

// Rows come into the table up to a thousand IDs after theirs. One COPY in four fails at its end.
TEST(Copy, ShowsNoRowBelowALowWatermark) {
    const Server server(1, quiet);
    Session session(server);
    session.run("CREATE EXTENSION snowflake; CREATE SEQUENCE s;"
                "CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake.nextval('s'), n int)");
    std::atomic<int> copying{2};
    const auto write = [&](int first) {
        Session writer(server);
        for (int turn = 0; turn < 20; ++turn) {
            const int from = first + 50'000 * turn;
            writer.run(copy("t", from, from + 49'999));
            if (turn % 3 == 0) {
                EXPECT_EQ(writer.sqlstate("COPY t (n) FROM PROGRAM 'seq 50000; echo end'"),
                          "22P02");
            }
        }
        --copying;
    };
    std::thread one(write, 1);
    std::thread other(write, 1'000'001);
    Id read = 0;
    Id position = 0;
    const auto poll = [&] {
        Session reader(server);
        const auto found =
            reader.texts("SELECT concat_ws(' ', count(*), max(id)) FROM t WHERE id > " +
                         std::to_string(position) + " AND id < snowflake.low_watermark('s')");
        const auto space = found.front().find(' ');
        if (space == std::string::npos)
            return;
        read += std::stoll(found.front());
        position = std::stoll(found.front().substr(space));
    };
    while (copying > 0)
        poll();
    one.join();
    other.join();
    poll();
    EXPECT_EQ(read, 2'000'000);
    EXPECT_EQ(session.number("SELECT count(*) FROM t"), 2'000'000);
}

} // namespace
} // namespace integration::copy_test
