// A hostile role makes what it may beside the schemas of an owner and of a superuser. Those two
// plan conversions, convert, convert back, read the views and call every function of the extension:
// no code of the hostile role may run as somebody else, and nothing of it may stop what is granted
// without it.
#include "hostile_objects.hpp"
#include "random_calls.hpp"
#include "server.hpp"
#include "session.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <utility>

namespace integration::hostile_test {
namespace {

using snowflake::testing::environment_number;
using snowflake::testing::Random;
using snowflake::testing::seeded_random;

// The name of the hostile role must not be part of any other name: the detail of an error tells by
// it what an obstacle is. The role accomplice is whom attacks would make a superuser.
const char *const roles = R"(
CREATE ROLE mallory LOGIN;
CREATE ROLE accomplice;
CREATE ROLE owner LOGIN;
)";

const char *const schemas = R"(
CREATE EXTENSION snowflake;
CREATE SCHEMA den AUTHORIZATION mallory;
CREATE SCHEMA shared;
CREATE SCHEMA honest AUTHORIZATION owner;
CREATE SCHEMA super;
GRANT ALL ON SCHEMA shared TO mallory, owner;
GRANT USAGE ON SCHEMA honest, super TO mallory;
CREATE FUNCTION den.compare(bigint, bigint) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN RAISE LOG 'hostile code runs as <%>', current_user; RETURN sign($1 - $2); END $$;
CREATE OPERATOR CLASS shared.hostile_operators FOR TYPE bigint USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 den.compare(bigint, bigint);
ALTER FUNCTION den.compare OWNER TO mallory;
ALTER OPERATOR CLASS shared.hostile_operators USING btree OWNER TO mallory;
)";

