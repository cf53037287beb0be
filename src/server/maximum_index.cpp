#include "maximum_index.hpp"

namespace snowflake::maximum_index {

namespace {

bool is_usable(Relation index, AttrNumber attribute) {
    const auto *form = index->rd_index;
    return index->rd_rel->relam == BTREE_AM_OID && form->indisvalid && form->indisready &&
           form->indkey.values[0] == attribute && index->rd_opcintype[0] == INT8OID &&
           (index->rd_indoption[0] & INDOPTION_DESC) == 0 &&
           heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr);
}

} // namespace

Relation open(Relation table, AttrNumber attribute, bool may_wait) {
    const List *indexes = RelationGetIndexList(table);
    for (int i = 0; i < list_length(indexes); ++i) {
        const Oid oid = list_nth_oid(indexes, i);
        if (may_wait)
            LockRelationOid(oid, AccessShareLock);
        else if (!ConditionalLockRelationOid(oid, AccessShareLock))
            continue;
        Relation index = index_open(oid, NoLock);
        if (is_usable(index, attribute))
            return index;
        index_close(index, AccessShareLock);
    }
    return nullptr;
}

} // namespace snowflake::maximum_index
