// A streaming standby: it decodes IDs, makes none, and once promoted goes on above every ID that
// its primary handed out.
#include "ids.hpp"
#include "registry.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <vector>

namespace integration::standby_test {
namespace {

// The WAL writer hardly ever writes, so the standby gets only WAL that a session has flushed. A
// killed process loses nothing that it has written, synchronized or not.
const std::vector<std::string> lazy_wal_writer = {"wal_writer_delay = 10s", "autovacuum = off",
                                                  "fsync = off"};

// Waits until the standby has replayed all that is on the primary's disk.
void wait_for_replay(Session &primary, Session &standby) {
    const std::string written = primary.text("SELECT pg_current_wal_flush_lsn()");
    wait_for(standby, "pg_last_wal_replay_lsn() >= '" + written + "'");
}

TEST(Standby, DecodesIds) {
    const Server primary(1, lazy_wal_writer);
    Session session(primary);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE TABLE t (id bigint DEFAULT snowflake.nextval())");
    session.run("INSERT INTO t SELECT snowflake.nextval() FROM generate_series(1, 100)");

    const Server copy = Server::standby_of(primary);
    Session standby(copy);
    wait_for_replay(session, standby);
    const std::string decoded =
        "SELECT string_agg(concat_ws(' ', id, snowflake.get_epoch(id), snowflake.get_timestamp(id),"
        " snowflake.get_count(id), snowflake.get_node(id), snowflake.format(id)), E'\\n'"
        " ORDER BY id) FROM t";
    EXPECT_EQ(standby.text(decoded), session.text(decoded));
    EXPECT_EQ(standby.number("SELECT count(*) FROM t WHERE snowflake.get_node(id) = 1"), 100);
}

TEST(Standby, RefusesNextvalAsTheServerDoes) {
    const Server primary(1, lazy_wal_writer);
    Session session(primary);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE s CACHE 50");
    session.run("SELECT pg_catalog.nextval('s')");
    session.run(nextval("s"));
    session.run("CREATE UNLOGGED SEQUENCE unlogged");

    const Server copy = Server::standby_of(primary);
    Session standby(copy);
    wait_for_replay(session, standby);
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(standby.sqlstate("SELECT pg_catalog.nextval('s')"), "25006");
        EXPECT_EQ(standby.sqlstate("SELECT snowflake.nextval('s')"), "25006");
        EXPECT_EQ(standby.sqlstate("SELECT snowflake.nextval()"), "25006");
        EXPECT_EQ(standby.sqlstate("SELECT snowflake.nextval('unlogged')"), "25006");
        EXPECT_EQ(standby.sqlstate("SELECT snowflake.nextvals('unlogged', 2)"), "25006");
    }
    EXPECT_EQ(standby.sqlstate("SELECT snowflake._plan_anew('pg_class')"), "25006");
}

// A standby has its primary's system identifier, and so its claim.
TEST(Standby, KeepsTheNodeThatItsPrimaryHasClaimed) {
    Server primary(0, lazy_wal_writer);
    Session session(primary);
    session.run("CREATE EXTENSION snowflake");
    session.run("SELECT snowflake.claim_node(5)");
    session.run(arrival(6, "another"));

    const Server copy = Server::standby_of(primary);
    {
        Session standby(copy);
        wait_for_replay(session, standby);
        EXPECT_EQ(standby.number("SELECT snowflake.node()"), 5);
    }
    primary.kill_all();
    copy.promote();
    Session promoted(copy);
    EXPECT_EQ(node_of(promoted.number(nextval("snowflake.id_seq"))), 5);
    EXPECT_EQ(promoted.number("SELECT snowflake.claim_node()"), 5);
}

// A standby does not know which numbers are leased to sessions of the primary.
TEST(Standby, LeasesNoNode) {
    Server primary(1, lazy_wal_writer);
    Session session(primary);
    session.run("CREATE EXTENSION snowflake");
    session.run("SELECT snowflake.reserve_nodes(900, 900)");
    const std::string lease = "SELECT node FROM snowflake.lease_node()";
    EXPECT_EQ(session.number(lease), 900);

    const Server copy = Server::standby_of(primary);
    Session standby(copy);
    wait_for_replay(session, standby);
    EXPECT_EQ(standby.sqlstate(lease), "25006");
    primary.kill_all();
    copy.promote();
    EXPECT_EQ(standby.number(lease), 900);
}

const std::array<Sequence, 5> sequences{{
    {"in_time", "CREATE SEQUENCE in_time", 1, false},
    {"ahead", "CREATE SEQUENCE ahead", 1, true},
    {"cached", "CREATE SEQUENCE cached CACHE 50", 1, true},
    {"wide", "CREATE SEQUENCE wide INCREMENT 4096", 4096, true},
    {"snowflake.id_seq", "", 1, true},
}};

// Makes IDs of every sequence, none of them committed, and returns the greatest of each.
std::array<Id, sequences.size()> make_ids(Session &session) {
    constexpr int most_rows = 2000;
    Random random = make_random();
    std::array<Id, sequences.size()> greatest{};
    session.run("BEGIN");
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        const std::vector<Id> ids =
            session.numbers(nextval(sequences.at(i).name, between(random, 1, most_rows)));
        EXPECT_TRUE(increasing(ids, sequences.at(i).stride));
        greatest.at(i) = ids.back();
    }
    return greatest;
}

