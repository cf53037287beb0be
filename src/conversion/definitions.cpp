#include "definitions.hpp"

#include "event_triggers.hpp"

namespace snowflake::definitions {

namespace {

// The setting by which parallel workers, as they build an index, know of the ban of their leader:
// the OID of the command's role; 0: there is none.
constexpr const char *setting_name = "snowflake.runs_code_as";
int setting = 0;

Ban ban{};
ProcessUtility_hook_type next_hook = nullptr;

// A statement that the server runs as part of a command has the text of the command. The triggers
// that guard a table against TRUNCATE may be taken away, and SET CONSTRAINTS fires those that the
// caller has deferred.
bool is_banned(PlannedStmt *statement, const char *text) {
    return ban.is_in_force && !event_triggers::is_running() &&
           (ban.command == nullptr || std::strcmp(text, ban.command) != 0) &&
           (GetCommandLogLevel(statement->utilityStmt) == LOGSTMT_DDL ||
            IsA(statement->utilityStmt, TruncateStmt) ||
            IsA(statement->utilityStmt, ConstraintsSetStmt));
}

// Whether a query is SELECT .. FOR KEY SHARE of one relation, in a context that only the server
// makes: it looks for a row of a foreign key, as the owner of the table that has it.
bool is_key_lookup(const List *rights) {
    const server::Rights *only = nullptr;
    for (int i = 0; i < list_length(rights); ++i) {
        const auto *one = static_cast<const server::Rights *>(list_nth(rights, i));
        if (one->requiredPerms != 0 && only != nullptr)
            return false;
        if (one->requiredPerms != 0)
            only = one;
    }
    return only != nullptr && only->requiredPerms == (ACL_SELECT | ACL_SELECT_FOR_UPDATE) &&
           bms_is_empty(only->updatedCols) && InNoForceRLSOperation();
}

// Whether code may read or write a relation, with the rights of a role. A conversion has the
// strongest lock on what it takes apart, and on what it makes. By way of a view, a key or a
// function of the owner, somebody else's code reaches it with the owner's rights: so it depends on
// the role of the command and the current one as well.
bool may_touch(Oid relation, Oid actor, bool is_lookup) {
    if (!server::holds_exclusively(relation))
        return true;
    const Oid owner = server::owner_of(relation);
    return server::may_act_for(actor, owner) &&
           (is_lookup ||
            (server::may_act_for(GetUserId(), owner) && server::may_act_for(ban.role, owner)));
}

// For a child of a table that it names, a query needs no right. A superuser has chosen what event
// triggers do.
bool check_query(const List *relations, const List *rights, bool raises) {
    if (likely(!ban.is_in_force || ban.is_complete) || event_triggers::is_running())
        return true;
    const bool is_lookup = is_key_lookup(rights);
    for (int i = 0; i < list_length(relations); ++i) {
        const auto &entry = *static_cast<const RangeTblEntry *>(list_nth(relations, i));
        const server::Rights *needed = server::rights_of(entry, rights);
        const Oid as = needed != nullptr ? needed->checkAsUser : InvalidOid;
        if (!OidIsValid(entry.relid) ||
            may_touch(entry.relid, OidIsValid(as) ? as : GetUserId(), is_lookup))
            continue;
        if (raises)
            ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("cannot read or write \"%s\" in code that a conversion runs",
                           get_rel_name(entry.relid)),
                    errdetail("The conversion has taken away what guards the relation."));
        return false;
    }
    return true;
}

void refuse(CommandTag command) {
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("cannot execute %s in code that a conversion runs", GetCommandTagName(command)));
}

void process_utility(PlannedStmt *statement, const char *text, bool read_only_tree,
                     ProcessUtilityContext context, ParamListInfo params,
                     QueryEnvironment *environment, DestReceiver *receiver,
                     QueryCompletion *completion) {
    if (unlikely(is_banned(statement, text)))
        refuse(CreateCommandTag(statement->utilityStmt));
    const auto next = next_hook != nullptr ? next_hook : standard_ProcessUtility;
    next(statement, text, read_only_tree, context, params, environment, receiver, completion);
}

// Installs the hooks with the first ban: sessions that convert nothing do without. Returns whether
// this is the first.
bool install_hooks() {
    static bool installed = false;
    if (installed)
        return false;
    installed = true;
    next_hook = ProcessUtility_hook;
    ProcessUtility_hook = process_utility;
    server::install_query_check(check_query);
    return true;
}

void assign_setting(int role, void *) {
    if (role == 0 || !IsParallelWorker())
        return;
    (void)install_hooks();
    ban = {.is_in_force = true,
           .is_complete = false,
           .role = static_cast<Oid>(role),
           .command = nullptr};
}

void define_setting() {
    server::define_setting(setting_name, [](const char *name) {
        DefineCustomIntVariable(name, "Tells parallel workers as whom a conversion runs code.",
                                nullptr, &setting, 0, INT_MIN, INT_MAX, PGC_SUSET,
                                GUC_NO_SHOW_ALL | GUC_NO_RESET_ALL | GUC_NOT_IN_SAMPLE |
                                    GUC_DISALLOW_IN_FILE,
                                nullptr, assign_setting, nullptr);
    });
}

List *pinned = NIL; // names of portals, in the memory of the transaction

// Keeps the cursors of the session from being closed: a portal runs with the rights of whoever
// fetches from it, and code could open one of its own under the name.
void pin_portals() {
    static SPIPlanPtr names = nullptr; // a conversion runs hundreds of commands
    SPI_connect();
    if (names == nullptr) {
        SPIPlanPtr plan = SPI_prepare("SELECT name FROM pg_catalog.pg_cursor()", 0, nullptr);
        (void)SPI_keepplan(plan);
        names = plan;
    }
    (void)SPI_execute_plan(names, nullptr, nullptr, true, 0);
    for (std::uint64_t i = 0; i < SPI_processed; ++i) {
        char *name = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
        Portal portal = GetPortalByName(name);
        if (!PortalIsValid(portal) || portal->portalPinned)
            continue;
        PinPortal(portal);
        MemoryContext before = MemoryContextSwitchTo(TopTransactionContext);
        pinned = lappend(pinned, pstrdup(name));
        MemoryContextSwitchTo(before);
    }
    SPI_finish();
}

void unpin_portals() {
    for (int i = 0; i < list_length(pinned); ++i) {
        Portal portal = GetPortalByName(static_cast<const char *>(list_nth(pinned, i)));
        if (PortalIsValid(portal) && portal->portalPinned)
            UnpinPortal(portal);
    }
    pinned = NIL;
}

} // namespace

Ban in_force() {
    return ban;
}

void require_none(CommandTag command) {
    if (ban.is_in_force && !event_triggers::is_running())
        refuse(command);
}

void init() {
    if (IsParallelWorker())
        define_setting();
}

void impose(const char *command, bool is_complete) {
    if (install_hooks() && !IsParallelWorker())
        define_setting();
    // Code that is under a ban cannot lift it by running a command of its own.
    if (ban.is_in_force)
        return;
    pin_portals();
    ban = {
        .is_in_force = true, .is_complete = is_complete, .role = GetUserId(), .command = command};
    // Until the settings of the moment are restored.
    if (!is_complete)
        (void)set_config_option(setting_name, psprintf("%d", static_cast<int>(ban.role)), PGC_SUSET,
                                PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void restore(const Ban &before) {
    if (!before.is_in_force)
        unpin_portals();
    ban = before;
}

} // namespace snowflake::definitions
