// The loading of the module: the block by which the server knows it, what the server calls once it
// has loaded it, and what CREATE EXTENSION asks before it makes the rest.

#include "conversion/event_triggers.hpp"
#include "nodes/nodes.hpp"
#include "nodes/settings.hpp"
#include "sequence/durability.hpp"
#include "sequence/session.hpp"
#include "server/run_as.hpp"
#include "server/schema.hpp"
#include "server/server.hpp"
#include "watermark/holders.hpp"
#include "watermark/statements.hpp"
#include "watermark/watermark.hpp"

extern "C" {

SNOWFLAKE_MODULE_MAGIC;

PGDLLEXPORT void _PG_init() { // NOLINT(bugprone-reserved-identifier): the server's name for it
    snowflake::settings::init(snowflake::nodes::forget);
    snowflake::nodes::init();
    snowflake::durability::init();
    snowflake::session::init();
    snowflake::holders::init();
    snowflake::statements::init();
    snowflake::watermark::init();
    snowflake::event_triggers::init();
    snowflake::run_as::init();
}

// _schema_is_new() returns boolean
SNOWFLAKE_FUNCTION(snowflake_schema_is_new);
Datum snowflake_schema_is_new(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_BOOL(snowflake::schema::is_new());
}

} // extern "C"
