#include "session.hpp"

#include "pure/layout_text.hpp"
#include "sequence_kind.hpp"
#include "server/clock.hpp"

namespace snowflake::session {

Sequence *ready = nullptr;
Sequence *last_called = nullptr;
bool server_was_last = false;

namespace {

HTAB *sequences = nullptr; // every sequence that the session remembers, by OID

// Counts the messages that made the session forget something, and the ends of transactions. A
// sequence that became ready in an earlier generation is not ready any more.
std::uint64_t generation = 1;

// A sequence that is locked and not converted in this generation; InvalidOid: none is known.
Oid not_converted = InvalidOid;

// The end of the last tick of which this transaction has taken IDs from a sequence that it has
// rewritten, in Unix microseconds; 0: there is none.
std::int64_t uncommitted_until_us = 0;

// The last transaction that has locked a sequence.
LocalTransactionId last_locking = InvalidLocalTransactionId;

ProcessUtility_hook_type next_process_utility = nullptr;

// Pins

// The sequences whose pages the session keeps pinned from nextval to nextval, until the end of the
// transaction: to find and pin a page takes longer than everything else that nextval does. They are
// the first pinned_count of the array.
constexpr int most_pins = 8;
Sequence *pinned[most_pins];
int pinned_count = 0;
int next_to_unpin = 0; // the index of the one that gives up its pin where all are taken

// Returns how many pages the session may pin. A server with few buffers needs them for all
// sessions.
int pin_limit() {
    return std::clamp(NBuffers / MaxBackends, 1, most_pins);
}

// Gives up a pin. The sequence at an index of the array is not ready any more.
void unpin(int index) {
    Sequence &sequence = *pinned[index];
    unpin_page(sequence.buffer);
    sequence.ready_since = 0;
    pinned[index] = pinned[--pinned_count];
}

void unpin_all() {
    while (pinned_count > 0)
        unpin(pinned_count - 1);
}

void unpin_if_pinned(const Sequence &sequence) {
    for (int index = 0; index < pinned_count; ++index)
        if (pinned[index] == &sequence)
            return unpin(index);
}

bool is_pinned(const Sequence &sequence) {
    return std::find(pinned, pinned + pinned_count, &sequence) != pinned + pinned_count;
}

void pin(Sequence &sequence) {
    if (is_pinned(sequence))
        return;
    if (pinned_count == pin_limit()) {
        next_to_unpin = (next_to_unpin + 1) % pinned_count;
        unpin(next_to_unpin);
    }
    sequence.buffer = pin_page(sequence.relid, sequence.definition.storage, sequence.buffer);
    pinned[pinned_count++] = &sequence;
}

// Returns the sequence if it is ready for the current role; nullptr: it is not.
Sequence *find_ready(Oid relid) {
    for (int index = 0; index < pinned_count; ++index) {
        Sequence &sequence = *pinned[index];
        if (sequence.relid == relid && sequence.ready_since == generation &&
            sequence.permitted == GetUserId())
            return &sequence;
    }
    return nullptr;
}

// Forgetting

// Begins a new generation, in which no sequence is ready. A lookup during which that happens is not
// remembered.
void begin_generation() {
    ++generation;
    ready = nullptr;
    not_converted = InvalidOid;
}

void forget_definition(Sequence &sequence) {
    sequence.definition_known = false;
}
void forget_rights(Sequence &sequence) {
    sequence.permitted = InvalidOid;
    sequence.may_set = InvalidOid;
}

template <typename Action>
void for_each_sequence(Action action) {
    if (sequences == nullptr)
        return;
    HASH_SEQ_STATUS scan;
    hash_seq_init(&scan, sequences);
    while (void *entry = hash_seq_search(&scan))
        action(*static_cast<Sequence *>(entry));
}

void relation_changed(Datum, Oid relid) {
    begin_generation();
    if (!OidIsValid(relid)) {
        for_each_sequence(forget_definition);
    } else if (sequences != nullptr) {
        if (void *entry = hash_search(sequences, &relid, HASH_FIND, nullptr))
            forget_definition(*static_cast<Sequence *>(entry));
    }
}

void sequence_options_changed(Datum, server::CatalogCache, std::uint32_t) {
    begin_generation();
    for_each_sequence(forget_definition);
}

void roles_changed(Datum, server::CatalogCache, std::uint32_t) {
    begin_generation();
    for_each_sequence(forget_rights);
}

void forget_everything() {
    unpin_all();
    if (sequences != nullptr)
        hash_destroy(sequences);
    sequences = nullptr;
    ready = nullptr;
    last_called = nullptr;
}

bool discards_sequences(const Node *statement) {
    if (statement == nullptr || !IsA(statement, DiscardStmt))
        return false;
    const DiscardMode target = reinterpret_cast<const DiscardStmt *>(statement)->target;
    return target == DISCARD_ALL || target == DISCARD_SEQUENCES;
}

// Forgets everything on DISCARD, for which the server has no callback: a pooled connection must not
// show one client's IDs to the next.
void process_utility(PlannedStmt *statement, const char *query, bool read_only_tree,
                     ProcessUtilityContext context, ParamListInfo params,
                     QueryEnvironment *environment, DestReceiver *receiver,
                     QueryCompletion *completion) {
    const bool discard = discards_sequences(statement->utilityStmt);
    const auto next =
        next_process_utility != nullptr ? next_process_utility : standard_ProcessUtility;
    next(statement, query, read_only_tree, context, params, environment, receiver, completion);
    if (discard)
        forget_everything();
}

// Waits until the clock has left the ticks of the IDs that are about to be rolled back. The
// rollback of ALTER SEQUENCE or TRUNCATE brings a sequence back that knows nothing of the IDs made
// since. The clock alone keeps the next session above them.
void wait_for_uncommitted_ticks() {
    if (uncommitted_until_us != 0)
        sleep_until(uncommitted_until_us, USECS_PER_SEC);
}

void transaction_ends(XactEvent event, void *) {
    switch (event) {
    case XACT_EVENT_PRE_COMMIT:
    case XACT_EVENT_PARALLEL_PRE_COMMIT:
        return; // there may still be calls
    case XACT_EVENT_PRE_PREPARE:
        wait_for_uncommitted_ticks(); // another session may roll back what is prepared
        return;
    case XACT_EVENT_ABORT:
        wait_for_uncommitted_ticks();
        break;
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_PREPARE:
    case XACT_EVENT_PARALLEL_COMMIT:
    case XACT_EVENT_PARALLEL_ABORT:
        break;
    }
    // The server releases the locks and removes files after this.
    begin_generation();
    unpin_all();
    uncommitted_until_us = 0;
}

void subtransaction_ends(SubXactEvent event, SubTransactionId, SubTransactionId, void *) {
    if (event != SUBXACT_EVENT_ABORT_SUB)
        return;
    // The server may remove the file after this, which a pinned page would prevent.
    begin_generation();
    unpin_all();
    wait_for_uncommitted_ticks();
}

// Remembering

Sequence *find(Oid relid) {
    if (sequences == nullptr)
        return nullptr;
    return static_cast<Sequence *>(hash_search(sequences, &relid, HASH_FIND, nullptr));
}

Sequence &remember(Oid relid) {
    if (sequences == nullptr) {
        HASHCTL control{};
        control.keysize = sizeof(Oid);
        control.entrysize = sizeof(Sequence);
        control.hcxt = TopMemoryContext;
        sequences =
            hash_create("snowflake sequences", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    }
    auto *sequence = static_cast<Sequence *>(hash_search(sequences, &relid, HASH_ENTER, nullptr));
    *sequence = {.relid = relid,
                 .last = no_id,
                 .lease = {},
                 .buffer = InvalidBuffer,
                 .ready_since = 0,
                 .definition = {},
                 .definition_known = false,
                 .definition_valid_in = InvalidLocalTransactionId,
                 .logged = false,
                 .permitted = InvalidOid,
                 .may_set = InvalidOid,
                 .locked_in = InvalidLocalTransactionId};
    return *sequence;
}

// Looking up

// Locks the sequence until the top-level transaction ends, even if a subtransaction asks: the
// rollback of a subtransaction does not give back an ID. sequence is what the session remembers of
// the sequence; nullptr: nothing.
void lock(Oid relid, Sequence *sequence) {
    const LocalTransactionId transaction = server::current_transaction();
    if (sequence != nullptr && sequence->locked_in == transaction)
        return;
    ResourceOwner current = CurrentResourceOwner;
    CurrentResourceOwner = TopTransactionResourceOwner;
    LockRelationOid(relid, RowExclusiveLock);
    CurrentResourceOwner = current;
    last_locking = transaction;
    if (sequence != nullptr)
        sequence->locked_in = transaction;
}

void read_definition(Sequence &sequence) {
    const std::uint64_t before = generation;
    Relation relation = open_sequence(sequence.relid);

    HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(sequence.relid));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for sequence %u", sequence.relid);
    const auto *options = reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple));
    const sequence_kind::Kind kind = sequence_kind::kind_of(*options);
    const bool created_here = relation->rd_createSubid != InvalidSubTransactionId;
    const bool rewritten_here = server::first_locator_subid(relation) != InvalidSubTransactionId;
    sequence.definition = {
        .increment = options->seqincrement,
        .stride =
            options->seqincrement == sequence_kind::guard_increment ? 1 : options->seqincrement,
        .cache = options->seqcache,
        .min_value = options->seqmin,
        .max_value = options->seqmax,
        .has_layout = kind.has_layout,
        .layout = kind.layout,
        .local_temporary = relation->rd_islocaltemp,
        .storage = {.locator = server::locator_of(relation), .logged = RelationNeedsWAL(relation)},
        .rewritten_here = rewritten_here};
    ReleaseSysCache(tuple);
    relation_close(relation, NoLock);

