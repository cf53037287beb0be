// One connection to a test's server, in the few words that the tests need.
#pragma once

#include <cstdint>
#include <pqxx/pqxx>
#include <string>
#include <vector>

namespace integration {

using Id = std::int64_t;

class Server;

// The SQLSTATE of an error, also of those that libpqxx keeps without it.
std::string sqlstate_of(const pqxx::sql_error &error);

// A connection that stays broken once it is broken. Statements run as they are given: each a
// transaction of its own, unless BEGIN was one of them.
class Session {
  public:
    explicit Session(const Server &server, const std::string &database = "postgres");

    void run(const std::string &sql);

    // The first column of all rows; nothing for a statement without rows.
    std::vector<Id> numbers(const std::string &sql);

    // The single value of a query.
    Id number(const std::string &sql);
    std::string text(const std::string &sql);

    // The SQLSTATE with which a statement fails; 00000 if it does not.
    std::string sqlstate(const std::string &sql);

  private:
    pqxx::connection connection_;
    pqxx::quiet_errorhandler no_notices_{connection_};
    pqxx::nontransaction statements_;
};

} // namespace integration