// What the owner has in the schema honest, and the superuser in the schema super.
const char *const honest_objects = R"(
CREATE FUNCTION shared.fits_{schema}(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION shared.fits_{schema}(bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION shared.half_{schema}(integer) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 1.0';
CREATE FUNCTION shared.half_{schema}(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 1.0';
CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE plain (id serial PRIMARY KEY, item text, CHECK (id % 10 < 10), CHECK (mod(id, 10) < 10));
CREATE INDEX digit ON plain ((id % 10), mod(id, 10)) WHERE id > 0;
CREATE VIEW plain_view AS SELECT id, lower(item) AS item, id % 10 AS digit FROM plain;
CREATE MATERIALIZED VIEW plain_filled AS SELECT id * 2 AS twice, abs(id) FROM plain;
CREATE FUNCTION last() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM plain; END;
CREATE STATISTICS plain_statistics ON id, item FROM plain;
CREATE TRIGGER passes BEFORE UPDATE OF id ON plain FOR EACH ROW WHEN (NEW.id > 0) EXECUTE FUNCTION pass();
CREATE POLICY own ON plain USING (id > 0);
CREATE TABLE child (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parent integer REFERENCES plain,
                    made bigint GENERATED ALWAYS AS (2 * id) STORED);
CREATE RULE never AS ON UPDATE TO child WHERE NEW.id = 0 DO INSTEAD NOTHING;
CREATE SEQUENCE numbers;
CREATE TABLE texts (id bigint DEFAULT nextval('numbers'), code text DEFAULT 'A' || nextval('numbers'));
CREATE SEQUENCE named;
CREATE TABLE by_name (id integer DEFAULT nextval('{schema}.named'::text));
CREATE TABLE tried (id serial CHECK (shared.fits_{schema}(id)), CHECK (shared.half_{schema}(id) > 0));
CREATE TABLE parts (id serial, day date NOT NULL, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE family (a serial);
CREATE TABLE adopted () INHERITS (family);
INSERT INTO plain VALUES (DEFAULT, 'item');
INSERT INTO child (parent) VALUES (1);
INSERT INTO texts DEFAULT VALUES;
INSERT INTO tried DEFAULT VALUES;
INSERT INTO parts VALUES (DEFAULT, '2025-06-01');
GRANT SELECT, REFERENCES, TRIGGER ON plain, child, texts, tried TO mallory;
)";

const Texts honest_sequences{"plain_id_seq", "child_id_seq", "numbers",
                             "named",        "tried_id_seq", "parts_id_seq"};

// Their tables have a child that the hostile role owns.
const Texts adopting_sequences{"honest.family_a_seq", "super.family_a_seq"};

// Who may do what, and which role owns what: neither changes.
const char *const rights_of_roles =
    "SELECT to_jsonb(r) - 'rolpassword' FROM pg_roles r WHERE rolname !~ '^pg_'"
    " UNION ALL SELECT to_jsonb(m) FROM pg_auth_members m WHERE m.member >= 16384 ORDER BY 1";
const char *const owned_objects = R"(
SELECT concat_ws(' ', i.type, i.identity, 'of', owner::regrole)
    FROM (SELECT 'pg_class'::regclass, oid, relowner, relnamespace FROM pg_class
              WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'i', 'I')
          UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, pronamespace FROM pg_proc
          UNION ALL SELECT 'pg_type'::regclass, oid, typowner, typnamespace FROM pg_type
                        WHERE typtype IN ('d', 'e', 'r')
          UNION ALL SELECT 'pg_operator'::regclass, oid, oprowner, oprnamespace FROM pg_operator
          UNION ALL SELECT 'pg_statistic_ext'::regclass, oid, stxowner, stxnamespace FROM pg_statistic_ext
          UNION ALL SELECT 'pg_namespace'::regclass, oid, nspowner, NULL FROM pg_namespace
                        WHERE nspname !~ '^pg_'
         ) o(class, oid, owner, namespace),
         pg_identify_object(class, oid, 0) i
    WHERE o.oid >= 16384 AND coalesce(namespace::regnamespace::text !~ '^pg_(toast|temp)', true)
    ORDER BY 1
)";

const std::string to_snowflake = "convert_sequence_to_snowflake";
const std::string to_sequence = "convert_snowflake_to_sequence";

const char *const settings =
    "SELECT concat_ws(' ', current_user, current_setting('search_path'),"
    " current_setting('standard_conforming_strings'), current_setting('quote_all_identifiers'))";

// What came of a statement.
struct Outcome {
    std::string sqlstate;
    std::string message;

    [[nodiscard]] bool granted() const { return sqlstate == "00000"; }

    // Whether the error names the hostile role as the owner of an obstacle.
    [[nodiscard]] bool names_hostile_role() const {
        const std::size_t detail = message.find("DETAIL:");
        const std::size_t end = std::min(message.find("\nHINT:"), message.find("\nCONTEXT:"));
        return detail < end && message.substr(detail, end - detail).find("mallory") < end;
    }
};

// The objects that are in one of two sorted lists alone.
std::string difference(const Texts &before, const Texts &after) {
    Texts differences;
    std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                  std::back_inserter(differences));
    std::string result;
    for (const std::string &line : differences)
        result += line + '\n';
    return result;
}

// The messages in a log that tell of hostile code, and name another role than the hostile one.
Texts code_of_others(const std::string &log) {
    constexpr std::size_t shown = 3000;
    const std::string sign = std::string("LOG:  ") + told;
    Texts found;
    for (std::size_t at = 0; (at = log.find(sign, at)) != std::string::npos; at += sign.size())
        if (!log.substr(at + sign.size(), shown).starts_with("<mallory>"))
            found.push_back(log.substr(at, shown));
    return found;
}

// A role that converts beside the hostile one.
struct Converter {
    Converter(const std::string &conninfo, std::string role, const std::string &path)
        : name(std::move(role)),
          session(conninfo + " user=" + name + " options='-c client_min_messages=error'") {
        session.run("SET search_path = " + path);
        expected_settings = session.text(settings);
    }

    std::string name;
    Session session;
    std::string expected_settings;
};

// The conversions of one database.
class Round {
  public:
    Round(Random &random, const std::string &conninfo)
        : random_(random), mallory_(conninfo + " user=mallory"),
          owner_(conninfo, "owner", "shared, honest"),
          super_(conninfo, "postgres", "shared, public"), observer_(conninfo),
          rights_(observer_.texts(rights_of_roles)) {
        for (const char *schema : {"honest", "super"})
            for (const std::string &sequence : honest_sequences)
                honest_.push_back(std::string(schema) + '.' + sequence);
    }

    // Converts each sequence of the honest roles, and back, before there is a hostile object.
    void convert_without_hostile_objects();

    void convert_among_hostile_objects();

