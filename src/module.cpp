// The loading of the module: the block by which the server knows it, what the server calls once it
// has loaded it, and what CREATE EXTENSION asks before it makes the rest.

#include "conversion/definitions.hpp"
#include "conversion/new_columns.hpp"
#include "nodes/settings.hpp"
#include "nodes/this_node.hpp"
#include "sequence/durability.hpp"
#include "sequence/session.hpp"
#include "server/schema.hpp"
#include "server/server.hpp"
#include "watermark/lock_holders.hpp"
#include "watermark/statements.hpp"
#include "watermark/watermark.hpp"

extern "C" {

SNOWFLAKE_MODULE_MAGIC;

PGDLLEXPORT void _PG_init() { // NOLINT(bugprone-reserved-identifier): the server's name for it
    snowflake::settings::init(snowflake::this_node::forget);
    snowflake::this_node::init();
    snowflake::durability::init();
    snowflake::session::init();
    snowflake::lock_holders::init();
    snowflake::statements::init();
    snowflake::watermark::init();
    snowflake::new_columns::init();
    snowflake::definitions::init();
}

// _schema_is_new() returns boolean
SNOWFLAKE_FUNCTION(snowflake_schema_is_new);
Datum snowflake_schema_is_new(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_BOOL(snowflake::schema::is_new());
}

// _wait_for_transactions() returns void
SNOWFLAKE_FUNCTION(snowflake_wait_for_transactions);
Datum snowflake_wait_for_transactions(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    snowflake::schema::wait_for_transactions();
    PG_RETURN_VOID();
}

} // extern "C"
