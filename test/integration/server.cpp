// Makes, starts, stops, kills and copies PostgreSQL servers for the tests.
#include "server.hpp"

#include "session.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <mutex>
#include <pqxx/pqxx>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/shm.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace integration {

namespace {

constexpr std::string_view socket_name = "/.s.PGSQL.5432";

// Removes the settings of libpq and of the server's programs (PGHOST, PGOPTIONS, PGDATA, ..) from
// the environment. The caller has made them for other servers.
void forget_client_settings() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::vector<std::string> names;
        for (char **entry = environ; *entry != nullptr; ++entry) {
            const std::string name(*entry, std::string_view(*entry).find('='));
            if (name.starts_with("PG") && name != "PG_CONFIG")
                names.push_back(name);
        }
        for (const std::string &name : names)
            unsetenv(name.c_str());
    });
}

std::string environment(const char *name, const char *otherwise) {
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

Output run_command(const std::vector<std::string> &command,
                   const std::filesystem::path &directory) {
    const OutputFiles files{.out = directory / "program.out", .err = directory / "program.err"};
    std::filesystem::remove(files.out);
    std::filesystem::remove(files.err);
    Process process(command, files, SIGKILL);
    const std::optional<int> status = process.wait(patience);
    if (!status)
        throw std::runtime_error(command.front() + " does not end");
    return {.exit_code = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1,
            .out = read_file(files.out),
            .err = read_file(files.err)};
}

std::string find_programs(const std::string &pg_config, const std::filesystem::path &directory) {
    Output output = run_command({pg_config, "--bindir"}, directory);
    if (output.exit_code != 0)
        throw std::runtime_error("cannot run " + pg_config + " (see the variable PG_CONFIG)");
    return output.out.substr(0, output.out.find('\n'));
}

std::string last_lines(const std::string &text, int count) {
    std::size_t begin = text.size();
    while (count-- >= 0 && begin != 0 && begin != std::string::npos)
        begin = text.rfind('\n', begin - 1);
    return begin == std::string::npos ? text : text.substr(begin);
}

} // namespace

