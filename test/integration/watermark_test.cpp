// Readers that go through a table by ID, up to the low watermark, while sessions insert with pauses
// between an ID and its commit, roll back, and are killed with or without their server: each reader
// has seen every committed row exactly once, in the order of the IDs. A reader that goes on above
// the greatest ID it has seen misses rows.
#include "ids.hpp"
#include "process.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace integration::watermark_test {
namespace {

// The tables that writers insert into. Each has a sequence of its own.
struct Table {
    std::string name;
    std::string sequence;
};
const std::array<Table, 4> tables{{
    {"plain", "CREATE SEQUENCE plain_id_seq"},
    {"leased", "CREATE SEQUENCE leased_id_seq CACHE 20"},
    {"wide", "CREATE SEQUENCE wide_id_seq INCREMENT 10"},
    {"ahead", "CREATE SEQUENCE ahead_id_seq"},
}};

void create_tables(Session &session) {
    session.run("CREATE EXTENSION snowflake");
    for (const Table &table : tables) {
        session.run(table.sequence);
        session.run("CREATE TABLE " + table.name +
                    " (id bigint PRIMARY KEY DEFAULT snowflake.nextval('" + table.name +
                    "_id_seq'))");
    }
    session.run(setval("ahead_id_seq", hour_ahead()));
}

// Sleeps for a random time up to a few ms, in which other sessions commit.
void pause(Random &random) {
    std::this_thread::sleep_for(std::chrono::microseconds(between(random, 0, 5000)));
}

// A session that inserts into random tables until it has ended its last transaction, or is gone.
class Writer {
  public:
    Writer(const Server &server, int transactions, Random random)
        : session_(server), backend_(session_.backend()), left_(transactions), random_(random),
          thread_([this] { work(); }) {}
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;
    Writer(Writer &&) = delete;
    Writer &operator=(Writer &&) = delete;
    ~Writer() { thread_.join(); }

    [[nodiscard]] pid_t backend() const { return backend_; }
    [[nodiscard]] int left() const { return left_; }
    [[nodiscard]] bool ended() const { return ended_; }

  private:
    void work() {
        try {
            for (; left_ > 0; --left_)
                one_transaction();
        } catch (const pqxx::failure &) { // killed
        }
        ended_ = true;
    }

    void insert() {
        const Table &table = tables.at(
            static_cast<std::size_t>(between(random_, 0, static_cast<int>(tables.size()) - 1)));
        if (between(random_, 0, 4) == 0)
            session_.run("INSERT INTO " + table.name + " SELECT snowflake.nextvals('" + table.name +
                         "_id_seq', 3)");
        else
            session_.run("INSERT INTO " + table.name + " DEFAULT VALUES");
    }

    void one_transaction() {
        if (between(random_, 0, 3) == 0)
            return insert(); // a transaction of its own
        session_.run("BEGIN");
        for (int rows = between(random_, 1, 3); rows > 0; --rows) {
            const bool aside = between(random_, 0, 3) == 0;
            if (aside)
                session_.run("SAVEPOINT aside");
            insert();
            pause(random_);
            if (aside)
                session_.run(between(random_, 0, 1) == 0 ? "ROLLBACK TO aside" : "RELEASE aside");
        }
        pause(random_);
        session_.run(between(random_, 0, 4) == 0 ? "ROLLBACK" : "COMMIT");
    }

    Session session_;
    pid_t backend_;
    std::atomic<int> left_;
    Random random_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

// How a reader asks for the rows from an ID on. It reads the bound first and then the rows, in ways
// in which the statement for the rows has a newer snapshot, the same, or an older one.
enum class Way {
    two_statements,
    one_statement,
    repeatable_read,
    cursor,
    ways
};

// A reader of a table, which keeps the ID that it has to go on from.
class Reader {
  public:
    Reader(const Server &server, std::string table)
        : server_(&server), table_(std::move(table)), random_(make_random(1)),
          thread_([this] { work(); }) {}
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    Reader(Reader &&) = delete;
    Reader &operator=(Reader &&) = delete;
    ~Reader() {
        if (thread_.joinable())
            thread_.join();
    }

