// Several servers that all write, and receive from each other by replication. Whatever happens to
// the servers, the links and the clocks: all servers have the same rows, no two rows have the same
// ID, and no two servers keep the same node number.
#include "fake_clock.hpp"
#include "inserter.hpp"
#include "mesh.hpp"
#include "process.hpp"

#include <chrono>

namespace integration::mesh_test {
namespace {

// Starts two clients for a server, or for each server of a mesh.
void start_clients(Inserters &clients, const Member &member, int rows) {
    for (int i = 0; i < 2; ++i)
        clients.push_back(std::make_unique<Inserter>(*member.server, member.name, rows,
                                                     static_cast<unsigned>(clients.size())));
}
Inserters start_clients(const Mesh &mesh, int rows) {
    Inserters clients;
    for (const auto &member : mesh.members())
        start_clients(clients, *member, rows);
    return clients;
}

void wait_for_rows(const Inserters &clients, int rows) {
    for (const auto &client : clients)
        while (client->inserted() < rows && !client->ended_early())
            pause_between_looks();
}

int stop(const Inserters &clients) {
    for (const auto &client : clients)
        client->stop();
    return wait_for_all(clients);
}

// Checks that all servers have the same rows, and that each server's IDs have its own node.
void expect_agreement(const Mesh &mesh) {
    mesh.wait_until_quiet();
    const Member &first = *mesh.members().front();
    const Id rows = first.rows();
    const std::string digest = first.digest();
    for (const auto &member : mesh.members()) {
        SCOPED_TRACE("on " + member->name);
        EXPECT_EQ(member->rows(), rows);
        EXPECT_EQ(member->digest(), digest);
        EXPECT_FALSE(member->logged_a_conflict());

        Session session(*member->server);
        EXPECT_EQ(session.text("SELECT string_agg(DISTINCT snowflake.get_node(id)::text, ' ') FROM "
                               "orders WHERE maker = '" +
                               member->name + "'"),
                  session.text("SELECT snowflake.node()"));
    }
}

int claim(const Member &member, int node) {
    return static_cast<int>(Session(*member.server)
                                .number("SELECT snowflake.claim_node(" + std::to_string(node) +
                                        ", '" + member.name + "')"));
}

std::string error_of(const Member &member, const std::string &statement) {
    Session session(*member.server);
    try {
        session.run(statement);
        return "";
    } catch (const pqxx::sql_error &error) {
        const std::string message = error.what();
        return message.substr(0, message.find('\n'));
    }
}

class MeshTest : public testing::Test {
  protected:
    void SetUp() override {
        static const bool available = Mesh::available();
        if (!available)
            GTEST_SKIP() << "pglogical is not installed for this version of PostgreSQL";
    }

    // Adds a server, joins it, and lets it claim the next number.
    void add(const std::string &name, const std::vector<std::string> &launcher = {}) {
        const Member &member = mesh_.add(name, launcher);
        mesh_.join_last();
        claim(member, static_cast<int>(mesh_.members().size()));
        mesh_.wait_until_quiet();
    }
    void add_three() {
        for (const char *name : {"north", "south", "west"})
            add(name);
    }

    [[nodiscard]] const Member &member(std::size_t i) const { return *mesh_.members().at(i); }

