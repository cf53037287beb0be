// Tables whose keys are widened without a long lock while a server sends their rows to subscribers:
// beside a writer, with a subscriber that joins midway, by the server's own replication and by
// pglogical.
#include "mesh.hpp"
#include "server.hpp"
#include "session.hpp"

#include <atomic>
#include <limits>
#include <regex>
#include <thread>

namespace integration::published_tables_test {
namespace {

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
                             " UPDATE customers SET name = name || '.' WHERE id % 1000 = 3;"
                             " DELETE FROM orders WHERE customer_id % 1000 = 7");
        } catch (const std::exception &error) {
            error_ = error.what();
        }
    }

    Session session_;
    std::string error_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// How rows get from one server to others.
class Replicator {
  public:
    Replicator() = default;
    Replicator(const Replicator &) = delete;
    Replicator &operator=(const Replicator &) = delete;
    Replicator(Replicator &&) = delete;
    Replicator &operator=(Replicator &&) = delete;
    virtual ~Replicator() = default;

    virtual void publish(const Server &publisher) const = 0;

    // Subscribes a server to both tables of the publisher, without waiting for their rows. Values
    // come in binary form, which cannot change their types, or as text.
    virtual void subscribe(const Server &subscriber, const std::string &name,
                           const Server &publisher, bool as_text) const = 0;

    // Stops a subscription, and lets it go on.
    virtual void disable(Session &subscriber, const std::string &name) const = 0;
    virtual void enable(Session &subscriber, const std::string &name) const = 0;

    // Waits until the subscriber has copied the tables, and receives changes.
    virtual void wait_for_copy(Session &subscriber, const std::string &name) const = 0;

    // Counts how often a subscription has been stopped by an error.
    [[nodiscard]] virtual Id errors(const Server &subscriber) const = 0;
};

class Native : public Replicator {
  public:
    // Subscribers of tables with REPLICA IDENTITY FULL find rows by their own keys.
    explicit Native(std::string publication) : publication_(std::move(publication)) {}

    void publish(const Server &publisher) const override {
        Session(publisher).run("CREATE PUBLICATION shop " + publication_);
    }
    void subscribe(const Server &subscriber, const std::string &name, const Server &publisher,
                   bool as_text) const override {
        Session(subscriber)
            .run("CREATE SUBSCRIPTION " + name + " CONNECTION '" + publisher.conninfo() +
                 "' PUBLICATION shop WITH (binary = " + (as_text ? "false" : "true") + ")");
    }
    void disable(Session &subscriber, const std::string &name) const override {
        subscriber.run("ALTER SUBSCRIPTION " + name + " DISABLE");
        wait_for(subscriber, "NOT EXISTS (SELECT FROM pg_stat_subscription WHERE pid IS NOT NULL)");
    }
    void enable(Session &subscriber, const std::string &name) const override {
        subscriber.run("ALTER SUBSCRIPTION " + name + " ENABLE");
    }
    void wait_for_copy(Session &subscriber, const std::string & /*name*/) const override {
        wait_for(subscriber, "(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)");
    }
    // PostgreSQL 19 counts the errors of copying under other names.
    [[nodiscard]] Id errors(const Server &subscriber) const override {
        return Session(subscriber)
            .number("SELECT sum(value::bigint) FROM pg_stat_subscription_stats s, "
                    "jsonb_each_text(to_jsonb(s)) WHERE key ~ '_error_count$'");
    }

  private:
    std::string publication_;
};

class Pglogical : public Replicator {
  public:
    void publish(const Server &publisher) const override {
        Session session(publisher);
        make_node(session, publisher, "here");
        for (const char *table : {"customers", "orders"})
            session.run("SELECT pglogical.replication_set_add_table('default', '" +
                        std::string(table) + "')");
    }
    void subscribe(const Server &subscriber, const std::string &name, const Server &publisher,
                   bool as_text) const override {
        Session session(subscriber);
        make_node(session, subscriber, name);
        session.run("SELECT pglogical.create_subscription('" + name + "', '" +
                    publisher.conninfo() +
                    "', synchronize_structure := false, force_text_transfer := " +
                    (as_text ? "true" : "false") + ")");
    }
    void disable(Session &subscriber, const std::string &name) const override {
        subscriber.run("SELECT pglogical.alter_subscription_disable('" + name + "', true)");
        wait_for(subscriber, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type LIKE "
                             "'pglogical apply%')");
    }
    void enable(Session &subscriber, const std::string &name) const override {
        subscriber.run("SELECT pglogical.alter_subscription_enable('" + name + "', true)");
    }
    void wait_for_copy(Session &subscriber, const std::string &name) const override {
        subscriber.run("SELECT pglogical.wait_for_subscription_sync_complete('" + name + "')");
    }
    [[nodiscard]] Id errors(const Server &subscriber) const override {
        const std::string log = read_file(subscriber.file("log"));
        const std::regex ended("exiting with error");
        return std::distance(std::sregex_iterator(log.begin(), log.end(), ended),
                             std::sregex_iterator());
    }

