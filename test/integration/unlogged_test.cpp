// An unlogged sequence becomes a logged one. From then on a crash loses no ID, although the
// sequence ran ahead of the clock while nothing of it was logged.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>

namespace integration::unlogged_test {
namespace {

// What two sessions do between making the unlogged sequence s and the crash.
struct Step {
    bool second_session;
    std::string statement;
};

struct History {
    const char *name;
    std::string create;
    Id stride;
    std::vector<Step> steps;
};

std::vector<History> histories() {
    const std::string one = nextval("s");
    const std::string some = nextval("s", 20);
    const std::string set_logged = "ALTER SEQUENCE s SET LOGGED";
    const std::string unlogged = "CREATE UNLOGGED SEQUENCE s ";
    const std::string table = "CREATE UNLOGGED TABLE t (id bigint DEFAULT 0);"
                              "CREATE UNLOGGED SEQUENCE s OWNED BY t.id";
    return {
        {"nothing after it", unlogged, 1, {{false, some}, {false, set_logged}}},
        {"nothing before it", unlogged, 1, {{false, set_logged}, {false, "BEGIN"}, {false, one}}},
        {"one after it",
         unlogged,
         1,
         {{false, some}, {false, set_logged}, {false, "BEGIN"}, {false, one}}},
        {"many after it",
         unlogged,
         1,
         {{false, one}, {false, set_logged}, {false, "BEGIN"}, {false, some}, {false, some}}},
        {"strides",
         unlogged + "INCREMENT 4096",
         4096,
         {{false, one}, {false, set_logged}, {false, "BEGIN"}, {false, nextval("s", 990)}}},
        {"a lease",
         unlogged + "CACHE 50",
         1,
         {{false, one}, {false, set_logged}, {false, "BEGIN"}, {false, some}}},
        {"a session that knew it unlogged",
         unlogged + "CACHE 50",
         1,
         {{true, one}, {false, one}, {false, set_logged}, {true, "BEGIN"}, {true, some}}},
        {"there and back again",
         "CREATE SEQUENCE s",
         1,
         {{false, one},
          {false, "ALTER SEQUENCE s SET UNLOGGED"},
          {false, some},
          {false, set_logged},
          {false, "BEGIN"},
          {false, one}}},
        {"with its table",
         table,
         1,
         {{false, some}, {false, "ALTER TABLE t SET LOGGED"}, {false, "BEGIN"}, {false, one}}},
    };
}

TEST(UnloggedSequence, LosesNoIdOnceItIsLogged) {
    // A killed process loses nothing that it has written, synchronized or not.
    Server server(1, {"wal_writer_delay = 10s", "autovacuum = off", "fsync = off"});
    if (Session(server).number("SHOW server_version_num") < 150000)
        GTEST_SKIP() << "this server has no unlogged sequences";
    Session(server).run("CREATE EXTENSION snowflake");

    for (const History &history : histories()) {
        SCOPED_TRACE(history.name);
        const Id start = hour_ahead();
        std::vector<Id> ids;
        {
            Session first(server);
            first.run("DROP TABLE IF EXISTS t; DROP SEQUENCE IF EXISTS s");
            first.run(history.create);
            first.run(setval("s", start));
            Session second(server);
            for (const Step &step : history.steps)
                for (const Id id : (step.second_session ? second : first).numbers(step.statement))
                    ids.push_back(id);
            server.kill_all();
        }
        server.start();
        EXPECT_TRUE(disjoint(ids, history.stride));
        EXPECT_GT(*std::min_element(ids.begin(), ids.end()), start);

        const Id next = Session(server).number(nextval("s"));
        EXPECT_GE(next, *std::max_element(ids.begin(), ids.end()) + history.stride);
    }
}

} // namespace
} // namespace integration::unlogged_test
