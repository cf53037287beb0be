// A database of pgEdge's extension of the same name becomes one of ours by an update, from each of
// its versions: the same members as in a new database, nothing that depends on them touched, and
// IDs that go on above. And what stands in the way of an update.
#include "dump.hpp"
#include "fake_clock.hpp"
#include "ids.hpp"
#include "inserter.hpp"
#include "pgedge.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <optional>
#include <ostream>
#include <regex>
#include <sstream>
#include <thread>

namespace integration::pgedge_test {
namespace {

using std::chrono_literals::operator""h;

constexpr int node = 5;
const std::vector<std::string> settings{"fsync = off", "autovacuum = off"};
const char *const update = "ALTER EXTENSION snowflake UPDATE";
const char *const not_updatable = "55000";

// Runs a command with psql, which shows notices and hints.
Output psql(const Server &server, const std::string &database, const std::string &command) {
    return server.run("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", server.conninfo(database),
                               "-c", command});
}

// The extension as pg_upgrade would make it again: each member with its definition, comment, owner
// and rights, and which rights are the initial ones. Numbers that differ from database to database
// are left out.
std::string members(const Server &server, const std::string &database) {
    const std::string file = server.file(database + ".members");
    server.run_successfully("pg_dump", {"--binary-upgrade", "--schema-only", "-d",
                                        server.conninfo(database), "-f", file});
    std::istringstream printed(read_file(file));
    std::ostringstream kept;
    for (std::string line; std::getline(printed, line);) {
        if (line.starts_with("\\restrict") || line.starts_with("\\unrestrict") ||
            line.find("binary_upgrade_set_next") != std::string::npos)
            continue;
        if (line.find("binary_upgrade") != std::string::npos ||
            line.find("relfrozenxid") != std::string::npos || line.starts_with("WHERE oid = "))
            line = std::regex_replace(line, std::regex(R"('\{?[0-9,]+\}?')"), "'N'");
        kept << line << '\n';
    }
    return kept.str();
}

// What pg_dump does not show of the extension.
std::string registration(Session &session) {
    return session.text(
        "SELECT concat_ws(' ', extversion, extrelocatable, extcondition,"
        "   (SELECT array_agg(c::regclass) FROM unnest(extconfig) c),"
        "   obj_description(x.oid, 'pg_extension'), n.nspacl, i.initprivs,"
        "   (SELECT string_agg(pg_describe_object(refclassid, refobjid, 0), ', ' ORDER BY refobjid)"
        "        FROM pg_depend d"
        "        WHERE d.classid = 'pg_extension'::regclass AND d.objid = x.oid),"
        "   (SELECT to_jsonb(s) - 'seqrelid' FROM pg_sequence s"
        "        WHERE seqrelid = 'snowflake.id_seq'::regclass))"
        " FROM pg_extension x JOIN pg_namespace n ON n.oid = extnamespace"
        " LEFT JOIN pg_init_privs i ON i.classoid = 'pg_namespace'::regclass AND i.objoid = n.oid"
        " WHERE extname = 'snowflake'");
}

// A server with a database of the other extension, and one where ours was installed.
class PgEdge : public testing::Test {
  protected:
    explicit PgEdge(int number = node) : server_(number, settings) {
        Session(server_).run("CREATE DATABASE fresh");
        Session(server_, "fresh").run("CREATE EXTENSION snowflake");
    }

    const Server &server() { return server_; }

    // Expects the members of the extension to be those of a new installation.
    void expect_same_as_fresh() {
        EXPECT_EQ(members(server_, "postgres"), members(server_, "fresh"));
        Session updated(server_);
        Session fresh(server_, "fresh");
        EXPECT_EQ(registration(updated), registration(fresh));
        EXPECT_EQ(updated.text("SELECT coalesce(string_agg(finding, '; '), '')"
                               " FROM snowflake.check() WHERE severity = 'error'"),
                  "");
    }

