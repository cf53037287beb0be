// Child processes that do not outlive the test program, and what /proc says about processes.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace integration {

// How long to wait for anything that must happen, before a test fails because it hangs. It is long,
// so that no test fails because the machine is slow or busy.
inline constexpr std::chrono::seconds patience{1800};

// Files that a child process appends its standard output and standard error to.
struct OutputFiles {
    std::filesystem::path out;
    std::filesystem::path err;
};

// A child process. It gets death_signal when the thread that started it ends, for whatever reason.
// So start a process on the main thread if it must outlive other threads.
class Process {
  public:
    Process() = default;
    Process(const std::vector<std::string> &command, const OutputFiles &files, int death_signal);
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    Process(Process &&other) noexcept;
    Process &operator=(Process &&other) noexcept;
    ~Process();

    [[nodiscard]] pid_t pid() const { return pid_; }

    // Tells whether the process was started, and none of the functions below has seen its end yet.
    [[nodiscard]] bool started() const { return pid_ > 0; }

    void signal(int number) const;

    // Waits for the end of the process, no longer than limit, and returns its status as waitpid()
    // reports it.
    std::optional<int> wait(std::chrono::milliseconds limit);

    // Stops the process (SIGSTOP). When this returns, it stands still and starts no more children.
    void freeze();

  private:
    pid_t pid_ = 0;
};

// A process as /proc names it; the start time tells it from a later one of the same number.
struct ProcessId {
    pid_t pid;
    unsigned long long start_time;
};

std::vector<ProcessId> children_of(pid_t parent);

// Tells whether a process still runs. A zombie, which has ended and waits for its parent to collect
// it, does not.
bool running(const ProcessId &process);

// Sleeps for a moment. A loop that waits for something calls it between two looks.
void pause_between_looks();

std::string read_file(const std::filesystem::path &path);

// Returns the path of a file that lies in the directory of this program.
std::filesystem::path file_beside_program(const std::string &name);

// Reads a page of docs/, given its name without the extension.
std::string read_document(const std::string &name);

} // namespace integration
