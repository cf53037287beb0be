#include "registry_pages.hpp"

#include "server/schema.hpp"

namespace snowflake::registry_pages {

namespace {

using registry::column_count;
using registry::Row;

// Returns what pg_class says of a table whose pages this file can read; nullptr: it is none. The
// caller frees the tuple.
HeapTuple find_table(Oid table) {
    // By its name, which the caller has just looked up: so the row is at hand.
    HeapTuple tuple = SearchSysCache2(RELNAMENSP, CStringGetDatum(registry::table_name),
                                      ObjectIdGetDatum(schema::find()));
    if (!HeapTupleIsValid(tuple))
        return nullptr;
    const auto *form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
    if (form->oid == table && form->relkind == RELKIND_RELATION &&
        form->relam == HEAP_TABLE_AM_OID && form->relpersistence == RELPERSISTENCE_PERMANENT &&
        form->relnatts == column_count)
        return tuple;
    ReleaseSysCache(tuple);
    return nullptr;
}

// Returns the columns of a table, of which it has column_count; nullptr: they are not as the
// extension has made them.
TupleDesc find_columns(Oid table) {
    TupleDesc columns = CreateTemplateTupleDesc(column_count);
    ScanKeyData keys[2];
    ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(table));
    ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTGreaterStrategyNumber, F_INT2GT,
                Int16GetDatum(0));
    Relation catalog = table_open(AttributeRelationId, AccessShareLock);
    SysScanDesc scan =
        systable_beginscan(catalog, AttributeRelidNumIndexId, true, nullptr, 2, keys);
    int count = 0;
    for (HeapTuple tuple = systable_getnext(scan); tuple != nullptr && count < column_count;
         tuple = systable_getnext(scan))
        server::set_column(columns, count++,
                           *reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple)));
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    const bool is_as_made = count == column_count && registry::are_known(columns) &&
                            registry::find_unchecked(columns) == InvalidAttrNumber;
    return is_as_made ? columns : nullptr;
}

// Returns the rows of a page that the snapshot shows.
List *find_rows(Buffer buffer, Oid table, Snapshot snapshot) {
    List *rows = NIL;
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    const auto last = PageGetMaxOffsetNumber(page); // an unsigned long before PostgreSQL 16
    for (OffsetNumber number = FirstOffsetNumber; number <= last; ++number) {
        ItemId item = PageGetItemId(page, number);
        if (!ItemIdIsNormal(item))
            continue;
        HeapTupleData tuple{.t_len = ItemIdGetLength(item),
                            .t_self = server::tid_of_row(BufferGetBlockNumber(buffer), number),
                            .t_tableOid = table,
                            .t_data = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item))};
        if (HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer))
            rows = lappend(rows, heap_copytuple(&tuple));
    }
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    return rows;
}

// Returns a row with all that it holds: a long text stands in another table, and may be gone from
// there once this one is not locked any more.
Row *whole_row(HeapTuple tuple, TupleDesc columns) {
    auto *row = static_cast<Row *>(palloc(sizeof(Row)));
    *row = registry::row_of(
        HeapTupleHasExternal(tuple) ? toast_flatten_tuple(tuple, columns) : tuple, columns);
    return row;
}

// Reads a table that is locked.
std::optional<List *> read_locked(Oid table, Snapshot snapshot) {
    HeapTuple tuple = find_table(table);
    if (tuple == nullptr)
        return std::nullopt;
    const server::Locator locator =
        server::locator_of(*reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple)));
    ReleaseSysCache(tuple);
    const BlockNumber pages = server::count_pages(locator);
    TupleDesc columns = pages <= few_pages ? find_columns(table) : nullptr;
    if (columns == nullptr)
        return std::nullopt;
    List *rows = NIL;
    for (BlockNumber number = 0; number < pages; ++number) {
        const Buffer buffer =
            ReadBufferWithoutRelcache(locator, MAIN_FORKNUM, number, RBM_NORMAL, nullptr, true);
        const List *found = find_rows(buffer, table, snapshot);
        ReleaseBuffer(buffer);
        for (int i = 0; i < list_length(found); ++i)
            rows = lappend(rows, whole_row(static_cast<HeapTuple>(list_nth(found, i)), columns));
    }
    return rows;
}

} // namespace

std::optional<List *> read(Oid table) {
    LockRelationOid(table, AccessShareLock);
    // The order matters: what the snapshot shows is in the file that the catalog then names, and on
    // the pages that are then counted.
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    const std::optional<List *> rows = read_locked(table, snapshot);
    UnregisterSnapshot(snapshot);
    UnlockRelationOid(table, AccessShareLock);
    return rows;
}

} // namespace snowflake::registry_pages
