#include "settings.hpp"

#include "server.hpp"

namespace snowflake::settings {

static int node_setting = node_unset;

int node() {
    return node_setting;
}

void define() {
    // Superusers only: two instances that take each other's number would make the same IDs.
    DefineCustomIntVariable("snowflake.node", "Number of this PostgreSQL instance in its cluster.",
                            "Every instance that makes snowflake IDs needs a number of its own. "
                            "0 means that none is set, and then no ID is made.",
                            &node_setting, node_unset, node_unset, max_node, PGC_SUSET, 0, nullptr,
                            nullptr, nullptr);
    MarkGUCPrefixReserved("snowflake");
}

} // namespace snowflake::settings