    // Changes to a relation that this transaction made or rewrote may need no WAL until it ends
    // (wal_level = minimal), and need WAL afterwards.
    sequence.definition_valid_in =
        created_here || rewritten_here ? server::current_transaction() : InvalidLocalTransactionId;

    // The rest of the lease may have been reserved under another definition, and the page may be
    // another.
    unpin_if_pinned(sequence);
    sequence.lease.left = 0;
    sequence.logged = false;
    sequence.definition_known = before == generation;
}

bool is_definition_usable(const Sequence &sequence) {
    return sequence.definition_known &&
           (sequence.definition_valid_in == InvalidLocalTransactionId ||
            sequence.definition_valid_in == server::current_transaction());
}

// Locks a sequence, and finds out about it what is not known. Raises the errors of
// open_for_nextval() about the sequence and the role.
Sequence &look_up(Oid relid) {
    Sequence *sequence = find(relid);
    lock(relid, sequence);
    if (sequence == nullptr) {
        relation_close(open_sequence(relid), NoLock);
        sequence = &remember(relid);
        sequence->locked_in = server::current_transaction();
    }

    if (!is_definition_usable(*sequence)) {
        forget_rights(*sequence);
        read_definition(*sequence);
    }
    if (sequence->definition.local_temporary)
        MyXactFlags |= int{XACT_FLAGS_ACCESSEDTEMPNAMESPACE}; // as relation_open() does

    if (sequence->permitted != GetUserId()) {
        const std::uint64_t before = generation;
        require_rights(relid, ACL_USAGE | ACL_UPDATE);
        sequence->permitted = before == generation ? GetUserId() : InvalidOid;
    }
    return *sequence;
}

