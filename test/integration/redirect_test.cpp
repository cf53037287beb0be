// The server's own nextval, redirected, through all that happens to a database: dumps and restores,
// pg_upgrade, copies, standbys and their promotion, a library that is gone. And what comes along
// with converted sequences: their marks, and columns of the type snowflake.id.
#include "dump.hpp"
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <regex>

namespace integration::redirect_test {
namespace {

constexpr int node = 5;
const std::vector<std::string> settings{"fsync = off", "autovacuum = off"};

// Sequences that are converted with a guard and with blocks, one that is not, and a default by
// name.
constexpr const char *tables =
    "CREATE SEQUENCE guarded_id_seq;"
    "CREATE TABLE guarded (id snowflake.id PRIMARY KEY DEFAULT "
    "nextval('guarded_id_seq'::regclass));"
    "CREATE TABLE blocks (id bigserial);"
    "CREATE TABLE plain (id bigserial);"
    "CREATE TABLE by_name (id bigint DEFAULT nextval('guarded_id_seq'::text));"
    "ALTER SEQUENCE blocks_id_seq INCREMENT BY 50";
constexpr const char *conversions =
    "SELECT snowflake.convert_sequence_to_snowflake('guarded_id_seq');"
    "SELECT snowflake.convert_sequence_to_snowflake('blocks_id_seq', increment => 'keep')";

void make_converted(const Server &server, const std::string &database) {
    Session(server).run("CREATE DATABASE " + database);
    Session session(server, database);
    session.run("CREATE EXTENSION snowflake; SELECT snowflake.redirect_nextval()");
    session.run(tables);
    session.run(conversions);
}

void expect_redirected(const Server &server, const std::string &database) {
    Session session(server, database);
    EXPECT_EQ(session.text("SELECT snowflake.redirects_nextval()"), "t");
    const auto node_of_next = [&session](const std::string &sequence) {
        return session.number("SELECT snowflake.get_node(nextval('" + sequence + "'))");
    };
    EXPECT_EQ(node_of_next("guarded_id_seq"), node);
    EXPECT_EQ(node_of_next("blocks_id_seq"), node);
    EXPECT_EQ(session.number("SELECT snowflake.get_count(nextval('blocks_id_seq')) % 50"), 0);
    EXPECT_EQ(node_of_next("plain_id_seq"), 0);
    for (const char *table : {"guarded", "blocks", "by_name"})
        EXPECT_EQ(session.number(std::string("INSERT INTO ") + table +
                                 " DEFAULT VALUES RETURNING snowflake.get_node(id)"),
                  node)
            << table;
    EXPECT_EQ(session.number("SELECT count(*) FROM guarded WHERE to_json(id)::text LIKE '\"%\"'"),
              session.number("SELECT count(*) FROM guarded"));
    EXPECT_EQ(session.text("SELECT coalesce(string_agg(object || ': ' || finding, '; '), '') FROM "
                           "snowflake.check() WHERE severity = 'error'"),
              "");
}

TEST(Redirect, OutlivesADump) {
    const Server server(node, settings);
    make_converted(server, "original");
    expect_redirected(server, "original");
    for (const bool custom_format : {false, true}) {
        const std::string copy = custom_format ? "copy" : "copy_of_script";
        restore(server, copy, dump(server, "original", custom_format), custom_format);
        EXPECT_EQ(dump_as_text(server, copy), dump_as_text(server, "original"));
        expect_redirected(server, copy);
    }
}

// Many restore so, to have no triggers fire. Rows that replication brings switch nothing, and stop
// nothing.
TEST(Redirect, OutlivesADumpRestoredAsAReplica) {
    std::vector<std::string> replicating = settings;
    replicating.insert(replicating.end(),
                       {"wal_level = logical", "wal_retrieve_retry_interval = 100ms"});
    const Server server(node, replicating);
    make_converted(server, "original");
    Session(server, "original")
        .run("SELECT snowflake.set_layout('snowflake.id_seq', 'javascript')");
    Session(server).run("CREATE DATABASE copy TEMPLATE template0");
    server.run_successfully(
        "psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", server.conninfo("copy"), "-c",
                 "SET session_replication_role = replica", "-f", dump(server, "original", false)});
    EXPECT_EQ(dump_as_text(server, "copy"), dump_as_text(server, "original"));
    expect_redirected(server, "copy");

