#include "relations.hpp"

#include "maximum_index.hpp"

namespace snowflake::relations {

namespace {

// Returns whether there is such a relation. Raises 42501 unless the current role has the rights of
// its owner.
bool is_at_hand(Oid relation) {
    const Oid owner = server::owner_of(relation);
    if (!OidIsValid(owner))
        return false;
    if (!server::may_act_for(GetUserId(), owner))
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("must be owner of relation %s", get_rel_name(relation)));
    return true;
}

// The sequence of an identity column is dropped with the identity.
LOCKMODE mode_of_lock(Oid relation) {
    Oid table = InvalidOid;
    int32 column = 0;
    return get_rel_relkind(relation) == RELKIND_SEQUENCE &&
                   !sequenceIsOwned(relation, DEPENDENCY_INTERNAL, &table, &column)
               ? ShareRowExclusiveLock
               : AccessExclusiveLock;
}

// Reads the last entry, and closes the index. Nulls come last in an index, and first when it is
// read backwards.
std::int64_t last_entry(Relation table, Relation index, AttrNumber attribute, Snapshot snapshot) {
    IndexScanDesc scan = server::begin_index_scan(table, index, snapshot);
    index_rescan(scan, nullptr, 0, nullptr, 0);
    TupleTableSlot *slot = table_slot_create(table, nullptr);
    std::int64_t greatest = no_value;
    while (greatest == no_value && index_getnext_slot(scan, BackwardScanDirection, slot)) {
        bool is_null = true;
        const Datum value = slot_getattr(slot, attribute, &is_null);
        if (!is_null)
            greatest = DatumGetInt64(value);
    }
    ExecDropSingleTupleTableSlot(slot);
    index_endscan(scan);
    index_close(index, AccessShareLock);
    return greatest;
}

std::int64_t greatest_of_all(Relation table, AttrNumber attribute, Snapshot snapshot) {
    TableScanDesc scan = server::begin_table_scan(table, snapshot);
    TupleTableSlot *slot = table_slot_create(table, nullptr);
    std::int64_t greatest = no_value;
    while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
        CHECK_FOR_INTERRUPTS();
        bool is_null = true;
        const Datum value = slot_getattr(slot, attribute, &is_null);
        if (!is_null)
            greatest = std::max(greatest, DatumGetInt64(value));
    }
    ExecDropSingleTupleTableSlot(slot);
    table_endscan(scan);
    return greatest;
}

// Returns the last number that was taken from a sequence; no_value: none was.
std::int64_t last_taken(Relation sequence) {
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    TableScanDesc scan = server::begin_table_scan(sequence, snapshot);
    TupleTableSlot *slot = table_slot_create(sequence, nullptr);
    std::int64_t last = no_value;
    bool is_null = false;
    if (table_scan_getnextslot(scan, ForwardScanDirection, slot) &&
        DatumGetBool(slot_getattr(slot, SEQ_COL_CALLED, &is_null)))
        last = DatumGetInt64(slot_getattr(slot, SEQ_COL_LASTVAL, &is_null));
    ExecDropSingleTupleTableSlot(slot);
    table_endscan(scan);
    UnregisterSnapshot(snapshot);
    return last;
}

// Whether a relation with storage has it on this server: a standby has not what leaves no WAL.
bool has_file(Relation relation) {
    return RelationNeedsWAL(relation) || !RecoveryInProgress();
}

// Opens a relation of a kind for a glimpse; nullptr: the role may not read it, or would have to
// wait.
Relation open_to_glimpse(Oid relid, char kind, AclMode any_of) {
    // In parallel mode the server takes no latest snapshot.
    if (IsInParallelMode() || get_rel_relkind(relid) != kind ||
        isOtherTempNamespace(get_rel_namespace(relid)) ||
        pg_class_aclcheck(relid, GetUserId(), any_of) != ACLCHECK_OK ||
        !ConditionalLockRelationOid(relid, AccessShareLock))
        return nullptr;
    Relation relation = try_relation_open(relid, NoLock);
    if (relation == nullptr || !has_file(relation)) {
        if (relation != nullptr)
            relation_close(relation, NoLock);
        UnlockRelationOid(relid, AccessShareLock);
        return nullptr;
    }
    return relation;
}

