// The settings of the extension: snowflake.node.
#pragma once

namespace snowflake::settings {

// The value of snowflake.node: 1 .. max_node, or node_unset.
inline constexpr int node_unset = 0;
inline constexpr int max_node = 1023;
int node();

// Makes the settings known to the server. Called once, when the module is loaded.
void define();

} // namespace snowflake::settings
