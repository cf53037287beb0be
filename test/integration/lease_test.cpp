// Node numbers that sessions have for as long as they are connected: never two the same one, and
// free again when the session is gone, however it went.
#include "process.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <thread>

namespace integration {
namespace {

constexpr int first_node = 900;
constexpr int node_count = 20;
const std::string lease = "SELECT snowflake.lease_node()";

using Sessions = std::vector<std::unique_ptr<Session>>;

// Leases a number in each of so many new sessions, all at once.
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
             std::to_string(node_count - 1));
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

} // namespace
} // namespace integration
