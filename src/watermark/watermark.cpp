#include "watermark.hpp"

#include "ended_transactions.hpp"
#include "lock_holders.hpp"
#include "pure/generator.hpp"
#include "sequence/durability.hpp"
#include "sequence/sequence_kind.hpp"
#include "sequence/sequence_page.hpp"
#include "sequence/session.hpp"
#include "server/clock.hpp"
#include "statements.hpp"

namespace snowflake::watermark {

namespace {

// A look at a sequence: the bound that it gave, and the transactions that had ended by then.
struct Look {
    std::optional<Id> bound;
    EndedTransactions ended;
};

struct Key {
    Oid relid;
    std::uint32_t padding; // 0: the server hashes and compares all the bytes
    Layout layout;
};

// The looks of this session at a sequence in a layout that it still has use for: one that the
// snapshots of statements show all of, and one that those of later statements will. And its last
// answer, which all the calls of a statement get.
struct Looks {
    Key key;
    Look shown;
    Look latest;
    Look answer; // with the transactions that the snapshot of the statement shows to have ended
    LocalTransactionId answered_in; // the transaction of the statement
    TimestampTz answered_to;        // when the client sent it
};
static_assert(sizeof(Key) == 16);

HTAB *sequences = nullptr; // the looks at each sequence

// The answer that a statement has got, kept with the call in its plan: the next FETCH from a cursor
// is a statement of its own to the client.
struct Answer {
    Key key;
    std::optional<Id> bound;
    EndedTransactions ended; // as the statement's snapshot shows it
};

// Looking

// The state that a sequence's page holds.
struct Said {
    SequenceState state;
    bool used;       // whether any number was taken from it
    bool is_durable; // no crash takes back what it says
};

Storage storage_of(Relation sequence) {
    return {.locator = server::locator_of(sequence), .logged = RelationNeedsWAL(sequence)};
}

Said read_page(Relation sequence) {
    const Storage storage = storage_of(sequence);
    const Buffer buffer = pin_page(RelationGetRelid(sequence), storage, InvalidBuffer);
    const LockedPage page = lock_page(buffer);
    const Said said{.state = state_of(page), .used = page.data->is_called, .is_durable = false};
    const XLogRecPtr lsn = page_lsn(page);
    unlock(page);
    unpin_page(buffer);
    return {.state = said.state,
            .used = said.used,
            .is_durable = storage.logged && durability::is_durable(lsn)};
}

// Tells whether sessions may hold leases, by the CACHE that the catalog has. The caller reads the
// page first: the IDs on it were reserved under this CACHE, or under an earlier one whose leases
// ended with the ALTER SEQUENCE. In the other order, a lease that a session reserves after an ALTER
// SEQUENCE between the two reads would go unnoticed.
bool has_leases(Oid relid) {
    AcceptInvalidationMessages();
    HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for sequence %u", relid);
    const bool result = reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple))->seqcache > 1;
    ReleaseSysCache(tuple);
    return result;
}

// Tells whether the last number of a sequence can be an ID of the layout.
bool has_ids(Relation sequence, Layout layout, const Said &said) {
    if (!said.used)
        return true;
    return said.state.last <= layout.last_id() &&
           (!layout.is_count(said.state.last) ||
            sequence_kind::kind_of(RelationGetRelid(sequence)).is_snowflake);
}

// Raises 55000 unless has_ids().
void require_ids(Relation sequence, Layout layout) {
    const Said said = read_page(sequence);
    if (!has_ids(sequence, layout, said))
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("last value %lld of sequence \"%s\" is not a snowflake ID",
                       static_cast<long long>(said.state.last), RelationGetRelationName(sequence)),
                errdetail("A low watermark is that of IDs, in the layout that they were made in."),
                errhint("Name the layout of the IDs, or convert the sequence: "
                        "SELECT snowflake.convert_sequence_to_snowflake(%s);",
                        quote_literal_cstr(server::qualified_name(RelationGetRelid(sequence)))));
}

// The smallest ID of a time in Unix microseconds, which other processors may have read a little
// earlier.
Id id_of_time(Layout layout, std::int64_t unix_us) {
    const std::int64_t tick = layout.tick_at(unix_us - clock_skew_us);
    return layout.first_id_of_tick(std::clamp<std::int64_t>(tick, 0, layout.last_tick()));
}

