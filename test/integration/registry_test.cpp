// Servers that are joined, copied, restored, lost and numbered as operators do it, with the
// server's own logical replication. No two servers make the same ID, none is stopped that did
// nothing wrong, and no row of the registry halts replication.
#include "fake_clock.hpp"
#include "ids.hpp"
#include "mesh.hpp"
#include "process.hpp"
#include "registry.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <thread>

namespace integration::registry_test {
namespace {

const std::vector<std::string> settings = {"wal_level = logical",
                                           "wal_receiver_status_interval = 1s",
                                           "wal_retrieve_retry_interval = 100ms", "fsync = off"};

const std::string claim = "SELECT snowflake.claim_node()";
const std::string node = "SELECT snowflake.node()";
const std::string release_number = "SELECT node FROM snowflake.release_node()";

void create(const Server &server, const std::string &database = "postgres") {
    Session session(server, database);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE PUBLICATION registry FOR TABLE snowflake.nodes");
}

// A database of a server, and the name by which others call its publication.
struct Place {
    const Server &server;
    std::string database = "postgres";
};

// Subscribes one database to the registry of another. The sender sends on what it has received, so
// that rows come back.
void subscribe(const Place &receiver, const Place &sender, const std::string &name, bool copy) {
    Session there(sender.server, sender.database);
    there.run("SELECT pg_create_logical_replication_slot('" + name + "', 'pgoutput')");
    Session here(receiver.server, receiver.database);
    here.run("CREATE SUBSCRIPTION " + name + " CONNECTION '" +
             sender.server.conninfo(sender.database) +
             "' PUBLICATION registry WITH (create_slot = false, slot_name = " + name +
             ", copy_data = " + (copy ? "true" : "false") + ")");
}

// Joins two databases in both directions. Each hears only of what is said from now on.
void join(const Place &one, const Place &other, const std::string &name = "pair") {
    subscribe(one, other, name + "_a", false);
    subscribe(other, one, name + "_b", false);
}

// Waits until the receivers have what the sender has written so far.
void wait_until_heard(const Server &sender) {
    const std::string written = Session(sender).text("SELECT pg_current_wal_insert_lsn()");
    wait_for(sender,
             "SELECT coalesce(bool_and(confirmed_flush_lsn >= '" + written +
                 "'), true) FROM pg_replication_slots WHERE slot_type = 'logical'",
             "t");
}

// Lets an instance say its claim again, under another name.
void say_again(const Server &server) {
    Session(server).run("SELECT snowflake.claim_node(name => gen_random_uuid()::text)");
    wait_until_heard(server);
}

bool has_logged(const Server &server, const std::string &text) {
    return read_file(server.file("log")).find(text) != std::string::npos;
}

// The counters of errors have other names in some versions of PostgreSQL.
void expect_no_failure_of_replication(const Server &server) {
    EXPECT_EQ(Session(server).number(
                  "SELECT coalesce(sum(counter.value::bigint), 0) FROM pg_stat_subscription_stats s"
                  " CROSS JOIN jsonb_each_text(to_jsonb(s)) counter"
                  " WHERE counter.key LIKE '%\\_error\\_count'"),
              0);
}

// Makes many IDs on each at the same time, and expects that none is made twice.
void expect_no_equal_ids(const Server &one, const Server &other) {
    const Server *servers[] = {&one, &other};
    std::vector<Id> ids[2];
    std::vector<std::thread> threads;
    threads.reserve(2);
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
            Session session(*servers[i]);
            for (int batch = 0; batch < 20; ++batch) {
                const std::vector<Id> some =
                    session.numbers("SELECT snowflake.nextvals('snowflake.id_seq', 20000)");
                ids[i].insert(ids[i].end(), some.begin(), some.end());
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    std::vector<Id> equal;
    std::set_intersection(ids[0].begin(), ids[0].end(), ids[1].begin(), ids[1].end(),
                          std::back_inserter(equal));
    EXPECT_EQ(ids[0].size(), 400'000U);
    EXPECT_EQ(ids[1].size(), 400'000U);
    EXPECT_EQ(equal.size(), 0U);
}

// Lets a database claim the number that is derived from its identity. One in 1023 has the same as
// another; then the database is made anew, with another identity.
Id claim_apart_from(const Server &server, Id other) {
    for (;;) {
        const Id number = Session(server).number(claim);
        if (number != other)
            return number;
        Session(server, "template1").run("DROP DATABASE postgres");
        Session(server, "template1").run("CREATE DATABASE postgres");
        create(server);
    }
}

// The second server is made by dump and restore, and replication sends only what is written later.
TEST(Joining, ByDumpAndRestoreGivesAnotherNumber) {
    const Server north(0, settings);
    const Server south(0, settings);
    create(north);
    const Id of_north = Session(north).number(claim);
    Session(north).run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval());"
                       "CREATE TABLE items (id bigserial PRIMARY KEY)");
    Session(north).run("SELECT snowflake.convert_sequence_to_snowflake('items_id_seq')");
    north.run_successfully("pg_dump",
                           {"-d", north.conninfo(), "-s", "-f", north.file("schema.sql")});
    south.run_successfully("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", south.conninfo(),
                                    "-f", north.file("schema.sql")});
    // Before PostgreSQL 18, pg_dump leaves tables of extensions out of publications.
    Session(south).run("ALTER PUBLICATION registry SET TABLE snowflake.nodes");
    join({north}, {south});
    const Id of_south = claim_apart_from(south, of_north);
    EXPECT_NE(of_south, of_north);
    // The dump of the schema has no last value of the sequence, which is guarded all the same.
    EXPECT_NE(Session(south).sqlstate("SELECT nextval('items_id_seq')"), "00000");
    expect_no_equal_ids(north, south);

    say_again(north);
    wait_for(south, "SELECT count(*) FROM snowflake.cluster", "2");
    wait_for(north, "SELECT count(*) FROM snowflake.cluster", "2");
    EXPECT_EQ(Session(south).number(node), of_south);
    expect_no_failure_of_replication(north);
    expect_no_failure_of_replication(south);
}

TEST(Joining, AfterTheExtensionWasMadeAnewGivesTheSameNumber) {
    const Server north(0, settings);
    create(north);
    const Id number = Session(north).number(claim);
    Session(north).run("DROP EXTENSION snowflake CASCADE");
    Session(north).run("CREATE EXTENSION snowflake");
    EXPECT_EQ(Session(north).number(claim), number);
}

// Both servers were told to take number 1 while they did not see each other.
TEST(Joining, SettlesADoubleClaimAndTellsBoth) {
    const Server north(0, settings);
    const Server south(0, settings);
    for (const Server *server : {&north, &south}) {
        create(*server);
        Session(*server).run("SELECT snowflake.claim_node(1)");
    }
    Session connected(south);
    connected.run("SELECT snowflake.nextval()");
    join({north}, {south});
    wait_for(connected, "(SELECT count(*) FROM snowflake.cluster) = 2");
    EXPECT_EQ(connected.sqlstate("SELECT snowflake.nextval()"), "55000");
    EXPECT_EQ(Session(north).number(node), 1);
    for (const Server *server : {&north, &south}) {
        EXPECT_TRUE(has_logged(
            *server, "WARNING:  snowflake node 1 of this instance was claimed by another"));
        EXPECT_EQ(Session(*server).number(
                      "SELECT count(*) FROM snowflake.cluster WHERE lost_to IS NOT NULL"),
                  1);
    }
    EXPECT_NE(connected.number(claim), 1);
    expect_no_equal_ids(north, south);
}

// A server has a number by its setting, and then another by a claim. The first is lost to another
// server: both are told to give that one up, until it is done.
TEST(Joining, NamesAFormerNumberThatIsLost) {
    const Server north(0, settings);
    const Server south(1, settings);
    create(north);
    Session(north).run("SELECT snowflake.claim_node(1)");
    create(south);
    Session(south).run("ALTER DATABASE postgres SET snowflake.node = 0");
    Session(south).run("SELECT snowflake.claim_node(2)");
    const std::string lost = "SELECT count(*) FROM snowflake.cluster WHERE lost_to IS NOT NULL";
    join({north}, {south});
    wait_for(north, lost, "1");
    wait_for(south, lost, "1");
    EXPECT_TRUE(has_logged(south, "HINT:  To give it up: SELECT snowflake.release_node(1);"));
    EXPECT_TRUE(has_logged(north, "run there, with snowflake.node out of the settings: "
                                  "SELECT snowflake.release_node(1);"));
    const std::string mend =
        Session(south).text("SELECT command FROM snowflake.check() WHERE object = 'node 1'");
    EXPECT_EQ(mend, "SELECT snowflake.release_node(1)");
    EXPECT_NE(Session(north)
                  .text("SELECT command FROM snowflake.check() WHERE object = 'node 1'")
                  .find("SELECT snowflake.release_node(1);"),
              std::string::npos);
    Session(south).run(mend);
    wait_for(north, lost, "0");
    EXPECT_EQ(Session(south).number(lost), 0);
    EXPECT_EQ(Session(south).number(node), 2);
}

// Lets a server say nothing of itself when it is joined to another.
const std::string say_nothing_when_joined = "ALTER EVENT TRIGGER _snowflake_subscription DISABLE";

// Two servers are joined. A third joins them, hears nothing of what they have said before, and is
// told to take the number of one.
TEST(Joining, AnswersAServerThatJoinsLate) {
    const Server north(0, settings);
    const Server south(0, settings);
    const Server late(0, settings);
    for (const Server *server : {&north, &south, &late})
        create(*server);
    join({north}, {south}, "north_south");
    Session(north).run("SELECT snowflake.claim_node(1)");
    Session(south).run("SELECT snowflake.claim_node(2)");
    for (const Server *server : {&north, &south, &late})
        Session(*server).run(say_nothing_when_joined);
    join({north}, {late}, "north_late");
    join({south}, {late}, "south_late");
    Session session(late);
    EXPECT_EQ(session.number("SELECT snowflake.claim_node(1)"), 1);
    wait_for(session, "(SELECT count(*) FROM snowflake.cluster WHERE node = 1) = 2");
    EXPECT_EQ(session.sqlstate("SELECT snowflake.nextval()"), "55000");
    EXPECT_EQ(Session(north).number(node), 1);
    EXPECT_EQ(Session(south).number(node), 2);
    wait_for(north, "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE answers IS NOT NULL",
             "1");
}

// Two servers that have one number are joined to a third alone.
TEST(Joining, ByWayOfAHubSettlesADoubleClaim) {
    const Server hub(0, settings);
    const Server first(0, settings);
    const Server second(0, settings);
    for (const Server *server : {&hub, &first, &second})
        create(*server);
    Session(hub).run("SELECT snowflake.claim_node(3)");
    Session(first).run("SELECT snowflake.claim_node(1)");
    Session(second).run("SELECT snowflake.claim_node(1)");
    join({hub}, {first}, "first");
    join({hub}, {second}, "second");
    wait_for(second, "SELECT count(*) FROM snowflake.cluster WHERE node = 1", "2");
    EXPECT_EQ(Session(second).sqlstate(node), "55000");
    EXPECT_EQ(Session(first).number(node), 1);
    EXPECT_EQ(Session(hub).number(node), 3);
    for (const Server *server : {&hub, &first, &second})
        expect_no_failure_of_replication(*server);
}

// The condition that an instance has lost what it has, and a query for the answers it knows.
const std::string is_stopped =
    "EXISTS (SELECT FROM snowflake.cluster WHERE is_this_instance AND lost_to IS NOT NULL)";
const std::string count_of_answers =
    "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE answers IS NOT NULL";

// What check() says of a server that runs elsewhere, and may be a copy.
const std::string count_of_moves =
    "SELECT count(*) FROM snowflake.check() WHERE finding LIKE 'it ran at % before: %'";

// A copy that knows of another server, and is heard by none, warns the client of its first ID. It
// says where it runs without being settled there, until somebody says what it is.
TEST(Copying, IsToldToTheClientWhileNobodyHears) {
    const Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    const auto errors_of = [](const Server &server, const std::string &command) {
        return server.run("psql", {"-X", "-d", server.conninfo(), "-c", command}).err;
    };
    const std::string warning = "WARNING:  this server is not where it claimed its snowflake node";
    const Server lone = Server::copy_of(original);
    EXPECT_EQ(errors_of(lone, "SELECT snowflake.nextval()"), "");
    Session(original).run(arrival(9, "other"));
    EXPECT_EQ(Session(original).number(count_of_moves), 0);
    const Server copy = Server::copy_of(original);
    const std::string told = errors_of(copy, "SELECT snowflake.nextval()");
    EXPECT_NE(told.find(warning), std::string::npos) << told;
    EXPECT_NE(told.find("SELECT snowflake.separate_copy();"), std::string::npos);
    wait_for(copy, "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE kind = 'here'", "1");
    EXPECT_EQ(errors_of(copy, "SELECT snowflake.nextval()"), ""); // once
    EXPECT_NE(errors_of(copy, claim).find(warning), std::string::npos);
    Session on_copy(copy);
    EXPECT_EQ(on_copy.number(count_of_moves), 1);
    for (const std::string &command :
         {release_number, std::string("SELECT snowflake.reserve_nodes(900, 901)")})
        EXPECT_EQ(on_copy.sqlstate(command), "55000");
    EXPECT_NE(on_copy.number("SELECT snowflake.separate_copy()"), number); // by no force
    EXPECT_EQ(on_copy.number(count_of_moves), 0);
    EXPECT_EQ(on_copy.sqlstate("SELECT snowflake.separate_copy()"), "55000");
}

// The original has answered before its copy listens. The copy asks when it is joined.
TEST(Copying, IsToldAgainWhereItJoinsLate) {
    const Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    const Server copy = Server::copy_of(original);
    subscribe({original}, {copy}, "from_copy", false);
    Session on_copy(copy);
    on_copy.run("SELECT snowflake.nextval()");
    wait_for(original, count_of_answers, "1");
    EXPECT_EQ(on_copy.number(node), number); // it cannot know better
    subscribe({copy}, {original}, "from_original", false);
    wait_for(on_copy, is_stopped);
    EXPECT_EQ(on_copy.sqlstate(node), "55000");
    EXPECT_EQ(Session(original).number(node), number);
}

// A promoted server, or one that is restored to a point in time, runs where it ran, and says so.
TEST(Copying, IsSuspectedOfEachNewTimeline) {
    Server server(0, settings);
    create(server);
    Session(server).run(claim);
    Session(server).run(arrival(9, "other"));
    server.stop();
    std::ofstream(server.data() / "standby.signal").close();
    server.start();
    EXPECT_EQ(Session(server).number(count_of_moves), 0);
    server.promote();
    Session(server).run("SELECT snowflake.nextval()");
    wait_for(server, count_of_moves, "1");
}

// The copy says what it is with its first ID, and the original answers.
TEST(Copying, IsNoticedByBoth) {
    const Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    Session(original).run("SELECT snowflake.nextval()");
    Session(original).run("SELECT snowflake.reserve_nodes(" + std::to_string(number % 1000 + 1) +
                          ", " + std::to_string(number % 1000 + 2) + ")");
    const Server copy = Server::copy_of(original);
    join({original}, {copy});

    Session on_copy(copy);
    on_copy.run("SELECT snowflake.nextval()");
    wait_for(original, "SELECT count(*) FROM snowflake.cluster WHERE kind = 'copy'", "1");
    const std::string tries =
        "(SELECT count(DISTINCT act) FROM snowflake.nodes WHERE answers IS NOT NULL) = 1";
    wait_for(on_copy, tries);
    EXPECT_EQ(on_copy.sqlstate("SELECT snowflake.nextval()"), "55000");
    EXPECT_EQ(on_copy.sqlstate("SELECT snowflake.lease_node()"), "55000");
    EXPECT_EQ(on_copy.number("SELECT count(*) FROM snowflake.cluster WHERE is_this_instance AND "
                             "lost_to IS NOT NULL"),
              2);
    EXPECT_EQ(Session(original).number(node), number);
    EXPECT_EQ(Session(original).sqlstate("SELECT snowflake.lease_node()"), "00000");
    for (const Server *server : {&original, &copy})
        EXPECT_TRUE(has_logged(*server, "WARNING:  a server that is a copy of this one, or its "
                                        "original, is in use"));

    on_copy.run("SELECT snowflake.separate_copy()");
    EXPECT_EQ(Session(original).number(node), number);
    EXPECT_NE(on_copy.number(node), number);
    expect_no_equal_ids(original, copy);
}

// The copy is heard while the original does something else with its registry. The answer waits.
TEST(Copying, IsAnsweredOnceTheRegistryIsFree) {
    const Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    const Server copy = Server::copy_of(original);
    join({original}, {copy});
    Session busy(original);
    busy.run("BEGIN");
    busy.run("LOCK TABLE snowflake.nodes IN SHARE UPDATE EXCLUSIVE MODE");
    Session on_copy(copy);
    on_copy.run("SELECT snowflake.nextval()");
    wait_for(original,
             "SELECT EXISTS (SELECT FROM snowflake.cluster WHERE kind = 'copy') AND EXISTS "
             "(SELECT FROM pg_locks WHERE relation = 'snowflake.nodes'::regclass AND NOT granted)",
             "t");
    EXPECT_EQ(on_copy.number(node), number); // it has heard nothing
    busy.run("COMMIT");
    wait_for(on_copy, is_stopped);
    EXPECT_EQ(on_copy.sqlstate(node), "55000");
    EXPECT_EQ(Session(original).number(node), number);
}

// The original and its copy are joined to a third server, and not to each other.
TEST(Copying, IsNoticedByWayOfAThirdServer) {
    const Server original(0, settings);
    const Server third(0, settings);
    create(original);
    create(third);
    subscribe({third}, {original}, "from_original", false);
    const Id number = Session(original).number(claim);
    wait_for(third, "SELECT count(*) FROM snowflake.cluster", "1");
    EXPECT_NE(Session(third).number(claim), number);
    const Server copy = Server::copy_of(original);
    subscribe({original}, {third}, "from_third", false);
    join({third}, {copy});

    Session on_copy(copy);
    on_copy.run("SELECT snowflake.nextval()");
    wait_for(on_copy,
             "(SELECT count(DISTINCT act) FROM snowflake.nodes WHERE answers IS NOT NULL) = 1");
    EXPECT_EQ(on_copy.sqlstate("SELECT snowflake.nextval()"), "55000");
    EXPECT_EQ(Session(original).number(node), number);
    for (const Server *server : {&original, &copy})
        EXPECT_TRUE(has_logged(*server, "WARNING:  a server that is a copy of this one, or its "
                                        "original, is in use"));
    on_copy.run("SELECT snowflake.separate_copy()");
    EXPECT_NE(on_copy.number(node), number);
    EXPECT_EQ(Session(original).number(node), number);
    expect_no_equal_ids(original, copy);
}

// The original has stopped its copy, and goes on with other files. The copy hears that, too.
TEST(Copying, DoesNotStopAnOriginalThatMoves) {
    Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    const Server copy = Server::copy_of(original);
    join({original}, {copy});
    Session on_copy(copy);
    on_copy.run("SELECT snowflake.nextval()");
    wait_for(on_copy, is_stopped);
    EXPECT_EQ(on_copy.sqlstate(node), "55000");
    wait_until_heard(original);
    wait_until_heard(copy);
    const Id answers = Session(original).number(count_of_answers);

    original.stop();
    std::filesystem::copy(original.data(), original.file("moved"),
                          std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(original.data());
    std::filesystem::rename(original.file("moved"), original.data());
    original.start();
    EXPECT_EQ(Session(original).number(node), number);
    wait_for(on_copy, "(SELECT count(DISTINCT place) FROM snowflake.nodes) = 3");
    EXPECT_EQ(on_copy.text("SELECT snowflake._say_what_lacks()"), "f");
    wait_until_heard(copy);
    EXPECT_EQ(on_copy.sqlstate(node), "55000");
    EXPECT_EQ(Session(original).number(node), number);
    EXPECT_EQ(Session(original).number(count_of_answers), answers);
}

// No command of a copy takes anything from its original.
TEST(Copying, TakesNothingFromTheOriginal) {
    const Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    Session(original).run(say_nothing_when_joined);
    const Server copy = Server::copy_of(original);
    join({original}, {copy});
    Session on_copy(copy);
    EXPECT_EQ(on_copy.sqlstate(release_number), "55000");
    EXPECT_EQ(on_copy.number(claim), number); // it cannot know better yet, and says where it runs
    wait_for(on_copy, is_stopped);
    for (const std::string &command : {claim, node})
        EXPECT_EQ(on_copy.sqlstate(command), "55000");
    EXPECT_NE(on_copy.number("SELECT snowflake.separate_copy()"), number);
    wait_until_heard(copy);
    EXPECT_EQ(Session(original).number(node), number);
}

// The original does not hear the copy. Whatever it says next ends the copy.
TEST(Copying, EndsWhenTheOriginalIsHeard) {
    const Server original(0, settings);
    create(original);
    const Id number = Session(original).number(claim);
    const Server copy = Server::copy_of(original);
    Session on_copy(copy);
    EXPECT_EQ(on_copy.number(node), number);
    wait_for(on_copy, "EXISTS (SELECT FROM snowflake.nodes WHERE kind = 'here')");
    subscribe({copy}, {original}, "feed", false);
    say_again(original);
    // The copy replies, in vain.
    wait_for(on_copy,
             "(SELECT count(DISTINCT act) FROM snowflake.nodes WHERE answers IS NOT NULL) = 1");
    EXPECT_EQ(on_copy.sqlstate(node), "55000");
    EXPECT_EQ(Session(original).number(node), number);
    // It can be separated also where somebody has removed the instance meanwhile.
    on_copy.run("BEGIN");
    on_copy.run("INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, "
                "database, copy, place, name, claimed_at, said_at, free_from, version) SELECT "
                "gen_random_uuid(), 'remove', node, last_node, system_identifier, database, copy, "
                "'elsewhere:/data#1', name, claimed_at, now() + interval '1 h', now(), version "
                "FROM snowflake.cluster WHERE is_this_instance");
    EXPECT_EQ(on_copy.sqlstate("SELECT snowflake.separate_copy()"), "00000");
    on_copy.run("ROLLBACK");
    // The hint for an original that is gone for good.
    EXPECT_EQ(on_copy.number("SELECT snowflake.take_over_node();"), 1);
    EXPECT_EQ(on_copy.number(node), number);
}

// A clone of a virtual machine runs on the same host name, in the same directory, on the same disk:
// the server has not said what it hears from itself.
TEST(Copying, InTheSamePlaceIsToldOf) {
    const Server server(0, settings);
    create(server);
    Session session(server);
    session.run(claim);
    const std::string again =
        "INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, "
        "copy, place, name, claimed_at, said_at, version) SELECT gen_random_uuid(), kind, node, "
        "last_node, system_identifier, database, copy, place, name, claimed_at, ";
    // What it said before it was started comes back to it after a restore.
    session.run(again + "pg_postmaster_start_time() - interval '1 s', version FROM snowflake.nodes "
                        "WHERE written_here");
    EXPECT_FALSE(has_logged(server, "WARNING:  a server that is a copy of this one"));
    session.run(again + "said_at + interval '1 s', version FROM snowflake.nodes "
                        "WHERE written_here");
    EXPECT_TRUE(has_logged(server, "WARNING:  a server that is a copy of this one, or its "
                                   "original, is in use"));
}

// A template has the acts of its original, and another identity.
TEST(Copying, OfADatabaseMakesAnotherInstance) {
    const Server server(0, settings);
    Session(server).run("CREATE DATABASE shop");
    create(server, "shop");
    const Id number = Session(server, "shop").number(claim);
    Session(server).run("CREATE DATABASE copied TEMPLATE shop");
    Session copied(server, "copied");
    EXPECT_EQ(copied.sqlstate(node), "55000");
    EXPECT_NE(copied.number(claim), number);
    EXPECT_EQ(Session(server, "shop").number(node), number);
}

// The tool gives the copy another system identifier, and leaves it the file of ALTER SYSTEM.
TEST(Copying, ByCreateSubscriberKeepsNoNumber) {
    const Server original(0, settings);
    if (!std::filesystem::exists(original.programs() + "/pg_createsubscriber"))
        GTEST_SKIP() << "there is no pg_createsubscriber before PostgreSQL 17";
    create(original);
    Session(original).run("ALTER SYSTEM SET snowflake.node = 7");
    Session(original).run("SELECT pg_reload_conf()");
    wait_for(original, "SHOW snowflake.node", "7");
    Session(original).run("SELECT snowflake.nextval()");
    wait_for(original, "SELECT count(*) FROM snowflake.cluster", "1");
    Server copy = Server::standby_of(original);
    {
        Session standby(copy);
        wait_for(standby, "(SELECT count(*) FROM snowflake.cluster) = 1");
    }
    copy.stop();
    copy.run_successfully("pg_createsubscriber",
                          {"-D", copy.data(), "-P", original.conninfo(), "-d", "postgres", "-s",
                           copy.file(""), "-p", "50432"});
    copy.start();
    EXPECT_EQ(Session(copy).sqlstate(node), "55000");
    EXPECT_EQ(Session(copy).sqlstate("SELECT snowflake.take_over_node()"), "55000");
    Session(copy).run("ALTER DATABASE postgres SET snowflake.node = 0;"); // the hint
    EXPECT_NE(Session(copy).number(claim), 7);
    EXPECT_EQ(Session(original).number(node), 7);
}

// Two databases of one server have sequences of their own.
TEST(Settings, OfTwoDatabasesAreFoundToBeEqual) {
    const Server server(7, settings);
    Session(server).run("CREATE DATABASE shop");
    create(server, "shop");
    create(server);
    subscribe({server}, {server, "shop"}, "one", true);
    subscribe({server, "shop"}, {server}, "two", true);
    wait_for(server, "SELECT count(*) FROM snowflake.cluster", "2");
    EXPECT_EQ(Session(server, "shop").number(node), 7);
    EXPECT_EQ(Session(server).sqlstate(node), "55000");
}

// Waits until a database knows so many claims.
void wait_until_claims(const Server &server, const std::string &database, int count) {
    Session session(server, database);
    wait_for(session, "(SELECT count(*) FROM snowflake.cluster) = " + std::to_string(count));
}

// Databases that are made of a template share the setting of their server, and work, as long as
// they do not replicate to each other.
TEST(Settings, OfATemplateAreNotThoseOfItsDatabases) {
    const Server server(7, settings);
    create(server, "template1");
    EXPECT_EQ(Session(server, "template1").number(node), 7);
    EXPECT_EQ(Session(server, "template1").number("SELECT count(*) FROM snowflake.nodes"), 0);
    Session(server).run("CREATE DATABASE tenant");
    EXPECT_EQ(Session(server, "tenant").number(node), 7);
    wait_until_claims(server, "tenant", 1);
    Session(server).run("CREATE DATABASE copied TEMPLATE tenant");
    EXPECT_EQ(Session(server, "copied").number(node), 7);
    EXPECT_EQ(Session(server, "copied").number("SELECT snowflake.claim_node(7)"), 7);
    EXPECT_EQ(Session(server, "tenant").number(node), 7);
    subscribe({server, "tenant"}, {server, "copied"}, "one", true);
    wait_until_claims(server, "tenant", 2);
    EXPECT_EQ(Session(server, "tenant").number(node), 7); // the earlier goes on
    subscribe({server, "copied"}, {server, "tenant"}, "two", true);
    wait_until_claims(server, "copied", 2);
    EXPECT_EQ(Session(server, "copied").sqlstate(node), "55000");
}

// Writes the number of the setting from the first ID on, although its transaction is rolled back.
TEST(Settings, AreInTheRegistryFromTheFirstIdOn) {
    const Server server(0, settings);
    create(server);
    Session(server).run("ALTER DATABASE postgres SET snowflake.node = 7");
    Session session(server);
    session.run("BEGIN READ ONLY");
    EXPECT_EQ(session.number(node), 7);
    session.run("ROLLBACK");
    wait_for(server,
             "SELECT coalesce(string_agg(kind || ' ' || node, ', '), '') FROM snowflake.cluster",
             "setting 7");
    // Once.
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(Session(server).number(node), 7);
    EXPECT_EQ(Session(server).number("SELECT count(*) FROM snowflake.nodes"), 1);
}

// The server gives its worker the settings of the database, too.
TEST(Settings, OfADatabaseDoNotKeepItsNumberFromTheRegistry) {
    const Server server(0, settings);
    create(server);
    Session(server).run("CREATE ROLE app");
    for (const char *setting : {"snowflake.node = 7", "lock_timeout = '1ms'",
                                "session_authorization = app", "role = app"})
        Session(server).run(std::string("ALTER DATABASE postgres SET ") + setting);
    EXPECT_EQ(Session(server).number(node), 7);
    wait_for(server, "SELECT coalesce(max(node), 0) FROM snowflake.cluster", "7");
}

// What one server writes others can read, in any encoding.
TEST(Rows, HaveNoCharacterThatAnEncodingLacks) {
    const Server server(0, settings);
    const std::string polish =
        "\xc5\x82\xc3\xb3" // In UTF-8. What follows must be no hexadecimal digit.
        "dz";
    Session(server).run("CREATE DATABASE \"" + polish +
                        "\" ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    create(server, polish);
    Session session(server, polish);
    EXPECT_GE(session.number(claim), 1);
    EXPECT_EQ(session.sqlstate("SELECT snowflake.claim_node(name => '" + polish + "')"), "22021");
    session.run("INSERT INTO snowflake.nodes SELECT gen_random_uuid(), gen_random_uuid(), 'claim', "
                "5, 5, 77, 88, 0, name, 'x/' || name, now(), now(), NULL, NULL, name, false, "
                "to_jsonb(name) "
                "FROM (VALUES ('" +
                polish + "')) typed(name)");
    EXPECT_EQ(session.number(
                  "SELECT count(*) FROM snowflake.nodes WHERE concat(name, place, version, more) ~ "
                  "'[^ -~]' OR name NOT LIKE '%/%dz'"),
              0);
}

// A session whose first use of the library is in a parallel operation has its settings.
TEST(Settings, CountWhereTheLibraryIsLoadedInAParallelOperation) {
    const Server server(1, {"min_parallel_table_scan_size = 0"});
    Session session(server);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE TABLE orders AS SELECT snowflake.nextval() AS id");
    Session other(server);
    other.run("CREATE INDEX ON orders (snowflake.get_timestamp(id))");
    EXPECT_EQ(other.number(node), 1);
}

// A later session has said what a worker could not, once there is room for one.
TEST(Settings, AreToldOfByALaterSessionWhereNoWorkerCouldStart) {
    Server server(0, {"max_worker_processes = 0", "max_logical_replication_workers = 0"});
    Session(server).run("CREATE EXTENSION snowflake");
    Session(server).run("ALTER DATABASE postgres SET snowflake.node = 7");
    EXPECT_EQ(Session(server).number(node), 7);
    Session(server).run("ALTER SYSTEM SET max_worker_processes = 8");
    server.stop();
    server.start();
    EXPECT_EQ(Session(server).number("SELECT count(*) FROM snowflake.nodes"), 0);
    EXPECT_EQ(Session(server).number(node), 7);
    wait_for(server, "SELECT count(*) FROM snowflake.nodes", "1");
}

TEST(Settings, AreToldOfByHandWhereNoWorkerCanStart) {
    const Server server(0, {"max_worker_processes = 0", "max_logical_replication_workers = 0"});
    Session(server).run("CREATE EXTENSION snowflake");
    Session(server).run("ALTER DATABASE postgres SET snowflake.node = 7");
    EXPECT_EQ(Session(server).number(node), 7);
    EXPECT_EQ(Session(server).number("SELECT count(*) FROM snowflake.nodes"), 0);
    const Output output = server.run("psql", {"-X", "-d", server.conninfo(), "-c", node});
    EXPECT_NE(output.err.find("WARNING:  other instances cannot be told"), std::string::npos);
    EXPECT_NE(output.err.find("SELECT snowflake.claim_node();"), std::string::npos);
    EXPECT_EQ(Session(server).number("SELECT snowflake.claim_node();"), 7);
    EXPECT_EQ(Session(server).number("SELECT node FROM snowflake.cluster"), 7);
    EXPECT_EQ(server.run("psql", {"-X", "-d", server.conninfo(), "-c", node}).err, "");
}

// The server that has the number by its setting goes on, whatever newcomers try.
TEST(Settings, AreNotTakenAway) {
    const Server incumbent(7, settings);
    const Server newcomer(0, settings);
    create(incumbent);
    create(newcomer);
    subscribe({newcomer}, {incumbent}, "initial", true);
    subscribe({incumbent}, {newcomer}, "back", true);
    wait_for(newcomer, "SELECT count(*) FROM snowflake.cluster", "1");
    Session session(newcomer);
    EXPECT_EQ(session.sqlstate("SELECT snowflake.claim_node(7)"), "55006");
    EXPECT_EQ(session.sqlstate("SELECT snowflake.reserve_nodes(5, 9)"), "55006");
    session.run("ALTER DATABASE postgres SET snowflake.node = 7");
    EXPECT_EQ(Session(newcomer).sqlstate(node), "55000");
    EXPECT_EQ(Session(incumbent).number(node), 7);
    EXPECT_EQ(Session(incumbent).number("SELECT count(*) FROM snowflake.cluster"), 1);
}

// Two equal settings meet: as soon as each hears of the other, the later server stops.
TEST(Settings, ThatAreEqualAreFoundWhenServersAreJoined) {
    const Server incumbent(7, settings);
    const Server newcomer(7, settings);
    create(incumbent);
    create(newcomer);
    for (const Server *server : {&incumbent, &newcomer})
        EXPECT_EQ(Session(*server).number(node), 7);
    join({incumbent}, {newcomer});
    wait_for(newcomer, "SELECT count(*) FROM snowflake.cluster", "2");
    EXPECT_EQ(Session(newcomer).sqlstate(node), "55000");
    EXPECT_EQ(Session(incumbent).number(node), 7);
}

// One direction alone: the subscriber claimed first, and cannot be heard. It is told.
TEST(OneWay, TellsTheSubscriberThatClaimedFirst) {
    const Server subscriber(0, settings);
    const Server publisher(0, settings);
    create(subscriber);
    create(publisher);
    Session(subscriber).run("SELECT snowflake.claim_node(1)");
    Session(publisher).run("SELECT snowflake.claim_node(1)");
    subscribe({subscriber}, {publisher}, "feed", true);
    wait_for(subscriber, "SELECT count(*) FROM snowflake.cluster WHERE lost_to IS NOT NULL", "1");
    EXPECT_TRUE(has_logged(subscriber,
                           "WARNING:  snowflake node 1 of this instance was claimed by another"));
}

// A feed from another cluster, which has the same numbers. It lives, and goes on saying so.
TEST(OneWay, LetsAnUnrelatedFeedBeRemoved) {
    const Server unrelated(0, settings);
    const Server production(0, settings);
    create(unrelated);
    create(production);
    Session(unrelated).run("SELECT snowflake.claim_node(1)");
    Session(production).run("SELECT snowflake.claim_node(1)");
    subscribe({production}, {unrelated}, "feed", true);
    wait_for(production, "SELECT count(*) FROM snowflake.cluster", "2");
    Session session(production);
    EXPECT_EQ(session.sqlstate(node), "55000");
    session.run("SELECT snowflake.remove_node(system_identifier, database, force => true) FROM "
                "snowflake.cluster WHERE NOT is_this_instance");
    EXPECT_EQ(session.number(node), 1);
    say_again(unrelated);
    wait_for(session,
             "(SELECT count(DISTINCT act) FROM snowflake.nodes WHERE NOT written_here) = 2");
    EXPECT_EQ(session.number(node), 1);
    EXPECT_EQ(Session(unrelated).number(node), 1);
}

// A number that somebody names is in tables: another server may be making its IDs.
TEST(Choosing, WarnsOfIdsAtHand) {
    const Server server(0, settings);
    create(server);
    Session session(server);
    const Id derived = session.number(claim);
    const std::string other = std::to_string(derived % 1023 + 1);
    session.run(release_number);
    session.run("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval()); "
                "INSERT INTO orders VALUES (snowflake.make_id(now() - interval '1 hour', " +
                other + ", 0))");
    const auto errors_of = [&server](const std::string &command) {
        return server.run("psql", {"-X", "-d", server.conninfo(), "-c", command}).err;
    };
    EXPECT_NE(errors_of("SELECT snowflake.claim_node(" + other + ")")
                  .find("WARNING:  tables of this database have IDs of snowflake node " + other),
              std::string::npos);
    session.run(release_number);
    EXPECT_EQ(errors_of("SELECT snowflake.claim_node(" + std::to_string(derived) + ")"), "");
    // Also in columns of other types, and where the default names the layout.
    session.run(release_number);
    session.run("CREATE DOMAIN key AS bigint; DROP TABLE orders; CREATE SEQUENCE tweets; "
                "CREATE TABLE orders (id key PRIMARY KEY DEFAULT snowflake.nextval(), tweet "
                "snowflake.id UNIQUE DEFAULT snowflake.nextval('tweets', 'twitter'))");
    const auto made = [](Id number, const std::string &layout) {
        return "snowflake.make_id(now() - interval '1 hour', " + std::to_string(number) + ", 0" +
               layout + ")";
    };
    const Id third = derived % 1000 + 11;
    const Id fourth = third + 1;
    for (const auto &[number, row] : {std::pair{third, made(third, "") + ", NULL"},
                                      std::pair{fourth, "1, " + made(fourth, ", 'twitter'")}}) {
        session.run("TRUNCATE orders; INSERT INTO orders VALUES (" + row + ")");
        EXPECT_NE(errors_of("SELECT snowflake.claim_node(" + std::to_string(number) + ")")
                      .find("WARNING:  tables of this database have IDs of snowflake node"),
                  std::string::npos)
            << row;
        session.run(release_number);
    }
}

// Sequences that are not converted are ahead of the clock: one in a layout that a default names,
// and one that nothing names.
TEST(Releasing, WaitsForIdsOfAllSequences) {
    const Server server(0, settings);
    create(server);
    Session session(server);
    session.run("CREATE SEQUENCE tweets; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT "
                "snowflake.nextval('tweets', 'javascript')); CREATE SEQUENCE unnamed");
    for (const char *made : {"'tweets', snowflake.make_id(now() + interval '5 minutes', 5, 0, "
                             "'javascript')",
                             "'unnamed', snowflake.make_id(now() + interval '6 minutes', 6, 0)"}) {
        session.run("BEGIN; SELECT snowflake.claim_node(" +
                    std::string(made[1] == 't' ? "5" : "6") + "); SELECT setval(" + made + ")");
        EXPECT_EQ(session.text("SELECT free_from > now() + interval '5 minutes' FROM "
                               "snowflake.release_node()"),
                  "t")
            << made;
        session.run("COMMIT");
    }
}

// What has been given up is kept free until its IDs lie in the past, also elsewhere.
TEST(Releasing, KeepsTheNumberFreeForAWhile) {
    const Server north(0, settings);
    const Server south(0, settings);
    create(north);
    create(south);
    join({north}, {south});
    Session session(north);
    session.run("SELECT snowflake.claim_node(7)");
    session.run("SELECT setval('snowflake.id_seq', " + std::to_string(hour_ahead(7)) + ")");
    EXPECT_EQ(session.text("SELECT free_from - now() > '59 minutes' FROM snowflake.release_node()"),
              "t");
    wait_until_heard(north);
    wait_for(south, "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE kind = 'release'", "1");
    EXPECT_EQ(Session(south).sqlstate("SELECT snowflake.claim_node(7)"), "55006");
    EXPECT_EQ(Session(north).number("SELECT snowflake.claim_node(7)"), 7);
}

TEST(Removing, GivesUpTheNumberOfALostServerWhichHearsOfItWhenItIsBack) {
    const Server north(0, settings);
    const Server lost(0, settings);
    create(north);
    create(lost);
    Session(lost).run("SELECT snowflake.claim_node(7)");
    subscribe({north}, {lost}, "from_lost", true);
    wait_for(north, "SELECT count(*) FROM snowflake.cluster", "1");
    Session session(north);
    // It was heard a moment ago: only who knows better removes it.
    EXPECT_EQ(session.sqlstate("SELECT snowflake.remove_node(system_identifier, database) FROM "
                               "snowflake.cluster"),
              "55006");
    session.run("SELECT snowflake.remove_node(system_identifier, database, force => true) FROM "
                "snowflake.cluster");
    EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.cluster"), 0);
    EXPECT_EQ(session.sqlstate("SELECT snowflake.claim_node(7)"), "55006"); // for a minute
    EXPECT_EQ(Session(lost).number(node), 7);
    subscribe({lost}, {north}, "to_lost", true);
    wait_for(lost, "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE kind = 'remove'", "1");
    EXPECT_EQ(Session(lost).sqlstate(node), "55000");
    EXPECT_GE(Session(lost).number(claim), 1);
}

// The lost server was removed, and its number passed on. It comes back, is joined anew, has heard
// of nothing, and says what it had.
TEST(Removing, OfAServerThatComesBackStopsNobody) {
    const Server north(0, settings);
    const Server lost(0, settings);
    create(north);
    create(lost);
    Session(lost).run("SELECT snowflake.claim_node(7)");
    subscribe({north}, {lost}, "before", true);
    wait_for(north, "SELECT count(*) FROM snowflake.cluster", "1");
    Session session(north);
    session.run("DROP SUBSCRIPTION before");
    // As if it had been a minute ago.
    session.run("INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, "
                "database, copy, place, name, claimed_at, said_at, free_from, version) SELECT "
                "gen_random_uuid(), 'remove', node, last_node, system_identifier, database, copy, "
                "'elsewhere:/data#1', name, claimed_at, now(), now(), version "
                "FROM snowflake.cluster");
    EXPECT_EQ(session.number("SELECT snowflake.claim_node(7)"), 7);
    join({north}, {lost});
    Session back(lost);
    back.run("SELECT snowflake.claim_node(name => 'back')");
    wait_for(back, "EXISTS (SELECT FROM snowflake.nodes WHERE kind = 'remove')");
    EXPECT_EQ(back.sqlstate(node), "55000");
    EXPECT_EQ(session.number(node), 7);
    EXPECT_NE(back.number(claim), 7);
    expect_no_equal_ids(north, lost);
}

// Nothing that happens to the table on one side halts the other.
TEST(Rows, NeverHaltReplication) {
    const Server sender(0, settings);
    const Server receiver(0, settings);
    create(sender);
    create(receiver);
    Session(sender).run("SELECT snowflake.claim_node(1)");
    Session(receiver).run("SELECT snowflake.claim_node(2)");
    subscribe({receiver}, {sender}, "feed", true);
    subscribe({receiver}, {sender}, "second_feed", true); // everything arrives twice
    // A copy that is still going on would show rows that are truncated by then.
    wait_for(receiver, "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r'", "2");
    wait_for(receiver, "SELECT count(*) FROM snowflake.cluster", "2");
    Session session(sender);
    session.run(arrival(99999, "later version"));
    session.run("INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, "
                "database, copy, place, name, claimed_at, said_at, version) SELECT "
                "gen_random_uuid(), 'claim', -2147483648, 2147483647, 5, 5, 0, 'x', 'x', at, at, "
                "'9' FROM unnest('{2090-01-01, 294276-12-31}'::timestamptz[]) at");
    session.run("SELECT snowflake.remove_node(5, 5, force => true)"); // whose acts are to come
    session.run("ALTER TABLE snowflake.nodes DISABLE TRIGGER USER");
    session.run("UPDATE snowflake.nodes SET name = 'changed'");
    session.run("DELETE FROM snowflake.nodes WHERE name <> 'changed'");
    session.run("TRUNCATE snowflake.nodes");
    session.run("INSERT INTO snowflake.nodes VALUES (gen_random_uuid(), gen_random_uuid(), 'news', "
                "2, 2, 5, 5, 0, '', '', 'infinity', '-infinity', NULL, NULL, '9', false, "
                "'{\"a\": 1}')");
    for (const char *trigger : {"guard", "guard_truncate", "truncated", "changed"})
        session.run(std::string("ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER ") + trigger);
    session.run("SELECT snowflake.claim_node(1)");
    wait_until_heard(sender); // a TRUNCATE that arrives waits for all others
    // A claim that is not committed here keeps no act waiting.
    Session open(receiver);
    open.run("BEGIN");
    open.run("SELECT snowflake.claim_node(name => 'renamed')");
    say_again(sender);
    open.run("COMMIT");
    expect_no_failure_of_replication(receiver);
    EXPECT_EQ(Session(receiver).number(node), 2);
    EXPECT_EQ(Session(receiver).text("SELECT string_agg(node::text, ' ' ORDER BY node) FROM "
                                     "snowflake.cluster"),
              "1 2");
}

// Two databases publish everything into one.
TEST(Rows, OfManyDatabasesGoIntoOneWarehouse) {
    const Server server(0, settings);
    const Server warehouse(0, settings);
    Session(warehouse).run("CREATE EXTENSION snowflake");
    for (const char *database : {"one", "two"}) {
        Session(server).run(std::string("CREATE DATABASE ") + database);
        Session session(server, database);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE PUBLICATION registry FOR ALL TABLES");
        session.run(claim);
        subscribe({warehouse}, {server, database}, database, true);
    }
    wait_for(warehouse, "SELECT count(*) FROM snowflake.cluster", "2");
    expect_no_failure_of_replication(warehouse);
}

// The owner of a subscription need not be a superuser.
TEST(Rows, ArriveByASubscriptionOfAnOrdinaryRole) {
    const Server sender(0, settings);
    const Server receiver(0, settings);
    create(sender);
    Session super(receiver);
    super.run("CREATE ROLE shop LOGIN; ALTER DATABASE postgres OWNER TO shop");
    {
        Session owner(receiver.conninfo() + " user=shop");
        owner.run("CREATE EXTENSION snowflake");
        EXPECT_GE(owner.number(claim), 1); // and it can number a server that nobody has numbered
        EXPECT_EQ(owner.sqlstate(release_number), "42501");
    }
    subscribe({receiver}, {sender}, "feed", false);
    super.run("ALTER SUBSCRIPTION feed DISABLE");
    // The role has to be a superuser for a moment before PostgreSQL 16.
    super.run("ALTER ROLE shop SUPERUSER");
    super.run("ALTER SUBSCRIPTION feed OWNER TO shop");
    super.run("ALTER ROLE shop NOSUPERUSER");
    if (super.number("SHOW server_version_num") >= 160000)
        super.run("ALTER SUBSCRIPTION feed SET (password_required = false, run_as_owner = true)");
    super.run("ALTER SUBSCRIPTION feed ENABLE");
    Session(sender).run("SELECT snowflake.claim_node(7)");
    wait_for(receiver, "SELECT count(*) FROM snowflake.cluster WHERE node = 7", "1");
    expect_no_failure_of_replication(receiver);
}

// As docs/cluster.md tells, where another role installed the extension.
TEST(Rows, AreWrittenByARoleThatMayInsertThem) {
    const Server server(0, settings);
    create(server);
    Session session(server);
    session.run("CREATE ROLE replicator");
    session.run("GRANT INSERT ON snowflake.nodes TO replicator");
    EXPECT_GE(session.number(claim), 1);
    session.run("SET ROLE replicator");
    session.run(arrival(7, "other"));
    EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.cluster"), 2);
}

// One worker is enough for all that have asked while a claim was being made.
TEST(Rows, ThatAskKeepOneWorkerWaiting) {
    const Server server(0, settings);
    create(server);
    Session claimer(server);
    claimer.run("BEGIN");
    claimer.run(claim);
    Session session(server);
    for (int i = 0; i < 5; ++i)
        session.run("INSERT INTO snowflake.nodes SELECT gen_random_uuid(), gen_random_uuid(), "
                    "'ask', 0, 0, 7, 7, 0, 'place', 'name', now(), now(), NULL, NULL, 'version', "
                    "false, NULL");
    wait_for(session, "count(*) = 1 FROM pg_stat_activity "
                      "WHERE backend_type = 'snowflake announcer' AND wait_event_type = 'Lock'");
    wait_for(session, "count(*) = 1 FROM pg_stat_activity "
                      "WHERE backend_type = 'snowflake announcer'");
    claimer.run("COMMIT");
    wait_for(session, "count(*) = 0 FROM pg_stat_activity "
                      "WHERE backend_type = 'snowflake announcer'");
}

// A server whose clock stands in the year 2000 claims nothing, and stops nobody.
TEST(Clocks, BeforeTheEpochClaimNothing) {
    if (!FakeClock::available())
        GTEST_SKIP() << "libfaketime is not installed";
    const TemporaryDirectory directory;
    FakeClock clock(directory.path());
    clock.differ_by(-std::chrono::hours(24 * 365 * 26));
    const Server past(0, settings, clock.launcher());
    create(past);
    EXPECT_EQ(Session(past).sqlstate(claim), "55000");
}

// A claim of a clock that is an hour behind does not go before those that it knows of, and one of a
// clock that is an hour ahead keeps nobody from claiming.
TEST(Clocks, ThatDifferMakeNoClaimGoBeforeAKnownOne) {
    if (!FakeClock::available())
        GTEST_SKIP() << "libfaketime is not installed";
    const TemporaryDirectory directory;
    FakeClock clock(directory.path());
    clock.differ_by(-std::chrono::hours(1));
    const Server north(0, settings);
    const Server late(0, settings, clock.launcher());
    create(north);
    create(late);
    Session(north).run(claim);
    subscribe({late}, {north}, "feed", true);
    wait_for(late, "SELECT count(*) FROM snowflake.cluster", "1");
    EXPECT_GE(Session(late).number(claim), 1);
    const std::string is_later = "SELECT max(claimed_at) FILTER (WHERE is_this_instance) >= "
                                 "max(claimed_at) FILTER (WHERE NOT is_this_instance) FROM "
                                 "snowflake.cluster";
    EXPECT_EQ(Session(late).text(is_later), "t");
    clock.differ_by(std::chrono::hours(1));
    Session(late).run(release_number);
    EXPECT_GE(Session(late).number(claim), 1);
    subscribe({north}, {late}, "back", true);
    wait_for(north, "SELECT count(*) FROM snowflake.cluster", "2");
    Session(north).run(release_number);
    EXPECT_GE(Session(north).number(claim), 1);
    EXPECT_EQ(Session(north).text(is_later), "t");
}

// A promoted standby goes on at once, and says where it runs. A claim that the standby has not got
// comes back by replication, and halts nothing.
TEST(Promotion, GoesOnAndTakesBackWhatOthersKnow) {
    const Server north(0, settings);
    create(north);
    Server primary(0, settings);
    create(primary);
    join({north}, {primary});
    Session(primary).run("SELECT snowflake.claim_node(7)");
    wait_until_heard(primary);
    const Server standby = Server::standby_of(primary);
    Session on_standby(standby);
    wait_for(on_standby, "pg_last_wal_receive_lsn() IS NOT NULL");
    wait_for(on_standby, "EXISTS (SELECT FROM snowflake.nodes WHERE node = 7)");
    primary.kill_all();
    standby.promote();
    Session promoted(standby);
    EXPECT_EQ(node_of(promoted.number("SELECT snowflake.nextval()")), 7);
    wait_for(promoted, "EXISTS (SELECT FROM snowflake.nodes WHERE kind = 'here')");
    EXPECT_EQ(promoted.number(claim), 7);
    subscribe({north}, {standby}, "after", true);
    wait_for(north, "SELECT count(DISTINCT place) FROM snowflake.nodes WHERE node = 7", "2");
    // It may be a copy, and gives nothing up before somebody says that it is not.
    EXPECT_EQ(promoted.sqlstate(release_number), "55000");
    EXPECT_EQ(promoted.number("SELECT snowflake.take_over_node();"), 1);
    EXPECT_EQ(promoted.number(count_of_moves), 0);
    EXPECT_EQ(promoted.number(release_number), 7);
    wait_for(north, "SELECT count(*) FROM snowflake.cluster", "0");
}

// A server, and a backup of it from before it took another number.
class Restoring : public testing::Test {
  protected:
    Restoring() {
        create(north_);
        create(south_);
        join({north_}, {south_});
        Session(south_).run("SELECT snowflake.claim_node(7)");
        south_.stop();
        std::filesystem::copy(south_.data(), south_.file("backup"),
                              std::filesystem::copy_options::recursive);
        south_.start();
        Session(south_).run("SELECT (snowflake.release_node()).node");
        Session(south_).run("SELECT snowflake.claim_node(8)");
        wait_until_heard(south_);
        south_.stop();
    }

    // Starts the restored server, and lets it hear what it has said since the backup.
    void hear() {
        Session(south_).run("DROP SUBSCRIPTION IF EXISTS pair_b");
        subscribe({south_}, {north_}, "again", true);
        wait_for(south_, "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE NOT written_here",
                 "2");
    }

    Server north_{0, settings}; // NOLINT(*-non-private-member-variables*)
    Server south_{0, settings}; // NOLINT(*-non-private-member-variables*)
};

TEST_F(Restoring, TakesBackWhatOthersKnow) {
    // In place, so that the control file is the same file.
    std::filesystem::copy(south_.file("backup"), south_.data(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    south_.start();
    hear();
    EXPECT_EQ(Session(south_).number(node), 8);
    expect_no_failure_of_replication(south_);
}

// The restored server says with its first ID that its files are others now. What it said before the
// restore is not taken for the words of a copy.
TEST_F(Restoring, MakesNoCopyOfTheLostServer) {
    std::filesystem::remove_all(south_.data());
    std::filesystem::rename(south_.file("backup"), south_.data());
    south_.start();
    EXPECT_EQ(Session(south_).number(node), 7);
    wait_for(south_, "SELECT count(DISTINCT act) FROM snowflake.nodes WHERE kind = 'here'", "1");
    hear();
    EXPECT_EQ(Session(south_).number("SELECT count(*) FROM snowflake.cluster WHERE kind = 'copy'"),
              0);
    EXPECT_FALSE(has_logged(south_, "WARNING:  a server that is a copy of this one"));
    EXPECT_EQ(Session(south_).number(node), 7);
}

// A server that replicates with nobody goes on by itself after pg_upgrade, numbered by a claim or
// by the setting. Its former self, which lives on here, goes before it once the two are joined.
class Upgrading : public testing::TestWithParam<bool> {};

TEST_P(Upgrading, OfALoneServerNeedsNoCommand) {
    const bool is_set = GetParam();
    std::vector<std::string> all_settings = settings;
    const bool has_pglogical = is_set && Mesh::available(); // but is no node of it
    if (has_pglogical)
        all_settings.emplace_back("shared_preload_libraries = 'pglogical'");
    Server before(is_set ? 7 : 0, all_settings);
    Session(before).run("CREATE EXTENSION snowflake; CREATE TABLE t (id bigint DEFAULT "
                        "snowflake.nextval())");
    if (has_pglogical)
        Session(before).run("CREATE EXTENSION pglogical");
    if (!is_set)
        Session(before).run("SELECT snowflake.claim_node(7)");
    const std::string insert = "INSERT INTO t DEFAULT VALUES RETURNING id";
    const Id first = Session(before).number(insert);
    wait_for(before, "SELECT count(*) FROM snowflake.nodes WHERE node = 7", "1");
    {
        Session session(before);
        age_acts(session);
    }
    before.stop();
    Server after(is_set ? 7 : 0, all_settings);
    after.upgrade_from(before);
    Session session(after);
    const Id second = session.number(insert);
    EXPECT_GT(second, first);
    EXPECT_EQ(node_of(second), 7);
    EXPECT_EQ(session.number("SELECT count(*) FROM snowflake.cluster"), 1);
    // It says so with its first ID.
    wait_for(after, "SELECT count(DISTINCT system_identifier) FROM snowflake.nodes WHERE node = 7",
             "2");
    // The command, which is not needed, takes nothing over, but may confirm the claim that stands.
    EXPECT_LE(session.number("SELECT snowflake.take_over_node()"), 1);
    EXPECT_EQ(Session(after).number(claim), 7);

    before.start();
    EXPECT_EQ(Session(before).number(claim), 7);
    for (const auto &[receiver, sender] : {std::pair{&after, &before}, std::pair{&before, &after}})
        Session(*receiver).run(
            "CREATE SUBSCRIPTION from_" + std::string(sender == &before ? "before" : "after") +
            " CONNECTION '" + sender->conninfo() + "' PUBLICATION snowflake_nodes");
    wait_for(after, "SELECT count(*) FROM snowflake.cluster WHERE lost_to IS NOT NULL", "1");
    EXPECT_EQ(Session(after).sqlstate(insert), "55000");
    EXPECT_EQ(node_of(Session(before).number(insert)), 7);
}

INSTANTIATE_TEST_SUITE_P(Numbers, Upgrading, testing::Bool(), [](const auto &number) {
    return std::string(number.param ? "OfTheSetting" : "OfAClaim");
});

// A claim publishes the registry. Where a server receives rows, but not the registry, it warns:
// when it subscribes, when it claims, and in check().
TEST(Publishing, OfTheRegistryIsAskedFor) {
    const Server north(0, settings);
    const Server south(0, settings);
    for (const Server *server : {&north, &south})
        Session(*server).run("CREATE EXTENSION snowflake; CREATE TABLE orders (id bigint)");
    Session(north).run("CREATE PUBLICATION shared FOR TABLE orders");
    Session(north).run(claim);
    const auto errors_of = [&south](const std::string &command) {
        return south.run("psql", {"-X", "-d", south.conninfo(), "-c", command}).err;
    };
    const std::string connection = " CONNECTION '" + north.conninfo() + "' PUBLICATION ";
    const std::string warning =
        "WARNING:  this server receives rows of other servers, but not their node numbers";
    const std::string count_findings = "SELECT count(*) FROM snowflake.check() WHERE finding = "
                                       "'it receives rows of other servers, but not their node "
                                       "numbers'";
    EXPECT_EQ(errors_of(claim), "");
    EXPECT_NE(errors_of("CREATE SUBSCRIPTION data" + connection + "shared").find(warning),
              std::string::npos);
    EXPECT_NE(errors_of(claim).find(warning), std::string::npos);
    EXPECT_EQ(Session(south).number(count_findings), 1);
    EXPECT_EQ(
        errors_of("CREATE SUBSCRIPTION nodes" + connection + "snowflake_nodes").find("WARNING"),
        std::string::npos);
    EXPECT_EQ(errors_of(claim), "");
    EXPECT_EQ(Session(south).number(count_findings), 0);
    wait_for(south, "SELECT count(*) FROM snowflake.cluster", "2");
}

// The publication goes through a dump, which before PostgreSQL 18 leaves the registry out of it. A
// role that owns one of this name does not get its rows among the registry's.
TEST(Publishing, OfTheRegistryOutlivesADump) {
    const Server north(0, settings);
    const Server south(0, settings);
    Session(north).run("CREATE EXTENSION snowflake");
    Session(north).run(claim);
    north.run_successfully("pg_dump", {"-d", north.conninfo(), "-f", north.file("dump.sql")});
    south.run_successfully("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", south.conninfo(),
                                    "-f", north.file("dump.sql")});
    Session session(south);
    session.run(claim);
    const std::string published =
        "SELECT string_agg(tablename, ' ') FROM pg_publication_tables WHERE pubname = "
        "'snowflake_nodes'";
    EXPECT_EQ(session.text(published), "nodes");
    session.run("DROP PUBLICATION snowflake_nodes; CREATE ROLE mallory; GRANT CREATE ON DATABASE "
                "postgres TO mallory");
    session.run("SET ROLE mallory; CREATE PUBLICATION snowflake_nodes; RESET ROLE");
    session.run(claim);
    EXPECT_EQ(
        session.text("SELECT command FROM snowflake.check() WHERE object LIKE 'publication%'"),
        "DROP PUBLICATION snowflake_nodes");
    session.run("DROP PUBLICATION snowflake_nodes"); // the hint of the warning
    session.run(claim);
    EXPECT_EQ(session.text(published), "nodes");
}

} // namespace
} // namespace integration::registry_test
