// Clients that make IDs at the same time, and keep every ID that they got, committed or not, until
// they are told to stop or their server is gone. The book in which all those IDs are entered.
#pragma once

#include "ids.hpp"
#include "session.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace integration {

// What a client does.
struct Task {
    std::string sequence;                      // whose IDs it makes
    Id stride = 1;                             // how many numbers each of them stands for
    std::vector<std::string> preparation = {}; // what it runs first
    // Makes the query for this many IDs; where it is empty, the client uses nextval(sequence,
    // rows).
    std::function<std::string(int rows)> query = {};
};

class Client {
  public:
    // Connects, and runs the preparation. The client makes no ID before start().
    Client(const Server &server, Task task, Random random);
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    Client(Client &&) = delete;
    Client &operator=(Client &&) = delete;
    ~Client();

    [[nodiscard]] const Task &task() const { return task_; }
    [[nodiscard]] pid_t backend() const { return backend_; }
    [[nodiscard]] int received() const { return received_; }
    [[nodiscard]] bool ended() const { return ended_; }
    void start();
    void stop() { stop_ = true; }

    // Wait until the client has ended. The error is what ended it, and empty if it was stopped.
    const std::vector<Id> &ids();
    const std::string &error();

  private:
    void work();
    void wait() const;

    Task task_;
    Session session_;
    pid_t backend_ = 0;
    Random random_;
    std::vector<Id> ids_;
    std::string error_;
    std::atomic<int> received_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

// The IDs of each sequence that clients got, round by round.
class Book {
  public:
    // Enters the IDs of a round, and checks that they are distinct and above those of the rounds
    // before.
    void enter(const std::string &sequence, const std::vector<Id> &ids, Id stride = 1);

    // The first number above all that were entered for the sequence.
    [[nodiscard]] Id above(const std::string &sequence) const;

    // How many IDs were entered in all.
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    std::size_t size_ = 0;
    std::map<std::string, Id> above_;
};

class Load {
  public:
    // Starts a client for each task, once all are connected.
    Load(const Server &server, const std::vector<Task> &tasks, Random &random);

    [[nodiscard]] const std::vector<std::unique_ptr<Client>> &clients() const { return clients_; }

    // Waits until each client has got this many IDs. Fails the test if a client has ended.
    void wait_for_ids(int wanted) const;

    // Makes each client end after its present statement.
    void stop() const;

    // Waits until the clients have ended, checks the order of each one's IDs, and enters them.
    void enter_in(Book &book) const;

  private:
    std::vector<std::unique_ptr<Client>> clients_;
};

// A thread that runs one statement over and over, until its server or the object is gone.
class Repeater {
  public:
    Repeater(const Server &server, std::string statement);
    Repeater(const Repeater &) = delete;
    Repeater &operator=(const Repeater &) = delete;
    Repeater(Repeater &&) = delete;
    Repeater &operator=(Repeater &&) = delete;
    ~Repeater();

  private:
    Session session_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace integration
