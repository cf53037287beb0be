// Who may install the extension, what he can do with it then, and what nobody can who made the
// schema before.
#include "dump.hpp"
#include "server.hpp"
#include "session.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace integration {
namespace {

const char *const create = "CREATE EXTENSION snowflake";
const char *const not_installable = "55000";
const char *const not_permitted = "42501";

// Quoted, with all that a name may have.
const char *const installer = R"("in""stall'er $1\")";

// A session of this role in the database that it is tried in.
class RoleSession : public Session {
  public:
    RoleSession(const Server &server, const std::string &role) : Session(server, "tried") {
        run("SET SESSION AUTHORIZATION " + role);
    }
};

class Install : public testing::Test {
  protected:
    Install() : server_(7, {"fsync = off"}) {
        Session session(server_);
        session.run(std::string("CREATE ROLE ") + installer);
        session.run("CREATE ROLE mallory");
        session.run(std::string("CREATE DATABASE tried OWNER ") + installer);
        session.run("GRANT CREATE ON DATABASE tried TO mallory");
    }

    void install() const { Session(server_, "tried").run(create); }

    Server server_;
};

void make_nothing_in_the_schema(Session &session) {
    for (const char *statement :
         {"CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT "
          "1::bigint'",
          "CREATE FUNCTION snowflake.nextval() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
          "CREATE OR REPLACE FUNCTION snowflake.lastval() RETURNS bigint LANGUAGE sql"
          " AS 'SELECT 1::bigint'",
          "CREATE TABLE snowflake.pg_class (oid oid)", "ALTER SCHEMA snowflake RENAME TO melted",
          "ALTER FUNCTION snowflake.nextval(regclass) SECURITY DEFINER",
          "DROP FUNCTION snowflake.nextval(regclass)"})
        EXPECT_EQ(session.sqlstate(statement), not_permitted) << statement;
}

TEST_F(Install, TheOwnerOfADatabaseInstallsButDoesNotOwnTheCode) {
    RoleSession session(server_, installer);
    session.run(create);
    EXPECT_GT(session.number("SELECT snowflake.nextval()"), 0);
    make_nothing_in_the_schema(session);
    EXPECT_EQ(session.sqlstate("SET snowflake.node = 8"), not_permitted);
    EXPECT_EQ(session.number("SELECT snowflake.get_node(snowflake.nextval())"), 7);
    session.run("SELECT setval('snowflake.id_seq', 5)");
    session.run("CREATE TABLE t (id serial)");
    EXPECT_EQ(session.number("SELECT snowflake.convert_sequence_to_snowflake('t_id_seq')"), 1);

    RoleSession mallory(server_, "mallory");
    make_nothing_in_the_schema(mallory);
    EXPECT_EQ(mallory.sqlstate("SELECT setval('snowflake.id_seq', 5)"), not_permitted);
    EXPECT_EQ(mallory.sqlstate("DROP EXTENSION snowflake"), not_permitted);

    session.run("DROP TABLE t; DROP EXTENSION snowflake");
    session.run(create);
}

TEST_F(Install, ARoleWithoutTheRightToTheDatabaseDoesNotInstall) {
    Session(server_).run("REVOKE CREATE ON DATABASE tried FROM mallory");
    EXPECT_EQ(RoleSession(server_, "mallory").sqlstate(create), not_permitted);
}

TEST_F(Install, ASchemaOfSomebodyElseIsRefused) {
    RoleSession mallory(server_, "mallory");
    mallory.run("CREATE SCHEMA snowflake");
    Session superuser(server_, "tried");
    EXPECT_EQ(superuser.sqlstate(create), not_installable);
    EXPECT_EQ(RoleSession(server_, installer).sqlstate(create), not_installable);
    // What the hint says.
    superuser.run("ALTER SCHEMA snowflake OWNER TO CURRENT_USER");
    superuser.run(create);
    make_nothing_in_the_schema(mallory);
}

TEST_F(Install, WhatIsInTheSchemaAlreadyIsRefused) {
    RoleSession mallory(server_, "mallory");
    mallory.run("CREATE SCHEMA snowflake");
    struct Object {
        std::string create;
        std::string drop;
    };
    const std::vector<Object> objects = {
        {"CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT "
         "1::bigint'",
         "DROP FUNCTION snowflake.nextval(text)"},
        {"CREATE OPERATOR snowflake.= (FUNCTION = oideq, LEFTARG = oid, RIGHTARG = oid)",
         "DROP OPERATOR snowflake.= (oid, oid)"},
        {"CREATE TABLE snowflake.pg_class (oid oid)", "DROP TABLE snowflake.pg_class"},
        {"CREATE TYPE snowflake.pg_class AS (oid oid)", "DROP TYPE snowflake.pg_class"}};
    for (const Object &object : objects) {
        mallory.run(object.create);
        EXPECT_EQ(mallory.sqlstate(create), not_installable) << object.create;
        mallory.run(object.drop);
    }
    // Nor is anybody else left a way in.
    mallory.run("GRANT CREATE ON SCHEMA snowflake TO PUBLIC");
    EXPECT_EQ(mallory.sqlstate(create), not_installable);
    mallory.run("REVOKE CREATE ON SCHEMA snowflake FROM PUBLIC");
    mallory.run(create);
    make_nothing_in_the_schema(mallory);
}

// A value that was given before the server knew the setting counts only if its giver may set it.
TEST_F(Install, TheNodeIsNotSetBeforehand) {
    install();
    Session(server_).run("ALTER ROLE mallory LOGIN");
    for (const char *statement :
         {"ALTER ROLE mallory SET snowflake.node = 8", "ALTER SYSTEM SET snowflake.node = 8"})
        EXPECT_EQ(RoleSession(server_, "mallory").sqlstate(statement), not_permitted) << statement;
    RoleSession set(server_, "mallory");
    set.run("SET snowflake.node = 8");
    EXPECT_EQ(set.number("SELECT snowflake.get_node(snowflake.nextval())"), 7);
    const Output output = server_.run(
        "psql", {"-X", "-A", "-t", "-q", "-d",
                 server_.conninfo("tried") + " user=mallory options='-c snowflake.node=8'", "-c",
                 "SELECT snowflake.get_node(snowflake.nextval())"});
    EXPECT_EQ(output.out, "") << "no ID, rather than one of another node";
    // Unless a superuser lets him.
    Session(server_, "tried")
        .run("LOAD 'snowflake'; GRANT SET ON PARAMETER snowflake.node TO mallory");
    RoleSession granted(server_, "mallory");
    granted.run("SET snowflake.node = 8");
    EXPECT_EQ(granted.number("SELECT snowflake.get_node(snowflake.nextval())"), 8);
}

// What the owner of a database installed, he and a superuser can restore.
TEST_F(Install, ADumpIsRestored) {
    RoleSession(server_, installer).run(create);
    RoleSession(server_, installer)
        .run("CREATE TABLE t (id bigint DEFAULT snowflake.nextval());"
             "INSERT INTO t DEFAULT VALUES");
    const auto file = dump(server_, "tried", false);
    restore(server_, "by_superuser", file, false);
    EXPECT_GT(Session(server_, "by_superuser").number("SELECT snowflake.nextval() - id FROM t"), 0);

    const std::string plain = server_.file("no_owner.sql");
    server_.run_successfully("pg_dump", {"-O", "-x", "-d", server_.conninfo("tried"), "-f", plain});
    Session(server_).run(std::string("CREATE DATABASE by_owner TEMPLATE template0 OWNER ") +
                         installer);
    const Output output = server_.run(
        "psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", server_.conninfo("by_owner"), "-c",
                 std::string("SET SESSION AUTHORIZATION ") + installer, "-f", plain});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_GT(Session(server_, "by_owner").number("SELECT snowflake.nextval() - id FROM t"), 0);
}

} // namespace
} // namespace integration
