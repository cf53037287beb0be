// A PostgreSQL server of a test's own: made in a fresh directory, reachable only through a Unix
// socket in it, and gone with everything that belongs to it when the object is.
#pragma once

#include "process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace integration {

// What a client program printed, and how it ended.
struct Output {
    int exit_code;
    std::string out;
    std::string err;
};

// A directory that is removed with the object. Its path is short enough for a Unix socket.
class TemporaryDirectory {
  public:
    TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
    TemporaryDirectory(TemporaryDirectory &&) = delete;
    TemporaryDirectory &operator=(TemporaryDirectory &&) = delete;
    ~TemporaryDirectory();

    [[nodiscard]] const std::filesystem::path &path() const { return path_; }

  private:
    std::filesystem::path path_;
};

class Server {
  public:
    // Makes and starts a server with this snowflake.node; settings are lines of postgresql.conf.
    // The words of launcher, if any, come before the command that starts the server.
    explicit Server(int node, const std::vector<std::string> &settings = {},
                    std::vector<std::string> launcher = {});

    // The same with the programs of another PostgreSQL, the one of a pg_config.
    static Server of_version(const std::string &pg_config, int node,
                             const std::vector<std::string> &settings);

    // Copies a running server and starts the copy as its streaming standby.
    static Server standby_of(const Server &primary, const std::vector<std::string> &settings = {});

    // Copies a running server and starts the copy as a server of its own.
    static Server copy_of(const Server &original, const std::vector<std::string> &settings = {});

    // Starts a server in a copy of this directory, which pg_basebackup has made of an original, and
    // recovers it from archived WAL as the settings say.
    static Server restored_from(const std::filesystem::path &backup, const Server &original,
                                const std::vector<std::string> &settings);

    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;
    Server(Server &&) = delete;
    Server &operator=(Server &&) = delete;

    // Where the test has failed, prints the end of the server's log.
    ~Server();

    // Starts it and waits until it answers; a crash before is recovered from.
    void start();

    // Fast shutdown: the server writes a checkpoint and ends.
    void stop();

    // A crash: every process of the server is killed, none of them learns of it before.
    void kill_all();

    // Kills the postmaster alone: its children end when they find out. start() waits for them.
    void kill_postmaster();

    // Waits until it answers again after a crash of one of its processes.
    void wait_until_it_answers();

    // Adds lines to postgresql.conf, where later ones win, for the next start.
    void configure(const std::vector<std::string> &settings) const;

    // Makes a standby a primary.
    void promote() const;

    // Makes a server that is down, and was the primary before, the standby of its successor.
    void rewind_to_follow(const Server &successor);

    [[nodiscard]] std::string conninfo(const std::string &database = "postgres") const;

    // A file in the server's directory, and its data directory.
    [[nodiscard]] std::filesystem::path file(const std::string &name) const;
    [[nodiscard]] std::filesystem::path data() const { return file("data"); }

    // The directory of the server's programs.
    [[nodiscard]] const std::string &programs() const { return programs_; }

    // Runs a client program of the server's version to its end.
    [[nodiscard]] Output run(const std::string &program,
                             const std::vector<std::string> &arguments) const;

    // The same, for a program that has to succeed.
    void run_successfully(const std::string &program,
                          const std::vector<std::string> &arguments) const;

  private:
    Server(const std::string &pg_config, int node, const std::vector<std::string> &settings,
           std::vector<std::string> launcher);
    struct Copy {
        const Server &original;
        bool standby;
    };
    Server(Copy copy, const std::vector<std::string> &settings);
    struct Restore {
        const std::filesystem::path &backup;
        const Server &original;
    };
    Server(Restore restore, const std::vector<std::string> &settings);

    [[nodiscard]] bool answers() const;
    bool launch();
    void remove_shared_memory() const;

    // In this order: the directory goes after the process that works in it.
    TemporaryDirectory directory_;
    std::string programs_;
    std::vector<std::string> launcher_;
    Process postmaster_;
};

} // namespace integration
