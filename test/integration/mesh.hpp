// Servers that all write, and each replicate the table orders to every other by means of pglogical.
// Their registries hear each other by the server's own replication.
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

    // Lists the node numbers and the names of all servers that this server knows of.
    [[nodiscard]] std::string cluster() const;

    // The number of rows of orders, and a digest of all of them.
    [[nodiscard]] Id rows() const;
    [[nodiscard]] std::string digest() const;

    // Tells whether the server has logged a conflict: two rows with the same ID.
    [[nodiscard]] bool logged_a_conflict() const;
};

class Mesh {
  public:
    // Tells whether pglogical is installed for this version of PostgreSQL.
    static bool available();

    // Makes a server with an empty table orders (id bigserial, maker text) whose sequence is
    // converted. It has no node number yet, and is joined with no other server.
    Member &add(const std::string &name, const std::vector<std::string> &launcher = {});

    // Joins the server that was added last, which must have written nothing yet, with all others.
    // It gets a copy of their rows; they may go on writing meanwhile.
    void join_last() const;

    // Waits until every server has received all rows of the others.
    void wait_until_quiet() const;

    [[nodiscard]] const std::vector<std::unique_ptr<Member>> &members() const { return members_; }

  private:
    std::vector<std::unique_ptr<Member>> members_;
};

// Stop and resume what two servers send each other. When cut() returns, neither receives anything
// more.
void cut(const Member &one, const Member &other);
void heal(const Member &one, const Member &other);

// Lets a server look at once whether it can receive again from one that was down. pglogical may do
// so by itself after three minutes only.
void receive_again(const Member &receiver, const Member &sender);

// Lets a server use pglogical's output plugin. Recent minor versions of the server use only those
// plugins that a setting lists.
void allow_output_plugin(Session &session);

} // namespace integration
