#include "random_calls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <sstream>

namespace integration {
namespace {

const char *const all_relations =
    "SELECT quote_literal(oid::regclass::text) FROM pg_class"
    " WHERE oid >= 16384 AND relnamespace::regnamespace::text !~ '^pg_'"
    " ORDER BY oid";
const char *const all_sequences = "SELECT seqrelid::regclass FROM pg_sequence"
                                  " JOIN pg_class ON oid = seqrelid"
                                  " WHERE relpersistence <> 't' ORDER BY seqrelid";
const char *const all_oids =
    "SELECT oid FROM pg_class WHERE oid >= 16384 UNION SELECT oid FROM pg_rewrite WHERE oid >= "
    "16384"
    " UNION SELECT oid FROM pg_proc WHERE oid >= 16384"
    " UNION SELECT oid FROM pg_constraint UNION SELECT oid FROM pg_trigger"
    " UNION SELECT oid FROM pg_policy UNION SELECT oid FROM pg_publication_rel"
    " UNION SELECT oid FROM pg_attrdef UNION SELECT oid FROM pg_statistic_ext"
    " UNION SELECT oid FROM pg_type WHERE oid >= 16384 UNION SELECT oid FROM pg_namespace"
    " UNION SELECT oid FROM pg_authid ORDER BY 1";
// Not the one that does what the server's own nextval does: for a sequence with a large CACHE that
// counts for as long as the CACHE says.
const char *const all_functions =
    "SELECT concat_ws(' ', quote_ident(proname), prolang <> 13,"
    " proname ~ '^(claim|release|remove|separate|reserve)_',"
    " pronargs - pronargdefaults,"
    " (SELECT string_agg(replace(format_type(a, NULL), ' ', '~'), ' ' ORDER BY n)"
    " FROM unnest(proargtypes) WITH ORDINALITY t(a, n)))"
    " FROM pg_proc WHERE pronamespace = 'snowflake'::regnamespace AND proname <> '_nextval'"
    " ORDER BY proname, proargtypes";

std::vector<Function> functions_of_the_extension(Session &session) {
    std::vector<Function> functions;
    for (const std::string &line : session.texts(all_functions)) {
        std::istringstream words(line);
        Function function{};
        std::string costly;
        std::string lasting;
        words >> function.name >> costly >> lasting >> function.needed_arguments;
        function.costly = costly == "t";
        function.lasting = lasting == "t";
        for (std::string type; words >> type;) {
            std::replace(type.begin(), type.end(), '~', ' ');
            function.argument_types.push_back(type);
        }
        functions.push_back(function);
    }
    return functions;
}

// Expressions for arguments of each type.
std::map<std::string, Texts> values_by_type(const Texts &relations) {
    return {
        {"regclass", relations},
        {"text",
         {"''", "'view'", "'index'", "'trigger'", "'rule'", "'policy'", "'generated'",
          "'constraint'", "'statistics'", "'publication'", "'routine'", "'rebuilt index'",
          "'rebuilt statistics'", "'%s %I %L %n'", "'pg_catalog, \"'", R"(E'\n\t\\')",
          "repeat('x', 100000)", "'public'", "'TABLE parent'"}},
        {"snowflake._conversion_column[]",
         {"ARRAY[(4294967295, -1, '', true, 4294967295, ')', '(', true, false, true)]", "'{NULL}'",
          "'{}'"}},
        {"snowflake._conversion_dependent[]",
         {"ARRAY[('view', 1259, 1259, 1259, 'v', 1, false, false),"
          " (NULL, 0, 4294967295, NULL, NULL, NULL, NULL, NULL)]",
          "ARRAY[('routine', 1255, 1259, 0, NULL, -1, true, true),"
          " ('index', 1, 1, 1, '', 1, false, false)]",
          "'{NULL}'", "'{}'"}},
        {"snowflake._conversion_object[]",
         {"ARRAY[(1259, 1259, 1, false), (2618, 4294967295, 1000, true)]",
          "ARRAY[(0, 0, NULL, NULL), (NULL, NULL, 1, true)]", "'{NULL}'", "'{}'"}},
        {"snowflake._conversion_step[]",
         {"ARRAY[('SELECT 1', 'x', NULL, NULL, NULL)]",
          "ARRAY[(NULL, 'x', 0, -1, ''), ('nothing', NULL, 1259, 9223372036854775807, 'guest')]",
          "'{NULL}'", "'{}'"}},
        {"boolean", {"true", "false"}},
        {"numeric", {"'NaN'", "1e100", "-0.5", "'Infinity'", "0", "9223372036854775808"}},
        {"jsonb", {"'{}'", "'[]'", "'null'", "'1'", "'\"x\"'", "'{'"}},
    };
}

// Texts that are values of some type.
const std::array values_of_any_type{
    "",
    "0",
    "-1",
    "x",
    "infinity",
    "-infinity",
    "epoch",
    "now",
    "NaN",
    "{}",
    "{NULL}",
    "4713-01-01 BC",
    "294276-12-31 23:59:59.999999",
    "294277-01-01",
    "2022-12-31 23:59:59.999999+00",
    "2023-01-01 00:00:00+00",
    "2092-09-06 15:47:35.551+00",
    "2092-09-06 15:47:35.552+00",
    "1 day",
    "-178000000 years",
    "default",
    "twitter",
    "discord",
    "epoch=2015-01-01T00:00:00Z tick=1ms timestamp:41 counter:12 node:10",
    "epoch=",
    "timestamp:63 node:0 counter:0",
    "timestamp:99999999999 node:-1",
    "[1,5]",
    "(,)"};

} // namespace

std::string quoted(const std::string &text) {
    std::string result = "'";
    for (const char c : text)
        result += c == '\'' ? "''" : std::string(1, c);
    return result + "'";
}

Caller::Caller(snowflake::testing::Random &random, Session &session, const Texts &planned)
    : random_(random), functions_(functions_of_the_extension(session)),
      sequences_(session.texts(all_sequences)), oids_(session.texts(all_oids)) {
    for (const char *oid : {"0", "1", "1259", "2147483648", "4294967295"})
        oids_.emplace_back(oid);
    Texts relations = session.texts(all_relations);
    for (const char *relation :
         {"pg_class", "pg_proc_oid_index", "nowhere", "no.where", "", "\"", "-", "4294967295"})
        relations.push_back(quoted(relation));
    // A sequence is met as often as all the rest.
    for (int i = 0; i < 2; ++i)
        for (const std::string &sequence : sequences_)
            relations.push_back(quoted(sequence));
    for (const char *value : values_of_any_type)
        any_.push_back(quoted(value));
    values_ = values_by_type(relations);
    for (const std::string &sequence : planned) {
        const std::string columns =
            "ARRAY(SELECT c FROM snowflake._conversion_columns(" + quoted(sequence) + ") c)";
        add("snowflake._conversion_column[]", {columns});
        add("snowflake._conversion_dependent[]",
            {"ARRAY(SELECT d FROM snowflake._conversion_dependents(" + columns + ") d)"});
    }
}

void Caller::add(const std::string &type, const Texts &expressions) {
    Texts &known = values_[type];
    known.insert(known.end(), expressions.begin(), expressions.end());
}

const Function &Caller::choose() {
    for (;;) {
        const Function &function = one_of(functions_);
        if (random_.one_in(function.costly ? 150 : function.lasting ? 20 : 1))
            return function;
    }
}

std::string Caller::statement(const Function &function) {
    const auto most = static_cast<std::int64_t>(function.argument_types.size());
    std::int64_t count = random_.between(function.needed_arguments, most);
    if (random_.one_in(100))
        count = random_.between(0, most + 1);
    std::string arguments;
    for (std::int64_t i = 0; i < count; ++i)
        arguments +=
            (i == 0 ? "" : ", ") +
            argument(i < most ? function.argument_types[static_cast<std::size_t>(i)] : "integer");
    const std::string call = "snowflake." + function.name + "(" + arguments + ")";
    // In the list of results, where a set is made no further than it is asked for.
    switch (random_.between(0, function.costly ? 1 : 6)) {
    case 0:
        return "SELECT " + call + ", " + call + " LIMIT 3";
    case 2:
        return "SELECT " + call + " FROM generate_series(1, 20) LIMIT 20";
    case 3:
        return "SELECT count(*) FROM generate_series(1, 3) WHERE " + call + " IS NULL";
    default:
        return "SELECT " + call + " LIMIT 5";
    }
}

std::string Caller::number(std::int64_t high) {
    return std::to_string(random_.of_any_size(high) * (random_.one_in(4) ? -1 : 1));
}

std::string Caller::bigint() {
    static const Texts edges = {"0",
                                "1",
                                "-1",
                                "4095",
                                "4096",
                                "4194303",
                                "4194304",
                                "9223372036854775806",
                                "9223372036854775807",
                                "(-9223372036854775808)",
                                "9223372036850581504"};
    return random_.one_in(3) ? one_of(edges) : "(" + number(INT64_MAX) + ")";
}

std::string Caller::integer() {
    static const Texts edges = {"0", "1", "-1", "4096", "4097", "2147483647", "(-2147483648)"};
    return random_.one_in(3) ? one_of(edges) : "(" + number(INT32_MAX) + ")";
}

// An expression of the type, at least of one that may be cast to it.
std::string Caller::value(const std::string &type) {
    if (random_.one_in(30))
        return "NULL";
    if (type == "bigint")
        return bigint();
    if (type == "integer")
        return integer();
    if (type == "oid" || (type == "regclass" && random_.one_in(10)))
        return one_of(oids_);
    const auto known = values_.find(type);
    return one_of(known != values_.end() && !random_.one_in(50) ? known->second : any_);
}

std::string Caller::argument(const std::string &type) {
    if (!random_.one_in(40))
        return value(type) + "::" + type;
    static const Texts types = {"regclass", "text",    "boolean", "numeric",     "jsonb",
                                "bigint",   "integer", "oid",     "timestamptz", "bytea"};
    const std::string &other = one_of(types);
    std::string expression = value(other) + "::" + other;
    switch (random_.between(0, 2)) {
    case 0:
        return expression;
    case 1:
        return "(" + expression + ")::" + type;
    default:
        return "(" + expression + ")::text::" + type;
    }
}

bool is_ours(const std::string &sqlstate) {
    static const std::set<std::string> states = {"22004", "57014", "20000", "42601"};
    return sqlstate.starts_with("XX") || sqlstate.starts_with("P0") || states.contains(sqlstate);
}

} // namespace integration