  private:
    Server server_;
};

class PgEdgeVersion : public PgEdge, public testing::WithParamInterface<const char *> {};

TEST_P(PgEdgeVersion, HasTheMembersOfANewInstallationAfterTheUpdate) {
    Session session(server());
    pgedge::create_extension(session, GetParam());
    const Output output = psql(server(), "postgres", update);
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_EQ(output.err, "");
    expect_same_as_fresh();
}

INSTANTIATE_TEST_SUITE_P(Versions, PgEdgeVersion, testing::ValuesIn(pgedge::versions),
                         [](const auto &instance) {
                             return "V" + std::regex_replace(std::string(instance.param),
                                                             std::regex("\\."), "_");
                         });

// Names of arguments, owners and functions that the other extension might have, and what users may
// have done to its sequence.
TEST_F(PgEdge, IsUpdatedWhateverItsFunctionsLookLike) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    session.run("CREATE ROLE mallory; CREATE ROLE app;"
                "UPDATE pg_proc SET proargnames = '{\"a snowflake\"}' WHERE proname IN ('format',"
                "  'get_node') AND pronamespace = 'snowflake'::regnamespace;"
                "CREATE VIEW nodes_of AS SELECT snowflake.get_node(1) AS node;"
                "ALTER FUNCTION snowflake.nextval(regclass) OWNER TO mallory;"
                "ALTER FUNCTION snowflake.currval(regclass) OWNER TO pg_monitor;"
                "CREATE FUNCTION snowflake.helper(text) RETURNS text LANGUAGE sql AS 'SELECT $1';"
                "ALTER EXTENSION snowflake ADD FUNCTION snowflake.helper(text);"
                // The new version would call it in the place of its own, which takes an oid.
                "CREATE FUNCTION snowflake._lock(regclass) RETURNS boolean LANGUAGE sql"
                "  RETURN true;"
                "ALTER FUNCTION snowflake._lock(regclass) OWNER TO mallory;"
                "ALTER EXTENSION snowflake ADD FUNCTION snowflake._lock(regclass);"
                // Calls of its own without arguments would be ambiguous.
                "CREATE FUNCTION snowflake._members(n integer DEFAULT 0) RETURNS integer"
                "  LANGUAGE sql RETURN n;"
                "ALTER EXTENSION snowflake ADD FUNCTION snowflake._members(integer);"
                "CREATE AGGREGATE snowflake.counted(*)"
                "  (SFUNC = int8inc, STYPE = int8, INITCOND = '0');"
                "ALTER EXTENSION snowflake ADD AGGREGATE snowflake.counted(*);"
                "COMMENT ON FUNCTION snowflake.nextval(regclass) IS 'another comment';"
                "ALTER SEQUENCE snowflake.id_seq AS bigint INCREMENT 2 MINVALUE -5 MAXVALUE 1000"
                "  START 3 CACHE 10 CYCLE;"
                "ALTER SEQUENCE snowflake.id_seq SET UNLOGGED;"
                "SELECT pg_catalog.setval('snowflake.id_seq', -5);"
                "COMMENT ON EXTENSION snowflake IS 'another comment'");
    const Output output = psql(server(), "postgres", update);
    for (const char *dropped : {"helper(text)", "_lock(regclass)", "_members(integer)"})
        EXPECT_NE(output.err.find(std::string("function snowflake.") + dropped), std::string::npos)
            << output.err;
    session.run("DROP VIEW nodes_of");
    expect_same_as_fresh();
    EXPECT_EQ(session.text("SELECT relpersistence FROM pg_class"
                           " WHERE oid = 'snowflake.id_seq'::regclass"),
              "p");
    EXPECT_EQ(session.number("SELECT snowflake.get_node(snowflake.nextval())"), node);
}

// An owner of functions holds the update up with the lock of one, and does something meanwhile.
class PgEdgeHeldUp : public PgEdge {
  protected:
    PgEdgeHeldUp() : holder_(server()) {
        pgedge::create_extension(holder_, "2.6.0");
        holder_.run("CREATE ROLE mallory; CREATE SCHEMA lair AUTHORIZATION mallory;"
                    "GRANT USAGE ON SCHEMA snowflake TO mallory;"
                    "CREATE FUNCTION lair._f() RETURNS bigint LANGUAGE sql RETURN 1;"
                    "ALTER EXTENSION snowflake ADD FUNCTION lair._f();"
                    "ALTER FUNCTION lair._f() OWNER TO mallory;"
                    "UPDATE pg_extension SET extowner = 'mallory'::regrole"
                    "  WHERE extname = 'snowflake';"
                    "ALTER FUNCTION snowflake.nextval(regclass) OWNER TO mallory;"
                    "ALTER FUNCTION snowflake.convert_column_to_int8(regclass, smallint)"
                    "  OWNER TO mallory; SET ROLE mallory");
    }

    Output update_while(const std::function<void(Session &mallory)> &act) {
        Session earlier(server());
        earlier.run("BEGIN; SELECT 1");
        auto updating =
            std::async(std::launch::async, [&] { return psql(server(), "postgres", update); });
        Session other(server());
        other.run("SET ROLE mallory; SET lock_timeout = '100ms'");
        wait_for(other, waits_for("virtualxid"));
        holder_.run("BEGIN; COMMENT ON FUNCTION"
                    "  snowflake.convert_column_to_int8(regclass, smallint) IS 'mine'");
        earlier.run("COMMIT"); // The update does not wait for what began after it.
        wait_for(other, waits_for("object"));
        act(other);
        holder_.run("COMMIT");
        return updating.get();
    }

    // Code of hers that has become the bootstrap superuser's.
    std::string taken() {
        return holder_.text(
            "SELECT coalesce(string_agg(oid::regprocedure::text, ' '), '') FROM pg_proc"
            " WHERE pronamespace = 'lair'::regnamespace AND proowner = 10");
    }

  private:
    static std::string waits_for(const std::string &type) {
        return "EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = '" + type + "')";
    }

    Session holder_;
};

