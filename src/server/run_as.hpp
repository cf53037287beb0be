// Running commands with the rights of another role, so that what a user wrote runs as that user.
//
// The server does the same where it evaluates index expressions and the queries of materialized
// views: the role is set in a security-restricted context, which users' code cannot leave, and the
// settings that it changes are taken back.
#pragma once

#include "server.hpp"

namespace snowflake::run_as {

// Who the session was before become().
struct Identity {
    Oid role;
    int security_context;
    int settings_level;
};

// Whether become() lets the current role act for another: a superuser always, whose rights it only
// lessens, and else where SET ROLE would, which is not so within a SECURITY DEFINER function or a
// security-restricted operation.
bool may_become(Oid role);

// The role that owns a relation. Raises XX000 if there is none.
Oid owner_of(Oid relation);

// Makes the role the current one, in a security-restricted context; InvalidOid: changes neither.
// Settings that change from now on are taken back by resume(). An error ends both. Raises 42501 if
// the role is another than the current one and may_become() does not allow it.
Identity become(Oid role);
void resume(const Identity &before);

// Runs one command as the role. Names in it are looked up in the search_path that is set; users'
// code that it runs finds run_path instead, unless that is null: the functions of event triggers
// always, and other code where the server lets that be told apart. For that the command must make a
// new table file, as ALTER TABLE does for a rewrite and REFRESH MATERIALIZED VIEW: by then the
// server has looked up every name, and has run nothing. At that moment the function
// snowflake._require_references(jsonb) is called with expected, unless that is 0, as the role that
// called run(); its error ends the command before any of the users' code has run.
//
// Returns whether the command returned a bigint in the first column of a row, and which. Raises
// what become() and the command do.
bool run(const char *command, Oid role, const char *run_path, Datum expected, std::int64_t *result);

// Registers the hook that run() needs. Called once, when the module is loaded.
void init();

} // namespace snowflake::run_as
