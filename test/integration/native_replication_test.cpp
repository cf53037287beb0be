// Two servers, joined by the server's own logical replication: both write, in both directions; or
// one publishes tables whose keys are widened without a long lock; or one publishes sequences.
#include "inserter.hpp"
#include "server.hpp"
#include "session.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <regex>
#include <thread>

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

// A client that writes to both tables of a shop until it is stopped.
class ShopWriter {
  public:
    explicit ShopWriter(const Server &server) : session_(server), thread_([this] { work(); }) {}
    ShopWriter(const ShopWriter &) = delete;
    ShopWriter &operator=(const ShopWriter &) = delete;
    ShopWriter(ShopWriter &&) = delete;
    ShopWriter &operator=(ShopWriter &&) = delete;
    ~ShopWriter() { stop(); }

    // Returns why the client could not write; empty: it could.
    std::string stop() {
        stop_ = true;
        if (thread_.joinable())
            thread_.join();
        return error_;
    }

  private:
    void work() {
        try {
            while (!stop_)
                session_.run("WITH c AS (INSERT INTO customers (name) VALUES ('new') RETURNING id)"
                             " INSERT INTO orders (customer_id) SELECT id FROM c;"
                             " UPDATE customers SET name = name || '.' WHERE id % 10 = 3;"
                             " DELETE FROM orders WHERE customer_id % 10 = 7");
        } catch (const std::exception &error) {
            error_ = error.what();
        }
    }

    Session session_;
    std::string error_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// The tables of a shop, published by one server and received by the other.
class PublishedTables : public testing::Test {
  protected:
    PublishedTables() {
        for (Session *session : {&here_, &there_})
            session->run("CREATE TABLE customers (id serial PRIMARY KEY, name text);"
                         "CREATE TABLE orders (number serial PRIMARY KEY,"
                         " customer_id integer NOT NULL REFERENCES customers)");
        here_.run(
            "INSERT INTO customers (name) SELECT 'old' FROM generate_series(1, 1000);"
            "INSERT INTO orders (customer_id) SELECT i % 1000 + 1 FROM generate_series(1, 2000) i;"
            "CREATE EXTENSION snowflake; CREATE PUBLICATION shop FOR TABLE customers, orders");
        there_.run("CREATE SUBSCRIPTION shop CONNECTION '" + publisher_.conninfo() +
                   "' PUBLICATION shop");
    }

    // Waits until the subscriber has everything, and compares.
    void expect_the_same_rows() {
        wait_for(there_, "(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)");
        wait_for(here_, "(SELECT bool_and(confirmed_flush_lsn >= '" +
                            here_.text("SELECT pg_current_wal_insert_lsn()") +
                            "') FROM pg_replication_slots)");
        for (const char *rows :
             {"SELECT md5(string_agg(concat(id, name), ',' ORDER BY id)) FROM customers",
              "SELECT md5(string_agg(concat(number, ' ', customer_id), ',' ORDER BY number)) FROM "
              "orders"})
            EXPECT_EQ(here_.text(rows), there_.text(rows));
        EXPECT_EQ(there_.number("SELECT sum(apply_error_count) FROM pg_stat_subscription_stats"),
                  0);
    }

    // Lets the subscriber have wide keys, and what else the commands do. A subscription that is at
    // work could be part of a deadlock.
    void prepare_subscriber(const std::vector<std::string> &additions) {
        there_.run("ALTER SUBSCRIPTION shop DISABLE");
        wait_for(there_, "NOT EXISTS (SELECT FROM pg_stat_subscription WHERE pid IS NOT NULL)");
        there_.run("ALTER TABLE customers ALTER COLUMN id TYPE bigint");
        there_.run("ALTER TABLE orders ALTER COLUMN customer_id TYPE bigint");
        for (const std::string &addition : additions)
            there_.run(addition);
        there_.run("ALTER SUBSCRIPTION shop ENABLE");
    }

    // The commands in the error of the plan: for each table one that adds a column, and one that
    // comments on it.
    std::vector<std::string> commands_of_obstacles() {
        try {
            here_.run(plan);
        } catch (const std::exception &error) {
            const std::string text = error.what();
            const std::regex command(
                R"(ALTER TABLE \S+ ADD COLUMN \S+ bigint|COMMENT ON COLUMN \S+ IS '\S+')");
            std::vector<std::string> commands;
            for (std::sregex_iterator found(text.begin(), text.end(), command), end; found != end;
                 ++found)
                commands.push_back(found->str());
            return commands;
        }
        return {};
    }

    static inline const std::string plan =
        "SELECT command FROM snowflake.conversion_plan('customers_id_seq', online => true)"
        " WHERE command IS NOT NULL ORDER BY step";
    const Server publisher_{1, {"wal_level = logical", "fsync = off"}};
    const Server subscriber_{2, {"wal_receiver_status_interval = 1s", "fsync = off"}};
    Session here_{publisher_};
    Session there_{subscriber_};
};

// In the order of docs/converting.md.
TEST_F(PublishedTables, AreWidenedWithoutALongLock) {
    expect_the_same_rows();
    ShopWriter writer(publisher_);
    const std::vector<std::string> additions = commands_of_obstacles();
    ASSERT_EQ(additions.size(), 4U);
    prepare_subscriber(additions);
    for (const std::string &addition : additions)
        here_.run(addition);
    EXPECT_EQ(commands_of_obstacles().size(), 0U);
    for (const std::string &command : here_.texts(plan))
        here_.run(command);
    EXPECT_EQ(writer.stop(), "");
    here_.run("INSERT INTO customers (name) VALUES ('wide')");
    EXPECT_GT(here_.number("SELECT max(id) FROM customers"), std::numeric_limits<int>::max());
    expect_the_same_rows();
    there_.run("ALTER TABLE customers DROP COLUMN snowflake_id");
    there_.run("ALTER TABLE orders DROP COLUMN snowflake_customer_id");
    here_.run("INSERT INTO orders (customer_id) SELECT max(id) FROM customers");
    expect_the_same_rows();
}

// A publication that lists the columns does not send the new ones.
TEST_F(PublishedTables, WithListsOfColumnsNeedNothingOnTheSubscriberButWiderOnes) {
    here_.run(
        "ALTER PUBLICATION shop SET TABLE customers (id, name), orders (number, customer_id)");
    expect_the_same_rows();
    prepare_subscriber({});
    ShopWriter writer(publisher_);
    for (const std::string &command : here_.texts(plan))
        here_.run(command);
    EXPECT_EQ(writer.stop(), "");
    here_.run("INSERT INTO customers (name) VALUES ('wide')");
    expect_the_same_rows();
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
