// The server, as far as this extension uses it: the only file that includes PostgreSQL's headers,
// and the only one that knows its versions.
//
// The server's errors are longjmps: no object with a destructor may be alive across a call into it.
#pragma once

// The standard headers that files above need come first: the server's macros would change them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wregister" // the server's headers are C
#pragma GCC diagnostic ignored "-Wunused-parameter"

extern "C" {
// postgres.h must be first; the others follow in the order of their names.
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_control.h"
#include "catalog/pg_database.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_event_trigger.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_publication.h"
#include "catalog/pg_publication_rel.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_sequence.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_subscription.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#if __has_include("commands/sequence_xlog.h")
#include "commands/sequence_xlog.h"
#endif
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "common/string.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_func.h"
#include "parser/parse_node.h"
#include "parser/parse_type.h"
#include "parser/parse_utilcmd.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "partitioning/partbounds.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "replication/slot.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "rewrite/rewriteHandler.h"
#if PG_VERSION_NUM < 170000
#include "storage/buf_internals.h"
#endif
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/s_lock.h"
#include "storage/sinvaladt.h"
#include "storage/smgr.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/partcache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"
#include "utils/uuid.h"
#include "utils/varlena.h"
#include "utils/wait_event.h"
}

#pragma GCC diagnostic pop

