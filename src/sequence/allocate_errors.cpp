#include "allocate_errors.hpp"

#include "nodes/node_errors.hpp"
#include "nodes/settings.hpp"
#include "server/earlier_version.hpp"

namespace snowflake {

namespace {

using session::Sequence;

// The name of a sequence as an argument: 'public.orders_id_seq'.
const char *as_literal(Oid relid) {
    return quote_literal_cstr(server::qualified_name(relid));
}

// A time as text. The server's next conversion overwrites it.
const char *as_text(std::int64_t unix_us) {
    return timestamptz_to_str(unix_us - server::unix_to_server_us);
}

[[noreturn]] void raise_before_epoch(const Attempt &attempt) {
    ereport(ERROR, errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
            errmsg("the system clock is before the epoch of the snowflake layout"),
            errdetail("The clock reads %s; the epoch is %s.", pstrdup(as_text(attempt.now_us)),
                      pstrdup(as_text(attempt.layout.epoch_us()))),
            attempt.now_us >= default_layout.epoch_us()
                ? errhint("Choose a layout from: SELECT name, epoch FROM snowflake.layouts;")
                : errhint("Set the system clock of the server."));
    pg_unreachable();
}

[[noreturn]] void raise_exhausted(const Sequence &sequence, const Attempt &attempt) {
    const std::int64_t end_us = attempt.layout.unix_us(attempt.layout.last_tick());
    const bool clock_is_there = attempt.now_us >= end_us;
    ereport(ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
            errmsg("no snowflake ID is left for sequence \"%s\"", get_rel_name(sequence.relid)),
            errdetail("The timestamps of the layout end at %s; the %s is there.", as_text(end_us),
                      clock_is_there ? "clock" : "sequence"),
            clock_is_there ? errhint("Choose a layout from: SELECT name, last_timestamp "
                                     "FROM snowflake.layouts;")
                           : errhint("If the sequence was set too far ahead, set it back to below "
                                     "the present: SELECT pg_catalog.setval(%s, 1);",
                                     as_literal(sequence.relid)));
    pg_unreachable();
}

[[noreturn]] void raise_node_out_of_range(const Sequence &sequence, const Attempt &attempt) {
    if (attempt.layout.node_bits() == 0)
        raise_no_nodes(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("snowflake node %d does not fit the layout of sequence \"%s\"", attempt.node,
                   get_rel_name(sequence.relid)),
            errdetail("The layout has room for nodes 1 to %d.", attempt.layout.last_node()),
            sequence.definition.has_layout
                ? errhint("%s", settings::node() != settings::node_unset
                                    ? how_to_claim_another()
                                    : "To claim one that fits, run: SELECT "
                                      "snowflake.release_node(); SELECT snowflake.claim_node();")
                : errhint("As a superuser, run for example: LOAD 'snowflake'; "
                          "ALTER SYSTEM SET snowflake.node = 1; SELECT pg_reload_conf();"));
    pg_unreachable();
}

[[noreturn]] void raise_increment(const Sequence &sequence, const char *detail) {
    ereport(
        ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
        errmsg("sequence \"%s\" has an increment of %lld, which cannot be used for snowflake IDs",
               get_rel_name(sequence.relid), static_cast<long long>(sequence.definition.increment)),
        errdetail_internal("%s", detail),
        errhint("ALTER SEQUENCE %s INCREMENT BY 1;", server::qualified_name(sequence.relid)));
    pg_unreachable();
}

[[noreturn]] void raise_too_far_ahead(const Sequence &sequence) {
    ereport(
        ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
        errmsg("permission denied to put sequence \"%s\" more than 10 minutes ahead of the clock",
               get_rel_name(sequence.relid)),
        errhint("Ask for fewer IDs at once, or as the owner of the sequence: "
                "GRANT UPDATE ON SEQUENCE %s TO %s;",
                server::qualified_name(sequence.relid),
                quote_identifier(GetUserNameFromId(GetUserId(), false))));
    pg_unreachable();
}

[[noreturn]] void raise_above_max_value(const Sequence &sequence, std::int64_t count) {
    const char *excess = count == 1 ? "the next snowflake ID is above"
                                    : psprintf("not all of the next %lld snowflake IDs are within",
                                               static_cast<long long>(count));
    ereport(
        ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
        errmsg("%s the maximum value of sequence \"%s\" (%lld)", excess,
               get_rel_name(sequence.relid), static_cast<long long>(sequence.definition.max_value)),
        earlier_version::is_installed()
            ? errhint("%s", earlier_version::hint_to_update)
            : errhint("Convert the sequence: SELECT snowflake.convert_sequence_to_snowflake(%s);",
                      as_literal(sequence.relid)));
    pg_unreachable();
}

} // namespace

void raise_no_nodes(int error_code) {
    ereport(ERROR, errcode(error_code),
            errmsg("no snowflake ID can be made in a layout without nodes"),
            errhint("Choose a layout from: SELECT name FROM snowflake.layouts WHERE nodes > 1;"));
    pg_unreachable();
}

void raise_refusal(Refusal refusal, const Sequence &sequence, const Attempt &attempt) {
    switch (refusal) {
    case Refusal::before_epoch:
        raise_before_epoch(attempt);
    case Refusal::exhausted:
        raise_exhausted(sequence, attempt);
    case Refusal::node_out_of_range:
        raise_node_out_of_range(sequence, attempt);
    case Refusal::stride_too_wide:
        raise_increment(sequence, sequence.definition.stride < 1
                                      ? "Snowflake IDs only ascend."
                                      : psprintf("The counter of the layout has room for %d.",
                                                 attempt.layout.last_counter() + 1));
    case Refusal::stride_misplaced:
        raise_increment(sequence, "An increment above 1 needs a layout whose counter is its lowest "
                                  "field.");
    case Refusal::too_far_ahead:
        raise_too_far_ahead(sequence);
    case Refusal::above_max_value:
        raise_above_max_value(sequence, attempt.count);
    case Refusal::none:
        break;
    }
    pg_unreachable();
}

void raise_block_too_wide(const Sequence &sequence, std::int64_t greatest) {
    ereport(
        ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
        errmsg("sequence \"%s\" has an increment of %lld, which is too wide a block for snowflake "
               "IDs",
               get_rel_name(sequence.relid), static_cast<long long>(sequence.definition.increment)),
        errdetail("Clients count up or down from the value, so blocks on both sides are reserved: "
                  "up to %lld each.",
                  static_cast<long long>(greatest)),
        errhint("ALTER SEQUENCE %s INCREMENT BY %lld;", server::qualified_name(sequence.relid),
                static_cast<long long>(greatest)));
    pg_unreachable();
}

} // namespace snowflake