    [[nodiscard]] const std::map<std::string, int> &made() const { return made_; }
    [[nodiscard]] const std::map<std::string, int> &outcomes() const { return outcomes_; }

  private:
    // What an error may be.
    enum class Expectation {
        granted,             // none
        granted_or_obstacle, // one that names the hostile role as the owner of an obstacle
        thought_of,          // one that is not internal
        any,
    };

    bool attempt(Converter &who, const std::string &statement, Expectation expectation);
    static void require_settings(Converter &who, const std::string &statement);
    void require_owners(const std::string &statement);
    void change(Converter &who, const std::string &function, const std::string &sequence);
    void change_all(const std::string &function);
    void change_without_long_lock();
    void run_commands_of_check();
    void make_new_tables();
    void call_all_functions();
    Texts hostile_sequences();
    void read_views(Converter &who);

    Converter &owner_of(const std::string &sequence) {
        return sequence.starts_with("honest.") ? owner_ : super_;
    }

    // Who converts a sequence: a superuser, or the owner.
    Converter &anybody_for(const std::string &sequence) {
        return sequence.starts_with("honest.") && random_.one_in(2) ? owner_ : super_;
    }

    Random &random_;
    Session mallory_;
    Converter owner_;
    Converter super_;
    Session observer_;
    Texts rights_;
    Texts honest_;
    Texts owned_;
    std::map<std::string, int> made_;
    std::map<std::string, int> outcomes_;
};

// Runs a statement, and fails the test where the error is not what is expected. Returns whether the
// statement was granted.
bool Round::attempt(Converter &who, const std::string &statement, Expectation expectation) {
    Outcome outcome{"00000", ""};
    try {
        who.session.run(statement);
    } catch (const pqxx::sql_error &error) {
        outcome = {sqlstate_of(error), error.what()};
    }
    ++outcomes_[outcome.sqlstate];
    // A support function of a GiST index that catches an error of its own makes the server give
    // back the lock of the page that it is inserting into. A plain INSERT fails alike.
    if (outcome.message.find("lock BufferContent is not held") != std::string::npos)
        return false;
    // Whoever may create functions in a schema can make a name in it ambiguous, or have it mean one
    // with another result. ALTER TABLE fails alike.
    if (expectation == Expectation::granted_or_obstacle && outcome.sqlstate == "0A000" &&
        outcome.message.find(" TYPE bigint") != std::string::npos &&
        (outcome.message.find("is not unique") != std::string::npos ||
         outcome.message.find("operator does not exist") != std::string::npos))
        return false;
    const bool hostile = outcome.message.find(hostile_error) != std::string::npos;
    if (expectation != Expectation::any && is_ours(outcome.sqlstate) && !hostile)
        ADD_FAILURE() << who.name << ": " << statement << '\n'
                      << outcome.sqlstate << ": " << outcome.message;
    else if (!outcome.granted() &&
             (expectation == Expectation::granted ||
              (expectation == Expectation::granted_or_obstacle && !outcome.names_hostile_role())))
        ADD_FAILURE() << who.name << " is refused: " << statement << '\n'
                      << outcome.sqlstate << ": " << outcome.message;
    return outcome.granted();
}

void Round::require_settings(Converter &who, const std::string &statement) {
    EXPECT_EQ(who.session.text(settings), who.expected_settings) << statement;
}

void Round::require_owners(const std::string &statement) {
    const Texts now = observer_.texts(owned_objects);
    EXPECT_EQ(difference(owned_, now), "") << statement;
    EXPECT_EQ(difference(rights_, observer_.texts(rights_of_roles)), "") << statement;
    owned_ = now;
}

// Plans, and runs a conversion or the way back.
void Round::change(Converter &who, const std::string &function, const std::string &sequence) {
    const bool honest = std::find(honest_.begin(), honest_.end(), sequence) != honest_.end();
    const Expectation expectation =
        honest ? Expectation::granted_or_obstacle : Expectation::thought_of;
    const std::string argument = "(" + quoted(sequence) + ")";
    const bool forth = function == to_snowflake;
    if (forth)
        attempt(who, "SELECT * FROM snowflake.conversion_plan" + argument, expectation);
    const std::string statement = "SELECT snowflake." + function + argument;
    if (attempt(who, statement, expectation) && honest)
        attempt(owner_of(sequence),
                (forth ? "SELECT snowflake.nextval" : "SELECT pg_catalog.nextval") + argument,
                Expectation::granted);
    require_settings(who, statement);
    require_owners(statement);
}

