// What SQL can call to learn the node number of this instance, and what the extension script calls
// to look after the table snowflake.nodes.

#include "clock.hpp"
#include "nodes.hpp"
#include "server.hpp"
#include "settings.hpp"

using namespace snowflake;

extern "C" {

// node() returns integer
PG_FUNCTION_INFO_V1(snowflake_node);
Datum snowflake_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT32(nodes::node(clock_us()));
}

// node_setting() returns integer: the setting as the module knows it. A value that somebody gave
// before the module was loaded has been checked by then.
PG_FUNCTION_INFO_V1(snowflake_node_setting);
Datum snowflake_node_setting(PG_FUNCTION_ARGS) {
    if (settings::node() == settings::node_unset)
        PG_RETURN_NULL();
    PG_RETURN_INT32(settings::node());
}

// how_to_unset_node() returns text
PG_FUNCTION_INFO_V1(snowflake_how_to_unset_node);
Datum snowflake_how_to_unset_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(settings::how_to_unset_node()));
}

// nodes_changed() returns trigger
PG_FUNCTION_INFO_V1(snowflake_nodes_changed);
Datum snowflake_nodes_changed(PG_FUNCTION_ARGS) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                errmsg("function \"snowflake.nodes_changed\" was not called as a trigger"));
    nodes::tell_of_change(reinterpret_cast<TriggerData *>(fcinfo->context)->tg_relation);
    PG_RETURN_POINTER(nullptr); // what an AFTER trigger returns is ignored
}

} // extern "C"