TEST_F(PgEdgeHeldUp, TakesItsFunctionsFromTheirOwnersFirst) {
    const Output output = update_while([](Session &mallory) {
        EXPECT_EQ(mallory.sqlstate("ALTER FUNCTION snowflake.nextval(regclass) SET SCHEMA lair"),
                  "55P03");
        EXPECT_EQ(mallory.sqlstate("ALTER EXTENSION snowflake DROP FUNCTION lair._f()"), "55P03");
        EXPECT_EQ(mallory.sqlstate("CREATE FUNCTION lair.g() RETURNS bigint LANGUAGE sql RETURN 1;"
                                   "ALTER EXTENSION snowflake ADD FUNCTION lair.g()"),
                  "55P03");
    });
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_NE(output.err.find("function lair._f()"), std::string::npos) << output.err;
    EXPECT_EQ(taken(), "");
}

TEST_F(PgEdgeHeldUp, DropsNoOtherFunctionThatHasTheNameMeanwhile) {
    const Output output = update_while([](Session &mallory) {
        mallory.run("ALTER FUNCTION lair._f() RENAME TO _g;"
                    "CREATE FUNCTION lair._f() RETURNS bigint LANGUAGE sql RETURN 1");
    });
    EXPECT_NE(output.exit_code, 0);
    EXPECT_NE(output.err.find("was changed at the same time"), std::string::npos) << output.err;
    EXPECT_EQ(taken(), "");
}

// Settings that change how the server reads strings and prints names.
TEST_F(PgEdge, IsUpdatedUnderTheSettingsOfADatabase) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    session.run("CREATE FUNCTION read_node(id bigint) RETURNS text LANGUAGE plpgsql AS"
                "   'BEGIN RETURN snowflake.format(id) ->> ''id''; END'");
    session.run("ALTER DATABASE postgres SET quote_all_identifiers = on");
    // From PostgreSQL 19 on, no setting makes strings without an E escape.
    if (session.number("SELECT current_setting('server_version_num')") < 190000)
        session.run("ALTER DATABASE postgres SET standard_conforming_strings = off");
    const Output output = psql(server(), "postgres", update);
    session.run("ALTER DATABASE postgres RESET ALL");
    EXPECT_EQ(output.err.find("WARNING"), std::string::npos) << output.err;
    EXPECT_NE(output.err.find("\"read_node\""), std::string::npos) << output.err;
    for (const char *quoted : {"on", "off"}) {
        session.run(std::string("SET quote_all_identifiers = ") + quoted);
        EXPECT_EQ(session.text("SELECT count(*) FROM snowflake.check()"), "0") << quoted;
    }
    EXPECT_EQ(session.text("SELECT snowflake._names_word('an order', 'order')"), "t");
    EXPECT_EQ(session.text("SELECT snowflake._names_word('orders', 'order')"), "f");
}

// Roles are granted rights, and PUBLIC loses some: dumps hold the difference from the initial
// rights.
TEST_F(PgEdge, KeepsTheRightsOfUsersThroughTheUpdateAndADump) {
    Session session(server());
    pgedge::create_extension(session, "2.4");
    session.run("CREATE ROLE app; CREATE ROLE setter; CREATE ROLE passer; CREATE ROLE outsider;"
                "REVOKE USAGE ON SCHEMA snowflake FROM PUBLIC;"
                "REVOKE USAGE ON SEQUENCE snowflake.id_seq FROM PUBLIC;"
                "GRANT SELECT ON SEQUENCE snowflake.id_seq TO PUBLIC;"
                "GRANT SELECT (is_called) ON snowflake.id_seq TO setter, outsider;"
                "GRANT USAGE ON SCHEMA snowflake TO app, setter;"
                "GRANT USAGE ON SEQUENCE snowflake.id_seq TO app;"
                "GRANT UPDATE ON SEQUENCE snowflake.id_seq TO setter WITH GRANT OPTION;"
                "SET ROLE setter; GRANT UPDATE ON SEQUENCE snowflake.id_seq TO passer; RESET ROLE;"
                "REVOKE EXECUTE ON FUNCTION snowflake.currval(regclass) FROM PUBLIC;"
                "GRANT EXECUTE ON FUNCTION snowflake.currval(regclass) TO setter;"
                "GRANT EXECUTE ON FUNCTION snowflake.get_node(bigint) TO app");
    session.run(update);
    const auto rights = [](Session &where) {
        return where.text(
            "SELECT concat_ws(' ', has_schema_privilege('app', 'snowflake', 'USAGE'),"
            " has_sequence_privilege('app', 'snowflake.id_seq', 'UPDATE'),"
            " has_sequence_privilege('passer', 'snowflake.id_seq', 'UPDATE'),"
            " has_sequence_privilege('setter', 'snowflake.id_seq', 'UPDATE WITH GRANT OPTION'),"
            " has_function_privilege('app', 'snowflake.currval(regclass)', 'EXECUTE'),"
            " has_function_privilege('setter', 'snowflake.currval(regclass)', 'EXECUTE'),"
            " has_function_privilege('outsider', 'snowflake.get_node(bigint)', 'EXECUTE'),"
            " has_schema_privilege('outsider', 'snowflake', 'USAGE'),"
            " has_sequence_privilege('outsider', 'snowflake.id_seq', 'USAGE'),"
            " has_sequence_privilege('outsider', 'snowflake.id_seq', 'SELECT'),"
            " (SELECT count(*) FROM pg_attribute, aclexplode(attacl)"
            "      WHERE attrelid = 'snowflake.id_seq'::regclass))");
    };
    EXPECT_EQ(rights(session), "t f t t f t t f f t 2");
    Session fresh(server(), "fresh");
    const std::string initial =
        "SELECT string_agg(pg_describe_object(classoid, objoid, objsubid) || initprivs::text, ' '"
        "   ORDER BY pg_describe_object(classoid, objoid, objsubid)) FROM pg_init_privs"
        " WHERE privtype = 'e'";
    EXPECT_EQ(session.text(initial), fresh.text(initial));
    EXPECT_NE(session.text(initial), "");
    restore(server(), "copy", dump(server(), "postgres", true), true);
    {
        Session copy(server(), "copy");
        EXPECT_EQ(rights(copy), "t f t t f t t f f t 2");
    }
    // From PostgreSQL 17 on, the server notes the roles that initial rights name.
    EXPECT_EQ(session.number("SELECT count(*) FROM pg_shdepend WHERE deptype = 'i'"), 0);
    session.run("DROP OWNED BY app, passer, setter, outsider");
    session.run("DROP DATABASE copy");
    session.run("DROP ROLE app; DROP ROLE passer; DROP ROLE setter; DROP ROLE outsider");
}