// Changes each sequence of the honest roles, and a few of the hostile one.
void Round::change_all(const std::string &function) {
    Texts sequences = honest_;
    sequences.insert(sequences.end(), adopting_sequences.begin(), adopting_sequences.end());
    const Texts hostile = hostile_sequences();
    for (int i = 0; i < 8; ++i)
        sequences.push_back(hostile[static_cast<std::size_t>(
            random_.between(0, static_cast<std::int64_t>(hostile.size()) - 1))]);
    for (const std::string &sequence : sequences)
        change(anybody_for(sequence), function, sequence);
}

// Runs the stages one by one, and takes back what has come to no end.
void Round::change_without_long_lock() {
    Texts sequences = honest_;
    for (const std::string &sequence : hostile_sequences())
        if (random_.one_in(4))
            sequences.push_back(sequence);
    for (const std::string &sequence : sequences) {
        Converter &who = anybody_for(sequence);
        const std::string argument = "(" + quoted(sequence);
        Texts commands;
        try {
            commands =
                who.session.texts("SELECT command FROM snowflake.conversion_plan" + argument +
                                  ", online => true) WHERE command IS NOT NULL ORDER BY step");
        } catch (const pqxx::sql_error &error) {
            ++outcomes_[sqlstate_of(error)];
        }
        for (const std::string &command : commands)
            if (random_.one_in(20) || !attempt(who, command, Expectation::thought_of))
                break;
        require_settings(who, "stages");
        attempt(who, "SELECT snowflake.cancel_conversion" + argument + ")",
                Expectation::thought_of);
    }
    owned_ = observer_.texts(owned_objects);
}

// Runs every command that check() prints, as a superuser, and undoes what each has done.
void Round::run_commands_of_check() {
    for (const std::string &command :
         super_.session.texts("SELECT DISTINCT command FROM snowflake.check() WHERE command IS NOT "
                              "NULL ORDER BY 1")) {
        super_.session.run("BEGIN");
        attempt(super_, command, Expectation::any);
        super_.session.run("ROLLBACK");
        require_settings(super_, command);
    }
}

// Makes tables out of the hostile role's, which the setting converts where that may be.
void Round::make_new_tables() {
    for (const std::string &table :
         observer_.texts("SELECT format('%I.%I', nspname, relname) FROM pg_class c"
                         " JOIN pg_namespace n ON n.oid = c.relnamespace"
                         " WHERE relkind = 'r' AND relowner = 'mallory'::regrole"
                         " AND relpersistence <> 't' AND NOT relispartition ORDER BY c.oid"))
        for (const char *rest :
             {"(LIKE %s INCLUDING CONSTRAINTS INCLUDING IDENTITY, new_id serial)",
              "(new_id serial) INHERITS (%s)"}) {
            std::string command = std::string("CREATE TABLE super.made ") + rest;
            command.replace(command.find("%s"), 2, table);
            super_.session.run("BEGIN; SET LOCAL snowflake.convert_new_columns = on");
            attempt(super_, command, Expectation::thought_of);
            super_.session.run("ROLLBACK");
        }
}

Texts Round::hostile_sequences() {
    return observer_.texts("SELECT format('%I.%I', nspname, relname) FROM pg_class c"
                           " JOIN pg_namespace n ON n.oid = c.relnamespace"
                           " WHERE relkind = 'S' AND relowner = 'mallory'::regrole"
                           " AND relpersistence <> 't' ORDER BY c.oid");
}

// Calls each function with random arguments, which reach the hostile objects, and undoes what that
// has changed.
void Round::call_all_functions() {
    Texts planned = honest_;
    for (const std::string &sequence : hostile_sequences())
        if (random_.one_in(4))
            planned.push_back(sequence);
    Caller caller(random_, super_.session, planned);
    for (const Function &function : caller.functions())
        for (int i = 0; i < 4; ++i) {
            Converter &who = random_.one_in(4) ? owner_ : super_;
            who.session.run("BEGIN");
            const std::string statement = caller.statement(function);
            if (attempt(who, statement, Expectation::any)) {
                attempt(who, "SET CONSTRAINTS ALL IMMEDIATE", Expectation::granted);
                require_settings(who, statement);
            }
            who.session.run("ROLLBACK");
        }
    require_owners("calls of all functions");
}

