// A schema of many tables that mixes all that can hang on a sequence, the same for the same seed.
#pragma once

#include "ids.hpp"

#include <string>
#include <vector>

namespace integration {

// The statements that make the schema, rows included, in a database that has none of it yet, for
// roles that role_statements() makes.
std::vector<std::string> random_schema(Random &random, int tables);
std::vector<std::string> role_statements();

// A query with a line of text for each fact of the database's schema, in an order of its own. What
// a conversion changes by design is left out of it: that columns become bigint, that defaults call
// snowflake.nextval, that an identity becomes a default, and the type and increment of sequences.
extern const char *const schema_facts;

} // namespace integration
