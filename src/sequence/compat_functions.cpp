// The functions of the schema snowflake_compat: nextval and currval as clients say them, with the
// name of the sequence as a text. They choose between the functions of this extension and the
// server's.

#include "allocate.hpp"
#include "sequence_kind.hpp"
#include "server/server.hpp"
#include "session.hpp"

using namespace snowflake;

namespace {

// Finds the sequence that a client names, as the server does for a literal of type regclass.
Oid sequence_argument(const text *name) {
    return DatumGetObjectId(
        DirectFunctionCall1(regclassin, CStringGetDatum(text_to_cstring(name))));
}

} // namespace

extern "C" {

// nextval(text) returns bigint
SNOWFLAKE_FUNCTION(snowflake_compat_nextval);
Datum snowflake_compat_nextval(PG_FUNCTION_ARGS) {
    const Oid sequence = sequence_argument(PG_GETARG_TEXT_PP(0));
    if (sequence_kind::is_snowflake(sequence))
        PG_RETURN_INT64(next_id_amid_block(sequence));
    PG_RETURN_INT64(nextval_internal(sequence, true));
}

// currval(text) returns bigint
SNOWFLAKE_FUNCTION(snowflake_compat_currval);
Datum snowflake_compat_currval(PG_FUNCTION_ARGS) {
    const Oid sequence = sequence_argument(PG_GETARG_TEXT_PP(0));
    if (sequence_kind::is_snowflake(sequence))
        PG_RETURN_INT64(session::currval(sequence));
    return DirectFunctionCall1(currval_oid, ObjectIdGetDatum(sequence));
}

} // extern "C"
