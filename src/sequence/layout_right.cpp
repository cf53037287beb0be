#include "layout_right.hpp"

#include "sequence_uses.hpp"

namespace snowflake {

namespace {

bool names_layout(Node *tree, Oid sequence, Layout layout) {
    const List *uses = expression::uses_in(tree);
    for (int i = 0; i < list_length(uses); ++i) {
        const auto &use = *static_cast<expression::Use *>(list_nth(uses, i));
        if (use.sequence == sequence && use.has_layout && use.layout == layout)
            return true;
    }
    return false;
}

// The default with this OID names the layout: returns its table; InvalidOid if it does not.
Oid table_of_default(Oid attrdef, Oid sequence, Layout layout, Oid owner) {
    const expression::Default column = expression::find_default(attrdef, true);
    if (column.tree == nullptr || server::owner_of(column.relation) != owner ||
        !names_layout(column.tree, sequence, layout))
        return InvalidOid;
    return column.relation;
}

// Returns a table of the sequence's owner with a default that names the layout for the sequence.
Oid find_table(Oid sequence, Layout layout) {
    const Oid owner = server::owner_of(sequence);
    Oid table = InvalidOid;
    Relation catalog = table_open(DependRelationId, AccessShareLock);
    ScanKeyData keys[2];
    ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(RelationRelationId));
    ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(sequence));
    SysScanDesc scan = systable_beginscan(catalog, DependReferenceIndexId, true, nullptr, 2, keys);
    while (!OidIsValid(table)) {
        HeapTuple tuple = systable_getnext(scan);
        if (!HeapTupleIsValid(tuple))
            break;
        const auto *dependency = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
        if (dependency->classid == AttrDefaultRelationId)
            table = table_of_default(dependency->objid, sequence, layout, owner);
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    return table;
}

} // namespace

LayoutRight find_layout_right(Oid sequence, Layout layout, Oid role) {
    if (pg_class_aclcheck(sequence, role, ACL_UPDATE) == ACLCHECK_OK)
        return {.granted = true, .table = InvalidOid};
    const Oid table = find_table(sequence, layout);
    return {.granted = OidIsValid(table), .table = table};
}

} // namespace snowflake
