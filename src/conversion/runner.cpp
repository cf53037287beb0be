#include "runner.hpp"

#include "definitions.hpp"
#include "event_triggers.hpp"
#include "query.hpp"
#include "server/acting_role.hpp"
#include "unbuilt_index.hpp"
#include "users_errors.hpp"

namespace snowflake::runner {

namespace {

// The check that runs once the command has looked up its names. None if run_path is null.
struct Pending {
    const char *run_path;
    Check check;
    Oid caller;
    int caller_context;
    bool fills_index; // and does nothing else after that
    bool leaves_it_empty;
    MemoryContext context; // of the lists
    List *classes;         // of what the command has made since it was compared
    List *objects;
};
Pending pending{};

object_access_hook_type next_hook = nullptr;
needs_fmgr_hook_type next_needs_hook = nullptr;

// Runs the check on a function that is about to run, or on InvalidOid. After an error, the check
// stays pending: code that catches the error must not run the rest of the command unchecked.
void run_check(Oid callee) {
    const Pending due = pending;
    if (due.check.query == nullptr)
        return;
    Oid role = InvalidOid;
    int context = 0;
    GetUserIdAndSecContext(&role, &context);
    PG_TRY();
    {
        pending = {};
        SetUserIdAndSecContext(due.caller, due.caller_context);
        query::run_as_of_now(due.check.query, callee, due.classes, due.objects, due.check.argument);
    }
    PG_FINALLY();
    { pending = due; }
    PG_END_TRY();
    SetUserIdAndSecContext(role, context);
}

void forget() {
    pending.classes = NIL;
    pending.objects = NIL;
}

// Compares what the command has made by now.
void compare() {
    if (pending.objects == NIL)
        return;
    run_check(InvalidOid);
    forget();
}

// The command has looked up all names. Code that constants call may have set a setting in the
// present level: those of here have one of their own, which ends with that.
void settle() {
    compare();
    const char *run_path = pending.run_path;
    pending = {}; // once a command, however many tables it rewrites
    (void)NewGUCNestLevel();
    server::set_search_path(run_path);
    server::print_as_others(); // what expressions make of values stays in tables
}

// Whether a function is of somebody who may not act for the current role.
bool is_strangers(Oid function) {
    if (function < FirstNormalObjectId)
        return false;
    const Oid author = server::owner_of_function(function);
    return OidIsValid(author) && !server::may_act_for(author, GetUserId());
}

// A command evaluates constants before it has looked up all names. Until the check has run, a
// function of a stranger needs its approval. A call that a hook asks for is not inlined by the
// server, which would hide a function in SQL.
bool needs_hook(Oid function) {
    return (next_needs_hook != nullptr && next_needs_hook(function)) ||
           (unlikely(pending.check.query != nullptr) && is_strangers(function));
}

// An event trigger that runs after the command may evaluate what the command has made.
void function_runs(Oid function) {
    if (event_triggers::is_running())
        compare();
    else if (is_strangers(function))
        run_check(function);
}

// Whether an index holds expressions.
bool has_expressions(Oid index) {
    HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
    if (!HeapTupleIsValid(tuple))
        return false;
    const bool has_any = !heap_attisnull(tuple, Anum_pg_index_indexprs, nullptr) ||
                         !heap_attisnull(tuple, Anum_pg_index_indpred, nullptr);
    ReleaseSysCache(tuple);
    return has_any;
}

// A table or materialized view is made by the server itself where a command fills one anew: it has
// looked up all names by then, and evaluated nothing but constants. An index is filled as soon as
// it is there; a command that makes more besides may have names left to look up.
void relation_made(Oid relid, bool is_internal) {
    Relation relation = RelationIdGetRelation(relid);
    if (!RelationIsValid(relation))
        return;
    const char kind = relation->rd_rel->relkind;
    RelationClose(relation);
    if (is_internal && (kind == RELKIND_RELATION || kind == RELKIND_MATVIEW)) {
        settle();
    } else if (kind == RELKIND_INDEX) {
        CommandCounterIncrement(); // as the server does next
        if (pending.fills_index)
            settle();
        else if (has_expressions(relid))
            compare();
        else if (pending.leaves_it_empty)
            forget();
    }
}

void object_accessed(ObjectAccessType access, Oid class_id, Oid object, int sub_id,
                     void *argument) {
    if (next_hook != nullptr)
        next_hook(access, class_id, object, sub_id, argument);
    if (likely(pending.run_path == nullptr))
        return;
    if (access == OAT_FUNCTION_EXECUTE)
        function_runs(object);
    if (access != OAT_POST_CREATE || event_triggers::is_running())
        return;
    MemoryContext before = MemoryContextSwitchTo(pending.context);
    pending.classes = lappend_oid(pending.classes, class_id);
    pending.objects = lappend_oid(pending.objects, object);
    MemoryContextSwitchTo(before);
    if (class_id == RelationRelationId && sub_id == 0)
        relation_made(object, static_cast<const ObjectAccessPostCreate *>(argument)->is_internal);
}

// Installs the hooks with the first command: sessions that convert nothing do without.
void install_hooks() {
    static bool installed = false;
    if (installed)
        return;
    installed = true;
    next_hook = object_access_hook;
    object_access_hook = object_accessed;
    next_needs_hook = needs_fmgr_hook;
    needs_fmgr_hook = needs_hook;
    event_triggers::init();
}

// The statement of a command. Raises 42601 if there is not exactly one.
const Node *statement_of(const char *command) {
    const List *statements = raw_parser(command, RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR), errmsg("a command must be one statement"));
    return linitial_node(RawStmt, statements)->stmt;
}

// Whether a command alters a table in this way, and in no other.
bool alters_only(const Node *statement, AlterTableType subtype) {
    if (!IsA(statement, AlterTableStmt))
        return false;
    const List *commands = reinterpret_cast<const AlterTableStmt *>(statement)->cmds;
    return list_length(commands) == 1 && linitial_node(AlterTableCmd, commands)->subtype == subtype;
}

// Whether a command names nothing but tables, columns and constraints: to validate a constraint, to
// move rows and to collect statistics evaluates what was compared when it was made.
bool looks_up_nothing(const Node *statement) {
    return IsA(statement, InsertStmt) || IsA(statement, VacuumStmt) ||
           alters_only(statement, AT_ValidateConstraint);
}

// How far a command is restricted. One that alters a table may check its foreign keys, and has to
// see all rows for it, as the server's own triggers do. A sequence that is temporary cannot be made
// in a restricted operation; to make it evaluates nothing.
int security_flags(const Node *statement) {
    if (IsA(statement, AlterTableStmt) &&
        reinterpret_cast<const AlterTableStmt *>(statement)->objtype == OBJECT_TABLE)
        return SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS;
    if (IsA(statement, CreateSeqStmt) &&
        reinterpret_cast<const CreateSeqStmt *>(statement)->sequence->relpersistence ==
            RELPERSISTENCE_TEMP)
        return SECURITY_LOCAL_USERID_CHANGE;
    return SECURITY_RESTRICTED_OPERATION;
}

// Returns whether the command returned a bigint in the first column of a row, and which.
bool execute(const char *command, std::int64_t *result) {
    bool is_null = true;
    SPI_connect();
    if (const int status = SPI_execute(command, false, 0); status < 0)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot run this command as another role: %s", command),
                errdetail_internal("%s", SPI_result_code_string(status)));
    if (SPI_processed > 0 && SPI_tuptable != nullptr &&
        SPI_gettypeid(SPI_tuptable->tupdesc, 1) == INT8OID) {
        const Datum value =
            SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
        if (!is_null)
            *result = DatumGetInt64(value);
    }
    SPI_finish();
    return !is_null;
}

} // namespace

