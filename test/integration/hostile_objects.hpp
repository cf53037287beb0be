// What a hostile role can make in a database: objects of all kinds that a conversion meets, with
// names that look like commands, like calls or like anything else. Each function of the role
// reports in the server's log as whom it runs, which no rollback takes back.
#pragma once

#include "../unit/random.hpp"
#include "session.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace integration {

// What the hostile role meets: sequences of others and tables that it may refer to.
struct Targets {
    std::vector<std::string> sequences; // qualified names
    std::vector<std::string> tables;    // qualified names, each with an integer column id
    std::vector<std::string> children;  // of tables of others, each with an integer column a
};

// The message in the log, up to the name of the role that a function ran as.
extern const char *const told;

// The mark in the text of each error that a hostile function raises.
extern const char *const hostile_error;

// Makes the objects, in a session of the hostile role, which owns the schema den and may create
// objects in the schema shared.
class HostileObjects {
  public:
    HostileObjects(snowflake::testing::Random &random, Session &session, Targets targets);

    // Tries to make objects of random kinds, and of each kind one. An attempt may fail.
    void make(int attempts);

    // How many objects of each kind were made.
    [[nodiscard]] const std::map<std::string, int> &made() const { return made_; }

    // The kinds that there are.
    [[nodiscard]] static std::vector<std::string> kinds();

  private:
    using Names = std::vector<std::string>;
    struct Kind {
        const char *name;
        bool (HostileObjects::*make)();
    };
    static const std::array<Kind, 32> all_kinds;

    // The words of names and expressions.
    const std::string &any(const Names &names);
    std::string text_of_name();
    std::string name();
    std::string new_name();
    std::string sequence_oid();
    std::string sequence();
    std::string literal();
    std::string number(int depth);
    std::string text(int depth);
    std::string fixed_number(const std::string &column);
    std::string condition(const std::string &column);
    std::string body(const std::string &result);
    std::string column();

    // Each makes an object of its kind. They return whether the server took the command.
    bool schema();
    bool hostile_sequence();
    bool function();
    bool body_in_sql();
    bool defaulting_function();
    bool overload();
    bool operator_();
    bool domain();
    bool composite();
    bool range();
    bool support_functions();
    bool index_of_ranges();
    bool index_with_operator_class();
    bool child();
    bool new_columns();
    bool truncation();
    bool collation();
    bool cast();
    bool table();
    bool partitioned_table();
    bool temporary_table();
    bool index();
    bool foreign_key();
    bool view();
    bool materialized_view();
    bool rule();
    bool trigger();
    bool policy();
    bool statistics();
    bool comment();
    bool publication();
    bool attack();

    bool attack_on_the_way_back();
    bool attack_on_the_plan();
    bool attack_on_the_conversion();

    bool run(const std::string &command);
    bool run(const std::string &command, Names &names, const std::string &name);

    snowflake::testing::Random &random_;
    Session &session_;
    Targets targets_;
    Names fragments_;
    Names schemas_{"den", "shared"};
    Names sequences_;  // of the hostile role
    Names numbers_;    // functions of a bigint that return one
    Names pairs_;      // functions of a text and a regclass that return a bigint
    Names conditions_; // functions of a bigint that return a boolean
    Names triggers_;   // functions of triggers
    Names domains_;    // over integer
    Names collations_;
    Names composites_; // of one field of a domain
    Names ranges_;     // of two bigints
    Names tables_;     // with an integer column a
    Names views_;      // with an integer column a
    std::map<std::string, int> made_;
};

} // namespace integration
