// New columns as CREATE TABLE and ALTER TABLE .. ADD COLUMN define them: where the setting
// snowflake.convert_new_columns is on, columns that will hold IDs are bigint from the beginning.
//
// The event trigger of the extension converts them once they are there (sql/conversion/run). To
// change the type of a column then makes its table, its indexes and its foreign keys anew, and is
// not to be done to a table with rows. So the definition is changed before the server reads it, in
// a copy: a small serial becomes a bigserial, and so does an identity of a new table; a small
// integer becomes a bigint if it references a column that holds IDs.
//
// A definition stays as it is where another type could mean another thing: where it has a check, an
// expression, a parent or a pattern. The event trigger sees to these. LIKE .. INCLUDING IDENTITY
// gives the new table a sequence for each that its pattern had before it was converted.
#pragma once

#include "server/server.hpp"

namespace snowflake::new_columns {

// Installs the hook. Called once, when the module is loaded.
void init();

} // namespace snowflake::new_columns