namespace snowflake::server {

// Start and end a critical section. An error in it is a PANIC, because shared memory and WAL must
// agree at its end. The server's own macros change a volatile variable in a way that C++20
// deprecates.
inline void start_critical_section() {
    CritSectionCount = CritSectionCount + 1;
}
inline void end_critical_section() {
    Assert(CritSectionCount > 0);
    CritSectionCount = CritSectionCount - 1;
}

// Tells whether there are synchronous standbys to wait for, as the server's commit does: by what
// the checkpointer has made known to all sessions. A session reads a changed
// synchronous_standby_names between statements only, and a procedure that commits may run for
// hours.
inline bool has_synchronous_standbys() {
    // Minor releases of 2025 changed what the checkpointer makes known.
#ifdef SYNC_STANDBY_DEFINED
    const auto status = static_cast<volatile WalSndCtlData *>(WalSndCtl)->sync_standbys_status;
    if ((status & SYNC_STANDBY_INIT) == 0) // right after the server's start
        return SyncRepStandbyNames != nullptr && *SyncRepStandbyNames != '\0';
    return (status & SYNC_STANDBY_DEFINED) != 0;
#else
    return static_cast<volatile WalSndCtlData *>(WalSndCtl)->sync_standbys_defined;
#endif
}

// Tells whether synchronous_commit asks for synchronous standbys that do not have the WAL up to lsn
// yet: on disk, or with remote_write in the memory of their system.
inline bool awaits_standbys(XLogRecPtr lsn) {
    if (!SyncRepRequested() || !has_synchronous_standbys())
        return false;
    const int mode = synchronous_commit == SYNCHRONOUS_COMMIT_REMOTE_WRITE ? SYNC_REP_WAIT_WRITE
                                                                           : SYNC_REP_WAIT_FLUSH;
    LWLockAcquire(SyncRepLock, LW_SHARED);
    const bool awaits = has_synchronous_standbys() && lsn > WalSndCtl->lsn[mode];
    LWLockRelease(SyncRepLock);
    return awaits;
}

// Waits until awaits_standbys() has become false. The server's own wait is for commits: it takes a
// cancellation to be too late, and only warns.
inline void wait_for_standbys(XLogRecPtr lsn) {
    constexpr long longest_nap_ms = 32;
    for (long nap_ms = 1; awaits_standbys(lsn); nap_ms = std::min(2 * nap_ms, longest_nap_ms)) {
        WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, nap_ms,
                  WAIT_EVENT_SYNC_REP);
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
}

// The identifier of a relation's files, and what goes with it. PostgreSQL 16 renamed them.
#if PG_VERSION_NUM >= 160000
using Locator = RelFileLocator;
inline Locator locator_of(Relation relation) {
    return relation->rd_locator;
}
inline void set_locator(xl_seq_rec &record, const Locator &locator) {
    record.locator = locator;
}
inline Locator locator_of(const FormData_pg_class &relation) {
    return {.spcOid =
                OidIsValid(relation.reltablespace) ? relation.reltablespace : MyDatabaseTableSpace,
            .dbOid = MyDatabaseId,
            .relNumber = relation.relfilenode};
}
inline SubTransactionId first_locator_subid(Relation relation) {
    return relation->rd_firstRelfilelocatorSubid;
}
#else
using Locator = RelFileNode;
inline Locator locator_of(Relation relation) {
    return relation->rd_node;
}
inline void set_locator(xl_seq_rec &record, const Locator &locator) {
    record.node = locator;
}
inline Locator locator_of(const FormData_pg_class &relation) {
    return {.spcNode =
                OidIsValid(relation.reltablespace) ? relation.reltablespace : MyDatabaseTableSpace,
            .dbNode = MyDatabaseId,
            .relNode = relation.relfilenode};
}
inline SubTransactionId first_locator_subid(Relation relation) {
    return relation->rd_firstRelfilenodeSubid;
}
#endif

// Counts the pages of a table that is neither temporary nor a catalog with a fixed place.
inline BlockNumber count_pages(const Locator &locator) {
#if PG_VERSION_NUM >= 170000
    return smgrnblocks(smgropen(locator, INVALID_PROC_NUMBER), MAIN_FORKNUM);
#else
    return smgrnblocks(smgropen(locator, InvalidBackendId), MAIN_FORKNUM);
#endif
}

// Puts a column, as the catalog has it, into the description of a row at an index from 0 on. The
// last one comes last.
inline void set_column(TupleDesc columns, int index, const FormData_pg_attribute &column) {
    memcpy(TupleDescAttr(columns, index), &column, ATTRIBUTE_FIXED_PART_SIZE);
#if PG_VERSION_NUM >= 180000
    populate_compact_attribute(columns, index);
#endif
#if PG_VERSION_NUM >= 190000
    if (index == columns->natts - 1)
        TupleDescFinalize(columns);
#endif
}

// Tells whether a buffer, which is pinned and exclusively locked, has changes that are not written
// out.
inline bool is_dirty(Buffer buffer) {
#if PG_VERSION_NUM >= 170000
    return BufferIsDirty(buffer);
#else
    BufferDesc *descriptor = BufferIsLocal(buffer) ? GetLocalBufferDescriptor(-buffer - 1)
                                                   : GetBufferDescriptor(buffer - 1);
    return (pg_atomic_read_u32(&descriptor->state) & BM_DIRTY) != 0;
#endif
}

// The number that tells the top-level transactions of this backend apart.
inline LocalTransactionId current_transaction() {
#if PG_VERSION_NUM >= 170000
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

// A transaction that holds a lock as the server names it: by its session and a number. One that is
// prepared keeps the name that it had in its session, until the server starts anew.
using HolderId = VirtualTransactionId;

// Tells whether two names are the same.
inline bool same_holder(const HolderId &one, const HolderId &other) {
    return VirtualTransactionIdEquals(one, other);
}

// Prints such a name as pg_locks does.
inline const char *name_of(const HolderId &holder) {
#if PG_VERSION_NUM >= 170000
    return psprintf("%d/%u", holder.procNumber, holder.localTransactionId);
#else
    return psprintf("%d/%u", holder.backendId, holder.localTransactionId);
#endif
}

// The name of the transaction that holds a lock in the server's list of locks.
inline HolderId holder_of(const LockInstanceData &lock) {
#if PG_VERSION_NUM >= 170000
    return lock.vxid;
#else
    return {.backendId = lock.backend, .localTransactionId = lock.lxid};
#endif
}

// Tells whether the session of a transaction is still in it.
inline bool is_in_its_session(const HolderId &holder) {
#if PG_VERSION_NUM >= 170000
    const volatile PGPROC *process = ProcNumberGetProc(holder.procNumber);
    return process != nullptr && process->vxid.lxid == holder.localTransactionId;
#else
    const volatile PGPROC *process = BackendIdGetProc(holder.backendId);
    return process != nullptr && process->lxid == holder.localTransactionId;
#endif
}

// Reads when the session of a transaction says that its present transaction began; 0: it does not
// say. The server has functions that copy what all sessions say, which takes longer than the rest
// of what they are asked for, and keeps the copy for the transaction.
inline TimestampTz start_in_session_of(const HolderId &holder) {
#if PG_VERSION_NUM >= 170000
    const volatile PgBackendStatus *status = MyBEEntry - MyProcNumber + holder.procNumber;
#else
    const volatile PgBackendStatus *status = MyBEEntry - MyBackendId + holder.backendId;
#endif
    for (;;) {
        int before = 0;
        int after = 0;
        pgstat_begin_read_activity(status, before);
        const TimestampTz start = status->st_procpid > 0 ? status->st_xact_start_timestamp : 0;
        pgstat_end_read_activity(status, after);
        if (pgstat_read_activity_complete(before, after))
            return start;
        CHECK_FOR_INTERRUPTS();
    }
}

#if PG_VERSION_NUM < 160000
// Compares names of settings as the server does: it folds the letters of ASCII, and takes the other
// bytes, which names of settings of users may have, for signed or unsigned as the machine does.
inline bool is_name_before(const char *one, const char *other) {
    const auto folded = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : +c; };
    while (*one != '\0' && folded(*one) == folded(*other)) {
        ++one;
        ++other;
    }
    return folded(*one) < folded(*other);
}

// Returns where the server keeps a setting among the first count ones, or would: they are in the
// order of their names.
inline config_generic **slot_of_setting(const char *name, int count) {
    config_generic **all = get_guc_variables();
    return std::lower_bound(all, all + count, name,
                            [](const config_generic *one, const char *other) {
                                return is_name_before(one->name, other);
                            });
}
#endif

// Finds what the server knows of a setting that a module has defined.
inline const config_generic &setting(const char *name) {
#if PG_VERSION_NUM >= 160000
    return *find_option(name, false, false, ERROR);
#else
    return **slot_of_setting(name, GetNumConfigOptions());
#endif
}

// Defines a setting, by calling define with its name.
//
// PostgreSQL 15 sorts all its settings by name when one is added: 320,000 instructions, or 55,000
// where they are in order already. So it finds a nameless setting in the slot of each meanwhile,
// which leaves nothing to compare, and the new one moves to its slot afterwards. A setting that
// was set before it was defined has its slot.
template <typename Define>
void define_setting(const char *name, Define define) {
#if PG_VERSION_NUM >= 160000
    define(name);
#else
    const int count = GetNumConfigOptions();
    config_generic **slot = slot_of_setting(name, count);
    const auto index = slot - get_guc_variables();
    if (index < count && pg_strcasecmp((*slot)->name, name) == 0)
        return define(name);
    config_generic nameless{};
    nameless.name = "";
    constexpr Size size = sizeof(config_generic *); // NOLINT(bugprone-sizeof-expression): pointers
    auto **others = static_cast<config_generic **>(palloc(size * static_cast<Size>(count)));
    std::copy_n(get_guc_variables(), count, others);
    std::fill_n(get_guc_variables(), count, &nameless);
    PG_TRY();
    { define(name); }
    PG_FINALLY();
    { std::copy_n(others, count, get_guc_variables()); }
    PG_END_TRY();
    pfree(others);
    config_generic **all = get_guc_variables();
    std::rotate(all + index, all + count, all + count + 1);
#endif
}

// Walks over the nodes below one of an expression or a query, as the server's own walkers do.
// Their callbacks had no parameters in their types until PostgreSQL 16.
using Walker = bool (*)(Node *node, void *context);
using Mutator = Node *(*)(Node *node, void *context);
#if PG_VERSION_NUM >= 160000
inline bool walk_expression(Node *node, Walker walker, void *context) {
    return expression_tree_walker(node, walker, context);
}
inline bool walk_query(Query *query, Walker walker, void *context) {
    return query_tree_walker(query, walker, context, 0);
}
inline Node *mutate_expression(Node *node, Mutator mutator, void *context) {
    return expression_tree_mutator(node, mutator, context);
}
#else
inline bool walk_expression(Node *node, Walker walker, void *context) {
    return expression_tree_walker(
        node, reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker)), context);
}
inline bool walk_query(Query *query, Walker walker, void *context) {
    return query_tree_walker(
        query, reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker)), context, 0);
}
inline Node *mutate_expression(Node *node, Mutator mutator, void *context) {
    return expression_tree_mutator(
        node, reinterpret_cast<Node *(*)()>(reinterpret_cast<void (*)()>(mutator)), context);
}
#endif

