// A schema of many tables is converted whole: nothing else of it changes, it can be dumped,
// restored and used, and the way back leads to where it came from.
#include "dump.hpp"
#include "ids.hpp"
#include "random_schema.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

namespace integration::conversion_test {
namespace {

const int tables = is_long_run() ? 50 : 30;
constexpr Random::result_type seed = 2023;

// Of the sequences that tables or defaults of the schema use.
const char *const all_sequences =
    "SELECT s.seqrelid::regclass FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> 'snowflake'"
    " ORDER BY s.seqrelid";

// What no conversion may leave behind: small keys and references to them, defaults that call the
// server's nextval, identities, and sequences without the guard.
const char *const all_narrow_keys =
    "SELECT a.attrelid::regclass, a.attname FROM pg_attribute a"
    " JOIN pg_constraint k ON k.conrelid = a.attrelid AND a.attnum = ANY (k.conkey)"
    " WHERE k.contype IN ('p', 'f') AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype)"
    " AND a.attrelid >= 16384 AND a.attrelid <> 'snowflake.nodes'::regclass";
const char *const all_server_calls =
    "SELECT adrelid::regclass, adnum FROM pg_attrdef"
    " WHERE pg_get_expr(adbin, adrelid) ~ '(?<!snowflake\\.)nextval'"
    " UNION ALL SELECT attrelid::regclass, attnum FROM pg_attribute WHERE attidentity <> ''";
const char *const all_unguarded =
    "SELECT seqrelid::regclass FROM pg_sequence WHERE seqincrement <> 9223372036854775807";

// The sequences that would not go on above their last value.
const char *const all_stepping_back =
    "SELECT seqrelid::regclass FROM (SELECT seqrelid, pg_sequence_last_value(seqrelid) AS last"
    " FROM pg_sequence OFFSET 0) s WHERE snowflake.nextval(seqrelid::regclass) <= last";

std::string query(const Server &server, const std::string &database, const std::string &sql) {
    const Output output =
        server.run("psql", {"-X", "-A", "-t", "-q", "-d", server.conninfo(database), "-c", sql});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    return output.out;
}

std::vector<std::string> lines(const std::string &text) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        result.push_back(line);
    return result;
}

// The first line in which the texts differ; empty if they are equal.
std::string first_difference(const std::string &expected, const std::string &actual) {
    auto left = lines(expected);
    auto right = lines(actual);
    const std::size_t most = std::max(left.size(), right.size());
    left.resize(most, "(end)");
    right.resize(most, "(end)");
    const auto [a, b] = std::mismatch(left.begin(), left.end(), right.begin());
    return a == left.end() ? "" : "expected: " + *a + "\n  actual: " + *b;
}

std::string call(const std::string &function, const std::string &sequence) {
    return "SELECT snowflake." + function + "($sequence$" + sequence + "$sequence$)";
}

void call_for_all_sequences(const Server &server, const std::string &function) {
    Session session(server, "original");
    for (const std::string &sequence : lines(query(server, "original", all_sequences)))
        session.run(call(function, sequence));
}

class Conversion : public testing::Test {
  protected:
    Conversion() : server_(1, {"fsync = off"}) {
        for (const std::string &statement : role_statements())
            Session(server_).run(statement);
        Session(server_).run("CREATE DATABASE original");
        Random random(seed);
        Session session(server_, "original");
        for (const std::string &statement : random_schema(random, tables))
            session.run(statement);
        session.run("CREATE EXTENSION snowflake");
    }

