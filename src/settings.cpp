#include "settings.hpp"

#include "server.hpp"

namespace snowflake::settings {

static int node_setting = node_unset;
static void (*node_changed)() = nullptr;

int node() {
    return node_setting;
}

static void assign_node(int, void *) {
    node_changed();
}

void define(void (*on_change)()) {
    node_changed = on_change;
    // Superusers only: two instances that take each other's number would make the same IDs.
    DefineCustomIntVariable("snowflake.node", "Number of this PostgreSQL instance in its cluster.",
                            "Every instance that makes snowflake IDs needs a number of its own. "
                            "0 means that none is set, and then no ID is made.",
                            &node_setting, node_unset, node_unset, max_node, PGC_SUSET, 0, nullptr,
                            assign_node, nullptr);
    MarkGUCPrefixReserved("snowflake");
}

} // namespace snowflake::settings