// Returns the type of what an expression such as JSON_VALUE takes from JSON; InvalidOid: it is
// another expression.
inline Oid type_from_json([[maybe_unused]] const Node *node) {
#if PG_VERSION_NUM >= 170000
    if (IsA(node, JsonExpr))
        return reinterpret_cast<const JsonExpr *>(node)->returning->typid;
#endif
    return InvalidOid;
}

// Makes an index of a table by a statement that the server has transformed, as the current role
// may, and leaves it empty: until it is built, nobody must use it. Returns it.
inline Oid define_empty_index(Oid table, IndexStmt *statement) {
    constexpr bool is_alter_table = false;
    constexpr bool checks_rights = true;
    constexpr bool checks_use = true;
    constexpr bool skips_build = true;
    constexpr bool is_quiet = true;
#if PG_VERSION_NUM >= 190000
    return DefineIndex(make_parsestate(nullptr), table, statement, InvalidOid, InvalidOid,
                       InvalidOid, -1, is_alter_table, checks_rights, checks_use, skips_build,
                       is_quiet)
        .objectId;
#elif PG_VERSION_NUM >= 160000
    return DefineIndex(table, statement, InvalidOid, InvalidOid, InvalidOid, -1, is_alter_table,
                       checks_rights, checks_use, skips_build, is_quiet)
        .objectId;
#else
    return DefineIndex(table, statement, InvalidOid, InvalidOid, InvalidOid, is_alter_table,
                       checks_rights, checks_use, skips_build, is_quiet)
        .objectId;
#endif
}

