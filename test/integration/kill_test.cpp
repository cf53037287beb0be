// SIGKILL under load, at random moments: of every kind of process, under every combination of the
// settings that decide what survives a crash. Clients make IDs of all kinds of sequences in all
// ways. After each crash every ID that they got is distinct, above those of the rounds before, and
// below the next.
#include "load.hpp"
#include "server.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

namespace integration::kill_test {
namespace {

enum class Victim {
    everything,
    a_backend,
    the_checkpointer,
    the_postmaster
};

// A stride of 4096 takes a whole millisecond, so that the sequence runs ahead of the clock by
// itself and passes its high-water mark every 1000 IDs. An unlogged sequence starts anew after a
// crash: the clock keeps its IDs above.
const std::array<Sequence, 7> sequences{{
    {"in_time", "CREATE SEQUENCE in_time", 1, false},
    {"plain", "CREATE SEQUENCE plain", 1, true},
    {"cached", "CREATE SEQUENCE cached CACHE 50", 1, true},
    {"wide", "CREATE SEQUENCE wide INCREMENT 4096", 4096, false},
    {"wide_cached", "CREATE SEQUENCE wide_cached INCREMENT 1000 CACHE 50", 1000, false},
    {"unlogged", "CREATE UNLOGGED SEQUENCE unlogged", 1, false},
    {"snowflake.id_seq",
     "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval(),"
     " item text)",
     1, false},
}};

// Chooses how a client commits: it waits for the disk at the end of each statement, or does not
// wait, or never commits.
std::vector<std::string> any_way(Random &random) {
    switch (between(random, 0, 2)) {
    case 0:
        return {"SET synchronous_commit = on"};
    case 1:
        return {"SET synchronous_commit = off"};
    default:
        return {"BEGIN"};
    }
}

std::string insert(int rows) {
    return "INSERT INTO orders (item) SELECT repeat('x', 500) FROM generate_series(1, " +
           std::to_string(rows) + ") RETURNING id";
}

// Makes the clients' tasks. For every sequence one client makes one ID after the other, and another
// reserves many at once; two clients insert into the table; and one has a temporary sequence.
std::vector<Task> tasks(Random &random) {
    std::vector<Task> all;
    for (const Sequence &sequence : sequences) {
        Task task{.sequence = sequence.name, .stride = sequence.stride};
        const bool inserts = sequence.name == "snowflake.id_seq";
        if (inserts)
            task.query = insert;
        task.preparation = any_way(random);
        all.push_back(task);
        if (!inserts)
            task.query = [name = sequence.name](int rows) { return nextvals(name, rows); };
        task.preparation = any_way(random);
        all.push_back(task);
    }
    all.push_back({.sequence = "pg_temp.own", .preparation = {"CREATE TEMPORARY SEQUENCE own"}});
    return all;
}

// Makes one of all combinations of the settings that matter to recovery.
std::vector<std::string> settings(int combination, Random &random) {
    const bool minimal = (combination & 2) != 0;
    return {
        std::string("full_page_writes = ") + ((combination & 1) != 0 ? "off" : "on"),
        std::string("wal_level = ") + (minimal ? "minimal" : "replica"),
        std::string("max_wal_senders = ") + (minimal ? "0" : "10"),
        // Two segments are filled within a round, and start a checkpoint.
        std::string("max_wal_size = ") + (between(random, 0, 1) == 0 ? "2MB" : "1GB"),
        // The WAL writer works as usual, or hardly ever writes: then a crash loses all WAL that no
        // session has flushed.
        "wal_writer_flush_after = 1GB",
        std::string("wal_writer_delay = ") + (between(random, 0, 1) == 0 ? "200ms" : "10s"),
    };
}

void kill_one(pid_t process) {
    ASSERT_EQ(kill(process, SIGKILL), 0) << "of process " << process;
}

// Kills the victim, and waits until all clients have noticed and the server answers again.
void crash(Server &server, Victim victim, const Load &load, Random &random) {
    const auto &clients = load.clients();
    const pid_t checkpointer = static_cast<pid_t>(Session(server).number(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"));
    switch (victim) {
    case Victim::everything:
        server.kill_all();
        break;
    case Victim::the_postmaster:
        server.kill_postmaster();
        break;
    case Victim::the_checkpointer:
        kill_one(checkpointer);
        break;
    case Victim::a_backend:
        kill_one(clients
                     .at(static_cast<std::size_t>(
                         between(random, 0, static_cast<int>(clients.size()) - 1)))
                     ->backend());
        break;
    }
    for (const auto &client : clients)
        EXPECT_NE(client->error(), "") << "the client outlived its server";
    if (victim == Victim::everything || victim == Victim::the_postmaster)
        server.start();
    else
        server.wait_until_it_answers();
}

// Checks that the next ID of each sequence is above all before, and that the tuple shows it.
void expect_to_go_on(const Server &server, Book &book) {
    Session session(server);
    for (const Sequence &sequence : sequences) {
        const Id next = session.number(nextval(sequence.name));
        book.enter(sequence.name, {next}, sequence.stride);
        EXPECT_EQ(session.text("SELECT is_called AND last_value >= " + std::to_string(next) +
                               " AND log_cnt >= " + (sequence.name == "unlogged" ? "-1" : "0") +
                               " FROM " + sequence.name),
                  "t")
            << "of " << sequence.name;
    }
}

// Checks that since the log had this length only the crash has ended what clients did. A CHECKPOINT
// that a session waits for may fail, when the checkpointer is killed.
void expect_no_error_in_the_log(const Server &server, std::size_t since) {
    const auto holds = [](const std::string &line, const char *text) {
        return line.find(text) != std::string::npos;
    };
    std::istringstream log(read_file(server.file("log")).substr(since));
    for (std::string line; std::getline(log, line);) {
        const bool error = holds(line, "ERROR: ") && !holds(line, "checkpoint request failed");
        if (error || holds(line, "PANIC: "))
            ADD_FAILURE() << line;
    }
}

TEST(Kill, LosesNoId) {
    constexpr int victims = 4;
    constexpr int combinations = 4;
    Random random = make_random();
    // A killed process loses nothing that it has written, synchronized or not.
    Server server(1, {"autovacuum = off", "fsync = off"});
    create_sequences(server, sequences);

    Book book;
    const int crashes = rounds(victims * combinations);
    for (int round = 0; round < crashes; ++round) {
        const auto victim = static_cast<Victim>(round % victims);
        const std::vector<std::string> lines = settings(round / victims, random);
        std::string trace = "round " + std::to_string(round);
        for (const std::string &line : lines)
            trace += ", " + line;
        SCOPED_TRACE(trace);

        const std::size_t log_before = std::filesystem::file_size(server.file("log"));
        server.configure(lines);
        server.stop();
        server.start();
        std::unique_ptr<Repeater> checkpoints;
        const Load load(server, tasks(random), random);
        if (between(random, 0, 1) == 0)
            checkpoints = std::make_unique<Repeater>(server, "CHECKPOINT");
        load.wait_for_ids(between(random, 1, 1000));
        crash(server, victim, load, random);
        load.enter_in(book);
        expect_to_go_on(server, book);
        expect_no_error_in_the_log(server, log_before);
        if (HasFailure())
            return;
    }
    std::cout << crashes << " crashes, " << book.size() << " IDs\n";
}

} // namespace
} // namespace integration::kill_test