TemporaryDirectory::TemporaryDirectory() {
    std::string name = environment("TMPDIR", "/tmp") + "/snowflake-XXXXXX";
    if (name.size() + socket_name.size() >= sizeof(sockaddr_un::sun_path))
        name = "/tmp/snowflake-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("cannot make the directory " + name + " (see TMPDIR)");
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Server::Server(int node, const std::vector<std::string> &settings,
               std::vector<std::string> launcher)
    : Server(environment("PG_CONFIG", "pg_config"), node, settings, std::move(launcher)) {}

Server Server::of_version(const std::string &pg_config, int node,
                          const std::vector<std::string> &settings) {
    return {pg_config, node, settings, {}};
}

Server::Server(const std::string &pg_config, int node, const std::vector<std::string> &settings,
               std::vector<std::string> launcher)
    : launcher_(std::move(launcher)) {
    if (geteuid() == 0)
        throw std::runtime_error("PostgreSQL does not run as root: start this program as an "
                                 "ordinary user (runuser -u postgres -- ...)");
    forget_client_settings();
    programs_ = find_programs(pg_config, directory_.path());
    make_data();
    configure({"snowflake.node = " + std::to_string(node),
               // Shared memory in the data directory, so that nothing is left after a kill.
               "dynamic_shared_memory_type = mmap", "unix_socket_permissions = 0700",
               "log_line_prefix = '%m [%p] '",
               // The functions of the extension run without it. To compile a test's queries of the
               // catalog would take seconds.
               "jit = off",
               // A statement that hangs fails the test instead of hanging with it.
               "statement_timeout = '" + std::to_string(2 * patience.count()) + "s'"});
    configure(settings);
    start();
}

// Copies a data directory that initdb has made for this process before: initdb takes far longer.
// The servers of a test must differ in their system identifiers, which a copy keeps, so the
// directories take turns.
void Server::make_data() const {
    constexpr std::size_t turns = 12; // more than the servers of any test
    static const TemporaryDirectory made;
    static std::size_t servers = 0;
    const std::string version = std::filesystem::path(programs_).parent_path().filename();
    const std::filesystem::path original =
        made.path() / (version + "-" + std::to_string(servers++ % turns));
    // With --no-sync a crash of the machine may lose data; a crash of the server does not.
    if (!std::filesystem::exists(original))
        run_successfully("initdb", {"--no-sync", "-D", original, "-U", "postgres", "-A", "trust",
                                    "-E", "UTF8", "--no-locale", "--no-instructions",
                                    // They show a page that was changed while it was written out.
                                    "--data-checksums",
                                    // Small segments, so that a test can fill them.
                                    "--wal-segsize=1"});
    std::filesystem::copy(original, data(), std::filesystem::copy_options::recursive);
    std::filesystem::permissions(data(), std::filesystem::perms::owner_all);
}

Server Server::standby_of(const Server &primary, const std::vector<std::string> &settings,
                          const std::vector<std::string> &launcher) {
    return {Copy{.original = primary, .standby = true}, settings, launcher};
}

Server Server::copy_of(const Server &original, const std::vector<std::string> &settings) {
    return {Copy{.original = original, .standby = false}, settings, {}};
}

Server::Server(Copy copy, const std::vector<std::string> &settings,
               std::vector<std::string> launcher)
    : programs_(copy.original.programs_), launcher_(std::move(launcher)) {
    std::vector<std::string> arguments{"-d",   copy.original.conninfo(), "-D",
                                       data(), "--checkpoint=fast",      "--no-sync"};
    if (copy.standby)
        arguments.emplace_back("--write-recovery-conf");
    run_successfully("pg_basebackup", arguments);
    configure(settings);
    start();
}

Server Server::restored_from(const std::filesystem::path &backup, const Server &original,
                             const std::vector<std::string> &settings) {
    return {Restore{.backup = backup, .original = original}, settings};
}

Server::Server(Restore restore, const std::vector<std::string> &settings)
    : programs_(restore.original.programs_) {
    std::filesystem::copy(restore.backup, data(), std::filesystem::copy_options::recursive);
    std::filesystem::permissions(data(), std::filesystem::perms::owner_all);
    configure(settings);
    const std::ofstream recover(data() / "recovery.signal");
    start();
}

Server::~Server() {
    try {
        if (testing::Test::HasFailure() || std::uncaught_exceptions() > 0)
            std::cerr << "The end of a server's log:" << last_lines(read_file(file("log")), 60)
                      << '\n';
        if (postmaster_.started()) {
            // Stop it at once, without a checkpoint: its directory is removed anyway.
            postmaster_.signal(SIGQUIT);
            if (!postmaster_.wait(patience))
                kill_all();
        }
        remove_shared_memory();
    } catch (const std::exception &error) {
        std::cerr << "A server was not stopped properly: " << error.what() << '\n';
    }
}

void Server::configure(const std::vector<std::string> &settings) const {
    std::ofstream file(data() / "postgresql.conf", std::ios::app);
    for (const std::string &setting : settings)
        file << setting << '\n';
}

void Server::start() {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!launch()) {
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the shared memory of a killed server stays in use");
        pause_between_looks();
    }
}

// Starts the postmaster, and waits until it answers. Returns false if processes of a killed one
// still use its shared memory.
bool Server::launch() {
    const std::size_t old_log = read_file(file("log")).size();
    std::vector<std::string> command = launcher_;
    command.insert(command.end(), {programs_ + "/postgres", "-D", data(), "-k", directory_.path(),
                                   "-p", "5432", "-c", "listen_addresses="});
    postmaster_ = Process(command, {.out = file("log"), .err = file("log")}, SIGQUIT);

    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!answers()) {
        if (postmaster_.wait(std::chrono::milliseconds(0))) {
            const std::string log = read_file(file("log")).substr(old_log);
            if (log.find("pre-existing shared memory block") != std::string::npos)
                return false;
            throw std::runtime_error("the server does not start:\n" + log);
        }
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the server does not answer");
        pause_between_looks();
    }
    return true;
}