// Everything that can use the functions and the sequence, by name and by OID.
constexpr const char *dependents =
    "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), maker text,"
    "   CHECK (snowflake.get_node(id) > 0));"
    "CREATE SEQUENCE own;"
    "CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowflake.nextval('own'));"
    "CREATE VIEW origins AS SELECT snowflake.get_node(id), snowflake.format(id) FROM orders;"
    "CREATE POLICY here ON orders USING (snowflake.get_count(id) >= 0);"
    "CREATE FUNCTION last_made() RETURNS bigint LANGUAGE sql RETURN snowflake.currval();"
    "CREATE FUNCTION read_node(id bigint) RETURNS text LANGUAGE plpgsql AS"
    "   'BEGIN RETURN snowflake.format(id) ->> ''id''; END'";

std::vector<std::string> object_ids(Session &session) {
    return session.texts(
        "SELECT oid::text || adrelid || adbin::text FROM pg_attrdef"
        " UNION ALL SELECT oid::text || ev_class || ev_action::text FROM pg_rewrite"
        "     WHERE ev_class = 'origins'::regclass"
        " UNION ALL SELECT oid::text || polqual::text FROM pg_policy"
        " UNION ALL SELECT oid::text || conbin::text FROM pg_constraint WHERE contype = 'c'"
        " UNION ALL SELECT oid::text || prosqlbody::text FROM pg_proc WHERE proname = 'last_made'"
        " UNION ALL SELECT oid::regprocedure::text || oid FROM pg_proc"
        "     WHERE oid IN ('snowflake.nextval(regclass)'::regprocedure,"
        "                   'snowflake.currval(regclass)'::regprocedure,"
        "                   'snowflake.get_epoch(bigint)'::regprocedure,"
        "                   'snowflake.get_count(bigint)'::regprocedure,"
        "                   'snowflake.get_node(bigint)'::regprocedure,"
        "                   'snowflake.format(bigint)'::regprocedure)"
        " UNION ALL SELECT 'snowflake.id_seq'::regclass::oid::text ORDER BY 1");
}

