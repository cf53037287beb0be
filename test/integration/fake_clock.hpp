// A clock that a test can set, for one server, by means of libfaketime. The server's processes read
// it instead of the system's clock. Timeouts and sleeps still go by the system's.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace integration {

class FakeClock {
  public:
    // Tells whether libfaketime is installed.
    static bool available();

    // Makes a clock that shows the real time until it is set, with its files in the directory.
    // Every server that uses it must be gone before it is.
    explicit FakeClock(const std::filesystem::path &directory);
    FakeClock(const FakeClock &) = delete;
    FakeClock &operator=(const FakeClock &) = delete;
    FakeClock(FakeClock &&) = delete;
    FakeClock &operator=(FakeClock &&) = delete;
    ~FakeClock();

    // The words that start a server under this clock.
    [[nodiscard]] std::vector<std::string> launcher() const;

    // Make the clock differ from the real time from now on, or stand still.
    void differ_by(std::chrono::milliseconds offset);
    void stand_still_at(std::int64_t unix_ms);

  private:
    void show(const std::string &setting) const;

    std::filesystem::path file_;
    std::string semaphore_;
    std::string shared_memory_;
};

} // namespace integration
