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

// A child process. It gets death_signal when the thread that started it ends, however that comes
// about, so start what shall live long on the main thread.
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

    // Whether it was started and its end was not seen yet by one of the functions below.
    [[nodiscard]] bool started() const { return pid_ > 0; }

    void signal(int number) const;

    // Waits for its end, no longer than limit; its status as waitpid() reports it.
    std::optional<int> wait(std::chrono::milliseconds limit);

    // Stops it (SIGSTOP) and returns once it stands still, so that it starts no more children.
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

// Whether it still runs. One that only waits for its parent to collect it (a zombie) does not.
bool running(const ProcessId &process);

// Sleeps for the moment between two looks at something that is waited for.
void pause_between_looks();

std::string read_file(const std::filesystem::path &path);

} // namespace integration