TEST_F(PgEdge, LeavesWhatDependsOnItAsItIs) {
    Session session(server());
    pgedge::create_extension(session, "2.4");
    session.run(dependents);
    pgedge::make_converted_identity(session, "items", "2.4");
    pgedge::make_converted_identity(session, "crates", "2.5.0"); // not converted again below
    session.run("CREATE SEQUENCE wide INCREMENT 5000;"
                "CREATE TABLE shipments (id bigint DEFAULT snowflake.nextval('wide'));"
                "CREATE SEQUENCE falling INCREMENT -1;"
                "CREATE TABLE drops (id bigint DEFAULT snowflake.nextval('falling'))");
    // No default names it, and the other version has made an ID above its MAXVALUE.
    session.run("CREATE SEQUENCE alone; SELECT snowflake.nextval('alone')");
    pgedge::leave_max_value(session, "alone", 1000000);
    // The library makes IDs for the SQL objects of the other version already.
    const Id before = session.number("INSERT INTO orders DEFAULT VALUES RETURNING id");
    const Id before_own = session.number("INSERT INTO events DEFAULT VALUES RETURNING id");
    const auto ids_before = object_ids(session);

    const Output output = psql(server(), "postgres", update);
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_EQ(object_ids(session), ids_before);
    for (const char *said :
         {"public.items_id_seq: MAXVALUE 11", "public.alone: MAXVALUE 1000000",
          "ALTER SEQUENCE public.wide INCREMENT BY 1;",
          "ALTER SEQUENCE public.falling INCREMENT BY 1;",
          "SELECT snowflake.convert_sequence_to_snowflake('public.own');",
          "SELECT snowflake.convert_sequence_to_snowflake('public.alone');",
          "SELECT snowflake.convert_sequence_to_snowflake('public.items_id_seq');",
          "view public.origins", "function public.read_node(bigint)"})
        EXPECT_NE(output.err.find(said), std::string::npos) << said << " is not in: " << output.err;
    EXPECT_EQ(output.err.find("function last_made"), std::string::npos) << output.err;

    // The hints are run as they stand, and the session that was there before goes on.
    const Id before_alone = session.number("SELECT last_value FROM alone");
    session.run("ALTER SEQUENCE public.wide INCREMENT BY 1;"
                "ALTER SEQUENCE public.falling INCREMENT BY 1;"
                "SELECT snowflake.convert_sequence_to_snowflake('public.own');"
                "SELECT snowflake.convert_sequence_to_snowflake('public.alone');"
                "SELECT snowflake.convert_sequence_to_snowflake('public.items_id_seq')");
    EXPECT_GT(session.number("INSERT INTO orders DEFAULT VALUES RETURNING id"), before);
    EXPECT_GT(session.number("INSERT INTO events DEFAULT VALUES RETURNING id"), before_own);
    EXPECT_EQ(session.number("SELECT last_made() - max(id) FROM orders"), 0);
    EXPECT_EQ(session.number("SELECT sum(get_node) FROM origins"), 2 * node);
    EXPECT_EQ(session.number("INSERT INTO items (item) VALUES ('new')"
                             " RETURNING snowflake.get_node(id)"),
              node);
    EXPECT_GT(session.number("SELECT snowflake.nextval('alone')"), before_alone);
    for (const char *table : {"shipments", "drops"})
        EXPECT_EQ(session.number(std::string("INSERT INTO ") + table +
                                 " DEFAULT VALUES RETURNING snowflake.get_node(id)"),
                  node);
    EXPECT_EQ(session.text("SELECT count(*) FROM snowflake.check() WHERE severity <> 'notice'"),
              "0");

    const auto file = dump(server(), "postgres", true);
    restore(server(), "copy", file, true);
    EXPECT_EQ(dump_as_text(server(), "copy"), dump_as_text(server(), "postgres"));
    Session copy(server(), "copy");
    EXPECT_GT(copy.number("INSERT INTO orders DEFAULT VALUES RETURNING id"),
              session.number("SELECT max(id) FROM orders"));
    for (const char *table : {"items", "crates"})
        EXPECT_EQ(copy.text(std::string("SELECT pg_get_serial_sequence('") + table + "', 'id')"),
                  std::string("public.") + table + "_id_seq");
    EXPECT_EQ(copy.number("INSERT INTO crates DEFAULT VALUES RETURNING snowflake.get_node(id)"),
              node);
}

// The server's own nextval fails on snowflake.id_seq from now on.
TEST_F(PgEdge, NamesDefaultsThatTakeNumbersFromItsSequence) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    session.run("CREATE TABLE counted (id bigint DEFAULT nextval('snowflake.id_seq'));"
                "CREATE TABLE orders (id bigint DEFAULT snowflake.nextval());"
                "INSERT INTO counted DEFAULT VALUES");
    const Output output = psql(server(), "postgres", update);
    EXPECT_NE(output.err.find("DETAIL:  column id of table public.counted\nHINT:  SELECT"
                              " snowflake.convert_sequence_to_snowflake('snowflake.id_seq');"),
              std::string::npos)
        << output.err;
    session.run("SELECT snowflake.convert_sequence_to_snowflake('snowflake.id_seq')");
    EXPECT_EQ(session.number("INSERT INTO counted DEFAULT VALUES RETURNING snowflake.get_node(id)"),
              node);
}

// The sequence is an hour ahead, so that only its last value keeps IDs from coming again.
TEST_F(PgEdge, GoesOnAboveBesideWritersInOtherSessions) {
    Session session(server());
    pgedge::create_extension(session, "2.5.0");
    session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(),"
                " maker text)");
    const Id ahead = hour_ahead(node);
    session.run(setval("snowflake.id_seq", ahead));
    Inserters writers;
    for (const char *maker : {"a", "b"})
        writers.push_back(
            std::make_unique<Inserter>(server(), maker, Inserter::endless, writers.size()));
    const auto wait_for_writers = [&] {
        for (const auto &writer : writers) {
            const int before = writer->inserted();
            while (writer->inserted() < before + 2 && !writer->ended_early())
                pause_between_looks();
        }
    };
    wait_for_writers();
    session.run("BEGIN");
    session.run(update);
    session.run("INSERT INTO orders (maker) VALUES ('rolled back')");
    session.run("ROLLBACK");
    wait_for_writers();
    session.run("BEGIN");
    session.run(update);
    const Id last = session.number("SELECT last_value FROM snowflake.id_seq");
    session.run("COMMIT");
    wait_for_writers();
    for (const auto &writer : writers)
        writer->stop();
    const int inserted = wait_for_all(writers);
    EXPECT_EQ(session.number("SELECT count(DISTINCT id) FROM orders"), inserted);
    EXPECT_GT(session.number("SELECT min(id) FROM orders"), ahead);
    EXPECT_GT(session.number("SELECT max(id) FROM orders"), last);
}