    const Server other(node + 1, replicating);
    Session sender(server, "original");
    sender.run(
        "CREATE PUBLICATION switches FOR TABLE snowflake._redirect, snowflake._id_seq_layout");
    Session receiver(other);
    receiver.run("CREATE EXTENSION snowflake");
    receiver.run("CREATE SUBSCRIPTION from_other CONNECTION '" + server.conninfo("original") +
                 "' PUBLICATION switches");
    wait_for(receiver, "NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r')");
    sender.run("SELECT snowflake.redirect_nextval()");
    const std::string sent = sender.text("SELECT pg_current_wal_lsn()");
    wait_for(receiver, "latest_end_lsn >= '" + sent + "' FROM pg_stat_subscription");
    EXPECT_EQ(receiver.text("SELECT snowflake.redirects_nextval()"), "f");
    EXPECT_EQ(receiver.number("SELECT count(*) FROM snowflake._redirect"), 0);
    EXPECT_EQ(receiver.number("SELECT count(*) FROM snowflake._id_seq_layout"), 0);
}

// pg_restore --clean cannot drop the extension while the redirect is on. It goes on, and what it
// restores is as it was.
TEST(Redirect, StaysOnWhereADumpIsRestoredOverIt) {
    const Server server(node, settings);
    make_converted(server, "app");
    const auto file = dump(server, "app", true);
    const Output output = server.run(
        "pg_restore", {"--clean", "--if-exists", "--jobs=4", "-d", server.conninfo("app"), file});
    EXPECT_NE(output.err.find("required by the database system"), std::string::npos) << output.err;
    expect_redirected(server, "app");
}

// A role that may install the extension restores a dump, and a superuser switches the redirect on.
TEST(Redirect, WaitsForASuperuserWhereAnotherRoleRestores) {
    const Server server(node, settings);
    make_converted(server, "app");
    Session session(server);
    session.run("CREATE ROLE owner LOGIN");
    session.run("CREATE DATABASE restored OWNER owner");
    const Output output = server.run(
        "pg_restore", {"--verbose", "--single-transaction", "--no-owner", "--no-acl", "-d",
                       server.conninfo("restored") + " user=owner", dump(server, "app", true)});
    EXPECT_NE(output.err.find("SELECT snowflake.redirect_nextval();"), std::string::npos)
        << output.err;
    EXPECT_EQ(output.err.find("error"), std::string::npos) << output.err;
    Session restored(server, "restored");
    EXPECT_EQ(restored.sqlstate("SELECT nextval('guarded_id_seq')"), "2200H");
    const std::string command = restored.text(
        "SELECT command FROM snowflake.check() WHERE object LIKE 'function nextval%'");
    EXPECT_EQ(command, "-- If that is so, as a superuser: SELECT snowflake.redirect_nextval()");
    restored.run("SELECT snowflake.redirect_nextval()");
    expect_redirected(server, "restored");
}

// The catalog of the new version knows nothing of the redirect. Until it is switched on again, no
// small number is made.
TEST(Redirect, IsSwitchedOnAgainAfterAnUpgrade) {
    Server before(node, settings);
    make_converted(before, "app");
    Session(before).run("ALTER DATABASE app SET snowflake.convert_new_columns = on");
    const std::string dumped = dump_as_text(before, "app");
    Session(before, "app").run("SELECT snowflake.claim_node()");
    before.stop();
    Server after(node, settings);
    after.upgrade_from(before);
    {
        Session session(after, "app");
        EXPECT_EQ(session.sqlstate("INSERT INTO guarded DEFAULT VALUES"), "2200H");
        EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.check() WHERE "
                                 "command = 'SELECT snowflake.redirect_nextval()'"),
                  1);
        session.run("SELECT snowflake.redirect_nextval()");
        session.run("SELECT snowflake.take_over_node(true)");
    }
    EXPECT_EQ(dump_as_text(after, "app"), dumped);
    expect_redirected(after, "app");
    Session session(after, "app");
    session.run("CREATE TABLE made (id serial)");
    EXPECT_EQ(session.number("INSERT INTO made DEFAULT VALUES RETURNING snowflake.get_node(id)"),
              node);
}

