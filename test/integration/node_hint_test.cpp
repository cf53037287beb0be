// A user who has set the number of another instance gets rid of it by doing what the error's hint
// says, wherever the number was set.
#include "registry.hpp"
#include "server.hpp"
#include "session.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace integration::node_hint_test {
namespace {

const std::string make_id = "SELECT snowflake.nextval()";

std::string hint_of(Session &session) {
    try {
        session.run(make_id);
    } catch (const pqxx::sql_error &error) {
        const std::string message = error.what();
        const std::string begin = "HINT:  ";
        const std::size_t at = message.find(begin);
        return at == std::string::npos ? message : message.substr(at + begin.size());
    }
    return "no error";
}

// Removes a prefix, if it is there.
bool take(std::string &text, const std::string &prefix) {
    if (text.rfind(prefix, 0) != 0)
        return false;
    text.erase(0, prefix.size());
    return true;
}

class NodeHint : public testing::Test {
  protected:
    static void prepare(const Server &server) {
        Session session(server);
        session.run("CREATE EXTENSION snowflake");
        session.run(arrival(7, "elder"));
    }

    void connect(const Server &server, const std::string &more = "") {
        session_ = std::make_unique<Session>(server.conninfo() + more);
    }

    // Runs the commands that a hint names, those for one session at once, as psql -c does.
    void follow(const Server &server, std::string hint) {
        EXPECT_TRUE(take(hint, "To claim a free one, as a superuser, run: ")) << hint;
        hint.erase(hint.find(" If the other is gone for good, or unrelated"));
        const std::string next_session = " and in a new session: ";
        const std::size_t end = hint.find(next_session);
        session_->run(hint.substr(0, end));
        if (end != std::string::npos) {
            connect(server);
            session_->run(hint.substr(end + next_session.size()));
        }
    }

    void expect_a_way_out(const Server &server, const std::string &command) {
        const std::string hint = hint_of(*session_);
        SCOPED_TRACE(hint);
        EXPECT_NE(hint.find(command), std::string::npos);
        follow(server, hint);
        EXPECT_EQ(session_->sqlstate(make_id), "00000");
        session_->run("SELECT snowflake.release_node()");
    }

    std::unique_ptr<Session> session_; // NOLINT(*-non-private-member-variables-in-classes)
};

TEST_F(NodeHint, HelpsWhereverTheNumberIsSet) {
    const Server server(0);
    prepare(server);
    const std::string setting = " SET snowflake.node = 7";
    for (const char *whose : {"SYSTEM", "DATABASE postgres", "ROLE postgres",
                              "ROLE postgres IN DATABASE postgres", "ROLE ALL"}) {
        const std::string alter = std::string("ALTER ") + whose;
        Session(server).run(alter + setting);
        Session(server).run("SELECT pg_reload_conf()");
        wait_for(server, "SHOW snowflake.node", "7");
        connect(server);
        const bool in_file = std::string(whose) == "SYSTEM";
        expect_a_way_out(server, in_file ? "ALTER DATABASE postgres SET snowflake.node = 0;"
                                         : alter + " RESET snowflake.node;");
        wait_for(server, "SHOW snowflake.node", "0");
        Session(server).run(alter + " RESET snowflake.node");
        Session(server).run("ALTER DATABASE postgres RESET snowflake.node");
        Session(server).run("SELECT pg_reload_conf()");
        wait_for(server, "SHOW snowflake.node", "0");
    }
    connect(server);
    session_->run("SET snowflake.node = 7");
    expect_a_way_out(server, "run: RESET snowflake.node;");
}

TEST_F(NodeHint, NamesWhoLoggedIn) {
    const Server server(0);
    prepare(server);
    Session(server).run(R"(CREATE ROLE "o'd""d" SUPERUSER LOGIN)");
    Session(server).run(R"(ALTER ROLE "o'd""d" SET snowflake.node = 7)");
    connect(server, R"( user='o\'d"d')");
    session_->run("SET SESSION AUTHORIZATION postgres");
    expect_a_way_out(server, R"(ALTER ROLE "o'd""d" RESET snowflake.node;)");
}

TEST_F(NodeHint, HelpsWhereTheNumberStandsInAFile) {
    const Server server(7); // in postgresql.conf
    prepare(server);
    connect(server);
    expect_a_way_out(server, "ALTER DATABASE postgres SET snowflake.node = 0;");
}

TEST_F(NodeHint, NamesTheOptionsOfTheConnection) {
    const Server server(0);
    prepare(server);
    connect(server, " options='-c snowflake.node=7'");
    EXPECT_NE(hint_of(*session_).find("connect without snowflake.node"), std::string::npos);
}

TEST_F(NodeHint, HelpsWhereTheNumberStandsOnTheCommandLine) {
    const Server server(0, {}, {"sh", "-c", "exec \"$@\" -c snowflake.node=7", "sh"});
    prepare(server);
    connect(server);
    expect_a_way_out(server, "ALTER DATABASE postgres SET snowflake.node = 0;");
}

} // namespace
} // namespace integration::node_hint_test
