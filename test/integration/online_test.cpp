// A conversion without a long lock, beside writers on all of its tables, killed and cancelled at
// every step: no row is lost or differs, and the result is that of a conversion with a lock.
#include "dump.hpp"
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

namespace integration::online_test {
namespace {

// The columns that are widened are the last ones of their tables, so that they stay where they are.
// Triggers of users count what is done to a row, and write it down.
const char *const schema = R"(
CREATE EXTENSION snowflake;
CREATE TABLE log (maker integer, what text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    NEW.touched := NEW.touched + 1;
    INSERT INTO public.log VALUES (NEW.maker, TG_OP);
    RETURN NEW;
END$$;
CREATE TABLE customers (maker integer NOT NULL, value integer NOT NULL, touched integer NOT NULL DEFAULT 0,
                        id serial PRIMARY KEY, parent_id integer REFERENCES customers);
CREATE TABLE orders (maker integer NOT NULL, value integer NOT NULL, touched integer NOT NULL DEFAULT 0,
                     customer_id integer NOT NULL CHECK (customer_id > 0),
                     other_id integer REFERENCES customers ON DELETE SET NULL,
                     CONSTRAINT of_customer FOREIGN KEY (customer_id) REFERENCES customers ON DELETE CASCADE
                                            DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE tags (name text NOT NULL, customer_id smallint, PRIMARY KEY (name, customer_id));
ALTER TABLE tags ADD FOREIGN KEY (customer_id) REFERENCES customers NOT VALID;
CREATE INDEX ON orders (customer_id, value DESC) INCLUDE (maker);
CREATE INDEX by_digit ON orders ((customer_id % 10), (lower(maker::text))) WHERE customer_id > 5;
CREATE UNIQUE INDEX ON customers (id DESC NULLS LAST) WITH (fillfactor = 80);
ALTER TABLE customers REPLICA IDENTITY USING INDEX customers_pkey, CLUSTER ON customers_pkey;
ALTER TABLE orders ADD CONSTRAINT positive CHECK (customer_id > -value) NOT VALID;
ALTER TABLE customers ALTER COLUMN id SET STATISTICS 77;
CREATE STATISTICS pairs ON value, customer_id FROM orders;
COMMENT ON COLUMN customers.id IS 'the key';
COMMENT ON CONSTRAINT of_customer ON orders IS 'whose';
COMMENT ON INDEX by_digit IS 'for nothing';
CREATE ROLE reader;
GRANT SELECT (id), UPDATE (parent_id) ON customers TO reader;
CREATE VIEW both_of_them AS SELECT c.id, o.customer_id, o.value FROM customers c JOIN orders o ON o.customer_id = c.id;
GRANT SELECT ON both_of_them TO reader;
CREATE FUNCTION first_order(customers) RETURNS integer LANGUAGE sql
    BEGIN ATOMIC SELECT min(value) FROM orders WHERE customer_id = ($1).id; END;
CREATE RULE no_tags AS ON DELETE TO tags WHERE old.customer_id < 0 DO INSTEAD NOTHING;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON orders TO reader USING (customer_id > 3);
CREATE TRIGGER note BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note BEFORE UPDATE OF value, customer_id ON orders FOR EACH ROW
    WHEN (OLD.customer_id IS NOT NULL) EXECUTE FUNCTION note();
)";

// Materialized views that are filled, of tables and of views.
const char *const filled_views = R"(
CREATE MATERIALIZED VIEW totals AS
    SELECT c.id, c.value, count(o.customer_id) AS orders FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.value;
CREATE UNIQUE INDEX ON totals (id);
CREATE STATISTICS of_totals ON id, orders FROM totals;
COMMENT ON MATERIALIZED VIEW totals IS 'of customers';
COMMENT ON COLUMN totals.orders IS 'how many';
GRANT SELECT ON totals TO reader WITH GRANT OPTION;
GRANT UPDATE (id) ON totals TO PUBLIC;
CREATE MATERIALIZED VIEW above WITH (fillfactor = 70) AS
    SELECT b.id, b.customer_id, t.orders FROM both_of_them b JOIN totals t ON t.id = b.id WHERE b.value > 10;
CREATE INDEX ON above ((id % 10)) WHERE orders > 1;
CREATE VIEW on_top AS SELECT count(*), max(id) AS id FROM above;
)";

// The same with orders in partitions of two levels, one of them with columns at other places; and
// with a partitioned table whose key others reference.
const char *const partitions = R"(
DROP VIEW both_of_them;
DROP FUNCTION first_order(customers);
DROP TABLE orders;
CREATE TABLE orders (maker integer NOT NULL, value integer NOT NULL, touched integer NOT NULL DEFAULT 0,
                     customer_id integer NOT NULL CHECK (customer_id > 0),
                     other_id integer REFERENCES customers ON DELETE SET NULL,
                     CONSTRAINT of_customer FOREIGN KEY (customer_id) REFERENCES customers ON DELETE CASCADE
                                            DEFERRABLE INITIALLY DEFERRED) PARTITION BY LIST (maker);
CREATE TABLE orders_0 PARTITION OF orders FOR VALUES IN (0) PARTITION BY HASH (value);
CREATE TABLE orders_0_a PARTITION OF orders_0 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE orders_0_b PARTITION OF orders_0 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE orders_1 (dropped integer, maker integer NOT NULL, value integer NOT NULL, touched integer NOT NULL DEFAULT 0,
                       customer_id integer CONSTRAINT orders_customer_id_not_null NOT NULL, other_id integer,
                       CONSTRAINT orders_customer_id_check CHECK (customer_id > 0));
ALTER TABLE orders_1 DROP COLUMN dropped;
ALTER TABLE orders ATTACH PARTITION orders_1 FOR VALUES IN (1);
CREATE TABLE orders_rest PARTITION OF orders DEFAULT;
CREATE INDEX ON orders (customer_id, value DESC) INCLUDE (maker);
CREATE INDEX by_digit ON orders ((customer_id % 10), (lower(maker::text))) WHERE customer_id > 5;
CREATE INDEX of_one ON orders_1 (customer_id);
ALTER TABLE orders ADD CONSTRAINT positive CHECK (customer_id > -value) NOT VALID;
COMMENT ON CONSTRAINT of_customer ON orders IS 'whose';
CREATE VIEW both_of_them AS SELECT c.id, o.customer_id, o.value FROM customers c JOIN orders o ON o.customer_id = c.id;
CREATE TRIGGER note BEFORE UPDATE OF value, customer_id ON orders FOR EACH ROW
    WHEN (OLD.customer_id IS NOT NULL) EXECUTE FUNCTION note();
CREATE TABLE accounts (maker integer, customer_id integer REFERENCES customers, PRIMARY KEY (customer_id, maker))
    PARTITION BY LIST (maker);
CREATE TABLE accounts_0 PARTITION OF accounts FOR VALUES IN (0);
CREATE TABLE accounts_rest PARTITION OF accounts DEFAULT;
CREATE TABLE entries (maker integer, customer_id integer, FOREIGN KEY (customer_id, maker) REFERENCES accounts);
)";

// Enough for a few batches.
std::string rows(int customers) {
    const std::string count = std::to_string(customers);
    return "INSERT INTO customers (maker, value, parent_id) SELECT 0, i, nullif(i - 1, 0) FROM "
           "generate_series(1, " +
           count +
           ") i;"
           "INSERT INTO orders (maker, value, customer_id, other_id) SELECT 0, i, i % " +
           count + " + 1, CASE WHEN i % 3 = 0 THEN i % 100 + 1 END FROM generate_series(1, 2 * " +
           count +
           ") i;"
           "INSERT INTO tags SELECT 'tag' || i, i FROM generate_series(1, 1000) i;" +
           filled_views;
}

const char *const plan =
    "SELECT command FROM snowflake.conversion_plan('customers_id_seq', online => true)"
    " WHERE command IS NOT NULL ORDER BY step";

const char *const fill_view = "CALL snowflake._fill_view(";

void run_plan(const Server &server, const std::string &database) {
    const std::filesystem::path script = server.file("plan.sql");
    std::ofstream(script) << plan << " \\gexec\n";
    const Output output =
        server.run("psql", {"-X", "-q", "-d", server.conninfo(database), "-f", script});
    EXPECT_EQ(output.err, "");
}

// The lines of a dump in alphabetical order: the order of rows does not matter.
std::vector<std::string> lines_of(const Server &server, const std::string &database) {
    std::istringstream text(dump_as_text(server, database));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

// What has to be the same before and after, of rows that nobody else changes.
std::string contents(Session &session) {
    return session.text("SELECT (SELECT md5(string_agg(c::text, ',' ORDER BY id)) FROM"
                        " (SELECT maker, value, touched, id, parent_id FROM customers) c)"
                        " || (SELECT md5(string_agg(o::text, ',' ORDER BY value)) FROM"
                        " (SELECT maker, value, touched, customer_id, other_id FROM orders) o)"
                        " || (SELECT md5(string_agg(t::text, ',' ORDER BY name)) FROM (SELECT "
                        "name, customer_id FROM tags) t)"
                        " || (SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM totals t)"
                        " || (SELECT md5(string_agg(a::text, ',' ORDER BY a::text)) FROM above a)"
                        " || (SELECT count(*) FROM log) || (SELECT o::text FROM on_top o)");
}

class Online : public testing::Test {
  protected:
    Online() : server_(1, {"fsync = off", "autovacuum = off"}) { Session(server_).run(schema); }

    Server server_;
};

// The same of tables, and of tables with partitions.
class OnlineOfBoth : public Online, public testing::WithParamInterface<bool> {
  protected:
    OnlineOfBoth() {
        if (GetParam())
            Session(server_).run(partitions);
    }

    void fill(int customers) {
        Session session(server_);
        session.run(rows(customers));
        if (GetParam())
            session.run("INSERT INTO accounts SELECT maker, id FROM customers;"
                        "INSERT INTO entries TABLE accounts");
    }
};

INSTANTIATE_TEST_SUITE_P(Partitioned, OnlineOfBoth, testing::Bool());

TEST_P(OnlineOfBoth, TheResultIsThatOfALock) {
    fill(2000);
    Session(server_).run("CREATE DATABASE locked TEMPLATE postgres");
    Session(server_).run("ALTER DATABASE locked SET snowflake.node = 2"); // 1 is postgres's
    Session locked(server_, "locked");
    locked.run("SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq')");
    run_plan(server_, "postgres");
    EXPECT_EQ(lines_of(server_, "postgres"), lines_of(server_, "locked"));
    Session online(server_);
    EXPECT_EQ(contents(online), contents(locked));
    EXPECT_EQ(online.numbers(plan).size(), 0U);
    // And back again.
    for (Session *session : {&online, &locked})
        session->run("SELECT snowflake.convert_snowflake_to_sequence('customers_id_seq')");
    EXPECT_EQ(lines_of(server_, "postgres"), lines_of(server_, "locked"));
}

// Likewise where the columns stop at bigint, and an identity goes on counting.
TEST_F(Online, TheResultAtBigintIsThatOfALock) {
    const std::string to_bigint = "('numbered_id_seq', target => 'bigint'";
    Session online(server_);
    online.run(rows(1000));
    online.run("CREATE TABLE numbered (name text, id integer GENERATED ALWAYS AS IDENTITY (CACHE 5)"
               " PRIMARY KEY);"
               "COMMENT ON SEQUENCE numbered_id_seq IS 'counts';"
               "GRANT USAGE ON SEQUENCE numbered_id_seq TO reader;"
               "ALTER TABLE tags ADD numbered_id integer REFERENCES numbered,"
               " ADD second_id integer DEFAULT nextval('numbered_id_seq');"
               "INSERT INTO numbered SELECT i FROM generate_series(1, 100) i");
    online.run("CREATE DATABASE locked TEMPLATE postgres");
    Session locked(server_, "locked");
    locked.run("SELECT snowflake.convert_sequence_to_snowflake" + to_bigint + ")");
    const std::string commands = "SELECT command FROM snowflake.conversion_plan" + to_bigint +
                                 ", online => true) WHERE command IS NOT NULL ORDER BY step";
    for (const std::string &command : online.texts(commands))
        online.run(command);
    EXPECT_EQ(lines_of(server_, "postgres"), lines_of(server_, "locked"));
    EXPECT_EQ(online.texts(commands).size(), 0U);
    // In the second transaction, too, and in a session that has taken numbers before.
    for (Session *session : {&online, &locked})
        session->run("INSERT INTO numbered VALUES ('late')");
    EXPECT_EQ(online.text("SELECT max(id) FROM numbered"),
              locked.text("SELECT max(id) FROM numbered"));
}

// The plan names what clients have sent that counts on the order of columns.
TEST(OnlinePlan, NamesStatementsThatListNoColumns) {
    Server server(1, {"fsync = off", "shared_preload_libraries = pg_stat_statements"});
    Session session(server);
    session.run("CREATE EXTENSION snowflake; CREATE EXTENSION pg_stat_statements;"
                "CREATE TABLE seen (id serial PRIMARY KEY, amount integer)");
    session.run("CREATE DATABASE other");
    Session(server, "other").run("CREATE TABLE seen (id serial, amount integer)");
    Session(server, "other").run("INSERT INTO seen VALUES (1, 2), (3, 4)");
    const std::string rows = "SELECT count(*) FROM snowflake.conversion_plan('seen_id_seq', online"
                             " => true) WHERE effect ~ 'INSERT INTO seen'";
    session.run("INSERT INTO seen (amount) VALUES (1)");
    EXPECT_EQ(session.number(rows), 0);
    session.run("INSERT INTO seen VALUES (10, 20)");
    EXPECT_EQ(session.number(rows), 1);
    // Not where the owner of the schema could put another function in the place of this one.
    session.run("CREATE ROLE stranger; CREATE SCHEMA theirs AUTHORIZATION stranger;"
                "ALTER EXTENSION pg_stat_statements SET SCHEMA theirs");
    EXPECT_EQ(session.number(rows), 0);
}

// A database that is restored from a dump goes on where that was: all objects have other OIDs.
TEST_F(Online, ARestoreGoesOnWhereTheDumpWas) {
    Session session(server_);
    session.run(rows(1000));
    session.run("CREATE DATABASE locked TEMPLATE postgres");
    std::vector<std::string> commands = session.texts(plan);
    const std::string swap = commands.back();
    commands.pop_back();
    for (const std::string &command : commands)
        session.run(command);
    restore(server_, "restored", dump(server_, "postgres", true), true);
    // What materialized views hold was read anew, at another time than that of their twins.
    std::vector<std::string> left;
    std::copy_if(commands.begin(), commands.end(), std::back_inserter(left),
                 [](const std::string &command) { return command.starts_with(fill_view); });
    EXPECT_EQ(left.size(), 2U);
    left.push_back(swap);
    EXPECT_EQ(Session(server_, "restored").texts(plan), left);
    run_plan(server_, "restored");
    Session(server_, "locked")
        .run("SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq')");
    EXPECT_EQ(lines_of(server_, "restored"), lines_of(server_, "locked"));
}

// What a transaction does to the tables of others.
struct Footprint {
    Id strong_locks; // those that keep others from writing
    Id rows_read;
    std::string files;
};

// Runs a command in a transaction that is committed. The server counts what transactions before it
// have read as well, until it writes that down, and on a slow machine it would do so meanwhile.
Footprint footprint_of(Session &session, const std::string &command) {
    const std::string rows_read = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))"
                                  " FROM pg_stat_xact_user_tables WHERE schemaname = 'public'";
    session.run("SELECT pg_stat_force_next_flush()");
    session.run("BEGIN");
    const Id read_before = session.number(rows_read);
    session.run(command);
    Footprint footprint = {
        .strong_locks = session.number(
            "SELECT count(DISTINCT relation) FROM pg_locks WHERE pid = pg_backend_pid() AND "
            "relation IN"
            " ('customers'::regclass, 'orders'::regclass, 'tags'::regclass) AND mode IN"
            " ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')"),
        .rows_read = session.number(rows_read) - read_before,
        .files = session.text("SELECT concat_ws(' ', pg_relation_filenode('customers'),"
                              " pg_relation_filenode('orders'), pg_relation_filenode('tags'))")};
    session.run("COMMIT");
    return footprint;
}

