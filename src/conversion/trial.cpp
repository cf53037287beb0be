#include "trial.hpp"

#include "definitions.hpp"
#include "expression.hpp"
#include "server/acting_role.hpp"

namespace snowflake::trial {

namespace {

// The parameter that stands for the number.
Param *number_parameter() {
    auto *number = static_cast<Param *>(palloc0(sizeof(Param)));
    number->xpr.type = T_Param;
    number->paramkind = PARAM_EXTERN;
    number->paramid = 1;
    number->paramtype = INT8OID;
    number->paramtypmod = -1;
    number->paramcollid = InvalidOid;
    number->location = -1;
    return number;
}

void evaluate_each(Node *expression, const std::int64_t *numbers, int count, Outcome *outcomes) {
    Oid output = InvalidOid;
    bool is_varlena = false;
    getTypeOutputInfo(exprType(expression), &output, &is_varlena);

    ParamListInfo parameters = makeParamList(1);
    parameters->params[0] = {.value = 0, .isnull = false, .pflags = 0, .ptype = INT8OID};
    EState *executor = CreateExecutorState();
    executor->es_param_list_info = parameters;
    ExprState *state = ExecPrepareExpr(reinterpret_cast<Expr *>(expression), executor);
    ExprContext *context = GetPerTupleExprContext(executor);
    for (int i = 0; i < count; ++i) {
        ResetExprContext(context);
        parameters->params[0].value = Int64GetDatum(numbers[i]);
        bool is_null = false;
        const Datum value = ExecEvalExprSwitchContext(state, context, &is_null);
        outcomes[i] = is_null ? nullptr : OidOutputFunctionCall(output, value);
    }
    FreeExecutorState(executor);
}

// Returns false, with nothing evaluated, if the expression could change something, or be another
// thing the next time.
bool evaluate(Node *expression, const std::int64_t *numbers, int count, Outcome *outcomes) {
    if (contain_volatile_functions(expression))
        return false;
    evaluate_each(expression, numbers, count, outcomes);
    return true;
}

// Runs a trial as nobody, from the first constant that it reads. Returns what the trial returns.
template <typename Trial>
bool as_nobody(Trial trial) {
    const acting_role::Previous before = acting_role::become_nobody();
    bool is_tried = false;
    definitions::run_banned([&] { is_tried = trial(); });
    acting_role::resume(before);
    return is_tried;
}

// A column reference of an expression that is parsed again: it means the number.
Node *number_for_column(ParseState *state, ColumnRef *reference) {
    const auto *name = static_cast<const char *>(state->p_ref_hook_state);
    Node *field = static_cast<Node *>(linitial(reference->fields));
    if (list_length(reference->fields) != 1 || !IsA(field, String) ||
        std::strcmp(strVal(field), name) != 0)
        return nullptr;
    return reinterpret_cast<Node *>(number_parameter());
}

// An object on a relation, and what the server makes of its expressions.
struct Purpose {
    Oid relation = InvalidOid; // none: the object is none that is tried
    Oid domain = InvalidOid;   // that it is on instead
    ParseExprKind kind = EXPR_KIND_CHECK_CONSTRAINT;
    Oid type = InvalidOid; // that a value is converted to; none: it stays as it is
    std::int32_t type_modifier = -1;
};

bool is_small(Oid type) {
    return type == INT2OID || type == INT4OID;
}

// A small integer becomes wider with what it is made from.
void widen(Purpose &purpose) {
    if (is_small(purpose.type))
        purpose.type = INT8OID;
}

Purpose purpose_of_default(const expression::Default &column) {
    Purpose purpose{.relation = column.relation, .kind = EXPR_KIND_GENERATED_COLUMN};
    Oid collation = InvalidOid;
    get_atttypetypmodcoll(column.relation, column.attribute, &purpose.type, &purpose.type_modifier,
                          &collation);
    return purpose;
}

Purpose purpose_of_check(Oid constraint) {
    HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
    if (!HeapTupleIsValid(tuple))
        return {};
    const auto *form = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple));
    const Purpose purpose{.relation = form->conrelid, .domain = form->contypid, .type = BOOLOID};
    ReleaseSysCache(tuple);
    return purpose;
}

Purpose purpose_of_statistics(Oid statistics) {
    HeapTuple tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(statistics));
    if (!HeapTupleIsValid(tuple))
        return {};
    const Oid relation = reinterpret_cast<Form_pg_statistic_ext>(GETSTRUCT(tuple))->stxrelid;
    ReleaseSysCache(tuple);
    return {.relation = relation, .kind = EXPR_KIND_STATS_EXPRESSION};
}

