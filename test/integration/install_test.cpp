// Who may install the extension, what he can do with it then, and what nobody can who made the
// schema before.
#include "dump.hpp"
#include "server.hpp"
#include "session.hpp"

#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace integration::install_test {
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
          "DROP FUNCTION snowflake.nextval(regclass)",
          // Replication may write the registry as a superuser.
          "CREATE TRIGGER t BEFORE INSERT ON snowflake.nodes FOR EACH ROW EXECUTE FUNCTION"
          " suppress_redundant_updates_trigger()",
          "CREATE RULE r AS ON INSERT TO snowflake.nodes DO ALSO NOTHING",
          "CREATE INDEX ON snowflake.nodes (lower(name))",
          "ALTER TABLE snowflake.nodes ADD CHECK (node > 0)",
          "ALTER TABLE snowflake.nodes ENABLE ROW LEVEL SECURITY"})
        EXPECT_EQ(session.sqlstate(statement), not_permitted) << statement;
}

TEST_F(Install, TheOwnerOfADatabaseInstallsButDoesNotOwnTheCode) {
    RoleSession session(server_, installer);
    session.run(create);
    EXPECT_GT(session.number("SELECT snowflake.nextval()"), 0);
    make_nothing_in_the_schema(session);
    EXPECT_EQ(session.number("SELECT snowflake.claim_node()"), 7);
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

TEST_F(Install, NorDoesASuperuserWhoInstalls) {
    Session(server_).run("CREATE ROLE alice SUPERUSER");
    RoleSession session(server_, "alice");
    session.run("ALTER DEFAULT PRIVILEGES GRANT ALL ON ROUTINES TO mallory");
    session.run(create);
    session.run("ALTER ROLE alice NOSUPERUSER");
    make_nothing_in_the_schema(session);
    Session user(server_, "tried");
    EXPECT_EQ(user.number("SELECT snowflake.claim_node()"), 7);
    // Nothing of the extension names the role.
    EXPECT_EQ(user.texts("SELECT pg_describe_object(classid, objid, objsubid) FROM pg_shdepend"
                         " WHERE refobjid = 'alice'::regrole AND dbid <> 0"
                         " AND classid <> 'pg_default_acl'::regclass"),
              std::vector<std::string>{"extension snowflake"});
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
    superuser.run("DROP SCHEMA snowflake");
    superuser.run(create);
    make_nothing_in_the_schema(mallory);
}

// Another session of the owner of the schema has a function in it that nobody sees yet.
TEST_F(Install, AFunctionOfAnOpenTransactionDoesNotSurvive) {
    RoleSession owner(server_, installer);
    owner.run("CREATE SCHEMA snowflake");
    RoleSession open(server_, installer);
    open.run("BEGIN; CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql"
             " AS 'SELECT 1::bigint'");
    EXPECT_EQ(owner.sqlstate(create), not_installable);
    open.run("COMMIT");
    owner.run("DROP SCHEMA snowflake CASCADE");
    owner.run(create);
    EXPECT_EQ(Session(server_, "tried")
                  .number("SELECT count(*) FROM pg_proc WHERE proname = 'nextval'"
                          " AND pronamespace = 'snowflake'::regnamespace"
                          " AND proargtypes::text = 'text'::regtype::oid::text"),
              0);
}

// So has a role that has lost the right to the schema of a superuser since.
TEST_F(Install, AFunctionOfARoleThatHasLostItsRightDoesNotSurvive) {
    Session superuser(server_, "tried");
    superuser.run("CREATE SCHEMA snowflake; GRANT CREATE ON SCHEMA snowflake TO mallory");
    RoleSession open(server_, "mallory");
    open.run("BEGIN; CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql"
             " AS 'SELECT 1::bigint'");
    superuser.run("REVOKE CREATE ON SCHEMA snowflake FROM mallory; SET lock_timeout = '100ms'");
    EXPECT_EQ(superuser.sqlstate(create), "55P03");
    open.run("COMMIT");
    EXPECT_EQ(superuser.sqlstate(create), not_installable);
    superuser.run("DROP FUNCTION snowflake.nextval(text); SET default_transaction_isolation = "
                  "serializable");
    EXPECT_EQ(superuser.sqlstate(create), "0A000");
    superuser.run("RESET default_transaction_isolation");
    superuser.run(create);
    make_nothing_in_the_schema(open);
}

// A right that this transaction has taken away is still a right for other sessions.
TEST_F(Install, ASchemaThatTheTransactionHasAlteredIsRefused) {
    Session superuser(server_, "tried");
    superuser.run("CREATE SCHEMA snowflake; GRANT CREATE ON SCHEMA snowflake TO mallory");
    superuser.run("BEGIN; REVOKE CREATE ON SCHEMA snowflake FROM mallory");
    EXPECT_EQ(superuser.sqlstate(create), not_installable);
    superuser.run("ROLLBACK; REVOKE CREATE ON SCHEMA snowflake FROM mallory");
    superuser.run(create);
}

// An index function of mallory's runs in a worker of the server, and makes an object there.
TEST_F(Install, AnAnalyzeThatTheServerRunsIsWaitedFor) {
    Session superuser(server_, "tried");
    superuser.run("ALTER SYSTEM SET autovacuum_naptime = '1s'");
    superuser.run("SELECT pg_reload_conf(), pg_advisory_lock(1)");
    superuser.run("CREATE SCHEMA snowflake; GRANT ALL ON SCHEMA snowflake TO mallory");
    RoleSession mallory(server_, "mallory");
    mallory.run("CREATE SCHEMA own;"
                "CREATE FUNCTION own.make() RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
                "     IF session_user <> current_user AND"
                "        to_regprocedure('snowflake.nextval(text)') IS NULL THEN"
                "         EXECUTE 'CREATE FUNCTION snowflake.nextval(text) RETURNS bigint"
                "                      LANGUAGE sql RETURN 1';"
                "         PERFORM pg_advisory_xact_lock(1);"
                "     END IF;"
                " END$$;"
                "CREATE FUNCTION own.f(x integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE"
                "    AS $$ BEGIN PERFORM own.make(); RETURN x; END$$;"
                "CREATE TABLE own.t (x integer) WITH (autovacuum_analyze_threshold = 1);"
                "CREATE INDEX ON own.t (own.f(x));"
                "INSERT INTO own.t SELECT generate_series(1, 100)");
    wait_for(superuser,
             "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)");
    superuser.run("REVOKE CREATE ON SCHEMA snowflake FROM mallory; SET lock_timeout = '100ms'");
    EXPECT_EQ(superuser.sqlstate(create), "55P03");
    superuser.run("SELECT pg_advisory_unlock(1)");
    superuser.run("RESET lock_timeout");
    EXPECT_EQ(superuser.sqlstate(create), not_installable);
}

TEST_F(Install, ToAlterASchemaIsNotToMakeIt) {
    RoleSession owner(server_, installer);
    owner.run("CREATE SCHEMA snowflake");
    for (const char *alter :
         {"GRANT USAGE ON SCHEMA snowflake TO mallory",
          "ALTER SCHEMA snowflake RENAME TO other; ALTER SCHEMA other RENAME TO snowflake",
          "SAVEPOINT s; GRANT USAGE ON SCHEMA snowflake TO mallory; RELEASE s"}) {
        owner.run("BEGIN");
        owner.run(alter);
        EXPECT_EQ(owner.sqlstate(create), not_installable) << alter;
        owner.run("ROLLBACK");
    }
}

TEST_F(Install, ASchemaMadeInTheSameTransactionIsAccepted) {
    RoleSession session(server_, installer);
    session.run("BEGIN; SAVEPOINT s; CREATE SCHEMA snowflake; RELEASE s");
    session.run(create);
    session.run("COMMIT");
    make_nothing_in_the_schema(session);
}

TEST_F(Install, WhatIsInTheSchemaAlreadyIsRefused) {
    const std::vector<std::string> objects = {
        "CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
        "CREATE OPERATOR snowflake.= (FUNCTION = oideq, LEFTARG = oid, RIGHTARG = oid)",
        "CREATE TABLE snowflake.pg_class (oid oid)", "CREATE TYPE snowflake.pg_class AS (oid oid)"};
    for (const std::string &role : {std::string("mallory"), std::string("postgres")}) {
        RoleSession session(server_, role);
        for (const std::string &object : objects) {
            session.run("BEGIN; CREATE SCHEMA snowflake; " + object);
            EXPECT_EQ(session.sqlstate(create), not_installable) << role << ": " << object;
            session.run("ROLLBACK");
        }
        // Nor is anybody else left a way in.
        session.run("BEGIN; CREATE SCHEMA snowflake; GRANT CREATE ON SCHEMA snowflake TO PUBLIC");
        session.run(create);
        EXPECT_EQ(session.text("SELECT has_schema_privilege('public', 'snowflake', 'CREATE')"),
                  "f");
        session.run("ROLLBACK");
    }
    // An empty one of a superuser's is as good as none.
    Session(server_, "tried").run("CREATE SCHEMA snowflake");
    RoleSession mallory(server_, "mallory");
    mallory.run(create);
    make_nothing_in_the_schema(mallory);
}

// Whoever may create anything in the database can put a trusted extension into any schema. A dump
// makes it first where its name is less.
TEST_F(Install, ATrustedExtensionInTheSchemaIsNoObstacle) {
    Session superuser(server_, "tried");
    superuser.run("CREATE SCHEMA snowflake");
    RoleSession mallory(server_, "mallory");
    mallory.run("CREATE EXTENSION citext SCHEMA snowflake");
    superuser.run("CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql"
                  " AS 'SELECT 1::bigint';"
                  "ALTER EXTENSION citext ADD FUNCTION snowflake.nextval(text)");
    for (const char *owner : {"mallory", "pg_database_owner", "pg_monitor"}) {
        superuser.run(std::string("ALTER FUNCTION snowflake.nextval(text) OWNER TO ") + owner);
        EXPECT_EQ(superuser.sqlstate(create), not_installable) << owner;
    }
    superuser.run("ALTER EXTENSION citext DROP FUNCTION snowflake.nextval(text);"
                  "DROP FUNCTION snowflake.nextval(text)");
    superuser.run(create);
    EXPECT_EQ(superuser.text("SELECT object FROM snowflake.check()"), "extension citext");
    superuser.run("ALTER EXTENSION citext SET SCHEMA public");
    make_nothing_in_the_schema(mallory);
}

// The owner of the database owns the sequence, and can put it elsewhere: it stays what it is.
TEST_F(Install, TheSequenceOfTheDatabaseIsKnownUnderAnyName) {
    RoleSession owner(server_, installer);
    owner.run(create);
    owner.run("CREATE SCHEMA own; ALTER SEQUENCE snowflake.id_seq SET SCHEMA own;"
              "ALTER SEQUENCE own.id_seq RENAME TO other");
    EXPECT_GT(owner.number("SELECT snowflake.nextval()"), 0);
    EXPECT_EQ(owner.sqlstate("SELECT snowflake.nextval('own.other', 'twitter')"), "55000");
    EXPECT_EQ(owner.sqlstate("SELECT snowflake.convert_snowflake_to_sequence('own.other')"),
              "55000");
    owner.run("CREATE TABLE t (id bigint DEFAULT snowflake.nextval())");
    EXPECT_EQ(
        owner.text("SELECT sequence FROM snowflake.sequences WHERE table_name = 't'::regclass"),
        "own.other");
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
// A session that makes its first ID looks at the table of nodes, which is locked until the other
// session has dropped it.
TEST_F(Install, ItIsDroppedBesideAFirstId) {
    install();
    Session dropping(server_, "tried");
    dropping.run("CREATE SEQUENCE s");
    for (const char *end : {"ROLLBACK", "COMMIT"}) {
        SCOPED_TRACE(end);
        Session fresh(server_, "tried");
        const std::string pid = std::to_string(fresh.backend());
        const std::string first = "PREPARE first AS SELECT snowflake.nextval('s')";
        fresh.run(first); // finds the function before it is dropped
        dropping.run("BEGIN");
        dropping.run("DROP EXTENSION snowflake");
        std::future<std::string> state =
            std::async(std::launch::async, [&fresh] { return fresh.sqlstate("EXECUTE first"); });
        wait_for(server_,
                 "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = " + pid + " AND NOT granted)",
                 "t");
        dropping.run(end);
        const std::string outcome = state.get();
        EXPECT_TRUE(outcome == "00000" || outcome == "42883") << outcome;
    }
}

TEST_F(Install, ADumpIsRestored) {
    RoleSession(server_, installer).run(create);
    RoleSession(server_, installer)
        .run("CREATE TABLE t (id bigint DEFAULT snowflake.nextval());"
             "INSERT INTO t DEFAULT VALUES");
    const auto file = dump(server_, "tried", true);
    restore(server_, "by_superuser", file, true);
    EXPECT_GT(Session(server_, "by_superuser").number("SELECT snowflake.nextval() - id FROM t"), 0);

    // As docs/security.md tells the owner.
    const std::string list = server_.file("list");
    const Output contents = server_.run("pg_restore", {"-l", file.string()});
    std::istringstream lines(contents.out);
    std::ofstream kept(list);
    for (std::string line; std::getline(lines, line);)
        if (line.find("ACL - SCHEMA snowflake") == std::string::npos)
            kept << line << '\n';
    kept.close();
    Session(server_).run(std::string("CREATE DATABASE by_owner TEMPLATE template0 OWNER ") +
                         installer);
    Session(server_).run(std::string("ALTER ROLE ") + installer + " LOGIN");
    const Output output =
        server_.run("pg_restore",
                    {"--single-transaction", "--no-owner", "-L", list, "-d",
                     server_.conninfo("by_owner") + R"( user='in"stall\'er $1\\')", file.string()});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_GT(Session(server_, "by_owner").number("SELECT snowflake.nextval() - id FROM t"), 0);
    Session by_owner(server_, "by_owner");
    EXPECT_EQ(by_owner.text("SELECT rolsuper FROM pg_namespace JOIN pg_roles r ON r.oid = nspowner"
                            " WHERE nspname = 'snowflake'"),
              "t");
}

// Nothing names a role that can be dropped.
TEST_F(Install, ADumpIsRestoredWhenItsInstallerIsGone) {
    RoleSession(server_, installer).run(create);
    RoleSession(server_, installer)
        .run("CREATE TABLE t (id bigint DEFAULT snowflake.nextval());"
             "INSERT INTO t DEFAULT VALUES");
    Session(server_, "tried")
        .run(std::string("REASSIGN OWNED BY ") + installer + " TO mallory; DROP OWNED BY " +
             installer);
    Session(server_).run(std::string("REASSIGN OWNED BY ") + installer +
                         " TO mallory; DROP OWNED BY " + installer + "; DROP ROLE " + installer);
    const std::string text = dump_as_text(server_, "tried");
    EXPECT_EQ(text.find("snowflake.id_seq FROM"), std::string::npos);
    EXPECT_EQ(text.find("snowflake.id_seq TO"), std::string::npos);
    restore(server_, "again", dump(server_, "tried", true), true);
    RoleSession owner(server_, "mallory");
    owner.run("SELECT setval('snowflake.id_seq', 1)");
    owner.run("SELECT snowflake.claim_node()");
}

} // namespace
} // namespace integration::install_test
