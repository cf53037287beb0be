#include "last_value.hpp"

#include "sequence_page.hpp"
#include "server/relations.hpp"

namespace snowflake {

namespace {

void require_limits(Relation sequence, Id value) {
    HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(RelationGetRelid(sequence)));
    if (!HeapTupleIsValid(tuple))
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a sequence", RelationGetRelationName(sequence)));
    const auto &options = *reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple));
    const bool is_allowed = options.seqmin <= value && value <= options.seqmax;
    ReleaseSysCache(tuple);
    if (!is_allowed)
        ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                errmsg("value %lld is out of bounds for sequence \"%s\"",
                       static_cast<long long>(value), RelationGetRelationName(sequence)));
}

Storage storage_of(Relation sequence) {
    return {.locator = server::locator_of(sequence), .logged = RelationNeedsWAL(sequence)};
}

// Returns what a sequence of the current role holds.
FormData_pg_sequence_data read(Oid sequence) {
    Relation relation = relations::open(sequence, AccessShareLock);
    if (relation->rd_rel->relkind != RELKIND_SEQUENCE)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a sequence", RelationGetRelationName(relation)));
    const Buffer buffer = pin_page(sequence, storage_of(relation), InvalidBuffer);
    const LockedPage page = lock_page(buffer);
    const FormData_pg_sequence_data data = *page.data;
    unlock(page);
    unpin_page(buffer);
    relation_close(relation, NoLock);
    return data;
}

void write(Oid sequence, std::int64_t number, bool is_called) {
    Relation relation = relations::open(sequence, ShareRowExclusiveLock);
    require_limits(relation, number);
    const Storage storage = storage_of(relation);
    if (storage.logged)
        GetTopTransactionId(); // The commit waits for the record.
    const Buffer buffer = pin_page(sequence, storage, InvalidBuffer);
    const LockedPage page = lock_page(buffer);
    write_reset(page, storage, number, is_called);
    unlock(page);
    unpin_page(buffer);
    relation_close(relation, NoLock);
}

void refuse_read_only(const char *function) {
    PreventCommandIfReadOnly(function);
    PreventCommandDuringRecovery(function);
}

} // namespace

void take_last_value(Oid sequence, Oid other) {
    refuse_read_only("_take_last_value()");
    write(sequence, std::max<std::int64_t>(read(other).last_value, 1), true);
}

void take_state(Oid sequence, Oid other) {
    refuse_read_only("_take_state()");
    const FormData_pg_sequence_data data = read(other);
    write(sequence, data.last_value, data.is_called);
}

} // namespace snowflake