// Raises 25006 in a read-only transaction and on a standby, and 25000 in a parallel operation.
void require_writable(const char *function) {
    PreventCommandIfReadOnly(function);
    PreventCommandDuringRecovery(function);
    PreventCommandIfParallelMode(function);
}

// Locks the rows of a catalog that have an OID in a column, until the transaction ends. Commands
// that lock no object, as those that rename a schema or grant a right, change a row, and wait for
// whoever has locked it. Returns false if one was changed at the same moment.
bool lock_rows(Oid catalog, Oid index, AttrNumber column, Oid value, LockTupleMode mode) {
    Relation rows = table_open(catalog, RowShareLock);
    // The place that the cache has may be another row's by now. The snapshot of a scan keeps a row
    // where it is.
    ScanKeyData key;
    ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
    SysScanDesc scan = systable_beginscan(rows, index, true, nullptr, 1, &key);
    bool all = true;
    for (HeapTuple found = systable_getnext(scan); all && HeapTupleIsValid(found);
         found = systable_getnext(scan)) {
        HeapTupleData row{};
        row.t_self = found->t_self;
        // GRANT and CREATE INDEX take this lock of the row of a relation before they look who has
        // locked the row. Without it here, CREATE INDEX of this session would wait for a GRANT
        // that waits for this session.
        if (catalog == RelationRelationId)
            LockTuple(rows, &row.t_self, ExclusiveLock);
        Buffer buffer = InvalidBuffer;
        TM_FailureData failure{};
        const TM_Result result = heap_lock_tuple(rows, &row, GetCurrentCommandId(true), mode,
                                                 LockWaitBlock, false, &buffer, &failure);
        ReleaseBuffer(buffer);
        all = result == TM_Ok || result == TM_SelfModified;
    }
    systable_endscan(scan);
    table_close(rows, NoLock);
    return all;
}

bool is_bigint(Relation table, AttrNumber attribute) {
    return attribute > 0 && attribute <= RelationGetNumberOfAttributes(table) &&
           IsBinaryCoercible(TupleDescAttr(RelationGetDescr(table), attribute - 1)->atttypid,
                             INT8OID);
}

// Names who can grant the right.
[[noreturn]] void raise_no_usage(Oid schema, Oid role) {
    HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
    if (!HeapTupleIsValid(tuple))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_SCHEMA),
                errmsg("schema with OID %u does not exist", schema));
    const auto *row = reinterpret_cast<Form_pg_namespace>(GETSTRUCT(tuple));
    const char *name = pstrdup(NameStr(row->nspname));
    const Oid owner = row->nspowner;
    ReleaseSysCache(tuple);
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("permission denied for schema %s", name),
            errdetail("The schema is owned by %s.", GetUserNameFromId(owner, false)),
            errhint("GRANT USAGE ON SCHEMA %s TO %s;", quote_identifier(name),
                    quote_identifier(GetUserNameFromId(role, false))));
}

} // namespace

void hold_schema(Oid schema, Oid role) {
    require_writable("_hold_schema()");
    if (!server::may_act_for(GetUserId(), role))
        return;
    if (!server::may_use_schema(GetUserId(), schema) && !server::may_use_schema(role, schema))
        raise_no_usage(schema, role);
    if (!lock_rows(NamespaceRelationId, NamespaceOidIndexId, Anum_pg_namespace_oid, schema,
                   LockTupleKeyShare))
        ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
                errmsg("schema \"%s\" was changed at the same time", get_namespace_name(schema)),
                errhint("Call the function again."));
}