// Raises 25006 (read-only transaction or standby) or 25000 (parallel operation).
void require_nextval_possible(const Sequence &sequence) {
    // A read-only transaction may use temporary sequences, as it may with the server's nextval.
    if (!sequence.definition.local_temporary)
        PreventCommandIfReadOnly("nextval()");
    PreventCommandIfParallelMode("nextval()");
}

[[noreturn]] void raise_missing(Oid relid) {
    ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
            errmsg("sequence with OID %u does not exist", relid));
}

} // namespace

void init() {
    CacheRegisterRelcacheCallback(relation_changed, 0);
    CacheRegisterSyscacheCallback(SEQRELID, sequence_options_changed, 0);
    CacheRegisterSyscacheCallback(AUTHOID, roles_changed, 0);
    CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, roles_changed, 0);
    CacheRegisterSyscacheCallback(DATABASEOID, roles_changed, 0); // the owner is pg_database_owner
    RegisterXactCallback(transaction_ends, nullptr);
    RegisterSubXactCallback(subtransaction_ends, nullptr);
    next_process_utility = ProcessUtility_hook;
    ProcessUtility_hook = process_utility;
}

Relation open_sequence(Oid relid) {
    Relation relation = try_relation_open(relid, NoLock);
    if (relation == nullptr)
        raise_missing(relid);
    if (relation->rd_rel->relkind != RELKIND_SEQUENCE)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a sequence", RelationGetRelationName(relation)));
    if (RELATION_IS_OTHER_TEMP(relation))
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot access temporary sequences of other sessions"));
    return relation;
}

