// Functions that the conversion, which is written in SQL, calls: they read and make expressions as
// trees, run commands with the rights of their owner, and lock and read relations by OID. Arguments
// in and results out, nothing else.

#include "definitions.hpp"
#include "event_triggers.hpp"
#include "expression.hpp"
#include "query.hpp"
#include "rehearsal.hpp"
#include "runner.hpp"
#include "sequence/last_value.hpp"
#include "server/acting_role.hpp"
#include "server/layout_datum.hpp"
#include "server/relations.hpp"
#include "trial.hpp"
#include "typed_command.hpp"

using namespace snowflake;

namespace {

expression::Direction direction_argument(Datum to_snowflake) {
    return DatumGetBool(to_snowflake) ? expression::Direction::to_snowflake
                                      : expression::Direction::to_server;
}

const char *name_of(expression::Callee callee) {
    switch (callee) {
    case expression::Callee::server_nextval:
        return "pg_catalog.nextval";
    case expression::Callee::nextval:
        return "snowflake.nextval";
    case expression::Callee::nextvals:
        return "snowflake.nextvals";
    case expression::Callee::currval:
        return "snowflake.currval";
    case expression::Callee::other:
        break;
    }
    return nullptr;
}

// The identifiers of a name as an array of text; 0: it is not a name.
Datum identifiers_datum(const char *name) {
    const List *names = name != nullptr ? expression::identifiers_of(name) : NIL;
    if (names == NIL)
        return 0;
    auto *items = server::allocate_array<Datum>(list_length(names));
    for (int i = 0; i < list_length(names); ++i)
        items[i] = CStringGetTextDatum(static_cast<const char *>(list_nth(names, i)));
    return PointerGetDatum(
        construct_array(items, list_length(names), TEXTOID, -1, false, TYPALIGN_INT));
}

void put_use(const ReturnSetInfo &result, const expression::Use &use) {
    const char *callee = name_of(use.callee);
    const Datum name = identifiers_datum(use.name);
    Datum values[] = {callee != nullptr ? CStringGetTextDatum(callee) : Datum{0},
                      ObjectIdGetDatum(use.sequence), name, layout_to_datum(use.layout)};
    bool nulls[] = {callee == nullptr, !OidIsValid(use.sequence), name == 0, !use.has_layout};
    tuplestore_putvalues(result.setResult, result.setDesc, values, nulls);
}

// Returns OIDs as rows of one column; InvalidOid is null.
void put_oids(const ReturnSetInfo &result, const List *oids) {
    for (int i = 0; i < list_length(oids); ++i) {
        Datum value = ObjectIdGetDatum(list_nth_oid(oids, i));
        bool is_null = !OidIsValid(list_nth_oid(oids, i));
        tuplestore_putvalues(result.setResult, result.setDesc, &value, &is_null);
    }
}

// Returns what is found in each tree that an object stores, as rows of one column; null for a tree
// that is too long or nested too deeply to be read.
Datum put_found_in_trees(FunctionCallInfo fcinfo, Oid class_id, Oid object, List *(*find)(Node *)) {
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    const auto &result = *reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    const List *trees = expression::stored_in(class_id, object);
    for (int i = 0; i < list_length(trees); ++i) {
        auto *tree = static_cast<Node *>(list_nth(trees, i));
        put_oids(result, tree == nullptr ? lappend_oid(NIL, InvalidOid) : find(tree));
    }
    return Datum{0};
}

// Numbers that a trial is made with.
struct Numbers {
    std::int64_t *values;
    int count;
};

// Raises 22023 if one of them is null.
Numbers numbers_argument(Datum argument) {
    ArrayType *array = DatumGetArrayTypeP(argument);
    if (array_contains_nulls(array))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("numbers to try must not be null"));
    Datum *items = nullptr;
    Numbers numbers{};
    deconstruct_array(array, INT8OID, sizeof(std::int64_t), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
                      &items, nullptr, &numbers.count);
    numbers.values = server::allocate_array<std::int64_t>(numbers.count);
    for (int i = 0; i < numbers.count; ++i)
        numbers.values[i] = DatumGetInt64(items[i]);
    return numbers;
}

