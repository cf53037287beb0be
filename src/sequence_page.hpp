// The one tuple of a sequence relation, which is all the durable state there is.
//
// Its fields keep the meaning that the server's own nextval gives them. log_cnt counts the steps
// of the sequence that the WAL already covers beyond last_value: last_value + log_cnt * INCREMENT
// is the high-water mark. It is 0 after anything but nextval has set the sequence, and -1 where
// nextval wrote no WAL, because the sequence is temporary or unlogged: nothing is covered then,
// not even if the sequence becomes a logged one.
#pragma once

#include "generator.hpp"
#include "server.hpp"

namespace snowflake {

// Where a sequence relation keeps its tuple, and what a change to it takes.
struct Storage {
    server::Locator locator;
    bool logged; // changes go to the WAL: not temporary, not unlogged
};

// The page of a sequence, pinned and locked exclusively. Nothing may raise an error while it is.
struct LockedPage {
    Buffer buffer;
    HeapTupleHeader tuple;
    std::uint16_t tuple_length;
    FormData_pg_sequence_data *data;
};

// Pins and locks the page. recent is the buffer it was last found in (InvalidBuffer: not known) and
// is brought up to date. Raises 0A000 for a temporary sequence of another session and XX001 for a
// page that is not a sequence's.
LockedPage lock_page(Oid relid, const Storage &storage, Buffer &recent);

// Unlocks and unpins the page.
void unlock(const LockedPage &page);

// The greatest ID that the sequence ever reserved; negative if there is none.
Id last_reserved(const LockedPage &page);

// Whether the tuple was last changed by nextval, and not by CREATE or ALTER SEQUENCE, setval,
// TRUNCATE or crash recovery.
bool continued(const LockedPage &page);

// Writes that everything up to last is reserved. Where the WAL does not cover last yet, a record
// first covers everything up to mark (at least last). step is what one count of log_cnt stands
// for, in IDs.
void advance(const LockedPage &page, const Storage &storage, Id last, Id mark, std::int64_t step);

// The LSN of the page. The IDs reserved on it may be handed out once the WAL is flushed up to
// there.
inline XLogRecPtr page_lsn(const LockedPage &page) {
    return PageGetLSN(BufferGetPage(page.buffer));
}

// Whether no WAL record has been written for the sequence since its page, in this buffer, had this
// LSN. Reads shared memory that is always there, without pin or lock: a buffer that meanwhile holds
// another page, or a page half way through a change, has another LSN, and the answer is no.
inline bool unchanged_since(Buffer buffer, XLogRecPtr lsn) {
    return PageGetLSN(BufferGetPage(buffer)) == lsn;
}

} // namespace snowflake
