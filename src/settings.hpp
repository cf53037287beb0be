// The settings of the extension: snowflake.node.
#pragma once

namespace snowflake::settings {

// The value of snowflake.node: 1 .. max_node, or node_unset.
inline constexpr int node_unset = 0;
inline constexpr int max_node = 1023;
int node();

// How to take the number away from where it is set, if it is: the part of a hint that stands
// between "To .., " and further commands, which a superuser is to run. palloc'd, or a constant.
const char *how_to_unset_node();

// Makes the settings known to the server, and on_change called whenever the node may have changed.
// Called once, when the module is loaded.
void init(void (*on_change)());

} // namespace snowflake::settings
