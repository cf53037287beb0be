// Servers that replicate to each other, each to every other, by means of pglogical: all of them
// write, and all of them receive. What they share are the tables orders and snowflake.nodes.
#pragma once

#include "server.hpp"
#include "session.hpp"

#include <memory>
#include <string>
#include <vector>

namespace integration {

// One server of a mesh.
struct Member {
    std::string name;
    std::unique_ptr<Server> server;

    // Numbers of nodes, names of servers: all that this server sees, in one text.
    [[nodiscard]] std::string cluster() const;

    // The rows of orders.
    [[nodiscard]] Id rows() const;
    [[nodiscard]] std::string digest() const;

    // Whether its log tells of two rows that met.
    [[nodiscard]] bool logged_a_conflict() const;
};

class Mesh {
  public:
    // Whether pglogical is installed for this version of PostgreSQL.
    static bool available();

    // Makes a server with an empty table orders (id bigserial, maker text), converted, and no node
    // number yet. It is joined with nobody.
    Member &add(const std::string &name, const std::vector<std::string> &launcher = {});

    // Lets the last server that was added, and has written nothing yet, receive from all others and
    // they from it. What there is is copied; all others may be writing meanwhile.
    void join_last() const;

    // Waits until every server has received all that the others have made.
    void wait_until_quiet() const;

    [[nodiscard]] const std::vector<std::unique_ptr<Member>> &members() const { return members_; }

  private:
    std::vector<std::unique_ptr<Member>> members_;
};

// Stop and resume what two servers send each other. Once it is cut, neither gets anything more.
void cut(const Member &one, const Member &other);
void heal(const Member &one, const Member &other);

} // namespace integration
