// Tables that become partitioned in place: what dumps say of them before, after and once they are
// ordinary again; cut off at any moment, and gone on; and published, with a subscriber that is told
// nothing.
#include "dump.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

namespace integration::partition_test {
namespace {

const char *const schema = R"(
CREATE EXTENSION snowflake;
CREATE ROLE reader;
CREATE TABLE customers (id bigint PRIMARY KEY);
INSERT INTO customers SELECT n FROM generate_series(1, 10) n;
CREATE TABLE orders (
    id bigserial PRIMARY KEY,
    gone integer,
    customer_id bigint NOT NULL DEFAULT 1 REFERENCES customers,
    item text CHECK (item <> ''),
    length integer GENERATED ALWAYS AS (length(item)) STORED,
    UNIQUE (customer_id, id)
) WITH (fillfactor = 80);
ALTER TABLE orders DROP COLUMN gone;
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
COMMENT ON TABLE orders IS 'the orders';
COMMENT ON COLUMN orders.item IS 'an item';
COMMENT ON CONSTRAINT orders_pkey ON orders IS 'a key';
ALTER TABLE orders ALTER item SET STATISTICS 50, ALTER item SET STORAGE external;
CREATE INDEX orders_item_idx ON orders (lower(item));
CREATE STATISTICS orders_stat (dependencies) ON customer_id, item FROM orders;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.item := NEW.item || ''!''; RETURN NEW; END';
CREATE TRIGGER note BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION note();
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON orders TO reader USING (customer_id > 3);
GRANT SELECT ON orders TO reader;
GRANT UPDATE (item) ON orders TO reader;
CREATE TABLE items (order_id bigint REFERENCES orders ON DELETE CASCADE);
CREATE VIEW recent AS SELECT * FROM orders WHERE id > 0;
CREATE VIEW grouped AS SELECT o.id, o.item, count(*) FROM orders o GROUP BY o.id;
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root);
INSERT INTO orders (item) SELECT 'item ' || n FROM generate_series(1, 2000) n;
INSERT INTO items SELECT id FROM orders;
)";

const char *const plan =
    "SELECT command FROM snowflake.partition_plan('orders', '1 month', ahead => 2,"
    " since => '2080-01-01 UTC', with_default => true)"
    " WHERE command IS NOT NULL ORDER BY step";
const char *const way_back = "SELECT command FROM snowflake.partition_plan('orders', back => true)"
                             " WHERE command IS NOT NULL ORDER BY step";

void run_all(Session &session, const std::string &query) {
    for (const std::string &command : session.texts(query))
        session.run(command);
}

// The statements that make the schema, without what a table has as a whole and its partitions have
// instead.
std::set<std::string> definitions(const Server &server) {
    const Output output = server.run("pg_dump", {"-s", "-d", server.conninfo()});
    EXPECT_EQ(output.err, "");
    std::istringstream text(output.out);
    std::set<std::string> statements;
    std::string statement;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("--") || line.starts_with("\\") || line.starts_with("SET "))
            continue;
        if (!line.empty()) {
            statement += line + '\n';
            continue;
        }
        for (const char *part :
             {" ONLY", R"(\nPARTITION BY RANGE \(id\))", R"(\nWITH \(fillfactor='80'\))"})
            statement = std::regex_replace(statement, std::regex(part), "");
        statements.insert(statement);
        statement.clear();
    }
    statements.insert(statement);
    return statements;
}

class Partition : public testing::Test {
  protected:
    Partition() {
        session_.run("SET timezone = 'UTC'");
        session_.run(schema);
    }

    Server server_{1, {"fsync = off", "autovacuum = off", "timezone = 'UTC'"}};
    Session session_{server_};
};