// The bytes of a text, as the server's functions on encodings take them.
inline const unsigned char *bytes(const char *text) {
    return reinterpret_cast<const unsigned char *>(text);
}

// The Unicode code point of the character at the beginning of a text in the encoding of the
// database; 0: it has none, or the encoding is not one of characters.
inline pg_wchar code_point_of(const char *text) {
    const int encoding = GetDatabaseEncoding();
    const Oid conversion =
        encoding == PG_UTF8 ? InvalidOid : FindDefaultConversionProc(encoding, PG_UTF8);
    if (!OidIsValid(conversion))
        return encoding == PG_UTF8 ? utf8_to_unicode(bytes(text)) : 0;
    const int length = pg_mblen(text);
    unsigned char source[MAX_MULTIBYTE_CHAR_LEN + 1]{};
    unsigned char utf8[MAX_CONVERSION_GROWTH * MAX_MULTIBYTE_CHAR_LEN + 1]{};
    memcpy(source, text, static_cast<std::size_t>(length));
    const int read = pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8, source, length,
                                                   utf8, sizeof(utf8), true);
    return read == length ? utf8_to_unicode(utf8) : 0;
}

// An array of count items, 0 or more, in the current memory context.
template <typename Item>
Item *allocate_array(int count) {
    return static_cast<Item *>(palloc(sizeof(Item) * static_cast<std::size_t>(count)));
}

// An empty node of the type that the tag names. The server's macro uses an extension of C.
template <typename Type>
Type *make_node(NodeTag tag) {
    auto *node = static_cast<Type *>(palloc0(sizeof(Type)));
    reinterpret_cast<Node *>(node)->type = tag;
    return node;
}

// A list of pointers. The server's macros use literals that C++ does not have.
template <typename... Items>
List *list_of(Items... items) {
    List *list = NIL;
    ((list = lappend(list, items)), ...);
    return list;
}

// Returns the role that owns a relation; InvalidOid: the relation does not exist.
inline Oid owner_of(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple))
        return InvalidOid;
    const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    return owner;
}