  private:
    static void make_node(Session &session, const Server &server, const std::string &name) {
        allow_output_plugin(session);
        session.run("CREATE EXTENSION pglogical");
        session.run("SELECT pglogical.create_node('" + name + "', '" + server.conninfo() + "')");
    }
};

const std::vector<std::string> &settings() {
    static const std::vector<std::string> lines = [] {
        std::vector<std::string> all = {"wal_level = logical", "wal_receiver_status_interval = 1s",
                                        "wal_retrieve_retry_interval = 100ms", "fsync = off"};
        if (Mesh::available())
            all.emplace_back("shared_preload_libraries = 'pglogical'");
        return all;
    }();
    return lines;
}

// The tables of a shop, sent by one server and received by others.
class Shop {
  public:
    explicit Shop(const Replicator &replicator) : replicator_(replicator) {
        here_.run(tables);
        here_.run("INSERT INTO customers (name) SELECT 'old' FROM generate_series(1, 10000);"
                  "INSERT INTO orders (customer_id) SELECT i % 10000 + 1 FROM generate_series(1, "
                  "20000) i; CREATE EXTENSION snowflake");
        replicator_.publish(publisher_);
        there_.run(tables);
        replicator_.subscribe(subscriber_, "there", publisher_, false);
    }

    [[nodiscard]] const Server &publisher() const { return publisher_; }
    Session &here() { return here_; }

    // Waits until the subscribers have everything, and compares.
    void expect_the_same_rows() {
        std::vector<std::pair<const Server *, Session *>> subscribers = {{&subscriber_, &there_}};
        replicator_.wait_for_copy(there_, "there");
        if (has_joined_) {
            replicator_.wait_for_copy(late_, "late");
            subscribers.emplace_back(&joining_, &late_);
        }
        wait_for(here_, "(SELECT bool_and(confirmed_flush_lsn >= '" +
                            here_.text("SELECT pg_current_wal_insert_lsn()") +
                            "') FROM pg_replication_slots)");
        for (const auto &[server, session] : subscribers) {
            for (const char *rows : {"SELECT md5(string_agg(concat(id, name), ',' ORDER BY id)) "
                                     "FROM customers",
                                     "SELECT md5(string_agg(concat(number, ' ', customer_id), ',' "
                                     "ORDER BY number)) FROM orders"})
                EXPECT_EQ(here_.text(rows), session->text(rows));
            EXPECT_EQ(replicator_.errors(*server), 0);
        }
    }

    // Runs on a subscriber what rows of the plan tell; its columns may be widened already.
    void prepare() {
        EXPECT_EQ(here_.sqlstate(here_.texts(plan()).front()), "0A000");
        const std::vector<std::string> commands = commands_for_subscribers("before");
        replicator_.disable(there_, "there");
        for (const std::string &command : commands)
            there_.run(named(command, "there"));
        replicator_.enable(there_, "there");
    }

    // Widens the columns of a subscriber that goes on receiving rows, without a long lock.
    void widen_there() {
        replicator_.disable(there_, "there");
        there_.run(named(commands_for_subscribers("before").front(), "there"));
        replicator_.enable(there_, "there");
        there_.run("CREATE EXTENSION snowflake");
        for (const std::string &command : there_.texts(plan(", target => 'bigint'")))
            there_.run(command);
    }

    // Lets another subscriber join. Its tables are made as those of the first were.
    void join() {
        late_.run(tables);
        for (const std::string &command : commands_for_subscribers("before"))
            if (command.starts_with("ALTER TABLE"))
                late_.run(command);
        replicator_.subscribe(joining_, "late", publisher_, true);
        has_joined_ = true;
        replicator_.wait_for_copy(late_, "late");
    }

    // Runs on the subscribers what is left to do in the end; it was in the plan.
    void clear_up(const std::vector<std::string> &commands) {
        for (Session *session : {&there_, &late_})
            if (session == &there_ || has_joined_)
                for (const std::string &command : commands)
                    session->run(command);
    }

    // Starts to fill a table, and is interrupted when the first pages have been filled.
    void fill_the_beginning() {
        Session session(publisher_);
        const std::string pid = std::to_string(session.backend());
        std::string state;
        std::thread thread([&] {
            state = session.sqlstate(
                "CALL snowflake._fill_shadows('customers_id_seq', 'customers', pause => '1 day')");
        });
        wait_for(here_, "EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + pid +
                            " AND wait_event = 'PgSleep')");
        here_.run("SELECT pg_cancel_backend(" + pid + ")");
        thread.join();
        EXPECT_EQ(state, "57014");
    }