// The type with an OID, which need not be one. Raises 42704 if it is not.
Oid type_argument(Datum argument) {
    const Oid type = DatumGetObjectId(argument);
    if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
                errmsg("type with OID %u does not exist", type));
    return type;
}

Datum outcomes_datum(const trial::Outcome *outcomes, int count) {
    auto *items = server::allocate_array<Datum>(count);
    auto *nulls = server::allocate_array<bool>(count);
    for (int i = 0; i < count; ++i) {
        nulls[i] = outcomes[i] == nullptr;
        items[i] = nulls[i] ? Datum{0} : CStringGetTextDatum(outcomes[i]);
    }
    int dimensions[] = {count};
    int lower_bounds[] = {1};
    return PointerGetDatum(construct_md_array(items, nulls, 1, dimensions, lower_bounds, TEXTOID,
                                              -1, false, TYPALIGN_INT));
}

// The elements of an array of OIDs.
struct Oids {
    Oid *values;
    int count;
};

// Raises 22004 if one of them is null.
Oids oids_argument(Datum argument) {
    ArrayType *array = DatumGetArrayTypeP(argument);
    if (array_contains_nulls(array))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("an OID must not be null"));
    Datum *items = nullptr;
    Oids oids{};
    deconstruct_array(array, OIDOID, sizeof(Oid), true, TYPALIGN_INT, &items, nullptr, &oids.count);
    oids.values = server::allocate_array<Oid>(oids.count);
    std::transform(items, items + oids.count, oids.values,
                   [](Datum item) { return DatumGetObjectId(item); });
    return oids;
}

} // namespace

extern "C" {

// _base_type(oid) returns oid
SNOWFLAKE_FUNCTION(snowflake_base_type);
Datum snowflake_base_type(PG_FUNCTION_ARGS) {
    const Oid type = PG_GETARG_OID(0); // 0 for a column that is dropped
    PG_RETURN_OID(SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)) ? getBaseType(type)
                                                                         : type);
}

// _sequence_uses(regclass, oid) returns setof record (callee text, sequence regclass, name text[],
// layout snowflake.layout)
SNOWFLAKE_FUNCTION(snowflake_sequence_uses);
Datum snowflake_sequence_uses(PG_FUNCTION_ARGS) {
    InitMaterializedSRF(fcinfo, 0);
    const auto &result = *reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    const List *trees = expression::stored_in(PG_GETARG_OID(0), PG_GETARG_OID(1));
    for (int i = 0; i < list_length(trees); ++i) {
        const List *uses = expression::uses_in(static_cast<Node *>(list_nth(trees, i)));
        for (int j = 0; j < list_length(uses); ++j)
            put_use(result, *static_cast<expression::Use *>(list_nth(uses, j)));
    }
    return Datum{0};
}

// _types_of_constants(regclass, oid) returns setof oid
SNOWFLAKE_FUNCTION(snowflake_types_of_constants);
Datum snowflake_types_of_constants(PG_FUNCTION_ARGS) {
    return put_found_in_trees(fcinfo, PG_GETARG_OID(0), PG_GETARG_OID(1),
                              expression::types_of_constants);
}

// _relations_read(oid) returns setof oid
SNOWFLAKE_FUNCTION(snowflake_relations_read);
Datum snowflake_relations_read(PG_FUNCTION_ARGS) {
    return put_found_in_trees(fcinfo, RewriteRelationId, PG_GETARG_OID(0),
                              expression::relations_read);
}

// _relations_inserted_into(oid) returns setof oid
SNOWFLAKE_FUNCTION(snowflake_relations_inserted_into);
Datum snowflake_relations_inserted_into(PG_FUNCTION_ARGS) {
    return put_found_in_trees(fcinfo, RewriteRelationId, PG_GETARG_OID(0),
                              expression::relations_inserted_into);
}