TEST_F(PgEdge, AnswersWithTheNewLibraryBeforeTheUpdate) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    for (const char *call : {"nextval", "currval", "get_epoch", "get_count", "get_node", "format"})
        EXPECT_EQ(session.text(std::string("SELECT coalesce(snowflake.") + call +
                               "(NULL)::text, 'NULL')"),
                  "NULL")
            << call;
    const Id id = session.number("SELECT snowflake.nextval()");
    EXPECT_EQ(session.number("SELECT snowflake.currval()"), id);
    EXPECT_EQ(session.number("SELECT (snowflake.format(snowflake.currval()) ->> 'id')::int"), node);

    // COPY inserts row by row until the update, and in batches from then on.
    const std::string copy = "COPY rows (n) FROM PROGRAM 'seq 1000'";
    const std::string distinct = "SELECT count(DISTINCT id) FROM rows";
    session.run("CREATE TABLE rows (id bigint DEFAULT snowflake.nextval(), n int); " + copy);
    EXPECT_EQ(session.number(distinct), 1000);

    pgedge::make_converted_identity(session, "items", "2.4");
    const Output full =
        psql(server(), "postgres", "INSERT INTO items SELECT FROM generate_series(1, 2)");
    EXPECT_NE(full.err.find("HINT:  ALTER EXTENSION snowflake UPDATE;"), std::string::npos)
        << full.err;
    session.run(update);
    session.run("INSERT INTO items (item) SELECT 'new' FROM generate_series(1, 2)");
    session.run(copy);
    EXPECT_EQ(session.number(distinct), 2000);
}

TEST(PgEdgeWithoutANumber, IsToldToUpdateFirst) {
    const Server server(0, settings);
    Session session(server);
    pgedge::create_extension(session, "2.6.0");
    const std::string made = "SELECT snowflake.nextval()";
    EXPECT_NE(psql(server, "postgres", made).err.find("HINT:  ALTER EXTENSION snowflake UPDATE;"),
              std::string::npos);
    session.run(update);
    EXPECT_NE(psql(server, "postgres", made)
                  .err.find("HINT:  To be given a number: "
                            "SELECT snowflake.claim_node();"),
              std::string::npos);
    session.run("SELECT snowflake.claim_node(9)");
    EXPECT_EQ(session.number("SELECT snowflake.get_node(snowflake.nextval())"), 9);
}

// The command that docs/from-pgedge.md gives, from its first words to what ends it.
std::string command_of_document(const std::string &first_words, const std::string &end) {
    const std::string page = read_document("from-pgedge");
    const std::size_t begin = page.find(first_words);
    return page.substr(begin, page.find(end, begin) - begin);
}

// A converted sequence, whether or not it has made an ID since, and those with options that the
// other library ignores.
TEST_F(PgEdge, MakesIdsBeforeTheUpdateFromSequencesThatAreRepairedByTheDocument) {
    Session session(server());
    pgedge::create_extension(session, "2.4");
    session.run(
        "CREATE SEQUENCE unused AS integer MAXVALUE 12; CREATE SEQUENCE wide INCREMENT 5000;"
        "CREATE SEQUENCE used; SELECT snowflake.nextval('used'); SELECT snowflake.nextval();"
        "CREATE TABLE a (id bigint DEFAULT snowflake.nextval('unused'));"
        "CREATE TABLE b (id bigint DEFAULT snowflake.nextval('wide'));"
        "CREATE TABLE counted (id serial)");
    pgedge::leave_max_value(session, "used", 1000000);
    Session other(server());
    other.run("CREATE TEMPORARY SEQUENCE out_of_reach AS integer");
    const std::string query = command_of_document("SELECT format('ALTER SEQUENCE", ";\n```");
    for (const std::string &command : session.texts(query))
        session.run(command);
    for (const char *sequence : {"unused", "wide", "used"})
        EXPECT_EQ(session.number(std::string("SELECT snowflake.get_node(snowflake.nextval('") +
                                 sequence + "'))"),
                  node);
    EXPECT_EQ(session.text("SELECT seqmax FROM pg_sequence"
                           " WHERE seqrelid = 'counted_id_seq'::regclass"),
              "2147483647");
    session.run(update);
    EXPECT_TRUE(session.texts(query).empty());
}

