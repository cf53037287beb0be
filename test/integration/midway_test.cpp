// A session is killed in the middle of nextval: gdb stops it where the tuple on the page shows what
// the WAL does not have yet, where the record is written but not on disk, and so on. The server
// recovers: nothing is half written, no lock is left, and the next ID is above every one before.
#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace integration::midway_test {
namespace {

// Whether gdb is in one of the directories where programs are looked for.
bool gdb_is_installed() {
    const char *path = std::getenv("PATH");
    std::istringstream directories(path != nullptr ? path : "");
    for (std::string directory; std::getline(directories, directory, ':');)
        if (access((directory + "/gdb").c_str(), X_OK) == 0)
            return true;
    return false;
}

// A debugger that waits for a server process to come to a function of the server, and kills it
// there.
class Assassin {
  public:
    // Returns once the trap is set, or once gdb has ended without setting it. The process goes on
    // until it enters the function or, at its end, returns from it.
    Assassin(const Server &server, pid_t victim, const std::string &function, bool at_its_end)
        : log_(server.file("gdb.log")), ready_(server.file("gdb.ready")) {
        std::filesystem::remove(log_);
        std::filesystem::remove(ready_);
        // gdb gives up a script at its first error, so that it is ready only if all went well
        // before. The server's processes send each other signals, at which gdb would stop.
        const std::filesystem::path script = server.file("gdb.script");
        std::ofstream(script) << "attach " << victim << "\n"
                              << "handle SIGUSR1 SIGUSR2 nostop noprint pass\n"
                              << "break " << function << "\n"
                              << "shell touch " << ready_.string() << "\n"
                              << "continue\n"
                              << (at_its_end ? "finish\n" : "info program\n") << "kill\n";
        // gdb must speak English, and download no debugging information.
        process_ = Process(
            {"env", "-u", "DEBUGINFOD_URLS", "LC_ALL=C", "gdb", "-nx", "-batch", "-x", script},
            {.out = log_, .err = log_}, SIGKILL);
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!ready() && !process_.wait(std::chrono::milliseconds(0))) {
            if (std::chrono::steady_clock::now() > deadline)
                throw std::runtime_error("gdb does not set its trap:\n" + read_file(log_));
            pause_between_looks();
        }
    }

    // Whether the trap is set.
    [[nodiscard]] bool ready() const { return std::filesystem::exists(ready_); }

    // Whether gdb has ended because the system does not let it look into other processes.
    [[nodiscard]] bool forbidden() const {
        return !process_.started() && !ready() &&
               read_file(log_).find("ptrace: Operation not permitted") != std::string::npos;
    }

    // Waits for gdb's end, and returns what it printed.
    std::string report() {
        if (process_.started() && !process_.wait(patience))
            return "gdb does not end:\n" + read_file(log_);
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

// The functions in the order in which nextval calls them. It calls XLogInsert in the critical
// section, with the page locked and its tuple already on the high-water mark; it calls XLogFlush
// without a lock, when the ID is on the page and not handed out yet.
constexpr std::array<Moment, 5> moments{{
    {"before the page is marked as dirty", "MarkBufferDirty", false},
    {"before the record is written", "XLogInsert", false},
    {"after the record is written", "XLogInsert", true},
    {"before the record is on disk", "XLogFlush", false},
    {"after the record is on disk", "XLogFlush", true},
}};

class Midway : public testing::TestWithParam<bool> {};

TEST_P(Midway, AKilledSessionLeavesNothingBehind) {
    if (!gdb_is_installed())
        GTEST_SKIP() << "gdb is not installed";
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
        if (assassin.forbidden())
            GTEST_SKIP() << "the system does not let gdb look into other processes:\n"
                         << assassin.report();
        ASSERT_TRUE(assassin.ready()) << assassin.report();
        EXPECT_THROW(victim.number(nextval("s")), pqxx::failure) << assassin.report();
        EXPECT_THROW(
            while (true) { greatest = std::max(greatest, witness.number(nextval("s"))); },
            pqxx::failure);
        for (const char *step : {"Breakpoint 1, ", "killed]"})
            EXPECT_NE(assassin.report().find(step), std::string::npos) << assassin.report();
        server.wait_until_it_answers();

        Session after(server);
        EXPECT_EQ(after.number("SELECT count(*) FROM pg_locks WHERE relation = 's'::regclass"), 0);
        // The tuple is as it was before, or as the record has it.
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
} // namespace integration::midway_test
