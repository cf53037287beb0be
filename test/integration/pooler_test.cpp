// pgbouncer, which lets one client after the other use the same connection to the server. No client
// ever sees the ID of another as its own.
#include "server.hpp"
#include "session.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <set>

namespace integration::pooler_test {
namespace {

const std::filesystem::path pgbouncer = "/usr/sbin/pgbouncer";

constexpr const char *undefined = "55000";

// A pooler with a single connection to the server, which all clients share.
class Pooler {
  public:
    Pooler(const Server &server, const std::string &mode, const std::string &more = "")
        : port_("6432"), socket_directory_(server.file("")) {
        const std::filesystem::path configuration = server.file("pgbouncer.ini");
        std::ofstream(configuration) << "[databases]\n"
                                     << "postgres = " << server.conninfo() << "\n"
                                     << "[pgbouncer]\n"
                                     << "unix_socket_dir = " << socket_directory_.string() << "\n"
                                     << "listen_port = " << port_ << "\n"
                                     << "auth_type = any\n"
                                     << "pool_mode = " << mode << "\n"
                                     << "default_pool_size = 1\n"
                                     // A slow machine must not make the pooler give up.
                                     << "server_connect_timeout = " << patience.count() << "\n"
                                     << "client_login_timeout = " << patience.count() << "\n"
                                     << "query_wait_timeout = " << patience.count() << "\n"
                                     << more;
        process_ = Process(
            {pgbouncer, configuration},
            {.out = server.file("pgbouncer.log"), .err = server.file("pgbouncer.log")}, SIGKILL);
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!answers()) {
            if (process_.wait(std::chrono::milliseconds(0)) ||
                std::chrono::steady_clock::now() > deadline)
                throw std::runtime_error("the pooler does not answer:\n" +
                                         read_file(server.file("pgbouncer.log")));
            pause_between_looks();
        }
    }

    [[nodiscard]] std::string conninfo() const {
        return "host=" + socket_directory_.string() + " port=" + port_ +
               " user=postgres dbname=postgres";
    }

  private:
    [[nodiscard]] bool answers() const {
        try {
            return Session(conninfo()).number("SELECT 1") == 1;
        } catch (const pqxx::broken_connection &) {
            return false;
        }
    }

    std::string port_;
    std::filesystem::path socket_directory_;
    Process process_;
};

class Pooling : public testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(pgbouncer))
            GTEST_SKIP() << "there is no " << pgbouncer.string();
        server_.emplace(1, std::vector<std::string>{"fsync = off"});
        Session session(*server_);
        session.run("CREATE EXTENSION snowflake");
        session.run("CREATE SEQUENCE s CACHE 50");
    }

    const Server &server() { return *server_; }

  private:
    std::optional<Server> server_;
};

void expect_nothing_seen(Session &session) {
    EXPECT_EQ(session.sqlstate("SELECT snowflake.currval('s')"), undefined);
    EXPECT_EQ(session.sqlstate("SELECT snowflake.lastval()"), undefined);
}

// The pooler runs DISCARD ALL when a client has left.
TEST_F(Pooling, BySessionShowsNoOtherClientsId) {
    const Pooler pooler(server(), "session", "server_reset_query = DISCARD ALL\n");
    pid_t backend = 0;
    Id id = 0;
    {
        Session one(pooler.conninfo());
        backend = one.backend();
        id = one.number("SELECT snowflake.nextval('s')");
        EXPECT_EQ(one.number("SELECT snowflake.currval('s')"), id);
        EXPECT_EQ(one.number("SELECT snowflake.lastval()"), id);
    }
    Session other(pooler.conninfo());
    ASSERT_EQ(other.backend(), backend) << "the clients do not share a connection";
    expect_nothing_seen(other);
    EXPECT_GT(other.number("SELECT snowflake.nextval('s')"), id);
}

// The pooler runs DISCARD ALL after each transaction, because server_reset_query_always is set.
TEST_F(Pooling, ByTransactionShowsNoOtherClientsId) {
    const Pooler pooler(server(), "transaction",
                        "server_reset_query = DISCARD ALL\nserver_reset_query_always = 1\n");
    Session one(pooler.conninfo());
    Session other(pooler.conninfo());
    one.run("BEGIN");
    const pid_t backend = one.backend();
    const Id id = one.number("SELECT snowflake.nextval('s')");
    EXPECT_EQ(one.number("SELECT snowflake.currval('s')"), id);
    one.run("COMMIT");

    other.run("BEGIN");
    ASSERT_EQ(other.backend(), backend) << "the clients do not share a connection";
    EXPECT_EQ(other.sqlstate("SELECT snowflake.currval('s')"), undefined);
    other.run("ROLLBACK");
    expect_nothing_seen(other);
    EXPECT_GT(other.number("SELECT snowflake.nextval('s')"), id);
    // A client does not see its own ID of an earlier transaction either.
    expect_nothing_seen(one);
}

// Three clients share one session. Each gets a number of its own, and finds out when the session
// that holds it is another.
TEST_F(Pooling, ByTransactionLeasesANumberToEachClient) {
    Session(server()).run("SELECT snowflake.reserve_nodes(900, 909)");
    const Pooler pooler(server(), "transaction");
    std::vector<std::unique_ptr<Session>> clients;
    std::vector<std::string> tokens;
    std::set<Id> nodes;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<Session>(pooler.conninfo()));
        tokens.push_back(clients.back()->text("SELECT token FROM snowflake.lease_node()"));
        nodes.insert(std::stoll(tokens.back()) & 1023);
    }
    EXPECT_EQ(nodes.size(), 3U) << "two clients have the same number";
    const auto confirm = [&](std::size_t i) {
        return "SELECT node FROM snowflake.lease_node(" + tokens[i] + ")";
    };
    for (std::size_t i = 0; i < clients.size(); ++i)
        EXPECT_TRUE(nodes.contains(clients[i]->number(confirm(i))));

    const pid_t shared = clients[0]->backend();
    ASSERT_EQ(clients[1]->backend(), shared) << "the clients do not share a connection";
    Session(server()).run("SELECT pg_terminate_backend(" + std::to_string(shared) + ", 600000)");
    Session other(pooler.conninfo());
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (other.sqlstate("SELECT 1") != "00000" && std::chrono::steady_clock::now() < deadline)
        pause_between_looks();
    for (std::size_t i = 0; i < clients.size(); ++i)
        EXPECT_EQ(Session(pooler.conninfo()).sqlstate(confirm(i)), undefined);
}

} // namespace
} // namespace integration::pooler_test
