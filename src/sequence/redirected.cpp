#include "redirected.hpp"

#include "allocate.hpp"
#include "session.hpp"

namespace snowflake::redirected {

Id nextval(Oid sequence) {
    if (session::makes_ids(sequence))
        return next_id_amid_block(sequence);
    const Id value = nextval_internal(sequence, true);
    session::server_was_last = true;
    return value;
}

Id currval(Oid sequence) {
    if (session::makes_ids(sequence))
        return session::currval(sequence);
    return DatumGetInt64(DirectFunctionCall1(currval_oid, ObjectIdGetDatum(sequence)));
}

Id lastval() {
    if (session::last_called != nullptr && !session::server_was_last)
        return session::lastval();
    return DatumGetInt64(OidFunctionCall0(F_LASTVAL));
}

} // namespace snowflake::redirected
