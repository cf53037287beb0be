// When an ID is durable: what the session does for the WAL records that cover its IDs to be on disk
// in time.
//
// An ID costs no flush of its own. The commit of a transaction that has used IDs waits until the
// WAL is on disk up to the records that cover them, whichever session wrote these records. A
// session that hands out an ID which the clock cannot keep from being made again after a crash
// waits at once.
#pragma once

#include "server/server.hpp"

namespace snowflake::durability {

// The LSN up to which the WAL covers what this transaction has handed out; InvalidXLogRecPtr: it
// has handed out nothing that the WAL covers.
extern XLogRecPtr relied_on;

// Makes the commit of this transaction wait for the WAL up to lsn. Use rely_on().
void rely_on_more(XLogRecPtr lsn);

// Notes that the transaction hands out an ID that the WAL covers up to lsn. InvalidXLogRecPtr: the
// sequence is not logged.
inline void rely_on(XLogRecPtr lsn) {
    if (unlikely(lsn > relied_on))
        rely_on_more(lsn);
}

// The LSN up to which this session has found the WAL on the disk of its server, where it stays.
extern XLogRecPtr on_disk;

// Tells whether the WAL is on disk up to lsn, and on the synchronous standbys that
// synchronous_commit asks for now.
inline bool is_durable(XLogRecPtr lsn) {
    if (unlikely(lsn > on_disk)) {
        if (XLogNeedsFlush(lsn))
            return false;
        on_disk = lsn;
    }
    return !server::awaits_standbys(lsn);
}

// Waits until the WAL is on disk up to lsn, and until the synchronous standbys that
// synchronous_commit asks for have it. Raises 57014 or 57P01 if the wait for standbys is cancelled.
void wait_until_durable(XLogRecPtr lsn);

// Registers the callback that runs before a commit. Called once, when the module is loaded.
void init();

} // namespace snowflake::durability
