// Node numbers that are leased to sessions. Two sessions never have the same number. A number is
// free again when its session is gone, however that ended, and the session's client can then use it
// no more.
#include "leased_ids.hpp"
#include "process.hpp"
#include "registry.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <set>
#include <thread>

namespace integration::lease_test {
namespace {

constexpr int first_node = 900;
constexpr int node_count = 20;
const std::string lease = "SELECT node FROM snowflake.lease_node()";

using Sessions = std::vector<std::unique_ptr<Session>>;

// Leases a number in each of many new sessions, all at once.
std::vector<Id> lease_in(Sessions &sessions, const Server &server) {
    for (int i = 0; i < node_count; ++i)
        sessions.push_back(std::make_unique<Session>(server));
    std::vector<Id> nodes(sessions.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < sessions.size(); ++i)
        threads.emplace_back([&, i] { nodes[i] = sessions[i]->number(lease); });
    for (std::thread &thread : threads)
        thread.join();
    return nodes;
}

std::vector<Id> all_nodes() {
    std::vector<Id> nodes(node_count);
    std::iota(nodes.begin(), nodes.end(), first_node);
    return nodes;
}

std::vector<Id> sorted(std::vector<Id> nodes) {
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

class Lease : public testing::Test {
  protected:
    Lease() {
        Session session(server_);
        session.run("CREATE EXTENSION snowflake");
        session.run("SELECT snowflake.reserve_nodes(900, 919)");
    }

    Server server_{1}; // NOLINT(*-non-private-member-variables-in-classes)
};

TEST_F(Lease, IsNeverGivenToTwoSessions) {
    for (int round = 0; round < 5; ++round) {
        Sessions sessions;
        EXPECT_EQ(sorted(lease_in(sessions, server_)), all_nodes());
        EXPECT_EQ(Session(server_).sqlstate(lease), "53400");
        sessions.clear();
        wait_for(server_, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0");
    }
}

TEST_F(Lease, EndsWithItsSession) {
    Sessions sessions;
    const std::vector<Id> nodes = lease_in(sessions, server_);
    Session(server_).run("SELECT pg_terminate_backend(" +
                         sessions[7]->text("SELECT pg_backend_pid()") + ")");
    wait_for(server_, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
             std::to_string(2 * (node_count - 1)));
    Session next(server_);
    EXPECT_EQ(next.number(lease), nodes[7]);

    sessions[3]->run("DISCARD ALL");
    EXPECT_EQ(Session(server_).number(lease), nodes[3]);
}

TEST_F(Lease, EndsWithTheServer) {
    {
        Sessions sessions;
        lease_in(sessions, server_);
        server_.kill_all();
    }
    server_.start();
    Sessions sessions;
    EXPECT_EQ(sorted(lease_in(sessions, server_)), all_nodes());
}

// An application that uses the code of the example, and what it learns of its lease.
class LeasedIdsTest : public Lease {
  protected:
    // Makes IDs until that fails, which must be with an error of this kind.
    template <typename Error>
    static std::set<Id> ids_until_error(examples::LeasedIds &ids) {
        std::set<Id> made;
        const auto deadline = std::chrono::steady_clock::now() + patience;
        EXPECT_THROW(while (std::chrono::steady_clock::now() < deadline) made.insert(ids.next()),
                     Error);
        return made;
    }

    static void store(pqxx::connection &connection, const std::set<Id> &ids) {
        std::string rows;
        for (const Id id : ids)
            rows += (rows.empty() ? "(" : ", (") + std::to_string(id) + ")";
        pqxx::nontransaction(connection).exec("INSERT INTO ids VALUES " + rows);
    }

    LeasedIdsTest() { Session(server_).run("CREATE TABLE ids (id bigint PRIMARY KEY)"); }
};

TEST_F(LeasedIdsTest, EndWithTheSession) {
    pqxx::connection connection(server_.conninfo());
    examples::LeasedIds ids(connection);
    store(connection, {ids.next()});
    const auto backend = std::to_string(connection.backendpid());
    Session(server_).run("SELECT pg_terminate_backend(" + backend + ")");
    wait_for(server_, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0");

    // The number now belongs to another session, which may make the same IDs. But the first can
    // store none of its own.
    pqxx::connection next_connection(server_.conninfo());
    examples::LeasedIds next(next_connection);
    EXPECT_EQ(next.node(), ids.node());
    std::future<std::set<Id>> lost = std::async(
        std::launch::async, [&ids] { return ids_until_error<pqxx::broken_connection>(ids); });
    std::set<Id> made;
    while (lost.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
        made.insert(next.next());
    EXPECT_THROW(store(connection, lost.get()), pqxx::broken_connection);
    EXPECT_THROW(ids.next(), pqxx::broken_connection);
    store(next_connection, made);
    EXPECT_EQ(Session(server_).number("SELECT count(*) FROM ids"), made.size() + 1);
}

TEST_F(LeasedIdsTest, EndWithABetterClaim) {
    pqxx::connection connection(server_.conninfo());
    examples::LeasedIds ids(connection);
    Session(server_).run(arrival(static_cast<int>(ids.node()), "elder"));
    ids_until_error<pqxx::sql_error>(ids);
    EXPECT_THROW(ids.next(), pqxx::sql_error);
    EXPECT_TRUE(connection.is_open());
}

} // namespace
} // namespace integration::lease_test
