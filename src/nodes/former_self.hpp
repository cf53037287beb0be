// What this database was before pg_upgrade, which gives its server another system identifier:
// another instance, for all that the registry tells. A server that replicates with nobody goes on
// as that instance by itself. Others have to be told: the former one may live beside this one.
#pragma once

#include "registry.hpp"

namespace snowflake::former_self {

// Makes acts that this server has written under an earlier major version acts of this instance, if
// it replicates with nobody, or has written acts since. Dates their claims later than they were, so
// that the former instance, if it lives, goes before this one once they hear of each other. The
// acts are all that concern this instance.
void adopt(std::span<registry::StoredAct> acts, const Instance &self);

// Returns the latest act by which the former self still has a number, where it was not adopted;
// null: none.
const registry::StoredAct *find(const registry::Registry &registry, registry::Acts acts);

} // namespace snowflake::former_self