// Returns how many columns a relation has, dropped ones included; 0: there is no such relation.
inline AttrNumber count_columns(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple))
        return 0;
    const AttrNumber count = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relnatts;
    ReleaseSysCache(tuple);
    return count;
}

// Returns the role that owns a function; InvalidOid: the function does not exist.
inline Oid owner_of_function(Oid function) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return InvalidOid;
    const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
    ReleaseSysCache(tuple);
    return owner;
}

// Tells whether a role, or everybody (ACL_ID_PUBLIC), has the right to execute a function.
inline bool may_execute(Oid role, Oid function) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
    return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

// Tells whether a role may look up names in a schema.
inline bool may_use_schema(Oid role, Oid schema) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK;
#else
    return pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

// Returns the process of the session that a temporary schema belongs to; 0: there is none, or the
// schema is not temporary.
inline int session_of(Oid temporary_schema) {
#if PG_VERSION_NUM >= 170000
    const ProcNumber number = GetTempNamespaceProcNumber(temporary_schema);
    const PGPROC *process = number == INVALID_PROC_NUMBER ? nullptr : ProcNumberGetProc(number);
#else
    const BackendId number = GetTempNamespaceBackendId(temporary_schema);
    const PGPROC *process = number == InvalidBackendId ? nullptr : BackendIdGetProc(number);
#endif
    return process == nullptr ? 0 : process->pid;
}

// Returns how long the last lock that was to be had within a lock_timeout could be waited for, in
// milliseconds.
inline std::int64_t last_lock_timeout() {
    return (get_timeout_finish_time(LOCK_TIMEOUT) - get_timeout_start_time(LOCK_TIMEOUT)) / 1000;
}

// Gives a relation that is locked in ACCESS EXCLUSIVE mode an empty file; and builds the indexes of
// a table anew, but not those of its TOAST table. Users' code that runs meanwhile may use none of
// them: it would find the entries of rows that are gone, and mark these as dead.
inline void set_empty_file(Relation relation) {
#if PG_VERSION_NUM >= 160000
    RelationSetNewRelfilenumber(relation, relation->rd_rel->relpersistence);
#else
    RelationSetNewRelfilenode(relation, relation->rd_rel->relpersistence);
#endif
}
inline void rebuild_indexes(Oid table) {
    constexpr int flags = REINDEX_REL_SUPPRESS_INDEX_USE;
    ReindexParams parameters{};
#if PG_VERSION_NUM >= 170000
    reindex_relation(nullptr, table, flags, &parameters);
#else
    reindex_relation(table, flags, &parameters);
#endif
}

// Returns the name of a relation as a statement takes it: public.orders_id_seq. One that somebody
// has dropped has none but its OID.
inline const char *qualified_name(Oid relation) {
    const char *name = get_rel_name(relation);
    return name == nullptr
               ? psprintf("%u", relation)
               : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

// Sets a parameter until the current nesting level of settings ends.
inline void set_parameter(const char *name, const char *value) {
    (void)set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                            false);
}
inline void set_search_path(const char *path) {
    set_parameter("search_path", path);
}

// Prints values as sessions of this database and role do that have set nothing else, until the
// current nesting level of settings ends.
inline void print_as_others() {
    for (const char *name : {"DateStyle", "IntervalStyle", "extra_float_digits", "bytea_output"})
        set_parameter(name, GetConfigOptionResetString(name));
}

// The number of a catalog cache, as the server tells it to those who listen for changes.
#if PG_VERSION_NUM >= 190000
using CatalogCache = SysCacheIdentifier;
#else
using CatalogCache = int;
#endif

