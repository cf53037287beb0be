#include "unbuilt_index.hpp"

namespace snowflake::unbuilt_index {

namespace {

// As the server marks one before it builds it: nobody reads it, or enters rows.
void mark_unbuilt(Oid index) {
    Relation catalog = table_open(IndexRelationId, RowExclusiveLock);
    HeapTuple tuple = SearchSysCacheCopy1(INDEXRELID, ObjectIdGetDatum(index));
    if (!HeapTupleIsValid(tuple))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("index %u does not exist", index));
    auto *form = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
    form->indisvalid = false;
    form->indisready = false;
    CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
    heap_freetuple(tuple);
    table_close(catalog, RowExclusiveLock);
    CommandCounterIncrement();
}

} // namespace

bool is_made_by(const Node *statement) {
    return IsA(statement, IndexStmt) && reinterpret_cast<const IndexStmt *>(statement)->concurrent;
}

void make(const Node *statement, const char *command) {
    PreventCommandIfReadOnly("CREATE INDEX CONCURRENTLY");
    auto *index = reinterpret_cast<IndexStmt *>(copyObjectImpl(statement));
    index->concurrent = false; // which would take transactions of its own
    const Oid table = RangeVarGetRelidExtended(index->relation, ShareLock, 0,
                                               RangeVarCallbackOwnsRelation, nullptr);
    if (get_rel_relkind(table) != RELKIND_RELATION)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a table that has rows", index->relation->relname));
    mark_unbuilt(server::define_empty_index(table, transformIndexStmt(table, index, command)));
}

} // namespace snowflake::unbuilt_index