TEST_F(Partition, DumpsDifferByThePartitionsAlone) {
    const std::string dumped = dump_as_text(server_, "postgres");
    const std::set<std::string> before = definitions(server_);
    run_all(session_, plan);
    const std::set<std::string> after = definitions(server_);
    std::vector<std::string> lost;
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(lost));
    EXPECT_EQ(lost, std::vector<std::string>{});
    const std::regex partition("orders_(before_)?2080_0[12]|orders_default|_before[ ;]");
    for (const std::string &statement : after)
        EXPECT_TRUE(before.contains(statement) || std::regex_search(statement, partition))
            << statement;
    restore(server_, "restored", dump(server_, "postgres", true), true);

    run_all(session_, way_back);
    EXPECT_EQ(dump_as_text(server_, "postgres"), dumped);
}

// A command that is cut off has changed nothing, and the plan that is asked for again goes on.
TEST_F(Partition, GoesOnWhereItWasCutOff) {
    run_all(session_, plan);
    const std::set<std::string> meant = definitions(server_);
    run_all(session_, way_back);
    int cut_off = 0;
    for (int round = 0; round < 12; ++round) {
        std::atomic<pid_t> backend = 0;
        bool failed = false;
        std::thread worker([&] {
            try {
                Session session(server_);
                backend = session.backend();
                run_all(session, plan);
            } catch (const std::exception &) {
                failed = true;
            }
        });
        while (backend == 0)
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(25 * round));
        session_.run(
            (round % 2 == 0 ? "SELECT pg_cancel_backend(" : "SELECT pg_terminate_backend(") +
            std::to_string(backend) + ")");
        worker.join();
        cut_off += failed ? 1 : 0;
        EXPECT_EQ(session_.number("SELECT count(*) FROM recent"), 2000);
        EXPECT_EQ(session_.sqlstate("INSERT INTO items VALUES (5)"), "23503");
        run_all(session_, plan);
        EXPECT_EQ(definitions(server_), meant);
        run_all(session_, way_back);
    }
    EXPECT_GT(cut_off, 0);
}

// The subscriber knows an ordinary table, and is told nothing.
TEST(PartitionPublished, TheSubscriberNoticesNothing) {
    const Server publisher(1, {"wal_level = logical", "fsync = off"});
    const Server subscriber(2, {"wal_receiver_status_interval = 1s", "fsync = off"});
    Session here(publisher);
    Session there(subscriber);
    here.run(schema);
    there.run("CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint, item text)");
    here.run("ALTER PUBLICATION shop SET TABLE orders (id, customer_id, item)");
    there.run("CREATE SUBSCRIPTION shop CONNECTION '" + publisher.conninfo() +
              "' PUBLICATION shop");
    std::atomic<bool> stop = false;
    std::string error;
    std::thread writer([&] {
        try {
            Session session(publisher);
            while (!stop)
                session.run("INSERT INTO orders (item) VALUES ('new');"
                            " UPDATE orders SET item = item || '.' WHERE id % 10 = 3;"
                            " DELETE FROM orders WHERE id % 100 = 7");
        } catch (const std::exception &failure) {
            error = failure.what();
        }
    });
    run_all(here, plan);
    here.run(
        "INSERT INTO orders (id, item) VALUES (snowflake.make_id('2080-02-02', 1, 1), 'then')");
    here.run("UPDATE orders SET item = 'changed' WHERE item = 'then!'");
    stop = true;
    writer.join();
    EXPECT_EQ(error, "");
    wait_for(here, "(SELECT bool_and(confirmed_flush_lsn >= '" +
                       here.text("SELECT pg_current_wal_insert_lsn()") +
                       "') AND count(*) = 1 FROM pg_replication_slots)");
    const std::string rows = "SELECT count(*) || md5(string_agg(concat(id, customer_id, item), ',' "
                             "ORDER BY id)) FROM orders";
    EXPECT_EQ(there.text(rows), here.text(rows));
    EXPECT_EQ(there.number("SELECT sum(apply_error_count) FROM pg_stat_subscription_stats"), 0);
    EXPECT_EQ(there.number("SELECT count(*) FROM orders WHERE item = 'changed'"), 1);
}

} // namespace
} // namespace integration::partition_test
