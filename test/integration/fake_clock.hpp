// A clock for a server that a test can set, by means of libfaketime: the server's processes read it
// instead of the system's. What they wait for (timeouts, sleeps) goes by the real one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace integration {

class FakeClock {
  public:
    // Whether libfaketime is installed.
    static bool available();

    // Shows the real time until it is set. Its files live in the directory; a server that uses it
    // must be gone before it.
    explicit FakeClock(const std::filesystem::path &directory);
    FakeClock(const FakeClock &) = delete;
    FakeClock &operator=(const FakeClock &) = delete;
    FakeClock(FakeClock &&) = delete;
    FakeClock &operator=(FakeClock &&) = delete;
    ~FakeClock();

    // The words that start a server under this clock.
    [[nodiscard]] std::vector<std::string> launcher() const;

    // From now on it differs from the real time by so much, or stands still.
    void differ_by(std::chrono::milliseconds offset);
    void stand_still_at(std::int64_t unix_ms);

  private:
    void show(const std::string &setting) const;

    std::filesystem::path file_;
    std::string semaphore_;
    std::string shared_memory_;
};

} // namespace integration
