// Node numbers in the latest IDs of the tables at hand, and in the sequences: what else than claims
// shows that a number is, or has been, in use. Only here do the commands on node numbers ask SQL,
// the view snowflake.sequences, about what this database has.
#pragma once

#include "pure/claims.hpp"
#include "server/server.hpp"

namespace snowflake {

class LatestIds {
  public:
    // Looks at the latest IDs in tables whose default makes them in its sequence's layout: at no
    // more than some hundred IDs a table and some hundred tables, by their indexes. Waits for no
    // lock, and runs no code of users. Whoever may make a table can write IDs of any time into it:
    // one that is not of a role that may act for the installer is believed as far ahead as anybody
    // may take IDs. The current role must be a superuser. palloc'd.
    static const LatestIds &look();

    // Tells whether IDs of a number are at hand, and whether the latest is later than now_us, in
    // Unix microseconds.
    [[nodiscard]] Seen seen(std::int32_t node, std::int64_t now_us) const {
        const std::int64_t latest = latest_us(node);
        if (latest == 0)
            return Seen::nowhere;
        return latest > now_us ? Seen::later : Seen::past;
    }

    // The time of the latest ID of a number, in Unix microseconds; 0: there is none.
    [[nodiscard]] std::int64_t latest_us(std::int32_t node) const { return latest_[node].unix_us; }

    // The table that has the latest ID of a number.
    [[nodiscard]] Oid table_of(std::int32_t node) const { return latest_[node].table; }

  private:
    struct Latest {
        std::int64_t unix_us;
        Oid table;
    };

    void look_at(Oid table, AttrNumber attribute, Layout layout, std::int64_t believed_us);
    void note(std::int64_t id, Layout layout, std::int64_t believed_us, Oid table);

    Latest latest_[last_claimable_node + 1];
};

// Returns the time of the last ID with one of these numbers that a sequence of this database has
// made, in Unix microseconds; 0: there is none. Whoever may make a sequence can put it in the year
// 2090: one that is not of a role that may act for the installer is believed as far ahead as
// anybody may take IDs.
std::int64_t last_id_of_sequences_us(std::int32_t first, std::int32_t last);

// Returns the greatest number that fits the layouts of all sequences of this database that make
// IDs.
std::int32_t last_fitting_node();

} // namespace snowflake
