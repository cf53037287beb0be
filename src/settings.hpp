// The settings of the extension: snowflake.node.
#pragma once

namespace snowflake::settings {

// The value of snowflake.node: 1 .. max_node, or node_unset.
inline constexpr int node_unset = 0;
inline constexpr int max_node = 1023;
int node();

// Makes the settings known to the server, and on_change called whenever the node may have changed.
// Called once, when the module is loaded.
void define(void (*on_change)());

} // namespace snowflake::settings
