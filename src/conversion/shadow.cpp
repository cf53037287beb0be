#include "shadow.hpp"

#include "definitions.hpp"
#include "server/acting_role.hpp"
#include "server/relations.hpp"
#include "server/schema.hpp"

namespace snowflake::shadow {

namespace {

// The server has one structure for both tags, T_OpExpr and T_DistinctExpr.
bool is_equality(const Node *node, NodeTag tag) {
    if (node == nullptr || nodeTag(node) != tag)
        return false;
    const Oid function = get_opcode(reinterpret_cast<const OpExpr *>(node)->opno);
    return function == F_INT84EQ || function == F_INT82EQ;
}

const Node *argument(const List *arguments, int i) {
    return i < list_length(arguments) ? static_cast<const Node *>(list_nth(arguments, i)) : nullptr;
}

AttrNumber column_of(const Node *node) {
    if (node == nullptr || !IsA(node, Var))
        return InvalidAttrNumber;
    return reinterpret_cast<const Var *>(node)->varattno;
}

bool is_source(Oid type) {
    return type == INT2OID || type == INT4OID;
}

bool has_column(TupleDesc row, AttrNumber attribute) {
    return attribute > 0 && attribute <= row->natts &&
           !TupleDescAttr(row, attribute - 1)->attisdropped;
}

bool is_pair(TupleDesc row, const Pair &pair) {
    return has_column(row, pair.source) && has_column(row, pair.shadow) &&
           is_source(TupleDescAttr(row, pair.source - 1)->atttypid) &&
           TupleDescAttr(row, pair.shadow - 1)->atttypid == INT8OID &&
           TupleDescAttr(row, pair.shadow - 1)->attgenerated == '\0';
}

// The columns of NEW that a condition names.
bool collect_new_columns(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Var) && reinterpret_cast<const Var *>(node)->varno == PRS2_NEW_VARNO) {
        auto *&columns = *static_cast<Bitmapset **>(context);
        columns = bms_add_member(columns, reinterpret_cast<const Var *>(node)->varattno -
                                              FirstLowInvalidHeapAttributeNumber);
    }
    return server::walk_expression(node, collect_new_columns, context);
}

// Returns the table's check of the pair whose columns the condition of a trigger names.
// Any holder of the right TRIGGER can make the trigger; only the owner can have made the check.
Comparison comparison_of(const Trigger &trigger, TupleDesc row) {
    Bitmapset *named = nullptr;
    if (trigger.tgqual != nullptr)
        (void)collect_new_columns(static_cast<Node *>(stringToNode(trigger.tgqual)), &named);
    for (int i = 0; row->constr != nullptr && i < row->constr->num_check; ++i) {
        const ConstrCheck &check = row->constr->check[i];
        if (!is_name_of_check(check.ccname))
            continue;
        const Comparison comparison =
            compared_by(static_cast<const Node *>(stringToNode(check.ccbin)));
        const Pair &pair = comparison.pair;
        Bitmapset *compared =
            bms_add_member(bms_make_singleton(pair.source - FirstLowInvalidHeapAttributeNumber),
                           pair.shadow - FirstLowInvalidHeapAttributeNumber);
        if (bms_equal(named, compared) && is_pair(row, pair))
            return comparison;
    }
    return {};
}

// A column that was NOT NULL when its shadow was made, and is not any more: the check, with which
// the swap proves that the shadow has no null, refuses the row with a message that helps nobody.
void require_check_allows_null(const TriggerData &trigger, const Comparison &comparison) {
    Relation table = trigger.tg_relation;
    Form_pg_attribute source = TupleDescAttr(RelationGetDescr(table), comparison.pair.source - 1);
    if (!comparison.refuses_null || source->attnotnull)
        return;
    const Trigger &made = *trigger.tg_trigger;
    ereport(ERROR, errcode(ERRCODE_CHECK_VIOLATION),
            errmsg("column \"%s\" of relation \"%s\" cannot be null yet", NameStr(source->attname),
                   RelationGetRelationName(table)),
            errdetail("It was NOT NULL when a conversion without a long lock began."),
            errhint("Run the commands of snowflake.conversion_plan(%s, online => true) again: the "
                    "first one allows nulls.",
                    quote_literal_cstr(made.tgnargs > 0 ? made.tgargs[0] : "...")),
            errtablecol(table, comparison.pair.source));
}

