// One connection to a server, with the few functions that the tests need.
#pragma once

#include <cstdint>
#include <pqxx/pqxx>
#include <string>
#include <sys/types.h>
#include <vector>

namespace integration {

using Id = std::int64_t;

class Server;

// Returns the SQLSTATE of an error, also of the kind that libpqxx reports without it.
std::string sqlstate_of(const pqxx::sql_error &error);

// A connection that never reconnects once it is broken. Each statement is a transaction of its own,
// until the test runs BEGIN.
class Session {
  public:
    // Connects to a server, which sends no notices, since no test reads them.
    explicit Session(const Server &server, const std::string &database = "postgres");

    // Connects to anything that speaks the server's protocol.
    explicit Session(const std::string &conninfo);

    void run(const std::string &sql);

    // Returns the first column of all rows; nothing for a statement without rows.
    std::vector<Id> numbers(const std::string &sql);

    // Returns the same as texts; NULL as an empty one.
    std::vector<std::string> texts(const std::string &sql);

    // Return the single value of a query.
    Id number(const std::string &sql);
    std::string text(const std::string &sql);

    // Asks for the process ID of the session's server process.
    pid_t backend() { return static_cast<pid_t>(number("SELECT pg_backend_pid()")); }

    // Returns the SQLSTATE with which a statement fails; 00000 if it does not.
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
