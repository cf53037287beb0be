#include "registry.hpp"

namespace integration {

std::string arrival(int node, const std::string &name, Id system_identifier) {
    const std::string number = std::to_string(node);
    return "INSERT INTO snowflake.nodes (act, kind, node, last_node, system_identifier, database, "
           "copy, place, name, claimed_at, said_at, version) VALUES (gen_random_uuid(), 'claim', " +
           number + ", " + number + ", " + std::to_string(system_identifier) +
           ", 16384, 0, 'elsewhere:/data#1', '" + name +
           "', '2024-01-01', '2024-01-01', '3.0.0 on PostgreSQL 15')";
}

void age_acts(Session &session) {
    session.run("ALTER TABLE snowflake.nodes DISABLE TRIGGER USER");
    session.run("UPDATE snowflake.nodes SET version = '3.0.0 on PostgreSQL 14'");
    for (const char *trigger : {"guard", "guard_truncate", "truncated", "changed"})
        session.run(std::string("ALTER TABLE snowflake.nodes ENABLE ALWAYS TRIGGER ") + trigger);
}

} // namespace integration
