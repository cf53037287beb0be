#include "hostile_objects.hpp"

#include "random_calls.hpp"

#include <algorithm>
#include <utility>

namespace integration {

const char *const told = "hostile code runs as ";
const char *const hostile_error = "hostile error";

namespace {

// Where the other functions find what a security-restricted context must keep them from: another
// role, code that waits for the end of the transaction, objects of the session.
const char *const what_functions_need = R"(
CREATE FUNCTION den.tell() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN RAISE LOG 'hostile code runs as <%>', current_user; RETURN 1; END $$;
CREATE FUNCTION den.later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE LOG 'hostile code runs as <%>', current_user; RETURN NULL; END $$;
CREATE TABLE den.deferred (a bigint);
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON den.deferred DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION den.later();
CREATE FUNCTION den.escape() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE attempt text;
BEGIN
    FOREACH attempt IN ARRAY '{RESET ROLE, RESET SESSION AUTHORIZATION,
                               INSERT INTO den.deferred SELECT den.tell(),
                               DECLARE held CURSOR WITH HOLD FOR SELECT den.tell(),
                               CREATE TEMP TABLE pg_class AS SELECT den.tell(),
                               SET search_path = den, SET standard_conforming_strings = off}'::text[]
    LOOP
        BEGIN
            EXECUTE attempt;
            PERFORM den.tell();
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
    RETURN true;
END $$;
GRANT USAGE ON SCHEMA den TO PUBLIC;
GRANT INSERT ON den.deferred TO PUBLIC;
)";

