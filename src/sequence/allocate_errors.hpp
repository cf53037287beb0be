// The errors of making an ID, with the details and hints that a user needs.
#pragma once

#include "pure/generator.hpp"
#include "server/server.hpp"
#include "session.hpp"

namespace snowflake {

// An attempt to make IDs, as far as a message tells of it.
struct Attempt {
    Layout layout;
    int node;
    std::int64_t now_us; // the clock, in Unix microseconds
    std::int64_t count;  // IDs that had to be reserved, or nothing
};

// Raises the error for a refusal by the rule of the next ID.
[[noreturn]] void raise_refusal(Refusal refusal, const session::Sequence &sequence,
                                const Attempt &attempt);

// Raises the error for a sequence whose INCREMENT is above the greatest size of a block that
// clients may count up or down.
[[noreturn]] void raise_block_too_wide(const session::Sequence &sequence, std::int64_t greatest);

// Raises the error for a layout without nodes, under the SQLSTATE that fits where it was named.
[[noreturn]] void raise_no_nodes(int error_code);

} // namespace snowflake
