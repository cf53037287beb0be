// The schema of the extension, as CREATE EXTENSION finds it.
#pragma once

namespace snowflake::schema {

// Returns whether this transaction made the schema snowflake. What it has only altered, by GRANT
// or ALTER SCHEMA, does not count: another session may have seen it before.
bool is_new();

} // namespace snowflake::schema