bool has_rights(Oid relid, AclMode any_of) {
    return pg_class_aclcheck(relid, GetUserId(), any_of) == ACLCHECK_OK;
}

void require_rights(Oid relid, AclMode any_of) {
    if (!has_rights(relid, any_of))
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("permission denied for sequence %s", get_rel_name(relid)));
}

bool may_have_made_ids() {
    return last_locking == server::current_transaction();
}

bool makes_ids(Oid relid) {
    if (ready != nullptr && ready->relid == relid)
        return sequence_kind::is_snowflake(ready->definition.increment,
                                           ready->definition.max_value);
    if (OidIsValid(relid) && not_converted == relid)
        return false;
    lock(relid, find(relid));
    const std::uint64_t before = generation;
    const bool result = sequence_kind::kind_of(relid).is_snowflake;
    if (!result && !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
        raise_missing(relid);
    if (!result && before == generation)
        not_converted = relid;
    return result;
}

Sequence &make_ready(Oid relid) {
    ready = nullptr;
    const std::uint64_t before = generation;
    Sequence *sequence = find_ready(relid);
    if (sequence != nullptr) {
        require_nextval_possible(*sequence);
    } else {
        sequence = &look_up(relid);
        require_nextval_possible(*sequence);
        pin(*sequence);
        sequence->ready_since = before;
    }
    if (before == generation)
        ready = sequence;
    return *sequence;
}

void raise_other_layout(Oid relid, Layout own, Layout named) {
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s\" makes IDs in another layout", get_rel_name(relid)),
            errdetail("Its layout is \"%s\", and the call names \"%s\".", LayoutText{own}.c_str(),
                      LayoutText{named}.c_str()),
            errhint("Leave the layout out of the call, for example: SELECT snowflake.nextval(%s);",
                    quote_literal_cstr(server::qualified_name(relid))));
    pg_unreachable();
}

void require_right_to_use_layout(Sequence &sequence, Layout layout) {
    if (sequence.definition.has_layout) {
        if (layout != sequence.definition.layout)
            raise_other_layout(sequence.relid, sequence.definition.layout, layout);
        return;
    }
    if (layout == default_layout || sequence.may_set == GetUserId())
        return;
    const std::uint64_t before = generation;
    if (!has_rights(sequence.relid, ACL_UPDATE)) {
        const char *name = server::qualified_name(sequence.relid);
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("permission denied to make IDs of sequence %s in another layout",
                       get_rel_name(sequence.relid)),
                errdetail("Where the sequence has no layout of its own, a role without the right "
                          "to UPDATE it can use the default layout only."),
                errhint("As the owner of the sequence, give it the layout: SELECT "
                        "snowflake.convert_sequence_to_snowflake(%s, layout => %s);",
                        quote_literal_cstr(name), quote_literal_cstr(LayoutText{layout}.c_str())));
    }
    sequence.may_set = before == generation ? GetUserId() : InvalidOid;
}

Id currval(Oid relid) {
    Sequence *sequence = find(relid);
    lock(relid, sequence);
    Relation relation = open_sequence(relid);
    require_rights(relid, ACL_SELECT | ACL_USAGE);
    if (sequence == nullptr || sequence->last == no_id)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("currval of sequence \"%s\" is not yet defined in this session",
                       RelationGetRelationName(relation)));
    relation_close(relation, NoLock);
    return sequence->last;
}

Id lastval() {
    if (last_called == nullptr ||
        !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(last_called->relid)))
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("lastval is not yet defined in this session"));
    lock(last_called->relid, last_called);
    // The server notes at the opening that the transaction uses a temporary object.
    relation_close(open_sequence(last_called->relid), NoLock);
    require_rights(last_called->relid, ACL_SELECT | ACL_USAGE);
    return last_called->last;
}

void wait_for_if_rolled_back(std::int64_t end_of_tick_us) {
    uncommitted_until_us = std::max(uncommitted_until_us, end_of_tick_us);
}

} // namespace snowflake::session