Purpose purpose_of(Oid class_id, Oid object) {
    switch (class_id) {
    case AttrDefaultRelationId:
        return purpose_of_default(expression::find_default(object));
    case ConstraintRelationId:
        return purpose_of_check(object);
    case StatisticExtRelationId:
        return purpose_of_statistics(object);
    case RelationRelationId:
        return {.relation = IndexGetRelation(object, true), .kind = EXPR_KIND_INDEX_EXPRESSION};
    default:
        return {};
    }
}

// Whether an index holds some rows only.
bool is_partial(Oid index) {
    HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
    if (!HeapTupleIsValid(tuple))
        return false;
    const bool has_predicate = !heap_attisnull(tuple, Anum_pg_index_indpred, nullptr);
    ReleaseSysCache(tuple);
    return has_predicate;
}

// Returns what the server evaluates of each row, as a list of expressions. What a partial index
// holds is evaluated of some rows: only its predicate is of all, whose parts are in an order.
List *evaluated_of(Oid class_id, Oid object, const List *stored) {
    List *all = NIL;
    const bool has_predicate = class_id == RelationRelationId && is_partial(object);
    for (int i = has_predicate ? list_length(stored) - 1 : 0; i < list_length(stored); ++i) {
        auto *tree = static_cast<Node *>(list_nth(stored, i));
        if (tree == nullptr)
            continue;
        if (!IsA(tree, List))
            all = lappend(all, tree);
        else if (has_predicate)
            all = lappend(all, make_ands_explicit(reinterpret_cast<List *>(tree)));
        else
            all = list_concat(all, reinterpret_cast<const List *>(tree));
    }
    return all;
}

// Whether an expression names one column of its relation, and nothing else of it.
bool names_alone(Node *stored, AttrNumber attribute) {
    Bitmapset *named = nullptr;
    pull_varattnos(stored, 1, &named);
    return bms_equal(named, bms_make_singleton(attribute - FirstLowInvalidHeapAttributeNumber));
}

// Returns the expression as the server will understand it when the column is a bigint; nullptr:
// its value would not fit the purpose.
Node *parse_again(Node *stored, const Purpose &purpose, char *column) {
    ParseState *state = make_parsestate(nullptr);
    state->p_ref_hook_state = column;
    state->p_pre_columnref_hook = number_for_column;
    Node *again = transformExpr(
        state, expression::parsed(expression::deparsed(stored, purpose.relation)), purpose.kind);
    if (OidIsValid(purpose.type))
        again = coerce_to_target_type(state, again, exprType(again), purpose.type,
                                      purpose.type_modifier, COERCION_ASSIGNMENT,
                                      COERCE_IMPLICIT_CAST, -1);
    if (again != nullptr)
        assign_expr_collations(state, again);
    return again;
}

// Puts the number in the place of a column, and an unknown value in the place of the others. No
// number is null, and whether another column is null decides nothing.
Node *with_number(Node *node, void *context) {
    const auto attribute = *static_cast<const AttrNumber *>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, NullTest)) {
        const auto *test = reinterpret_cast<NullTest *>(node);
        if (test->nulltesttype == IS_NOT_NULL)
            return makeBoolConst(true, false);
        const Node *tested = reinterpret_cast<const Node *>(test->arg);
        const bool is_number =
            IsA(tested, Var) && reinterpret_cast<const Var *>(tested)->varattno == attribute;
        return makeBoolConst(false, !is_number);
    }
    if (!IsA(node, Var))
        return server::mutate_expression(node, with_number, context);
    const auto *column = reinterpret_cast<Var *>(node);
    if (column->varattno == attribute)
        return reinterpret_cast<Node *>(number_parameter());
    return reinterpret_cast<Node *>(
        makeNullConst(column->vartype, column->vartypmod, column->varcollid));
}

// Puts the number in the place of the value that a check of a domain is about.
Node *with_domain_value(Node *node, void *) {
    if (node == nullptr)
        return nullptr;
    if (IsA(node, CoerceToDomainValue))
        return reinterpret_cast<Node *>(number_parameter());
    return server::mutate_expression(node, with_domain_value, nullptr);
}

// Tries a check of a domain; false: the domain is not over bigint.
bool try_domain(const List *stored, Oid domain, const std::int64_t *numbers, int count,
                Outcome *outcomes) {
    Node *check = stored == NIL ? nullptr : static_cast<Node *>(linitial(stored));
    if (check == nullptr)
        return false;
    return as_nobody([&] {
        return getBaseType(domain) == INT8OID &&
               evaluate(with_domain_value(check, nullptr), numbers, count, outcomes);
    });
}