TEST(Redirect, GoesWithTheTemplateOfADatabase) {
    const Server server(node, settings);
    make_converted(server, "app");
    Session session(server);
    session.run("CREATE DATABASE copy TEMPLATE app");
    expect_redirected(server, "copy");
    Session(server, "copy").run("SELECT snowflake.redirect_nextval(false)");
    expect_redirected(server, "app");
}

TEST(Redirect, HoldsOnAStandbyAndOnceItIsPromoted) {
    const Server primary(node, settings);
    make_converted(primary, "app");
    const Server copy = Server::standby_of(primary);
    Session standby(copy, "app");
    for (const char *sequence : {"guarded_id_seq", "plain_id_seq"})
        EXPECT_EQ(standby.sqlstate(std::string("SELECT nextval('") + sequence + "')"), "25006");
    copy.promote();
    EXPECT_EQ(standby.number("SELECT snowflake.get_node(nextval('guarded_id_seq'))"), node);
    EXPECT_LT(standby.number("SELECT nextval('plain_id_seq')"), 1000);
    expect_redirected(copy, "app");
}

// Conversions leave all there is as it was, but for the types of columns, the options and the
// comment of sequences, and identities.
TEST(Redirect, LeavesTheSchemaAsItWas) {
    const Server server(node, settings);
    Session session(server);
    session.run("CREATE EXTENSION snowflake; SELECT snowflake.redirect_nextval();"
                "CREATE TABLE customers (id serial PRIMARY KEY, label text DEFAULT 'c' || "
                "nextval('customers_id_seq'));"
                "CREATE TABLE orders (id serial PRIMARY KEY, customer_id integer NOT NULL "
                "REFERENCES customers);"
                "CREATE INDEX ON orders (customer_id);"
                "CREATE VIEW totals AS SELECT customer_id, count(*) FROM orders GROUP BY 1;"
                "CREATE FUNCTION next_order() RETURNS bigint LANGUAGE sql "
                "RETURN nextval('orders_id_seq'::regclass);"
                "CREATE RULE log AS ON DELETE TO orders DO ALSO SELECT nextval('orders_id_seq')");
    const auto schema = [&server] {
        const Output output = server.run("pg_dump", {"-s", "-d", server.conninfo()});
        EXPECT_EQ(output.exit_code, 0) << output.err;
        // Lines that hold a random key, types, options of sequences and what these were.
        return std::regex_replace(
            output.out,
            std::regex("\\\\(un)?restrict .*\n|    AS integer\n|    INCREMENT BY .*\n|"
                       "--\n-- Name: SEQUENCE .*\n--\n\nCOMMENT ON SEQUENCE .*\n\n\n|"
                       "(  \\w*id )(integer|bigint)"),
            "$2");
    };
    const std::string before = schema();
    session.run("CALL snowflake.convert_all()");
    EXPECT_EQ(session.number("SELECT count(*) FROM information_schema.columns WHERE "
                             "table_schema = 'public' AND data_type = 'integer'"),
              0);
    EXPECT_EQ(schema(), before);
}

// The columns that a publisher does not have get IDs from their defaults, in the first copy of the
// table and in what is applied afterwards. So do those of a foreign table.
TEST(Redirect, FillsWhatOtherServersDoNotSend) {
    std::vector<std::string> logical = settings;
    logical.emplace_back("wal_level = logical");
    const Server publisher(1, logical);
    const Server subscriber(node, logical);
    Session here(publisher);
    here.run(
        "CREATE TABLE orders (n integer PRIMARY KEY); CREATE PUBLICATION orders FOR TABLE orders;"
        "INSERT INTO orders SELECT generate_series(1, 1000)");
    Session there(subscriber);
    there.run("CREATE EXTENSION snowflake; SELECT snowflake.redirect_nextval();"
              "CREATE TABLE orders (n integer PRIMARY KEY, id serial UNIQUE);"
              "SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq')");
    there.run("CREATE SUBSCRIPTION orders CONNECTION '" + publisher.conninfo() +
              "' PUBLICATION orders");
    wait_for(there, "(SELECT count(*) = 1000 FROM orders)");
    here.run("INSERT INTO orders SELECT generate_series(1001, 2000)");
    wait_for(there, "(SELECT count(*) = 2000 FROM orders)");
    EXPECT_EQ(there.number("SELECT count(DISTINCT id) FROM orders WHERE snowflake.get_node(id) = " +
                           std::to_string(node)),
              2000);

    there.run("CREATE EXTENSION postgres_fdw;"
              "CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" +
              subscriber.file("").string() +
              "', dbname 'postgres');"
              "CREATE USER MAPPING FOR CURRENT_USER SERVER loop;"
              "CREATE TABLE target (id bigint, n integer);"
              "CREATE FOREIGN TABLE far (id bigint DEFAULT nextval('orders_id_seq'), n integer) "
              "SERVER loop OPTIONS (table_name 'target')");
    there.run("INSERT INTO far (n) VALUES (1), (2); COPY far (n) FROM PROGRAM 'seq 3 100'");
    EXPECT_EQ(there.number("SELECT count(DISTINCT id) FROM target WHERE snowflake.get_node(id) = " +
                           std::to_string(node)),
              100);
}

