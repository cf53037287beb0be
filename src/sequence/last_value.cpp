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

} // namespace

void take_last_value(Oid sequence, Oid other) {
    PreventCommandIfReadOnly("_take_last_value()");
    PreventCommandDuringRecovery("_take_last_value()");
    Relation relation = relations::open(sequence, ShareRowExclusiveLock);
    const Id last = std::max<Id>(relations::last_value(other), 1);
    require_limits(relation, last);
    const Storage storage{.locator = server::locator_of(relation),
                          .logged = RelationNeedsWAL(relation)};
    if (storage.logged)
        GetTopTransactionId(); // The commit waits for the record.
    const Buffer buffer = pin_page(sequence, storage, InvalidBuffer);
    const LockedPage page = lock_page(buffer);
    write_with_wal(page, storage, last, {.mark = last, .step = 1, .trusted = false});
    unlock(page);
    unpin_page(buffer);
    relation_close(relation, NoLock);
}

} // namespace snowflake