HeapTuple unchanged(const TriggerData &trigger) {
    if (!TRIGGER_FIRED_FOR_ROW(trigger.tg_event))
        return nullptr;
    return TRIGGER_FIRED_BY_UPDATE(trigger.tg_event) ? trigger.tg_newtuple : trigger.tg_trigtuple;
}

std::int64_t widened(Datum value, Oid type) {
    return type == INT2OID ? DatumGetInt16(value) : DatumGetInt32(value);
}

// A table whose shadows are filled, and what the server needs to change its rows.
struct Work {
    Relation table;
    EState *state;
    ResultRelInfo *result;
    TupleTableSlot *found;
    TupleTableSlot *locked;
    TupleTableSlot *changed;
    Snapshot snapshot;
    const Bitmapset *bound; // columns that must not be filled
    const Pair *pairs;
    int count;
};

// The pairs of a table.
struct Pairs {
    Pair *pairs;
    int count;
};

// Whether the owner of the table has signed a trigger as one that keeps a shadow: others can make
// one, but not let it fire ALWAYS.
bool is_signed(const Trigger &trigger) {
    return trigger.tgenabled == TRIGGER_FIRES_ALWAYS && TRIGGER_FOR_ROW(trigger.tgtype) &&
           TRIGGER_FOR_BEFORE(trigger.tgtype) &&
           get_func_namespace(trigger.tgfoid) == schema::find() &&
           std::strcmp(get_func_name(trigger.tgfoid), "_keep_shadow") == 0;
}

// Returns the pairs that triggers keep. Raises 55000 if there are none.
// The server frees what the table says of its triggers when another session has changed the table's
// statistics, say, and a catalog is read.
Pairs kept_pairs(Relation table) {
    const TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);
    Pairs kept{};
    for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
        const Trigger &trigger = triggers->triggers[i];
        const Pair pair =
            is_signed(trigger) ? comparison_of(trigger, RelationGetDescr(table)).pair : Pair{};
        if (pair.shadow == InvalidAttrNumber)
            continue;
        if (kept.pairs == nullptr)
            kept.pairs = server::allocate_array<Pair>(triggers->numtriggers);
        kept.pairs[kept.count++] = pair;
    }
    if (kept.count == 0)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("no trigger keeps the shadow columns of table %s",
                       server::qualified_name(RelationGetRelid(table))),
                errhint("Ask conversion_plan(..., online => true) for what is left to do."));
    return kept;
}

// The columns of whose numbers something depends that a fill does not look at: keys that others may
// refer to, foreign keys, checks that are valid, the bound of a partition, and what generated
// columns are made from. A shadow gets them once it is filled.
Bitmapset *bound_columns(Relation table) {
    Bitmapset *bound = RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_KEY);
    const List *keys = RelationGetFKeyList(table);
    for (int i = 0; i < list_length(keys); ++i) {
        const auto *key = static_cast<const ForeignKeyCacheInfo *>(list_nth(keys, i));
        for (int column = 0; column < key->nkeys; ++column)
            bound = bms_add_member(bound, key->conkey[column] - FirstLowInvalidHeapAttributeNumber);
    }
    TupleDesc columns = RelationGetDescr(table);
    const TupleConstr *rules = columns->constr;
    for (int i = 0; rules != nullptr && i < rules->num_check; ++i)
        if (rules->check[i].ccvalid)
            pull_varattnos(static_cast<Node *>(stringToNode(rules->check[i].ccbin)), 1, &bound);
    for (int i = 0; rules != nullptr && i < rules->num_defval; ++i)
        if (TupleDescAttr(columns, rules->defval[i].adnum - 1)->attgenerated != '\0')
            pull_varattnos(static_cast<Node *>(stringToNode(rules->defval[i].adbin)), 1, &bound);
    pull_varattnos(reinterpret_cast<Node *>(RelationGetPartitionQual(table)), 1, &bound);
    return bound;
}