// Parts of names: what ends a name, a literal, a body or a command, and what goes on from there.
const char *const parts[] = {"(1); ALTER ROLE accomplice SUPERUSER; --",
                             "(1); SELECT den.tell(); --",
                             "'::snowflake.layout)\"(1); SELECT den.tell(); --",
                             "'::snowflake.layout)\"(1); ALTER ROLE accomplice SUPERUSER; --",
                             "'; SELECT den.tell(); --",
                             "\"; SELECT den.tell(); --",
                             "$$; SELECT den.tell(); --",
                             "$function$; SELECT den.tell(); --",
                             "'::regclass)",
                             "'::text)::regclass)",
                             "::regclass",
                             " nextval(('",
                             " snowflake.nextval('",
                             "snowflake.nextval(",
                             "(h.",
                             ")), ''::tsquery, ''::tsquery), btrim(((''::text COLLATE shared.",
                             "quote\"and'apostrophe",
                             "new\nline\r\n",
                             "back\\slash\\",
                             "%s %I %L %1$s $1 \\1 & ",
                             "[a-z]+)*{",
                             "}\",(,)",
                             "/* comment",
                             "*/",
                             "--",
                             ";",
                             ".",
                             " ",
                             "''''''''",
                             R"("""")",
                             "SELECT",
                             "{FUNCEXPR :funcid 480 :args",
                             "regclass",
                             "nextval",
                             "abs",
                             "length",
                             "int8",
                             "id",
                             "snowflake",
                             "éééééééééééééééééééé",
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};

std::string in_quotes(const std::string &name) {
    std::string result = "\"";
    for (const char c : name)
        result += c == '"' ? "\"\"" : std::string(1, c);
    return result + '"';
}

} // namespace

const std::array<HostileObjects::Kind, 32> HostileObjects::all_kinds{{
    {"schema", &HostileObjects::schema},
    {"sequence", &HostileObjects::hostile_sequence},
    {"function", &HostileObjects::function},
    {"body in SQL", &HostileObjects::body_in_sql},
    {"function with a default", &HostileObjects::defaulting_function},
    {"overload", &HostileObjects::overload},
    {"operator", &HostileObjects::operator_},
    {"domain", &HostileObjects::domain},
    {"composite type", &HostileObjects::composite},
    {"range", &HostileObjects::range},
    {"range with support functions", &HostileObjects::support_functions},
    {"index of ranges", &HostileObjects::index_of_ranges},
    {"index with an operator class", &HostileObjects::index_with_operator_class},
    {"child", &HostileObjects::child},
    {"new columns", &HostileObjects::new_columns},
    {"truncation", &HostileObjects::truncation},
    {"collation", &HostileObjects::collation},
    {"cast", &HostileObjects::cast},
    {"table", &HostileObjects::table},
    {"partitioned table", &HostileObjects::partitioned_table},
    {"temporary table", &HostileObjects::temporary_table},
    {"index", &HostileObjects::index},
    {"foreign key", &HostileObjects::foreign_key},
    {"view", &HostileObjects::view},
    {"materialized view", &HostileObjects::materialized_view},
    {"rule", &HostileObjects::rule},
    {"trigger", &HostileObjects::trigger},
    {"policy", &HostileObjects::policy},
    {"statistics", &HostileObjects::statistics},
    {"comment", &HostileObjects::comment},
    {"publication", &HostileObjects::publication},
    {"attack", &HostileObjects::attack},
}};

HostileObjects::HostileObjects(snowflake::testing::Random &random, Session &session,
                               Targets targets)
    : random_(random), session_(session), targets_(std::move(targets)),
      fragments_(std::begin(parts), std::end(parts)), tables_(targets_.children) {
    for (const std::string &target : targets_.sequences) {
        fragments_.push_back(" nextval('" + target + "'::regclass)");
        fragments_.push_back(" snowflake.nextval('" + target + "'::regclass, 'x");
        fragments_.push_back("'" + target + "'::regclass)");
        fragments_.push_back(target.substr(target.find('.') + 1));
    }
    session_.run(what_functions_need);
    // The other objects are put together from these.
    for (int i = 0; i < 1000 && (numbers_.empty() || pairs_.empty() || conditions_.empty() ||
                                 triggers_.empty());
         ++i)
        function();
    for (const auto make :
         {&HostileObjects::domain, &HostileObjects::composite, &HostileObjects::support_functions,
          &HostileObjects::collation, &HostileObjects::hostile_sequence, &HostileObjects::table,
          &HostileObjects::view})
        for (int i = 0; i < 1000 && !(this->*make)(); ++i) {
        }
}

std::vector<std::string> HostileObjects::kinds() {
    std::vector<std::string> names;
    names.reserve(std::size(all_kinds));
    for (const Kind &kind : all_kinds)
        names.emplace_back(kind.name);
    return names;
}

void HostileObjects::make(int attempts) {
    const auto attempt = [this](const Kind &kind) {
        if ((this->*kind.make)())
            ++made_[kind.name];
    };
    for (int i = 0; i < attempts; ++i)
        attempt(all_kinds[static_cast<std::size_t>(
            random_.between(0, static_cast<std::int64_t>(all_kinds.size()) - 1))]);
    for (const Kind &kind : all_kinds)
        for (int i = 0; i < 1000 && made_[kind.name] == 0; ++i)
            attempt(kind);
}

bool HostileObjects::run(const std::string &command) {
    session_.run("RESET search_path; RESET standard_conforming_strings");
    return session_.sqlstate(command) == "00000";
}

bool HostileObjects::run(const std::string &command, Names &names, const std::string &name) {
    const bool done = run(command);
    if (done)
        names.push_back(name);
    return done;
}

const std::string &HostileObjects::any(const Names &names) {
    return names[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(names.size()) - 1))];
}

std::string HostileObjects::text_of_name() {
    std::string result = any(fragments_);
    while (random_.one_in(3))
        result += any(fragments_);
    return result;
}

std::string HostileObjects::name() {
    return in_quotes(text_of_name());
}

std::string HostileObjects::new_name() {
    return any(schemas_) + '.' + name();
}

// Of anybody. To name one by its OID needs no right on it or its schema. One of the hostile role's
// own may be gone.
std::string HostileObjects::sequence_oid() {
    const std::string target = quoted(any(targets_.sequences));
    const bool own = !sequences_.empty() && random_.one_in(4);
    return session_.text("SELECT quote_literal(coalesce(pg_catalog.to_regclass(" +
                         (own ? quoted(any(sequences_)) : target) + "), " + target +
                         "::pg_catalog.regclass)::oid)");
}

std::string HostileObjects::sequence() {
    return sequence_oid() + "::regclass";
}

std::string HostileObjects::literal() {
    return quoted(text_of_name());
}

// An expression of the type bigint.
// NOLINTNEXTLINE(misc-no-recursion): expressions nest, three levels deep at most
std::string HostileObjects::number(int depth) {
    if (depth > 2)
        return "nextval(" + sequence() + ")";
    switch (random_.between(0, 9)) {
    case 0:
        return "snowflake.nextval(" + sequence() + ")";
    case 1:
        return "snowflake.nextval(" + sequence() + ", 'twitter')";
    case 2:
        return any(numbers_) + "(" + number(depth + 1) + ")";
    case 3:
        return any(pairs_) + "(" + literal() + ", " + sequence() + ")";
    case 4:
        return "(('{1}'::" + any(domains_) + "[])[1] + " + number(depth + 1) + ")";
    case 5:
        return "nextval(" + quoted(any(targets_.sequences)) + "::text)";
    case 6:
        return "coalesce(" + number(depth + 1) + ", " + number(depth + 1) + ")";
    case 7:
        return "(SELECT 1 WHERE false)";
    default:
        return "nextval(" + sequence() + ")";
    }
}

// NOLINTNEXTLINE(misc-no-recursion): as above
std::string HostileObjects::text(int depth) {
    switch (depth > 2 ? 0 : random_.between(0, 4)) {
    case 0:
        return "(" + literal() + "::text || " + number(depth + 1) + ")";
    case 1:
        return "concat(" + text(depth + 1) + " COLLATE " + any(collations_) + ", " +
               number(depth + 1) + ")";
    case 2:
        return "to_char(" + number(depth + 1) + ", " + literal() + ")";
    case 3:
        return "format(" + literal() + ", " + text(depth + 1) + ")";
    default:
        return "lower(" + text(depth + 1) + ")";
    }
}

// An expression of a column that an index or a generated column may have.
std::string HostileObjects::fixed_number(const std::string &column) {
    switch (random_.between(0, 3)) {
    case 0:
        return "(" + any(numbers_) + "(" + column + "))";
    case 1:
        return "(mod(" + column + ", 10)::bigint)";
    case 2:
        return "(" + column + " % 10 + " + any(numbers_) + "(2))";
    default:
        return "(" + column + " + ('{1}'::" + any(domains_) + "[])[1])";
    }
}

std::string HostileObjects::condition(const std::string &column) {
    switch (random_.between(0, 5)) {
    case 0:
        return "(" + any(conditions_) + "(" + column + "))";
    case 4:
        return "('(1)'::" + any(composites_) + " IS NOT NULL AND " + column + " IS NOT NULL)";
    case 5:
        return "(" + any(ranges_) + "(0, 1) IS NOT NULL AND " + column + " IS NOT NULL)";
    case 1:
        return "('{1}'::" + any(domains_) + "[] IS NOT NULL AND " + column + " IS NOT NULL)";
    case 2:
        return "(" + fixed_number(column) + " <> 17)";
    default:
        return "(" + column + " % 10 < 10)";
    }
}

// The body of a function in PL/pgSQL. It keeps errors for other roles' sessions: in its own the
// hostile role wants to get on. The SQLSTATE of a cancel is not among them: nobody could tell it
// from one.
std::string HostileObjects::body(const std::string &result) {
    static const Names errors{"P0001", "22000", "42883", "23505"};
    std::string actions = "RAISE LOG 'hostile code runs as <%>', current_user;";
    if (random_.one_in(2))
        actions += " PERFORM den.escape();";
    if (random_.one_in(3))
        actions += " PERFORM set_config('search_path', 'den', false);"
                   // From PostgreSQL 19 on, no setting makes strings escape.
                   " IF current_setting('server_version_num')::integer < 190000 THEN"
                   " PERFORM set_config('standard_conforming_strings', 'off', false); END IF;";
    if (random_.one_in(8))
        actions += " IF session_user <> current_user THEN RAISE EXCEPTION 'hostile error'"
                   " USING ERRCODE = '" +
                   any(errors) + "'; END IF;";
    return " LANGUAGE plpgsql AS $body$ BEGIN " + actions + " RETURN " + result + "; END $body$";
}

std::string HostileObjects::column() {
    const std::string made = name() + " ";
    switch (random_.between(0, 8)) {
    case 0:
        return made + "serial";
    case 1:
        return made + "integer GENERATED ALWAYS AS IDENTITY";
    case 2:
        return made + "text DEFAULT " + text(0);
    case 3:
        return made + "integer DEFAULT nextval(" + sequence() + ") CHECK " + condition(made);
    case 4:
        return made + "bigint GENERATED ALWAYS AS (" + fixed_number("a") + ") STORED";
    case 5:
        return made + any(domains_) + " DEFAULT " + number(0);
    case 6:
        return made + "varchar(5) DEFAULT 'x' || " + number(0);
    default:
        return made + "bigint DEFAULT " + number(0);
    }
}

bool HostileObjects::schema() {
    const std::string made = name();
    return run("CREATE SCHEMA " + made, schemas_, made);
}

bool HostileObjects::hostile_sequence() {
    const std::string made = new_name();
    return run("CREATE SEQUENCE " + made + (random_.one_in(2) ? " AS integer" : ""), sequences_,
               made);
}

bool HostileObjects::function() {
    const std::string made = new_name();
    switch (random_.between(0, 3)) {
    case 0:
        return run("CREATE FUNCTION " + made + "(bigint) RETURNS bigint IMMUTABLE" + body("1"),
                   numbers_, made);
    case 1:
        return run("CREATE FUNCTION " + made + "(text, regclass) RETURNS bigint" + body("1"),
                   pairs_, made);
    case 2:
        return run("CREATE FUNCTION " + made + "(bigint) RETURNS boolean IMMUTABLE" + body("true"),
                   conditions_, made);
    default:
        return run("CREATE FUNCTION " + made + "() RETURNS trigger" + body("NEW"), triggers_, made);
    }
}

bool HostileObjects::body_in_sql() {
    const std::string head = "CREATE FUNCTION " + new_name();
    switch (random_.between(0, 3)) {
    case 0:
        return run(head + "() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT " + number(0) +
                   "; END");
    case 1:
        return run(head + "() RETURNS bigint LANGUAGE sql AS " + quoted("SELECT " + number(0)));
    case 2:
        return run(head + "() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM " +
                   any(targets_.tables) + " WHERE " + condition("id") + "; END");
    default:
        return run(head + "() RETURNS SETOF " +
                   (views_.empty() || random_.one_in(2) ? any(targets_.tables) : any(views_)) +
                   " LANGUAGE sql AS 'SELECT NULL'");
    }
}

bool HostileObjects::defaulting_function() {
    const std::string made = new_name();
    return run("CREATE FUNCTION " + made + "(x bigint DEFAULT " + number(0) +
                   ", y integer[] DEFAULT '{1}'::" + any(domains_) +
                   "[]) RETURNS bigint IMMUTABLE" + body("1"),
               numbers_, made);
}

// What fits a bigint better than a function of others that is called, or than one of the server's.
bool HostileObjects::overload() {
    static const Names others{"half_honest", "half_super", "fits_honest", "fits_super", "mod",
                              "abs",         "lower",      "length",      "nextval",    "format",
                              "count",       "max",        "currval",     "int4",       "int8"};
    static const Names arguments{"bigint", "bigint, integer DEFAULT 10", "bigint, integer",
                                 "bigint, bigint", "VARIADIC bigint[]"};
    static const Names results{"bigint", "boolean", "integer", "numeric"};
    const std::string &result = any(results);
    return run("CREATE FUNCTION shared." + any(others) + "(" + any(arguments) + ") RETURNS " +
               result + " IMMUTABLE" + body("1::integer::" + result));
}

bool HostileObjects::operator_() {
    static const Names names{"%", "+", "<", "<>", ">", ">=", "*", "="};
    static const Names rights{"integer", "bigint"};
    static const Names results{"bigint", "boolean", "integer"};
    const std::string function = new_name();
    const std::string &right = any(rights);
    const std::string &result = any(results);
    return run("CREATE FUNCTION " + function + "(bigint, " + right + ") RETURNS " + result +
               " IMMUTABLE" + body("1::integer::" + result)) &&
           run("CREATE OPERATOR shared." + any(names) + " (FUNCTION = " + function +
               ", LEFTARG = bigint, RIGHTARG = " + right + ")");
}

bool HostileObjects::domain() {
    const std::string made = new_name();
    return run("CREATE DOMAIN " + made + " AS integer CHECK (" + any(conditions_) + "(VALUE))",
               domains_, made);
}

bool HostileObjects::composite() {
    const std::string made = new_name();
    if (composites_.empty() || random_.one_in(2))
        return run("CREATE TYPE " + made + " AS (" + name() + " " + any(domains_) + ")",
                   composites_, made);
    return run("CREATE TYPE " + new_name() + " AS (" + name() + " " + any(targets_.tables) + ")");
}

bool HostileObjects::range() {
    return run("CREATE TYPE " + new_name() +
               " AS RANGE (SUBTYPE = " + (random_.one_in(2) ? "bigint" : any(domains_)) + ")");
}

bool HostileObjects::support_functions() {
    const std::string difference = new_name();
    const std::string made = new_name();
    return run("CREATE FUNCTION " + difference +
               "(bigint, bigint) RETURNS double precision IMMUTABLE" + body("1")) &&
           run("CREATE TYPE " + made + " AS RANGE (SUBTYPE = bigint, SUBTYPE_DIFF = " + difference +
                   ")",
               ranges_, made);
}

// The server asks for the difference of ranges where it has to choose a page.
bool HostileObjects::index_of_ranges() {
    const std::string made = new_name();
    return run("CREATE TABLE " + made + " (a serial, b bigint)", tables_, made) &&
           run("INSERT INTO " + made + " (b) SELECT i FROM generate_series(1, 300) i") &&
           run("CREATE INDEX ON " + made + " USING gist (" + any(ranges_) + "(a, a + b))");
}

// Only a superuser makes an operator class, but its function may be another role's.
bool HostileObjects::index_with_operator_class() {
    return run("CREATE INDEX ON " + any(tables_) + " ((a::bigint) shared.hostile_operators)");
}

// A parent of the hostile role, or a child that it owns.
bool HostileObjects::child() {
    const std::string made = new_name();
    if (random_.one_in(3))
        return run("ALTER TABLE " + any(targets_.children) + " ADD CHECK " + condition("a"));
    return run("CREATE TABLE " + made + " (CHECK " + condition("a") + ") INHERITS (" +
                   any(tables_) + ")",
               tables_, made);
}

bool HostileObjects::new_columns() {
    const std::string made = new_name();
    run("SET snowflake.convert_new_columns = on");
    const bool done =
        run("CREATE TABLE " + made + " (a serial CHECK " + condition("a") + ", " + name() +
                " integer GENERATED ALWAYS AS IDENTITY, b integer REFERENCES " +
                any(targets_.tables) + ", CHECK " + condition("b") + ")",
            tables_, made);
    run("RESET snowflake.convert_new_columns");
    return done;
}

// Columns of empty tables are widened by the command that adds a key.
bool HostileObjects::truncation() {
    return run("TRUNCATE " + any(tables_));
}

bool HostileObjects::collation() {
    const std::string made = new_name();
    return run("CREATE COLLATION " + made + " FROM \"C\"", collations_, made);
}

bool HostileObjects::cast() {
    const std::string type = new_name();
    const std::string function = new_name();
    return run("CREATE TYPE " + type + " AS ENUM ('1')") &&
           run("CREATE FUNCTION " + function + "(bigint) RETURNS " + type + " IMMUTABLE" +
               body("'1'")) &&
           run("CREATE CAST (bigint AS " + type + ") WITH FUNCTION " + function +
               "(bigint) AS ASSIGNMENT") &&
           run("CREATE TABLE " + new_name() + " (a integer, b " + type + " DEFAULT nextval(" +
               sequence() + "))");
}

bool HostileObjects::table() {
    const std::string made = new_name();
    std::string columns = "a integer DEFAULT nextval(" + sequence() + ")";
    if (random_.one_in(2))
        columns += " CHECK " + condition("a");
    for (int i = 0; i < 3; ++i)
        columns += ", " + column();
    if (random_.one_in(6))
        columns += ", LIKE " + any(targets_.tables) + " INCLUDING ALL";
    if (!run("CREATE TABLE " + made + " (" + columns + ")", tables_, made))
        return false;
    run("INSERT INTO " + made + " (a) VALUES (1)");
    return true;
}

bool HostileObjects::partitioned_table() {
    const std::string made = new_name();
    return run("CREATE TABLE " + made + " (a bigserial) PARTITION BY RANGE (" + fixed_number("a") +
                   ")",
               tables_, made) &&
           run("CREATE TABLE " + new_name() + " PARTITION OF " + made +
               " FOR VALUES FROM (MINVALUE) TO (MAXVALUE)");
}

bool HostileObjects::temporary_table() {
    return run("CREATE TEMP TABLE " + name() + " (a integer, " + column() + ", " + column() + ")");
}

bool HostileObjects::index() {
    return run("CREATE INDEX " + name() + " ON " + any(tables_) +
               (random_.one_in(2) ? " (" + fixed_number("a") + ")" : " (a)") +
               (random_.one_in(2) ? " WHERE " + condition("a") : ""));
}

bool HostileObjects::foreign_key() {
    static const Names options{"", " NOT VALID", " ON UPDATE CASCADE", " DEFERRABLE"};
    return run("ALTER TABLE " + any(tables_) + " ADD CONSTRAINT " + name() + " FOREIGN KEY (a)" +
               " REFERENCES " + any(targets_.tables) + any(options));
}

bool HostileObjects::view() {
    const std::string made = new_name();
    std::string query =
        "SELECT a, " + any(numbers_) + "(a) FROM " + any(tables_) + " WHERE " + condition("a");
    if (random_.one_in(2))
        query = "SELECT id AS a, " + fixed_number("id") + " AS " + name() + " FROM " +
                any(targets_.tables) + " WHERE " + condition("id");
    else if (random_.one_in(3))
        query = "SELECT " + number(0) + " AS a";
    if (!run("CREATE VIEW " + made + " AS " + query, views_, made))
        return false;
    if (random_.one_in(2))
        run("ALTER VIEW " + made + " ALTER a SET DEFAULT " + number(0));
    return true;
}

bool HostileObjects::materialized_view() {
    return run("CREATE MATERIALIZED VIEW " + new_name() + " AS SELECT id, " + fixed_number("id") +
               " AS " + name() + " FROM " + any(targets_.tables) + " WHERE " + condition("id") +
               (random_.one_in(3) ? " WITH NO DATA" : ""));
}

bool HostileObjects::rule() {
    const std::string &on = random_.one_in(2) ? any(tables_) : any(views_);
    static const Names events{"INSERT", "UPDATE", "DELETE"};
    const std::string &event = any(events);
    const std::string row = event == "DELETE" ? "OLD" : "NEW";
    return run("CREATE RULE " + name() + " AS ON " + event + " TO " + on + " WHERE " +
               condition(row + ".a") + " DO " + (random_.one_in(2) ? "INSTEAD" : "ALSO") +
               (random_.one_in(2) ? " NOTHING" : " SELECT " + number(0)));
}

bool HostileObjects::trigger() {
    const bool of_others = random_.one_in(2);
    const std::string column = of_others ? "id" : "a";
    return run("CREATE TRIGGER " + name() + " BEFORE UPDATE OF " + column + " ON " +
               (of_others ? any(targets_.tables) : any(tables_)) + " FOR EACH ROW WHEN " +
               condition("NEW." + column) + " EXECUTE FUNCTION " + any(triggers_) + "(" +
               literal() + ")");
}

bool HostileObjects::policy() {
    return run("CREATE POLICY " + name() + " ON " + any(tables_) + " USING (" + condition("a") +
               " OR a IN (SELECT id FROM " + any(targets_.tables) + "))");
}

bool HostileObjects::statistics() {
    return run("CREATE STATISTICS " + new_name() + " ON a, " + fixed_number("a") + " FROM " +
               any(tables_));
}

bool HostileObjects::comment() {
    switch (random_.between(0, 2)) {
    case 0:
        return run("COMMENT ON COLUMN " + any(tables_) + ".a IS " + literal());
    case 1:
        return run("COMMENT ON SEQUENCE " + any(sequences_) + " IS " + literal());
    default:
        return run("COMMENT ON VIEW " + any(views_) + " IS " + literal());
    }
}

bool HostileObjects::publication() {
    return run("CREATE PUBLICATION " + name() + " FOR TABLE " + any(tables_) +
               (random_.one_in(2) ? " WHERE (a % 10 < 10)" : " (a)"));
}

// Several objects that only together make a text look like a call.
bool HostileObjects::attack() {
    switch (random_.between(0, 2)) {
    case 0:
        return attack_on_the_way_back();
    case 1:
        return attack_on_the_plan();
    default:
        return attack_on_the_conversion();
    }
}

bool HostileObjects::attack_on_the_way_back() {
    const std::string &target = any(targets_.sequences);
    const std::string outer =
        "shared." + in_quotes(" snowflake.nextval('" + target + "'::regclass, 'x");
    const std::string inner = "shared." + in_quotes(" nextval('" + target + "'::regclass)");
    const std::string payload =
        random_.one_in(2) ? "'::snowflake.layout)\"(1); SELECT den.tell(); --"
                          : "'::snowflake.layout)\"(1); ALTER ROLE accomplice SUPERUSER; --";
    run("CREATE FUNCTION " + outer + "(text, regclass) RETURNS bigint" + body("1"));
    run("CREATE FUNCTION " + inner + "(bigint) RETURNS bigint" + body("1"));
    return run("CREATE TABLE " + new_name() + " (a bigint DEFAULT " + outer + "(" +
               quoted(payload) + ", " + quoted(target) + "::regclass))");
}

bool HostileObjects::attack_on_the_plan() {
    const std::string start = "shared." + in_quotes(" nextval('shared.");
    const std::string end = "shared." + in_quotes("'::regclass)");
    const std::string between =
        "shared." + in_quotes(")), ''::tsquery, ''::tsquery), btrim(((''::text COLLATE shared.");
    run("CREATE COLLATION " + start + " FROM \"C\"");
    run("CREATE COLLATION " + end + " FROM \"C\"");
    run(R"(CREATE COLLATION shared." number" FROM "C")");
    run("CREATE SEQUENCE " + between, sequences_, between);
    return run("CREATE TABLE " + new_name() +
               " (c text DEFAULT concat(ts_rewrite(plainto_tsquery('simple', 'a'::text COLLATE " +
               start + "), ''::tsquery, ''::tsquery), btrim((''::text COLLATE " + end +
               ") || ''::text, 'SELECT ''''::tsquery, ''''::tsquery WHERE den.tell() = 1'),"
               " nextval(" +
               quoted(between) + ")))");
}

bool HostileObjects::attack_on_the_conversion() {
    const std::string schema = in_quotes("(1); SELECT den.tell(); --");
    run("CREATE SCHEMA " + schema, schemas_, schema);
    run("CREATE SCHEMA h", schemas_, "h");
    run("CREATE SEQUENCE " + schema + ".\"(h.\"", sequences_, schema + ".\"(h.\"");
    run("CREATE FUNCTION den.\" nextval(('\"(bigint, bigint) RETURNS bigint" + body("1"));
    run("CREATE FUNCTION den.\" snowflake.nextval('\"(integer) RETURNS bigint" + body("1"));
    run("CREATE FUNCTION h.\"'::text)::regclass)\"(integer) RETURNS bigint" + body("1"));
    return run("CREATE TABLE " + new_name() +
               " (c bigint DEFAULT den.\" nextval(('\"(h.\"'::text)::regclass)\"(1), "
               "nextval('\"(h.\"'::text)))");
}

} // namespace integration
