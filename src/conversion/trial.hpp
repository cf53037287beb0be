// Trials: what a default, another expression or a partition makes of snowflake IDs, found out by
// evaluating it.
//
// A trial parses and evaluates as nobody, with the rights that everybody has: a default may be
// inherited, a check copied, and a type or function changed by somebody else than the owner of the
// table. It evaluates no volatile function: those may change something.
#pragma once

#include "server/server.hpp"

namespace snowflake::trial {

// The outcome for one number: the value as text; nullptr: null.
using Outcome = const char *;

// Evaluates a column default once for each number, which stands for the calls of nextval on the
// sequence, and converts the values to the type of the column as an INSERT would: bigint where it
// is a smaller integer, the base type where it is a domain. Returns false, with nothing evaluated,
// if the expression is volatile, if the default calls no nextval on the sequence, or if the current
// role may not act for the owner. Raises the errors of the expression.
bool try_default(Oid attrdef, Oid sequence, const std::int64_t *numbers, int count,
                 Outcome *outcomes);

// Evaluates the expressions of a CHECK constraint, a generated column (class pg_attrdef), an index
// or extended statistics once for each number, as the server will understand them when the column
// is a bigint: those that name this column alone, and of a partial index only the predicate, or the
// value of a domain over bigint. The outcomes are those of the first, for a generated column as it
// will hold them. Returns and raises as try_default() does, but whoever owns a domain.
bool try_stored(Oid class_id, Oid object, AttrNumber attribute, const std::int64_t *numbers,
                int count, Outcome *outcomes);

// Evaluates the bound of a partition once for each number in a bigint column of the whole: "f"
// means that it takes no row with this number, "t" or null that it does, or that it depends on
// other columns. Returns and raises as try_default() does; a partition that somebody has locked
// against readers, or whose whole is, is not tried. Keeps no lock.
bool try_partition(Oid partition, AttrNumber attribute, const std::int64_t *numbers, int count,
                   Outcome *outcomes);

} // namespace snowflake::trial
