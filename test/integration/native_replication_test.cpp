// Two servers, joined by the server's own logical replication: both write, in both directions; or
// one publishes sequences.
#include "inserter.hpp"
#include "server.hpp"
#include "session.hpp"

#include <array>

namespace integration::native_replication_test {
namespace {

// From this version on a subscription can leave out the changes that the sender has itself
// received.
constexpr Id first_with_origins = 160000;

// From this version on a publication can have sequences.
constexpr Id first_with_sequences = 190000;

class TwoServers : public testing::Test {
  protected:
    TwoServers() {
        for (const Server &server : servers_) {
            Session session(server);
            session.run("CREATE EXTENSION snowflake");
            session.run("CREATE TABLE orders (id bigserial PRIMARY KEY, maker text)");
            session.run(
                "SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', waive => 'node')");
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

// A server that publishes its sequences, and one that makes IDs from sequences of the same names.
class PublishedSequences : public testing::Test {
  protected:
    PublishedSequences() {
        for (Session *session : {&here_, &there_}) {
            session->run("CREATE EXTENSION snowflake");
            session->run("CREATE TABLE orders (id bigserial PRIMARY KEY, maker text)");
        }
        convert(here_);
    }

    void SetUp() override {
        if (here_.number("SHOW server_version_num") < first_with_sequences)
            GTEST_SKIP() << "publications have no sequences before PostgreSQL 19";
        here_.run("CREATE PUBLICATION numbers FOR ALL SEQUENCES");
    }

    static void convert(Session &session) {
        session.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq')");
    }

    void subscribe() {
        there_.run("CREATE SUBSCRIPTION numbers CONNECTION '" + publisher_.conninfo() +
                   "' PUBLICATION numbers");
    }

    // Waits until the publisher's last values have been written to the subscriber's sequences.
    void wait_until_refreshed() {
        wait_for(there_, "(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)");
    }
    void refresh() {
        there_.run("ALTER SUBSCRIPTION numbers REFRESH SEQUENCES");
        wait_until_refreshed();
    }

    const Server publisher_{1, {"wal_level = logical", "fsync = off"}};
    const Server subscriber_{2, {"wal_retrieve_retry_interval = 100ms", "fsync = off"}};
    Session here_{publisher_};
    Session there_{subscriber_};
};

const char *const draw = "SELECT snowflake.nextval('orders_id_seq')";
const char *const last_value = "SELECT last_value FROM orders_id_seq";

// The sequence that the extension makes is refreshed as well.
TEST_F(PublishedSequences, GiveASubscriberTheLastValueButNotTheNode) {
    convert(there_);
    here_.run(draw);
    here_.run("SELECT snowflake.nextval()");
    subscribe();
    wait_until_refreshed();
    for (const char *value : {last_value, "SELECT last_value FROM snowflake.id_seq"})
        EXPECT_EQ(there_.number(value), here_.number(value));

    for (const char *drawing : {draw, "SELECT snowflake.nextval()"}) {
        const Id before = there_.number(drawing);
        refresh();
        const Id after = there_.number(drawing);
        EXPECT_GT(after, before);
        EXPECT_EQ(there_.number("SELECT snowflake.get_node(" + std::to_string(after) + ")"), 2);
    }
    EXPECT_EQ(there_.sqlstate("SELECT nextval('orders_id_seq')"), "2200H"); // the guard
}

// Each refresh puts the sequence back below IDs that it has made. The primary key would refuse one
// that came again.
TEST_F(PublishedSequences, AreRefreshedWhileBothServersInsert) {
    convert(there_);
    there_.run("ALTER SEQUENCE orders_id_seq CACHE 16");
    here_.run(draw);
    subscribe();
    Inserters clients;
    for (unsigned i = 0; i < 4; ++i)
        clients.push_back(std::make_unique<Inserter>(i % 2 == 0 ? publisher_ : subscriber_,
                                                     std::to_string(i % 2 + 1), Inserter::endless,
                                                     i));
    constexpr int refreshes = 10;
    for (int i = 0; i < refreshes; ++i)
        refresh();
    for (const auto &client : clients)
        client->stop();
    const int inserted = wait_for_all(clients);
    Id rows = 0;
    for (Session *session : {&here_, &there_}) {
        rows += session->number("SELECT count(*) FROM orders");
        EXPECT_EQ(session->number("SELECT count(*) FROM orders WHERE snowflake.get_node(id)::text "
                                  "<> maker"),
                  0);
    }
    EXPECT_EQ(rows, inserted);
}

// The subscription is set up before the sequence is converted on the subscriber.
TEST_F(PublishedSequences, LeaveASequenceAloneThatIsNotConverted) {
    there_.run("INSERT INTO orders DEFAULT VALUES");
    here_.run(draw);
    subscribe();
    wait_for(there_, "(SELECT sync_seq_error_count > 0 FROM pg_stat_subscription_stats)");
    EXPECT_EQ(there_.number(last_value), 1);
    convert(there_);
    wait_until_refreshed();
    EXPECT_EQ(there_.number(last_value), here_.number(last_value));
    const Id id = there_.number(draw);
    EXPECT_EQ(there_.number("SELECT snowflake.get_node(" + std::to_string(id) + ")"), 2);
}

// What the document warns of: a subscriber that follows a publisher whose sequence is ahead of the
// clock is put back to where it was before, and the clock does not keep its IDs from coming again.
TEST_F(PublishedSequences, MakeIdsComeAgainWhereTheyAreAheadOfTheClock) {
    convert(there_);
    here_.run("SELECT setval('orders_id_seq', snowflake.from_timestamp(now() + '1 hour'))");
    subscribe();
    wait_until_refreshed();
    const Id id = there_.number(draw);
    EXPECT_EQ(there_.number("SELECT count(*) FROM snowflake.sequences WHERE ahead > '50 minutes'"),
              1);
    refresh();
    EXPECT_EQ(there_.number(draw), id);
}

} // namespace
} // namespace integration::native_replication_test
