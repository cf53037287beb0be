#include "query.hpp"

namespace snowflake::query {

namespace {

void require_rows(int status) {
    if (status != SPI_OK_SELECT && status != SPI_OK_INSERT_RETURNING &&
        status != SPI_OK_UPDATE_RETURNING && status != SPI_OK_DELETE_RETURNING)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR),
                errmsg("a query that returns rows is needed"));
}

void execute_as_of_now(const char *text, int parameters, Oid *types, Datum *values,
                       const char *nulls) {
    PreventCommandIfParallelMode("_as_of_now()"); // which cannot take the latest snapshot
    SPIPlanPtr plan = SPI_prepare(text, parameters, types);
    if (plan == nullptr)
        require_rows(SPI_result);
    Snapshot latest = RegisterSnapshot(GetLatestSnapshot());
    require_rows(
        SPI_execute_snapshot(plan, values, nulls, latest, InvalidSnapshot, true, false, 0));
    UnregisterSnapshot(latest);
}

std::optional<Datum> first_value() {
    if (SPI_processed == 0)
        return {};
    if (!type_is_rowtype(SPI_gettypeid(SPI_tuptable->tupdesc, 1)))
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("the first column of the query must be of a composite type"));
    bool is_null = true;
    const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    if (is_null)
        return {};
    return SPI_datumTransfer(value, false, -1);
}

Datum array_of(const List *oids) {
    const int count = list_length(oids);
    auto *items = server::allocate_array<Datum>(count);
    for (int i = 0; i < count; ++i)
        items[i] = ObjectIdGetDatum(list_nth_oid(oids, i));
    return PointerGetDatum(construct_array(items, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

} // namespace

Row row_of(Datum argument) {
    return {.type = HeapTupleHeaderGetTypeId(DatumGetHeapTupleHeader(argument)), .value = argument};
}

void run(const char *text, const Row &parameter) {
    Oid type = parameter.type;
    Datum value = parameter.value;
    SPI_connect();
    require_rows(SPI_execute_with_args(text, 1, &type, &value, nullptr, false, 0));
    SPI_finish();
}

void run_as_of_now(const char *text, Oid argument, const List *first, const List *second,
                   const NullableDatum &json) {
    Oid types[] = {OIDOID, OIDARRAYOID, OIDARRAYOID, JSONBOID};
    Datum values[] = {ObjectIdGetDatum(argument), array_of(first), array_of(second), json.value};
    const char nulls[] = {' ', ' ', ' ', json.isnull ? 'n' : ' '};
    SPI_connect();
    execute_as_of_now(text, 4, types, values, nulls);
    SPI_finish();
}

std::optional<Datum> row_as_of_now(const char *text, const Row &parameter) {
    Oid type = parameter.type;
    Datum value = parameter.value;
    SPI_connect();
    execute_as_of_now(text, 1, &type, &value, nullptr);
    const std::optional<Datum> result = first_value();
    SPI_finish();
    return result;
}

} // namespace snowflake::query
