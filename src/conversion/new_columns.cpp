#include "new_columns.hpp"

#include "nodes/settings.hpp"
#include "server/schema.hpp"

namespace snowflake::new_columns {

namespace {

ProcessUtility_hook_type next_hook = nullptr;

// The columns and constraints that a command defines.
struct Definition {
    const RangeVar *table; // that is made; nullptr: it is there
    Oid schema;            // in which it is made
    List *columns;
    List *constraints; // of the table
    Oid source_of_ids; // see source_function()
};

bool is_one_of(const char *name, std::span<const char *const> names) {
    return std::any_of(names.begin(), names.end(),
                       [name](const char *other) { return std::strcmp(name, other) == 0; });
}

bool is_plain(const TypeName *type) {
    return type != nullptr && !type->setof && !type->pct_type && type->arrayBounds == NIL;
}

// Tells whether a type is a serial of a name, which the server takes for one only alone.
bool is_serial(const TypeName *type, std::span<const char *const> names) {
    return is_plain(type) && list_length(type->names) == 1 &&
           is_one_of(strVal(linitial(type->names)), names);
}

constexpr const char *small_serials[] = {"smallserial", "serial2", "serial", "serial4"};
constexpr const char *serials[] = {"bigserial", "serial8"}; // once the small ones are widened

void make_serial(ColumnDef *column) {
    column->typeName->names = server::list_of(makeString(pstrdup("bigserial")));
}

Oid integer_type(const ColumnDef *column) {
    if (!is_plain(column->typeName))
        return InvalidOid;
    const Oid type = LookupTypeNameOid(nullptr, column->typeName, true);
    return type == INT2OID || type == INT4OID || type == INT8OID ? type : InvalidOid;
}

bool is_small_integer(const ColumnDef *column) {
    const Oid type = integer_type(column);
    return type == INT2OID || type == INT4OID;
}

void make_bigint(ColumnDef *column) {
    column->typeName = makeTypeNameFromOid(INT8OID, -1);
}

// The constraint of a kind among some; nullptr: there is none.
Constraint *find(const List *constraints, ConstrType kind) {
    for (int i = 0; i < list_length(constraints); ++i) {
        auto *constraint = static_cast<Constraint *>(list_nth(constraints, i));
        if (IsA(constraint, Constraint) && constraint->contype == kind)
            return constraint;
    }
    return nullptr;
}

// Tells whether a column that a foreign key binds stays of its type: it has numbers of its own.
bool keeps_its_type(const ColumnDef *column) {
    return find(column->constraints, CONSTR_DEFAULT) != nullptr ||
           find(column->constraints, CONSTR_IDENTITY) != nullptr;
}

bool evaluates(const List *constraints) {
    return find(constraints, CONSTR_CHECK) != nullptr ||
           find(constraints, CONSTR_EXCLUSION) != nullptr ||
           find(constraints, CONSTR_GENERATED) != nullptr;
}

// Tells whether nothing in a definition depends on what the types of its columns are.
bool is_indifferent(const Definition &definition) {
    if (evaluates(definition.constraints))
        return false;
    for (int i = 0; i < list_length(definition.columns); ++i)
        if (evaluates(static_cast<ColumnDef *>(list_nth(definition.columns, i))->constraints))
            return false;
    return true;
}

ColumnDef *find_column(const Definition &definition, const char *name) {
    for (int i = 0; i < list_length(definition.columns); ++i) {
        auto *column = static_cast<ColumnDef *>(list_nth(definition.columns, i));
        if (std::strcmp(column->colname, name) == 0)
            return column;
    }
    return nullptr;
}

bool is_same(const RangeVar *one, const RangeVar *other) {
    const auto are_equal = [](const char *a, const char *b) {
        return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
    };
    return one->catalogname == nullptr && other->catalogname == nullptr &&
           are_equal(one->schemaname, other->schemaname) && are_equal(one->relname, other->relname);
}

bool holds_ids(Oid source_of_ids, Oid table, AttrNumber attribute) {
    FmgrInfo function;
    fmgr_info(source_of_ids, &function);
    LOCAL_FCINFO(call, 2);
    InitFunctionCallInfoData(*call, &function, 2, InvalidOid, nullptr, nullptr);
    call->args[0] = {.value = ObjectIdGetDatum(table), .isnull = false};
    call->args[1] = {.value = Int16GetDatum(attribute), .isnull = false};
    (void)FunctionCallInvoke(call);
    return !call->isnull;
}

// Tells whether the column of a table that is there holds IDs. Without a name the table's primary
// key is meant, which may be of one column only: which of several is which, is not told here.
bool holds_ids(Oid source_of_ids, const RangeVar *name, const char *column) {
    const Oid table = RangeVarGetRelid(name, NoLock, true);
    if (!OidIsValid(table))
        return false;
    AttrNumber attribute = InvalidAttrNumber;
    if (column != nullptr) {
        attribute = get_attnum(table, column);
    } else {
        Oid constraint = InvalidOid;
        int member = 0;
        if (bms_get_singleton_member(get_primary_key_attnos(table, false, &constraint), &member))
            attribute = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
    }
    return attribute > 0 && holds_ids(source_of_ids, table, attribute);
}

// Returns the only column of the primary key of the table that is made, or null.
const ColumnDef *find_key_column(const Definition &definition) {
    if (const Constraint *key = find(definition.constraints, CONSTR_PRIMARY); key != nullptr)
        return list_length(key->keys) == 1 ? find_column(definition, strVal(linitial(key->keys)))
                                           : nullptr;
    for (int i = 0; i < list_length(definition.columns); ++i) {
        const auto *column = static_cast<ColumnDef *>(list_nth(definition.columns, i));
        if (find(column->constraints, CONSTR_PRIMARY) != nullptr)
            return column;
    }
    return nullptr;
}

// Tells whether a column of the table that is made will hold IDs; without a name, its primary key.
bool will_hold_ids(const Definition &definition, const char *name) {
    const ColumnDef *column =
        name != nullptr ? find_column(definition, name) : find_key_column(definition);
    return column != nullptr && is_serial(column->typeName, serials);
}

// Calls a function with each column that a foreign key binds, the key, and the position of the
// column in it; nullptr: there is no such column.
template <typename Function>
void for_each_reference(const Definition &definition, const Function &function) {
    for (int i = 0; i < list_length(definition.columns); ++i) {
        auto *column = static_cast<ColumnDef *>(list_nth(definition.columns, i));
        if (const Constraint *key = find(column->constraints, CONSTR_FOREIGN); key != nullptr)
            function(column, key, 0);
    }
    for (int i = 0; i < list_length(definition.constraints); ++i) {
        const auto *key = static_cast<Constraint *>(list_nth(definition.constraints, i));
        for (int j = 0; key->contype == CONSTR_FOREIGN && j < list_length(key->fk_attrs); ++j)
            function(find_column(definition, strVal(list_nth(key->fk_attrs, j))), key, j);
    }
}

// Makes a column bigint if the foreign key binds it, as its position-th column, to IDs.
void widen_reference(const Definition &definition, ColumnDef *column, const Constraint *key,
                     int position) {
    if (column == nullptr || !is_small_integer(column) || keeps_its_type(column))
        return;
    if (position > 0 && position >= list_length(key->pk_attrs))
        return;
    const char *referenced =
        key->pk_attrs == NIL ? nullptr : strVal(list_nth(key->pk_attrs, position));
    const bool is_own = definition.table != nullptr && is_same(definition.table, key->pktable);
    if (is_own ? will_hold_ids(definition, referenced)
               : holds_ids(definition.source_of_ids, key->pktable, referenced))
        make_bigint(column);
}

// Tells whether new foreign keys bind a column to another, or to it one that stays small. Then the
// event trigger has more to do than to convert a plain serial, which may run code of others, and be
// refused: the column is left to it as it was written.
bool is_bound(const Definition &definition, const ColumnDef *column) {
    bool found = false;
    for_each_reference(definition, [&](ColumnDef *bound, const Constraint *key, int) {
        found = found || bound == column ||
                (definition.table != nullptr && bound != nullptr && keeps_its_type(bound) &&
                 is_same(definition.table, key->pktable));
    });
    return found;
}

// An identity needs no right on its sequence, which a serial does: it stays where others get rights
// on the new table by default. Then the event trigger grants those on the sequence, too.
void make_serial_of_identity(const Definition &definition, ColumnDef *column) {
    const Constraint *identity = find(column->constraints, CONSTR_IDENTITY);
    if (definition.table == nullptr || identity == nullptr || identity->options != NIL ||
        find(column->constraints, CONSTR_DEFAULT) != nullptr ||
        find(column->constraints, CONSTR_NULL) != nullptr || !OidIsValid(integer_type(column)) ||
        get_user_default_acl(OBJECT_TABLE, GetUserId(), definition.schema) != nullptr)
        return;
    List *others =
        list_delete_ptr(list_copy(column->constraints), const_cast<Constraint *>(identity));
    if (find(others, CONSTR_IDENTITY) != nullptr)
        return; // The server refuses a second one.
    column->constraints = others;
    make_serial(column);
}

void widen(const Definition &definition) {
    if (!is_indifferent(definition))
        return;
    for (int i = 0; i < list_length(definition.columns); ++i) {
        auto *column = static_cast<ColumnDef *>(list_nth(definition.columns, i));
        if (is_bound(definition, column))
            continue;
        if (is_serial(column->typeName, small_serials))
            make_serial(column);
        else
            make_serial_of_identity(definition, column);
    }
    for_each_reference(definition, [&](ColumnDef *column, const Constraint *key, int position) {
        widen_reference(definition, column, key, position);
    });
}

// Puts a part of a definition where it belongs; returns whether it is a column or a constraint.
bool add(Definition &definition, Node *part) {
    if (IsA(part, ColumnDef))
        definition.columns = lappend(definition.columns, part);
    else if (IsA(part, Constraint))
        definition.constraints = lappend(definition.constraints, part);
    else
        return false;
    return true;
}

// Tells whether one of the tables that are there has a column of this name that is bigint.
bool is_bigint_in(const List *tables, const char *column) {
    for (int i = 0; i < list_length(tables); ++i) {
        const Oid oid =
            RangeVarGetRelid(static_cast<RangeVar *>(list_nth(tables, i)), NoLock, true);
        const AttrNumber attribute = OidIsValid(oid) ? get_attnum(oid, column) : InvalidAttrNumber;
        if (attribute != InvalidAttrNumber && get_atttype(oid, attribute) == INT8OID)
            return true;
    }
    return false;
}

// Makes a column bigint that is so in a table which it is inherited from: the server merges columns
// of the same type alone. A dump lists a column of a child if it was made with it.
void widen_inherited(const CreateStmt *statement) {
    for (int i = 0; i < list_length(statement->tableElts); ++i) {
        auto *column = static_cast<ColumnDef *>(list_nth(statement->tableElts, i));
        if (!IsA(column, ColumnDef) || !is_bigint_in(statement->inhRelations, column->colname))
            continue;
        if (is_serial(column->typeName, small_serials))
            make_serial(column);
        else if (is_small_integer(column))
            make_bigint(column);
    }
}

void widen_in(const CreateStmt *statement, Oid source_of_ids) {
    const RangeVar *table = statement->relation;
    if (statement->inhRelations != NIL && statement->partbound == nullptr)
        widen_inherited(statement);
    if (statement->inhRelations != NIL || statement->partbound != nullptr ||
        statement->partspec != nullptr || statement->ofTypename != nullptr ||
        table->relpersistence == RELPERSISTENCE_TEMP)
        return;
    const List *path = table->schemaname != nullptr ? NIL : fetch_search_path(false);
    const Oid schema = table->schemaname != nullptr ? get_namespace_oid(table->schemaname, true)
                       : path != NIL                ? linitial_oid(path)
                                                    : InvalidOid;
    if (!OidIsValid(schema) || isAnyTempNamespace(schema))
        return;
    Definition definition{.table = table,
                          .schema = schema,
                          .columns = NIL,
                          .constraints = NIL,
                          .source_of_ids = source_of_ids};
    for (int i = 0; i < list_length(statement->tableElts); ++i)
        if (!add(definition, static_cast<Node *>(list_nth(statement->tableElts, i))))
            return;
    widen(definition);
}

// A table that others inherit from gives them its column, which they may have already.
void widen_in(const AlterTableStmt *statement, Oid source_of_ids) {
    const Oid table = RangeVarGetRelid(statement->relation, NoLock, true);
    if (!OidIsValid(table) || get_rel_relkind(table) != RELKIND_RELATION ||
        get_rel_persistence(table) == RELPERSISTENCE_TEMP || has_subclass(table))
        return;
    Definition definition{.table = nullptr,
                          .schema = InvalidOid,
                          .columns = NIL,
                          .constraints = NIL,
                          .source_of_ids = source_of_ids};
    for (int i = 0; i < list_length(statement->cmds); ++i) {
        const auto *command = static_cast<AlterTableCmd *>(list_nth(statement->cmds, i));
        if ((command->subtype != AT_AddColumn && command->subtype != AT_AddConstraint) ||
            !add(definition, command->def))
            return;
    }
    if (definition.columns != NIL)
        widen(definition);
}

// Returns the extension's function that tells from where a column has IDs; InvalidOid: its event
// trigger is not there, does not always fire, or has no right to convert what the command makes.
Oid source_function() {
#if PG_VERSION_NUM >= 170000
    if (!::event_triggers)
        return InvalidOid;
#endif
    HeapTuple tuple =
        SearchSysCache1(EVENTTRIGGERNAME, CStringGetDatum("snowflake_convert_new_columns"));
    if (!HeapTupleIsValid(tuple))
        return InvalidOid;
    const auto &trigger = *reinterpret_cast<Form_pg_event_trigger>(GETSTRUCT(tuple));
    const Oid sibling = trigger.evtfoid;
    const bool fires = trigger.evtenabled == TRIGGER_FIRES_ALWAYS && IsUnderPostmaster;
    ReleaseSysCache(tuple);
    const Oid schema = schema::find();
    if (!fires || get_func_namespace(sibling) != schema ||
        !server::may_use_schema(GetUserId(), schema))
        return InvalidOid;
    const Oid path[] = {TEXTOID};
    const Oid column[] = {OIDOID, INT2OID};
    const Oid convert = schema::find_sibling(sibling, "_convert_columns_of_command", path);
    const Oid source = schema::find_sibling(sibling, "_source_of_ids", column);
    const bool may_run = OidIsValid(convert) && server::may_execute(GetUserId(), convert) &&
                         OidIsValid(source) && server::may_execute(GetUserId(), source);
    return may_run ? source : InvalidOid;
}

// Lists the tables that a command is about to copy identities from, without defaults. The server
// finds none in a converted table: a conversion made a default of each.
List *sources_of_identities(const CreateStmt *statement) {
    List *sources = NIL;
    if (statement->if_not_exists && OidIsValid(RangeVarGetRelid(statement->relation, NoLock, true)))
        return NIL; // The table may be there.
    for (int i = 0; i < list_length(statement->tableElts); ++i) {
        const auto *like = static_cast<TableLikeClause *>(list_nth(statement->tableElts, i));
        if (!IsA(like, TableLikeClause) || (like->options & CREATE_TABLE_LIKE_IDENTITY) == 0 ||
            (like->options & CREATE_TABLE_LIKE_DEFAULTS) != 0)
            continue;
        if (const Oid source = RangeVarGetRelid(like->relation, NoLock, true); OidIsValid(source))
            sources = lappend_oid(sources, source);
    }
    return sources;
}

// Gives the table that a command has made the identities that it copies. The event trigger converts
// them as those of any new table.
void copy_identities(const RangeVar *made, const List *sources, Oid sibling) {
    CommandCounterIncrement();
    const Oid table = get_relname_relid(made->relname, RangeVarGetCreationNamespace(made));
    const Oid types[] = {OIDOID, OIDOID};
    const Oid copy = schema::find_sibling(sibling, "_copy_identities", types);
    for (int i = 0; OidIsValid(table) && OidIsValid(copy) && i < list_length(sources); ++i)
        (void)OidFunctionCall2(copy, ObjectIdGetDatum(table),
                               ObjectIdGetDatum(list_nth_oid(sources, i)));
}

void process_utility(PlannedStmt *statement, const char *text, bool read_only_tree,
                     ProcessUtilityContext context, ParamListInfo params,
                     QueryEnvironment *environment, DestReceiver *receiver,
                     QueryCompletion *completion) {
    const Node *command = statement->utilityStmt;
    const bool is_concerned = settings::converts_new_columns() &&
                              (IsA(command, CreateStmt) || IsA(command, AlterTableStmt));
    const Oid source_of_ids =
        unlikely(is_concerned) && !creating_extension ? source_function() : InvalidOid;
    const List *sources = NIL;
    if (OidIsValid(source_of_ids)) {
        statement = static_cast<PlannedStmt *>(copyObjectImpl(statement));
        if (IsA(command, CreateStmt)) {
            const auto *create = reinterpret_cast<CreateStmt *>(statement->utilityStmt);
            widen_in(create, source_of_ids);
            sources = sources_of_identities(create);
        } else {
            widen_in(reinterpret_cast<AlterTableStmt *>(statement->utilityStmt), source_of_ids);
        }
    }
    const auto next = next_hook != nullptr ? next_hook : standard_ProcessUtility;
    next(statement, text, read_only_tree, context, params, environment, receiver, completion);
    if (sources != NIL)
        copy_identities(reinterpret_cast<const CreateStmt *>(command)->relation, sources,
                        source_of_ids);
}

} // namespace

void init() {
    next_hook = ProcessUtility_hook;
    ProcessUtility_hook = process_utility;
}

} // namespace snowflake::new_columns