// Finds the bound of the present moment. The order matters: the clock, the sequence, the locks.
std::optional<Id> bound_now(Relation sequence, Layout layout) {
    const std::int64_t now_us = clock_us();
    const Said said = read_page(sequence);
    if (!has_ids(sequence, layout, said))
        return std::nullopt;
    const Id last = said.state.last;
    Id bound = last < layout.last_id() ? last + 1 : last;
    if (!said.is_durable || has_leases(RelationGetRelid(sequence)))
        bound = std::min(bound, id_of_time(layout, now_us));

    const lock_holders::Starts starts = lock_holders::find(sequence);
    if (!starts.all_known)
        return std::nullopt;
    if (starts.oldest_us == std::numeric_limits<std::int64_t>::max())
        return bound;
    const Id oldest = id_of_time(layout, starts.oldest_us);
    if (oldest > last)
        return std::nullopt;
    return std::min(bound, oldest);
}

Look look_at(Relation sequence, Layout layout) {
    const std::optional<Id> bound = bound_now(sequence, layout);
    return {.bound = bound, .ended = ended_in(GetLatestSnapshot(), TopMemoryContext)};
}

// Remembering

void forget(Look &look) {
    snowflake::forget(look.ended);
    look.bound.reset();
}

void replace(Look &look, const Look &by) {
    snowflake::forget(look.ended);
    look = by;
}

Looks &looks_at(const Key &key) {
    if (sequences == nullptr) {
        HASHCTL control{};
        control.keysize = sizeof(Key);
        control.entrysize = sizeof(Looks);
        control.hcxt = TopMemoryContext;
        sequences = hash_create("snowflake low watermarks", 16, &control,
                                HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    }
    bool found = false;
    auto &looks = *static_cast<Looks *>(hash_search(sequences, &key, HASH_ENTER, &found));
    if (!found)
        looks = {.key = key,
                 .shown = {},
                 .latest = {},
                 .answer = {},
                 .answered_in = InvalidLocalTransactionId,
                 .answered_to = 0};
    return looks;
}

// Forgets the looks at a sequence that was altered: it may have been set back, or be another one.
void relation_changed(Datum, Oid relid) {
    if (sequences == nullptr)
        return;
    HASH_SEQ_STATUS scan;
    hash_seq_init(&scan, sequences);
    while (void *entry = hash_seq_search(&scan)) {
        auto &looks = *static_cast<Looks *>(entry);
        if (!OidIsValid(relid) || looks.key.relid == relid) {
            forget(looks.shown);
            forget(looks.latest);
            forget(looks.answer);
        }
    }
}

// Answering

bool is_of_a_look(const Look &look) {
    return TransactionIdIsValid(look.ended.next);
}

// Chooses the bound for a statement with this snapshot: that of the new look if the snapshot shows
// all that had ended by then, or else that of the latest earlier one of which it does.
std::optional<Id> choose(Looks &looks, const Look &fresh, Snapshot snapshot) {
    if (shows(snapshot, fresh.ended)) {
        forget(looks.latest);
        replace(looks.shown, fresh);
        return fresh.bound;
    }
    if (is_of_a_look(looks.latest) && shows(snapshot, looks.latest.ended)) {
        snowflake::forget(looks.shown.ended);
        looks.shown = looks.latest;
        looks.latest = fresh;
        return looks.shown.bound;
    }
    replace(looks.latest, fresh);
    if (is_of_a_look(looks.shown) && shows(snapshot, looks.shown.ended))
        return looks.shown.bound;
    return std::nullopt;
}

// Looks at a sequence, and answers a statement that has this snapshot.
std::optional<Id> ask(Relation sequence, const Key &key, Snapshot snapshot) {
    const Look fresh = look_at(sequence, key.layout);
    return choose(looks_at(key), fresh, snapshot);
}

// Tells whether a snapshot is the one of an answer: it shows the end of the same transactions.
bool is_same(Snapshot snapshot, const EndedTransactions &answered) {
    return answered.next == snapshot->xmax && answered.running_count == snapshot->xcnt &&
           shows(snapshot, answered);
}

// Answers a call that has this snapshot as the other calls of its statement.
std::optional<Id> ask_in_statement(Relation sequence, const Key &key, Snapshot snapshot) {
    Looks &looks = looks_at(key);
    const LocalTransactionId transaction = server::current_transaction();
    const TimestampTz statement = GetCurrentStatementStartTimestamp();
    if (looks.answered_in == transaction && looks.answered_to == statement &&
        is_same(snapshot, looks.answer.ended))
        return looks.answer.bound;
    const std::optional<Id> bound = ask(sequence, key, snapshot);
    if (!bound)
        require_ids(sequence, key.layout);
    forget(looks.answer);
    looks.answer = {.bound = bound, .ended = ended_in(snapshot, TopMemoryContext)};
    looks.answered_in = transaction;
    looks.answered_to = statement;
    return bound;
}

// Keeps an answer with the call.
void keep(FmgrInfo &call, const Key &key, std::optional<Id> bound, Snapshot snapshot) {
    auto *answer = static_cast<Answer *>(call.fn_extra);
    if (answer == nullptr)
        call.fn_extra = answer =
            static_cast<Answer *>(MemoryContextAllocZero(call.fn_mcxt, sizeof(Answer)));
    snowflake::forget(answer->ended);
    *answer = {.key = key, .bound = bound, .ended = ended_in(snapshot, call.fn_mcxt)};
}

// Opens a sequence for a reader. Raises the errors of find() about the server, the sequence and the
// role.
Relation open(Oid relid) {
    PreventCommandIfParallelMode("snowflake.low_watermark()"); // which takes the latest snapshot
    if (RecoveryInProgress())
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("recovery is in progress"),
                errdetail("A standby does not see the transactions of its primary that have not "
                          "committed."),
                errhint("Call snowflake.low_watermark() on the primary, and keep its result in a "
                        "table that the standby receives."));
    LockRelationOid(relid, AccessShareLock);
    // The lock does not keep ALTER SEQUENCE out, which may have given the sequence another file
    // since this transaction got it.
    AcceptInvalidationMessages();
    Relation sequence = session::open_sequence(relid);
    session::require_rights(relid, ACL_SELECT | ACL_USAGE);
    return sequence;
}

