#include "acting_role.hpp"

namespace snowflake::acting_role {

bool may_become(Oid role) {
    return role == GetUserId() || superuser() ||
           (!InLocalUserIdChange() && !InSecurityRestrictedOperation() &&
            server::may_set_role(GetUserId(), role));
}

namespace {

// The server gives no role this OID, the last below those of users. It is not one of those that the
// server takes for its own without looking, so that nothing can be made that nobody owns.
constexpr Oid nobody = FirstNormalObjectId - 1;

Previous act_as(Oid role, int flags) {
    Previous before{};
    GetUserIdAndSecContext(&before.role, &before.security_context);
    SetUserIdAndSecContext(role, before.security_context | flags);
    before.settings_level = NewGUCNestLevel();
    return before;
}

} // namespace

Previous become(Oid role, int flags) {
    if (!may_become(role))
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("permission denied to act for role \"%s\"", GetUserNameFromId(role, true)));
    return act_as(role, flags);
}

Previous become_owner_of(Oid relation) {
    const Oid owner = server::owner_of(relation);
    if (!OidIsValid(owner))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
                errmsg("relation with OID %u does not exist", relation));
    return become(owner);
}

Previous become_nobody() {
    return act_as(nobody, SECURITY_RESTRICTED_OPERATION);
}

void resume(const Previous &before) {
    AtEOXact_GUC(false, before.settings_level);
    SetUserIdAndSecContext(before.role, before.security_context);
}

} // namespace snowflake::acting_role
