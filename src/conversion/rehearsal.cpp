#include "rehearsal.hpp"

#include "definitions.hpp"
#include "server/acting_role.hpp"
#include "server/relations.hpp"

namespace snowflake::rehearsal {

namespace {

void empty(Oid table) {
    // While it waits for the lock, an empty table can become a view, in PostgreSQL 15.
    if (get_rel_relkind(table) != RELKIND_RELATION || !relations::lock(table) ||
        get_rel_relkind(table) != RELKIND_RELATION)
        return;
    const acting_role::Previous before = acting_role::become_owner_of(table);
    Relation relation = table_open(table, NoLock);
    if (IsCatalogRelation(relation))
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("permission denied: \"%s\" is a system catalog",
                       RelationGetRelationName(relation)));
    CheckTableNotInUse(relation, "ALTER TABLE");
    server::set_empty_file(relation);
    if (const Oid toast = relation->rd_rel->reltoastrelid; OidIsValid(toast)) {
        Relation toast_relation = table_open(toast, AccessExclusiveLock);
        server::set_empty_file(toast_relation);
        table_close(toast_relation, NoLock);
        server::rebuild_indexes(toast);
    }
    table_close(relation, NoLock);
    server::rebuild_indexes(table);
    acting_role::resume(before);
    CommandCounterIncrement();
}

} // namespace

void run(const Oid *tables, int count, const char *run_path, const char *text,
         const query::Row &parameter) {
    MemoryContext context = CurrentMemoryContext;
    ResourceOwner owner = CurrentResourceOwner;
    ErrorData *volatile error = nullptr;
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(context);
    PG_TRY();
    {
        const int settings_level = NewGUCNestLevel();
        server::set_search_path(run_path);
        definitions::run_banned([&] { std::for_each(tables, tables + count, empty); });
        AtEOXact_GUC(false, settings_level);
        query::run(text, parameter);
    }
    PG_CATCH();
    {
        MemoryContextSwitchTo(context);
        error = CopyErrorData();
        FlushErrorState();
    }
    PG_END_TRY();
    RollbackAndReleaseCurrentSubTransaction();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owner;
    if (error != nullptr)
        ReThrowError(error);
}

} // namespace snowflake::rehearsal
