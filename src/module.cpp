// The loading of the module: the block by which the server knows it, and what the server calls once
// it has loaded it.

#include "nodes.hpp"
#include "server.hpp"
#include "session.hpp"
#include "settings.hpp"

extern "C" {

SNOWFLAKE_MODULE_MAGIC;

void _PG_init() { // NOLINT(bugprone-reserved-identifier): the server's name for it
    snowflake::settings::init(snowflake::nodes::forget);
    snowflake::nodes::init();
    snowflake::session::init();
}

} // extern "C"