// Makes a standby of a primary that has made IDs. Kills the primary when the standby has replayed
// all WAL that the primary has flushed, and promotes the standby.
void expect_to_go_on_above(const char *between_ids) {
    Server primary(1, lazy_wal_writer);
    create_sequences(primary, sequences);
    Session session(primary);
    for (const Sequence &sequence : sequences)
        session.run(nextval(sequence.name));

    const Server copy = Server::standby_of(primary);
    Session standby(copy);
    session.run(between_ids);
    const auto greatest = make_ids(session);
    Session observer(primary);
    wait_for_replay(observer, standby);
    EXPECT_EQ(standby.sqlstate(nextval("in_time")), "25006");

    primary.kill_all();
    copy.promote();

    // The session of the standby, which was refused before, is now one of a primary.
    for (std::size_t i = 0; i < sequences.size(); ++i)
        EXPECT_GE(standby.number(nextval(sequences.at(i).name)),
                  greatest.at(i) + sequences.at(i).stride)
            << "of " << sequences.at(i).name;
}

TEST(Standby, GoesOnAboveOncePromoted) {
    expect_to_go_on_above("SELECT");
}

TEST(Standby, GoesOnAboveAfterACheckpoint) {
    expect_to_go_on_above("CHECKPOINT");
}

// Tells whether the server process waits for the standby before it answers its client.
bool waits_for_the_standby(Session &observer, const std::string &pid, std::future<Id> &answer) {
    const std::string waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + pid +
                              " AND wait_event = 'SyncRep')";
    bool waited = false;
    while (!waited && answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        waited = observer.text(waits) == "t";
        pause_between_looks();
    }
    return waited;
}

// Waits until commits wait for a standby that does not answer. They do once the checkpointer has
// told all sessions of the setting.
void wait_until_commits_wait(const Server &primary, Session &observer) {
    Session probe(primary);
    const std::string pid = std::to_string(probe.backend());
    bool waits = false;
    while (!waits) {
        std::future<Id> committed = std::async(std::launch::async, [&probe] {
            probe.run("SELECT pg_logical_emit_message(true, 'probe', '')");
            return Id{0};
        });
        waits = waits_for_the_standby(observer, pid, committed);
        if (waits)
            observer.run("SELECT pg_cancel_backend(" + pid + ")");
        committed.get();
    }
}

// A primary with a sequence s, which may be ahead of the clock, and a standby that can be stopped.
class Replicated {
  public:
    explicit Replicated(bool ahead) : standby_(create(primary_, observer_, ahead)) {}

    // Makes the standby a synchronous one from now on, which does not answer. When this returns,
    // these clients know it, all commits wait, and the next ID needs a record.
    void stop_standby(const std::vector<Session *> &clients) {
        standby_.stop();
        observer_.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        observer_.run("SELECT pg_reload_conf()");
        for (Session *client : clients)
            wait_for(*client, "current_setting('synchronous_standby_names') = '*'");
        wait_until_commits_wait(primary_, observer_);
        observer_.run("CHECKPOINT");
    }

    void start_standby() { standby_.start(); }

    // Loses the primary, and returns a session of the standby in its place.
    Session fail_over() {
        primary_.kill_all();
        standby_.promote();
        return Session(standby_);
    }

    [[nodiscard]] const Server &primary() const { return primary_; }
    Session &observer() { return observer_; }

  private:
    static Server create(const Server &primary, Session &observer, bool ahead) {
        observer.run("CREATE EXTENSION snowflake");
        observer.run("CREATE SEQUENCE s");
        if (ahead)
            observer.run(setval("s", hour_ahead()));
        return Server::standby_of(primary);
    }

