#include "sequence_page.hpp"

namespace snowflake {

namespace {

// The word in the special space of every sequence's page, by which the server knows one.
constexpr std::uint32_t page_magic = 0x1717;

Buffer pin(Oid relid, const Storage &storage, Buffer recent) {
    if (BufferIsValid(recent) && ReadRecentBuffer(storage.locator, MAIN_FORKNUM, 0, recent))
        return recent;

    // The caller holds a lock on the sequence.
    Relation relation = relation_open(relid, NoLock);
    const Buffer buffer = ReadBuffer(relation, 0);
    relation_close(relation, NoLock);
    return buffer;
}

// The ID up to which the WAL covers the sequence. Saturates: log_cnt may come from anywhere.
Id covered_up_to(const FormData_pg_sequence_data &data, std::int64_t step) {
    std::int64_t distance = 0;
    Id mark = no_id;
    if (__builtin_mul_overflow(data.log_cnt, step, &distance) ||
        __builtin_add_overflow(data.last_value, distance, &mark))
        return std::numeric_limits<Id>::max();
    return mark;
}

} // namespace

LockedPage lock_page(Oid relid, const Storage &storage, Buffer &recent) {
    const Buffer buffer = pin(relid, storage, recent);
    recent = buffer;
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);

    Page page = BufferGetPage(buffer);
    const auto *magic = reinterpret_cast<std::uint32_t *>(PageGetSpecialPointer(page));
    if (PageGetSpecialSize(page) != MAXALIGN(sizeof page_magic) || *magic != page_magic) {
        UnlockReleaseBuffer(buffer);
        ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
                errmsg("page of sequence \"%s\" is corrupted", get_rel_name(relid)));
    }

    ItemId item = PageGetItemId(page, FirstOffsetNumber);
    auto *tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    return {.buffer = buffer,
            .tuple = tuple,
            .tuple_length = static_cast<std::uint16_t>(ItemIdGetLength(item)),
            .data = reinterpret_cast<FormData_pg_sequence_data *>(reinterpret_cast<char *>(tuple) +
                                                                  tuple->t_hoff)};
}

void unlock(const LockedPage &page) {
    UnlockReleaseBuffer(page.buffer);
}

Id last_reserved(const LockedPage &page) {
    const FormData_pg_sequence_data &data = *page.data;
    // Before the first call last_value itself is still free.
    return data.is_called || data.last_value < 0 ? data.last_value : data.last_value - 1;
}

bool continued(const LockedPage &page) {
    return page.data->is_called && page.data->log_cnt != 0;
}

void advance(const LockedPage &page, const Storage &storage, Id last, const Coverage &coverage) {
    FormData_pg_sequence_data &data = *page.data;

    // Dirty first: a checkpoint that begins after the look at the redo pointer writes the page.
    MarkBufferDirty(page.buffer);

    // A record is due when the mark is passed. One is due as well when a checkpoint began since
    // the last one: recovery would start after it and find only what the checkpoint wrote out. And
    // ALTER SEQUENCE and CREATE DATABASE may copy the tuple with a log_cnt that nothing covers.
    Id covered = covered_up_to(data, coverage.step);
    const bool log = storage.logged && (!coverage.trusted || !data.is_called || last > covered ||
                                        page_lsn(page) <= GetRedoRecPtr());

    // A transaction without an ID would not wait for synchronous standbys to have the record.
    if (log)
        GetTopTransactionId();

    server::start_critical_section();
    if (log) {
        // The record shows the sequence as of the mark: after a crash it goes on above everything
        // that may have been handed out.
        data.last_value = covered = coverage.mark;
        data.is_called = true;
        data.log_cnt = 0;

        xl_seq_rec record;
        server::set_locator(record, storage.locator);
        XLogBeginInsert();
        XLogRegisterBuffer(0, page.buffer, REGBUF_WILL_INIT);
        XLogRegisterData(reinterpret_cast<char *>(&record), sizeof record);
        XLogRegisterData(reinterpret_cast<char *>(page.tuple), page.tuple_length);
        const XLogRecPtr lsn = XLogInsert(RM_SEQ_ID, XLOG_SEQ_LOG);
        PageSetLSN(BufferGetPage(page.buffer), lsn);
    }
    data.last_value = last;
    data.is_called = true;
    data.log_cnt = storage.logged ? (covered - last) / coverage.step : -1;
    server::end_critical_section();
}

} // namespace snowflake