    // Lets the reader go on until it has read everything that is there then. No session writes any
    // more.
    const std::vector<Id> &finish() {
        stop_ = true;
        thread_.join();
        return ids_;
    }

    [[nodiscard]] int polls() const { return polls_; }
    [[nodiscard]] int useless_polls() const { return useless_polls_; }
    // How many rows it has seen by going on above the greatest ID that it has seen.
    [[nodiscard]] std::size_t seen_above_greatest() const { return seen_above_greatest_; }

  private:
    void work() {
        for (;;) {
            const bool last_time = stop_;
            const auto read = try_to_read();
            if (read && last_time && *read)
                return;
            pause_between_looks();
        }
    }

    // Reads what is new. Returns whether that is all that there is; nothing: the server is down.
    std::optional<bool> try_to_read() {
        try {
            if (!session_)
                session_ = std::make_unique<Session>(*server_);
            const auto above = session_->numbers("SELECT id FROM " + table_ + " WHERE id > " +
                                                 std::to_string(greatest_) + " ORDER BY id");
            seen_above_greatest_ += above.size();
            greatest_ = above.empty() ? greatest_ : above.back();
            read_by(static_cast<Way>(between(random_, 0, static_cast<int>(Way::ways) - 1)));
            return session_->number("SELECT count(*) FROM " + table_ +
                                    " WHERE id >= " + std::to_string(from_)) == 0;
        } catch (const pqxx::failure &) {
            session_.reset();
            return std::nullopt;
        }
    }

    [[nodiscard]] std::string rows_below(const std::string &bound) const {
        return "SELECT id FROM " + table_ + " WHERE id >= " + std::to_string(from_) + " AND id < " +
               bound + " ORDER BY id";
    }

    void read_by(Way way) {
        const std::string bound_of = "snowflake.low_watermark('" + table_ + "_id_seq')";
        // Nothing that is read counts before the transaction is over.
        std::string bound;
        std::vector<Id> ids;
        switch (way) {
        case Way::two_statements:
            bound = session_->texts("SELECT " + bound_of).front();
            if (!bound.empty())
                ids = session_->numbers(rows_below(bound));
            break;
        case Way::repeatable_read:
            session_->run("BEGIN ISOLATION LEVEL REPEATABLE READ");
            session_->run("SELECT FROM " + table_ + " LIMIT 1");
            pause(random_);
            bound = session_->texts("SELECT " + bound_of).front();
            if (!bound.empty())
                ids = session_->numbers(rows_below(bound));
            session_->run("COMMIT");
            break;
        case Way::one_statement:
            // The greatest ID read is all that such a reader knows of the bound.
            ids = session_->numbers(rows_below(bound_of));
            break;
        case Way::cursor:
            session_->run("BEGIN");
            session_->run("DECLARE c CURSOR FOR " + rows_below(bound_of));
            pause(random_);
            ids = session_->numbers("FETCH ALL FROM c");
            session_->run("COMMIT");
            break;
        case Way::ways:
            break;
        }
        ++polls_;
        useless_polls_ += ids.empty() ? 1 : 0;
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        if (!bound.empty())
            from_ = std::max<Id>(from_, std::stoll(bound));
        else if (!ids.empty())
            from_ = ids.back() + 1;
    }

