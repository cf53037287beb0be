// One connection to a test's server, in the few words that the tests need.
#pragma once

#include <cstdint>
#include <pqxx/pqxx>
#include <string>
#include <sys/types.h>
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
    // Notices are not sent: nobody would read them.
    explicit Session(const Server &server, const std::string &database = "postgres");

    // A connection to anything that speaks the server's protocol.
    explicit Session(const std::string &conninfo);

    void run(const std::string &sql);

    // The first column of all rows; nothing for a statement without rows.
    std::vector<Id> numbers(const std::string &sql);

    // The single value of a query.
    Id number(const std::string &sql);
    std::string text(const std::string &sql);

    // The number of the server process.
    pid_t backend() { return static_cast<pid_t>(number("SELECT pg_backend_pid()")); }

    // The SQLSTATE with which a statement fails; 00000 if it does not.
    std::string sqlstate(const std::string &sql);

  private:
    pqxx::connection connection_;
    pqxx::nontransaction statements_;
};

// Waits until SELECT condition is true.
void wait_for(Session &session, const std::string &condition);

// Waits until a query's single value on a server is as expected.
void wait_for(const Server &server, const std::string &query, const std::string &expected);

} // namespace integration
