// Reads an outbox in the order of its IDs, while several sessions insert into it with pauses
// between the ID and the commit, and roll some of it back.
//
//   g++ -std=c++20 outbox.cpp -o outbox -lpqxx -lpq -pthread
//   ./outbox
//
// It connects as psql does without arguments (PGHOST, PGDATABASE, ..), makes the tables outbox and
// outbox_readers and drops them again. The server must have a node number.
#include "outbox.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int writers = 4;
constexpr int transactions = 50; // of each writer

void execute(pqxx::connection &connection, const std::string &sql) {
    pqxx::nontransaction(connection).exec(sql);
}

void make_tables(pqxx::connection &connection) {
    execute(connection, "DROP TABLE IF EXISTS outbox, outbox_readers");
    execute(connection, "DROP SEQUENCE IF EXISTS outbox_id_seq");
    execute(connection, "CREATE SEQUENCE outbox_id_seq");
    execute(connection, "CREATE TABLE outbox (payload text NOT NULL, id bigint PRIMARY KEY "
                        "DEFAULT snowflake.nextval('outbox_id_seq'))");
    execute(connection, "CREATE TABLE outbox_readers (name text PRIMARY KEY, "
                        "last_read bigint NOT NULL DEFAULT 0)");
    execute(connection, "INSERT INTO outbox_readers VALUES ('printer')");
}

void drop_tables(pqxx::connection &connection) {
    execute(connection, "DROP TABLE outbox, outbox_readers");
    execute(connection, "DROP SEQUENCE outbox_id_seq");
}

// An application that puts something into the outbox in each transaction, and takes some time for
// it.
void fill_outbox(unsigned number) {
    pqxx::connection connection;
    std::minstd_rand random(number);
    for (int i = 0; i < transactions; ++i) {
        pqxx::work transaction(connection);
        transaction.exec("INSERT INTO outbox (payload) VALUES ('of " + std::to_string(number) +
                         "')");
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 10));
        if (random() % 5 == 0)
            continue; // rolled back
        transaction.exec("NOTIFY outbox");
        transaction.commit();
    }
}

std::vector<std::int64_t> ids_in_outbox(pqxx::connection &connection) {
    std::vector<std::int64_t> ids;
    for (const auto &row :
         pqxx::nontransaction(connection).exec("SELECT id FROM outbox ORDER BY id"))
        ids.push_back(row[0].as<std::int64_t>());
    return ids;
}

} // namespace

int main() {
    try {
        pqxx::connection connection;
        make_tables(connection);
        std::vector<std::future<void>> results;
        results.reserve(writers);
        for (unsigned i = 0; i < writers; ++i)
            results.push_back(std::async(std::launch::async, fill_outbox, i));

        std::vector<std::int64_t> read;
        std::vector<std::int64_t> committed;
        {
            pqxx::connection listening;
            examples::OutboxReader reader(listening, "printer");
            const auto handle = [&](std::int64_t id, const std::string & /*payload*/) {
                read.push_back(id);
            };
            const auto busy = [](const auto &result) {
                return result.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
            };
            while (std::any_of(results.begin(), results.end(), busy))
                if (reader.poll(handle) == 0)
                    reader.wait();
            for (std::future<void> &result : results)
                result.get();
            committed = ids_in_outbox(connection);
            // The bound may be the present, so that the last rows come a moment later.
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
            while (read.size() < committed.size() && std::chrono::steady_clock::now() < deadline)
                if (reader.poll(handle) == 0)
                    reader.wait();
        }
        drop_tables(connection);
        std::cout << read.size() << " rows read of " << committed.size()
                  << " that were committed, in the order of their IDs\n";
        return read == committed ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