// Others wait for a lock as long as a command holds it, which does not grow with the tables: a
// command that keeps others from writing reads no row and writes no file anew.
TEST_F(Online, LocksThatKeepOthersOutAreHeldOverNoRow) {
    Session session(server_);
    session.run(rows(1000));
    session.run("CREATE DATABASE locked TEMPLATE postgres");
    const std::string files = footprint_of(session, "SELECT").files;
    int strong = 0;
    for (const std::string &command : session.texts(plan)) {
        SCOPED_TRACE(command);
        // These two are no transactions, but made of such as hold no strong lock.
        if (command.starts_with("CALL ") && !command.starts_with(fill_view)) {
            const std::string table = command.substr(command.rfind(", ") + 2);
            const Footprint batch =
                footprint_of(session, "SELECT snowflake._fill_pages(" +
                                          table.substr(0, table.size() - 1) + ", 0, 5, false)");
            EXPECT_EQ(batch.strong_locks, 0);
        }
        if (command.starts_with("CALL ") || command.find(" CONCURRENTLY ") != std::string::npos) {
            session.run(command);
            continue;
        }
        const Footprint footprint = footprint_of(session, command);
        EXPECT_EQ(footprint.files, files);
        if (footprint.strong_locks == 0)
            continue;
        ++strong;
        EXPECT_EQ(footprint.rows_read, 0);
        const bool is_of_one_table = command.find("_add_shadows") != std::string::npos;
        EXPECT_TRUE(!is_of_one_table || footprint.strong_locks == 1) << command;
    }
    // A rehearsal, columns and indexes of three tables, four foreign keys, and the swap.
    EXPECT_EQ(strong, 12);
    // A conversion with a lock does read and write what it keeps others from.
    Session locked(server_, "locked");
    const Footprint footprint =
        footprint_of(locked, "SELECT snowflake.convert_sequence_to_snowflake('customers_id_seq')");
    EXPECT_GT(footprint.strong_locks, 0);
    EXPECT_GT(footprint.rows_read, 0);
    EXPECT_NE(footprint.files, files);
}