// Begin a scan of an index without keys, of a whole table, and of a range of its rows.
#if PG_VERSION_NUM >= 190000
inline IndexScanDesc begin_index_scan(Relation heap, Relation index, Snapshot snapshot) {
    return index_beginscan(heap, index, snapshot, nullptr, 0, 0, SO_NONE);
}
inline TableScanDesc begin_table_scan(Relation table, Snapshot snapshot) {
    return table_beginscan(table, snapshot, 0, nullptr, SO_NONE);
}
inline TableScanDesc begin_range_scan(Relation table, Snapshot snapshot, ItemPointer first,
                                      ItemPointer last) {
    return table_beginscan_tidrange(table, snapshot, first, last, SO_NONE);
}
#else
inline IndexScanDesc begin_index_scan(Relation heap, Relation index, Snapshot snapshot) {
#if PG_VERSION_NUM >= 180000
    return index_beginscan(heap, index, snapshot, nullptr, 0, 0);
#else
    return index_beginscan(heap, index, snapshot, 0, 0);
#endif
}
inline TableScanDesc begin_table_scan(Relation table, Snapshot snapshot) {
    return table_beginscan(table, snapshot, 0, nullptr);
}
inline TableScanDesc begin_range_scan(Relation table, Snapshot snapshot, ItemPointer first,
                                      ItemPointer last) {
    return table_beginscan_tidrange(table, snapshot, first, last);
}
#endif

