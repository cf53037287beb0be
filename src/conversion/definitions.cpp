#include "definitions.hpp"

#include "event_triggers.hpp"

namespace snowflake::definitions {

namespace {

Ban ban{};
ProcessUtility_hook_type next_hook = nullptr;

// A statement that the server runs as part of a command has the text of the command.
bool is_banned(PlannedStmt *statement, const char *text) {
    return ban.is_in_force && !event_triggers::is_running() &&
           (ban.command == nullptr || std::strcmp(text, ban.command) != 0) &&
           GetCommandLogLevel(statement->utilityStmt) == LOGSTMT_DDL;
}

void process_utility(PlannedStmt *statement, const char *text, bool read_only_tree,
                     ProcessUtilityContext context, ParamListInfo params,
                     QueryEnvironment *environment, DestReceiver *receiver,
                     QueryCompletion *completion) {
    if (unlikely(is_banned(statement, text)))
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("cannot execute %s in code that a conversion runs",
                       GetCommandTagName(CreateCommandTag(statement->utilityStmt))));
    const auto next = next_hook != nullptr ? next_hook : standard_ProcessUtility;
    next(statement, text, read_only_tree, context, params, environment, receiver, completion);
}

// Installs the hook with the first ban: sessions that convert nothing do without.
void install_hook() {
    static bool installed = false;
    if (installed)
        return;
    installed = true;
    next_hook = ProcessUtility_hook;
    ProcessUtility_hook = process_utility;
}

} // namespace

Ban in_force() {
    return ban;
}

void impose(const char *command) {
    install_hook();
    // Code that is under a ban cannot lift it by running a command of its own.
    if (!ban.is_in_force)
        ban = {.is_in_force = true, .command = command};
}

void restore(const Ban &before) {
    ban = before;
}

} // namespace snowflake::definitions
