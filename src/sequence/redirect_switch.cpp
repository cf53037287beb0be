#include "redirect_switch.hpp"

#include "server/schema.hpp"

namespace snowflake::redirect_switch {

namespace {

// In the order in which every transaction that switches writes them.
constexpr Oid servers_functions[] = {F_NEXTVAL, F_CURRVAL, F_LASTVAL};

Oid support_function(Oid sibling) {
    const Oid argument = INTERNALOID;
    return schema::find_sibling(sibling, "_plan_call", {&argument, 1});
}

// Sets the support function of one of the server's functions; InvalidOid: it has none afterwards.
void set_support(Relation catalog, Oid function, Oid support) {
    HeapTuple tuple = SearchSysCacheCopy1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for function %u", function);
    auto *form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
    form->prosupport = support;
    CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
    heap_freetuple(tuple);

    deleteDependencyRecordsForClass(ProcedureRelationId, function, ProcedureRelationId,
                                    DEPENDENCY_NORMAL);
    if (!OidIsValid(support))
        return;
    const ObjectAddress dependent{
        .classId = ProcedureRelationId, .objectId = function, .objectSubId = 0};
    const ObjectAddress needed{
        .classId = ProcedureRelationId, .objectId = support, .objectSubId = 0};
    recordDependencyOn(&dependent, &needed, DEPENDENCY_NORMAL);
}

// Has all sessions plan anew. A plan does not record the server's own functions that it calls. What
// resets all plans is a change of a catalog in which names are looked up. The checks of domains,
// which sessions keep apart from plans, go with pg_constraint.
void forget_plans() {
    CacheInvalidateCatalog(NamespaceRelationId);
    CacheInvalidateCatalog(ConstraintRelationId);
}

} // namespace

bool is_on(Oid sibling) {
    const Oid support = get_func_support(F_NEXTVAL);
    return OidIsValid(support) && support == support_function(sibling);
}

void set(Oid sibling, bool on) {
    if (!superuser())
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("permission denied to redirect the server's own nextval"),
                errdetail("Only a superuser can change functions of the server."));
    PreventCommandIfReadOnly("redirect_nextval()");
    PreventCommandIfParallelMode("redirect_nextval()");
    LockDatabaseObject(ProcedureRelationId, F_NEXTVAL, 0, ShareUpdateExclusiveLock);
    const Oid ours = support_function(sibling);
    // Locked against being dropped meanwhile.
    LockDatabaseObject(ProcedureRelationId, ours, 0, AccessShareLock);
    if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(ours)))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
                errmsg("extension \"snowflake\" does not exist"));

    Relation catalog = table_open(ProcedureRelationId, RowExclusiveLock);
    bool is_changed = false;
    for (const Oid function : servers_functions) {
        const Oid present = get_func_support(function);
        if (OidIsValid(present) && present != ours) {
            if (!on)
                continue;
            ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("function %s has a support function already: %s",
                           format_procedure(function), format_procedure(present)));
        }
        if (OidIsValid(present) != on) {
            set_support(catalog, function, on ? ours : InvalidOid);
            is_changed = true;
        }
    }
    table_close(catalog, NoLock);
    if (!is_changed)
        return;
    forget_plans();
    CommandCounterIncrement(); // the next call may be in the same statement
}

} // namespace snowflake::redirect_switch
