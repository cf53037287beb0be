// A database with snowflake sequences, dumped and restored: no error, the same database again, and
// its IDs go on above those of the original, also on a server of another node.
#include "dump.hpp"
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace integration::dump_test {
namespace {

struct Case {
    const char *name;
    bool custom_format;
    bool ahead; // of the clock by an hour, so that only the dump can keep IDs from coming again

    friend std::ostream &operator<<(std::ostream &out, const Case &value) {
        return out << value.name;
    }
};

// A table and the sequence that its column id takes its default from.
struct Table {
    const char *name;
    const char *sequence;
};
constexpr std::array<Table, 4> tables{{
    {"orders", "snowflake.id_seq"},
    {"events", "own"},
    {"items", "items_id_seq"},
    {"legacy", "legacy_id_seq"},
}};

using LastIds = std::array<Id, tables.size()>;

Id insert(Session &session, const Table &table) {
    return session.number(std::string("INSERT INTO ") + table.name +
                          " DEFAULT VALUES RETURNING id");
}

void make_tables(Session &session) {
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(),"
                " item text);"
                "CREATE INDEX ON orders (snowflake.get_timestamp(id));"
                "CREATE VIEW origins AS SELECT snowflake.get_node(id), item FROM orders");
    session.run("CREATE SEQUENCE own CACHE 10;"
                "CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowflake.nextval('own'));"
                "ALTER SEQUENCE own OWNED BY events.id");
    session.run("CREATE TABLE items (id bigserial PRIMARY KEY);"
                "CREATE TABLE legacy (id serial PRIMARY KEY, item text)");
    for (const char *table : {"items", "legacy"})
        for (int row = 0; row < 10; ++row)
            session.run(std::string("INSERT INTO ") + table + " DEFAULT VALUES");
    session.run("SELECT snowflake.convert_sequence_to_snowflake('items_id_seq');"
                "SELECT snowflake.convert_sequence_to_snowflake('legacy_id_seq')");
}

LastIds make_rows(Session &session, bool ahead, int node) {
    constexpr int rows = 3;
    LastIds last{};
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (ahead)
            session.run(setval(tables.at(i).sequence, hour_ahead(node)));
        for (int row = 0; row < rows; ++row)
            last.at(i) = insert(session, tables.at(i));
    }
    return last;
}

void expect_to_go_on_above(const Server &server, const std::string &database, int node,
                           const LastIds &last) {
    Session session(server, database);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        SCOPED_TRACE(tables.at(i).name);
        const Id id = insert(session, tables.at(i));
        EXPECT_GT(id, last.at(i));
        EXPECT_EQ(node_of(id), node);
    }
}

class Dump : public testing::TestWithParam<Case> {};

TEST_P(Dump, RestoresToTheSameDatabase) {
    // The other node is the lower one: an ID of the same millisecond would not lie above.
    constexpr int node = 7;
    constexpr int other_node = 3;
    const auto &[name, custom_format, ahead] = GetParam();
    const Server server(node, {"fsync = off"});
    const Server other_server(other_node, {"fsync = off"});

    Session(server).run("CREATE DATABASE original");
    Session session(server, "original");
    make_tables(session);
    const LastIds last = make_rows(session, ahead, node);
    const std::string original = dump_as_text(server, "original");
    const std::filesystem::path file = dump(server, "original", custom_format);

    for (const auto &[target, target_node] :
         {std::pair{&server, node}, std::pair{&other_server, other_node}}) {
        SCOPED_TRACE("restored on node " + std::to_string(target_node));
        restore(*target, "copy", file, custom_format);
        EXPECT_EQ(dump_as_text(*target, "copy"), original);
        expect_to_go_on_above(*target, "copy", target_node, last);
    }
    expect_to_go_on_above(server, "original", node, last);
}

INSTANTIATE_TEST_SUITE_P(Formats, Dump,
                         testing::Values(Case{"Plain", false, false},
                                         Case{"PlainAhead", false, true},
                                         Case{"Custom", true, false},
                                         Case{"CustomAhead", true, true}),
                         [](const auto &instance) { return std::string(instance.param.name); });

