#include "runner.hpp"

#include "definitions.hpp"
#include "event_triggers.hpp"
#include "query.hpp"
#include "server/acting_role.hpp"
#include "users_errors.hpp"

namespace snowflake::runner {

namespace {

// What is to be done once the command that runs has looked up its names. Nothing if path is null.
struct Pending {
    const char *run_path;
    const char *check;
    Oid caller;
    int caller_context;
};
Pending pending{};

object_access_hook_type next_hook = nullptr;

// Whether the new relation is the file of a table or materialized view that a command fills anew.
bool is_new_table_file(Oid relid) {
    Relation relation = RelationIdGetRelation(relid);
    if (!RelationIsValid(relation))
        return false;
    const char kind = relation->rd_rel->relkind;
    RelationClose(relation);
    return kind == RELKIND_RELATION || kind == RELKIND_MATVIEW;
}

// Runs the query on a function that is about to run, or on none.
void run_check(const Pending &due, Oid callee) {
    if (due.check == nullptr)
        return;
    Oid role = InvalidOid;
    int context = 0;
    GetUserIdAndSecContext(&role, &context);
    SetUserIdAndSecContext(due.caller, due.caller_context);
    query::run_as_of_now(due.check, callee);
    SetUserIdAndSecContext(role, context);
}

// A command evaluates constants before it has found all that it names. Until its query has seen
// what it found, nothing of somebody who may not act for the current role runs unless the query
// lets it.
void require_callee(Oid function) {
    if (function < FirstNormalObjectId || event_triggers::is_running())
        return;
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return;
    const Oid author = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
    ReleaseSysCache(tuple);
    if (server::may_act_for(author, GetUserId()))
        return;
    // Code that catches the error of the query must not find the rest of the command unwatched.
    const Pending due = pending;
    PG_TRY();
    {
        pending = {};
        run_check(due, function);
    }
    PG_FINALLY();
    { pending = due; }
    PG_END_TRY();
}

void object_accessed(ObjectAccessType access, Oid class_id, Oid object, int sub_id,
                     void *argument) {
    if (next_hook != nullptr)
        next_hook(access, class_id, object, sub_id, argument);
    if (likely(pending.run_path == nullptr))
        return;
    if (access == OAT_FUNCTION_EXECUTE)
        require_callee(object);
    if (access != OAT_POST_CREATE || class_id != RelationRelationId || sub_id != 0 ||
        !is_new_table_file(object))
        return;
    const Pending due = pending;
    pending = {}; // once a command, however many tables it rewrites
    run_check(due, InvalidOid);
    server::set_search_path(due.run_path);
}

// Installs the hooks with the first command: sessions that convert nothing do without.
void install_hooks() {
    static bool installed = false;
    if (installed)
        return;
    installed = true;
    next_hook = object_access_hook;
    object_access_hook = object_accessed;
    event_triggers::init();
}

// The statement of a command; nullptr: there is none.
const Node *statement_of(const char *command) {
    const List *statements = raw_parser(command, RAW_PARSE_DEFAULT);
    return statements != NIL ? linitial_node(RawStmt, statements)->stmt : nullptr;
}

// How far a command is restricted. One that alters a table may check its foreign keys, and has to
// see all rows for it, as the server's own triggers do. A sequence that is temporary cannot be made
// in a restricted operation; to make it evaluates nothing.
int security_flags(const Node *statement) {
    if (statement == nullptr)
        return SECURITY_RESTRICTED_OPERATION;
    if (IsA(statement, AlterTableStmt))
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

bool run(const char *command, Oid role, const char *run_path, const char *check,
         std::int64_t *result) {
    install_hooks();
    const Node *statement = statement_of(command);
    const acting_role::Previous before = acting_role::become(role, security_flags(statement));
    // Users' code can call this function as well.
    const Pending outer = pending;
    pending = {.run_path = run_path,
               .check = check,
               .caller = before.role,
               .caller_context = before.security_context};
    const definitions::Ban outer_ban = definitions::in_force();
    const event_triggers::Watch outer_watch = event_triggers::begin(run_path);
    // A query among the commands calls functions of the extension, which may define what they do.
    const bool is_query = statement == nullptr || IsA(statement, SelectStmt);
    bool returned = false;
    PG_TRY();
    {
        if (run_path != nullptr && !is_query)
            definitions::impose(command);
        users_errors::run([&] { returned = execute(command, result); });
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