// _relations_named_by_position(regclass, oid) returns setof oid
SNOWFLAKE_FUNCTION(snowflake_relations_named_by_position);
Datum snowflake_relations_named_by_position(PG_FUNCTION_ARGS) {
    return put_found_in_trees(fcinfo, PG_GETARG_OID(0), PG_GETARG_OID(1),
                              expression::relations_named_by_position);
}

// _returns_columns(oid, oid) returns boolean
SNOWFLAKE_FUNCTION(snowflake_returns_columns);
Datum snowflake_returns_columns(PG_FUNCTION_ARGS) {
    const List *trees = expression::stored_in(ProcedureRelationId, PG_GETARG_OID(0));
    for (int i = 0; i < list_length(trees); ++i)
        if (expression::returns_columns(static_cast<Node *>(list_nth(trees, i)), PG_GETARG_OID(1)))
            PG_RETURN_BOOL(true);
    PG_RETURN_BOOL(false);
}

// _relations_named_with_only(regclass, oid) returns setof oid
SNOWFLAKE_FUNCTION(snowflake_relations_named_with_only);
Datum snowflake_relations_named_with_only(PG_FUNCTION_ARGS) {
    return put_found_in_trees(fcinfo, PG_GETARG_OID(0), PG_GETARG_OID(1),
                              expression::relations_named_with_only);
}

// _is_call(oid, regclass) returns boolean
SNOWFLAKE_FUNCTION(snowflake_is_call);
Datum snowflake_is_call(PG_FUNCTION_ARGS) {
    Node *tree = expression::first_stored_in(AttrDefaultRelationId, PG_GETARG_OID(0));
    PG_RETURN_BOOL(tree != nullptr && expression::is_call(tree, PG_GETARG_OID(1)));
}

// _upper_bound(oid) returns record (attnum smallint, bound bigint)
SNOWFLAKE_FUNCTION(snowflake_upper_bound);
Datum snowflake_upper_bound(PG_FUNCTION_ARGS) {
    const expression::UpperBound found = expression::upper_bound(
        expression::first_stored_in(ConstraintRelationId, PG_GETARG_OID(0)));
    if (found.attribute == InvalidAttrNumber)
        PG_RETURN_NULL();
    Datum values[] = {Int16GetDatum(found.attribute), Int64GetDatum(found.bound)};
    bool nulls[] = {false, false};
    PG_RETURN_DATUM(server::row_datum(fcinfo, values, nulls));
}