// Returns a row of these values, of the type that the called function returns.
inline Datum row_datum(FunctionCallInfo call, Datum *values, bool *nulls) {
    TupleDesc columns = nullptr;
    if (get_call_result_type(call, nullptr, &columns) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

// The position of a row in its table.
inline ItemPointerData tid_of_row(BlockNumber page, OffsetNumber number) {
    return {.ip_blkid = {.bi_hi = static_cast<uint16>(page >> 16),
                         .bi_lo = static_cast<uint16>(page & 0xffff)},
            .ip_posid = number};
}

// The indexes that need entries for the new version of a row.
#if PG_VERSION_NUM >= 160000
using IndexUpdate = TU_UpdateIndexes;
#else
using IndexUpdate = bool;
#endif

// Replaces a row by its new version, without waiting for other sessions. Returns TM_BeingModified
// if a transaction that goes on has locked the row: then it changes nothing, unless the caller has
// the lock. Stores which indexes need entries for the new version.
inline TM_Result update_row(Relation table, ItemPointer tid, TupleTableSlot *row, Snapshot snapshot,
                            bool is_locked_by_caller, IndexUpdate *indexes) {
#ifdef USE_ASSERT_CHECKING
    // An assertion of the server allows nobody to find a lock without waiting for it.
    if (!is_locked_by_caller)
        return TM_BeingModified;
#endif
    TM_FailureData failure;
    LockTupleMode mode{};
    return table_tuple_update(table, tid, row, GetCurrentCommandId(true),
#if PG_VERSION_NUM >= 190000
                              0,
#endif
                              snapshot, InvalidSnapshot, is_locked_by_caller, &failure, &mode,
                              indexes);
}

// Puts the entries for the new version of a row into the indexes. The server's own code for that
// raises its errors, such as that of a unique index. Returns false if a constraint that is
// deferrable has to be looked at again at the end of the transaction.
inline bool insert_index_entries(ResultRelInfo *result, EState *state, TupleTableSlot *row,
                                 IndexUpdate indexes) {
#if PG_VERSION_NUM >= 190000
    const List *doubtful =
        indexes == TU_None
            ? NIL
            : ExecInsertIndexTuples(result, state,
                                    EIIT_IS_UPDATE |
                                        (indexes == TU_Summarizing ? EIIT_ONLY_SUMMARIZING : 0),
                                    row, NIL, nullptr);
#elif PG_VERSION_NUM >= 160000
    const List *doubtful = indexes == TU_None
                               ? NIL
                               : ExecInsertIndexTuples(result, row, state, true, false, nullptr,
                                                       NIL, indexes == TU_Summarizing);
#else
    const List *doubtful =
        indexes ? ExecInsertIndexTuples(result, row, state, true, false, nullptr, NIL) : NIL;
#endif
    return doubtful == NIL;
}

// Returns a text with something in the place of each byte that is no printable ASCII character: an
// encoding can lack any other. palloc'd.
inline const char *clean_ascii(const char *text) {
#if PG_VERSION_NUM >= 160000
    return pg_clean_ascii(text, 0);
#else
    char *copy = pstrdup(text);
    pg_clean_ascii(copy);
    return copy;
#endif
}

// Returns whether a role may become another with SET ROLE.
inline bool may_set_role(Oid member, Oid role) {
#if PG_VERSION_NUM >= 160000
    return member_can_set_role(member, role);
#else
    return is_member_of_role(member, role);
#endif
}

// Returns whether an author has the rights of a role, or may take them with SET ROLE.
inline bool may_act_for(Oid author, Oid role) {
    return has_privs_of_role(author, role) || may_set_role(author, role);
}

// Whether this transaction holds the strongest lock on a relation of this database. A parallel
// worker has a weaker one: what is in conflict with that is its leader's.
inline bool holds_exclusively(Oid relation) {
    LOCKTAG tag;
    SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
    if (IsParallelWorker())
        return VirtualTransactionIdIsValid(*GetLockConflicts(&tag, AccessShareLock, nullptr));
#if PG_VERSION_NUM >= 170000
    return LockHeldByMe(&tag, AccessExclusiveLock, false);
#else
    return LockHeldByMe(&tag, AccessExclusiveLock);
#endif
}

// The executor knows by these which rights a query needs. PostgreSQL 16 took them out of the list
// of relations.
#if PG_VERSION_NUM >= 160000
using Rights = RTEPermissionInfo;
inline const Rights *rights_of(const RangeTblEntry &entry, const List *rights) {
    return entry.perminfoindex == 0 ? nullptr
                                    : static_cast<const Rights *>(list_nth(
                                          rights, static_cast<int>(entry.perminfoindex) - 1));
}
#else
using Rights = RangeTblEntry;
inline const Rights *rights_of(const RangeTblEntry &entry, const List *) {
    return &entry;
}
#endif

// Tells whether a query may run that has these relations and needs these rights, or raises an error
// if it raises.
using QueryCheck = bool (*)(const List *relations, const List *rights, bool raises);

inline QueryCheck query_check = nullptr;
inline ExecutorCheckPerms_hook_type next_query_check = nullptr;

// Has the executor ask before each query, besides its own checks. Called once.
inline void install_query_check(QueryCheck check) {
    query_check = check;
    next_query_check = ExecutorCheckPerms_hook;
#if PG_VERSION_NUM >= 160000
    ExecutorCheckPerms_hook = [](List *relations, List *rights, bool raises) {
        return query_check(relations, rights, raises) &&
               (next_query_check == nullptr || next_query_check(relations, rights, raises));
    };
#else
    ExecutorCheckPerms_hook = [](List *relations, bool raises) {
        return query_check(relations, relations, raises) &&
               (next_query_check == nullptr || next_query_check(relations, raises));
    };
#endif
}

// Microseconds from the Unix epoch to the server's own, 2000-01-01 00:00:00 UTC.
inline constexpr std::int64_t unix_to_server_us =
    std::int64_t{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;

} // namespace snowflake::server

// Raises an error, or reports it to a caller that asked to be told of bad input instead
// (pg_input_is_valid, COPY ... ON_ERROR) and returns from the function. Before PostgreSQL 16 no
// caller can ask for that.
#if PG_VERSION_NUM >= 160000
#define SNOWFLAKE_ERETURN(context, value, ...) ereturn(context, value, __VA_ARGS__)
#else
#define SNOWFLAKE_ERETURN(context, value, ...) ereport(ERROR, __VA_ARGS__)
#endif

// Declares a function that SQL calls. Everything else is hidden, so that calls and variables within
// the module are reached directly. The server's macros show what they declare from PostgreSQL 16
// on.
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#define SNOWFLAKE_FUNCTION(name)                                                                   \
    _Pragma("GCC visibility push(default)") PG_FUNCTION_INFO_V1(name);                             \
    _Pragma("GCC visibility pop") static_assert(true)
#else
#define SNOWFLAKE_FUNCTION(name) PG_FUNCTION_INFO_V1(name)
#endif

// The block by which the server knows that a module was built for it. Since PostgreSQL 18 the block
// can tell the module's name and version.
#ifdef PG_MODULE_MAGIC_EXT
#define SNOWFLAKE_MODULE_MAGIC                                                                     \
    PG_MODULE_MAGIC_EXT(.name = "snowflake", .version = SNOWFLAKE_VERSION)
#else
#define SNOWFLAKE_MODULE_MAGIC PG_MODULE_MAGIC
#endif