bool differs(TupleTableSlot *row, const Pair &pair) {
    bool source_is_null = true;
    bool shadow_is_null = true;
    const Datum source = slot_getattr(row, pair.source, &source_is_null);
    const Datum shadow = slot_getattr(row, pair.shadow, &shadow_is_null);
    if (source_is_null || shadow_is_null)
        return source_is_null != shadow_is_null;
    const Oid type = TupleDescAttr(row->tts_tupleDescriptor, pair.source - 1)->atttypid;
    return widened(source, type) != DatumGetInt64(shadow);
}

bool any_differs(const Work &work, TupleTableSlot *row) {
    return std::any_of(work.pairs, work.pairs + work.count,
                       [row](const Pair &pair) { return differs(row, pair); });
}

// The server reads rows as if a NOT NULL column were never null: one that is would make it take
// other bytes of the row for the values that follow, such as the address of a long one.
void require_null_allowed(const Work &work, const Pair &pair) {
    Form_pg_attribute shadow = TupleDescAttr(RelationGetDescr(work.table), pair.shadow - 1);
    if (shadow->attnotnull)
        ereport(
            ERROR, errcode(ERRCODE_NOT_NULL_VIOLATION),
            errmsg("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
                   NameStr(shadow->attname), RelationGetRelationName(work.table)),
            errtablecol(work.table, pair.shadow));
}

void require_not_bound(const Work &work, const Pair &pair) {
    if (bms_is_member(pair.shadow - FirstLowInvalidHeapAttributeNumber, work.bound))
        ereport(
            ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("column \"%s\" of table \"%s\" cannot be filled",
                   NameStr(TupleDescAttr(RelationGetDescr(work.table), pair.shadow - 1)->attname),
                   RelationGetRelationName(work.table)),
            errdetail("It has a unique index, a foreign key, a valid check, a bound or a generated "
                      "column, and another number than the column whose place it is to take."));
}

// Stores in work.changed a row with its shadows filled.
void change(const Work &work, TupleTableSlot *row) {
    TupleDesc columns = row->tts_tupleDescriptor;
    slot_getallattrs(row);
    ExecClearTuple(work.changed);
    std::copy_n(row->tts_values, columns->natts, work.changed->tts_values);
    std::copy_n(row->tts_isnull, columns->natts, work.changed->tts_isnull);
    for (int i = 0; i < work.count; ++i) {
        const int source = work.pairs[i].source - 1;
        const int shadow = work.pairs[i].shadow - 1;
        if (differs(row, work.pairs[i]))
            require_not_bound(work, work.pairs[i]);
        work.changed->tts_isnull[shadow] = row->tts_isnull[source];
        if (row->tts_isnull[source])
            require_null_allowed(work, work.pairs[i]);
        else
            work.changed->tts_values[shadow] = Int64GetDatum(
                widened(row->tts_values[source], TupleDescAttr(columns, source)->atttypid));
    }
    ExecStoreVirtualTuple(work.changed);
}

// Replaces a row by one with its shadows filled. Returns TM_BeingModified for a row that is locked,
// unless the caller has the lock.
TM_Result replace(const Work &work, TupleTableSlot *row, bool is_locked_by_caller) {
    change(work, row);
    ItemPointerData tid = work.found->tts_tid;
    server::IndexUpdate indexes{};
    const TM_Result result = server::update_row(work.table, &tid, work.changed, work.snapshot,
                                                is_locked_by_caller, &indexes);
    if (result == TM_Ok && work.result->ri_NumIndices > 0 &&
        !server::insert_index_entries(work.result, work.state, work.changed, indexes))
        ereport(
            ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("table \"%s\" cannot be filled", RelationGetRelationName(work.table)),
            errdetail("A deferrable constraint might be violated, which a fill does not check."),
            errhint("Run the command again when the transactions of others have ended."));
    ResetPerTupleExprContext(work.state);
    return result;
}

