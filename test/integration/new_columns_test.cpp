// The setting snowflake.convert_new_columns while databases are restored, and without the library.
#include "dump.hpp"
#include "server.hpp"
#include "session.hpp"

#include <gtest/gtest.h>

namespace integration::new_columns_test {
namespace {

constexpr int node = 5;
const std::vector<std::string> settings{"fsync = off", "autovacuum = off"};

// A backup of a database that is converted in part is restored as it was, by several processes or
// as a script, though the setting is restored before the tables.
TEST(NewColumns, AreLeftAsTheyWereWhenADatabaseIsRestored) {
    const Server server(node, settings);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("SELECT snowflake.redirect_nextval()");
    session.run("CREATE TABLE customers (id serial PRIMARY KEY, name text);"
                "CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                "                     customer_id integer REFERENCES customers);"
                "INSERT INTO customers (name) SELECT n FROM generate_series(1, 100) n;"
                "INSERT INTO orders (customer_id) SELECT id FROM customers;"
                "CREATE TABLE items (id bigserial PRIMARY KEY, order_id integer REFERENCES orders);"
                "CREATE TABLE days (id integer GENERATED ALWAYS AS IDENTITY, day date)"
                "    PARTITION BY RANGE (day);"
                "CREATE TABLE days_1 PARTITION OF days DEFAULT");
    session.run("SELECT snowflake.convert_sequence_to_snowflake('items_id_seq')");
    const std::string original = dump_as_text(server, "postgres");
    const auto restored = [&server](const std::string &name, const Output &output) {
        EXPECT_EQ(output.exit_code, 0) << output.err;
        EXPECT_EQ(output.err, "");
        return dump_as_text(server, name);
    };
    for (const char *name : {"by_processes", "by_script", "with_row_security"}) {
        session.run(std::string("CREATE DATABASE ") + name);
        session.run(std::string("ALTER DATABASE ") + name +
                    " SET snowflake.convert_new_columns = on");
    }
    EXPECT_EQ(restored("by_processes",
                       server.run("pg_restore", {"--jobs=4", "-d", server.conninfo("by_processes"),
                                                 dump(server, "postgres", true)})),
              original);
    EXPECT_EQ(restored("by_script", server.run("psql", {"-X", "-q", "-o", "/dev/null", "-d",
                                                        server.conninfo("by_script"), "-f",
                                                        dump(server, "postgres", false)})),
              original);
    EXPECT_EQ(restored("with_row_security",
                       server.run("pg_restore", {"--enable-row-security", "-d",
                                                 server.conninfo("with_row_security"),
                                                 dump(server, "postgres", true)})),
              original);
}

// A server whose library is gone goes on making tables where the setting is off, and can drop the
// extension.
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
    session.run("SET snowflake.convert_new_columns = off");
    session.run("DROP EXTENSION snowflake");
}

} // namespace
} // namespace integration::new_columns_test