// To look at the rows that are there takes no strong lock either.
TEST_F(Online, ChecksAreValidatedBesideWriters) {
    Session session(server_);
    session.run(rows(1000));
    session.run("SELECT snowflake._add_shadows('customers_id_seq', 'customers'), "
                "snowflake._add_shadows('customers_id_seq', 'orders')");
    session.run("SELECT snowflake._fill_pages('customers', 0, 1000, false)");
    const std::string check =
        session.text("SELECT check_name FROM "
                     "snowflake._next_check_to_validate(snowflake._fill_begin("
                     "'customers_id_seq', 'customers', '0', NULL, 'public'))");
    const Footprint footprint =
        footprint_of(session, "SELECT snowflake._validate('customers', '" + check + "')");
    EXPECT_EQ(footprint.strong_locks, 0);
    EXPECT_GT(footprint.rows_read, 0);
}

// A client that writes to all tables and knows what each of its rows has to hold.
class Writer {
  public:
    Writer(const Server &server, int maker)
        : session_(server), maker_(maker), random_(make_random(static_cast<unsigned>(maker))),
          thread_([this] { work(); }) {}
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;
    Writer(Writer &&) = delete;
    Writer &operator=(Writer &&) = delete;
    ~Writer() { stop(); }

    void stop() {
        stop_ = true;
        if (thread_.joinable())
            thread_.join();
    }

