// The settings of the extension.
#pragma once

namespace snowflake::settings {

// The value of snowflake.node: 1 .. last_claimable_node, or node_unset.
inline constexpr int node_unset = 0;
int node();

// Returns the value that is to be in the registry: it comes from where it holds for others than
// this session too, a file, the command line, a database or a role; and this is no template, from
// which every new database would inherit it.
int node_for_registry();

// Returns the part of a hint that tells how to unset snowflake.node in the place where it is set.
// It stands between "To .., " and further commands, and tells where a superuser must run them.
// palloc'd, or a constant.
const char *how_to_unset_node();

// Tells whether snowflake.convert_new_columns is on, and the session does not restore a dump.
bool converts_new_columns();

// Defines the settings. The server calls on_change whenever the node may have changed. Called once,
// when the module is loaded.
void init(void (*on_change)());

} // namespace snowflake::settings