    Mesh mesh_; // NOLINT(*-non-private-member-variables-in-classes)
};

TEST_F(MeshTest, HoldsTheSameRowsOnAllServers) {
    add_three();
    for (const auto &member : mesh_.members())
        EXPECT_EQ(member->cluster(), "1 north, 2 south, 3 west");

    Inserters clients = start_clients(mesh_, 2000);
    const int inserted = wait_for_all(clients);
    expect_agreement(mesh_);
    EXPECT_EQ(member(0).rows(), inserted);
    EXPECT_EQ(
        Session(*member(1).server)
            .text("SELECT string_agg(DISTINCT snowflake.get_node(id)::text, ' ') FROM orders"),
        "1 2 3");
}

// New partitions do not reach the other servers.
TEST_F(MeshTest, ItsTablesGetNoPartitions) {
    add("north");
    Session session(*member(0).server);
    const std::string partitions = "SELECT * FROM snowflake.partition_plan('orders', '1 month')";
    EXPECT_EQ(session.sqlstate(partitions), "0A000");
    session.run("SELECT pglogical.replication_set_remove_table('default', 'orders')");
    EXPECT_EQ(session.sqlstate(partitions), "00000");
}

TEST_F(MeshTest, GoesOnAfterAServerWasKilled) {
    add_three();
    Inserters clients = start_clients(mesh_, 1000);
    Inserters doomed;
    start_clients(doomed, member(2), Inserter::endless);
    wait_for_rows(doomed, 100);
    member(2).server->kill_all();

    int inserted = 0;
    for (const Inserters *some : {&clients, &doomed})
        for (const auto &client : *some)
            inserted += client->wait();
    for (const auto &client : doomed)
        EXPECT_TRUE(client->ended_early());

    member(2).server->start();
    for (const std::size_t i : {0U, 1U})
        receive_again(member(i), member(2));
    Inserters again;
    start_clients(again, member(2), 500);
    inserted += wait_for_all(again);
    expect_agreement(mesh_);
    // A client may not have learnt of a commit, because its server was killed.
    EXPECT_GE(member(0).rows(), inserted);
}

TEST_F(MeshTest, GoesOnAfterALinkWasCut) {
    add_three();
    cut(member(0), member(1));
    Inserters clients = start_clients(mesh_, 500);
    int inserted = wait_for_all(clients);
    EXPECT_LT(member(0).rows(), inserted);
    EXPECT_LT(member(1).rows(), inserted);

    heal(member(0), member(1));
    Inserters more = start_clients(mesh_, 500);
    inserted += wait_for_all(more);
    expect_agreement(mesh_);
    EXPECT_EQ(member(0).rows(), inserted);
}

TEST_F(MeshTest, DoesNotMindClocksMinutesApart) {
    if (!FakeClock::available())
        GTEST_SKIP() << "libfaketime is not installed";
    using namespace std::chrono_literals;
    const TemporaryDirectory slow_directory;
    const TemporaryDirectory fast_directory;
    FakeClock slow(slow_directory.path());
    FakeClock fast(fast_directory.path());
    slow.differ_by(-3min);
    fast.differ_by(4min);
    {
        Mesh mesh;
        const auto add = [&mesh](const char *name, const std::vector<std::string> &launcher) {
            const Member &member = mesh.add(name, launcher);
            claim(member, static_cast<int>(mesh.members().size()));
            mesh.join_last();
            mesh.wait_until_quiet();
        };
        add("present", {});
        add("past", slow.launcher());
        add("future", fast.launcher());
        Inserters clients = start_clients(mesh, 1000);
        const int inserted = wait_for_all(clients);
        expect_agreement(mesh);

        const Member &first = *mesh.members().front();
        EXPECT_EQ(first.rows(), inserted);
        const auto minutes_from_first = [&](const std::string &maker) {
            return Session(*first.server)
                .number("SELECT round(extract(epoch FROM (SELECT min(snowflake.get_timestamp(id)) "
                        "FROM orders WHERE maker = '" +
                        maker +
                        "') - (SELECT min(snowflake.get_timestamp(id)) FROM orders WHERE maker = "
                        "'present')) / 60)");
        };
        EXPECT_LT(minutes_from_first("past"), 0);
        EXPECT_GT(minutes_from_first("future"), 0);
    }
}

TEST_F(MeshTest, LetsAServerJoinLateButWithANumberOfItsOwn) {
    add_three();
    Inserters clients = start_clients(mesh_, Inserter::endless);
    const Member &late = mesh_.add("late");
    wait_for_rows(clients, 100);
    mesh_.join_last();
    int inserted = stop(clients);
    mesh_.wait_until_quiet();
    EXPECT_EQ(late.rows(), inserted);
    EXPECT_EQ(late.digest(), member(0).digest());

    const std::string insert = "INSERT INTO orders (maker) VALUES ('late')";
    const std::string refused = "ERROR:  snowflake node 2 belongs to another instance, \"south\"";
    EXPECT_EQ(error_of(late, insert), "ERROR:  snowflake.node is not set");
    EXPECT_EQ(error_of(late, "SELECT snowflake.claim_node(2)"), refused);
    Session(*late.server).run("ALTER SYSTEM SET snowflake.node = 2");
    Session(*late.server).run("SELECT pg_reload_conf()");
    wait_for(*late.server, "SELECT current_setting('snowflake.node')", "2");
    EXPECT_EQ(error_of(late, insert), refused);
    EXPECT_EQ(Session(*member(1).server).number("SELECT snowflake.node()"), 2);

    Session(*late.server).run("ALTER SYSTEM RESET snowflake.node");
    Session(*late.server).run("SELECT pg_reload_conf()");
    wait_for(*late.server, "SELECT current_setting('snowflake.node')", "0");
    EXPECT_EQ(claim(late, 4), 4);
    Inserters all = start_clients(mesh_, 200);
    inserted += wait_for_all(all);
    expect_agreement(mesh_);
    EXPECT_EQ(late.rows(), inserted);
}

// Two servers claim the same number while neither hears of the other, nor by way of the third.
TEST_F(MeshTest, SettlesADoubleClaimTheSameWayOnBothSides) {
    add_three();
    const Member &early = member(0);
    const Member &late = member(1);
    const Member &third = member(2);
    cut(early, late);
    cut(third, late);
    for (const Member *one : {&early, &late}) {
        Session session(*one->server);
        session.run("SELECT snowflake.release_node()");
        EXPECT_EQ(claim(*one, 9), 9);
        EXPECT_EQ(session.number("SELECT snowflake.node()"), 9);
    }

    // A session that stays connected, and has made IDs with the number.
    Session session(*late.server);
    session.run("INSERT INTO orders (maker) VALUES ('south')");
    heal(early, late);
    heal(third, late);
    mesh_.wait_until_quiet();
    for (const auto &member : mesh_.members())
        EXPECT_EQ(member->cluster(), "3 west, 9 north, 9 south lost to north");
    const std::string warning =
        "WARNING:  snowflake node 9 of this instance was claimed by another";
    for (const Member *one : {&early, &late})
        EXPECT_NE(read_file(one->server->file("log")).find(warning), std::string::npos);
    EXPECT_EQ(session.sqlstate("INSERT INTO orders (maker) VALUES ('south')"), "55000");
    EXPECT_EQ(error_of(late, "SELECT snowflake.node()"),
              "ERROR:  snowflake node 9 belongs to another instance, \"north\"");
    EXPECT_EQ(Session(*early.server).number("SELECT snowflake.node()"), 9);

    // The loser claims another number, and so gives up the one that it has lost.
    EXPECT_EQ(session.number("SELECT snowflake.claim_node(4)"), 4);
    EXPECT_EQ(session.sqlstate("INSERT INTO orders (maker) VALUES ('south')"), "00000");
    mesh_.wait_until_quiet();
    for (const auto &member : mesh_.members())
        EXPECT_EQ(member->cluster(), "3 west, 4 south, 9 north");
}

// The other tests rely on this: two rows with the same ID appear in a server's log.
TEST_F(MeshTest, LogsConflicts) {
    add("north");
    add("south");
    cut(member(0), member(1));
    for (const auto &member : mesh_.members())
        Session(*member->server).run("INSERT INTO orders VALUES (1, '" + member->name + "')");
    heal(member(0), member(1));
    mesh_.wait_until_quiet();
    EXPECT_TRUE(member(0).logged_a_conflict() || member(1).logged_a_conflict());
}

} // namespace
} // namespace integration::mesh_test