    [[nodiscard]] int done() const { return done_; }
    [[nodiscard]] const std::string &error() const { return error_; }

    // Checks that the tables hold what the writer has written.
    void check(Session &session) const {
        const std::string of_maker = " WHERE maker = " + std::to_string(maker_);
        std::vector<Id> ids;
        std::vector<Id> values;
        std::vector<Id> touched;
        for (const auto &[id, row] : rows_) {
            ids.push_back(id);
            values.push_back(row.value);
            touched.push_back(row.touched);
        }
        const std::array<std::string, 2> rows{
            " FROM (SELECT id, value, touched, maker FROM customers) t" + of_maker + " ORDER BY id",
            " FROM (SELECT customer_id AS id, value, touched, maker FROM orders) t" + of_maker +
                " ORDER BY id"};
        for (const std::string &tail : rows) {
            EXPECT_EQ(session.numbers("SELECT id" + tail), ids);
            EXPECT_EQ(session.numbers("SELECT value" + tail), values);
            EXPECT_EQ(session.numbers("SELECT touched" + tail), touched);
        }
        EXPECT_EQ(session.number("SELECT count(*) FROM log" + of_maker), updates_);
    }

  private:
    struct Row {
        Id value;
        Id touched;
    };

    void work() {
        try {
            while (!stop_) {
                step();
                ++done_;
                // The conversion gets the processors, too.
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        } catch (const std::exception &error) {
            error_ = error.what();
        }
    }

    void step() {
        const std::string maker = std::to_string(maker_);
        const std::string value = std::to_string(random_() % 1000);
        if (rows_.size() < 20) {
            const Id id = session_.number(
                "WITH c AS (INSERT INTO customers (maker, value) VALUES (" + maker + ", " + value +
                ") RETURNING id), o AS (INSERT INTO orders (maker, value, customer_id, other_id) "
                "SELECT " +
                maker + ", " + value + ", id, id FROM c) SELECT id FROM c");
            rows_[id] = {.value = std::stoll(value), .touched = 0};
            return;
        }
        auto row = rows_.begin();
        std::advance(row, random_() % rows_.size());
        const std::string id = std::to_string(row->first);
        if (random_() % 3 == 0) {
            session_.run("DELETE FROM customers WHERE id = " + id);
            rows_.erase(row);
            return;
        }
        session_.run("BEGIN; UPDATE customers SET value = " + value + " WHERE id = " + id +
                     "; UPDATE orders SET value = " + value + " WHERE customer_id = " + id +
                     "; COMMIT");
        row->second = {.value = std::stoll(value), .touched = row->second.touched + 1};
        updates_ += 2;
    }

    Session session_;
    int maker_;
    Random random_;
    std::map<Id, Row> rows_;
    Id updates_ = 0;
    std::string error_;
    std::atomic<int> done_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

TEST_P(OnlineOfBoth, WritersGoOnAndNoRowDiffers) {
    Session session(server_);
    fill(20000);
    const std::string others = " WHERE maker = 0";
    const std::string before =
        session.text("SELECT md5(string_agg(c::text, ',' ORDER BY id)) FROM"
                     " (SELECT value, touched, id, parent_id FROM customers" +
                     others + ") c");
    std::vector<std::unique_ptr<Writer>> writers;
    for (int maker = 1; maker <= 3; ++maker)
        writers.push_back(std::make_unique<Writer>(server_, maker));
    run_plan(server_, "postgres");
    for (const auto &writer : writers) {
        const int wanted = writer->done() + 30;
        while (writer->done() < wanted && writer->error().empty())
            pause_between_looks();
        writer->stop();
        EXPECT_EQ(writer->error(), "");
        writer->check(session);
    }
    EXPECT_EQ(session.text("SELECT md5(string_agg(c::text, ',' ORDER BY id)) FROM"
                           " (SELECT value, touched, id, parent_id FROM customers" +
                           others + ") c"),
              before);
    EXPECT_EQ(session.number("SELECT count(*) FROM orders" + others + " AND touched = 0"), 40000);
    EXPECT_EQ(session.text(
                  "SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'orders'::regclass"
                  " AND attname = 'other_id'"),
              "bigint");
}

// A snapshot that is older than the filling sees rows without their shadows: these do not take the
// place of the columns before it is gone.
TEST_F(Online, AnOlderSnapshotKeepsItsRows) {
    Session session(server_);
    session.run("CREATE TABLE plain (id serial, x integer);"
                "INSERT INTO plain (x) SELECT i FROM generate_series(1, 100) i");
    Session reader(server_);
    reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    session.run("SELECT snowflake._add_shadows('plain_id_seq', 'plain')");
    auto filled = std::async(std::launch::async, [&session] {
        return session.sqlstate("CALL snowflake._fill_shadows('plain_id_seq', 'plain')");
    });
    Session observer(server_);
    wait_for(observer, "EXISTS (SELECT FROM pg_stat_activity WHERE query ~ 'older snapshots$')");
    EXPECT_EQ(observer.number("SELECT count(*) FROM plain WHERE snowflake_id = id"), 100);
    EXPECT_EQ(filled.wait_for(std::chrono::seconds(1)), std::future_status::timeout);
    reader.run("COMMIT");
    EXPECT_EQ(filled.get(), "00000");
    const std::string commands = "SELECT command FROM snowflake.conversion_plan('plain_id_seq',"
                                 " online => true) WHERE command IS NOT NULL ORDER BY step";
    for (const std::string &command : session.texts(commands))
        session.run(command);
    EXPECT_EQ(reader.number("SELECT count(id) FROM plain"), 100);
}

bool lives(Session &session) {
    try {
        session.run("SELECT 1");
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

// Every third step, of partitions every twelfth, from one of the first on; all in a long run.
TEST_P(OnlineOfBoth, AKillAtAStepLosesNothing) {
    fill(5000);
    const std::string before = [this] {
        Session session(server_);
        return contents(session);
    }();
    Random random = make_random();
    const std::size_t distance = GetParam() ? 12 : 3;
    const std::size_t first = random() % distance;
    std::set<std::string> seen;
    std::set<std::string> killed;
    const auto next_to_kill = [&]() -> std::string {
        for (const std::string &command : Session(server_).texts(plan)) {
            SCOPED_TRACE(command);
            if (seen.insert(command).second && (is_long_run() || seen.size() % distance == first) &&
                killed.insert(command).second)
                return command;
            EXPECT_EQ(Session(server_).sqlstate(command), "00000");
        }
        return "";
    };
    for (std::string command = next_to_kill(); !command.empty(); command = next_to_kill()) {
        ASSERT_LT(seen.size(), 100U) << "the plan does not come to its end";
        Session session(server_);
        Session witness(server_);
        const pid_t backend = session.backend();
        auto outcome = std::async(std::launch::async, [&session, &command] {
            try {
                session.run(command);
            } catch (const std::exception &) {
                return; // the connection is lost
            }
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
        ::kill(backend, SIGKILL);
        outcome.wait();
        // The server ends all sessions when it notices.
        while (lives(witness))
            pause_between_looks();
        server_.wait_until_it_answers();
    }
    EXPECT_GE(seen.size(), 10U);
    EXPECT_GE(killed.size(), is_long_run() ? 10U : 3U);
    Session session(server_);
    EXPECT_EQ(contents(session), before);
    EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.conversions"), 0);
    EXPECT_EQ(session.number("SELECT count(*) FROM pg_class WHERE relname LIKE 'snowflake%' AND "
                             "relnamespace = 'public'::regnamespace"),
              0);
}

TEST_P(OnlineOfBoth, ACancelTakesBackEveryStep) {
    fill(1000);
    const std::vector<std::string> before = lines_of(server_, "postgres");
    const std::vector<std::string> commands = Session(server_).texts(plan);
    ASSERT_GE(commands.size(), 10U);
    const auto swap =
        std::find_if(commands.begin(), commands.end(), [](const std::string &command) {
            return command.find("convert_sequence") != std::string::npos;
        });
    // Nothing is to be taken back after the first, a rehearsal, and after the swap. A cancel runs
    // in a copy of the database.
    for (auto command = commands.begin() + 1; command != swap; ++command) {
        SCOPED_TRACE(*command);
        Session(server_).run(*command);
        if ((command - commands.begin()) % (GetParam() && !is_long_run() ? 6 : 3) != 1)
            continue;
        Session(server_, "template1").run("CREATE DATABASE cancelled TEMPLATE postgres");
        {
            Session session(server_, "cancelled");
            EXPECT_GT(session.number("SELECT count(*) FROM snowflake.conversions"), 0);
            session.run("SELECT snowflake.cancel_conversion('customers_id_seq')");
            EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.conversions"), 0);
        }
        EXPECT_EQ(lines_of(server_, "cancelled"), before);
        Session(server_, "template1").run("DROP DATABASE cancelled WITH (FORCE)");
    }
}

std::string waits_for_a_lock(pid_t backend) {
    return "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = " +
           std::to_string(backend) + ")";
}

// The filling leaves out a row that is locked, and waits for it in the end, when it holds no other.
TEST_F(Online, ALockedRowHoldsUpNobodyElse) {
    Session observer(server_);
    observer.run(rows(1000));
    observer.run("SELECT snowflake._add_shadows('customers_id_seq', 'customers'), "
                 "snowflake._add_shadows('customers_id_seq', 'orders')");
    Session holder(server_);
    holder.run("BEGIN; SELECT FROM customers WHERE id IN (5, 6) FOR UPDATE");
    Session filler(server_);
    const pid_t backend = filler.backend();
    auto outcome = std::async(std::launch::async, [&filler] {
        return filler.sqlstate("CALL snowflake._fill_shadows('customers_id_seq', 'customers')");
    });
    wait_for(observer, waits_for_a_lock(backend));
    EXPECT_EQ(observer.number("SELECT count(*) FROM customers WHERE snowflake_id IS NULL"), 2);
    EXPECT_EQ(observer.sqlstate("SELECT FROM customers WHERE id NOT IN (5, 6) FOR UPDATE NOWAIT"),
              "00000");
    holder.run("UPDATE customers SET value = 7 WHERE id = 5; COMMIT");
    EXPECT_EQ(outcome.get(), "00000");
    EXPECT_EQ(observer.number("SELECT count(*) FROM customers WHERE snowflake_id = id"), 1000);
}

// Waits until a backend has a snapshot that was taken later than now: that does not see a
// transaction of now as running, and holds back VACUUM no longer.
void wait_for_later_snapshot(Session &observer, pid_t backend) {
    const std::int64_t later = observer.number("SELECT txid_current()");
    wait_for(observer,
             "EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + std::to_string(backend) +
                 " AND backend_xmin::text::bigint > " + std::to_string(later) + ")");
}

TEST_F(Online, TheFillingWaitsForAReplica) {
    const Server standby = Server::standby_of(server_);
    Session observer(server_);
    observer.run(rows(5000));
    observer.run("SELECT snowflake._add_shadows('customers_id_seq', 'customers'), "
                 "snowflake._add_shadows('customers_id_seq', 'orders')");
    wait_for(observer,
             "(SELECT count(*) FROM pg_stat_replication WHERE replay_lsn IS NOT NULL) = 1");
    Session replica(standby);
    replica.run("SELECT pg_wal_replay_pause()");
    wait_for(replica, "pg_get_wal_replay_pause_state() = 'paused'");
    Session filler(server_);
    const pid_t backend = filler.backend();
    auto outcome = std::async(std::launch::async, [&filler] {
        return filler.sqlstate(
            "CALL snowflake._fill_shadows('customers_id_seq', 'customers', max_lag => '100 kB')");
    });
    wait_for(
        observer,
        "EXISTS (SELECT FROM snowflake.conversions WHERE activity LIKE '%waiting for a replica')");
    EXPECT_GT(observer.number("SELECT count(*) FROM customers WHERE snowflake_id IS NULL"), 0);
    wait_for_later_snapshot(observer, backend);
    replica.run("SELECT pg_wal_replay_resume()");
    EXPECT_EQ(outcome.get(), "00000");
    EXPECT_EQ(observer.number("SELECT count(*) FROM customers WHERE snowflake_id IS NULL"), 0);
}

// A standby has no file of what leaves no WAL.
TEST_F(Online, APlanOnAStandbyReadsNoUnloggedTable) {
    Session(server_).run("CREATE UNLOGGED TABLE fleeting (id serial PRIMARY KEY);"
                         "INSERT INTO fleeting DEFAULT VALUES; ANALYZE fleeting");
    const Server standby = Server::standby_of(server_);
    Session replica(standby);
    wait_for(replica, "to_regclass('fleeting') IS NOT NULL");
    EXPECT_EQ(
        replica.sqlstate("SELECT snowflake.conversion_plan('fleeting_id_seq', online => true)"),
        "0A000");
    EXPECT_GE(replica.number("SELECT snowflake._glimpse_size('fleeting'::regclass)"), 8192);
    EXPECT_GE(replica.number("SELECT count(*) FROM snowflake.check()"), 0);
}

TEST_F(Online, TheFillingPauses) {
    Session observer(server_);
    observer.run(rows(5000));
    observer.run("SELECT snowflake._add_shadows('customers_id_seq', 'customers'), "
                 "snowflake._add_shadows('customers_id_seq', 'orders')");
    Session filler(server_);
    const pid_t backend = filler.backend();
    auto outcome = std::async(std::launch::async, [&filler] {
        return filler.sqlstate(
            "CALL snowflake._fill_shadows('customers_id_seq', 'customers', pause => '1 h')");
    });
    wait_for(observer, "EXISTS (SELECT FROM customers WHERE snowflake_id IS NOT NULL)");
    EXPECT_GT(observer.number("SELECT count(*) FROM customers WHERE snowflake_id IS NULL"), 0);
    wait_for_later_snapshot(observer, backend);
    observer.run("SELECT pg_cancel_backend(" + std::to_string(backend) + ")");
    EXPECT_EQ(outcome.get(), "57014");
}

// No record in the WAL tells of a lock on a row that nobody else has locked.
TEST(OnlineFilling, WritesAsMuchWalAsAnUpdate) {
    const Server server(1, {"fsync = off", "autovacuum = off", "full_page_writes = off"});
    Session session(server);
    session.run(
        "CREATE EXTENSION snowflake;"
        "CREATE TABLE filled (id serial, item text) WITH (fillfactor = 40);"
        "CREATE TABLE updated (id integer, item text, new_id bigint) WITH (fillfactor = 40);"
        "INSERT INTO filled (item) SELECT 'item' FROM generate_series(1, 50000);"
        "INSERT INTO updated SELECT id, item FROM filled;"
        "SELECT snowflake._add_shadows('filled_id_seq', 'filled')");
    const auto wal_of = [&session](const char *command) {
        const char *const position = "SELECT pg_current_wal_insert_lsn() - '0/0'";
        const std::int64_t before = session.number(position);
        session.run(command);
        return session.number(position) - before;
    };
    const std::int64_t updating = wal_of("UPDATE updated SET new_id = id");
    const std::int64_t filling = wal_of("CALL snowflake._fill_shadows('filled_id_seq', 'filled')");
    EXPECT_EQ(session.number("SELECT count(*) FROM filled WHERE snowflake_id = id"), 50000);
    EXPECT_LT(filling, updating + updating / 5);
}

// A session that waits for a lock lets others pass now and then, however long that lock is held.
TEST_F(Online, TheSwapLetsOthersPass) {
    Session session(server_);
    session.run(rows(1000));
    std::vector<std::string> commands = session.texts(plan);
    const std::string swap = commands.back();
    commands.pop_back();
    for (const std::string &command : commands)
        session.run(command);
    Session reader(server_);
    reader.run("BEGIN; SELECT count(*) FROM tags");
    Session swapper(server_);
    const pid_t backend = swapper.backend();
    auto outcome =
        std::async(std::launch::async, [&swapper, &swap] { return swapper.sqlstate(swap); });
    wait_for(session, waits_for_a_lock(backend));
    Session other(server_);
    EXPECT_EQ(other.number("SELECT count(*) FROM tags"), 1000);
    EXPECT_EQ(other.sqlstate("INSERT INTO customers (maker, value) VALUES (9, 9)"), "00000");
    EXPECT_EQ(outcome.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    reader.run("COMMIT");
    EXPECT_EQ(outcome.get(), "00000");
}

// A stage of partitions reads its state before it locks them. When it asks for its locks then, the
// next of transactions that follow each other has them, and lasts longer than a try.
TEST_F(Online, AStageOfPartitionsFindsItsTurnBetweenLongTransactions) {
    Session session(server_);
    session.run(partitions);
    session.run(rows(1000));
    session.run("CREATE TABLE stop ()");
    session.run("SET deadlock_timeout = '500ms'"); // a try lasts half as long at most
    Session reader(server_);
    auto reading = std::async(std::launch::async, [&reader] {
        return reader.sqlstate("DO $$BEGIN LOOP"
                               "    PERFORM count(*) FROM public.orders;"
                               "    PERFORM pg_sleep(0.8);"
                               "    COMMIT;"
                               "    EXIT WHEN to_regclass('public.stop') IS NULL;"
                               " END LOOP; END$$");
    });
    wait_for(session, "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')");
    EXPECT_EQ(session.sqlstate("SELECT snowflake._add_shadows('customers_id_seq', 'orders')"),
              "00000");
    EXPECT_EQ(session.sqlstate("SELECT snowflake.cancel_conversion('customers_id_seq')"), "00000");
    session.run("DROP TABLE stop");
    EXPECT_EQ(reading.get(), "00000");
}

} // namespace
} // namespace integration::online_test
