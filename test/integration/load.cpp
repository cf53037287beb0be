// Clients, which are threads with a session each, and the IDs that they got.
#include "load.hpp"

#include "process.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace integration {

Client::Client(const Server &server, Task task, Random random)
    : task_(std::move(task)), session_(server), random_(random) {
    backend_ = session_.backend();
    for (const std::string &statement : task_.preparation)
        session_.run(statement);
}

void Client::start() {
    thread_ = std::thread([this] { work(); });
}

Client::~Client() {
    stop_ = true;
    if (thread_.joinable())
        thread_.join();
}

void Client::work() {
    constexpr int most_rows = 50;
    try {
        while (!stop_) {
            const int rows = between(random_, 1, most_rows);
            const auto some =
                session_.numbers(task_.query ? task_.query(rows) : nextval(task_.sequence, rows));
            ids_.insert(ids_.end(), some.begin(), some.end());
            received_ += rows;
        }
    } catch (const std::exception &error) {
        error_ = error.what();
    }
    ended_ = true;
}

void Client::wait() const {
    while (!ended_)
        pause_between_looks();
}

const std::vector<Id> &Client::ids() {
    wait();
    return ids_;
}

const std::string &Client::error() {
    wait();
    return error_;
}

void Book::enter(const std::string &sequence, const std::vector<Id> &ids, Id stride) {
    if (ids.empty())
        return;
    size_ += ids.size();
    EXPECT_TRUE(disjoint(ids, stride)) << "of " << sequence;
    const auto [least, greatest] = std::minmax_element(ids.begin(), ids.end());
    EXPECT_GE(*least, above(sequence)) << "of " << sequence;
    above_[sequence] = std::max(above(sequence), *greatest + stride);
}

Id Book::above(const std::string &sequence) const {
    const auto found = above_.find(sequence);
    return found == above_.end() ? 0 : found->second;
}

Load::Load(const Server &server, const std::vector<Task> &tasks, Random &random) {
    for (const Task &task : tasks)
        clients_.push_back(std::make_unique<Client>(server, task, Random(random())));
    for (const auto &client : clients_)
        client->start();
}

void Load::wait_for_ids(int wanted) const {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    const auto pending = [wanted](const auto &client) { return client->received() < wanted; };
    while (std::any_of(clients_.begin(), clients_.end(), pending)) {
        for (const auto &client : clients_)
            if (client->ended())
                FAIL() << "making IDs of " << client->task().sequence << ": " << client->error();
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the clients wait for something";
        pause_between_looks();
    }
}

void Load::stop() const {
    for (const auto &client : clients_)
        client->stop();
}

void Load::enter_in(Book &book) const {
    std::map<std::string, std::vector<Id>> ids;
    std::map<std::string, Id> strides;
    for (const auto &client : clients_) {
        const Task &task = client->task();
        EXPECT_TRUE(increasing(client->ids(), task.stride))
            << "in one session, of " << task.sequence;
        std::vector<Id> &all = ids[task.sequence];
        all.insert(all.end(), client->ids().begin(), client->ids().end());
        strides[task.sequence] = task.stride;
    }
    for (const auto &[sequence, all] : ids)
        book.enter(sequence, all, strides[sequence]);
}

Repeater::Repeater(const Server &server, std::string statement)
    : session_(server), thread_([this, statement = std::move(statement)] {
          try {
              while (!stop_)
                  session_.run(statement);
          } catch (const std::exception &) {
              stop_ = true;
          }
      }) {}

Repeater::~Repeater() {
    stop_ = true;
    thread_.join();
}

} // namespace integration
