// Two servers that both write, joined in both directions by the server's own logical replication.
#include "inserter.hpp"
#include "server.hpp"
#include "session.hpp"

#include <array>

namespace integration::native_replication_test {
namespace {

// From this version on a subscription can leave out the changes that the sender has itself
// received.
constexpr Id first_with_origins = 160000;

class TwoServers : public testing::Test {
  protected:
    TwoServers() {
        for (const Server &server : servers_) {
            Session session(server);
            session.run("CREATE EXTENSION snowflake");
            session.run("CREATE TABLE orders (id bigserial PRIMARY KEY, maker text)");
            session.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq')");
            session.run("CREATE PUBLICATION shared FOR TABLE orders, snowflake.nodes");
        }
    }

    // Subscribes one server to the other. The subscription is named after the sender, and so is the
    // slot that the sender makes.
    void subscribe(std::size_t receiver, std::size_t sender) const {
        const std::string name = "from_" + std::to_string(sender);
        Session(servers_.at(receiver))
            .run("CREATE SUBSCRIPTION " + name + " CONNECTION '" + servers_.at(sender).conninfo() +
                 "' PUBLICATION shared WITH (origin = none, copy_data = false)");
    }

    // Waits until each server has received all that the other has written.
    void wait_until_quiet() const {
        for (const Server &server : servers_) {
            Session session(server);
            const std::string written = session.text("SELECT pg_current_wal_insert_lsn()");
            wait_for(server,
                     "SELECT bool_and(confirmed_flush_lsn >= '" + written +
                         "') FROM pg_replication_slots",
                     "t");
        }
    }

    static inline const std::vector<std::string> settings = {
        "wal_level = logical", "wal_receiver_status_interval = 1s", "fsync = off"};
    const std::array<Server, 2> servers_{Server(0, settings), Server(0, settings)};
};

TEST_F(TwoServers, HoldTheSameRows) {
    if (Session(servers_.front()).number("SHOW server_version_num") < first_with_origins)
        GTEST_SKIP() << "subscriptions have no origin before PostgreSQL 16";
    subscribe(0, 1);
    subscribe(1, 0);
    for (int i = 0; i < 2; ++i) {
        Session session(servers_.at(static_cast<std::size_t>(i)));
        session.run("SELECT snowflake.claim_node(" + std::to_string(i + 1) + ")");
        wait_until_quiet();
    }

    Inserters clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(std::make_unique<Inserter>(servers_.at(static_cast<std::size_t>(i % 2)),
                                                     std::to_string(i % 2 + 1), 2000,
                                                     static_cast<unsigned>(i)));
    const int inserted = wait_for_all(clients);
    wait_until_quiet();

    const std::string rows = "SELECT count(*) || ' ' || md5(string_agg(orders::text, ',' ORDER BY "
                             "id)) FROM orders";
    EXPECT_EQ(Session(servers_.front()).text(rows), Session(servers_.back()).text(rows));
    for (const Server &server : servers_) {
        Session session(server);
        EXPECT_EQ(session.number("SELECT count(*) FROM orders"), inserted);
        EXPECT_EQ(session.number("SELECT count(*) FROM orders WHERE snowflake.get_node(id)::text "
                                 "<> maker"),
                  0);
        EXPECT_EQ(session.number("SELECT sum(apply_error_count) FROM pg_stat_subscription_stats"),
                  0);
    }
}

} // namespace
} // namespace integration::native_replication_test
