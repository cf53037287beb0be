#include "former_self.hpp"

namespace snowflake::former_self {

namespace {

using registry::StoredAct;

// Whether the former self has said an act of itself, not of an instance that it has removed.
bool is_former(const StoredAct &act, const Instance &self) {
    return act.written_here && act.kind != Kind::remove && act.about.database == self.database &&
           act.about.system_identifier != self.system_identifier && is_of_earlier_version(act);
}

// Whether this instance has gone on with the number of an act, or as the copy that the act is
// about.
bool goes_on_with(const StoredAct &act, const StoredAct &own, const Instance &self) {
    return own.written_here && own.holds() && own.about.database == self.database &&
           own.about.system_identifier == self.system_identifier &&
           (own.covers(act.first) ||
            (act.kind == Kind::separate && own.about.copy == act.about.copy));
}

// When the data directory was made, in microseconds of Unix time: the server puts it into the upper
// half of the system identifier.
std::int64_t made_at(const Instance &self) {
    return (self.system_identifier >> 32) * 1'000'000;
}

bool has_other_publication() {
    Relation publications = table_open(PublicationRelationId, AccessShareLock);
    SysScanDesc scan = systable_beginscan(publications, InvalidOid, false, nullptr, 0, nullptr);
    bool found = false;
    for (HeapTuple tuple = systable_getnext(scan); !found && tuple != nullptr;
         tuple = systable_getnext(scan)) {
        const auto *publication = reinterpret_cast<Form_pg_publication>(GETSTRUCT(tuple));
        found = strcmp(NameStr(publication->pubname), "snowflake_nodes") != 0;
    }
    systable_endscan(scan);
    table_close(publications, AccessShareLock);
    return found;
}

// Whether the database has been made a node of an extension that replicates.
bool is_node_of(const char *extension) {
    if (!OidIsValid(get_extension_oid(extension, true)))
        return false;
    const Oid schema = get_namespace_oid(extension, true);
    const Oid oid = OidIsValid(schema) ? get_relname_relid("node", schema) : InvalidOid;
    Relation table = OidIsValid(oid) ? try_relation_open(oid, AccessShareLock) : nullptr;
    if (table == nullptr)
        return false;
    const bool has_rows =
        table->rd_rel->relkind != RELKIND_RELATION || RelationGetNumberOfBlocks(table) > 0;
    relation_close(table, AccessShareLock);
    return has_rows;
}

bool replicates() {
    int slots = 0;
    int active = 0;
    return CountDBSubscriptions(MyDatabaseId) > 0 ||
           ReplicationSlotsCountDBSlots(MyDatabaseId, &slots, &active) || has_other_publication() ||
           is_node_of("pglogical") || is_node_of("spock");
}

} // namespace

// The texts of versions end in the major version of the server.
bool is_of_earlier_version(const StoredAct &act) {
    const char *major = strrchr(act.version, ' ');
    return major != nullptr && atoi(major) > 0 && atoi(major) < PG_VERSION_NUM / 10000;
}

void adopt(std::span<StoredAct> acts, const Instance &self) {
    const auto any = [&acts](auto fits) { return std::any_of(acts.begin(), acts.end(), fits); };
    if (!any([&self](const StoredAct &act) { return is_former(act, self); }))
        return;
    const bool is_alone =
        !any([](const StoredAct &act) { return !act.written_here; }) && !replicates();
    for (StoredAct &act : acts) {
        if (!is_former(act, self))
            continue;
        const auto is_kept = [&](const StoredAct &own) { return goes_on_with(act, own, self); };
        if (!is_alone && !any(is_kept))
            continue;
        act.about.system_identifier = self.system_identifier;
        act.claimed_at = std::max(act.claimed_at, made_at(self)) + 1;
    }
}

const StoredAct *find(const registry::Registry &registry, bool upgraded) {
    const Instance &self = registry.self();
    const StoredAct *found = nullptr;
    for (const StoredAct &act : registry.acts())
        if ((upgraded ? is_former(act, self) : act.written_here && act.about != self) &&
            registry.stands(act, act.first) && (found == nullptr || act.said_at > found->said_at))
            found = &act;
    return found;
}

} // namespace snowflake::former_self