bool Server::answers() const {
    try {
        const pqxx::connection connection(conninfo());
        return connection.is_open();
    } catch (const pqxx::broken_connection &) {
        return false;
    }
}

void Server::stop() {
    postmaster_.signal(SIGINT);
    if (!postmaster_.wait(patience))
        throw std::runtime_error("the server does not stop");
}

void Server::kill_all() {
    postmaster_.freeze();
    const std::vector<ProcessId> children = children_of(postmaster_.pid());
    // No other process can have got one of these numbers meanwhile: a number is free only after the
    // parent, which stands still, has collected the child.
    for (const ProcessId &child : children)
        kill(child.pid, SIGKILL);
    postmaster_.signal(SIGKILL);
    postmaster_.wait(patience);

    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (const ProcessId &child : children) {
        while (running(child)) {
            if (std::chrono::steady_clock::now() > deadline)
                throw std::runtime_error("a killed process of the server does not end");
            pause_between_looks();
        }
    }
}

void Server::kill_postmaster() {
    postmaster_.signal(SIGKILL);
    postmaster_.wait(patience);
}

void Server::wait_until_it_answers() {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!answers()) {
        if (postmaster_.wait(std::chrono::milliseconds(0)))
            throw std::runtime_error("the server has ended");
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the server does not answer");
        pause_between_looks();
    }
}

void Server::promote() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
    Session session(*this);
    if (session.text("SELECT pg_promote(true, " + std::to_string(seconds) + ")") != "t")
        throw std::runtime_error("the standby was not promoted");
}

void Server::upgrade_from(const Server &before) {
    stop();
    // pg_upgrade writes into the current directory.
    const std::filesystem::path directory = std::filesystem::current_path();
    std::filesystem::current_path(file(""));
    run_successfully("pg_upgrade", {"-b", before.programs(), "-B", programs(), "-d", before.data(),
                                    "-D", data(), "-U", "postgres", "-s", file(""), "--no-sync"});
    std::filesystem::current_path(directory);
    start();
}

void Server::rewind_to_follow(const Server &successor) {
    // pg_rewind finds out that the successor was promoted only after a checkpoint there.
    Session(successor).run("CHECKPOINT");
    run_successfully("pg_rewind", {"-D", data(), "--source-server=" + successor.conninfo(),
                                   "--write-recovery-conf", "--no-sync"});
    start();
}

// Removes the small block of System V shared memory that a killed server leaves behind. The seventh
// line of postmaster.pid has its number.
void Server::remove_shared_memory() const {
    std::ifstream lock_file(data() / "postmaster.pid");
    std::string line;
    for (int number = 1; number < 7; ++number)
        std::getline(lock_file, line);
    unsigned long key = 0;
    int block = 0;
    if (lock_file >> key >> block)
        shmctl(block, IPC_RMID, nullptr);
}

std::string Server::conninfo(const std::string &database) const {
    return "host=" + directory_.path().string() + " port=5432 user=postgres dbname=" + database;
}

std::filesystem::path Server::file(const std::string &name) const {
    return directory_.path() / name;
}

Output Server::run(const std::string &program, const std::vector<std::string> &arguments) const {
    std::vector<std::string> command{programs_ + "/" + program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_command(command, directory_.path());
}

void Server::run_successfully(const std::string &program,
                              const std::vector<std::string> &arguments) const {
    const Output output = run(program, arguments);
    if (output.exit_code != 0) {
        std::ostringstream message;
        message << program << " failed with exit code " << output.exit_code << ":\n"
                << output.err << output.out;
        throw std::runtime_error(message.str());
    }
}

} // namespace integration