// The bound of a partition as an expression over the columns of the whole; nullptr: it has none.
Node *bound_of(Oid partition, Relation whole) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(partition));
    if (!HeapTupleIsValid(tuple))
        return nullptr;
    bool is_null = true;
    const Datum stored = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound, &is_null);
    auto *bound =
        is_null ? nullptr
                : static_cast<PartitionBoundSpec *>(stringToNode(TextDatumGetCString(stored)));
    ReleaseSysCache(tuple);
    if (bound == nullptr || bound->is_default)
        return nullptr;
    return reinterpret_cast<Node *>(make_ands_explicit(get_qual_from_partbound(whole, bound)));
}

} // namespace

bool try_default(Oid attrdef, Oid sequence, const std::int64_t *numbers, int count,
                 Outcome *outcomes) {
    const expression::Default column = expression::find_default(attrdef);
    Node *tree = expression::with_calls_as(column.tree, sequence,
                                           reinterpret_cast<Node *>(number_parameter()));
    const Oid owner = server::owner_of(column.relation);
    if (tree == nullptr || !acting_role::may_become(owner))
        return false;
    Purpose purpose = purpose_of_default(column);
    // The checks of a domain are tried apart.
    purpose.type = getBaseTypeAndTypmod(purpose.type, &purpose.type_modifier);
    widen(purpose);
    return as_nobody([&] {
        // The conversion to the type that the column has today is not the one that it will need.
        tree = strip_implicit_coercions(tree);
        tree = coerce_to_target_type(nullptr, tree, exprType(tree), purpose.type,
                                     purpose.type_modifier, COERCION_ASSIGNMENT,
                                     COERCE_IMPLICIT_CAST, -1);
        return tree != nullptr && evaluate(tree, numbers, count, outcomes);
    });
}

bool try_stored(Oid class_id, Oid object, AttrNumber attribute, const std::int64_t *numbers,
                int count, Outcome *outcomes) {
    const List *stored = expression::stored_in(class_id, object);
    Purpose purpose = stored == NIL ? Purpose{} : purpose_of(class_id, object);
    if (OidIsValid(purpose.domain))
        return try_domain(stored, purpose.domain, numbers, count, outcomes);
    const Oid owner = server::owner_of(purpose.relation);
    char *column = get_attname(purpose.relation, attribute, true);
    if (!OidIsValid(owner) || column == nullptr || !acting_role::may_become(owner))
        return false;
    if (is_small(get_atttype(purpose.relation, attribute)))
        widen(purpose);
    return as_nobody([&] {
        bool is_tried = false;
        auto *more = server::allocate_array<Outcome>(count);
        const List *evaluated = evaluated_of(class_id, object, stored);
        for (int i = 0; i < list_length(evaluated); ++i) {
            auto *tree = static_cast<Node *>(list_nth(evaluated, i));
            Node *again =
                names_alone(tree, attribute) ? parse_again(tree, purpose, column) : nullptr;
            if (again != nullptr && evaluate(again, numbers, count, is_tried ? more : outcomes))
                is_tried = true;
        }
        return is_tried;
    });
}

bool try_partition(Oid partition, AttrNumber attribute, const std::int64_t *numbers, int count,
                   Outcome *outcomes) {
    if (!get_rel_relispartition(partition))
        return false;
    const Oid parent = get_partition_parent(partition, true);
    const Oid owner = server::owner_of(parent);
    if (!IsBinaryCoercible(get_atttype(parent, attribute), INT8OID) ||
        !acting_role::may_become(owner))
        return false;
    return as_nobody([&] {
        // Nobody waits for a partition that is tried. A table can have thousands: no lock is kept.
        if (!ConditionalLockRelationOid(parent, AccessShareLock))
            return false;
        Node *bound = nullptr;
        Relation whole = try_relation_open(parent, NoLock);
        if (whole != nullptr && ConditionalLockRelationOid(partition, AccessShareLock)) {
            // The partition may be one of another table by now, with a bound of other types.
            if (get_rel_relispartition(partition) &&
                get_partition_parent(partition, true) == parent)
                bound = with_number(bound_of(partition, whole), &attribute);
            UnlockRelationOid(partition, AccessShareLock);
        }
        if (whole != nullptr)
            relation_close(whole, NoLock);
        UnlockRelationOid(parent, AccessShareLock);
        return bound != nullptr && evaluate(bound, numbers, count, outcomes);
    });
}

} // namespace snowflake::trial
