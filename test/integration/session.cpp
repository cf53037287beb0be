// A thin layer over libpqxx.
#include "session.hpp"

#include "process.hpp"
#include "server.hpp"

#include <chrono>
#include <stdexcept>

namespace integration {

namespace {

// Keeps versions of libpqxx before 7 from reconnecting silently, after which a lost session would
// look like a living one.
template <typename Connection>
Connection &stay_broken(Connection &connection) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    if constexpr (requires { connection.inhibit_reactivation(true); })
        connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
    return connection;
}

template <typename Value>
Value single_value(const pqxx::result &result) {
    if (result.size() != 1 || result.columns() != 1)
        throw std::logic_error("a single value was expected of " + result.query());
    return result[0][0].as<Value>();
}

} // namespace

std::string sqlstate_of(const pqxx::sql_error &error) {
    const bool no_right = dynamic_cast<const pqxx::insufficient_privilege *>(&error) != nullptr;
    return no_right ? "42501" : std::string(error.sqlstate());
}

Session::Session(const Server &server, const std::string &database)
    : Session(server.conninfo(database) + " options='-c client_min_messages=error'") {}

Session::Session(const std::string &conninfo)
    : connection_(conninfo), statements_(stay_broken(connection_)) {}

void Session::run(const std::string &sql) {
    statements_.exec(sql);
}

std::vector<Id> Session::numbers(const std::string &sql) {
    const pqxx::result result = statements_.exec(sql);
    std::vector<Id> values;
    if (result.columns() == 0)
        return values;
    values.reserve(result.size());
    for (const auto &row : result)
        values.push_back(row[0].as<Id>());
    return values;
}

std::vector<std::string> Session::texts(const std::string &sql) {
    const pqxx::result result = statements_.exec(sql);
    std::vector<std::string> values;
    values.reserve(result.size());
    for (const auto &row : result)
        values.emplace_back(row[0].c_str());
    return values;
}

Id Session::number(const std::string &sql) {
    return single_value<Id>(statements_.exec(sql));
}

std::string Session::text(const std::string &sql) {
    return single_value<std::string>(statements_.exec(sql));
}

std::string Session::sqlstate(const std::string &sql) {
    try {
        run(sql);
        return "00000";
    } catch (const pqxx::sql_error &error) {
        return sqlstate_of(error);
    }
}

void wait_for(Session &session, const std::string &condition) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (session.text("SELECT " + condition) != "t") {
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("waited in vain for " + condition);
        pause_between_looks();
    }
}

void wait_for(const Server &server, const std::string &query, const std::string &expected) {
    Session session(server);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (std::string value = session.text(query); value != expected; value = session.text(query)) {
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("waited in vain for the result of " + query);
        pause_between_looks();
    }
}

} // namespace integration