// Tells whether the caller names another layout than the sequence has.
bool names_other(const sequence_kind::Kind &kind, std::optional<Layout> named) {
    return kind.has_layout && named && *named != kind.layout;
}

// Tells whether open() will raise no error but that of a standby, and whether other sessions can
// use the sequence.
bool may_look(Oid relid) {
    return get_rel_relkind(relid) == RELKIND_SEQUENCE &&
           get_rel_persistence(relid) != RELPERSISTENCE_TEMP &&
           session::has_rights(relid, ACL_SELECT | ACL_USAGE);
}

} // namespace

std::optional<Id> find(Oid relid, std::optional<Layout> named, FmgrInfo &call) {
    Relation sequence = open(relid);
    const sequence_kind::Kind kind = sequence_kind::kind_of(relid);
    if (names_other(kind, named))
        session::raise_other_layout(relid, kind.layout, *named);
    const Layout layout = named.value_or(kind.layout);
    const Key key{.relid = relid, .padding = 0, .layout = layout};
    Snapshot snapshot = statements::oldest_snapshot();
    const auto *answer = static_cast<const Answer *>(call.fn_extra);
    std::optional<Id> bound;
    if (snapshot == nullptr) {
        require_ids(sequence, layout);
    } else if (answer != nullptr && answer->key.relid == relid && answer->key.layout == layout &&
               is_same(snapshot, answer->ended)) {
        bound = answer->bound;
    } else {
        bound = ask_in_statement(sequence, key, snapshot);
        keep(call, key, bound, snapshot);
    }
    relation_close(sequence, NoLock);
    return bound;
}

void look_before(Oid relid, std::optional<Layout> named) {
    if (!ActiveSnapshotSet() || RecoveryInProgress() || IsInParallelMode() || !may_look(relid))
        return;
    const sequence_kind::Kind kind = sequence_kind::kind_of(relid);
    if (names_other(kind, named))
        return;
    const Layout layout = named.value_or(kind.layout);
    Relation sequence = open(relid);
    if (Snapshot snapshot = statements::oldest_snapshot(); snapshot != nullptr)
        (void)ask(sequence, {.relid = relid, .padding = 0, .layout = layout}, snapshot);
    relation_close(sequence, NoLock);
}

void init() {
    CacheRegisterRelcacheCallback(relation_changed, 0);
}

} // namespace snowflake::watermark
