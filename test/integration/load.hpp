// Clients that make IDs at the same time and keep every ID they were given, committed or not, until
// they are told to stop or their server is gone; and the book in which all those IDs are entered.
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
    // A query that makes as many IDs as it is asked for; nothing: nextval(sequence, rows).
    std::function<std::string(int rows)> query = {};
};

class Client {
  public:
    // Connects and prepares; makes no ID before it is started.
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

    // Wait for its end. The error is what ended it; empty if it was stopped.
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

// Which IDs of each sequence clients were given, in rounds.
class Book {
  public:
    // The IDs of a round are distinct, and all above those of the rounds before.
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

    // Returns once each client has got this many IDs, or the test has failed because one ended.
    void wait_for_ids(int wanted) const;

    // Lets each client finish the statement that it is at.
    void stop() const;

    // Waits for the clients' end, checks the order within each and enters all that they were given.
    void enter_in(Book &book) const;

  private:
    std::vector<std::unique_ptr<Client>> clients_;
};

// Runs one statement over and over until its server is gone or the object is.
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