bool run(const char *command, Oid role, const char *run_path, const Check &check,
         std::int64_t *result) {
    install_hooks();
    const Node *statement = statement_of(command);
    // A query among the commands calls functions of the extension, which may define what they do.
    const bool is_query = IsA(statement, SelectStmt);
    const bool is_unbuilt = unbuilt_index::is_made_by(statement);
    if (is_unbuilt)
        definitions::require_none(CMDTAG_CREATE_INDEX); // which knows the server's commands alone
    const acting_role::Previous before = acting_role::become(role, security_flags(statement));
    // Users' code can call this function as well.
    const Pending outer = pending;
    pending = {.run_path = is_query ? nullptr : run_path,
               .check = is_query ? Check{} : check,
               .caller = before.role,
               .caller_context = before.security_context,
               .fills_index = (IsA(statement, IndexStmt) && !is_unbuilt) ||
                              alters_only(statement, AT_AddConstraint),
               .leaves_it_empty = is_unbuilt,
               .context = CurrentMemoryContext,
               .classes = NIL,
               .objects = NIL};
    const definitions::Ban outer_ban = definitions::in_force();
    const event_triggers::Watch outer_watch = event_triggers::begin(run_path);
    // Materialized views are filled once all else is made again.
    const bool is_refresh = IsA(statement, RefreshMatViewStmt);
    const bool settles_first = run_path != nullptr && looks_up_nothing(statement);
    bool returned = false;
    PG_TRY();
    {
        if (settles_first)
            settle();
        if (run_path != nullptr && !is_query)
            definitions::impose(command, is_refresh);
        users_errors::run([&] {
            if (is_unbuilt)
                unbuilt_index::make(statement, command);
            else
                returned = execute(command, result);
        });
        compare();
    }
    PG_FINALLY();
    {
        pending = outer;
        definitions::restore(outer_ban);
        event_triggers::end(outer_watch);
    }
    PG_END_TRY();
    acting_role::resume(before);
    return returned;
}

} // namespace snowflake::runner