// _default_replaced(oid, regclass, boolean) returns text
SNOWFLAKE_FUNCTION(snowflake_default_replaced);
Datum snowflake_default_replaced(PG_FUNCTION_ARGS) {
    const expression::Default column = expression::find_default(PG_GETARG_OID(0));
    Node *tree = expression::with_calls_replaced(column.tree, PG_GETARG_OID(1),
                                                 direction_argument(PG_GETARG_DATUM(2)));
    if (tree == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_TEXT_P(cstring_to_text(expression::deparsed(tree, column.relation)));
}

// _default_form(oid, regclass) returns text
SNOWFLAKE_FUNCTION(snowflake_default_form);
Datum snowflake_default_form(PG_FUNCTION_ARGS) {
    const expression::Default column = expression::find_default(PG_GETARG_OID(0));
    PG_RETURN_TEXT_P(cstring_to_text(expression::form_of(column.tree, PG_GETARG_OID(1))));
}

// _default_form_replaced(oid, regclass, boolean, oid, integer) returns text
SNOWFLAKE_FUNCTION(snowflake_default_form_replaced);
Datum snowflake_default_form_replaced(PG_FUNCTION_ARGS) {
    for (const int required : {0, 1, 3, 4})
        if (PG_ARGISNULL(required))
            PG_RETURN_NULL();
    const expression::Default column = expression::find_default(PG_GETARG_OID(0));
    const expression::Direction direction =
        PG_ARGISNULL(2) ? expression::Direction::unchanged : direction_argument(PG_GETARG_DATUM(2));
    const acting_role::Previous before = acting_role::become_owner_of(column.relation);
    const char *form = nullptr;
    definitions::run_banned([&] {
        form = expression::form_after_replacement(column, PG_GETARG_OID(1), direction,
                                                  type_argument(PG_GETARG_DATUM(3)),
                                                  PG_GETARG_INT32(4));
    });
    acting_role::resume(before);
    PG_RETURN_TEXT_P(cstring_to_text(form));
}

// _try_default(oid, regclass, bigint[]) returns text[]
SNOWFLAKE_FUNCTION(snowflake_try_default);
Datum snowflake_try_default(PG_FUNCTION_ARGS) {
    const Numbers numbers = numbers_argument(PG_GETARG_DATUM(2));
    auto *outcomes = server::allocate_array<trial::Outcome>(numbers.count);
    if (!trial::try_default(PG_GETARG_OID(0), PG_GETARG_OID(1), numbers.values, numbers.count,
                            outcomes))
        PG_RETURN_NULL();
    return outcomes_datum(outcomes, numbers.count);
}

// _try_stored(oid, oid, smallint, bigint[]) returns text[]
SNOWFLAKE_FUNCTION(snowflake_try_stored);
Datum snowflake_try_stored(PG_FUNCTION_ARGS) {
    const Numbers numbers = numbers_argument(PG_GETARG_DATUM(3));
    auto *outcomes = server::allocate_array<trial::Outcome>(numbers.count);
    if (!trial::try_stored(PG_GETARG_OID(0), PG_GETARG_OID(1), PG_GETARG_INT16(2), numbers.values,
                           numbers.count, outcomes))
        PG_RETURN_NULL();
    return outcomes_datum(outcomes, numbers.count);
}

// _try_partition(regclass, smallint, bigint[]) returns text[]
SNOWFLAKE_FUNCTION(snowflake_try_partition);
Datum snowflake_try_partition(PG_FUNCTION_ARGS) {
    const Numbers numbers = numbers_argument(PG_GETARG_DATUM(2));
    auto *outcomes = server::allocate_array<trial::Outcome>(numbers.count);
    if (!trial::try_partition(PG_GETARG_OID(0), PG_GETARG_INT16(1), numbers.values, numbers.count,
                              outcomes))
        PG_RETURN_NULL();
    return outcomes_datum(outcomes, numbers.count);
}

// _may_become(oid) returns boolean
SNOWFLAKE_FUNCTION(snowflake_may_become);
Datum snowflake_may_become(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(acting_role::may_become(PG_GETARG_OID(0)));
}

// _may_act_for(oid, oid) returns boolean
SNOWFLAKE_FUNCTION(snowflake_may_act_for);
Datum snowflake_may_act_for(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(server::may_act_for(PG_GETARG_OID(0), PG_GETARG_OID(1)));
}

// _run_as(text, oid, text, text, jsonb) returns bigint
SNOWFLAKE_FUNCTION(snowflake_run_as);
Datum snowflake_run_as(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                errmsg("a command and its role must not be null"));
    std::int64_t result = 0;
    const bool returned =
        runner::run(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1),
                    PG_ARGISNULL(2) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(2)),
                    {.query = PG_ARGISNULL(3) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(3)),
                     .argument = fcinfo->args[4]},
                    &result);
    if (!returned)
        PG_RETURN_NULL();
    PG_RETURN_INT64(result);
}

// _event_trigger_failures() returns bigint
SNOWFLAKE_FUNCTION(snowflake_event_trigger_failures);
Datum snowflake_event_trigger_failures(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_INT64(event_triggers::failures());
}

// _is_made_here(xid) returns boolean
SNOWFLAKE_FUNCTION(snowflake_is_made_here);
Datum snowflake_is_made_here(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(TransactionIdIsCurrentTransactionId(PG_GETARG_TRANSACTIONID(0)));
}

// _session_of(oid) returns integer
SNOWFLAKE_FUNCTION(snowflake_session_of);
Datum snowflake_session_of(PG_FUNCTION_ARGS) {
    const int process = server::session_of(PG_GETARG_OID(0));
    if (process == 0)
        PG_RETURN_NULL();
    PG_RETURN_INT32(process);
}