    // Returns the commands for subscribers in the rows of the plan. The tables have primary keys.
    std::vector<std::string> commands_for_subscribers(const std::string &when) {
        std::vector<std::string> commands;
        for (const std::string &row : here_.texts(
                 "SELECT effect FROM snowflake.conversion_plan('customers_id_seq', online "
                 "=> true) WHERE command IS NULL AND effect LIKE '" +
                 when +
                 " % on each subscriber of %' AND effect NOT LIKE '%PRIMARY KEY%' ORDER BY step"))
            commands.push_back(row.substr(row.find(": ") + 2));
        return commands;
    }

    // Returns a query for the commands that are left.
    static std::string plan(const std::string &arguments = "") {
        return "SELECT command FROM snowflake.conversion_plan('customers_id_seq', online => true" +
               arguments + ") WHERE command IS NOT NULL ORDER BY step";
    }

  private:
    // Names the subscription in a command, and leaves out when that is needed.
    static std::string named(const std::string &command, const std::string &subscription) {
        return std::regex_replace(
            std::regex_replace(command, std::regex(R"( \.\.\. )"), " " + subscription + " "),
            std::regex(", if .*"), "");
    }

    static inline const std::string tables =
        "CREATE TABLE customers (id serial PRIMARY KEY, name text);"
        "CREATE TABLE orders (number serial PRIMARY KEY,"
        " customer_id integer NOT NULL REFERENCES customers)";
    const Replicator &replicator_;
    const Server publisher_{1, settings()};
    const Server subscriber_{2, settings()};
    const Server joining_{3, settings()};
    Session here_{publisher_};
    Session there_{subscriber_};
    Session late_{joining_};
    bool has_joined_ = false;
};

const std::string ready = ", waive => 'subscribers'";

// Interrupted, taken back and begun again, with another subscriber that joins midway.
void convert(const Replicator &replicator, std::size_t columns_added, bool widens_there = false) {
    Shop shop(replicator);
    shop.expect_the_same_rows();
    ShopWriter writer(shop.publisher());
    if (widens_there)
        shop.widen_there();
    shop.prepare();
    const std::vector<std::string> afterwards = shop.commands_for_subscribers("after");
    EXPECT_EQ(afterwards.size(), columns_added);

    const std::vector<std::string> commands = shop.here().texts(Shop::plan(ready));
    for (std::size_t i = 0; commands.at(i).starts_with("SELECT"); ++i)
        shop.here().run(commands.at(i));
    shop.fill_the_beginning();
    shop.here().run("SELECT snowflake.cancel_conversion('customers_id_seq')");
    EXPECT_EQ(shop.here().texts(Shop::plan(ready)), commands);
    for (std::size_t i = 0; commands.at(i).starts_with("SELECT"); ++i)
        shop.here().run(commands.at(i));
    shop.fill_the_beginning();
    shop.join();
    const std::vector<std::string> left = shop.here().texts(Shop::plan(ready));
    EXPECT_LT(left.size(), commands.size());
    EXPECT_EQ(shop.here().sqlstate(shop.here().texts(Shop::plan()).back()), "0A000");
    for (const std::string &command : left)
        shop.here().run(command);
    EXPECT_EQ(writer.stop(), "");

    shop.here().run("INSERT INTO customers (name) VALUES ('wide')");
    EXPECT_GT(shop.here().number("SELECT max(id) FROM customers"), std::numeric_limits<int>::max());
    shop.expect_the_same_rows();
    shop.clear_up(afterwards);
    shop.here().run("INSERT INTO orders (customer_id) SELECT max(id) FROM customers;"
                    "UPDATE customers SET name = 'last' WHERE id % 100 = 1;"
                    "DELETE FROM orders WHERE number % 100 = 1");
    shop.expect_the_same_rows();
}

TEST(PublishedTables, AreWidenedWithoutALongLock) {
    convert(Native("FOR TABLE customers, orders"), 2);
}

TEST(PublishedTables, AreWidenedOnASubscriberBeforeWithoutALongLockThereEither) {
    convert(Native("FOR TABLE customers, orders"), 2, true);
}

// Its subscribers find rows by their keys.
TEST(PublishedTables, OfASchemaWithTheWholeRowAsReplicaIdentityAreWidenedToo) {
    convert(Native("FOR TABLES IN SCHEMA public; ALTER TABLE orders REPLICA IDENTITY FULL"), 2);
}

// New columns are not sent.
TEST(PublishedTables, WithListsOfColumnsNeedOnlyWiderOnesOnSubscribers) {
    convert(Native("FOR TABLE customers (id, name), orders (number, customer_id)"), 0);
}

TEST(PublishedTables, OfPglogicalAreWidenedToo) {
    if (!Mesh::available())
        GTEST_SKIP() << "pglogical is not installed for this version of PostgreSQL";
    convert(Pglogical(), 2);
}

} // namespace
} // namespace integration::published_tables_test