// The update makes the table snowflake.nodes, and writes a row into it.
TEST(PgEdgeCluster, SendsToASubscriberOfAllTablesAgainOnceThatIsUpdatedToo) {
    std::vector<std::string> replicating = settings;
    replicating.insert(replicating.end(),
                       {"wal_level = logical", "wal_retrieve_retry_interval = 100ms"});
    const Server north(1, replicating);
    const Server south(2, replicating);
    for (const Server *server : {&north, &south}) {
        Session session(*server);
        pgedge::create_extension(session, "2.6.0");
        session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval())");
    }
    Session sender(north);
    Session receiver(south);
    sender.run("CREATE PUBLICATION everything FOR ALL TABLES");
    receiver.run("CREATE SUBSCRIPTION from_north CONNECTION '" + north.conninfo() +
                 "' PUBLICATION everything");
    wait_for(receiver, "NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r')");
    sender.run(update);
    sender.run("INSERT INTO orders DEFAULT VALUES");
    wait_for(receiver, "apply_error_count > 0 FROM pg_stat_subscription_stats");
    EXPECT_EQ(receiver.number("SELECT count(*) FROM orders"), 0);
    receiver.run(update);
    wait_for(receiver, "count(*) = 1 FROM orders");
}

TEST_F(PgEdge, OfVersion1_0IsRefusedAndMakesNoId) {
    Session session(server());
    pgedge::create_extension(session, "1.0");
    for (const char *call : {"nextval()", "currval()", "get_node(1)", "get_count(1)",
                             "get_epoch(1)", "format(1)", "nextval(NULL)"})
        EXPECT_EQ(session.sqlstate(std::string("SELECT snowflake.") + call), not_updatable) << call;
    const Output output = psql(server(), "postgres", update);
    EXPECT_NE(output.err.find("timestamp:41 counter:12 node:10"), std::string::npos) << output.err;
    EXPECT_EQ(session.text("SELECT extversion FROM pg_extension WHERE extname = 'snowflake'"),
              "1.0");
}

TEST_F(PgEdge, IsNotUpdatedWithWhatIsNotItsOwn) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    session.run("CREATE ROLE mallory");
    struct Obstacle {
        const char *made;
        const char *sqlstate;
        const char *removed; // as the hint says
    };
    for (const Obstacle &obstacle :
         {Obstacle{"CREATE FUNCTION snowflake.nextval(text) RETURNS bigint LANGUAGE sql"
                   " AS 'SELECT 1::bigint'",
                   not_updatable, "ALTER FUNCTION snowflake.nextval(text) SET SCHEMA public"},
          {"CREATE TABLE snowflake.t (id bigint)", not_updatable,
           "ALTER TABLE snowflake.t SET SCHEMA public"},
          {"CREATE TABLE other (id bigint); ALTER EXTENSION snowflake ADD TABLE other",
           not_updatable, "ALTER EXTENSION snowflake DROP table public.other"},
          {"GRANT CREATE ON SCHEMA snowflake TO mallory", not_updatable,
           "REVOKE CREATE ON SCHEMA snowflake FROM mallory"},
          {"ALTER SCHEMA snowflake OWNER TO mallory", not_updatable,
           "ALTER SCHEMA snowflake OWNER TO CURRENT_USER"},
          {"ALTER EXTENSION snowflake DROP FUNCTION snowflake.get_node(bigint)", not_updatable,
           "ALTER EXTENSION snowflake ADD FUNCTION snowflake.get_node(bigint)"},
          {"CREATE FUNCTION uses() RETURNS boolean LANGUAGE sql"
           " RETURN snowflake.convert_column_to_int8('pg_class', 1::smallint)",
           "2BP01", "DROP FUNCTION uses()"}}) {
        SCOPED_TRACE(obstacle.made);
        session.run(obstacle.made);
        const std::string before = registration(session);
        EXPECT_EQ(session.sqlstate(update), obstacle.sqlstate);
        EXPECT_EQ(registration(session), before);
        session.run(obstacle.removed);
    }
    session.run("DROP TABLE other; DROP TABLE t; DROP FUNCTION public.nextval(text)");
    session.run(update);
}

// The owner gets no function that others run.
TEST_F(PgEdge, IsUpdatedByTheOwnerOfTheExtensionAndByNoOther) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    session.run("CREATE ROLE keeper; CREATE ROLE mallory;"
                "GRANT CREATE ON DATABASE postgres TO keeper, mallory;"
                "UPDATE pg_extension SET extowner = 'keeper'::regrole WHERE extname = 'snowflake';"
                "SET ROLE mallory");
    EXPECT_EQ(session.sqlstate(update), "42501");
    session.run("SET ROLE keeper");
    session.run(update);
    session.run("RESET ROLE");
    EXPECT_EQ(session.text("SELECT extversion FROM pg_extension WHERE extname = 'snowflake'"),
              Session(server(), "fresh")
                  .text("SELECT extversion FROM pg_extension WHERE extname = 'snowflake'"));
    EXPECT_EQ(session.number("SELECT count(*) FROM pg_proc p JOIN pg_roles r ON r.oid = proowner"
                             " WHERE pronamespace::regnamespace::text LIKE 'snowflake%'"
                             "   AND NOT rolsuper"),
              0);
}