// What is restored elsewhere must not bring claims along.
TEST(DumpOfClaims, HoldsNone) {
    const Server server(0);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("SELECT snowflake.claim_node(7), snowflake.reserve_nodes(8, 9)");
    for (const bool custom_format : {false, true}) {
        const std::string copied = custom_format ? "from_archive" : "from_script";
        restore(server, copied, dump(server, "postgres", custom_format), custom_format);
        Session copy(server, copied);
        EXPECT_EQ(copy.number("SELECT count(*) FROM snowflake.nodes"), 0);
        EXPECT_EQ(copy.sqlstate(nextval("snowflake.id_seq")), "55000");
        EXPECT_EQ(copy.number("SELECT snowflake.claim_node(8)"), 8);
        EXPECT_EQ(copy.number("SELECT snowflake.get_node(snowflake.nextval())"), 8);
    }
    EXPECT_EQ(session.number("SELECT snowflake.node()"), 7);
}

// The layout of a sequence is a part of its definition: what a joining server restores has it, too.

void make_small_ids(Session &session) {
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE TABLE orders (id bigserial PRIMARY KEY)");
    session.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', "
                "layout => 'javascript', waive => 'node')");
    session.run("SELECT snowflake.set_layout('snowflake.id_seq', 'javascript')");
    session.run("INSERT INTO orders DEFAULT VALUES");
}

bool is_small(Id id) {
    return id > 0 && id < Id{1} << 53;
}

TEST(DumpOfLayouts, HoldsThoseOfAllSequences) {
    const Server server(7, {"fsync = off"});
    Session session(server);
    make_small_ids(session);
    const Id last = session.number("SELECT snowflake.nextval()");
    for (const bool custom_format : {false, true}) {
        const std::string copied = custom_format ? "from_archive" : "from_script";
        restore(server, copied, dump(server, "postgres", custom_format), custom_format);
        EXPECT_EQ(dump_as_text(server, copied), dump_as_text(server, "postgres"));
        Session copy(server, copied);
        EXPECT_TRUE(is_small(insert(copy, {"orders", "orders_id_seq"})));
        const Id id = copy.number("SELECT snowflake.nextval()");
        EXPECT_GT(id, last);
        EXPECT_TRUE(is_small(id));
    }
}

TEST(DumpOfLayouts, OfTheSchemaOrOneTableHoldsThatOfTheColumn) {
    const Server server(7, {"fsync = off"});
    Session session(server);
    make_small_ids(session);
    for (const std::string option : {"--schema-only", "--table=orders"}) {
        SCOPED_TRACE(option);
        const std::filesystem::path file = server.file("part.sql");
        server.run_successfully("pg_dump", {"-d", server.conninfo("postgres"), "-f", file, option});
        session.run("DROP DATABASE IF EXISTS part");
        session.run("CREATE DATABASE part");
        Session part(server, "part");
        if (option == "--table=orders")
            part.run("CREATE EXTENSION snowflake");
        server.run_successfully("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
                                         server.conninfo("part"), "-f", file});
        EXPECT_TRUE(is_small(insert(part, {"orders", "orders_id_seq"})));
    }
}

// Databases are instances of their own: each derives another number, and all fit the layout.
TEST(NodeThatNobodyChose, FitsTheNarrowestLayout) {
    const Server server(0, {"fsync = off"});
    Session session(server);
    for (const std::string database : {"one", "two", "three", "four"}) {
        session.run("CREATE DATABASE " + database);
        Session other(server, database);
        other.run("CREATE EXTENSION snowflake");
        other.run("CREATE TABLE orders (id bigserial PRIMARY KEY)");
        other.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', "
                  "waive => 'node', layout => 'javascript')");
        EXPECT_LE(other.number("SELECT snowflake.claim_node()"), 63);
        EXPECT_TRUE(is_small(insert(other, {"orders", "orders_id_seq"})));
    }
}

// A claim that was made before the layout: check() says so, and what it says helps.
TEST(NodeThatDoesNotFit, IsFoundAndMended) {
    const Server server(0, {"fsync = off"});
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("SELECT snowflake.claim_node(700)");
    session.run("CREATE TABLE orders (id bigserial PRIMARY KEY)");
    session.run("SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq', "
                "layout => 'javascript', waive => 'node')");
    EXPECT_EQ(session.sqlstate("INSERT INTO orders DEFAULT VALUES"), "55000");
    EXPECT_EQ(session.text("SELECT command FROM snowflake.check() WHERE finding LIKE '%fit%'"),
              "-- SELECT snowflake.release_node(); SELECT snowflake.claim_node()");
    session.run("SELECT snowflake.release_node()");
    EXPECT_LE(session.number("SELECT snowflake.claim_node()"), 63);
    EXPECT_TRUE(is_small(insert(session, {"orders", "orders_id_seq"})));
    EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.check() WHERE finding LIKE '%fit%'"),
              0);
}

} // namespace
} // namespace integration::dump_test