    Server server_;
};

// The facts but for those of materialized views, which a dump of the schema alone leaves empty.
std::string facts_without_materialized_views(const Server &server, const std::string &database) {
    std::string text;
    for (const std::string &line : lines(query(server, database, schema_facts)))
        if (line.find(" | m | ") == std::string::npos)
            text += line + '\n';
    return text;
}

// Schema and data dumped apart, and restored one after the other.
void restore_in_two_parts(const Server &server, const std::string &database) {
    Session(server).run("CREATE DATABASE " + database + " TEMPLATE template0");
    for (const char *part : {"--schema-only", "--data-only"}) {
        const std::string file = server.file("part.sql");
        server.run_successfully("pg_dump", {"-d", server.conninfo("original"), "-f", file, part});
        server.run_successfully("psql", {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
                                         server.conninfo(database), "-f", file});
    }
}

// The facts of the original database, but for the right to draw from sequences: whoever inserts
// into an identity gets it.
std::string facts_without_rights_to_draw(const Server &server) {
    static const std::regex right(R"re(,"?[^,|]*"?=U/[^,| ]*(?=[,| ]))re");
    std::istringstream facts(query(server, "original", schema_facts));
    std::string text;
    for (std::string line; std::getline(facts, line);)
        text += (line.find(" | S | ") == std::string::npos ? line
                                                           : std::regex_replace(line, right, "")) +
                '\n';
    return text;
}

TEST_F(Conversion, TakesAlongAWholeSchema) {
    const std::string before = facts_without_rights_to_draw(server_);
    call_for_all_sequences(server_, "convert_sequence_to_snowflake");
    EXPECT_EQ(first_difference(before, facts_without_rights_to_draw(server_)), "");
    for (const char *left : {all_narrow_keys, all_server_calls, all_unguarded})
        EXPECT_EQ(query(server_, "original", left), "");

    const std::string converted = dump_as_text(server_, "original");
    restore(server_, "copy", dump(server_, "original", true), true);
    EXPECT_EQ(first_difference(converted, dump_as_text(server_, "copy")), "");

    EXPECT_EQ(query(server_, "copy", all_stepping_back), "");

    restore_in_two_parts(server_, "parts");
    EXPECT_EQ(first_difference(facts_without_materialized_views(server_, "original"),
                               facts_without_materialized_views(server_, "parts")),
              "");

    call_for_all_sequences(server_, "convert_snowflake_to_sequence");
    EXPECT_EQ(first_difference(before, facts_without_rights_to_draw(server_)), "");
    Session(server_, "original").run("DROP EXTENSION snowflake");
}

TEST_F(Conversion, TakesAlongAllSequencesInOneCall) {
    const std::string before = facts_without_rights_to_draw(server_);
    const std::string outcome = query(server_, "original", "CALL snowflake.convert_all()");
    EXPECT_TRUE(outcome.ends_with("|0") || outcome.ends_with("|0\n")) << outcome;
    EXPECT_EQ(first_difference(before, facts_without_rights_to_draw(server_)), "");
    for (const char *left : {all_narrow_keys, all_server_calls, all_unguarded})
        EXPECT_EQ(query(server_, "original", left), "");
    call_for_all_sequences(server_, "convert_snowflake_to_sequence");
    EXPECT_EQ(first_difference(before, facts_without_rights_to_draw(server_)), "");
}

// Without the positions of columns: the second word of a column, the last of a sequence, and the
// order in which statistics name them.
std::string facts_without_positions(const Server &server, const std::string &database) {
    const std::regex position(R"(^(column \| .*?) \| [0-9]+(?= \| )|^(sequence \| .*) \| [0-9]+$)");
    const std::regex item_first(" ON item, (.*) FROM ");
    std::vector<std::string> facts;
    for (const std::string &line : lines(query(server, database, schema_facts)))
        facts.push_back(std::regex_replace(std::regex_replace(line, position, "$1$2"), item_first,
                                           " ON $1, item FROM "));
    std::sort(facts.begin(), facts.end());
    std::string text;
    for (const std::string &fact : facts)
        text += fact + '\n';
    return text;
}

TEST_F(Conversion, WithoutALongLockItIsTheSame) {
    // Materialized views would be filled again under the lock, and are refused when they are. The
    // publication of some tables has no subscriber.
    for (const std::string &view :
         lines(query(server_, "original",
                     "SELECT oid::regclass FROM pg_class WHERE relkind = 'm' AND relispopulated")))
        query(server_, "original", "REFRESH MATERIALIZED VIEW " + view + " WITH NO DATA");
    Session(server_).run("CREATE DATABASE locked TEMPLATE original");
    Session online(server_, "original");
    Session locked(server_, "locked");
    int converted = 0;
    for (const std::string &sequence : online.texts(all_sequences)) {
        SCOPED_TRACE(sequence);
        const std::string plan =
            "SELECT command FROM snowflake.conversion_plan($sequence$" + sequence +
            "$sequence$, online => true, waive => 'subscribers') WHERE command IS NOT NULL ORDER BY"
            " step";
        std::vector<std::string> commands;
        try {
            commands = online.texts(plan);
        } catch (const pqxx::sql_error &error) {
            EXPECT_EQ(sqlstate_of(error), "0A000");
            continue;
        }
        for (const std::string &command : commands)
            online.run(command);
        locked.run(call("convert_sequence_to_snowflake", sequence));
        ++converted;
    }
    EXPECT_GE(converted, tables / 2);
    EXPECT_EQ(first_difference(facts_without_positions(server_, "locked"),
                               facts_without_positions(server_, "original")),
              "");
}

} // namespace
} // namespace integration::conversion_test