// _lock(oid, boolean) returns boolean
SNOWFLAKE_FUNCTION(snowflake_lock);
Datum snowflake_lock(PG_FUNCTION_ARGS) {
    const Oid relation = PG_GETARG_OID(0);
    const bool only_definition = PG_GETARG_BOOL(1);
    PG_RETURN_BOOL(only_definition ? relations::lock(relation, ShareUpdateExclusiveLock)
                                   : relations::lock(relation));
}

// _hold_definition(oid, text) returns void
SNOWFLAKE_FUNCTION(snowflake_hold_definition);
Datum snowflake_hold_definition(PG_FUNCTION_ARGS) {
    const char *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
    const LOCKMODE mode = std::strcmp(name, "ROW SHARE") == 0       ? RowShareLock
                          : std::strcmp(name, "ROW EXCLUSIVE") == 0 ? RowExclusiveLock
                          : std::strcmp(name, "SHARE UPDATE EXCLUSIVE") == 0
                              ? ShareUpdateExclusiveLock
                              : NoLock;
    if (mode == NoLock)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("invalid lock mode: \"%s\"", name));
    relation_close(relations::open(PG_GETARG_OID(0), mode), NoLock);
    PG_RETURN_VOID();
}

// _hold_schema(oid, oid) returns void
SNOWFLAKE_FUNCTION(snowflake_hold_schema);
Datum snowflake_hold_schema(PG_FUNCTION_ARGS) {
    relations::hold_schema(PG_GETARG_OID(0), PG_GETARG_OID(1));
    PG_RETURN_VOID();
}

// _hold_rights(oid, oid) returns void
SNOWFLAKE_FUNCTION(snowflake_hold_rights);
Datum snowflake_hold_rights(PG_FUNCTION_ARGS) {
    relations::hold_rights(PG_GETARG_OID(0), PG_GETARG_OID(1));
    PG_RETURN_VOID();
}

// _plan_anew(regclass) returns void
SNOWFLAKE_FUNCTION(snowflake_plan_anew);
Datum snowflake_plan_anew(PG_FUNCTION_ARGS) {
    relations::plan_anew(PG_GETARG_OID(0));
    PG_RETURN_VOID();
}

// _wait_for_holders(oid) returns void
SNOWFLAKE_FUNCTION(snowflake_wait_for_holders);
Datum snowflake_wait_for_holders(PG_FUNCTION_ARGS) {
    relations::wait_for_holders(PG_GETARG_OID(0));
    PG_RETURN_VOID();
}

// _raise(text, text, text, text) returns void
SNOWFLAKE_FUNCTION(snowflake_raise);
Datum snowflake_raise(PG_FUNCTION_ARGS) {
    const auto argument = [fcinfo](int i) {
        return PG_ARGISNULL(i) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(i));
    };
    const char *state = argument(0);
    const char *message = argument(1);
    const char *detail = argument(2);
    const char *hint = argument(3);
    constexpr const char *characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (message == nullptr || state == nullptr || std::strlen(state) != 5 ||
        std::strspn(state, characters) != 5 || (state[0] == '0' && state[1] <= '2'))
        PG_RETURN_NULL(); // The classes 00, 01 and 02 are of no errors.
    // The server sets it again where the error is caught.
    error_context_stack = nullptr;
    ereport(ERROR, errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
            errmsg("%s", message), detail != nullptr ? errdetail("%s", detail) : 0,
            hint != nullptr ? errhint("%s", hint) : 0);
    PG_RETURN_VOID();
}

// _as_of_now(text, record) returns record
SNOWFLAKE_FUNCTION(snowflake_as_of_now);
Datum snowflake_as_of_now(PG_FUNCTION_ARGS) {
    const std::optional<Datum> row = query::row_as_of_now(text_to_cstring(PG_GETARG_TEXT_PP(0)),
                                                          query::row_of(PG_GETARG_DATUM(1)));
    if (!row)
        PG_RETURN_NULL();
    return *row;
}

