// Acting as another role, so that what a user wrote runs as that user.
//
// The server does the same where it evaluates index expressions and the queries of materialized
// views: the role is set in a security-restricted context, which users' code cannot leave, and the
// settings that it changes are taken back.
#pragma once

#include "server.hpp"

namespace snowflake::acting_role {

// The role and the settings of the session before become().
struct Previous {
    Oid role;
    int security_context;
    int settings_level;
};

// Returns whether become() lets the current role act for another: a superuser always, whose rights
// it only lessens, and else where SET ROLE would let the current role, which is not so within a
// SECURITY DEFINER function or a security-restricted operation. SET ROLE itself asks for the rights
// of the session user; a caller who has put these down with SET ROLE keeps them put down.
bool may_become(Oid role);

// Makes the role the current one, which may be the same, and adds flags to the security context:
// SECURITY_*. Settings that change from now on are taken back by resume(). An error ends both.
// Raises 42501 if the role is another than the current one and may_become() does not allow it.
Previous become(Oid role, int flags = SECURITY_RESTRICTED_OPERATION);
void resume(const Previous &before);

// Makes the role that owns a relation the current one, as become() does. Raises 42P01 if there is
// no such relation.
Previous become_owner_of(Oid relation);

// Makes nobody the current role, in a security-restricted operation: a role that does not exist has
// the rights of PUBLIC and no others, owns nothing and is a member of no role. Every caller may.
Previous become_nobody();

} // namespace snowflake::acting_role
