// The one tuple of a sequence relation, which is all the durable state there is.
//
// Its fields keep the meaning that the server's own nextval gives them. log_cnt counts the steps of
// the sequence that the WAL already covers beyond last_value: last_value + log_cnt * INCREMENT is
// the high-water mark. log_cnt is -1 where nextval wrote no WAL, because the sequence is temporary
// or unlogged: the WAL covers nothing then, not even if the sequence becomes a logged one.
#pragma once

#include "pure/generator.hpp"
#include "server/server.hpp"

namespace snowflake {

// Where a sequence relation keeps its tuple, and what a change to it takes.
struct Storage {
    server::Locator locator;
    bool logged; // changes go to the WAL: the sequence is neither temporary nor unlogged
};

// Pins the page. The caller holds a lock on the sequence, and calls unpin_page() before the
// top-level transaction lets go of its resources. recent is the buffer in which the page was last
// found (InvalidBuffer: not known). Raises XX001 for a page that is not a sequence's.
Buffer pin_page(Oid relid, const Storage &storage, Buffer recent);
void unpin_page(Buffer buffer);

// The page of a sequence, locked exclusively. Every session that wants an ID waits for the one that
// holds the lock.
struct LockedPage {
    Buffer buffer;
    HeapTupleHeader tuple;
    std::uint16_t tuple_length;
    FormData_pg_sequence_data *data;
};

// Locks a pinned page.
LockedPage lock_page(Buffer buffer);
void unlock(const LockedPage &page);

// Reads the state that the sequence's page holds. CREATE SEQUENCE, setval, TRUNCATE, crash recovery
// and most forms of ALTER SEQUENCE reset it: they leave log_cnt at 0.
SequenceState state_of(const LockedPage &page);

// How a reservation gets to the disk.
struct Coverage {
    Id mark;           // what a record, if one is due, covers; at least the ID that is reserved
    std::int64_t step; // what one count of log_cnt stands for, in IDs
    bool trusted;      // whether this session knows that log_cnt was written with a record
};

// Writes that everything up to last is reserved, and a record before, if the WAL does not cover
// last yet. The record is not flushed: see durability.hpp.
void write_with_wal(const LockedPage &page, const Storage &storage, Id last,
                    const Coverage &coverage);

// Writes a number, with a record: the one that was taken last, or the one to take next. The page
// looks as after the server's setval.
void write_reset(const LockedPage &page, const Storage &storage, std::int64_t number,
                 bool is_called);

// The LSN of the page, up to which the WAL covers the IDs reserved on it.
inline XLogRecPtr page_lsn(const LockedPage &page) {
    return PageGetLSN(BufferGetPage(page.buffer));
}

// Tells whether no WAL record was written for a pinned page since it had this LSN.
inline bool unchanged_since(Buffer buffer, XLogRecPtr lsn) {
    // Without the lock the LSN may be read while it changes, and then it is not this one.
    return PageGetLSN(BufferGetPage(buffer)) == lsn;
}

} // namespace snowflake
