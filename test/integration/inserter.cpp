// A thread that inserts rows until there are enough, or its server is gone.
#include "inserter.hpp"

#include "process.hpp"

#include <algorithm>
#include <utility>

namespace integration {

Inserter::Inserter(const Server &server, std::string maker, int rows, unsigned random_stream)
    : session_(server), maker_(std::move(maker)), wanted_(rows),
      random_(make_random(random_stream)), thread_([this] { work(); }) {}

Inserter::~Inserter() {
    if (thread_.joinable())
        thread_.join();
}

int Inserter::wait() {
    thread_.join();
    return inserted_;
}

void Inserter::work() {
    constexpr int most_rows = 20;
    try {
        while (inserted_ < wanted_ && !stop_) {
            const int rows = std::min(between(random_, 1, most_rows), wanted_ - inserted_);
            session_.run("INSERT INTO orders (maker) SELECT '" + maker_ +
                         "' FROM generate_series(1, " + std::to_string(rows) + ")");
            inserted_ += rows;
            if (wanted_ == endless)
                pause_between_looks();
        }
    } catch (const pqxx::failure &) {
        ended_early_ = true;
    }
}

int wait_for_all(const Inserters &clients) {
    int inserted = 0;
    for (const auto &client : clients) {
        inserted += client->wait();
        EXPECT_FALSE(client->ended_early());
    }
    return inserted;
}

} // namespace integration
