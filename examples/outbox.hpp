// A reader of an outbox, a table into which other sessions insert: it reads every committed row
// once, in the order of the IDs, and remembers in the database how far it has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <pqxx/pqxx>
#include <string>

namespace examples {

class OutboxReader {
  public:
    using Handler = std::function<void(std::int64_t id, const std::string &payload)>;

    // The reader of this name, which must be in the table outbox_readers, listens for the
    // notification "outbox". The connection must be used for nothing else meanwhile.
    OutboxReader(pqxx::connection &connection, std::string name)
        : connection_(connection), name_(std::move(name)) {
        pqxx::nontransaction(connection_).exec("LISTEN outbox");
    }

    // Takes up to 100 rows that are new, hands each to the handler, and commits that they are read.
    // Returns how many. If the handler or the connection fails, the same rows come again.
    std::size_t poll(const Handler &handle) {
        pqxx::work transaction(connection_);
        const std::string name = transaction.quote(name_);
        // Another session of the same name waits here, and then goes on behind this one.
        const auto last_read =
            transaction
                .exec("SELECT last_read FROM outbox_readers WHERE name = " + name +
                      " FOR UPDATE")[0][0]
                .as<std::int64_t>();
        // Where there is no bound it is NULL, and there are no rows.
        const pqxx::result rows = transaction.exec(
            "SELECT id, payload FROM outbox WHERE id > " + std::to_string(last_read) +
            " AND id < snowflake.low_watermark('outbox_id_seq') ORDER BY id LIMIT 100");
        if (rows.empty())
            return 0;
        for (const auto &row : rows)
            handle(row[0].as<std::int64_t>(), row[1].as<std::string>());
        transaction.exec("UPDATE outbox_readers SET last_read = " +
                         rows.back()[0].as<std::string>() + " WHERE name = " + name);
        transaction.commit();
        return rows.size();
    }

    // Waits until somebody has committed rows. An older transaction may hold them back from the
    // reader, and nobody is notified when it is rolled back: so the wait is never long.
    void wait() { connection_.await_notification(0, 200'000); }

  private:
    pqxx::connection &connection_;
    std::string name_;
};

} // namespace examples
