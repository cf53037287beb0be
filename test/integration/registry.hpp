// What other instances say about node numbers, as rows of snowflake.nodes.
#pragma once

#include "session.hpp"

#include <string>

namespace integration {

// Makes the command that adds a claim of another instance, as if it had arrived by replication. The
// claim is of 2024, before every claim that a test makes.
std::string arrival(int node, const std::string &name, Id system_identifier = 5);

// Makes what this server has said the word of an earlier major version, as after pg_upgrade.
void age_acts(Session &session);

} // namespace integration