// The server's function called by its OID, as a client may by the protocol, is not planned: the
// guard makes it fail.
TEST(Redirect, LeavesCallsByTheProtocolToTheGuard) {
    const Server server(node, settings);
    make_converted(server, "app");
    PGconn *connection = PQconnectdb(server.conninfo("app").c_str());
    const auto sequence = [connection](const char *name) {
        PGresult *found =
            PQexec(connection, (std::string("SELECT '") + name + "'::regclass::oid").c_str());
        const int oid = static_cast<int>(std::stoul(PQgetvalue(found, 0, 0)));
        PQclear(found);
        return oid;
    };
    const auto sqlstate_of_nextval = [connection](int oid) {
        constexpr int oid_of_nextval = 1574;
        PQArgBlock argument{};
        argument.len = 4;
        argument.isint = 1;
        argument.u.integer = oid;
        char value[8];
        int length = 0;
        PGresult *result = PQfn(connection, oid_of_nextval, reinterpret_cast<int *>(value), &length,
                                0, &argument, 1);
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        std::string found = state == nullptr ? "" : state;
        PQclear(result);
        return found;
    };
    EXPECT_EQ(sqlstate_of_nextval(sequence("guarded_id_seq")), "2200H");
    EXPECT_EQ(sqlstate_of_nextval(sequence("plain_id_seq")), "");
    PQfinish(connection);
}

// The statements of docs/upgrading.md for a server whose library is gone.
std::string statements_without_library() {
    const std::string page = read_document("upgrading");
    const std::size_t begin = page.find("UPDATE pg_catalog.pg_proc");
    return page.substr(begin, page.find("```", begin) - begin);
}

// Sessions that switch at once wait for each other, and none fails.
TEST(Redirect, IsSwitchedByManyAtOnce) {
    const Server server(node, settings);
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    const auto script = server.file("switch.sql");
    {
        std::ofstream out(script);
        out << "SELECT snowflake.redirect_nextval(random() < 0.5);\nSELECT nextval('s');\n";
    }
    session.run("CREATE SEQUENCE s");
    const int turns = is_long_run() ? 100 : 30;
    server.run_successfully(
        "pgbench", {"-n", "-c", "4", "-t", std::to_string(turns), "-f", script, server.conninfo()});
    session.run("SELECT snowflake.redirect_nextval(false)");
    EXPECT_EQ(session.number("SELECT nextval('s')"), 4 * turns + 1);
    session.run("DROP EXTENSION snowflake");
}

// Without the library each statement that calls nextval fails, until the catalog is as it was:
// docs/upgrading.md has the statements.
TEST(Redirect, IsTakenAwayByHandWhereTheLibraryIsGone) {
    const Server server(node, settings);
    {
        Session session(server);
        session.run(
            "CREATE EXTENSION snowflake; CREATE TABLE plain (id serial);"
            "SELECT snowflake.redirect_nextval();"
            "UPDATE pg_proc SET probin = '$libdir/gone' WHERE probin = '$libdir/snowflake'");
    }
    Session session(server);
    EXPECT_EQ(session.sqlstate("INSERT INTO plain DEFAULT VALUES"), "58P01");
    session.run(statements_without_library());
    EXPECT_EQ(session.number("INSERT INTO plain DEFAULT VALUES RETURNING id"), 1);
    EXPECT_EQ(session.number("SELECT count(*) FROM pg_depend WHERE objid = "
                             "'pg_catalog.nextval(regclass)'::regprocedure"),
              0);
}

} // namespace
} // namespace integration::redirect_test