void Round::read_views(Converter &who) {
    for (const char *view : {"sequences", "cluster", "layouts", "nodes"})
        attempt(who, std::string("SELECT * FROM snowflake.") + view, Expectation::granted);
    require_settings(who, "views");
}

void Round::convert_without_hostile_objects() {
    for (const std::string &sequence : honest_)
        for (Converter *who : {&super_, &owner_of(sequence)}) {
            who->session.run("BEGIN");
            for (const std::string &function : {to_snowflake, to_sequence})
                attempt(*who, "SELECT snowflake." + function + "(" + quoted(sequence) + ")",
                        Expectation::granted);
            who->session.run("ROLLBACK");
        }
}

void Round::convert_among_hostile_objects() {
    HostileObjects objects(random_, mallory_,
                           {honest_,
                            {"honest.plain", "honest.child", "honest.tried", "super.plain",
                             "super.child", "super.tried"},
                            {"honest.adopted", "super.adopted"}});
    objects.make(100);
    owned_ = observer_.texts(owned_objects);
    make_new_tables();
    run_commands_of_check();
    change_without_long_lock();
    change_all(to_snowflake);
    run_commands_of_check();
    read_views(owner_);
    read_views(super_);
    objects.make(30);
    owned_ = observer_.texts(owned_objects);
    call_all_functions();
    change_all(to_sequence);
    made_ = objects.made();
}

class Hostile : public testing::Test {
  protected:
    Hostile() : server_(1, {"fsync = off", "max_locks_per_transaction = 1024"}) {
        Session(server_).run(roles);
        Session(server_).run("CREATE DATABASE honest");
        Session(server_).run("GRANT ALL ON DATABASE honest TO mallory");
        Session session(server_, "honest");
        session.run(schemas);
        make_honest_objects(session, "owner", "honest");
        make_honest_objects(session, "postgres", "super");
        session.run("ALTER TABLE honest.adopted OWNER TO mallory; ALTER TABLE super.adopted OWNER "
                    "TO mallory");
        session.run("CREATE PUBLICATION everything FOR TABLE super.plain (id) WHERE (id > 0)");
    }

    static void make_honest_objects(Session &session, const std::string &role,
                                    const std::string &schema) {
        std::string objects = honest_objects;
        for (std::size_t at = objects.find("{schema}"); at != std::string::npos;
             at = objects.find("{schema}"))
            objects.replace(at, 8, schema);
        session.run("SET ROLE " + role + "; SET search_path = " + schema + "; " + objects +
                    "; RESET ROLE; RESET search_path");
    }

    Server server_;
};

TEST_F(Hostile, CodeRunsAsNobodyElseAndStopsNobody) {
    Random random = seeded_random();
    const std::int64_t rounds = environment_number("SNOWFLAKE_HOSTILE_ROUNDS", 4);
    Round(random, server_.conninfo("honest")).convert_without_hostile_objects();
    std::map<std::string, int> made;
    std::map<std::string, int> outcomes;
    for (std::int64_t i = 0; i < rounds && !HasFailure(); ++i) {
        Session(server_).run("CREATE DATABASE hostile TEMPLATE honest");
        Session(server_).run("ALTER DATABASE hostile SET snowflake.node = 2"); // 1 is honest's
        Session(server_).run("GRANT ALL ON DATABASE hostile TO mallory");
        {
            Round round(random, server_.conninfo("hostile"));
            round.convert_among_hostile_objects();
            for (const auto &[kind, count] : round.made())
                made[kind] += count;
            for (const auto &[sqlstate, count] : round.outcomes())
                outcomes[sqlstate] += count;
        }
        const Texts found = code_of_others(read_file(server_.file("log")));
        EXPECT_EQ(found.size(), 0U) << "in round " << i << ", first " << found.front();
        Session(server_).run("DROP DATABASE hostile WITH (FORCE)");
    }
    for (const auto &[sqlstate, count] : outcomes)
        std::cout << sqlstate << ' ' << count << '\n';
    // Without this the test would prove little.
    for (const std::string &kind : HostileObjects::kinds())
        EXPECT_GT(made[kind], 0) << kind;
}

} // namespace
} // namespace integration::hostile_test
