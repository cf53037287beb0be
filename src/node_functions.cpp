// The functions of SQL on node numbers: the number of this instance, and what the extension script
// asks of the rule of claims. Only arguments in and results out: the rules stand in the rooms
// below.

#include "claims.hpp"
#include "clock.hpp"
#include "nodes.hpp"
#include "server.hpp"
#include "settings.hpp"

using namespace snowflake;

extern "C" {

// node() returns integer
SNOWFLAKE_FUNCTION(snowflake_node);
Datum snowflake_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT32(nodes::node(clock_us()));
}

// node_setting() returns integer: the setting as the module knows it. A value that somebody gave
// before the module was loaded has been checked by then. A parallel worker that loads the module
// does not get to know the value.
SNOWFLAKE_FUNCTION(snowflake_node_setting);
Datum snowflake_node_setting(PG_FUNCTION_ARGS) {
    if (settings::node() == settings::node_unset)
        PG_RETURN_NULL();
    PG_RETURN_INT32(settings::node());
}

// how_to_unset_node() returns text
SNOWFLAKE_FUNCTION(snowflake_how_to_unset_node);
Datum snowflake_how_to_unset_node(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(settings::how_to_unset_node()));
}

// _is_better_claim(timestamptz, bigint, timestamptz, bigint) returns boolean
SNOWFLAKE_FUNCTION(snowflake_is_better_claim);
Datum snowflake_is_better_claim(PG_FUNCTION_ARGS) {
    const Claim claim{.system_identifier = PG_GETARG_INT64(1),
                      .claimed_at = PG_GETARG_TIMESTAMPTZ(0)};
    const Claim than{.system_identifier = PG_GETARG_INT64(3),
                     .claimed_at = PG_GETARG_TIMESTAMPTZ(2)};
    PG_RETURN_BOOL(is_better(claim, than));
}

// _claimed_node() returns integer; NULL if this instance has claimed none
SNOWFLAKE_FUNCTION(snowflake_claimed_node);
Datum snowflake_claimed_node(PG_FUNCTION_ARGS) {
    const int node = nodes::claimed_node();
    if (node == 0)
        PG_RETURN_NULL();
    PG_RETURN_INT32(node);
}

// _require_claimable(integer) returns void
SNOWFLAKE_FUNCTION(snowflake_require_claimable);
Datum snowflake_require_claimable(PG_FUNCTION_ARGS) {
    nodes::require_claimable(PG_GETARG_INT32(0));
    PG_RETURN_VOID();
}

// _how_to_claim_another() returns text
SNOWFLAKE_FUNCTION(snowflake_how_to_claim_another);
Datum snowflake_how_to_claim_another(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    const bool claimed = nodes::claimed_node() != 0;
    PG_RETURN_TEXT_P(cstring_to_text(nodes::how_to_claim_another(claimed)));
}

// nodes_changed() returns trigger
SNOWFLAKE_FUNCTION(snowflake_nodes_changed);
Datum snowflake_nodes_changed(PG_FUNCTION_ARGS) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                errmsg("function \"snowflake._nodes_changed\" was not called as a trigger"));
    nodes::tell_of_change(reinterpret_cast<TriggerData *>(fcinfo->context)->tg_relation);
    PG_RETURN_POINTER(nullptr); // what an AFTER trigger returns is ignored
}

} // extern "C"