// _rehearse(oid[], text, text, record) returns void
SNOWFLAKE_FUNCTION(snowflake_rehearse);
Datum snowflake_rehearse(PG_FUNCTION_ARGS) {
    const Oids tables = oids_argument(PG_GETARG_DATUM(0));
    rehearsal::run(tables.values, tables.count, text_to_cstring(PG_GETARG_TEXT_PP(1)),
                   text_to_cstring(PG_GETARG_TEXT_PP(2)), query::row_of(PG_GETARG_DATUM(3)));
    PG_RETURN_VOID();
}

// _own_as_serial(regclass) returns boolean
SNOWFLAKE_FUNCTION(snowflake_own_as_serial);
Datum snowflake_own_as_serial(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(relations::own_as_serial(PG_GETARG_OID(0)));
}

// _take_last_value(regclass, regclass) returns void
SNOWFLAKE_FUNCTION(snowflake_take_last_value);
Datum snowflake_take_last_value(PG_FUNCTION_ARGS) {
    take_last_value(PG_GETARG_OID(0), PG_GETARG_OID(1));
    PG_RETURN_VOID();
}

// _take_state(regclass, regclass) returns void
SNOWFLAKE_FUNCTION(snowflake_take_state);
Datum snowflake_take_state(PG_FUNCTION_ARGS) {
    take_state(PG_GETARG_OID(0), PG_GETARG_OID(1));
    PG_RETURN_VOID();
}

// _last_value(regclass) returns bigint
SNOWFLAKE_FUNCTION(snowflake_last_value);
Datum snowflake_last_value(PG_FUNCTION_ARGS) {
    PG_RETURN_INT64(relations::last_value(PG_GETARG_OID(0)));
}

// _greatest_value(regclass, smallint) returns bigint
SNOWFLAKE_FUNCTION(snowflake_greatest_value);
Datum snowflake_greatest_value(PG_FUNCTION_ARGS) {
    const std::int64_t value = relations::greatest_value(PG_GETARG_OID(0), PG_GETARG_INT16(1));
    if (value == relations::no_value)
        PG_RETURN_NULL();
    PG_RETURN_INT64(value);
}

// _has_greatest_value_at_hand(regclass, smallint) returns boolean
SNOWFLAKE_FUNCTION(snowflake_has_greatest_value_at_hand);
Datum snowflake_has_greatest_value_at_hand(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(relations::has_greatest_value_at_hand(PG_GETARG_OID(0), PG_GETARG_INT16(1)));
}

// _glimpse_last_value(regclass) returns bigint
SNOWFLAKE_FUNCTION(snowflake_glimpse_last_value);
Datum snowflake_glimpse_last_value(PG_FUNCTION_ARGS) {
    const std::int64_t value = relations::glimpse_last_value(PG_GETARG_OID(0));
    if (value == relations::no_value)
        PG_RETURN_NULL();
    PG_RETURN_INT64(value);
}

// _glimpse_size(oid) returns bigint
SNOWFLAKE_FUNCTION(snowflake_glimpse_size);
Datum snowflake_glimpse_size(PG_FUNCTION_ARGS) {
    const std::int64_t value = relations::glimpse_size(PG_GETARG_OID(0));
    if (value == relations::no_value)
        PG_RETURN_NULL();
    PG_RETURN_INT64(value);
}

// _glimpse_greatest_value(regclass, smallint) returns bigint
SNOWFLAKE_FUNCTION(snowflake_glimpse_greatest_value);
Datum snowflake_glimpse_greatest_value(PG_FUNCTION_ARGS) {
    const std::int64_t value =
        relations::glimpse_greatest_value(PG_GETARG_OID(0), PG_GETARG_INT16(1));
    if (value == relations::no_value)
        PG_RETURN_NULL();
    PG_RETURN_INT64(value);
}

// _in_ascii(text) returns text
SNOWFLAKE_FUNCTION(snowflake_in_ascii);
Datum snowflake_in_ascii(PG_FUNCTION_ARGS) {
    PG_RETURN_TEXT_P(
        cstring_to_text(typed_command::in_ascii(text_to_cstring(PG_GETARG_TEXT_PP(0)))));
}

} // extern "C"