void hold_rights(Oid catalog, Oid object) {
    require_writable("_hold_rights()");
    const bool is_relation = catalog == RelationRelationId;
    if (!is_relation && catalog != ProcedureRelationId)
        return;
    const Oid owner = is_relation ? server::owner_of(object) : server::owner_of_function(object);
    if (!OidIsValid(owner) || !server::may_act_for(GetUserId(), owner))
        return;
    // From PostgreSQL 18 on GRANT locks a routine first, as DROP does. A relation has been locked
    // by the caller.
    if (!is_relation)
        LockDatabaseObject(ProcedureRelationId, object, 0, AccessExclusiveLock);
    const bool are_held =
        is_relation ? lock_rows(RelationRelationId, ClassOidIndexId, Anum_pg_class_oid, object,
                                LockTupleNoKeyExclusive) &&
                          lock_rows(AttributeRelationId, AttributeRelidNumIndexId,
                                    Anum_pg_attribute_attrelid, object, LockTupleNoKeyExclusive)
                    : lock_rows(ProcedureRelationId, ProcedureOidIndexId, Anum_pg_proc_oid, object,
                                LockTupleNoKeyExclusive);
    if (!are_held)
        ereport(ERROR, errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                errmsg("an object whose rights are needed was changed at the same time"),
                errhint("Call the function again."));
}

void wait_for_holders(Oid relation) {
    if (!lock(relation, ShareUpdateExclusiveLock))
        return;
    UnlockRelationOid(relation, ShareUpdateExclusiveLock);
    LOCKTAG tag;
    SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
    WaitForLockers(tag, mode_of_lock(relation), false);
}

// A session does not wait for a lock that it could not have, and the relation can change hands
// while it waits: the owner is looked up before and after.
bool lock(Oid relation, LOCKMODE mode) {
    PreventCommandIfParallelMode("_lock()");
    if (!is_at_hand(relation))
        return false;
    LockRelationOid(relation, mode);
    return is_at_hand(relation);
}

bool lock(Oid relation) {
    return lock(relation, mode_of_lock(relation));
}

Relation open(Oid relation, LOCKMODE mode) {
    if (!lock(relation, mode))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
                errmsg("relation with OID %u does not exist", relation));
    Relation opened = relation_open(relation, NoLock);
    if (!has_file(opened))
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot access temporary or unlogged relations during recovery"));
    return opened;
}

// The server plans all anew when a schema has changed.
void plan_anew(Oid relation) {
    PreventCommandIfReadOnly("_plan_anew()");
    PreventCommandDuringRecovery("_plan_anew()");
    Relation table = open(relation, AccessShareLock);
    const bool is_new = table->rd_createSubid != InvalidSubTransactionId;
    relation_close(table, NoLock);
    if (is_new)
        return;
    Relation schemas = table_open(NamespaceRelationId, AccessShareLock);
    HeapTuple any = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
    if (HeapTupleIsValid(any)) {
        CacheInvalidateHeapTuple(schemas, any, nullptr);
        ReleaseSysCache(any);
    }
    table_close(schemas, AccessShareLock);
}

bool own_as_serial(Oid sequence) {
    Oid table = InvalidOid;
    int32 column = 0;
    if (get_rel_relkind(sequence) != RELKIND_SEQUENCE || !lock(sequence) ||
        !sequenceIsOwned(sequence, DEPENDENCY_INTERNAL, &table, &column))
        return false;
    HeapTuple tuple = SearchSysCacheAttNum(table, static_cast<AttrNumber>(column));
    const bool is_identity =
        !HeapTupleIsValid(tuple) ||
        reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attidentity != '\0';
    if (HeapTupleIsValid(tuple))
        ReleaseSysCache(tuple);
    if (is_identity)
        return false;
    deleteDependencyRecordsForClass(RelationRelationId, sequence, RelationRelationId,
                                    DEPENDENCY_INTERNAL);
    const ObjectAddress owned = {RelationRelationId, sequence, 0};
    const ObjectAddress owner = {RelationRelationId, table, column};
    recordDependencyOn(&owned, &owner, DEPENDENCY_AUTO);
    return true;
}

