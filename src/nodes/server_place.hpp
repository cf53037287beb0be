// Where this server runs.
#pragma once

#include <cstdint>

namespace snowflake::server_place {

// Returns the name of the host, in ASCII. palloc'd.
const char *host();

// Returns the place as people read it: the host, the timeline, and a number for the machine and the
// data directory, which is not for everybody to see. A physical copy runs in another place than its
// original, also on the same host; a server that is started again runs where it ran. palloc'd.
const char *here();

// Returns a number that stands for a place, for the rule of claims.
std::uint64_t number_of(const char *place);

} // namespace snowflake::server_place
