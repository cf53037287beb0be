// The file that libfaketime reads the time from, and what its processes share.
#include "fake_clock.hpp"

#include <atomic>
#include <fcntl.h>
#include <fstream>
#include <iomanip>
#include <optional>
#include <semaphore.h>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace integration {

namespace {

// Finds libfaketime. Debian installs it in a directory named after the architecture.
std::optional<std::filesystem::path> find_library() {
    const std::filesystem::path libraries = "/usr/lib";
    for (const auto &entry : std::filesystem::directory_iterator(libraries)) {
        const std::filesystem::path library = entry.path() / "faketime" / "libfaketime.so.1";
        if (std::filesystem::exists(library))
            return library;
    }
    return std::nullopt;
}

// Writes milliseconds as seconds with three decimals.
std::string seconds(std::int64_t ms) {
    std::ostringstream text;
    text << ms / 1000 << '.' << std::setw(3) << std::setfill('0') << ms % 1000;
    return text.str();
}

// Makes a name for a semaphore and a block of shared memory, which are both known to the system by
// name.
std::string unused_name() {
    static std::atomic<int> clocks = 0;
    return "/snowflake_clock_" + std::to_string(getpid()) + "_" + std::to_string(++clocks);
}

} // namespace

bool FakeClock::available() {
    return find_library().has_value();
}

// libfaketime would make a semaphore and a block of shared memory for each server itself, and leave
// them behind when the server is killed. These are removed with the object.
FakeClock::FakeClock(const std::filesystem::path &directory)
    : file_(directory / "clock"), semaphore_(unused_name()), shared_memory_(semaphore_) {
    constexpr off_t size = 4096;
    constexpr mode_t owner_only = 0600;
    sem_unlink(semaphore_.c_str());
    shm_unlink(shared_memory_.c_str());
    sem_t *semaphore = sem_open(semaphore_.c_str(), O_CREAT | O_EXCL, owner_only, 1);
    const int memory = shm_open(shared_memory_.c_str(), O_CREAT | O_EXCL | O_RDWR, owner_only);
    if (semaphore == SEM_FAILED || memory < 0 || ftruncate(memory, size) != 0)
        throw std::runtime_error("cannot make what the processes of libfaketime share");
    sem_close(semaphore);
    close(memory);
    differ_by(std::chrono::milliseconds(0));
}

FakeClock::~FakeClock() {
    sem_unlink(semaphore_.c_str());
    shm_unlink(shared_memory_.c_str());
}

std::vector<std::string> FakeClock::launcher() const {
    return {"env",
            "LD_PRELOAD=" + find_library().value().string(),
            "TZ=UTC",
            "FAKETIME_FMT=%s",
            "FAKETIME_TIMESTAMP_FILE=" + file_.string(),
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "FAKETIME_SHARED=" + semaphore_ + " " + shared_memory_,
            "NO_FAKE_STAT=1"};
}

void FakeClock::differ_by(std::chrono::milliseconds offset) {
    show((offset.count() < 0 ? "-" : "+") + seconds(std::abs(offset.count())));
}

void FakeClock::stand_still_at(std::int64_t unix_ms) {
    // The server reads a little less than what is written, so write half a millisecond more.
    show(seconds(unix_ms) + "5");
}

// Replaces the file at once, so that a process reads either the old text or the new one.
void FakeClock::show(const std::string &setting) const {
    std::filesystem::path new_file = file_;
    new_file += ".new";
    std::ofstream(new_file) << setting << '\n';
    std::filesystem::rename(new_file, file_);
}

} // namespace integration
