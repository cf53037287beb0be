// The former self: the instance that this database was before pg_upgrade, which gives its server
// another system identifier. A server that replicates with nobody goes on as that instance by
// itself. Others have to be told: the former self may live beside this one.
#pragma once

#include "registry.hpp"

namespace snowflake::former_self {

// Whether a server of an earlier major version wrote an act.
bool is_of_earlier_version(const registry::StoredAct &act);

// Makes the acts of the former self acts of this instance: all of them while the server replicates
// with nobody, and afterwards those about a number that this instance has gone on with. Dates their
// claims later than they were, so that the former self, if it lives, goes before this one once they
// hear of each other. The acts are all that concern this instance.
void adopt(std::span<registry::StoredAct> acts, const Instance &self);

// Returns the latest act by which the former self, where it was not adopted, still has a number;
// or, not only if it was upgraded, any instance that this database was copied from; null: none.
const registry::StoredAct *find(const registry::Registry &registry, bool upgraded = true);

} // namespace snowflake::former_self
