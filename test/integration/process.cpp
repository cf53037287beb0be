// Child processes: fork and exec, signals, waiting, and a reader of /proc/PID/stat.
#include "process.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace integration {

namespace {

[[noreturn]] void fail(const std::string &what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// A file descriptor that closes itself.
class OpenFile {
  public:
    explicit OpenFile(const std::filesystem::path &path)
        : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0)
            fail("cannot open " + path.string());
    }
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;
    ~OpenFile() { close(descriptor_); }

    [[nodiscard]] int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

// Prepares the child between fork and exec. The parent may have several threads, so it calls only
// functions that are safe in a signal handler.
[[noreturn]] void become(char *const *arguments, int out, int err, int death_signal, pid_t parent) {
    constexpr int cannot_execute = 127;
    prctl(PR_SET_PDEATHSIG, death_signal);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    // If the parent ended before prctl() took effect, no signal will come: then end at once.
    if (getppid() != parent || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        _exit(cannot_execute);
    execvp(arguments[0], arguments);
    _exit(cannot_execute);
}

// The fields of /proc/PID/stat that are used here.
struct Stat {
    char state;
    pid_t parent;
    unsigned long long start_time;
};

std::optional<Stat> stat_of(pid_t pid) {
    const std::string line = read_file("/proc/" + std::to_string(pid) + "/stat");
    // The second field, the name in parentheses, may itself hold spaces and parentheses.
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos)
        return std::nullopt;

    std::istringstream fields(line.substr(name_end + 1));
    Stat stat{};
    fields >> stat.state >> stat.parent;
    // The parent is field 4, the start time field 22.
    std::string skipped;
    for (int field = 5; field < 22; ++field)
        fields >> skipped;
    fields >> stat.start_time;
    return fields ? std::optional(stat) : std::nullopt;
}

} // namespace

Process::Process(const std::vector<std::string> &command, const OutputFiles &files,
                 int death_signal) {
    std::vector<std::string> words = command;
    std::vector<char *> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);

    const OpenFile out(files.out);
    const OpenFile err(files.err);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0)
        fail("cannot fork");
    if (child == 0)
        become(arguments.data(), out.descriptor(), err.descriptor(), death_signal, parent);
    pid_ = child;
}

Process::Process(Process &&other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

Process &Process::operator=(Process &&other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
}

Process::~Process() {
    if (started()) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

void Process::signal(int number) const {
    if (started() && kill(pid_, number) != 0)
        fail("cannot send a signal");
}

std::optional<int> Process::wait(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
        int status = 0;
        const pid_t ended = waitpid(pid_, &status, WNOHANG);
        if (ended < 0 && errno != EINTR)
            fail("cannot wait for a process");
        if (ended > 0) {
            pid_ = 0;
            return status;
        }
        if (std::chrono::steady_clock::now() >= deadline)
            return std::nullopt;
        pause_between_looks();
    }
}

void Process::freeze() {
    signal(SIGSTOP);
    int status = 0;
    while (waitpid(pid_, &status, WUNTRACED) < 0)
        if (errno != EINTR)
            fail("cannot wait for a process to stop");
    if (!WIFSTOPPED(status)) {
        pid_ = 0;
        throw std::runtime_error("a process ended that was to be stopped");
    }
}

std::vector<ProcessId> children_of(pid_t parent) {
    std::vector<ProcessId> children;
    for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); }))
            continue;
        const auto pid = static_cast<pid_t>(std::stol(name));
        const std::optional<Stat> stat = stat_of(pid);
        if (stat && stat->parent == parent)
            children.push_back({.pid = pid, .start_time = stat->start_time});
    }
    return children;
}

bool running(const ProcessId &process) {
    const std::optional<Stat> stat = stat_of(process.pid);
    return stat && stat->start_time == process.start_time && stat->state != 'Z' &&
           stat->state != 'X';
}

void pause_between_looks() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

std::string read_file(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::filesystem::path file_beside_program(const std::string &name) {
    return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name);
}

std::string read_document(const std::string &name) {
    return read_file(file_beside_program("docs") / (name + ".md"));
}

} // namespace integration
