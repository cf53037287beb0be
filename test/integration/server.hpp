// A PostgreSQL server that belongs to one test. It is made in a new directory, and reached only
// through a Unix socket there. The server and its directory are removed with the object.
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

    // Does the same with the programs of another PostgreSQL, that of a pg_config.
    static Server of_version(const std::string &pg_config, int node,
                             const std::vector<std::string> &settings);

    // Copies a running server and starts the copy as its streaming standby.
    static Server standby_of(const Server &primary, const std::vector<std::string> &settings = {},
                             const std::vector<std::string> &launcher = {});

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

    // Stops the server. If the test has failed, prints the end of the server's log.
    ~Server();

    // Starts the server, which recovers if it has crashed, and waits until it answers.
    void start();

    // Stops the server by a fast shutdown: it writes a checkpoint and ends.
    void stop();

    // Crashes the server: kills all its processes, none of which notices before.
    void kill_all();

    // Kills the postmaster alone. Its children end when they notice; start() waits for that.
    void kill_postmaster();

    // Waits until the server answers again after a crash of one of its processes.
    void wait_until_it_answers();

    // Adds lines to postgresql.conf for the next start. A later line overrides an earlier one.
    void configure(const std::vector<std::string> &settings) const;

    // Makes a standby a primary.
    void promote() const;

    // Makes a server that is down, and was the primary before, the standby of its successor.
    void rewind_to_follow(const Server &successor);

    // Takes over the databases of a stopped server, by pg_upgrade. This one must be new.
    void upgrade_from(const Server &before);

    [[nodiscard]] std::string conninfo(const std::string &database = "postgres") const;

    // A file in the server's directory, and its data directory.
    [[nodiscard]] std::filesystem::path file(const std::string &name) const;
    [[nodiscard]] std::filesystem::path data() const { return file("data"); }

    // The directory of the server's programs.
    [[nodiscard]] const std::string &programs() const { return programs_; }

    // Runs a client program of the server's version to its end.
    [[nodiscard]] Output run(const std::string &program,
                             const std::vector<std::string> &arguments) const;

    // Does the same with a program that has to succeed.
    void run_successfully(const std::string &program,
                          const std::vector<std::string> &arguments) const;

  private:
    Server(const std::string &pg_config, int node, const std::vector<std::string> &settings,
           std::vector<std::string> launcher);
    struct Copy {
        const Server &original;
        bool standby;
    };
    Server(Copy copy, const std::vector<std::string> &settings, std::vector<std::string> launcher);
    struct Restore {
        const std::filesystem::path &backup;
        const Server &original;
    };
    Server(Restore restore, const std::vector<std::string> &settings);

    void make_data() const;
    [[nodiscard]] bool answers() const;
    bool launch();
    void remove_shared_memory() const;

    // The order matters: the directory is removed after the process that works in it.
    TemporaryDirectory directory_;
    std::string programs_;
    std::vector<std::string> launcher_;
    Process postmaster_;
};

} // namespace integration
