// Makes snowflake IDs in the application, in several threads with a leased node number each, while
// the server makes its own, and lets a primary key prove that no two of them are the same.
//
//   headers=$(pg_config --includedir-server)/extension/snowflake
//   g++ -std=c++20 -I "$headers" client_ids.cpp -o client_ids -lpqxx -lpq -pthread
//   psql -c 'SELECT snowflake.reserve_nodes(900, 909)'
//   ./client_ids
//
// It connects as psql does without arguments (PGHOST, PGDATABASE, ..), makes the table client_ids
// and drops it again.
#include "leased_ids.hpp"

#include <cstdlib>
#include <future>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int clients = 4;
constexpr int leases = 3; // that each client has, one after the other
constexpr int ids_per_lease = 20'000;

void execute(pqxx::connection &connection, const std::string &sql) {
    pqxx::nontransaction(connection).exec(sql);
}

// An application: leases a number, makes IDs, stores them through the same connection.
void make_ids() {
    for (int lease = 0; lease < leases; ++lease) {
        pqxx::connection connection;
        examples::LeasedIds ids(connection);
        std::string rows;
        for (int i = 0; i < ids_per_lease; ++i)
            rows += (i == 0 ? "(" : ", (") + std::to_string(ids.next()) + ", 'client')";
        execute(connection, "INSERT INTO client_ids VALUES " + rows);
    }
}

// The server, meanwhile.
void let_server_make_ids() {
    pqxx::connection connection;
    for (int i = 0; i < leases; ++i)
        execute(connection, "INSERT INTO client_ids SELECT snowflake.nextval(), 'server' "
                            "FROM generate_series(1, " +
                                std::to_string(ids_per_lease) + ")");
}

} // namespace

int main() {
    try {
        pqxx::connection connection;
        execute(connection, "DROP TABLE IF EXISTS client_ids");
        execute(connection, "CREATE TABLE client_ids (id bigint PRIMARY KEY, made_by text)");

        std::vector<std::future<void>> results;
        results.reserve(clients);
        for (int i = 0; i < clients; ++i)
            results.push_back(std::async(std::launch::async, make_ids));
        let_server_make_ids();
        for (std::future<void> &result : results)
            result.get();

        const pqxx::result makers =
            pqxx::nontransaction(connection)
                .exec("SELECT made_by, snowflake.get_node(id), count(*) FROM client_ids "
                      "GROUP BY 1, 2 ORDER BY 2");
        std::int64_t ids = 0;
        for (const auto &maker : makers) {
            std::cout << maker[2].c_str() << " IDs of node " << maker[1].c_str() << ", made by the "
                      << maker[0].c_str() << '\n';
            ids += maker[2].as<std::int64_t>();
        }
        execute(connection, "DROP TABLE client_ids");
        const std::int64_t expected = std::int64_t{clients + 1} * leases * ids_per_lease;
        std::cout << ids << " IDs, no two the same\n";
        return ids == expected ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