    Server primary_{1, lazy_wal_writer};
    Session observer_{primary_};
    Server standby_;
};

// The ID of a committed transaction must not be lost with the primary: the commit waits for a
// synchronous standby, also where making the ID was all that the transaction did. If the sequence
// is ahead of the clock, nextval itself waits.
void expect_to_wait_for_the_standby(const std::string &nextval_call, bool ahead) {
    Replicated servers(ahead);
    Session client(servers.primary());
    const std::string pid = std::to_string(client.backend());
    servers.stop_standby({&client});
    std::future<Id> id =
        std::async(std::launch::async, [&] { return client.number("SELECT " + nextval_call); });
    EXPECT_TRUE(waits_for_the_standby(servers.observer(), pid, id))
        << nextval_call << " did not wait for the standby";

    servers.start_standby();
    const Id received = id.get();
    EXPECT_GT(servers.fail_over().number("SELECT " + nextval_call), received);
}

// Makes an ID in a transaction of its own that ends like this.
Id make_id(Session &session, const char *end) {
    session.run("BEGIN");
    const Id id = session.number(nextval("s"));
    session.run(end);
    return id;
}

class SynchronousStandby : public testing::TestWithParam<bool> {};

// One session writes the record, and waits until the standby has it. Another session makes its ID
// by the same record: it must wait as well, or its ID would be lost with the primary. If the
// sequence is ahead of the clock, it makes no difference how the transactions end, since a client
// gets its ID before.
TEST_P(SynchronousStandby, IsWaitedForByASessionThatGoesOnByARecord) {
    const bool ahead = GetParam();
    Replicated servers(ahead);
    Session writer(servers.primary());
    Session reader(servers.primary());
    writer.run(nextval("s"));
    reader.run(nextval("s"));
    const std::string writer_pid = std::to_string(writer.backend());
    const std::string reader_pid = std::to_string(reader.backend());

    servers.stop_standby({&writer, &reader});
    const char *end = ahead ? "ROLLBACK" : "COMMIT";
    std::future<Id> first =
        std::async(std::launch::async, [&writer, end] { return make_id(writer, end); });
    EXPECT_TRUE(waits_for_the_standby(servers.observer(), writer_pid, first))
        << "which wrote the record";
    std::future<Id> second =
        std::async(std::launch::async, [&reader] { return make_id(reader, "COMMIT"); });
    EXPECT_TRUE(waits_for_the_standby(servers.observer(), reader_pid, second)) << "which did not";

    servers.start_standby();
    const Id greatest = std::max(first.get(), second.get());
    EXPECT_GT(servers.fail_over().number(nextval("s")), greatest);
}

INSTANTIATE_TEST_SUITE_P(Sequences, SynchronousStandby, testing::Bool(), [](const auto &instance) {
    return std::string(instance.param ? "Ahead" : "InTime");
});

// Tells whether one of a few transactions that make an ID writes no WAL. The background processes
// write WAL at times, and the sequence a record a second, so that not each of them is asked for.
bool an_id_costs_no_wal(Session &session, const std::string &sequence) {
    constexpr int tries = 20;
    const std::string position = "SELECT pg_current_wal_insert_lsn()";
    for (int i = 0; i < tries; ++i) {
        const std::string before = session.text(position);
        session.run("BEGIN");
        session.run(nextval(sequence));
        const bool has_no_xid =
            session.text("SELECT pg_current_xact_id_if_assigned() IS NULL") == "t";
        session.run("COMMIT");
        if (has_no_xid && session.text(position) == before)
            return true;
    }
    return false;
}

TEST(SynchronousStandbyOfMany, IsNotWaitedForWhereItHasTheRecord) {
    const Server primary(1, lazy_wal_writer);
    Session session(primary);
    session.run("CREATE EXTENSION snowflake");
    session.run("CREATE SEQUENCE in_time");
    session.run("CREATE SEQUENCE ahead");
    const Server copy = Server::standby_of(primary);
    session.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
    session.run("SELECT pg_reload_conf()");
    wait_for(session, "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')");
    session.run(setval("ahead", hour_ahead()));

    Session other(primary);
    for (const char *sequence : {"in_time", "ahead"})
        for (Session *each : {&session, &other}) {
            SCOPED_TRACE(sequence);
            each->run(nextval(sequence)); // each session writes one record of its own
            EXPECT_TRUE(an_id_costs_no_wal(*each, sequence));
        }
}