TEST_F(PgEdge, IsAsItWasAfterALockTimeout) {
    Session session(server());
    pgedge::create_extension(session, "2.6.0");
    Session other(server());
    other.run("BEGIN; SELECT snowflake.nextval()");
    session.run("SET lock_timeout = '100 ms'");
    const std::string before = registration(session);
    EXPECT_EQ(session.sqlstate(update), "55P03");
    EXPECT_EQ(registration(session), before);
    other.run("COMMIT");
    session.run("RESET lock_timeout");
    session.run(update);
    Session fresh(server(), "fresh");
    EXPECT_EQ(registration(session), registration(fresh));
}

// A transaction takes IDs from two sequences that the update locks.
TEST_F(PgEdge, MakesNoDeadlockWithAWriter) {
    Session writer(server());
    pgedge::create_extension(writer, "2.6.0");
    pgedge::make_converted_identity(writer, "items", "2.6.0");
    pgedge::make_converted_identity(writer, "crates", "2.6.0");
    writer.run("BEGIN; SELECT snowflake.nextval('items_id_seq')");
    Output output;
    std::thread updating([&] { output = psql(server(), "postgres", update); });
    Session observer(server());
    wait_for(observer, "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                       "   AND query = 'ALTER EXTENSION snowflake UPDATE')");
    EXPECT_EQ(writer.sqlstate("SELECT snowflake.nextval()"), "00000");
    EXPECT_EQ(writer.sqlstate("SELECT snowflake.nextval('crates_id_seq')"), "00000");
    writer.run("COMMIT");
    updating.join();
    EXPECT_EQ(output.exit_code, 0) << output.err;
}

// A role names a sequence of another in a default: that sequence stays as it is.
TEST_F(PgEdge, LeavesSequencesOfStrangersAlone) {
    Session session(server());
    pgedge::create_extension(session, "2.4");
    session.run("CREATE ROLE owner; CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO owner,"
                " mallory; GRANT USAGE ON SCHEMA snowflake TO mallory; SET ROLE owner;"
                "CREATE TABLE counted (id serial); RESET ROLE; SET ROLE mallory;"
                "CREATE TABLE trap (id bigint DEFAULT snowflake.nextval('counted_id_seq'));"
                "RESET ROLE");
    const Output output = psql(server(), "postgres", update);
    EXPECT_EQ(output.err, "");
    EXPECT_EQ(session.number("SELECT seqmax FROM pg_sequence"
                             " WHERE seqrelid = 'counted_id_seq'::regclass"),
              2147483647);
}

// No session can change a temporary sequence of another.
TEST_F(PgEdge, LeavesTemporarySequencesOfOtherSessionsAlone) {
    Session session(server());
    pgedge::create_extension(session, "2.4");
    Session other(server());
    other.run("CREATE TEMPORARY SEQUENCE named AS integer;"
              "CREATE TEMPORARY TABLE scratch (id bigint DEFAULT snowflake.nextval('named'));"
              "CREATE TEMPORARY SEQUENCE alone; SELECT snowflake.nextval('alone')");
    pgedge::leave_max_value(other, "alone", 1000000);
    pgedge::make_converted_identity(other, "pg_temp.items", "2.4");
    const Output output = psql(server(), "postgres", update);
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_EQ(output.err, "");
    EXPECT_EQ(other.number("SELECT seqmax FROM pg_sequence WHERE seqrelid = 'named'::regclass"),
              2147483647);
}

// The clock makes a session older than the library.
TEST(PgEdgeSessions, ThatMayHaveTheOldLibraryStandInTheWay) {
    if (!FakeClock::available())
        GTEST_SKIP() << "libfaketime is not installed";
    constexpr auto years = 2 * 365 * 24h;
    const TemporaryDirectory directory;
    FakeClock clock(directory.path());
    const Server server(node, settings, clock.launcher());
    Session updating(server);
    pgedge::create_extension(updating, "2.6.0");
    Session(server).run("CREATE DATABASE other");
    clock.differ_by(-years);
    Session elsewhere(server, "other"); // with sequences of its own
    for (const bool by_hint : {true, false}) {
        clock.differ_by(-years);
        Session old(server);
        clock.differ_by(0h);
        const std::string pid = std::to_string(old.backend());
        const std::string end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (" + pid + ");";
        const Output refused = psql(server, "postgres", update);
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_NE(refused.err.find(end), std::string::npos) << refused.err;
        EXPECT_EQ(updating.sqlstate(update), "55006");
        updating.run(by_hint ? end : command_of_document("SELECT pg_terminate_backend(", "\""));
        wait_for(updating, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + pid + ")");
    }
    updating.run(update);
    EXPECT_EQ(updating.number("SELECT snowflake.get_node(snowflake.nextval())"), node);
    elsewhere.run("SELECT 1");
}

} // namespace
} // namespace integration::pgedge_test