enum class Outcome {
    filled,
    in_use,
    gone
};

// Locks the row that was found. Returns TM_WouldBlock if it does not wait and another session holds
// the lock.
TM_Result lock_row_to_fill(const Work &work, bool waits) {
    ItemPointerData tid = work.found->tts_tid;
    TM_FailureData failure;
    return table_tuple_lock(work.table, &tid, work.snapshot, work.locked, GetCurrentCommandId(true),
                            LockTupleNoKeyExclusive, waits ? LockWaitBlock : LockWaitSkip, 0,
                            &failure);
}

// Leaves a row that another session has changed or deleted since the snapshot: the trigger has
// filled the shadow of its new version. Locks only a row that somebody has locked, perhaps in a
// mode that does not conflict, as the check of a foreign key does: each lock is a record in the
// WAL.
Outcome fill_row(const Work &work) {
    TM_Result result = replace(work, work.found, false);
    if (result == TM_BeingModified) {
        result = lock_row_to_fill(work, false);
        if (result == TM_Ok)
            result = replace(work, work.locked, true);
    }
    if (result == TM_WouldBlock)
        return Outcome::in_use;
    return result == TM_Ok ? Outcome::filled : Outcome::gone;
}

Filled fill_pages(const Work &work, Pages pages, bool waits) {
    Filled filled{};
    ItemPointerData first = server::tid_of_row(pages.first, FirstOffsetNumber);
    ItemPointerData last = server::tid_of_row(pages.end - 1, MaxOffsetNumber);
    TableScanDesc scan = server::begin_range_scan(work.table, work.snapshot, &first, &last);
    while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, work.found)) {
        CHECK_FOR_INTERRUPTS();
        if (!any_differs(work, work.found))
            continue;
        if (waits) {
            if (lock_row_to_fill(work, true) == TM_Ok)
                break;
            continue;
        }
        const Outcome outcome = fill_row(work);
        filled.rows += outcome == Outcome::filled ? 1 : 0;
        filled.in_use += outcome == Outcome::in_use ? 1 : 0;
    }
    table_endscan(scan);
    return filled;
}

Filled fill_table(Relation table, const Pairs &kept, Pages pages, bool waits) {
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    PushActiveSnapshot(snapshot);
    EState *state = CreateExecutorState();
    auto *result = server::make_node<ResultRelInfo>(T_ResultRelInfo);
    InitResultRelInfo(result, table, 0, nullptr, 0);
    ExecOpenIndices(result, false);
    const Work work = {.table = table,
                       .state = state,
                       .result = result,
                       .found = table_slot_create(table, nullptr),
                       .locked = table_slot_create(table, nullptr),
                       .changed = MakeSingleTupleTableSlot(RelationGetDescr(table), &TTSOpsVirtual),
                       .snapshot = snapshot,
                       .bound = bound_columns(table),
                       .pairs = kept.pairs,
                       .count = kept.count};
    const Filled filled = fill_pages(work, pages, waits);
    ExecDropSingleTupleTableSlot(work.found);
    ExecDropSingleTupleTableSlot(work.locked);
    ExecDropSingleTupleTableSlot(work.changed);
    ExecCloseIndices(result);
    FreeExecutorState(state);
    PopActiveSnapshot();
    UnregisterSnapshot(snapshot);
    return filled;
}

Relation lock_table_to_fill(Oid oid) {
    Relation table = relations::open(oid, RowExclusiveLock);
    if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relam != HEAP_TABLE_AM_OID)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a table that is stored as a heap",
                       RelationGetRelationName(table)));
    CheckCmdReplicaIdentity(table, CMD_UPDATE);
    return table;
}

} // namespace

bool is_name_of_check(const char *name) {
    return std::strncmp(name, "snowflake_", std::strlen("snowflake_")) == 0;
}

