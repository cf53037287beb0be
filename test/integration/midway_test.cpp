// A session is killed in the middle of nextval: gdb stops it where the tuple on the page shows what
// the WAL does not have yet, where the record is written but not on disk, and so on. The server
// recovers; nothing is half written, no lock is left, and IDs go on above all.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

namespace integration {
namespace {

// A debugger that waits for a server process to come to a function of the server, and kills it
// there.
class Assassin {
  public:
    // Returns once the trap is set; the process goes on until it comes to the function, or to where
    // it returns from it.
    Assassin(const Server &server, pid_t victim, const std::string &function, bool at_its_end)
        : log_(server.file("gdb.log")), ready_(server.file("gdb.ready")) {
        std::filesystem::remove(ready_);
        std::vector<std::string> command{"gdb", "-nx", "-batch", "-p", std::to_string(victim)};
        for (const std::string &line :
             {std::string("break ") + function, "shell touch " + ready_.string(),
              std::string("continue"), std::string(at_its_end ? "finish" : "info program"),
              std::string("kill")})
            command.insert(command.end(), {"-ex", line});
        process_ = Process(command, {.out = log_, .err = log_}, SIGKILL);
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!std::filesystem::exists(ready_) && !process_.wait(std::chrono::milliseconds(0)) &&
               std::chrono::steady_clock::now() < deadline)
            pause_between_looks();
    }

    // Whether gdb is there and may look into other processes.
    [[nodiscard]] bool works() const {
        const std::string log = read_file(log_);
        return std::filesystem::exists(ready_) && log.find("Breakpoint 1 at") != std::string::npos;
    }

    // Waits until it is done; what it printed.
    std::string report() {
        if (process_.started() && !process_.wait(patience))
            return "gdb does not end";
        return read_file(log_);
    }

  private:
    std::filesystem::path log_;
    std::filesystem::path ready_;
    Process process_;
};

struct Moment {
    const char *name;
    const char *function;
    bool at_its_end;
};

// In the order in which nextval comes by. XLogInsert is called in the critical section, with the
// page locked and its tuple on the high-water mark already; XLogFlush without a lock, with the ID
// on the page and not handed out.
constexpr std::array<Moment, 5> moments{{
    {"before the page is marked as dirty", "MarkBufferDirty", false},
    {"before the record is written", "XLogInsert", false},
    {"after the record is written", "XLogInsert", true},
    {"before the record is on disk", "XLogFlush", false},
    {"after the record is on disk", "XLogFlush", true},
}};

class Midway : public testing::TestWithParam<bool> {};

TEST_P(Midway, AKilledSessionLeavesNothingBehind) {
    const bool ahead = GetParam();
    Server server(1, {"autovacuum = off", "fsync = off", "wal_writer_delay = 10s"});
    Session(server).run("CREATE EXTENSION snowflake");
    Session(server).run("CREATE SEQUENCE s");
    if (ahead)
        Session(server).run(setval("s", hour_ahead()));

    for (const Moment &moment : moments) {
        SCOPED_TRACE(moment.name);
        Session victim(server);
        Session witness(server);
        Id greatest = victim.number(nextval("s"));
        greatest = std::max(greatest, witness.number(nextval("s")));
        // The next ID needs a record.
        witness.run("CHECKPOINT");

        Assassin assassin(server, victim.backend(), moment.function, moment.at_its_end);
        if (!assassin.works())
            GTEST_SKIP() << "gdb is not there, or must not look into other processes:\n"
                         << assassin.report();
        EXPECT_THROW(victim.number(nextval("s")), pqxx::failure) << assassin.report();
        EXPECT_THROW(
            while (true) { greatest = std::max(greatest, witness.number(nextval("s"))); },
            pqxx::failure);
        EXPECT_NE(assassin.report().find("killed]"), std::string::npos) << assassin.report();
        server.wait_until_it_answers();

        Session after(server);
        EXPECT_EQ(after.number("SELECT count(*) FROM pg_locks WHERE relation = 's'::regclass"), 0);
        // As it was before, or as the record has it.
        EXPECT_EQ(after.text("SELECT is_called AND (last_value = " + std::to_string(greatest) +
                             " OR log_cnt = 0 AND last_value > " + std::to_string(greatest) +
                             ") FROM s"),
                  "t");
        EXPECT_GT(after.number(nextval("s")), greatest);
    }
}

INSTANTIATE_TEST_SUITE_P(Clock, Midway, testing::Bool(), [](const auto &instance) {
    return std::string(instance.param ? "SequenceAhead" : "SequenceInTime");
});

} // namespace
} // namespace integration
