#include "sequence_page.hpp"

namespace snowflake {

namespace {

// The word by which the server recognizes the page of a sequence, in the page's special space.
constexpr std::uint32_t page_magic = 0x1717;

Buffer read_page(Oid relid, const Storage &storage, Buffer recent) {
    if (BufferIsValid(recent) && ReadRecentBuffer(storage.locator, MAIN_FORKNUM, 0, recent))
        return recent;
    Relation relation = relation_open(relid, NoLock);
    const Buffer buffer = ReadBuffer(relation, 0);
    relation_close(relation, NoLock);
    return buffer;
}

bool is_sequence_page(Buffer buffer) {
    Page page = BufferGetPage(buffer);
    return PageGetSpecialSize(page) == MAXALIGN(sizeof page_magic) &&
           *reinterpret_cast<std::uint32_t *>(PageGetSpecialPointer(page)) == page_magic;
}

// The ID up to which the WAL covers the sequence. It saturates, because log_cnt may hold any value.
Id covered_up_to(const FormData_pg_sequence_data &data, std::int64_t step) {
    std::int64_t distance = 0;
    Id mark = no_id;
    if (__builtin_mul_overflow(data.log_cnt, step, &distance) ||
        __builtin_add_overflow(data.last_value, distance, &mark))
        return std::numeric_limits<Id>::max();
    return mark;
}

// Counts the steps from last to mark. Most sequences step by one, and a division takes longer than
// the rest of a reservation.
std::int64_t steps_between(Id last, Id mark, std::int64_t step) {
    return likely(step == 1) ? mark - last : (mark - last) / step;
}

// Locks a page, and tries for a while before it sleeps: sessions hold the lock for some tens of
// nanoseconds, and a sleep takes much longer.
void spin_then_lock(Buffer buffer) {
    for (int tries = 0; tries < 100; ++tries) {
        if (ConditionalLockBuffer(buffer))
            return;
        SPIN_DELAY();
    }
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
}

// Writes the record that the server's recovery makes the page from, as it is now. The caller has
// marked the page as dirty, and is in the critical section of the change.
void write_record(const LockedPage &page, const Storage &storage) {
    xl_seq_rec record;
    server::set_locator(record, storage.locator);
    XLogBeginInsert();
    XLogRegisterBuffer(0, page.buffer, REGBUF_WILL_INIT);
    XLogRegisterData(reinterpret_cast<char *>(&record), sizeof record);
    XLogRegisterData(reinterpret_cast<char *>(page.tuple), page.tuple_length);
    const XLogRecPtr lsn = XLogInsert(RM_SEQ_ID, XLOG_SEQ_LOG);
    PageSetLSN(BufferGetPage(page.buffer), lsn);
}

} // namespace

Buffer pin_page(Oid relid, const Storage &storage, Buffer recent) {
    // The pin belongs to the subtransaction first, which gives it back if the page is refused.
    const Buffer buffer = read_page(relid, storage, recent);
    // These parts of the page never change, and can be read without a lock.
    if (!is_sequence_page(buffer))
        ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
                errmsg("page of sequence \"%s\" is corrupted", get_rel_name(relid)));

    ResourceOwner current = CurrentResourceOwner;
    CurrentResourceOwner = TopTransactionResourceOwner;
    IncrBufferRefCount(buffer);
    CurrentResourceOwner = current;
    ReleaseBuffer(buffer);
    return buffer;
}

void unpin_page(Buffer buffer) {
    ResourceOwner current = CurrentResourceOwner;
    CurrentResourceOwner = TopTransactionResourceOwner;
    ReleaseBuffer(buffer);
    CurrentResourceOwner = current;
}

LockedPage lock_page(Buffer buffer) {
    spin_then_lock(buffer);
    Page page = BufferGetPage(buffer);
    ItemId item = PageGetItemId(page, FirstOffsetNumber);
    auto *tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    return {.buffer = buffer,
            .tuple = tuple,
            .tuple_length = static_cast<std::uint16_t>(ItemIdGetLength(item)),
            .data = reinterpret_cast<FormData_pg_sequence_data *>(reinterpret_cast<char *>(tuple) +
                                                                  tuple->t_hoff)};
}

void unlock(const LockedPage &page) {
    LockBuffer(page.buffer, BUFFER_LOCK_UNLOCK);
}

SequenceState state_of(const LockedPage &page) {
    const FormData_pg_sequence_data &data = *page.data;
    // Before the first call last_value itself is still free.
    const bool is_used = data.is_called || data.last_value < 0;
    return {.last = is_used ? data.last_value : data.last_value - 1,
            .reset = !data.is_called || data.log_cnt == 0};
}

void write_with_wal(const LockedPage &page, const Storage &storage, Id last,
                    const Coverage &coverage) {
    FormData_pg_sequence_data &data = *page.data;

    // A WAL record is due in three cases:
    // - The mark is passed.
    // - The page is clean, which means that it was written out since the last record. A checkpoint
    //   may have done so. Recovery would start after the record, and would find the page as it was
    //   then. While the page is dirty, no checkpoint that began after the record is complete.
    // - This session has not written a record yet. ALTER SEQUENCE and CREATE DATABASE may have
    //   copied the tuple, with a log_cnt that no record covers.
    const bool clean = !server::is_dirty(page.buffer);
    Id covered = covered_up_to(data, coverage.step);
    const bool log =
        storage.logged && (!coverage.trusted || !data.is_called || last > covered || clean);

    server::start_critical_section();
    // The page gets dirty before the record is written, so that a checkpoint that begins after the
    // record writes the page again.
    if (clean)
        MarkBufferDirty(page.buffer);
    if (log) {
        // The record shows the sequence as of the mark: after a crash the sequence goes on above
        // every ID that a session may have handed out.
        data.last_value = covered = coverage.mark;
        data.is_called = true;
        data.log_cnt = 0;
        write_record(page, storage);
    }
    data.last_value = last;
    data.is_called = true;
    data.log_cnt = storage.logged ? steps_between(last, covered, coverage.step) : -1;
    server::end_critical_section();
}

void write_reset(const LockedPage &page, const Storage &storage, std::int64_t number,
                 bool is_called) {
    FormData_pg_sequence_data &data = *page.data;
    server::start_critical_section();
    MarkBufferDirty(page.buffer);
    data.last_value = number;
    data.is_called = is_called;
    data.log_cnt = 0;
    if (storage.logged)
        write_record(page, storage);
    server::end_critical_section();
}

} // namespace snowflake