Comparison compared_by(const Node *check) {
    if (check == nullptr || !IsA(check, BoolExpr))
        return {};
    const auto *outer = reinterpret_cast<const BoolExpr *>(check);
    const Node *first = argument(outer->args, 0);
    const Node *second = argument(outer->args, 1);
    const bool refuses_null = outer->boolop == AND_EXPR;
    const Node *equality = refuses_null ? second : first;
    if (list_length(outer->args) != (refuses_null ? 2 : 1) ||
        !is_equality(equality, refuses_null ? T_OpExpr : T_DistinctExpr))
        return {};
    const List *columns = reinterpret_cast<const OpExpr *>(equality)->args;
    const Pair pair = {.source = column_of(argument(columns, 1)),
                       .shadow = column_of(argument(columns, 0))};
    if (pair.source <= 0 || pair.shadow <= 0)
        return {};
    if (refuses_null) {
        const auto *test = reinterpret_cast<const NullTest *>(first);
        if (!IsA(first, NullTest) || test->nulltesttype != IS_NOT_NULL ||
            column_of(reinterpret_cast<const Node *>(test->arg)) != pair.shadow)
            return {};
    }
    return {.pair = pair, .refuses_null = refuses_null};
}

HeapTuple row_with_shadow(const TriggerData &trigger, FmgrInfo *function) {
    HeapTuple tuple = unchanged(trigger);
    if (!TRIGGER_FIRED_BEFORE(trigger.tg_event) || !TRIGGER_FIRED_FOR_ROW(trigger.tg_event) ||
        TRIGGER_FIRED_BY_DELETE(trigger.tg_event))
        return tuple;
    TupleDesc row = RelationGetDescr(trigger.tg_relation);
    if (function->fn_extra == nullptr) {
        const Comparison comparison = comparison_of(*trigger.tg_trigger, row);
        function->fn_extra = MemoryContextAlloc(function->fn_mcxt, sizeof(Comparison));
        *static_cast<Comparison *>(function->fn_extra) = comparison;
    }
    const Comparison &comparison = *static_cast<const Comparison *>(function->fn_extra);
    const Pair &pair = comparison.pair;
    if (pair.shadow == InvalidAttrNumber)
        return tuple;
    bool is_null = true;
    const Datum source = heap_getattr(tuple, pair.source, row, &is_null);
    if (is_null)
        require_check_allows_null(trigger, comparison);
    int attribute = pair.shadow;
    Datum value =
        is_null ? Datum{0}
                : Int64GetDatum(widened(source, TupleDescAttr(row, pair.source - 1)->atttypid));
    return heap_modify_tuple_by_cols(tuple, row, 1, &attribute, &value, &is_null);
}

Filled fill(Oid table_oid, Pages pages, bool waits, const char *run_path) {
    PreventCommandIfReadOnly("_fill_pages()");
    PreventCommandDuringRecovery("_fill_pages()");
    PreventCommandIfParallelMode("_fill_pages()");
    Relation table = lock_table_to_fill(table_oid);
    const Pairs kept = kept_pairs(table);
    pages.end = std::min(pages.end, RelationGetNumberOfBlocks(table));
    Filled filled{};
    if (pages.first < pages.end) {
        const acting_role::Previous before = acting_role::become_owner_of(table_oid);
        server::set_search_path(run_path);
        // To open an index evaluates what is constant in it.
        definitions::run_banned([&] { filled = fill_table(table, kept, pages, waits); });
        acting_role::resume(before);
    }
    relation_close(table, NoLock);
    return filled;
}

void require_updates(Oid table_oid) {
    if (!ConditionalLockRelationOid(table_oid, AccessShareLock))
        return;
    Relation table = try_relation_open(table_oid, NoLock);
    if (table != nullptr) {
        CheckCmdReplicaIdentity(table, CMD_UPDATE);
        relation_close(table, NoLock);
    }
    UnlockRelationOid(table_oid, AccessShareLock);
}

} // namespace snowflake::shadow
