// Functions for update scripts. They exist in SQL only while such a script runs.

#include "runner.hpp"
#include "server/library.hpp"
#include "server/server.hpp"

using namespace snowflake;

extern "C" {

// _library_installed_at() returns timestamptz
SNOWFLAKE_FUNCTION(snowflake_library_installed_at);
Datum snowflake_library_installed_at(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TIMESTAMPTZ(library::installed_at());
}

// A function of a name by chance, () returns void. Lets nobody add members to the extension whose
// script runs, or take some from it, until the transaction ends: these commands share a lock on it.
SNOWFLAKE_FUNCTION(snowflake_lock_members);
Datum snowflake_lock_members(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    if (!creating_extension)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("no script of an extension is running"));
    LockDatabaseObject(ExtensionRelationId, CurrentExtensionObject, 0, AccessExclusiveLock);
    PG_RETURN_VOID();
}

// _run_outside_script(text) returns void
//
// Runs a command as if a user had typed it. Rights that the script of an extension grants count as
// part of the extension, and are left out of dumps; those that users have granted must not be.
SNOWFLAKE_FUNCTION(snowflake_run_outside_script);
Datum snowflake_run_outside_script(PG_FUNCTION_ARGS) {
    const char *command = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const bool in_script = creating_extension;
    creating_extension = false;
    PG_TRY();
    {
        std::int64_t unused = 0;
        (void)runner::run(command, GetUserId(), nullptr, {}, &unused);
    }
    PG_FINALLY();
    { creating_extension = in_script; }
    PG_END_TRY();
    PG_RETURN_VOID();
}

} // extern "C"