    const Server *server_;
    std::string table_;
    Random random_;
    std::unique_ptr<Session> session_;
    std::vector<Id> ids_;
    Id from_ = 0;
    Id greatest_ = 0;
    int polls_ = 0;
    int useless_polls_ = 0;
    std::size_t seen_above_greatest_ = 0;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// Lets sessions insert, and kills one now and then. In the end they are done, or their server is
// killed.
void write_for_a_while(Server &server, bool crash, Random &random) {
    constexpr int sessions = 50;
    constexpr int transactions = 20;
    std::vector<std::unique_ptr<Writer>> writers;
    writers.reserve(sessions);
    for (int i = 0; i < sessions; ++i)
        writers.push_back(std::make_unique<Writer>(server, transactions, Random(random())));
    Session killer(server);
    const auto left = [&] {
        int sum = 0;
        for (const auto &writer : writers)
            sum += writer->ended() ? 0 : writer->left();
        return sum;
    };
    const int crash_at = crash ? between(random, 1, sessions * transactions * 3 / 4) : 0;
    while (left() > crash_at) {
        const auto victim = static_cast<std::size_t>(between(random, 0, 20 * sessions));
        if (victim < writers.size())
            killer.run("SELECT pg_terminate_backend(" + std::to_string(writers[victim]->backend()) +
                       ")");
        pause_between_looks();
    }
    if (crash) {
        server.kill_all();
        server.start();
    }
}

TEST(LowWatermark, ReadersMissNoRowAndReadNoneTwice) {
    Random random = make_random();
    // A killed process loses nothing that it has written, synchronized or not.
    Server server(1, {"fsync = off", "max_connections = 100"});
    {
        Session session(server);
        create_tables(session);
    }
    std::vector<std::unique_ptr<Reader>> readers;
    readers.reserve(tables.size());
    for (const Table &table : tables)
        readers.push_back(std::make_unique<Reader>(server, table.name));

    const int turns = std::clamp(rounds(4), 2, 60);
    for (int turn = 0; turn < turns; ++turn)
        write_for_a_while(server, turn % 2 == 0, random);

    Session session(server);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        SCOPED_TRACE(tables.at(i).name);
        const std::vector<Id> &read = readers[i]->finish();
        EXPECT_EQ(read, session.numbers("SELECT id FROM " + tables.at(i).name + " ORDER BY id"));
        std::cout << tables.at(i).name << ": " << read.size() << " rows, of which max(id) misses "
                  << read.size() - readers[i]->seen_above_greatest() << "; "
                  << readers[i]->useless_polls() << " of " << readers[i]->polls()
                  << " polls found nothing\n";
    }
}

// The order of events that every reader has to cope with, and a reader by max(id) does not.
TEST(LowWatermark, AReaderByGreatestIdMissesARow) {
    const Server server(1, {"fsync = off"});
    Session early(server);
    Session late(server);
    Session reader(server);
    create_tables(early);
    const std::string insert = "INSERT INTO plain DEFAULT VALUES RETURNING id";
    early.run("BEGIN");
    const Id first = early.number(insert);
    const Id second = late.number(insert);
    ASSERT_LT(first, second);

    const Id greatest = reader.number("SELECT max(id) FROM plain");
    const Id bound = reader.number("SELECT snowflake.low_watermark('plain_id_seq')");
    EXPECT_EQ(greatest, second);
    EXPECT_LE(bound, first);
    early.run("COMMIT");
    const auto ids_from = [&](Id from) {
        return reader.numbers("SELECT id FROM plain WHERE id >= " + std::to_string(from) +
                              " AND id < snowflake.low_watermark('plain_id_seq') ORDER BY id");
    };
    EXPECT_EQ(ids_from(greatest + 1), std::vector<Id>{}) << "the first row is missed";
    EXPECT_EQ(ids_from(bound), (std::vector<Id>{first, second}));
}

// A prepared transaction holds the bound back to the start that it had, across restarts and
// crashes; one that was prepared without its start being kept, which the server's own nextval does,
// leaves no bound.
TEST(LowWatermark, KnowsTheStartOfPreparedTransactions) {
    Server server(1, {"fsync = off", "max_prepared_transactions = 10"});
    std::optional<Session> session(std::in_place, server);
    create_tables(*session);
    session->run("INSERT INTO plain DEFAULT VALUES");
    session->run("BEGIN");
    const Id start = session->number("SELECT snowflake.from_timestamp(transaction_timestamp())");
    const Id id = session->number("INSERT INTO plain DEFAULT VALUES RETURNING id");
    session->run("PREPARE TRANSACTION 'one'");
    session->run("INSERT INTO plain DEFAULT VALUES");

    const std::string ask = "SELECT snowflake.low_watermark('plain_id_seq')";
    const auto expect_at_start = [&] {
        const Id bound = session->number(ask);
        EXPECT_LE(bound, start);
        EXPECT_GT(bound, start - (Id{10} << 22)) << "more than 10 ms before";
        EXPECT_LE(bound, id);
    };
    expect_at_start();
    // Another transaction in the place of the one that has gone on.
    session->run("BEGIN");
    EXPECT_LE(Session(server).number(ask), start);
    session->run("COMMIT");

    for (const bool crash : {false, true}) {
        SCOPED_TRACE(crash ? "after a crash" : "after a restart");
        session.reset();
        if (crash)
            server.kill_all();
        else
            server.stop();
        server.start();
        session.emplace(server);
        expect_at_start();
    }
    session->run("COMMIT PREPARED 'one'");
    EXPECT_GT(session->number(ask), id);

    // setval takes the same lock, and here in a session that has not loaded the module.
    session.emplace(server);
    session->run("BEGIN");
    session->run("SELECT setval('plain_id_seq', last_value) FROM plain_id_seq");
    session->run("PREPARE TRANSACTION 'two'");
    session.emplace(server);
    EXPECT_EQ(session->texts(ask).front(), ""); // NULL
    session->run("ROLLBACK PREPARED 'two'");
    EXPECT_GT(session->number(ask), id);
}

// A standby cannot know, but what the primary has kept in a table is true there.
TEST(LowWatermark, IsRefusedByAStandbyWhichReadsABoundFromItsPrimary) {
    const Server primary(1, {"fsync = off"});
    Session session(primary);
    create_tables(session);
    session.run("CREATE TABLE bounds (bound bigint)");
    const Server standby = Server::standby_of(primary);
    session.run("INSERT INTO plain DEFAULT VALUES");
    session.run("INSERT INTO bounds SELECT snowflake.low_watermark('plain_id_seq')");
    wait_for(standby, "SELECT count(*) FROM bounds", "1");
    Session reader(standby);
    EXPECT_EQ(reader.sqlstate("SELECT snowflake.low_watermark('plain_id_seq')"), "55000");
    const std::string either =
        "SELECT CASE WHEN pg_is_in_recovery() THEN (SELECT bound FROM bounds) "
        "ELSE snowflake.low_watermark('plain_id_seq') END";
    EXPECT_EQ(reader.number(either), session.number("SELECT bound FROM bounds"));
    EXPECT_EQ(reader.number("SELECT count(*) FROM plain, bounds WHERE id < bound"), 1);
}

// The bound of another node, which arrives after all that was committed before it was taken.
TEST(LowWatermark, ArrivesBehindTheRowsOfItsNode) {
    const std::vector<std::string> settings = {"fsync = off", "wal_level = logical"};
    const Server here(1, settings);
    const Server there(2, settings);
    const std::string make_bounds = "CREATE TABLE bounds (node integer PRIMARY KEY, bound bigint)";
    Session reader(here);
    Session session(there);
    for (Session *each : {&reader, &session}) {
        create_tables(*each);
        each->run(make_bounds);
    }
    session.run("CREATE PUBLICATION p FOR TABLE plain, bounds");
    reader.run("CREATE SUBSCRIPTION s CONNECTION '" + there.conninfo() +
               "' PUBLICATION p "
               "WITH (copy_data = false)");

    const std::string insert = "INSERT INTO plain DEFAULT VALUES RETURNING id";
    const std::string write_bound =
        "INSERT INTO bounds SELECT snowflake.node(), snowflake.low_watermark('plain_id_seq') "
        "ON CONFLICT (node) DO UPDATE SET bound = greatest(bounds.bound, excluded.bound)";
    const auto rows_below = [&] {
        return reader.numbers("SELECT id FROM plain JOIN bounds "
                              "ON node = snowflake.get_node(id) WHERE id < bound ORDER BY id");
    };
    Session late(there);
    late.run("BEGIN");
    const Id first = late.number(insert);
    const Id second = session.number(insert);
    session.run(write_bound);
    wait_for(here, "SELECT count(*) FROM bounds", "1");
    EXPECT_EQ(reader.numbers("SELECT id FROM plain"), std::vector<Id>{second});
    EXPECT_EQ(rows_below(), std::vector<Id>{});

    late.run("COMMIT");
    session.run(write_bound);
    wait_for(here, "SELECT count(*) FROM bounds WHERE bound > " + std::to_string(second), "1");
    EXPECT_EQ(rows_below(), (std::vector<Id>{first, second}));
    reader.run("DROP SUBSCRIPTION s");
}

} // namespace
} // namespace integration::watermark_test
