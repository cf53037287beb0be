// A row of the table snowflake.nodes, and the act that it is.
//
// The columns of the table never change, so that servers of all versions can replicate it to each
// other. A later version has the column "more" for what it has to add.
#pragma once

#include "pure/claims.hpp"
#include "server/server.hpp"

namespace snowflake::registry {

// The name of the table in the schema of the extension.
inline constexpr const char *table_name = "nodes";

// An act as the table has it. The texts are palloc'd.
struct StoredAct : Act {
    const char *where = nullptr; // the place, as people read it
    const char *name = nullptr;  // what people call the instance
    const char *version = nullptr;
    const char *word = nullptr; // for a kind that is unknown
    Datum more = 0;             // what a later version has added; 0: nothing
};

// The columns of snowflake.nodes, from 1 on.
enum Column : AttrNumber {
    column_key = 1,
    column_act,
    column_kind,
    column_node,
    column_last_node,
    column_system_identifier,
    column_database,
    column_copy,
    column_place,
    column_name,
    column_claimed_at,
    column_said_at,
    column_free_from,
    column_answers,
    column_version,
    column_written_here,
    column_more
};

inline constexpr int column_count = column_more;

// The types of the columns, in their order.
extern const Oid column_types[column_count];

// The values of one row.
struct Row {
    Datum values[column_count];
    bool nulls[column_count];

    [[nodiscard]] Datum operator[](Column column) const { return values[column - 1]; }
    [[nodiscard]] bool is_null(Column column) const { return nulls[column - 1]; }
};

// Returns the values that a tuple of the table has.
Row row_of(HeapTuple tuple, TupleDesc columns);

// Returns whether the relation is a table, and whether columns are, or begin with, those that this
// version reads.
bool is_known(Relation table);
bool are_known(TupleDesc columns);

// Returns the first of known columns that must not be null and can be; InvalidAttrNumber: none.
AttrNumber find_unchecked(TupleDesc columns);

// Returns whether the row can become an act: one of a later version may lack what this one needs,
// and a time may be none that a clock shows.
bool is_readable(const Row &row);

// Returns the act of a row that is_readable(), and the row of an act, without the key. What they
// hold is palloc'd.
StoredAct act_of(const Row &row);
Row row_of(const StoredAct &act);

// Converts the name of an act, both ways. uuid_of() returns a palloc'd value.
ActId id_of(Datum uuid);
Datum uuid_of(const ActId &id);
Datum random_uuid();

// Returns the word for a kind that the table and the view show.
const char *word_for(Kind kind);

} // namespace snowflake::registry