std::int64_t last_value(Oid sequence) {
    Relation relation = open(sequence, AccessShareLock);
    if (relation->rd_rel->relkind != RELKIND_SEQUENCE)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a sequence", RelationGetRelationName(relation)));
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    const std::int64_t value = greatest_of_all(relation, SEQ_COL_LASTVAL, snapshot);
    UnregisterSnapshot(snapshot);
    relation_close(relation, NoLock);
    return value;
}

std::int64_t greatest_value(Oid table, AttrNumber attribute) {
    Relation relation = open(table, AccessShareLock);
    const bool is_suitable = relation->rd_rel->relkind == RELKIND_RELATION &&
                             !RELATION_IS_OTHER_TEMP(relation) && is_bigint(relation, attribute);
    if (!is_suitable)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("column %d of \"%s\" is not a bigint column of a table", attribute,
                       RelationGetRelationName(relation)));
    Relation index = maximum_index::open(relation, attribute, true);
    // The latest snapshot shows what committed rows hold now, at every isolation level.
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    const std::int64_t greatest = index != nullptr
                                      ? last_entry(relation, index, attribute, snapshot)
                                      : greatest_of_all(relation, attribute, snapshot);
    UnregisterSnapshot(snapshot);
    relation_close(relation, NoLock);
    return greatest;
}

bool has_greatest_value_at_hand(Oid table, AttrNumber attribute) {
    Relation relation = try_relation_open(table, AccessShareLock);
    if (relation == nullptr)
        return false;
    Relation index = maximum_index::open(relation, attribute, true);
    const bool has = index != nullptr;
    if (has)
        index_close(index, AccessShareLock);
    relation_close(relation, AccessShareLock);
    return has;
}

std::int64_t glimpse_last_value(Oid sequence) {
    Relation relation = open_to_glimpse(sequence, RELKIND_SEQUENCE, ACL_SELECT | ACL_USAGE);
    if (relation == nullptr)
        return no_value;
    const std::int64_t value = last_taken(relation);
    relation_close(relation, AccessShareLock);
    return value;
}

std::int64_t glimpse_greatest_value(Oid table, AttrNumber attribute) {
    Relation relation = open_to_glimpse(table, RELKIND_RELATION, ACL_SELECT);
    if (relation == nullptr)
        return no_value;
    std::int64_t greatest = no_value;
    // A role learns nothing of rows that policies hide from it.
    const bool may_look =
        is_bigint(relation, attribute) && check_enable_rls(table, InvalidOid, true) != RLS_ENABLED;
    Relation index = may_look ? maximum_index::open(relation, attribute, false) : nullptr;
    if (index != nullptr) {
        Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
        greatest = last_entry(relation, index, attribute, snapshot);
        UnregisterSnapshot(snapshot);
    }
    relation_close(relation, AccessShareLock);
    return greatest;
}

std::int64_t glimpse_size(Oid relid) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        return no_value;
    // ANALYZE notes -1 pages for a partitioned table.
    const auto noted = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relpages;
    auto pages = static_cast<BlockNumber>(std::max(noted, 0));
    ReleaseSysCache(tuple);
    if (ConditionalLockRelationOid(relid, AccessShareLock)) {
        Relation relation = try_relation_open(relid, NoLock);
        if (relation != nullptr) {
            if (RELKIND_HAS_STORAGE(relation->rd_rel->relkind) && has_file(relation))
                pages = RelationGetNumberOfBlocks(relation);
            relation_close(relation, NoLock);
        }
        UnlockRelationOid(relid, AccessShareLock);
    }
    return std::int64_t{pages} * BLCKSZ;
}

} // namespace snowflake::relations