// A session that has waited for the disk alone has not waited for the standby: neither before it
// sets synchronous_commit, nor before the standby becomes a synchronous one.
TEST(SynchronousStandbyWait, FollowsAWaitForTheDiskAlone) {
    Replicated servers(true);
    Session client(servers.primary());
    client.run(nextval("s"));
    const std::string pid = std::to_string(client.backend());

    servers.stop_standby({&client});
    client.run("SET synchronous_commit = local");
    make_id(client, "ROLLBACK"); // writes the record
    client.run("SET synchronous_commit = on");
    std::future<Id> id =
        std::async(std::launch::async, [&client] { return make_id(client, "ROLLBACK"); });
    EXPECT_TRUE(waits_for_the_standby(servers.observer(), pid, id));

    servers.start_standby();
    const Id received = id.get();
    EXPECT_GT(servers.fail_over().number(nextval("s")), received);
}

// The server's commit goes by what all sessions know of synchronous_standby_names. A session reads
// the setting itself between statements only, and a procedure is one statement.
TEST(SynchronousStandbyWait, IsThatOfAProcedureThatHasBegunBefore) {
    Replicated servers(false);
    Session &observer = servers.observer();
    observer.run("CREATE PROCEDURE make_id_later(id INOUT bigint) LANGUAGE plpgsql AS $$ BEGIN "
                 "PERFORM pg_advisory_lock(1); id := snowflake.nextval('s'); COMMIT; END $$");
    Session client(servers.primary());
    const std::string pid = std::to_string(client.backend());
    client.run(nextval("s"));

    observer.run("SELECT pg_advisory_lock(1)");
    std::future<Id> id = std::async(
        std::launch::async, [&client] { return client.number("CALL make_id_later(NULL)"); });
    wait_for(observer, "EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + pid +
                           " AND wait_event = 'advisory')");
    Session other(servers.primary());
    servers.stop_standby({&other});
    observer.run("SELECT pg_advisory_unlock(1)");
    EXPECT_TRUE(waits_for_the_standby(observer, pid, id));

    servers.start_standby();
    const Id received = id.get();
    EXPECT_GT(servers.fail_over().number(nextval("s")), received);
}

// A nextval whose wait is canceled fails, because nothing is committed.
TEST(SynchronousStandbyWait, IsCanceledInNextval) {
    Replicated servers(true);
    Session client(servers.primary());
    const Id last = client.number(nextval("s"));
    const std::string pid = std::to_string(client.backend());

    servers.stop_standby({&client});
    for (int again = 0; again < 2; ++again) {
        std::future<Id> failed = std::async(std::launch::async, [&client] {
            return client.sqlstate(nextval("s")) == "57014" ? Id{1} : Id{0};
        });
        EXPECT_TRUE(waits_for_the_standby(servers.observer(), pid, failed));
        servers.observer().run("SELECT pg_cancel_backend(" + pid + ")");
        EXPECT_EQ(failed.get(), 1);
        EXPECT_EQ(servers.observer().number("SELECT count(*) FROM pg_locks WHERE pid = " + pid), 0);
    }
    servers.start_standby();
    EXPECT_GT(client.number(nextval("s")), last);
}

// A commit whose wait is canceled ends with the server's warning, and is committed.
TEST(SynchronousStandbyWait, IsCanceledAtTheCommit) {
    Replicated servers(false);
    Session client(servers.primary());
    Id last = client.number(nextval("s"));
    const std::string pid = std::to_string(client.backend());

    servers.stop_standby({&client});
    for (int again = 0; again < 2; ++again) {
        std::future<Id> id =
            std::async(std::launch::async, [&client] { return client.number(nextval("s")); });
        EXPECT_TRUE(waits_for_the_standby(servers.observer(), pid, id));
        servers.observer().run("SELECT pg_cancel_backend(" + pid + ")");
        const Id received = id.get();
        EXPECT_GT(received, last);
        last = received;
        EXPECT_EQ(servers.observer().number("SELECT count(*) FROM pg_locks WHERE pid = " + pid), 0);
    }
    servers.start_standby();
    EXPECT_GT(client.number(nextval("s")), last);
}

TEST(SynchronousStandbyWait, IsThatOfTheServersNextval) {
    expect_to_wait_for_the_standby("pg_catalog.nextval('s')", false);
}

TEST(SynchronousStandbyWait, IsThatOfSnowflakeNextval) {
    expect_to_wait_for_the_standby("snowflake.nextval('s')", false);
    expect_to_wait_for_the_standby("snowflake.nextval('s')", true);
}

} // namespace
} // namespace integration::standby_test
