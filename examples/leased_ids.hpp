// Snowflake IDs that an application makes itself, without asking the server for each.
//
// The node number is leased from a server with the extension snowflake, for as long as the
// connection lasts. So that the next holder of the number never makes an ID again, all holders go
// by one clock, that of the server, and none runs ahead of it.
#pragma once

#include <generator.hpp> // installed with the extension

#include <chrono>
#include <pqxx/pqxx>
#include <string>
#include <thread>

namespace examples {

class LeasedIds {
  public:
    // The connection must be used for nothing else meanwhile, and by one thread. Raises what
    // libpqxx raises, if there is no number to lease.
    explicit LeasedIds(pqxx::connection &connection) : connection_(connection) {
        stay_broken(connection);
        const pqxx::result lease = pqxx::nontransaction(connection_)
                                       .exec("SELECT node, token FROM snowflake.lease_node()");
        node_ = lease[0][0].as<std::int64_t>();
        token_ = lease[0][1].as<std::int64_t>();
        read_clock();
        // The holder before may have made IDs of this very millisecond, and of the next one if the
        // server's clock was slewed since it was read.
        last_ = layout.last_id_of_tick(layout.tick_at(now_us()) + 1);
    }

    [[nodiscard]] std::int64_t node() const { return node_; }

    // The next ID, greater than those before. Raises pqxx::broken_connection when the connection,
    // and with it the lease, is gone. It finds out within a second, so what it made in the last one
    // must not be used but through this connection.
    snowflake::Id next() {
        const auto got =
            snowflake::reserve(layout, last_, {.now = layout.tick_at(now_us()), .node = node_});
        if (got.refusal != snowflake::Refusal::none)
            throw std::runtime_error("no snowflake ID can be made");
        while (layout.tick_at(now_us()) < layout.tick_of(got.first))
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        last_ = got.last;
        return got.first;
    }

  private:
    using Steady = std::chrono::steady_clock;
    static constexpr snowflake::Layout layout = snowflake::default_layout;
    static constexpr std::chrono::seconds clock_is_good_for{1};

    // A new connection would not have the lease. Versions of libpqxx before 7 make one silently.
    template <typename Connection>
    static void stay_broken(Connection &connection) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        if constexpr (requires { connection.inhibit_reactivation(true); })
            connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
    }

    std::int64_t ask(const std::string &query) {
        return pqxx::nontransaction(connection_).exec(query)[0][0].as<std::int64_t>();
    }

    // Raises pqxx::sql_error if another instance has turned out to have the better claim to the
    // number, or if a pooler has passed the query to another session than that of the lease.
    void check_lease() {
        ask("SELECT node FROM snowflake.lease_node(" + std::to_string(token_) + ")");
    }

    void read_clock() {
        server_us_ = ask("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
        read_at_ = Steady::now();
    }

    // What the server's clock shows, or a little less: the time that the answer took.
    std::int64_t now_us() {
        if (Steady::now() - read_at_ > clock_is_good_for) {
            check_lease();
            read_clock();
        }
        const auto since = Steady::now() - read_at_;
        return server_us_ + std::chrono::duration_cast<std::chrono::microseconds>(since).count();
    }

    pqxx::connection &connection_;
    std::int64_t node_ = 0;
    std::int64_t token_ = 0; // proves that the lease is this connection's
    std::int64_t server_us_ = 0;
    Steady::time_point read_at_;
    snowflake::Id last_ = snowflake::no_id;
};

} // namespace examples
