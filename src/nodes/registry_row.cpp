#include "registry_row.hpp"

#include "server_place.hpp"

namespace snowflake::registry {

const Oid column_types[] = {UUIDOID,        UUIDOID,        TEXTOID,        INT4OID, INT4OID,
                            INT8OID,        INT8OID,        INT8OID,        TEXTOID, TEXTOID,
                            TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, UUIDOID, TEXTOID,
                            BOOLOID,        JSONBOID};
namespace {

// The trigger of the table gives a row its key, and says where it was written.
constexpr bool is_nullable(int column) {
    return column == column_key || column == column_free_from || column == column_answers ||
           column == column_written_here || column == column_more;
}

struct Word {
    Kind kind;
    const char *word;
};
constexpr Word words[] = {{Kind::claim, "claim"},   {Kind::setting, "setting"},
                          {Kind::reserve, "lease"}, {Kind::release, "release"},
                          {Kind::remove, "remove"}, {Kind::separate, "separate"},
                          {Kind::here, "here"},     {Kind::ask, "ask"}};

// A time, in the server's microseconds, beyond all that clocks show: 7999 years after 2000. There
// is room for what is said after it.
constexpr TimestampTz latest_time = TimestampTz{7999} * 365 * USECS_PER_DAY;

Kind kind_of(const char *text) {
    for (const Word &word : words)
        if (strcmp(word.word, text) == 0)
            return word.kind;
    return Kind::unknown;
}

} // namespace

Row row_of(HeapTuple tuple, TupleDesc columns) {
    Datum values[MaxTupleAttributeNumber];
    bool nulls[MaxTupleAttributeNumber];
    heap_deform_tuple(tuple, columns, values, nulls);
    Row row;
    std::copy_n(values, column_count, row.values);
    std::copy_n(nulls, column_count, row.nulls);
    return row;
}

bool is_known(Relation table) {
    return table->rd_rel->relkind == RELKIND_RELATION && are_known(RelationGetDescr(table));
}

bool are_known(TupleDesc columns) {
    if (columns->natts < column_count)
        return false;
    for (int i = 0; i < column_count; ++i)
        if (TupleDescAttr(columns, i)->attisdropped ||
            TupleDescAttr(columns, i)->atttypid != column_types[i])
            return false;
    return true;
}

AttrNumber find_unchecked(TupleDesc columns) {
    for (AttrNumber column = 1; column <= column_count; ++column)
        if (!is_nullable(column) && !TupleDescAttr(columns, column - 1)->attnotnull)
            return column;
    return InvalidAttrNumber;
}

bool is_readable(const Row &row) {
    for (int column = 1; column <= column_count; ++column)
        if (row.nulls[column - 1] && !is_nullable(column))
            return false;
    const auto is_usable = [&row](Column column) {
        const TimestampTz time = DatumGetTimestampTz(row[column]);
        return time > MIN_TIMESTAMP && time < latest_time;
    };
    return is_usable(column_claimed_at) && is_usable(column_said_at) &&
           (row.is_null(column_free_from) || is_usable(column_free_from));
}

StoredAct act_of(const Row &row) {
    const auto unix_us = [&row](Column column) {
        return DatumGetTimestampTz(row[column]) + server::unix_to_server_us;
    };
    StoredAct act;
    act.id = id_of(row[column_act]);
    act.word = TextDatumGetCString(row[column_kind]);
    act.kind = kind_of(act.word);
    act.first = DatumGetInt32(row[column_node]);
    act.last = DatumGetInt32(row[column_last_node]);
    // A row can have any range, because any server can have written it. It is cut to numbers that
    // exist, or to none.
    if (act.holds() || act.ends()) {
        act.first = std::max(act.first, 1);
        act.last = std::clamp(act.last, 0, last_claimable_node);
    }
    act.about = {.system_identifier = DatumGetInt64(row[column_system_identifier]),
                 .database = DatumGetInt64(row[column_database]),
                 .copy = DatumGetInt64(row[column_copy])};
    act.where = TextDatumGetCString(row[column_place]);
    act.place = server_place::number_of(act.where);
    act.name = TextDatumGetCString(row[column_name]);
    act.claimed_at = unix_us(column_claimed_at);
    act.said_at = unix_us(column_said_at);
    act.free_from = row.is_null(column_free_from) ? 0 : unix_us(column_free_from);
    act.answers = row.is_null(column_answers) ? ActId{} : id_of(row[column_answers]);
    act.version = TextDatumGetCString(row[column_version]);
    act.written_here = DatumGetBool(row[column_written_here]);
    if (!row.is_null(column_more))
        act.more = PointerGetDatum(PG_DETOAST_DATUM_COPY(row[column_more]));
    return act;
}

Row row_of(const StoredAct &act) {
    const auto time = [](std::int64_t unix_us) {
        return TimestampTzGetDatum(unix_us - server::unix_to_server_us);
    };
    const char *kind = act.kind == Kind::unknown ? act.word : word_for(act.kind);
    Row row{.values = {0, uuid_of(act.id), CStringGetTextDatum(kind), Int32GetDatum(act.first),
                       Int32GetDatum(act.last), Int64GetDatum(act.about.system_identifier),
                       Int64GetDatum(act.about.database), Int64GetDatum(act.about.copy),
                       CStringGetTextDatum(act.where), CStringGetTextDatum(act.name),
                       time(act.claimed_at), time(act.said_at), time(act.free_from),
                       uuid_of(act.answers), CStringGetTextDatum(act.version),
                       BoolGetDatum(act.written_here), act.more},
            .nulls = {true}};
    row.nulls[column_free_from - 1] = act.free_from == 0;
    row.nulls[column_answers - 1] = act.answers == ActId{};
    row.nulls[column_more - 1] = act.more == 0;
    return row;
}

ActId id_of(Datum uuid) {
    std::uint64_t halves[2];
    memcpy(halves, DatumGetUUIDP(uuid)->data, sizeof halves);
    return {.high = pg_ntoh64(halves[0]), .low = pg_ntoh64(halves[1])};
}

Datum uuid_of(const ActId &id) {
    auto *uuid = static_cast<pg_uuid_t *>(palloc(sizeof(pg_uuid_t)));
    const std::uint64_t halves[] = {pg_hton64(id.high), pg_hton64(id.low)};
    memcpy(uuid->data, halves, sizeof halves);
    return UUIDPGetDatum(uuid);
}

Datum random_uuid() {
    return OidFunctionCall0(F_GEN_RANDOM_UUID);
}

const char *word_for(Kind kind) {
    for (const Word &word : words)
        if (word.kind == kind)
            return word.word;
    return "unknown";
}

} // namespace snowflake::registry
