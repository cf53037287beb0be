// The setting snowflake.convert_new_columns while databases are restored, and without the library.
#include "dump.hpp"
#include "server.hpp"
#include "session.hpp"

#include <gtest/gtest.h>

namespace integration::new_columns_test {
namespace {

constexpr int node = 5;
const std::vector<std::string> settings{"fsync = off", "autovacuum = off"};

// A database of serial and identity columns, with foreign keys among its tables.
void make_plain(Session &session, bool with_rows) {
    session.run("CREATE TABLE customers (id serial PRIMARY KEY, name text);"
                "CREATE TABLE products (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);"
                "CREATE TABLE orders (id serial PRIMARY KEY, customer_id integer REFERENCES "
                "customers, n integer);"
                "CREATE TABLE items (id bigserial PRIMARY KEY, order_id integer REFERENCES orders,"
                "                    product_id integer REFERENCES products);"
                "CREATE INDEX ON orders (customer_id);"
                "CREATE INDEX ON items (order_id);"
                "CREATE INDEX ON items (product_id)");
    if (with_rows)
        session.run("INSERT INTO customers (name) SELECT n FROM generate_series(1, 100) n;"
                    "INSERT INTO products SELECT FROM generate_series(1, 100);"
                    "INSERT INTO orders (customer_id) SELECT id FROM customers;"
                    "INSERT INTO items (order_id, product_id) SELECT id, id FROM orders");
}

// Restores with several processes into a database where the setting is on.
Output restore_with_setting(const Server &server, const std::string &name,
                            const std::filesystem::path &archive, bool verbose = false) {
    Session(server).run("CREATE DATABASE " + name);
    Session(server).run("ALTER DATABASE " + name + " SET snowflake.convert_new_columns = on");
    Session(server, name).run("CREATE EXTENSION snowflake");
    std::vector<std::string> arguments{"--jobs=4", "-d", server.conninfo(name), archive};
    if (verbose)
        arguments.emplace_back("--verbose");
    return server.run("pg_restore", arguments);
}

TEST(NewColumns, AreConvertedWhenAnEmptyDatabaseIsRestored) {
    const Server server(node, settings);
    Session session(server);
    make_plain(session, false);
    const std::filesystem::path archive = dump(server, "postgres", true);
    for (int round = 0; round < 3; ++round) {
        const std::string name = "restored_" + std::to_string(round);
        const Output output = restore_with_setting(server, name, archive);
        EXPECT_EQ(output.exit_code, 0) << output.err;
        EXPECT_EQ(output.err, "");
        Session restored(server, name);
        EXPECT_EQ(
            restored.number(
                "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public' "
                "AND data_type = 'integer' AND column_name <> 'n'"),
            0);
        restored.run(
            "INSERT INTO customers DEFAULT VALUES;"
            "INSERT INTO products DEFAULT VALUES;"
            "INSERT INTO orders (customer_id) SELECT id FROM customers;"
            "INSERT INTO items (order_id, product_id) SELECT o.id, p.id FROM orders o, products p");
        EXPECT_EQ(restored.number("SELECT snowflake.get_node(id) + snowflake.get_node(order_id) "
                                  "+ snowflake.get_node(product_id) FROM items"),
                  3 * node);
    }
}

// Tables that have rows when the foreign keys come are not rewritten: each is named in a warning,
// with what mends it. pg_restore shows warnings if it is asked to be verbose; check() tells as
// well.
TEST(NewColumns, WithRowsAreNamedWhenADatabaseIsRestored) {
    const Server server(node, settings);
    Session session(server);
    make_plain(session, true);
    const Output output =
        restore_with_setting(server, "restored", dump(server, "postgres", true), true);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    Session restored(server, "restored");
    for (const char *reference :
         {"orders', 'customer_id", "items', 'order_id", "items', 'product_id"}) {
        const std::string mend =
            std::string("SELECT snowflake._widen('public.") + reference + "');";
        EXPECT_NE(output.err.find(mend), std::string::npos) << mend << " is not in: " << output.err;
        EXPECT_EQ(
            restored.number("SELECT count(*) FROM snowflake.check() WHERE command || ';' = $$" +
                            mend + "$$"),
            1);
        restored.run(mend);
    }
    EXPECT_EQ(restored.number("SELECT count(*) FROM items i JOIN orders o ON o.id = i.order_id"),
              100);
    restored.run("INSERT INTO customers DEFAULT VALUES;"
                 "INSERT INTO orders (customer_id) SELECT max(id) FROM customers;"
                 "INSERT INTO items (order_id) SELECT max(id) FROM orders");
    EXPECT_EQ(
        restored.number(
            "SELECT snowflake.get_node(max(id)) + snowflake.get_node(max(order_id)) FROM items"),
        2 * node);
}

// A server whose library is gone goes on making tables where the setting is off.
TEST(NewColumns, DoNotNeedTheLibraryWhereTheSettingIsOff) {
    const Server server(node, settings);
    {
        Session session(server);
        session.run(
            "CREATE EXTENSION snowflake;"
            "UPDATE pg_proc SET probin = '$libdir/gone' WHERE probin = '$libdir/snowflake'");
    }
    Session session(server);
    EXPECT_NE(session.sqlstate("SELECT snowflake.node()"), "00000");
    session.run("CREATE TABLE made (id serial); ALTER TABLE made ADD COLUMN n integer; INSERT INTO "
                "made DEFAULT VALUES");
    EXPECT_EQ(session.number("SELECT id FROM made"), 1);
    session.run("SET snowflake.convert_new_columns = off; CREATE TABLE made_2 (id serial)");
    EXPECT_NE(
        session.sqlstate("SET snowflake.convert_new_columns = on; CREATE TABLE made_3 (id serial)"),
        "00000");
}

} // namespace
} // namespace integration::new_columns_test
