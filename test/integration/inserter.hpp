// A client that inserts rows into the table orders (id, maker), whose IDs come from its default.
#pragma once

#include "ids.hpp"
#include "server.hpp"
#include "session.hpp"

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace integration {

// A client with a thread of its own. It inserts in transactions of various sizes, until it has
// inserted all rows, is told to stop, or its server is gone.
class Inserter {
  public:
    // The number of rows of a client that goes on until it is told to stop. It pauses between its
    // transactions, so that the servers which receive its rows do not fall behind.
    static constexpr int endless = std::numeric_limits<int>::max();

    Inserter(const Server &server, std::string maker, int rows, unsigned random_stream);
    Inserter(const Inserter &) = delete;
    Inserter &operator=(const Inserter &) = delete;
    Inserter(Inserter &&) = delete;
    Inserter &operator=(Inserter &&) = delete;
    ~Inserter();

    // How many rows the client knows to be committed: so far, and (wait) in the end.
    [[nodiscard]] int inserted() const { return inserted_; }
    int wait();

    // Makes the client end after its present transaction.
    void stop() { stop_ = true; }

    [[nodiscard]] bool ended_early() const { return ended_early_; }

  private:
    void work();

    Session session_;
    std::string maker_;
    int wanted_;
    Random random_;
    std::atomic<int> inserted_{0};
    std::atomic<bool> ended_early_{false};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

using Inserters = std::vector<std::unique_ptr<Inserter>>;

// Waits for clients that must not end early, and returns how many rows they have inserted.
int wait_for_all(const Inserters &clients);

} // namespace integration
