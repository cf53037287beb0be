#include "durability.hpp"

namespace snowflake::durability {

XLogRecPtr relied_on = InvalidXLogRecPtr;
XLogRecPtr on_disk = InvalidXLogRecPtr;

namespace {

bool is_committing = false; // whether the callback has run in this transaction, which has not ended

// Makes the commit that comes next wait for the WAL up to relied_on.
//
// The server's commit flushes the WAL, and waits for synchronous standbys, if the transaction has
// an ID and has written WAL. A transaction that has only read IDs has no ID, and one that has
// written to unlogged tables has written no WAL; both may rely on what another session has written.
// If the disk is all that is to be waited for, the session waits here, which costs nothing where
// the WAL is there already. If standbys are, the transaction gets an ID, and commits as one that
// has written rows: a wait for standbys can be cancelled, and the server's warning that the
// transaction "has already committed locally" is then true.
void bind_commit() {
    if (synchronous_commit == SYNCHRONOUS_COMMIT_OFF) {
        XLogSetAsyncXactLSN(relied_on); // the WAL writer flushes soon, as it does for rows
        return;
    }
    if (TransactionIdIsValid(GetTopTransactionIdIfAny()) && XactLastRecEnd != InvalidXLogRecPtr)
        return;
    if (!server::awaits_standbys(relied_on)) {
        XLogFlush(relied_on);
        return;
    }
    GetTopTransactionId();
    XactLastRecEnd = std::max(XactLastRecEnd, relied_on);
}

void transaction_ends(XactEvent event, void *) {
    if (event == XACT_EVENT_PRE_COMMIT) {
        is_committing = true;
        if (relied_on != InvalidXLogRecPtr)
            bind_commit();
    } else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
               event == XACT_EVENT_PREPARE) { // PREPARE TRANSACTION itself waits like a commit
        is_committing = false;
        relied_on = InvalidXLogRecPtr;
    }
}

} // namespace

void rely_on_more(XLogRecPtr lsn) {
    relied_on = lsn;
    // A callback of another module can take an ID after ours has run.
    if (is_committing)
        bind_commit();
}

void wait_until_durable(XLogRecPtr lsn) {
    XLogFlush(lsn);
    server::wait_for_standbys(lsn);
}

void init() {
    RegisterXactCallback(transaction_ends, nullptr);
}

} // namespace snowflake::durability
